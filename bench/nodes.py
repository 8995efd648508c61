"""Ports, processors and daemons on this host, shared by the scripts of this folder."""

import contextlib
import socket
import time


def free_ports(count):
    """Free ports of the loopback interface."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for candidate in sockets:
            candidate.bind(('127.0.0.1', 0))
        return [candidate.getsockname()[1] for candidate in sockets]


def wait_for(port, daemon, seconds=20):
    """Returns when the daemon listens on the port."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and daemon.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError(f'cliqued does not listen on port {port} after {seconds} s (exit status {daemon.poll()}); '
                       'run with --verbose to see its log')


def count_of(cores):
    """How many processors the list names, which is as for taskset, such as "0-3,8"."""
    bounds = [part.split('-') for part in cores.split(',')]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in bounds)


def on(cores, command):
    """The command bound to these processors; to all if the list is empty."""
    return ['taskset', '-c', cores, *command] if cores else command
