# SPDX-License-Identifier: MPL-2.0
"""Shared by the benchmarks: a stack of release binaries, and bare terraform doing the same work."""

import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
BUILT = "RUNYARD_BIN" in os.environ
os.environ.setdefault("RUNYARD_BIN", str(ROOT / "build/bench/bin"))

from support.api import FINAL, Api  # noqa: E402
from support.event_stream import EventStream  # noqa: E402
from support.process import clean_environment  # noqa: E402
from support.runyard import KEYS, Notifier, Scheduler, Worker  # noqa: E402
from support.servers import Broker, Kafka, Postgres, Redis  # noqa: E402
from support.wait import until  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")

# Differs in every plan, so that every run has something to apply.
CONFIGURATION = 'variable "word" {\n  default = "none"\n}\n\nresource "terraform_data" "one" {\n  input = "${var.word} ${timestamp()}"\n}\n'


def build():
    """Builds release binaries, unless they exist."""
    folder = ROOT / "build/bench"
    for command in (["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DBUILD_TESTING=OFF"], ["ninja", "-C", folder]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)


class DurablePostgres(Postgres):
    """With the settings of a local stack: a commit is on disk before it is answered."""

    in_memory = False
    settings = ()  # in addition

    def _command(self):
        local = local_stack("postgres_settings").split()
        return [self.programs / "postgres", "-D", self.folder / "data", "-p", self.port, "-c", f"unix_socket_directories={self.folder}",
                *(part for setting in (*local, *self.settings) for part in ("-c", setting))]


class LargePostgres(DurablePostgres):
    statements = False

    @property
    def settings(self):
        return ["max_connections=400", *(["shared_preload_libraries=pg_stat_statements"] if self.statements else [])]


class LocalBroker(Broker):
    """The embedded broker with the options of a local stack."""

    arguments = ()


def local_stack(function):
    """Returns the output of a function of deploy/local/servers.sh."""
    script = f"source {ROOT}/deploy/local/lib.sh; source {ROOT}/deploy/local/servers.sh; {function}"
    return subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout


# Without isolation: a second column beside the default options.
WITHOUT_SANDBOX = {"sandbox": "none", "job_network": "host"}
# One client makes the requests of all users, so the limits of one client are off.
CLIENT_LIMITS = {"rate_limit": 0, "connections_per_address": 0}


class Stack:
    """PostgreSQL, a broker, Redis, a scheduler, a notifier and workers with the options of a local stack, in a folder
    of their own. worker: more options of the workers, or other ones. The remaining options are the scheduler's."""

    def __init__(self, slots=2, workers=1, kafka=False, postgres=DurablePostgres, log_level=None, worker=None, notifier=None, **scheduler):
        if not BUILT:
            build()
        self.folder = Path(tempfile.mkdtemp(prefix="runyard-bench."))
        self.folder.chmod(0o755)
        self.started = []
        self.shown = set()
        self.postgres = self.up(postgres())
        self.bus = self.up((Kafka if kafka else LocalBroker)(self.folder))
        self.redis = self.up(Redis(self.folder))
        database = self.database = self.postgres.new_database()
        common = {"brokers": self.bus.address, "log_level": log_level}
        Scheduler.run_command("migrate", database_url=database, keys=KEYS)
        bootstrapped = Scheduler.run_command("bootstrap", "admin", "admin@example.com", "acme", database_url=database, keys=KEYS)
        tokens = self.tokens = json.loads(bootstrapped.stdout)
        self.settings = {"database_url": database, "keys": KEYS, **CLIENT_LIMITS, "fetch_wait_ms": self.bus.fetch_wait_ms, **common, **scheduler}
        self.scheduler = self.up(Scheduler("scheduler", self.folder, **self.settings))
        self.notifier = self.up(Notifier("notifier", self.folder, scheduler_url=self.scheduler.url, notifier_token=tokens["notifier-token"], name="notifier",
                                         redis_url=self.redis.url, fetch_wait_ms=self.bus.fetch_wait_ms, **{**common, **(notifier or {})}))
        self.workers = [self.up(self._worker(f"worker-{number + 1}", slots, {**common, **(worker or {})})) for number in range(workers)]
        self.api = Api(self.scheduler.url, tokens["token"])

    def _worker(self, name, slots, options):
        return Worker(name, self.folder, scheduler_url=self.scheduler.url, agent_token=self.tokens["agent-token"], slots=slots,
                      data_dir=self.folder / name, name=name, **options)

    def up(self, server):
        server.start()
        if isinstance(server, Worker):
            self.show_options(server)
        return self.keep(server)

    def show_options(self, worker):
        """Prints the options in force, once for all workers with the same."""
        options = options_in_force(worker)
        if options not in self.shown:
            print(options, flush=True)
        self.shown.add(options)

    def keep(self, server):
        """Registers it to be stopped at the end."""
        self.started.append(server)
        return server

    def another_scheduler(self):
        return self.up(Scheduler(f"scheduler-{len(self.started)}", self.folder, **self.settings))

    def __enter__(self):
        return self

    def __exit__(self, *why):
        for server in reversed(self.started):
            server.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    def workspace(self):
        """Creates a workspace with the configuration. Returns both ids."""
        workspace = self.api.workspace(auto_apply=True)
        return workspace, self.api.upload(workspace, {"main.tf": CONFIGURATION})

    def wait(self, run, every):
        while self.api.status(run) not in FINAL:
            time.sleep(every)
        ended = self.api.attributes(f"runs/{run}")
        assert ended["status"] == "applied", f"{run} is {ended['status']}: {ended['error']}\n{self.api.logs(run)}"


def options_in_force(worker):
    """Returns the isolation of a worker's jobs: its options, and what they came to on this machine."""
    line = next(line for line in worker.log_lines() if line["msg"] == "worker started")
    given = {"sandbox": "auto", "job_network": "auto", **worker.options}
    return f"worker: --sandbox {given['sandbox']} ({line['sandbox']}), --job-network {given['job_network']} ({line['job-network']})"


# fake_worker.c signs its results with the project's own code.
CONTRACT = [ROOT / name for name in ("proto/mac.c", "proto/messages.c", "proto/topics.c", "common/base.c", "common/text.c", "common/process.c", "common/buf.c", "common/crypto.c",
                                     "common/clock.c", "common/err.c", "common/ids.c", "common/json/json.c", "common/json/json_text.c", "common/log.c", "common/memory.c", "common/http/rate.c")]


# The programs of this folder, and their sources and libraries.
PROGRAMS = {
    "engine": ["-static"],
    "fake_fleet": [*CONTRACT, ROOT / "worker/scheduler_client/read_ahead.c", ROOT / "common/loop/retry.c", "-I", ROOT, "-lrdkafka", "-ljansson", "-lcrypto", "-lpthread"],
    "fake_worker": [*CONTRACT, "-I", ROOT, "-lrdkafka", "-ljansson", "-lcrypto", "-lpthread"],
    "keeper": ["-I", ROOT],
    "log_reader": ["-lpthread"],
    "receiver": [],
    "log_writer": ["-static"],
}


def compiled(folder, name, *options):
    """Compiles NAME.c in that folder. Returns the program."""
    program = folder / name
    if not program.exists():
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", program, ROOT / f"tests/bench/{name}.c", *PROGRAMS[name], *options], check=True)
    return program


class FakeWorker:
    """fake_worker.c, compiled on demand."""

    def __init__(self, stack, name, slots):
        program = compiled(stack.folder, "fake_worker")
        command = [program, str(stack.scheduler.port), stack.bus.address, str(stack.bus.fetch_wait_ms), str(slots), name]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=clean_environment(RUNYARD_AGENT_TOKEN=stack.tokens["agent-token"]))
        assert self.process.stdout.readline() == "ready\n"

    @property
    def pid(self):
        return self.process.pid

    def release(self):
        assert self.process.poll() is None, "a simulated worker has exited"
        self.process.kill()
        self.process.wait()


class IdleWorker(Worker):
    """runyard-worker with the no-op or sleeping engine (engine.c), or another engine, and more options."""

    def __init__(self, stack, name, slots, **more):
        # In memory: an ext4 without a journal scans every recently deleted inode, which would cost more than everything
        # else.
        self.memory = tempfile.mkdtemp(prefix="runyard-bench.", dir="/dev/shm")
        super().__init__(name, stack.folder, slots=slots, name=name, data_dir=self.memory,
                         **{"scheduler_url": stack.scheduler.url, "agent_token": stack.tokens["agent-token"], "brokers": stack.bus.address,
                            "engine": compiled(stack.folder, "engine"), **more})
        self.start()
        stack.show_options(self)

    def release(self):
        super().release()
        shutil.rmtree(self.memory, ignore_errors=True)


class Tenant:
    """A new organization with new workspaces, and a client that follows it by the event stream."""

    numbers = itertools.count(1)

    def __init__(self, stack, files=None, workspaces=1):
        self.api = Api(stack.scheduler.url, stack.tokens["token"], organization=f"bench{next(self.numbers)}")
        self.api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": self.api.organization, "email": "bench@example.com"}}})
        self.stream = EventStream(stack.scheduler.url, f"org:{self.api.organization}", self.api.token, reads=False)
        self.workspaces = [self.api.workspace(auto_apply=True) for _ in range(workspaces)]
        self.configurations = [self.api.upload(workspace, files or {"main.tf": CONFIGURATION}) for workspace in self.workspaces]
        self.word = self.api.variable(self.workspaces[0], "word", "first")

    def run(self, number=0):
        """Creates a run in the workspace of that number. Returns its id."""
        return self.api.run(self.workspaces[number], self.configurations[number])

    def change(self, word):
        """Changes the variable of the first workspace."""
        self.api.patch(f"workspaces/{self.workspaces[0]}/vars/{self.word}", {"data": {"type": "vars", "id": self.word, "attributes": {"value": word}}})

    def wait(self, runs, status="applied"):
        """Reads the stream until the runs have that status. Polls would take the processors from what they wait for."""
        left = set(runs)
        for data in self.events("run"):
            if data["id"] not in left:
                continue
            if data.get("status") == status:
                left.remove(data["id"])
            assert data.get("status") not in FINAL or data["status"] == status, f"{data}\n{self.api.logs(data['id'])}"
            if not left:
                return
        raise AssertionError(f"the event stream ended before {left} are {status}")

    def events(self, name):
        """Yields the data of the stream's events of that name."""
        kind = None
        for line in iter(self.stream.response.readline, b""):
            field, _, value = line.decode().rstrip("\n").partition(": ")
            kind = value if field == "event" else kind
            if field == "data" and kind == name:
                yield json.loads(value)

    def release(self):
        self.stream.close()


# ---- workspaces that are due for an assessment ----


def copy_rows(connection, table, count, which, **changed):
    """Copies a row: the changed columns are these texts with the copy's number."""
    columns = ", ".join(row[0] for row in connection.execute("""
        select attname from pg_attribute where attrelid = %s::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = ''""", [table]))
    values = ", ".join(f"'{column}', '{text}' || n" for column, text in changed.items())
    connection.execute(f"""insert into {table} ({columns}) select {columns} from (
        select (jsonb_populate_record(t, jsonb_build_object({values}))).* from {table} t cross join generate_series(1, {count - 1}) n where {which}) copies""")


def assessed_workspaces(stack, count, files):
    """Workspaces that can be assessed: one with a real run, and copies of its rows. None is due."""
    workspace = stack.api.workspace(assessments_enabled=True)
    version = stack.api.upload(workspace, files)
    run = stack.api.run(workspace, version, auto_apply=True)
    stack.api.wait_status(run, "applied")
    with psycopg.connect(stack.database, autocommit=True) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute("update workspaces set latest_change_at = now() - interval '2 days', assess_at = null where id = %s", [workspace])
        copy_rows(connection, "workspaces", count, f"id = '{workspace}'", id="ws-a", name="assessed-")
        copy_rows(connection, "runs", count, f"id = '{run}'", id="run-a", workspace_id="ws-a")
        copy_rows(connection, "configuration_versions", count, f"id = '{version}'", id="cv-a", workspace_id="ws-a")
        copy_rows(connection, "run_inputs", count, f"run_id = '{run}'", run_id="run-a", configuration_version_id="cv-a")


@contextmanager
def assess_everything(stack):
    """Makes all workspaces due that can be assessed, until the block ends. Yields the outcomes, which are there then."""
    counted = {outcome: 0 for outcome in ("undrifted", "drifted", "errored", "canceled")}

    def totals():
        return {outcome: stack.scheduler.metric("runyard_assessments_total", outcome=outcome) for outcome in counted}

    before = totals()
    with psycopg.connect(stack.database, autocommit=True) as connection:
        connection.execute("update workspaces set assess_at = now() where settings @> '{\"assessments-enabled\": true}'")
        yield counted
        counted.update({outcome: int(total - before[outcome]) for outcome, total in totals().items()})
        connection.execute("update workspaces set assess_at = null")
        until(lambda: not connection.execute("select 1 from assessments").fetchone(), "the last assessments have ended")


class BareTerraform:
    """init, plan -out, show -json, apply, in a folder that keeps its state as a workspace does. environment: variables of
    terraform. files: the configuration; a lock file among them stays."""

    def __init__(self, files=None, **environment):
        self.folder = Path(tempfile.mkdtemp(prefix="runyard-bare."))
        self.environment = clean_environment(CHECKPOINT_DISABLE="1", TF_IN_AUTOMATION="1", **environment)
        for name, text in (files or {"main.tf": CONFIGURATION}).items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        self.engine = shutil.which("terraform") or shutil.which("tofu")
        lock = "" if files and ".terraform.lock.hcl" in files else " .terraform.lock.hcl"
        # The steps of a fresh folder, every time: no run finds the .terraform of an earlier one.
        (self.folder / "run").write_text(
            f"set -e\nrm -rf .terraform{lock}\n{self.engine} init -input=false\n{self.engine} plan -input=false -out=p\n"
            f"{self.engine} show -json p >plan.json\n{self.engine} apply -input=false p\n"
        )

    def run(self, word="first"):
        done = subprocess.run(["sh", "run"], cwd=self.folder, capture_output=True, text=True, env={**self.environment, "TF_VAR_word": word})
        assert done.returncode == 0, done.stderr

    def release(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def ticks(pid, reaped=False):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return sum(int(fields[at]) for at in ((11, 12, 13, 14) if reaped else (11, 12)))


def children(pid):
    return [int(child) for task in os.listdir(f"/proc/{pid}/task") for child in open(f"/proc/{pid}/task/{task}/children").read().split()]


def cpu(stack, workers):
    """Returns the seconds of CPU so far of each kind of process."""
    postgres = stack.postgres.process.pid
    return {
        "scheduler": ticks(stack.scheduler.pid) / TICK,
        "workers": sum(ticks(worker.pid) for worker in workers) / TICK,
        "broker": ticks(stack.bus.process.pid) / TICK,
        "postgres": (ticks(postgres, True) + sum(ticks(child) for child in children(postgres))) / TICK,
    }


def read_counters(schedulers, connection):
    """Commits that wrote (each takes a transaction id), all transactions, deadlocks, syncs of the log; statements and
    round trips of the schedulers, transitions."""
    connection.execute("select pg_stat_clear_snapshot()")
    wrote, every, deadlocks, syncs = connection.execute(
        "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint, xact_commit, deadlocks, wal_sync from pg_stat_database, pg_stat_wal where datname = current_database()").fetchone()
    metrics = [scheduler.metrics() for scheduler in schedulers]

    def total(name):
        return sum(value for one in metrics for series, value in one.items() if series.split("{")[0] == name)

    return {"commits": wrote, "transactions": every, "deadlocks": deadlocks, "syncs": syncs, "statements": total("runyard_database_statements_total"),
            "round trips": total("runyard_database_round_trips_total"), "requests": total("runyard_http_requests_total"),
            "transitions": total("runyard_run_transitions_total")}


def print_statements(connection, count, unit):
    """Prints what PostgreSQL executed since pg_stat_statements_reset, per unit."""
    for calls, ms, blocks, text in connection.execute(
            "select calls, total_exec_time, shared_blks_hit, left(regexp_replace(query, '\\s+', ' ', 'g'), 150) from pg_stat_statements order by total_exec_time desc limit 40"):
        print(f"    {calls / count:7.2f} {unit} {ms * 1000 / count:8.0f} us {unit} {blocks / count:6.1f} blocks  {text}")


def run_request(workspace, configuration):
    return json.dumps({"data": {"type": "runs", "attributes": {}, "relationships": {
        "workspace": {"data": {"type": "workspaces", "id": workspace}},
        "configuration-version": {"data": {"type": "configuration-versions", "id": configuration}}}}})


def seconds(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def in_parallel(*works):
    """Runs the functions in threads at the same time, and waits for all."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


median = statistics.median
