"""TLS for tests: connections to daemons, and servers that impersonate a node."""

import contextlib
import socket
import ssl
import struct
import subprocess
import threading


def certificate(key, folder):
    """Makes a certificate for a private key, with which Python's ssl can use it. Returns its file."""
    file = folder / (key.name + '.pem')
    subprocess.run(['openssl', 'req', '-x509', '-new', '-key', key, '-subj', '/CN=x', '-days', '1', '-out', file],
                   check=True, capture_output=True)
    return file


def client_context(key, pem):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(pem, key)
    return context


def node_context(key, pem):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(pem, key)
    return context


def connect(address, context, timeout=20):
    """A connection whose handshake is complete on this side."""
    host, _, port = address.rpartition(':')
    return context.wrap_socket(socket.create_connection((host, int(port)), timeout))


def message(connection):
    """The next message, with its length; empty at the end."""
    def exactly(count):
        data = b''
        while len(data) < count:
            part = connection.recv(count - len(data))
            if not part:
                return b''
            data += part
        return data
    length = exactly(4)
    return length and length + exactly(struct.unpack('>I', length)[0])


class FakeNode:
    """A server that impersonates a node, with a key of its own. It records the messages of clients."""

    def __init__(self, key, pem, forward_to=None):
        self.context = node_context(key, pem)
        self.context.verify_mode = ssl.CERT_NONE
        self.forward_to = forward_to
        self.heard = []  # messages of clients
        self.met = 0  # connections of clients
        self.server = socket.create_server(('127.0.0.1', 0))
        self.address = f'127.0.0.1:{self.server.getsockname()[1]}'
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.server.accept()[0]
                self.met += 1
                threading.Thread(target=self.talk, args=(client,), daemon=True).start()

    def talk(self, client):
        with contextlib.suppress(OSError), self.context.wrap_socket(client, server_side=True) as connection:
            connection.settimeout(20)
            while said := message(connection):
                self.heard.append(said)
                if self.forward_to:
                    connection.sendall(self.forward_to(said))
                else:
                    return

    def close(self):
        self.server.close()
