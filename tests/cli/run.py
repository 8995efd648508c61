#!/usr/bin/env python3
"""clique run and clique config."""

import json
import os
import pathlib
import sys

import nodes

SHOW = 'import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ)]))'


class Run(nodes.TestCase):
    def run_python(self, *options, arguments=()):
        """What a program sees that clique runs: its arguments and environment."""
        status, said = self.clique('run', *options, '--', sys.executable, '-c', SHOW, *arguments)
        self.assertEqual(status, 0, said)
        return json.loads(said)

    def test_sets_nodes_and_devices(self):
        _, environment = self.run_python('--nodes', 'alpha,beta:1', '--devices', '1,cpu')
        self.assertEqual(environment['CLIQUE_NODES'], 'alpha,beta:1')
        self.assertEqual(environment['CLIQUE_DEVICES'], '1,cpu')
        self.environment['CLIQUE_NODES'] = 'mine'
        _, environment = self.run_python()
        self.assertEqual(environment['CLIQUE_NODES'], 'mine')
        self.assertNotIn('CLIQUE_DEVICES', environment)
        self.assertEqual(self.run_python('--nodes', '')[1]['CLIQUE_NODES'], '')

    def test_leaves_arguments_as_they_are(self):
        arguments = ['--nodes', '[a,b]', '', '--', 'x y', '-h', '%%']
        self.assertEqual(self.run_python('--nodes', 'a', arguments=arguments)[0], arguments)

    def test_registers_clique_only_where_it_is_not(self):
        registered = self.environment['OCL_ICD_VENDORS']
        self.assertEqual(self.run_python()[1]['OCL_ICD_VENDORS'], registered)
        empty = self.folder / 'vendors'
        empty.mkdir()
        self.environment['OCL_ICD_VENDORS'] = str(empty)
        found = pathlib.Path(self.run_python()[1]['OCL_ICD_VENDORS'])
        self.assertTrue(os.path.samefile(found / 'clique.icd', registered))
        (empty / 'some.icd').write_text('libclique.so.1\n', encoding='utf-8')
        self.assertEqual(self.run_python()[1]['OCL_ICD_VENDORS'], str(empty))

    def test_programs_see_the_nodes(self):
        node = self.node()
        status, said = self.clique('run', '--nodes', node.address, '--', 'clinfo', '-l')
        self.assertEqual(status, 0)
        self.assert_served(said)

    def test_status_is_that_of_the_program(self):
        for code in (0, 1, 2, 77):
            self.assertEqual(self.clique('run', '--', 'sh', '-c', f'exit {code}')[0], code)
        status, said = self.clique('run', '--', self.folder / 'missing')
        self.assertEqual(status, 127)
        self.assertIn('missing cannot be started: No such file', said)
        (self.folder / 'text').write_text('', encoding='utf-8')
        self.assertEqual(self.clique('run', '--', self.folder / 'text')[0], 126)

    def test_wrong_use_has_status_2(self):
        for wrong in ((), ('--',), ('sh',), ('--quark', '--', 'true'), ('--nodes', 'a:b', '--', 'true'), ('--nodes',)):
            with self.subTest(wrong):
                self.assertEqual(self.clique('run', *wrong)[0], 2)


class Config(nodes.TestCase):
    def setUp(self):
        super().setUp()
        del self.environment['CLIQUE_NODES']
        self.file = self.folder / 'home/.config/clique/nodes.toml'
        self.file.parent.mkdir(parents=True)

    def config(self):
        """The settings by their names, and the file that is read."""
        status, said = self.clique('config', '--show', '--json')
        self.assertEqual(status, 0, said)
        all_settings = json.loads(said)
        return {each['name']: each for each in all_settings['settings']}, all_settings['file']

    def test_says_where_each_setting_is_from(self):
        self.file.write_text('# mine\nnodes = ["alpha"]\nconnect_timeout_ms = 250\ndevice-names = "node"\n'
                             '[[node]]\nhost = "beta"\n', encoding='utf-8')
        self.environment['CLIQUE_DEVICE_NAMES'] = 'plain'
        settings, file = self.config()
        self.assertEqual(file, str(self.file))
        for name, value, source in (('CLIQUE_NODES', 'alpha:7890,beta:7890', f'{file}:2'),
                                    ('CLIQUE_CONNECT_TIMEOUT_MS', '250', f'{file}:3'),
                                    ('CLIQUE_DEVICE_NAMES', 'plain', 'environment'),
                                    ('CLIQUE_ENCRYPTION', 'none', 'default')):
            self.assertEqual((settings[name]['value'], settings[name]['source']), (value, source))
        self.assertEqual(settings['CLIQUE_CONNECT_TIMEOUT_MS']['key'], 'connect-timeout-ms')
        lines = self.clique('config')[1].splitlines()
        self.assertEqual(lines[0].split(), ['SETTING', 'VALUE', 'FROM'])
        self.assertIn(['CLIQUE_CONNECT_TIMEOUT_MS', '250', f'{file}:3'], [line.split() for line in lines])

    def test_variable_with_nodes_replaces_the_file(self):
        self.file.write_text('nodes = ["alpha"]\nconnect-timeout-ms = 250\n', encoding='utf-8')
        self.environment['CLIQUE_NODES'] = ''
        settings, file = self.config()
        self.assertEqual(file, '')
        self.assertEqual(settings['CLIQUE_NODES']['source'], 'environment')
        self.assertEqual(settings['CLIQUE_CONNECT_TIMEOUT_MS']['source'], 'default')

    def test_errors_are_told_after_the_settings(self):
        self.file.write_text('nodes = ["alpha"]\ncolor = 1\n', encoding='utf-8')
        self.environment['CLIQUE_CONECT_TIMEOUT'] = '1'
        status, said = self.clique('config')
        self.assertEqual(status, 1)
        self.assertIn(f"{self.file}:2:1: unknown key 'color'", said)
        self.assertIn('did you mean CLIQUE_CONNECT_TIMEOUT_MS?', said)
        self.assertIn('\nCLIQUE_AUTH ', said)


if __name__ == '__main__':
    nodes.main()
