"""Control groups of version 2 for the daemons of tests."""

import contextlib
import errno
import os
import pathlib
import tempfile

# Starts the program that follows in the control group of the first argument.
IN_GROUP = ('sh', '-c', 'echo $$ >"$0"/cgroup.procs && exec "$@"')


def make_group():
    """Makes a group below that of this process. Returns its folder; None if this process may make none."""
    for line in pathlib.Path('/proc/self/mountinfo').read_text(encoding='utf-8').splitlines():
        fields = line.split()
        if fields[fields.index('-') + 1] == 'cgroup2' and fields[3] == '/':
            own = [group[3:] for group in pathlib.Path('/proc/self/cgroup').read_text(encoding='utf-8').split()
                   if group.startswith('0::/')]
            folder = pathlib.Path(fields[4] + own[0])
            if own and os.access(folder / 'cgroup.procs', os.W_OK):
                with contextlib.suppress(OSError):
                    return pathlib.Path(tempfile.mkdtemp(prefix='clique-test.', dir=folder))
    return None


def is_removed(folder):
    """Removes a group. Returns whether it is gone: killed processes take a moment to leave it."""
    with contextlib.suppress(FileNotFoundError):
        try:
            folder.rmdir()
        except OSError as error:
            if error.errno == errno.EBUSY:
                return False
            raise
    return True


def kill_and_remove(group, eventually):
    """Kills what is in a group and those below it, and removes them. Returns whether they are gone.

    eventually: waits until a condition is true, and returns whether it is
    """
    gone = True
    for folder in (*group.glob('*/'), group):
        with contextlib.suppress(FileNotFoundError):
            (folder / 'cgroup.kill').write_text('1', encoding='utf-8')
        gone = eventually(lambda folder=folder: is_removed(folder)) and gone
    return gone
