# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The values of variable sets in terraform, and the effects of an apply, with the real engine."""

import pytest

from support.api import dashed
from support.wait import until

NAMES = ("plain", "own", "given", "prior", "exported")
SAYS = "".join(f'variable "{name}" {{\n  default = "unset"\n}}\n\noutput "{name}" {{\n  value = var.{name}\n}}\n\n' for name in NAMES)
ONE = {"main.tf": SAYS + 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def api(site):
    return site.api


def varset(api, name, workspace, values, **attributes):
    """A variable set of the workspace with {key: value}; keys in capitals are environment variables."""
    variables = [{"type": "vars", "attributes": {"key": key, "value": value, "category": "env" if key.startswith("TF_") else "terraform"}}
                 for key, value in values.items()]
    relations = {"workspaces": {"data": [{"type": "workspaces", "id": workspace}]}, "vars": {"data": variables}}
    body = {"data": {"type": "varsets", "attributes": {"name": name, **dashed(attributes)}, "relationships": relations}}
    return api.post(f"organizations/{api.organization}/varsets", body).data["id"]


def outputs(api, workspace):
    return {name: output["value"] for name, output in api.state(workspace)["outputs"].items()}


def test_terraform_gets_the_value_with_the_highest_precedence(api):
    workspace = api.workspace(auto_apply=True)
    varset(api, "everything", workspace, {**dict.fromkeys(NAMES[:4], "set"), "TF_VAR_exported": "set"})
    api.variable(workspace, "own", "workspace")
    api.variable(workspace, "given", "workspace")
    api.variable(workspace, "prior", "workspace")
    varset(api, "first of all", workspace, {"prior": "priority set"}, priority=True)
    run = api.run_files(workspace, ONE, variables=[{"key": "given", "value": '"run"'}, {"key": "prior", "value": '"run"'}])
    api.wait_status(run, "applied")
    assert outputs(api, workspace) == {"plain": "set", "own": "workspace", "given": "run", "prior": "priority set", "exported": "set"}


def test_an_apply_triggers_a_run_of_another_workspace(api):
    source, target = api.workspace(auto_apply=True), api.workspace(auto_apply_run_trigger=True)
    api.upload(target, ONE)
    relations = {"sourceable": {"data": {"type": "workspaces", "id": source}}}
    api.post(f"workspaces/{target}/run-triggers", {"data": {"type": "run-triggers", "relationships": relations}})
    api.wait_status(api.run_files(source, ONE), "applied")
    (following,) = until(lambda: api.get(f"workspaces/{target}/runs").data, "the target has a run")
    api.wait_status(following["id"], "applied")
    assert api.resources(target) == ["terraform_data.one"]
