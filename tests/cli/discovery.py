#!/usr/bin/env python3
"""nodes = "auto": nodes that DNS or Avahi announce, in a network namespace with a name server and a local network of
its own."""

import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

import nodes

DOMAIN = 'cluster.example'
SRV, A = 33, 1
INSIDE = 'CLIQUE_TEST_INSIDE'


def encoded(name):
    return b''.join(bytes([len(label)]) + label.encode() for label in name.split('.')) + b'\0'


class NameServer(threading.Thread):
    """Answers for DOMAIN: the services, and 127.0.0.1 for every other name."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(('127.0.0.1', 53))
        self.services = []  # (priority, host, port)
        self.answers = None  # bytes instead of what is right
        self.searches = 0  # how often somebody has asked for the services
        self.start()

    def run(self):
        while True:
            question, sender = self.socket.recvfrom(4096)
            end = question.index(b'\0', 12)
            name = question[12:end + 1]
            kind, = struct.unpack('!H', question[end + 1:end + 3])
            records = []
            if kind == SRV and name == encoded(f'_clique._tcp.{DOMAIN}'):
                self.searches += 1
                records = [struct.pack('!HHH', priority, 0, port) + encoded(host)
                           for priority, host, port in self.services]
            elif kind == A and name.endswith(encoded(DOMAIN)):
                records = [bytes([127, 0, 0, 1])]
            header = question[:2] + struct.pack('!HHHHH', 0x8180 if records else 0x8183, 1, len(records), 0, 0)
            answer = header + question[12:end + 5]
            for record in records:
                answer += name + struct.pack('!HHIH', kind, 1, 60, len(record)) + record
            if kind == SRV and self.answers is not None:
                answer = header + question[12:end + 5] + self.answers
            self.socket.sendto(answer, sender)


class Case(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.environment['CLIQUE_NODES'] = 'auto'
        self.known = self.folder / 'known-nodes'
        self.environment['CLIQUE_KNOWN_NODES'] = str(self.known)

    def keyed_node(self, name):
        """A node with a key, and its public key."""
        file, public, _ = self.made_key(f'{name}.key')
        return self.node('--identity', file, name=name), public

    def devices(self, status=0):
        found, said = self.clique('devices', '--json')
        self.assertEqual(found, status, said)
        return [device['node'] for device in json.loads(said)] if status == 0 else said


class Dns(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = NameServer()

    def test_nodes_with_known_keys_are_used_in_the_order_of_dns(self):
        alpha, key_of_alpha = self.keyed_node('alpha')
        beta, key_of_beta = self.keyed_node('beta')
        gamma, _ = self.keyed_node('gamma')
        self.server.services = [(20, f'alpha.{DOMAIN}', alpha.port), (10, f'beta.{DOMAIN}', beta.port),
                                (5, f'gamma.{DOMAIN}', gamma.port)]
        # Under the full name and under its first part.
        self.known.write_text(f'alpha.{DOMAIN}:{alpha.port} {key_of_alpha}\nbeta:{beta.port} {key_of_beta}\n')
        self.assertEqual(self.devices(), ['beta', 'alpha'])
        status, said = self.clique('nodes')
        self.assertEqual(status, 0, said)
        self.assertNotIn('gamma', said)
        status, said = self.clique('doctor', '--timeout', '60')
        self.assertIn('2 nodes announce themselves whose keys are known', said)

    def test_devices_are_listed_after_one_search(self):
        alpha, key = self.keyed_node('alpha')
        self.server.services = [(1, f'alpha.{DOMAIN}', alpha.port)]
        self.known.write_text(f'alpha:{alpha.port} {key}\n')
        before = self.server.searches
        self.assertEqual(self.devices(), ['alpha'])
        self.assertEqual(self.server.searches, before + 1)

    def test_a_node_with_another_key_is_not_used(self):
        alpha, _ = self.keyed_node('alpha')
        _, other, _ = self.made_key('other.key')
        self.server.services = [(1, f'alpha.{DOMAIN}', alpha.port)]
        self.known.write_text(f'alpha.{DOMAIN}:{alpha.port} {other}\n')
        self.assertIn('cannot be reached', self.devices(status=1))

    def test_strangers_are_named_and_not_asked(self):
        alpha, _ = self.keyed_node('alpha')
        self.server.services = [(1, f'alpha.{DOMAIN}', alpha.port)]
        said = self.devices(status=1)
        self.assertIn(f'others announce themselves: alpha.{DOMAIN}:{alpha.port}', said)
        self.assertIn('clique trust', said)
        self.assertEqual(self.clique('nodes')[0], 1)

    def test_nothing_is_announced(self):
        self.server.services = []
        self.assertIn('nobody announces a service _clique._tcp', self.devices(status=1))
        self.server.services = [(1, '.', 7890), (1, 'bad\x1b[name', 7890), (1, f'alpha.{DOMAIN}', 0)]
        self.assertIn('nobody announces a service _clique._tcp', self.devices(status=1))

    def test_malformed_answers_are_explained(self):
        self.addCleanup(setattr, self.server, 'answers', None)
        self.server.services = [(1, f'alpha.{DOMAIN}', 7890)]
        for junk in (b'', b'\xc0', b'\0' * 9,
                     encoded(f'_clique._tcp.{DOMAIN}') + struct.pack('!HHIH', SRV, 1, 1, 9999)):
            self.server.answers = junk
            self.assertIn('nodes = "auto" has found no node', self.devices(status=1))

    def test_a_file_can_say_so_as_well(self):
        alpha, key = self.keyed_node('alpha')
        self.server.services = [(1, f'alpha.{DOMAIN}', alpha.port)]
        self.known.write_text(f'alpha:{alpha.port} {key}\n')
        folder = self.folder / 'home/.config/clique'
        folder.mkdir(parents=True)
        (folder / 'nodes.toml').write_text('nodes = "auto"\n')
        del self.environment['CLIQUE_NODES']
        self.assertEqual(self.devices(), ['alpha'])
        status, said = self.clique('config')
        self.assertRegex(said, r'CLIQUE_NODES +auto ')


MISSING = [tool for tool in ('avahi-daemon', 'avahi-publish', 'dbus-daemon') if not shutil.which(tool)]


@unittest.skipIf(MISSING, f"{', '.join(MISSING)} missing; 'tools/setup test' installs them")
class Avahi(Case):
    def background(self, *command):
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=nodes.die_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def setUp(self):
        super().setUp()
        bus = self.folder / 'bus'
        (self.folder / 'bus.conf').write_text(
            f'<busconfig><listen>unix:path={bus}</listen><auth>EXTERNAL</auth><policy context="default">'
            '<allow send_destination="*"/><allow own="*"/><allow eavesdrop="true"/></policy></busconfig>')
        self.environment['DBUS_SYSTEM_BUS_ADDRESS'] = f'unix:path={bus}'
        self.background('dbus-daemon', '--nofork', f'--config-file={self.folder}/bus.conf')
        self.assertTrue(nodes.eventually(bus.exists))
        (self.folder / 'avahi.conf').write_text('[server]\nhost-name=alpha\nuse-ipv6=no\n')
        self.background('avahi-daemon', '--no-drop-root', '--no-chroot', '--no-rlimits', '-f',
                        self.folder / 'avahi.conf')

    def test_nodes_of_the_local_network_are_used(self):
        alpha, key = self.keyed_node('alpha')
        self.known.write_text(f'alpha:{alpha.port} {key}\n')
        self.background('avahi-publish', '-s', 'a node', '_clique._tcp', str(alpha.port))
        self.assertTrue(nodes.eventually(lambda: self.clique('nodes')[0] == 0, 20), self.clique('nodes')[1])
        self.assertEqual(self.devices(), ['alpha'])
        self.known.write_text('')
        self.assertIn(f'others announce themselves: alpha.local:{alpha.port}', self.devices(status=1))


def enter_own_network():
    """Runs this program again in a network of its own, with a name server of its own."""
    if os.geteuid() != 0 or subprocess.run(['unshare', '--net', '--mount', 'true'], check=False,
                                           stderr=subprocess.DEVNULL).returncode != 0:
        nodes.skip('network namespaces need root')
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, 'resolv.conf').write_text(f'nameserver 127.0.0.1\nsearch {DOMAIN}\n')
        pathlib.Path(folder, 'hosts').write_text('127.0.0.1 localhost alpha\n')
        script = f'''set -e
            ip link set lo up
            ip link add one type veth peer name two; ip link set two up; ip link set one up
            ip address add 10.1.2.3/24 dev one
            mount --bind {folder}/resolv.conf "$(readlink -f /etc/resolv.conf)"
            mount --bind {folder}/hosts /etc/hosts
            mkdir -p /run/avahi-daemon; mount -t tmpfs tmpfs /run/avahi-daemon
            exec "$@"'''
        ended = subprocess.run(['unshare', '--net', '--mount', '--propagation', 'private', 'sh', '-c', script, 'sh',
                                sys.executable, *sys.argv], env=dict(os.environ, **{INSIDE: '1'}), check=False)
    sys.exit(ended.returncode)


if __name__ == '__main__':
    if INSIDE not in os.environ:
        enter_own_network()
    nodes.main()
