"""clpeak: a test for each of its benchmarks, which must print figures for every device."""

import re

from .. import process
from ..outcome import Outcome
from ..suite import Suite

BENCHMARKS = ('global-bandwidth', 'compute-sp', 'compute-dp', 'compute-integer', 'compute-intfast',
              'transfer-bandwidth', 'kernel-latency')

_FIGURE = re.compile(r'^\s+(?!\s|Compute units)([\w ()-]+?)\s*: ([\d.]+)(?: us)?$')


class Clpeak(Suite):
    name = 'clpeak'
    timeout = 600

    def cases(self):
        return list(BENCHMARKS)

    def execute(self, case):
        finished = process.run(['clpeak', f'--{case}'], env=self.driver.env, timeout=self.timeout)
        self.log(case, finished.output)
        if finished.fault:
            return {case: finished.fault}
        figures = [match for line in finished.output.splitlines() if (match := _FIGURE.match(line))]
        print(f'  {case}: ' + '; '.join(f'{name} {value}' for name, value in (m.groups() for m in figures)))
        if 'No double precision support' in finished.output and not figures:
            return {case: Outcome.SKIP}
        # If a device rejects a benchmark, clpeak prints a message instead of the figure.
        complete = figures and len(figures) % self.driver.device_count == 0
        good = finished.status == 0 and complete and all(float(match[2]) > 0 for match in figures)
        return {case: Outcome.PASS if good else Outcome.FAIL}
