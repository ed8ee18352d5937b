# SPDX-License-Identifier: MPL-2.0
"""What the benchmarks share: a stack of release binaries, and bare terraform doing the same work by hand."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
BUILT = "RUNYARD_BIN" in os.environ
os.environ.setdefault("RUNYARD_BIN", str(ROOT / "build/bench/bin"))

from support.api import FINAL, Api  # noqa: E402
from support.process import clean_environment  # noqa: E402
from support.runyard import KEYS, Scheduler, Worker  # noqa: E402
from support.servers import Broker, Kafka, Postgres  # noqa: E402

# Changes with every plan, so that every run has something to apply.
CONFIGURATION = 'resource "terraform_data" "one" {\n  input = timestamp()\n}\n'


def build():
    """Release binaries, built if they are not."""
    folder = ROOT / "build/bench"
    for command in (["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DBUILD_TESTING=OFF"], ["ninja", "-C", folder]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)


class DurablePostgres(Postgres):
    """As in production: a commit is on the disk before it is answered."""

    def _command(self):
        return ["fsync=on" if part == "fsync=off" else part for part in super()._command()]


class Stack:
    """PostgreSQL, a broker, a scheduler and workers, in a folder of their own."""

    def __init__(self, slots=2, workers=1, kafka=False):
        if not BUILT:
            build()
        self.folder = Path(tempfile.mkdtemp(prefix="runyard-bench."))
        self.folder.chmod(0o755)
        self.started = []
        self.postgres = self.up(DurablePostgres())
        self.bus = self.up((Kafka if kafka else Broker)(self.folder))
        database = self.database = self.postgres.new_database()
        common = {"brokers": self.bus.address, "fetch_wait_ms": self.bus.fetch_wait_ms}
        Scheduler.run_command("migrate", database_url=database, keys=KEYS)
        made = Scheduler.run_command("bootstrap", "admin", "admin@example.com", "acme", database_url=database, keys=KEYS)
        tokens = self.tokens = json.loads(made.stdout)
        self.scheduler = self.up(Scheduler("scheduler", self.folder, database_url=database, keys=KEYS, **common))
        for number in range(workers):
            name = f"worker-{number + 1}"
            self.up(Worker(name, self.folder, scheduler_url=self.scheduler.url, agent_token=tokens["agent-token"], slots=slots,
                           data_dir=self.folder / name, name=name, **common))
        self.api = Api(self.scheduler.url, tokens["token"])

    def up(self, server):
        server.start()
        self.started.append(server)
        return server

    def __enter__(self):
        return self

    def __exit__(self, *why):
        for server in reversed(self.started):
            server.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    def workspace(self):
        """A workspace with the configuration, and the configuration's id."""
        workspace = self.api.workspace(auto_apply=True)
        return workspace, self.api.upload(workspace, {"main.tf": CONFIGURATION})

    def wait(self, run, every):
        while self.api.status(run) not in FINAL:
            time.sleep(every)
        ended = self.api.attributes(f"runs/{run}")
        assert ended["status"] == "applied", f"{run} is {ended['status']}: {ended['error']}\n{self.api.logs(run)}"


class Bare:
    """init, plan -out, show -json, apply, in a folder that keeps its state as a workspace does."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="runyard-bare."))
        (self.folder / "main.tf").write_text(CONFIGURATION)
        self.engine = shutil.which("terraform") or shutil.which("tofu")
        # What a fresh folder needs, every time: a run never finds an earlier one's .terraform.
        (self.folder / "run").write_text(
            f"set -e\nrm -rf .terraform .terraform.lock.hcl\n{self.engine} init -input=false\n{self.engine} plan -input=false -out=p\n"
            f"{self.engine} show -json p >plan.json\n{self.engine} apply -input=false p\n"
        )

    def run(self):
        done = subprocess.run(["sh", "run"], cwd=self.folder, capture_output=True, text=True,
                              env=clean_environment(CHECKPOINT_DISABLE="1", TF_IN_AUTOMATION="1"))
        assert done.returncode == 0, done.stderr

    def release(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def seconds(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def side_by_side(*works):
    """Runs them in threads at the same time, and waits for all."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


median = statistics.median
