#!/usr/bin/env python3
"""clique nodes and clique top, with real nodes and sessions."""

import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import threading
import time

import nodes

MIB = 1 << 20
WITHOUT_NAMESPACES = str(pathlib.Path(__file__).resolve().parents[1] / 'security/without_namespaces')
# Two GPUs, which a substitute of NVIDIA's driver makes up, and a device of PoCL.
GPUS = {'devices': 'all', 'POCL_DEVICES': 'basic', 'FAKE_CUDA_GPUS': '2', 'CLIQUE_CACHE': '0',
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
        return node.worker()


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
        self.assertIsNone(device['pci'])

    def test_devices_whose_driver_tells_more(self):
        node = self.node(**GPUS)
        nodes.eventually(lambda: all(device['memory_total'] for device in self.states(node)[0]['devices']))
        devices = self.states(node)[0]['devices']
        if devices[0]['backend'] != 'cuda':
            self.skipTest('this cliqued has no support for GPUs')
        first, second, cpu = devices
        self.assertEqual((first['backend'], first['type'], first['memory_total'], first['memory_free'],
                          first['utilisation']), ('cuda', 'gpu', 80 << 30, 60 << 30, 37))
        # The driver knows nothing of its load.
        self.assertEqual((second['memory_free'], second['utilisation']), (61 << 30, None))
        self.assertIsNone(cpu['utilisation'])
        self.assertIn('2 GPUs, 1 CPU', self.asking(node, arguments=['nodes']))

    def test_health(self):
        node = self.node()
        health = self.states(node)[0]['health']
        self.assertTrue(health['confined'])
        for space in (health['cache'], health['shared_memory']):
            self.assertLess(0, space['total'])
            self.assertLessEqual(space['free'], space['total'])
        self.assertEqual(health['shared_memory']['folder'], '/dev/shm')
        missing = {wall['name'] for wall in health['missing_walls']}
        listed = nodes.run([nodes.CLIQUED, '--check'])[1]
        self.assertEqual(missing, set(re.findall(r'(?m)^(\S+) +MISSING', listed)))

    def health_with(self, node, key, value):
        """The health of a node once it has this value: the node finds out in the background."""
        found = nodes.eventually(lambda: [health for health in [self.states(node)[0]['health']]
                                          if health[key] == value])
        self.assertTrue(found, f'{key} does not become {value}')
        return found[0]

    def test_release_of_the_compiler(self):
        release = self.clique('version')[1].split()[1].rstrip(',')
        compiler = self.folder / 'clique-compiler'
        node = self.node(CLIQUE_COMPILER=str(compiler))
        self.assertEqual(self.states(node)[0]['health']['compiler'], None)

        def install(said):
            compiler.with_suffix('.new').write_text(f'#!/bin/sh\necho "{said}"\n', encoding='utf-8')
            compiler.with_suffix('.new').chmod(0o755)
            compiler.with_suffix('.new').rename(compiler)

        install(f'clique-compiler {release}')
        node = self.node(name='beta', CLIQUE_COMPILER=str(compiler))
        problems = self.health_with(node, 'compiler_release', release)['problems']
        self.assertFalse([each for each in problems if 'release' in each['text']])
        # Somebody upgrades the package while the node runs.
        install('clique-compiler 99.1')
        problem, = [each for each in self.health_with(node, 'compiler_release', '99.1')['problems']
                    if 'release' in each['text']]
        self.assertTrue(problem['bad'])
        self.assertEqual(problem['text'], f'{compiler} is of release 99.1, cliqued is of release {release}')
        self.assertIn('systemctl restart cliqued', problem['remedy'])
        self.assertIn(problem['text'], self.asking(node, arguments=['nodes']))
        said = self.asking(node, arguments=['doctor', '--timeout', '60'], status=1)
        self.assertIn(problem['text'], ' '.join(said.split()))
        # What is no compiler, or an old one, does not say its release.
        install('usage: compiler FILE')
        self.health_with(node, 'compiler_release', None)

    def test_host_that_lacks_something(self):
        if nodes.run([WITHOUT_NAMESPACES, 'true'])[0] == nodes.SKIPPED:
            self.skipTest('this host has no user namespaces')
        node = self.node(prefix=(WITHOUT_NAMESPACES,))
        said = self.asking(node, arguments=['nodes'])
        for wall in ('processes', 'files'):
            self.assertRegex(said, rf'(?m)^alpha: sessions run without the wall {wall}: .*\n  → .*max_user_namespaces')
            self.assertRegex(self.asking(node, arguments=['top', '--once']), rf'(?m)^  ! sessions .* wall {wall}: ')
        walls = self.states(node)[0]['health']['missing_walls']
        self.assertLessEqual({'processes', 'files'}, {wall['name'] for wall in walls})

    def test_host_without_walls(self):
        node = self.node('--confinement', 'off')
        self.assertIn('alpha: sessions have no walls: confinement is off', self.asking(node, arguments=['nodes']))

    def test_full_disk_of_a_node(self):
        if nodes.run(['unshare', '--mount', 'true'])[0] != 0:
            self.skipTest('mount namespaces are not permitted here')
        script = ('mount -t tmpfs -o size=1m full /dev/shm; '
                  'dd if=/dev/zero of=/dev/shm/filled status=none 2>/dev/null || true; exec "$@"')
        node = self.node(prefix=('unshare', '--mount', 'sh', '-ec', script, 'sh'))
        self.assertRegex(self.asking(node, arguments=['nodes']),
                         r'(?m)^alpha: \S+ are free for shared memory in /dev/shm\n  → remove files there')

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
        self.assertEqual([line.split()[0] for line in said.splitlines()[1:3]], ['other', 'one'])

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


class NodeToNode(Case):
    """Whether nodes reach each other. beta is reached at an address of its own, at which it does not listen."""

    OTHER = '127.0.0.2'

    def setUp(self):
        super().setUp()
        self.alpha = self.node()

    def beta(self, advertise=OTHER):
        return self.node('--advertise', advertise, name='beta')

    def listening_for(self, beta, **options):
        """A socket at the address by which other nodes know beta."""
        server = socket.create_server((self.OTHER, beta.port), **options)
        self.addCleanup(server.close)
        return server

    def assert_broken(self, beta, cause, remedy):
        said = self.asking(self.alpha, beta, arguments=['nodes'], status=1)
        lines = said.splitlines()
        found = [i for i, line in enumerate(lines) if line.startswith('node-to-node: ')]
        # The other direction works.
        self.assertEqual(len(found), 1, said)
        self.assertRegex(lines[found[0]], rf'^node-to-node: alpha cannot reach beta at \S+:{beta.port}: .*{cause}')
        self.assertRegex(lines[found[0] + 1], rf'^  → .*{remedy}')
        self.assertIn('clique: 1 of 2 ways from one node to another do not work', said)

    def test_all_is_well(self):
        beta = self.node(name='beta')
        self.assertIn('\nnode-to-node: all reachable\n', self.asking(self.alpha, beta, arguments=['nodes']))
        said = json.loads(self.asking(self.alpha, beta, arguments=['nodes', '--json']))
        routes = said['node_to_node']
        self.assertEqual([(one['from'], one['to'], one['endpoint'], one['reached'], one['reason']) for one in routes],
                         [('alpha', 'beta', f'tcp://{beta.address}', True, None),
                          ('beta', 'alpha', f'tcp://{self.alpha.address}', True, None)])
        self.assertTrue(all(one['round_trip_ms'] is not None for one in routes))
        # Nobody is asked where there is nobody to reach.
        self.assertNotIn('node-to-node', self.asking(self.alpha, arguments=['nodes']))

    def test_refused(self):
        beta = self.beta()
        self.assert_broken(beta, 'connection refused', f"listens at this address .*TCP port {beta.port} .* from alpha")
        broken, _ = json.loads(self.clique('nodes', '--json')[1].rpartition('}')[0] + '}')['node_to_node']
        self.assertEqual((broken['from'], broken['to'], broken['reached'], broken['reason'], broken['round_trip_ms']),
                         ('alpha', 'beta', False, 'connection refused', None))
        self.assertIn(f'TCP port {beta.port}', broken['remedy'])

    def test_silent(self):
        beta = self.beta()
        self.listening_for(beta, backlog=0)
        for _ in range(4):
            full = socket.socket()
            self.addCleanup(full.close)
            full.setblocking(False)
            full.connect_ex((self.OTHER, beta.port))
        self.environment['CLIQUE_CONNECT_TIMEOUT_MS'] = '2000'
        self.assert_broken(beta, 'connection timed out', f'open TCP port {beta.port} on the host of beta')

    def test_something_else(self):
        beta = self.beta()
        server = self.listening_for(beta)

        def greet():
            with server.accept()[0] as connection:
                connection.sendall(b'SSH-2.0-x')
                connection.recv(1 << 16)

        threading.Thread(target=greet, daemon=True).start()
        self.assert_broken(beta, 'is not cliqued', "set 'advertise'")

    def test_another_node(self):
        beta = self.beta()
        self.node(name='gamma', listen=f'{self.OTHER}:{beta.port}')
        self.assert_broken(beta, 'another node answers there', "set 'advertise'")

    def test_name_that_a_node_does_not_know(self):
        self.assert_broken(self.beta('no.such.host.invalid'), 'cannot be resolved', '/etc/hosts on alpha')

    def test_doctor(self):
        beta = self.beta()
        self.environment = self.using(self.alpha, beta)
        findings = json.loads(nodes.run(['sh', '-c', 'exec "$@" 2>/dev/null', 'sh', nodes.CLIQUE, 'doctor', '--json',
                                         '--timeout', '60'], env=self.environment)[1])
        found, = [each for each in findings if each['subject'] == 'node-to-node']
        self.assertEqual(found['verdict'], 'bad')
        self.assertIn(f'alpha cannot reach beta at {self.OTHER}:{beta.port}: connection refused', found['text'])
        self.assertIn(f'TCP port {beta.port}', found['remedy'])


class Top(Case):
    def test_a_session(self):
        node = self.node()
        client = self.session(node, arguments=('--bytes', str(3 * MIB), '--busy'))
        session, = self.sessions(node)
        self.assertEqual((session['id'], session['client'], session['user'], session['own']),
                         (1, f'user {nodes.USER}', nodes.USER, True))
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

    def test_names_of_others_control_no_terminal(self):
        node = self.node()
        name = 'gr\u00fcn \x1b[2J \u009b2J \x7f'
        self.session(node, prefix=('bash', '-c', 'exec -a "$0" "$1" --hold', name))
        for arguments in (['top', '--once'], ['top', '--once', '--json']):
            said = self.asking(node, arguments=arguments)
            self.assertNotRegex(said, '[\x00-\x09\x0b-\x1f\x7f-\x9f]')
        session, = self.sessions(node)
        self.assertTrue(session['program'].startswith(name), session['program'])

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
                                           'MEMORY', 'LOAD', 'KERNELS/s', 'NETWORK/s', 'SHARED/s', 'PEERS/s'])
        self.assertEqual(len(rows), 3)
        # Sorted by name: which session counts more kernels per second is left to chance here.
        for name, row in zip(('one', 'other'), sorted(rows[1:])):
            self.assertRegex(row, rf'^{name} +1  security_client\[\S+ +user {nodes.USER}  {nodes.USER}  '
                             r'127\.0\.0\.1:\d+ .* - .* 0/0$')

    def test_load_of_a_session(self):
        node = self.node(**dict(GPUS, devices='0'))
        nodes.eventually(lambda: all(device['memory_total'] for device in self.states(node)[0]['devices']))
        if self.states(node)[0]['devices'][0]['backend'] != 'cuda':
            self.skipTest('this cliqued has no support for GPUs')
        self.session(node, arguments=('--enqueue', '1'))
        session, = self.sessions(node)
        self.assertEqual(session['load'], 21)
        self.assertIn(' 21% ', self.asking(node, arguments=['top', '--once']))

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
            shows('sorted by load')
            os.write(ours, b'/')
            shows('filter: _')
            os.write(ours, b'nobodyqx\x7f')  # q is not for quitting now.
            shows('filter: nobodyq_')
            os.write(ours, b'\n')
            shows("filtered by 'nobodyq'")
            shown = ''
            shows('filtered by')
            # What follows the headings is the end of the page.
            self.assertNotIn('security_client', shown.rpartition('filtered by')[2])
            shown = ''
            os.write(ours, b'/\x1b')
            shows('security_client')
            os.write(ours, b'q')
            shows('\x1b[?25h\x1b[?1049l')  # The cursor and the other screen are back.
            self.assertEqual(top.wait(20), 0)
        os.close(ours)


if __name__ == '__main__':
    nodes.main()
