#!/usr/bin/env python3
"""Who sees which sessions, and who may end them and drain the node."""

import json

import nodes


class Operators(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.list = self.folder / 'authorized-clients'
        self.keys = {}
        lines = []
        for name in ('alice', 'bob', 'carol', 'stranger'):
            self.keys[name], public, _ = self.made_key(f'{name}.key')
            if name != 'stranger':
                lines.append(f'{public} {name}{" admin" if name == "carol" else ""}\n')
        self.list.write_text(''.join(lines))
        self.give_to_nobody(*self.keys.values())

    def served(self, *options, **more):
        return self.node('--authorized-clients', self.list, *options, **more)

    def as_client(self, name, *arguments):
        """Runs clique with this client's key, as a user whom the node knows nothing of."""
        environment = dict(self.environment, CLIQUE_INSECURE='1')
        if name:
            environment['CLIQUE_IDENTITY'] = str(self.keys[name])
        return nodes.run([*nodes.AS_NOBODY, nodes.CLIQUE, *arguments], env=environment)

    def session_of(self, name, node):
        identity = {'CLIQUE_IDENTITY': str(self.keys[name])} if name else {}
        return self.session(node, prefix=nodes.AS_NOBODY, **identity)

    def listed(self, name, node):
        """The clients of the sessions that this one sees, and how many there are."""
        environment = dict(CLIQUE_NODES=node.address)
        self.environment.update(environment)
        status, said = self.as_client(name, 'top', '--json')
        self.assertEqual(status, 0, said)
        found, = json.loads(said)['nodes']
        self.assertEqual(found['state'], 'up', said)
        self.assertEqual(found['administrator'], name == 'carol')
        return [session['client'] for session in found['listed_sessions']], found['sessions'], said

    def test_clients_see_their_own_sessions(self):
        node = self.served()
        self.session_of('alice', node)
        self.session_of('bob', node)
        self.session_of('bob', node)
        for name, expected in (('alice', ['alice']), ('bob', ['bob', 'bob'])):
            seen, count, said = self.listed(name, node)
            self.assertEqual((seen, count), (expected, 3))
            other = {'alice': 'bob', 'bob': 'alice'}[name]
            self.assertNotIn(other, said)

    def test_administrators_see_all(self):
        node = self.served()
        self.session_of('alice', node)
        self.session_of('bob', node)
        self.assertEqual(self.listed('carol', node)[:2], (['alice', 'bob'], 2))
        # The option counts as long as the line has it.
        self.list.write_text(self.list.read_text().replace(' admin', ''))
        status, said = self.as_client('carol', 'top', '--json')
        self.assertEqual(status, 0, said)
        self.assertEqual(json.loads(said)['nodes'][0]['listed_sessions'], [])

    def test_strangers_see_nothing(self):
        node = self.served()
        self.session_of('alice', node)
        for arguments in (('nodes', node.address), ('kill', node.address, '1'), ('drain', node.address)):
            with self.subTest(arguments):
                status, said = self.as_client('stranger', *arguments)
                self.assertEqual(status, 1)
                self.assertIn('cliqued refused: the client\'s key', said)
                for part in ('alice', 'up', 'CPU', '0.'):
                    self.assertNotIn(part, said.replace(node.address, ''))
        self.assertNotIn('ended: seconds=', node.log())

    def test_sessions_are_ended_by_their_owners(self):
        node = self.served()
        client = self.session_of('alice', node)
        status, said = self.as_client('alice', 'kill', node.address, '1', '--reason', 'enough')
        self.assertEqual(status, 0, said)
        self.assertTrue(node.says('end="ended by its owner alice: enough"'), node.log())
        self.assertIn('ended by its owner alice: enough', client.communicate()[1])

    def test_sessions_are_not_ended_by_others(self):
        node = self.served()
        client = self.session_of('alice', node)
        status, said = self.as_client('bob', 'kill', node.address, '1')
        self.assertEqual(status, 1)
        self.assertIn('bob has no session 1 on node alpha, and may not end those of others', said)
        self.assertIn("the option 'admin'", said)
        # Nothing tells whether there is such a session.
        self.assertEqual(self.as_client('bob', 'kill', node.address, '9')[1].replace('session 9', 'session 1'), said)
        self.assertTrue(node.says('refused clique['))
        self.assertEqual(client.communicate()[0], 'right\n')

    def test_administrators_end_sessions(self):
        node = self.served()
        self.session_of('alice', node)
        status, said = self.as_client('carol', 'kill', node.address, '1')
        self.assertEqual(status, 0, said)
        self.assertTrue(node.says('end="ended by administrator carol"'), node.log())
        self.assertRegex(node.log(), r'session 1 of alice is being ended by administrator carol \(carol at ')

    def test_only_administrators_drain(self):
        node = self.served()
        status, said = self.as_client('bob', 'drain', node.address)
        self.assertEqual(status, 1)
        self.assertIn('bob may not drain node alpha; ask an administrator: those are root', said)
        self.assertTrue(node.alive())
        status, said = self.as_client('carol', 'drain', node.address)
        self.assertEqual(status, 0, said)
        self.assertEqual(node.process.wait(30), 0)
        self.assertRegex(node.log(), r'carol at 127\.0\.0\.1:\d+ has asked this node to drain')

    def test_root_of_the_host_administers_a_daemon_of_another_user(self):
        home = self.folder / 'nobody'
        home.mkdir()
        self.give_to_nobody(self.list, home)
        node = self.served(prefix=nodes.AS_NOBODY, HOME=str(home), XDG_CACHE_HOME=str(home))
        self.session_of('alice', node)
        environment = dict(self.environment, CLIQUE_INSECURE='1', CLIQUE_NODES=node.address)
        status, said = nodes.run([nodes.CLIQUE, 'top', '--json'], env=environment)
        self.assertEqual(status, 0, said)
        found, = json.loads(said)['nodes']
        self.assertTrue(found['administrator'])
        self.assertEqual([session['client'] for session in found['listed_sessions']], ['alice'])
        # That does not admit root's programs.
        self.assert_refused(self.clinfo(node, CLIQUE_INSECURE='1'), 'admits user root with the setting local-users')

    def test_clients_that_nobody_knows_see_nothing_of_each_other(self):
        node = self.served('--insecure')
        self.session_of('', node)
        self.session_of('stranger', node)
        self.session_of('alice', node)
        seen, count, _ = self.listed('', node)
        self.assertEqual((seen, count), ([], 3))
        # Who shows the same key is the same.
        seen, _, _ = self.listed('stranger', node)
        self.assertEqual(seen, ['anybody at 127.0.0.1'])
        status, said = self.as_client('', 'kill', node.address, '1')
        self.assertEqual(status, 1)
        self.assertIn('anybody at 127.0.0.1 has no session 1 on node alpha', said)
        self.assertEqual(self.as_client('stranger', 'kill', node.address, '2')[0], 0)


if __name__ == '__main__':
    nodes.need_nobody()
    nodes.main()
