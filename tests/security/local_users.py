#!/usr/bin/env python3
"""Users of the daemon's host, without keys."""

import nodes


class LocalUsers(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.give_to_nobody()

    def served(self, *options):
        return self.node('--authorized-clients', self.folder / 'none', *options)

    def test_the_daemons_own_user_is_admitted(self):
        node = self.served()
        self.assert_served(self.clinfo(node))
        self.assertEqual(self.compute(node), (0, 'right\n'))
        self.assertTrue(node.says('client="user root"'))

    def test_another_user_is_refused(self):
        said = self.clinfo(self.served(), prefix=nodes.AS_NOBODY)
        self.assert_refused(said, 'user nobody')

    def test_another_user_is_admitted_if_the_setting_says_so(self):
        for users in ('nobody', '1,65534', '*'):
            with self.subTest(users):
                node = self.served('--local-users', users)
                self.assertEqual(self.compute(node, prefix=nodes.AS_NOBODY), (0, 'right\n'))
                self.assertTrue(node.says('client="user nobody"'))

    def test_further_users_are_not(self):
        said = self.clinfo(self.served('--local-users', 'daemon'), prefix=nodes.AS_NOBODY)
        self.assert_refused(said, 'user nobody')

    def test_users_that_do_not_exist_are_an_error(self):
        status, said = nodes.run([nodes.CLIQUED, '--config', '/dev/null', '--local-users', 'no-such-user'])
        self.assertEqual(status, 1)
        self.assertIn("--local-users: 'no-such-user' is not a user of this host", said)


if __name__ == '__main__':
    nodes.need_nobody()
    nodes.main()
