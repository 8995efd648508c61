"""Files of outcomes, and the comparison of a run with the expected outcomes."""

import dataclasses
import json
import pathlib

from .outcome import Outcome, case_of, test_name


@dataclasses.dataclass
class Results:
    """The outcomes of one suite on one device. Flaky tests are listed without an outcome."""

    suite: str
    device: str
    driver: str
    results: dict
    flaky: set = dataclasses.field(default_factory=set)

    @classmethod
    def load(cls, path):
        data = json.loads(pathlib.Path(path).read_text(encoding='utf-8'))
        results = {}
        for case, outcomes in data['results'].items():
            if isinstance(outcomes, str):
                outcomes = {'': outcomes}
            for subtest, text in outcomes.items():
                results[test_name(case, subtest)] = Outcome.parse(text)
        return cls(data['suite'], data['device'], data['driver'], results, set(data['flaky']))

    def store(self, path):
        """Writes a file with one test per line, sorted, so that a changed outcome is one changed line. Subtests follow
        their case."""
        cases = {}
        for test, outcome in sorted(self.results.items()):
            case, _, subtest = test.partition('::')
            cases.setdefault(case, {})[subtest] = str(outcome)
        for case, outcomes in cases.items():
            if outcomes.keys() == {''}:
                cases[case] = outcomes['']
        data = {'suite': self.suite, 'device': self.device, 'driver': self.driver,
                'flaky': sorted(self.flaky), 'results': cases}
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')

    def summary(self):
        counts = {outcome: 0 for outcome in Outcome}
        for outcome in self.results.values():
            counts[outcome] += 1
        return ', '.join(f'{count} {outcome}' for outcome, count in counts.items() if count) or 'no test ran'


def unstable(runs):
    """The tests whose outcome is not the same in all of `runs`; a test that is missing in a run counts as different."""
    tests = set().union(*runs)
    return {test for test in tests if len({run.get(test) for run in runs}) > 1}


def differences(expected, actual, selected):
    """The difference as a list of lines for people; empty if the run is as expected.

    `selected` says whether a case was selected to run; expected outcomes of other cases are ignored.
    """
    ignored = expected.flaky | actual.flaky
    wanted = {test: outcome for test, outcome in expected.results.items()
              if test not in ignored and selected(case_of(test))}
    found = {test: outcome for test, outcome in actual.results.items() if test not in ignored}

    changed = sorted(test for test in wanted.keys() & found.keys() if wanted[test] != found[test])
    worse = [f'{test}: {wanted[test]} -> {found[test]}' for test in changed if found[test] > wanted[test]]
    better = [f'{test}: {wanted[test]} -> {found[test]}' for test in changed if found[test] < wanted[test]]
    missing = sorted(f'{test}: {wanted[test]} -> did not run' for test in wanted.keys() - found.keys())
    new = sorted(f'{test}: {found[test]}' for test in found.keys() - wanted.keys())

    lines = []
    for title, entries in (('worse than expected', worse), ('expected, but did not run', missing),
                           ('ran, but not in the file of expected outcomes', new),
                           ('better than expected; update the file with --record', better)):
        if entries:
            lines.append(f'{title} ({len(entries)}):')
            lines += [f'  {entry}' for entry in entries]
    return lines
