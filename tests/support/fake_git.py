# SPDX-License-Identifier: MPL-2.0
"""A worker that answers git jobs from repositories in memory: what it does and when is the test's."""

import gzip
import hashlib
import http.client
import io
import secrets
import tarfile
import threading
import urllib.error
from pathlib import PurePosixPath

from support.wait import until


def tar_of(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, text in sorted(files.items()):
            info = tarfile.TarInfo(str(PurePosixPath(name)))
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


class FakeRepository:
    """Branches and tags of commits. A commit is a tree of files, with one parent or none."""

    def __init__(self):
        self.head = "main"
        self.refs = {}
        self.commits = {}  # sha: (parent's sha or "", {path: text}, message)
        self.commit({"main.tf": f"# {secrets.token_hex(4)}"}, "First commit")

    def commit(self, files, message="A change", branch="main", parent=None):
        """A commit on a branch: the files that changed since its parent, by default the branch's head. Returns its sha."""
        parent = self.refs.get(f"refs/heads/{branch}", "") if parent is None else parent
        sha = secrets.token_hex(20)
        tree = {**(self.commits[parent][1] if parent else {}), **files}
        self.commits[sha] = (parent, tree, message)
        self.refs[f"refs/heads/{branch}"] = sha
        return sha

    def sha(self, branch="main"):
        return self.refs[f"refs/heads/{branch}"]

    def changed(self, before, after):
        old = self.commits[before][1] if before in self.commits else {}
        new = self.commits[after][1]
        return sorted(path for path in {*old, *new} if old.get(path) != new.get(path))


class FakeGit:
    """Claims git jobs of a pool in a thread, and answers them. Jobs of a kind in `held` wait until `release`."""

    def __init__(self, site, token=None):
        self.site = site
        self.worker = site.fake_worker(token)
        self.kinds = ["fetch", "directory", "diff", "look"]  # None: a worker of an earlier version
        self.repositories = {}  # by identifier
        self.held = set()
        self.waiting = []
        self.done = []  # (kind, identifier, sha) of all answered jobs
        self.outcomes = {}  # sha: (outcome, error) of fetches that fail
        self.changes = {}  # sha: files that replace the commit's, as if a submodule had moved
        self.lock = threading.Lock()
        self.stopping = False
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def stop(self):
        self.stopping = True

    def repository(self, identifier):
        return self.repositories.setdefault(identifier, FakeRepository())

    def hold(self, *kinds):
        with self.lock:
            self.held |= set(kinds)

    def release(self, *kinds):
        with self.lock:
            self.held -= set(kinds)
            ready = [job for job in self.waiting if job["kind"] in kinds]
            self.waiting = [job for job in self.waiting if job["kind"] not in kinds]
        for job in ready:
            self.answer(job)

    def claimed(self, kind):
        """A held job of that kind, once it was claimed."""
        return until(lambda: next((job for job in self.waiting if job["kind"] == kind), None), f"a {kind} is claimed")

    def count(self, kind, sha=None):
        return sum(1 for done in self.done if done[0] == kind and sha in (None, done[2]))

    def _work(self):
        while not self.stopping:
            self.worker.url = self.site.scheduler.url
            try:
                answer = self.worker.call("POST", "git/claim", {"worker": self.worker.id, "slots": 50, **({"kinds": self.kinds} if self.kinds else {})}, check=False)
            except (urllib.error.URLError, OSError, http.client.HTTPException):
                threading.Event().wait(0.05)  # the scheduler is not up
                continue
            if answer.status != 200:
                threading.Event().wait(0.05)
                continue
            for job in answer.json["jobs"]:
                with self.lock:
                    held = job["kind"] in self.held
                    if held:
                        self.waiting.append(job)
                if not held:
                    self.answer(job)

    def send(self, job, **result):
        """The status of the answer to a result. A scheduler that is away is asked again."""
        return self.ask(job, "POST", "result", result)

    def ask(self, job, method, what, body):
        path = f"git/jobs/{job['job']}/{what}"
        while not self.stopping:
            try:
                answer = self.worker.call(method, path, body, job["token"], check=False)
                if answer.status != 503:
                    return answer.status
            except (urllib.error.URLError, OSError, http.client.HTTPException):
                pass
            threading.Event().wait(0.05)
        return 0

    def answer(self, job):
        repository = self.repository(job["identifier"])
        status = getattr(self, f"_{job['kind']}")(job, repository)
        if status < 400:
            self.done.append((job["kind"], job["identifier"], job.get("sha")))

    def _look(self, job, repository):
        return self.send(job, outcome="done", refs=dict(repository.refs), head=f"refs/heads/{repository.head}")

    def _diff(self, job, repository):
        before = job["before"]
        if not before and job.get("base"):
            before = repository.refs.get(f"refs/heads/{job['base']}", "")
        if job["sha"] not in repository.commits:
            return self.send(job, outcome="failed", error="no such commit")
        return self.send(job, outcome="done", files=repository.changed(before, job["sha"]),
                         commits={job["sha"]: {"message": repository.commits[job["sha"]][2], "author": "ada"}})

    def _fetch(self, job, repository):
        sha = job["sha"]
        if sha in self.outcomes or sha not in repository.commits:
            outcome, error = self.outcomes.get(sha, ("failed", f"commit {sha} no longer exists in {job['identifier']}"))
            return self.send(job, outcome=outcome, error=error)
        files, folder = self.changes.get(sha, repository.commits[sha][1]), job.get("directory", "") + "/"
        if folder != "/":
            files = {path.removeprefix(folder): text for path, text in files.items() if path.startswith(folder)}
        tar = tar_of(files)
        packed = gzip.compress(tar, mtime=0)
        query = f"archive?hash={hashlib.sha256(tar).hexdigest()}&size={len(tar)}"
        status = self.ask(job, "PUT", query, packed)
        if status >= 400:
            return status
        return self.send(job, outcome="done", commits={sha: {"message": repository.commits[sha][2], "author": "ada"}})

