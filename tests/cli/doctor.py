#!/usr/bin/env python3
"""clique doctor: what it finds where all is well, and where something is wrong."""

import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess

import nodes
from unreachable import SilentPort

WITHOUT_NAMESPACES = str(pathlib.Path(__file__).resolve().parents[1] / 'security/without_namespaces')


class MuteNode:
    """Accepts connections, and never answers."""

    def __init__(self):
        self.server = socket.create_server(('127.0.0.1', 0))
        self.server.settimeout(nodes.START_SECONDS)
        self.address = f'127.0.0.1:{self.server.getsockname()[1]}'
        self.connection = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.hang_up()
        self.server.close()

    def expect_question(self):
        """Waits for a connection that says something: the first one only looks whether the port is open."""
        while not self.is_asked():
            self.hang_up()
            self.connection = self.server.accept()[0]
            self.connection.settimeout(nodes.START_SECONDS)
            self.connection.recv(1, socket.MSG_PEEK)

    def is_asked(self):
        """Whether somebody waits for an answer."""
        if not self.connection:
            return False
        self.connection.setblocking(False)
        try:
            waiting = self.connection.recv(1 << 16, socket.MSG_PEEK)
        except OSError:
            return False
        poll = select.poll()
        poll.register(self.connection, select.POLLRDHUP)
        return bool(waiting) and not poll.poll(0)

    def hang_up(self):
        if self.connection:
            self.connection.close()
            self.connection = None


class Doctor(nodes.TestCase):
    def findings(self, *used, status=0, **environment):
        """What the doctor says, by subject."""
        self.environment = self.using(*used, **environment) if used else dict(self.environment, **environment)
        return self.examined(status)

    def examined(self, status, limit=60):
        """The default limit, None, is for hosts that are not busy."""
        options = ['--timeout', str(limit)] if limit else []
        code, said = nodes.run(['sh', '-c', 'exec "$@" 2>/dev/null', 'sh', nodes.CLIQUE, 'doctor', '--json', *options],
                               env=self.environment)
        self.assertEqual(code, status, said)
        return json.loads(said)

    def assert_finding(self, findings, verdict, subject, *parts):
        """Expects a finding whose subject contains a text, with this verdict, and with these parts."""
        about = [each for each in findings if subject in each['subject']]
        for each in about:
            text = each['text'] + ' ' + each['remedy']
            if each['verdict'] == verdict and all(part in text for part in parts):
                return
        self.fail(f'no finding {verdict} about {subject} with {parts}:\n' + json.dumps(findings, indent=1))

    def test_all_is_well(self):
        alpha, beta = self.node(), self.node(name='beta')
        findings = self.findings(alpha, beta)
        self.assertEqual([each for each in findings if each['verdict'] == 'bad'], [])
        self.assert_finding(findings, 'good', 'OpenCL drivers', 'clique.icd')
        self.assert_finding(findings, 'good', 'OpenCL loader', 'libOpenCL')
        self.assert_finding(findings, 'good', 'platform', 'as this program')
        for node in (alpha, beta):
            for what in ('name', 'port', 'key', 'admission', 'clock', 'network'):
                self.assert_finding(findings, 'good', f'node {node.address}, {what}')
        for node in (alpha, beta):
            about = [each for each in findings if each['subject'] == f'node {node.address}, health']
            self.assertTrue(about)
            # Whether this host has all walls, or lacks some.
            self.assertLessEqual({each['verdict'] for each in about}, {'good', 'open'})
        self.assert_finding(findings, 'good', 'node-to-node', '2 nodes reach each other')
        for device in ('device 0', 'device 1'):
            self.assert_finding(findings, 'good', device, 'right result')
        for name in ('alpha', 'beta'):
            self.assert_finding(findings, 'good', f'node {name}, transfer', 'MiB there at', 'and back at')

    def test_lines_are_for_people(self):
        node = self.node()
        self.environment = self.using(node, '127.0.0.1:1')
        status, said = self.clique('doctor', '--timeout', '60')
        self.assertEqual(status, 1)
        lines = said.splitlines()
        self.assertIn(f'✓ node {node.address}, port: 127.0.0.1 accepts connections', lines)
        refused = lines.index('✗ node 127.0.0.1:1, port: 127.0.0.1: connection refused')
        self.assertTrue(lines[refused + 1].startswith('  → the host is up, but nothing listens at port 1'))
        self.assertIn('clique: 1 of ', said)

    def test_this_host_without_nodes(self):
        findings = self.findings('')
        self.assert_finding(findings, 'good', 'device 0', 'right result')

    def test_walls_that_this_host_has(self):
        self.assert_finding(self.findings(''), 'good', 'walls around sessions on this host', 'limits')

    def test_walls_that_this_host_lacks(self):
        # The walls 'processes' and 'files' need user namespaces.
        command = [WITHOUT_NAMESPACES, nodes.CLIQUE, 'doctor', '--json', '--timeout', '60']
        status, said = nodes.run(['sh', '-c', 'exec "$@" 2>/dev/null', 'sh', *command], env=self.using(''))
        if status == nodes.SKIPPED:
            self.skipTest(said)
        self.assertEqual(status, 0, said)
        findings = json.loads(said)
        for wall in ('processes', 'files'):
            self.assert_finding(findings, 'open', f'wall {wall}', 'does not allow user namespaces',
                                'user.max_user_namespaces above 0')
        self.assert_finding(findings, 'good', 'walls around sessions on this host', 'limits')

    def test_walls_of_a_host_without_cliqued(self):
        without = dict(CLIQUE_DAEMON='/bin/true')
        self.assert_finding(self.findings(self.node(), **without), 'open', 'walls', '/bin/true --check', 'same release')

    def test_nodes_that_cannot_be_reached(self):
        silent = SilentPort()
        self.addCleanup(silent.close)
        with socket.create_server(('127.0.0.1', 0)) as mute:
            mute_address = f'127.0.0.1:{mute.getsockname()[1]}'
            self.environment = self.using(silent.address, mute_address, 'no.such.host.invalid')
            findings = self.examined(1, limit=None)
        self.assert_finding(findings, 'bad', f'node {silent.address}, port', 'timed out', 'firewall')
        self.assert_finding(findings, 'bad', f'node {mute_address}', 'did not answer in time')
        self.assert_finding(findings, 'bad', 'node no.such.host.invalid:7890, name', 'cannot be resolved')

    def test_stopped_nodes(self):
        stopped = self.node()
        stopped.process.send_signal(signal.SIGSTOP)
        # The kernel accepts connections for it.
        findings = self.findings(stopped, self.node(name='beta'), status=1)
        self.assert_finding(findings, 'good', f'node {stopped.address}, port', 'accepts connections')
        self.assert_finding(findings, 'bad', f'node {stopped.address}', 'did not answer in time')
        self.assert_finding(findings, 'good', 'of node beta', 'right result')
        self.assert_finding(findings, 'good', 'node beta, transfer', 'MiB there at')
        self.assert_finding(self.examined(1, limit=None), 'bad', f'node {stopped.address}', 'in time')

    def test_nodes_do_not_wait_for_each_other(self):
        node = self.node()
        with MuteNode() as first, MuteNode() as second:
            self.environment = self.using(first.address, second.address, node)
            with self.doctor_under_way() as doctor:
                # Both are asked while neither has answered, and meanwhile the other node's device is checked.
                first.expect_question()
                second.expect_question()
                node.worker()
                self.assertTrue(first.is_asked() and second.is_asked())
                self.assertIsNone(doctor.poll())
                first.hang_up()
                second.hang_up()
                said = doctor.communicate(timeout=nodes.START_SECONDS)[0]
        self.assertEqual(doctor.returncode, 1, said)
        findings = json.loads(said)
        for mute in (first, second):
            self.assert_finding(findings, 'bad', f'node {mute.address}')
        self.assert_finding(findings, 'good', 'device 0', 'right result')

    @contextlib.contextmanager
    def doctor_under_way(self):
        # The limit leaves nodes 40 s to answer, so that a busy host changes nothing.
        with subprocess.Popen([nodes.CLIQUE, 'doctor', '--json', '--timeout', '600'], env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              preexec_fn=nodes.die_with_parent) as doctor:
            try:
                yield doctor
            finally:
                doctor.kill()

    def test_time_is_limited(self):
        with socket.create_server(('127.0.0.1', 0)) as mute:
            address = f'127.0.0.1:{mute.getsockname()[1]}'
            self.environment = self.using(address)
            findings = self.examined(1, limit=2)
        self.assert_finding(findings, 'bad', f'node {address}')

    def test_what_is_slow_is_not_broken(self):
        library = self.compiled('slow', '#include <unistd.h>\n'
                                '__attribute__((constructor)) static void wait_long(void) { sleep(9); }\n')
        vendors = self.folder / 'vendors'
        shutil.copytree('/etc/OpenCL/vendors', vendors)
        (vendors / 'slow.icd').write_text(f'{library}\n', encoding='utf-8')
        # The node's drivers start for a while.
        node = self.node(CLIQUE_NODE_ICD_VENDORS=str(vendors))
        findings = self.findings(node)
        self.assert_finding(findings, 'open', f'node {node.address}, time', 'slow: listing its devices has taken ')
        self.assert_finding(findings, 'good', 'device 0', 'right result')
        findings = self.findings(self.node(name='beta'), OCL_ICD_FILENAMES=str(library))
        self.assert_finding(findings, 'open', 'time', f'slow: loading {library} has taken ')

    def test_nodes_that_are_not_trusted_or_do_not_admit(self):
        key, _, fingerprint = self.made_key('node.key')
        changed = self.node('--identity', key)
        other = self.made_key('other.key')[1]
        known = self.folder / 'home/.config/clique/known-nodes'
        known.parent.mkdir(parents=True)
        known.write_text(f'{changed.address} {other}\n', encoding='utf-8')
        good = self.node(name='beta')
        findings = self.findings(changed, good, status=1)
        self.assert_finding(findings, 'bad', f'node {changed.address}, admission', fingerprint, '--replace')
        self.assert_finding(findings, 'good', f'node {good.address}, admission')
        self.assert_finding(findings, 'good', 'device 0 ', 'right result')

    def test_drivers(self):
        vendors = self.folder / 'vendors'
        vendors.mkdir()
        with open(self.environment['OCL_ICD_VENDORS'], encoding='utf-8') as file:
            library = file.read()
        (vendors / 'a.icd').write_text(library, encoding='utf-8')
        (vendors / 'b.icd').write_text(library, encoding='utf-8')
        (vendors / 'gone.icd').write_text('/no/such/lib.so\n', encoding='utf-8')
        (vendors / 'empty.icd').write_text('', encoding='utf-8')
        node = self.node()
        findings = self.findings(node, status=1, OCL_ICD_VENDORS=str(vendors))
        self.assert_finding(findings, 'bad', 'OpenCL drivers', 'registered 2 times')
        self.assert_finding(findings, 'bad', 'gone.icd', '/no/such/lib.so, which does not exist')
        self.assert_finding(findings, 'bad', 'empty.icd', 'names no library')
        for name in ('a.icd', 'b.icd', 'empty.icd', 'gone.icd'):
            (vendors / name).unlink()
        findings = self.findings(node, status=1, OCL_ICD_VENDORS=str(vendors))
        self.assert_finding(findings, 'bad', 'OpenCL drivers', 'clique run')
        self.assert_finding(findings, 'bad', 'platform', 'does not offer')

    def compiled(self, name, text):
        """A shared library, which a loader takes for a driver."""
        source, library = self.folder / f'{name}.c', self.folder / f'lib{name}.so'
        source.write_text(text, encoding='utf-8')
        nodes.run(['cc', '-shared', '-fPIC', '-o', library, source])
        if not library.exists():
            self.skipTest('there is no C compiler')
        return library

    def test_driver_that_crashes(self):
        library = self.compiled('crash', '__attribute__((constructor)) static void crash(void) { __builtin_trap(); }\n')
        findings = self.findings(self.node(), status=1, OCL_ICD_FILENAMES=str(library))
        self.assert_finding(findings, 'bad', 'OpenCL', 'were ended by', 'loading ')

    def test_settings_and_keys(self):
        folder = self.folder / 'home/.config/clique'
        folder.mkdir(parents=True)
        self.assertEqual(self.clique('keygen')[0], 0)
        os.chmod(folder / 'client.key', 0o644)
        (folder / 'known-nodes').write_text('# one\nalpha\n', encoding='utf-8')
        node = self.node()
        findings = self.findings(node, status=1, CLIQUE_NODE='x')
        self.assert_finding(findings, 'bad', "this client's key", 'can be read or changed by other users')
        self.assert_finding(findings, 'bad', 'known nodes', 'known-nodes:2: ')
        self.assert_finding(findings, 'bad', 'environment', 'did you mean CLIQUE_NODES?')
        del self.environment['CLIQUE_NODES']
        (folder / 'nodes.toml').write_text('nodes = ["alpha"\n', encoding='utf-8')
        findings = self.findings(status=1)
        self.assert_finding(findings, 'bad', 'settings', 'nodes.toml:')

    def test_switched_off(self):
        findings = self.findings('off')
        self.assert_finding(findings, 'open', 'nodes', 'CLIQUE_NODES is off')

    def test_wrong_use_has_status_2(self):
        for wrong in (('--timeout', '0'), ('--quark',), ('x',)):
            self.assertEqual(self.clique('doctor', *wrong)[0], 2)


if __name__ == '__main__':
    nodes.main()
