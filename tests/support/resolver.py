# SPDX-License-Identifier: MPL-2.0
"""A DNS server whose answers are the test's, and a worker that asks it. Both need root."""

import errno
import socket
import struct
import threading

from support.process import program
from support.runyard import Worker


class Resolver:
    """Answers each query for an IPv4 address with address(name), or with none for None. `at` is its own address on the
    loopback: the machine's resolver may have the usual one."""

    def __init__(self, address):
        self.address = address
        self.at, self.socket = self.bound()
        threading.Thread(target=self._serve, daemon=True).start()

    @classmethod
    def bound(cls):
        """An address of the loopback whose port 53 is free, and a socket at it."""
        return next(filter(None, map(cls._bound, range(53, 100))))

    @staticmethod
    def _bound(number):
        bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            bound.bind((f"127.0.0.{number}", 53))
            return f"127.0.0.{number}", bound
        except OSError as why:
            bound.close()
            if why.errno != errno.EADDRINUSE:
                raise
            return None

    def _serve(self):
        while True:
            try:
                query, whence = self.socket.recvfrom(4096)
            except OSError:
                return
            end = query.index(b"\0", 12) + 5
            address = self.address(self._name(query)) if query[end - 4:end - 2] == b"\0\1" else None
            record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + socket.inet_aton(address) if address else b""
            self.socket.sendto(query[:2] + struct.pack(">HHHHH", 0x8180, 1, int(bool(address)), 0, 0) + query[12:end] + record, whence)

    @staticmethod
    def _name(query):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        return ".".join(labels)

    def release(self):
        self.socket.close()


class WithResolver(Worker):
    """A worker in a mount namespace whose resolv.conf names the resolver, as with systemd-resolved."""

    def __init__(self, name, folder, /, resolver, **options):
        super().__init__(name, folder, **options)
        self.resolver = resolver

    def launch(self):
        conf, script = self.folder / "resolv.conf", self.folder / "runyard-worker"
        conf.write_text(f"nameserver {self.resolver.at}\noptions edns0 trust-ad\nsearch example.com\n")
        mounts = f"mount --bind {conf} /etc/resolv.conf && exec {program('runyard-worker')}"
        script.write_text(f"#!/bin/sh\nexec unshare --mount --propagation private sh -c '{mounts} \"$@\"' sh \"$@\"\n")
        script.chmod(0o755)
        self.binary = script
        super().launch()
        return self
