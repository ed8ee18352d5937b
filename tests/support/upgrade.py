# SPDX-License-Identifier: MPL-2.0
"""A site whose processes change from one release to another and back, one by one, with runs in flight."""

import json
import subprocess

from support.api import Api
from support.gate import Gate
from support.process import clean_environment
from support.receiver import says_until_taken
from support.runyard import KEYS, Notifier, Scheduler, Worker, arguments
from support.site import release_all

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def command(programs, database, *words, status=0):
    """Runs a command of the scheduler from the folder of programs. Returns what it prints, its errors if they are expected."""
    argv, environment = arguments({"database_url": database, "keys": KEYS})
    done = subprocess.run([programs / "runyard-scheduler", *argv, *words], capture_output=True, text=True, env=clean_environment(**environment))
    assert done.returncode == status, done
    return done.stderr if status else done.stdout


class Site:
    """Two schedulers, a notifier and workers, each of either release: `old` and `new` are folders of programs. The database is the
    old release's."""

    def __init__(self, old, new, folder, database, bus, redis, sandbox):
        self.old, self.new, self.database, self.folder, self.sandbox, self.bus = old, new, database, folder, sandbox, bus.options
        command(old, database, "migrate")
        self.tokens = json.loads(command(old, database, "bootstrap", "admin", "admin@example.com", "acme"))
        self.schedulers = [Scheduler(f"scheduler-{n}", folder, database_url=database, keys=KEYS, task_allow="127.0.0.1", **self.bus) for n in (1, 2)]
        self.notifier = Notifier("notifier-1", folder, scheduler_url=self.schedulers[0].url, notifier_token=self.tokens["notifier-token"], redis_url=redis.url,
                                 name="notifier-1", allow="127.0.0.1", **self.bus)
        self.workers = []
        self.api = Api(self.schedulers[0].url, self.tokens["token"])

    def turn(self, service, programs):
        """Starts it, or restarts it, as a program of that folder."""
        if service.process:
            service.stop()
        service.binary = programs / type(service).binary
        service.start()

    def worker(self, programs, gate):
        """One more worker. The other ones drain meanwhile, and end when their jobs have."""
        name = f"worker-{len(self.workers) + 1}"
        worker = Worker(name, self.folder, scheduler_url=self.schedulers[0].url, agent_token=self.tokens["agent-token"], name=name, slots=2,
                        data_dir=self.folder / name, sandbox=self.sandbox, sandbox_bind=gate.folder, **self.bus)
        for other in self.workers:
            other.process.send(15)
        self.workers.append(worker)
        self.turn(worker, programs)

    def start(self, gate):
        """Starts everything as the old release."""
        for one in (*self.schedulers, self.notifier):
            self.turn(one, self.old)
        self.worker(self.old, gate)

    def turn_all(self, kinds, programs, work, gate):
        """Turns the processes of each kind, one by one. Everything works after each step."""
        for kind in kinds:
            if kind == "workers":
                self.worker(programs, gate)
                work.check()
            for one in {"notifiers": [self.notifier], "schedulers": self.schedulers}.get(kind, []):
                self.turn(one, programs)
                work.check()

    def upgrade(self, kinds, work, gate):
        """The new release's migrations, and then its processes."""
        command(self.new, self.database, "migrate")
        work.check()
        self.turn_all(kinds, self.new, work, gate)

    def release(self):
        release_all([*self.workers, self.notifier, *self.schedulers])



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
