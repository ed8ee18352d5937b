# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Provider sets: the API, who may use it, and what the jobs of no-code workspaces carry in which order."""

import itertools

import pytest

from support.documents import document, linkage, refused_at, send
from support.modules import Modules
from support.people import Owner, People

numbers = itertools.count(1)
NULL, SOURCE = 'provider "null" {}\n', "registry.terraform.io/hashicorp/null"
CAPABLE = ["terraform 1.11.4", "provider-sets"]


def attributes(**more):
    return {"name": f"set-{next(numbers)}", "provider_source": SOURCE, "configuration_hcl": NULL, **more}


def sets(org):
    return f"organizations/{org.organization}/provider-sets"


def create(org, relations=None, **more):
    answer = send(org, "POST", sets(org), "provider-sets", relations, **attributes(**more))
    assert answer.status == 201, answer.text
    return answer.data


def related(read, name):
    return [each["id"] for each in read["relationships"][name]["data"]]


def names(answer):
    return [each["attributes"]["name"] for each in answer.data]


def project(org, name="team"):
    return org.post(f"organizations/{org.organization}/projects", document("projects", {"name": name})).data["id"]


def workspace_in(org, place):
    return org.post(f"organizations/{org.organization}/workspaces", document("workspaces", {"name": f"w{next(numbers)}"}, project={"data": {"type": "projects", "id": place}})).data["id"]


# ---- the API ----

def test_sets_are_created_read_changed_and_deleted(org):
    made = create(org, name="aws", description="For all", priority=True)
    assert made["id"].startswith("provset-") and made["relationships"]["organization"]["data"]["id"] == org.organization
    shown = made["attributes"]
    assert (shown["name"], shown["description"], shown["provider-source"], shown["configuration-hcl"]) == ("aws", "For all", SOURCE, NULL)
    assert (shown["global"], shown["priority"]) == (False, True)
    for path in (f"provider-sets/{made['id']}", f"{sets(org)}/aws", f"{sets(org)}/AWS"):
        assert org.get(path).data == made
    for spelled in ("provider-source", "provider_source"), ("configuration-hcl", "configuration_hcl"):
        for name in spelled:
            value = f"hashicorp/{name.replace('-', '0')}" if "source" in name else f'provider "{name}" {{}}'
            changed = org.patch(f"provider-sets/{made['id']}", document("provider-sets", {name: value})).data["attributes"]
            assert changed[spelled[0]] == value and changed["description"] == "For all" and changed["priority"]
    org.delete(f"provider-sets/{made['id']}")
    assert org.call("GET", f"provider-sets/{made['id']}").status == org.call("GET", f"{sets(org)}/aws").status == 404


def test_lists_have_the_sets_that_apply_and_include_where_they_do(org):
    home, other = project(org), project(org, "other")
    here, there = workspace_in(org, home), workspace_in(org, other)
    create(org, name="everywhere", **{"global": True})
    create(org, {"projects": ("projects", home)}, name="in-project")
    create(org, {"workspaces": ("workspaces", here, there)}, name="in-workspaces")
    create(org, name="nowhere")
    assert names(org.get(sets(org))) == ["everywhere", "in-project", "in-workspaces", "nowhere"]
    assert names(org.get(sets(org), q="IN-")) == ["in-project", "in-workspaces"]
    assert names(org.get(f"projects/{home}/provider-sets")) == ["everywhere", "in-project"]
    assert names(org.get(f"projects/{other}/provider-sets")) == ["everywhere"]
    assert names(org.get(f"workspaces/{here}/provider-sets")) == ["everywhere", "in-project", "in-workspaces"]
    assert names(org.get(f"workspaces/{there}/provider-sets")) == ["everywhere", "in-workspaces"]
    page = org.get(sets(org), **{"page[size]": 1, "page[number]": 2, "include": "workspaces,projects"}).json
    assert page["meta"]["pagination"]["total-count"] == 4 and [each["id"] for each in page["included"]] == [home]
    included = org.get(f"{sets(org)}/in-workspaces", include="workspaces").json["included"]
    assert {each["id"] for each in included} == {here, there}
    assert org.call("GET", f"{sets(org)}?include=nonsense").status == 400


def test_relations_are_replaced_added_and_removed(org):
    home, here = project(org), org.workspace()
    made = create(org, {"projects": ("projects", home), "workspaces": ("workspaces", here)})
    path = f"provider-sets/{made['id']}"
    assert (related(made, "projects"), related(made, "workspaces")) == ([home], [here])
    assert related(org.patch(path, document("provider-sets", {"description": "new"})).data, "projects") == [home]
    changed = org.patch(path, document("provider-sets", {}, projects={"data": []}, workspaces={"data": []})).data
    assert (related(changed, "projects"), related(changed, "workspaces")) == ([], [])
    for kind, id in (("projects", home), ("workspaces", here)):
        relation = f"{path}/relationships/{kind}"
        assert org.call("POST", relation, {"data": linkage(kind, id)}).status == 204
        assert related(org.get(path).data, kind) == [id]
        assert org.call("DELETE", relation, {"data": linkage(kind, id)}).status == 204
        assert related(org.get(path).data, kind) == []
    org.call("POST", f"{path}/relationships/projects", {"data": linkage("projects", home)})
    changed = org.patch(path, document("provider-sets", {"global": True})).data
    assert changed["attributes"]["global"] and related(changed, "projects") == []
    refused_at(org.call("POST", f"{path}/relationships/projects", {"data": linkage("projects", home)}), "/data")
    refused_at(send(org, "POST", sets(org), "provider-sets", {"projects": ("projects", home)}, **attributes(**{"global": True})), "/data/attributes/global")


@pytest.mark.parametrize("attribute, values", [
    ("name", ["", None, "a b", "a/b", "x" * 91]),
    ("provider_source", ["", None, "aws", "a/b/c/d", "a//b", "/a/b", "a/b/", 'a/b"', "a/${b}", "a/b c", "x" * 200 + "/" + "y" * 200]),
    ("configuration_hcl", ["", None, " \n\t", "x" * (32 * 1024 + 1), "x" * 500_000, 7, ["x"]]),
    ("description", ["x" * 513, 7]), ("global", ["yes", 1]), ("priority", ["yes", 1]),
])
def test_invalid_attributes_are_refused(org, attribute, values):
    made = create(org)
    pointer = f"/data/attributes/{attribute.replace('_', '-')}"
    for value in values:
        refused_at(send(org, "POST", sets(org), "provider-sets", **attributes(**{attribute: value})), pointer)
        refused_at(send(org, "PATCH", f"provider-sets/{made['id']}", "provider-sets", **{attribute: value}), pointer)
    assert org.get(f"provider-sets/{made['id']}").data == made


def test_names_are_unique_and_a_source_has_two_or_three_parts(org):
    create(org, name="Taken")
    refused_at(send(org, "POST", sets(org), "provider-sets", **attributes(name="taken")), "/data/attributes/name")
    for source in ("hashicorp/aws", "registry.example.com:8443/acme/x-1"):
        assert create(org, provider_source=source)["attributes"]["provider-source"] == source


def test_an_organization_has_a_bounded_number_of_sets(org, api_site):
    api_site.change("""insert into provider_sets (id, organization_id, name, description, provider_source, configuration_hcl, global, priority)
        select 'provset-' || o.id || i, o.id, 'filled-' || i, '', 'a/b', 'x', false, false from organizations o, generate_series(1, 100) i where o.name = %s""", org.organization)
    answer = send(org, "POST", sets(org), "provider-sets", **attributes())
    assert answer.status == 422 and "100 provider sets" in answer.text


def test_many_sets_are_deleted_at_once(org):
    first, second, kept = (create(org)["id"] for _ in range(3))
    refused_at(org.call("DELETE", sets(org), {"data": linkage("provider-sets", first, "provset-0000000000000000")}), "/data")
    assert len(org.get(sets(org)).data) == 3
    assert org.call("DELETE", sets(org), {"data": linkage("provider-sets", first, second)}).status == 204
    assert [each["id"] for each in org.get(sets(org)).data] == [kept]


# ---- rights ----

def test_another_organization_has_no_use_of_a_set_and_gives_nothing_to_one(api_site):
    org, foreign = Owner(api_site).api, api_site.organization()
    home, here = project(foreign), foreign.workspace()
    theirs, ours = create(foreign, name="theirs")["id"], create(org)["id"]
    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/relationships/projects"), ("DELETE", "/relationships/workspaces")):
        body = document("provider-sets", {"name": "stolen"}) if method == "PATCH" else {"data": []} if path else None
        assert org.call(method, f"provider-sets/{theirs}{path}", body).status == 404
    assert org.call("GET", f"{sets(org)}/theirs").status == 404
    refused_at(org.call("DELETE", sets(org), {"data": linkage("provider-sets", ours, theirs)}), "/data")
    for kind, id in (("projects", home), ("workspaces", here)):
        assert f"Invalid {kind.title()}" in refused_at(send(org, "POST", sets(org), "provider-sets", {kind: (kind, id)}, **attributes()), f"/data/relationships/{kind}")
        refused_at(send(org, "PATCH", f"provider-sets/{ours}", "provider-sets", {kind: (kind, id)}, name="changed"), f"/data/relationships/{kind}")
        refused_at(org.call("POST", f"provider-sets/{ours}/relationships/{kind}", {"data": linkage(kind, id)}), "/data")
        assert org.call("GET", f"{kind}/{id}/provider-sets").status == 404
    assert names(org.get(sets(org))) != ["changed"] and names(foreign.get(sets(foreign))) == ["theirs"]


def test_who_manages_all_projects_manages_sets(org, api_site):
    people, made = People(org, api_site.database), create(org)["id"]
    wanted = {"manage_projects": (200, 201), "manage_workspaces": (200, 404), "read_projects": (200, 404), "manage_modules": (404, 404)}
    for access, (reads, writes) in wanted.items():
        member = people.member(f"{access}-{next(numbers)}".replace("_", "-"), people.team(access, **{access: True}))
        assert member.call("GET", f"provider-sets/{made}").status == reads, access
        assert send(member, "POST", sets(org), "provider-sets", **attributes()).status == writes, access
        assert send(member, "PATCH", f"provider-sets/{made}", "provider-sets", description="x").status == (404 if writes == 404 else 200), access
    assert member.call("DELETE", f"provider-sets/{made}").status == 404


# ---- runs ----

@pytest.fixture
def no_code(org):
    """The id of a no-code module."""
    modules, name = Modules(org), f"network-{next(numbers)}"
    modules.publish(name, "1.0.0")
    module = {"data": {"type": "registry-modules", "id": modules.read(name)["id"]}}
    return org.post(f"organizations/{org.organization}/no-code-modules", document("no-code-modules", {}, **{"registry-module": module})).data["id"]


class Workspace:
    """A no-code workspace in a project of its own, whose jobs a fake worker claims."""

    def __init__(self, org, api_site, no_code, capabilities):
        self.org, self.project = org, project(org, f"place-{next(numbers)}")
        pool, token = org.pool(f"pool-{next(numbers)}")
        self.worker = api_site.fake_worker(token, capabilities=capabilities)
        made = document("workspaces", {"name": f"made-{next(numbers)}", "execution-mode": "agent", "agent-pool-id": pool}, project={"data": {"type": "projects", "id": self.project}})
        self.id = org.post(f"no-code-modules/{no_code}/workspaces", made).data["id"]
        self.next_run = org.get(f"workspaces/{self.id}/runs").data[0]["id"]

    def job(self):
        """What the job of its next run carries."""
        run = self.next_run or self.org.run(self.id)
        self.next_run = None
        job = self.worker.take(run, "plan")
        self.worker.end(job)
        return job.get("provider-sets")

    def gets(self):
        return [each["name"] for each in self.job() or []]


@pytest.fixture
def made(org, api_site, no_code):
    return Workspace(org, api_site, no_code, CAPABLE)


def test_the_strongest_set_of_each_provider_is_in_the_job(org, made):
    assert made.job() is None
    places = {"organization": {}, "project": {"projects": ("projects", made.project)}, "workspace": {"workspaces": ("workspaces", made.id)}}
    order = [("organization", True), ("project", True), ("workspace", True), ("workspace", False), ("project", False), ("organization", False)]
    ids = {}
    for place, priority in reversed(order):
        name = f"{place}-{'high' if priority else 'low'}"
        ids[name] = create(org, places[place], name=name, priority=priority, configuration_hcl=f"{NULL} # {name}", **{"global": place == "organization"})["id"]
        assert made.job() == [{"name": name, "source": "hashicorp/null", "configuration": f"{NULL} # {name}"}]
    for place, priority in order[:-1]:
        org.delete(f"provider-sets/{ids[place + ('-high' if priority else '-low')]}")
    assert made.gets() == ["organization-low"]


def test_sets_of_other_providers_and_places_do_not_conflict(org, made):
    elsewhere = project(org, "elsewhere")
    create(org, {"projects": ("projects", elsewhere)}, name="elsewhere", priority=True)
    create(org, {"workspaces": ("workspaces", org.workspace())}, name="other-workspace", priority=True)
    create(org, name="b-public", **{"global": True})
    create(org, name="a-public", provider_source="registry.opentofu.org/HashiCorp/null", **{"global": True})
    create(org, name="private", provider_source="registry.example.com/hashicorp/null", **{"global": True})
    create(org, {"projects": ("projects", made.project)}, name="local", provider_source="hashicorp/local")
    assert made.gets() == ["local", "a-public", "private"]


def test_a_set_of_a_project_and_a_workspace_has_the_scope_that_counts(org, made):
    both = {"projects": ("projects", made.project), "workspaces": ("workspaces", made.id)}
    create(org, {"workspaces": ("workspaces", made.id)}, name="a-workspace")
    create(org, both, name="b-both")
    assert made.gets() == ["a-workspace"]
    create(org, {"projects": ("projects", made.project)}, name="y-project", priority=True)
    create(org, both, name="x-both", priority=True)
    assert made.gets() == ["x-both"]


def test_other_workspaces_get_no_set_and_earlier_workers_no_run(org, api_site, no_code):
    create(org, name="everywhere", **{"global": True})
    pool, token = org.pool("plain")
    worker = api_site.fake_worker(token, capabilities=CAPABLE)
    plain = org.workspace(execution_mode="agent", agent_pool_id=pool)
    assert "provider-sets" not in worker.take(org.run_files(plain, {"main.tf": ""}), "plan")
    earlier = Workspace(org, api_site, no_code, ["terraform 1.11.4"])
    assert earlier.worker.claim() == []
    org.wait_status(earlier.next_run, "errored")
    assert "can't use it. Upgrade the workers of its pool." in org.log(earlier.next_run)
