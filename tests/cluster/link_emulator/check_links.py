#!/usr/bin/env python3
"""Checks what the links of `with_nodes --netem` do to packets. Times are only compared with their minimum.

Without an argument, runs every check with links of its own: starts with_nodes with this script and the check's name.
"""

import ctypes
import functools
import hashlib
import os
import pathlib
import random
import socket
import subprocess
import sys
import threading
import time

WITH_NODES = pathlib.Path(__file__).resolve().parents[1] / 'with_nodes'
CLIENT, NODES = '10.77.0.1', ('10.77.0.11', '10.77.0.12')
PORT = 5000
SKIPPED = 77
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2
CHECKS = {}


def over(spec):
    """Declares a check over links with this specification."""
    def add(check):
        CHECKS[check.__name__] = (spec, check)
        return check
    return add


def in_node(index, make):
    """Calls `make` in a node's network namespace and returns its result."""
    setns = ctypes.CDLL(None, use_errno=True).setns
    holder = os.environ['CLIQUE_TEST_NAMESPACES'].split(',')[index]
    with open('/proc/self/ns/net', 'rb') as ours, open(f'/proc/{holder}/ns/net', 'rb') as theirs:
        assert setns(theirs.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
        try:
            return make()
        finally:
            assert setns(ours.fileno(), 0) == 0, os.strerror(ctypes.get_errno())


def datagrams(address):
    """A socket for datagrams that waits at most half a second."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((address, PORT))
    made.settimeout(0.5)
    return made


def hosts():
    """Sockets for datagrams of the client and of both nodes."""
    return [datagrams(CLIENT), *(in_node(i, functools.partial(datagrams, NODES[i])) for i in range(2))]


def connected():
    """Both ends of a connection between the client and the first node."""
    with in_node(0, lambda: socket.create_server((NODES[0], PORT))) as server:
        near = socket.create_connection((NODES[0], PORT))
        return near, server.accept()[0]


def send(source, target, data=b'packet'):
    source.sendto(data, target.getsockname())


def all_received(target):
    """All datagrams until none arrives any more."""
    received = []
    try:
        while True:
            received.append(target.recv(65536))
    except TimeoutError:
        return received


def numbered(count):
    return [number.to_bytes(4, 'big') for number in range(count)]


def introduced():
    """Sockets of the client and of the first node, after these have learnt each other's hardware addresses."""
    client, node, _ = hosts()
    while not all_received(node):
        send(client, node)
    return client, node


def exchange(source, target, count):
    """Sends `count` numbered packets. Returns those that are received."""
    for number in numbered(count):
        send(source, target, number)
    return all_received(target)


def transfer(size):
    """Sends `size` bytes over a connection. Returns the time in seconds."""
    data = random.Random(size).randbytes(size)
    start = time.monotonic()
    near, far = connected()
    with near, far:
        sender = threading.Thread(target=near.sendall, args=(data,))
        sender.start()
        received = hashlib.sha256()
        left = size
        while left:
            part = far.recv(min(left, 1 << 20))
            assert part, 'the connection ended'
            received.update(part)
            left -= len(part)
        sender.join()
    assert received.digest() == hashlib.sha256(data).digest()
    return time.monotonic() - start


@over('delay 30ms')
def every_host_sends_late():
    client, first, second = hosts()
    for source, target in ((client, first), (first, client), (first, second)):
        start = time.monotonic()
        send(source, target)
        assert target.recv(100) == b'packet'
        assert time.monotonic() - start >= 0.03
    start = time.monotonic()
    connected()
    assert time.monotonic() - start >= 0.06


@over('delay 30ms 20ms')
def delays_differ_within_limits():
    client, node = introduced()
    start = time.monotonic()
    send(client, node)
    node.recv(100)
    assert time.monotonic() - start >= 0.01
    received = exchange(client, node, 200)
    assert received != sorted(received)
    assert sorted(received) == numbered(200)


@over('loss 100%')
def nothing_arrives():
    client, first, second = hosts()
    for source, target in ((client, first), (first, client), (first, second)):
        send(source, target)
        assert not all_received(target)


@over('loss 30% seed 7')
def some_packets_are_lost():
    received = exchange(*introduced(), 300)
    assert 0 < len(received) < 300
    assert received == sorted(received)


@over('duplicate 100%')
def packets_come_twice():
    assert sorted(exchange(*introduced(), 3)) == sorted(2 * numbered(3))


@over('delay 30ms reorder 50%')
def some_packets_do_not_wait():
    received = exchange(*introduced(), 200)
    assert received != sorted(received)
    assert sorted(received) == numbered(200)


@over('delay 3ms 1ms loss 1% duplicate 1% reorder 5%')
def connections_survive_all_of_it():
    transfer(8 << 20)


@over('rate 20mbit')
def packets_leave_one_after_the_other():
    assert transfer(1 << 20) >= 8 * (1 << 20) / 20e6


@over('rate 100kbit limit 3')
def a_full_queue_loses_packets():
    client, node = introduced()
    for _ in range(50):
        send(client, node, bytes(1000))
    assert 0 < len(all_received(node)) < 50


@over('mtu 9000')
def packets_may_be_large():
    client, node = introduced()
    client.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    send(client, node, bytes(8900))
    assert node.recv(9000) == bytes(8900)


@over('rate 10gbit delay 1ms')
def large_frames_pass():
    transfer(32 << 20)


def with_nodes(spec, *command):
    return [sys.executable, str(WITH_NODES), '--nodes', '2', '--timeout', '60', '--netem', spec, '--', *command]


def run_all():
    """Runs all checks. Returns the exit status."""
    failed = 0
    for name, (spec, _) in CHECKS.items():
        status = subprocess.run(with_nodes(spec, sys.executable, __file__, name), check=False).returncode
        if status == SKIPPED:
            return SKIPPED
        print(f'{"ok" if status == 0 else "FAILED":6}  {name.replace("_", " ")} ({spec})', flush=True)
        failed += status != 0
    for check in (nonsense_is_refused, nothing_is_left):
        check()
    return 1 if failed else 0


def nonsense_is_refused():
    for spec, culprit in (('lag 3ms', "'lag'"), ('delay 5 ms', "'5'"), ('loss 101%', "'101%'"), ('rate 1gb', "'1gb'"),
                          ('limit 0', "'0'"), ('mtu 90000', "'90000'"), ('delay', "'delay'"),
                          ('reorder 1%', "'reorder'")):
        ended = subprocess.run(with_nodes(spec, 'true'), stderr=subprocess.PIPE, text=True, check=False)
        assert ended.returncode == 2 and culprit in ended.stderr, (spec, ended.returncode, ended.stderr)


def nothing_is_left():
    """If with_nodes is killed, its links end, too."""
    with subprocess.Popen(with_nodes('delay 1ms', 'sh', '-c', 'echo started; exec sleep 60'), stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdout.readline() == 'started\n'
        children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text(encoding='utf-8').split()
        emulator = next(child for child in children
                        if pathlib.Path(f'/proc/{child}/comm').read_text(encoding='utf-8') == 'link_emulator\n')
        process.kill()
    while os.path.exists(f'/proc/{emulator}'):
        time.sleep(0.01)


if __name__ == '__main__':
    if len(sys.argv) > 1:
        CHECKS[sys.argv[1]][1]()
    else:
        sys.exit(run_all())
