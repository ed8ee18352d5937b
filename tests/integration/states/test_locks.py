# SPDX-License-Identifier: MPL-2.0
# label: quick
"""A client writes state only while it holds the workspace's lock, also if the lock changes between its requests."""

import base64
import hashlib
import json
import threading
import uuid

import psycopg
import pytest

from support.api import Api
from support.wait import until

LINEAGE = "11111111-2222-3333-4444-555555555555"
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def state(serial=1):
    return json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": LINEAGE, "outputs": {}, "resources": []}).encode()


def post(org, workspace, serial=1, inline=False, force=False):
    content = state(serial)
    attributes = {"serial": serial, "lineage": LINEAGE, "md5": hashlib.md5(content).hexdigest(), "force": force}
    if inline:
        attributes["state"] = base64.b64encode(content).decode()
    return org.call("POST", f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}})


def put(org, url, content):
    """Uploads as clients do: without a token."""
    return Api(org.url, None).call("PUT", url, content, headers={"Content-Type": "application/octet-stream"})


def act(org, workspace, action):
    org.post(f"workspaces/{workspace}/actions/{action}", {})


@pytest.fixture
def locked(org):
    workspace = org.workspace()
    act(org, workspace, "lock")
    return workspace


@pytest.fixture
def stranger(api_site):
    """The id of another user."""
    name = f"u-{uuid.uuid4()}"
    api_site.bootstrap(name, name)
    return api_site.ask("select id from users where username = %s", name)[0][0]


UPLOADS = {
    "upload": ("hosted-state-upload-url", False, state()),
    "force-upload": ("hosted-state-upload-url", True, state()),
    "json-upload": ("hosted-json-state-upload-url", False, b"{}"),
}


class PendingState:
    """A state version without content yet."""

    def __init__(self, org, workspace, kind):
        member, force, self.content = UPLOADS[kind]
        created = post(org, workspace, force=force).data
        self.org, self.id, self.url = org, created["id"], created["attributes"][member]
        assert ("force-upload" in self.url) == force

    def upload(self):
        return put(self.org, self.url, self.content)


@pytest.fixture(params=UPLOADS)
def pending_state(org, locked, request):
    return PendingState(org, locked, request.param)


def is_unchanged(api_site, workspace, pending_state, status="pending"):
    """Nothing of the upload is stored."""
    assert api_site.ask("select status, blob_id, json_blob_id from state_versions where id = %s", pending_state.id) == [(status, None, None)]
    return api_site.ask("select current_state_id from workspaces where id = %s", workspace) == [(None,)]


def refused(answer):
    assert answer.status == 409 and "must be locked by you" in answer.errors(), answer.text


def test_an_upload_without_the_lock_is_refused(org, api_site, locked, pending_state):
    act(org, locked, "force-unlock")
    refused(pending_state.upload())
    assert is_unchanged(api_site, locked, pending_state)
    act(org, locked, "lock")
    assert pending_state.upload().status == 200
    if pending_state.content == state():
        assert org.get(f"workspaces/{locked}/current-state-version").data["id"] == pending_state.id


def test_an_upload_under_another_users_lock_is_refused(org, api_site, locked, pending_state, stranger):
    act(org, locked, "force-unlock")
    api_site.change("update workspaces set locked_by = %s where id = %s", stranger, locked)
    refused(pending_state.upload())
    assert is_unchanged(api_site, locked, pending_state)


def test_another_users_pending_state_does_not_block_unlock(org, api_site, locked, stranger):
    """An unlock waits for content that its own user has announced, and not for other users' content."""
    pending_state = PendingState(org, locked, "upload")
    assert org.call("POST", f"workspaces/{locked}/actions/unlock", {}).status == 422
    api_site.change("update state_versions set created_by = %s where id = %s", stranger, pending_state.id)
    refused(pending_state.upload())
    act(org, locked, "unlock")


def test_an_upload_to_a_discarded_state_version_is_refused(org, api_site, locked, pending_state):
    post(org, locked, force=True)
    assert pending_state.upload().status == 409
    assert is_unchanged(api_site, locked, pending_state, "discarded")


def test_an_upload_to_a_deleted_workspace_is_not_found(org, locked, pending_state):
    act(org, locked, "force-unlock")
    org.delete(f"workspaces/{locked}")
    assert pending_state.upload().status == 404


def during_row_lock(api_site, workspace, request, *statements):
    """Returns the request's answer. The request waits for the workspace's row while these statements run."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(request()))
    with psycopg.connect(api_site.database) as connection:
        connection.execute("select 1 from workspaces where id = %s for update", (workspace,))
        thread.start()
        lock_waits = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        until(lambda: api_site.ask(lock_waits)[0][0] > 0, "the request waits for the row")
        for statement, *values in statements:
            connection.execute(statement, values)
    thread.join()
    return answers[0]


def test_an_upload_is_refused_if_the_lock_is_released_meanwhile(org, api_site, locked, pending_state):
    refused(during_row_lock(api_site, locked, pending_state.upload, ("update workspaces set locked_by = null where id = %s", locked)))
    assert is_unchanged(api_site, locked, pending_state)


@pytest.mark.parametrize("kind", ["upload", "force-upload"])
def test_an_upload_is_refused_if_its_state_version_is_discarded_meanwhile(org, api_site, locked, kind):
    pending_state = PendingState(org, locked, kind)
    answer = during_row_lock(api_site, locked, pending_state.upload, ("update state_versions set status = 'discarded' where id = %s", pending_state.id))
    assert answer.status == 409 and "not pending" in answer.errors(), answer.text
    assert is_unchanged(api_site, locked, pending_state, "discarded")


@pytest.mark.parametrize("kind", ["upload", "force-upload"])
def test_of_concurrent_uploads_of_one_state_version_one_succeeds(org, api_site, locked, kind):
    pending_state = PendingState(org, locked, kind)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(pending_state.upload().status)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200] + [409] * 7


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("force", [True, False])
def test_a_state_is_not_created_if_the_lock_is_released_meanwhile(org, api_site, locked, inline, force):
    refused(during_row_lock(api_site, locked, lambda: post(org, locked, inline=inline, force=force), ("update workspaces set locked_by = null where id = %s", locked)))
    assert api_site.ask("select count(*) from state_versions where workspace_id = %s", locked) == [(0,)]


def test_a_rollback_is_refused_if_the_lock_is_released_meanwhile(org, api_site, locked):
    first = post(org, locked, inline=True).data["id"]
    body = {"data": {"type": "state-versions", "relationships": {"rollback-state-version": {"data": {"type": "state-versions", "id": first}}}}}
    roll_back = lambda: org.call("PATCH", f"workspaces/{locked}/state-versions", body)
    refused(during_row_lock(api_site, locked, roll_back, ("update workspaces set locked_by = null where id = %s", locked)))
    refused(roll_back())
    act(org, locked, "lock")
    assert roll_back().status == 201


def test_an_upload_behind_a_newer_state_is_refused(org, api_site, locked):
    """The serial is checked under the lock: another state of the same user has arrived."""
    pending_state = PendingState(org, locked, "upload")
    assert post(org, locked, serial=2, inline=True).status == 201
    answer = pending_state.upload()
    assert answer.status == 409 and "serial 1 is behind the workspace's (2)" in answer.errors()
    assert org.attributes(f"workspaces/{locked}/current-state-version")["serial"] == 2


def test_a_run_token_cannot_write_states(org, api_site):
    """Neither during the run nor later. An earlier signed link is bound to the lock of the user who announced the
    upload."""
    workspace, fake_worker = org.workspace(), api_site.fake_worker()
    act(org, workspace, "lock")
    pending_state = PendingState(org, workspace, "upload")
    act(org, workspace, "force-unlock")
    run = org.run_files(workspace, ONE)
    job = fake_worker.take(run, "plan")
    own = Api(org.url, job["run-token"], org.organization)
    body = {"data": {"type": "state-versions", "attributes": {"serial": 1, "lineage": LINEAGE, "md5": hashlib.md5(state()).hexdigest(),
                                                               "state": base64.b64encode(state()).decode()}}}
    assert own.call("POST", f"workspaces/{workspace}/state-versions", body).status in (401, 403, 404)
    refused(pending_state.upload())
    fake_worker.end(job, "errored")
    assert own.call("POST", f"workspaces/{workspace}/state-versions", body).status == 401
    refused(pending_state.upload())
    assert is_unchanged(api_site, workspace, pending_state)
