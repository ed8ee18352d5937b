# SPDX-License-Identifier: MPL-2.0
"""terraform workspace, by tags, by tags with values, in projects, by a prefix; and settings that come from the environment."""

import itertools

import pytest

from support.terraform import HOST

names = itertools.count(1)


def listed(user):
    return user.run("workspace", "list").replace("*", "").split()


def test_workspaces_are_selected_by_tags(terraform):
    user = terraform()
    one, two = (f"tagged-{next(names)}" for _ in range(2))
    user.settings("cloud", tags=["net", "prod"])
    first = user.terminal("init").expect("There are no workspaces with the configured tags (net, prod)").expect("Enter a value:").type(one)
    assert "successfully initialized!" in first.ended()
    assert f'Created and switched to workspace "{two}"!' in user.run("workspace", "new", two)
    assert listed(user) == [one, two] and user.run("workspace", "show").strip() == two
    assert user.site.api.attributes(f"workspaces/{user.workspace(one)}")["tag-names"] == ["net", "prod"]
    assert f'Switched to workspace "{one}".' in user.run("workspace", "select", one)
    assert "Apply complete! Resources: 1 added" in user.apply()
    assert "doesn't exist" in user.run("workspace", "select", "nowhere", code=1)
    assert "Created and switched" in user.run("workspace", "select", "-or-create", f"{two}-b")
    refused = user.run("workspace", "delete", one, code=1)
    assert "is not empty" in refused
    assert f'Deleted workspace "{two}"!' in user.run("workspace", "delete", two)
    assert f'Deleted workspace "{one}"!' in user.run("workspace", "delete", "-force", one)
    assert listed(user) == [f"{two}-b"]


def test_workspaces_are_selected_by_tags_with_values_in_a_project(terraform, engine):
    if engine.program == "tofu":
        pytest.skip("OpenTofu has no tags with values")
    user = terraform()
    one, two, project = f"valued-{next(names)}", f"valued-{next(names)}", f"project-{next(names)}"
    user.settings("cloud", tags={"env": "prod", "team": "net"}, project=project)
    first = user.terminal("init").expect("Enter a value:").type(one)
    assert "successfully initialized!" in first.ended()
    user.run("workspace", "new", two)
    assert listed(user) == [one, two]
    api = user.site.api
    bindings = api.get(f"workspaces/{user.workspace(one)}/tag-bindings").data
    assert {(b["attributes"]["key"], b["attributes"]["value"]) for b in bindings} == {("env", "prod"), ("team", "net")}
    place = api.get(f"organizations/acme/workspaces/{one}", include="project").json
    assert [included["attributes"]["name"] for included in place["included"]] == [project]
    assert "Plan: 1 to add" in user.run("plan")
    other = terraform()
    other.settings("cloud", tags={"env": "prod", "team": "another"}, project=project)
    assert "No existing workspaces." in other.run("init", "-input=false", code=1)
    assert f'Deleted workspace "{one}"!' in user.run("workspace", "delete", one)


def test_workspaces_are_selected_by_a_prefix(terraform):
    user = terraform()
    prefix = f"prefix-{next(names)}-"
    user.settings("remote", prefix=prefix)
    assert "No existing workspaces." in user.run("init", "-input=false", code=1)
    assert 'Created and switched to workspace "one"!' in user.run("workspace", "new", "one")
    assert 'Created and switched to workspace "two"!' in user.run("workspace", "new", "two")
    assert listed(user) == ["one", "two"] and user.workspace(f"{prefix}one")
    user.run("workspace", "select", "one")
    assert "Apply complete! Resources: 1 added" in user.apply()
    assert 'Deleted workspace "two"!' in user.run("workspace", "delete", "two")
    assert listed(user) == ["one"]


def test_cloud_settings_are_read_from_the_environment(terraform):
    user = terraform()
    user.write("settings.tf", "terraform {\n  cloud {\n  }\n}\n")
    name = f"environment-{next(names)}"
    settings = {"TF_CLOUD_HOSTNAME": HOST, "TF_CLOUD_ORGANIZATION": "acme", "TF_WORKSPACE": name}
    assert user.engine.words(f'Terraform failed to find workspace "{name}" in organization acme.') in user.run("init", "-input=false", code=1, **settings)
    user.site.api.workspace(name)
    user.run("init", "-input=false", **settings)
    assert "Plan: 1 to add" in user.run("plan", **settings)


def test_a_configuration_with_a_workspace_name_has_only_that_workspace(terraform):
    user = terraform(f"only-{next(names)}")
    assert listed(user) == [user.name] and user.run("workspace", "show").strip() == user.name
    assert "workspaces not supported" in user.run("workspace", "new", "another", code=1)
    assert "cannot delete the currently active workspace" in user.run("workspace", "delete", user.name, code=1)


def test_an_invalid_token_and_an_unknown_organization_are_reported(terraform):
    intruder = terraform(token="wrong")
    intruder.settings("cloud", name="any")
    assert "unauthorized" in intruder.run("init", "-input=false", code=1)
    user = terraform()
    user.settings("cloud", name="any")
    (user.folder / "settings.tf").write_text((user.folder / "settings.tf").read_text().replace('"acme"', '"nowhere"'))
    assert f'organization "nowhere" at host {HOST} not found.' in user.run("init", "-input=false", code=1)
