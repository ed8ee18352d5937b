# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Organizations, workspaces, their lock, and variables."""

import uuid

import psycopg
import pytest

from support.documents import document, refused
from support.shared import api, database, scheduler  # noqa: F401


# ---- organizations ----


def test_organizations_are_created_renamed_and_deleted(api):
    created = api.post("organizations", document("organizations", {"name": "Second", "email": "a@example.com", "cost-estimation-enabled": True})).data
    assert created["id"] == "Second" and created["attributes"]["cost-estimation-enabled"] is True
    assert api.get("organizations/Second").data == created
    assert api.get("organizations/sECOND").data == created
    assert [o["id"] for o in api.get("organizations", q="seco").data] == ["Second"]
    assert {api.organization, "Second"} <= {o["id"] for o in api.get("organizations", **{"page[size]": 100}).data}
    taken = refused(422, api.post, "organizations", document("organizations", {"name": "second", "email": "a@example.com"}))
    assert "Name has already been taken" in taken.errors()
    for attributes in ({"name": "a b", "email": "a@b"}, {"name": "x"}, {"name": "x", "email": "nobody"}, {"email": "a@b"}):
        refused(422, api.post, "organizations", document("organizations", attributes))
    renamed = api.patch("organizations/Second", document("organizations", {"name": "third", "session-timeout": 60})).data
    assert renamed["id"] == "third" and renamed["attributes"]["session-timeout"] == 60
    assert renamed["attributes"]["cost-estimation-enabled"] is True
    api.delete("organizations/third")
    refused(404, api.get, "organizations/third")


def test_an_organization_is_deleted_with_its_content(api, database):
    api.post("organizations", document("organizations", {"name": "gone", "email": "a@example.com"}))
    api.organization = "gone"
    workspace = api.workspace("w")
    api.variable(workspace, "k", "v")
    configuration = api.upload(workspace, {"main.tf": ""})
    api.run(workspace, configuration)
    api.delete("organizations/gone")
    refused(404, api.get, f"workspaces/{workspace}")
    with psycopg.connect(database) as connection:
        for table in ("runs", "variables", "configuration_versions", "jobs"):
            rows = connection.execute(f"select count(*) from {table} where workspace_id = %s", [workspace]).fetchone()[0]
            assert rows == 0, table


def test_entitlements_and_capacity_are_read(api):
    entitlements = api.get(f"organizations/{api.organization}/entitlement-set").data
    assert entitlements["id"] == api.organization and entitlements["attributes"]["operations"] is True
    assert api.get(f"organizations/{api.organization}/capacity").data["attributes"] == {"pending": 0, "running": 0}
    refused(404, api.get, "organizations/nobody/entitlement-set")


# ---- workspaces ----


def test_a_workspace_reads_back_as_created(api):
    attributes = {"name": "network", "description": "the network", "auto-apply": True, "terraform-version": "1.11.4", "working-directory": "live/",
              "allow-destroy-plan": False, "queue-all-runs": True, "structured-run-output-enabled": False, "source-name": "tests",
              "trigger-prefixes": ["/modules"], "file-triggers-enabled": True, "speculative-enabled": True}
    created = api.post(f"organizations/{api.organization}/workspaces", document("workspaces", attributes)).data
    assert {name: created["attributes"][name] for name in attributes} == attributes
    assert api.get(f"workspaces/{created['id']}").data == created
    assert api.get(f"organizations/{api.organization}/workspaces/Network").data == created
    assert api.get(f"organizations/{api.organization}/workspaces").data == [created]
    assert created["relationships"]["organization"]["data"] == {"id": api.organization, "type": "organizations"}
    assert created["attributes"]["permissions"]["can-queue-run"] is True
    assert created["attributes"]["created-at"].endswith("Z")
    assert created["links"]["self"] == f"/api/v2/organizations/{api.organization}/workspaces/network"


def test_updates_change_only_the_given_attributes(api):
    workspace = api.workspace("one", description="d", auto_apply=True)
    before = api.attributes(f"workspaces/{workspace}")
    after = api.patch(f"workspaces/{workspace}", document("workspaces", {"terraform-version": "1.11.4"})).data["attributes"]
    assert after["terraform-version"] == "1.11.4"
    assert {n for n in before if before[n] != after[n]} == {"terraform-version", "updated-at"}
    after = api.patch(f"organizations/{api.organization}/workspaces/one", document("workspaces", {"name": "two", "description": None, "operations": False})).data["attributes"]
    assert (after["name"], after["description"], after["execution-mode"], after["operations"], after["auto-apply"]) == ("two", None, "local", False, True)
    refused(404, api.get, f"organizations/{api.organization}/workspaces/one")
    api.workspace("three")
    taken = refused(422, api.patch, f"workspaces/{workspace}", document("workspaces", {"name": "Three"}))
    assert "Name has already been taken" in taken.errors()


def test_invalid_attributes_are_refused(api):
    workspace = api.workspace("w")
    for attributes in ({"terraform-version": "nonexisting"}, {"terraform-version": "; rm"}, {"working-directory": "../up"},
                       {"working-directory": "a/../../b"}, {"execution-mode": "elsewhere"}, {"execution-mode": "remote", "operations": True},
                       {"execution-mode": "agent"}, {"agent-pool-id": "apool-1"}, {"execution-mode": "agent", "agent-pool-id": "apool-nobody"},
                       {"setting-overwrites": "x"}):
        refused(422, api.post, f"organizations/{api.organization}/workspaces", document("workspaces", {"name": "other", **attributes}))
        refused(422, api.patch, f"workspaces/{workspace}", document("workspaces", attributes))


UNSUPPORTED = [  # type, attribute, clients' default, refused value, a word of the reason
    ("organizations", "assessment-hours", 24, 169, "must be 1 to 168"),
    ("organizations", "collaborator-auth-policy", "password", "two_factor_mandatory", "All owners need two-factor"),
    ("organizations", "collaborator-auth-policy", "password", "nonsense", "must be password"),
    ("organizations", "enforce-hyok", False, True, "HYOK"),
    ("organizations", "send-passing-statuses-for-untriggered-speculative-plans", False, True, "aggregated-commit-status-enabled: false"),
]


@pytest.mark.parametrize("type, attribute, default, other, reason", UNSUPPORTED, ids=[f"{attribute}-{other}" for _, attribute, _, other, _ in UNSUPPORTED])
def test_unsupported_settings_are_refused(api, type, attribute, default, other, reason):
    if type == "workspaces":
        existing, path, name = f"workspaces/{api.workspace('w')}", f"organizations/{api.organization}/workspaces", {"name": "other"}
    else:
        existing, path, name = f"organizations/{api.organization}", "organizations", {"name": f"o-{uuid.uuid4()}", "email": "a@example.com"}
    before = api.attributes(existing).get(attribute)
    for method, at, body in (("PATCH", existing, {}), ("POST", path, name)):
        answer = api.call(method, at, document(type, {**body, attribute: other}))
        assert answer.status == 422 and answer.json["errors"][0]["source"]["pointer"] == f"/data/attributes/{attribute}"
        assert reason in answer.json["errors"][0]["detail"]
    assert api.attributes(existing).get(attribute) == before
    for value in (default, None):
        api.patch(existing, document(type, {attribute: value}))
    assert (api.attributes(existing)[attribute] or default) == default
    api.post(path, document(type, {**name, attribute: default}))


def test_vcs_settings_are_stored(api):
    """go-tfe's tests and the provider set them for every workspace and organization."""
    workspace = api.workspace("w", queue_all_runs=True, trigger_patterns=["/a/**"])
    assert api.attributes(f"workspaces/{workspace}")["trigger-patterns"] == ["/a/**"]
    for name in ("aggregated-commit-status-enabled", "speculative-plan-management-enabled"):
        assert api.patch(f"organizations/{api.organization}", document("organizations", {name: False})).data["attributes"][name] is False
    stacks = api.patch(f"organizations/{api.organization}", document("organizations", {"stacks-enabled": True})).data["attributes"]
    assert stacks["stacks-enabled"] is False, "stacks are not supported"


def test_versions_and_version_constraints_are_accepted(api):
    workspace = api.workspace("v")
    for version in ("1.11.4", "~> 1.11.0", "1.6.0-rc1", ">= 1.2, < 2.0", "v1.2.3"):
        changed = api.patch(f"workspaces/{workspace}", document("workspaces", {"terraform-version": version}))
        assert changed.data["attributes"]["terraform-version"] == version
    # "latest" is accepted and is the default.
    assert api.attributes(f"workspaces/{api.workspace('w', terraform_version='latest')}")["terraform-version"] == "latest"
    assert api.attributes(f"workspaces/{api.workspace('x')}")["terraform-version"] == "latest"


def test_an_execution_mode_is_inherited_until_one_is_set(api):
    inherits, owns = api.workspace("inherits"), api.workspace("owns", execution_mode="remote")
    api.patch(f"organizations/{api.organization}", document("organizations", {"default-execution-mode": "local"}))
    assert api.attributes(f"workspaces/{inherits}")["execution-mode"] == "local"
    assert api.attributes(f"workspaces/{owns}")["execution-mode"] == "remote"
    assert api.attributes(f"workspaces/{api.workspace('new')}")["execution-mode"] == "local"
    back = api.patch(f"workspaces/{owns}", document("workspaces", {"setting-overwrites": {"execution-mode": False}})).data["attributes"]
    assert back["execution-mode"] == "local" and back["setting-overwrites"]["execution-mode"] is False
    refused(422, api.patch, f"organizations/{api.organization}", document("organizations", {"default-execution-mode": "elsewhere"}))


def names(api, **query):
    return [w["attributes"]["name"] for w in api.get(f"organizations/{api.organization}/workspaces", **query).data]


def test_workspaces_are_searched_and_sorted(api):
    for name in ("app-prod", "app-dev", "db_prod", "dbxprod"):
        api.workspace(name)
    assert names(api) == ["app-prod", "app-dev", "db_prod", "dbxprod"]
    assert names(api, sort="name") == ["app-dev", "app-prod", "db_prod", "dbxprod"]
    assert names(api, sort="-name") == ["dbxprod", "db_prod", "app-prod", "app-dev"]
    assert names(api, **{"search[name]": "PROD", "sort": "name"}) == ["app-prod", "db_prod", "dbxprod"]
    assert names(api, **{"search[wildcard-name]": "app-*"}) == ["app-prod", "app-dev"]
    assert names(api, **{"search[wildcard-name]": "*prod", "sort": "name"}) == ["app-prod", "db_prod", "dbxprod"]
    assert names(api, **{"search[wildcard-name]": "db_*"}) == ["db_prod"]
    assert names(api, **{"search[wildcard-name]": "%"}) == []
    assert names(api, **{"search[name]": "nobody"}) == []
    assert names(api, **{"search[tags]": "x"}) == []
    assert names(api, sort="nonsense") == names(api)


def test_organization_and_lock_owner_are_included(api):
    workspace = api.workspace("w")
    answer = api.get(f"workspaces/{workspace}", include="organization,locked_by,current_run").json
    assert [r["type"] for r in answer["included"]] == ["organizations"]
    api.post(f"workspaces/{workspace}/actions/lock")
    answer = api.get(f"workspaces/{workspace}", include="locked_by").json
    assert answer["included"][0]["attributes"]["username"] == "admin"


# ---- the lock ----


def test_a_workspace_is_locked_and_unlocked(api):
    workspace = api.workspace("w")
    # Clients send a document with an empty type.
    locked = api.post(f"workspaces/{workspace}/actions/lock", {"data": {"type": "", "attributes": {"reason": "Locked by Terraform"}}}).data
    assert locked["attributes"]["locked"] is True and locked["attributes"]["locked-reason"] == "Locked by Terraform"
    assert locked["relationships"]["locked-by"]["data"]["type"] == "users"
    refused(409, api.post, f"workspaces/{workspace}/actions/lock")
    unlocked = api.post(f"workspaces/{workspace}/actions/unlock").data
    assert unlocked["attributes"]["locked"] is False and unlocked["relationships"]["locked-by"]["data"] is None
    assert "is locked by" not in refused(409, api.post, f"workspaces/{workspace}/actions/unlock").errors()
    refused(409, api.post, f"workspaces/{workspace}/actions/force-unlock")
    refused(404, api.post, "workspaces/ws-nobody/actions/lock")


def test_another_users_lock_needs_force_unlock(api, database):
    workspace = api.workspace("w")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("insert into users (id, username, email) values ('user-other', 'other', 'o@example.com')")
        connection.execute("update workspaces set locked_by = 'user-other' where id = %s", [workspace])
    assert "is locked by User" in refused(409, api.post, f"workspaces/{workspace}/actions/unlock").errors()
    assert api.post(f"workspaces/{workspace}/actions/force-unlock").data["attributes"]["locked"] is False


def test_a_run_locks_its_workspace(api):
    workspace = api.workspace("w")
    configuration = api.upload(workspace, {"main.tf": ""})
    run = api.run(workspace, configuration)
    locked = api.get(f"workspaces/{workspace}").data
    assert locked["attributes"]["locked"] is True
    assert locked["relationships"]["locked-by"]["data"] == {"id": run, "type": "runs"}
    assert locked["relationships"]["current-run"]["data"]["id"] == run
    for action in ("unlock", "force-unlock"):
        assert "is locked by Run" in refused(409, api.post, f"workspaces/{workspace}/actions/{action}").errors()
    refused(409, api.post, f"workspaces/{workspace}/actions/lock")
    assert "locked" in refused(409, api.post, f"workspaces/{workspace}/actions/safe-delete").errors()


def test_unlocking_starts_the_next_run(api):
    workspace = api.workspace("w")
    configuration = api.upload(workspace, {"main.tf": ""})
    api.post(f"workspaces/{workspace}/actions/lock")
    run = api.run(workspace, configuration)
    assert api.status(run) == "pending"
    api.post(f"workspaces/{workspace}/actions/unlock")
    assert api.status(run) == "plan_queued"


def test_a_workspace_is_deleted_unless_an_apply_runs(api, database):
    api.workspace("a")
    api.delete(f"organizations/{api.organization}/workspaces/a")
    refused(404, api.delete, f"organizations/{api.organization}/workspaces/a")
    workspace = api.workspace("b")
    api.post(f"workspaces/{workspace}/actions/safe-delete")
    refused(404, api.get, f"workspaces/{workspace}")
    workspace = api.workspace("c")
    configuration = api.upload(workspace, {"main.tf": ""})
    api.run(workspace, configuration)
    with psycopg.connect(database, autocommit=True) as connection:
        claim = "update jobs set state = 'claimed', stage = %s, lease_until = now() + interval '1 hour' where workspace_id = %s"
        connection.execute(claim, ["apply", workspace])
        assert "being worked on" in refused(409, api.delete, f"workspaces/{workspace}").errors()
        assert "being worked on" in refused(409, api.delete, f"organizations/{api.organization}").errors()
        connection.execute(claim, ["plan", workspace])
    api.delete(f"workspaces/{workspace}")
    refused(404, api.get, f"workspaces/{workspace}")


# ---- variables ----


def test_variables_are_created_changed_and_deleted(api):
    workspace = api.workspace("w")
    body = document("vars", {"key": "region", "value": "eu", "category": "terraform", "description": "where", "hcl": False})
    created = api.post(f"workspaces/{workspace}/vars", body).data
    assert created["attributes"]["value"] == "eu" and created["attributes"]["sensitive"] is False
    assert created["relationships"]["configurable"]["data"] == {"id": workspace, "type": "workspaces"}
    assert api.get(f"workspaces/{workspace}/vars/{created['id']}").data == created
    assert api.get(f"workspaces/{workspace}/vars").data == [created]
    assert api.get(f"workspaces/{workspace}").data["relationships"]["vars"]["data"] == [{"id": created["id"], "type": "vars"}]
    path = f"workspaces/{workspace}/vars/{created['id']}"
    changed = api.patch(path, document("vars", {"value": "us"})).data["attributes"]
    assert changed["value"] == "us" and changed["key"] == "region" and changed["description"] == "where"
    assert changed["version-id"] != created["attributes"]["version-id"]
    assert "Key has already been taken" in refused(422, api.post, f"workspaces/{workspace}/vars", body).errors()
    api.variable(workspace, "region", "eu", category="env")
    api.delete(path)
    refused(404, api.get, path)
    refused(404, api.delete, path)


def test_sensitive_values_are_not_shown_logged_or_stored_in_plain_text(api, database, scheduler):
    workspace = api.workspace("w")
    secret = "hunter2-hunter2-hunter2"
    variable = api.variable(workspace, "password", secret, sensitive=True)
    path = f"workspaces/{workspace}/vars/{variable}"
    answers = [api.get(path), api.get(f"workspaces/{workspace}/vars"), api.patch(path, document("vars", {"description": "new"}))]
    assert all(secret not in answer.text for answer in answers)
    assert api.attributes(path)["value"] is None
    refused(422, api.patch, path, document("vars", {"sensitive": False}))
    with psycopg.connect(database) as connection:
        for table in ("variables", "run_inputs"):
            assert secret not in str(connection.execute(f"select * from {table}").fetchall())
        assert all(secret.encode() not in row[0] for row in connection.execute("select value_sealed from variables").fetchall())
    assert secret not in scheduler.process.log()


def test_values_may_be_any_text(api):
    workspace = api.workspace("w")
    for key, value in (("empty", ""), ("quotes", "\"'\\ \n\t"), ("umlaut", "grüße 🐎"), ("long", "x" * 200000)):
        variable = api.variable(workspace, key, value)
        assert api.attributes(f"workspaces/{workspace}/vars/{variable}")["value"] == value
    assert api.attributes(f"workspaces/{workspace}/vars/{api.variable(workspace, 'none', None)}")["value"] == ""


def test_invalid_variables_are_refused(api):
    workspace = api.workspace("w")
    for attributes in ({"key": ""}, {"key": None}, {"key": "a b"}, {"key": "a=b", "category": "env"}, {"category": "other"}, {"category": None},
                       {"value": 5}, {"hcl": "yes"}, {"description": "d" * 513}, {"value": "v" * (257 << 10)}, {"key": "k" * 257}):
        body = document("vars", {"key": "k", "value": "v", "category": "terraform", **attributes})
        refused(422, api.post, f"workspaces/{workspace}/vars", body)
    assert api.get(f"workspaces/{workspace}/vars").data == []
