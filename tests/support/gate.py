# SPDX-License-Identifier: MPL-2.0
"""A place where the engine stops until the test lets it go on."""

import errno
import os

from support.wait import until


class Gate:
    """A FIFO that no reader gets past. Jobs see it where its folder is bound: worker(sandbox_bind=gate.folder)."""

    def __init__(self, folder, name="gate"):
        self.folder = folder / name
        self.folder.mkdir()
        self.path = self.folder / "closed"
        os.mkfifo(self.path)
        self.writer = None

    @property
    def expression(self):
        """Terraform's: evaluated during the plan, it stops there."""
        return f'file("{self.path}")'

    @property
    def command(self):
        """The shell's: a provisioner stops there."""
        return f"cat {self.path}"

    def _reader(self):
        try:
            return os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as why:
            assert why.errno == errno.ENXIO, why
            return None

    def reached(self):
        """True if somebody stands before it. Whoever comes later waits too."""
        if self.writer is None:
            self.writer = self._reader()
        return self.writer is not None

    def wait(self):
        until(self.reached, "somebody comes to the gate")

    def left(self):
        """Who stood before it is dead; it waits for the next."""
        os.close(self.writer)
        self.writer = None

    def open(self):
        """Whoever stands there reads nothing and goes on; whoever comes later does not stop."""
        empty = self.folder / "open"
        empty.touch()
        empty.rename(self.path)
        if self.writer is not None:
            os.close(self.writer)
            self.writer = None
