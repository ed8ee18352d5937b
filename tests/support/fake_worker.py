# SPDX-License-Identifier: MPL-2.0
"""A worker's side of the protocol (proto/README.md), controlled by the test, for actions that no real worker takes."""

import json
import threading
import urllib.error
import urllib.request

from support.api import Answer
from support.wait import PATIENCE


def upload_batch(*parts):
    """The body of a batch of these (path, bytes)."""
    head = {"parts": [{"path": path, "size": len(body)} for path, body in parts]}
    return json.dumps(head).encode() + b"\n" + b"".join(body for _, body in parts)


def description(readme, **root):
    """The description of a module's version (common/terraform/module_description.h)."""
    lists = {name: [] for name in ("inputs", "outputs", "dependencies", "provider_dependencies", "resources")}
    root = {"path": "", "name": "", "readme": readme, "empty": False, "required_version": "", **lists, **root}
    return {"root": root, "submodules": [], "examples": [], "error": None, "cut": False}


class FakeWorker:
    """It does nothing by itself: the test claims jobs and sends their results."""

    def __init__(self, url, token, name="fake-worker", slots=1, capabilities=None, apply_seconds=0):
        """capabilities: None for a worker of an earlier version, which reports none. apply_seconds: its limit for an
        apply, as it reports it; 0: none."""
        self.url = url
        self.token = token
        self.slots = slots
        self.apply_seconds = apply_seconds
        self.jobs_by_run = {}  # claimed jobs that `take` has not returned yet, by their runs
        self.taking = threading.Lock()
        self.capable = {} if capabilities is None else {"capabilities": capabilities}
        registered = self.call("POST", "register", {"name": name, "slots": slots, "version": "0", **self.capable}).json
        self.id, self.own_token = registered["worker"], registered["token"]

    def call(self, method, path, body=None, token=None, check=True):
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        request = urllib.request.Request(f"{self.url}/api/worker/v1/{path}", data=data, method=method,
                                         headers={"Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                got = Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            got = Answer(error.code, error.headers, error.read())
        assert not check or got.status < 400, f"{method} {path}: {got.status} {got.text}"
        return got

    def describe(self, readme, **root):
        """Answers all inspections of modules that wait in the worker's pool, with this description."""
        described = description(readme, **root)
        for job in self.call("POST", "git/claim", {"worker": self.id, "slots": 64, "kinds": ["module"]}).json["jobs"]:
            self.call("POST", f"git/jobs/{job['job']}/result", {"outcome": "done", "module": described}, job["token"])

    def claim(self, slots=1):
        return self.call("POST", "claim", {"worker": self.id, "slots": slots, **self.capable}).json["jobs"]

    def wait(self, slots=1):
        """Waits for a job in its pool: answered when there is one, or after a while."""
        return self.call("POST", "wait", {"worker": self.id, "slots": slots}).json["jobs"]

    def heartbeat(self, *jobs, draining=False):
        """The scheduler's answers about these jobs."""
        listed = [{"job": job["job"], "attempt": job["attempt"]} for job in jobs]
        body = {"free": 0, "slots": self.slots, "draining": draining, "partitions": [], "jobs": listed, **self.capable}
        return self.call("POST", "heartbeat", body, self.own_token).json["jobs"]

    def announced(self, *ids, check=True):
        """The answer to a heartbeat with the jobs of messages that were read."""
        body = {"free": 0, "slots": self.slots, "draining": False, "partitions": [], "jobs": [], "announced": list(ids), **self.capable}
        return self.call("POST", "heartbeat", body, self.own_token, check)

    def lease(self, job):
        """(held, stop), the scheduler's answer about the job."""
        (answer,) = self.heartbeat(job)
        assert answer["job"] == job["job"]
        return answer["held"], answer["stop"]

    def leave(self, failed=False):
        self.call("POST", "leave", {"failed": failed}, self.own_token)

    def listen(self, *known):
        """The jobs to stop: waits for one that is not among the known ones."""
        request = {"told": list(known)}
        return self.call("POST", "control", request, self.own_token).json["stops"]

    def on(self, job, method, what, body=None, check=True):
        """A request with the job's own token."""
        return self.call(method, f"jobs/{job['job']}/{what}", body, job["token"], check)

    def upload_batch(self, job, *parts):
        """Uploads several (path, bytes) in one request. Returns the answer to each."""
        return self.on(job, "POST", "batch", upload_batch(*parts)).json["parts"]

    def result(self, job, outcome="passed", **more):
        """The answer to a result, by default of a stage with changes."""
        body = {"v": 1, "job": job["job"], "attempt": job["attempt"], "run": job["run"], "outcome": outcome, "has-changes": True, "additions": 1,
                "changes": 0, "destructions": 0, "imports": 0, "terraform-version": "1.11.4", "error": "", **more}
        return self.on(job, "POST", "result", body, check=False)

    # ---- runs, stage by stage ----

    def take(self, run, stage):
        """The run's job, which must be of that stage. Threads take turns, because a claim also returns the jobs of other runs."""
        with self.taking:
            for job in self.call("POST", "claim", {"worker": self.id, "slots": self.slots, "apply-seconds": self.apply_seconds, **self.capable}).json["jobs"]:
                self.jobs_by_run[job["run"]] = job
            job = self.jobs_by_run.pop(run)
        assert job["stage"] == stage
        return job

    def end(self, job, outcome="passed", **more):
        """Sends a result without changes, which must be accepted."""
        answer = self.result(job, outcome, **{"has-changes": False, "additions": 0, **more})
        assert answer.status < 400, f"{answer.status} {answer.text}"

    def plan(self, run):
        """The run's plan succeeds, with changes."""
        self.end(self.take(run, "plan"), "passed", **{"has-changes": True, "additions": 1})

    def evaluate(self, run, kind, outcome, sets, output=""):
        """The run's policies have these results. Returns what the job had to evaluate."""
        job = self.take(run, kind)
        bundle = self.on(job, "GET", "policies").json
        self.on(job, "PUT", "policy-results", {"sets": sets, "output": output})
        self.end(job, outcome)
        return bundle


class PendingRequest:
    """A request that the scheduler holds open, in a thread of its own."""

    def __init__(self, ask, *arguments):
        self.got = None
        self.thread = threading.Thread(target=self._ask, args=(ask, arguments), daemon=True)
        self.thread.start()

    def _ask(self, ask, arguments):
        self.got = ask(*arguments)

    def answered(self):
        return self.got is not None

    def answer(self):
        self.thread.join()
        assert self.answered(), "it is not answered"
        return self.got
