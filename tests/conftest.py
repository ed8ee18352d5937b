# SPDX-License-Identifier: MPL-2.0
"""Fixtures, named after processes. Servers live for the tests of one file, Runyard's processes for one test."""

import shutil

import pytest

from support import api as client
from support.api import Api
from support.authority import Authority
from support.contract import Contract
from support.database import Database
from support.engine import ENGINES
from support.gate import Gate
from support.hooks import Hooks
from support.mail_server import MailServer
from support.receiver import Receiver
from support.runyard import KEYS, Notifier, Scheduler, Worker
from support.servers import DEPS, Broker, Kafka, Postgres, Redis, Servers
from support.site import Site, new_folder, open_full_site, release_all, sandbox_kind
from support.terraform import BODY, Terraform


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failing test prints the end of each of its logs."""
    report = (yield).get_result()
    if report.failed and call.when == "call" and hasattr(item, "funcargs"):
        for log in logs_of(item.funcargs):
            lines = log.read_text(errors="replace").splitlines()
            report.sections.append((log.name, "\n".join(lines[-80:])))


def logs_of(funcargs):
    """The logs of this test's processes, and of those that serve all tests of the file."""
    folders = [getattr(funcargs[name], "folder", funcargs[name]) for name in ("folder", "site", "full_site", "api_site", "cluster", "sso") if name in funcargs]
    return sorted(log for folder in folders for log in folder.glob("*.log"))


@pytest.fixture(scope="session", autouse=True)
def contract():
    """Compares all answers of the API with the OpenAPI document."""
    contract = Contract()
    client.observers.append(contract.note)
    yield contract
    client.observers.remove(contract.note)


@pytest.fixture(autouse=True)
def contract_check(contract):
    """Fails a test that received an answer other than the OpenAPI document says."""
    yield
    contract.check()


@pytest.fixture
def folder():
    """This test's own folder, with the logs and data of its processes."""
    path = new_folder("test")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def gate(folder):
    """A gate at which the engine waits until the test opens it. Workers bind it into their jobs."""
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


@pytest.fixture(scope="session")
def template(postgres):
    """A database in which bootstrap was run, and bootstrap's output. Each test gets a copy."""
    return postgres.new_bootstrapped()


@pytest.fixture
def database(postgres, template):
    """The URL of a database of this test's own."""
    return postgres.new_database(copy_of=template[0])


@pytest.fixture
def ask(database):
    """ask(query, value...) runs the query in PostgreSQL."""
    asked = Database(database)
    yield asked.ask
    asked.close()


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
    """The broker of this test: the embedded one, or Apache Kafka with the mark `kafka`."""
    return request.getfixturevalue("kafka" if request.node.get_closest_marker("kafka") else "broker")


class Starter:
    """make(option=value...) starts one more process and waits for it; make.launch(...) does not wait. All are stopped
    at the end."""

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
    """scheduler(option=value...) starts one more scheduler and waits until it is ready."""

    def make(number, options):
        settings = {"database_url": database, "keys": KEYS, **bus.options,
                    "task_allow": "127.0.0.1", **options}
        return Scheduler(f"scheduler-{number}", folder, **settings)

    starter = Starter(make)
    yield starter
    release_all(starter.all)


@pytest.fixture
def tokens(template):
    """The output of bootstrap: user, organization, token, agent-token, notifier-token."""
    return template[1]


@pytest.fixture
def api(tokens, scheduler):
    """A client of the first scheduler, which is started if the test has not done so."""
    first = scheduler.all[0] if scheduler.all else scheduler()
    return Api(first.url, tokens["token"], trust=first.trust)


@pytest.fixture
def authority(folder):
    """A CA. `scheduler(**authority.serving())` serves TLS with a certificate of it."""
    return Authority(folder)


@pytest.fixture(scope="session")
def sandbox():
    return sandbox_kind()


@pytest.fixture(scope="session")
def engine(request):
    """The engine of this test: the one that a worker finds by itself, or each in turn (support.engine.each_engine)."""
    return getattr(request, "param", ENGINES[0])


@pytest.fixture
def worker(folder, tokens, scheduler, bus, sandbox, engine):
    """worker(option=value...) starts one more worker. Providers come only from the tests' mirror."""

    def make(number, options):
        first = scheduler.all[0] if scheduler.all else scheduler()
        name = f"worker-{number}"
        settings = {"scheduler_url": first.url, "agent_token": tokens["agent-token"], **bus.options,
                    "name": name, "data_dir": folder / name, "sandbox": sandbox, "engine": engine.option,
                    "provider_mirror": DEPS / "mirror" if (DEPS / "mirror").exists() else None, **options}
        return Worker(name, folder, **settings)

    starter = Starter(make)
    yield starter
    release_all(starter.all)


@pytest.fixture
def servers(folder):
    """PostgreSQL, Redis and a broker of this test's own, which may be killed."""
    servers = Servers(folder)
    yield servers
    servers.release()


@pytest.fixture
def services(folder, servers, sandbox):
    """A scheduler, a worker and a notifier that use those servers."""
    url, tokens = servers.postgres.new_bootstrapped()
    bus = servers.broker.options
    scheduler = Scheduler("scheduler-1", folder, database_url=url, keys=KEYS, **bus).start()
    worker = Worker("worker-1", folder, scheduler_url=scheduler.url, agent_token=tokens["agent-token"], name="east-7", data_dir=folder / "worker-1", sandbox=sandbox, **bus)
    notifier = Notifier("notifier-1", folder, scheduler_url=scheduler.url, notifier_token=tokens["notifier-token"], redis_url=servers.redis.url, name="west-2", **bus)
    services = [scheduler, worker.start(), notifier.start()]
    yield services
    release_all(services)


@pytest.fixture
def receiver():
    """The services of run tasks. An invalid request fails the test at its end."""
    receiver = Receiver().start()
    yield receiver
    receiver.release()


@pytest.fixture
def hooks():
    """Receivers of notifications: hooks.hook(code) adds one."""
    hooks = Hooks()
    yield hooks
    hooks.release()


@pytest.fixture
def mail_server():
    """A mail server."""
    mail_server = MailServer()
    yield mail_server
    mail_server.release()


@pytest.fixture
def notifier(folder, tokens, scheduler, bus, redis):
    """notifier(option=value...) starts one more notifier, which may send requests to this machine."""

    def make(number, options):
        first = scheduler.all[0] if scheduler.all else scheduler()
        name = f"notifier-{number}"
        settings = {"scheduler_url": first.url, "notifier_token": tokens["notifier-token"], **bus.options,
                    "redis_url": redis.url, "name": name, "allow": "127.0.0.1", **options}
        return Notifier(name, folder, **settings)

    starter = Starter(make)
    redis.command("flushall")
    yield starter
    release_all(starter.all)


@pytest.fixture(scope="module")
def site(postgres, sandbox, engine):
    """One scheduler and one worker, with the embedded broker, for all tests of a file that do not affect them."""
    folder = new_folder("site")
    bus = Broker(folder).start()
    site = Site(folder, bus, postgres, sandbox, engine.option)
    try:
        yield site.start()
    finally:
        release_all([bus, site.scheduler, site.worker])
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def full_site(postgres, sandbox, redis, engine):
    """All servers and processes, started once, for all tests of a file that do not affect them."""
    with open_full_site(postgres, sandbox, redis, engine) as site:
        yield site


@pytest.fixture
def terraform(request, tmp_path, engine):
    """terraform(name, block="cloud", ...) is the engine's CLI in a folder of its own, on the file's site. Its
    processes end with the test."""
    site = request.getfixturevalue("full_site" if "full_site" in request.fixturenames else "site")
    users = []

    def make(name=None, block="cloud", body=BODY, **more):
        user = Terraform(site, engine, tmp_path / f"user-{len(users) + 1}", body, **more)
        users.append(user)
        if name:
            user.name = name
            user.settings(block, name=name)
            user.init()
        return user

    yield make
    for user in users:
        user.release()
