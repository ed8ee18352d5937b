# SPDX-License-Identifier: MPL-2.0
"""A proxy as companies have them, between a worker and the servers outside: it makes connections (CONNECT)."""

import base64
import re
import socket
import threading

from support.process import free_port

REQUEST = re.compile(rb"CONNECT ([a-z0-9.-]+|\[[0-9a-f:]+\]):(\d+) HTTP/1\.1")


class ConnectProxy:
    """`names` are the servers that it reaches, {"host:port": port on this machine}, which nothing else can resolve. It
    answers 403 for those in `denied`, 502 for others, and 407 without its user and password. `requests` are the targets
    and statuses of all requests. A request that is not well formed is in `faults`."""

    def __init__(self, user="corp", password="secret-of-the-proxy"):
        self.user, self.password = user, password
        self.names, self.denied = {}, set()
        self.requests, self.faults = [], []
        self.port = free_port()
        self.open()

    def open(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._serve, args=(self.listener,), daemon=True).start()

    def close(self):
        """New connections are refused."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    @property
    def url(self):
        return f"http://{self.user}:{self.password}@127.0.0.1:{self.port}"

    def _serve(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _status(self, target, headers):
        login = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        if headers.get("proxy-authorization") != f"Basic {login}":
            return 407
        return 403 if target in self.denied else 200 if target in self.names else 502

    def _connect(self, client):
        with client, client.makefile("rb") as lines:
            line = lines.readline().rstrip(b"\r\n")
            headers = dict(self._header(header) for header in iter(lines.readline, b"\r\n"))
            request = REQUEST.fullmatch(line)
            target = f"{request[1].decode()}:{request[2].decode()}" if request else ""
            if not request or headers.get("host") != target:
                self.faults.append((line, headers))
                return
            status = self._status(target, headers)
            self.requests.append((target, status))
            client.sendall(f"HTTP/1.1 {status} Answer\r\nVia: 1.1 corp\r\n\r\n".encode())
            if status == 200:
                with socket.create_connection(("127.0.0.1", self.names[target])) as server:
                    back = threading.Thread(target=self._pass, args=(server, client), daemon=True)
                    back.start()
                    self._pass(client, server)
                    back.join()

    @staticmethod
    def _header(line):
        name, value = line.decode().rstrip("\r\n").split(": ", 1)
        return name.lower(), value

    @staticmethod
    def _pass(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def release(self):
        self.close()
        assert not self.faults, self.faults
