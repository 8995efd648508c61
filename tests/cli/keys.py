#!/usr/bin/env python3
"""clique keygen, clique key, clique version, and invalid command lines."""

import json
import os
import re
import stat

import nodes


class Keygen(nodes.TestCase):
    def test_makes_this_users_key_where_programs_look_for_it(self):
        status, said = self.clique('keygen')
        self.assertEqual(status, 0, said)
        file = self.folder / 'home/.config/clique/client.key'
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        key, fingerprint = self.clique('key')[1].split()
        self.assertRegex(key, r'^ed25519:[A-Za-z0-9+/]{43}=$')
        self.assertRegex(fingerprint, r'^SHA256:[A-Za-z0-9+/]{43}$')
        self.assertIn(f'Public key:  {key}\nFingerprint: {fingerprint}\n', said)
        self.assertIn(f'clique authorize {key} NAME', said)
        self.assertNotIn('PRIVATE', said)

    def test_json(self):
        file = self.folder / 'some.key'
        status, said = self.clique('keygen', '--file', file, '--json')
        self.assertEqual(status, 0, said)
        made = json.loads(said)
        key, fingerprint = self.clique('key', '--file', file)[1].split()
        self.assertEqual(made, {'file': str(file), 'public_key': key, 'fingerprint': fingerprint})
        self.assertEqual(json.loads(self.clique('key', '--file', file, '--json')[1]), made)
        version = json.loads(self.clique('version', '--json')[1])
        self.assertIn(f"clique {version['version']}, protocol {version['protocol']}\n", self.clique('version')[1])

    def test_environment_names_the_place(self):
        self.environment['XDG_CONFIG_HOME'] = str(self.folder / 'xdg')
        self.assertEqual(self.clique('keygen')[0], 0)
        self.assertTrue((self.folder / 'xdg/clique/client.key').is_file())
        self.environment['CLIQUE_IDENTITY'] = str(self.folder / 'mine.key')
        self.assertEqual(self.clique('keygen')[0], 0)
        self.assertTrue((self.folder / 'mine.key').is_file())

    def test_node_key_goes_where_it_is_told(self):
        file = self.folder / 'etc/node.key'
        status, said = self.clique('keygen', '--node', '--file', file)
        self.assertEqual(status, 0, said)
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        # cliqued and all users read other files there.
        self.assertEqual(stat.S_IMODE(file.parent.stat().st_mode) & 0o055, 0o055)
        fingerprint = self.clique('key', '--node', '--file', file)[1].split()[1]
        self.assertIn(f'clique trust HOST --fingerprint {fingerprint}', said)

    def test_never_replaces_a_file(self):
        file, key, _ = self.made_key('some.key')
        before = file.read_bytes()
        status, said = self.clique('keygen', '--file', file)
        self.assertEqual(status, 1)
        self.assertIn(f'{file} already exists; remove it first', said)
        self.assertEqual(file.read_bytes(), before)
        link = self.folder / 'link.key'
        link.symlink_to(self.folder / 'elsewhere')
        self.assertEqual(self.clique('keygen', '--file', link)[0], 1)
        self.assertFalse((self.folder / 'elsewhere').exists())

    def test_keys_differ(self):
        self.assertNotEqual(self.made_key('a.key')[1], self.made_key('b.key')[1])

    def test_without_a_home_the_file_has_to_be_named(self):
        del self.environment['HOME']
        status, said = self.clique('keygen')
        self.assertEqual(status, 1)
        self.assertIn('--file', said)


class Key(nodes.TestCase):
    def test_missing_key_names_what_makes_one(self):
        status, said = self.clique('key')
        self.assertEqual(status, 1)
        self.assertIn("home/.config/clique/client.key does not exist; make a key with 'clique keygen'\n", said)
        self.assertIn("'clique keygen --node'", self.clique('key', '--node', '--file', self.folder / 'n.key')[1])

    def test_key_that_others_can_read_is_not_used(self):
        file = self.made_key('some.key')[0]
        os.chmod(file, 0o640)
        status, said = self.clique('key', '--file', file)
        self.assertEqual(status, 1)
        self.assertIn('can be read or changed by other users', said)

    def test_other_files_are_no_keys(self):
        file = self.folder / 'text'
        file.write_text('ed25519:\n', encoding='utf-8')
        file.chmod(0o600)
        self.assertIn('does not contain a private key', self.clique('key', '--file', file)[1])
        self.assertIn('is not a regular file', self.clique('key', '--file', self.folder)[1])


class Program(nodes.TestCase):
    def test_version(self):
        status, said = self.clique('version')
        self.assertEqual(status, 0)
        self.assertRegex(said, r'^clique \d+\.\d+\.\d+, protocol \d+\n$')

    def test_every_subcommand_has_help(self):
        status, said = self.clique('--help')
        self.assertEqual(status, 0)
        for name in ('keygen', 'key', 'trust', 'authorize', 'version', 'devices', 'run', 'config',
                     'doctor'):
            self.assertTrue(re.search(rf'^  {name} ', said, re.MULTILINE), said)
            status, help_text = self.clique(name, '--help')
            self.assertEqual(status, 0)
            self.assertIn(f'clique {name}', help_text)

    def test_wrong_use_has_status_2(self):
        for wrong in ((), ('quark',), ('keygen', '--quark'), ('trust',), ('authorize', 'x'), ('key', '--file')):
            with self.subTest(wrong):
                self.assertEqual(self.clique(*wrong)[0], 2)


if __name__ == '__main__':
    nodes.main()
