# SPDX-License-Identifier: MPL-2.0
"""Git jobs between scheduler and worker: claims, leases and stops."""

from pathlib import Path

import pytest

from support.fake_worker import FakeWorker, PendingRequest
from support.proc import descendants
from support.wait import until

PASSWORD = "secret-of-ada-1"
HELD = """#!/bin/sh
case "$PATH_INFO$REQUEST_METHOD" in
*git-upload-packPOST*) while [ ! -e {gate} ]; do sleep 0.05; done ;;
esac
exec {exec_path}/git-http-backend
"""


@pytest.fixture
def held(http):
    """The server answers fetches when held() was called. Returns the repository's commit, too."""
    repository, gate = http.repository(), http.folder / "opened"
    sha = repository.commit({"main.tf": ""})
    (http.folder / "backend").write_text(HELD.format(gate=gate, exec_path=repository.git("--exec-path")))
    return sha, gate.touch


def fetching(worker):
    return [pid for pid in descendants(worker.pid) if b"git-remote-http" in read(f"/proc/{pid}/cmdline")]


def read(path):
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def test_a_worker_that_is_killed_in_mid_fetch_loses_nothing(rows, http, held, scheduler, git_worker):
    sha, open_gate = held
    worker = git_worker()
    content = rows.fetch(rows.repository(rows.connection(http.url)), sha)
    until(lambda: fetching(worker), "git waits for the server")
    processes = descendants(worker.pid) - {worker.pid}
    worker.kill()
    until(lambda: not any(b"git" in read(f"/proc/{pid}/cmdline") for pid in processes), "its processes are gone")
    rows.ask("update git_jobs set lease_until = now() - interval '1 second'")
    until(lambda: rows.jobs()[0][:3] == ("fetch", "waiting", 1), lambda: f"the job waits again: {rows.jobs()}")
    assert rows.content(content)["error"] == "Contact with the worker that worked with git was lost."
    open_gate()
    git_worker()
    rows.ask("update git_jobs set due_at = now()")
    assert rows.fetched(content)["state"] == "stored" and rows.content(content)["error"] is None


def test_a_fetch_that_nobody_needs_is_stopped(rows, http, held, scheduler, git_worker):
    sha, open_gate = held
    scheduler(lease_seconds=3)
    worker = git_worker()
    rows.fetch(rows.repository(rows.connection(http.url)), sha)
    until(lambda: fetching(worker), "git waits for the server")
    rows.ask("delete from git_jobs")
    until(lambda: not fetching(worker), "it is stopped")
    assert worker.metric("runyard_worker_git_jobs_total", kind="fetch", outcome="done") == 0
    open_gate()


def test_a_drained_worker_gives_its_jobs_back(rows, http, held, git_worker):
    sha, open_gate = held
    worker = git_worker(drain_seconds=1)
    content = rows.fetch(rows.repository(rows.connection(http.url)), sha)
    until(lambda: fetching(worker), "git waits for the server")
    worker.process.stop()
    assert rows.jobs() == [("fetch", "waiting", 0, None)]
    open_gate()
    git_worker()
    assert rows.fetched(content)["state"] == "stored"


@pytest.fixture
def claimer(tokens, scheduler, api):
    worker = FakeWorker(scheduler.all[0].url, tokens["agent-token"])
    return worker


def claim(worker, slots=2):
    answer = worker.call("POST", "git/claim", {"worker": worker.id, "slots": slots}, worker.token)
    assert answer.status == 200
    return answer.json["jobs"]


def on(worker, job, method, path, body):
    return worker.call(method, f"git/jobs/{job['job']}/{path}", body, job["token"], check=False).status


def test_organizations_take_turns_and_fetches_come_first(rows, claimer, ask):
    repository = rows.repository(rows.connection("https://git.example.com"))
    for number in range(4):
        rows.fetch(repository, f"{number}" * 40)
    other = rows.id("org")
    ask("insert into organizations (id, name, email) values (%s, 'other', 'x@example.com')", other)
    rows.organization = other
    connection = rows.connection("https://git.example.com")
    late = rows.repository(connection, "late.git")
    rows.job("look", late)
    rows.fetch(late, "a" * 40)
    kinds = [(job["kind"], job["identifier"]) for job in claim(claimer, 2)]
    assert sorted(kinds) == [("fetch", "acme/network.git"), ("fetch", "late.git")]
    assert [job["kind"] for job in claim(claimer, 4)] == ["fetch", "fetch", "fetch", "look"]


def test_a_claim_waits_for_a_job_and_a_late_result_changes_nothing(rows, claimer, ask):
    repository = rows.repository(rows.connection("https://git.example.com"))
    waiting = PendingRequest(lambda: claim(claimer))
    rows.job("look", repository)
    (job,) = waiting.answer() or claim(claimer)
    assert job["url"] == "https://git.example.com/acme/network.git" and job["login"]["password"] == PASSWORD
    beat = claimer.call("POST", "git/heartbeat", {"jobs": [{"job": job["job"], "attempt": 1}, {"job": job["job"], "attempt": 2}]}, claimer.own_token)
    assert [item["held"] for item in beat.json["jobs"]] == [True, False]
    ask("update git_jobs set lease_until = now() - interval '1 second'")
    until(lambda: rows.jobs()[0][1] == "waiting", "the lease has ended")
    done = {"outcome": "done", "refs": {"refs/heads/main": "1" * 40}, "head": "refs/heads/main"}
    assert on(claimer, job, "POST", "result", done) == 404
    ask("update git_jobs set due_at = now()")
    (again,) = claim(claimer)
    assert again["attempt"] == 2 and on(claimer, again, "POST", "result", {"outcome": "nonsense"}) == 422
    hostile = {"refs/heads/--x y": "1" * 40, "refs/heads/x": "short", "HEAD": "1" * 40}
    assert on(claimer, again, "POST", "result", {**done, "refs": {**done["refs"], **hostile}}) == 204
    assert rows.jobs() == [] and ask("select name from vcs_refs") == [("refs/heads/main",)]


def test_the_fifth_failure_is_the_last(rows, claimer, ask):
    content = rows.fetch(rows.repository(rows.connection("https://git.example.com")), "1" * 40)
    pauses = []
    for attempt in range(5):
        ask("update git_jobs set due_at = now()")
        (job,) = claim(claimer)
        assert on(claimer, job, "POST", "result", {"outcome": "retry", "error": f"try {attempt + 1}"}) == 204
        pauses += ask("select round(extract(epoch from due_at - now()))::int from git_jobs")
        assert rows.content(content)["error"] == f"try {attempt + 1}"
    assert pauses == [(5,), (20,), (80,), (320,)] and rows.content(content)["state"] == "errored" and rows.jobs() == []


def test_waiting_jobs_follow_their_connection_to_another_pool(rows, claimer, ask, api):
    connection = rows.connection("https://git.example.com")
    rows.job("look", rows.repository(connection))
    pool = api.post("organizations/acme/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": "edge"}}}).data["id"]
    ask("update vcs_connections set pool_id = %s where id = %s", pool, connection)
    until(lambda: ask("select pool_id from git_jobs") == [(pool,)], "the job has moved")
