#!/usr/bin/env python3
"""Limits of one client in authorized-clients: sessions, session-memory, devices."""

import os
import re
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
        self.assertIn('alice has 1 session on node alpha, which is its limit', said)
        # Other clients and the first session are not affected.
        self.holding(node, 'bob')
        self.assertEqual(self.as_client(node, 'bob'), (0, 'right\n'))
        self.assertEqual(first.communicate()[0], 'right\n')
        self.assertEqual(self.as_client(node, 'alice'), (0, 'right\n'))

    def test_sessions_of_each_client(self):
        node = self.node('--authorized-clients', self.list, '--client-sessions', '2')
        self.holding(node, 'bob')
        self.holding(node, 'bob')
        status, said = self.as_client(node, 'bob')
        self.assertNotEqual(status, 0)
        self.assertIn("bob has 2 sessions on node alpha, which is its limit; try again when one has ended, or raise "
                      "'client-sessions' in the node's configuration", said)
        # Users have the same limit, and a smaller one of a line counts.
        self.holding(node, 'alice')
        self.assertIn("alice has 1 session on node alpha", self.as_client(node, 'alice')[1])
        self.assertEqual(self.compute(node), (0, 'right\n'))

    def test_sessions_of_each_address(self):
        node = self.node('--insecure', '--client-sessions', '1')
        self.holding(node, 'bob')
        self.assertIn('anybody at 127.0.0.1 has 1 session on node alpha', self.as_client(node, 'alice')[1])

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


class Devices(nodes.TestCase):
    # Two devices of one driver, and two GPUs, which are drivers of their own. The latter come first.
    NODE = {'devices': 'all', 'POCL_DEVICES': 'pthread basic', 'FAKE_CUDA_GPUS': '2', 'CLIQUE_CACHE': '0',
            'LD_LIBRARY_PATH': os.environ['CLIQUE_TEST_CUDA_DRIVER']}

    def setUp(self):
        super().setUp()
        self.list = self.folder / 'authorized-clients'
        self.key, self.public_key, _ = self.made_key('alice.key')
        self.give_to_nobody(self.key)

    def served(self, options, **more):
        self.list.write_text(f'{self.public_key} alice {options}\n')
        return self.node('--authorized-clients', self.list, **dict(self.NODE, **more))

    def devices(self, node):
        said = self.clinfo(node, prefix=nodes.AS_NOBODY, CLIQUE_IDENTITY=str(self.key))
        return [line.partition(': ')[2] for line in said.splitlines() if 'Device #' in line]

    @staticmethod
    def part_of(name):
        """What a device's name begins with: no spaces, which end an option, and no '(R)' of Intel's."""
        return re.match(r'[\w-]+', name)[0]

    def parts_of_names(self):
        """The parts of the names of PoCL's two devices, first that of the device with one thread."""
        node = self.served('')
        names = [self.part_of(name) for name in self.devices(node) if 'Fake' not in name]
        node.stop()
        # Of PoCL 3, and of later ones.
        return sorted(names, key=lambda name: not name.startswith(('basic-', 'cpu-minimal-')))

    def compute_as_alice(self, node):
        return self.compute(node, prefix=nodes.AS_NOBODY, CLIQUE_IDENTITY=str(self.key))

    def test_only_permitted_devices_are_there(self):
        node = self.served('')
        everything = self.devices(node)
        if len(everything) != 4:
            self.skipTest(f'this cliqued has other devices than two GPUs and two of PoCL: {everything}')
        basic = self.part_of(everything[2])
        for options, expected in (('devices=3', everything[3:]), ('devices=0,3', [everything[0], everything[3]]),
                                  ('devices=gpu', everything[:2]), (f'devices={basic},1', everything[1:3])):
            with self.subTest(options):
                node.stop()
                node = self.served(options)
                # One after the other, with workers that stayed and others that are new.
                for _ in range(2):
                    self.assertEqual(self.devices(node), expected)
                    if 'Fake' not in expected[0]:
                        self.assertEqual(self.compute_as_alice(node), (0, 'right\n'))

    def test_the_log_names_them(self):
        basic, _ = self.parts_of_names()
        node = self.served(f'devices={basic}')
        self.assertEqual(self.compute_as_alice(node), (0, 'right\n'))
        self.assertTrue(node.says('ended: '))
        for line in node.log().splitlines():
            if ' began: ' in line or ' ended: ' in line:
                self.assertRegex(line, f'devices="{basic}[^,"]*"')

    def test_none_that_is_served(self):
        basic, other = self.parts_of_names()
        node = self.served(f'devices={basic}', devices=other)
        self.assertIn('node alpha serves none of the devices that alice may use',
                      self.clinfo(node, prefix=nodes.AS_NOBODY, CLIQUE_IDENTITY=str(self.key)))

    def test_unknown_device(self):
        basic, _ = self.parts_of_names()
        node = self.served(f'devices={basic},toaster')
        self.assertRegex(node.log(), f"{self.list}, line 1: devices: 'toaster' is neither 'all' nor an index")
        self.assertEqual(self.devices(node), [])


if __name__ == '__main__':
    nodes.need_nobody()
    nodes.main()
