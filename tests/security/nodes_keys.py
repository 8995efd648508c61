#!/usr/bin/env python3
"""Clients of nodes whose key is known, unknown, changed or another's.

The daemon runs as nobody, whom clients do not trust for being on their host.
"""

import nodes
import tls


class NodesKeys(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.node_file, self.node_key, self.node_fingerprint = self.made_key('node.key')
        self.other_file, self.other_key, self.other_fingerprint = self.made_key('other.key')
        self.cache = self.folder / 'cache'
        self.cache.mkdir()
        self.give_to_nobody(self.node_file, self.cache)
        self.known = self.folder / 'known-nodes'

    def served(self, **more):
        return self.node('--identity', self.node_file, '--local-users', 'root', '--authorized-clients',
                         self.folder / 'none', prefix=nodes.AS_NOBODY, HOME=str(self.cache),
                         XDG_CACHE_HOME=str(self.cache), **more)

    def at_node(self, node, **environment):
        return self.clinfo(node, CLIQUE_KNOWN_NODES=str(self.known), **environment)

    def impostor(self, **more):
        fake = tls.FakeNode(self.other_file, tls.certificate(self.other_file, self.folder), **more)
        self.addCleanup(fake.close)
        return fake

    def test_known(self):
        node = self.served()
        self.known.write_text(f'{node.address} {self.node_key}\n')
        self.assert_served(self.at_node(node))
        self.assertEqual(self.compute(node, CLIQUE_KNOWN_NODES=str(self.known)), (0, 'right\n'))

    def test_unknown(self):
        node = self.served()
        self.assert_refused(self.at_node(node), f'its key {self.node_fingerprint} is not listed in {self.known}',
                            f"'clique trust {node.address}")
        self.assertNotIn('clinfo', node.log())
        self.assert_served(self.at_node(node, CLIQUE_INSECURE='1'))

    def test_changed(self):
        node = self.served()
        self.known.write_text(f'{node.address} {self.other_key}\n')
        for insecure in '0', '1':
            # The setting does not matter: a known key is always compared.
            said = self.at_node(node, CLIQUE_INSECURE=insecure)
            self.assert_refused(said, self.node_fingerprint, self.other_fingerprint, f"'clique trust {node.address}")
        self.assertNotIn('clinfo', node.log())

    def test_impostor_learns_nothing(self):
        fake = self.impostor()
        self.known.write_text(f'{fake.address} {self.node_key}\n')
        self.assert_refused(self.at_node(fake.address), self.node_fingerprint, self.other_fingerprint)
        self.assertGreater(fake.met, 0)
        self.assertEqual(fake.heard, [])
        # If the client trusted it, it would have received something.
        self.known.write_text(f'{fake.address} {self.other_key}\n')
        self.at_node(fake.address)
        self.assertIn(b'clinfo', fake.heard[0])

    def test_man_in_the_middle(self):
        """A man in the middle terminates TLS on both sides, and forwards everything."""
        node = self.served()
        own = self.folder / 'other.key'
        context = tls.client_context(own, tls.certificate(own, self.folder))

        def pass_on(said):
            with tls.connect(node.address, context) as to_node:
                to_node.sendall(said)
                answer = tls.message(to_node)
                # A node whose workers are starting says so first, in a few bytes (Starting).
                while 0 < len(answer) < 16:
                    answer = tls.message(to_node)
                return answer
        fake = self.impostor(forward_to=pass_on)
        self.known.write_text(f'{fake.address} {self.node_key}\n')
        said = self.clinfo(fake.address, CLIQUE_KNOWN_NODES=str(self.known))
        self.assert_refused(said, 'another host is impersonating it')
        self.assertEqual(fake.heard, [])
        # The man in the middle works: it serves a client that checks nothing.
        self.known.write_text('')
        self.assert_served(self.clinfo(fake.address, CLIQUE_KNOWN_NODES=str(self.known), CLIQUE_INSECURE='1'))

    def test_wrong_line_in_known_nodes(self):
        node = self.served()
        self.known.write_text(f'\n{node.address}\n')
        said = self.at_node(node)
        self.assertIn(f'{self.known}:2: ', said)
        self.assertNotIn('Device #0', said)


if __name__ == '__main__':
    nodes.need_nobody()
    nodes.main()
