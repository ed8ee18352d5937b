# SPDX-License-Identifier: MPL-2.0
"""Agent pools of an organization: who may use one, tokens, and agents."""

import concurrent.futures
import datetime
import json

import pytest

from support.api import Api
from support.documents import refused_at, send
from support.people import People


def create(org, name="pool", relations=None, **attributes):
    return send(org, "POST", f"organizations/{org.organization}/agent-pools", "agent-pools", relations=relations, name=name, **attributes)


def pool(org, name="pool", relations=None, **attributes):
    return create(org, name, relations, **attributes).data["id"]


def pools(org, **query):
    return [item["attributes"]["name"] for item in org.get(f"organizations/{org.organization}/agent-pools", **query).data]


def related(item, name):
    return {link["id"] for link in item["relationships"][name]["data"]}


def project(org, name="Network"):
    return send(org, "POST", f"organizations/{org.organization}/projects", "projects", name=name).data["id"]


def use_pool(org, workspace, pool_id):
    return send(org, "PATCH", f"workspaces/{workspace}", "workspaces", execution_mode="agent", agent_pool_id=pool_id)


# ---- pools ----


def test_a_pool_reads_back_as_created(org):
    one, two, network = org.workspace("one"), org.workspace("two"), project(org)
    created = create(org, "edge", {"allowed-workspaces": ("workspaces", one), "allowed-projects": ("projects", network),
                              "excluded-workspaces": ("workspaces", two)}, organization_scoped=False)
    assert created.status == 201 and created.data["type"] == "agent-pools" and created.data["id"].startswith("apool-")
    assert created.data["attributes"] | {"created-at": ""} == {"name": "edge", "agent-count": 0, "organization-scoped": False, "created-at": "", "drained-at": None, "concurrent-run-limit": 0}
    assert related(created.data, "allowed-workspaces") == {one} and related(created.data, "allowed-projects") == {network}
    assert related(created.data, "excluded-workspaces") == {two} and related(created.data, "workspaces") == set()
    assert created.data["relationships"]["organization"]["data"]["id"] == org.organization
    assert org.get(f"agent-pools/{created.data['id']}").data == created.data
    assert org.get(f"organizations/{org.organization}/agent-pools").data == [created.data]


def test_an_update_changes_only_the_given_attributes_and_relationships(org):
    one, two, network = org.workspace("one"), org.workspace("two"), project(org)
    edge = pool(org, "edge", {"allowed-workspaces": ("workspaces", one), "allowed-projects": ("projects", network)}, organization_scoped=False)
    renamed = send(org, "PATCH", f"agent-pools/{edge}", "agent-pools", name="far").data
    assert renamed["attributes"]["name"] == "far" and not renamed["attributes"]["organization-scoped"]
    assert related(renamed, "allowed-workspaces") == {one} and related(renamed, "allowed-projects") == {network}
    moved = send(org, "PATCH", f"agent-pools/{edge}", "agent-pools", relations={"allowed-workspaces": ("workspaces", two)}).data
    assert related(moved, "allowed-workspaces") == {two} and related(moved, "allowed-projects") == {network}
    excluded = send(org, "PATCH", f"agent-pools/{edge}", "agent-pools", relations={"excluded-workspaces": ("workspaces", two)}).data
    assert related(excluded, "excluded-workspaces") == {two} and related(excluded, "allowed-workspaces") == set()
    emptied = send(org, "PATCH", f"agent-pools/{edge}", "agent-pools", relations={"excluded-workspaces": ("workspaces",), "allowed-projects": ("projects",)}).data
    assert related(emptied, "excluded-workspaces") == related(emptied, "allowed-projects") == set()


INVALID = [({"name": None}, None, "/data/attributes/name"), ({"name": ""}, None, "/data/attributes/name"), ({"name": "a b"}, None, "/data/attributes/name"),
         ({"name": "n" * 91}, None, "/data/attributes/name"), ({"name": 1}, None, "/data/attributes/name"),
         ({"organization_scoped": "yes"}, None, "/data/attributes/organization-scoped"),
         ({}, {"allowed-workspaces": ("projects", "prj-1")}, "/data/relationships/allowed-workspaces"),
         ({}, {"allowed-workspaces": ("workspaces", "ws-nobodys")}, "/data/relationships/allowed-workspaces"),
         ({}, {"excluded-workspaces": ("workspaces", "ws-nobodys")}, "/data/relationships/excluded-workspaces"),
         ({}, {"allowed-projects": ("projects", "prj-nobodys")}, "/data/relationships/allowed-projects")]


@pytest.mark.parametrize("attributes,relations,pointer", INVALID)
def test_errors_have_a_pointer(org, attributes, relations, pointer):
    path = f"organizations/{org.organization}/agent-pools"
    refused_at(send(org, "POST", path, "agent-pools", relations=relations, **{"name": "edge", **attributes}), pointer)
    assert pools(org) == []
    refused_at(send(org, "PATCH", f"agent-pools/{pool(org)}", "agent-pools", relations=relations, **attributes), pointer)


def test_names_are_unique_within_an_organization(org, api_site):
    with concurrent.futures.ThreadPoolExecutor(8) as many:
        assert sorted(many.map(lambda _: create(org, "edge").status, range(8))) == [201] + [422] * 7
    assert "has already been taken" in refused_at(create(org, "Edge"), "/data/attributes/name")
    assert create(api_site.stranger(), "edge").status == 201
    assert "has already been taken" in refused_at(send(org, "PATCH", f"agent-pools/{pool(org, 'far')}", "agent-pools", name="edge"), "/data/attributes/name")


def test_lists_are_searched_sorted_and_filtered(org):
    one, two, network = org.workspace("one"), org.workspace("two"), project(org)
    pool(org, "c-all")
    pool(org, "b-one", {"allowed-workspaces": ("workspaces", one)}, organization_scoped=False)
    pool(org, "a-network", {"allowed-projects": ("projects", network), "excluded-workspaces": ("workspaces", two)}, organization_scoped=False)
    assert pools(org) == pools(org, sort="name") == ["a-network", "b-one", "c-all"]
    assert pools(org, sort="-name") == pools(org, sort="created-at") == ["c-all", "b-one", "a-network"]
    assert pools(org, sort="-created-at") == ["a-network", "b-one", "c-all"]
    assert pools(org, q="ONE") == ["b-one"] and pools(org, q="nothing") == []
    assert pools(org, **{"filter[allowed_workspaces][name]": "one"}) == ["b-one", "c-all"]
    assert pools(org, **{"filter[allowed_workspaces][id]": two}) == ["c-all"]
    assert pools(org, **{"filter[allowed_projects][name]": "Network"}) == pools(org, **{"filter[allowed_projects][id]": network}) == ["a-network", "c-all"]
    org.call("PATCH", f"workspaces/{one}", {"data": {"type": "workspaces", "relationships": {"project": {"data": {"type": "projects", "id": network}}}}})
    assert pools(org, **{"filter[allowed_workspaces][name]": "one"}) == ["a-network", "b-one", "c-all"]
    page = org.get(f"organizations/{org.organization}/agent-pools", **{"page[number]": 2, "page[size]": 2}).json
    assert [item["attributes"]["name"] for item in page["data"]] == ["c-all"] and page["meta"]["pagination"]["total-count"] == 3
    assert org.call("GET", f"organizations/{org.organization}/agent-pools?include=nonsense").status == 400


# ---- use of pools ----


def test_a_workspace_uses_only_pools_that_allow_it(org, api_site):
    edge, workspace = pool(org, "edge"), org.workspace()
    assert use_pool(org, workspace, edge).data["relationships"]["agent-pool"]["data"]["id"] == edge
    shown = org.get(f"agent-pools/{edge}", include="workspaces").json
    assert related(shown["data"], "workspaces") == {workspace} and [item["id"] for item in shown["included"]] == [workspace]
    listed = org.get(f"organizations/{org.organization}/agent-pools", include="workspaces").json
    assert [item["id"] for item in listed["included"]] == [workspace]
    for not_allowed in (pool(org, "closed", organization_scoped=False), pool(org, "but", {"excluded-workspaces": ("workspaces", workspace)})):
        assert "not allowed" in refused_at(use_pool(org, workspace, not_allowed), "/data/attributes/agent-pool-id")
    [(shared,)] = api_site.ask("select id from agent_pools where organization_id is null")
    for unknown in (shared, pool(api_site.stranger()), "apool-nobodys"):
        assert "does not exist" in refused_at(use_pool(org, workspace, unknown), "/data/attributes/agent-pool-id")
    opened = pool(org, "opened", {"allowed-workspaces": ("workspaces", workspace)}, organization_scoped=False)
    assert use_pool(org, workspace, opened).status == 200
    network = project(org)
    of_project = pool(org, "of-project", {"allowed-projects": ("projects", network)}, organization_scoped=False)
    refused_at(use_pool(org, workspace, of_project), "/data/attributes/agent-pool-id")
    data = {"type": "workspaces", "attributes": {"name": "in-it", "execution-mode": "agent", "agent-pool-id": of_project}}
    path = f"organizations/{org.organization}/workspaces"
    refused_at(org.call("POST", path, {"data": data}), "/data/attributes/agent-pool-id")
    data["relationships"] = {"project": {"data": {"type": "projects", "id": network}}}
    assert org.call("POST", path, {"data": data}).status == 201
    assert send(org, "PATCH", f"projects/{network}", "projects", default_execution_mode="agent", default_agent_pool_id=of_project).status == 200
    refused_at(send(org, "PATCH", f"projects/{network}", "projects", default_execution_mode="agent", default_agent_pool_id=opened),
               "/data/attributes/default-agent-pool-id")


def mode_of(org, path, prefix=""):
    attributes, relations = (org.get(path).data[part] for part in ("attributes", "relationships"))
    chosen = relations[f"{prefix}agent-pool"]["data"]
    return attributes[f"{prefix}execution-mode"], chosen and chosen["id"]


NO_POOL = ("", None)  # the provider hashicorp/tfe sends an empty string for "no pool"


@pytest.mark.parametrize("none", NO_POOL)
@pytest.mark.parametrize("mode", ["remote", "local"])
def test_changing_the_execution_mode_removes_a_workspaces_pool(org, none, mode):
    edge, workspace = pool(org, "edge"), org.workspace()
    path = f"workspaces/{workspace}"
    assert use_pool(org, workspace, edge).status == 200 and mode_of(org, path) == ("agent", edge)
    assert send(org, "PATCH", path, "workspaces", execution_mode=mode, agent_pool_id=none).status == 200
    assert mode_of(org, path) == (mode, None)
    assert send(org, "PATCH", path, "workspaces", agent_pool_id=none).status == 200 and mode_of(org, path) == (mode, None)
    created = org.workspace("made", execution_mode=mode, agent_pool_id=none)
    assert mode_of(org, f"workspaces/{created}") == (mode, None)


@pytest.mark.parametrize("none", NO_POOL)
def test_the_execution_mode_agent_needs_a_pool(org, none):
    edge, other, workspace = pool(org, "edge"), pool(org, "other"), org.workspace()
    path = f"workspaces/{workspace}"
    assert use_pool(org, workspace, edge).status == 200
    for sent in ({"execution_mode": "agent", "agent_pool_id": none}, {"agent_pool_id": none}):
        assert "must be specified" in refused_at(send(org, "PATCH", path, "workspaces", **sent), "/data/attributes/agent-pool-id")
    assert mode_of(org, path) == ("agent", edge)
    assert send(org, "PATCH", path, "workspaces", agent_pool_id=other).status == 200 and mode_of(org, path) == ("agent", other)


@pytest.mark.parametrize("mode", ["remote", "local"])
def test_changing_the_execution_mode_removes_a_projects_pool(org, mode):
    edge, network = pool(org, "edge"), project(org)
    path = f"projects/{network}"
    assert send(org, "PATCH", path, "projects", default_execution_mode="agent", default_agent_pool_id=edge).status == 200
    assert mode_of(org, path, "default-") == ("agent", edge)
    assert "must be specified" in refused_at(send(org, "PATCH", path, "projects", default_execution_mode="agent", default_agent_pool_id=""),
                                             "/data/attributes/default-agent-pool-id")
    assert send(org, "PATCH", path, "projects", default_execution_mode=mode, default_agent_pool_id="").status == 200
    assert mode_of(org, path, "default-") == (mode, None)
    data = {"type": "projects", "attributes": {"name": "Made", "default-execution-mode": mode, "default-agent-pool-id": ""}}
    created = org.post(f"organizations/{org.organization}/projects", {"data": data}).data["id"]
    assert mode_of(org, f"projects/{created}", "default-") == (mode, None)


def test_a_pool_in_use_cannot_be_deleted(org, api_site):
    edge, workspace = pool(org, "edge"), org.workspace()
    use_pool(org, workspace, edge)
    assert org.call("DELETE", f"agent-pools/{edge}").status == 409
    run = org.run(workspace, org.upload(workspace, {"main.tf": ""}))
    send(org, "PATCH", f"workspaces/{workspace}", "workspaces", execution_mode="remote")
    assert "runs" in org.call("DELETE", f"agent-pools/{edge}").errors()
    org.post(f"runs/{run}/actions/cancel")
    network = project(org)
    send(org, "PATCH", f"projects/{network}", "projects", default_execution_mode="agent", default_agent_pool_id=edge)
    assert "default" in org.call("DELETE", f"agent-pools/{edge}").errors()
    send(org, "PATCH", f"projects/{network}", "projects", default_execution_mode="remote")
    assert org.call("DELETE", f"agent-pools/{edge}").status == 204
    assert org.call("GET", f"agent-pools/{edge}").status == org.call("DELETE", f"agent-pools/{edge}").status == 404
    assert org.get(f"plans/{run.replace('run-', 'plan-')}").data["attributes"]["execution-details"]["mode"] == "remote"


def test_a_run_is_refused_if_its_pool_no_longer_allows_the_workspace(org):
    edge, workspace = pool(org, "edge"), org.workspace()
    use_pool(org, workspace, edge)
    configuration = org.upload(workspace, {"main.tf": ""})
    send(org, "PATCH", f"agent-pools/{edge}", "agent-pools", organization_scoped=False)
    data = {"type": "runs", "relationships": {"workspace": {"data": {"type": "workspaces", "id": workspace}}}}
    assert "not allowed" in refused_at(org.call("POST", "runs", {"data": data}), "/data/relationships/workspace")
    send(org, "PATCH", f"agent-pools/{edge}", "agent-pools", relations={"allowed-workspaces": ("workspaces", workspace)})
    run = org.run(workspace, configuration)
    details = org.get(f"plans/{run.replace('run-', 'plan-')}").data["attributes"]["execution-details"]
    assert details == {"mode": "agent", "agent-id": None, "agent-name": None, "agent-pool-id": edge, "agent-pool-name": "edge"}


def test_members_see_pools_and_managers_change_them(org, api_site):
    people, seen, hidden = People(org, api_site.database), org.workspace("seen"), org.workspace("hidden")
    edge = pool(org, "edge", {"allowed-workspaces": ("workspaces", seen, hidden)})
    use_pool(org, seen, edge), use_pool(org, hidden, edge)
    readers = people.team("readers")
    people.give(readers, "workspace", seen, "read")
    for member, expected in ((people.member("nobody"), set()), (people.member("reader", readers), {seen})):
        shown = member.get(f"agent-pools/{edge}", include="workspaces").json
        assert related(shown["data"], "workspaces") == related(shown["data"], "allowed-workspaces") == expected
        assert {item["id"] for item in shown.get("included", [])} == expected
        assert member.get(f"organizations/{org.organization}/agent-pools").data == [shown["data"]]
        assert send(member, "PATCH", f"agent-pools/{edge}", "agent-pools", name="mine").status == member.call("DELETE", f"agent-pools/{edge}").status == 404
        assert create(member, "mine").status == token(member, edge).status == 404
        for path in (f"agent-pools/{edge}/agents", f"agent-pools/{edge}/authentication-tokens"):
            assert member.call("GET", path).status == 404, path
    manager = people.member("manager", people.team("managers", manage_agent_pools=True))
    assert send(manager, "PATCH", f"agent-pools/{edge}", "agent-pools", name="managed").data["attributes"]["name"] == "managed"
    created = token(manager, edge)
    assert created.status == 201 and manager.call("DELETE", f"authentication-tokens/{created.data['id']}").status == 204
    # A change by a manager leaves the parts that the manager does not see unchanged.
    assert related(org.get(f"agent-pools/{edge}").data, "allowed-workspaces") == {seen, hidden}


# ---- tokens ----


def token(org, pool_id, **attributes):
    return send(org, "POST", f"agent-pools/{pool_id}/authentication-tokens", "agent-tokens", **{"description": "for the edge", **attributes})


def test_an_agent_token_is_shown_once(org, api_site):
    edge = pool(org)
    answer = token(org, edge)
    created = answer.data
    assert answer.status == 201 and created["type"] == "authentication-tokens"
    text = created["attributes"].pop("token")
    user = org.get("account/details").data["id"]
    assert text.startswith("ry_agent_") and created["relationships"]["created-by"]["data"] == {"type": "users", "id": user}
    read = org.get(f"authentication-tokens/{created['id']}", include="created_by").json
    assert read["data"]["attributes"].pop("token") is None and read["data"] == created
    assert [item["id"] for item in read["included"]] == [user]
    other = token(org, edge, expired_at="2040-01-01T00:00:00Z").data
    assert other["attributes"]["expired-at"] == "2040-01-01T00:00:00.000Z"
    listed = org.get(f"agent-pools/{edge}/authentication-tokens").json
    assert {item["id"] for item in listed["data"]} == {created["id"], other["id"]} and listed["meta"]["pagination"]["total-count"] == 2
    assert text not in str(api_site.ask("select * from tokens"))
    assert org.call("DELETE", f"authentication-tokens/{other['id']}").status == 204
    assert org.call("GET", f"authentication-tokens/{other['id']}").status == 404


def test_invalid_agent_tokens_are_refused(org):
    edge = pool(org)
    for wrong in ({"description": None}, {"description": ""}, {"description": 1}, {"description": "d" * 513}):
        refused_at(token(org, edge, **wrong), "/data/attributes/description")
    for wrong in ("tomorrow", "2026-02-30T00:00:00Z", 1):
        refused_at(token(org, edge, expired_at=wrong), "/data/attributes/expired-at")
    refused_at(send(org, "POST", f"agent-pools/{edge}/authentication-tokens", "users", description="d"), "/data/type")
    assert org.call("POST", f"agent-pools/{edge}/authentication-tokens").status == 400
    assert token(org, "apool-nobodys").status == 404


def test_an_agent_token_cannot_read_the_api(org):
    agent = Api(org.url, token(org, pool(org)).data["attributes"]["token"], org.organization)
    for path in (f"organizations/{org.organization}", "account/details", f"organizations/{org.organization}/agent-pools"):
        assert agent.call("GET", path).status == 404


# ---- agents ----


def fake_worker(api_site, org, pool_id):
    return api_site.fake_worker(token(org, pool_id).data["attributes"]["token"])


def agents(org, pool_id, **query):
    return {item["id"]: item["attributes"] for item in org.get(f"agent-pools/{pool_id}/agents", **query).data}


def test_a_worker_is_an_agent_of_its_pool(org, api_site):
    edge, workspace = pool(org, "edge"), org.workspace()
    use_pool(org, workspace, edge)
    worker = fake_worker(api_site, org, edge)
    [(id, agent)] = agents(org, edge).items()
    assert id == worker.id and agent["name"] == "fake-worker" and agent["status"] == "idle" and agent["ip-address"] == "127.0.0.1"
    assert agent == org.get(f"agents/{id}").data["attributes"] and agent["last-ping-at"].endswith("Z")
    run = org.run(workspace, org.upload(workspace, {"main.tf": ""}))
    job = worker.take(run, "plan")
    assert agents(org, edge)[id]["status"] == "busy"
    details = org.get(f"plans/{run.replace('run-', 'plan-')}").data["attributes"]["execution-details"]
    assert details == {"mode": "agent", "agent-id": id, "agent-name": "fake-worker", "agent-pool-id": edge, "agent-pool-name": "edge"}
    assert org.call("DELETE", f"agents/{id}").status == 412
    worker.end(job, "passed")
    assert agents(org, edge)[id]["status"] == "idle" and org.get(f"agent-pools/{edge}").data["attributes"]["agent-count"] == 1
    api_site.change("update workers set seen_at = now() - interval '5 minutes' where id = %s", id)
    assert agents(org, edge)[id]["status"] == "unknown"
    assert agents(org, edge, **{"filter[last-ping-since]": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}) == {}
    api_site.change("update workers set seen_at = now() - interval '3 hours' where id = %s", id)
    assert agents(org, edge)[id]["status"] == "errored" and org.get(f"agent-pools/{edge}").data["attributes"]["agent-count"] == 0
    assert org.call("DELETE", f"agents/{id}").status == 204 and org.call("GET", f"agents/{id}").status == 404
    assert org.call("GET", f"agent-pools/{edge}/agents?filter[last-ping-since]=yesterday").status == 400


def register(api_site, token, forwarded, name="fake-worker"):
    """Registers a worker from behind a proxy. Returns its id."""
    url = f"{api_site.scheduler.url}/api/worker/v1/register"
    answer = Api(api_site.scheduler.url, token).call("POST", url, {"name": name, "slots": 1, "version": "1"}, headers={"X-Forwarded-For": forwarded})
    assert answer.status == 200, answer.text
    return answer.json["worker"]


def test_agents_show_their_address_and_token(org, api_site):
    edge = pool(org, "edge")
    tokens = [org.post(f"agent-pools/{edge}/authentication-tokens", {"data": {"type": "agent-tokens", "attributes": {"description": name}}}).data
              for name in ("rack 1", "rack 2")]
    ours = register(api_site, tokens[0]["attributes"]["token"], "203.0.113.5")
    # The proxy appends the address that it sees to those that the client sent.
    leaked = register(api_site, tokens[1]["attributes"]["token"], "203.0.113.5, 198.51.100.66")
    shown = {agent["id"]: agent for agent in org.get(f"agent-pools/{edge}/agents").data}
    assert {id: agent["attributes"]["ip-address"] for id, agent in shown.items()} == {ours: "203.0.113.5", leaked: "198.51.100.66"}
    for id, token in ((ours, tokens[0]), (leaked, tokens[1])):
        assert shown[id] == org.get(f"agents/{id}").data
        assert shown[id]["attributes"]["token-description"] == token["attributes"]["description"]
        assert shown[id]["relationships"]["authentication-token"]["data"] == {"type": "authentication-tokens", "id": token["id"]}
        assert shown[id]["relationships"]["agent-pool"]["data"]["id"] == edge
        assert shown[id]["attributes"]["created-at"] <= shown[id]["attributes"]["last-ping-at"]
        assert token["attributes"]["token"] not in json.dumps(shown) + json.dumps(api_site.scheduler.log_lines())
    api_site.change("update workers set created_at = '2020-01-02T03:04:05Z' where id = %s", leaked)
    org.delete(f"authentication-tokens/{tokens[1]['id']}")
    after = org.get(f"agents/{leaked}").data
    assert after["attributes"]["created-at"] == "2020-01-02T03:04:05.000Z"
    assert after["attributes"]["token-description"] == "rack 2" and after["relationships"] == shown[leaked]["relationships"]


def test_site_admins_see_the_agents_of_every_pool(org, api_site):
    edge = pool(org, "edge")
    token = org.post(f"agent-pools/{edge}/authentication-tokens", {"data": {"type": "agent-tokens", "attributes": {"description": "d"}}}).data
    own, shared = register(api_site, token["attributes"]["token"], "203.0.113.7"), register(api_site, api_site.tokens["agent-token"], "203.0.113.8", "shared")
    listed = {agent["id"]: agent["attributes"] for agent in org.get("admin/agents", **{"page[size]": 100}).data}
    assert listed[own]["ip-address"] == "203.0.113.7" and listed[shared]["ip-address"] == "203.0.113.8"
    assert listed[shared]["token-description"] == "bootstrap" and listed[shared]["name"] == "shared"
    assert [agent["id"] for agent in org.get(f"agent-pools/{edge}/agents").data] == [own]
    owner = api_site.stranger()
    assert owner.call("GET", "admin/agents").status == 404
    assert owner.call("GET", f"agent-pools/{edge}/agents").status == 404


def test_a_worker_that_left_has_exited(org, api_site):
    edge = pool(org)
    worker, hurried = fake_worker(api_site, org, edge), fake_worker(api_site, org, edge)
    worker.leave()
    hurried.leave(failed=True)
    found = agents(org, edge)
    assert (found[worker.id]["status"], found[hurried.id]["status"]) == ("exited", "errored")
    assert org.get(f"agent-pools/{edge}").data["attributes"]["agent-count"] == 0
    assert worker.call("POST", "claim", {"worker": worker.id, "slots": 1}, check=False).status == 404


def test_workers_claim_only_jobs_of_their_pool(org, api_site):
    edge, far = pool(org, "edge"), pool(org, "far")
    workspaces = {edge: org.workspace("one"), far: org.workspace("two"), None: org.workspace("three")}
    workers = {edge: fake_worker(api_site, org, edge), far: fake_worker(api_site, org, far), None: api_site.fake_worker()}
    runs = {}
    for pool_id, workspace in workspaces.items():
        if pool_id:
            use_pool(org, workspace, pool_id)
        runs[pool_id] = org.run(workspace, org.upload(workspace, {"main.tf": ""}))
    # A later choice does not affect this run.
    send(org, "PATCH", f"workspaces/{workspaces[edge]}", "workspaces", execution_mode="remote")
    for pool_id, worker in workers.items():
        claimed = worker.claim(100)
        assert [job["run"] for job in claimed if job["run"] in runs.values()] == [runs[pool_id]]
        stranger = next(other for other in workers.values() if other is not worker)
        assert worker.call("POST", "claim", {"worker": worker.id, "slots": 1}, stranger.token, check=False).status == 404


def test_a_worker_with_a_revoked_token_finishes_its_jobs_and_claims_no_more(org, api_site):
    edge, workspace = pool(org), org.workspace()
    use_pool(org, workspace, edge)
    created = token(org, edge).data
    worker = api_site.fake_worker(created["attributes"]["token"])
    run = org.run(workspace, org.upload(workspace, {"main.tf": ""}))
    job = worker.take(run, "plan")
    assert org.call("DELETE", f"authentication-tokens/{created['id']}").status == 204
    assert worker.call("POST", "claim", {"worker": worker.id, "slots": 1}, check=False).status == 401
    assert worker.call("POST", "register", {"name": "fake-worker", "slots": 1, "version": "1"}, check=False).status == 401
    assert worker.heartbeat(job) == [{"job": job["job"], "attempt": 1, "held": True, "awaited": False, "stop": "none"}]
    worker.end(job, "passed")
    assert worker.heartbeat(job)[0]["held"] is False
    assert org.get(f"runs/{run}").data["attributes"]["status"] == "planned_and_finished"
    worker.leave()
    assert agents(org, edge)[worker.id]["status"] == "exited"


def test_an_expired_token_claims_nothing(org, api_site):
    edge = pool(org)
    created = token(org, edge, expired_at="2040-01-01T00:00:00Z").data
    worker = api_site.fake_worker(created["attributes"]["token"])
    api_site.change("update tokens set expired_at = now() where id = %s", created["id"])
    assert worker.call("POST", "claim", {"worker": worker.id, "slots": 1}, check=False).status == 401
