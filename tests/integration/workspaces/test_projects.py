# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Projects: every organization has a default one, and each workspace is in one."""

import pytest
from support.documents import refused_at


def projects(org, **query):
    return {project["attributes"]["name"]: project for project in org.get(f"organizations/{org.organization}/projects", **query).data}


def default_project(org):
    return projects(org)["Default Project"]


def send(org, method, path, **attributes):
    attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
    return org.call(method, path, {"data": {"type": "projects", "attributes": attributes}})


def create(org, **attributes):
    return send(org, "POST", f"organizations/{org.organization}/projects", **attributes)


def move(org, workspace, project):
    relations = {"project": {"data": {"type": "projects", "id": project}}}
    return org.call("PATCH", f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {}, "relationships": relations}})


def new_workspace(org, project, **attributes):
    relations = {"project": {"data": {"type": "projects", "id": project}}}
    body = {"data": {"type": "workspaces", "attributes": {"name": f"w{next(org.names)}", **attributes}, "relationships": relations}}
    return org.call("POST", f"organizations/{org.organization}/workspaces", body)


# ---- projects ----


def test_an_organization_has_a_default_project(org):
    project = default_project(org)
    shown = org.get(f"organizations/{org.organization}", include="default-project").json
    assert shown["data"]["relationships"]["default-project"]["data"] == {"id": project["id"], "type": "projects"}
    assert shown["included"] == [project]
    assert project["attributes"]["permissions"]["can-destroy"] is False
    assert org.call("DELETE", f"projects/{project['id']}").status == 409
    assert send(org, "PATCH", f"projects/{project['id']}", name="The rest").status == 200


def test_a_project_reads_back_as_created_changed_and_deleted(org):
    created = create(org, name="Network team", description="switches", auto_destroy_activity_duration="14d")
    assert created.status == 201
    attributes = created.data["attributes"]
    assert (attributes["name"], attributes["description"], attributes["auto-destroy-activity-duration"]) == ("Network team", "switches", "14d")
    path = f"projects/{created.data['id']}"
    assert org.get(path).data == created.data
    changed = send(org, "PATCH", path, description="routers", auto_destroy_activity_duration=None).data["attributes"]
    assert (changed["name"], changed["description"], changed["auto-destroy-activity-duration"]) == ("Network team", "routers", None)
    assert org.call("DELETE", path).status == 204
    assert org.call("GET", path).status == 404


INVALID = [
    ({"name": None}, "name"),
    ({"name": "ab"}, "name"),
    ({"name": "x" * 41}, "name"),
    ({"name": "no/slash"}, "name"),
    ({"name": " ahead"}, "name"),
    ({"description": "x" * 257}, "description"),
    ({"description": 1}, "description"),
    ({"auto_destroy_activity_duration": "20m"}, "auto-destroy-activity-duration"),
    ({"auto_destroy_activity_duration": "12345d"}, "auto-destroy-activity-duration"),
    ({"default_execution_mode": "elsewhere"}, "default-execution-mode"),
    ({"default_execution_mode": "agent"}, "default-agent-pool-id"),
    ({"default_execution_mode": "remote", "default_agent_pool_id": "apool-0000000000000000"}, "default-agent-pool-id"),
    ({"default_execution_mode": "agent", "default_agent_pool_id": "apool-0000000000000000"}, "default-agent-pool-id"),
    ({"setting_overwrites": {"default-execution-mode": True, "default-agent-pool": False}}, "setting-overwrites"),
]


@pytest.mark.parametrize("attributes,attribute", INVALID, ids=[f"{attribute}-{i}" for i, (_, attribute) in enumerate(INVALID)])
def test_errors_have_a_pointer(org, attributes, attribute):
    refused_at(create(org, **{"name": "Network", **attributes}), f"/data/attributes/{attribute}")


def test_a_taken_name_is_refused(org):
    assert create(org, name="Network").status == 201
    assert "has already been taken" in refused_at(create(org, name="network"), "/data/attributes/name")


def test_projects_are_searched_filtered_and_paged(org):
    for name in ("Network", "Storage", "Networks old"):
        create(org, name=name)
    assert list(projects(org)) == ["Network", "Networks old", "Storage", "Default Project"]
    assert list(projects(org, q="network")) == ["Network", "Networks old"]
    assert list(projects(org, **{"filter[names]": "network,Storage"})) == ["Network", "Storage"]
    page = org.get(f"organizations/{org.organization}/projects", **{"page[number]": 2, "page[size]": 3}).json
    assert [project["attributes"]["name"] for project in page["data"]] == ["Default Project"] and page["meta"]["pagination"]["total-count"] == 4


def test_a_project_is_hidden_from_other_organizations(org, api_site):
    stranger = api_site.stranger()
    project = create(org, name="Network").data["id"]
    assert stranger.call("GET", f"projects/{project}").status == 404
    assert send(stranger, "PATCH", f"projects/{project}", name="Mine").status == 404
    assert stranger.call("DELETE", f"projects/{project}").status == 404
    refused_at(new_workspace(stranger, project), "/data/relationships/project")
    refused_at(move(stranger, stranger.workspace(), project), "/data/relationships/project")


# ---- workspaces of projects ----


def project_of(org, workspace):
    return org.get(f"workspaces/{workspace}").data["relationships"]["project"]["data"]["id"]


def test_a_workspace_belongs_to_one_project_and_can_move(org):
    network = create(org, name="Network").data["id"]
    workspace_id = org.workspace()
    assert project_of(org, workspace_id) == default_project(org)["id"]
    created = new_workspace(org, network).data["id"]
    assert project_of(org, created) == network
    listed = org.get(f"organizations/{org.organization}/workspaces", **{"filter[project][id]": network}).data
    assert [workspace["id"] for workspace in listed] == [created]
    assert move(org, workspace_id, network).status == 200 and project_of(org, workspace_id) == network
    shown = org.get(f"workspaces/{created}", include="project").json
    assert [item["attributes"]["name"] for item in shown["included"]] == ["Network"] and shown["included"][0]["attributes"]["workspace-count"] == 2


def test_a_project_with_workspaces_cannot_be_deleted(org):
    network = create(org, name="Network").data["id"]
    workspace = new_workspace(org, network).data["id"]
    assert org.call("DELETE", f"projects/{network}").status == 409
    assert move(org, workspace, default_project(org)["id"]).status == 200
    assert org.call("DELETE", f"projects/{network}").status == 204
    assert org.call("DELETE", f"organizations/{org.organization}").status == 204


def mode(org, workspace):
    return org.attributes(f"workspaces/{workspace}")["execution-mode"]


def test_workspaces_inherit_the_execution_mode_of_their_project(org):
    network = create(org, name="Network", default_execution_mode="local").data
    assert network["attributes"]["setting-overwrites"] == {"default-execution-mode": True, "default-agent-pool": True}
    inherits = new_workspace(org, network["id"]).data["id"]
    own = new_workspace(org, network["id"], **{"execution-mode": "remote"}).data["id"]
    elsewhere = org.workspace()
    assert (mode(org, inherits), mode(org, own), mode(org, elsewhere)) == ("local", "remote", "remote")
    org.patch(f"organizations/{org.organization}", {"data": {"type": "organizations", "attributes": {"default-execution-mode": "local"}}})
    assert (mode(org, inherits), mode(org, own), mode(org, elsewhere)) == ("local", "remote", "local")
    send(org, "PATCH", f"projects/{network['id']}", default_execution_mode="remote")
    assert (mode(org, inherits), mode(org, elsewhere)) == ("remote", "local")
    # Without a project's own mode, the organization's applies. A moved workspace gets the mode of its new project.
    given = send(org, "PATCH", f"projects/{network['id']}", setting_overwrites={"default-execution-mode": False, "default-agent-pool": False}).data
    assert given["attributes"]["default-execution-mode"] == "local" and mode(org, inherits) == "local"
    send(org, "PATCH", f"projects/{network['id']}", default_execution_mode="remote")
    move(org, elsewhere, network["id"])
    assert mode(org, elsewhere) == "remote"
