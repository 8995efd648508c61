"""A Slurm cluster on this host, for tests and measurements: slurmctld, munged, and a slurmd per node.

Each node, and the host `login` with slurmctld, has namespaces of its own for network, host name and mounts, with a
folder of its own at the same place (`local`). Everything ends with this program, even if it is killed.
"""

import contextlib
import os
import pathlib
import pwd
import re
import select
import shutil
import signal
import stat
import subprocess
import time

import nodes

PROGRAMS = ('munged', 'scontrol', 'slurmctld', 'slurmd', 'srun', 'ip', 'nsenter', 'setpriv', 'unshare')
PLUGIN = os.environ.get('CLIQUE_TEST_SLURM_PLUGIN', '')
GPUS = 2
# What runs besides jobs, by the names of processes.
SERVICES = ('munged', 'slurmctld', 'slurmd', 'slurmscriptd')
# The user of the jobs.
USER = 'nobody'
# Slurm kills what still runs so long after SIGTERM, in seconds.
KILL_WAIT = 3


def missing():
    """Why there can be no cluster here; empty if there can."""
    if os.geteuid() != 0:
        return 'only root can start a Slurm cluster in namespaces'
    absent = [program for program in PROGRAMS
              if not shutil.which(program, path=f'{os.environ["PATH"]}:/usr/sbin:/sbin')]
    if absent:
        return f'{", ".join(absent)} is missing; tools/setup slurm installs Slurm'
    if nodes.run(['unshare', '--net', '--mount', '--uts', 'true'])[0] != 0:
        return 'namespaces are not permitted here'
    return ''


def uid_of(user):
    return pwd.getpwnam(user).pw_uid


class Host:
    """Namespaces with a host's name, and an address in the cluster's network."""

    def __init__(self, cluster, name):
        self.name = name
        self.cluster = cluster
        self.local = cluster.folder / 'hosts' / name
        self.local.mkdir(parents=True)
        self.local.chmod(0o1777)
        script = (f'mount --make-rprivate / && mount --bind {cluster.folder}/hosts.txt /etc/hosts && '
                  f'mount --bind {self.local} {cluster.local} && hostname {name} && ip link set lo up && '
                  'echo ready && exec cat')
        self.holder = subprocess.Popen(['unshare', '--net', '--mount', '--uts', 'sh', '-c', script],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                       preexec_fn=nodes.die_with_parent)
        if self.holder.stdout.readline() != 'ready\n':
            raise AssertionError(f'the namespaces of host {name} could not be made')

    def enter(self, command, user=None):
        pid = str(self.holder.pid)
        as_user = ('setpriv', f'--reuid={user}', f'--regid={pwd.getpwnam(user).pw_gid}',
                   '--clear-groups', '--') if user else ()
        return ['nsenter', '--target', pid, '--net', '--mount', '--uts', '--', *as_user, *map(str, command)]

    def run(self, *command):
        status, said = nodes.run(self.enter(command))
        if status != 0:
            raise AssertionError(f'{command}: {said}')
        return said

    def start(self, *command, log):
        """Starts a daemon that ends with this program."""
        with open(log, 'ab') as stream:
            return subprocess.Popen(self.enter(command), stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
                                    env=self.cluster.environment, preexec_fn=nodes.die_with_parent)

    def inside(self):
        """The processes in the host's namespaces, besides those that make it."""
        return [process for process in processes(self.namespace()) if process.pid != self.holder.pid]

    def namespace(self):
        return os.readlink(f'/proc/{self.holder.pid}/ns/net')


class Process:
    def __init__(self, pid):
        self.pid = pid
        root = pathlib.Path('/proc', str(pid))
        self.name = root.joinpath('comm').read_text().strip()
        self.words = root.joinpath('cmdline').read_bytes().decode(errors='replace').split('\0')
        self.environment = dict(item.split('=', 1) for item in
                                root.joinpath('environ').read_bytes().decode(errors='replace').split('\0')
                                if '=' in item)
        self.line = ' '.join(self.words).strip()

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def processes(namespace=None):
    """All processes, or those in a network namespace."""
    found = []
    for name in os.listdir('/proc'):
        if name.isdigit():
            # It may end meanwhile.
            with contextlib.suppress(OSError):
                if namespace is None or os.readlink(f'/proc/{name}/ns/net') == namespace:
                    found.append(Process(int(name)))
    return found


class Cluster:
    """A cluster with the nodes n1, n2 …, each with GPUS imaginary GPUs. @param installed the prefix of Clique"""

    def __init__(self, stack, folder, installed, count=4):
        self.folder = folder
        self.local = folder / 'local'
        self.local.mkdir()
        self.installed = installed
        self.environment = dict(os.environ, SLURM_CONF=str(folder / 'slurm.conf'),
                                PATH=f'{installed}/bin:{os.environ["PATH"]}:/usr/sbin:/sbin')
        # Jobs set it themselves.
        self.environment.pop('CLIQUE_NODES', None)
        names = ['login', *(f'n{number + 1}' for number in range(count))]
        addresses = {name: f'10.78.0.{number + 1}' for number, name in enumerate(names)}
        (folder / 'hosts.txt').write_text(
            '127.0.0.1 localhost\n' + ''.join(f'{address} {name}\n' for name, address in addresses.items()))
        self.configure(count)
        self.hosts = {}
        self.slurmds = {}
        for name in names:
            self.hosts[name] = Host(self, name)
            stack.callback(self.hosts[name].holder.kill)
        self.login = self.hosts['login']
        self.nodes = [self.hosts[name] for name in names[1:]]
        self.connect(addresses)
        # What a killed test leaves ends with its host's namespaces; everything else ends here.
        stack.callback(self.kill_all)
        self.start_munged()
        self.slurmctld = self.login.start('slurmctld', '-D', log=folder / 'slurmctld.out')
        for node in self.nodes:
            self.start_slurmd(node)
        self.wait_until_idle()

    def configure(self, count):
        folder = self.folder
        for name in ('state', 'spool', 'log'):
            (folder / name).mkdir()
        for number in range(GPUS):
            os.mknod(folder / f'gpu{number}', 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        (folder / 'gres.conf').write_text(f'Name=gpu File={folder}/gpu[0-{GPUS - 1}]\n')
        # Later releases need systemd for cgroups, unless they are told that there are none.
        version = re.search(r'(\d+)\.\d+', nodes.run(['slurmd', '-V'], env=self.environment)[1])
        (folder / 'cgroup.conf').write_text('CgroupPlugin=disabled\n' if version and int(version[1]) >= 24 else '')
        plugin = f'required {self.installed}/lib/clique/{pathlib.Path(PLUGIN).name} --folder={self.local}\n'
        (folder / 'plugstack.conf').write_text(plugin if PLUGIN else '')
        epilog = folder / 'epilog'
        epilog.write_text(f'#!/bin/sh\nexec {self.installed}/bin/clique-job --folder={self.local} --clean\n')
        epilog.chmod(0o755)
        (folder / 'slurm.conf').write_text(f'''
ClusterName=test
SlurmctldHost=login
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait={KILL_WAIT}
SlurmdTimeout=60
PlugStackConfig={folder}/plugstack.conf
{'' if PLUGIN else f'Epilog={epilog}'}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/%n
NodeName=n[1-{count}] CPUs={os.cpu_count()} RealMemory=100 Gres=gpu:{GPUS} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP MaxTime=INFINITE
''')

    def connect(self, addresses):
        """Connects the hosts by a bridge in the login host."""
        self.login.run('ip', 'link', 'add', 'net', 'type', 'bridge')
        for node in self.nodes:
            self.login.run('ip', 'link', 'add', node.name, 'master', 'net', 'type', 'veth', 'peer', 'name', 'net0',
                           'netns', node.holder.pid)
            self.login.run('ip', 'link', 'set', node.name, 'up')
        for host in self.hosts.values():
            device = 'net' if host is self.login else 'net0'
            host.run('ip', 'address', 'add', f'{addresses[host.name]}/24', 'dev', device)
            host.run('ip', 'link', 'set', device, 'up')

    def start_munged(self):
        key = self.folder / 'munge.key'
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        socket = self.folder / 'munge.socket'
        self.login.start('munged', '--foreground', '--force', f'--socket={socket}', f'--key-file={key}',
                         f'--log-file={self.folder}/log/munged', f'--pid-file={self.folder}/munged.pid',
                         f'--seed-file={self.folder}/munged.seed', log=self.folder / 'munged.out')
        if not nodes.eventually(socket.exists, 20):
            raise AssertionError('munged does not start: ' + (self.folder / 'munged.out').read_text())

    def start_slurmd(self, node):
        self.slurmds[node.name] = node.start('slurmd', '-D', '-N', node.name, log=self.folder / f'{node.name}.out')

    def wait_until_idle(self):
        """Waits until all nodes are there and no job is left."""
        states = None

        def idle():
            nonlocal states
            status, states = nodes.run(self.login.enter(['sinfo', '--noheader', '--format=%T %D']),
                                       env=self.environment)
            return status == 0 and states.split() == ['idle', str(len(self.nodes))]

        if not nodes.eventually(idle, 90, pause=0.1):
            raise AssertionError(f'the nodes are not idle: {states}\n{self.logs()}')

    def logs(self):
        texts = []
        for path in sorted([*(self.folder / 'log').iterdir(), *self.folder.glob('*.out')]):
            texts += [f'--- {path.name}', *path.read_text(errors='replace').splitlines()[-8:]]
        return '\n'.join(texts)

    def kill_all(self):
        for host in self.hosts.values():
            for process in host.inside():
                process.kill()

    def command(self, *words, user=USER, host=None):
        return (host or self.login).enter(words, user)

    def run(self, *words, user=USER, host=None, **variables):
        """Runs a command of a user on the login host. Returns its exit status, and its standard output and error."""
        return nodes.run(self.command(*words, user=user, host=host), env=self.of_user(**variables), cwd='/',
                         timeout=300)

    def start(self, *words, user=USER, **variables):
        return subprocess.Popen(self.command(*words, user=user), env=self.of_user(**variables), cwd='/', text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                preexec_fn=nodes.die_with_parent)

    def of_user(self, **variables):
        return {**self.environment, 'HOME': str(self.local), **variables}

    def numbers_of_jobs(self):
        """The running jobs, the latest first."""
        return self.run('squeue', '--noheader', '--states=R', '--format=%A', '--sort=-i')[1].split()

    def left(self):
        """What is left of jobs: processes, and files in the hosts' own folders."""
        found = []
        for host in self.hosts.values():
            found += [f'{host.name}: {process.pid} {process.line}' for process in host.inside()
                      if process.name not in SERVICES]
            found += [f'{host.name}: {path}' for path in host.local.iterdir() if path.name.startswith('clique-job-')]
        return found


def install(folder):
    """Installs the build's programs below a prefix, as links. Returns the prefix."""
    prefix = folder / 'installed'
    for place in ('bin', 'lib/clique'):
        (prefix / place).mkdir(parents=True)
    os.symlink(nodes.CLIQUED, prefix / 'bin/cliqued')
    os.symlink(nodes.CLIQUE, prefix / 'bin/clique')
    shutil.copy(os.environ['CLIQUE_TEST_JOB'], prefix / 'bin/clique-job')
    if PLUGIN:
        shutil.copy(PLUGIN, prefix / 'lib/clique')
    return prefix


def wait_for_line(process, pattern, seconds=90):
    """Waits until a started program has said a line that begins like this."""
    deadline = time.monotonic() + seconds
    text = ''
    while not re.search(f'^{pattern}.*\n', text, re.MULTILINE):
        ready = select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))[0]
        said = os.read(process.stdout.fileno(), 4096).decode(errors='replace') if ready else ''
        if not said:
            raise AssertionError(f'the program has said nothing but {text!r}')
        text += said
