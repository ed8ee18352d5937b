# SPDX-License-Identifier: MPL-2.0
"""A workspace from a no-code module: planned, applied, and upgraded to another version of the module."""

import pytest

from support.documents import document
from support.engine import each_engine
from support.modules import Modules
from support.wait import until

pytestmark = each_engine()

NAME = "no-code-greeting"


def files(version):
    """Version 2 greets more."""
    return {"main.tf": f"""
variable "word" {{
  type = string
}}

variable "times" {{
  type    = number
  default = 1
}}

variable "secret" {{
  type      = string
  default   = "unknown"
  sensitive = true
}}

output "secret" {{
  value     = var.secret
  sensitive = true
}}

output "count" {{
  value = var.times
}}

resource "terraform_data" "greeting" {{
  count = var.times
  input = "{version} ${{var.word}}"
}}
"""}


def values(api, workspace):
    return sorted(instance["attributes"]["input"]["value"] for resource in api.state(workspace)["resources"] for instance in resource["instances"])


def variables(**given):
    return {"vars": {"data": [{"type": "vars", "attributes": {"key": key, "value": value, "category": "terraform"}} for key, value in given.items()]}}


@pytest.fixture
def no_code(site):
    """The id of a no-code module with two versions, which provisions the first one."""
    modules, api = Modules(site.api), site.api
    if not modules.names(q=NAME):
        for version in ("1.0.0", "2.0.0"):
            modules.publish(NAME, version, files(version))
            inspected = f"registry-modules/{modules.read(NAME)['id']}/description"
            until(lambda: api.get(inspected, module_version=version).data["attributes"]["root"], "the version is inspected")
    link = {"registry-module": {"data": {"type": "registry-modules", "id": modules.read(NAME)["id"]}},
            "variable-options": {"data": [{"type": "variable-options", "attributes": {"variable-name": "word", "variable-type": "string", "options": ["hello", "bye"]}}]}}
    made = api.post(f"organizations/{api.organization}/no-code-modules", document("no-code-modules", {"version-pin": "1.0.0"}, **link)).data["id"]
    yield made
    api.delete(f"no-code-modules/{made}")


def test_a_workspace_is_made_applied_and_upgraded(site, no_code, engine):
    api = site.api
    body = document("workspaces", {"name": f"no-code-{engine.program}", "auto-apply": True}, **variables(word="hello", times="2"))
    workspace = api.post(f"no-code-modules/{no_code}/workspaces", body).data["id"]
    (run,) = [each["id"] for each in api.get(f"workspaces/{workspace}/runs").data]
    api.wait_status(run, "applied")
    assert values(api, workspace) == ["1.0.0 hello"] * 2
    outputs = {each["attributes"]["name"]: each["attributes"] for each in api.get(f"workspaces/{workspace}/current-state-version-outputs").data}
    assert outputs["count"]["value"] == 2 and outputs["secret"]["sensitive"]
    api.patch(f"no-code-modules/{no_code}", document("no-code-modules", {"version-pin": "2.0.0"}))
    assert api.attributes(f"workspaces/{workspace}")["no-code-upgrade-available"]
    path = f"no-code-modules/{no_code}/workspaces/{workspace}/upgrade"
    upgrade = api.post(path, document("workspaces", {}, **variables(word="bye"))).data["id"]
    api.wait_status(upgrade, "planned")
    assert values(api, workspace) == ["1.0.0 hello"] * 2  # it waits, although the workspace applies by itself
    assert api.get(f"{path}/{upgrade}").data["attributes"]["status"] == "planned"
    api.post(f"{path}/{upgrade}", {"data": {"attributes": {"message": "go on"}}})
    api.wait_status(upgrade, "applied")
    assert values(api, workspace) == ["2.0.0 bye"] * 2
    shown = api.attributes(f"workspaces/{workspace}")
    assert shown["source-module-id"].endswith("/2.0.0") and not shown["no-code-upgrade-available"]
