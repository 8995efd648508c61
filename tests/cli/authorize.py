#!/usr/bin/env python3
"""clique authorize."""

import concurrent.futures
import json
import stat

import nodes


class Authorize(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.list = self.folder / 'etc/authorized-clients'

    def authorize(self, *arguments):
        return self.clique('authorize', '--file', self.list, *arguments)

    def test_adds_lines_and_keeps_the_others(self):
        _, first, fingerprint = self.made_key('a.key')
        _, second, _ = self.made_key('b.key')
        status, said = self.authorize(first, 'alice@laptop')
        self.assertEqual(status, 0, said)
        self.assertIn(fingerprint, said)
        self.assertEqual(self.list.read_text(), f'{first} alice@laptop\n')
        self.assertEqual(stat.S_IMODE(self.list.stat().st_mode), 0o644)
        # An editor may have left out the last line break.
        self.list.write_text(f'# ours\nwrong line\n{first} alice@laptop')
        status, said = self.authorize(second, 'bob', '--sessions', '2', '--session-memory', '512M', '--share', '3',
                                      '--devices', '0,gpu', '--files', 'read:/data,write:/scratch', '--admin')
        self.assertEqual(status, 0, said)
        self.assertEqual(self.list.read_text(),
                         f'# ours\nwrong line\n{first} alice@laptop\n{second} bob sessions=2 session-memory=512M '
                         'share=3 devices=0,gpu files=read:/data,write:/scratch admin\n')
        self.assertEqual([path.name for path in self.list.parent.iterdir()], ['authorized-clients'])

    def test_json(self):
        _, key, fingerprint = self.made_key('a.key')
        status, said = self.authorize(key, 'alice', '--admin', '--json')
        self.assertEqual(status, 0, said)
        self.assertEqual(json.loads(said), {'file': str(self.list), 'public_key': key, 'fingerprint': fingerprint,
                                            'name': 'alice', 'line': f'{key} alice admin'})

    def test_refuses_a_key_that_is_there(self):
        key = self.made_key('a.key')[1]
        self.authorize(key, 'alice')
        status, said = self.authorize(key, 'eve')
        self.assertEqual(status, 1)
        self.assertIn("already authorizes this key, as 'alice'", said)
        self.assertEqual(self.list.read_text(), f'{key} alice\n')

    def test_refuses_what_would_be_a_wrong_line(self):
        key = self.made_key('a.key')[1]
        for arguments, part in (
                (('ssh-ed25519', 'alice'), 'is not a public key'),
                ((key[:-2] + 'B=', 'alice'), 'is not a public key'),
                ((key + '=', 'alice'), 'is not a public key'),
                ((key, 'alice smith'), 'is not a valid name'),
                ((key, 'alice\nbob'), 'is not a valid name'),
                ((key, 'al\x1b[2Jice'), 'is not a valid name'),
                ((key, ''), 'is not a valid name'),
                ((key, 'alice', '--sessions', 'many'), 'sessions=NUMBER'),
                ((key, 'alice', '--devices', 'gpu, 0'), "'gpu, 0' contains a space"),
                ((key, 'alice', '--share', '0'), 'is not a share of a device'),
                ((key, 'alice', '--files', 'read:/a b'), "'read:/a b' contains a space"),
                ((key, 'alice', '--session-memory', '5X'), 'is not an amount of memory'),
        ):
            with self.subTest(arguments):
                status, said = self.authorize(*arguments)
                self.assertEqual(status, 1)
                self.assertIn(part, said)
        self.assertFalse(self.list.exists())

    def test_keeps_permissions_and_links(self):
        real = self.folder / 'real'
        real.write_text('')
        real.chmod(0o664)
        self.list.parent.mkdir()
        self.list.symlink_to(real)
        key = self.made_key('a.key')[1]
        self.assertEqual(self.authorize(key, 'alice')[0], 0)
        self.assertTrue(self.list.is_symlink())
        self.assertEqual(real.read_text(), f'{key} alice\n')
        self.assertEqual(stat.S_IMODE(real.stat().st_mode), 0o664)

    def test_administrators_do_not_lose_each_others_lines(self):
        keys = [self.made_key(f'{index}.key')[1] for index in range(16)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            ended = list(pool.map(lambda index: self.authorize(keys[index], f'c{index}'), range(16)))
        self.assertEqual([status for status, _ in ended], [0] * 16, ended)
        self.assertEqual(sorted(self.list.read_text().splitlines()),
                         sorted(f'{key} c{index}' for index, key in enumerate(keys)))


if __name__ == '__main__':
    nodes.main()
