# SPDX-License-Identifier: MPL-2.0
"""Policies and policy sets of an organization, and their results in runs: evaluations, checks, overrides."""

import hashlib

import pytest

from support.api import tar_gz
from support.documents import linkage, refused_at, send

REGO = "package p\ndeny[msg] { msg := input.run.id }\n"


def policy(org, **attributes):
    return send(org, "POST", f"organizations/{org.organization}/policies", "policies", **attributes)


def policy_set(org, relations=None, **attributes):
    return send(org, "POST", f"organizations/{org.organization}/policy-sets", "policy-sets", relations, **attributes)


def upload(org, policy_id, source=REGO):
    return org.call("PUT", f"policies/{policy_id}/upload", source if isinstance(source, bytes) else source.encode(), headers={"Content-Type": "application/octet-stream"})


# ---- policies ----


def test_a_policy_and_its_source_read_back_and_change(org, api_site):
    created = policy(org, name="tags", kind="opa", query="data.p.deny", enforcement_level="advisory", description="wants tags")
    assert created.status == 201
    attributes = created.data["attributes"]
    assert (attributes["kind"], attributes["query"], attributes["enforcement-level"], attributes["enforce"]) == ("opa", "data.p.deny", "advisory", [])
    path = f"policies/{created.data['id']}"
    assert org.get(path).data == created.data
    assert org.call("GET", f"{path}/download").status == 404
    assert upload(org, created.data["id"]).status == 200
    assert org.get(f"{path}/download").text == REGO
    assert org.attributes(path)["enforce"] == [{"path": "tags.rego", "mode": "advisory"}]
    assert not api_site.ask("select 1 from blobs where position(%s in bytes_sealed) > 0", REGO.encode())
    changed = send(org, "PATCH", path, "policies", enforce=[{"path": "tags.rego", "mode": "mandatory"}], query="data.p.warn").data["attributes"]
    assert (changed["enforcement-level"], changed["query"], changed["description"]) == ("mandatory", "data.p.warn", "wants tags")
    assert org.call("DELETE", path).status == 204 and org.call("GET", path).status == 404


def test_each_policy_kind_has_its_enforcement_levels_and_defaults(org):
    assert policy(org, name="a").data["attributes"]["enforcement-level"] == "hard-mandatory"
    opa = policy(org, name="b", kind="opa", query="data.p.deny").data
    assert opa["attributes"]["enforcement-level"] == "mandatory"
    sentinel = policy(org, name="c", kind="sentinel", enforcement_level="soft-mandatory", query="data.p.deny").data
    assert sentinel["attributes"]["query"] is None
    listed = org.get(f"organizations/{org.organization}/policies", **{"filter[kind]": "sentinel"}).data
    assert [item["attributes"]["name"] for item in listed] == ["a", "c"]
    assert [item["id"] for item in org.get(f"organizations/{org.organization}/policies", **{"search[name]": "B"}).data] == [opa["id"]]


INVALID = [
    ({"name": None}, "name"),
    ({"name": "a b"}, "name"),
    ({"kind": "rego"}, "kind"),
    ({"kind": "opa"}, "query"),
    ({"kind": "opa", "query": " "}, "query"),
    ({"kind": "opa", "query": "data.p", "enforcement_level": "hard-mandatory"}, "enforcement-level"),
    ({"enforcement_level": "mandatory"}, "enforcement-level"),
    ({"enforce": [{"path": "x", "mode": "mandatory"}]}, "enforcement-level"),
    ({"enforce": []}, "enforce"),
    ({"enforce": [{"path": "x", "mode": "advisory"}], "enforcement_level": "hard-mandatory"}, "enforce"),
    ({"description": "x" * 1001}, "description"),
]


@pytest.mark.parametrize("attributes,attribute", INVALID, ids=[f"{attribute}-{i}" for i, (_, attribute) in enumerate(INVALID)])
def test_errors_have_a_pointer(org, attributes, attribute):
    refused_at(policy(org, **{"name": "tags", **attributes}), f"/data/attributes/{attribute}")


def test_the_name_and_kind_of_a_policy_cannot_be_changed(org):
    created = policy(org, name="tags").data["id"]
    refused_at(policy(org, name="Tags"), "/data/attributes/name")
    refused_at(send(org, "PATCH", f"policies/{created}", "policies", name="other"), "/data/attributes/name")
    refused_at(send(org, "PATCH", f"policies/{created}", "policies", kind="opa"), "/data/attributes/kind")


@pytest.mark.parametrize("source", [b"\xff\xfe", b"a\0b"])
def test_binary_policy_sources_are_refused(org, source):
    assert upload(org, policy(org, name="tags").data["id"], source).status == 422


def test_policies_are_hidden_from_other_organizations(org, api_site):
    stranger = api_site.stranger()
    created, kept = policy(org, name="tags").data["id"], policy_set(org, name="base").data["id"]
    for method, path in (("GET", f"policies/{created}"), ("DELETE", f"policies/{created}"), ("GET", f"policies/{created}/download"), ("GET", f"policy-sets/{kept}"),
                         ("POST", f"policy-sets/{kept}/versions"), ("GET", f"policy-sets/{kept}/parameters"), ("DELETE", f"policy-sets/{kept}")):
        assert stranger.call(method, path).status == 404, path
    assert upload(stranger, created).status == 404
    refused_at(policy_set(stranger, {"policies": ("policies", created)}, name="mine"), "/data/relationships/policies")
    refused_at(policy_set(stranger, {"workspaces": ("workspaces", org.workspace())}, name="mine"), "/data/relationships/workspaces")


# ---- policy sets ----


def test_a_policy_set_reads_back_with_its_relationships(org):
    tags = policy(org, name="tags", kind="opa", query="data.p.deny").data["id"]
    inside, outside = org.workspace("inside"), org.workspace("outside")
    project = org.get(f"organizations/{org.organization}/projects").data[0]["id"]
    relations = {"policies": ("policies", tags), "workspaces": ("workspaces", inside), "workspace_exclusions": ("workspaces", outside),
                 "project_exclusions": ("projects", project)}
    created = policy_set(org, relations, name="base", kind="opa", description="for all", overridable=True, policy_update_patterns=["*.rego"])
    assert created.status == 201
    attributes = created.data["attributes"]
    assert (attributes["kind"], attributes["overridable"], attributes["global"], attributes["versioned"]) == ("opa", True, False, False)
    assert (attributes["policy-count"], attributes["workspace-count"], attributes["project-count"]) == (1, 1, 0)
    assert attributes["policy-update-patterns"] == ["*.rego"]
    shown = {name: [item["id"] for item in relation["data"]] for name, relation in created.data["relationships"].items() if isinstance(relation["data"], list)}
    assert shown == {"policies": [tags], "workspaces": [inside], "workspace-exclusions": [outside], "projects": [], "project-exclusions": [project]}
    path = f"policy-sets/{created.data['id']}"
    included = org.get(path, include="policies,workspaces,workspace_exclusions,project_exclusions").json["included"]
    assert sorted(item["id"] for item in included) == sorted([tags, inside, outside, project])
    assert org.get(path).data == created.data and org.get(f"organizations/{org.organization}/policy-sets").data == [created.data]
    changed = send(org, "PATCH", path, "policy-sets", name="renamed", **{"global": True}).data
    assert (changed["attributes"]["name"], changed["attributes"]["global"], changed["attributes"]["description"]) == ("renamed", True, "for all")
    assert changed["relationships"] == created.data["relationships"]
    assert org.call("DELETE", path).status == 204 and org.call("GET", f"policies/{tags}").status == 200


def test_sets_of_opa_are_always_evaluated_by_agents(org):
    """Only such sets keep the version that they ask for."""
    kinds = [policy_set(org, name=f"set-{number}", kind=kind, policy_tool_version="1.4.2", **more).data["attributes"]
             for number, (kind, more) in enumerate((("opa", {}), ("opa", {"agent_enabled": False}), ("sentinel", {}), ("sentinel", {"agent_enabled": True})))]
    assert [(one["agent-enabled"], one["policy-tool-version"]) for one in kinds] == [(True, "1.4.2"), (True, "1.4.2"), (False, None), (True, "1.4.2")]


def test_relationships_of_a_policy_set_are_added_and_removed(org):
    first, second = (policy(org, name=name).data["id"] for name in ("first", "second"))
    workspace = org.workspace()
    created = policy_set(org, name="base").data["id"]

    def relation(name):
        return [item["id"] for item in org.get(f"policy-sets/{created}").data["relationships"][name]["data"]]

    def change(method, name, *items):
        return org.call(method, f"policy-sets/{created}/relationships/{name}", {"data": linkage(*items)}).status

    assert change("POST", "policies", "policies", first, second) == 204 and sorted(relation("policies")) == sorted([first, second])
    assert change("POST", "policies", "policies", first) == 204 and change("DELETE", "policies", "policies", second) == 204
    assert relation("policies") == [first]
    # A workspace is either included or excluded: the last call counts.
    assert change("POST", "workspaces", "workspaces", workspace) == 204 and relation("workspaces") == [workspace]
    assert change("POST", "workspace-exclusions", "workspaces", workspace) == 204
    assert (relation("workspaces"), relation("workspace-exclusions")) == ([], [workspace])
    assert change("DELETE", "workspaces", "workspaces", workspace) == 204 and relation("workspace-exclusions") == [workspace]
    assert change("DELETE", "workspace-exclusions", "workspaces", workspace) == 204 and relation("workspace-exclusions") == []
    assert change("POST", "friends", "workspaces", workspace) == 404
    assert change("POST", "policies", "workspaces", workspace) == 422
    assert change("POST", "policies", "policies", first, "pol-0000000000000000") == 422


def test_a_policy_set_has_policies_of_its_own_kind_only(org):
    opa = policy(org, name="opa", kind="opa", query="data.p.deny").data["id"]
    refused_at(policy_set(org, {"policies": ("policies", opa)}, name="base"), "/data/relationships/policies")
    assert org.get(f"organizations/{org.organization}/policy-sets").data == []
    sentinel = policy_set(org, name="base", overridable=True).data
    assert sentinel["attributes"]["overridable"] is None
    refused_at(org.call("POST", f"policy-sets/{sentinel['id']}/relationships/policies", {"data": linkage("policies", opa)}), "/data")
    refused_at(send(org, "PATCH", f"policy-sets/{sentinel['id']}", "policy-sets", kind="opa"), "/data/attributes/kind")
    refused_at(policy_set(org, name="Base"), "/data/attributes/name")


# ---- versions ----


def test_a_policy_set_version_becomes_current_after_its_upload(org):
    created = policy_set(org, name="base", kind="opa").data["id"]
    first, second = (org.post(f"policy-sets/{created}/versions").data for _ in range(2))
    assert (first["attributes"]["status"], first["attributes"]["source"]) == ("pending", "tfe-api")

    def versions():
        relations = org.get(f"policy-sets/{created}").data["relationships"]
        return [relations[name]["data"] and relations[name]["data"]["id"] for name in ("current-version", "newest-version")]

    assert versions() == [None, second["id"]]
    archive = tar_gz({"policies.hcl": 'policy "p" { query = "data.p.deny" }', "p.rego": REGO})
    assert org.call("PUT", first["links"]["upload"], archive).status == 200
    assert versions() == [first["id"], second["id"]]
    ready = org.get(f"policy-set-versions/{first['id']}").data
    assert ready["attributes"]["status"] == "ready" and "ready-at" in ready["attributes"]["status-timestamps"] and "upload" not in ready["links"]
    # The same content may be uploaded again, other content may not. A file that is not an archive is refused, and may
    # be replaced.
    assert org.call("PUT", first["links"]["upload"], archive).status == 200
    assert org.call("PUT", first["links"]["upload"], tar_gz({"q.rego": REGO})).status == 409
    assert org.call("PUT", second["links"]["upload"], b"no archive").status == 422
    assert org.attributes(f"policy-set-versions/{second['id']}")["status"] == "errored"
    assert versions() == [first["id"], second["id"]]
    assert org.call("PUT", second["links"]["upload"], archive).status == 200
    assert versions() == [second["id"], second["id"]]
    included = org.get(f"policy-sets/{created}", include="current_version,newest_version").json["included"]
    assert [item["id"] for item in included] == [second["id"]]


def test_a_policy_set_has_either_policies_or_versions(org):
    tags = policy(org, name="tags").data["id"]
    single = policy_set(org, {"policies": ("policies", tags)}, name="single").data["id"]
    assert org.call("POST", f"policy-sets/{single}/versions").status == 409
    versioned = policy_set(org, name="versioned").data["id"]
    org.post(f"policy-sets/{versioned}/versions")
    refused_at(org.call("POST", f"policy-sets/{versioned}/relationships/policies", {"data": linkage("policies", tags)}), "/data")


# ---- parameters ----


def test_sensitive_parameters_are_write_only(org, api_site):
    created = policy_set(org, name="base").data["id"]
    path = f"policy-sets/{created}/parameters"
    plain = send(org, "POST", path, "vars", key="limit", value="10", category="policy-set").data
    sensitive_parameter = send(org, "POST", path, "vars", key="token", value="a secret value", category="policy-set", sensitive=True).data
    assert (plain["attributes"]["value"], sensitive_parameter["attributes"]["value"]) == ("10", None)
    assert org.get(path).data == [plain, sensitive_parameter] and org.get(f"{path}/{sensitive_parameter['id']}").data == sensitive_parameter
    assert not api_site.ask("select 1 from policy_set_parameters where position(%s in value_sealed) > 0", b"a secret value")
    refused_at(send(org, "POST", path, "vars", key="limit", value="1", category="policy-set"), "/data/attributes/key")
    refused_at(send(org, "POST", path, "vars", key="", value="1", category="policy-set"), "/data/attributes/key")
    refused_at(send(org, "POST", path, "vars", key="x", value="1", category="terraform"), "/data/attributes/category")
    refused_at(send(org, "PATCH", f"{path}/{sensitive_parameter['id']}", "vars", sensitive=False), "/data/attributes/sensitive")
    assert send(org, "PATCH", f"{path}/{plain['id']}", "vars", value="11").data["attributes"]["value"] == "11"
    assert send(org, "PATCH", f"{path}/{plain['id']}", "vars", sensitive=True).data["attributes"]["value"] is None
    assert org.call("DELETE", f"{path}/{plain['id']}").status == 204 and [item["id"] for item in org.get(path).data] == [sensitive_parameter["id"]]


# ---- runs ----


@pytest.fixture
def fake_worker(api_site):
    return api_site.fake_worker()


def outcome(name, status, level="mandatory", text="it is so"):
    return {"policy_name": name, "enforcement_level": level, "query": "data.p.deny", "status": status, "description": "", "output": [{"print": text}]}


def opa_set(org, name, workspace, overridable=True, level="mandatory"):
    created = policy(org, name=f"{name}-policy", kind="opa", query="data.p.deny", enforcement_level=level).data["id"]
    upload(org, created)
    relations = {"policies": ("policies", created), "workspaces": ("workspaces", workspace)}
    return policy_set(org, relations, name=name, kind="opa", overridable=overridable).data["id"]


def stage_of(org, run, **query):
    (stage,) = org.get(f"runs/{run}/task-stages").data
    return org.get(f"task-stages/{stage['id']}", **query).json


def test_policies_are_evaluated_in_the_post_plan_stage(org, fake_worker):
    workspace = org.workspace()
    base = opa_set(org, "base", workspace)
    send(org, "POST", f"policy-sets/{base}/parameters", "vars", key="limit", value="a secret", category="policy-set", sensitive=True)
    run = org.run_files(workspace, {"main.tf": ""})
    stage = stage_of(org, run, include="policy_evaluations")
    assert (stage["data"]["attributes"]["stage"], stage["data"]["attributes"]["status"]) == ("post_plan", "pending")
    (evaluation,) = stage["included"]
    assert stage["data"]["relationships"]["policy-evaluations"]["data"] == [{"id": evaluation["id"], "type": "policy-evaluations"}]
    assert (evaluation["attributes"]["policy-kind"], evaluation["attributes"]["status"]) == ("opa", "pending")
    assert evaluation["attributes"]["result-count"] == {"advisory-failed": 0, "mandatory-failed": 0, "passed": 0, "errored": 0}
    fake_worker.plan(run)
    bundle = fake_worker.evaluate(run, "opa", "passed", [{"id": base, "error": None, "outcomes": [outcome("base-policy", "passed"), outcome("other", "failed", "advisory")]}])
    (parameter,) = bundle["sets"][0]["parameters"]
    assert (parameter["key"], parameter["value"]) == ("limit", "a secret") and bundle["sets"][0]["policies"][0]["source"] == REGO
    assert stage_of(org, run)["data"]["attributes"]["status"] == "passed"
    shown = org.get(f"task-stages/{stage['data']['id']}/policy-evaluations").data
    assert [item["id"] for item in shown] == [evaluation["id"]] and shown == [org.get(f"policy-evaluations/{evaluation['id']}").data]
    assert shown[0]["attributes"]["status"] == "passed" and shown[0]["attributes"]["result-count"]["passed"] == 1
    assert shown[0]["relationships"]["policy-attachable"]["data"] == {"id": stage["data"]["id"], "type": "task-stages"}


def facts_of(org, fake_worker, workspace, **options):
    run = org.run_files(workspace, {"main.tf": ""}, **options)
    fake_worker.plan(run)
    return run, fake_worker.evaluate(run, "opa", "passed", [])["run"]


def test_policies_read_the_facts_of_their_run(org, fake_worker):
    workspace = org.workspace("network", auto_apply=True, description="of the net", working_directory="net")
    project = org.get(f"workspaces/{workspace}").data["relationships"]["project"]["data"]["id"]
    opa_set(org, "base", workspace)
    org.call("POST", f"workspaces/{workspace}/relationships/tags", {"data": [{"type": "tags", "attributes": {"name": "prod"}}]})
    org.call("PATCH", f"projects/{project}/tag-bindings", {"data": [{"type": "tag-bindings", "attributes": {"key": "team", "value": "core"}}]})
    for key, category, sensitive in (("with-dash", "env", True), ("region", "terraform", False)):
        send(org, "POST", f"workspaces/{workspace}/vars", "vars", key=key, value="a value", category=category, sensitive=sensitive)
    run, facts = facts_of(org, fake_worker, workspace, target_addrs=["terraform_data.one"], message="hello", variables=[{"key": "size", "value": "2"}])
    assert (facts["id"], facts["message"], facts["is-destroy"], facts["refresh"], facts["refresh-only"], facts["speculative"]) == (run, "hello", False, True, False, False)
    assert (facts["target-addrs"], facts["replace-addrs"], facts["commit-sha"], facts["cost-estimate"]) == (["terraform_data.one"], None, None, None)
    assert facts["project"] == {"id": project, "name": org.get(f"projects/{project}").data["attributes"]["name"]}
    assert facts["organization"] == {"name": org.organization}
    assert facts["variables"] == {"with-dash": {"category": "env", "sensitive": True}, "region": {"category": "terraform", "sensitive": False},
                                  "size": {"category": "terraform", "sensitive": False}}
    told = facts["workspace"]
    assert (told["id"], told["name"], told["description"], told["working-directory"], told["execution-mode"], told["auto-apply"], told["vcs-repo"]) == (
        workspace, "network", "of the net", "net", "remote", True, None)
    assert told["tags"] == ["prod"] and told["created-at"] == org.get(f"workspaces/{workspace}").data["attributes"]["created-at"]
    assert told["tag-bindings"] == [{"key": "prod", "value": None, "inherited": False}, {"key": "team", "value": "core", "inherited": True}]


ESTIMATE = {"status": "finished", "error-message": None, "currency": "USD", "prior-monthly-cost": "8.392", "proposed-monthly-cost": "65.9860000001",
            "delta-monthly-cost": "57.5940000001", "resources-count": 0, "matched-resources-count": 0, "unmatched-resources-count": 0, "resources": []}


@pytest.mark.parametrize("estimate,outcome,expected", [
    (ESTIMATE, "passed", {"prior-monthly-cost": "8.392", "proposed-monthly-cost": "65.9860000001", "delta-monthly-cost": "57.5940000001"}),
    ({"status": "errored", "error-message": "no"}, "errored", None),
])
def test_the_facts_have_a_finished_cost_estimate(org, fake_worker, api_site, estimate, outcome, expected):
    workspace = org.workspace(cost_estimation_enabled=True)
    created = policy(org, name="p", kind="sentinel").data["id"]
    upload(org, created)
    policy_set(org, {"policies": ("policies", created), "workspaces": ("workspaces", workspace)}, name="checks", kind="sentinel")
    run = org.run_files(workspace, {"main.tf": ""})
    api_site.change("insert into configuration_commits (configuration_version_id, id, sha) select configuration_version_id, %s, %s from run_inputs where run_id = %s",
                 run.replace("run-", "ia-"), "1" * 40, run)
    fake_worker.plan(run)
    job = fake_worker.take(run, "cost")
    fake_worker.on(job, "PUT", "cost", estimate)
    fake_worker.end(job, outcome)
    facts = fake_worker.evaluate(run, "sentinel", "passed", [])["run"]
    assert facts["cost-estimate"] == expected and facts["commit-sha"] == "1" * 40


def test_facts_that_a_run_lacks_are_null(org, fake_worker):
    workspace = org.workspace()
    opa_set(org, "base", workspace)
    _, facts = facts_of(org, fake_worker, workspace, plan_only=True)
    assert facts["speculative"] and facts["target-addrs"] is None and facts["variables"] == {}
    told = facts["workspace"]
    assert (told["description"], told["working-directory"], told["tags"], told["tag-bindings"]) == (None, None, [], [])


def test_policy_set_outcomes_are_filtered(org, fake_worker):
    workspace = org.workspace()
    first, second = opa_set(org, "first", workspace), opa_set(org, "second", workspace)
    run = org.run_files(workspace, {"main.tf": ""})
    fake_worker.plan(run)
    fake_worker.evaluate(run, "opa", "passed", [
        {"id": first, "error": None, "outcomes": [outcome("a", "passed"), outcome("b", "failed", "advisory")]},
        {"id": second, "error": None, "outcomes": [outcome("c", "passed", "advisory")]},
    ])
    (evaluation,) = org.get(f"task-stages/{stage_of(org, run)['data']['id']}/policy-evaluations").data

    def names(**filters):
        data = org.get(f"policy-evaluations/{evaluation['id']}/policy-set-outcomes", **filters).data
        return {item["attributes"]["policy-set-name"]: [policy["policy_name"] for policy in item["attributes"]["outcomes"]] for item in data}

    assert names() == {"first": ["a", "b"], "second": ["c"]}
    assert names(**{"filter[0][status]": "failed"}) == {"first": ["b"]}
    assert names(**{"filter[0][status]": "passed", "filter[0][enforcement_level]": "advisory"}) == {"second": ["c"]}
    assert names(**{"filter[0][status]": "failed", "filter[1][enforcementLevel]": "mandatory"}) == {"first": ["a", "b"]}
    assert names(**{"filter[0][status]": "errored"}) == {}
    page = org.get(f"policy-evaluations/{evaluation['id']}/policy-set-outcomes", **{"page[size]": 1, "page[number]": 2}).json
    assert [item["attributes"]["policy-set-name"] for item in page["data"]] == ["second"] and page["meta"]["pagination"]["total-count"] == 2
    one = page["data"][0]
    assert org.get(f"policy-set-outcomes/{one['id']}").data == one
    assert one["attributes"]["result_count"] == {"advisory-failed": 0, "mandatory-failed": 0, "passed": 1, "errored": 0}


def failed_run(org, fake_worker, **set_options):
    workspace = org.workspace()
    base = opa_set(org, "base", workspace, **set_options)
    run = org.run_files(workspace, {"main.tf": ""})
    fake_worker.plan(run)
    fake_worker.evaluate(run, "opa", "failed", [{"id": base, "error": None, "outcomes": [outcome("base-policy", "failed")]}])
    assert org.status(run) == "policy_override"
    return run, stage_of(org, run)["data"]


def test_a_failed_evaluation_is_overridden(org, fake_worker, api_site):
    run, stage = failed_run(org, fake_worker)
    assert stage["attributes"]["status"] == "awaiting_override" and stage["attributes"]["actions"] == {"is-overridable": True}
    assert api_site.stranger().call("POST", f"task-stages/{stage['id']}/actions/override", {}).status == 404
    answer = org.call("POST", f"task-stages/{stage['id']}/actions/override", {"comment": "this once"})
    assert answer.status == 200 and (answer.data["id"], answer.data["attributes"]["status"]) == (stage["id"], "passed")
    assert org.status(run) == "policy_checked"
    assert [comment["attributes"]["body"] for comment in org.get(f"runs/{run}/comments").data] == ["this once"]
    (evaluation,) = org.get(f"task-stages/{stage['id']}/policy-evaluations").data
    assert evaluation["attributes"]["status"] == "overridden"
    assert org.call("POST", f"task-stages/{stage['id']}/actions/override", {}).status == 409


def test_a_policy_set_that_is_not_overridable_cannot_be_overridden(org, fake_worker):
    run, stage = failed_run(org, fake_worker, overridable=False)
    assert stage["attributes"]["status"] == "awaiting_override" and stage["attributes"]["actions"] == {"is-overridable": False}
    assert org.call("POST", f"task-stages/{stage['id']}/actions/override", {}).status == 409
    assert org.status(run) == "policy_override"
    assert org.act(run, "discard").status == 202


@pytest.mark.parametrize("stored", [b'{"provider_schemas":{"a":{}}}', b"{}" + b" " * (300 << 10), None])
def test_a_policy_stage_gets_the_provider_schemas_of_its_plan(org, fake_worker, stored):
    workspace = org.workspace()
    org.policy_set("sentinel", [policy(org, name="limits", kind="sentinel", enforcement_level="soft-mandatory").data["id"]], workspace)
    run = org.run_files(workspace, {"main.tf": ""})
    plan = fake_worker.take(run, "plan")
    if stored:
        fake_worker.on(plan, "PUT", "schemas?digest=" + hashlib.sha256(stored).hexdigest(), stored)
    fake_worker.end(plan, **{"has-changes": True})
    job = fake_worker.take(run, "sentinel")
    answer = fake_worker.on(job, "GET", "schemas")
    assert (answer.status, answer.body) == ((200, stored) if stored else (204, b""))
    assert fake_worker.on(plan, "GET", "schemas", check=False).status == 404
    fake_worker.end(job)
    assert fake_worker.on(job, "GET", "schemas", check=False).status == 404


def test_a_check_that_runs_is_queued_for_clients(org, fake_worker):
    """terraform ends with an error if it reads a status that it does not know."""
    workspace = org.workspace()
    org.policy_set("sentinel", [policy(org, name="limits", kind="sentinel", enforcement_level="soft-mandatory").data["id"]], workspace)
    run = org.run_files(workspace, {"main.tf": ""})
    fake_worker.plan(run)
    fake_worker.take(run, "sentinel")
    assert org.policy_check(run)["attributes"]["status"] == "queued" and org.status(run) == "policy_checking"


def sentinel_run(org, fake_worker, result, level, status, **attributes):
    workspace = org.workspace()
    created = policy(org, name="limits", enforcement_level=level).data["id"]
    upload(org, created, "main = rule { true }")
    base = policy_set(org, {"policies": ("policies", created), "workspaces": ("workspaces", workspace)}, name="base").data["id"]
    run = org.run_files(workspace, {"main.tf": ""}, **attributes)
    (check,) = org.get(f"runs/{run}/policy-checks").data
    assert check["attributes"]["status"] == "pending"
    fake_worker.plan(run)
    fake_worker.evaluate(run, "sentinel", result, [{"id": base, "error": None, "outcomes": [outcome("limits", status, level)]}], output="Policy check: limits\n")
    return run, check["id"]


def test_a_workers_set_says_where_its_version_of_opa_is(org, fake_worker):
    """If a site admin lists it and has not disabled it."""
    def listed(version, **more):
        attributes = {"version": version, "url": f"https://mirror.example/{version}/opa", "sha": "a" * 64, **more}
        org.post("admin/opa-versions", {"data": {"type": "opa-versions", "attributes": attributes}})

    listed("1.77.1"), listed("1.77.2", enabled=False)
    workspace = org.workspace()
    for number, version in enumerate(("1.77.1", "v1.77.1", "1.77.2", "1.77.3", None)):
        made = opa_set(org, f"opa-{number}", workspace)
        org.patch(f"policy-sets/{made}", {"data": {"type": "policy-sets", "attributes": {"policy-tool-version": version}}})
    run = org.run_files(workspace, {"main.tf": ""})
    fake_worker.plan(run)
    sets = fake_worker.evaluate(run, "opa", "passed", [])["sets"]
    found = [{"os": "linux", "arch": "amd64", "url": "https://mirror.example/1.77.1/opa", "sha": "a" * 64}]
    assert {one["tool-version"]: one["tool-archs"] for one in sets} == {"1.77.1": found, "v1.77.1": found, "1.77.2": None, "1.77.3": None, None: None}


def test_a_policy_check_tells_the_reason_apart_from_the_trace(org, fake_worker):
    """Of an errored policy the first output is its reason. The trace is what remains, of other policies all."""
    workspace = org.workspace()
    base = policy_set(org, {"workspaces": ("workspaces", workspace)}, name="base").data["id"]
    made = policy(org, name="one").data["id"]
    upload(org, made, "main = rule { true }")
    org.post(f"policy-sets/{base}/relationships/policies", {"data": [{"type": "policies", "id": made}]})
    run = org.run_files(workspace, {"main.tf": ""})
    fake_worker.plan(run)
    said = [{"print": text} for text in ("first", "second\nline", "third")]
    outcomes = [{**outcome(status, status, "advisory"), "description": f"it {status}", "output": said} for status in ("passed", "failed", "errored")]
    fake_worker.evaluate(run, "sentinel", "passed", [{"id": base, "error": None, "outcomes": outcomes}])
    shown = org.policy_check(run)["attributes"]["result"]["sentinel"]["data"]["base"]["policies"]
    assert [(one["policy"], one["result"], one["error"], one["trace"]) for one in shown] == [
        ("base/passed", True, None, {"description": "it passed", "print": "first\nsecond\nline\nthird"}),
        ("base/failed", False, None, {"description": "it failed", "print": "first\nsecond\nline\nthird"}),
        ("base/errored", False, "first", {"description": "it errored", "print": "second\nline\nthird"})]


def test_a_policy_check_reads_back_with_its_result(org, fake_worker):
    run, check = sentinel_run(org, fake_worker, "passed", "soft-mandatory", "passed")
    shown = org.get(f"policy-checks/{check}", include="run.workspace").json
    attributes = shown["data"]["attributes"]
    assert (attributes["status"], attributes["scope"], attributes["actions"]) == ("passed", "organization", {"is-overridable": False})
    assert (attributes["result"]["result"], attributes["result"]["passed"], attributes["result"]["total-failed"]) == (True, 1, 0)
    assert attributes["result"]["sentinel"]["data"]["base"]["policies"][0]["trace"]["print"] == "it is so"
    assert [item["type"] for item in shown["included"]] == ["runs", "workspaces"]
    assert org.get(f"policy-checks/{check}/output").text == "Policy check: limits\n"
    assert org.get(f"runs/{run}").data["relationships"]["policy-checks"]["data"] == [{"id": check, "type": "policy-checks"}]
    assert org.get(f"runs/{run}/policy-checks").data == [shown["data"]]
    assert org.call("POST", f"policy-checks/{check}/actions/override").status == 409


def test_a_soft_failed_check_is_overridden(org, fake_worker):
    run, check = sentinel_run(org, fake_worker, "soft_failed", "soft-mandatory", "failed")
    attributes = org.attributes(f"policy-checks/{check}")
    assert (org.status(run), attributes["status"], attributes["actions"]) == ("policy_override", "soft_failed", {"is-overridable": True})
    assert (attributes["result"]["soft-failed"], attributes["result"]["result"]) == (1, False)
    answer = org.call("POST", f"policy-checks/{check}/actions/override")
    assert answer.status == 200 and answer.data["attributes"]["status"] == "overridden"
    assert org.status(run) == "policy_checked"


def test_a_hard_failed_check_cannot_be_overridden(org, fake_worker):
    run, check = sentinel_run(org, fake_worker, "failed", "hard-mandatory", "failed")
    attributes = org.attributes(f"policy-checks/{check}")
    assert (org.status(run), attributes["status"], attributes["result"]["hard-failed"]) == ("errored", "hard_failed", 1)
    assert org.call("POST", f"policy-checks/{check}/actions/override").status == 409
