# SPDX-License-Identifier: MPL-2.0
# label: quick
"""SSH keys of organizations, and workspaces that use one."""

import psycopg

from support.documents import refused
from support.shared import api, database, scheduler  # noqa: F401

SECRET = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0LXNzaC1rZXk=\n-----END OPENSSH PRIVATE KEY-----\n"


def document(**attributes):
    return {"data": {"type": "ssh-keys", "attributes": attributes}}


def assignment(key):
    return {"data": {"type": "workspaces", "attributes": {"id": key}}}


def create(api, name="deploy", value=SECRET):
    return api.post(f"organizations/{api.organization}/ssh-keys", document(name=name, value=value)).data


def test_a_key_is_created_renamed_and_deleted(api, database, scheduler):
    created = create(api)
    assert created["attributes"] == {"name": "deploy"} and created["id"].startswith("sshkey-")
    assert api.get(f"ssh-keys/{created['id']}").data == created
    assert api.get(f"organizations/{api.organization}/ssh-keys").data == [created]
    renamed = api.patch(f"ssh-keys/{created['id']}", document(name="other"))
    assert renamed.data["attributes"]["name"] == "other" and "c2VjcmV0" not in renamed.text
    with psycopg.connect(database) as connection:
        sealed = connection.execute("select value_sealed from ssh_keys where id = %s", [created["id"]]).fetchone()[0]
    assert b"c2VjcmV0" not in bytes(sealed) and "c2VjcmV0" not in scheduler.process.log()
    api.delete(f"ssh-keys/{created['id']}")
    refused(404, api.get, f"ssh-keys/{created['id']}")
    refused(404, api.delete, f"ssh-keys/{created['id']}")


def test_invalid_keys_are_refused(api):
    create(api)
    for attributes in ({}, {"name": "x"}, {"value": "x"}, {"name": "", "value": "x"}, {"name": "x", "value": ""}, {"name": 1, "value": "x"},
                       {"name": "x", "value": None}, {"name": "x" * 256, "value": "x"}, {"name": "x", "value": "x" * 65537}, {"name": "DEPLOY", "value": "x"}):
        answer = refused(422, api.post, f"organizations/{api.organization}/ssh-keys", document(**attributes))
        assert answer.json["errors"][0]["source"]["pointer"].startswith("/data/attributes/"), attributes
    second = create(api, "second")["id"]
    assert "Name has already been taken" in refused(422, api.patch, f"ssh-keys/{second}", document(name="deploy")).errors()
    refused(422, api.patch, f"ssh-keys/{second}", document(value=""))
    assert len(api.get(f"organizations/{api.organization}/ssh-keys").data) == 2


def test_a_key_is_assigned_to_a_workspace(api):
    workspace, key = api.workspace("w"), create(api)["id"]
    path = f"workspaces/{workspace}/relationships/ssh-key"
    assert api.patch(path, assignment(key)).data["relationships"]["ssh-key"]["data"] == {"id": key, "type": "ssh-keys"}
    assert api.get(f"workspaces/{workspace}").data["relationships"]["ssh-key"]["data"]["id"] == key
    assert api.patch(path, assignment(None)).data["relationships"]["ssh-key"]["data"] is None
    for body in ({"data": {"type": "workspaces", "attributes": {}}}, assignment("sshkey-nobody"), assignment(1)):
        refused(422, api.patch, path, body)
    refused(404, api.patch, "workspaces/ws-nobody/relationships/ssh-key", assignment(key))
    api.patch(path, assignment(key))
    api.delete(f"ssh-keys/{key}")
    assert api.get(f"workspaces/{workspace}").data["relationships"]["ssh-key"]["data"] is None


def test_another_organizations_key_is_refused(api):
    workspace = api.workspace("w")
    api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": f"{api.organization}-b", "email": "a@example.com"}}})
    key = api.post(f"organizations/{api.organization}-b/ssh-keys", document(name="k", value=SECRET)).data["id"]
    assert "SSH key must exist" in refused(422, api.patch, f"workspaces/{workspace}/relationships/ssh-key", assignment(key)).errors()
