# SPDX-License-Identifier: MPL-2.0
"""Processes with failing allocations in their libraries (alloc_faults.c), and their restarts when they exit because
of that."""

import mmap
import signal
import struct
import subprocess
from pathlib import Path

from support.wait import until

SOURCE = Path(__file__).with_name("alloc_faults.c")
# Processes that log it. libcurl, libcrypto, libssl and jansson use the program's allocators, which exit when out of
# memory.
LIBRARIES = "libpq libmicrohttpd libgnutls"
# Three libraries end the process themselves: librdkafka asserts (rd_malloc), libarchive calls exit (__archive_errx), or
# they access invalid memory.
EXITING_LIBRARIES = "librdkafka libarchive libhiredis"
OUT_OF_MEMORY = "out of memory"
INVALID_ACCESS = "AddressSanitizer: SEGV on unknown address"


def compiled(folder):
    path = Path(folder) / "alloc_faults.so"
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-fno-builtin", "-fno-optimize-sibling-calls", "-shared", "-fPIC", "-o", path, SOURCE], check=True)
    return path


class AllocationFaults:
    """The switch: 0 is off, N is one call in N, and a negative number is that call alone."""

    def __init__(self, folder, seed=1, libraries=LIBRARIES):
        self.libraries = libraries
        path = Path(folder) / "alloc-faults"
        path.write_bytes(bytes(24))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 24)
        # Libraries may leak memory when an allocation fails, so leaks are tested elsewhere.
        self.environment = {
            "LD_PRELOAD": compiled(folder), "ALLOC_SWITCH": path, "ALLOC_LIBRARIES": libraries, "ALLOC_SEED": seed,
            "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0:exitcode=99:detect_stack_use_after_return=0",
        }

    def set(self, how):
        self.map[:8] = struct.pack("=q", how)

    @property
    def failed(self):
        return struct.unpack("=q", self.map[8:16])[0]

    @property
    def calls(self):
        """Since the switch was last changed."""
        return struct.unpack("=q", self.map[16:])[0]


class Supervisor:
    """Keeps a service running, as its supervisor would, while one call in N of its libraries fails. Calls during its
    start do not fail."""

    def __init__(self, service, faults, one_in):
        self.service, self.faults, self.one_in = service, faults, one_in
        self.restart_count = 0

    def __enter__(self):
        self.faults.set(self.one_in)
        return self

    def __exit__(self, *_):
        self.faults.set(0)
        until(lambda: self.restart_if_exited() and self.service.ready(), f"{self.service.name} is ready")

    def is_valid_exit(self, code, log):
        """Whether it exited only for lack of memory: by itself, or by the library."""
        if self.faults.libraries != EXITING_LIBRARIES:
            return code == -signal.SIGABRT and OUT_OF_MEMORY in log.splitlines()[-1]
        return "ERROR: AddressSanitizer" not in log or INVALID_ACCESS in log

    def restart_if_exited(self, one_in_after_start=0):
        """Restarts it if it has exited, for which lack of memory is the only valid reason. It is a child of the
        calling thread."""
        if self.service.process.alive():
            return True
        code = self.service.process.popen.returncode
        log = self.service.process.log()
        assert self.is_valid_exit(code, log), f"{self.service.name} ended with {code}:\n{log[-6000:]}"
        if INVALID_ACCESS in log:
            self.service.process.log_path.unlink()
        self.faults.set(0)
        self.service.start()
        self.faults.set(one_in_after_start)
        self.restart_count += 1
        return True

    def until(self, condition, what):
        """Waits while keeping it running."""
        until(lambda: self.restart_if_exited(self.one_in) and condition(), what)
