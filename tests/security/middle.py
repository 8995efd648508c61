#!/usr/bin/env python3
"""A man in the middle: everything between a program and two nodes, and between the nodes, goes through a process that
records, changes, repeats, drops and delays it. The program gets right results, or an error in bounded time; he learns
nothing.
"""

import contextlib
import os
import pathlib
import random
import re
import selectors
import socket
import threading
import time

import nodes

SECRETS = pathlib.Path(os.environ['CLIQUE_TEST_SECRETS'])
# Of each node: two sessions of one driver, which may overlap, and one that is kept ready.
PORTS = 12
RIGHT, FAILED, WRONG, NO_DEVICE = range(4)
# Until a connection on which nothing can be read any more is noticed, a few times.
SECONDS = 200


class Middle:
    """Listens at an address of its own at the ports of a node on 127.0.0.1, and passes on what it gets as it pleases.
    `meddle` gets the bytes that came in one piece and the connection, and returns those to pass on and for how long to
    wait before."""

    def __init__(self, address, ports, meddle=lambda data, _source: (data, 0)):
        self.meddle = meddle
        self.record = bytearray()
        self.connections = 0
        self.selector = selectors.DefaultSelector()
        self.listeners = []
        self.pairs = {}  # a connection's socket -> that of the other side
        self.queues = {}  # a socket -> what is to be sent to it: [(when, bytes)]; None: it ends
        self.alive = True
        with contextlib.ExitStack() as undo:
            for port in ports:
                listener = undo.enter_context(socket.create_server((address, port)))
                listener.setblocking(False)
                self.listeners.append(listener)
            undo.pop_all()
        for listener in self.listeners:
            self.selector.register(listener, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def close(self):
        self.alive = False
        self.thread.join()
        for one in [*self.listeners, *self.pairs]:
            one.close()
        self.selector.close()

    def serve(self):
        while self.alive:
            for key, _ in self.selector.select(0.005):
                if key.fileobj in self.pairs:
                    self.take(key.fileobj)
                elif key.fileobj in self.listeners:
                    self.accept(key.fileobj)
            for target in list(self.queues):
                self.send(target)

    def accept(self, listener):
        try:
            near = listener.accept()[0]
        except OSError:
            return
        try:
            far = socket.create_connection(('127.0.0.1', listener.getsockname()[1]), 5)
        except OSError:
            near.close()
            return
        self.connections += 1
        for one, other in ((near, far), (far, near)):
            one.setblocking(False)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.pairs[one] = other
            self.queues[one] = []
            self.selector.register(one, selectors.EVENT_READ)

    def take(self, source):
        target = self.pairs[source]
        try:
            data = source.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b''
        if not data:
            self.end(source)
            return
        self.record += data
        data, delay = self.meddle(data, source)
        # What comes later does not overtake.
        queue = self.queues[target]
        when = max(time.monotonic() + delay, queue[-1][0] if queue else 0)
        queue.append((when, data))

    def send(self, target):
        queue = self.queues.get(target)
        try:
            while queue and queue[0][0] <= time.monotonic():
                sent = target.send(queue[0][1]) if queue[0][1] else 0
                if sent < len(queue[0][1]):
                    queue[0] = (queue[0][0], queue[0][1][sent:])
                    return
                queue.pop(0)
        except BlockingIOError:
            pass
        except OSError:
            self.end(target)

    def end(self, one):
        other = self.pairs[one]
        for each in (one, other):
            self.selector.unregister(each)
            del self.pairs[each]
            del self.queues[each]
            each.close()


class Meddler:
    """Does something with some of the pieces, at random."""

    def __init__(self, seed, act, probability, most=10**9):
        self.random = random.Random(seed)
        self.act = act
        self.probability = probability
        self.most = most
        self.done = 0

    def __call__(self, data, _source):
        if self.done >= self.most or self.random.random() >= self.probability:
            return data, 0
        self.done += 1
        return self.act(self.random, data)


def change(choose, data):
    changed = bytearray(data)
    changed[choose.randrange(len(changed))] ^= 1 << choose.randrange(8)
    return bytes(changed), 0


def repeat(_choose, data):
    return data + data, 0


def drop(choose, data):
    return data[:choose.randrange(len(data))], 0


def delay(choose, data):
    return data, choose.uniform(0, 0.2)


class OnlyHeartbeats:
    """Lets nothing but heartbeats through from the middle of a transfer on, in one connection: both ends find the other
    alive, and a frame never ends."""

    def __init__(self):
        self.victim = None

    def __call__(self, data, source):
        if self.victim is None and len(data) > 30000:
            self.victim = source
            return data[:len(data) // 2], 0
        return (data if source is not self.victim or len(data) < 200 else b''), 0


class ManInTheMiddle(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.key, public_key, _ = self.made_key('client.key')
        self.node_key, self.node_public_key, _ = self.made_key('node.key')
        self.list = self.folder / 'authorized-clients'
        self.list.write_text(f'{public_key} alice\n')
        (self.folder / 'secret_file.h').write_text('#define SECRET_STEP 128\n')
        self.nodes, self.men, self.known = [], [], []

    def start(self, encryption='all', meddle=lambda data, _source: (data, 0), count=2):
        """Starts nodes, and a man in front of each."""
        for index in range(count):
            address = f'127.0.{random.randrange(1, 250)}.{10 + index}'
            first = random.randrange(20000, 30000)
            node = nodes.Node('--authorized-clients', self.list, '--identity', self.node_key,
                              '--encryption', encryption, '--worker-ports', f'{first}-{first + PORTS - 1}',
                              '--resume-timeout', '3', log=self.folder / f'cliqued{index}.log')
            self.addCleanup(node.stop)
            man = Middle(address, [node.port, *range(first, first + PORTS)], meddle)
            self.addCleanup(man.close)
            self.nodes.append(node)
            self.men.append(man)
            self.known.append(f'{address}:{node.port}')
        file = self.folder / 'known-nodes'
        file.write_text(''.join(f'{name} {self.node_public_key}\n' for name in self.known))
        self.environment['CLIQUE_KNOWN_NODES'] = str(file)

    def run_program(self, rounds=1, allowed=(RIGHT, FAILED, NO_DEVICE), **environment):
        """Runs the program. Returns its exit status and output. It ends in time."""
        status, said = nodes.run([SECRETS, rounds], cwd=self.folder, timeout=SECONDS, env=self.using(
            *self.known, CLIQUE_IDENTITY=str(self.key), CLIQUE_SHARED_MEMORY='0',
            **{'CLIQUE_CONNECT_TIMEOUT_MS': '30000', **environment}))
        self.assertIn(status, allowed, said)
        return status, said

    def recorded(self):
        return b''.join(bytes(man.record) for man in self.men)

    def peers_talked(self):
        return all(nodes.eventually(lambda node=node: re.search(r'peers-(in|out)=[1-9]\d{6}', node.log()), 20)
                   for node in self.nodes)

    def device(self):
        """What the name of the nodes' device begins with."""
        return re.search(r' 0  cpu  (\S+)', self.nodes[0].log())[1].encode()

    def test_he_reads_nothing(self):
        self.start()
        self.assertEqual(self.run_program(), (RIGHT, 'right\n'))
        self.assertTrue(self.peers_talked(), self.nodes[0].log())
        record = self.recorded().lower()
        # All of it went through him: written, moved to the other node and read.
        self.assertLess(3 * (6 << 20), len(record))
        self.assertNotIn(b'secret', record)
        # Nor what both sides know: names of devices, programs and options.
        for known in (self.device().lower(), b'security_secrets', b'opencl', b'get_global_id'):
            self.assertNotIn(known, record)

    def test_he_would_find_it_without_encryption(self):
        self.start(encryption='none')
        self.assertEqual(self.run_program(), (RIGHT, 'right\n'))
        record = self.recorded()
        for text in (b'secret data that fills', b'secret_kernel', b'a secret remark', b'secret_file.h', b'SECRET_STEP',
                     b'SECRET_OPTION', self.device()):
            self.assertIn(text, record)
        # What the daemon is told is encrypted all the same.
        self.assertNotIn(b'security_secrets', record)

    def test_he_reads_no_commands_where_data_is_no_secret(self):
        self.start(encryption='commands')
        self.assertEqual(self.run_program(), (RIGHT, 'right\n'))
        self.assertTrue(self.peers_talked(), self.nodes[0].log())
        record = self.recorded().lower()
        for text in (b'secret_kernel', b'a secret remark', b'secret_file.h', b'secret_step', b'secret_option',
                     self.device().lower(), b'security_secrets', b'opencl', b'get_global_id'):
            self.assertNotIn(text, record)
        # The data travels as it is, also from one node to the other, where the first one's kernel has changed it.
        data = b'secret data that fills'
        changed = bytes(byte ^ 128 for byte in data)
        self.assertIn(data, bytes(self.men[0].record))
        self.assertTrue(any(changed in bytes(man.record) for man in self.men))

    def test_he_changes_data_that_is_no_secret(self):
        results = self.meddle(change, 0.01, 4, encryption='commands', allowed=(RIGHT, FAILED, WRONG, NO_DEVICE))
        self.assertEqual(len(results), 4)

    def test_he_drops_data_that_is_no_secret(self):
        self.meddle(drop, 0.01, 3, encryption='commands', allowed=(RIGHT, FAILED, WRONG, NO_DEVICE))

    def meddle(self, act, probability, rounds, timeout='5000', encryption='all', allowed=(RIGHT, FAILED, NO_DEVICE)):
        """Runs the program while he meddles. Returns how it ended each time, which is as allowed."""
        results = []
        meddler = Meddler(len(act.__name__), act, 0)
        self.start(encryption, meddle=lambda data, source: meddler(data, source))
        for seed in range(rounds):
            meddler = Meddler(seed, act, probability)
            # A handshake that he drops takes as long as this limit.
            results.append(self.run_program(allowed=allowed, CLIQUE_CONNECT_TIMEOUT_MS=timeout)[0])
        meddler = Meddler(0, act, 0)
        # The nodes are as well as before.
        for node in self.nodes:
            self.assertTrue(node.alive())
        self.assertTrue(nodes.eventually(lambda: self.run_program()[0] == RIGHT, 120))
        return results

    def test_he_changes_bits(self):
        self.meddle(change, 0.01, 4)

    def test_he_repeats(self):
        self.meddle(repeat, 0.01, 4)

    def test_he_drops(self):
        self.meddle(drop, 0.01, 3)

    def test_he_delays(self):
        self.assertEqual(self.meddle(delay, 0.05, 2, timeout='30000'), [RIGHT, RIGHT])

    def test_he_lets_only_heartbeats_pass(self):
        heartbeats = OnlyHeartbeats()
        self.start(meddle=heartbeats)
        self.assertEqual(self.run_program(), (RIGHT, 'right\n'))
        self.assertIsNotNone(heartbeats.victim)

    def test_one_changed_bit_is_noticed(self):
        # A connection of ZeroMQ breaks, and is made again. A stream ends the session, which says why.
        meddler = Meddler(1, change, 0)
        self.start(meddle=lambda data, source: meddler(data, source))
        changed = 0
        reason = 'is not what the other end has sent'
        for seed in range(4):
            big = Meddler(seed, change, 0.2, most=1)
            meddler = lambda data, source, big=big: big(data, source) if len(data) > 30000 else (data, 0)
            status, said = self.run_program(2, CLIQUE_LOG='debug')
            if status != RIGHT:
                self.assertTrue(reason in said or
                                nodes.eventually(lambda: any(reason in node.log() for node in self.nodes)), said)
            changed += big.done
        self.assertEqual(changed, 4)


if __name__ == '__main__':
    nodes.main()
