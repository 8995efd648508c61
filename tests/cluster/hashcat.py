#!/usr/bin/env python3
"""hashcat, whose kernels include files of /usr/share/hashcat, over a node that does not have this folder.

Without arguments, this runs itself with --search in tests/cluster/with_nodes, which hides the folder from the node.
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
TIMEOUT_SECONDS = 580
PASSWORD = 'okay'


def search(password, mask):
    """Has hashcat look for a password of which it knows the MD5. Returns its exit status, the MD5 and what it said."""
    digest = hashlib.md5(password.encode()).hexdigest()
    with tempfile.TemporaryDirectory(prefix='clique-test.') as home:
        # hashcat keeps the binaries of its kernels, which need no files. It finds its user's home without HOME.
        ended = subprocess.run(
            ['hashcat', '-m', '0', '-a', '3', '-D', '1', '--force', '--quiet', '--potfile-disable',
             '--self-test-disable', digest, mask],
            env=dict(os.environ, XDG_CACHE_HOME=home, XDG_DATA_HOME=home), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', check=False)
    return ended.returncode, digest, ended.stdout


class Hashcat(unittest.TestCase):
    def test_the_node_does_not_have_its_files(self):
        daemon = os.environ['CLIQUE_TEST_DAEMONS']
        self.assertEqual(os.listdir(f'/proc/{daemon}/root{FOLDER}'), ['only_on_the_node.h'])
        self.assertIn('OpenCL', os.listdir(FOLDER))

    def test_it_finds_a_password(self):
        status, digest, said = search(PASSWORD, '?l?l?l?l')
        self.assertEqual(status, 0, said)
        self.assertIn(f'{digest}:{PASSWORD}\n', said)


def main():
    if sys.argv[1:] == ['--search']:
        del sys.argv[1:]
        unittest.main(verbosity=2)
    if shutil.which('hashcat') is None or not FOLDER.is_dir():
        skip(f'there is no hashcat, or no {FOLDER}; tools/setup test installs both')
    if os.geteuid() != 0:
        skip('only root can hide a folder from a node')
    sys.exit(subprocess.run(
        [sys.executable, WITH_NODES, '--nodes', '1', '--timeout', str(TIMEOUT_SECONDS), '--daemon-option=--devices=0',
         '--hide', FOLDER, '--', sys.executable, __file__, '--search'], check=False).returncode)


main()
