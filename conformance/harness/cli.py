"""The command line of the runner."""

import argparse
import concurrent.futures
import contextlib
import functools
import pathlib
import re
import signal
import sys

from . import driver as drivers
from . import process
from .outcome import Outcome, case_of, merge
from .progress import Progress
from .results import Results, differences, unstable
from .suite import SuiteError
from .suites import SUITES

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPECTED = ROOT / 'conformance' / 'expected'
# The exit status if this machine lacks something that the run needs. CTest treats it as "skipped".
UNAVAILABLE = 77


def _arguments(argv):
    parser = argparse.ArgumentParser(
        prog='conformance/run',
        description='Runs a third-party suite on one driver and compares its outcomes with the expected ones.')
    parser.add_argument('suite', choices=sorted(SUITES), help='the suite to run')
    parser.add_argument('--vendor', metavar='ICD_FILE', default=ROOT / 'build/release/icd/clique.icd',
                        help="ICD file of the driver under test; default: the release build's")
    parser.add_argument('--expected', metavar='FILE',
                        help='outcomes to compare with; default: conformance/expected/SUITE-DEVICE.json')
    parser.add_argument('--record', metavar='FILE',
                        help='write the outcomes to this file; compare only if --expected is given, too')
    parser.add_argument('--repeat', type=int, default=1, metavar='N',
                        help='run N times; tests whose outcomes differ are flaky and not compared')
    parser.add_argument('--filter', type=re.compile, default=re.compile(''), metavar='REGEX',
                        help='run only the cases whose name contains a match')
    parser.add_argument('--driver-version', default='', metavar='BEGIN',
                        help="run only if every device's driver version begins with this; "
                             f'otherwise the exit status is {UNAVAILABLE}')
    parser.add_argument('--jobs', type=int, default=1, metavar='N',
                        help='number of cases to run at the same time; default: 1')
    parser.add_argument('--timeout', type=float, metavar='S',
                        help="time limit of one case, in seconds; default: the suite's")
    parser.add_argument('--source', metavar='DIR', help='folder of the suite; default: where it is installed')
    parser.add_argument('--logs', metavar='DIR', help='keep the output of every case in this folder')
    parser.add_argument('--resume', metavar='FILE',
                        help='note the outcomes of every case in this file, and skip the cases that it contains')
    parser.add_argument('--list', action='store_true', help='print the names of the cases and run nothing')
    options = parser.parse_args(argv)
    if options.resume and options.repeat != 1:
        parser.error('--resume and --repeat exclude each other')
    return options


def _run_cases(execute, cases, jobs):
    """Runs the cases and returns all outcomes. Prints those that are neither passed nor skipped at once."""
    results = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for number, (case, outcomes) in enumerate(zip(cases, pool.map(execute, cases)), 1):
            merge(results, outcomes)
            for test, outcome in sorted(outcomes.items()):
                if outcome not in (Outcome.PASS, Outcome.SKIP):
                    print(f'[{number}/{len(cases)}] {outcome}: {test}', flush=True)
            if sys.stdout.isatty():
                print(f'[{number}/{len(cases)}] {case}'[:100].ljust(100), end='\r', flush=True)
    return results


def _execute(suite, driver, options):
    cases = [case for case in suite.cases() if options.filter.search(case)]
    if not cases:
        raise SuiteError(f'no case of {suite.name} matches {options.filter.pattern!r}')
    if options.list:
        print('\n'.join(cases))
        return 0
    print(f'{suite.name} on {driver.label}: {len(cases)} cases, {driver.device_count} device(s), '
          f'{driver.description}')

    with contextlib.ExitStack() as stack:
        execute = suite.execute
        if options.resume:
            progress = stack.enter_context(contextlib.closing(
                Progress(options.resume, suite.name, driver.label)))
            execute = functools.partial(progress.execute, suite)
        runs = [_run_cases(execute, cases, options.jobs) for _ in range(options.repeat)]
    flaky = unstable(runs)
    actual = Results(suite.name, driver.label, driver.description,
                     {test: outcome for test, outcome in runs[-1].items() if test not in flaky}, flaky)
    print(f'{suite.name} on {driver.label}: {actual.summary()}' + (f', {len(flaky)} flaky' if flaky else ''))

    expected_file = options.expected or EXPECTED / f'{suite.name}-{driver.label}.json'
    recorded = 0
    if options.record:
        recorded = _record(actual, options)
        if not options.expected:
            return recorded
    elif not options.expected and not pathlib.Path(expected_file).exists():
        print(f'{expected_file} does not exist; write it with --record')
        return 1

    lines = differences(Results.load(expected_file), actual, options.filter.search)
    print('\n'.join(lines) if lines else 'all outcomes are as expected')
    return 1 if lines else recorded


def _check_version(driver, wanted):
    others = sorted(version for version in driver.versions if not version.startswith(wanted))
    if others:
        raise process.Unavailable(f'--driver-version asks for version {wanted}; the driver is {", ".join(others)}')


def _record(actual, options):
    """Writes the outcomes. With a filter, the file keeps its outcomes of the other cases."""
    path = pathlib.Path(options.record)
    if path.exists():
        before = Results.load(path)
        # It may take many runs to see that a test is flaky, so one that is listed stays listed.
        actual.flaky |= before.flaky
        for test, outcome in before.results.items():
            if not options.filter.search(case_of(test)):
                actual.results[test] = outcome
        for test in before.flaky:
            actual.results.pop(test, None)
    actual.store(path)
    print(f'recorded in {path}')
    return 0


def main(argv=None):
    options = _arguments(argv)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, process.end_with_children)
    try:
        with drivers.load(options.vendor) as driver:
            _check_version(driver, options.driver_version)
            suite = SUITES[options.suite](driver, timeout=options.timeout, source=options.source,
                                          logs=options.logs)
            return _execute(suite, driver, options)
    except (drivers.DriverError, SuiteError, process.Unavailable, FileNotFoundError) as error:
        print(f'conformance/run: {error}', file=sys.stderr)
        return UNAVAILABLE if isinstance(error, process.Unavailable) else 2
