#!/usr/bin/env python3
"""Files of nodes: what a client may open, and which way the content goes."""

import os
import re
import subprocess

import nodes

PROGRAM = os.environ['CLIQUE_TEST_FILES_PROGRAM']
DENIED = '-1302'
MISSING = '-1301'
MIB = 1 << 20


class Files(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.data = self.folder / 'data'
        self.scratch = self.folder / 'scratch'
        for folder in (self.data / 'alice', self.scratch):
            folder.mkdir(parents=True)
        for path, text in ((self.data / 'file', 'data'), (self.data / 'alice/file', 'hers'),
                           (self.folder / 'outside', 'away')):
            path.write_text(text)
        self.roots = f'read:{self.data},write:{self.scratch}'

    def files(self, node, *arguments, prefix=(), **environment):
        """Runs the program. Returns what it prints for each path."""
        ended = subprocess.run([*prefix, PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True, timeout=90, check=False,
                               env=self.using(*(node if isinstance(node, tuple) else (node,)), **environment))
        self.said = ended.stderr
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout.split()

    def as_client(self, node, key, *arguments):
        return self.files(node, *arguments, prefix=nodes.AS_NOBODY, CLIQUE_IDENTITY=str(key), CLIQUE_INSECURE='1')

    def keys(self, **options):
        """Authorizes a client for each name, with these options. Returns the files of their keys."""
        files = {}
        for name, option in options.items():
            files[name], key, _ = self.made_key(f'{name}.key')
            with open(self.folder / 'clients', 'a', encoding='utf-8') as stream:
                stream.write(f'{key} {name} {option}\n')
        self.give_to_nobody(*files.values())
        return files

    def test_a_node_offers_nothing_by_default(self):
        keys = self.keys(alice='')
        node = self.node('--authorized-clients', self.folder / 'clients')
        self.assertEqual(self.as_client(node, keys['alice'], self.data / 'file', '/etc/passwd', '/proc/self/maps'),
                         [DENIED] * 3)
        self.assertIn('the node offers no files to this client', self.said)
        self.assertIn(f"node alpha: the file '{self.data / 'file'}' cannot be read", self.said)
        self.assertEqual(self.as_client(node, keys['alice'], '--write', self.scratch / 'new'), [DENIED])
        self.assertFalse((self.scratch / 'new').exists())
        # Not even to its own user.
        self.assertEqual(self.files(node, self.data / 'file'), [DENIED])

    def test_nothing_leads_out_of_the_folders(self):
        (self.data / 'up').symlink_to('../outside')
        (self.data / 'absolute').symlink_to(self.folder / 'outside')
        (self.data / 'parent').symlink_to('..')
        (self.data / 'inside').symlink_to('alice/file')
        (self.scratch / 'up').symlink_to('../made')
        node = self.node('--file-roots', self.roots)
        self.assertEqual(self.files(node, self.data / 'file', self.data / 'inside', self.data / 'missing'),
                         ['data', 'hers', MISSING])
        outside = [self.folder / 'outside', f'{self.data}/../outside', f'{self.data}/alice/../../outside',
                   self.data / 'up', self.data / 'absolute', self.data / 'parent/outside', '/etc/passwd',
                   f'{self.data}2', '/', '/proc/self/mem']
        self.assertEqual(self.files(node, *outside), [DENIED] * len(outside))
        self.assertEqual(self.files(node, '--write', self.scratch / 'new', self.data / 'file', self.data / 'new',
                                    f'{self.scratch}/../made', self.folder / 'made'),
                         ['ok'] + [DENIED] * 4)
        self.assertNotEqual(self.files(node, '--write', self.scratch / 'up'), ['ok'])
        self.assertEqual((self.scratch / 'new').read_text(), '!!!!')
        self.assertFalse((self.folder / 'made').exists())
        self.assertEqual((self.data / 'file').read_text(), 'data')

    def test_each_client_gets_its_part(self):
        keys = self.keys(alice=f'files=read:{self.data}/alice', bob='files=none', carol='',
                         dave=f'files=write:{self.data}')
        node = self.node('--authorized-clients', self.folder / 'clients', '--file-roots', self.roots)
        paths = (self.data / 'alice/file', self.data / 'file')
        self.assertEqual(self.as_client(node, keys['alice'], *paths), ['hers', DENIED])
        self.assertEqual(self.as_client(node, keys['alice'], '--write', self.scratch / 'new'), [DENIED])
        self.assertEqual(self.as_client(node, keys['bob'], *paths), [DENIED] * 2)
        self.assertEqual(self.as_client(node, keys['carol'], *paths), ['hers', 'data'])
        self.assertEqual(self.as_client(node, keys['carol'], '--write', self.scratch / 'new'), ['ok'])
        # A line that asks for more than the node offers admits nobody.
        self.assertTrue(node.says(f"'{self.data}' is to be written, but"))
        self.assertIn('is not authorized', nodes.run([*nodes.AS_NOBODY, nodes.CLIENT], env=self.using(
            node, CLIQUE_IDENTITY=str(keys['dave']), CLIQUE_INSECURE='1'))[1])

    def test_the_rights_are_those_of_the_nodes_user(self):
        self.folder.chmod(0o755)
        (self.data / 'alice/file').chmod(0o600)
        node = self.node('--file-roots', self.roots, prefix=nodes.AS_NOBODY, HOME='/nonexistent')
        self.assertEqual(self.files(node, self.data / 'file', self.data / 'alice/file', CLIQUE_INSECURE='1',
                                    prefix=nodes.AS_NOBODY), ['data', DENIED])

    def test_private_workers_use_all_files_unless_they_are_restricted(self):
        self.assertEqual(self.files(('',), self.folder / 'outside'), ['away'])
        restricted = {'CLIQUE_FILE_ROOTS': f'read:{self.data}'}
        self.assertEqual(self.files(('',), self.folder / 'outside', self.data / 'file', **restricted), [DENIED, 'data'])

    def counted(self, node):
        """What the log says that the last session of the node has moved: bytes from and to its program, and from other
        workers."""
        line = nodes.eventually(lambda: (re.findall(r'session \d+ ended: .*', node.log()) or [None])[-1])
        value = {name: int(number) for name, number in re.findall(r' ([a-z-]+)=(\d+)', line)}
        return sum(value[f'{way}-{to}'] for way in ('network', 'shared') for to in ('in', 'out')), value['peers-in']

    def traffic(self, size, *where):
        """Reads a file of alpha of this size on a new pair of nodes. Returns what each has counted, by its name."""
        large = self.data / 'large'
        with open(large, 'wb') as file:
            file.truncate(size)
        pair = {name: nodes.Node('--file-roots', self.roots, name=name, log=self.folder / f'{name}-{size}.log')
                for name in ('alpha', 'beta')}
        try:
            self.assertEqual(self.files(tuple(pair.values()), *where, '--bytes', size, f'alpha:{large}'), ['ok'])
            return {name: self.counted(node) for name, node in pair.items()}
        finally:
            for node in pair.values():
                node.stop()

    def test_content_does_not_pass_through_the_program(self):
        small, large = 16 * MIB, 528 * MIB
        for device in ('alpha', 'beta'):
            before = self.traffic(small, '--node', device)
            after = self.traffic(large, '--node', device)
            program = sum(after[name][0] - before[name][0] for name in after)
            # Less than 1 KiB for each GiB.
            self.assertLess(program, (large - small) / MIB, f'{before} {after}')
            self.assertGreaterEqual(after['beta'][1], large if device == 'beta' else 0)
            self.assertLess(after['alpha'][1], MIB)


if __name__ == '__main__':
    nodes.need_nobody()
    nodes.main()
