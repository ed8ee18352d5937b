# SPDX-License-Identifier: MPL-2.0
"""The mocks of a real plan: runyard-policy test gives the verdicts of the run, and each import equals its mock."""

import json
import subprocess

import pytest

from support.api import untar_gz
from support.process import program
from support.servers import DEPS

CHILD = """
variable "size" {
  type    = number
  default = 9007199254740993
}
resource "terraform_data" "inner" {
  for_each = toset(["a", "b.c[0]"])
  input    = { key = each.key, size = var.size, ratio = 0.5, none = null }
}
output "ids" {
  value       = [for inner in terraform_data.inner : inner.id]
  description = "Known after the apply"
}
"""
MAIN = """
terraform {{
  required_providers {{
    time = {{
      source  = "hashicorp/time"
      version = ">= 0.12.0"
    }}
  }}
}}
provider "time" {{}}
variable "word" {{
  description = "What is said"
}}
variable "secret" {{
  sensitive = true
  default   = "a \\"quoted\\" $${{text}}\\nof two lines: \\u00e9 \\u2028"
}}
data "terraform_remote_state" "other" {{
  backend = "local"
  config  = {{ path = "${{path.module}}/other.tfstate" }}
}}
data "terraform_remote_state" "later" {{
  backend    = "local"
  config     = {{ path = "${{path.module}}/other.tfstate" }}
  depends_on = [terraform_data.counted]
}}
resource "terraform_data" "counted" {{
  count = 2
  input = [var.word, count.index, var.secret, data.terraform_remote_state.other.outputs]
  provisioner "local-exec" {{
    command = "echo ${{self.id}}"
  }}
}}
resource "terraform_data" "replaced" {{
  triggers_replace = "{step}"
  lifecycle {{
    create_before_destroy = true
  }}
}}
resource "terraform_data" "after" {{
  triggers_replace = "{step}"
  input            = terraform_data.replaced.id
  provisioner "local-exec" {{
    command = "test {step} = one"
  }}
}}
resource "time_rotating" "expired" {{
  rfc3339          = "2020-01-01T00:00:00Z"
  rotation_minutes = 1
}}
{more}
module "child" {{
  source = "./child"
  count  = 2
  size   = count.index + 1
}}
module "other" {{
  source     = "./child"
  depends_on = [terraform_data.counted]
}}
output "words" {{
  value     = terraform_data.counted[*].output
  sensitive = true
}}
output "ids" {{
  value = module.child[*].ids
}}
"""
OTHER = {"version": 4, "terraform_version": "1.5.0", "serial": 1, "lineage": "00000000-0000-0000-0000-000000000000",
         "outputs": {"list": {"value": [1, 2.5, True, None, ""], "type": ["tuple", ["number", "number", "bool", "string", "string"]]}}, "resources": []}
GONE = 'resource "terraform_data" "gone" {\n  input = "x"\n}\n'

PASSES = """import "tfplan/v2" as tfplan
import "tfconfig/v2" as tfconfig
import "tfstate/v2" as tfstate
import "tfrun"

destroyed = filter tfplan.resource_changes as _, rc { rc.change.actions is ["delete"] }
deposed = filter tfplan.resource_changes as _, rc { rc.deposed is not "" }
read = filter tfplan.resource_changes as _, rc { rc.mode is "data" and rc.change.actions is ["read"] }
drifted = keys(tfplan.resource_drift)
unknown = rule { all tfplan.resource_changes as _, rc { rc.change.actions is not ["create"] or rc.change.after.id is not defined } }

main = rule {
	length(destroyed) is 2 and length(deposed) is 1 and length(read) is 1 and
	"time_rotating.expired" in drifted and
	tfplan.resource_changes contains "module.child[1].terraform_data.inner[\\"b.c[0]\\"]" and
	tfconfig.strip_index("module.child[1].terraform_data.inner[\\"b.c[0]\\"]") is "module.child.terraform_data.inner" and
	tfconfig.module_calls["child"].count is {"constant_value": 2} and
	tfstate.resources contains "data.terraform_remote_state.other" and
	tfrun.workspace.name is "mocked" and
	unknown
}
"""
FAILS = """import "tfplan/v2" as tfplan
main = rule { all tfplan.resource_changes as _, rc { rc.change.actions is not ["delete"] } }
"""
UNDEFINED = """import "tfplan/v2" as tfplan
main = tfplan.resource_changes["nothing.like_it"].change.after.size > 3
"""
POLICIES = {"passes": PASSES, "fails": FAILS, "undefined": UNDEFINED}

MEMBERS = {
    "tfplan": ("tfplan/v2", "mock-tfplan-v2.sentinel", "terraform_version variables planned_values resource_changes resource_drift output_changes raw"),
    "tfconfig": ("tfconfig/v2", "mock-tfconfig-v2.sentinel", "providers resources provisioners variables outputs module_calls"),
    "tfstate": ("tfstate/v2", "mock-tfstate-v2.sentinel", "terraform_version outputs resources"),
}


def files(step, word, more=""):
    return {"main.tf": MAIN.format(step=step, more=more), "child/main.tf": CHILD, "other.tfstate": json.dumps(OTHER), "word.auto.tfvars": f'word = "{word}"\n'}


@pytest.fixture(scope="module")
def api(site):
    site.worker.options["provider_mirror"] = DEPS / "mirror"
    site.worker.restart()
    return site.api


@pytest.fixture(scope="module")
def run(api):
    """A run with changes of every kind: it waits at its policies."""
    workspace = api.workspace("mocked", auto_apply=True)
    api.wait_status(api.run_files(workspace, files("one", "first", GONE)), "applied")
    api.wait_status(api.run_files(workspace, files("two", "first", GONE)), "errored")  # what is replaced stays, deposed
    api.policy_set("sentinel", [api.policy("sentinel", "soft-mandatory", source, name) for name, source in POLICIES.items()], workspace)
    run = api.run_files(workspace, files("two", "second"))
    api.wait_status(run, "policy_override")
    return run


@pytest.fixture(scope="module")
def bundle(api, run, tmp_path_factory):
    """The folder of the run's mocks, and of its plan."""
    body = {"data": {"type": "plan-exports", "attributes": {"data-type": "sentinel-mock-bundle-v0"}, "relationships": {"plan": {"data": {"type": "plans", "id": api.sibling(run, "plan")}}}}}
    exported = api.post("plan-exports", body).data["id"]
    folder = tmp_path_factory.mktemp("bundle")
    untar_gz(api.get(f"plan-exports/{exported}/download").body, folder)
    return folder


def runyard_policy(*arguments, folder, code=0):
    done = subprocess.run([program("runyard-policy"), *arguments], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_plan_has_changes_of_every_kind(bundle):
    plan = json.loads((bundle / "plan.json").read_text())
    actions = {(tuple(change["change"]["actions"]), "deposed" in change, change["mode"]) for change in plan["resource_changes"]}
    assert {(("create",), False, "managed"), (("update",), False, "managed"), (("delete",), False, "managed"), (("delete",), True, "managed"), (("read",), False, "data"),
            (("no-op",), False, "managed")} <= actions, actions
    assert [drift["address"] for drift in plan["resource_drift"]] == ["time_rotating.expired"]


def test_the_mocks_give_the_verdicts_of_the_run(api, run, bundle, tmp_path):
    policies = api.policy_check(run)["attributes"]["result"]["sentinel"]["data"].popitem()[1]["policies"]
    verdicts = {one["policy"].partition("/")[2]: "errored" if one["error"] else "passed" if one["result"] else "failed" for one in policies}
    assert verdicts == {"passes": "passed", "fails": "failed", "undefined": "errored"}, json.dumps(policies)
    configuration = (bundle / "sentinel.hcl").read_text().replace('source = "', f'source = "{"../" * 2}mocks/')
    (tmp_path / "mocks").symlink_to(bundle)
    for name, source in POLICIES.items():
        (tmp_path / f"{name}.sentinel").write_text(source)
        (tmp_path / "test" / name).mkdir(parents=True)
        expected = {"passed": "", "failed": "test {\n  rules = { main = false }\n}\n", "errored": ""}[verdicts[name]]
        (tmp_path / "test" / name / "of_the_run.hcl").write_text(configuration + expected)
    result = json.loads(runyard_policy("test", "-json", folder=tmp_path, code=1))["policies"]
    found = {path: case for policy in result.values() for path, case in policy["cases"].items()}
    statuses = {path.split("/")[-2]: case["status"] for path, case in found.items()}
    assert statuses == {"passes": "PASS", "fails": "PASS", "undefined": "FAIL"}, result


@pytest.mark.parametrize("name", MEMBERS)
def test_each_import_equals_its_mock(bundle, tmp_path, name):
    """Deeply, and in the same order."""
    path, file, members = MEMBERS[name]
    lines = [f'print("{member}", real.{member} is mocked.{member}, json.marshal(real.{member}) is json.marshal(mocked.{member}))' for member in members.split()]
    (tmp_path / "compare.sentinel").write_text(f'import "json"\nimport "{path}" as real\nimport "mocked"\n' + "\n".join(lines) + "\nmain = true\n")
    (tmp_path / file).write_text((bundle / file).read_text())
    (tmp_path / "sentinel.hcl").write_text(f'mock "mocked" {{\n  module {{\n    source = "{file}"\n  }}\n}}\npolicy "compare" {{}}\n')
    printed = runyard_policy("eval", f"-plan={bundle / 'plan.json'}", "-policy=compare", folder=tmp_path)
    for member in members.split():
        assert f"{member} true true" in printed, printed


def test_tfrun_equals_its_mock(api, run, bundle, tmp_path):
    """The run's own policies see the same as the mock has."""
    tells = 'import "json"\nimport "tfrun"\nprint(json.marshal([{}]))\nmain = true\n'.format(
        ", ".join(f"tfrun.{name}" for name in "id created_at created_by message is_destroy refresh refresh_only replace_addrs speculative target_addrs project variables organization workspace".split()))
    (tmp_path / "tells.sentinel").write_text(tells)
    (tmp_path / "mock-tfrun.sentinel").write_text((bundle / "mock-tfrun.sentinel").read_text())
    (tmp_path / "sentinel.hcl").write_text('mock "tfrun" {\n  module {\n    source = "mock-tfrun.sentinel"\n  }\n}\npolicy "tells" {}\n')
    (mocked,) = [json.loads(line) for line in runyard_policy("eval", "-policy=tells", folder=tmp_path).splitlines() if line.strip().startswith('["run-')]
    workspace = api.get(f"runs/{run}").data["relationships"]["workspace"]["data"]["id"]
    api.act(run, "discard")
    api.policy_set("sentinel", [api.policy("sentinel", "advisory", tells, "tells")], workspace)
    again = api.run(workspace, api.get(f"runs/{run}").data["relationships"]["configuration-version"]["data"]["id"])
    api.wait_status(again, "policy_override")
    output = api.get(f"policy-checks/{api.policy_check(again)['id']}/output").text
    (told,) = [json.loads(line) for line in output.splitlines() if line.strip().startswith('["run-')]
    assert told[2:] == mocked[2:] and (mocked[0], told[0]) == (run, again)
