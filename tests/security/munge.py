#!/usr/bin/env python3
"""Clients with MUNGE credentials, with Debian's munged.

The clients run as nobody, whom the daemon does not admit for being on its host.
"""

import os
import shutil
import signal
import subprocess

import nodes
import tls


class Munge(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.client_file, self.client_key, _ = self.made_key('client.key')
        self.man_file, self.man_key, _ = self.made_key('man.key')
        self.list = self.folder / 'authorized-clients'
        self.give_to_nobody(self.client_file)
        self.site = self.folder / 'site.key'
        self.site.write_bytes(os.urandom(1024))
        self.site.chmod(0o400)

    def munged(self, name='munged', key=None):
        """Starts munged. Returns its socket, and the process."""
        socket = self.folder / f'{name}.socket'
        log = self.folder / f'{name}.log'
        process = subprocess.Popen(
            ['munged', '--foreground', '--force', f'--socket={socket}', f'--key-file={key or self.site}',
             f'--log-file={log}', f'--pid-file={self.folder / name}.pid', f'--seed-file={self.folder / name}.seed'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=nodes.die_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        nodes.eventually(lambda: socket.exists() or process.poll() is not None, 20)
        if not socket.exists():
            self.skipTest('munged does not start: ' + (log.read_text() if log.exists() else ''))
        return socket, process

    def as_nobody(self, node, socket, **more):
        return self.clinfo(node, prefix=nodes.AS_NOBODY, CLIQUE_AUTH=f'munge:{socket}', **more)

    def served(self, auth):
        return self.node('--auth', auth, '--authorized-clients', self.list)

    def test_users_of_the_site_are_admitted(self):
        socket, _ = self.munged()
        node = self.served(f'munge:{socket}')
        self.assert_served(self.as_nobody(node, socket))
        status, said = self.compute(node, prefix=nodes.AS_NOBODY, CLIQUE_AUTH=f'munge:{socket}')
        self.assertEqual((status, said), (0, 'right\n'))
        self.assertTrue(node.says('client="munge user nobody"'))

    def test_without_a_credential(self):
        socket, _ = self.munged()
        node = self.served(f'munge:{socket}')
        self.assert_refused(self.clinfo(node, prefix=nodes.AS_NOBODY), 'set CLIQUE_AUTH=munge')

    def test_keys_count_only_if_the_setting_says_so(self):
        self.list.write_text(f'{self.client_key} alice\n')
        socket, _ = self.munged()
        both = self.served(f'keys,munge:{socket}')
        self.assert_served(self.as_nobody(both, socket))
        self.assert_served(self.clinfo(both, prefix=nodes.AS_NOBODY, CLIQUE_IDENTITY=str(self.client_file)))
        alone = self.served(f'munge:{socket}')
        self.assert_refused(self.clinfo(alone, prefix=nodes.AS_NOBODY, CLIQUE_IDENTITY=str(self.client_file)))

    def test_credentials_count_only_if_the_setting_says_so(self):
        socket, _ = self.munged()
        said = self.as_nobody(self.served('keys'), socket)
        self.assert_refused(said, 'is not authorized')
        self.assertNotIn('MUNGE', said)

    def test_users_of_another_site_are_not_admitted(self):
        ours, _ = self.munged()
        other = self.folder / 'other-site.key'
        other.write_bytes(os.urandom(1024))
        other.chmod(0o400)
        theirs, _ = self.munged('theirs', other)
        self.assert_refused(self.as_nobody(self.served(f'munge:{ours}'), theirs), 'Invalid credential')

    def man_in_the_middle(self, node, change=lambda said: said):
        """A host that the client trusts forwards its messages. Returns its address, and the node's answers."""
        pem = tls.certificate(self.man_file, self.folder)
        context = tls.client_context(self.man_file, pem)
        answers = []

        def pass_on(said):
            with tls.connect(node.address, context) as to_node:
                to_node.sendall(change(said))
                answers.append(tls.message(to_node))
                return answers[-1]
        # Of the users of its own host, the daemon admits only its own.
        fake = tls.FakeNode(self.man_file, pem, forward_to=pass_on)
        self.addCleanup(fake.close)
        return fake.address, answers

    def as_nobodys_node(self, socket):
        """A node of the user nobody, so that it does not admit root, the owner of this test's connections."""
        cache = self.folder / 'cache'
        cache.mkdir()
        node_file, _, _ = self.made_key('node.key')
        self.give_to_nobody(cache, node_file)
        return self.node('--auth', f'munge:{socket}', '--identity', node_file, prefix=nodes.AS_NOBODY, HOME=str(cache),
                         XDG_CACHE_HOME=str(cache))

    def test_credential_of_another_connection(self):
        socket, _ = self.munged()
        node = self.as_nobodys_node(socket)
        address, answers = self.man_in_the_middle(node)
        said = self.clinfo(address, CLIQUE_AUTH=f'munge:{socket}', CLIQUE_INSECURE='1')
        self.assert_refused(said, 'the credential was made for another connection')
        self.assertEqual(len(answers), 1)
        # The same client is admitted if no host is in the middle.
        self.assert_served(self.clinfo(node, CLIQUE_AUTH=f'munge:{socket}', CLIQUE_INSECURE='1'))

    def test_replayed_credential(self):
        socket, _ = self.munged()
        node = self.as_nobodys_node(socket)
        heard = []

        def replay(said):
            heard.append(said)
            return heard[0]
        address, _ = self.man_in_the_middle(node, replay)
        self.clinfo(address, CLIQUE_AUTH=f'munge:{socket}', CLIQUE_INSECURE='1')
        said = self.clinfo(address, CLIQUE_AUTH=f'munge:{socket}', CLIQUE_INSECURE='1')
        self.assertNotEqual(heard[0], heard[1])
        self.assert_refused(said, 'Replayed credential')

    def test_malformed_credential(self):
        socket, _ = self.munged()
        node = self.as_nobodys_node(socket)
        for change in (lambda said: said.replace(b'MUNGE:', b'MUNGE;'),
                       lambda said: said[:-40] + b'A' * 30 + said[-10:],
                       lambda said: said[:-40] + b'\0' * 30 + said[-10:]):
            address, _ = self.man_in_the_middle(node, change)
            said = self.clinfo(address, CLIQUE_AUTH=f'munge:{socket}', CLIQUE_INSECURE='1')
            self.assert_refused(said, 'MUNGE rejects the credential')
        self.assertTrue(node.alive())

    def test_client_without_munged(self):
        socket, _ = self.munged()
        node = self.served(f'munge:{socket}')
        self.assert_refused(self.as_nobody(node, self.folder / 'nothing'), 'munged provides no credential',
                            'Check that munged runs on this host')

    def test_node_without_munged(self):
        socket, _ = self.munged()
        node = self.served(f'munge:{self.folder / "nothing"}')
        self.assert_refused(self.as_nobody(node, socket, CLIQUE_CONNECT_TIMEOUT_MS='30000'), 'MUNGE rejects')

    def test_silent_munged_of_a_node_holds_up_nobody_else(self):
        self.list.write_text(f'{self.client_key} alice\n')
        socket, _ = self.munged()
        silent, process = self.munged('silent')
        node = self.served(f'keys,munge:{silent}')
        process.send_signal(signal.SIGSTOP)
        with subprocess.Popen([*nodes.AS_NOBODY, 'clinfo', '-l'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=self.using(node, CLIQUE_AUTH=f'munge:{socket}', CLIQUE_CONNECT_TIMEOUT_MS='60000'),
                              preexec_fn=nodes.die_with_parent) as waiting:
            try:
                for _ in range(3):
                    self.assert_served(self.clinfo(node, prefix=nodes.AS_NOBODY,
                                                   CLIQUE_IDENTITY=str(self.client_file)))
                self.assertIsNone(waiting.poll())
            finally:
                process.send_signal(signal.SIGCONT)

    def test_wrong_settings(self):
        status, said = nodes.run([nodes.CLIQUED, '--config', '/dev/null', '--auth', 'keys,kerberos'])
        self.assertEqual(status, 1)
        self.assertIn("--auth: 'kerberos' is not a kind of authentication", said)
        said = self.clinfo('127.0.0.1:1', CLIQUE_AUTH='kerberos')
        self.assertIn("CLIQUE_AUTH is 'kerberos'; write keys, or munge", said)


if __name__ == '__main__':
    nodes.need_nobody()
    if not shutil.which('munged') or not shutil.which('munge'):
        nodes.skip('munged is not installed; tools/setup test installs it')
    nodes.main()
