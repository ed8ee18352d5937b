# SPDX-License-Identifier: MPL-2.0
"""A build as it is shipped: without sanitizers and tests, for the prefix /usr."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("RUNYARD_RELEASE", ROOT / "build/test/release"))
PROCESSES = "scheduler", "worker", "notifier"


def caching(sources):
    """Variables with which each source is compiled only once for all release builds whose folder is three below its sources:
    ccache compares paths in the sources' folder as relative ones."""
    return {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_DIR": str(FOLDER.parent / "ccache"),
            "CCACHE_BASEDIR": str(sources), "CCACHE_NOHASHDIR": "1"}


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-4000:]}"
    return done.stdout


def tool(name):
    """A program of the tests' Python packages (requirements.txt)."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert found, f"{name} is missing: tests/run installs it"
    return found


def build():
    """Builds once; the tests of other files that run meanwhile wait. Returns the folder."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = {**os.environ, **caching(ROOT)}
        run("cmake", "-G", "Ninja", "-S", ROOT, "-B", FOLDER, "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DBUILD_TESTING=OFF",
            "-DCMAKE_INSTALL_PREFIX=/usr", env=environment)
        run("nice", "ninja", "-C", FOLDER, env=environment)
    return FOLDER


def install(built, destination):
    run("cmake", "--install", built, env={**os.environ, "DESTDIR": str(destination)})
    return destination


def packages(built, folder):
    """{process or migrate: its Debian package}, built for a fixed time in a folder that is made anew."""
    with open(built / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder, ignore_errors=True)
        run("cpack", "-G", "DEB", "-B", folder, cwd=built, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    return {process: next(folder.glob(f"runyard-{process}_*.deb")) for process in (*PROCESSES, "migrate")}


def files(folder):
    """The paths of all files and links below the folder, with a leading slash."""
    return sorted("/" + str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_symlink() or not path.is_dir())


if __name__ == "__main__":
    build()
