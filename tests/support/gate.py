# SPDX-License-Identifier: MPL-2.0
"""A gate at which the engine waits until the test opens it."""

import errno
import os

from support.wait import until


class Gate:
    """A FIFO on which readers block. Jobs see it if its folder is bound: worker(sandbox_bind=gate.folder)."""

    def __init__(self, folder, name="gate"):
        self.folder = folder / name
        self.folder.mkdir()
        self.path = self.folder / "closed"
        os.mkfifo(self.path)
        self.writer = None

    @property
    def expression(self):
        """terraform's expression: evaluated during the plan, which blocks there."""
        return f'file("{self.path}")'

    @property
    def command(self):
        """The shell's command: a provisioner blocks there."""
        return f"cat {self.path}"

    def _reader(self):
        try:
            return os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as why:
            assert why.errno == errno.ENXIO, why
            return None

    def reached(self):
        """True if a process waits at it. Later processes will wait too."""
        if self.writer is None:
            self.writer = self._reader()
        return self.writer is not None

    def wait(self):
        until(self.reached, "a process waits at the gate")

    def left(self):
        """The process that waited is dead; resets the gate for the next one."""
        os.close(self.writer)
        self.writer = None

    def open(self):
        """The waiting process reads nothing and continues; later processes do not wait."""
        empty = self.folder / "open"
        empty.touch()
        empty.rename(self.path)
        if self.writer is not None:
            os.close(self.writer)
            self.writer = None
