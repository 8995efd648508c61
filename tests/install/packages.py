#!/usr/bin/env python3
"""The Debian packages that cpack makes: their files, control fields and dependencies."""

import gzip
import os
import pathlib
import re
import shutil
import tarfile
import tempfile
import unittest

import nodes

BUILD = pathlib.Path(os.environ['CLIQUE_BUILD'])
HAS_SLURM_PLUGIN = (BUILD / 'contrib/slurm/spank_clique.so').exists()
HAS_COMPILER = (BUILD / 'daemon/compiler/clique-compiler').exists()
# Packages without compiled code; a plugin of clique-slurm is optional.
NO_PROGRAMS = ('libclique-dev', 'clique-slurm')
TOOLS = ('cpack', 'dpkg-deb', 'dpkg-shlibdeps')


def pages_of(program, *pages):
    """Where the manual pages and completions of a program are."""
    return {*(f'usr/share/man/man{page[-1]}/{page}.gz' for page in pages),
            f'usr/share/bash-completion/completions/{program}', f'usr/share/fish/vendor_completions.d/{program}.fish',
            f'usr/share/zsh/vendor-completions/_{program}'}


FILES = {
    'libclique1': {'etc/OpenCL/vendors/clique.icd', 'usr/lib/libclique.so'},
    'libclique-dev': {'usr/include/CL/cl_ext_clique.h'},
    'cliqued': {'etc/clique/cliqued.toml', 'usr/bin/cliqued', 'usr/lib/systemd/system/cliqued.service',
                'usr/libexec/clique/clique-metrics.so', 'usr/share/doc/clique/configuration.md',
                'usr/share/doc/cliqued/examples/clique.json', 'usr/share/doc/cliqued/examples/clique.service',
                *pages_of('cliqued', 'cliqued.8', 'cliqued.toml.5')}
               | ({'usr/libexec/clique/clique-compiler', 'usr/libexec/clique/device-library.pack'}
                  if HAS_COMPILER else set()),
    'clique': {'usr/bin/clique', *pages_of('clique', 'clique.1', 'nodes.toml.5')},
    'clique-slurm': {'usr/bin/clique-job', 'usr/share/man/man1/clique-job.1.gz'}
                    | ({'usr/lib/clique/spank_clique.so'} if HAS_SLURM_PLUGIN else set()),
}


def output_of(*command, **options):
    status, said = nodes.run(command, timeout=280, **options)
    if status != 0:
        raise AssertionError(f'{command}: {said}')
    return said


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
            raise unittest.SkipTest(f'there is no {", ".join(missing)}')
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        output_of('cpack', '-G', 'DEB', '-B', root / 'packages', cwd=BUILD)
        cls.symbols = {path.name.split('_')[0]: path for path in (root / 'packages').glob('*.ddeb')}
        cls.packages = {path.name.split('_')[0]: path for path in (root / 'packages').glob('*.deb')}
        cls.roots = {name: root / name for name in cls.packages}
        for name, path in cls.packages.items():
            output_of('dpkg-deb', '-x', path, cls.roots[name])

    def field(self, package, name):
        return output_of('dpkg-deb', '-f', self.packages[package], name).strip()

    def test_files(self):
        self.assertEqual(set(self.packages), set(FILES))
        for package, expected in FILES.items():
            root = self.roots[package]
            documents = {f'usr/share/lintian/overrides/{package}',
                         *(f'usr/share/doc/{package}/{name}'
                           for name in ('copyright', 'changelog.gz', 'changelog.Debian.gz'))}
            found = {str(path.relative_to(root)) for path in root.rglob('*') if not path.is_dir()}
            self.assertEqual(found, expected | documents)

    def test_paths_are_those_of_the_installed_system(self):
        icd = self.roots['libclique1'] / 'etc/OpenCL/vendors/clique.icd'
        self.assertEqual(icd.read_text(), '/usr/lib/libclique.so\n')
        unit = self.roots['cliqued'] / 'usr/lib/systemd/system/cliqued.service'
        self.assertIn('ExecStart=/usr/bin/cliqued ', unit.read_text())

    def test_the_library_needs_few_others(self):
        needed = output_of('ldd', self.roots['libclique1'] / 'usr/lib/libclique.so')
        self.assertNotIn('not found', needed)
        self.assertEqual(set(re.findall(r'^\s*lib([a-z+_]+)', needed, re.MULTILINE)),
                         {'c', 'crypto', 'gcc_s', 'lz', 'm', 'resolv', 'sodium', 'ssl', 'stdc++', 'zstd'})
        self.assertNotIn('.debug_info', output_of('readelf', '-S', self.roots['libclique1'] / 'usr/lib/libclique.so'))

    def test_symbols_are_packages_of_their_own(self):
        self.assertEqual(set(self.symbols), {f'{name}-dbgsym' for name in FILES if name not in NO_PROGRAMS}
                         | ({'clique-slurm-dbgsym'} if HAS_SLURM_PLUGIN else set()))
        for package, program in (('libclique1', 'usr/lib/libclique.so'), ('cliqued', 'usr/bin/cliqued'),
                                 ('clique', 'usr/bin/clique')):
            program = self.roots[package] / program
            self.assertNotIn('.debug_info', output_of('readelf', '-S', program))
            number = re.search('Build ID: ([0-9a-f]+)', output_of('readelf', '-n', program))[1]
            with tempfile.TemporaryDirectory() as folder:
                output_of('dpkg-deb', '-x', self.symbols[f'{package}-dbgsym'], folder)
                symbols = pathlib.Path(folder, f'usr/lib/debug/.build-id/{number[:2]}/{number[2:]}.debug')
                self.assertIn('.debug_info', output_of('readelf', '-S', symbols))

    def test_control(self):
        for package in FILES:
            for name in ('Maintainer', 'Section', 'Description', 'Version', 'Depends'):
                self.assertTrue(self.field(package, name), f'{package}: {name}')
            if package not in NO_PROGRAMS or package == 'clique-slurm' and HAS_SLURM_PLUGIN:
                self.assertIn('libc6', self.field(package, 'Depends'))
        # ZeroMQ is opened at run time.
        self.assertIn('libzmq5', self.field('cliqued', 'Depends'))
        self.assertIn('libzmq5', self.field('libclique1', 'Recommends'))
        self.assertTrue(self.field('cliqued', 'Description').startswith('daemon that offers'))
        self.assertEqual(self.field('libclique1', 'Provides'), 'opencl-icd')
        self.assertEqual(output_of('dpkg-deb', '-I', self.packages['cliqued'], 'conffiles').split(),
                         ['/etc/clique/cliqued.toml'])
        self.assertRegex(self.field('libclique1', 'Depends'), 'libssl3')

    def test_the_example_configuration_is_valid(self):
        example = self.roots['cliqued'] / 'etc/clique/cliqued.toml'
        daemon = self.roots['cliqued'] / 'usr/bin/cliqued'
        output_of(daemon, '--config', example, '--check')
        # Each of its settings is, too.
        settings = [line[2:] for line in example.read_text().splitlines()
                    if line.startswith('# ') and ' = ' in line and '`' not in line]
        self.assertGreater(len(settings), 5)
        with tempfile.NamedTemporaryFile('w', suffix='.toml') as file:
            file.write('\n'.join(settings) + '\n')
            file.flush()
            output_of(daemon, '--config', file.name, '--check')

    def test_page_of_clique_job_has_all_options(self):
        script = (self.roots['clique-slurm'] / 'usr/bin/clique-job').read_text()
        command_line = script[script.index('# --- the command line'):]
        options = set(re.findall(r'^ +(?:--[a-z]+ \| )?(--[a-z]+)(?:=\*)?\)', command_line, re.MULTILINE)) - {'--help'}
        self.assertLessEqual({'--folder', '--clean'}, options)
        page = self.roots['clique-slurm'] / 'usr/share/man/man1/clique-job.1.gz'
        text = gzip.decompress(page.read_bytes()).decode()
        for option in options:
            self.assertIn('\n\\fB' + option.replace('-', '\\-') + '\\fR', text)


class Archive(unittest.TestCase):
    def test_works_in_any_folder(self):
        if not shutil.which('cpack'):
            self.skipTest('there is no cpack')
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        output_of('cpack', '-G', 'TGZ', '-B', root, cwd=BUILD)
        archive, = root.glob('*.tar.gz')
        with tarfile.open(archive) as file:
            names = file.getnames()
            file.extractall(root / 'some where')
        self.assertEqual({name.split('/')[0] for name in names}, {archive.name.removesuffix('.tar.gz')})
        self.assertFalse([name for name in names if name.endswith(('.icd', '.service')) or '/etc/' in name])
        there = next((root / 'some where').iterdir())
        environment = {name: value for name, value in os.environ.items()
                       if name not in ('CLIQUE_DAEMON', 'OCL_ICD_VENDORS')}
        environment.update(CLIQUE_NODES='', CLIQUE_NVIDIA='opencl')
        vendors = dict(environment, OCL_ICD_VENDORS=str(there / 'lib/libclique.so'))
        self.assertRegex(output_of('clinfo', '-l', env=vendors), r'Platform #0: Clique\n.*Device #0: ')
        environment['OCL_ICD_VENDORS'] = str(root)
        said = output_of(there / 'bin/clique', 'run', '--', 'clinfo', '-l', env=environment)
        self.assertRegex(said, r'Platform #0: Clique\n.*Device #0: ')
        # The daemon was that of the archive.
        (there / 'bin/cliqued').unlink()
        self.assertNotIn('Device #0', nodes.run(['clinfo', '-l'], env=dict(vendors, PATH='/usr/bin:/bin'))[1])


if __name__ == '__main__':
    nodes.main()
