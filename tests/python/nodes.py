"""What tests in Python share: the program clique, nodes, and programs that use the nodes.

CTest sets CLIQUE_PROGRAM (the program clique), CLIQUE_DAEMON (cliqued) and OCL_ICD_VENDORS. With CLIQUE_TEST_PROGRAMS,
a folder, sessions begin with what PoCL has compiled for earlier ones on nodes of tests.
"""

import contextlib
import ctypes
import os
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from programs import Programs

CLIQUE = os.environ['CLIQUE_PROGRAM']
CLIQUED = os.environ['CLIQUE_DAEMON']
CLIENT = os.environ.get('CLIQUE_TEST_CLIENT')
# Who runs the tests, and so their nodes and programs.
USER = pwd.getpwuid(os.geteuid()).pw_name
NOBODY = 65534
# Runs a command as an unprivileged user who owns no files.
AS_NOBODY = ('setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', '--')
SKIPPED = 77
START_SECONDS = 60
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def eventually(condition, seconds=START_SECONDS, pause=0.02):
    """Waits until the condition is true or the time is up. Returns the last value of the condition."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result or time.monotonic() > deadline:
            return result
        time.sleep(pause)


def run(command, **options):
    """Runs a command to its end. Returns its exit status, and its standard output and error."""
    options = {'stdin': subprocess.DEVNULL, 'timeout': 90, **options}
    ended = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           check=False, errors='replace', **options)
    return ended.returncode, ended.stdout


def owners(options):
    """This user and the clients who own the sessions of a node with these options, by the names that it gives them."""
    names = [f'user {USER}']
    for option, file in zip(options, options[1:]):
        if option == '--authorized-clients' and os.path.isfile(file):
            with open(file, encoding='utf-8', errors='replace') as lines:
                names += {line.split()[1] for line in lines if len(line.split()) > 1}
    return names


class Node:
    """A cliqued of the test's own, with the first device of this host, or other ones. Its connections are encrypted
    unless a test says otherwise, and its sessions confined unless CLIQUE_CONFINEMENT does. Sessions of this user and of
    clients that are authorized when the node starts begin with the programs of earlier nodes, unless a test says where
    the node keeps files."""

    def __init__(self, *options, name='alpha', listen='127.0.0.1:0', devices='0', prefix=(), log=None, **environment):
        self.log_file = log
        # At loopback addresses the daemon's default is none.
        encryption = () if '--encryption' in options else ('--encryption', 'all')
        self.programs = None
        if 'CLIQUE_TEST_PROGRAMS' in os.environ and not {'HOME', 'POCL_CACHE_DIR'} & environment.keys():
            self.programs = Programs(os.environ['CLIQUE_TEST_PROGRAMS'], owners(options))
            environment['POCL_CACHE_DIR'] = str(self.programs.folder)
        with open(log, 'ab') as stream:
            self.begin = stream.tell()
            self.process = subprocess.Popen(
                [*map(str, prefix), CLIQUED, '--config', '/dev/null', '--name', name, '--listen', listen,
                 *(['--devices', devices] if devices else []), *encryption, *map(str, options)],
                env=dict(os.environ, **environment), stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
                preexec_fn=die_with_parent)
        listening = re.compile(r'listens on tcp://([^\s"]+)')
        eventually(lambda: listening.search(self.log()) or self.process.poll() is not None)
        found = listening.search(self.log())
        if not found:
            self.stop()
            raise AssertionError('cliqued did not start:\n' + self.log())
        self.address = found[1]
        self.port = int(self.address.rpartition(':')[2])

    def log(self):
        """What this process has logged."""
        with open(self.log_file, 'rb') as stream:
            stream.seek(self.begin)
            return stream.read().decode(errors='replace')

    def says(self, text, count=1):
        """Waits until the log contains the text so many times. Returns whether it does."""
        return eventually(lambda: self.log().count(text) >= count, 20)

    def worker(self):
        """Waits until a session is open. Returns the process id of its worker."""
        opened = re.compile(r'worker\[(\d+)\] info: session of .* open')
        if not eventually(lambda: opened.search(self.log())):
            raise AssertionError('no session was opened:\n' + self.log())
        return int(opened.search(self.log())[1])

    def alive(self):
        return self.process.poll() is None

    def stop(self):
        self.process.kill()
        self.process.wait()
        if self.programs:
            self.programs.close()


class Journalled:
    """A cliqued whose standard error is a journal: what it says there is in a file of entries."""

    def __init__(self, command, log, entries, stream, **environment):
        self.log, self.entries = log, entries
        with open(log, 'ab') as file:
            self.process = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                preexec_fn=die_with_parent,
                env=dict(os.environ, JOURNAL_STREAM=stream, CLIQUE_TEST_JOURNAL=str(entries), **environment))
        said = lambda: re.search(r'listens on tcp://([^\s"]+)', entries.read_text() + log.read_text())
        eventually(lambda: said() or self.process.poll() is not None)
        if not said():
            self.stop()
            raise AssertionError('cliqued did not start:\n' + log.read_text())
        self.address = said()[1]

    def stop(self):
        self.process.kill()
        self.process.wait()


class TestCase(unittest.TestCase):
    """A test with a folder and nodes of its own, which end with it."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='clique-test.')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # An empty home, so that no settings of this user apply.
        self.environment = dict(os.environ, HOME=str(self.folder / 'home'))
        for name in ('XDG_CONFIG_HOME', 'CLIQUE_IDENTITY', 'CLIQUE_KNOWN_NODES', 'CLIQUE_INSECURE',
                     'CLIQUE_ENCRYPTION'):
            self.environment.pop(name, None)

    def clique(self, *arguments, **options):
        """Runs the program clique. Returns its exit status, and its standard output and error."""
        return run([CLIQUE, *arguments], env=self.environment, **options)

    def made_key(self, name):
        """Makes a private key. Returns its file, its public key and its fingerprint."""
        file = self.folder / name
        status, said = self.clique('keygen', '--file', file)
        self.assertEqual(status, 0, said)
        status, said = self.clique('key', '--file', file)
        self.assertEqual(status, 0, said)
        return file, *said.split()

    def node(self, *options, log='cliqued.log', **more):
        node = Node(*options, log=self.folder / log, **more)
        self.addCleanup(node.stop)
        return node

    @contextlib.contextmanager
    def closed_port(self):
        """An address at which connections are refused."""
        with socket.socket() as closed:
            closed.bind(('127.0.0.1', 0))
            yield f'127.0.0.1:{closed.getsockname()[1]}'

    def using(self, *nodes, **environment):
        """The environment of a program that uses the nodes."""
        addresses = [node if isinstance(node, str) else node.address for node in nodes]
        return dict(self.environment, CLIQUE_NODES=','.join(addresses), **environment)

    def clinfo(self, *nodes, prefix=(), **environment):
        """Lists the devices of nodes with clinfo. Returns its standard output and error."""
        return run([*prefix, 'clinfo', '-l'], env=self.using(*nodes, **environment))[1]

    def compute(self, *nodes, prefix=(), arguments=(), **environment):
        """Runs the test client over nodes. Returns its exit status, and its standard output and error."""
        return run([*prefix, CLIENT, *arguments], env=self.using(*nodes, **environment))

    def session(self, *nodes, prefix=(), arguments=('--hold',), **environment):
        """Runs the test client over nodes until it is killed, or its standard input ends. Returns its process."""
        client = subprocess.Popen([*prefix, CLIENT, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent,
                                  env=self.using(*nodes, **environment))
        self.addCleanup(client.communicate)
        self.addCleanup(client.kill)
        self.assertEqual(client.stdout.readline(), 'ready\n')
        return client

    def give_to_nobody(self, *files):
        """Lets the user nobody see this test's folder, and gives it some files there."""
        self.folder.chmod(0o755)
        for file in files:
            os.chown(file, NOBODY, NOBODY)

    def assert_refused(self, said, *parts):
        """Expects that the program reported why it cannot use a node, and found no device."""
        self.assertIn('cannot be reached', said)
        self.assertNotIn('Device #0', said)
        for part in parts:
            self.assertIn(part, said)

    def assert_served(self, said):
        self.assertIn('Device #0', said)
        self.assertNotIn('clique:', said)


@contextlib.contextmanager
def closing(*things):
    """Closes sockets and files at the end."""
    try:
        yield
    finally:
        for thing in things:
            thing.close()


def skip(why):
    print('skipped:', why)
    sys.exit(SKIPPED)


def need_nobody():
    """Skips all tests unless programs can be run as another user."""
    if os.geteuid() != 0:
        skip('only root can run programs as another user')
    if run([*AS_NOBODY, CLIQUED, '--version'])[0] != 0:
        skip('nobody cannot run cliqued, or setpriv is missing')


def main():
    unittest.main(verbosity=2)
