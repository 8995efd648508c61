#!/usr/bin/env python3
"""What the log says of each session, at its begin and at its end."""

import os
import re
import signal
import subprocess

import nodes

MIB = 1 << 20
LINE = re.compile(r'^\S+ \S+ cliqued\[\d+\] info: session (\d+) (began|ended): (.*)', re.MULTILINE)
VALUE = re.compile(r'([a-z-]+)=("(?:[^"\\]|\\.)*"|\S+)')


class SessionLog(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.list = self.folder / 'authorized-clients'
        self.key, public, self.fingerprint = self.made_key('alice.key')
        self.list.write_text(f'{public} alice@laptop\n')
        self.give_to_nobody(self.key)

    def served(self, *options, **more):
        return self.node('--authorized-clients', self.list, *options, **more)

    def holding(self, node, prefix=nodes.AS_NOBODY, name=nodes.CLIENT, **environment):
        """A session, until the program's standard input is closed."""
        client = subprocess.Popen([*prefix, name, '--hold'], executable=None if prefix else nodes.CLIENT,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  preexec_fn=nodes.die_with_parent,
                                  env=self.using(node, CLIQUE_IDENTITY=str(self.key), **environment))
        self.addCleanup(client.communicate)
        self.addCleanup(client.kill)
        self.assertEqual(client.stdout.readline(), 'ready\n')
        return client

    def sessions(self, node, count=1):
        """The values that the log has for each session when so many have ended: [(at its begin, at its end)]."""
        self.assertTrue(nodes.eventually(
            lambda: [line[1] for line in LINE.findall(node.log())].count('ended') >= count, 20), node.log())
        lines = LINE.findall(node.log())
        found = []
        for number in sorted({int(line[0]) for line in lines}):
            begin, end = ([dict(VALUE.findall(line[2])) for line in lines if line[:2] == (str(number), what)]
                          for what in ('began', 'ended'))
            self.assertEqual((len(begin), len(end)), (1, 1), node.log())
            found.append((begin[0], end[0]))
        self.assertEqual(len(found), count)
        return found

    def worker(self, node):
        return node.worker()

    def test_who_has_a_session_and_what_it_used(self):
        node = self.served()
        self.assertEqual(self.compute(node, prefix=nodes.AS_NOBODY, arguments=('--bytes', 3 * MIB),
                                      CLIQUE_IDENTITY=str(self.key)), (0, 'right\n'))
        begin, end = self.sessions(node)[0]
        for values in (begin, end):
            self.assertEqual(values['client'], '"alice@laptop"')
            self.assertEqual(values['user'], '"nobody"')
            self.assertEqual(values['key'], self.fingerprint)
            self.assertRegex(values['address'], r'^127\.0\.0\.1:\d+$')
            self.assertIn('security_client[', values['program'])
            self.assertIn(values['devices'].strip('"'), node.log())
        self.assertNotIn('end', begin)
        self.assertEqual(end['end'], '"goodbye"')
        self.assertEqual(end['uncounted-workers'], '0')
        self.assertLess(0, float(end['seconds']))
        self.assertEqual(end['kernels'], '1')
        self.assertLessEqual(3 * MIB, int(end['peak-memory']))
        self.assertLess(int(end['peak-memory']), 4 * MIB)
        # 4096 bytes each way, and what it takes to describe devices and programs.
        self.assertLess(4096, int(end['network-in']))
        self.assertLess(4096, int(end['network-out']))
        self.assertLess(int(end['network-in']) + int(end['network-out']), MIB)
        for name in ('shared-in', 'shared-out', 'peers-in', 'peers-out', 'connections', 'peers-connections'):
            self.assertEqual(end[name], '0')
        self.assertEqual(end['transport'], 'streams')
        for name in ('rate-in', 'rate-out', 'peers-transport', 'peers-rate-in', 'peers-rate-out'):
            self.assertEqual(end[name], '-')

    def test_how_large_transfers_travel(self):
        node = self.served()
        size = 64 * MIB
        self.assertEqual(self.compute(node, prefix=nodes.AS_NOBODY, arguments=('--transfer', size),
                                      CLIQUE_IDENTITY=str(self.key)), (0, 'right\n'))
        end = self.sessions(node)[0][1]
        self.assertEqual(end['transport'], 'streams')
        self.assertLessEqual(1, int(end['connections']))
        for direction in ('in', 'out'):
            self.assertLess(size, int(end[f'network-{direction}']))
            # The transfer itself took no longer than the session.
            self.assertLess(size / float(end['seconds']), int(end[f'rate-{direction}']))

    def test_large_transfers_between_nodes(self):
        settings = {'CLIQUE_SHARED_MEMORY': '0', 'CLIQUE_IDENTITY': str(self.key)}
        one, other = (self.served(name=name, log=name + '.log') for name in ('alpha', 'beta'))
        size = 64 * MIB
        self.assertEqual(nodes.run([nodes.CLIENT, '--transfer', size], env=self.using(one, other, **settings)),
                         (0, 'right\n'))
        sender, receiver = (self.sessions(node)[0][1] for node in (one, other))
        if sender['peers-out'] == '0':
            sender, receiver = receiver, sender
        for end in (sender, receiver):
            self.assertEqual(end['peers-transport'], 'streams')
            self.assertLessEqual(1, int(end['peers-connections']))
        self.assertLess(size / float(sender['seconds']), int(sender['peers-rate-out']))
        self.assertLess(size / float(receiver['seconds']), int(receiver['peers-rate-in']))
        self.assertEqual((sender['peers-rate-in'], receiver['peers-rate-out']), ('-', '-'))

    def test_large_transfers_through_zeromq(self):
        node = self.served('--worker-ports', 'any')
        self.assertEqual(self.compute(node, arguments=('--transfer', 8 * MIB), CLIQUE_TRANSPORT='zeromq',
                                      CLIQUE_SHARED_MEMORY='0'), (0, 'right\n'))
        end = self.sessions(node)[0][1]
        self.assertEqual(end['transport'], 'zeromq')
        self.assertLessEqual(1, int(end['connections']))
        self.assertEqual((end['rate-in'], end['rate-out']), ('-', '-'))

    def test_shared_memory(self):
        node = self.served()
        self.assertEqual(self.compute(node), (0, 'right\n'))
        end = self.sessions(node)[0][1]
        self.assertEqual(end['end'], '"goodbye"')
        self.assertEqual(end['client'], '"user root"')
        self.assertEqual(end['user'], '"root"')
        self.assertLess(4096, int(end['shared-in']))
        self.assertLess(4096, int(end['shared-out']))
        self.assertEqual((end['transport'], end['connections'], end['rate-in']), ('shared-memory', '0', '-'))

    def test_client_that_is_killed(self):
        node = self.served('--resume-timeout', '1')
        self.holding(node).kill()
        end = self.sessions(node)[0][1]
        self.assertIn('the client is gone', end['end'])
        self.assertEqual(end['kernels'], '1')

    def test_worker_that_is_killed(self):
        node = self.served()
        client = self.holding(node)
        os.kill(self.worker(node), signal.SIGKILL)
        end = self.sessions(node)[0][1]
        self.assertEqual(end['end'], '"a worker exited: killed by signal Killed"')
        self.assertEqual(end['uncounted-workers'], '1')
        self.assertEqual(end['client'], '"alice@laptop"')
        client.kill()

    def test_worker_that_is_stopped_with_the_node(self):
        node = self.served('--drain-timeout', '0')
        self.holding(node)
        os.kill(node.process.pid, signal.SIGTERM)
        self.assertEqual(self.sessions(node)[0][1]['end'], '"node alpha was stopped"')
        # This one does not react, and ends with the daemon.
        node = self.served('--drain-timeout', '0')
        self.holding(node)
        os.kill(self.worker(node), signal.SIGSTOP)
        os.kill(node.process.pid, signal.SIGTERM)
        self.assertIn('killed by signal', self.sessions(node)[0][1]['end'])

    def test_limit(self):
        node = self.served('--session-memory', '32M')
        self.assertEqual(self.compute(node, arguments=('--bytes', 33 * MIB))[0], 1)
        end = self.sessions(node)[0][1]
        # What the node has refused is not counted.
        self.assertLess(int(end['peak-memory']), MIB)

    def test_text_of_others_forges_nothing(self):
        node = self.served()
        client = self.holding(node, (), 'x" end="no"\n2026-01-01 00:00:00.000 cliqued[1] info: session 7 ended: \\')
        client.communicate()
        begin, end = self.sessions(node)[0]
        self.assertTrue(begin['program'].startswith('"x\\" end=\\"no\\"\\n2026-'), begin['program'])
        self.assertEqual(end['end'], '"goodbye"')


if __name__ == '__main__':
    nodes.need_nobody()
    nodes.main()
