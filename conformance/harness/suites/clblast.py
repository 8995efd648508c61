"""CLBlast's correctness tests: one program per BLAS routine, compared with a CPU BLAS."""

import re
import shutil

from .. import process
from ..outcome import Outcome, merge
from ..suite import Suite

# Each of CLBlast's routines has a test program. These three cover its vector, matrix-vector and matrix-matrix kernels.
# Add others by name.
ROUTINES = ('xaxpy', 'xgemm', 'xgemv')

_COLOUR = re.compile(r'\x1b\[[0-9;]*m')
_ROUTINE = re.compile(r"\* Starting tests for the '(\w+)' routine")
_GROUP = re.compile(r"\* Testing '(.+)' for '(.+)':")
_RATE = re.compile(r'Pass rate .*: (\d+) passed / (\d+) skipped / (\d+) failed')


class CLBlast(Suite):
    name = 'clblast'
    timeout = 3600

    def cases(self):
        return list(ROUTINES)

    def execute(self, case):
        program = shutil.which(f'clblast_test_{case}', path=self.source)
        if not program:
            raise process.Unavailable(f'clblast_test_{case} is not installed (Debian: clblast-tests)')
        results = {}
        for device in range(self.driver.device_count):
            command = [program, '-platform', '0', '-device', str(device)]
            finished = process.run(command, env=self.driver.env, timeout=self.timeout)
            self.log(case, finished.output)
            merge(results, _outcomes(case, finished))
        return results


def _outcomes(case, finished):
    """One test per precision, behaviour and layout; the output has a pass rate for each."""
    results, routine, group = {}, None, None
    for line in _COLOUR.sub('', finished.output).splitlines():
        if match := _ROUTINE.search(line):
            routine = match[1]
        elif 'All tests skipped' in line:
            results[f'{case}::{routine}'] = Outcome.SKIP
        elif match := _GROUP.search(line):
            group = f'{case}::{routine} {match[1]}, {match[2]}'
        elif (match := _RATE.search(line)) and group:
            passed, skipped, failed = map(int, match.groups())
            nothing_ran = skipped and not passed
            results[group] = Outcome.FAIL if failed else Outcome.SKIP if nothing_ran else Outcome.PASS
            group = None
    if finished.fault:
        results[case] = finished.fault
    elif not results or group:
        results[case] = Outcome.FAIL
    return results
