# SPDX-License-Identifier: MPL-2.0
"""The programs of Debian packages in a bare system, as processes of this machine: its network, accounts and /tmp are shared."""

import os
import shutil
from pathlib import Path

from support.process import which, worker_account
from support.release import ROOT, run

# A system's root becomes that of one process, which keeps its number.
ENTER = """#!/bin/bash -e
exec unshare --mount --propagation private bash -ec '
mount --bind "$1" "$1"
for folder in tmp proc dev sys; do mount --rbind "/$folder" "$1/$folder"; done
cd "$1"
mkdir -p .old
pivot_root . .old
umount -l .old
exec "${@:2}"' bash %s /usr/bin/%s "$@"
"""


class System:
    """A bare Debian in the folder, by its release's name. `programs` has one program for each of the packages' that runs it there."""

    def __init__(self, release, folder):
        self.root, self.programs = folder / "root", folder / "programs"
        self._call("packages_install bare\nsystem_make", release, self.root)
        account = worker_account()
        self.run("groupadd", "--system", "--gid", account.pw_gid, account.pw_name)
        self.run("useradd", "--system", "--uid", account.pw_uid, "--gid", account.pw_gid, account.pw_name)
        shutil.copy(which("terraform"), self.root / "usr/local/bin")
        self.run("apt-get", "-qq", "update")
        self.programs.mkdir()
        for name in "runyard-scheduler", "runyard-notifier", "runyard-worker":
            (self.programs / name).write_text(ENTER % (self.root, name))
            (self.programs / name).chmod(0o755)

    def _call(self, function, *arguments):
        sources = "".join(f'source "{ROOT}/deploy/local/{name}"\n' for name in ("lib.sh", "bare_system.sh"))
        data = os.environ.get("RUNYARD_DEPS", ROOT / "build/deps")
        run("bash", "-euc", f'{sources}data={data}\n{function} "$@"', "bash", *arguments)

    def run(self, *command):
        """Runs a command in the system."""
        self._call("system_run", self.root, *command)

    def install(self, folder):
        """Installs the packages of that folder, older or newer than those that are there."""
        packages = self.root / "srv/packages"
        shutil.rmtree(packages, ignore_errors=True)
        packages.mkdir(parents=True)
        for package in Path(folder).glob("*.deb"):
            if package.name.split("_")[-1] in ("amd64.deb", "all.deb"):
                shutil.copy(package, packages)
        self.run("bash", "-ec", "DEBIAN_FRONTEND=noninteractive apt-get -qq --no-install-recommends --allow-downgrades install /srv/packages/*.deb")
