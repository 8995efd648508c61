#!/usr/bin/env python3
"""clique devices, and the UUIDs of devices that native drivers do not tell apart."""

import json
import os
import re
import uuid

import nodes

UUID = re.compile(r'^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$')


class Lists(nodes.TestCase):
    def devices(self, *used, **environment):
        """The devices of nodes, as clique lists them."""
        self.environment = self.using(*used, **environment)
        status, said = self.clique('devices', '--json')
        self.assertEqual(status, 0, said)
        return json.loads(said)


class Devices(Lists):
    def test_lists_what_clinfo_lists(self):
        alpha, beta = self.node(), self.node(name='beta')
        listed = self.devices(alpha, beta)
        self.assertEqual([device['node'] for device in listed], ['alpha', 'beta'])
        self.assertEqual([device['index'] for device in listed], [0, 1])
        self.assertEqual([device['select'] for device in listed], ['CLIQUE_DEVICES=0', 'CLIQUE_DEVICES=1'])
        by_clinfo = re.findall(r'Device #(\d+): (.+)', self.clinfo(alpha, beta))
        self.assertEqual([(str(device['index']), device['name']) for device in listed], by_clinfo)
        for device in listed:
            self.assertIn(device['type'], ('CPU', 'GPU', 'accelerator', 'custom'))
            self.assertGreater(device['memory'], 0)
            self.assertTrue(device['backend'])
            # PoCL tells neither.
            self.assertIsNone(device['memory_free'])
            self.assertIsNone(device['utilisation'])
            self.assertIsNone(device['pci'])

    def test_table_is_for_people(self):
        node = self.node()
        device, = self.devices(node)
        status, said = self.clique('devices')
        self.assertEqual(status, 0)
        heading, line = said.splitlines()
        self.assertTrue(heading.startswith('#  NODE   DEVICE'), heading)
        self.assertEqual(line.split()[:2], ['0', 'alpha'])
        for part in (device['name'], device['uuid'], 'CLIQUE_DEVICES=0', ' GiB '):
            self.assertIn(part, line)

    def test_state_of_gpus(self):
        gpus = {'devices': '', 'POCL_DEVICES': 'basic', 'FAKE_CUDA_GPUS': '2', 'CLIQUE_CACHE': '0',
                'CLIQUE_COMPILER': '/bin/true', 'LD_LIBRARY_PATH': os.environ['CLIQUE_TEST_CUDA_DRIVER']}
        listed = self.devices(self.node(**gpus))
        found = [device for device in listed if device['type'] == 'GPU']
        if not found:
            self.skipTest('this cliqued has no support for GPUs')
        first, second = found
        self.assertEqual((first['memory_free'], first['utilisation']), (60 << 30, 37))
        self.assertEqual((second['memory_free'], second['utilisation']), (61 << 30, None))
        for device in found:
            self.assertRegex(device['pci'], r'^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0$')
            self.assertIn(device['pci'], self.clique('devices')[1])

    def test_selection_keeps_the_positions_of_the_full_list(self):
        alpha, beta = self.node(), self.node(name='beta')
        second = self.devices(alpha, beta)[1]
        for choice in ('1', 'beta', second['uuid'].upper()):
            with self.subTest(choice):
                chosen, = self.devices(alpha, beta, CLIQUE_DEVICES=choice)
                self.assertEqual((chosen['index'], chosen['select'], chosen['uuid']),
                                 (0, 'CLIQUE_DEVICES=1', second['uuid']))
                self.assertEqual(len(re.findall('Device #', self.clinfo(alpha, beta, CLIQUE_DEVICES=choice))), 1)
        self.environment['CLIQUE_DEVICES'] = 'gamma'
        status, said = self.clique('devices')
        self.assertEqual(status, 1)
        self.assertIn("none of the 2 devices matches 'gamma'", said)

    def test_opens_no_session(self):
        node = self.node()
        self.devices(node)
        self.assertNotIn('session 1 began', node.log())

    def test_this_host_without_nodes(self):
        listed = self.devices()
        self.assertTrue(listed)
        self.assertTrue(all(device['backend'] and UUID.match(device['uuid']) for device in listed))

    def test_without_devices_the_status_says_so(self):
        self.environment = self.using('127.0.0.1:1')
        status, said = self.clique('devices')
        self.assertEqual(status, 1)
        self.assertIn('connection refused', said)
        self.assertIn('clique doctor', said)
        self.environment['CLIQUE_NODES'] = 'off'
        status, said = self.clique('devices')
        self.assertEqual(status, 1)
        self.assertIn('CLIQUE_NODES is off', said)


class Uuids(Lists):
    def uuids(self, *used):
        return [device['uuid'] for device in self.devices(*used)]

    def test_differ_between_nodes_and_do_not_change(self):
        key = self.made_key('node.key')[0]
        other_key = self.made_key('other.key')[0]
        # The same key and another name; the same name and another key.
        started = [('alpha', '--identity', key), ('beta', '--identity', key), ('alpha', '--identity', other_key),
                   ('alpha', '--identity', '')]
        self.environment['CLIQUE_INSECURE'] = '1'
        first = [self.node(*options, name=name) for name, *options in started]
        uuids = self.uuids(*first)
        self.assertEqual(len(set(uuids)), len(started))
        for each in uuids:
            self.assertRegex(each, UUID)
        for node in first:
            node.stop()
        self.assertEqual(self.uuids(*[self.node(*options, name=name) for name, *options in started]), uuids)

    def test_do_not_depend_on_what_the_node_offers(self):
        everything = self.uuids(self.node(devices=None))
        for position, expected in enumerate(everything):
            if uuid.UUID(expected).version == 8:
                self.assertEqual(self.uuids(self.node(devices=str(position))), [expected])


class Names(nodes.TestCase):
    def test_contain_the_node_on_demand(self):
        node = self.node()
        plain = re.search('Device #0: (.+)', self.clinfo(node))[1]
        self.assertNotIn('alpha', plain)
        with_node = self.clinfo(node, CLIQUE_DEVICE_NAMES='node')
        self.assertIn(f'Device #0: {plain} @ alpha\n', with_node)
        self.environment = self.using(node, CLIQUE_DEVICE_NAMES='node')
        self.assertIn(f' {plain} @ alpha ', self.clique('devices')[1])
        said = self.clinfo(node, CLIQUE_DEVICE_NAMES='both')
        self.assertIn("CLIQUE_DEVICE_NAMES is 'both'; write plain", said)


class Vendor(nodes.TestCase):
    def platform(self, node, **environment):
        said = nodes.run(['clinfo', '--raw'], env=self.using(node, **environment))[1]
        return [re.search(rf'CL_PLATFORM_{name} +(.+)', said)[1] for name in ('NAME', 'VENDOR')]

    def test_is_that_of_the_driver_on_demand(self):
        node = self.node()
        own, native = ['Clique', 'Clique'], ['Portable Computing Language', 'The pocl project']
        self.assertEqual(self.platform(node), own)
        self.assertEqual(self.platform(node, CLIQUE_VENDOR='native'), native)
        self.assertEqual(self.platform(node, CLIQUE_VENDOR='native:known,clinfo'), native)
        self.assertEqual(self.platform(node, CLIQUE_VENDOR='native:known,hashcat'), own)
        self.assertIn("CLIQUE_VENDOR is 'nativ'; write clique, native", self.clinfo(node, CLIQUE_VENDOR='nativ'))
        said = self.clinfo(node, CLIQUE_LOCAL_MEMORY='half')
        self.assertIn("CLIQUE_LOCAL_MEMORY is 'half'; write known to tell", said)

    def test_is_the_platforms_own_without_devices(self):
        with self.closed_port() as closed:
            self.assertEqual(self.platform(closed, CLIQUE_VENDOR='native'), ['Clique', 'Clique'])


if __name__ == '__main__':
    nodes.main()
