#!/usr/bin/env python3
"""Programs in a virtual machine without a GPU, on this host's devices."""

import hashlib
import shutil

import guest_test
import guests

BUILD = guest_test.BUILD
PORT = 7890
DEVICE = r'clinfo | grep -c "^  Device Name"'


class Programs(guest_test.TestCase):
    @classmethod
    def setUpClass(cls):
        memory = cls.enterClassContext(guests.memory_file())
        cls.node = cls.enterClassContext(guests.Node(BUILD, '--guest-memory', memory))
        cls.boot(guest_memory=memory)
        cls.guest.install(BUILD / 'icd/libclique.so')
        cls.node.admit(cls.guest, guests.HOST)

    def node_log(self):
        return self.node.said()[-2000:]

    def check_programs(self, environment, way):
        self.assertEqual(self.run_in_guest(environment + DEVICE), '1\n')
        # With its key, and not as the user who runs QEMU.
        self.assertRegex(self.node.said(), f'began: client="guest" .*program="clinfo')
        password = '3141'
        digest = hashlib.md5(password.encode()).hexdigest()
        cracked = self.run_in_guest(
            f'{environment}hashcat --quiet --force --potfile-disable -m 0 -a 3 {digest} ?d?d?d?d')
        self.assertIn(f'{digest}:{password}', cracked)
        self.assertRegex(self.node.said(), f'session of hashcat.* open{way}\n')

    def test_tcp(self):
        self.check_programs(self.node.environment(guests.HOST), '')

    def test_memory(self):
        self.check_programs(self.node.environment(guests.HOST, memory=True), ', through memory of its virtual machine')

    def test_memory_belongs_to_those_who_may_map_it(self):
        environment = self.node.environment(guests.HOST, memory=True)
        # As the rule in docs/virtual-machines.md does.
        self.run_in_guest('''
            for device in /sys/bus/pci/devices/*; do
              if grep -q 0x1110 $device/device; then chgrp 2000 $device/resource2; chmod 0660 $device/resource2; fi
            done
            mkdir /tmp/user; cp /mnt/client.key /mnt/known-nodes /tmp/user; chown -R 1000:1000 /tmp/user''')
        environment += 'export CLIQUE_IDENTITY=/tmp/user/client.key CLIQUE_KNOWN_NODES=/tmp/user/known-nodes\n'
        for groups, way in ('2000', ', through memory of its virtual machine'), ('3000', ''):
            with self.subTest(group=groups):
                before = len(self.node.said())
                user = f'setpriv --reuid 1000 --regid 1000 --groups {groups} '
                self.assertEqual(self.run_in_guest(environment + user + DEVICE), '1\n')
                self.assertRegex(self.node.said()[before:], f'session of clinfo.* open{way}\n')

    def test_a_node_with_another_key_is_not_used(self):
        known = self.guest.shared / 'other-nodes'
        known.write_text(f'{self.node.name_of(guests.HOST)} {self.node.guest_key}\n', encoding='utf-8')
        status, said, errors = self.guest.run(self.node.environment(guests.HOST) +
                                              f'export CLIQUE_KNOWN_NODES={guests.SHARED}/other-nodes\nclinfo')
        self.assertIn('another host is impersonating it', said + errors, status)

    def test_vsock_of_the_guest_itself(self):
        """A node and a client in the guest, which has the module for that."""
        clique = BUILD / 'cli/clique'
        for source in BUILD / 'daemon/cliqued', clique:
            shutil.copy(source, self.guest.shared)
        shutil.copy(self.node.folder / 'node.key', self.guest.shared / 'node.key')
        shutil.copy(self.node.authorized, self.guest.shared / 'authorized-clients')
        (self.guest.shared / 'vsock-nodes').write_text(f'vsock:1 {self.node.key}\n', encoding='utf-8')
        with self.subTest('a node starts'):
            self.run_in_guest(f'''
                export POCL_CACHE_DIR=/tmp/pocl
                cp /etc/OpenCL/other-vendors/* /etc/OpenCL/vendors/
                setsid {guests.SHARED}/cliqued --name inside --config /dev/null --listen 127.0.0.1:{PORT} --vsock \\
                  --identity {guests.SHARED}/node.key --authorized-clients {guests.SHARED}/authorized-clients \\
                  --confinement off --log-level debug >{guests.SHARED}/cliqued.log 2>&1 &
                until grep "listens on" {guests.SHARED}/cliqued.log; do sleep 0.2; done''', 120)
        log = self.guest.shared / 'cliqued.log'
        vendors = self.guest.shared / 'clique-only'
        vendors.mkdir()
        (vendors / 'clique.icd').write_text('/usr/lib/libclique.so\n', encoding='utf-8')
        environment = (f'export OCL_ICD_VENDORS={guests.SHARED}/clique-only CLIQUE_NODES=vsock:1:{PORT} '
                       f'CLIQUE_KNOWN_NODES={guests.SHARED}/vsock-nodes '
                       f'CLIQUE_REMEMBER_UNREACHABLE=0 CLIQUE_CONNECT_TIMEOUT_MS=60000\n')
        key = f'export CLIQUE_IDENTITY={guests.SHARED}/client.key\n'
        with self.subTest('a client with a key'):
            self.assertEqual(self.run_in_guest(environment + key + DEVICE), '1\n')
            self.assertRegex(log.read_text(encoding='utf-8'), 'began: client="guest" .*address=vsock:1:')
        with self.subTest('data'):
            tests = self.guest.shared / 'api_tests'
            shutil.copy(BUILD / 'tests/api/api_tests', tests)
            said = self.run_in_guest(f'{environment}{key}{guests.SHARED}/api_tests '
                                     '--gtest_filter="clEnqueueReadBuffer.*:clEnqueueNDRangeKernel.*"')
            self.assertIn('[  PASSED  ]', said)
        with self.subTest('a client without one, who is the same user'):
            _, said, errors = self.guest.run(environment + 'clinfo')
            self.assertIn('is not authorized on node inside', said + errors)
        with self.subTest('nobody listens'):
            status, said, errors = self.guest.run(environment.replace(f':{PORT}', ':7999') + 'clinfo')
            self.assertIn("node 'vsock:1:7999' cannot be reached: connection refused. Is cliqued running there?",
                          said + errors, status)


if __name__ == '__main__':
    guest_test.main()
