#!/usr/bin/env python3
"""A file system on the network block device: copied in and out through the OpenCL device and the processor.

Use: test_device.py PLUGIN. The exit status is 77, after the reason, where the plugin or a program is missing.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
PLUGIN = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None
PROGRAMS = {'nbdkit': 'nbdkit', 'nbdcopy': 'libnbd-bin', 'mkfs.ext4': 'e2fsprogs', 'e2fsck': 'e2fsprogs',
            'debugfs': 'e2fsprogs'}
MIB = 1 << 20
os.environ['PATH'] += ':/usr/sbin:/sbin'


def run(*command, **options):
    ended = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           check=False, timeout=100, errors='replace', **options)
    return ended.returncode, ended.stdout


class Device(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='crypt-nbd.')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.key, self.stored, self.plain = (self.folder / name for name in ('key', 'stored', 'plain'))
        self.key.write_text(os.urandom(64).hex() + '\n', encoding='ascii')
        with open(self.stored, 'wb') as stream:
            stream.truncate(16 * MIB)

    def serving(self, command, *parameters, filters=()):
        """Runs a shell command in which $uri is the device. Returns its exit status and output."""
        return run('nbdkit', '--exit-with-parent', '-U', '-', *filters, PLUGIN, f'file={self.stored}',
                   f'key-file={self.key}', *parameters, '--run', command)

    def served(self, command, *parameters, **more):
        status, said = self.serving(command, *parameters, **more)
        self.assertEqual(status, 0, said)
        return said

    def test_file_system(self):
        content = self.folder / 'content'
        content.mkdir()
        secret = os.urandom(MIB) + b'the secret' * 1000
        (content / 'secret').write_bytes(secret)
        with open(self.plain, 'wb') as stream:
            stream.truncate(16 * MIB)
        status, said = run('mkfs.ext4', '-q', '-d', content, self.plain)
        self.assertEqual(status, 0, said)
        self.served(f'nbdcopy {self.plain} "$uri"')
        self.assertNotIn(b'the secret', self.stored.read_bytes())
        for where in 'device', 'processor':
            copy = self.folder / f'copy-{where}'
            self.served(f'nbdcopy "$uri" {copy}', f'cipher={where}')
            self.assertEqual(copy.read_bytes(), self.plain.read_bytes(), where)
            status, said = run('e2fsck', '-f', '-n', copy)
            self.assertEqual(status, 0, said)
            status, said = run('debugfs', '-R', f'dump /secret {self.folder}/dumped', copy)
            self.assertEqual(status, 0, said)
            self.assertEqual((self.folder / 'dumped').read_bytes(), secret)

    def test_what_the_processor_encrypts_the_device_decrypts(self):
        self.plain.write_bytes(os.urandom(16 * MIB))
        self.served(f'nbdcopy {self.plain} "$uri"', 'cipher=processor')
        self.served(f'nbdcopy "$uri" {self.folder}/copy', 'cipher=device')
        self.assertEqual((self.folder / 'copy').read_bytes(), self.plain.read_bytes())

    def test_with_another_key_everything_is_different(self):
        self.plain.write_bytes(bytes(16 * MIB))
        self.served(f'nbdcopy {self.plain} "$uri"')
        self.key.write_text(os.urandom(64).hex(), encoding='ascii')
        self.served(f'nbdcopy "$uri" {self.folder}/copy')
        self.assertNotIn(bytes(16), (self.folder / 'copy').read_bytes())

    def test_wrong_parameters(self):
        for parameters, part in ((('cipher=gpu',), 'cipher=gpu is not known'),
                                 (('size=3',), "unknown parameter 'size'"),
                                 (('platform=no such platform',), "no OpenCL platform whose name contains 'no such")):
            status, said = self.serving('nbdinfo "$uri"', *parameters)
            self.assertNotEqual(status, 0)
            self.assertIn(part, said)
        for text in ('', '12', 'x' * 128):
            self.key.write_text(text, encoding='ascii')
            self.assertIn('contains no key', self.serving('true')[1])
        self.key.write_text('ab' * 64, encoding='ascii')
        self.assertIn('both halves of the key', self.serving('true')[1])


if __name__ == '__main__':
    if PLUGIN is None or not PLUGIN.exists():
        print('skipped: the plugin is not built; install nbdkit-plugin-dev, and configure again')
        sys.exit(SKIPPED)
    for program, package in PROGRAMS.items():
        if not shutil.which(program):
            print(f'skipped: there is no {program}; install {package}')
            sys.exit(SKIPPED)
    unittest.main(verbosity=2)
