"""clFFT's own test program: transforms of many kinds, compared with FFTW's, and the calls of its API."""

import json
import os
import pathlib
import re
import tempfile

from .. import process
from ..outcome import Outcome, merge
from ..suite import Suite, SuiteError

# Of the program's 17,000 tests, those of the API, and small transforms of all radices. All tests take many hours.
SELECTION = re.compile(r'clfft_UnitTest\.|accuracy_test_mixed_single\.|accuracy_test_pow2_single\._?small_'
                       r'|accuracy_test_pow(2_double|[357]_single)\.small_1D_')

_QUIET = ('--noVersion', '--noInfoCL')


class ClFFT(Suite):
    """`--source` is the build folder of clFFT. Each test runs in a process of its own, because some crash."""

    name = 'clfft'

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        program = self.source and self.source.resolve() / 'staging' / 'Test'
        if not program or not os.access(program, os.X_OK):
            raise SuiteError('give the build folder of clFFT, which must contain staging/Test, with --source; '
                             'conformance/README.md says how to build it')
        self._program = program
        # The program does not find the library itself, and must not use an installed one of another version.
        self._env = self.driver.env | {'LD_LIBRARY_PATH': str(self.source.resolve() / 'library')}

    def cases(self):
        listing = process.run([self._program, *_QUIET, '--gtest_list_tests'], env=self._env, timeout=60).output
        return [test for test in tests_in(listing) if SELECTION.match(test)]

    def execute(self, case):
        results = {}
        for device in range(self.driver.device_count):
            merge(results, {case: self._run(case, device)})
        return results

    def _run(self, case, device):
        with tempfile.TemporaryDirectory(prefix='conformance-') as folder:
            report = pathlib.Path(folder, 'report.json')
            finished = process.run(
                [self._program, *_QUIET, '--platform', '0', '--device', str(device), f'--gtest_filter={case}',
                 f'--gtest_output=json:{report}'], env=self._env, timeout=self.timeout, cwd=folder)
            self.log(case, finished.output)
            return outcome(case, finished, report.read_text('utf-8') if report.exists() else '')


def tests_in(listing):
    """The tests in GoogleTest's list, except disabled ones. The list has the tests of a suite below its name."""
    tests, suite = [], None
    for line in listing.splitlines():
        if match := re.match(r'([\w/]+\.)(\s|$)', line):
            suite = match[1]
        elif (match := re.match(r'  ([\w/]+)', line)) and suite:
            tests.append(suite + match[1])
    return [test for test in tests if 'DISABLED_' not in test]


def outcome(test, finished, report):
    """The outcome of a test, from how its program ended and from GoogleTest's report."""
    if finished.fault:
        return finished.fault
    try:
        ran = {f"{suite['name']}.{entry['name']}": entry
               for suite in json.loads(report)['testsuites'] for entry in suite['testsuite']}[test]
    except (ValueError, KeyError):
        return Outcome.FAIL  # The program ended before the test.
    if finished.status or 'failures' in ran:
        return Outcome.FAIL
    return Outcome.PASS if ran['result'] == 'COMPLETED' else Outcome.SKIP
