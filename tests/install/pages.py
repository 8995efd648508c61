#!/usr/bin/env python3
"""Manual pages and completions: complete, and accepted by those who read them."""

import gzip
import os
import pathlib
import re
import shutil
import unittest

import nodes

BUILD = pathlib.Path(os.environ['CLIQUE_BUILD'])
MADE = BUILD / 'packaging/pages'
PAGES = ('clique.1', 'cliqued.8', 'nodes.toml.5', 'cliqued.toml.5')
OPTION = re.compile(r'^\s+(?:-\w,)?(--[a-z-]+)', re.MULTILINE)


def need(tool):
    if not shutil.which(tool):
        raise unittest.SkipTest(f"{tool} is missing; 'tools/setup test' installs it")


def page(name):
    return gzip.decompress((MADE / f'{name}.gz').read_bytes()).decode()


def plain(name):
    """What a reader of the page sees, without its formatting."""
    return re.sub(r'\\f[BIR]', '', page(name)).replace('\\-', '-').replace('\\(aq', "'")


def help_of(*command):
    status, said = nodes.run([*command, '--help'])
    if status != 0:
        raise AssertionError(said)
    return said


def subcommands():
    return re.findall(r'^  ([a-z]+) ', help_of(nodes.CLIQUE).partition('Subcommands:')[2], re.MULTILINE)


class Pages(unittest.TestCase):
    def test_name_every_option(self):
        text = plain('clique.1')
        self.assertGreater(len(subcommands()), 10)
        for command in subcommands():
            section = text.partition(f'.SS "{command}"\n')[2].partition('.SS')[0]
            options = OPTION.findall(help_of(nodes.CLIQUE, command))
            self.assertIn('--help', options)
            for option in options:
                self.assertRegex(section, rf'(?m)(?:^|, ){option}\b', f'clique {command}')
        for option in OPTION.findall(help_of(nodes.CLIQUED)):
            self.assertRegex(plain('cliqued.8'), rf'(?m)(?:^|, ){option}\b')

    def test_name_every_key(self):
        for option in OPTION.findall(help_of(nodes.CLIQUED)):
            key = option.removeprefix('--')
            if key not in ('help', 'version', 'config', 'check'):
                self.assertIn(f'\n{key} (', plain('cliqued.toml.5'))
        for key in ('nodes', '[[node]] port', 'order', 'connect-timeout-ms'):
            self.assertIn(f'\n{key}\n', plain('nodes.toml.5'))
        self.assertNotIn('\nas CLIQUE_', plain('nodes.toml.5'))

    def test_are_valid(self):
        need('groff')
        for name in PAGES:
            file = MADE / f'{name}.gz'
            status, said = nodes.run(['sh', '-c', f'zcat {file} | groff -man -ww -Tutf8 -z'])
            self.assertEqual((status, said), (0, ''), name)
            self.assertTrue(page(name).isascii(), name)


class Completions(unittest.TestCase):
    def bash(self, *words):
        """What bash offers for the last of the words."""
        program = words[0]
        quoted = ' '.join(f"'{word}'" for word in words)
        status, said = nodes.run(['bash', '-c', f'''
            . /usr/share/bash-completion/bash_completion && . {MADE}/{program}.bash
            COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}
            COMP_LINE="${{COMP_WORDS[*]}}"; COMP_POINT=${{#COMP_LINE}}
            _{program}; printf '%s\\n' "${{COMPREPLY[@]}}"'''], cwd='/')
        self.assertEqual(status, 0, said)
        return said.split()

    def test_of_bash(self):
        if not pathlib.Path('/usr/share/bash-completion/bash_completion').exists():
            self.skipTest("bash-completion is missing; 'tools/setup test' installs it")
        self.assertEqual(set(self.bash('clique', '')), {*subcommands(), '--help'})
        self.assertEqual(self.bash('clique', 'no'), ['nodes'])
        self.assertEqual(self.bash('clique', 'top', '--fi'), ['--filter'])
        self.assertIn('/etc', self.bash('clique', 'keygen', '--file', '/et'))
        self.assertIn('--metrics', self.bash('cliqued', '--me'))
        self.assertEqual(self.bash('cliqued', '--log-level', ''), [])

    def test_of_fish(self):
        need('fish')
        for name in ('clique', 'cliqued'):
            self.assertEqual(nodes.run(['fish', '-n', MADE / f'{name}.fish']), (0, ''))

        def offered(line):
            status, said = nodes.run(['fish', '-c', f'source {MADE}/{line.split()[0]}.fish; complete -C "{line}"'])
            self.assertEqual(status, 0, said)
            return [each.split('\t')[0] for each in said.splitlines()]
        self.assertEqual(offered('clique no'), ['nodes'])
        self.assertEqual(offered('clique top --fi'), ['--filter'])
        self.assertEqual(offered('cliqued --metr'), ['--metrics'])

    def test_of_zsh(self):
        need('zsh')
        for name in ('clique', 'cliqued'):
            self.assertEqual(nodes.run(['zsh', '-n', MADE / f'_{name}']), (0, ''))
            # compinit registers it, and it can be loaded.
            loaded = f'fpath=({MADE} $fpath); autoload -U compinit; compinit -u -D; autoload +X _{name}; ' \
                     f'print $_comps[{name}]'
            self.assertEqual(nodes.run(['zsh', '-fc', loaded]), (0, f'_{name}\n'))


if __name__ == '__main__':
    nodes.main()
