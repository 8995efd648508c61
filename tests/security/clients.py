#!/usr/bin/env python3
"""Clients with keys: none, unauthorized, authorized, and lists that change while the daemon runs.

The clients run as nobody, whom the daemon does not admit for being on its host.
"""

import nodes


class Clients(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.list = self.folder / 'authorized-clients'
        self.client_file, self.client_key, self.client_fingerprint = self.made_key('client.key')
        self.other_file, self.other_key, self.other_fingerprint = self.made_key('other.key')
        self.give_to_nobody(self.client_file, self.other_file)

    def served(self, *options):
        return self.node('--authorized-clients', self.list, *options)

    def as_nobody(self, node, key=None):
        identity = {'CLIQUE_IDENTITY': str(key)} if key else {}
        return self.clinfo(node, prefix=nodes.AS_NOBODY, **identity)

    def test_without_a_key(self):
        node = self.served()
        said = self.as_nobody(node)
        self.assert_refused(said, 'cliqued refused: ', "'clique authorize ed25519:", 'on node alpha',
                            'admits user nobody with the setting local-users')
        self.assertTrue(node.says('refused clinfo'))
        self.assertNotIn('began: ', node.log())

    def test_with_an_unauthorized_key(self):
        self.list.write_text(f'{self.client_key} alice\n')
        said = self.as_nobody(self.served(), self.other_file)
        self.assert_refused(said, self.other_fingerprint, f"'clique authorize {self.other_key} NAME'")

    def test_with_an_authorized_key(self):
        self.list.write_text(f'{self.other_key} bob\n{self.client_key} alice@laptop\n')
        node = self.served()
        self.assert_served(self.as_nobody(node, self.client_file))
        status, said = self.compute(node, prefix=nodes.AS_NOBODY, CLIQUE_IDENTITY=str(self.client_file))
        self.assertEqual((status, said), (0, 'right\n'))
        self.assertTrue(node.says('client="alice@laptop"'))

    def test_encrypted(self):
        self.list.write_text(f'{self.client_key} alice\n')
        levels = ('none', 'commands', 'all')
        for offered, what in enumerate(levels):
            node = self.served('--encryption', what)
            for demanded, demand in enumerate(levels):
                with self.subTest(f'{demand} of {what}'):
                    said = self.compute(node, prefix=nodes.AS_NOBODY, CLIQUE_IDENTITY=str(self.client_file),
                                        CLIQUE_ENCRYPTION=demand)[1]
                    if demanded <= offered:
                        self.assertEqual(said, 'right\n')
                        continue
                    self.assertIn(f"its encryption is '{what}', and '{demand}' is demanded here", said)
                    self.assertIn(f"Set encryption to '{demand}' in the configuration of cliqued", said)
                    self.assertIn(node.address, said)

    def test_no_client_runs_programs_that_were_compiled_for_another(self):
        self.list.write_text(f'{self.client_key} alice\n{self.other_key} bob\n')
        caches = self.folder / 'caches'
        node = self.node('--authorized-clients', self.list, POCL_CACHE_DIR=str(caches))

        def compute(key):
            return self.compute(node, prefix=nodes.AS_NOBODY, CLIQUE_IDENTITY=str(key))

        def libraries(owner):
            """The compiled kernels that are kept for a client."""
            return [*caches.glob(f'programs-of-{owner}/**/*.so')]

        self.assertEqual(compute(self.client_file), (0, 'right\n'))
        self.assertTrue(nodes.eventually(lambda: libraries('alice')), sorted(caches.rglob('*')))
        # As if alice's kernels had been changed by a program of hers.
        for library in libraries('alice'):
            library.write_bytes(b'no library')
        self.assertEqual(compute(self.other_file), (0, 'right\n'))
        self.assertTrue(nodes.eventually(lambda: libraries('bob')), sorted(caches.rglob('*')))
        self.assertNotEqual(compute(self.client_file), (0, 'right\n'), 'alice has what was kept for her')

    def test_list_that_changes_while_the_daemon_runs(self):
        node = self.served()
        self.assert_refused(self.as_nobody(node, self.client_file))
        self.assertEqual(self.clique('authorize', self.client_key, 'alice', '--file', self.list)[0], 0)
        self.assert_served(self.as_nobody(node, self.client_file))
        self.assert_refused(self.as_nobody(node, self.other_file))
        self.assertEqual(self.clique('authorize', self.other_key, 'bob', '--file', self.list)[0], 0)
        self.assert_served(self.as_nobody(node, self.other_file))
        self.list.write_text(f'{self.other_key} bob\n')
        self.assert_refused(self.as_nobody(node, self.client_file))
        self.assert_served(self.as_nobody(node, self.other_file))
        self.list.unlink()
        self.assert_refused(self.as_nobody(node, self.other_file))
        self.assertIn('was read again: 2 clients are authorized', node.log())

    def test_wrong_lines_are_reported_and_skipped(self):
        self.list.write_text(f'# who may\nalice {self.client_key}\n{self.other_key} bob sessions=many\n'
                             f'{self.client_key} alice\n')
        node = self.served()
        self.assert_served(self.as_nobody(node, self.client_file))
        self.assert_refused(self.as_nobody(node, self.other_file))
        self.assertIn(f'{self.list}, line 2: ', node.log())
        self.assertIn(f"{self.list}, line 3: 'sessions=many' is not a number of sessions", node.log())
        self.assertNotIn('line 4', node.log())

    def test_list_that_cannot_be_read_changes_nothing(self):
        self.list.write_text(f'{self.client_key} alice\n')
        node = self.served()
        self.list.unlink()
        self.list.mkdir()
        self.assert_served(self.as_nobody(node, self.client_file))
        self.assertTrue(node.says('the keys that were read before stay authorized'))

    def test_insecure_admits_everybody(self):
        node = self.served('--insecure')
        self.assert_served(self.as_nobody(node))
        self.assertIn('everybody who can reach this address', node.log())

    def test_key_that_others_can_read_is_not_used(self):
        self.list.write_text(f'{self.client_key} alice\n')
        self.client_file.chmod(0o644)
        said = self.as_nobody(self.served(), self.client_file)
        self.assertIn('can be read or changed by other users', said)
        self.assertNotIn('Device #0', said)


if __name__ == '__main__':
    nodes.need_nobody()
    nodes.main()
