"""clinfo: a test for every property that it queries, and for every extension."""

import re

from .. import process
from ..outcome import Outcome, merge
from ..suite import Suite

_PROPERTY = re.compile(r'^\s*(?:\[[^]]*\])?\s*(CL_\w+)\s+(.*)$')
_ERROR = re.compile(r'<\w+:\d+:.*error -?\d+>|error -\d+')
_LISTS = ('CL_PLATFORM_EXTENSIONS', 'CL_DEVICE_EXTENSIONS')


class Clinfo(Suite):
    """`properties` are queries that must succeed. `null platform` are calls with a null platform."""

    name = 'clinfo'

    def cases(self):
        return ['properties', 'null platform']

    def execute(self, case):
        command = ['clinfo', '--raw'] if case == 'properties' else ['clinfo']
        finished = process.run(command, env=self.driver.env, timeout=self.timeout)
        self.log(case, finished.output)
        if finished.fault or finished.status:
            return {case: finished.fault or Outcome.FAIL}
        return _properties(finished.output) if case == 'properties' else _null_platform(finished.output)


def _properties(output):
    results = {}
    for line in output.splitlines():
        if match := _PROPERTY.match(line):
            name, value = match.groups()
            merge(results, {f'properties::{name}': Outcome.FAIL if _ERROR.search(value) else Outcome.PASS})
            if name in _LISTS:
                merge(results, {f'properties::{name} {item}': Outcome.PASS for item in value.split()})
    return results or {'properties': Outcome.FAIL}


def _null_platform(output):
    section = output.partition('NULL platform behavior')[2].partition('ICD loader properties')[0]
    results = {}
    for line in section.splitlines():
        if match := re.match(r'  (cl\w+\(.*?\))(?: \[\w+\])?  ?\s*(.*)$', line):
            call, answer = match.groups()
            good = re.match(r'Success|No devices found|No platform', answer) or not _ERROR.search(answer)
            results[f'null platform::{call}'] = Outcome.PASS if good else Outcome.FAIL
    return results or {'null platform': Outcome.FAIL}
