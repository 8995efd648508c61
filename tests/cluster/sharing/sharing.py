#!/usr/bin/env python3
"""Sessions of clients with different shares on one device.

What part of the device each gets is tested with a simulated device (tests/unit/daemon/server/devices/fair_share.cpp),
since processors that do other things divide themselves otherwise. Here, the shares differ so much that only a node
without any sharing would give both sessions the same.
"""

import json
import os
import re
import signal
import time

import nodes

SECONDS = 4
ATTEMPTS = 5


class Shares(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.list = self.folder / 'authorized-clients'
        self.files = {}
        for name, share in ('small', 1), ('large', 20), ('other', 20):
            self.files[name], key, _ = self.made_key(f'{name}.key')
            with open(self.list, 'a', encoding='utf-8') as stream:
                stream.write(f'{key} {name} share={share}\n')
        self.shared = self.node('--authorized-clients', self.list)

    def start(self, name):
        return self.session(self.shared, arguments=(), CLIQUE_IDENTITY=str(self.files[name]))

    def end(self, client):
        """How many kernels it has run."""
        said, errors = client.communicate(timeout=60)
        self.assertEqual((client.returncode, errors), (0, ''))
        return int(said)

    def test_a_larger_share_gets_more(self):
        # Other programs may take the processors, so that neither session keeps the device busy.
        for _ in range(ATTEMPTS):
            clients = [self.start('small'), self.start('large')]
            time.sleep(SECONDS)
            small, large = map(self.end, clients)
            self.assertGreater(small, 0)
            if large > 2 * small:
                return
        self.fail(f'{large} kernels with the large share, {small} with the small one')

    def test_nobody_waits_for_a_stopped_worker(self):
        large = self.start('large')
        worker = self.shared.worker()
        small = self.start('small')
        time.sleep(1)
        self.addCleanup(os.kill, worker, signal.SIGKILL)
        os.kill(worker, signal.SIGSTOP)
        self.assertTrue(self.goes_on('small'))
        large.kill()
        self.assertGreater(self.end(small), 0)

    def test_nobody_waits_for_a_killed_worker(self):
        small, large = self.start('small'), self.start('large')
        time.sleep(1)
        large.kill()
        self.assertTrue(self.goes_on('small'))
        self.assertGreater(self.end(small), 0)

    def listed(self, name):
        """The client's session as clique top shows it."""
        status, said = nodes.run([nodes.CLIQUE, 'top', '--once', '--json'], env=self.using(self.shared))
        self.assertEqual(status, 0, said)
        sessions = json.loads(said)['nodes'][0]['listed_sessions']
        return next(session for session in sessions if session['client'] == name)

    def goes_on(self, name):
        """Whether the client's session enqueues further kernels: many more than may be on their way."""
        before = self.listed(name)['kernels']
        return nodes.eventually(lambda: self.listed(name)['kernels'] > before + 100)

    def test_top_tells_the_share(self):
        client = self.start('large')
        self.assertEqual(self.listed('large')['share'], 20)
        self.end(client)


if __name__ == '__main__':
    nodes.main()
