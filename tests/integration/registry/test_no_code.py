# SPDX-License-Identifier: MPL-2.0
# label: quick
"""No-code modules: their settings, workspaces made from them, and upgrades of these."""

import io
import itertools
import tarfile

import pytest

from support.api import Api
from support.documents import document
from support.fake_worker import FakeWorker, description
from support.modules import Modules
from support.wait import until

numbers = itertools.count(1)
INPUTS = """
variable "word" {
  type = string
}

variable "size" {
  type    = number
  default = 3
}

output "said" {
  value = var.word
}
"""


@pytest.fixture
def modules(org):
    return Modules(org)


@pytest.fixture
def module(modules):
    """The id of a private module with two versions."""
    name = f"network-{next(numbers)}"
    for version in ("1.0.0", "1.1.0"):
        modules.publish(name, version, {"main.tf": INPUTS})
    return modules.read(name)["id"]


def settings(module, options=None, **attributes):
    relations = {"registry-module": {"data": {"type": "registry-modules", "id": module}}}
    if options is not None:
        relations["variable-options"] = {"data": [option(**each) if "variable_name" in each else each for each in options]}
    return document("no-code-modules", attributes, **relations)


def option(variable_name, options, variable_type="string", **more):
    return {"type": "variable-options", "attributes": {"variable-name": variable_name, "variable-type": variable_type, "options": options}, **more}


def create(org, module, options=None, **attributes):
    return org.post(f"organizations/{org.organization}/no-code-modules", settings(module, options, **attributes)).data


def workspace_of(name, variables=(), **attributes):
    items = [{"type": "vars", "attributes": {"category": "terraform", **each}} for each in variables]
    return document("workspaces", {"name": name, **attributes}, vars={"data": items})


def provision(org, no_code, name, variables=(), **attributes):
    return org.post(f"no-code-modules/{no_code}/workspaces", workspace_of(name, variables, **attributes)).data


def refused(answer, pointer=None, status=422):
    error = answer.json["errors"][0]
    assert answer.status == status, answer.text
    assert pointer is None or error["source"]["pointer"] == pointer, error
    return error["detail"]


def configuration(org, workspace):
    """main.tf of its current configuration version."""
    id = org.get(f"workspaces/{workspace}").data["relationships"]["current-configuration-version"]["data"]["id"]
    assert org.attributes(f"configuration-versions/{id}")["source"] == "tfe-module"
    answer = org.call("GET", f"configuration-versions/{id}/download")
    with tarfile.open(fileobj=io.BytesIO(answer.body)) as archive:
        assert archive.getnames() == ["main.tf"]
        return archive.extractfile("main.tf").read().decode()


def test_settings_are_created_read_changed_and_deleted(org, modules, module):
    made = create(org, module)
    assert made["attributes"] == {"enabled": True, "version-pin": None, "current-version": "1.1.0"}
    assert made["relationships"]["registry-module"]["data"] == {"type": "registry-modules", "id": module}
    name = next(iter(modules.names(q="network")))
    read = org.get(f"registry-modules/{module}").data
    assert read["attributes"]["no-code"] and read["relationships"]["no-code-modules"]["data"] == [{"type": "no-code-modules", "id": made["id"]}], name
    refused(org.call("POST", f"organizations/{org.organization}/no-code-modules", settings(module)), "/data/relationships/registry-module")
    changed = org.patch(f"no-code-modules/{made['id']}", document("no-code-modules", {"enabled": False, "version-pin": "1.0.0"})).data["attributes"]
    assert changed == {"enabled": False, "version-pin": "1.0.0", "current-version": "1.0.0"}
    assert not org.attributes(f"registry-modules/{module}")["no-code"]
    assert org.patch(f"no-code-modules/{made['id']}", settings(module)).data["attributes"] == changed
    assert org.patch(f"no-code-modules/{made['id']}", document("no-code-modules", {"version-pin": "latest"})).data["attributes"]["version-pin"] is None
    org.delete(f"no-code-modules/{made['id']}")
    assert org.call("GET", f"no-code-modules/{made['id']}").status == 404


def test_options_are_included_and_keep_their_ids(org, module):
    made = create(org, module, [{"variable_name": "word", "options": ["a", "b"]}, {"variable_name": "size", "options": [1, 2], "variable_type": "number"}])
    for name in ("variable_options", "variable-options"):
        included = org.get(f"no-code-modules/{made['id']}", include=name).json["included"]
        assert [(each["attributes"]["variable-name"], each["attributes"]["options"]) for each in included] == [("word", ["a", "b"]), ("size", [1, 2])]
    first = included[0]["id"]
    changed = org.patch(f"no-code-modules/{made['id']}", settings(module, [{"id": first, **option("word", ["c"])}])).data
    assert [each["id"] for each in changed["relationships"]["variable-options"]["data"]] == [first]
    assert org.call("GET", f"no-code-modules/{made['id']}?include=nonsense").status == 400


@pytest.mark.parametrize("options, at", [
    ([{"type": "variable-options"}], 0), ([option("a", "x")], 0), ([option("a", ["x"]), option("a", ["y"])], 1), ([option("a", ["x"] * 201)], 0), ([option("", ["x"])], 0),
])
def test_invalid_options_are_refused(org, module, options, at):
    refused(org.call("POST", f"organizations/{org.organization}/no-code-modules", settings(module, options)), f"/data/relationships/variable-options/data/{at}")


def test_invalid_modules_and_versions_are_refused(org, modules, module):
    base = f"organizations/{org.organization}/no-code-modules"
    refused(org.call("POST", base, settings("mod-0000000000000000")), "/data/relationships/registry-module")
    refused(org.call("POST", base, settings(module, **{"version-pin": "9.9.9"})), "/data/attributes/version-pin")
    public = org.post(modules.base, document("registry-modules", {"name": "vpc", "provider": "aws", "namespace": "terraform-aws-modules", "registry-name": "public"})).data["id"]
    refused(org.call("POST", base, settings(public)), "/data/relationships/registry-module")


def test_a_workspace_gets_variables_a_configuration_and_a_run(org, module):
    made = create(org, module, **{"version-pin": "1.0.0"})
    workspace = provision(org, made["id"], "made", [{"key": "word", "value": "hello"}, {"key": "KEY", "value": "secret", "category": "env", "sensitive": True}],
                          **{"auto-apply": True, "source-name": "portal", "source-url": "https://portal.example.com", "message": "for the team"})
    shown = workspace["attributes"]
    address = org.attributes(f"registry-modules/{module}")
    assert (shown["source"], shown["source-module-id"]) == ("tfe-module", f"private/{org.organization}/{address['name']}/null/1.0.0")
    assert (shown["auto-apply"], shown["source-name"], shown["no-code-upgrade-available"]) == (True, "portal", False)
    assert workspace["relationships"]["no-code-module"]["data"]["id"] == made["id"]
    variables = {each["attributes"]["key"]: each["attributes"] for each in org.get(f"workspaces/{workspace['id']}/vars").data}
    assert variables["word"]["value"] == "hello" and variables["KEY"]["sensitive"]
    main = configuration(org, workspace["id"])
    source = f"{org.url.split('//')[1]}/{org.organization}/{address['name']}/null"
    assert main == f'variable "word" {{\n}}\n\nmodule "this" {{\n  source  = "{source}"\n  version = "1.0.0"\n  word = var.word\n}}\n'  # its inputs are not known
    runs = org.get(f"workspaces/{workspace['id']}/runs").data
    assert [run["attributes"]["message"] for run in runs] == ["for the team"]


def test_nothing_stays_of_a_refused_workspace(org, module):
    made = create(org, module, [{"variable_name": "word", "options": ["a", "b"]}, {"variable_name": "size", "options": [1, 2]}])
    path = f"no-code-modules/{made['id']}/workspaces"
    pointer = "/data/relationships/vars/data/1/attributes/value"
    size = {"key": "size", "value": "2", "hcl": True}
    assert "word must be" in refused(org.call("POST", path, workspace_of("refused", [size, {"key": "word", "value": "c"}])), pointer)
    refused(org.call("POST", path, workspace_of("refused", [{"key": "size", "value": "3"}])), "/data/relationships/vars/data/0/attributes/value")
    refused(org.call("POST", path, workspace_of("refused", [{"key": "a b", "value": "3"}])), "/data/relationships/vars/data/0/attributes/key")
    refused(org.call("POST", path, workspace_of("refused", **{"execution-mode": "local"})), "/data/attributes/execution-mode")
    refused(org.call("POST", path, workspace_of("")), "/data/attributes/name")
    assert org.call("GET", f"organizations/{org.organization}/workspaces/refused").status == 404
    assert provision(org, made["id"], "taken", [size, {"key": "word", "value": "b"}])["id"]
    refused(org.call("POST", path, workspace_of("taken")), "/data/attributes/name")
    org.patch(f"no-code-modules/{made['id']}", document("no-code-modules", {"enabled": False}))
    assert "not enabled" in refused(org.call("POST", path, workspace_of("refused")))


def test_a_module_without_a_usable_version_makes_no_workspaces(org, modules):
    name = f"empty-{next(numbers)}"
    modules.create(name)
    made = create(org, modules.read(name)["id"])
    assert made["attributes"]["current-version"] is None
    assert "no version" in refused(org.call("POST", f"no-code-modules/{made['id']}/workspaces", workspace_of("refused")))


def test_its_configuration_comes_from_the_module_only(org, module):
    workspace = provision(org, create(org, module)["id"], "bound", [{"key": "word", "value": "x"}])["id"]
    answer = org.call("POST", f"workspaces/{workspace}/configuration-versions", document("configuration-versions", {}))
    assert "upgrade" in refused(answer, status=409)
    repository = {"vcs-repo": {"identifier": "group/project", "oauth-token-id": "ot-0000000000000000"}}
    refused(org.call("PATCH", f"workspaces/{workspace}", document("workspaces", repository)), "/data/attributes/vcs-repo")
    assert org.patch(f"workspaces/{workspace}", document("workspaces", {"description": "changed"})).data["attributes"]["description"] == "changed"


def test_an_upgrade_makes_a_run_that_needs_a_confirmation(org, module):
    made = create(org, module, **{"version-pin": "1.0.0"})
    workspace = provision(org, made["id"], "older", [{"key": "word", "value": "x"}], **{"auto-apply": True})["id"]
    run = org.get(f"workspaces/{workspace}/runs").data[0]["id"]
    org.post(f"runs/{run}/actions/cancel", {})
    org.patch(f"no-code-modules/{made['id']}", document("no-code-modules", {"version-pin": "1.1.0"}))
    assert org.attributes(f"workspaces/{workspace}")["no-code-upgrade-available"]
    path = f"no-code-modules/{made['id']}/workspaces/{workspace}/upgrade"
    upgrade = org.post(path, document("workspaces", {"message": "newer"}, vars={"data": [{"type": "vars", "attributes": {"key": "word", "value": "y", "category": "terraform"}}]})).data
    assert upgrade["type"] == "workspace-upgrade" and upgrade["attributes"]["plan-url"].endswith(upgrade["id"])
    assert 'version = "1.1.0"' in configuration(org, workspace)
    assert not org.attributes(f"workspaces/{workspace}")["no-code-upgrade-available"]
    assert not org.attributes(f"runs/{upgrade['id']}")["auto-apply"]
    assert [each["attributes"]["value"] for each in org.get(f"workspaces/{workspace}/vars").data] == ["y"]
    assert org.get(f"{path}/{upgrade['id']}").data["attributes"]["status"] == upgrade["attributes"]["status"]
    assert org.call("POST", f"{path}/{upgrade['id']}", {}).status == 409  # the plan is not there
    other = org.workspace("beside")
    assert org.call("POST", f"no-code-modules/{made['id']}/workspaces/{other}/upgrade", document("workspaces", {})).status == 404
    assert org.call("GET", f"no-code-modules/{made['id']}/workspaces/{other}/upgrade/{upgrade['id']}").status == 404
    org.delete(f"no-code-modules/{made['id']}")
    assert org.get(f"workspaces/{workspace}").data["relationships"]["no-code-module"]["data"] is None


def test_an_upgrade_to_another_module_changes_the_source_module(org, modules, module):
    made = create(org, module)
    workspace = provision(org, made["id"], "moved", [{"key": "word", "value": "x"}])["id"]
    name = f"other-{next(numbers)}"
    modules.publish(name, "2.0.0", {"main.tf": INPUTS})
    org.patch(f"no-code-modules/{made['id']}", settings(modules.read(name)["id"]))
    org.post(f"no-code-modules/{made['id']}/workspaces/{workspace}/upgrade", document("workspaces", {}))
    assert f"/{name}/null" in configuration(org, workspace)
    assert org.attributes(f"workspaces/{workspace}")["source-module-id"] == f"private/{org.organization}/{name}/null/2.0.0"


def test_a_module_is_created_with_no_code(org, modules):
    made = modules.create(f"at-once-{next(numbers)}", **{"no-code": True})
    assert made["attributes"]["no-code"] and len(made["relationships"]["no-code-modules"]["data"]) == 1


def test_organization_tokens_use_no_code_modules_but_do_not_decide_about_them(org, modules, module):
    """They provision nothing either: that starts a run."""
    made = create(org, module)
    token = org.post(f"organizations/{org.organization}/authentication-token").data["attributes"]["token"]
    client = Api(org.url, token, org.organization)
    assert client.get(f"no-code-modules/{made['id']}").data["id"] == made["id"]
    name = org.attributes(f"registry-modules/{module}")["name"]
    for method, path, body in (("PATCH", f"no-code-modules/{made['id']}", settings(module, enabled=False)), ("DELETE", f"no-code-modules/{made['id']}", None),
                               ("POST", f"no-code-modules/{made['id']}/workspaces", workspace_of("by-token", [{"key": "word", "value": "x"}])),
                               ("PATCH", modules.path(name), document("registry-modules", {"no-code": False})),
                               ("POST", modules.base, document("registry-modules", {"name": "by-token", "provider": "null", "no-code": True}))):
        assert client.call(method, path, body).status == 404, (method, path)
    assert org.attributes(f"registry-modules/{module}")["no-code"] and "by-token" not in modules.names()
    assert client.call("PATCH", modules.path(name), document("registry-modules", {"no-code": True})).status == 200  # changes nothing
    assert org.call("DELETE", f"organizations/{org.organization}/authentication-token").status == 204


def test_the_variables_of_a_version_have_the_values_that_are_allowed(org, api_site, module):
    made = create(org, module, [{"variable_name": "word", "options": ["a", "b"]}, {"variable_name": "size", "options": [1, 2], "variable_type": "number"}])
    path = f"no-code-modules/{made['id']}/versions/1.1.0/module-variables"
    assert org.call("GET", path).status == 404  # not inspected yet
    worker = FakeWorker(api_site.scheduler.url, api_site.tokens["agent-token"])
    inputs = [{"name": name, "type": kind, "description": f"The {name}", "default": default, "required": not default, "sensitive": False} for name, kind, default in (("word", "string", ""), ("size", "number", "3"))]

    def inspected():
        for job in worker.call("POST", "git/claim", {"worker": worker.id, "slots": 8, "kinds": ["module"]}, worker.token).json["jobs"]:
            worker.call("POST", f"git/jobs/{job['job']}/result", {"outcome": "done", "module": description("", inputs=inputs)}, job["token"])
        return org.call("GET", path).status == 200

    until(inspected, "the version is inspected")
    shown = {each["attributes"]["name"]: each["attributes"] for each in org.get(path).data}
    assert (shown["word"]["required"], shown["word"]["type"], shown["word"]["options"]) == (True, "string", ["a", "b"])
    assert (shown["size"]["required"], shown["size"]["options"]) == (False, ["1", "2"])
    assert org.call("GET", path.replace("1.1.0", "9.9.9")).status == 404
    assert api_site.stranger().call("GET", path).status == 404
