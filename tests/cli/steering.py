#!/usr/bin/env python3
"""clique kill and clique drain, with real nodes and sessions."""

import json
import os
import re
import signal

import nodes


class Case(nodes.TestCase):
    def steer(self, *arguments, status=0):
        found, said = self.clique(*arguments)
        self.assertEqual(found, status, said)
        return said

    def end_of_session(self, node):
        self.assertTrue(node.says('ended: seconds='), node.log())
        return re.search(r'session \d+ ended: .* end=("(?:[^"\\]|\\.)*")', node.log())[1]


class Kill(Case):
    def setUp(self):
        super().setUp()
        self.key, public, _ = self.made_key('alice.key')
        self.list = self.folder / 'authorized-clients'
        self.list.write_text(f'{public} alice\n')
        self.give_to_nobody(self.key)

    def alice(self, node, *arguments):
        return self.session(node, prefix=nodes.AS_NOBODY, arguments=arguments, CLIQUE_IDENTITY=str(self.key))

    def test_the_program_learns_why(self):
        node = self.node('--authorized-clients', self.list)
        client = self.alice(node, '--busy')
        said = self.steer('kill', node.address, '1', '--reason', 'the node\nis needed')
        self.assertEqual(said, 'session 1 on node alpha is ending\n')
        # communicate() closes its standard input, at which it would end by itself.
        client.wait(timeout=60)
        out, errors = client.communicate()
        self.assertEqual(client.returncode, 1, out)
        self.assertIn('ended by administrator root: the node\\nis needed', errors)
        self.assertEqual(self.end_of_session(node), '"ended by administrator root: the node\\\\nis needed"')
        self.assertRegex(node.log(), r'session 1 of alice is being ended by administrator root: the node\\nis needed '
                                     r'\(user root at 127\.0\.0\.1:\d+\)')

    def test_idle_session_without_a_reason(self):
        node = self.node('--authorized-clients', self.list)
        client = self.alice(node, '--hold')
        found = json.loads(self.steer('kill', node.address, '1', '--json'))
        self.assertEqual(found, {'node': 'alpha', 'address': node.address, 'session': 1, 'ending': True})
        self.assertEqual(self.end_of_session(node), '"ended by administrator root"')
        self.assertIn('ended by administrator root', client.communicate()[1])

    def test_worker_that_does_not_react(self):
        node = self.node('--authorized-clients', self.list)
        self.alice(node, '--busy')
        os.kill(node.worker(), signal.SIGSTOP)
        for _ in range(3):
            self.steer('kill', node.address, '1', '--reason', 'stuck')
        self.assertEqual(self.end_of_session(node),
                         '"ended by administrator root: stuck; a worker exited: killed by signal Killed"')

    def test_session_on_one_of_several_nodes(self):
        one, other = self.node(name='one'), self.node(name='other')
        self.environment['CLIQUE_NODES'] = f'{one.address},{other.address}'
        self.session(other)
        self.assertEqual(self.steer('kill', '1'), 'session 1 on node other is ending\n')
        self.end_of_session(other)
        self.assertIn('no configured node lists a session 1 to you', self.steer('kill', '1', status=1))
        self.session(one)
        self.assertEqual(self.steer('kill', '1'), 'session 1 on node one is ending\n')

    def test_several_nodes_with_such_a_session(self):
        one, other = self.node(name='one'), self.node(name='other')
        self.environment['CLIQUE_NODES'] = f'{one.address},{other.address}'
        self.session(one)
        self.session(other)
        said = self.steer('kill', '1', status=1)
        self.assertIn(f'several nodes have a session 1: {one.address}, {other.address}; name one', said)
        self.assertEqual(self.steer('kill', one.address, '1'), 'session 1 on node one is ending\n')

    def test_mistakes(self):
        node = self.node()
        self.assertIn('node alpha has no session 7', self.steer('kill', node.address, '7', status=1))
        self.assertIn("'seven' is not the number of a session", self.steer('kill', node.address, 'seven', status=1))
        self.assertIn('the reason has 501 bytes',
                      self.steer('kill', node.address, '1', '--reason', 'x' * 501, status=1))
        node.stop()
        self.assertIn('connection refused', self.steer('kill', node.address, '1', status=1))
        self.assertIn('SESSION', self.steer('kill', status=2))


class Drain(Case):
    def test_sessions_end_first(self):
        node = self.node()
        client = self.session(node)
        said = self.steer('drain', node.address, '--reason', 'a "GPU" swap')
        self.assertIn('node alpha is draining', said)
        self.assertTrue(node.says('draining at the request of administrator root'))
        refusal = "node alpha is draining at the request of administrator root ('a \"GPU\" swap')"
        self.assertIn(refusal, self.clinfo(node))
        self.assertIn(f"draining at the request of administrator root ('a \"GPU\" swap')",
                      self.clique('nodes', node.address)[1])
        self.assertIn('node alpha is draining already', self.steer('drain', node.address, status=1))
        self.assertEqual(client.communicate()[0], 'right\n')
        self.assertEqual(node.process.wait(30), 0)
        self.assertIn("stopped at the request of administrator root ('a \"GPU\" swap')", node.log())

    def test_sessions_that_take_too_long(self):
        node = self.node('--drain-timeout', '0')
        client = self.session(node)
        found = json.loads(self.steer('drain', node.address, '--json'))
        self.assertEqual(found, {'node': 'alpha', 'address': node.address, 'draining': True})
        self.assertEqual(node.process.wait(30), 0)
        self.assertIn('node alpha was stopped at the request of administrator root', client.communicate()[1])

    def test_without_sessions(self):
        node = self.node()
        self.steer('drain', node.address)
        self.assertEqual(node.process.wait(30), 0)


if __name__ == '__main__':
    nodes.need_nobody()
    nodes.main()
