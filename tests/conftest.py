# SPDX-License-Identifier: MPL-2.0
"""Fixtures, named for processes. Servers live for one file's tests, Runyard's own processes for one test."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.api import Api
from support.gate import Gate
from support.receiver import Receiver
from support.runyard import KEYS, Notifier, Scheduler, Worker
from support.servers import DEPS, ROOT, Broker, Kafka, Postgres, Redis


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failing test shows the end of every log of its own."""
    report = (yield).get_result()
    if report.failed and call.when == "call" and hasattr(item, "funcargs"):
        for log in logs_of(item.funcargs):
            lines = log.read_text(errors="replace").splitlines()
            report.sections.append((log.name, "\n".join(lines[-80:])))


def logs_of(funcargs):
    """The logs of this test's processes; of a whole file's where they serve all its tests."""
    for name in ("folder", "site", "full_site"):
        if name in funcargs:
            return sorted(getattr(funcargs[name], "folder", funcargs[name]).glob("*.log"))
    return []


def new_folder(name):
    # Short and open to look through: PostgreSQL's account and the sandbox have to get there.
    path = Path(tempfile.mkdtemp(prefix=f"runyard-{name}."))
    path.chmod(0o755)
    return path


@pytest.fixture
def folder():
    """This test's own folder: its processes' logs and data."""
    path = new_folder("test")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def gate(folder):
    """Where the engine stops until the test lets it go on; workers get it bound into their jobs."""
    gate = Gate(folder)
    yield gate
    gate.open()


@pytest.fixture(scope="session")
def session_folder():
    path = new_folder("session")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres():
    server = Postgres().start()
    yield server
    server.release()


@pytest.fixture
def database(postgres):
    """The URL of a fresh database."""
    return postgres.new_database()


@pytest.fixture(scope="session")
def redis(session_folder):
    server = Redis(session_folder).start()
    yield server
    server.release()


@pytest.fixture(scope="session")
def kafka(session_folder):
    path = session_folder / "kafka"
    path.mkdir()
    server = Kafka(path).start()
    yield server
    server.release()


@pytest.fixture
def broker(folder):
    server = Broker(folder).start()
    yield server
    server.release()


@pytest.fixture
def bus(request):
    """The broker of this test: Apache Kafka or the embedded one, by its mark or else by its folder."""
    if request.node.get_closest_marker("embedded"):
        return request.getfixturevalue("broker")
    if request.node.get_closest_marker("kafka") or request.path.parent.name != "integration":
        return request.getfixturevalue("kafka")
    return request.getfixturevalue("broker")


class Starter:
    """make(option=value...) starts one more process and waits for it; make.launch(...) does not wait. All are released."""

    def __init__(self, make):
        self.make = make
        self.all = []

    def launch(self, **options):
        self.all.append(self.make(len(self.all) + 1, options))
        return self.all[-1].launch()

    def __call__(self, **options):
        return self.launch(**options).start_waiting()


@pytest.fixture
def scheduler(folder, database, bus):
    """scheduler(option=value...) starts one more scheduler, ready to serve."""

    def make(number, options):
        settings = {"database_url": database, "keys": KEYS, "brokers": bus.address, "fetch_wait_ms": bus.fetch_wait_ms,
                    "task_allow": "127.0.0.1", **options}
        return Scheduler(f"scheduler-{number}", folder, **settings)

    starter = Starter(make)
    yield starter
    release_all(starter.all)


def bootstrap(database):
    Scheduler.run_command("migrate", database_url=database, keys=KEYS)
    made = Scheduler.run_command("bootstrap", "admin", "admin@example.com", "acme", database_url=database, keys=KEYS)
    return json.loads(made.stdout)


@pytest.fixture
def tokens(database):
    """What bootstrap made: user, organization, token, agent-token, notifier-token."""
    return bootstrap(database)


@pytest.fixture
def api(tokens, scheduler):
    """A client of the first scheduler, which it starts if the test has not."""
    first = scheduler.all[0] if scheduler.all else scheduler()
    return Api(first.url, tokens["token"])


@pytest.fixture(scope="session")
def sandbox():
    """bwrap where it works: containers often forbid the namespaces it is made of."""
    script = f"source {ROOT}/deploy/local/lib.sh; source {ROOT}/deploy/local/servers.sh; sandbox_kind 2>/dev/null"
    return subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def worker(folder, tokens, scheduler, bus, sandbox):
    """worker(option=value...) starts one more worker. Providers come from the tests' mirror alone."""

    def make(number, options):
        first = scheduler.all[0] if scheduler.all else scheduler()
        name = f"worker-{number}"
        settings = {"scheduler_url": first.url, "agent_token": tokens["agent-token"], "brokers": bus.address,
                    "fetch_wait_ms": bus.fetch_wait_ms, "name": name, "data_dir": folder / name, "sandbox": sandbox,
                    "provider_mirror": DEPS / "mirror" if (DEPS / "mirror").exists() else None, **options}
        return Worker(name, folder, **settings)

    starter = Starter(make)
    yield starter
    release_all(starter.all)


@pytest.fixture
def receiver():
    """The services behind run tasks. What a request was not like, fails the test at its end."""
    receiver = Receiver().start()
    yield receiver
    receiver.release()


@pytest.fixture
def notifier(folder, tokens, scheduler, bus, redis):
    """notifier(option=value...) starts one more notifier, which may call this machine."""

    def make(number, options):
        first = scheduler.all[0] if scheduler.all else scheduler()
        name = f"notifier-{number}"
        settings = {"scheduler_url": first.url, "notifier_token": tokens["notifier-token"], "brokers": bus.address,
                    "fetch_wait_ms": bus.fetch_wait_ms, "redis_url": redis.url, "name": name, "allow": "127.0.0.1", **options}
        return Notifier(name, folder, **settings)

    starter = Starter(make)
    redis.command("flushall")
    yield starter
    release_all(starter.all)


class Site:
    """One scheduler and one worker."""

    def __init__(self, folder, bus, database, sandbox):
        common = {"brokers": bus.address, "fetch_wait_ms": bus.fetch_wait_ms}
        self.folder = folder
        self.database = database
        self.tokens = bootstrap(database)
        self.scheduler = Scheduler("scheduler-1", folder, database_url=database, keys=KEYS, **common)
        self.worker = Worker("worker-1", folder, agent_token=self.tokens["agent-token"], name="worker-1",
                             data_dir=folder / "worker-1", sandbox=sandbox, **common)

    def start(self):
        self.scheduler.start()
        self.worker.options["scheduler_url"] = self.scheduler.url
        self.worker.start()
        self.api = Api(self.scheduler.url, self.tokens["token"])
        return self


@pytest.fixture(scope="module")
def site(postgres, sandbox):
    """One scheduler and one worker for all tests of a file that disturb neither, with the embedded broker."""
    folder = new_folder("site")
    bus = Broker(folder).start()
    site = Site(folder, bus, postgres.new_database(), sandbox)
    try:
        yield site.start()
    finally:
        release_all([bus, site.scheduler, site.worker])
        shutil.rmtree(folder, ignore_errors=True)


INFRACOST = """#!/bin/bash
if grep -q "breaks the estimate" "$3"; then
	echo "there is no price for that" >&2
	exit 1
fi
cat <<END
{"version": "0.2", "currency": "USD", "totalMonthlyCost": "12.5", "pastTotalMonthlyCost": "2.5",
 "summary": {"totalDetectedResources": 1, "totalUnsupportedResources": 0}, "projects": [{"pastBreakdown": {"resources": []},
 "breakdown": {"resources": [{"name": "terraform_data.one", "resourceType": "terraform_data", "monthlyCost": "12.5", "costComponents": []}]}}]}
END
"""


SENTINEL = """#!/bin/bash
case $(<"${!#}") in
passes) ;;
fails) echo "Fail"; exit 1 ;;
breaks) echo "no such thing" >&2; exit 3 ;;
loops) while :; do :; done ;;
esac
"""


class FullSite(Site):
    """With a notifier, services for run tasks, and programs in the place of those that cost money. Deadlines are short."""

    def __init__(self, folder, bus, database, sandbox, redis):
        super().__init__(folder, bus, database, sandbox)
        self.receiver = Receiver()
        self.gates = folder / "gates"
        self.gates.mkdir()
        self.scheduler.options.update(task_allow="127.0.0.1", task_delivery_seconds=4, task_progress_seconds=4, task_total_seconds=16)
        self.worker.options.update(sandbox_bind=self.gates, infracost=self.program("infracost", INFRACOST),
                                   sentinel=self.program("sentinel", SENTINEL))
        self.notifier = Notifier("notifier-1", folder, notifier_token=self.tokens["notifier-token"], redis_url=redis.url, allow="127.0.0.1",
                                 response_timeout_ms=2000, brokers=bus.address, fetch_wait_ms=bus.fetch_wait_ms)

    def program(self, name, script):
        path = self.folder / name
        path.write_text(script)
        path.chmod(0o755)
        return path

    def start(self):
        super().start()
        self.notifier.options["scheduler_url"] = self.scheduler.url
        self.notifier.start()
        self.receiver.start()
        return self

    def estimates(self, wanted):
        """Whether runs made from now on have a cost estimate."""
        body = {"data": {"type": "organizations", "attributes": {"cost-estimation-enabled": wanted}}}
        self.api.patch(f"organizations/{self.api.organization}", body)


@pytest.fixture(scope="module")
def full_site(postgres, sandbox, redis):
    """Everything there is, once, for all tests of a file that disturb none of it."""
    folder = new_folder("site")
    bus = Broker(folder).start()
    redis.command("flushall")
    site = FullSite(folder, bus, postgres.new_database(), sandbox, redis)
    try:
        yield site.start()
    finally:
        release_all([bus, site.scheduler, site.worker, site.notifier, site.receiver])
        shutil.rmtree(folder, ignore_errors=True)


def release_all(services):
    """Stops every one, whatever the others did; then says the first thing that was wrong."""
    wrong = []
    for service in reversed(services):
        try:
            service.release()
        except AssertionError as error:
            wrong.append(error)
    if wrong:
        raise wrong[0]
