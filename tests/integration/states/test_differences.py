# SPDX-License-Identifier: MPL-2.0
"""An apply sends states as differences to a complete state. A read returns the state that was sent last, or an error."""

import hashlib
import json
import subprocess

import psycopg
import pytest

from support.fake_worker import FakeWorker
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
LINEAGE = "0e1f1f0e-8e0a-4d6f-9b0a-1f5d8f0f5f0f"


@pytest.fixture
def short_leases(scheduler):
    """A new scheduler waits half a lease for workers before it expires leases."""
    scheduler(lease_seconds=8)


@pytest.fixture
def fake_worker(api, scheduler, tokens):
    return FakeWorker(scheduler.all[0].url, tokens["agent-token"], slots=8)


def state(serial, resources, lineage=LINEAGE, outputs=None):
    """A state in terraform's format."""
    document = {"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": lineage, "outputs": outputs or {}, "resources": [
        {"mode": "managed", "type": "terraform_data", "name": f"item_{number:05d}", "provider": 'provider["terraform.io/builtin/terraform"]',
         "instances": [{"schema_version": 0, "attributes": {"id": hashlib.sha256(str(number).encode()).hexdigest()}}]} for number in range(resources)]}
    return json.dumps(document, indent=2).encode() + b"\n"


@pytest.fixture
def frame(tmp_path):
    """The frame of a state with another as its prefix, by zstd's own program."""
    def compress(base, state):
        (tmp_path / "base").write_bytes(base)
        (tmp_path / "state").write_bytes(state)
        return subprocess.run(["zstd", "-q", "-1", "-c", f"--patch-from={tmp_path / 'base'}", tmp_path / "state"], check=True, capture_output=True).stdout
    return compress


class Apply:
    """An apply that has started, and its uploads."""

    def __init__(self, api, fake_worker, frame, workspace=None):
        self.api, self.fake_worker, self.frame = api, fake_worker, frame
        self.workspace = workspace or api.workspace(auto_apply=True)
        self.run = api.run_files(self.workspace, ONE)
        (plan,) = fake_worker.claim()
        assert fake_worker.result(plan).status == 204
        (self.job,) = fake_worker.claim()
        assert self.job["run"] == self.run and self.job["state-differences"] is True
        fake_worker.on(self.job, "POST", "started")

    def upload(self, sent, intermediate=False):
        return self.fake_worker.on(self.job, "PUT", "state?intermediate=true" if intermediate else "state", sent, check=False).status

    def upload_difference(self, base, sent, serial=None, size=None, frame=None, digest=None):
        query = f"base={digest or hashlib.sha256(base).hexdigest()}&serial={json.loads(sent)['serial'] if serial is None else serial}&size={len(sent) if size is None else size}"
        return self.fake_worker.on(self.job, "PUT", f"state-difference?{query}", self.frame(base, sent) if frame is None else frame, check=False).status

    def version(self):
        return self.api.get(f"workspaces/{self.workspace}/current-state-version").data

    def download(self):
        return self.api.call("GET", f"state-versions/{self.version()['id']}/download")

    def reads_back(self, sent):
        """Whether every request that reads the state returns it."""
        assert self.download().body == sent
        assert self.fake_worker.on(self.job, "GET", "state").body == sent
        instances = self.api.get(f"workspaces/{self.workspace}/resources").json["meta"]["pagination"]["total-count"]
        assert instances == len(json.loads(sent)["resources"])
        return True


@pytest.fixture
def apply(api, fake_worker, frame):
    return Apply(api, fake_worker, frame)


@pytest.fixture
def rows(database):
    with psycopg.connect(database, autocommit=True) as connection:
        yield lambda *query: connection.execute(*query).fetchall() if query[0].startswith(("select", "with")) else connection.execute(*query)


def test_states_sent_as_differences_read_back_complete(apply, rows):
    base = state(2, 300)
    assert apply.upload(state(1, 299)) == apply.upload(base, intermediate=True) == 204
    assert apply.reads_back(base)
    blobs = rows("select count(*) from blobs")
    for serial in range(3, 30):
        sent = state(serial, 298 + serial)
        assert apply.upload_difference(base, sent) == 204
        assert apply.download().body == sent
    assert apply.reads_back(sent)
    shown = apply.version()["attributes"]
    assert (shown["serial"], shown["size"], shown["md5"], shown["intermediate"]) == (29, len(sent), None, True)
    # One row and two blobs for any number of differences.
    assert rows("select count(*) from state_bases") == [(1,)] and rows("select count(*) from blobs") <= blobs
    assert apply.upload_difference(base, base) == 409, "the serial is lower"
    assert apply.reads_back(sent)


def test_a_repeated_difference_is_accepted(apply):
    base, sent = state(1, 300), state(2, 310)
    assert apply.upload(base, intermediate=True) == 204
    assert apply.upload_difference(base, sent) == apply.upload_difference(base, sent) == 204
    assert apply.reads_back(sent)


def test_the_last_state_is_stored_complete(apply, rows, api):
    base, sent = state(1, 300), state(2, 310, outputs={"size": {"value": 310, "type": "number"}})
    assert apply.upload(base, intermediate=True) == apply.upload_difference(base, sent) == apply.upload(sent) == 204
    assert rows("select count(*) from state_bases") == [(0,)]
    assert apply.reads_back(sent)
    shown = apply.version()["attributes"]
    assert shown["md5"] == hashlib.md5(sent).hexdigest()
    assert sum(resource["count"] for resource in shown["resources"]) == 310
    (output,) = api.get(f"workspaces/{apply.workspace}/current-state-version-outputs").data
    assert output["attributes"]["value"] == 310
    assert apply.upload_difference(base, state(3, 311)) == 409


def test_a_last_state_equal_to_its_base_is_stored_complete(apply, rows):
    base = state(1, 300)
    assert apply.upload(base, intermediate=True) == apply.upload(base) == 204
    assert rows("select count(*) from state_bases") == [(0,)]
    assert apply.reads_back(base)


def test_a_new_base_replaces_the_old_one(apply, rows):
    first, second, sent = state(1, 300), state(5, 400), state(6, 401)
    assert apply.upload(first, intermediate=True) == apply.upload_difference(first, state(2, 301)) == apply.upload(second, intermediate=True) == 204
    assert apply.reads_back(second)
    assert apply.upload_difference(first, sent) == 409
    assert apply.reads_back(second)
    assert apply.upload_difference(second, sent) == 204
    assert apply.reads_back(sent)
    # The blob of the first is swept; that of the second is not swept or moved.
    rows("update loose_blobs set look_at = now()")
    until(lambda: rows("select count(*) from loose_blobs") == [(0,)], "the blobs are swept")
    assert apply.reads_back(sent)


def test_invalid_differences_are_refused_and_change_nothing(apply, api, fake_worker, frame):
    base, good = state(5, 300), state(6, 301)
    assert apply.upload_difference(base, good) == 409, "there is no base yet"
    assert apply.upload(base, intermediate=True) == 204
    for status, more in ((409, {"digest": "0" * 64}), (409, {"digest": "x"}), (409, {"serial": 4}), (422, {"size": len(good) + 1}), (422, {"size": 0}), (422, {"size": -1}),
                         (422, {"size": 1 << 40}), (422, {"serial": "x"}), (422, {"frame": b""}), (422, {"frame": b"no frame"}), (422, {"frame": good})):
        assert apply.upload_difference(base, good, **more) == status, more
    assert fake_worker.on(apply.job, "PUT", "state-difference", b"x", check=False).status == 422
    assert apply.reads_back(base)
    # Another job's token is refused here.
    other = Apply(api, fake_worker, frame)
    query = f"base={hashlib.sha256(base).hexdigest()}&serial=6&size={len(good)}"
    assert fake_worker.call("PUT", f"jobs/{apply.job['job']}/state-difference?{query}", frame(base, good), other.job["token"], check=False).status == 404
    assert other.upload_difference(base, good) == 409
    assert apply.reads_back(base)


def test_a_detached_state_is_not_a_base(apply, api):
    before, base = state(5, 10), state(6, 300, lineage="another")
    assert apply.upload(before) == 204
    assert apply.upload(base, intermediate=True) == 202
    assert apply.upload_difference(base, state(7, 301, lineage="another")) == 409
    assert apply.reads_back(before)


def flip(rows, table, column, where):
    rows(f"update {table} set {column} = set_byte({column}, 40, get_byte({column}, 40) # 1) where {where}")


@pytest.mark.parametrize("damage", ["base", "difference", "swap"])
def test_damaged_data_is_an_error_and_never_read_as_a_state(apply, rows, api, fake_worker, frame, damage):
    base, sent = state(1, 300), state(2, 310)
    assert apply.upload(base, intermediate=True) == apply.upload_difference(base, sent) == 204
    version = apply.version()["id"]
    if damage == "base":
        flip(rows, "blobs", "bytes_sealed", "id = (select blob_id from state_bases)")
    elif damage == "difference":
        flip(rows, "state_bases", "difference_sealed", "true")
    else:
        other = Apply(api, fake_worker, frame)
        assert other.upload(base, intermediate=True) == other.upload_difference(base, state(9, 311)) == 204
        rows("update state_bases set difference_sealed = (select difference_sealed from state_bases where state_version_id <> %s) where state_version_id = %s", [version, version])
    assert apply.download().status == 500
    assert fake_worker.on(apply.job, "GET", "state", check=False).status == 500
    complete = state(3, 311)
    assert apply.upload(complete, intermediate=True) == 204
    assert apply.reads_back(complete)
    assert apply.upload_difference(complete, state(4, 312)) == 204
    assert apply.reads_back(state(4, 312))


def test_a_difference_without_its_base_is_refused(apply, rows):
    base, sent = state(1, 300), state(2, 310)
    assert apply.upload(base, intermediate=True) == apply.upload_difference(base, sent) == 204
    rows("delete from state_bases")
    assert apply.download().status == 500, "the base is not read instead"
    assert apply.upload_difference(base, sent) == 409
    assert apply.upload(sent, intermediate=True) == 204
    assert apply.reads_back(sent)


def lose(rows, api, job):
    rows("update jobs set lease_until = now() where id = %s", [job["job"]])
    api.wait_status(job["run"], "errored")


def test_after_a_lost_apply_its_newest_state_is_stored_complete(short_leases, apply, rows, api, fake_worker):
    base, sent = state(1, 300), state(2, 310, outputs={"size": {"value": 310, "type": "number"}})
    assert apply.upload(base, intermediate=True) == apply.upload_difference(base, sent) == 204
    created_at = apply.version()["attributes"]["created-at"]
    lose(rows, api, apply.job)
    until(lambda: rows("select count(*) from state_bases") == [(0,)], "the complete state")
    shown = apply.version()["attributes"]
    assert (shown["serial"], shown["md5"], shown["intermediate"], shown["recovered"]) == (2, hashlib.md5(sent).hexdigest(), False, True)
    assert shown["created-at"] == created_at and sum(resource["count"] for resource in shown["resources"]) == 310
    assert apply.download().body == sent
    (output,) = api.get(f"workspaces/{apply.workspace}/current-state-version-outputs").data
    assert output["attributes"]["value"] == 310
    # Differences of an ended apply are refused; the complete state is accepted.
    assert apply.upload_difference(base, state(3, 311)) == 409
    last = state(3, 311)
    assert apply.upload(last) == 204
    fake_worker.on(apply.job, "POST", "last-state")
    assert apply.download().body == last


def test_an_unreadable_state_does_not_block_other_workspaces(short_leases, apply, rows, api, fake_worker, frame):
    base, sent = state(1, 300), state(2, 310)
    other = Apply(api, fake_worker, frame)
    for each in (apply, other):
        assert each.upload(base, intermediate=True) == each.upload_difference(base, sent) == 204
    broken = apply.version()["id"]
    flip(rows, "state_bases", "difference_sealed", f"state_version_id = '{broken}'")
    lose(rows, api, apply.job)
    lose(rows, api, other.job)
    until(lambda: rows("select state_version_id from state_bases where look_at > now() + interval '1 minute'") == [(broken,)], "the broken state is checked")
    until(lambda: rows("select count(*) from state_bases") == [(1,)], "the complete state of the other workspace")
    assert other.download().body == sent and apply.download().status == 500


def test_a_rollback_reads_a_state_sent_as_a_difference(short_leases, apply, rows, api, fake_worker):
    base, sent = state(1, 300), state(2, 310)
    assert apply.upload(base, intermediate=True) == apply.upload_difference(base, sent) == 204
    lose(rows, api, apply.job)
    fake_worker.on(apply.job, "POST", "last-state")
    old = apply.version()["id"]
    api.post(f"workspaces/{apply.workspace}/actions/lock", {})
    api.patch(f"workspaces/{apply.workspace}/state-versions", {"data": {"type": "state-versions", "relationships": {
        "rollback-state-version": {"data": {"type": "state-versions", "id": old}}}}})
    assert json.loads(apply.download().body)["resources"] == json.loads(sent)["resources"]


