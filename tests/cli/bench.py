#!/usr/bin/env python3
"""clique bench."""

import json

import nodes


class Bench(nodes.TestCase):
    def test_measures_a_node(self):
        node = self.node()
        self.environment = self.using(CLIQUE_INSECURE='1')
        status, said = self.clique('bench', node.address)
        self.assertEqual(status, 0, said)
        heading, empty, columns, *figures = said.splitlines()
        self.assertIn(f'node alpha ({node.address}), on this host', heading)
        self.assertEqual((empty, columns.split()), ('', ['FIGURE', 'CLIQUE', 'AT', 'BEST']))
        self.assertEqual(len(figures), 10)
        for line in figures:
            self.assertRegex(line, r'\d')
        self.assertRegex(said, r'(?m)^read of 64 MiB +\S+ [GM]B/s +\S+ [GM]B/s TCP on this host$')
        self.assertRegex(said, r'(?m)^empty kernel and clFinish +\S+ [mµ]s +\S+ [mµ]s TCP on this host$')
        self.assertIn('session 1 began', node.log())

    def test_prints_json(self):
        self.environment = self.using(self.node())
        status, said = self.clique('bench', '--node', self.environment['CLIQUE_NODES'], '--json')
        self.assertEqual(status, 0, said)
        found = json.loads(said)
        self.assertEqual(found['node'], 'alpha')
        self.assertEqual(set(found['best']), {'kernel_s', 'write_small_s', 'read_small_s', 'write_bytes_per_s',
                                              'read_bytes_per_s'})
        for name, value in found.items():
            if name not in ('device', 'node', 'best'):
                self.assertGreater(value, 0, name)

    def test_measures_this_host_without_nodes(self):
        self.environment = self.using()
        status, said = self.clique('bench')
        self.assertEqual(status, 0, said)
        self.assertIn('private workers of this host', said)

    def test_failures_are_explained(self):
        self.environment = self.using()
        status, said = self.clique('bench', '127.0.0.1:1')
        self.assertEqual(status, 1)
        self.assertIn('connection refused', said)
        self.assertIn("there are no devices; 'clique doctor' says why", said)
        self.environment['CLIQUE_NODES'] = 'off'
        self.assertIn('CLIQUE_NODES is off', self.clique('bench')[1])


if __name__ == '__main__':
    nodes.main()
