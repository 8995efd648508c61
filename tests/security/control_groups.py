#!/usr/bin/env python3
"""Control groups of workers: in a group that is delegated to the daemon, each worker has its own, which ends with
it."""

import contextlib
import errno
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import nodes

# Starts the program that follows in the control group of the first argument.
IN_GROUP = ('sh', '-c', 'echo $$ >"$0"/cgroup.procs && exec "$@"')


def mounted_groups():
    """The folder of this process's own group of version 2. Skips the test if there is none to make others in."""
    for line in pathlib.Path('/proc/self/mountinfo').read_text(encoding='utf-8').splitlines():
        fields = line.split()
        if fields[fields.index('-') + 1] == 'cgroup2' and fields[3] == '/':
            own = [group[3:] for group in pathlib.Path('/proc/self/cgroup').read_text(encoding='utf-8').split()
                   if group.startswith('0::/')]
            folder = pathlib.Path(fields[4] + own[0])
            if own and os.access(folder / 'cgroup.procs', os.W_OK):
                return folder
    raise unittest.SkipTest('this process cannot make control groups of version 2')


def removed(folder):
    """Removes a control group. Returns whether it is gone: killed processes take a moment to leave it."""
    with contextlib.suppress(FileNotFoundError):
        try:
            folder.rmdir()
        except OSError as error:
            if error.errno == errno.EBUSY:
                return False
            raise
    return True


class ControlGroups(nodes.TestCase):
    def setUp(self):
        super().setUp()
        try:
            self.group = pathlib.Path(tempfile.mkdtemp(prefix='clique-test.', dir=mounted_groups()))
        except OSError as error:
            raise unittest.SkipTest(f'this process cannot make control groups of version 2: {error}') from error
        self.addCleanup(self.remove_group)

    def remove_group(self):
        for folder in (*self.group.glob('*/'), self.group):
            with contextlib.suppress(FileNotFoundError):
                (folder / 'cgroup.kill').write_text('1')
            self.assertTrue(nodes.eventually(lambda folder=folder: removed(folder), 10))

    def served(self, *options):
        return self.node('--encryption', 'none', *options, prefix=(*IN_GROUP, self.group))

    def groups(self):
        """The groups of workers, with their processes."""
        found = {}
        for folder in self.group.glob('worker-*'):
            try:
                found[folder.name] = (folder / 'cgroup.procs').read_text().split()
            except OSError:
                pass
        return found

    def holding(self, node):
        client = subprocess.Popen([nodes.CLIENT, '--hold'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  preexec_fn=nodes.die_with_parent, env=self.using(node))
        self.addCleanup(client.communicate)
        self.addCleanup(client.kill)
        self.assertEqual(client.stdout.readline(), 'ready\n')
        return client

    def test_each_worker_has_a_group_that_ends_with_it(self):
        node = self.served('--session-memory', '64M')
        self.assertTrue(node.says('each worker gets a control group below'), node.log())
        # A new worker is in the daemon's group until it is moved.
        self.assertTrue(nodes.eventually(
            lambda: (self.group / 'daemon/cgroup.procs').read_text().split() == [str(node.process.pid)], 20))
        client = self.holding(node)
        groups = self.groups()
        of_worker = [name for name, processes in groups.items() if processes]
        # That of the session, and that of the next one.
        self.assertTrue(nodes.eventually(lambda: len([one for one in self.groups().values() if one]) == 2, 20), groups)
        for name in of_worker:
            limits = self.group / name
            if (limits / 'pids.max').exists():
                self.assertEqual((limits / 'pids.max').read_text(), '4096\n')
            if (limits / 'memory.max').exists():
                self.assertEqual(int((limits / 'memory.max').read_text()), 2 * (64 << 20) + (4 << 30))
                self.assertEqual((limits / 'memory.oom.group').read_text(), '1\n')
        before = set(self.groups())
        client.communicate()
        self.assertTrue(nodes.eventually(lambda: len(before - set(self.groups())) == 1, 20), self.groups())
        node.process.send_signal(signal.SIGTERM)
        node.process.wait(20)
        self.assertEqual(self.groups(), {})

    def test_next_daemon_removes_groups_of_a_killed_one(self):
        self.served()
        stray = self.group / 'worker-7'
        stray.mkdir()
        process = subprocess.Popen([*IN_GROUP, stray, 'sleep', '600'])
        self.addCleanup(process.kill)
        self.assertTrue(nodes.eventually(
            lambda: (stray / 'cgroup.procs').read_text().split() == [str(process.pid)], 10))
        self.remove_daemon()
        node = self.served()
        self.assertEqual(process.wait(10), -signal.SIGKILL)
        self.assertTrue(nodes.eventually(lambda: not stray.exists() or not (stray / 'cgroup.procs').read_text(), 10))
        self.assertEqual(self.compute(node), (0, 'right\n'))

    def remove_daemon(self):
        """kill -9 of the daemon, whose workers end by themselves."""
        for pid in (self.group / 'daemon/cgroup.procs').read_text().split():
            os.kill(int(pid), signal.SIGKILL)
        self.assertTrue(nodes.eventually(lambda: not any('worker-7' != name and processes
                                                         for name, processes in self.groups().items()), 20))

    def test_without_a_group_of_its_own(self):
        # The daemon shares this group with another process.
        other = subprocess.Popen([*IN_GROUP, self.group, 'sleep', '600'])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        node = self.served()
        self.assertTrue(node.says('workers get no control groups of their own: the daemon shares the control group'),
                        node.log())
        self.assertEqual(self.compute(node), (0, 'right\n'))
        self.assertEqual(self.groups(), {})


if __name__ == '__main__':
    nodes.main()
