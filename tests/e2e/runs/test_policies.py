# SPDX-License-Identifier: MPL-2.0
"""Policies from their upload to their result in a run, with the real opa and a replacement for sentinel."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.api import dashed, tar_gz, untar_gz
from support.mirror import Mirror
from support.opa_releases import OPA_FOLDER, PROGRAM, TELLS, OpaReleases

pytestmark = pytest.mark.skipif(not shutil.which("opa"), reason="opa is not installed")

ONE = {"main.tf": 'resource "terraform_data" "one" {\n  input = "hello"\n}\n'}
FORBIDS = """package rules
deny[msg] {
	change := input.plan.resource_changes[_]
	change.change.after.input == data.parameters.word
	print("seen in", input.run.workspace.name)
	msg := sprintf("%s says %s", [change.address, data.parameters.word])
}
"""
# The policy's source determines the result. Its imports must be present.
SENTINEL = """#!/bin/bash
set -e
grep -q '"terraform_data.one": {' runyard-mocks/mock-tfplan-v2.sentinel
grep -q '^workspace = .*"name": "' runyard-mocks/mock-tfrun.sentinel
echo "evaluated ${!#}"
exit "$(<"${!#}")"
"""


class Policies:
    def __init__(self, api):
        self.api = api

    def single(self, name, kind, source, **attributes):
        body = {"data": {"type": "policies", "attributes": {"name": name, "kind": kind, **dashed(attributes)}}}
        policy = self.api.post("organizations/acme/policies", body).data["id"]
        self.api.ask("PUT", f"policies/{policy}/upload", source.encode(), headers={"Content-Type": "application/octet-stream"})
        return policy

    def set(self, name, kind, workspace, *policies, **attributes):
        relations = {"workspaces": {"data": [{"type": "workspaces", "id": workspace}]},
                     "policies": {"data": [{"type": "policies", "id": policy} for policy in policies]}}
        if not policies:
            del relations["policies"]
        body = {"data": {"type": "policy-sets", "attributes": {"name": name, "kind": kind, **dashed(attributes)}, "relationships": relations}}
        return self.api.post("organizations/acme/policy-sets", body).data["id"]

    def parameter(self, policy_set, key, value):
        self.api.post(f"policy-sets/{policy_set}/parameters",
                      {"data": {"type": "vars", "attributes": {"key": key, "value": value, "category": "policy-set"}}})

    def upload(self, policy_set, files):
        version = self.api.post(f"policy-sets/{policy_set}/versions").data
        self.api.ask("PUT", version["links"]["upload"], tar_gz(files), headers={"Content-Type": "application/octet-stream"})

    def outcomes(self, run):
        """The result of each policy of the run's OPA sets."""
        stage = self.api.task_stages(run)["post_plan"]
        (evaluation,) = stage["relationships"]["policy-evaluations"]["data"]
        sets = self.api.get(f"policy-evaluations/{evaluation['id']}/policy-set-outcomes").data
        return [outcome for one in sets for outcome in one["attributes"]["outcomes"]]

    def check(self, run):
        (check,) = self.api.get(f"runs/{run}/policy-checks").data
        return check


@pytest.fixture
def stack(folder, scheduler, worker, api):
    sentinel = folder / "sentinel"
    sentinel.write_text(SENTINEL)
    sentinel.chmod(0o755)
    worker(sentinel=sentinel)
    return api


@pytest.fixture
def policies(stack):
    return Policies(stack)


def test_a_failed_mandatory_policy_is_overridden(stack, policies):
    workspace = stack.workspace("network", auto_apply=True)
    archive = policies.set("archive", "opa", workspace, overridable=True)
    policies.upload(archive, {"policies.hcl": 'policy "words" {\n  query = "data.rules.deny"\n  enforcement_level = "mandatory"\n}\n', "rules.rego": FORBIDS})
    policies.parameter(archive, "word", "hello")
    run = stack.run_files(workspace, ONE)
    stack.wait_status(run, "policy_override")
    (outcome,) = policies.outcomes(run)
    assert (outcome["policy_name"], outcome["status"], outcome["enforcement_level"]) == ("words", "failed", "mandatory")
    assert [entry["print"] for entry in outcome["output"]] == ["terraform_data.one says hello", "seen in network"]
    stack.post(f"task-stages/{stack.task_stages(run)['post_plan']['id']}/actions/override", {})
    stack.wait_status(run, "applied")


def test_passed_and_advisory_policies_do_not_stop_the_run(stack, policies):
    workspace = stack.workspace(auto_apply=True)
    passes = policies.single("passes", "opa", "package a\ndeny[x] { x := input.plan.nothing }\n", query="data.a.deny", enforcement_level="mandatory")
    broken = policies.single("broken", "opa", "no policy {", query="data.b.deny", enforcement_level="advisory")
    policies.set("singles", "opa", workspace, passes, broken)
    run = stack.run_files(workspace, ONE)
    stack.wait_status(run, "applied")
    found = {outcome["policy_name"]: outcome["status"] for outcome in policies.outcomes(run)}
    assert found == {"passes": "passed", "broken": "errored"}


@pytest.mark.parametrize("level,status,check", [("advisory", "applied", "passed"), ("soft-mandatory", "policy_override", "soft_failed"),
                                                ("hard-mandatory", "errored", "hard_failed")])
def test_the_result_of_a_failed_sentinel_policy_depends_on_its_level(stack, policies, level, status, check):
    workspace = stack.workspace(auto_apply=True)
    policies.set("checks", "sentinel", workspace, policies.single("limit", "sentinel", "1", enforcement_level=level))
    run = stack.run_files(workspace, ONE)
    stack.wait_status(run, status)
    found = policies.check(run)
    assert found["attributes"]["status"] == check
    output = stack.get(f"policy-checks/{found['id']}/output").text
    assert f"limit: failed ({level})" in output and "evaluated ./limit.sentinel" in output
    if status == "policy_override":
        stack.post(f"policy-checks/{found['id']}/actions/override", {})
        stack.wait_status(run, "applied")


def test_a_set_is_evaluated_by_the_version_of_opa_that_it_asks_for(scheduler, worker, api, tmp_path):
    """Downloaded, and checked. A version that the mirror lacks is no reason to use another one."""
    releases = OpaReleases(tmp_path / "releases")
    releases.release("1.9.1")
    mirror = Mirror(releases.folder)
    try:
        worker(opa_mirror=mirror.url, sandbox_bind=OPA_FOLDER)
        workspace, policies = api.workspace(), Policies(api)
        for version in ("1.9.1", "1.9.2"):
            api.policy_set("opa", [api.policy("opa", "mandatory", TELLS, f"tells-{version.replace('.', '-')}")], workspace, policy_tool_version=version)
        run = api.run_files(workspace, ONE)
        api.wait_status(run, "policy_override")
        found = {one["policy_name"]: (one["status"], one["output"][0]["print"]) for one in policies.outcomes(run)}
    finally:
        mirror.release()
    assert found == {"tells-1-9-1": ("failed", "this is 1.9.1"),
                     "tells-1-9-2": ("errored", f"opa 1.9.2 can't be downloaded: status 404 of {mirror.url}/v1.9.2/{PROGRAM}.sha256")}


# ---- runyard-policy ----

@pytest.fixture
def own(scheduler, worker, api):
    """Policies of a site whose worker has no --sentinel."""
    worker()
    return Policies(api)


# A verdict that depends on the real plan and the run.
INPUTS = """# Inputs that are not wanted.
import "tfplan/v2" as tfplan
import "tfrun"

param word

found = filter tfplan.resource_changes as _, rc { rc.change.after.input is word }
print("seen in", tfrun.workspace.name)
main = rule { length(found) is 0 }
"""
TWO_BLOCKS = """policy "hello" {
  source            = "./inputs.sentinel"
  enforcement_level = "hard-mandatory"
  params            = { word = "hello" }
}
policy "other" {
  source            = "./inputs.sentinel"
  enforcement_level = "hard-mandatory"
  params            = { word = "other" }
}
policy "of-the-set" {
  source = "./inputs.sentinel"
}
"""


@pytest.mark.parametrize("level,status,check", [("advisory", "applied", "passed"), ("soft-mandatory", "policy_override", "soft_failed"),
                                                ("hard-mandatory", "errored", "hard_failed")])
def test_a_policy_that_fails_by_the_real_plan(api, own, level, status, check):
    workspace = api.workspace("network", auto_apply=True)
    checks = own.set("checks", "sentinel", workspace, own.single("inputs", "sentinel", INPUTS, enforcement_level=level))
    own.parameter(checks, "word", "hello")
    run = api.run_files(workspace, ONE)
    api.wait_status(run, status)
    found = own.check(run)
    assert found["attributes"]["status"] == check
    output = api.get(f"policy-checks/{found['id']}/output").text
    assert f"inputs: failed ({level})" in output and "seen in network" in output and "Inputs that are not wanted." in output
    if status == "policy_override":
        api.post(f"policy-checks/{found['id']}/actions/override", {})
        api.wait_status(run, "applied")


def test_a_soft_mandatory_failure_of_a_speculative_plan(api, own):
    workspace = api.workspace()
    own.set("checks", "sentinel", workspace, own.single("no", "sentinel", "main = false", enforcement_level="soft-mandatory"))
    run = api.run_files(workspace, ONE, plan_only=True)
    api.wait_status(run, "policy_soft_failed")


WITHOUT_A_VERDICT = {
    "undefined": ('import "tfplan/v2" as tfplan\n\nmain = tfplan.nothing.at_all\n', "one.sentinel:3:"),
    "a runtime error": ('main = rule {\n  1 / int("0") is 1\n}\n', "one.sentinel:2:"),
    "does not parse": ("main = rule {\n", "one.sentinel:2:1:"),
    "a missing parameter": ("param word\nmain = true\n", "one.sentinel:1:"),
}


@pytest.mark.parametrize("case", WITHOUT_A_VERDICT)
def test_a_policy_without_a_verdict_is_errored_and_says_why_first(api, own, case):
    source, place = WITHOUT_A_VERDICT[case]
    workspace = api.workspace(auto_apply=True)
    own.set("checks", "sentinel", workspace, own.single("one", "sentinel", source, enforcement_level="hard-mandatory"))
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "errored")
    found = own.check(run)
    assert found["attributes"]["status"] == "hard_failed"
    lines = api.get(f"policy-checks/{found['id']}/output").text.splitlines()
    at = lines.index("one: errored (hard-mandatory)")
    assert lines[at + 1].strip().startswith(place)


TYPES = """param text
param number
param list
param map
param flag
param quoted
param word default "default"
param given

print("word", word)
main = rule {
	text is "hello, \\"you\\" ${x}" and number is 12 and list is ["a", 1, [true]] and map is {"k": {"a-b": null}} and
	flag is true and quoted is "12" and quoted is not 12 and given is "by the configuration"
}
"""
PARAMETERS = {"text": 'hello, "you" ${x}', "number": "12", "list": '["a", 1, [true]]', "map": '{"k": {"a-b": null}}', "flag": "true", "quoted": '"12"', "word": "of the set"}
BLOCKS = """param "given" {
  value = "by the configuration"
}
param "word" {
  value = "by the configuration"
}
policy "types" {
  enforcement_level = "hard-mandatory"
}
policy "own" {
  source = "types.sentinel"
  params = { word = "of the block" }
}
policy "missing" {
  source = "missing.sentinel"
}
"""


def test_parameters_of_a_set_have_their_types(api, own):
    """Those of a policy's block win over the set's, and these over the configuration's. A required one that is missing is named, with its place.
    The version that a set of Sentinel-language policies asks for changes nothing."""
    workspace = api.workspace(auto_apply=True)
    checks = own.set("checks", "sentinel", workspace, agent_enabled=True, policy_tool_version="0.22.1")
    own.upload(checks, {"sentinel.hcl": BLOCKS, "types.sentinel": TYPES, "missing.sentinel": "param number\nparam nowhere\nmain = true\n"})
    for key, value in PARAMETERS.items():
        own.parameter(checks, key, value)
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "applied")
    output = api.get(f"policy-checks/{own.check(run)['id']}/output").text
    types, told, missing = (output.split(f"\n{name}: ")[1].split("\n\n")[0] for name in ("types", "own", "missing"))
    assert types.startswith("passed (hard-mandatory)") and told.startswith("passed (advisory)"), output
    assert "word of the set" in output and "word of the block" in output and "word by" not in output
    assert missing.splitlines()[0] == "errored (advisory)" and "missing.sentinel:2:" in missing.splitlines()[1] and "nowhere" in missing.splitlines()[1]


def test_two_blocks_with_one_source_have_two_verdicts(api, own):
    workspace = api.workspace(auto_apply=True)
    checks = own.set("checks", "sentinel", workspace)
    own.upload(checks, {"sentinel.hcl": TWO_BLOCKS, "inputs.sentinel": INPUTS})
    own.parameter(checks, "word", '"12"')
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "errored")
    output = api.get(f"policy-checks/{own.check(run)['id']}/output").text
    for verdict in ("hello: failed (hard-mandatory)", "other: passed (hard-mandatory)", "of-the-set: passed (advisory)"):
        assert verdict in output, output


# ---- the imports of before tfplan/v2 ----

TIME = """terraform {
  required_providers {
    time = { source = "hashicorp/time" }
  }
}
variable "word" { default = "first" }
variable "counted" { default = 2 }
resource "terraform_data" "one" { input = { word = var.word } }
resource "time_sleep" "whole" {
  destroy_duration = "1ms"
  triggers         = terraform_data.one.output
}
resource "time_sleep" "part" {
  destroy_duration = "1ms"
  triggers         = { id = terraform_data.one.id, word = var.word }
}
module "inner" {
  source   = "./inner"
  for_each = toset(["a.b"])
  counted  = var.counted
  word     = var.word
}
output "word" { value = var.word }
"""
INNER = """variable "counted" {}
variable "word" {}
resource "time_static" "many" {
  count    = var.counted
  triggers = { word = var.word }
}
"""
V1_FILES = {"main.tf": TIME, "inner/main.tf": INNER}
V1_CREATED = """import "tfplan"
import "tfconfig"
import "tfstate"

sleeps = tfplan.resources.time_sleep
many = tfplan.module(["inner[\\"a.b\\"]"]).resources.time_static.many

computed = rule {
  sleeps.whole[0].diff["triggers.%"].computed and sleeps.whole[0].diff.triggers is not defined and
  sleeps.part[0].diff["triggers.%"].computed and sleeps.part[0].diff["triggers.id"].computed and
  sleeps.part[0].diff["triggers.word"].new is "first" and sleeps.part[0].diff.create_duration.new is ""
}
applied = rule { sleeps.part[0].applied.triggers is {"word": "first"} and sleeps.whole[0].applied.triggers is not defined }
created = rule { all tfplan.module_paths as path { all tfplan.module(path).resources as _, names { all names as _, instances {
  all instances as _, r { not r.destroy and not r.requires_new } } } } }
others = rule {
  keys(many) is [0, 1] and tfconfig.resources.time_sleep.whole.references.triggers contains "terraform_data.one.output" and
  tfconfig.modules.inner.source is "./inner" and tfstate.resources is empty and tfplan.variables.counted is "2"
}
main = rule { computed and applied and created and others }
"""
V1_CHANGED = """import "tfplan"
import "tfstate"

word = func(path, type, name, index) { return tfplan.module(path).resources[type][name][index].diff["triggers.word"] }
inner = ["inner[\\"a.b\\"]"]
many = tfplan.module(inner).resources.time_static.many

replaced = rule { many[0].destroy and many[0].requires_new and many[0].diff.id.computed and many[0].applied.triggers.word is "second" }
destroyed = rule { many[1].destroy and not many[1].requires_new and many[1].applied is not defined and many[1].diff["triggers.word"].old is "first" }
changed = rule { word(inner, "time_static", "many", 0) is {"computed": false, "new": "second", "old": "first"} and
  tfplan.resources.terraform_data.one[0].diff["input.word"].new is "second" and tfplan.resources.terraform_data.one[0].diff.id is not defined }
before = rule { tfstate.outputs.word is {"sensitive": false, "type": "string", "value": "second"} and
  tfstate.module(inner).resources.time_static.many[1].attr.triggers.word is "first" and tfplan.state.module(inner).path is inner }
main = rule { replaced and destroyed and changed and before }
"""


def verdict_by_mocks(api, run, folder, source):
    """`runyard-policy test` of the policy on the mock bundle of the run's plan."""
    export = api.post("plan-exports", {"data": {"type": "plan-exports", "attributes": {"data-type": "sentinel-mock-bundle-v0"},
                                                "relationships": {"plan": {"data": {"type": "plans", "id": api.sibling(run, "plan")}}}}}).data["id"]
    folder.mkdir()
    untar_gz(api.get(f"plan-exports/{export}/download").body, folder)
    (folder / "p.sentinel").write_text(source)
    (folder / "test/p").mkdir(parents=True)
    (folder / "test/p/case.hcl").write_text((folder / "sentinel.hcl").read_text().replace('source = "', 'source = "../../'))
    done = subprocess.run([Path(os.environ["RUNYARD_BIN"]) / "runyard-policy", "test"], cwd=folder, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_policies_of_the_older_imports_read_real_plans_and_their_mocks(api, own, folder):
    workspace = api.workspace(auto_apply=True)
    policy = own.single("v1", "sentinel", V1_CREATED, enforcement_level="hard-mandatory")
    own.set("checks", "sentinel", workspace, policy)
    for number, (source, word, counted) in enumerate(((V1_CREATED, "first", 2), (V1_CHANGED, "second", 1))):
        api.ask("PUT", f"policies/{policy}/upload", source.encode(), headers={"Content-Type": "application/octet-stream"})
        files = {**V1_FILES, "main.tf": TIME.replace('"first"', f'"{word}"').replace("default = 2", f"default = {counted}")}
        run = api.run_files(workspace, files)
        api.wait_status(run, {"applied", "errored"})
        output = api.get(f"policy-checks/{own.check(run)['id']}/output").text
        assert "v1: passed (hard-mandatory)" in output, output
        code, said = verdict_by_mocks(api, run, folder / f"mocks-{number}", source)
        assert code == 0 and "PASS - " in said, said
