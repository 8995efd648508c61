#!/usr/bin/env python3
"""Tests of the runner itself: it notices every difference, and interprets how programs end."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from harness import process, table  # noqa: E402
from harness.outcome import Outcome, merge  # noqa: E402
from harness.progress import Progress  # noqa: E402
from harness.results import Results, differences, unstable  # noqa: E402
from harness.suite import SuiteError  # noqa: E402
from harness.suites import clfft, cts, piglit  # noqa: E402


def results(flaky=(), **outcomes):
    return Results('suite', 'device', 'driver', outcomes, set(flaky))


def everything(_case):
    return True


class Differences(unittest.TestCase):
    def test_same_outcomes_are_as_expected(self):
        self.assertEqual([], differences(results(a=Outcome.PASS), results(a=Outcome.PASS), everything))

    def test_both_directions_and_both_absences_show(self):
        expected = results(a=Outcome.PASS, b=Outcome.FAIL, c=Outcome.PASS)
        lines = differences(expected, results(a=Outcome.CRASH, b=Outcome.PASS, d=Outcome.PASS), everything)
        self.assertIn('  a: pass -> crash', lines)
        self.assertIn('  b: fail -> pass', lines)
        self.assertIn('  c: pass -> did not run', lines)
        self.assertIn('  d: pass', lines)

    def test_flaky_tests_are_not_compared(self):
        self.assertEqual([], differences(results(['a']), results(a=Outcome.FAIL), everything))
        self.assertEqual([], differences(results(a=Outcome.PASS), results(['a']), everything))

    def test_cases_that_were_not_selected_are_not_missed(self):
        expected = results(**{'a::x': Outcome.PASS, 'b::x': Outcome.PASS})
        self.assertEqual([], differences(expected, results(**{'a::x': Outcome.PASS}), 'a'.__eq__))

    def test_a_test_that_is_missing_in_one_of_two_runs_is_unstable(self):
        self.assertEqual({'b'}, unstable([{'a': Outcome.PASS, 'b': Outcome.PASS}, {'a': Outcome.PASS}]))

    def test_the_worst_outcome_of_several_devices_counts(self):
        outcomes = {'a': Outcome.FAIL}
        merge(outcomes, {'a': Outcome.PASS, 'b': Outcome.PASS})
        self.assertEqual({'a': Outcome.FAIL, 'b': Outcome.PASS}, outcomes)

    def test_a_file_holds_what_was_stored(self):
        stored = results(['z'], **{'b': Outcome.TIMEOUT, 'a::x': Outcome.PASS, 'a': Outcome.CRASH})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'new', 'file.json')
            stored.store(path)
            self.assertEqual(stored, Results.load(path))


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.reasons = self.folder / 'reasons'
        self.reasons.write_text(json.dumps({'suite': {'a': 'a good reason'}}))
        (self.folder / 'expected').mkdir()
        self.store('native', ['f'], a=Outcome.PASS, b=Outcome.FAIL, c=Outcome.PASS, d=Outcome.PASS)

    def store(self, driver, flaky=(), **outcomes):
        stored = Results('suite', f'gpu-2-{driver}', driver, outcomes, set(flaky))
        stored.store(self.folder / 'expected' / f'{driver}.json')

    def page(self):
        return table.page(self.folder / 'expected', self.reasons).splitlines()

    def unexplained(self):
        return table.unexplained(self.folder / 'expected', self.reasons)

    def test_both_drivers_stand_in_one_row(self):
        self.store('clique', ['f', 'g'], a=Outcome.FAIL, b=Outcome.PASS, c=Outcome.PASS, e=Outcome.PASS)
        self.assertIn('| suite | gpu-2 | 3 pass, 1 fail | 3 pass, 1 fail | 1 | 1 | 2 |', self.page())
        self.assertEqual('| suite | gpu-2 | a | pass | fail | a good reason |', self.page()[-1])
        self.assertEqual([], self.unexplained())

    def test_what_is_worse_without_a_reason_shows(self):
        self.store('clique', c=Outcome.SKIP)
        self.assertEqual(['suite on gpu-2-clique: c'], self.unexplained())

    def test_a_suite_of_one_driver_is_compared_with_nothing(self):
        self.assertIn('| suite | gpu-2 | 3 pass, 1 fail |  |  |  | 1 |', self.page())

    def test_the_page_in_the_documentation_is_up_to_date(self):
        expected, reasons = FOLDER / 'expected', FOLDER / 'reasons.json'
        self.assertEqual([], table.unexplained(expected, reasons))
        written = (FOLDER.parent / 'docs' / 'conformance.md').read_text(encoding='utf-8')
        self.assertEqual(table.page(expected, reasons), written, 'run conformance/table > docs/conformance.md')


class Processes(unittest.TestCase):
    def run_shell(self, script, timeout=10):
        return process.run(['sh', '-c', script], env=os.environ, timeout=timeout)

    def test_a_signal_is_a_crash(self):
        self.assertEqual(Outcome.CRASH, self.run_shell('kill -SEGV $$').fault)

    def test_a_program_over_its_time_is_a_timeout(self):
        self.assertEqual(Outcome.TIMEOUT, self.run_shell('sleep 60', timeout=0.1).fault)

    def test_a_child_that_outlives_the_program_is_not_waited_for(self):
        finished = self.run_shell('echo started; sleep 60 &')
        self.assertEqual((None, 'started\n'), (finished.fault, finished.output))

    def test_a_program_that_is_not_there_is_not_a_failure(self):
        with self.assertRaises(process.Unavailable):
            process.run(['/nothing/here'], env=os.environ, timeout=10)


class Piglit(unittest.TestCase):
    def outcomes(self, output, status=0):
        return piglit.outcomes('case', process.Finished(status, False, output))

    def test_subtests_stand_for_their_program(self):
        output = 'PIGLIT: {"subtest": {"x" : "pass"}}\nPIGLIT: {"subtest": {"y" : "fail"}}\n' \
                 'PIGLIT: {"result": "fail" }\n'
        self.assertEqual({'case::x': Outcome.PASS, 'case::y': Outcome.FAIL}, self.outcomes(output))

    def test_a_crash_shows_beside_the_subtests_before_it(self):
        self.assertEqual({'case::x': Outcome.PASS, 'case': Outcome.CRASH},
                         self.outcomes('PIGLIT: {"subtest": {"x" : "pass"}}\n', status=-11))

    def test_a_program_that_reports_nothing_fails(self):
        self.assertEqual({'case': Outcome.FAIL}, self.outcomes(''))


class Resuming(unittest.TestCase):
    class Counting:
        """A suite that notes which cases it has run."""

        def __init__(self):
            self.executed = []

        def execute(self, case):
            self.executed.append(case)
            return {f'{case}::x': Outcome.FAIL}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, 'progress')

    def run_cases(self, *cases, device='device'):
        suite = self.Counting()
        progress = Progress(self.path, 'suite', device)
        self.addCleanup(progress.close)
        outcomes = [progress.execute(suite, case) for case in cases]
        return suite.executed, outcomes

    def test_what_has_ended_does_not_run_again_and_keeps_its_outcome(self):
        self.run_cases('a', 'b')
        self.assertEqual((['c'], [{'b::x': Outcome.FAIL}, {'c::x': Outcome.FAIL}]), self.run_cases('b', 'c'))
        self.assertEqual([], self.run_cases('a', 'b', 'c')[0])

    def test_a_case_whose_line_was_cut_off_runs_again(self):
        self.run_cases('a', 'b')
        self.path.write_bytes(self.path.read_bytes()[:-3])
        self.assertEqual(['b'], self.run_cases('a', 'b')[0])
        self.assertEqual([], self.run_cases('a', 'b')[0])

    def test_a_run_on_another_device_is_not_taken_up(self):
        self.run_cases('a')
        with self.assertRaises(SuiteError):
            self.run_cases('a', device='another')


class CTS(unittest.TestCase):
    def outcome(self, report, status=0, timed_out=False):
        return cts.outcome('test', process.Finished(status, timed_out, ''), report)

    def test_the_names_are_the_last_of_the_usage(self):
        self.assertEqual(['one', 'two_3'], cts.tests_in('Usage:\n\t-w  wimpy\n\tword\n\n\tone\n\ttwo_3\n'))
        self.assertEqual([], cts.tests_in('ERROR: clGetPlatformIDs failed!\n'))

    def test_what_takes_pocl_half_an_hour_runs_with_small_vectors_on_cpus(self):
        cpu = {'CL_DEVICE_TYPE': {'type': ['CL_DEVICE_TYPE_CPU', 'CL_DEVICE_TYPE_DEFAULT']}}
        gpu = {'CL_DEVICE_TYPE': {'type': ['CL_DEVICE_TYPE_GPU']}}
        self.assertEqual([['-1'], ['-2'], ['-3'], ['-4']], cts.runs('test_bruteforce', 'fmod', cpu))
        self.assertEqual([[]], cts.runs('test_bruteforce', 'fmod', gpu))
        self.assertEqual([[]], cts.runs('test_bruteforce', 'sin', cpu))
        self.assertEqual([['CL_RGBA', 'CL_FLOAT']], cts.runs('test_image_streams', '2Darray', gpu))
        self.assertEqual([[]], cts.runs('test_image_streams', '1D', cpu))
        self.assertEqual([['CL_RGBA', 'CL_FLOAT']], cts.runs('test_cl_copy_images', '2Dto3D', gpu))
        self.assertEqual([[]], cts.runs('test_cl_copy_images', '2Dto3D', cpu))
        self.assertEqual([[]], cts.runs('test_cl_copy_images', '1D', gpu))

    def test_each_conversion_is_a_test_of_its_own(self):
        names = cts.conversions()
        self.assertEqual(len(names), len(set(names)))
        self.assertIn('ulong_short', names)
        self.assertIn('char_sat_rte_float', names)
        self.assertNotIn('float_sat_char', names)

    def test_the_report_says_what_became_of_the_test(self):
        for text, expected in (('pass', Outcome.PASS), ('skip', Outcome.SKIP), ('fail', Outcome.FAIL)):
            self.assertEqual(expected, self.outcome('{"results": {"test": "%s"}}' % text))

    def test_no_success_without_a_report_and_an_exit_that_says_so(self):
        self.assertEqual(Outcome.FAIL, self.outcome(''))
        self.assertEqual(Outcome.FAIL, self.outcome('{"results": {"another": "pass"}}'))
        self.assertEqual(Outcome.FAIL, self.outcome('{"results": {"test": "pass"}}', status=1))

    def test_how_a_program_is_ended_counts_more_than_its_report(self):
        self.assertEqual(Outcome.CRASH, self.outcome('{"results": {"test": "pass"}}', status=-6))
        self.assertEqual(Outcome.TIMEOUT, self.outcome('', status=-9, timed_out=True))


class ClFFT(unittest.TestCase):
    def outcome(self, entry, status=0, timed_out=False, name='test'):
        suite = {'name': 'suite', 'testsuite': [{'name': name, **entry}]}
        report = json.dumps({'testsuites': [suite]})
        return clfft.outcome('suite.test', process.Finished(status, timed_out, ''), report)

    def test_the_names_are_below_those_of_their_suites(self):
        listing = 'Result comparison tolerance is 0.001\n  no test\none.\n  a\n  DISABLED_b\n' \
                  'two/three.  # TypeParam = int\n  c/0  # GetParam() = 1\n'
        self.assertEqual(['one.a', 'two/three.c/0'], clfft.tests_in(listing))

    def test_the_report_says_what_became_of_the_test(self):
        self.assertEqual(Outcome.PASS, self.outcome({'result': 'COMPLETED'}))
        self.assertEqual(Outcome.SKIP, self.outcome({'result': 'SKIPPED'}))
        self.assertEqual(Outcome.FAIL, self.outcome({'result': 'COMPLETED', 'failures': [{}]}))

    def test_no_success_without_a_report_and_an_exit_that_says_so(self):
        self.assertEqual(Outcome.FAIL, clfft.outcome('suite.test', process.Finished(0, False, ''), ''))
        self.assertEqual(Outcome.FAIL, self.outcome({'result': 'COMPLETED'}, name='another'))
        self.assertEqual(Outcome.FAIL, self.outcome({'result': 'COMPLETED'}, status=1))

    def test_how_the_program_is_ended_counts_more_than_its_report(self):
        self.assertEqual(Outcome.CRASH, self.outcome({'result': 'COMPLETED'}, status=-6))
        self.assertEqual(Outcome.TIMEOUT, self.outcome({'result': 'COMPLETED'}, status=-9, timed_out=True))


if __name__ == '__main__':
    unittest.main()
