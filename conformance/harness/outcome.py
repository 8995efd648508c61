"""The outcomes of a test, and how those of the same test on several devices are merged."""

import enum


class Outcome(enum.IntEnum):
    """Ordered from good to bad, so that max() gives the worst of several."""

    PASS = 0
    SKIP = 1
    FAIL = 2
    TIMEOUT = 3
    CRASH = 4

    def __str__(self):
        return self.name.lower()

    @classmethod
    def parse(cls, text):
        return cls[text.upper()]


def merge(results, more):
    """Adds `more` to `results`. A test that is in both keeps the worse outcome."""
    for test, outcome in more.items():
        results[test] = max(results.get(test, Outcome.PASS), outcome)


def case_of(test):
    """The case that a test belongs to. Tests are named CASE or CASE::SUBTEST; cases are what is executed."""
    return test.partition('::')[0]


def test_name(case, subtest):
    """The name of a subtest, or of the case itself if `subtest` is empty."""
    return f'{case}::{subtest}' if subtest else case
