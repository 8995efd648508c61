#!/usr/bin/env python3
"""clique trace, over the two nodes of CLIQUE_NODES."""

import collections
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import nodes
import perfetto

PROGRAM = os.environ['CLIQUE_TEST_TO_AND_FRO']
MIB = 1 << 20


def run_apart(*command, **environment):
    """Runs a command. Returns its exit status, its standard output and its standard error."""
    ended = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=100, check=False, env=dict(os.environ, **environment))
    return ended.returncode, ended.stdout, ended.stderr


class TestCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='clique-test.')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / 'some.pftrace'

    def traced(self, *arguments, options=(), program=PROGRAM, status=0):
        """Traces the program. Returns what it printed, and the trace."""
        found, printed, said = run_apart(nodes.CLIQUE, 'trace', '-o', self.file, *options, '--', program, *arguments)
        self.assertEqual(found, status, printed + said)
        return printed, said, perfetto.read(self.file)


class Contents(unittest.TestCase):
    """One run of the program, and its trace."""

    ROUNDS = 3
    SIZE = 4

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='clique-test.')
        cls.addClassCleanup(folder.cleanup)
        cls.file = pathlib.Path(folder.name) / 'some.pftrace'
        cls.program = [PROGRAM, '--rounds', cls.ROUNDS, '--mib', cls.SIZE]
        cls.status, cls.printed, _ = run_apart(nodes.CLIQUE, 'trace', '-o', cls.file, '--', *cls.program)
        cls.trace = perfetto.read(cls.file)

    def migrations(self):
        return [each for each in self.trace.of('migration') if each.facts['object'] == self.buffer()]

    def buffer(self):
        """The id of the program's only buffer."""
        created, = self.trace.of('api', 'clCreateBuffer')
        return created.facts['object']

    def test_program_notices_nothing(self):
        status, printed, _ = run_apart(*self.program)
        self.assertEqual(status, 0, printed)
        self.assertEqual((self.status, self.printed), (status, printed))

    def test_all_slices_end(self):
        self.assertEqual(self.trace.open, 0)

    def test_calls_are_on_the_track_of_their_thread(self):
        self.assertEqual(len(self.trace.of('api', 'clEnqueueNDRangeKernel')), 2 * self.ROUNDS + 1)
        self.assertEqual(len(self.trace.of('api', 'clFinish')), 2 * self.ROUNDS)
        for name in ('clGetDeviceIDs', 'clCreateContext', 'clGetCommandQueueInfo', 'clReleaseKernel'):
            self.assertGreater(len(self.trace.of('api', name)), 0, name)
        failed, = self.trace.of('api', 'clGetEventProfilingInfo')
        self.assertEqual(failed.facts['status'], 'CL_PROFILING_INFO_NOT_AVAILABLE')
        track, = {each.track for each in self.trace.of('api')}
        thread = self.trace.tracks[track]
        self.assertIsNotNone(thread.thread)
        process = self.trace.tracks[thread.parent]
        self.assertEqual(process.process, thread.thread)

    def test_kernels_are_on_their_devices_when_they_ran(self):
        calls = self.trace.of('api')
        span = min(call.begin for call in calls), max(call.end for call in calls)
        kernels = self.trace.of('kernel', 'add_one')
        self.assertEqual(len(kernels), 2 * self.ROUNDS)
        devices = [kernel.facts['device'].split(':')[0] for kernel in kernels]
        self.assertEqual(devices, ['node1', 'node2'] * self.ROUNDS)
        for kernel in kernels:
            self.assertGreaterEqual(kernel.end, kernel.begin)
            self.assertGreaterEqual(kernel.begin, span[0])
            self.assertLessEqual(kernel.end, span[1])
            # Its call came before it, and is connected with it.
            call, = (call for call in calls if set(call.flows) & set(kernel.flows))
            self.assertEqual(call.name, 'clEnqueueNDRangeKernel')
            self.assertLessEqual(call.begin, kernel.begin)
            track = self.trace.tracks[kernel.track]
            self.assertRegex(track.name, r'^queue \d+$')
            self.assertEqual(self.trace.tracks[track.parent].name, 'Device ' + kernel.facts['device'])
        # Each uses what the one before has written.
        for earlier, later in zip(kernels, kernels[1:]):
            self.assertLess(earlier.begin, later.begin)

    def test_migrations_have_reasons(self):
        migrations = self.migrations()
        size = self.SIZE * MIB
        self.assertEqual(len(migrations), 2 * self.ROUNDS - 1)
        for i, migration in enumerate(migrations):
            facts = migration.facts
            source, target = ('node1', 'node2') if i % 2 == 0 else ('node2', 'node1')
            self.assertEqual((facts['from'], facts['to'], facts['way']), (source, target, 'peer link'))
            self.assertEqual((facts['begin'], facts['end'], facts['bytes']), (0, size, size))
            self.assertEqual((facts['command'], facts['argument']), ('kernel add_one', 'argument 0 (numbers)'))
            self.assertEqual(facts['call'], 'clEnqueueNDRangeKernel')
            self.assertEqual(facts['reason'],
                             f'bytes 0 to {size} of buffer {self.buffer()} are on {source}; kernel add_one on {target} '
                             'uses it as argument 0 (numbers), enqueued by clEnqueueNDRangeKernel')
            # It lies between the kernel that wrote the content and the one that needs it.
            kernel = self.trace.of('kernel', 'add_one')[i + 1]
            self.assertIn(migration.flows[0], kernel.flows)
            self.assertLessEqual(migration.end, kernel.end)
            self.assertLessEqual(self.trace.of('kernel', 'add_one')[i].begin, migration.begin)

    def test_bytes_add_up(self):
        bytes_of = collections.Counter()
        for each in self.trace.of('transfer'):
            bytes_of[each.facts['from'], each.facts['to']] += each.facts['bytes']
            self.assertEqual(each.facts['way'], 'network stream')
            self.assertGreater(each.end, each.begin)
        size = self.SIZE * MIB
        self.assertEqual(bytes_of, {('host', 'node1'): size, ('node2', 'host'): size})

    def test_waits_say_for_what(self):
        calls = self.trace.of('api')
        waits = self.trace.of('wait')
        for wait in waits:
            within = [call for call in calls if call.begin <= wait.begin and wait.end <= call.end]
            self.assertTrue(within, wait)
            self.assertEqual(wait.depth, 1)
        texts = [wait.name for wait in waits]
        self.assertEqual(sum(text.endswith('on node1 to finish') for text in texts), self.ROUNDS)
        self.assertEqual(sum(text.endswith('on node2 to finish') for text in texts), self.ROUNDS)
        self.assertIn('none on node1', texts)
        self.assertIn('read buffer on node2', texts)

    def test_compilations_are_those_of_the_nodes(self):
        build, = self.trace.of('api', 'clBuildProgram')
        compilations = self.trace.of('compilation')
        self.assertEqual(sorted(each.facts['node'] for each in compilations), ['node1', 'node2'])
        for each in compilations:
            self.assertTrue(build.begin <= each.begin <= each.end <= build.end)
            self.assertEqual(each.flows, build.flows)

    def test_summary_says_where_the_time_went(self):
        status, printed, _ = run_apart(nodes.CLIQUE, 'trace', '--summary', self.file)
        self.assertEqual(status, 0, printed)
        size = self.SIZE
        self.assertRegex(printed, r'(?m)^  node1: .*: busy [\d.]+ (s|ms|us) \(\d+ %\), 5 commands$')
        self.assertRegex(printed, rf'(?m)^    kernel add_one: [\d.]+ (s|ms|us), {self.ROUNDS} times$')
        self.assertRegex(printed, r'(?m)^    clBuildProgram, with waiting: ')
        self.assertRegex(printed, rf'(?m)^  host → node1, network stream: {size}\.0 MiB in .*, once$')
        self.assertRegex(printed, rf'(?m)^  node1 → node2, peer link: {size * self.ROUNDS}\.0 MiB in .*, 3 times$')
        self.assertRegex(printed, r'(?m)^  node2: [\d.]+ (s|ms|us), once$')
        self.assertRegex(printed, rf'(?m)^  \d\. node1 → node2, peer link: {size * self.ROUNDS}\.0 MiB in .*, 3 times$')
        self.assertIn('kernel add_one on node2 uses it as argument 0 (numbers)', printed)

    def test_summary_as_json(self):
        status, printed, said = run_apart(nodes.CLIQUE, 'trace', '--summary', '--json', self.file)
        self.assertEqual(status, 0, said)
        found = json.loads(printed)
        self.assertTrue(found['complete'])
        self.assertLess(0, found['traced'])
        first = next(device for device in found['devices'] if device['name'].startswith('node1: '))
        self.assertEqual(first['commands'], 5)
        self.assertIn(('add_one', self.ROUNDS), [(kernel['name'], kernel['count']) for kernel in first['kernels']])
        self.assertIn('clBuildProgram', [call['name'] for call in found['calls']])
        routes = {transfer['route']: transfer for transfer in found['transfers']}
        self.assertEqual(routes['node1 → node2, peer link']['bytes'], self.SIZE * self.ROUNDS * MIB)
        self.assertTrue(any('kernel add_one on node2' in one['reason'] for one in found['migrations']))
        self.assertEqual(run_apart(nodes.CLIQUE, 'trace', '--json', self.file)[0], 1)


class Failures(nodes.TestCase):
    def test_failure_without_an_event_is_reported_as_without_a_trace(self):
        node = self.node('--session-memory=32M')
        answers = [nodes.run([PROGRAM, '--fill', 6], env=self.using(node, **traced))
                   for traced in ({}, {'CLIQUE_TRACE': str(self.folder / 'some.pftrace')})]
        # CL_MEM_OBJECT_ALLOCATION_FAILURE
        self.assertRegex(answers[0][1], r'finished with -4, then with 0\n$')
        self.assertEqual([answer[1].splitlines()[-1] for answer in answers],
                         [answers[0][1].splitlines()[-1]] * 2)
        self.assertEqual(*[answer[1].count('node alpha: ') > 0 for answer in answers])
        failed = [each for each in perfetto.read(self.folder / 'some.pftrace').of('command', 'fill buffer')
                  if 'status' in each.facts]
        self.assertEqual({each.facts['status'] for each in failed}, {'failed with -4'})


class Threads(TestCase):
    def test_each_thread_has_a_track(self):
        _, _, trace = self.traced('--thread')
        threads = {trace.tracks[each.track].thread for each in trace.of('api')}
        self.assertEqual(len(threads), 2)
        self.assertNotIn(None, threads)


class Files(TestCase):
    def test_trace_of_a_killed_program_can_be_read(self):
        _, _, trace = self.traced('--killed', status=128 + signal.SIGKILL)
        self.assertEqual(len(trace.of('kernel', 'add_one')), 4)

    def test_trace_that_is_cut_off_can_be_read(self):
        self.traced()
        data = self.file.read_bytes()
        for size in (len(data) - 1, len(data) // 2 + 1, len(data) // 2):
            self.file.write_bytes(data[:size])
            status, printed, said = run_apart(nodes.CLIQUE, 'trace', '--summary', self.file)
            self.assertEqual(status, 0, said)
            self.assertIn('Traced: ', printed)
        self.file.write_bytes(data[:-1])
        self.assertIn('ends in the middle', run_apart(nodes.CLIQUE, 'trace', '--summary', self.file)[1])

    def test_processes_share_a_file(self):
        script = f'"{PROGRAM}" --mib 1 & "{PROGRAM}" --mib 1; wait'
        _, _, trace = self.traced('-c', script, program='sh')
        processes = {uuid for uuid, track in trace.tracks.items() if track.process is not None}
        self.assertEqual(len(processes), 2)
        for process in processes:
            kernels = [each for each in trace.of('kernel', 'add_one')
                       if trace.tracks[trace.tracks[trace.tracks[each.track].parent].parent] == trace.tracks[process]]
            self.assertEqual(len(kernels), 4)

    def test_file_is_replaced(self):
        self.traced()
        _, _, trace = self.traced()
        self.assertEqual(len(trace.of('kernel', 'add_one')), 4)

    def test_file_that_cannot_be_written_is_an_error(self):
        file = self.folder / 'missing/some.pftrace'
        status, printed, said = run_apart(nodes.CLIQUE, 'trace', '-o', file, '--', PROGRAM)
        self.assertEqual((status, printed), (1, ''))
        self.assertIn(f'{file} cannot be written: No such file or directory', said)

    def test_program_goes_on_without_a_trace(self):
        status, printed, said = run_apart(PROGRAM, CLIQUE_TRACE=str(self.folder))
        self.assertEqual(status, 0, printed)
        self.assertIn(f'CLIQUE_TRACE: {self.folder} cannot be opened for writing: Is a directory', said)
        status, printed, said = run_apart(PROGRAM, CLIQUE_TRACE='/dev/full')
        self.assertEqual(status, 0, printed)
        self.assertEqual(said.count('the trace cannot be continued: /dev/full: No space left on device'), 1)

    def test_other_files_are_no_traces(self):
        for data in (b'', b'some text\n', os.urandom(1000)):
            self.file.write_bytes(data)
            status, printed, said = run_apart(nodes.CLIQUE, 'trace', '--summary', self.file)
            self.assertEqual((status, printed), (1, ''))
            self.assertIn(str(self.file), said)


class Programs(TestCase):
    def test_exit_status_is_that_of_the_program(self):
        _, said, _ = self.traced('-c', 'exit 7', program='sh', status=7)
        self.assertIn(f'{self.file} is empty: sh has not used', said)

    def test_program_that_does_not_exist_is_an_error(self):
        status, _, said = run_apart(nodes.CLIQUE, 'trace', '-o', self.file, '--', self.folder / 'missing')
        self.assertEqual(status, 1)
        self.assertIn('missing cannot be run: No such file or directory', said)

    def test_summary_follows_the_program(self):
        printed, said, _ = self.traced(options=['--summary'])
        self.assertTrue(printed.endswith('right\n'), printed)
        self.assertIn('Most expensive migrations\n', said)

    def test_signals_end_the_program(self):
        tracing = subprocess.Popen([nodes.CLIQUE, 'trace', '-o', self.file, '--',
                                    'sh', '-c', 'echo begun; exec sleep 50'],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(tracing.stdout.readline(), 'begun\n')
        self.addCleanup(tracing.kill)
        self.addCleanup(tracing.stdout.close)
        tracing.terminate()
        self.assertEqual(tracing.wait(30), 128 + signal.SIGTERM)

    def test_help(self):
        status, printed, _ = run_apart(nodes.CLIQUE, 'trace', '--help')
        self.assertEqual(status, 0)
        self.assertIn('clique trace', printed)
        self.assertIn('--summary', printed)

    def test_incomplete_commands_are_errors(self):
        for wrong, why in ((('--', PROGRAM), 'no file for the trace'),
                           (('--summary', '--', 'a', 'b'), 'takes one file')):
            status, _, said = run_apart(nodes.CLIQUE, 'trace', *wrong)
            self.assertEqual(status, 1)
            self.assertIn(why, said)


class ToAndFro(TestCase):
    TEXT = 'times to and fro between node'

    def test_large_buffer_is_reported_once(self):
        status, printed, said = run_apart(PROGRAM, '--mib', 16, '--rounds', 10)
        self.assertEqual(status, 0, printed)
        self.assertEqual(said.count(self.TEXT), 1, said)
        self.assertRegex(said, r'clique: 16 MiB of buffer \d+ have moved 8 times')
        self.assertRegex(said, r'kernel add_one on node[12] uses it as argument 0 \(numbers\)')
        self.assertIn('clique trace', said)

    def test_few_or_small_migrations_are_not_reported(self):
        for arguments in (('--mib', 16, '--rounds', 4), ('--mib', 15, '--rounds', 10)):
            self.assertNotIn(self.TEXT, run_apart(PROGRAM, *arguments)[2])


if __name__ == '__main__':
    nodes.main()
