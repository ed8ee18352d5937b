# SPDX-License-Identifier: MPL-2.0
"""The apply gets the values of ephemeral input variables, which no plan file contains."""

import json

import pytest

from support.engine import each_engine

pytestmark = each_engine()


@pytest.fixture(autouse=True)
def supports_ephemeral_variables(engine):
    if engine.is_before(terraform=(1, 10), tofu=(1, 11)):
        pytest.skip(f"{engine.title} {engine.version} has no ephemeral variables")


def using(name, declaration):
    """The resource's provisioner reads the variable in the apply."""
    return {"main.tf": declaration + """
resource "terraform_data" "one" {
  provisioner "local-exec" {
    command     = "test \\"$VALUE\\" = 'a \\"quoted\\" value: hunter2'"
    environment = { VALUE = var.%s }
  }
}
""" % name}


VALUE = 'a "quoted" value: hunter2'
NATIVE = 'variable "secret" {\n  type      = string\n  ephemeral = true\n}\n'


@pytest.mark.parametrize("sensitive", [False, True])
def test_an_apply_gets_the_value_of_an_ephemeral_variable(site, sensitive):
    api = site.api
    workspace = api.workspace(auto_apply=True)
    api.variable(workspace, "secret", VALUE, sensitive=sensitive)
    run = api.run_files(workspace, using("secret", NATIVE))
    api.wait_status(run, "applied")
    assert "hunter2" not in json.dumps(api.state(workspace)) + api.log(run, "apply") + site.worker.process.log()


def test_precedence_of_ephemeral_variables_is_that_of_the_plan(site):
    """Variables that are not ephemeral keep the plan's values."""
    api = site.api
    workspace = api.workspace(auto_apply=False)
    ordinary = 'variable "number" {\n  type = number\n}\nvariable "list" {\n  description = "not ephemeral"\n  type = list(any)\n}\nvariable "exported" {\n  ephemeral = true\n}\n'
    api.variable(workspace, "secret", "weaker")
    api.variable(workspace, "number", "0.1")
    api.variable(workspace, "list", '[1e3, 0.30000000000000004, null]', hcl=True)
    api.variable(workspace, "unused", "undeclared")
    api.variable(workspace, "TF_VAR_exported", "x", category="env")
    run = api.run_files(workspace, using("secret", NATIVE + ordinary), variables=[{"key": "secret", "value": json.dumps(VALUE)}])
    api.wait_status(run, "planned")
    api.patch(f"workspaces/{workspace}/vars/{next(v['id'] for v in api.get(f'workspaces/{workspace}/vars').data if v['attributes']['key'] == 'number')}",
              {"data": {"type": "vars", "attributes": {"value": "0.2"}}})
    api.act(run, "apply")
    api.wait_status(run, "applied")
    assert "undeclared" not in api.log(run, "apply"), "the apply warns of no variable that it does not need"


@pytest.mark.parametrize("file, text", [
    ("variables.tf.json", json.dumps({"variable": {"secret": {"type": "string", "ephemeral": True}}})),
    ("variables.tf.json", json.dumps([{"variable": [{"secret": [{"ephemeral": True}]}]}])),
    ("late_override.tf", 'variable "secret" {\n  ephemeral = true\n}\n'),
])
def test_ephemeral_variables_are_declared_in_json_and_override_files(site, file, text):
    api = site.api
    workspace = api.workspace(auto_apply=True)
    api.variable(workspace, "secret", VALUE)
    plain = "" if "json" in file else 'variable "secret" {\n  type = string\n}\n'
    api.wait_status(api.run_files(workspace, {**using("secret", plain), file: text}), "applied")


def test_an_ephemeral_variable_with_null_stays_unset(site):
    api = site.api
    workspace = api.workspace(auto_apply=True)
    declared = 'variable "secret" {\n  ephemeral = true\n  default = "x"\n}\nresource "terraform_data" "one" {\n}\n'
    api.variable(workspace, "secret", " null ", hcl=True)
    api.wait_status(api.run_files(workspace, {"main.tf": declared}), "applied")


def test_a_destroy_gets_the_value_of_an_ephemeral_variable(site):
    api = site.api
    workspace = api.workspace(auto_apply=True)
    api.variable(workspace, "secret", VALUE)
    version = api.upload(workspace, using("secret", NATIVE))
    api.wait_status(api.run(workspace, version), "applied")
    api.wait_status(api.run(workspace, version, is_destroy=True, auto_apply=True), "applied")
    assert api.resources(workspace) == []
