"""What a suite is to the runner."""

import abc
import pathlib
import re


class SuiteError(Exception):
    """The suite cannot run here; says what is missing and how to get it."""


class Suite(abc.ABC):
    """A third-party suite, cut into cases: each is executed by itself and yields its tests' outcomes."""

    #: The name on the command line and in the files of expected results.
    name = None
    #: Seconds for one case.
    timeout = 120

    def __init__(self, driver, *, timeout=None, source=None, logs=None):
        self.driver = driver
        self.source = pathlib.Path(source) if source else None
        self._logs = pathlib.Path(logs) if logs else None
        if timeout:
            self.timeout = timeout

    @abc.abstractmethod
    def cases(self):
        """The names of all cases, in the suite's order."""

    @abc.abstractmethod
    def execute(self, case):
        """Runs one case; the outcomes of its tests, each named CASE or CASE::SUBTEST."""

    def log(self, case, text):
        """Keeps what a case printed, where the user asked for it."""
        if self._logs:
            self._logs.mkdir(parents=True, exist_ok=True)
            name = re.sub(r'[^\w.@+-]', '_', case)[:200]
            with open(self._logs / f'{name}.log', 'a', encoding='utf-8') as file:
                file.write(text)
