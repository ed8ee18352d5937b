# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Content in an object store: how it is moved, read and deleted, and the behaviour when the store fails."""

import base64
import concurrent.futures
import hashlib
import itertools
import json
import random

import pytest

from support.api import Api, tar_gz
from support.fake_worker import FakeWorker
from support.http_proxy import HttpProxy
from support.runyard import KEYS, Scheduler
from support.servers import ObjectStore
from support.wait import until

NEW_KEY = "2:" + "6b" * 32
prefixes = itertools.count(1)
# Texts that no file of the store may contain.
PLAIN = "a text that must never leave in the clear"


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    store = ObjectStore(tmp_path_factory.mktemp("objects")).start()
    yield store
    store.release()


@pytest.fixture
def front(objects):
    front = HttpProxy(objects.port)
    yield front
    front.release()


@pytest.fixture
def prefix():
    return f"p{next(prefixes)}/runyard"


def all_content_options(objects, prefix, port=None, **more):
    """Options with which all content is moved at once."""
    return {**objects.options(prefix, port), "object_store_from_bytes": 1, "object_store_after_seconds": 0, **more}


def all_moved(ask):
    """True if PostgreSQL has no content left to move."""
    here = ask("select (select count(*) from blobs where object_key is null) + (select count(*) from log_chunks c join operations o "
               "on o.id = c.operation_id join runs r on r.id = o.run_id where r.ended) + (select count(*) from object_removals where blob_id is not null)")[0][0]
    return here == 0


def wait_moved(ask):
    until(lambda: all_moved(ask), lambda: f"all is moved: {ask('select id, size, object_key from blobs')} {ask('select * from object_removals')}")


def state_of(serial, lineage="3f1c", size=100):
    return json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": lineage, "outputs": {},
                       "resources": [], "check_results": None, "filler": PLAIN + "s" * size}).encode()


def push_state(api, workspace, serial, **more):
    """A state version as clients create it."""
    state = state_of(serial, **more)
    api.post(f"workspaces/{workspace}/actions/lock", {"reason": "test"})
    attributes = {"serial": serial, "lineage": "3f1c", "md5": hashlib.md5(state).hexdigest(), "state": base64.b64encode(state).decode()}
    created = api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}}).data["id"]
    api.post(f"workspaces/{workspace}/actions/unlock")
    return created, state


def raw(api, path, **more):
    return api.call("GET", path, **more)


class FinishedRun:
    """A whole run executed by the test's worker, and each piece of its content."""

    def __init__(self, api, fake_worker, ask):
        self.api = api
        self.content = {}
        source = random.Random(1)
        self.workspace = api.workspace()
        self.archive = tar_gz({"main.tf": PLAIN, "more": source.randbytes(200_000)})
        configuration = api.upload(self.workspace, self.archive)
        self.run = api.run(self.workspace, configuration, auto_apply=True)
        (job,) = until(fake_worker.claim, "the plan waits")
        plan = source.randbytes(300_000)
        plan_json = json.dumps({"format_version": "1.2", "resource_changes": [], "note": PLAIN + "j" * 100_000}).encode()
        schemas = json.dumps({"provider_schemas": {}, "note": PLAIN}).encode()
        self.log = {"plan": self.lines(source, 20_000), "apply": self.lines(source, 10)}
        fake_worker.on(job, "PUT", "init", b"init " + PLAIN.encode())
        fake_worker.on(job, "PUT", "plan", plan)
        fake_worker.on(job, "PUT", "plan-json", plan_json)
        fake_worker.on(job, "PUT", f"schemas?digest={hashlib.sha256(schemas).hexdigest()}", schemas)
        self.write_log(fake_worker, job, "plan")
        assert fake_worker.result(job).status == 204
        wait_moved(ask)
        (job,) = until(fake_worker.claim, "the apply waits")
        # The store has the apply's inputs by now, and claims do not wait for it.
        assert "contents" not in job
        assert fake_worker.on(job, "GET", "configuration").body == self.archive
        assert fake_worker.on(job, "GET", "plan").body == plan
        assert fake_worker.on(job, "GET", "init").body == b"init " + PLAIN.encode()
        fake_worker.on(job, "POST", "started", b"")
        self.states = [state_of(serial) for serial in (1, 2)]
        for state in self.states:
            fake_worker.on(job, "PUT", "state", state)
        self.write_log(fake_worker, job, "apply")
        assert fake_worker.result(job).status == 204
        api.wait_status(self.run, "applied")
        self.plan_json, self.schemas = plan_json, schemas
        self.configuration = configuration

    @staticmethod
    def lines(source, count):
        return b"".join(b"%s %d\n" % (PLAIN.encode(), source.randrange(10**12)) for _ in range(count))

    def write_log(self, fake_worker, job, kind):
        log = self.log[kind]
        for at in range(0, len(log), 300_000):
            fake_worker.on(job, "PUT", f"log?offset={at}", log[at:at + 300_000])

    def log_url(self, kind):
        return self.api.attributes(f"{'plans' if kind == 'plan' else 'applies'}/{self.api.sibling(self.run, kind)}")["log-read-url"]

    def read_log(self, kind, step=65536):
        """Reads as clients do: piece by piece until the end."""
        url, got = self.log_url(kind), b""
        while not got.endswith(b"\x03"):
            piece = raw(self.api, f"{url}?limit={step}&offset={len(got)}").body
            assert piece
            got += piece
        return got

    def check(self):
        api, plan = self.api, self.api.sibling(self.run, "plan")
        assert raw(api, f"configuration-versions/{self.configuration}/download").body == self.archive
        assert raw(api, f"plans/{plan}/json-output").body == self.plan_json
        assert raw(api, f"plans/{plan}/json-schema").body == self.schemas
        assert raw(api, f"plans/{plan}/json-output-redacted").status == 200
        assert raw(api, f"plans/{plan}/changes").status == raw(api, f"plans/{plan}/changes").status == 200
        assert raw(api, f"plans/{plan}/log").status == 200
        assert api.state(self.workspace) == json.loads(self.states[-1])
        for kind, log in self.log.items():
            assert self.read_log(kind) == b"\x02" + log + b"\x03"


@pytest.fixture
def api_of(tokens):
    return lambda scheduler: Api(scheduler.url, tokens["token"])


@pytest.fixture
def fake_worker(tokens):
    return lambda scheduler: FakeWorker(scheduler.url, tokens["agent-token"])


def test_all_content_is_moved_to_read_from_and_deleted_in_the_store(objects, prefix, scheduler, api_of, fake_worker, ask):
    one = scheduler(**all_content_options(objects, prefix))
    api = api_of(one)
    finished = FinishedRun(api, fake_worker(one), ask)
    wait_moved(ask)
    finished.check()

    # Any part of a log can be read by itself.
    whole, url = b"\x02" + finished.log["plan"] + b"\x03", finished.log_url("plan")
    source = random.Random(2)
    for offset, limit in [(0, 1), (1, 1), (262144, 2), (262145, 262144), (len(whole) - 2, 10), (len(whole), 10)] + [
            (source.randrange(len(whole)), source.randrange(1, 400_000)) for _ in range(10)]:
        assert raw(api, f"{url}?limit={limit}&offset={offset}").body == whole[offset:offset + limit], (offset, limit)

    # A rollback to a state is one transaction, though its content must be fetched.
    _, newer = push_state(api, finished.workspace, 3)
    api.post(f"workspaces/{finished.workspace}/actions/lock", {"reason": "test"})
    wait_moved(ask)
    first = ask("select id from state_versions where serial = 2")[0][0]
    relation = {"rollback-state-version": {"data": {"type": "state-versions", "id": first}}}
    api.patch(f"workspaces/{finished.workspace}/state-versions", {"data": {"type": "state-versions", "relationships": relation}})
    assert api.state(finished.workspace)["serial"] == 4

    # Objects are encrypted, have meaningless names, and are counted.
    wait_moved(ask)
    keys = ask("select object_key from blobs")
    assert len(keys) > 8 and all(PLAIN.encode() not in (objects.bucket / prefix / key).read_bytes() for (key,) in keys)
    assert objects.secret not in one.process.log()
    until(lambda: len(objects.files(prefix)) == ask("select objects from object_usage")[0][0] >= len(keys), "all are counted")
    until(lambda: one.metric("runyard_object_store_objects") >= len(keys), "the gauge shows it")
    assert one.metric("runyard_object_store_up") == 1

    # The objects of deleted content are deleted a minute later.
    api.delete(f"workspaces/{finished.workspace}")
    until(lambda: ask("select count(*) from blobs")[0][0] == 0, "unreferenced blobs are deleted")
    ask("update object_removals set due_at = now()")
    until(lambda: not objects.files(prefix) and ask("select objects, bytes from object_usage") == [(0, 0)], "the objects are deleted")


def test_the_store_can_be_set_up_and_removed_later(objects, prefix, scheduler, api_of, fake_worker, ask):
    one = scheduler()
    api = api_of(one)
    worker = fake_worker(one)
    workspace = api.workspace()
    archive = tar_gz({"main.tf": PLAIN})
    configuration = api.upload(workspace, archive)
    _, state = push_state(api, workspace, 1)
    one.stop()

    # With a new first key, content sealed with the old one is moved unchanged.
    one.options.update(all_content_options(objects, prefix, keys=f"{NEW_KEY},{KEYS}"))
    one.start()
    wait_moved(ask)
    push_state(api, workspace, 2)
    wait_moved(ask)
    assert raw(api, f"configuration-versions/{configuration}/download").body == archive
    assert api.state(workspace)["serial"] == 2
    sealed_by = sorted(int.from_bytes(path.read_bytes()[:4], "big") for path in objects.files(prefix))
    assert sealed_by == [1, 1, 2]
    assert worker.claim() == []
    one.stop()

    # With the store turned off, its content can't be read, and the answer says so. Everything else works.
    for name in objects.options(prefix):
        one.options.pop(name)
    one.start()
    answer = raw(api, f"configuration-versions/{configuration}/download")
    assert answer.status == 503 and answer.headers["Retry-After"] and "none is set up" in answer.errors()
    push_state(api, workspace, 3)
    assert api.state(workspace)["serial"] == 3


def test_rotate_keys_seals_objects_again(objects, prefix, scheduler, api_of, fake_worker, ask, database):
    one = scheduler(**all_content_options(objects, prefix))
    api = api_of(one)
    finished = FinishedRun(api, fake_worker(one), ask)
    finished.check()  # the first look at the changes makes one more object
    wait_moved(ask)
    before = ask("select count(*) from blobs where object_key_number = 1")[0][0]
    assert before > 6 and ask("select count(*) from blobs where object_key_number is distinct from 1")[0][0] == 0
    ask("update blobs set object_key_number = null where id in (select id from blobs limit 3)")  # of an earlier version
    both = f"{NEW_KEY},{KEYS}"
    one.options["keys"] = both
    one.restart()
    options = {"database_url": database, "keys": both, **objects.options(prefix)}
    without = Scheduler.run_command("rotate-keys", check=False, database_url=database, keys=both)
    assert without.returncode == 1 and "--object-store-url is needed" in without.stderr
    until(lambda: Scheduler.run_command("rotate-keys", check=False, **options).returncode == 0, "everything is sealed again")
    assert ask("select object_key_number, count(*) from blobs where object_key is not null group by 1") == [(2, before)]
    # The replaced objects are removed after a minute, by the scheduler. While it runs, it may take some of them for 5 minutes, and stop.
    one.stop()
    ask("update object_removals set due_at = now()")
    one.options["keys"] = NEW_KEY
    one.start()
    finished.check()
    until(lambda: len(objects.files(prefix)) == before == ask("select objects from object_usage")[0][0],
          lambda: f"the old objects are removed: {before} before, {len(objects.files(prefix))} files, {ask('select objects from object_usage')[0][0]} counted, {ask('select count(*), min(due_at - now()) from object_removals')}")
    assert {int.from_bytes(path.read_bytes()[:4], "big") for path in objects.files(prefix)} == {2}
    finished.check()


def test_an_object_that_is_replaced_during_a_rotation_is_rotated_by_the_next_pass(objects, front, prefix, scheduler, api_of, fake_worker, ask, database):
    """Another process may move or delete an object after the rotation has listed it."""
    one = scheduler(**all_content_options(objects, prefix))
    finished = FinishedRun(api_of(one), fake_worker(one), ask)
    wait_moved(ask)
    one.stop()
    ((last, key),) = ask("select id, object_key from blobs where object_key is not null order by id desc limit 1")
    moved = []

    def replace(method, path):
        if method == "GET" and not moved:
            moved.append(path)
            objects.bucket.joinpath(prefix, key).rename(objects.bucket.joinpath(prefix, key + "0"))
            ask("update blobs set object_key = object_key || '0' where id = %s", last)

    front.reply = replace
    both = f"{NEW_KEY},{KEYS}"
    done = Scheduler.run_command("rotate-keys", check=False, database_url=database, keys=both, **objects.options(prefix, front.port))
    assert moved and key not in moved[0] and done.returncode == 0, done.stderr
    assert ask("select distinct object_key_number from blobs where object_key is not null") == [(2,)]
    one.options["keys"] = both
    one.start()
    finished.check()


def test_no_content_is_lost_while_the_store_is_unavailable(objects, prefix, scheduler, api_of, ask):
    one = scheduler(**all_content_options(objects, prefix))
    api = api_of(one)
    workspace = api.workspace()
    configuration = api.upload(workspace, {"main.tf": PLAIN})
    wait_moved(ask)
    objects.stop()
    try:
        answer = raw(api, f"configuration-versions/{configuration}/download")
        assert answer.status == 503 and int(answer.headers["Retry-After"]) > 0
        assert "object store does not answer" in answer.errors() and objects.access not in answer.text
        # Uploads continue, and their content can be read.
        _, state = push_state(api, workspace, 1)
        assert api.state(workspace) == json.loads(state)
        status, text = one.get("/readyz")
        assert status == 200 and "object store does not answer" in text
        assert one.metric("runyard_object_store_up") == 0
    finally:
        objects.start()
    wait_moved(ask)
    assert api.state(workspace) == json.loads(state)
    assert raw(api, f"configuration-versions/{configuration}/download").status == 200
    until(lambda: one.get("/readyz") == (200, "ready\n"), "the scheduler is ready without a warning")


def test_a_slow_or_failing_store_does_not_delay_other_requests(objects, front, prefix, scheduler, api_of, ask):
    one = scheduler(**all_content_options(objects, prefix, front.port, http_threads=2))
    api = api_of(one)
    workspace = api.workspace()
    configuration = api.upload(workspace, {"main.tf": PLAIN})
    wait_moved(ask)
    path = f"configuration-versions/{configuration}/download"
    front.holds("GET")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(raw, api, path) for _ in range(8)]
        until(lambda: front.calls.count("GET") >= 4, "reads wait for the store")
        for _ in range(20):
            api.get(f"workspaces/{workspace}")
        assert not any(answer.done() for answer in waiting)
        front.let_go()
        assert [answer.result().status for answer in waiting] == [200] * 8
    front.fault = lambda method: "fail"
    assert raw(api, path).status == 503
    push_state(api, workspace, 1)
    until(lambda: "PUT" in front.calls[-3:], "a move is tried")
    front.let_go()
    wait_moved(ask)
    assert api.state(workspace)["serial"] == 1 and raw(api, path).status == 200
    # A single failure is retried before it is reported.
    once = iter(["fail"])
    front.fault = lambda method: next(once, None)
    assert raw(api, path).status == 200


def test_changed_and_lost_objects_are_detected(objects, prefix, scheduler, api_of, ask):
    one = scheduler(**all_content_options(objects, prefix))
    api = api_of(one)
    workspace = api.workspace()
    broken, lost, swapped = [api.upload(workspace, {"main.tf": f"{PLAIN} {number}"}) for number in range(3)]
    wait_moved(ask)
    keys = dict(ask("select c.id, b.object_key from configuration_versions c join blobs b on b.id = c.blob_id"))
    files = {version: objects.bucket / prefix / key for version, key in keys.items()}
    sealed = bytearray(files[broken].read_bytes())
    sealed[-20] ^= 1
    files[swapped].write_bytes(files[broken].read_bytes())
    files[broken].write_bytes(sealed)
    files[lost].unlink()
    for version in (broken, lost, swapped):
        answer = raw(api, f"configuration-versions/{version}/download")
        assert answer.status == 500 and PLAIN not in answer.text
    assert f"has lost the object {keys[lost]}" in one.process.log()
    # That does not make the scheduler stop using the store.
    fine = api.upload(workspace, {"main.tf": "fine"})
    wait_moved(ask)
    assert raw(api, f"configuration-versions/{fine}/download").status == 200


def test_nothing_is_moved_with_a_wrong_key_of_the_store(objects, prefix, scheduler, api_of, ask):
    one = scheduler(**all_content_options(objects, prefix, object_store_secret_key="another"))
    api = api_of(one)
    workspace = api.workspace()
    _, state = push_state(api, workspace, 1)
    until(lambda: "403 SignatureDoesNotMatch" in one.process.log(), "the store refuses the signature")
    assert api.state(workspace) == json.loads(state) and not objects.files(prefix)


def test_a_crash_between_object_and_row_leaves_no_orphan(objects, front, prefix, scheduler, api_of, ask):
    one = scheduler(**all_content_options(objects, prefix, front.port))
    api = api_of(one)
    front.fault = lambda method: "lose" if method == "PUT" else None
    workspace = api.workspace()
    _, state = push_state(api, workspace, 1)
    until(lambda: objects.files(prefix), "the object was written")
    one.kill()
    front.let_go()
    one.start()
    assert api.state(workspace) == json.loads(state)
    (orphan,) = objects.files(prefix)
    assert ask("select object_key from blobs") == [(None,)]
    ask("update object_removals set due_at = now()")
    until(lambda: ask("select count(*) from blobs where object_key is not null")[0][0] == 1, "the content is moved")
    until(lambda: len(objects.files(prefix)) == 1 and not orphan.exists(), "the orphan is deleted")
    assert ask("select objects from object_usage") == [(1,)]
    assert api.state(workspace) == json.loads(state)


def test_runs_are_applied_with_all_content_in_the_store(objects, prefix, scheduler, api_of, worker, ask):
    one = scheduler(**all_content_options(objects, prefix))
    api = api_of(one)
    worker()
    workspace = api.workspace()

    def failed():
        return one.metric("runyard_object_store_calls_total", call="GET", outcome="failed")

    for value in ("one", "two"):
        run = api.run_files(workspace, {"main.tf": 'resource "terraform_data" "it" {\n  input = "%s"\n}\noutput "it" {\n  value = terraform_data.it.output\n}\n' % value})
        api.wait_status(run, "planned")
        wait_moved(ask)
        # The worker requests the plan until the store is back.
        before = failed()
        objects.stop()
        try:
            api.act(run, "apply")
            until(lambda: failed() > before, "the plan was requested")
        finally:
            objects.start()
        api.wait_status(run, "applied")
        wait_moved(ask)
        assert api.state(workspace)["outputs"]["it"]["value"] == value
        assert "Apply complete" in api.log(run, "apply")
