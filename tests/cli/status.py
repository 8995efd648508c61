#!/usr/bin/env python3
"""clique nodes and clique top, with real nodes and sessions."""

import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import time

import nodes

MIB = 1 << 20
# Two GPUs, which a substitute of NVIDIA's driver makes up, and a device of PoCL.
GPUS = {'devices': '', 'POCL_DEVICES': 'basic', 'FAKE_CUDA_GPUS': '2', 'CLIQUE_CACHE': '0',
        'CLIQUE_COMPILER': '/bin/true',
        'LD_LIBRARY_PATH': os.environ['CLIQUE_TEST_CUDA_DRIVER']}


class Case(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.give_to_nobody()

    def asking(self, *addresses, arguments, status=0, **more):
        """What clique says when these nodes are configured."""
        self.environment['CLIQUE_NODES'] = ','.join(address if isinstance(address, str) else address.address
                                                    for address in addresses)
        self.environment.update(more)
        found, said = self.clique(*arguments)
        self.assertEqual(found, status, said)
        return said

    def states(self, *addresses, command='nodes', arguments=(), **more):
        said = self.asking(*addresses, arguments=(command, '--json', *arguments), **more)
        return json.loads(said.rpartition('}')[0] + '}')['nodes']

    def sessions(self, *addresses, arguments=()):
        """The sessions of all nodes as clique top shows them."""
        return [session for node in self.states(*addresses, command='top', arguments=arguments)
                for session in node['listed_sessions']]

    def worker(self, node):
        return int(re.search(r'worker\[(\d+)\] info: session of .* open', node.log())[1])


class Nodes(Case):
    def test_a_node(self):
        node = self.node('--sessions', '3')
        table = self.asking(node, arguments=['nodes']).splitlines()
        self.assertEqual(re.split(r'  +', table[0]), ['NODE', 'ADDRESS', 'VERSION', 'ROUND TRIP', 'DEVICES', 'SESSIONS',
                                                      'ENCRYPTION', 'STATE'])
        self.assertRegex(table[1], rf'^alpha  {node.address}  +\d+\.\d+\.\d+  +\d+\.\d\d ms  1 CPU +0/3  all +up$')
        self.assertEqual(len(table), 2)
        # Drivers describe their devices when they have started.
        nodes.eventually(lambda: self.states(node)[0]['devices'][0]['memory_total'])
        found = self.states(node)[0]
        version = re.search(r'clique (\S+),', self.clique('version')[1])[1]
        self.assertEqual({name: found[name] for name in ('name', 'address', 'state', 'reason', 'version', 'sessions',
                                                         'session_limit', 'encryption', 'administrator')},
                         {'name': 'alpha', 'address': node.address, 'state': 'up', 'reason': None, 'version': version,
                          'sessions': 0, 'session_limit': 3, 'encryption': 'all', 'administrator': True})
        device, = found['devices']
        self.assertEqual((device['type'], device['backend']), ('cpu', 'opencl'))
        self.assertIn(device['name'], node.log())
        self.assertLess(0, device['memory_total'])
        # PoCL does not tell, which is not the same as none.
        self.assertIsNone(device['memory_free'])
        self.assertIsNone(device['utilisation'])

    def test_devices_whose_driver_tells_more(self):
        node = self.node(**GPUS)
        nodes.eventually(lambda: all(device['memory_total'] for device in self.states(node)[0]['devices']))
        devices = self.states(node)[0]['devices']
        if len(devices) != 3:
            self.skipTest(f'this cliqued has other devices than two GPUs and one of PoCL: {devices}')
        first, second, cpu = devices
        self.assertEqual((first['backend'], first['type'], first['memory_total'], first['memory_free'],
                          first['utilisation']), ('cuda', 'gpu', 80 << 30, 60 << 30, 37))
        # The driver knows nothing of its load.
        self.assertEqual((second['memory_free'], second['utilisation']), (61 << 30, None))
        self.assertIsNone(cpu['utilisation'])
        self.assertIn('2 GPUs, 1 CPU', self.asking(node, arguments=['nodes']))

    def test_unreachable_nodes(self):
        node = self.node()
        with self.closed_port() as closed:
            said = self.asking(node, closed, 'no.such.host.invalid', arguments=['nodes'], status=1)
        self.assertRegex(said, r'(?m)^alpha .* up$')
        self.assertRegex(said, rf'(?m)^{closed} .* unreachable: connection refused\. Is cliqued running there\? ')
        self.assertRegex(said, r'(?m)^no\.such\.host\.invalid:7890 .* unreachable: its name cannot be resolved')
        self.assertIn('clique: 2 of 3 nodes cannot be reached', said)

    def test_node_that_does_not_answer(self):
        with socket.create_server(('127.0.0.1', 0)) as silent:
            silent_address = f'127.0.0.1:{silent.getsockname()[1]}'
            found = self.states(silent_address, self.node(), status=1, CLIQUE_CONNECT_TIMEOUT_MS='300')
        self.assertEqual([one['state'] for one in found], ['unreachable', 'up'])
        self.assertIn('did not answer in time', found[0]['reason'])

    def test_named_nodes(self):
        one, other = self.node(name='one'), self.node(name='other')
        self.environment['CLIQUE_NODES'] = one.address
        status, said = self.clique('nodes', other.address, f'{one.address},{other.address}')
        self.assertEqual(status, 0, said)
        self.assertEqual([line.split()[0] for line in said.splitlines()[1:]], ['other', 'one'])

    def test_without_configured_nodes(self):
        # Whether this host has a daemon or not.
        self.assertIn('localhost:7890', self.clique('nodes')[1])
        self.environment['CLIQUE_NODES'] = 'off'
        status, said = self.clique('nodes')
        self.assertEqual(status, 1)
        self.assertIn('CLIQUE_NODES is off', said)

    def test_draining_node(self):
        node = self.node()
        self.session(node)
        os.kill(node.process.pid, signal.SIGTERM)
        self.assertTrue(node.says('draining'))
        self.assertEqual(self.states(node)[0]['state'], 'draining')
        self.assertRegex(self.asking(node, arguments=['nodes']), r'(?m)^alpha .* 1 +all +draining$')


class Top(Case):
    def test_a_session(self):
        node = self.node()
        client = self.session(node, arguments=('--bytes', str(3 * MIB), '--busy'))
        session, = self.sessions(node)
        self.assertEqual((session['id'], session['client'], session['user'], session['own']),
                         (1, 'user root', 'root', True))
        self.assertIn(f'security_client[{client.pid}]@', session['program'])
        self.assertRegex(session['address'], r'^127\.0\.0\.1:\d+$')
        self.assertLess(0, session['seconds'])
        self.assertLessEqual(3 * MIB, session['peak_memory'])
        self.assertLess(session['memory'], session['peak_memory'])
        self.assertLess(0, session['kernels'])
        self.assertLess(0, session['shared_in'])
        rates = session['per_second']
        for name in ('kernels', 'shared_in', 'shared_out'):
            self.assertLess(0, rates[name], rates)
        self.assertEqual((rates['network_in'], rates['peers_in']), (0, 0))
        client.communicate()
        self.assertTrue(node.says('ended: seconds='))
        self.assertEqual(self.sessions(node), [])

    def test_through_the_network(self):
        node = self.node()
        self.session(node, arguments=('--busy',), CLIQUE_SHARED_MEMORY='0')
        rates = self.sessions(node)[0]['per_second']
        self.assertLess(0, rates['network_in'])
        self.assertLess(0, rates['network_out'])
        self.assertEqual((rates['shared_in'], rates['shared_out']), (0, 0))

    def test_table(self):
        one, other = self.node(name='one'), self.node(name='other')
        self.session(one)
        self.session(other)
        said = self.asking(one, other, arguments=['top'])
        self.assertRegex(said, r'(?m)^one  \S+  up  for \d+s  sessions 1  round trip \d+\.\d\d ms  encryption all$')
        self.assertRegex(said, r'(?m)^  \S.*  memory \S+, free unknown  load unknown$')
        rows = said[said.index('NODE  '):].splitlines()
        self.assertEqual(rows[0].split(), ['NODE', 'SESSION', 'PROGRAM', 'CLIENT', 'USER', 'FROM', 'SINCE', 'SHARE',
                                           'MEMORY', 'KERNELS/s', 'NETWORK/s', 'SHARED/s', 'PEERS/s'])
        self.assertEqual(len(rows), 3)
        # Sorted by name: which session counts more kernels per second is left to chance here.
        for name, row in zip(('one', 'other'), sorted(rows[1:])):
            self.assertRegex(row, rf'^{name} +1  security_client\[\S+ +user root  root  127\.0\.0\.1:\d+ .* 0/0$')

    def test_bars(self):
        node = self.node(**GPUS)
        nodes.eventually(lambda: all(device['memory_total'] for device in self.states(node)[0]['devices']))
        said = self.asking(node, arguments=['top', '--once'])
        if '2 GPUs' not in self.asking(node, arguments=['nodes']):
            self.skipTest('this cliqued has no support for GPUs')
        self.assertRegex(said, r'memory \[\|{5} {15}\]  25% of 80G  load \[\|{7} {13}\]  37%')
        self.assertRegex(said, r'of 80G  load unknown')

    def test_order_and_filter(self):
        one, other = self.node(name='one'), self.node(name='other')
        self.session(one)
        self.session(other, arguments=('--busy',))
        self.session(other)
        order = lambda *arguments: [session['id'] for session in self.sessions(one, other, arguments=arguments)]
        self.assertEqual(len(order()), 3)
        # The busy one comes first; otherwise the nodes keep their order.
        busy = max(self.sessions(other), key=lambda session: session['kernels'])
        found = self.states(one, other, command='top', arguments=('--sort', 'kernels'))
        self.assertEqual(found[1]['listed_sessions'][0]['id'], busy['id'])
        self.assertEqual(order('--filter', 'ONE'), [1])
        self.assertEqual(order('--filter', busy['address']), [busy['id']])
        self.assertEqual(order('--filter', 'nothing'), [])

    def test_wrong_options(self):
        self.assertIn("cannot be sorted by 'colour'; choose one of kernels, ",
                      self.asking('127.0.0.1:1', arguments=['top', '--sort', 'colour'], status=1))
        self.assertIn('write a number from 0.1 to 3600',
                      self.asking('127.0.0.1:1', arguments=['top', '--interval', '0'], status=1))

    def test_unreachable_node(self):
        with self.closed_port() as closed:
            said = self.asking(closed, arguments=['top', '--once'])
        self.assertIn(f'{closed}  {closed}  unreachable: connection refused', said)

    def test_stopped_worker(self):
        node = self.node()
        self.session(node, arguments=('--bytes', str(MIB), '--busy'))
        first, = self.sessions(node)
        os.kill(self.worker(node), signal.SIGSTOP)
        # Its last numbers stay, and the daemon does not wait for it.
        time.sleep(0.2)
        second, = self.sessions(node)
        self.assertLess(0, first['kernels'])
        self.assertLessEqual(first['kernels'], second['kernels'])
        self.assertEqual(self.sessions(node)[0]['kernels'], second['kernels'])
        self.assertEqual(second['per_second']['kernels'], 0)

    def test_at_a_terminal(self):
        node = self.node()
        self.session(node)
        self.environment['CLIQUE_NODES'] = node.address
        ours, theirs = pty.openpty()
        with subprocess.Popen([nodes.CLIQUE, 'top', '--interval', '0.1'], stdin=theirs, stdout=theirs, stderr=theirs,
                              env=self.environment, preexec_fn=nodes.die_with_parent) as top:
            os.close(theirs)
            self.addCleanup(top.kill)
            shown = ''

            def shows(text):
                nonlocal shown
                deadline = time.monotonic() + 20
                while text not in shown and time.monotonic() < deadline:
                    if select.select([ours], [], [], 0.1)[0]:
                        shown += os.read(ours, 1 << 16).decode(errors='replace')
                if text not in shown:
                    top.kill()
                self.assertIn(text, shown)

            shows('sorted by kernels')
            shows('security_client')
            os.write(ours, b's')
            shows('sorted by network')
            os.write(ours, b'q')
            shows('\x1b[?25h\x1b[?1049l')  # The cursor and the other screen are back.
            self.assertEqual(top.wait(20), 0)
        os.close(ours)


if __name__ == '__main__':
    nodes.main()
