#!/usr/bin/env python3
"""clique trust, with a real cliqued."""

import json
import os
import pty
import socket
import threading

import nodes


class Trust(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.known = self.folder / 'home/.config/clique/known-nodes'
        self.key_file, self.key, self.fingerprint = self.made_key('node.key')

    def served(self):
        return self.node('--identity', self.key_file)

    def at_terminal(self, answer, *arguments):
        """Runs clique at a terminal, and types the answer."""
        ours, theirs = pty.openpty()
        with nodes.closing(os.fdopen(ours, 'wb', 0), os.fdopen(theirs, 'rb', 0, closefd=False)):
            os.write(ours, answer.encode())
            result = self.clique(*arguments, stdin=theirs)
            os.close(theirs)
            return result

    def test_fingerprint_is_compared(self):
        node = self.served()
        status, said = self.clique('trust', node.address, '--fingerprint', self.fingerprint)
        self.assertEqual(status, 0, said)
        self.assertEqual(self.known.read_text(), f'{node.address} {self.key}\n')
        self.assertIn(self.key, said)
        # Again: nothing to do.
        status, said = self.clique('trust', node.address)
        self.assertEqual(status, 0, said)
        self.assertIn('is already trusted', said)
        self.assertEqual(self.known.read_text(), f'{node.address} {self.key}\n')
        # The daemon has no reason to complain, except about this host.
        complaints = [line for line in node.log().splitlines() if 'warning' in line and 'lacks the wall' not in line]
        self.assertEqual(complaints, [])

    def test_json(self):
        node = self.served()
        # Nobody is asked.
        status, said = self.clique('trust', node.address, '--json')
        self.assertEqual(status, 1)
        self.assertIn('--json prints nothing but JSON', said)
        self.assertFalse(self.known.exists())
        for added in (True, False):
            status, said = self.clique('trust', node.address, '--json', '--fingerprint', self.fingerprint)
            self.assertEqual(status, 0, said)
            self.assertEqual(json.loads(said), {'file': str(self.known), 'public_key': self.key, 'node': node.address,
                                                'fingerprint': self.fingerprint, 'added': added})

    def test_other_fingerprint_is_refused(self):
        node = self.served()
        _, _, other = self.made_key('other.key')
        status, said = self.clique('trust', node.address, '--fingerprint', other)
        self.assertEqual(status, 1)
        self.assertIn(self.fingerprint, said)
        self.assertIn(other, said)
        self.assertFalse(self.known.exists())

    def test_without_terminal_nothing_is_trusted(self):
        node = self.served()
        status, said = self.clique('trust', node.address)
        self.assertEqual(status, 1)
        self.assertIn('--fingerprint', said)
        self.assertFalse(self.known.exists())
        self.assertEqual(self.clique('trust', node.address, '--yes')[0], 0)
        self.assertTrue(self.known.exists())

    def test_asks_at_a_terminal(self):
        node = self.served()
        status, said = self.at_terminal('no\n', 'trust', node.address)
        self.assertEqual(status, 1)
        self.assertIn('is not trusted', said)
        self.assertIn(self.fingerprint, said)
        self.assertFalse(self.known.exists())
        status, said = self.at_terminal('y\nyes\n', 'trust', node.address)
        self.assertEqual(status, 0, said)
        self.assertEqual(said.count('yes or no'), 2)
        self.assertEqual(self.known.read_text(), f'{node.address} {self.key}\n')

    def test_changed_key_needs_replace(self):
        node = self.served()
        _, other, other_fingerprint = self.made_key('other.key')
        before = f'# mine\n{node.address} {other}\nelse:1 {other}\nwrong line here'
        self.known.parent.mkdir(parents=True)
        self.known.write_text(before)
        status, said = self.clique('trust', node.address, '--yes')
        self.assertEqual(status, 1)
        for part in (self.fingerprint, other_fingerprint, '--replace'):
            self.assertIn(part, said)
        self.assertEqual(self.known.read_text(), before)
        status, said = self.clique('trust', node.address, '--yes', '--replace')
        self.assertEqual(status, 0, said)
        self.assertEqual(self.known.read_text(),
                         f'# mine\nelse:1 {other}\nwrong line here\n{node.address} {self.key}\n')

    def test_lines_for_many_nodes_are_not_replaced(self):
        node = self.served()
        _, other, _ = self.made_key('other.key')
        self.known.parent.mkdir(parents=True)
        self.known.write_text(f'127.0.0.*:* {other}\n')
        status, said = self.clique('trust', node.address, '--yes', '--replace')
        self.assertEqual(status, 1)
        self.assertIn("the line for '127.0.0.*:*'", said)
        self.assertEqual(self.known.read_text(), f'127.0.0.*:* {other}\n')

    def test_programs_use_the_node_afterwards(self):
        node = self.served()
        self.assertEqual(self.clique('trust', node.address, '--yes')[0], 0)
        self.assert_served(self.clinfo(node))

    def test_unreachable_nodes(self):
        with socket.socket() as closed:
            closed.bind(('127.0.0.1', 0))
            address = f'127.0.0.1:{closed.getsockname()[1]}'
            status, said = self.clique('trust', address, '--yes')
        self.assertEqual(status, 1)
        self.assertIn(f'node {address} cannot be reached: connection refused', said)
        status, said = self.clique('trust', 'no.such.host.invalid', '--yes')
        self.assertEqual(status, 1)
        self.assertIn('its name cannot be resolved', said)
        self.assertEqual(self.clique('trust', 'a:b', '--yes')[0], 1)

    def test_other_programs_at_the_port(self):
        with socket.create_server(('127.0.0.1', 0)) as other:
            def talk():
                with other.accept()[0] as client:
                    client.sendall(b'SSH-2.0-OpenSSH_9.2\r\n')
                    client.recv(1)
            threading.Thread(target=talk, daemon=True).start()
            status, said = self.clique('trust', f'127.0.0.1:{other.getsockname()[1]}', '--yes')
        self.assertEqual(status, 1)
        self.assertIn('does not belong to cliqued', said)
        self.assertFalse(self.known.exists())


if __name__ == '__main__':
    nodes.main()
