# SPDX-License-Identifier: MPL-2.0
"""A scheduler alone: only the test itself sends requests to it."""

import json
import shutil
import tempfile
import urllib.error
import urllib.request
import uuid
from contextlib import contextmanager
from pathlib import Path

import psycopg

from support.api import Api
from support.runyard import KEYS, Scheduler
from support.servers import Broker
from support.wait import PATIENCE


class Office:
    def __init__(self, folder, bus, database, **options):
        self.folder = folder
        self.bus = bus
        self.database = database
        Scheduler.run_command("migrate", database_url=database, keys=KEYS)
        self.tokens = self.bootstrap("admin", "acme")
        self.scheduler = self.new_scheduler("scheduler-1", **options)

    def new_scheduler(self, name, **options):
        """A scheduler on this database, not started yet."""
        options = {"lease_seconds": 20,  # for half of that after its start a scheduler does not expire leases
                   "task_allow": "127.0.0.1", "trusted_proxies": "127.0.0.1", **self.bus.options, **options}
        return Scheduler(name, self.folder, database_url=self.database, keys=KEYS, **options)

    def bootstrap(self, user, organization):
        made = Scheduler.run_command("bootstrap", user, f"{user}@example.com", organization, database_url=self.database, keys=KEYS)
        return json.loads(made.stdout)

    def organization(self):
        """A client that works on a new organization."""
        api = Api(self.scheduler.url, self.tokens["token"], f"o-{uuid.uuid4()}")
        attributes = {"name": api.organization, "email": "admin@example.com"}
        api.post("organizations", {"data": {"type": "organizations", "attributes": attributes}})
        return api

    def stranger(self, name=None):
        """A client of the owner of a new organization, who is not a site admin. Both have that name."""
        name = name or f"u-{uuid.uuid4()}"
        token = self.bootstrap(name, name)["token"]
        self.change("update users set is_site_admin = false where username = %s", name)
        return Api(self.scheduler.url, token, name)

    def ask(self, query, *values):
        """The rows that the query returns."""
        with psycopg.connect(self.database) as connection:
            return connection.execute(query, values).fetchall()

    def change(self, statement, *values):
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute(statement, values)


@contextmanager
def open_office(postgres, **options):
    """An office whose scheduler is running, with a broker and a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="runyard-office."))
    bus = Broker(folder).start()
    office = Office(folder, bus, postgres.new_database(), **options)
    try:
        office.scheduler.start()
        yield office
    finally:
        office.scheduler.release()
        bus.release()
        shutil.rmtree(folder, ignore_errors=True)


class Hands:
    """A worker that does nothing by itself: the test claims jobs and sends their results."""

    def __init__(self, office, token=None, apply_seconds=0):
        """apply_seconds: its limit for an apply, as it reports it; 0: none."""
        self.apply_seconds = apply_seconds
        self.url = f"{office.scheduler.url}/api/worker/v1"
        self.token = token or office.tokens["agent-token"]
        registered = self.call("POST", "register", self.token, {"name": "hands", "slots": 100, "version": "1"})
        self.worker, self.own_token = registered["worker"], registered["token"]
        self.jobs = {}

    def call(self, method, path, token, body=None):
        sent = json.dumps(body).encode() if body is not None else None
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/{path}", sent, headers, method=method), timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def status(self, method, path, token, body=None):
        """The answer to such a request."""
        try:
            self.call(method, path, token, body)
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    def beat(self, *jobs):
        """The scheduler's answer about the jobs."""
        said = [{"job": job["job"], "attempt": job["attempt"]} for job in jobs]
        return self.call("POST", "heartbeat", self.own_token, {"free": 1, "slots": 100, "draining": False, "partitions": [], "jobs": said})["jobs"]

    def leave(self, failed=False):
        self.call("POST", "leave", self.own_token, {"failed": failed})

    def take(self, run, stage):
        """The run's job, which must be of that stage."""
        request = {"worker": self.worker, "slots": 100, "apply-seconds": self.apply_seconds}
        for job in self.call("POST", "claim", self.token, request)["jobs"]:
            self.jobs[job["run"]] = job
        job = self.jobs.pop(run)
        assert job["stage"] == stage
        return job

    def plan(self, run):
        """The run's plan succeeds, with changes."""
        self.end(self.take(run, "plan"), "passed", **{"has-changes": True, "additions": 1})

    def evaluate(self, run, kind, outcome, sets, output=""):
        """The run's policies have these results. Returns what the job had to evaluate."""
        job = self.take(run, kind)
        bundle = self.call("GET", f"jobs/{job['job']}/policies", job["token"])
        self.call("PUT", f"jobs/{job['job']}/policy-results", job["token"], {"sets": sets, "output": output})
        self.end(job, outcome)
        return bundle

    def end(self, job, outcome, **more):
        result = {"v": 1, "job": job["job"], "attempt": job["attempt"], "run": job["run"], "outcome": outcome, "error": "", "has-changes": False,
                  "additions": 0, "changes": 0, "destructions": 0, "imports": 0, "terraform-version": "1.11.4", **more}
        self.call("POST", f"jobs/{job['job']}/result", job["token"], result)
