#!/usr/bin/env python3
"""Large transfers through UCX: who is refused, what is listened to, and what strangers can do."""

import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import time

import nodes

API_TESTS = os.environ['CLIQUE_TEST_API']
# Each makes large transfers in both directions.
TRANSFERS = 'LargeTransfers.GivenWritesKernels*:LargeTransfers.GivenManyAtATime*'
# What begins a connection of UCX through TCP.
UCX_MAGIC = (0xcafebabe12345678).to_bytes(8, 'little')


def listening(pid):
    """The addresses at which a process listens: [(address, port)]."""
    inodes = set()
    for descriptor in pathlib.Path(f'/proc/{pid}/fd').iterdir():
        try:
            found = re.fullmatch(r'socket:\[(\d+)\]', os.readlink(descriptor))
        except OSError:
            continue
        if found:
            inodes.add(found[1])
    addresses = []
    for family, table in ((socket.AF_INET, 'tcp'), (socket.AF_INET6, 'tcp6')):
        for line in pathlib.Path(f'/proc/{pid}/net/{table}').read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] != '0A' or fields[9] not in inodes:
                continue
            number, port = fields[1].split(':')
            words = [bytes.fromhex(number[i:i + 8])[::-1] for i in range(0, len(number), 8)]
            addresses.append((socket.inet_ntop(family, b''.join(words)), int(port, 16)))
    return addresses


class Ucx(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.empty = self.folder / 'empty'
        self.empty.mkdir()
        # What the dynamic linker finds first, and cannot open.
        (self.empty / 'libucp.so.0').touch()

    def through_ucx(self, node, **environment):
        return self.using(node, **{'CLIQUE_TRANSPORT': 'ucx', 'CLIQUE_SHARED_MEMORY': '0', 'UCX_TLS': 'tcp',
                                   **environment})

    def transfers(self, node, repeat=1, **environment):
        """Starts a program that makes large transfers."""
        program = subprocess.Popen([API_TESTS, f'--gtest_filter={TRANSFERS}', f'--gtest_repeat={repeat}'],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, preexec_fn=nodes.die_with_parent,
                                   env=self.through_ucx(node, **environment))
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        return program

    def worker(self, node):
        """The process id of the worker whose session uses UCX."""
        self.assertTrue(node.says('large transfers travel through UCX'), node.log())
        return int(re.search(r'worker\[(\d+)\] info: .* travel through UCX', node.log())[1])

    def test_a_node_that_does_not_offer_it_is_refused(self):
        node = self.node(UCX_TLS='tcp')
        said = nodes.run([nodes.CLIENT], env=self.through_ucx(node))[1]
        self.assert_refused(said, 'does not offer it', 'set ucx = true in the configuration of cliqued')
        self.assertEqual(self.compute(node)[0], 0)

    def test_a_node_without_the_library_is_refused(self):
        node = self.node('--ucx', LD_LIBRARY_PATH=str(self.empty))
        said = nodes.run([nodes.CLIENT], env=self.through_ucx(node))[1]
        self.assert_refused(said, 'does not offer it', 'UCX cannot be opened', 'libucx0')
        self.assertTrue(node.says('clients whose transport is ucx are refused'), node.log())
        self.assertEqual(self.compute(node)[0], 0)

    def test_a_program_without_the_library_is_told(self):
        node = self.node('--ucx')
        environment = self.through_ucx(node, LD_LIBRARY_PATH=str(self.empty))
        status, said = nodes.run([nodes.CLIENT], env=environment)
        self.assertNotEqual(status, 0)
        self.assertIn('UCX cannot be opened', said)
        self.assertIn('libucx0', said)
        status, said = nodes.run([nodes.CLIQUE, 'doctor', '--timeout', '60'], env=environment)
        self.assertNotEqual(status, 0)
        self.assertIn('the transport is ucx, but UCX cannot be opened', said)

    def test_hosts_without_rdma_are_told_so(self):
        if any(pathlib.Path('/sys/class/infiniband').glob('*')):
            self.skipTest('this host has RDMA')
        node = self.node('--ucx', UCX_TLS='')
        program = self.transfers(node, UCX_TLS='')
        said = program.communicate(timeout=60)[0]
        self.assertNotEqual(program.returncode, 0)
        self.assertIn('UCX does not reach the other end', said)

    def test_nothing_listens_before_somebody_uses_it(self):
        node = self.node('--ucx', UCX_TLS='tcp')
        client = self.session(node, CLIQUE_SHARED_MEMORY='0')
        self.assertTrue(node.says(' open'), node.log())
        worker = node.worker()
        self.assertEqual(listening(worker), [])
        client.kill()

    def test_strangers_at_its_port(self):
        node = self.node('--ucx', UCX_TLS='tcp')
        program = self.transfers(node, repeat=8)
        worker = self.worker(node)
        self.assertTrue(nodes.eventually(lambda: listening(worker), 10))
        addresses = listening(worker)
        for address, _ in addresses:
            self.assertEqual(address, '127.0.0.1')
        chance = random.Random(1)
        junk = [b'', b'GET / HTTP/1.0\r\n\r\n', bytes(4096), b'\xff' * 4096,
                UCX_MAGIC, UCX_MAGIC[:7], UCX_MAGIC[::-1] * 100]
        junk += [chance.randbytes(chance.randrange(1, 3000)) for _ in range(20)]
        held = []
        while program.poll() is None and junk:
            try:
                stranger = socket.create_connection(addresses[0], 5)
                stranger.sendall(junk.pop())
                held.append(stranger)
            except OSError:
                time.sleep(0.01)
        said = program.communicate(timeout=400)[0]
        with nodes.closing(*held):
            self.assertEqual(program.returncode, 0, said + node.log())
        self.assertEqual(junk, [], 'the program ended before the strangers had said everything')
        self.assertTrue(node.alive())

    def test_a_worker_that_is_killed_is_noticed(self):
        node = self.node('--ucx', UCX_TLS='tcp')
        program = self.transfers(node, repeat=100)
        os.kill(self.worker(node), signal.SIGKILL)
        began = time.monotonic()
        said = program.communicate(timeout=60)[0]
        self.assertLess(time.monotonic() - began, 30)
        self.assertIn('the worker has exited', said)

    def test_a_program_that_is_killed_is_noticed(self):
        node = self.node('--ucx', '--resume-timeout', 1, UCX_TLS='tcp')
        program = self.transfers(node, repeat=100)
        worker = self.worker(node)
        program.kill()
        self.assertTrue(nodes.eventually(lambda: not pathlib.Path(f'/proc/{worker}').exists(), 30), node.log())


if __name__ == '__main__':
    nodes.main()
