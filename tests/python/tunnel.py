"""A way to a node that tests can interrupt."""

import contextlib
import socket
import struct
import threading


class Tunnel:
    """An address that leads to a node's port, and to no other, as with 'ssh -L'. While `silent` is true, nothing gets
    through."""

    def __init__(self, node, host='127.0.0.1'):
        self.port = node.port
        self.silent = False
        self.sockets = []
        self.server = socket.create_server((host, 0))
        self.address = f'{host}:{self.server.getsockname()[1]}'
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.server.accept()[0]
                node = socket.create_connection(('127.0.0.1', self.port))
                self.sockets += client, node
                for source, target in ((client, node), (node, client)):
                    threading.Thread(target=self.forward, args=(source, target), daemon=True).start()

    def forward(self, source, target):
        lossy = False
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                # What TCP would send again is gone here, so nothing that follows may arrive either.
                lossy = lossy or self.silent
                if not lossy:
                    target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Breaks all connections; new ones lead to the node again."""
        sockets, self.sockets = self.sockets, []
        for each in sockets:
            # The other end sees a reset, not the end of the program.
            each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RD)
            each.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        self.cut()
