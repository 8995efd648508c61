#!/usr/bin/env python3
"""Jobs of a real Slurm cluster that use the devices of their nodes: what programs see, and what is left of killed jobs.

  jobs.py [--killed N] [TEST…]    kills N jobs in turn instead of 7, one in each way
"""

import contextlib
import os
import pathlib
import re
import shutil
import stat
import sys
import tempfile
import unittest

import nodes
import slurm

CLIENT = os.environ['CLIQUE_TEST_CLIENT']
OTHER_USER = 'games'
killed_jobs = 7


class Jobs(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        # /tmp may be hidden from the nodes, and socket names are short.
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='clique-test.', dir='/var/tmp')))
        folder.chmod(0o755)
        cls.cluster = slurm.Cluster(stack, folder, slurm.install(folder))
        cls.job = folder / 'installed/bin/clique-job'

    def tearDown(self):
        self.cluster.run('scancel', '--user', slurm.USER)
        self.cluster.run('scancel', '--user', OTHER_USER, user=OTHER_USER)
        for name, slurmd in self.cluster.slurmds.items():
            if slurmd.poll() is not None:
                self.cluster.start_slurmd(self.cluster.hosts[name])
        self.cluster.wait_until_idle()

    def nothing_left(self):
        left = nodes.eventually(lambda: not self.cluster.left(), pause=0.2)
        self.assertTrue(left, '\n'.join(self.cluster.left()))

    def with_devices(self, *options):
        """The beginning of a command that runs a program in each task, with the job's devices."""
        if slurm.PLUGIN:
            return ['srun', *options, '--clique']
        return ['salloc', '--quiet', *options, self.job, f'--folder={self.cluster.local}', 'srun']

    def held(self, *options, **more):
        """Starts a job whose tasks hold their sessions. Returns it when the first one does, and its number."""
        held = self.cluster.start(*self.with_devices(*options), CLIENT, '--hold', **more)
        self.addCleanup(held.stdout.close)
        self.addCleanup(held.wait)
        self.addCleanup(held.kill)
        slurm.wait_for_line(held, r'n\d')
        return held, self.cluster.numbers_of_jobs()[0]

    def daemons(self):
        """The daemons of jobs, by their hosts' names."""
        return {node.name: [process for process in node.inside() if process.words[0].endswith('/cliqued')
                            and 'worker' not in process.words[1:2]] for node in self.cluster.nodes}

    def test_every_task_sees_the_devices_of_all_nodes(self):
        status, said = self.cluster.run(*self.with_devices('-N4', '--gpus-per-node=1'), CLIENT)
        self.assertEqual((status, said), (0, 'n1 n2 n3 n4\n' * 4))
        self.nothing_left()

    def test_clinfo(self):
        status, said = self.cluster.run(*self.with_devices('-N4'), 'clinfo', '-l')
        self.assertEqual(status, 0, said)
        self.assertEqual(len(re.findall(r'Platform #0: Clique', said)), 4, said)
        self.assertEqual(len(re.findall(r'Device #\d', said)), 16, said)

    def test_one_program_on_all_nodes(self):
        # Unless the nodes are named, Slurm takes another one while one of these is still busy with the previous job.
        allocate = ('salloc', '--quiet', '-N3', '--nodelist=n1,n2,n3')
        # In a job of its own …
        status, said = self.cluster.run(*allocate, self.job, f'--folder={self.cluster.local}', CLIENT)
        self.assertEqual((status, said), (0, 'n1 n2 n3\n'))
        # … and as a step with one task.
        if slurm.PLUGIN:
            status, said = self.cluster.run(*allocate, 'srun', '--clique', '-N1', '-n1', CLIENT)
            self.assertEqual((status, said), (0, 'n1 n2 n3\n'))
        self.nothing_left()

    def test_a_batch_script(self):
        out = self.cluster.local / 'out'
        script = f'#!/bin/sh\n{self.job} --folder={self.cluster.local} {CLIENT}\nexit 7\n'
        path = self.cluster.folder / 'script'
        path.write_text(script)
        status, said = self.cluster.run('sbatch', '--wait', '-N2', '--nodelist=n1,n2', f'--output={out}', path)
        self.assertEqual(status, 7, said)
        self.assertEqual((self.cluster.hosts['n1'].local / 'out').read_text(), 'n1 n2\n')
        self.nothing_left()

    def test_without_the_option_nothing_starts(self):
        status, said = self.cluster.run('srun', '-N4', 'sh', '-c', 'echo "${CLIQUE_NODES-none}"')
        self.assertEqual((status, said), (0, 'none\n' * 4))

    def test_the_exit_status_is_that_of_the_program(self):
        status, said = self.cluster.run(*self.with_devices('-N2'), 'sh', '-c', 'exit 3')
        self.assertEqual(status, 3, said)
        self.nothing_left()

    def test_two_jobs_see_only_their_own_devices(self):
        self.held('-N2', '--gpus-per-node=1')
        # On the same nodes, beside the first job.
        status, said = self.cluster.run(*self.with_devices('-N2', '--gpus-per-node=1', '--nodelist=n1,n2'), CLIENT)
        self.assertEqual((status, said), (0, 'n1 n2\n' * 2))
        status, said = self.cluster.run(*self.with_devices('-N2', '--nodelist=n3,n4'), CLIENT)
        self.assertEqual((status, said), (0, 'n3 n4\n' * 2))

    def test_daemons_have_the_gpus_of_their_job(self):
        gpus = []
        for _ in range(slurm.GPUS):
            self.held('-N2', '--gpus-per-node=1')
        for node in ('n1', 'n2'):
            gpus = sorted(daemon.environment['CUDA_VISIBLE_DEVICES'] for daemon in self.daemons()[node])
            self.assertEqual(gpus, [str(number) for number in range(slurm.GPUS)], node)

    def test_other_users_are_refused(self):
        self.held('-N2')
        daemon = self.daemons()['n1'][0]
        task = next(process for process in self.cluster.hosts['n1'].inside() if process.words[0] == CLIENT)
        target = task.environment['CLIQUE_NODES']
        self.assertRegex(target, r'^n1:\d+,n2:\d+$')
        # From a node of the job, and from another one.
        for host in ('n1', 'n3'):
            status, said = self.cluster.run(CLIENT, user=OTHER_USER, host=self.cluster.hosts[host], CLIQUE_NODES=target,
                                            CLIQUE_INSECURE='1', CLIQUE_IDENTITY='')
            self.assertEqual(status, 3, said)
            self.assertIn('is not authorized on node n1', said)
        self.assertNotIn('--insecure', daemon.words)

    def test_keys_are_secret(self):
        self.held('-N2')
        for name in ('n1', 'n2'):
            folder, = (path for path in self.cluster.hosts[name].local.iterdir() if path.name.startswith('clique-job-'))
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
            keys = [folder / 'node.key', folder / 'client.key']
            for key in keys:
                self.assertEqual(stat.S_IMODE(key.stat().st_mode), 0o600)
            secrets = [line for key in keys for line in key.read_text().splitlines() if not line.startswith('-')]
            self.assertEqual(len(secrets), 2)
            # Neither in Slurm's files, nor in an environment or a command line.
            for path in self.cluster.folder.rglob('*'):
                if path.is_file() and path.name not in ('node.key', 'client.key'):
                    text = path.read_bytes()
                    for secret in secrets:
                        self.assertNotIn(secret.encode(), text, path)
            for process in slurm.processes():
                for secret in secrets:
                    self.assertNotIn(secret, f'{process.line} {process.environment}')

    def test_a_node_without_clique_is_reported(self):
        cliqued = self.cluster.installed / 'bin/cliqued'
        cliqued.rename(cliqued.with_name('hidden'))
        self.addCleanup(lambda: cliqued.with_name('hidden').rename(cliqued))
        status, said = self.cluster.run(*self.with_devices('-N2'), 'echo', 'it runs',
                                        PATH='/usr/sbin:/usr/bin:/sbin:/bin')
        self.assertNotEqual(status, 0)
        self.assertNotIn('it runs', said)
        self.assertRegex(said, 'there is no program cliqued on n[12]')
        self.assertIn('could not be started', said)
        self.nothing_left()

    def test_the_other_nodes_survive_a_daemon(self):
        self.held('-N2', '--nodelist=n1,n2')
        daemon, = self.daemons()['n2']
        daemon.kill()
        self.assertTrue(nodes.eventually(lambda: not any(left.startswith('n2') and 'clique-job-' in left
                                                         for left in self.cluster.left()), pause=0.2))
        self.assertEqual([len(found) for found in self.daemons().values()], [1, 0, 0, 0])

    def test_a_wrong_setting_is_reported(self):
        config = self.cluster.folder / 'job.toml'
        config.write_text('worker-ports = "some"\n')
        status, said = self.cluster.run('salloc', '--quiet', '-N2', self.job, f'--folder={self.cluster.local}',
                                        f'--config={config}', 'echo', 'it runs')
        self.assertEqual(status, 1, said)
        self.assertNotIn('it runs', said)
        self.assertIn('worker-ports', said)
        self.nothing_left()

    def test_outside_of_a_job(self):
        status, said = self.cluster.run(self.job, 'true')
        self.assertEqual(status, 1)
        self.assertIn('there is no Slurm job here', said)
        status, said = self.cluster.run(self.job, '--job=999', 'true')
        self.assertEqual(status, 1)
        self.assertIn('Slurm knows no running job 999', said)

    def test_cleaning_touches_nothing_else(self):
        """Folders of other jobs and users, and what a link in a folder names."""
        host = self.cluster.nodes[0]
        kept = [host.local / name for name in ('clique-job-78-a', 'clique-job-7', 'clique-job-7-other', 'target')]
        gone = host.local / 'clique-job-7-a'
        for path in (*kept, gone):
            path.mkdir()
            os.chown(path, slurm.uid_of(OTHER_USER if path.name.endswith('other') else slurm.USER), -1)
            self.addCleanup(shutil.rmtree, path, True)
        (kept[3] / 'file').touch()
        os.symlink(self.cluster.local / 'target', gone / 'link')
        status, said = self.cluster.run(self.job, f'--folder={self.cluster.local}', '--job=7', '--clean', user=None,
                                        host=host, SLURM_JOB_UID=str(slurm.uid_of(slurm.USER)))
        self.assertEqual((status, said), (0, ''))
        self.assertFalse(gone.exists())
        self.assertTrue((kept[3] / 'file').exists() and all(path.exists() for path in kept))

    # Ways in which a job ends.

    def cancel(self, job):
        self.cluster.run('scancel', job)

    def kill_by_slurm(self, job):
        self.cluster.run('scancel', '--signal=KILL', '--full', job)
        self.cancel(job)

    def kill_processes(self, job, *kinds):
        """Kills processes on the second node and on the login host."""
        for host in (self.cluster.login, self.cluster.nodes[1]):
            for process in host.inside():
                if process.line.startswith(kinds):
                    process.kill()
        self.cancel(job)

    def kill_everything_of_the_step(self, job):
        names = ('slurmctld', 'slurmd', 'slurmstepd', 'slurmscriptd', 'munged', 'srun', 'salloc')
        for process in self.cluster.nodes[1].inside():
            if not process.line.startswith(names):
                process.kill()
        self.cancel(job)

    def kill_sruns(self, job):
        self.kill_processes(job, 'srun', 'bash', 'salloc')

    def kill_slurmstepd(self, job):
        self.kill_processes(job, 'slurmstepd')
        # Without it, this cluster does not find its program again; one that tracks processes by cgroups would.
        self.kill_processes(job, CLIENT)

    def kill_slurmd(self, job):
        """slurmd is killed, and systemd starts it again."""
        slurmd = self.cluster.slurmds['n2']
        slurmd.kill()
        slurmd.wait()
        self.cancel(job)
        self.cluster.start_slurmd(self.cluster.nodes[1])

    def kill_slurmd_and_processes(self, job):
        self.cluster.slurmds['n2'].kill()
        self.cluster.slurmds['n2'].wait()
        self.kill_everything_of_the_step(job)
        self.cluster.start_slurmd(self.cluster.nodes[1])

    def test_nothing_is_left_of_killed_jobs(self):
        ways = (self.cancel, self.kill_everything_of_the_step, self.kill_slurmd, self.kill_by_slurm, self.kill_sruns,
                self.kill_slurmstepd, self.kill_slurmd_and_processes)
        for number in range(killed_jobs):
            way = ways[number % len(ways)]
            with self.subTest(number=number, way=way.__name__):
                held, job = self.held('-N2', '--nodelist=n1,n2')
                self.assertTrue(self.cluster.left())
                way(job)
                self.nothing_left()
                held.wait(30)


if __name__ == '__main__':
    if why := slurm.missing():
        nodes.skip(why)
    if sys.argv[1:2] == ['--killed']:
        killed_jobs = int(sys.argv[2])
        del sys.argv[1:3]
    nodes.main()
