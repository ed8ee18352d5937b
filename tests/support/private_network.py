# SPDX-License-Identifier: MPL-2.0
"""A network that this machine does not reach, but a worker in it does: a network namespace with one link to the machine,
and an address of its own behind which services stand. Needs root."""

import ctypes
import itertools
import os
import socket
import subprocess
import threading

from support.process import program
from support.runyard import Worker
from support.wait import until

NEW_NETWORK = 0x40000000  # CLONE_NEWNET
SERVICES = "10.66.0.1"  # has no route from this machine


def run(*command, check=True):
    return subprocess.run([str(part) for part in command], check=check, capture_output=True, text=True)


class PrivateNetwork:
    """`outside` is the machine's address on the link, at which a scheduler for the network's workers must listen;
    `inside` is the other end of it."""

    def __init__(self):
        # The namespace has no name, which would be a mount of this machine: it lasts as long as a process in it.
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        here = os.readlink("/proc/self/ns/net")
        until(lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != here, "the namespace is there")
        for number in itertools.count(os.getpid() % 200):
            self.link, self.outside, self.inside = f"ry{number}", f"198.18.{number % 250}.1", f"198.18.{number % 250}.2"
            if run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "out", "netns", self.holder.pid, check=False).returncode == 0:
                break
            assert number < 1000, "no link can be made"
        self.enter = ("nsenter", f"--net=/proc/{self.holder.pid}/ns/net")  # before a command
        run("ip", "addr", "add", f"{self.outside}/30", "dev", self.link)
        run("ip", "link", "set", self.link, "up")
        for change in (f"addr add {self.inside}/30 dev out", "link set out up", "link set lo up", f"addr add {SERVICES}/32 dev lo"):
            run(*self.enter, "ip", *change.split())

    def listener(self, address=SERVICES, port=0):
        """A socket that listens in the network. A thread of its own enters it, so that this process stays outside."""
        made = []

        def make():
            libc = ctypes.CDLL(None, use_errno=True)
            with open(f"/proc/{self.holder.pid}/ns/net") as network:
                assert libc.setns(network.fileno(), NEW_NETWORK) == 0, os.strerror(ctypes.get_errno())
            listening = socket.socket()
            listening.bind((address, port))
            listening.listen(256)
            made.append(listening)

        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        return made[0]

    def worker(self, name, folder, /, **options):
        return FarWorker(name, folder, self, address=self.inside, **options)

    def release(self):
        run("ip", "link", "del", self.link)
        self.holder.kill()
        self.holder.wait()


class FarWorker(Worker):
    """A worker in the network."""

    def __init__(self, name, folder, network, /, **options):
        super().__init__(name, folder, **options)
        self.network = network

    def launch(self):
        script = self.folder / f"{self.name}.sh"
        script.write_text(f"#!/bin/sh\nexec {' '.join(self.network.enter)} {program('runyard-worker')} \"$@\"\n")
        script.chmod(0o755)
        self.binary = script
        return super().launch()
