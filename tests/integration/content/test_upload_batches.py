# SPDX-License-Identifier: MPL-2.0
"""Several uploads of a job in one request: each is stored or refused by itself, in order, and all may be repeated."""

import hashlib
import json

import psycopg
import pytest

from support.fake_worker import FakeWorker, upload_batch

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
OK = {"status": 204}


@pytest.fixture
def fake_worker(api, scheduler, tokens):
    return FakeWorker(scheduler.all[0].url, tokens["agent-token"], slots=8)


@pytest.fixture
def job(api, fake_worker):
    api.run_files(api.workspace(auto_apply=True), ONE)
    return fake_worker.claim()[0]


def stored_uploads(database):
    """The bytes of logs, and the stored contents."""
    with psycopg.connect(database) as connection:
        (log,) = connection.execute("select coalesce(sum(log_length), 0) from operations").fetchone()
        return log, {kind for (kind,) in connection.execute("select distinct kind from operation_blobs")}


def test_a_refused_part_does_not_affect_other_parts(api, fake_worker, job):
    answers = fake_worker.upload_batch(job, ("log?offset=0", b"one\n"), ("log?offset=99", b"far\n"), ("schemas?digest=" + "0" * 64, b""), ("log?offset=4", b"two\n"), ("plan", b"a plan"))
    assert [answer["status"] for answer in answers] == [204, 409, 404, 204, 204]
    assert answers[1]["body"] == {"length": 4}
    assert answers[2]["body"]["errors"][0]["status"] == "404"
    assert api.log(job["run"], "plan").strip("\x02\x03") == "one\ntwo\n"
    assert fake_worker.on(job, "GET", "plan").body == b"a plan"


def test_repeated_uploads_are_accepted(api, fake_worker, job):
    parts = ("init", b"an init"), ("log?offset=0", b"one\ntwo\n"), ("plan", b"a plan"), ("schemas?digest=" + "0" * 64, b"{}"), ("plan-json", b"{}")
    assert fake_worker.upload_batch(job, *parts) == fake_worker.upload_batch(job, *parts) == [OK] * len(parts)
    assert fake_worker.upload_batch(job, ("log?offset=4", b"two\nthree\n"), ("plan-json", b"")) == [OK, OK]
    assert api.log(job["run"], "plan").strip("\x02\x03") == "one\ntwo\nthree\n"


def test_only_schemas_are_found_by_their_digest(api, fake_worker, job):
    """An agent must not learn whether a site stores a content, or read it, by its digest alone."""
    configuration = fake_worker.on(job, "GET", "configuration").body
    digest = hashlib.sha256(configuration).hexdigest()
    assert fake_worker.on(job, "PUT", f"schemas?digest={digest}", b"", check=False).status == 404
    schemas = b'{"provider_schemas":{"one":{}}}'
    digest = hashlib.sha256(schemas).hexdigest()
    assert fake_worker.on(job, "PUT", f"schemas?digest={digest}", schemas).status == 204
    api.run_files(api.workspace(auto_apply=True), ONE)
    (other,) = fake_worker.claim()
    assert fake_worker.on(other, "PUT", f"schemas?digest={digest}", b"").status == 204


def test_each_part_of_an_ended_attempt_is_refused(fake_worker, job, database):
    assert fake_worker.result(job).status == 204
    before = stored_uploads(database)
    plan = "plan-" + job["run"].removeprefix("run-")
    answers = fake_worker.upload_batch(job, ("log?offset=0", b"late\n"), ("started", b""), ("plan", b"late"), ("init", b"late"), ("plan-json", b"{}"))
    assert [answer["status"] for answer in answers] == [404, 409, 404, 404, 404]
    assert stored_uploads(database) == before
    # Except for uploads that may follow the plan's result, which name their plan.
    assert fake_worker.upload_batch(job, (f"plan-json?plan={plan}", b"{}"), ("plan", b"late"), (f"schemas?digest={'0' * 64}&plan={plan}", b"{}"))[::2] == [OK, OK]


def test_a_canceled_apply_does_not_start_but_its_log_is_stored(api, fake_worker, job, database):
    assert fake_worker.upload_batch(job, ("plan", b"a plan"), ("plan-json", b"{}")) == [OK, OK]
    assert fake_worker.result(job).status == 204
    (apply_job,) = fake_worker.claim()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update jobs set stop = 1 where id = %s", [apply_job["job"]])
        assert [answer["status"] for answer in fake_worker.upload_batch(apply_job, ("log?offset=0", b"one\n"), ("started", b""))] == [204, 409]
        connection.execute("update jobs set stop = 0 where id = %s", [apply_job["job"]])
        assert fake_worker.upload_batch(apply_job, ("log?offset=4", b"two\n"), ("started", b"")) == [OK, OK]
        assert connection.execute("select started from jobs where id = %s", [apply_job["job"]]).fetchone() == (True,)
    state = {"version": 4, "serial": 1, "lineage": "line", "terraform_version": "1.11.4", "outputs": {}, "resources": []}
    answers = fake_worker.upload_batch(apply_job, ("state", b"{}"), ("log?offset=8", b"three\n"), ("state", json.dumps(state).encode()))
    assert [answer["status"] for answer in answers] == [422, 204, 204]
    assert api.log(job["run"], "apply").strip("\x02\x03") == "one\ntwo\nthree\n"


def head(*parts):
    return json.dumps({"parts": parts}).encode() + b"\n"


VALID = ("log?offset=0", b"good\n"), ("plan", b"good")
MALFORMED = [
    (b"", 400),
    (b"\n", 400),
    (upload_batch(*VALID).replace(b"\n", b" "), 400),
    (b"x" * 20000 + b"\n", 400),
    (b"[]\n", 400),
    (head(), 400),
    (head(*[{"path": "plan", "size": 0}] * 17), 400),
    (head({"path": "plan"}), 400),
    (head({"size": 1}) + b"x", 400),
    (head({"path": "plan", "size": -1}), 400),
    (head({"path": "plan", "size": "1"}) + b"x", 400),
    (head({"path": "plan", "size": 1 << 62}, {"path": "log?offset=0", "size": 1 << 62}) + b"x", 400),
    (upload_batch(*VALID)[:-1], 400),
    (upload_batch(*VALID) + b"x", 400),
    (upload_batch(*VALID, ("log?offset=%00", b"x")), 400),
    (upload_batch(*VALID, ("log?offset=x", b"x")), 422),
    (upload_batch(*VALID, ("log", b"x")), 422),
    (upload_batch(*VALID, ("configuration", b"{}")), 422),
    (upload_batch(*VALID, ("../plan", b"x")), 422),
    (upload_batch(*VALID, ("", b"")), 422),
    (upload_batch(*VALID, ("plan", b"x" * (1 << 20))), 413),
]


def test_a_malformed_batch_is_refused_as_a_whole(fake_worker, job, database):
    for body, status in MALFORMED:
        answer = fake_worker.on(job, "POST", "batch", body, check=False)
        assert (answer.status, answer.json["errors"][0]["status"]) == (status, str(status)), body[:200]
    assert stored_uploads(database) == (0, set())
