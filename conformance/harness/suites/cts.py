"""Khronos' OpenCL conformance tests (CTS): one program per area, with a case for each of its tests."""

import itertools
import json
import os
import pathlib
import re
import tempfile

from .. import process
from ..outcome import Outcome, merge
from ..suite import Suite, SuiteError

_OUTCOMES = {'pass': Outcome.PASS, 'skip': Outcome.SKIP, 'fail': Outcome.FAIL}

# Programs that use all devices of the platform themselves.
_ON_ALL_DEVICES = ('test_multiples',)

# Left out, because each takes longer than many others together: they build thousands of kernels, or move all memory of
# the host. The plain asynchronous copies need larger buffers than devices of 2 GiB offer. When allocating one fails,
# they
# do not free the host's memory, until it is exhausted.
_LONG = re.compile(r'test_basic:async_copy_(global_to_local|local_to_global)|test_kernel_image_methods:(2Darray|3D)')

# Takes the conversions to test as options, and reports all of them as one test.
_CONVERSIONS = 'test_conversions'

# Options for programs that would otherwise use all memory or take hours.
_OPTIONS = {'test_allocations': ['single', '5%']}
_SMALL_IMAGES = ('test_cl_copy_images', 'test_cl_fill_images', 'test_cl_get_info', 'test_cl_read_write_images',
                 'test_image_streams', 'test_kernel_image_methods', 'test_samplerless_reads')
_OPTIONS |= {program: ['small_images'] for program in _SMALL_IMAGES}

# With all formats, these take hours. In one dimension they take minutes.
_ONE_FORMAT = re.compile(r'test_image_streams:[23]D\w*')
# With all formats of a GPU, each of these takes minutes.
_ONE_FORMAT_ON_GPUS = re.compile(r'test_(cl_copy_images|cl_fill_images|samplerless_reads):\w*[23]D\w*|'
                                 r'test_cl_fill_images:1Darray|test_image_streams:1D\w*')

# On PoCL, these hardly ever complete with vectors of 8 and 16 elements.
_LONG_VECTORS = re.compile(r'test_bruteforce:(fmod|remainder|remquo)')


class CTS(Suite):
    """`--source` is the folder test_conformance of the CTS's build. Tests run in wimpy mode if they have one."""

    name = 'cts'
    timeout = 600

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        if not self.source or not self.source.is_dir():
            raise SuiteError('give the folder test_conformance of a built CTS with --source; '
                             'conformance/README.md says how to build it')
        self.source = self.source.resolve()
        self._programs = {path.name: path for path in sorted(self.source.rglob('test_*'))
                          if path.is_file() and os.access(path, os.X_OK)}
        if not self._programs:
            raise SuiteError(f'{self.source} contains no program test_*; build the CTS there')

    def cases(self):
        cases = [f'{program}:{test}' for program, path in sorted(self._programs.items())
                 for test in _tests_of(path)]
        return [case for case in cases if not _LONG.fullmatch(case)]

    def execute(self, case):
        program, _, test = case.partition(':')
        if program in _ON_ALL_DEVICES:
            return {case: self._run(program, test, self.driver.devices[0], 0)}
        results, seen = {}, {}
        for device in self.driver.devices:
            # The programs number the devices of each type separately.
            kind = _kind(device)
            index = seen[kind] = seen.get(kind, -1) + 1
            merge(results, {case: self._run(program, test, device, index)})
        return results

    def _run(self, program, test, device, index):
        with tempfile.TemporaryDirectory(prefix='conformance-') as folder:
            report = pathlib.Path(folder, 'results.json')
            env = self.driver.env | {'CL_DEVICE_TYPE': _kind(device), 'CL_DEVICE_INDEX': str(index),
                                     'CL_WIMPY_MODE': '1', 'CL_CONFORMANCE_RESULTS_FILENAME': str(report)}
            path = self._programs[program]
            reported = 'conversions' if program == _CONVERSIONS else test
            outcomes, output = [], ''
            for options in runs(program, test, device):
                report.unlink(missing_ok=True)
                finished = process.run([str(path), *_OPTIONS.get(program, []), *options, test], env=env,
                                       cwd=path.parent, timeout=self.timeout)
                output += finished.output
                outcomes.append(outcome(reported, finished, report.read_text('utf-8') if report.exists() else ''))
            self.log(f'{program}:{test}', output)
            return max(outcomes)


def runs(program, test, device):
    """The options of each run that a test consists of."""
    name = f'{program}:{test}'
    if _ONE_FORMAT.fullmatch(name) or (_ONE_FORMAT_ON_GPUS.fullmatch(name) and
                                       _kind(device) == 'CL_DEVICE_TYPE_GPU'):
        return [['CL_RGBA', 'CL_FLOAT']]
    if _LONG_VECTORS.fullmatch(name) and _kind(device) == 'CL_DEVICE_TYPE_CPU':
        return [[f'-{size}'] for size in (1, 2, 3, 4)]
    return [[]]


def _kind(device):
    return next(kind for kind in device['CL_DEVICE_TYPE']['type'] if kind != 'CL_DEVICE_TYPE_DEFAULT')


def _tests_of(path):
    """The tests that a program lists. Listing needs no driver; without one, the program cannot run tests by mistake."""
    if path.name == _CONVERSIONS:
        return conversions()
    env = dict(os.environ, OCL_ICD_VENDORS=os.devnull)
    # Not all programs have the same option for listing.
    for option in ('-list', '-h', '-p'):
        if tests := tests_in(process.run([str(path), option], env=env, timeout=60, cwd=path.parent).output):
            return tests
    raise SuiteError(f'{path} does not list its tests with any of -list, -h and -p')


def conversions():
    """The conversions that test_conversions accepts, with the names that its usage text describes."""
    integers = ('uchar', 'char', 'ushort', 'short', 'uint', 'int', 'ulong', 'long')
    formats = integers + ('float', 'double')
    names = itertools.product(formats, ('', '_sat'), ('', '_rte', '_rtp', '_rtn', '_rtz'), formats)
    return [f'{to}{saturation}{rounding}_{source}' for to, saturation, rounding, source in names
            if to in integers or not saturation]


def tests_in(usage):
    """The names of tests at the end of a program's usage text."""
    tests = []
    for line in reversed(usage.rstrip().splitlines()):
        if not (match := re.fullmatch(r'\t+(\w+)', line)):
            break
        tests.append(match[1])
    return tests[::-1]


def outcome(test, finished, report):
    """The outcome of a test, from how its program ended and from its report."""
    if finished.fault:
        return finished.fault
    try:
        found = _OUTCOMES[json.loads(report)['results'][test]]
    except (ValueError, KeyError):
        return Outcome.FAIL  # The program ended before the test.
    return max(found, Outcome.FAIL) if finished.status else found
