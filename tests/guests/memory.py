#!/usr/bin/env python3
"""Memory that a virtual machine shares with its host, without the machine: a client on the host uses the file as one in
a guest uses the device. Its user is the node's; it uses the file only because it is told to.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import threading
import unittest

import guests

BUILD = pathlib.Path(os.environ['CLIQUE_BUILD'])
TESTS = BUILD / 'tests/api/api_tests'
# Commands of all kinds, small and large ones.
FILTER = ':'.join(f'{suite}.*' for suite in (
    'clEnqueueReadBuffer', 'clEnqueueWriteBuffer', 'clEnqueueCopyBuffer', 'clEnqueueMapBuffer',
    'clEnqueueNDRangeKernel', 'clEnqueueReadImage', 'clSetEventCallback', 'clSetUserEventStatus', 'Printf'))
OPEN = 'open, through memory of its virtual machine'


class Memory(unittest.TestCase):
    # Room for three sessions, of which two have places for segments.
    MIB = 512

    def setUp(self):
        self.file = self.enterContext(guests.memory_file(self.MIB))
        self.node = self.enterContext(guests.Node(BUILD, '--guest-memory', self.file))

    def run_tests(self, filter_=FILTER, **variables):
        environment = dict(os.environ, OCL_ICD_VENDORS=str(BUILD / 'icd/clique.icd'), CLIQUE_REMEMBER_UNREACHABLE='0',
                           CLIQUE_NODES=f'127.0.0.1:{self.node.port}', CLIQUE_GUEST_MEMORY=self.file)
        environment.update(variables)
        ended = subprocess.run([TESTS, '--gtest_brief=1', f'--gtest_filter={filter_}'], env=environment,
                               stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(ended.returncode, 0, ended.stdout[-3000:] + ended.stderr[-1000:] + self.node.said()[-2000:])

    def mapped(self):
        """Where processes of the node have mapped the file."""
        places = []
        for status in pathlib.Path('/proc').glob('[0-9]*/maps'):
            try:
                command = (status.parent / 'cmdline').read_bytes()
                lines = [line for line in status.read_text(encoding='utf-8').splitlines() if self.file in line]
            except OSError:
                continue
            if lines and b'worker' in command:
                places.append([tuple(line.split()[:3]) for line in lines])
        return places

    def test_commands_of_all_kinds(self):
        self.run_tests()
        self.assertIn(OPEN, self.node.said())

    def test_several_sessions_at_a_time_and_one_after_the_other(self):
        failures = []

        def repeat():
            try:
                for _ in range(3):
                    self.run_tests('clEnqueueReadBuffer.*')
            except AssertionError as failure:
                failures.append(str(failure))
        threads = [threading.Thread(target=repeat) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertIn(OPEN, self.node.said())

    def test_memory_of_no_daemon_is_not_used(self):
        with guests.memory_file(self.MIB) as other:
            # Without memory of its own, the client would share memory in the usual way.
            self.run_tests('clEnqueueReadBuffer.GivenBlockingReadThenDataIsThere', CLIQUE_GUEST_MEMORY=other,
                           CLIQUE_SHARED_MEMORY='0')
        self.assertNotIn(OPEN, self.node.said())

    def test_pinned_memory_lies_in_the_place_for_segments(self):
        self.run_tests('clEnqueueMapBuffer.*')
        with open(self.file, 'rb') as file:
            file.seek(self.MIB // 2 << 20)
            self.assertFalse(any(file.read(64 << 10)), 'small buffers are no segments')
        self.run_tests('LargeTransfers.*llocated*')
        self.assertIn(OPEN, self.node.said())
        with open(self.file, 'rb') as file:
            file.seek(self.MIB // 2 << 20)
            self.assertTrue(any(file.read(64 << 10)), 'the second half of the file has not been used')

    def test_sessions_without_a_place_for_segments(self):
        with guests.memory_file(128) as other, \
                guests.Node(BUILD, '--guest-memory', other, '--guest-segments', '0') as self.node:
            self.run_tests('LargeTransfers.*llocated*', CLIQUE_GUEST_MEMORY=other)
            self.assertIn(OPEN, self.node.said())

    def test_a_worker_maps_its_own_region_only_and_keeps_no_descriptor(self):
        seen = []

        def look():
            while not done.is_set():
                seen.extend(self.mapped())
        done = threading.Event()
        thread = threading.Thread(target=look)
        thread.start()
        try:
            self.run_tests('clEnqueueReadBuffer.*')
        finally:
            done.set()
            thread.join()
        def size(place):
            first, last = (int(number, 16) for number in place[0].split('-'))
            return last - first

        self.assertTrue(seen)
        for places in seen:
            # Its region, and its place for segments.
            self.assertLessEqual(len(places), 2)
            self.assertLessEqual(sum(size(place) for place in places), (68 << 20) + (self.MIB // 4 << 20))


if __name__ == '__main__':
    if not shutil.which('setpriv'):
        print('skipped: setpriv cannot be found')
        sys.exit(77)
    unittest.main()
