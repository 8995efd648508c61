#!/usr/bin/env python3
"""What a program says when something is wrong: one message, with what failed, why, and what to do."""

import contextlib
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

import nodes
from tunnel import Tunnel
from unreachable import SilentPort

MIB = 1 << 20
RIGHT = (0, 'right\n')
PORTS = 40


def free_ports(count, host):
    """The first of consecutive ports at which nothing listens now."""
    for first in range(21000, 32000, count):
        with contextlib.ExitStack() as opened:
            try:
                for port in range(first, first + count):
                    opened.enter_context(socket.create_server((host, port)))
                return first
            except OSError:
                continue
    raise AssertionError('there are no free ports')


class Case(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.settings = self.folder / 'home/.config/clique'
        self.settings.mkdir(parents=True)

    def assert_message(self, said, *parts):
        """Expects that the library said one thing, with these parts."""
        lines = [line for line in said.splitlines() if line.startswith('clique: ')]
        self.assertEqual(len(lines), 1, said)
        for part in parts:
            self.assertIn(part, lines[0])

    def configured(self, *command, **environment):
        """Runs a command that reads nodes.toml. Returns its standard output and error."""
        settings = dict(self.environment, **environment)
        del settings['CLIQUE_NODES']
        return nodes.run(command or ('clinfo', '-l'), env=settings)[1]

    def findings(self, *used, prefix=(), **environment):
        """The lines of clique doctor that say that something is wrong, each with what to do."""
        said = nodes.run([*prefix, nodes.CLIQUE, 'doctor', '--timeout', '60'], env=self.using(*used, **environment))[1]
        return re.findall(r'(?m)^✗ .*(?:\n  → .*)?', said)


class Reaching(Case):
    """Nodes that cannot be reached. unreachable.py has those that do not answer; security/nodes_keys.py and clients.py
    have keys, authorization and quotas; idle.py has devices that are taken; tests/unit/icd/remote/nodes/nodes.cpp has
    other releases."""

    # What a program may take to say that a node cannot be reached; and what a busy machine may add.
    SECONDS = 5
    BUSY_SECONDS = 40

    def clinfo(self, *used, **environment):
        begin = time.monotonic()
        said = super().clinfo(*used, **environment)
        self.assertLess(time.monotonic() - begin, self.SECONDS + self.BUSY_SECONDS)
        return said

    def test_deadline(self):
        values = {each['name']: each for each in json.loads(self.clique('config', '--json')[1])['settings']}
        timeout = values['CLIQUE_CONNECT_TIMEOUT_MS']
        self.assertEqual(timeout['source'], 'default')
        self.assertLessEqual(int(timeout['value']), self.SECONDS * 1000)

    def test_silent_port(self):
        silent = SilentPort()
        self.addCleanup(silent.close)
        self.assert_message(self.clinfo(silent.address, CLIQUE_REMEMBER_UNREACHABLE='0'), f"node '{silent.address}'",
                            'no answer in time', 'firewall')

    def test_wrong_name(self):
        self.assert_message(self.clinfo('no.such.host.invalid'), "node 'no.such.host.invalid:7890' cannot be reached",
                            'its name cannot be resolved', 'Check its spelling')

    def test_closed_port(self):
        with socket.create_server(('127.0.0.1', 0)) as server:
            address = f'127.0.0.1:{server.getsockname()[1]}'
        self.assert_message(self.clinfo(address), f"node '{address}' cannot be reached", 'connection refused',
                            'Is cliqued running there?', f"listen at port {address.rpartition(':')[2]}", "'listen'")

    def test_port_of_another_program(self):
        with http.server.HTTPServer(('127.0.0.1', 0), http.server.BaseHTTPRequestHandler) as other:
            threading.Thread(target=other.serve_forever, daemon=True).start()
            address = f'127.0.0.1:{other.server_port}'
            self.assert_message(self.clinfo(address), f"node '{address}'",
                                f'port {other.server_port} does not belong to cliqued', 'Check the port')
            other.shutdown()
        with socket.create_server(('127.0.0.1', 0)) as mute:
            address = f'127.0.0.1:{mute.getsockname()[1]}'
            self.assert_message(self.clinfo(address, CLIQUE_CONNECT_TIMEOUT_MS='500'), f"node '{address}'",
                                'did not answer in time', 'Check that it is cliqued')

    def test_no_cliqued_for_this_host(self):
        self.assert_message(self.clinfo('', CLIQUE_DAEMON='/no/such/cliqued'), 'no node is configured',
                            "CLIQUE_DAEMON is '/no/such/cliqued'", 'not an executable file')

    def test_only_the_daemons_port_is_open(self):
        settings = {'CLIQUE_SHARED_MEMORY': '0', 'CLIQUE_TRANSPORT': 'zeromq'}
        first = free_ports(PORTS, '127.0.0.1')
        node = self.node('--worker-ports', f'{first}-{first + PORTS - 1}')
        tunnel = Tunnel(node, '127.0.0.2')
        self.addCleanup(tunnel.close)
        status, said = self.compute(tunnel.address, **settings)
        self.assertEqual(status, 1, said)
        self.assert_message(said, f"node '{tunnel.address}'", "the worker's port refused the connection",
                            'tcp://127.0.0.2:', 'firewalls', 'worker-ports')
        status, said = self.compute(self.node(name='beta'), **settings)
        self.assertEqual(status, 1, said)
        self.assert_message(said, 'node beta', 'the transport is "zeromq" here', "Set 'worker-ports' there")
        # Nothing else is needed for the default transport.
        self.assertEqual(self.compute(tunnel.address, CLIQUE_SHARED_MEMORY='0'), RIGHT)


class Devices(Case):
    def test_node_without_driver(self):
        nothing = self.folder / 'vendors'
        nothing.mkdir()
        node = self.node(devices=None, CLIQUE_NODE_ICD_VENDORS=str(nothing))
        self.assert_message(self.clinfo(node), f"node '{node.address}' cannot be reached", 'no OpenCL devices to offer',
                            'install an OpenCL driver there')
        self.assert_message(self.clinfo('', CLIQUE_NODE_ICD_VENDORS=str(nothing)),
                            'no OpenCL driver is installed on this host', 'Install one', 'CLIQUE_NODES')

    def test_sessions_beyond_the_limit(self):
        node = self.node('--sessions', '1')
        self.session(node)
        self.assert_message(self.compute(node)[1], f"node '{node.address}'",
                            'node alpha has 1 session, which is its limit', "raise 'sessions'")

    def test_memory_beyond_the_limit(self):
        node = self.node('--session-memory', '64M')
        status, said = self.compute(node, arguments=('--buffers', 3, '--bytes', 30 * MIB))
        self.assertEqual(status, 1, said)
        self.assert_message(said, 'node alpha: ', f'limit of {64 * MIB} bytes', '(session-memory of cliqued)',
                            'release other objects')


class Files(Case):
    """Wrong lines of each file that people write."""

    def test_nodes(self):
        file = self.settings / 'nodes.toml'
        for text, parts in (('nodes = ["alpha"\n', ('nodes.toml:1:18: ', 'https://toml.io')),
                            ('nods = ["alpha"]\n', ('nodes.toml:1:1: ', "unknown key 'nods'; did you mean nodes?")),
                            ('nodes = ["a:b"]\n', ('nodes.toml:1:10: ', "'b' is not a port; write a number")),
                            ('', ('nodes.toml is empty', 'write nodes = ["HOST"]'))):
            with self.subTest(text):
                file.write_text(text)
                self.assert_message(self.configured(), *parts)

    def test_known_nodes(self):
        (self.settings / 'known-nodes').write_text('# a comment\nalpha\n')
        self.assert_message(self.clinfo('127.0.0.1:1'), 'known-nodes:2: this line has 1 word; write NODE KEY')

    def test_client_key(self):
        file = self.settings / 'client.key'
        file.write_text('alpha\n')
        file.chmod(0o644)
        self.assert_message(self.clinfo('127.0.0.1:1'), f'{file} can be read or changed by other users', 'chmod 600')
        file.chmod(0o600)
        self.assert_message(self.clinfo('127.0.0.1:1'), f'{file} does not contain a private key', "'clique keygen'",
                            'make a new key')

    def cliqued(self, *options):
        """What a cliqued that cannot start says, in one line."""
        status, said = nodes.run([nodes.CLIQUED, '--listen', '127.0.0.1:0', *options])
        self.assertEqual(status, 1, said)
        line, = said.splitlines()
        return line

    def test_cliqued_toml(self):
        file = self.folder / 'cliqued.toml'
        for text, part in (('listen = \n', 'see https://toml.io'), ('lsten = "x"\n', 'did you mean listen?'),
                           ('sessions = "x"\n', 'the value has to be a whole number')):
            with self.subTest(text):
                file.write_text('# a comment\n' + text)
                said = self.cliqued('--config', file)
                self.assertIn(f'{file}, line 2: ', said)
                self.assertIn(part, said)

    def test_node_key(self):
        file = self.folder / 'node.key'
        file.write_text('alpha\n')
        file.chmod(0o600)
        said = self.cliqued('--config', '/dev/null', '--identity', file)
        self.assertIn(f'identity: {file} does not contain a private key', said)
        self.assertIn('make a new key', said)

    def test_authorized_clients(self):
        file = self.folder / 'authorized-clients'
        file.write_text('# a comment\ned25519:x\n')
        node = self.node('--authorized-clients', file)
        self.assertRegex(node.log(), rf'error: {re.escape(str(file))}, line 2: .*; the line is skipped')


class Host(Case):
    def in_full(self, folder):
        """A command's prefix: the folder is full for that command."""
        if nodes.run(['unshare', '--mount', 'true'])[0] != 0:
            self.skipTest('mount namespaces are not permitted here')
        script = ('mount -t tmpfs -o size=1m full "$0"; '
                  'dd if=/dev/zero of="$0/filled" status=none 2>/dev/null || true; exec "$@"')
        return 'unshare', '--mount', 'sh', '-ec', script, str(folder)

    def test_full_disk(self):
        home = self.folder / 'home/.cache'
        home.mkdir()
        prefix = self.in_full(home)
        found, = self.findings(self.node(), prefix=prefix)
        self.assertIn(f'free space for compiled programs: 0 MiB in {home}', found)
        self.assertIn('remove files there', found)
        # What a cache cannot keep is no reason to fail.
        self.assertEqual(self.compute(self.node(), prefix=prefix), RIGHT)

    def test_full_shared_memory(self):
        prefix = self.in_full('/dev/shm')
        found, = self.findings(self.node(), prefix=prefix)
        self.assertIn('free space for shared memory: 0 MiB in /dev/shm', found)
        # Clique's own shared memory is not there.
        self.assertEqual(self.compute(self.node(), prefix=prefix), RIGHT)

    def test_clocks_that_differ(self):
        source, library = self.folder / 'late.c', self.folder / 'late.so'
        source.write_text('#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <time.h>\n'
                          'int clock_gettime(clockid_t clock, struct timespec* time) {\n'
                          '  int (*real)(clockid_t, struct timespec*) = dlsym(RTLD_NEXT, "clock_gettime");\n'
                          '  int result = real(clock, time);\n'
                          '  if (clock == CLOCK_REALTIME) time->tv_sec -= 600;\n'
                          '  return result;\n}\n', encoding='utf-8')
        nodes.run(['cc', '-shared', '-fPIC', '-o', library, source, '-ldl'])
        if not library.exists():
            self.skipTest('there is no C compiler')
        node = self.node(LD_PRELOAD=':'.join(filter(None, (os.environ.get('LD_PRELOAD'), str(library)))))
        found, = self.findings(node)
        self.assertRegex(found, rf'node {node.address}, clock: -(599|600|601)\.\d+ s from this host')
        self.assertIn('set both clocks', found)


class Losing(Case):
    """Nodes that are lost while a program uses them. tests/cluster/faults has what becomes of the commands."""

    def using_node(self, *options):
        """A node, its worker's process, a connection to it that can be cut, and a program that uses it."""
        node = self.node(*options)
        tunnel = Tunnel(node, '127.0.0.2')
        self.addCleanup(tunnel.close)
        program = self.session(tunnel.address, arguments=('--busy',), CLIQUE_SHARED_MEMORY='0')
        worker = node.worker()
        return node, worker, tunnel, program

    def assert_lost(self, program, *parts):
        said = program.stderr.read().splitlines(keepends=True)
        # On a busy machine, the loss may take so long that the silence is said as well.
        silence = ('clique: node alpha: no answer for ', 'clique: node alpha: its worker does not answer for ')
        self.assert_message(''.join(line for line in said if not line.startswith(silence)), 'node alpha: ', *parts,
                            'start the program again')
        self.assertNotEqual(program.wait(), 0)

    def test_killed_worker(self):
        _, worker, _, program = self.using_node()
        os.kill(worker, signal.SIGKILL)
        self.assert_lost(program, 'the worker has exited', "The node's log may say why")

    def test_killed_daemon(self):
        node, _, tunnel, program = self.using_node()
        node.stop()
        tunnel.close()
        self.assert_lost(program, 'the worker has exited')

    def test_pulled_cable(self):
        _, _, tunnel, program = self.using_node('--resume-timeout', '6')
        tunnel.silent = True
        silent, lost = program.stderr.read().splitlines()[:2]
        self.assert_message(silent, 'node alpha: no answer for ', 'wait up to 6 s more', 'Check that the host is up',
                            f'tcp://{tunnel.address}')
        self.assertRegex(silent, 'no answer for [56] s')
        self.assert_message(lost, 'node alpha: ', 'could not be restored within the resume timeout')

    def test_stopped_worker(self):
        _, worker, _, program = self.using_node()
        os.kill(worker, signal.SIGSTOP)
        self.assert_message(program.stderr.readline(), 'node alpha: its worker does not answer for ',
                            'and its cliqued does', 'wait up to 30 s more', 'The worker is stopped')
        os.kill(worker, signal.SIGCONT)
        self.assert_message(program.stderr.readline(), 'node alpha answers again, after ')
        self.assertEqual(program.communicate()[0], 'right\n')

    def test_cable_that_is_plugged_in_again(self):
        _, _, tunnel, program = self.using_node()
        tunnel.silent = True
        silent = program.stderr.readline()
        self.assert_message(silent, 'node alpha: no answer for ')
        self.assertRegex(silent, 'no answer for [56] s')
        tunnel.silent = False
        self.assert_message(program.stderr.readline(), 'node alpha answers again, after ')
        self.assertEqual(program.communicate()[0], 'right\n')


class NodeToNode(Case):
    """A program over two nodes, of which alpha cannot reach beta, and beta can reach alpha."""

    OTHER = '127.0.0.2'

    def run_over(self, *options):
        """Starts a program whose data goes from alpha to beta. Returns both nodes and the program."""
        alpha = self.node()
        beta = self.node('--advertise', self.OTHER, *options, name='beta')
        program = subprocess.Popen([os.environ['CLIQUE_TEST_TO_AND_FRO']], stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, text=True, preexec_fn=nodes.die_with_parent,
                                   env=self.using(alpha, beta, CLIQUE_SHARED_MEMORY='0'))
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        return alpha, beta, program

    def remedy(self, beta):
        return (f'{self.OTHER}:{beta.port}', 'Open this port on the host of beta', 'for connections from alpha',
                'clique doctor')

    def test_refused(self):
        alpha, beta, program = self.run_over()
        self.assert_message(program.communicate(timeout=90)[1], 'node beta: node alpha cannot reach it',
                            'onnection refused', *self.remedy(beta))
        self.assertNotEqual(program.returncode, 0)
        self.assertTrue(alpha.says(f'node beta at tcp://{self.OTHER}:{beta.port} cannot be reached'), alpha.log())

    def test_silent(self):
        alpha = self.node('--resume-timeout', '9')
        beta = self.node('--advertise', self.OTHER, name='beta')
        server = socket.create_server((self.OTHER, beta.port), backlog=0)
        self.addCleanup(server.close)
        for _ in range(4):
            full = socket.socket()
            self.addCleanup(full.close)
            full.setblocking(False)
            full.connect_ex((self.OTHER, beta.port))
        program = subprocess.Popen([os.environ['CLIQUE_TEST_TO_AND_FRO']], stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, text=True, preexec_fn=nodes.die_with_parent,
                                   env=self.using(alpha, beta, CLIQUE_SHARED_MEMORY='0'))
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        waits, lost = program.communicate(timeout=90)[1].splitlines()[:2]
        self.assert_message(waits, 'node alpha cannot reach node beta', *self.remedy(beta))
        self.assert_message(lost, 'node beta: node alpha cannot reach it', *self.remedy(beta))
        self.assertTrue(alpha.says(f'node beta at tcp://{self.OTHER}:{beta.port} cannot be reached'), alpha.log())


if __name__ == '__main__':
    nodes.main()
