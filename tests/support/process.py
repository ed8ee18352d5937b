# SPDX-License-Identifier: MPL-2.0
"""One process under test: its log is in a file, it always ends, and sanitizers' reports are found."""

import functools
import os
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from support.wait import PATIENCE, TimedOut, until

SANITIZER = re.compile(r"^.*(ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|: runtime error: ).*$", re.M)
KEPT = ("PATH", "HOME", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "GOFLAGS", "http_proxy", "https_proxy", "no_proxy")


def clean_environment(**more):
    """Only the variables of the caller's environment that a process needs."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment["BROWSER"] = "false"  # terraform login prints its URL if it can't open a browser
    environment["ASAN_OPTIONS"] = "detect_leaks=1:exitcode=99:detect_stack_use_after_return=0"
    environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
    environment["TSAN_OPTIONS"] = f"suppressions={Path(__file__).parents[1]}/thread/suppressions"
    environment.update({name: str(value) for name, value in more.items()})
    return environment


@functools.lru_cache
def worker_account():
    """The account that workers change to if the tests run as root, created as deploy/local does it; None otherwise."""
    if os.geteuid() != 0:
        return None
    library = Path(__file__).parents[2] / "deploy/local/lib.sh"
    subprocess.run(["bash", "-c", f"source {library}; account_make runyard-worker"], check=True)
    return pwd.getpwnam("runyard-worker")


def give_to_workers(path):
    """Makes workers the owners of a folder and all in it."""
    account = worker_account()
    for place, folders, files in os.walk(path) if account else ():
        for name in ("", *files):
            os.chown(os.path.join(place, name), account.pw_uid, account.pw_gid, follow_symlinks=False)


claims = []  # sockets that reserve this process's ports, by their names, until it ends


def free_port():
    """A free port below the range for outgoing connections. No other test process gets it."""
    while True:
        port = random.randrange(20000, 32000)
        claim = socket.socket(socket.AF_UNIX)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                claim.bind(f"\0runyard-test-port-{port}")
                probe.bind(("127.0.0.1", port))
            except OSError:
                claim.close()
                continue
        claims.append(claim)
        return port


def answers(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Process:
    """Starts argv in a session of its own. The kernel ends the process if the test dies."""

    def __init__(self, name, argv, folder, env=None, account=None):
        self.name = name
        self.log_path = Path(folder) / f"{name}.log"
        self.env = env if env is not None else clean_environment()
        self.argv = [str(part) for part in argv]
        self.account = account
        self.popen = None

    def launch(self):
        assert not self.alive(), f"{self.name} is running already"
        guard = ["setpriv", "--pdeathsig", "KILL"]
        if self.account:
            guard += ["--reuid", self.account, "--regid", self.account, "--init-groups"]
        with open(self.log_path, "ab") as log:
            self.popen = subprocess.Popen(
                [*guard, *self.argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env, cwd="/", start_new_session=True
            )
        return self

    @property
    def pid(self):
        return self.popen.pid

    def alive(self):
        return self.popen is not None and self.popen.poll() is None

    def wait_until(self, ready, what, timeout=PATIENCE):
        """Waits for ready(). Fails at once with the log's end if the process exits before."""

        def ready_or_dead():
            if not self.alive():
                raise AssertionError(f"{self.name} ended with {self.popen.returncode}:\n{self.log_end()}")
            return ready()

        try:
            return until(ready_or_dead, f"{self.name}: {what}", timeout)
        except TimedOut as late:
            raise TimedOut(f"{late}\n{self.log_end()}") from None

    def ended(self):
        """Waits until it exits without being asked to. Returns its exit code."""
        return self.popen.wait(PATIENCE)

    def send(self, number):
        if self.alive():
            self.popen.send_signal(number)

    def stop(self, number=signal.SIGTERM, timeout=PATIENCE):
        """Stops it and returns its exit code. If it does not stop, it is killed and the test fails."""
        if self.popen is None:
            return None
        self.send(number)
        try:
            return self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end within {timeout:g} s of signal {number}:\n{self.log_end()}") from None

    def kill(self):
        """kill -9, as when a machine is lost."""
        if self.popen is not None:
            self.send(signal.SIGKILL)
            self.popen.wait(PATIENCE)

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def log_end(self, lines=40):
        return "\n".join(self.log().splitlines()[-lines:])

    def check_sanitizers(self):
        log = self.log()
        found = SANITIZER.search(log)
        assert not found, f"{self.name}: {found.group(0)}\n{log[found.start():found.start() + 6000]}"


def program(name):
    """A binary of the build under test."""
    folder = Path(os.environ.get("RUNYARD_BIN", Path(__file__).parents[2] / "build/test/bin"))
    path = folder / name
    assert path.exists(), f"{path} is not built; tests/run builds it"
    return path


def which(name, *folders):
    found = shutil.which(name) or next((str(Path(f) / name) for f in folders if (Path(f) / name).exists()), None)
    assert found, f"{name} is not there; tests/run installs it"
    return found
