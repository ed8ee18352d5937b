# SPDX-License-Identifier: MPL-2.0
"""Values of sensitive variables and parameters do not appear in what policies print, nor in their traces and errors."""

import json
import shutil

import pytest

from support.wait import until

pytestmark = pytest.mark.skipif(not shutil.which("opa"), reason="opa is not installed")

FILES = {"main.tf": """
variable "password" {
  sensitive = true
}
variable "account" {}
variable "environment" {}
resource "terraform_data" "uses" {
  input = [var.password, var.account.login, var.account.keys[0], var.environment]
}
output "account" {
  value     = var.account
  sensitive = true
}
"""}
# Each is the value of a variable or of a parameter, or a part of it.
PLAIN, LOGIN, KEY, ENV, PARAMETER = "plain-secret-1", "login-secret-2", "key \"quoted\" <secret-3>", "env-secret-4", "parameter-secret-5"
SECRETS = PLAIN, LOGIN, KEY, ENV, PARAMETER
TELLS = """# Shows all that it can read.
import "tfplan/v2" as tfplan
import "tfstate/v2" as tfstate
import "tfconfig/v2" as tfconfig
import "json"

param word

print(tfplan.variables)
print(json.marshal(tfplan.raw))
print(tfstate.resources, tfconfig.resources)
print("word", word)
uses = tfplan.resource_changes["terraform_data.uses"].change.after.input
values = rule { uses }
main = rule { uses[0] is word and values }
"""
FAILS = """import "tfplan/v2" as tfplan
param word
error("it can't go on with", word, tfplan.variables.password.value, tfplan.variables.account.value)
main = true
"""
TELLS_OPA = """package p
import rego.v1
deny contains msg if {
	print(input.plan, data.parameters)
	msg := sprintf("%v %v %v", [input.plan.variables, data.parameters.word, input.plan.resource_changes[0].change.after])
}
"""


@pytest.fixture
def told(scheduler, worker, api):
    """The documents of the API about a run with all of these policies, and its id."""
    worker()
    workspace = api.workspace()
    api.variable(workspace, "password", PLAIN, sensitive=True)
    api.variable(workspace, "account", json.dumps({"login": LOGIN, "keys": [KEY]}), hcl=True, sensitive=True)
    api.variable(workspace, "TF_VAR_environment", ENV, category="env", sensitive=True)
    for kind, policies in (("sentinel", [("advisory", TELLS), ("advisory", FAILS)]), ("opa", [("advisory", TELLS_OPA)])):
        made = api.policy_set(kind, [api.policy(kind, *policy) for policy in policies], workspace)
        api.post(f"policy-sets/{made}/parameters", {"data": {"type": "vars", "attributes": {"key": "word", "value": PARAMETER, "category": "policy-set", "sensitive": True}}})
    run = api.run_files(workspace, FILES)
    api.wait_status(run, "policy_checked")
    check = api.policy_check(run)
    stage = api.task_stages(run)["post_plan"]["relationships"]["policy-evaluations"]["data"][0]["id"]
    return {
        "check": json.dumps(check), "output": api.get(f"policy-checks/{check['id']}/output").text,
        "outcomes": until(lambda: api.get(f"policy-evaluations/{stage}/policy-set-outcomes").text, "the outcomes"),
    }


def test_no_secret_is_shown(told):
    for name, text in told.items():
        shown = [secret for secret in SECRETS if secret in text or json.dumps(secret)[1:-1] in text or json.dumps(json.dumps(secret)[1:-1])[1:-1] in text]
        assert not shown, (name, text)
    assert "terraform_data.uses" in told["output"] and "it can't go on with (sensitive value) (sensitive value)" in told["output"]
    assert "word (sensitive value)" in told["output"] and "(sensitive value)" in told["outcomes"]
