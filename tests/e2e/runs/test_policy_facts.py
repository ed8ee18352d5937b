# SPDX-License-Identifier: MPL-2.0
"""What policies know about a real run: tfrun of Sentinel-language policies and input.run of OPA have the same facts."""

import json
import shutil

import pytest

from support.configurations import resources
from support.git_servers import HttpServer
from support.vcs_flow import Repo, telling

pytestmark = pytest.mark.skipif(not shutil.which("opa"), reason="opa is not installed")

MEMBERS = ("id created_at created_by message commit_sha is_destroy refresh refresh_only replace_addrs speculative target_addrs project variables organization workspace").split()
TELLS = f"""import "json"
import "tfrun"

facts = {{{", ".join(f'"{name}": tfrun.{name}' for name in MEMBERS)}}}
if tfrun.cost_estimate is defined {{
	facts["cost_estimate"] = tfrun.cost_estimate
}}
print(json.marshal(facts))
main = true
"""
TELLS_OPA = """package p
import rego.v1
deny contains "nothing" if {
	print(json.marshal(input.run))
	false
}
"""


@pytest.fixture(scope="module")
def stack(full_site):
    api = full_site.api
    for kind, level, source in (("sentinel", "hard-mandatory", TELLS), ("opa", "mandatory", TELLS_OPA)):
        policy = api.policy(kind, level, source)
        api.post(f"organizations/{api.organization}/policy-sets", {"data": {"type": "policy-sets", "attributes": {"name": f"tells-{kind}", "kind": kind, "global": True},
                                                                            "relationships": {"policies": {"data": [{"type": "policies", "id": policy}]}}}})
    return full_site


@pytest.fixture
def api(stack):
    return stack.api


def facts_of(api, run):
    """The facts that both policies of a run printed. Only Sentinel-language policies are evaluated after the cost estimate."""
    stage = api.task_stages(run)["post_plan"]["relationships"]["policy-evaluations"]["data"][0]["id"]
    (outcome,) = api.get(f"policy-evaluations/{stage}/policy-set-outcomes").data
    (printed,) = outcome["attributes"]["outcomes"][0]["output"]
    check = api.policy_check(run)
    assert check["attributes"]["status"] == "passed", check
    output = api.get(f"policy-checks/{check['id']}/output").text
    (facts,) = [json.loads(line) for line in output.splitlines() if line.strip().startswith('{"')]
    assert json.loads(printed["print"]) == {name: fact for name, fact in facts.items() if name != "cost_estimate"}
    return facts


def bindings(**pairs):
    return {"data": [{"type": "tag-bindings", "attributes": {"key": key, "value": value}} for key, value in pairs.items()]}


def test_a_run_without_anything_has_every_member(api):
    workspace = api.workspace("plain")
    run = api.run_files(workspace, resources("one"))
    api.wait_status(run, "policy_checked")
    attributes, made = api.attributes(f"runs/{run}"), api.get(f"workspaces/{workspace}").data
    project = made["relationships"]["project"]["data"]["id"]
    assert facts_of(api, run) == {
        "id": run, "created_at": attributes["created-at"], "created_by": "admin", "message": attributes["message"], "commit_sha": None,
        "is_destroy": False, "refresh": True, "refresh_only": False, "replace_addrs": None, "speculative": False, "target_addrs": None,
        "project": {"id": project, "name": "Default Project"}, "variables": {}, "organization": {"name": "acme"},
        "workspace": {"id": workspace, "name": "plain", "created_at": made["attributes"]["created-at"], "description": None, "execution_mode": "remote", "auto_apply": False,
                      "tags": [], "tag_bindings": [], "working_directory": None, "vcs_repo": None}}


def test_a_run_with_everything_but_a_repository(stack, api):
    project = api.post("organizations/acme/projects", {"data": {"type": "projects", "attributes": {"name": "infra"}, "relationships": {"tag-bindings": bindings(team="red", shared="")}}}).data["id"]
    made = api.post("organizations/acme/workspaces", {"data": {
        "type": "workspaces", "attributes": {"name": "full", "description": "with all", "auto-apply": True, "working-directory": "below"},
        "relationships": {"project": {"data": {"type": "projects", "id": project}}, "tag-bindings": bindings(blue="", env="prod")}}}).data
    workspace = made["id"]
    api.variable(workspace, "region", "eu")
    api.variable(workspace, "secret-of_env", "not for policies", category="env", sensitive=True)
    api.variable(workspace, "zones", '["a"]', hcl=True, sensitive=True)
    stack.estimates(True)
    files = {f"below/{name}": text for name, text in resources("one", "two").items()}
    files["below/variables.tf"] = 'variable "region" {}\nvariable "zones" {}\nvariable "size" {}\n'
    configuration = api.upload(workspace, files)
    given = [{"key": "size", "value": '"3"'}]
    first = api.run(workspace, configuration, variables=given)
    api.wait_status(first, "applied")
    assert facts_of(api, first)["cost_estimate"] == {"prior_monthly_cost": "2.50", "proposed_monthly_cost": "12.50", "delta_monthly_cost": "10.00"}
    stack.estimates(False)
    run = api.run(workspace, configuration, message="again\n\"quoted\"", target_addrs=["terraform_data.one"], replace_addrs=["terraform_data.one"], refresh=False, variables=given)
    api.wait_status(run, "applied")
    facts = facts_of(api, run)
    assert {name: facts[name] for name in ("message", "target_addrs", "replace_addrs", "refresh", "project")} == {
        "message": 'again\n"quoted"', "target_addrs": ["terraform_data.one"], "replace_addrs": ["terraform_data.one"], "refresh": False, "project": {"id": project, "name": "infra"}}
    assert facts["variables"] == {"region": {"category": "terraform", "sensitive": False}, "secret-of_env": {"category": "env", "sensitive": True},
                                  "zones": {"category": "terraform", "sensitive": True}, "size": {"category": "terraform", "sensitive": False}}
    assert "cost_estimate" not in facts
    assert facts["workspace"] == {
        "id": workspace, "name": "full", "created_at": made["attributes"]["created-at"], "description": "with all", "execution_mode": "remote", "auto_apply": True, "tags": ["blue"],
        "tag_bindings": [{"key": "blue", "value": None, "inherited": False}, {"key": "env", "value": "prod", "inherited": False},
                         {"key": "shared", "value": None, "inherited": True}, {"key": "team", "value": "red", "inherited": True}],
        "working_directory": "below", "vcs_repo": None}


KINDS = {
    "speculative": ({"plan_only": True}, {"speculative": True}),
    "destroy": ({"is_destroy": True}, {"is_destroy": True}),
    "refresh only": ({"refresh_only": True}, {"refresh_only": True}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_a_run_is_known(api, kind):
    asked, wanted = KINDS[kind]
    workspace = api.workspace(auto_apply=True)
    configuration = api.upload(workspace, resources("one"))
    api.wait_status(api.run(workspace, configuration), "applied")
    run = api.run(workspace, configuration, **asked)
    api.wait_status(run, {"applied", "planned_and_finished"})
    facts = facts_of(api, run)
    flags = "speculative", "is_destroy", "refresh_only"
    assert {name: facts[name] for name in flags} == {**dict.fromkeys(flags, False), **wanted}


def test_a_run_of_a_commit_names_it_and_its_repository(stack, api, folder):
    http = HttpServer(folder / "http").start()
    try:
        repository = http.repository("acme/tells")
        first = repository.commit(telling("first"))
        repo = Repo(api, "acme/tells.git", {"service-provider": "git", "http-url": http.url, "key": http.user, "oauth-token-string": http.password})
        workspace = repo.workspace("of-commits", repo={"branch": "main", "ingress_submodules": True}, queue_all_runs=True)
        connected = repo.run(workspace, first)
        api.wait_status(connected, "policy_checked")
        sha = repository.commit(telling("second"))
        repo.check(workspace)
        run = repo.run(workspace, sha)
        api.act(connected, "discard")
        api.wait_status(run, "policy_checked")
        before, facts = facts_of(api, connected), facts_of(api, run)
        attributes = api.attributes(f"workspaces/{workspace}")["vcs-repo"]
    finally:
        http.release()
    assert [(one["commit_sha"], one["created_by"]) for one in (before, facts)] == [(first, "admin"), (sha, None)]
    assert facts["workspace"]["vcs_repo"] == {"identifier": "acme/tells.git", "display_identifier": attributes["display-identifier"], "branch": "main", "ingress_submodules": True}
