#!/usr/bin/env python3
"""The systemd service: what systemd says of its exposure, and that sessions still get their walls in it."""

import os
import pathlib
import shutil
import unittest

import nodes

UNIT = pathlib.Path(os.environ['CLIQUE_SERVICE'])
# In tenths, as systemd-analyze counts: "OK", its best but one.
EXPOSURE = 30


class Service(unittest.TestCase):
    def test_exposure(self):
        if not shutil.which('systemd-analyze'):
            self.skipTest('there is no systemd-analyze')
        status, said = nodes.run(['systemd-analyze', 'security', '--offline=true', '--no-pager',
                                  f'--threshold={EXPOSURE}', UNIT])
        if 'unrecognized option' in said:
            self.skipTest('this systemd-analyze reads no files')
        self.assertEqual(status, 0, said)
        self.assertIn('exposure level for cliqued.service', said)

    def test_limits(self):
        settings = dict(line.split('=', 1) for line in UNIT.read_text().splitlines()
                        if '=' in line and not line.startswith('#'))
        for name, value in {'DynamicUser': 'yes', 'LimitCORE': '0', 'DevicePolicy': 'closed',
                            'KillMode': 'mixed'}.items():
            self.assertEqual(settings[name], value)
        for name in ('MemoryMax', 'TasksMax', 'LimitNOFILE'):
            self.assertNotIn(settings[name], ('', 'infinity'))
        devices = [line for line in UNIT.read_text().splitlines() if line.startswith('DeviceAllow=')]
        self.assertEqual(devices, ['DeviceAllow=char-nvidia* rw', 'DeviceAllow=char-drm rw'])

    def test_walls_without_any_capability(self):
        # As NoNewPrivileges and CapabilityBoundingSet have it.
        as_user = ('setpriv', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', *nodes.AS_NOBODY[1:])
        if os.geteuid() != 0:
            self.skipTest('only root can run programs as another user')
        ordinary = nodes.run([*nodes.AS_NOBODY, nodes.CLIQUED, '--check'])
        self.assertEqual(nodes.run([*as_user, nodes.CLIQUED, '--check']), ordinary)


if __name__ == '__main__':
    nodes.main()
