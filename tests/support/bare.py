# SPDX-License-Identifier: MPL-2.0
"""Programs of a bare Debian, as processes of this machine: its network, its processes and /tmp are theirs. For root."""

import os
import shutil
from pathlib import Path

from support.release import ROOT, run

# The system's root becomes that of one process, which keeps its number.
ENTER = """#!/bin/bash -e
exec unshare --mount --propagation private bash -ec '
mount --bind "$1" "$1"
for folder in tmp proc dev sys; do mount --rbind "/$folder" "$1/$folder"; done
cd "$1"
mkdir -p .old
pivot_root . .old
umount -l .old
exec "${@:2}"' bash %s %s "$@"
"""


class System:
    """A bare Debian of that release in the folder, once it is made."""

    def __init__(self, release, folder):
        self.release, self.root = release, Path(folder)

    def make(self):
        """Makes it anew."""
        self._call("packages_install bare\nsystem_make", self.release, self.root)
        self.run("apt-get", "-qq", "update")
        return self

    def _call(self, function, *arguments):
        sources = "".join(f'source "{ROOT}/deploy/local/{name}"\n' for name in ("lib.sh", "bare_system.sh"))
        data = os.environ.get("RUNYARD_DEPS", ROOT / "build/deps")
        run("bash", "-euc", f'{sources}data={data}\n{function} "$@"', "bash", *arguments)

    def run(self, *command):
        """Runs a command in the system."""
        self._call("system_run", self.root, *command)

    def install(self, *packages):
        """Installs packages by their names, or by their files: these also replace newer ones."""
        folder = self.root / "srv/packages"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        files = [shutil.copy(package, folder) for package in packages if isinstance(package, Path)]
        names = [f"/srv/packages/{Path(file).name}" for file in files] or packages
        self.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "--no-install-recommends", "--allow-downgrades", "install", *names)

    def program(self, path, file):
        """Writes a program that runs the one with this path in the system. Returns its file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(ENTER % (self.root, path))
        file.chmod(0o755)
        return file
