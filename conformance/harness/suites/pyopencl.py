"""PyOpenCL's own tests. Each test function runs in a process of its own."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from .. import process
from ..outcome import Outcome, merge
from ..suite import Suite, SuiteError

FILES = ('test_wrapper.py', 'test_array.py', 'test_algorithm.py', 'test_clmath.py', 'test_clrandom.py',
         'test_enqueue_copy.py')

_PYTEST = ('-m', 'pytest', '-q', '--rootdir=.', '-p', 'no:cacheprovider', '-p', 'no:randomly', '-W', 'ignore')
_DEVICE = re.compile(r"(<context factory for )?<pyopencl\.Device '.*?' on '.*?'>(?(1)>)")
_PLATFORM = re.compile(r"<pyopencl\.Platform '.*?'>")


class PyOpenCL(Suite):
    name = 'pyopencl'
    timeout = 600

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._python, version = _find_python()
        if not self.source or not (self.source / FILES[0]).is_file():
            raise SuiteError(
                "PyOpenCL's tests are only in its source distribution. Unpack that outside the repository\n"
                f'  pip download --no-binary pyopencl --no-deps pyopencl=={version}\n'
                'and give its folder `test` with --source')

    def cases(self):
        finished = process.run([self._python, *_PYTEST, '--collect-only', *FILES], env=self._env(0),
                               timeout=self.timeout, cwd=self.source)
        functions = dict.fromkeys(re.findall(r'^(\w+)\.py::(\w+)', finished.output, re.MULTILINE))
        if finished.status or not functions:
            raise SuiteError(f"pytest cannot collect PyOpenCL's tests:\n{finished.output}")
        return [f'{file}.{function}' for file, function in functions]

    def execute(self, case):
        results = {}
        for device in range(self.driver.device_count):
            merge(results, self._execute_on(device, case))
        return results

    def _execute_on(self, device, case):
        file, _, function = case.partition('.')
        with tempfile.TemporaryDirectory(prefix='conformance-pyopencl-') as folder:
            report = pathlib.Path(folder, 'report.xml')
            finished = process.run(
                [self._python, *_PYTEST, f'--junitxml={report}', f'{file}.py::{function}'],
                env=self._env(device), timeout=self.timeout, cwd=self.source)
            self.log(case, finished.output)
            if finished.fault:
                return {case: finished.fault}
            if not report.exists():
                return {case: Outcome.FAIL}
            return _outcomes(case, report)

    def _env(self, device):
        # The driver's platform is the only one, and therefore the first.
        return self.driver.env | {'PYOPENCL_TEST': f'0:{device}', 'PYOPENCL_CTX': f'0:{device}',
                                  'PYTHONDONTWRITEBYTECODE': '1'}


def _find_python():
    """The interpreter for which PyOpenCL and pytest are installed, and PyOpenCL's version."""
    for python in dict.fromkeys((sys.executable, '/usr/bin/python3')):
        if not os.access(python, os.X_OK):
            continue
        probe = subprocess.run([python, '-c', 'import pytest, mako, pyopencl; print(pyopencl.VERSION_TEXT)'],
                               capture_output=True, text=True, check=False)
        if probe.returncode == 0:
            return python, probe.stdout.strip()
    raise process.Unavailable('PyOpenCL is not installed (Debian: python3-pyopencl python3-pytest python3-mako)')


def _outcomes(case, report):
    """The outcomes in pytest's report. The device's name is left out, because it differs between machines."""
    results = {}
    for test in xml.etree.ElementTree.parse(report).getroot().iter('testcase'):
        parameters = test.get('name').partition('[')[2].removesuffix(']')
        parameters = _PLATFORM.sub('platform', _DEVICE.sub('device', parameters))
        name = case if parameters in ('', 'device') else f'{case}::{parameters}'
        merge(results, {name: _outcome(test)})
    return results or {case: Outcome.FAIL}


def _outcome(test):
    if test.find('failure') is not None or test.find('error') is not None:
        return Outcome.FAIL
    skipped = test.find('skipped')
    if skipped is None:
        return Outcome.PASS
    return Outcome.FAIL if skipped.get('type') == 'pytest.xfail' else Outcome.SKIP
