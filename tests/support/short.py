# SPDX-License-Identifier: MPL-2.0
"""A process whose libraries have no memory at times (short_of_memory.c), and who starts it again when that ended it."""

import mmap
import signal
import struct
import subprocess
from pathlib import Path

from support.wait import until

SOURCE = Path(__file__).with_name("short_of_memory.c")
# Two end the process themselves: librdkafka asserts its memory (rd_malloc), libarchive calls exit (__archive_errx) beside other threads.
LIBRARIES = "libcurl libpq libmicrohttpd libhiredis libcrypto libssl libgnutls libnghttp2"
LAST_WORDS = "out of memory"


def compiled(folder):
    path = Path(folder) / "short_of_memory.so"
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-fno-builtin", "-fno-optimize-sibling-calls", "-shared", "-fPIC", "-o", path, SOURCE], check=True)
    return path


class Shortage:
    """The switch: one in N, or with a negative number that call alone; 0 is off."""

    def __init__(self, folder, seed=1, libraries=LIBRARIES):
        path = Path(folder) / "short"
        path.write_bytes(bytes(16))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 16)
        # What a library loses where it had no memory is its own: leaks are looked for elsewhere.
        self.environment = {
            "LD_PRELOAD": compiled(folder), "SHORT_SWITCH": path, "SHORT_LIBRARIES": libraries, "SHORT_SEED": seed,
            "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0:exitcode=99:detect_stack_use_after_return=0",
        }

    def set(self, how):
        self.map[:8] = struct.pack("=q", how)

    @property
    def failed(self):
        return struct.unpack("=q", self.map[8:])[0]


class Keeper:
    """Keeps a service running, as its supervisor would, while one call in N of its libraries fails; not while it starts."""

    def __init__(self, service, shortage, one_in):
        self.service, self.shortage, self.one_in = service, shortage, one_in
        self.ends = 0

    def __enter__(self):
        self.shortage.set(self.one_in)
        return self

    def __exit__(self, *_):
        self.shortage.set(0)
        until(lambda: self.look() and self.service.ready(), f"{self.service.name} is there")

    def look(self, goes_on=0):
        """Starts it again if it ended, which it may for want of memory alone. Of the thread that starts it, it is a child."""
        if self.service.process.alive():
            return True
        code = self.service.process.popen.returncode
        end = self.service.process.log_end(6)
        assert code == -signal.SIGABRT and LAST_WORDS in end, f"{self.service.name} ended with {code}:\n{end}"
        self.shortage.set(0)
        self.service.start()
        self.shortage.set(goes_on)
        self.ends += 1
        return True

    def until(self, condition, what):
        """Waits, while it is kept running."""
        until(lambda: self.look(self.one_in) and condition(), what)
