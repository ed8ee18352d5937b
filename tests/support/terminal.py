# SPDX-License-Identifier: MPL-2.0
"""A program on a terminal of its own: its output, and typed input."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading

from support.wait import PATIENCE, TimedOut, until

COLUMNS = 240
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[=>]|\r")
INTERRUPT = b"\x03"


class Terminal:
    def __init__(self, argv, folder, env):
        self.argv = [str(part) for part in argv]
        self.seen = 0
        self.raw = b""
        self.arrived = threading.Lock()
        self.end, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
        # The session makes this its controlling terminal, so that a typed interrupt reaches the program.
        self.popen = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "setsid", "--ctty", *self.argv], cwd=folder, env={**env, "TERM": "xterm"},
                                      stdin=inner, stdout=inner, stderr=inner)
        os.close(inner)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            try:
                some = os.read(self.end, 65536)
            except OSError:  # the other end was closed
                return
            with self.arrived:
                self.raw += some

    @property
    def colored(self):
        with self.arrived:
            return self.raw.decode(errors="replace")

    @property
    def text(self):
        """The whole output, without colours."""
        return CONTROLS.sub("", self.colored)

    def expect(self, what):
        """Waits for this text after the text that was expected before."""

        def shown():
            text = self.text
            at = text.find(what, self.seen)
            if at < 0 and not self.reader.is_alive() and text == self.text:
                raise AssertionError(f"{' '.join(self.argv)} ended without {what!r}:\n{text}")
            return at + len(what) if at >= 0 else None

        try:
            self.seen = until(shown, "shown")
        except TimedOut:
            raise TimedOut(f"{' '.join(self.argv)} does not show {what!r}:\n{self.text}") from None
        return self

    def type(self, text):
        os.write(self.end, text if isinstance(text, bytes) else f"{text}\n".encode())
        return self

    def ended(self, code=0):
        """Waits until it exits. Returns the whole output."""
        try:
            self.popen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.release()
            raise TimedOut(f"{' '.join(self.argv)} did not end:\n{self.text}") from None
        self.reader.join(PATIENCE)
        assert self.popen.returncode == code, f"{' '.join(self.argv)} ended with {self.popen.returncode}, not {code}:\n{self.text}"
        return self.text

    def release(self):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait(PATIENCE)
