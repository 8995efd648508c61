"""Piglit's OpenCL profile. Its programs run directly.

For OpenCL, Piglit's own runner only adds a time limit, and it does not notice tests that are missing.
"""

import ast
import gzip
import json
import pathlib
import xml.etree.ElementTree

from .. import process
from ..outcome import Outcome
from ..suite import Suite

_OUTCOMES = {'pass': Outcome.PASS, 'skip': Outcome.SKIP, 'warn': Outcome.FAIL, 'fail': Outcome.FAIL}


class Piglit(Suite):
    name = 'piglit'

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        if not self.source:
            found = sorted(pathlib.Path('/usr/lib').glob('*/piglit'))
            if not found:
                raise process.Unavailable('piglit is not installed (Debian: piglit); or give its folder with --source')
            self.source = found[0]
        self._commands = self._read_profile()

    def _read_profile(self):
        """The command of every test in the profile."""
        profile = self.source / 'tests' / 'cl.xml.gz'
        with gzip.open(profile) as stream:
            root = xml.etree.ElementTree.parse(stream).getroot()
        commands = {}
        for test in root.iter('Test'):
            options = {option.get('name'): ast.literal_eval(option.get('value'))
                       for option in test.iter('option') if option.get('name') in ('command', 'filename')}
            if test.get('type') == 'cl_prog':
                command = ['cl-program-tester', str(self.source / options['filename'])]
            else:
                command = options['command']
            commands[test.get('name')] = [str(self.source / 'bin' / command[0]), *command[1:]]
        return commands

    def cases(self):
        return sorted(self._commands)

    def execute(self, case):
        finished = process.run(self._commands[case], env=self.driver.env, timeout=self.timeout,
                               cwd=self.source)
        self.log(case, finished.output)
        return outcomes(case, finished)


def outcomes(case, finished):
    """The outcomes that a program reported: those of its subtests or, if it has none, its own.

    The program runs its tests once per device; the worst outcome counts.
    """
    overall, subtests = None, {}
    for line in finished.output.splitlines():
        if not line.startswith('PIGLIT:'):
            continue
        try:
            report = json.loads(line.removeprefix('PIGLIT:'))
        except ValueError:
            overall = Outcome.FAIL  # The line is incomplete, or mixed with another thread's output.
            continue
        if 'result' in report:
            overall = _OUTCOMES[report['result']]
        for name, text in report.get('subtest', {}).items():
            test = f'{case}::{name}'
            subtests[test] = max(subtests.get(test, Outcome.PASS), _OUTCOMES[text])
    if finished.fault:
        return subtests | {case: finished.fault}
    if overall is None:
        return subtests | {case: Outcome.FAIL}
    return subtests or {case: overall}
