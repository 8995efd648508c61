"""The page that compares the expected outcomes of Clique with those of the native drivers."""

import json
import re

from .results import Results

_HEAD = """\
# Conformance

Results of third-party suites on a device's own driver (*native*) and on Clique, which runs over that driver or, on
`nvidia-h200`, over CUDA. `conformance/table` generates this page from the files in `conformance/expected`;
[conformance/README.md](../conformance/README.md) explains how these are recorded. If a program reports the subtests of
a case, each subtest counts. A test is *better* or *worse* through Clique if both drivers know it and the outcomes
differ. The last column is the number of tests whose outcome varies from run to run; they are not compared. `cts` is the
version of 2023-05-16; [tables of the newest version](../conformance/README.md#the-cts) are there, too.

| suite | device | native | Clique | better | worse | varying |
|---|---|---|---|---|---|---|
"""

_WORSE = """
## Worse through Clique

| suite | device | tests | native | Clique | why |
|---|---|---|---|---|---|
"""


def page(expected, reasons):
    """The page as Markdown. `expected` is the folder of expected outcomes, `reasons` the file of reasons."""
    pairs = _pairs(expected)
    reasons = json.loads(reasons.read_text(encoding='utf-8'))
    worse = ''.join(_worse_rows(*pair, reasons) for pair in pairs)
    return _HEAD + ''.join(_row(*pair) for pair in pairs) + (_WORSE + worse if worse else '')


def unexplained(expected, reasons):
    """The tests that are worse through Clique and for which no reason is given."""
    reasons = json.loads(reasons.read_text(encoding='utf-8'))
    return [f'{clique.suite} on {clique.device}: {test}'
            for _, native, clique in _pairs(expected) for test in worse_tests(native, clique)
            if not _reason(reasons, clique.suite, test)]


def worse_tests(native, clique):
    """The tests that both drivers know and that have a worse outcome through Clique."""
    return sorted(test for test in _compared(native, clique) if clique.results[test] > native.results[test])


def _pairs(expected):
    """Device, native results and Clique's results for each suite and device. Either results may be None."""
    files = [Results.load(path) for path in sorted(expected.glob('*.json'))]
    pairs = {}
    for results in files:
        kind, _, driver = results.device.rpartition('-')
        pairs.setdefault((results.suite, kind), {})[driver] = results
    return [(kind, found.get('native'), found.get('clique')) for (_, kind), found in sorted(pairs.items())]


def _compared(native, clique):
    if not native or not clique:
        return set()
    return native.results.keys() & clique.results.keys()


def _row(kind, native, clique):
    suite = (native or clique).suite
    better = worse = ''
    if native and clique:
        worse = len(worse_tests(native, clique))
        better = len(worse_tests(clique, native))
    flaky = len((native.flaky if native else set()) | (clique.flaky if clique else set()))
    cells = [suite, kind, native.summary() if native else '', clique.summary() if clique else '', better, worse,
             flaky]
    return f'| {" | ".join(map(str, cells))} |\n'


def _worse_rows(kind, native, clique, reasons):
    """One row for all tests with the same outcomes and the same reason."""
    rows = {}
    for test in worse_tests(native, clique):
        ends = native.results[test], clique.results[test]
        rows.setdefault((*ends, _reason(reasons, clique.suite, test)), []).append(test)
    return ''.join(f'| {clique.suite} | {kind} | {", ".join(tests)} | {before} | {after} | {reason} |\n'
                   for (before, after, reason), tests in rows.items())


def _reason(reasons, suite, test):
    """Why a test is worse: the reason of the suite's first pattern that matches the begin of its name, or nothing."""
    return next((reason for pattern, reason in reasons.get(suite, {}).items() if re.match(pattern, test)), '')
