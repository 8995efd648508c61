"""Ports and daemons on this host, shared by the scripts of this folder."""

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
