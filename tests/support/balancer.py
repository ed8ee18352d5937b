# SPDX-License-Identifier: MPL-2.0
"""A load balancer in front of schedulers: it forwards each new connection to one that is ready."""

import itertools
import socket
import threading
import urllib.error
import urllib.request

EVERY = 0.1  # seconds between two looks at /readyz


class Balancer:
    """Follows /readyz of its backends, and forwards TCP connections to the ready ones in turn. A connection that is
    open stays at its backend."""

    def __init__(self, *ports):
        self.ready = {port: False for port in ports}
        self.turn = itertools.count()
        self.stopping = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.threads = [threading.Thread(target=self._watch, args=(port,), daemon=True) for port in ports]
        self.threads.append(threading.Thread(target=self._accept, daemon=True))
        for thread in self.threads:
            thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def _watch(self, port):
        while not self.stopping.wait(EVERY):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
                    self.ready[port] = answer.status == 200
            except (urllib.error.URLError, OSError):
                self.ready[port] = False

    def _accept(self):
        while not self.stopping.is_set():
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        ports = [port for port, ready in self.ready.items() if ready]
        try:
            server = socket.create_connection(("127.0.0.1", ports[next(self.turn) % len(ports)]), timeout=2) if ports else None
        except OSError:
            server = None
        if not server:
            client.close()
            return
        server.settimeout(None)
        other = threading.Thread(target=self._copy, args=(server, client), daemon=True)
        other.start()
        self._copy(client, server)
        other.join()
        client.close()
        server.close()

    @staticmethod
    def _copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR if end is source else socket.SHUT_WR)
            except OSError:
                pass

    def release(self):
        self.stopping.set()
        self.listener.close()
