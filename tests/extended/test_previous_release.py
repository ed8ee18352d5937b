# SPDX-License-Identifier: MPL-2.0
"""A site is upgraded from the previous release and taken back to it, one process after another, with runs in flight."""

import json
import subprocess

import pytest

from support import previous
from support.api import Api
from support.gate import Gate
from support.process import clean_environment
from support.receiver import says_until_taken
from support.runyard import KEYS, Notifier, Scheduler, Worker, arguments
from support.site import release_all
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture(scope="module")
def before():
    """The folder of the previous release's programs."""
    return previous.build()


def command(folder, database, *words):
    argv, environment = arguments({"database_url": database, "keys": KEYS})
    done = subprocess.run([folder / "runyard-scheduler", *argv, *words], capture_output=True, text=True, env=clean_environment(**environment))
    assert done.returncode == 0, done
    return done.stdout


class Site:
    """Two schedulers, a notifier and workers, each of either release. The database is the previous release's."""

    def __init__(self, before, folder, database, bus, redis, sandbox):
        self.before, self.database, self.folder, self.sandbox, self.bus = before, database, folder, sandbox, bus.options
        command(before, database, "migrate")
        self.tokens = json.loads(command(before, database, "bootstrap", "admin", "admin@example.com", "acme"))
        self.schedulers = [Scheduler(f"scheduler-{n}", folder, database_url=database, keys=KEYS, task_allow="127.0.0.1", **self.bus) for n in (1, 2)]
        self.notifier = Notifier("notifier-1", folder, scheduler_url=self.schedulers[0].url, notifier_token=self.tokens["notifier-token"], redis_url=redis.url,
                                 name="notifier-1", allow="127.0.0.1", **self.bus)
        self.workers = []

    def turn(self, service, old):
        """Starts it, or restarts it, as a program of the one or the other release."""
        if service.process:
            service.stop()
        service.binary = self.before / type(service).binary if old else type(service).binary
        service.start()

    def worker(self, old, gate):
        """One more worker. The other ones drain meanwhile, and end when their jobs have."""
        name = f"worker-{len(self.workers) + 1}"
        worker = Worker(name, self.folder, scheduler_url=self.schedulers[0].url, agent_token=self.tokens["agent-token"], name=name, slots=2,
                        data_dir=self.folder / name, sandbox=self.sandbox, sandbox_bind=gate.folder, **self.bus)
        for other in self.workers:
            other.process.send(15)
        self.workers.append(worker)
        self.turn(worker, old)

    def release(self):
        release_all([*self.workers, self.notifier, *self.schedulers])


@pytest.fixture(autouse=True)
def contract_check(contract):
    """Answers of the previous release lack attributes of this one, so they are not compared with its OpenAPI document."""
    yield
    contract.found.clear()


@pytest.fixture
def site(before, folder, postgres, bus, redis, sandbox):
    redis.command("flushall")
    site = Site(before, folder, postgres.new_database(), bus, redis, sandbox)
    yield site
    site.release()


def gated(gate):
    return {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n'}


class Work:
    """Runs that wait at a gate, at a run task and for a person, while processes of the other release take over."""

    def __init__(self, api, receiver, folder, name):
        self.api, self.gate = api, Gate(folder, name)
        self.task = receiver.service(says_until_taken("passed"))

    def begin(self):
        api = self.api
        self.applying = api.run_files(api.workspace(auto_apply=True), gated(self.gate))
        self.gate.wait()
        self.planned = api.run_files(api.workspace(), ONE)
        api.wait_status(self.planned, "planned")
        asked = api.workspace(auto_apply=True)
        api.attach(asked, api.task(self.task), "pre_plan")
        self.asked = api.run_files(asked, ONE)

    def check(self):
        """Everything works between the processes as they are now."""
        api = self.api
        api.wait_status(self.asked, "applied")
        workspace = api.workspace(auto_apply=True)
        run = api.run_files(workspace, ONE)
        api.wait_status(run, "applied")
        assert api.resources(workspace) == ["terraform_data.one"] and "Apply complete" in api.log(run, "apply") or api.logs(run)
        asked = api.workspace(auto_apply=True)
        api.attach(asked, api.task(self.task), "pre_plan")
        self.asked = api.run_files(asked, ONE)

    def end(self):
        self.gate.open()
        self.api.act(self.planned, "apply")
        for run in (self.applying, self.planned, self.asked):
            self.api.wait_status(run, "applied")


@pytest.mark.parametrize("order", ["notifiers, schedulers, workers", "workers, schedulers, notifiers"])
def test_an_upgrade_and_the_way_back(site, before, receiver, folder, postgres, order):
    api = Api(site.schedulers[0].url, site.tokens["token"])
    forth, back = Work(api, receiver, folder, "forth"), Work(api, receiver, folder, "back")
    for one in (*site.schedulers, site.notifier):
        site.turn(one, old=True)
    site.worker(True, forth.gate)

    def turn_all(work, old, other_gate):
        for kind in order.split(", "):
            if kind == "workers":
                site.worker(old, other_gate)
                work.check()
            elif kind == "notifiers":
                site.turn(site.notifier, old)
                work.check()
            else:
                for one in site.schedulers:
                    site.turn(one, old)
                    work.check()

    forth.begin()
    Scheduler.run_command("migrate", database_url=site.database, keys=KEYS)
    forth.check()
    turn_all(forth, False, back.gate)
    refused = Scheduler.run_command("migrate", "--contract", database_url=site.database, keys=KEYS, check=False)
    assert refused.returncode == 1 and "worker worker-1" in refused.stderr, "the draining worker is an older process"
    forth.end()
    until(lambda: not site.workers[0].process.alive(), "the old worker has left")

    back.begin()
    turn_all(back, True, forth.gate)
    back.end()
    assert command(before, site.database, "migrate") == ""
