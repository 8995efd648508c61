"""What can become of one test, and how outcomes of the same test on several devices are merged."""

import enum


class Outcome(enum.IntEnum):
    """Ordered from good to bad, so that max() is the worst of several."""

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
    """Adds `more` to `results`; a test that is in both keeps its worse outcome."""
    for test, outcome in more.items():
        results[test] = max(results.get(test, Outcome.PASS), outcome)


def case_of(test):
    """The unit of execution that a test belongs to: tests are named CASE or CASE::SUBTEST."""
    return test.partition('::')[0]


def test_name(case, subtest):
    """The name of a subtest, or of the case itself where `subtest` is empty."""
    return f'{case}::{subtest}' if subtest else case
