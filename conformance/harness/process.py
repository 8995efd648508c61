"""Runs one program of a suite in isolation: in a process group of its own, with a time limit, its output in a file."""

import dataclasses
import os
import signal
import subprocess
import tempfile

from .outcome import Outcome


# Leaders of the running process groups.
_running = set()


class Unavailable(Exception):
    """This machine lacks something that the run needs."""


def end_with_children(number, _frame):
    """Signal handler that ends this program and everything that it has started."""
    for leader in list(_running):
        _kill_group(leader)
    os._exit(128 + number)


@dataclasses.dataclass(frozen=True)
class Finished:
    """How a program ended, and its output on both streams."""

    status: int
    timed_out: bool
    output: str

    @property
    def fault(self):
        """TIMEOUT or CRASH; None if the program ended by itself."""
        if self.timed_out:
            return Outcome.TIMEOUT
        return Outcome.CRASH if self.status < 0 else None


def run(command, *, env, timeout, cwd=None):
    """Runs `command` for at most `timeout` seconds, then kills what is left of its process group."""
    # The output goes to a file, because a driver's helper process may inherit the stream and outlive the program.
    # Reading a pipe to its end would wait for that process.
    with tempfile.TemporaryFile() as stream:
        try:
            child = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=stream,
                                     stderr=subprocess.STDOUT, start_new_session=True)
        except FileNotFoundError as error:
            raise Unavailable(f'{error.filename} is not installed') from None
        _running.add(child.pid)
        try:
            child.wait(timeout)
            timed_out = False
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            _kill_group(child.pid)
            child.wait()
            _running.discard(child.pid)
        stream.seek(0)
        output = stream.read().decode('utf-8', 'replace')
    return Finished(child.returncode, timed_out, output)


def _kill_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass
