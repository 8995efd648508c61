#!/usr/bin/env python3
"""hashcat, whose kernels include files of /usr/share/hashcat, over nodes that do not have this folder.

Without arguments, this runs itself with --search in tests/cluster/with_nodes, which hides the folder from the nodes.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from nodes import skip

# Where Debian's package has the kernels and what they include.
FOLDER = pathlib.Path('/usr/share/hashcat')
WITH_NODES = pathlib.Path(__file__).with_name('with_nodes')
TIMEOUT_SECONDS = 280
PASSWORD = 'okay'
OTHER_PASSWORD = 'no'


def search(kind, password, mask, *options):
    """Has hashcat look for a password of which it knows the hash. Returns its exit status and what it printed."""
    digest = hashlib.new(kind[0], password.encode()).hexdigest()
    with tempfile.TemporaryDirectory(prefix='clique-test.') as home:
        # A new home, in which hashcat has no compiled kernels.
        ended = subprocess.run(
            ['hashcat', '-m', kind[1], '-a', '3', '-D', '1', '--force', '--quiet', '--potfile-disable',
             '--self-test-disable', *options, digest, mask],
            env=dict(os.environ, HOME=home), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors='replace', check=False)
    return ended.returncode, digest, ended.stdout


class Hashcat(unittest.TestCase):
    MD5 = 'md5', '0'

    def test_the_nodes_do_not_have_its_files(self):
        daemons = os.environ['CLIQUE_TEST_DAEMONS'].split(',')
        self.assertEqual(len(daemons), 2)
        for daemon in daemons:
            seen = os.listdir(f'/proc/{daemon}/root{FOLDER}')
            self.assertEqual(seen, ['only_on_the_node.h'])
        self.assertIn('OpenCL', os.listdir(FOLDER))

    def test_it_finds_a_password(self):
        status, digest, said = search(self.MD5, PASSWORD, '?l?l?l?l')
        self.assertEqual(status, 0, said)
        self.assertIn(f'{digest}:{PASSWORD}\n', said)

    def test_it_does_not_find_what_the_mask_leaves_out(self):
        status, _, said = search(self.MD5, OTHER_PASSWORD, '?d?d')
        self.assertEqual(status, 1, said)
        self.assertNotIn(OTHER_PASSWORD, said)


def main():
    if sys.argv[1:] == ['--search']:
        del sys.argv[1:]
        unittest.main(verbosity=2)
    if shutil.which('hashcat') is None or not FOLDER.is_dir():
        skip(f'there is no hashcat, or no {FOLDER}; tools/setup test installs both')
    if os.geteuid() != 0:
        skip('only root can hide a folder from nodes')
    sys.exit(subprocess.run(
        [sys.executable, WITH_NODES, '--nodes', '2', '--timeout', str(TIMEOUT_SECONDS), '--daemon-option=--devices=0',
         '--hide', FOLDER, '--', sys.executable, __file__, '--search'], check=False).returncode)


main()
