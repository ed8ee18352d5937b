# SPDX-License-Identifier: MPL-2.0
"""A small file system for a test."""

import contextlib
import os
import subprocess


class Disk:
    """Mounts a tmpfs of that many MiB and inodes at a folder that it creates. For root."""

    def __init__(self, folder, mib, inodes=100_000):
        self.folder = folder
        self.folder.mkdir()
        self.mounted = False
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m,nr_inodes={inodes},mode=755", "tmpfs", self.folder], check=True)
        self.mounted = True

    def fill(self, leave=0):
        """Allocates all blocks except for `leave` bytes, also while a job writes."""
        with open(self.folder / "filled", "ab") as file:
            while self._free() > leave:
                with contextlib.suppress(OSError):
                    os.posix_fallocate(file.fileno(), file.tell(), self._free() - leave)
                file.seek(0, os.SEEK_END)

    def _free(self):
        space = os.statvfs(self.folder)
        return space.f_bavail * space.f_frsize

    def fill_inodes(self, leave):
        (self.folder / "many").mkdir()
        for number in range(os.statvfs(self.folder).f_favail - leave):
            (self.folder / "many" / str(number)).touch()

    def free(self):
        """Frees the blocks that the test allocated."""
        subprocess.run(["rm", "-rf", self.folder / "filled", self.folder / "many"], check=True)

    def release(self):
        if self.mounted:
            subprocess.run(["umount", "--lazy", self.folder], check=True)
        self.mounted = False
