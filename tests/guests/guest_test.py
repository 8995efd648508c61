"""What tests in a virtual machine share.

One guest is booted for all tests of a file. Where the processor does not virtualise, QEMU emulates it, and the tests
take many minutes of both of its processors: they are skipped then, unless CLIQUE_TEST_EMULATION=1.
"""

import os
import pathlib
import sys
import unittest

import guests

SKIPPED = 77
BUILD = pathlib.Path(os.environ['CLIQUE_BUILD'])


class TestCase(unittest.TestCase):
    image = None
    guest = None

    @classmethod
    def boot(cls, **options):
        """Boots the guest, with options of guests.Guest."""
        cls.guest = cls.enterClassContext(guests.Guest(TestCase.image, **options))

    def run_in_guest(self, script, seconds=300):
        """Runs a script that must succeed. Returns what it prints."""
        status, said, errors = self.guest.run(script, seconds)
        self.assertEqual(status, 0, said + errors + self.node_log())
        return said

    def node_log(self):
        """For the message of a failure: what the node has logged last."""
        return ''


def main():
    TestCase.image = guests.Image(BUILD / 'icd/libclique.so', BUILD / 'daemon/cliqued')
    try:
        if guests.accelerator() == 'tcg' and os.environ.get('CLIQUE_TEST_EMULATION') != '1':
            raise guests.Unavailable('QEMU would emulate the guest; CLIQUE_TEST_EMULATION=1 runs the tests anyway')
        guests.check_tools(TestCase.image.disk)
    except guests.Unavailable as reason:
        print(f'skipped: {reason}')
        sys.exit(SKIPPED)
    TestCase.image.make()
    unittest.main()
