# SPDX-License-Identifier: MPL-2.0
"""The servers that Runyard uses, each private to one pytest process."""

import fcntl
import glob
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path

import psycopg

from support.process import Process, answers, clean_environment, free_port, program, which
from support.runyard import KEYS, Scheduler

ROOT = Path(__file__).parents[2]
DEPS = Path(os.environ.get("RUNYARD_DEPS", ROOT / "build/deps"))


def memory_folder():
    """A folder of this machine whose files are in memory, if much memory is free; otherwise None. A database has a thousand files, which
    a disk's file system takes long to make and delete."""
    folder = Path("/dev/shm")
    return folder if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK) and shutil.disk_usage(folder).free > 8 << 30 else None


def new_data_folder(parent):
    """Creates a folder for a server's data. Returns it, and a file that is locked while the folder is in use. Frees the memory that
    killed tests have left: nobody holds the lock there. Process ids do not tell, because containers may share this memory."""
    for left in Path("/dev/shm").glob("runyard-pg.*/owner"):
        if abandoned(left):
            shutil.rmtree(left.parent, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix="runyard-pg.", dir=parent))
    owner = open(folder / "owner.new", "w")
    fcntl.flock(owner, fcntl.LOCK_EX)
    # It is locked before others can find it.
    os.rename(folder / "owner.new", folder / "owner")
    return folder, owner


def abandoned(owner):
    try:
        with open(owner) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class Postgres:
    """A private cluster; root runs it as the postgres account. It begins as a copy of one cluster, in whose database
    `bootstrapped` the build's scheduler has run bootstrap. With `steps` its clock can be set: step(seconds). With
    `primary` it is that cluster's standby."""

    in_memory = True

    def __init__(self, steps=False, primary=None):
        self.folder, self.owner = new_data_folder(memory_folder() if self.in_memory else None)
        self.account = "postgres" if os.geteuid() == 0 else None
        self.port = free_port()
        self.programs = Path(os.environ.get("RUNYARD_TEST_POSTGRES") or max(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: float(path.split("/")[4]), default="/usr/bin"))
        self.numbers = itertools.count(1)
        if self.account:
            shutil.chown(self.folder, self.account, self.account)
        self.process = Process("postgres", [*(self._clock() if steps else []), *self._command()], self.folder, account=self.account)
        if primary:
            self._copy(primary)
        else:
            self._copy_prepared()

    def _clock(self):
        (library,) = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
        self.step(0)
        return ["env", f"LD_PRELOAD={library}", f"FAKETIME_TIMESTAMP_FILE={self.folder}/clock", "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"]

    def step(self, seconds):
        """Sets its clock to that offset from the machine's."""
        written = self.folder / "clock.new"
        written.write_text(f"{seconds:+d}s")
        written.chmod(0o644)
        written.rename(self.folder / "clock")

    def _copy_prepared(self):
        """Copies the cluster that this build's first test file prepares for all."""
        binary = Path(program("runyard-scheduler")).resolve()
        made_by = f"{binary} {binary.stat().st_mtime_ns}"
        prepared = DEPS / f"cluster-{self.programs.parent.name}-{zlib.crc32(bytes(binary)):08x}"
        DEPS.mkdir(parents=True, exist_ok=True)
        with open(DEPS / "cluster.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (prepared / "made_by").exists() or (prepared / "made_by").read_text() != made_by:
                self._prepare(prepared)
                (prepared / "made_by").write_text(made_by)
        subprocess.run(["cp", "-a", prepared / "data", self.folder / "data"], check=True)
        self.tokens = json.loads((prepared / "tokens.json").read_text())

    def _prepare(self, prepared):
        self._run("initdb", "-D", self.folder / "data", "-U", "runyard", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        self.start()
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute("create database bootstrapped")
        options = {"database_url": self.url("bootstrapped"), "keys": KEYS}
        Scheduler.run_command("migrate", **options)
        tokens = Scheduler.run_command("bootstrap", "admin", "admin@example.com", "acme", **options).stdout
        self.stop()
        shutil.rmtree(prepared, ignore_errors=True)
        prepared.mkdir()
        (prepared / "tokens.json").write_text(tokens)
        subprocess.run(["cp", "-a", self.folder / "data", prepared / "data"], check=True)
        shutil.rmtree(self.folder / "data")

    def _run(self, name, *arguments):
        lend = ["setpriv", "--reuid", self.account, "--regid", self.account, "--init-groups"] if self.account else []
        done = subprocess.run([*lend, self.programs / name, *map(str, arguments)], cwd="/", capture_output=True, text=True, env=clean_environment())
        assert done.returncode == 0, done.stderr

    def _copy(self, primary):
        source = f"host=127.0.0.1 port={primary.port} user=runyard application_name=standby"
        self._run("pg_basebackup", "-d", source, "-D", self.folder / "data", "-R", "-X", "stream", "-c", "fast", "-N")

    def back_up(self, folder):
        """A copy of the running cluster, as an operator makes it."""
        self._run("pg_basebackup", "-d", f"host=127.0.0.1 port={self.port} user=runyard", "-D", folder, "-X", "stream", "-c", "fast", "-N")

    def restore(self, folder):
        """The server and its data are lost; the copy takes their place, as recovery from a backup does."""
        self.process.kill()
        shutil.rmtree(self.folder / "data")
        subprocess.run(["cp", "-a", folder, self.folder / "data"], check=True)
        return self.start()

    def promote(self):
        self._run("pg_ctl", "promote", "-D", self.folder / "data")

    def set(self, name, value):
        """Changes a setting that needs only a reload."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"alter system set {name} = '{value}'")
            connection.execute("select pg_reload_conf()")

    def _command(self):
        # The data need not survive the machine, so nothing waits for the disk. The databases are too short-lived for a vacuum.
        return [self.programs / "postgres", "-D", self.folder / "data", "-p", self.port, "-c", "listen_addresses=127.0.0.1",
                "-c", f"unix_socket_directories={self.folder}", "-c", "fsync=off", "-c", "max_connections=200", "-c", "autovacuum=off", "-c", "shared_buffers=32MB"]

    def start(self):
        self.process.launch()
        self.process.wait_until(self._ready, "takes connections")
        return self

    def _ready(self):
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
            return True
        except psycopg.OperationalError:
            return False

    def url(self, database):
        return f"postgresql://runyard@127.0.0.1:{self.port}/{database}"

    def new_database(self, copy_of="template1"):
        """A fresh database, empty or a copy of another; its URL."""
        name = f"t{next(self.numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            how = "strategy file_copy" if connection.info.server_version >= 150000 else ""
            connection.execute(f"create database {name} template {copy_of.rpartition('/')[2]} {how}")
        return self.url(name)

    def new_bootstrapped(self):
        """A fresh database in which bootstrap was run; its URL, and bootstrap's output."""
        return self.new_database(copy_of="bootstrapped"), dict(self.tokens)

    def stop(self, number=signal.SIGINT):
        self.process.stop(number)

    def restart(self, number=signal.SIGINT):
        """SIGINT disconnects every client; SIGQUIT is a crash."""
        self.stop(number)
        self.start()

    def release(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.owner.close()


class ObjectStore:
    """A bucket of an S3-compatible server (versitygw) that checks every signature. Its contents are files below
    `bucket`."""

    access, secret, region = "runyard", "an object store's secret", "eu-test-1"

    def __init__(self, folder):
        self.root = Path(folder) / "objects"
        self.bucket = self.root / "data" / "runyard"
        self.bucket.mkdir(parents=True)
        (self.root / "meta").mkdir()
        self.port = free_port()
        command = [DEPS / "objects/versitygw", "--port", f"127.0.0.1:{self.port}", "--access", self.access, "--secret", self.secret, "--region", self.region,
                   "--iam-dir", self.root, "posix", "--sidecar", self.root / "meta", self.root / "data"]
        self.process = Process("objects", command, folder)

    def options(self, prefix, port=None):
        """A scheduler's options to use `prefix` of it, through another port if given."""
        return {"object_store_url": f"http://127.0.0.1:{port or self.port}/runyard/{prefix}", "object_store_region": self.region,
                "object_store_access_key": self.access, "object_store_secret_key": self.secret}

    def files(self, prefix):
        # The server removes folders that have become empty.
        return [Path(folder) / name for folder, _, names in os.walk(self.bucket / prefix) for name in names]

    def start(self):
        self.process.launch()
        self.process.wait_until(lambda: answers(self.port), "takes connections")
        return self

    def stop(self, number=signal.SIGTERM):
        self.process.stop(number)

    def release(self):
        self.process.kill()


class Redis:
    def __init__(self, folder):
        self.port = free_port()
        command = [os.environ.get("RUNYARD_TEST_REDIS") or which("redis-server"), "--port", self.port, "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        self.process = Process("redis", command, folder)

    def start(self):
        self.process.launch()
        self.process.wait_until(lambda: answers(self.port), "takes connections")
        return self

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self, *words):
        """The output of redis-cli for a command."""
        done = subprocess.run([which("redis-cli"), "-p", str(self.port), *words], capture_output=True, text=True)
        return done.stdout.strip()

    def restart(self, number=signal.SIGKILL):
        """It keeps nothing on disk: its data is lost."""
        self.process.stop(number)
        self.start()

    def release(self):
        self.process.stop()


class Broker:
    """The embedded broker."""

    kind = "embedded"
    fetch_wait_ms = 10  # of a local stack
    arguments = ("--rejoin-ms", 700)

    def __init__(self, folder):
        self.port = free_port()
        self.port_file = Path(folder) / f"broker-{self.port}.port"
        self.process = Process("broker", [program("runyard-broker"), *self.arguments, "--port-file", self.port_file, "--port", self.port], folder)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def options(self):
        """The options of its clients."""
        return {"brokers": self.address, "fetch_wait_ms": self.fetch_wait_ms, "broker_properties": "heartbeat.interval.ms=300;allow.auto.create.topics=true"}

    def start(self):
        """Until its topics exist, the broker ends connections."""
        self.port_file.unlink(missing_ok=True)
        self.process.launch()
        self.process.wait_until(self.port_file.exists, "takes requests")
        return self

    def restart(self, number=signal.SIGKILL):
        """Its messages are lost."""
        self.process.stop(number)
        self.start()

    def release(self):
        self.process.stop()
        self.process.check_sanitizers()


class Kafka:
    """Apache Kafka with one node, set up as by deploy/local/up --broker kafka. `proxied_ports` are additional ports, each
    of which leads through a proxy: {name of a client: port of its proxy}. `target_ports` are the targets of the
    proxies. With a password it accepts only the local stack's account. A node of a cluster is given the port of its
    controller, the cluster's identity and settings (support/kafka_cluster.py)."""

    kind = "kafka"
    fetch_wait_ms = 500

    def __init__(self, folder, proxied_ports=None, password=None, controller=None, identity=None, settings=""):
        self.folder = Path(folder)
        self.port = free_port()
        self.password = password
        self.jars = Path(os.environ.get("RUNYARD_TEST_KAFKA") or DEPS / "kafka")
        assert self.jars.exists(), f"{self.jars} does not exist; tests/run fetches it"
        controller = controller or free_port()
        properties = self._lib('kafka_properties "$1" "$2" "$3"', self.folder / "data", self.port, controller)
        self.target_ports = {name: free_port() for name in proxied_ports or {}}
        accounts = password and self._lib('kafka_sasl_properties "$1" "$2" "$3"', self.port, controller, password)
        (self.folder / "server.properties").write_text(properties + (accounts or self._listeners(controller, proxied_ports or {})) + settings)
        self._format(identity or self.new_identity())
        self.process = Process("kafka", self.java("kafka.Kafka", self.folder / "server.properties"), folder)

    @classmethod
    def new_identity(cls):
        return cls._lib("kafka_cluster_id").strip()

    def _format(self, identity):
        done = subprocess.run(self.java("kafka.tools.StorageTool", "format", "-t", identity, "-c", self.folder / "server.properties"),
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def _listeners(self, controller, proxied_ports):
        """A client continues at the address that its listener advertises, so each of these ports has a
        listener of its own."""
        inner = {"PLAINTEXT": self.port, "CONTROLLER": controller, **{f"PROXIED{n}": port for n, port in enumerate(self.target_ports.values())}}
        outer = {"PLAINTEXT": self.port, **{f"PROXIED{n}": port for n, port in enumerate(proxied_ports.values())}}

        def listed(ports):
            return ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())

        protocols = ",".join(f"{name}:PLAINTEXT" for name in inner)
        return f"listeners={listed(inner)}\nadvertised.listeners={listed(outer)}\nlistener.security.protocol.map={protocols}\n"

    @staticmethod
    def _lib(script, *arguments):
        """Runs functions of deploy/local, so that the settings are defined in one place."""
        local = ROOT / "deploy/local"
        script = f"set -eu; source {local}/lib.sh; source {local}/servers.sh; {script}"
        return subprocess.run(["bash", "-c", script, "lib", *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    def java(self, *arguments):
        """The command that runs a class of Kafka."""
        line = self._lib('kafka_java "$@"; printf "%s\\n" "${kafka_command[@]}"', self.jars, *arguments)
        return line.splitlines()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def options(self):
        given = {"broker_properties": self._lib('kafka_client_properties "$1"', self.password).strip()} if self.password else {}
        return {"brokers": self.address, "fetch_wait_ms": self.fetch_wait_ms, **given}

    def start(self):
        self.process.launch()
        return self.start_waiting()

    def start_waiting(self):
        self.process.wait_until(lambda: answers(self.port), "takes connections")
        return self

    def restart(self, number=signal.SIGTERM):
        self.process.stop(number)
        self.start()

    def lose_data(self):
        """The broker and its disk are lost. A new one, which is empty, takes its place."""
        self.process.kill()
        shutil.rmtree(self.folder / "data")
        self._format(self.new_identity())
        self.start()

    def release(self):
        self.process.kill()


def children(pid):
    return [int(child) for list in Path(f"/proc/{pid}/task").glob("*/children") for child in list.read_text().split()]


class Servers:
    """PostgreSQL, the embedded broker and Redis for one test, which may stop them."""

    def __init__(self, folder):
        self.postgres, self.broker, self.redis = Postgres().start(), Broker(folder).start(), Redis(folder).start()
        self.all = [self.postgres, self.broker, self.redis]

    def send(self, number):
        """Sends the signal to all processes of the running servers."""
        for server in self.all:
            running = [server.process.pid, *children(server.process.pid)] if server.process.alive() else []
            for pid in running:
                with suppress(ProcessLookupError):  # a process of PostgreSQL has just ended
                    os.kill(pid, number)

    def release(self):
        self.send(signal.SIGCONT)
        for server in self.all:
            server.process.kill()
        self.postgres.release()
