# SPDX-License-Identifier: MPL-2.0
"""The programs of the previous release, built from the commit that tests/extended/previous_release names."""

import fcntl
import os
import subprocess
from pathlib import Path

from support.release import run

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = "runyard-scheduler", "runyard-worker", "runyard-notifier"


def build():
    """Builds them once; the folder with the programs."""
    commit = (ROOT / "tests/extended/previous_release").read_text().strip()
    folder = Path(os.environ.get("RUNYARD_PREVIOUS", ROOT / "build/previous"))
    source, built = folder / commit / "source", folder / commit / "build"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not source.exists():
            unpacked = source.with_name("unpacked")
            unpacked.mkdir(parents=True, exist_ok=True)
            archive = subprocess.run(["git", "-C", ROOT, "archive", commit], check=True, capture_output=True).stdout
            subprocess.run(["tar", "-x", "-C", unpacked], input=archive, check=True)
            unpacked.rename(source)
        run("cmake", "-G", "Ninja", "-S", source, "-B", built, "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DBUILD_TESTING=OFF", f"-DRUNYARD_REVISION={commit[:12]}")
        run("nice", "ninja", "-C", built, *PROGRAMS)
    return built / "bin"
