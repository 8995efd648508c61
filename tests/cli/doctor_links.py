#!/usr/bin/env python3
"""clique doctor over slow links: how fast data travels is measured with as much as there is time for."""

import json
import os

import nodes


class DoctorOverSlowLinks(nodes.TestCase):
    def test_a_part_is_transferred(self):
        # The nodes are those of with_nodes, and so are the keys.
        status, said = nodes.run(['sh', '-c', 'exec "$@" 2>/dev/null', 'sh', nodes.CLIQUE, 'doctor', '--json',
                                  '--timeout', '60'], env=dict(os.environ, HOME=str(self.folder)))
        findings = json.loads(said)
        self.assertEqual([each for each in findings if each['verdict'] == 'bad'], [])
        self.assertEqual(status, 0, said)
        for node in ('node1', 'node2'):
            found, = [each for each in findings if each['subject'] == f'node {node}, transfer']
            self.assertRegex(found['text'], r'^\d+ KiB there at [\d.]+ [kM]B/s, and back at [\d.]+ [kM]B/s')


if __name__ == '__main__':
    nodes.main()
