#!/usr/bin/env python3
"""Tests of the runner itself: that it sees every difference, and understands what programs end like."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from harness import process  # noqa: E402
from harness.outcome import Outcome, merge  # noqa: E402
from harness.results import Results, differences, unstable  # noqa: E402
from harness.suites import piglit  # noqa: E402


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


if __name__ == '__main__':
    unittest.main()
