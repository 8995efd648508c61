#!/usr/bin/env python3
"""CLIQUE_DEVICES=idle, CLIQUE_ORDER and CLIQUE_EXCLUSIVE, with real nodes and sessions."""

import json
import re
import subprocess

import nodes

READY = 'ready\n'
RIGHT = (0, 'right\n')


class Case(nodes.TestCase):
    def start(self, *used, **environment):
        """Starts a program that holds a session with the first device that it is offered."""
        client = subprocess.Popen([nodes.CLIENT, '--hold'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, preexec_fn=nodes.die_with_parent,
                                  env=self.using(*used, **environment))
        self.addCleanup(client.communicate)
        self.addCleanup(client.kill)
        return client

    def sessions(self, *used):
        """How many sessions run on each of the nodes."""
        status, said = self.clique('nodes', '--json', *[node.address for node in used])
        self.assertEqual(status, 0, said)
        return [node['sessions'] for node in json.loads(said)['nodes']]

    def listed(self, *used, **environment):
        """The nodes of the devices, as a program would see them."""
        return [device['node'] for device in self.devices(self.using(*used, **environment))]

    def devices(self, environment):
        status, said = nodes.run([nodes.CLIQUE, 'devices', '--json'], env=environment)
        self.assertEqual(status, 0, said)
        return json.loads(said)


class Idle(Case):
    def test_ten_programs_that_start_together_take_ten_devices(self):
        used = [self.node(name=f'node{i}') for i in range(10)]
        clients = [self.start(*used, CLIQUE_DEVICES='idle', CLIQUE_CONNECT_TIMEOUT_MS='20000') for _ in used]
        for client in clients:
            self.assertEqual(client.stdout.readline(), READY)
        self.assertEqual(self.sessions(*used), [1] * 10)

    def test_the_first_devices_are_those_with_least_to_do(self):
        alpha, beta, gamma = (self.node(name=name) for name in ('alpha', 'beta', 'gamma'))
        used = alpha, beta, gamma
        self.assertEqual(self.listed(*used, CLIQUE_ORDER='idle'), ['alpha', 'beta', 'gamma'])
        self.session(alpha)
        self.assertEqual(self.listed(*used, CLIQUE_ORDER='idle'), ['beta', 'gamma', 'alpha'])
        self.assertEqual(self.listed(*used, CLIQUE_DEVICES='idle'), ['beta'])
        self.assertEqual(self.listed(*used, CLIQUE_DEVICES='idle:2'), ['beta', 'gamma'])
        self.assertEqual(self.listed(*used, CLIQUE_DEVICES='idle:9'), ['beta', 'gamma', 'alpha'])
        self.assertEqual(self.listed(*used, CLIQUE_DEVICES='alpha,gamma,idle'), ['gamma'])
        self.assertEqual(self.listed(*used, CLIQUE_ORDER='nodes'), ['alpha', 'beta', 'gamma'])

    def test_programs_that_only_list_devices_reserve_the_first_one(self):
        used = [self.node(name=name) for name in ('alpha', 'beta')]
        first = re.findall(r'Device #', self.clinfo(*used, CLIQUE_DEVICES='idle'))
        self.assertEqual(len(first), 1)
        self.assertEqual(self.listed(*used, CLIQUE_ORDER='idle'), ['beta', 'alpha'])
        # Asking has reserved nothing.
        self.assertEqual(self.listed(*used, CLIQUE_ORDER='idle'), ['beta', 'alpha'])
        self.assertEqual(self.sessions(*used), [0, 0])

    def test_devices_of_one_driver_are_told_apart(self):
        node = self.node('--confinement', 'off', devices=None, POCL_DEVICES='pthread pthread')
        count = len(self.listed(node))
        self.assertGreaterEqual(count, 2)
        clients = [self.start(node, CLIQUE_DEVICES='idle') for _ in range(2)]
        for client in clients:
            self.assertEqual(client.stdout.readline(), READY)
        by_load = self.devices(self.using(node, CLIQUE_ORDER='idle'))
        self.assertEqual({device['select'] for device in by_load[-2:]}, {'CLIQUE_DEVICES=0', 'CLIQUE_DEVICES=1'})

    def test_wrong_values_are_explained(self):
        node = self.node()
        for value in ('idle:0', 'idle:x', 'idle:'):
            said = self.clinfo(node, CLIQUE_DEVICES=value)
            self.assertIn(f"none of the 1 devices matches '{value}'; write idle", said)
        self.assertIn("CLIQUE_ORDER is 'load'; write nodes", self.clinfo(node, CLIQUE_ORDER='load'))

    def test_a_file_orders_devices_as_well(self):
        alpha, beta = self.node(), self.node(name='beta')
        self.session(alpha)
        folder = self.folder / 'home/.config/clique'
        folder.mkdir(parents=True)
        (folder / 'nodes.toml').write_text(f'nodes = ["{alpha.address}", "{beta.address}"]\norder = "idle"\n')
        environment = {name: value for name, value in self.environment.items() if name != 'CLIQUE_NODES'}
        self.assertEqual([device['node'] for device in self.devices(environment)], ['beta', 'alpha'])


class Exclusive(Case):
    def test_others_are_refused_until_the_session_ends(self):
        node = self.node()
        holder = self.session(node, CLIQUE_EXCLUSIVE='1')
        status, said = self.compute(node)
        self.assertEqual(status, 1, said)
        self.assertIn('is taken exclusively by session 1 for ', said)
        self.assertIn('of node alpha', said)
        self.assertIn('try again when that has ended', said)
        holder.communicate()
        self.assertEqual(self.compute(node), RIGHT)

    def test_devices_in_use_cannot_be_taken(self):
        node = self.node()
        user = self.session(node)
        status, said = self.compute(node, CLIQUE_EXCLUSIVE='1')
        self.assertEqual(status, 1, said)
        self.assertIn('is in use by session 1 for ', said)
        self.assertIn('cannot be taken exclusively', said)
        user.communicate()
        self.assertEqual(self.compute(node, CLIQUE_EXCLUSIVE='1'), RIGHT)

    def test_one_program_after_the_other_gets_the_device(self):
        node = self.node()
        for _ in range(5):
            self.assertEqual(self.compute(node, CLIQUE_EXCLUSIVE='1'), RIGHT)

    def test_idle_devices_are_those_that_can_be_taken(self):
        used = alpha, beta = self.node(), self.node(name='beta')
        for node in used:
            self.session(*used, CLIQUE_DEVICES='idle', CLIQUE_EXCLUSIVE='1')
        self.assertEqual(self.sessions(*used), [1, 1])
        status, said = self.compute(*used, CLIQUE_DEVICES='idle', CLIQUE_EXCLUSIVE='1')
        self.assertEqual(status, 1, said)
        self.assertIn('is taken exclusively', said)

    def test_others_see_that_the_device_is_not_available(self):
        node = self.node()
        self.session(node, CLIQUE_EXCLUSIVE='1')
        command = ['clinfo', '--raw', '--prop', 'CL_DEVICE_AVAILABLE']
        self.assertIn('CL_FALSE', nodes.run(command, env=self.using(node))[1])


if __name__ == '__main__':
    nodes.main()
