"""The file in which a run notes its progress, so that an interrupted run can continue."""

import json
import pathlib
import threading

from .outcome import Outcome
from .suite import SuiteError


class Progress:
    """A file with a line for each completed case, in the order of completion."""

    def __init__(self, path, suite, device):
        self._done = {}
        self._lock = threading.Lock()
        run = {'suite': suite, 'device': device}
        entries, whole = _read(pathlib.Path(path))
        if entries and entries[0] != run:
            raise SuiteError(f'--resume: {path} belongs to another run than one of {suite} on {device}; '
                             'name another file')
        for entry in entries[1:]:
            for case, outcomes in entry.items():
                self._done[case] = {test: Outcome.parse(text) for test, text in outcomes.items()}
        self._file = open(path, 'ab')
        self._file.truncate(whole)
        if not entries:
            self._append(run)

    def execute(self, suite, case):
        """The outcomes of a case. Runs it unless the file has them."""
        if case not in self._done:
            outcomes = suite.execute(case)
            with self._lock:
                self._done[case] = outcomes
                self._append({case: {test: str(outcome) for test, outcome in outcomes.items()}})
        return self._done[case]

    def close(self):
        self._file.close()

    def _append(self, entry):
        self._file.write(json.dumps(entry).encode() + b'\n')
        self._file.flush()


def _read(path):
    """The entries, and their size in bytes. An incomplete last line, of an interrupted run, does not count."""
    entries, whole = [], 0
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else []:
        if not line.endswith(b'\n'):
            break
        entries.append(json.loads(line))
        whole += len(line)
    return entries, whole
