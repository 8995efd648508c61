"""Which devices are combined. Runs with two nodes, node1 and node2, of one device each.

Use: devices.py PROGRAM, where PROGRAM is device_names."""
import os
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop()


def devices(**settings):
    """The names of the devices, their compute units, and what the library has said."""
    result = subprocess.run([PROGRAM], capture_output=True, text=True, check=True,
                            env=dict(os.environ, **settings))
    lines = [line.split('|') for line in result.stdout.splitlines()]
    return [name for name, _ in lines], [int(units) for _, units in lines], result.stderr


class Combined(unittest.TestCase):

    def test_nothing_is_combined_without_the_setting(self):
        names, _, said = devices()
        self.assertEqual(len(names), 2)
        self.assertFalse(any(name.startswith('Clique') for name in names))
        self.assertEqual(said, '')

    def test_all_devices_are_one_more_device(self):
        names, units, said = devices(CLIQUE_COMBINE='all')
        self.assertEqual(len(names), 3)
        self.assertEqual(names[0], f'Clique 2 \u00d7 {names[1]} (node1, node2)')
        self.assertEqual(units[0], units[1] + units[2])
        self.assertEqual(said, '')

    def test_a_group_is_chosen_by_names_and_positions(self):
        for group in ('node2,node1', '1,0', ' NODE2 , 0 ;'):
            names, _, _ = devices(CLIQUE_COMBINE=group)
            self.assertTrue(names[0].endswith('(node2, node1)'), names[0])

    def test_members_may_be_hidden(self):
        names, _, _ = devices(CLIQUE_COMBINE='all', CLIQUE_COMBINE_ONLY='1')
        self.assertEqual(len(names), 1)

    def test_a_name_of_no_device_is_said(self):
        names, _, said = devices(CLIQUE_COMBINE='node1,nowhere')
        self.assertEqual(len(names), 2)
        self.assertIn("none of the 2 devices matches 'nowhere'", said)
        self.assertIn("the group 'node1,nowhere' has only one device that can be combined", said)

    def test_a_group_without_devices_is_said(self):
        _, _, said = devices(CLIQUE_COMBINE='nowhere')
        self.assertIn("the group 'nowhere' has no device", said)

    def test_a_wrong_setting_is_said(self):
        names, _, said = devices(CLIQUE_COMBINE='all', CLIQUE_COMBINE_ONLY='yes')
        self.assertEqual(len(names), 2)
        self.assertIn("CLIQUE_COMBINE_ONLY is 'yes'; write 1", said)
        _, _, said = devices(CLIQUE_COMBINE='all', CLIQUE_COMBINE_DIVIDE='never')
        self.assertIn("CLIQUE_COMBINE_DIVIDE is 'never'; write auto", said)


if __name__ == '__main__':
    unittest.main()
