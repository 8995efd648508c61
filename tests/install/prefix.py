#!/usr/bin/env python3
"""An installation below a folder of the user's own: it writes nothing elsewhere, works, and can be removed."""

import os
import pathlib
import tempfile
import unittest

import nodes

BUILD = pathlib.Path(os.environ['CLIQUE_BUILD'])
MANIFEST = BUILD / 'install_manifest.txt'


class Prefix(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name) / 'with space'
        # The manifest of an earlier installation, which its user still needs, is put back.
        if MANIFEST.exists():
            kept = MANIFEST.rename(BUILD / 'install_manifest.kept')
            self.addCleanup(kept.rename, MANIFEST)

    def run_ok(self, *command, **options):
        status, said = nodes.run(command, **options)
        self.assertEqual(status, 0, said)
        return said

    def install(self):
        return self.run_ok('cmake', '--install', BUILD, '--prefix', self.prefix)

    def test_everything_is_below_the_prefix(self):
        said = self.install()
        for path in MANIFEST.read_text().splitlines():
            self.assertTrue(path.startswith(f'{self.prefix}/'), path)
        vendors = self.prefix / 'etc/OpenCL/vendors'
        self.assertEqual((vendors / 'clique.icd').read_text(), f'{self.prefix}/lib/libclique.so\n')
        self.assertIn(f"export OCL_ICD_VENDORS='{vendors}'", said)
        unit = (self.prefix / 'lib/systemd/system/cliqued.service').read_text()
        self.assertIn(f'ExecStart={self.prefix}/bin/cliqued ', unit)

    def test_programs_find_the_platform_and_the_daemon(self):
        self.install()
        environment = dict(os.environ, OCL_ICD_VENDORS=str(self.prefix / 'etc/OpenCL/vendors'),
                           PATH='/usr/bin:/bin', CLIQUE_NVIDIA='opencl')
        del environment['CLIQUE_DAEMON']
        said = self.run_ok('clinfo', '-l', env=environment)
        self.assertRegex(said, r'Platform #0: Clique\n.*Device #0: ')
        # The daemon was that of the installation.
        (self.prefix / 'bin/cliqued').unlink()
        self.assertNotIn('Device #0', nodes.run(['clinfo', '-l'], env=environment)[1])

    def test_uninstall_leaves_what_it_did_not_install(self):
        self.install()
        other = self.prefix / 'bin/other'
        other.touch()
        said = self.run_ok('cmake', '--build', BUILD, '--target', 'uninstall')
        self.assertIn('Kept: keys and settings', said)
        self.assertEqual(sorted(self.prefix.rglob('*')), [other.parent, other])
        status, said = nodes.run(['cmake', '--build', BUILD, '--target', 'uninstall'])
        self.assertNotEqual(status, 0)
        self.assertIn('Nothing to uninstall', said)

    def test_system_installation(self):
        staged = self.prefix
        environment = dict(os.environ, DESTDIR=str(staged))
        self.run_ok('cmake', '--install', BUILD, '--prefix', '/usr/local', env=environment)
        icd = staged / 'etc/OpenCL/vendors/clique.icd'
        self.assertEqual(icd.read_text(), '/usr/local/lib/libclique.so\n')
        self.run_ok('cmake', '--build', BUILD, '--target', 'uninstall', env=environment)
        self.assertEqual([path for path in staged.rglob('*') if not path.is_dir()], [])
        self.assertFalse((staged / 'usr/local/libexec/clique').exists())
        self.assertTrue((staged / 'usr/local/bin').exists())


if __name__ == '__main__':
    nodes.main()
