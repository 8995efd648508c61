"""The interface of a suite."""

import abc
import pathlib
import re


class SuiteError(Exception):
    """The suite cannot run. The message says what is missing and how to get it."""


class Suite(abc.ABC):
    """A third-party suite, divided into cases. Each is executed separately and yields the outcomes of its tests."""

    #: The name on the command line and in the names of files with expected outcomes.
    name = None
    #: Time limit of one case, in seconds.
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
        """Runs one case. Returns the outcomes of its tests, which are named CASE or CASE::SUBTEST."""

    def log(self, case, text):
        """Keeps the output of a case if --logs is given."""
        if self._logs:
            self._logs.mkdir(parents=True, exist_ok=True)
            name = re.sub(r'[^\w.@+-]', '_', case)[:200]
            with open(self._logs / f'{name}.log', 'a', encoding='utf-8') as file:
                file.write(text)
