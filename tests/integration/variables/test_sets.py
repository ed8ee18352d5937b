# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Variables and variable sets: accepted values, the scope of sets, and the values in a run."""

import itertools

import pytest

from support.api import dashed
from support.people import People

NUMBERS = itertools.count(1)
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def ids(kind, *values):
    return {"data": [{"type": kind, "id": value} for value in values]}


def varset_body(name, relationships=None, **attributes):
    return {"data": {"type": "varsets", "attributes": {"name": name, **dashed(attributes)}, "relationships": relationships or {}}}


def varset(org, name=None, workspaces=(), projects=(), parent=None, **attributes):
    relationships = {"workspaces": ids("workspaces", *workspaces), "projects": ids("projects", *projects)}
    if parent:
        relationships["parent"] = {"data": {"type": "projects", "id": parent}}
    body = varset_body(name or f"set {next(NUMBERS)}", relationships, **attributes)
    return org.post(f"organizations/{org.organization}/varsets", body).data["id"]


def var_body(key, value="", category="terraform", **attributes):
    return {"data": {"type": "vars", "attributes": {"key": key, "value": value, "category": category, **dashed(attributes)}}}


def set_variable(org, owner, key, value, **attributes):
    return org.post(f"varsets/{owner}/relationships/vars", var_body(key, value, **attributes)).data["id"]


def project(org, name):
    return org.post(f"organizations/{org.organization}/projects", {"data": {"type": "projects", "attributes": {"name": name}}}).data["id"]


def workspace_in(org, where):
    body = {"data": {"type": "workspaces", "attributes": {"name": f"w{next(NUMBERS)}"}, "relationships": {"project": {"data": {"type": "projects", "id": where}}}}}
    return org.post(f"organizations/{org.organization}/workspaces", body).data["id"]


def refused(answer, pointer, words="", status=422):
    assert answer.status == status, answer.text
    (error,) = answer.json["errors"]
    assert error["source"]["pointer"] == pointer and words in error["detail"], answer.text


def effective(org, workspace):
    """{(category, key): value} of a run's variables."""
    return {(v["attributes"]["category"], v["attributes"]["key"]): v["attributes"]["value"] for v in org.get(f"workspaces/{workspace}/all-vars").data}


# ---- variables ----


def test_invalid_variables_are_refused_with_a_pointer(org):
    workspace = org.workspace()
    paths = {"workspace": f"workspaces/{workspace}/vars", "set": f"varsets/{varset(org)}/relationships/vars"}
    for path in paths.values():
        for attributes, pointer in (
            ({"key": None}, "key"), ({"key": ""}, "key"), ({"key": 7}, "key"), ({"key": "a b"}, "key"), ({"key": "é"}, "key"), ({"key": "k" * 129}, "key"),
            ({"key": "a=b", "category": "env"}, "key"), ({"key": "a\tb", "category": "env"}, "key"), ({"key": "a\x01b", "category": "env"}, "key"),
            ({"value": 7}, "value"), ({"value": ["a"]}, "value"), ({"value": "x" * (257 << 10)}, "value"), ({"description": "d" * 513}, "description"),
            ({"description": {}}, "description"), ({"category": "policy-set"}, "category"), ({"category": None}, "category"), ({"category": 1}, "category"),
            ({"hcl": "yes"}, "hcl"), ({"sensitive": 1}, "sensitive"),
        ):
            body = var_body("k", "v")
            body["data"]["attributes"].update(attributes)
            refused(org.call("POST", path, body), f"/data/attributes/{pointer}")
        assert org.get(path).data == []
        created = org.post(path, var_body("k", "v", description="d")).data
        assert created == org.get(f"{path}/{created['id']}").data == org.get(path).data[0]
        refused(org.call("POST", path, var_body("k", "again")), "/data/attributes/key", "Key has already been taken")
        org.post(path, var_body("k", "other category", "env"))
        other = org.post(path, var_body("other")).data["id"]
        refused(org.call("PATCH", f"{path}/{other}", var_body("k")), "/data/attributes/key", "Key has already been taken")
        assert org.call("GET", f"{path}/nonexisting").status == org.call("DELETE", f"{path}/nonexisting").status == 404
    # Variables of different owners are independent.
    (other_id,) = (v["id"] for v in org.get(paths["set"]).data if v["attributes"]["key"] == "other")
    assert org.call("GET", f"{paths['workspace']}/{other_id}").status == 404


@pytest.mark.parametrize("of_set", [False, True])
def test_a_sensitive_value_is_never_shown_again(org, of_set):
    workspace, owner = org.workspace(), varset(org)
    path = f"varsets/{owner}/relationships/vars" if of_set else f"workspaces/{workspace}/vars"
    created = org.post(path, var_body("k", "hidden-value")).data
    changed = org.patch(f"{path}/{created['id']}", {"data": {"type": "vars", "attributes": {"sensitive": True}}}).data["attributes"]
    assert changed["value"] is None and changed["sensitive"] and changed["version-id"] != created["attributes"]["version-id"]
    refused(org.call("PATCH", f"{path}/{created['id']}", {"data": {"type": "vars", "attributes": {"sensitive": False, "value": "x"}}}), "/data/attributes/sensitive")
    org.patch(f"{path}/{created['id']}", {"data": {"type": "vars", "attributes": {"hcl": True, "description": "still"}}})
    org.post(f"varsets/{owner}/relationships/workspaces", ids("workspaces", workspace))
    for shown in (path, f"{path}/{created['id']}", f"workspaces/{workspace}/all-vars", f"varsets/{owner}?include=vars"):
        assert "hidden-value" not in org.get(shown).text
    assert effective(org, workspace)["terraform", "k"] is None


# ---- variable sets ----


def test_a_set_reads_back_as_created_and_is_deleted(org):
    path = f"organizations/{org.organization}/varsets"
    workspace, home = org.workspace(), project(org, "home")
    variables = {"data": [var_body("a", "1")["data"], var_body("b", "2", "env", sensitive=True)["data"]]}
    body = varset_body("Network & DNS", {"workspaces": ids("workspaces", workspace), "projects": ids("projects", home), "vars": variables}, description="d", priority=True)
    created = org.ask("POST", path, body)
    assert created.status == 201
    assert created.data == org.get(f"varsets/{created.data['id']}").data == org.get(path).data[0]
    shown = created.data["attributes"]
    assert (shown["name"], shown["description"], shown["global"], shown["priority"]) == ("Network & DNS", "d", False, True)
    assert (shown["var-count"], shown["workspace-count"], shown["project-count"]) == (2, 1, 1)
    relations = created.data["relationships"]
    assert relations["organization"]["data"] == relations["parent"]["data"] == {"type": "organizations", "id": org.organization}
    assert relations["workspaces"] == ids("workspaces", workspace) and relations["projects"] == ids("projects", home)
    included = org.get(f"varsets/{created.data['id']}", include="workspaces,projects,vars").json["included"]
    assert sorted(item["type"] for item in included) == ["projects", "vars", "vars", "workspaces"]
    assert org.get(path, include="vars").json["included"][0]["relationships"]["varset"]["data"]["id"] == created.data["id"]
    assert org.call("GET", f"{path}?include=nonsense").status == 400
    org.delete(f"varsets/{created.data['id']}")
    assert org.call("GET", f"varsets/{created.data['id']}").status == 404


def test_sets_are_listed_by_organization_workspace_and_project(org):
    path = f"organizations/{org.organization}/varsets"
    home = project(org, "home")
    inside, outside = workspace_in(org, home), org.workspace()
    sets = {"global": varset(org, "d global", **{"global": True}),
            "project": varset(org, "c project", projects=[home]), "workspace": varset(org, "b workspace", workspaces=[inside]),
            "own": varset(org, "a own", parent=home), "none": varset(org, "e none")}

    def listed(where, **query):
        return [item["id"] for item in org.get(where, **query).data]

    assert listed(path) == [sets[name] for name in ("own", "workspace", "project", "global", "none")]
    assert listed(path, q="WORK") == [sets["workspace"]] and listed(path, q="%") == []
    assert listed(f"workspaces/{inside}/varsets") == [sets[name] for name in ("workspace", "project", "global")]
    assert listed(f"workspaces/{outside}/varsets") == [sets["global"]]
    assert listed(f"projects/{home}/varsets") == [sets[name] for name in ("own", "project", "global")]
    beyond = org.get(path, **{"page[number]": 999, "page[size]": 100})
    assert beyond.data == [] and beyond.json["meta"]["pagination"]["current-page"] == 999 and beyond.json["meta"]["pagination"]["total-count"] == 5
    assert org.call("GET", f"workspaces/{inside}/varsets?page[size]=x").status == 400


def test_invalid_sets_are_refused_with_a_pointer(org, api_site):
    path, workspace, foreign = f"organizations/{org.organization}/varsets", org.workspace(), api_site.organization()
    varset(org, "Taken")
    for attributes, pointer in (({"name": None}, "name"), ({"name": " "}, "name"), ({"name": "n" * 256}, "name"), ({"name": "a\nb"}, "name"), ({"name": 7}, "name"),
                                ({"name": "taken"}, "name"), ({"description": "d" * 513}, "description"), ({"global": "yes"}, "global"), ({"priority": 1}, "priority")):
        body = varset_body("fine")
        body["data"]["attributes"].update(attributes)
        refused(org.call("POST", path, body), f"/data/attributes/{pointer}")
    theirs = foreign.workspace()
    for relationships, pointer in (
        ({"workspaces": ids("workspaces", theirs)}, "workspaces"), ({"workspaces": ids("projects", workspace)}, "workspaces"),
        ({"projects": ids("projects", project(foreign, "theirs"))}, "projects"), ({"workspaces": {"data": "all"}}, "workspaces"),
        ({"parent": {"data": {"type": "projects", "id": project(foreign, "other")}}}, "parent"), ({"parent": {"data": {"type": "organizations", "id": foreign.organization}}}, "parent"),
        ({"parent": {"data": {"type": "users", "id": "x"}}}, "parent"), ({"parent": {"data": 7}}, "parent"),
        ({"vars": {"data": {}}}, "vars"), ({"vars": {"data": ["k"]}}, "vars"), ({"vars": {"data": [var_body("a b")["data"]]}}, "vars/data/0/attributes/key"),
        ({"vars": {"data": [var_body("a")["data"], var_body("a")["data"]]}}, "vars/data/1/attributes/key"),
    ):
        refused(org.call("POST", path, varset_body("fine", relationships)), f"/data/relationships/{pointer}")
    refused(org.call("POST", path, varset_body("fine", {"workspaces": ids("workspaces", workspace)}, **{"global": True})), "/data/attributes/global")
    assert [item["attributes"]["name"] for item in org.get(path).data] == ["Taken"]
    assert org.call("POST", path, {"data": []}).status == 400 and org.call("POST", path, b"").status == 400


def test_a_set_is_changed_and_made_global(org):
    first, second, home = org.workspace(), org.workspace(), project(org, "home")
    one = varset(org, "one", workspaces=[first])
    varset(org, "two")
    refused(org.call("PATCH", f"varsets/{one}", varset_body("TWO")), "/data/attributes/name", "Name has already been taken")
    changed = org.patch(f"varsets/{one}", {"data": {"type": "varsets", "attributes": {"priority": True}, "relationships": {"workspaces": ids("workspaces", second)}}}).data
    assert changed["attributes"]["name"] == "one" and changed["attributes"]["priority"]
    assert changed["relationships"]["workspaces"] == ids("workspaces", second)
    changed = org.patch(f"varsets/{one}", {"data": {"type": "varsets", "relationships": {"workspaces": ids("workspaces"), "projects": ids("projects", home)}}}).data
    assert changed["relationships"]["workspaces"]["data"] == [] and changed["relationships"]["projects"] == ids("projects", home)
    org.patch(f"varsets/{one}", {"data": {"type": "varsets", "relationships": {"vars": {"data": [var_body("a", "1")["data"]]}}}})
    kept = org.get(f"varsets/{one}").data["relationships"]["vars"]
    again = org.patch(f"varsets/{one}", {"data": {"type": "varsets", "relationships": {"vars": kept}}}).data
    assert again["relationships"]["vars"] == kept and again["attributes"]["var-count"] == 1
    # A set that becomes global applies everywhere, and its attachments are deleted.
    changed = org.patch(f"varsets/{one}", {"data": {"type": "varsets", "attributes": {"global": True}}}).data
    assert changed["attributes"]["global"] and changed["relationships"]["projects"]["data"] == []
    refused(org.call("POST", f"varsets/{one}/relationships/workspaces", ids("workspaces", first)), "/data", "global")


def test_sets_are_attached_and_detached(org, api_site):
    one, workspace, other, home = varset(org), org.workspace(), org.workspace(), project(org, "home")
    for kind, mine in (("workspaces", (workspace, other)), ("projects", (home,))):
        path = f"varsets/{one}/relationships/{kind}"
        assert org.ask("POST", path, ids(kind, *mine)).status == 204
        org.post(path, ids(kind, mine[0]))
        assert org.get(f"varsets/{one}").data["relationships"][kind]["data"] == ids(kind, *sorted(mine))["data"]
        for wrong in (ids(kind, "nonexistent"), ids("users", mine[0]), {"data": {"type": kind, "id": mine[0]}}, {"data": [kind]}, {"data": None}, []):
            assert org.call("POST", path, wrong).status in (400, 422), wrong
        org.ask("DELETE", path, ids(kind, mine[0], "nonexistent"))
        assert org.get(f"varsets/{one}").data["relationships"][kind]["data"] == ids(kind, *mine[1:])["data"]
    assert org.call("POST", f"varsets/{one}/relationships/stacks", ids("stacks", "x")).status == 404
    assert org.call("POST", f"varsets/{one}/relationships/workspaces", ids("workspaces", api_site.organization().workspace())).status == 422


def test_a_projects_set_applies_within_its_project_only(org):
    home, away = project(org, "home"), project(org, "away")
    inside, outside = workspace_in(org, home), workspace_in(org, away)
    own = varset(org, parent=home)
    set_variable(org, own, "k", "v")
    assert org.get(f"varsets/{own}").data["relationships"]["parent"]["data"] == {"type": "projects", "id": home}
    refused(org.call("POST", f"varsets/{own}/relationships/workspaces", ids("workspaces", inside, outside)), "/data")
    refused(org.call("POST", f"varsets/{own}/relationships/projects", ids("projects", away)), "/data")
    refused(org.call("PATCH", f"varsets/{own}", {"data": {"type": "varsets", "attributes": {"global": True}}}), "/data/attributes/global")
    assert org.get(f"varsets/{own}").data["relationships"]["workspaces"]["data"] == []
    org.post(f"varsets/{own}/relationships/workspaces", ids("workspaces", inside))
    assert effective(org, inside) == {("terraform", "k"): "v"}
    # A workspace that leaves the project leaves its sets.
    org.patch(f"workspaces/{inside}", {"data": {"type": "workspaces", "relationships": {"project": {"data": {"type": "projects", "id": away}}}}})
    assert effective(org, inside) == {}


def test_global_sets_cannot_have_the_same_variable(org):
    path = f"organizations/{org.organization}/varsets"
    first = org.post(path, varset_body("first", {"vars": {"data": [var_body("k", "1")["data"]]}}, **{"global": True})).data["id"]
    second = org.post(path, varset_body("second", **{"global": True})).data["id"]
    refused(org.call("POST", f"varsets/{second}/relationships/vars", var_body("k", "2")), "/data/attributes/key", "first")
    set_variable(org, second, "k", "2", category="env")
    other = set_variable(org, second, "other", "2")
    refused(org.call("PATCH", f"varsets/{second}/relationships/vars/{other}", var_body("k")), "/data/attributes/key", "first")
    refused(org.call("POST", path, varset_body("third", {"vars": {"data": [var_body("k")["data"]]}}, **{"global": True})), "/data/relationships/vars/data/0/attributes/key")
    third = varset(org, "third")
    set_variable(org, third, "k", "3")
    refused(org.call("PATCH", f"varsets/{third}", {"data": {"type": "varsets", "attributes": {"global": True}}}), "/data/attributes/global", "first")
    assert len(org.get(f"varsets/{second}/relationships/vars").data) == 2
    org.delete(f"varsets/{first}")
    org.patch(f"varsets/{third}", {"data": {"type": "varsets", "attributes": {"global": True}}})


# ---- precedence ----


SCOPES = ("global", "project", "workspace", "project's project", "project's workspace")  # sets without priority, lowest precedence first


def place_set(org, scope, home, workspace, name, priority):
    parent = home if scope.startswith("project's") else None
    attributes = {"priority": priority, **({"global": True} if scope == "global" else {})}
    return varset(org, name, workspaces=[workspace] if scope.endswith("workspace") else (), projects=[home] if scope.endswith("project") else (), parent=parent, **attributes)


def test_variables_follow_the_order_of_precedence(org):
    """Each value overrides all before it. The run's own variables are between the workspace's and the priority sets."""
    home = project(org, "home")
    workspace = workspace_in(org, home)
    order = []
    for category in ("terraform", "env"):
        set_variable(org, place_set(org, "workspace", home, workspace, f"{category} elsewhere", True), "other", category, category=category)
    for scope in SCOPES:
        order.append((place_set(org, scope, home, workspace, f"plain {scope}", False), scope))
    order.append((None, "workspace's own"))
    order += [(place_set(org, scope, home, workspace, f"priority {scope}", True), f"priority {scope}") for scope in reversed(SCOPES)]
    seen = []
    for owner, value in order:
        if value == "priority global":  # two global sets must not have the same variable
            plain = order[0][0]
            for item in org.get(f"varsets/{plain}/relationships/vars").data:
                org.delete(f"varsets/{plain}/relationships/vars/{item['id']}")
        for category in ("terraform", "env"):
            if owner:
                set_variable(org, owner, "k", value, category=category)
            else:
                org.variable(workspace, "k", value, category=category)
        values = effective(org, workspace)
        assert values["terraform", "k"] == values["env", "k"] == value, (value, seen)
        assert values["terraform", "other"] == "terraform" and values["env", "other"] == "env"
        seen.append(value)


@pytest.mark.parametrize("scope", SCOPES[1:])
@pytest.mark.parametrize("priority", [False, True])
def test_sets_of_equal_precedence_are_ordered_by_name(org, scope, priority):
    home = project(org, "home")
    workspace = workspace_in(org, home)
    for name in ("b", "a", "B", "é", "a b"):
        set_variable(org, place_set(org, scope, home, workspace, f"{name}{' upper' if name == 'B' else ''}", priority), "k", name)
    assert effective(org, workspace) == {("terraform", "k"): "B"}


def test_a_job_gets_the_variables_at_the_runs_creation(org, api_site):
    """The snapshot at the run's creation, lowest precedence first: regular variables, the run's own, priority sets."""
    workspace, fake_worker = org.workspace(), api_site.fake_worker()
    plain, prior = varset(org, "plain", workspaces=[workspace]), varset(org, "prior", workspaces=[workspace], priority=True)
    for owner, key, value in ((plain, "a", "plain"), (plain, "b", "plain"), (plain, "c", "plain"), (prior, "c", "prior"), (prior, "d", "prior"), (prior, "b", "prior")):
        set_variable(org, owner, key, value, sensitive=value == "prior")
    org.variable(workspace, "a", "own")
    run = org.run_files(workspace, ONE, variables=[{"key": "a", "value": '"run"'}, {"key": "d", "value": '"run"'}])
    org.delete(f"varsets/{plain}")
    org.delete(f"varsets/{prior}")
    pairs = [(v["key"], v["value"]) for v in fake_worker.take(run, "plan")["variables"]]
    assert pairs == [("a", "own"), ("a", '"run"'), ("d", '"run"'), ("b", "prior"), ("c", "prior"), ("d", "prior")]


# ---- visibility ----


def test_reading_and_changing_sets_needs_permissions(org, api_site):
    """A project's own sets are visible to those with access to the project, all others to those who manage projects or
    workspaces."""
    people = People(org, api_site.database)
    home, away = project(org, "home"), project(org, "away")
    common, own, theirs = varset(org, "common"), varset(org, "own", parent=home), varset(org, "theirs", parent=away)
    teams = {"admin": people.team("admin"), "managers": people.team("managers", manage_projects=True), "nobody": people.team("nobody")}
    people.give(teams["admin"], "project", home, "admin")
    member = {name: people.member(f"{name}{next(NUMBERS)}", team) for name, team in teams.items()}
    path = f"organizations/{org.organization}/varsets"
    assert [item["id"] for item in member["admin"].get(path).data] == [common, own]
    assert [item["id"] for item in member["managers"].get(path).data] == [common, own, theirs]
    assert member["nobody"].call("GET", path).status == 404
    attempts = {common: {"managers"}, own: {"admin", "managers"}, theirs: {"managers"}}
    for owner, allowed in attempts.items():
        for name, client in member.items():
            body = {"data": {"type": "varsets", "attributes": {"description": name}}}
            assert client.call("PATCH", f"varsets/{owner}", body).status == (200 if name in allowed else 404), (owner, name)
            assert client.call("POST", f"varsets/{owner}/relationships/vars", var_body(f"by-{name}")).status == (201 if name in allowed else 404), (owner, name)
    parent = {"parent": {"data": {"type": "projects", "id": home}}}
    assert member["admin"].call("POST", path, varset_body("made", parent)).status == 201
    assert member["admin"].call("POST", path, varset_body("made too")).status == 404
    assert member["admin"].call("POST", path, varset_body("made there", {"parent": {"data": {"type": "projects", "id": away}}})).status == 404
