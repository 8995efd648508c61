#!/usr/bin/env python3
"""Limits of one client in authorized-clients: sessions, session-memory."""

import subprocess

import nodes

MIB = 1 << 20


class Limits(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.list = self.folder / 'authorized-clients'
        self.files = {}
        for name in ('alice', 'bob'):
            self.files[name], key, _ = self.made_key(f'{name}.key')
            limit = {'alice': ' sessions=1 session-memory=64M'}.get(name, '')
            with open(self.list, 'a', encoding='utf-8') as stream:
                stream.write(f'{key} {name}{limit}\n')
        self.give_to_nobody(*self.files.values())

    def as_client(self, node, name, *arguments):
        return self.compute(node, prefix=nodes.AS_NOBODY, arguments=arguments, CLIQUE_IDENTITY=str(self.files[name]))

    def holding(self, node, name):
        """A session of the client, until its standard input is closed."""
        client = subprocess.Popen([*nodes.AS_NOBODY, nodes.CLIENT, '--hold'], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, preexec_fn=nodes.die_with_parent,
                                  env=self.using(node, CLIQUE_IDENTITY=str(self.files[name])))
        self.addCleanup(client.communicate)
        self.assertEqual(client.stdout.readline(), 'ready\n')
        return client

    def test_sessions_at_a_time(self):
        node = self.node('--authorized-clients', self.list)
        first = self.holding(node, 'alice')
        status, said = self.as_client(node, 'alice')
        self.assertNotEqual(status, 0)
        self.assertIn('alice has 1 sessions on node alpha, which is its limit', said)
        # Other clients and the first session are not affected.
        self.holding(node, 'bob')
        self.assertEqual(self.as_client(node, 'bob'), (0, 'right\n'))
        self.assertEqual(first.communicate()[0], 'right\n')
        self.assertEqual(self.as_client(node, 'alice'), (0, 'right\n'))

    def test_memory_of_a_session(self):
        node = self.node('--authorized-clients', self.list)
        self.assertEqual(self.as_client(node, 'alice', '--bytes', 48 * MIB), (0, 'right\n'))
        status, said = self.as_client(node, 'alice', '--bytes', 65 * MIB)
        self.assertEqual(status, 1, said)
        self.assertEqual(self.as_client(node, 'bob', '--bytes', 65 * MIB), (0, 'right\n'))

    def test_the_smaller_limit_on_memory_counts(self):
        node = self.node('--authorized-clients', self.list, '--session-memory', '40M')
        self.assertEqual(self.as_client(node, 'alice', '--bytes', 32 * MIB), (0, 'right\n'))
        self.assertEqual(self.as_client(node, 'alice', '--bytes', 48 * MIB)[0], 1)
        self.assertEqual(self.as_client(node, 'bob', '--bytes', 48 * MIB)[0], 1)


if __name__ == '__main__':
    nodes.need_nobody()
    nodes.main()
