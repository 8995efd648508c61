#!/usr/bin/env python3
"""Control groups of workers: in a group that is delegated to the daemon, each worker has its own, which ends with
it."""

import os
import signal
import subprocess

import groups
import nodes


class ControlGroups(nodes.TestCase):
    def setUp(self):
        super().setUp()
        self.group = groups.make_group()
        if not self.group:
            self.skipTest('this process cannot make control groups of version 2')
        self.addCleanup(self.remove_group)

    def remove_group(self):
        self.assertTrue(groups.kill_and_remove(self.group, lambda condition: nodes.eventually(condition, 10)))

    def served(self, *options):
        return self.node('--encryption', 'none', *options, prefix=(*groups.IN_GROUP, self.group))

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
        found = self.groups()
        of_worker = [name for name, processes in found.items() if processes]
        # That of the session, and that of the next one.
        self.assertTrue(nodes.eventually(lambda: len([one for one in self.groups().values() if one]) == 2, 20), found)
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
        process = subprocess.Popen([*groups.IN_GROUP, stray, 'sleep', '600'])
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
        other = subprocess.Popen([*groups.IN_GROUP, self.group, 'sleep', '600'])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        node = self.served()
        self.assertTrue(node.says('workers get no control groups of their own: the daemon shares the control group'),
                        node.log())
        self.assertEqual(self.compute(node), (0, 'right\n'))
        self.assertEqual(self.groups(), {})


if __name__ == '__main__':
    nodes.main()
