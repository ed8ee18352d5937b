# SPDX-License-Identifier: MPL-2.0
"""A no-code workspace of a module without a block `provider`, whose provider is configured by sets. The configuration is visible
in the plan's JSON: the version that a set wants of the provider."""

import pytest

from support.documents import document, linkage
from support.engine import each_engine
from support.modules import Modules
from support.wait import until

pytestmark = each_engine()

NAME = "no-code-clock"
CLOCK = """
variable "word" {
  type    = string
  default = "tick"
}

resource "time_static" "now" {
  triggers = {
    word = var.word
  }
}

output "at" {
  value = time_static.now.unix
}
"""


def wants(version):
    return f'provider "time" {{\n  version = "{version}"\n}}\n'


@pytest.fixture
def no_code(api, worker):
    """The id of a no-code module."""
    worker()
    modules = Modules(api)
    modules.publish(NAME, "1.0.0", {"main.tf": CLOCK})
    inspected = f"registry-modules/{modules.read(NAME)['id']}/description"
    until(lambda: api.get(inspected, module_version="1.0.0").data["attributes"]["root"], "the version is inspected")
    link = {"registry-module": {"data": {"type": "registry-modules", "id": modules.read(NAME)["id"]}}}
    return api.post(f"organizations/{api.organization}/no-code-modules", document("no-code-modules", {}, **link)).data["id"]


def create(api, name, configuration, places=None, **attributes):
    attributes = {"name": name, "provider-source": "registry.terraform.io/hashicorp/time", "configuration-hcl": configuration, **attributes}
    relations = {kind: {"data": linkage(kind, *ids)} for kind, ids in (places or {}).items()}
    return api.post(f"organizations/{api.organization}/provider-sets", document("provider-sets", attributes, **relations)).data["id"]


def wanted(api, run):
    """The version that the run's configuration of the provider wants."""
    return api.plan_json(run)["configuration"]["provider_config"]["time"].get("version_constraint")


def finished(api, run):
    api.wait_status(run, {"applied", "planned_and_finished"})
    return run


def test_a_run_has_the_configuration_of_the_strongest_set(api, no_code, engine):
    everywhere = create(api, "everywhere", wants(">= 0.9.0"), **{"global": True})
    workspace = api.post(f"no-code-modules/{no_code}/workspaces", document("workspaces", {"name": f"clock-{engine.program}", "auto-apply": True})).data["id"]
    (first,) = [each["id"] for each in api.get(f"workspaces/{workspace}/runs").data]
    assert wanted(api, finished(api, first)) == ">= 0.9.0"
    create(api, "here", wants(">= 0.10.0"), {"workspaces": [workspace]})
    assert wanted(api, finished(api, api.run(workspace))) == ">= 0.10.0"
    api.patch(f"provider-sets/{everywhere}", document("provider-sets", {"priority": True, "configuration-hcl": wants(">= 0.11.0")}))
    assert wanted(api, finished(api, api.run(workspace))) == ">= 0.11.0"
    api.patch(f"provider-sets/{everywhere}", document("provider-sets", {"configuration-hcl": 'provider "time" {}\nresource "terraform_data" "mine" {}\n'}))
    broken = api.run(workspace)
    error = api.wait_status(broken, "errored")["error"]
    assert 'The provider set "everywhere" can\'t be used: line 2: a provider set is one block' in error
    api.patch(f"provider-sets/{everywhere}", document("provider-sets", {"configuration-hcl": wants(">= 99")}))
    unmet = api.run(workspace)
    api.wait_status(unmet, "errored")
    finished(api, api.run_files(api.workspace(auto_apply=True), {"main.tf": 'resource "time_static" "now" {}\n'}))  # no set applies to it
    api.delete(f"provider-sets/{everywhere}")
    destroy = api.run(workspace, is_destroy=True)
    assert wanted(api, finished(api, destroy)) == ">= 0.10.0"
    assert api.resources(workspace) == []
