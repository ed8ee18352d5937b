# SPDX-License-Identifier: MPL-2.0
"""Configuration versions with their uploads, and state versions."""

import base64
import concurrent.futures
import gzip
import hashlib
import io
import json
import tarfile

import psycopg
import pytest

from support.api import Api, ApiError, tar_gz
from support.documents import document, refused
from support.shared import api, database, scheduler  # noqa: F401


# ---- configuration versions ----


def version(api, workspace, **attributes):
    """A new configuration version and its upload URL."""
    body = document("configuration-versions", {"auto-queue-runs": False, **attributes})
    created = api.post(f"workspaces/{workspace}/configuration-versions", body).data
    return created["id"], created["attributes"]["upload-url"]


def put(api, url, archive):
    """Uploads as clients do: without a token."""
    return Api(api.url, None).call("PUT", url, archive, headers={"Content-Type": "application/octet-stream"})


def tar_of(*members, format=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=format) as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return out.getvalue()


def member(name, kind=tarfile.REGTYPE, link=""):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, link
    return entry


def test_an_uploaded_configuration_reads_back(api):
    workspace = api.workspace("w")
    configuration, url = version(api, workspace)
    pending = api.get(f"configuration-versions/{configuration}").data["attributes"]
    assert pending["status"] == "pending" and "upload-url" not in pending and pending["source"] == "tfe-api"
    refused(404, api.get, f"configuration-versions/{configuration}/download")
    archive = tar_gz({"main.tf": "# here", "modules/m/main.tf": "# there"})
    assert put(api, url, archive).status == 200
    uploaded = api.get(f"configuration-versions/{configuration}").data["attributes"]
    assert uploaded["status"] == "uploaded" and "finished-at" in uploaded["status-timestamps"]
    assert api.get(f"configuration-versions/{configuration}/download").body == archive
    listed = api.get(f"workspaces/{workspace}/configuration-versions").json
    assert [c["id"] for c in listed["data"]] == [configuration] and listed["meta"]["pagination"]["total-count"] == 1
    assert api.get(f"workspaces/{workspace}").data["relationships"]["current-configuration-version"]["data"]["id"] == configuration


def test_a_configuration_of_the_cli_names_it_as_its_source(api):
    workspace = api.workspace("w")
    body = document("configuration-versions", {"auto-queue-runs": False, "speculative": True})
    created = api.ask("POST", f"workspaces/{workspace}/configuration-versions", body, headers={"X-Terraform-Integration": "cloud"}).data
    assert created["attributes"]["source"] == "terraform+cloud" and created["attributes"]["speculative"] is True
    assert api.get(f"workspaces/{workspace}").data["relationships"]["current-configuration-version"]["data"] is None


def test_upload_urls_need_a_valid_signature(api):
    workspace = api.workspace("w")
    _, url = version(api, workspace)
    other, _ = version(api, workspace)
    archive = tar_gz({"main.tf": ""})
    base, signature, rest = url.partition("/signed/")[0], url.split("/")[4], url.split("/", 5)[5]
    for wrong in (f"{base}/signed/{signature[:-1]}x/{rest}", f"{base}/signed/{signature}/configuration-versions/{other}/upload",
                  f"{base}/signed/9{signature[1:]}/{rest}", f"{base}/signed/x/{rest}", url + "x"):
        assert put(api, wrong, archive).status == 404, wrong
    assert api.attributes(f"configuration-versions/{other}")["status"] == "pending"


def test_a_configuration_is_replaced_only_until_a_run_uses_it(api):
    """Identical content is accepted again; different content only until a run uses the first."""
    workspace = api.workspace("w")
    configuration, url = version(api, workspace)
    first, second = tar_gz({"main.tf": "# 1"}), tar_gz({"main.tf": "# 2"})
    assert [put(api, url, a).status for a in (first, first, second)] == [200, 200, 200]
    assert api.get(f"configuration-versions/{configuration}/download").body == second
    api.run(workspace, configuration)
    assert put(api, url, second).status == 200
    assert put(api, url, first).status == 409
    assert api.get(f"configuration-versions/{configuration}/download").body == second


def test_an_upload_queues_one_run(api):
    workspace = api.workspace("w")
    _, url = version(api, workspace, **{"auto-queue-runs": True})
    assert put(api, url, tar_gz({"main.tf": ""})).status == 200
    assert put(api, url, tar_gz({"main.tf": ""})).status == 200
    (run,) = api.get(f"workspaces/{workspace}/runs").data
    assert run["attributes"]["source"] == "tfe-configuration-version"
    _, url = version(api, workspace, **{"auto-queue-runs": True, "provisional": True})
    assert put(api, url, tar_gz({"main.tf": ""})).status == 200
    assert len(api.get(f"workspaces/{workspace}/runs").data) == 1


HOSTILE = {
    "not gzip": b"PK\x03\x04",
    "empty": b"",
    "not tar": gzip.compress(b"hello"),
    "truncated": tar_gz({"main.tf": "x" * 10000})[:60],
    "absolute path": tar_of(member("/etc/passwd")),
    "path above the root": tar_of(member("../main.tf")),
    "path above the root from a folder": tar_of(member("a/../../main.tf")),
    "link to an absolute path": tar_of(member("l", tarfile.SYMTYPE, "/etc")),
    "link above the root": tar_of(member("a/l", tarfile.SYMTYPE, "../../x")),
    "hard link above the root": tar_of(member("l", tarfile.LNKTYPE, "../x")),
    "through a link": tar_of(member("d", tarfile.SYMTYPE, "e"), member("d/x")),
    "device": tar_of(member("null", tarfile.CHRTYPE)),
    "pipe": tar_of(member("pipe", tarfile.FIFOTYPE)),
}


def test_hostile_archives_are_refused(api):
    workspace = api.workspace("w")
    for name, archive in HOSTILE.items():
        configuration, url = version(api, workspace)
        answer = put(api, url, archive)
        assert answer.status == 422, name
        attributes = api.attributes(f"configuration-versions/{configuration}")
        assert attributes["status"] == "errored" and attributes["error-message"] in answer.errors(), name
        assert put(api, url, tar_gz({"main.tf": ""})).status == 200, name
        assert api.attributes(f"configuration-versions/{configuration}")["error-message"] is None


def test_archives_in_the_formats_of_clients_are_accepted(api):
    workspace = api.workspace("w")
    members = [member("./", tarfile.DIRTYPE), member("grüße/main.tf"), member("a/" + "b" * 150 + ".tf"), member("x.tf", tarfile.SYMTYPE, "a/y.tf")]
    for format in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        _, url = version(api, workspace)
        answer = put(api, url, tar_of(*members, format=format))
        assert answer.status == 200, answer.text


def test_an_old_configuration_is_archived(api):
    workspace = api.workspace("w")
    old = api.upload(workspace, {"main.tf": "# old"})
    assert "it is current" in refused(409, api.post, f"configuration-versions/{old}/actions/archive").errors()
    pending, _ = version(api, workspace)
    assert "transition not allowed" in refused(409, api.post, f"configuration-versions/{pending}/actions/archive").errors()
    assert api.post(f"configuration-versions/{old}/actions/archive").status == 202
    assert api.attributes(f"configuration-versions/{old}")["status"] == "archived"
    refused(404, api.get, f"configuration-versions/{old}/download")


def test_a_run_links_its_configuration(api):
    workspace = api.workspace("w")
    configuration = api.upload(workspace, {"main.tf": "# 1"})
    run = api.run(workspace, configuration)
    assert api.get(f"runs/{run}/configuration-version/download").body == tar_gz({"main.tf": "# 1"})
    refused(404, api.get, "runs/nonexisting/configuration-version/download")
    for path in (f"configuration-versions/{configuration}", f"workspaces/{workspace}/configuration-versions"):
        answer = api.get(path, include="run,ingress_attributes").json
        assert [(r["type"], r["id"]) for r in answer["included"]] == [("runs", run)]
        assert "Invalid include parameter" in refused(400, api.get, path + "?include=plan").errors()
    both = api.get(f"workspaces/{workspace}", include="current_run,current_configuration_version").json["included"]
    assert not [r for r in both if r["type"] == "configuration-versions" and "run" in r["relationships"]]


def change_backing_data(api, path, change):
    return api.call("POST", f"{path}/actions/{change}_backing_data")


def test_configuration_files_are_deleted_softly_then_permanently(api):
    workspace = api.workspace("w")
    old, current = api.upload(workspace, {"main.tf": "# 1"}), api.upload(workspace, {"main.tf": "# 2"})
    path = f"configuration-versions/{old}"
    assert "it is current" in change_backing_data(api, f"configuration-versions/{current}", "soft_delete").errors()
    for change in ("restore", "permanently_delete"):
        answer = change_backing_data(api, path, change)
        assert answer.status == 409 and "transition not allowed" in answer.errors()
    run = api.run(workspace, old)
    assert "a run needs it" in change_backing_data(api, path, "soft_delete").errors()
    api.act(run, "cancel")
    assert change_backing_data(api, path, "soft_delete").status == 202
    assert api.attributes(path)["status"] == "backing_data_soft_deleted"
    refused(404, api.get, f"{path}/download")
    refused(422, api.run, workspace, old)
    assert change_backing_data(api, path, "restore").status == 202 and api.get(f"{path}/download").body == tar_gz({"main.tf": "# 1"})
    assert [change_backing_data(api, path, change).status for change in ("soft_delete", "permanently_delete", "restore", "soft_delete")] == [202, 202, 409, 409]
    assert api.attributes(path)["status"] == "backing_data_permanently_deleted"
    refused(404, api.get, f"{path}/download")
    assert change_backing_data(api, "configuration-versions/nonexisting", "soft_delete").status == 404


# ---- state versions ----

LINEAGE = "11111111-2222-3333-4444-555555555555"


def state(serial=1, lineage=LINEAGE, **outputs):
    resources = [{"mode": "managed", "type": "terraform_data", "name": "a", "provider": "p", "instances": [{"attributes": {"id": str(serial)}}]}]
    return json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": lineage, "outputs": outputs, "resources": resources}).encode()


def state_attributes(content, serial=1, lineage=LINEAGE, **more):
    return {"serial": serial, "lineage": lineage, "md5": hashlib.md5(content).hexdigest(), **more}


def push(api, workspace, content, serial=1, lineage=LINEAGE, **more):
    attributes = state_attributes(content, serial, lineage, state=base64.b64encode(content).decode(), **more)
    return api.post(f"workspaces/{workspace}/state-versions", document("state-versions", attributes)).data


@pytest.fixture
def locked(api):
    workspace = api.workspace("state")
    api.post(f"workspaces/{workspace}/actions/lock")
    return workspace


def test_a_pushed_state_becomes_current_and_reads_back_unchanged(api, locked):
    refused(404, api.get, f"workspaces/{locked}/current-state-version")
    content = state(outputs={}, serial=3)
    created = push(api, locked, content, serial=3)
    attributes = created["attributes"]
    assert (attributes["serial"], attributes["status"], attributes["size"], attributes["terraform-version"]) == (3, "finalized", len(content), "1.11.4")
    assert attributes["resources"] == [{"name": "a", "type": "terraform_data", "count": 1, "module": "root", "provider": "p"}]
    assert api.get(f"workspaces/{locked}/current-state-version").data == created
    assert api.get(f"state-versions/{created['id']}").data == created
    assert api.ask("GET", attributes["hosted-state-download-url"]).body == content
    assert Api(api.url, None).call("GET", attributes["hosted-state-download-url"]).status == 401
    workspace = api.get(f"workspaces/{locked}", include="current_state_version").json
    assert workspace["data"]["attributes"]["resource-count"] == 1
    assert [r["id"] for r in workspace["included"]] == [created["id"]]
    assert "managing resources" in refused(409, safe_delete_unlocked, api, locked).errors()


def safe_delete_unlocked(api, workspace):
    api.post(f"workspaces/{workspace}/actions/unlock")
    api.post(f"workspaces/{workspace}/actions/safe-delete")


def test_states_need_a_higher_serial_and_the_same_lineage(api, locked):
    push(api, locked, state(2), serial=2)
    assert push(api, locked, state(2), serial=2)["attributes"]["serial"] == 2
    push(api, locked, state(5), serial=5)
    for content, serial, lineage, reason in ((state(4), 4, LINEAGE, "behind"), (state(5, a={"value": 1, "type": "number"}), 5, LINEAGE, "behind"),
                                          (state(6, "other"), 6, "other", "lineage")):
        answer = refused(409, push, api, locked, content, serial, lineage)
        assert reason in answer.errors()
        body = {"data": {"type": "state-versions", "attributes": state_attributes(content, serial, lineage)}}
        assert reason in refused(409, api.post, f"workspaces/{locked}/state-versions", body).errors()
    assert push(api, locked, state(1, "other"), 1, "other", force=True)["attributes"]["lineage"] == "other"
    filters = {"filter[organization][name]": api.organization, "filter[workspace][name]": "state"}
    listed = api.get("state-versions", **filters).json
    assert [s["attributes"]["serial"] for s in listed["data"]] == [1, 5, 2, 2] and listed["meta"]["pagination"]["total-count"] == 4
    refused(400, api.get, "state-versions")


def test_invalid_states_and_unlocked_writes_are_refused(api, locked):
    content = state()
    for attributes in (state_attributes(content, state="%%%"), state_attributes(content, serial=-1, state="e30="), {**state_attributes(content), "md5": "0"},
                       state_attributes(content, state=base64.b64encode(b"nonsense").decode()), {**state_attributes(content), "md5": "0" * 32, "state": base64.b64encode(content).decode()}):
        refused(422, api.post, f"workspaces/{locked}/state-versions", document("state-versions", attributes))
    api.post(f"workspaces/{locked}/actions/unlock")
    with pytest.raises(ApiError) as caught:
        push(api, locked, content)
    assert caught.value.status == 409 and "locked" in caught.value.answer.errors()


def test_a_pending_state_becomes_current_after_its_uploads(api, locked):
    """Created without content: the two uploads follow, and until then the state version is not current."""
    content = state(7)
    created = api.post(f"workspaces/{locked}/state-versions", document("state-versions", state_attributes(content, 7))).data
    attributes = created["attributes"]
    assert attributes["status"] == "pending" and attributes["hosted-state-download-url"] is None
    refused(404, api.get, f"workspaces/{locked}/current-state-version")
    assert "latest state version is still pending" in refused(422, api.post, f"workspaces/{locked}/actions/unlock").errors()
    assert put(api, attributes["hosted-state-upload-url"], state(8)).status == 422
    for invalid in (b"", b"[]", b"{", b'{"a": "\xff"}', b"[" * 5000):
        assert put(api, attributes["hosted-json-state-upload-url"], invalid).status == 422
    json_form = json.dumps({"format_version": "1.0", "values": {}}).encode()
    assert put(api, attributes["hosted-json-state-upload-url"], json_form).status == 200
    assert put(api, attributes["hosted-json-state-upload-url"], json_form).status == 409
    assert put(api, attributes["hosted-state-upload-url"], content).status == 200
    assert put(api, attributes["hosted-state-upload-url"], content).status == 409
    current = api.get(f"workspaces/{locked}/current-state-version").data
    assert current["id"] == created["id"] and current["attributes"]["status"] == "finalized"
    assert api.ask("GET", current["attributes"]["hosted-json-state-download-url"]).body == json_form
    assert api.ask("GET", current["attributes"]["hosted-state-download-url"]).body == content
    api.post(f"workspaces/{locked}/actions/unlock")


def test_a_new_pending_state_discards_the_previous_one(api, locked):
    content = state(1)
    first = api.post(f"workspaces/{locked}/state-versions", document("state-versions", state_attributes(content))).data
    api.post(f"workspaces/{locked}/state-versions", document("state-versions", state_attributes(content)))
    assert api.attributes(f"state-versions/{first['id']}")["status"] == "discarded"
    assert put(api, first["attributes"]["hosted-state-upload-url"], content).status == 409
    api.post(f"workspaces/{locked}/actions/force-unlock")


def create_pending(api, workspace, content, serial=1, lineage=LINEAGE, **more):
    return api.call("POST", f"workspaces/{workspace}/state-versions", document("state-versions", state_attributes(content, serial, lineage, **more)))


def test_an_unacceptable_pending_state_is_refused_and_does_not_block_unlock(api, locked):
    """A pending state version that can't be filled would block its writer's unlock for ever."""
    push(api, locked, state(5), serial=5)
    for serial, lineage in ((4, LINEAGE), (5, LINEAGE), (6, "other")):
        assert create_pending(api, locked, state(serial, lineage, a={"value": 1, "type": "number"}), serial, lineage).status == 409
    assert api.post(f"workspaces/{locked}/actions/unlock").status == 200
    api.post(f"workspaces/{locked}/actions/lock")
    assert create_pending(api, locked, state(1, "other"), 1, "other", force=True).status == 201
    assert create_pending(api, locked, state(6), 6).status == 201
    api.post(f"workspaces/{locked}/actions/force-unlock")


def test_a_state_is_stored_with_its_json_form_and_its_run(api, locked):
    content, json_form = state(1), b'{"format_version": "1.0"}'
    api.upload(locked, {"main.tf": ""})
    run = api.run(locked)
    other = api.workspace("other")
    api.upload(other, {"main.tf": ""})
    foreign = api.run(other)
    body = document("state-versions", state_attributes(content, state=base64.b64encode(content).decode(), **{"json-state": base64.b64encode(json_form).decode()}))
    for wrong in (foreign, "nonexisting"):
        body["data"]["relationships"] = {"run": {"data": {"type": "runs", "id": wrong}}}
        refused(422, api.post, f"workspaces/{locked}/state-versions", body)
    body["data"]["relationships"] = {"run": {"data": {"type": "runs", "id": run}}}
    for wrong in ("%%%", base64.b64encode(b"no json").decode(), 7):
        body["data"]["attributes"]["json-state"] = wrong
        refused(422, api.post, f"workspaces/{locked}/state-versions", body)
    refused(404, api.get, f"workspaces/{locked}/current-state-version")
    body["data"]["attributes"]["json-state"] = base64.b64encode(json_form).decode()
    created = api.post(f"workspaces/{locked}/state-versions", body).data
    assert api.ask("GET", created["attributes"]["hosted-json-state-download-url"]).body == json_form
    without = document("state-versions", state_attributes(state(2), state=base64.b64encode(state(2)).decode(), serial=2, **{"json-state": ""}))
    assert api.post(f"workspaces/{locked}/state-versions", without).data["attributes"]["hosted-json-state-download-url"] is None
    filters = {"filter[organization][name]": api.organization, "filter[workspace][name]": "state", "include": "outputs,created_by,run,run.created_by,run.configuration_version"}
    for answer in (api.get(f"state-versions/{created['id']}", include=filters["include"]).json, api.get("state-versions", **filters).json):
        assert sorted(r["type"] for r in answer["included"]) == ["configuration-versions", "runs", "users"]
        (included_run,) = [r for r in answer["included"] if r["type"] == "runs"]
        assert included_run["id"] == run and included_run["relationships"]["created-by"]["data"]
    assert "Invalid include parameter" in refused(400, api.get, f"state-versions/{created['id']}?include=workspace").errors()


def roll_back(api, workspace, to):
    relations = {"rollback-state-version": {"data": {"type": "state-versions", "id": to}}} if to else {}
    return api.call("PATCH", f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "relationships": relations}})


def test_a_rollback_creates_a_state_with_the_next_serial(api, locked):
    big = 123456789012345678901234567890
    first = state(1, n={"value": big, "type": "number"}, o={"value": {"serial": 4}, "type": ["object", {"serial": "number"}]})
    earlier = push(api, locked, first)
    push(api, locked, state(8), serial=8)
    answer = roll_back(api, locked, earlier["id"])
    assert answer.status == 201
    created = answer.data
    assert created["attributes"]["serial"] == 9 and created["relationships"]["rollback-state-version"]["data"]["id"] == earlier["id"]
    content = api.ask("GET", created["attributes"]["hosted-state-download-url"]).body
    assert content == first.replace(b'"serial": 1,', b'"serial": 9,') and str(big).encode() in content
    assert created["attributes"]["md5"] == hashlib.md5(content).hexdigest() and api.get(f"workspaces/{locked}/current-state-version").data == created
    push(api, locked, state(10), serial=10)
    other = api.workspace("other")
    api.post(f"workspaces/{other}/actions/lock")
    for wrong in ("nonexisting", None):
        assert roll_back(api, locked, wrong).status == 422
    assert roll_back(api, other, earlier["id"]).status == 422
    api.post(f"workspaces/{locked}/actions/unlock")
    assert roll_back(api, locked, earlier["id"]).status == 409


def test_state_content_is_deleted_softly_then_permanently(api, locked):
    old = push(api, locked, state(1, a={"value": 1, "type": "number"}))
    current = push(api, locked, state(2), serial=2)
    path = f"state-versions/{old['id']}"
    assert "it is current" in change_backing_data(api, f"state-versions/{current['id']}", "soft_delete").errors()
    assert [change_backing_data(api, path, change).status for change in ("restore", "permanently_delete", "soft_delete", "soft_delete")] == [409, 409, 202, 409]
    assert api.attributes(path)["status"] == "backing_data_soft_deleted" and api.attributes(path)["hosted-state-download-url"] is None
    refused(404, api.get, f"{path}/download")
    assert roll_back(api, locked, old["id"]).status == 422
    assert change_backing_data(api, path, "restore").status == 202 and api.get(f"{path}/download").body == state(1, a={"value": 1, "type": "number"})
    assert [change_backing_data(api, path, change).status for change in ("soft_delete", "permanently_delete", "restore")] == [202, 202, 409]
    refused(404, api.get, f"{path}/download")
    assert api.get(f"{path}/outputs").data == []


UNUSUAL = {
    "outputs as a list": {"outputs": [1, 2]},
    "invalid outputs": {"outputs": {"a": 5, "b": None, "c": {}}},
    "a type with NUL": {"outputs": {"a": {"value": "x", "type": "str\u0000ing"}}},
    "a value with NUL": {"outputs": {"a": {"value": "x\u0000y", "type": "string"}}},
    "resources as an object": {"resources": {"a": 1}},
    "invalid resources": {"resources": [1, None, {}, {"instances": [1]}, {"instances": {}, "type": 5, "name": "n\u0000"}]},
    "long names": {"resources": [{"mode": "managed", "type": "t" * 5000, "name": "n" * 5000, "provider": "p" * 5000, "instances": [{}]}]},
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_unusual_states_are_stored_unchanged(api, locked, case):
    content = json.dumps({"version": 4, "serial": 1, "lineage": LINEAGE, **UNUSUAL[case]}).encode()
    created = push(api, locked, content)
    assert api.ask("GET", created["attributes"]["hosted-state-download-url"]).body == content
    api.get(f"workspaces/{locked}/current-state-version-outputs")
    assert api.get(f"state-versions/{created['id']}", include="outputs").status == 200


MALFORMED_STATES = {
    "empty": b"", "not JSON": b"nonsense", "truncated": b'{"version": 4, "serial": 1, "lineage": "l"', "not UTF-8": b'{"version": 4, "serial": 1, "lineage": "\xff"}',
    "deeply nested": b'{"version": 4, "serial": 1, "lineage": "l", "x": ' + b"[" * 100000 + b"]" * 100000 + b"}",
    "an older version": b'{"version": 3, "serial": 1, "lineage": "l"}', "no serial": b'{"version": 4, "lineage": "l"}',
    "a negative serial": b'{"version": 4, "serial": -1, "lineage": "l"}', "a huge serial": b'{"version": 4, "serial": 1e300, "lineage": "l"}',
    "no lineage": b'{"version": 4, "serial": 1}', "an invalid lineage": b'{"version": 4, "serial": 1, "lineage": 7}',
}


@pytest.mark.parametrize("case", MALFORMED_STATES)
def test_malformed_states_are_refused_inline_and_as_upload(api, locked, case):
    content = MALFORMED_STATES[case]
    with pytest.raises(ApiError) as caught:
        push(api, locked, content)
    assert caught.value.status == 422
    pending = create_pending(api, locked, content).data["attributes"]
    assert put(api, pending["hosted-state-upload-url"], content).status == 422
    refused(404, api.get, f"workspaces/{locked}/current-state-version")
    api.post(f"workspaces/{locked}/actions/force-unlock")


def test_the_snapshot_interval_header_enables_intermediate_states(api, locked):
    push(api, locked, state())
    assert int(api.get(f"workspaces/{locked}/current-state-version").headers["X-Terraform-Snapshot-Interval"]) > 0


def test_outputs_are_listed_and_sensitive_values_are_sealed(api, locked, database):
    secret = "correct-horse-battery"
    values = {"name": {"value": "x", "type": "string"}, "list": {"value": [1, "2"], "type": ["tuple", ["number", "string"]]},
              "secret": {"value": secret, "type": "string", "sensitive": True}}
    created = push(api, locked, state(1, **values))
    current = {o["attributes"]["name"]: o for o in api.get(f"workspaces/{locked}/current-state-version-outputs").data}
    assert current["name"]["attributes"]["value"] == "x" and current["list"]["attributes"]["value"] == [1, "2"]
    assert current["list"]["attributes"]["type"] == "array" and current["list"]["attributes"]["detailed-type"] == ["tuple", ["number", "string"]]
    assert current["secret"]["attributes"]["value"] is None and current["secret"]["attributes"]["sensitive"] is True
    assert api.attributes(f"state-version-outputs/{current['secret']['id']}")["value"] == secret
    listed = api.get(f"state-versions/{created['id']}/outputs").json
    assert {o["attributes"]["name"] for o in listed["data"]} == set(values) and listed["meta"]["pagination"]["total-count"] == 3
    masked = api.get(f"state-versions/{created['id']}/outputs", masked="true").data
    assert all((output["attributes"]["value"] is None) == output["attributes"]["sensitive"] for output in masked) and masked
    linked = api.get(f"state-versions/{created['id']}", include="outputs").json
    assert [o["id"] for o in linked["included"]] == [o["id"] for o in linked["data"]["relationships"]["outputs"]["data"]]
    of_workspace = api.get(f"workspaces/{locked}", include="outputs").json
    assert {o["type"] for o in of_workspace["included"]} == {"workspace-outputs"}
    assert secret not in json.dumps(of_workspace)
    refused(404, api.get, "state-version-outputs/wsout-nobody")
    with psycopg.connect(database) as connection:
        assert secret not in str(connection.execute("select * from state_version_outputs").fetchall())
        assert all(secret.encode() not in row[0] for row in connection.execute("select bytes_sealed from blobs").fetchall())


def test_concurrent_states_with_one_serial_store_one(api, locked):
    """Of many writers with the same serial, one succeeds."""
    def attempt(number):
        content = state(1, **{f"o{number}": {"value": number, "type": "number"}})
        attributes = state_attributes(content, 1, state=base64.b64encode(content).decode())
        return api.call("POST", f"workspaces/{locked}/state-versions", document("state-versions", attributes)).status

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(attempt, range(8))) == [201] + [409] * 7
