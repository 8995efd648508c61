#!/usr/bin/env python3
"""Floods of connections: other clients are served, and the daemon's memory and descriptors stay bounded."""

import contextlib
import os
import pathlib
import subprocess
import sys

import nodes
import tls

HERE = pathlib.Path(__file__).resolve().parent
SOCKETS = 64
MIB = 1 << 20


def descriptors(pid):
    return len(os.listdir(f'/proc/{pid}/fd'))


def memory(pid):
    """Bytes of memory that a process uses."""
    for line in pathlib.Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmRSS:'):
            return int(line.split()[1]) << 10
    return 0


def children(pid):
    return pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split()


class Floods(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.list = self.folder / 'authorized-clients'
        self.stranger_file, self.stranger_key, _ = self.made_key('stranger.key')
        self.client_file, client_key, _ = self.made_key('client.key')
        self.list.write_text(f'{client_key} alice\n')
        self.stranger_pem = tls.certificate(self.stranger_file, self.folder)
        self.give_to_nobody(self.stranger_file, self.stranger_pem, self.client_file)

    @contextlib.contextmanager
    def flood(self, node, way, *files, count=SOCKETS):
        with subprocess.Popen([*nodes.AS_NOBODY, sys.executable, str(HERE / 'stranger.py'), way, node.address,
                               str(count), *map(str, files)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              preexec_fn=nodes.die_with_parent) as stranger:
            try:
                self.assertEqual(stranger.stdout.readline(), 'ready\n')
                yield
                self.assertIsNone(stranger.poll())
            finally:
                stranger.kill()

    def honest(self, node):
        return self.compute(node, prefix=nodes.AS_NOBODY, CLIQUE_IDENTITY=str(self.client_file),
                            CLIQUE_CONNECT_TIMEOUT_MS='30000')

    def recorded_hello(self):
        """The messages that a client sends to open a session, in a file."""
        fake = tls.FakeNode(self.stranger_file, self.stranger_pem)
        self.clinfo(fake.address, CLIQUE_INSECURE='1')
        fake.close()
        # The client tries again if it gets no answer.
        said = fake.heard[0]
        file = self.folder / 'hello'
        # The wish is the byte after the version. Ask for a session instead of devices.
        before = said.index(b'clinfo')
        wish = said.rindex(b'\x01', 0, before)
        file.write_bytes(said[:wish] + b'\x00' + said[wish + 1:])
        self.give_to_nobody(file)
        return file

    def expect_survived(self, way, *files):
        node = self.node('--authorized-clients', self.list)
        self.assertEqual(self.honest(node), (0, 'right\n'))
        pid = node.process.pid
        before = memory(pid)
        with self.flood(node, way, *files):
            for _ in range(6):
                self.assertEqual(self.honest(node), (0, 'right\n'))
                self.assertLess(descriptors(pid), 2 * SOCKETS + 128)
                self.assertLess(memory(pid) - before, 64 * MIB)
                # The workers of 8 sessions without clients, of a warm set, of one running session, and some that start
                # or end.
                self.assertLess(len(children(pid)), 32)
        self.assertTrue(nodes.eventually(lambda: descriptors(pid) < 48, 40), descriptors(pid))
        self.assertEqual(self.honest(node), (0, 'right\n'))
        self.assertTrue(node.alive())
        # The log does not grow with the number of refused connections.
        self.assertLess(node.log().count(' warning: '), 100)
        return node

    def test_connections_that_say_nothing(self):
        self.expect_survived('silent')

    def test_half_handshakes(self):
        self.expect_survived('half')

    def test_handshakes_without_hello(self):
        self.expect_survived('handshake', self.stranger_file, self.stranger_pem)

    def test_hello_with_an_unauthorized_key(self):
        node = self.expect_survived('hello', self.stranger_file, self.stranger_pem, self.recorded_hello())
        self.assertIn('is not authorized on node alpha', node.log())

    def test_hello_without_attaching_by_an_authorized_client(self):
        hello = self.recorded_hello()
        with open(self.list, 'a', encoding='utf-8') as stream:
            stream.write(f'{self.stranger_key} mallory\n')
        node = self.expect_survived('hello', self.stranger_file, self.stranger_pem, hello)
        self.assertIn('began: client="mallory"', node.log())

    def test_few_sessions_and_an_authorized_client_that_does_not_attach(self):
        hello = self.recorded_hello()
        with open(self.list, 'a', encoding='utf-8') as stream:
            stream.write(f'{self.stranger_key} mallory\n')
        # With a single one, the others wait until the time to attach is over.
        for sessions, rounds in (('4', 6), ('1', 2)):
            with self.subTest(sessions=sessions):
                node = self.node('--authorized-clients', self.list, '--sessions', sessions,
                                 log=f'cliqued-{sessions}.log')
                with self.flood(node, 'hello', self.stranger_file, self.stranger_pem, hello):
                    self.assertTrue(node.says('began: client="mallory"'), node.log())
                    for _ in range(rounds):
                        self.assertEqual(self.honest(node), (0, 'right\n'))
                self.assertGreater(node.log().count('began: client="mallory"'), 0)

    def test_want_of_descriptors(self):
        node = self.node('--authorized-clients', self.list, prefix=('prlimit', '--nofile=64', '--'))
        self.assertEqual(self.honest(node), (0, 'right\n'))
        with self.flood(node, 'silent', count=200):
            self.assertTrue(node.says('too few descriptors'))
            self.assertLessEqual(descriptors(node.process.pid), 64)
        self.assertTrue(nodes.eventually(lambda: self.honest(node) == (0, 'right\n'), 40))
        self.assertTrue(node.alive())
        self.assertLess(node.log().count('too few descriptors'), 10)


if __name__ == '__main__':
    nodes.need_nobody()
    nodes.main()
