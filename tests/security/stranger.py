#!/usr/bin/env python3
"""Keeps a number of connections to a daemon busy until its standard input ends. Prints "ready" once it has made the
first.

Use: stranger.py WAY ADDRESS CONNECTIONS [KEY CERTIFICATE [HELLO]]
  silent     connects, and says nothing
  half       sends half of the first message of TLS
  handshake  shakes hands with a key, and says nothing more
  hello      says what is in the file HELLO, and keeps the answer
A connection that the daemon closes is made again.
"""

import contextlib
import pathlib
import select
import socket
import ssl
import sys
import time

import tls


def half(address):
    """A connection over which half of a ClientHello has gone."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing).do_handshake()
    hello = outgoing.read()
    connection = plain(address)
    connection.sendall(hello[:len(hello) // 2])
    return connection


def plain(address):
    host, _, port = address.rpartition(':')
    return socket.create_connection((host, int(port)), 5)


def main():
    way, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    context = tls.client_context(*sys.argv[4:6]) if len(sys.argv) > 4 else None
    hello = pathlib.Path(sys.argv[6]).read_bytes() if len(sys.argv) > 6 else b''

    def connection():
        if way == 'silent':
            return plain(address)
        if way == 'half':
            return half(address)
        made = tls.connect(address, context, 5)
        if way == 'hello':
            made.sendall(hello)
        return made

    open_now, ready = [], False
    while True:
        for _ in range(16):
            if len(open_now) >= count:
                break
            with contextlib.suppress(OSError):
                open_now.append(connection())
        if open_now and not ready:
            ready = True
            print('ready', flush=True)
        readable = select.select([sys.stdin, *open_now], [], [], 0.02)[0]
        if sys.stdin in readable:
            return
        for one in readable:
            with contextlib.suppress(OSError):
                if one.recv(1 << 16):
                    continue
            one.close()
            open_now.remove(one)
        time.sleep(0.001)


if __name__ == '__main__':
    main()
