# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Reserved keys of tags: what a workspace can't override."""

import pytest

from support.documents import refused, refused_at


@pytest.fixture
def base(org):
    return f"organizations/{org.organization}"


def reserve(org, key, **attributes):
    attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
    return org.post(f"organizations/{org.organization}/reserved-tag-keys", {"data": {"type": "reserved-tag-keys", "attributes": {"key": key, **attributes}}}).data


def bindings(**pairs):
    return {"data": [{"type": "tag-bindings", "attributes": {"key": key, "value": value}} for key, value in pairs.items()]}


def effective(org, workspace):
    return {item["attributes"]["key"]: item["attributes"]["value"] for item in org.get(f"workspaces/{workspace}/effective-tag-bindings").data}


@pytest.fixture
def project(org, base):
    project = org.post(f"{base}/projects", {"data": {"type": "projects", "attributes": {"name": "tagged"}}}).data["id"]
    org.patch(f"projects/{project}/tag-bindings", bindings(env="prod", team="a"))
    return project


def workspace_in(org, base, project, name, **relations):
    relations = {"project": {"data": {"type": "projects", "id": project}}, **relations}
    return org.call("POST", f"{base}/workspaces", {"data": {"type": "workspaces", "attributes": {"name": name}, "relationships": relations}})


def test_keys_are_listed_changed_and_deleted(org, base, api_site):
    one, two = reserve(org, "env"), reserve(org, "cost-center", disable_overrides=True)
    assert [(item["id"], item["attributes"]["key"], item["attributes"]["disable-overrides"]) for item in org.get(f"{base}/reserved-tag-keys").data] == [
        (one["id"], "env", False), (two["id"], "cost-center", True)]
    taken = org.call("PATCH", f"reserved-tag-keys/{one['id']}", {"data": {"type": "reserved-tag-keys", "attributes": {"key": "cost-center"}}})
    assert refused_at(taken, "/data/attributes/key").endswith("Key has already been taken")
    org.patch(f"reserved-tags/{one['id']}", {"data": {"type": "reserved-tag-keys", "attributes": {"disable-overrides": True}}})
    assert [item["attributes"]["disable-overrides"] for item in org.get(f"{base}/reserved-tag-keys").data] == [True, True]
    stranger = api_site.stranger()
    refused(404, stranger.delete, f"reserved-tag-keys/{one['id']}")
    org.delete(f"reserved-tags/{one['id']}")
    org.delete(f"reserved-tag-keys/{two['id']}")
    assert org.get(f"{base}/reserved-tag-keys").data == []


def test_a_workspace_cant_override_an_inherited_reserved_key(org, base, project):
    workspace = workspace_in(org, base, project, "one").data["id"]
    reserved = reserve(org, "env")
    org.patch(f"workspaces/{workspace}/tag-bindings", bindings(env="dev", team="b"))  # overrides are permitted
    assert effective(org, workspace) == {"env": "dev", "team": "b"}
    org.patch(f"reserved-tag-keys/{reserved['id']}", {"data": {"type": "reserved-tag-keys", "attributes": {"disable-overrides": True}}})
    assert effective(org, workspace) == {"env": "prod", "team": "b"}  # the older override has no effect
    answer = org.call("PATCH", f"workspaces/{workspace}/tag-bindings", bindings(env="dev"))
    assert "Key env is inherited" in refused_at(answer, "/data")
    org.patch(f"workspaces/{workspace}/tag-bindings", bindings(team="c", other="x"))
    assert effective(org, workspace) == {"env": "prod", "team": "c", "other": "x"}
    org.delete(f"reserved-tag-keys/{reserved['id']}")
    assert effective(org, workspace)["env"] == "dev"


def test_each_way_to_bind_a_tag_is_refused(org, base, project):
    reserve(org, "env", disable_overrides=True)
    tags = {"data": [{"type": "tags", "attributes": {"name": "env"}}]}
    new = workspace_in(org, base, project, "new", **{"tag-bindings": bindings(env="dev")})
    assert new.status == 422 and "Key env is inherited" in new.text
    workspace = workspace_in(org, base, project, "one").data["id"]
    assert "Key env is inherited" in org.call("POST", f"workspaces/{workspace}/relationships/tags", tags).text
    (tag,) = [item["id"] for item in org.get(f"{base}/tags").data if item["attributes"]["name"] == "env"]
    by_id = {"data": [{"type": "tags", "id": tag}]}
    refused(422, org.post, f"workspaces/{workspace}/relationships/tags", by_id)
    refused(422, org.post, f"tags/{tag}/relationships/workspaces", {"data": [{"type": "workspaces", "id": workspace}]})
    refused(422, org.patch, f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {}, "relationships": {"tag-bindings": bindings(env="dev")}}})
    assert effective(org, workspace) == {"env": "prod", "team": "a"}
    free = org.workspace("free")  # of another project, which binds no such key
    org.patch(f"workspaces/{free}/tag-bindings", bindings(env="dev"))
    assert effective(org, free) == {"env": "dev"}
