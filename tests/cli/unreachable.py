#!/usr/bin/env python3
"""Nodes that do not answer are remembered for a short time, and used as soon as they are back."""

import contextlib
import os
import socket
import stat

import nodes


class SilentPort:
    """A port at which connections are neither accepted nor refused: its queue is full."""

    def __init__(self):
        self.sockets = contextlib.ExitStack()
        listener = self.sockets.enter_context(socket.socket())
        listener.bind(('127.0.0.1', 0))
        listener.listen(0)
        self.port = listener.getsockname()[1]
        self.address = f'127.0.0.1:{self.port}'
        for _ in range(4):
            connection = self.sockets.enter_context(socket.socket())
            connection.setblocking(False)
            connection.connect_ex(('127.0.0.1', self.port))

    def close(self):
        self.sockets.close()


class Unreachable(nodes.TestCase):
    def setUp(self):
        super().setUp()
        runtime = self.folder / 'runtime'
        runtime.mkdir(mode=0o700)
        self.environment.update(XDG_RUNTIME_DIR=str(runtime), CLIQUE_REMEMBER_UNREACHABLE='1',
                                CLIQUE_CONNECT_TIMEOUT_MS='1000')
        self.file = runtime / 'clique/unreachable-nodes'
        self.dead = SilentPort()
        self.addCleanup(self.dead.close)

    def test_second_program_asks_briefly_and_says_so(self):
        said = self.clinfo(self.dead.address)
        self.assertIn(f"node '{self.dead.address}' cannot be reached: no answer in time", said)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        said = self.clinfo(self.dead.address)
        self.assertRegex(said, r'cannot be reached: no answer \d+ s ago, and none within 150 ms now. '
                               r'Programs wait for it again in \d+ s')
        # Each user has a memory of their own, and may have none.
        said = self.clinfo(self.dead.address, CLIQUE_REMEMBER_UNREACHABLE='0')
        self.assertIn('no answer in time', said)

    def test_other_nodes_are_used_meanwhile(self):
        node = self.node()
        for expected in ('no answer in time', ' s ago'):
            said = self.clinfo(self.dead.address, node)
            self.assertIn(expected, said)
            self.assertIn('Device #0', said)

    def test_node_that_is_back_is_used_at_once(self):
        self.clinfo(self.dead.address)
        self.assertIn(self.dead.address, self.file.read_text(encoding='utf-8'))
        self.dead.close()
        node = self.node(listen=self.dead.address)
        self.assert_served(self.clinfo(node))
        self.assertNotIn(self.dead.address, self.file.read_text(encoding='utf-8'))

    def test_node_that_refuses_is_not_remembered(self):
        self.dead.close()
        self.assertIn('connection refused', self.clinfo(self.dead.address))
        self.assertFalse(self.file.exists())

    def test_file_of_somebody_else_is_ignored(self):
        self.clinfo(self.dead.address)
        os.chmod(self.file, 0o666)
        self.assertIn('no answer in time', self.clinfo(self.dead.address))


if __name__ == '__main__':
    nodes.main()
