# SPDX-License-Identifier: MPL-2.0
"""terraform plan and apply in every form, with a cloud block and with the older remote backend: the requests to the
server, and the output."""

import itertools
import json
import re

import pytest

from support.runyard import Worker
from support.terraform import BODY

names = itertools.count(1)
both = pytest.mark.parametrize("block", ["cloud", "remote"])


def new_name():
    return f"runs-{next(names)}"


@both
def test_plan_apply_destroy(terraform, block):
    name = new_name()
    user = terraform(name, block)
    where = {"cloud": "Terraform Enterprise", "remote": "the remote backend"}[block]
    planned = user.run("plan", "-detailed-exitcode", code=2)
    assert user.engine.words(f"Running plan in {where}. Output will stream here.") in planned and f"https://runyard.test/app/acme/{name}/runs/run-" in planned
    assert f"{user.engine.title} v{user.engine.version}\non linux_amd64\nInitializing plugins and modules..." in planned
    assert planned.count("# terraform_data.one will be created") == 1 and planned.count("Plan: 1 to add, 0 to change, 0 to destroy.") == 1
    refusing = user.terminal("apply").expect('Do you want to perform these actions in workspace').expect("Enter a value:").type("no")
    assert "Apply discarded" in refusing.ended(1)
    agreeing = user.terminal("apply").expect("Enter a value:").type("yes")
    agreed = agreeing.ended()
    assert "terraform_data.one: Creation complete" in agreed and "Apply complete! Resources: 1 added, 0 changed, 0 destroyed." in agreed
    assert 'word = "unset"' in agreed and '"@level"' not in agreed
    assert "No changes. Your infrastructure matches the configuration." in user.run("plan", "-detailed-exitcode")
    destroyed = user.terminal("destroy").expect("Do you really want to destroy all resources in workspace").expect("Enter a value:").type("yes").ended()
    assert "terraform_data.one: Destruction complete" in destroyed and "Resources: 0 added, 0 changed, 1 destroyed." in destroyed
    runs = user.runs(name)
    assert [run["status"] for run in runs] == ["applied", "planned_and_finished", "applied", "discarded", "planned_and_finished"]
    assert [run["is-destroy"] for run in runs] == [True, False, False, False, False]
    assert {run["source"] for run in runs} <= {"terraform+cloud", "tfe-api"}


def test_no_color_prints_no_escape_sequences(terraform):
    user = terraform(new_name())
    coloured = user.terminal("plan")
    coloured.ended()
    assert "\x1b[32m+\x1b[0m" in coloured.colored
    plain = user.pipe("plan", "-no-color")
    assert "\x1b" not in plain and "  + resource \"terraform_data\" \"one\" {" in plain


def test_precedence_of_variables_in_applies_with_auto_approve(terraform):
    name = new_name()
    user = terraform(name)
    user.write("more.tfvars", 'word = "of the file"\n')
    assert 'word = "told"' in user.apply("-var", "word=told")
    assert 'word = "of the file"' in user.apply("-var-file=more.tfvars")
    assert 'word = "of the environment"' in user.run("apply", "-auto-approve", TF_VAR_word="of the environment")
    assert [run["variables"] for run in user.runs(name)] == [[{"key": "word", "value": f'"{word}"'}] for word in ("of the environment", "of the file", "told")]
    user.site.api.variable(user.workspace(name), "word", "of the workspace")
    user.write("here.auto.tfvars", 'word = "of the folder"\n')
    assert 'word = "of the workspace"' in user.apply()


def test_an_apply_without_input_leaves_the_run_to_be_confirmed(terraform):
    name = new_name()
    user = terraform(name)
    said = user.run("apply", "-input=false", code=1)
    assert "Apply not allowed" in said or "confirm" in said.lower()
    (run,) = user.runs(name)
    assert run["status"] == "planned" and run["actions"]["is-confirmable"]


def saving(user):
    if user.engine.is_before(terraform=(1, 6)):
        pytest.skip("this terraform can't save plans of a cloud block")
    return user


def test_a_saved_plan_is_shown_and_applied_once(terraform):
    name = new_name()
    user = saving(terraform(name))
    saved = user.run("plan", "-out=saved")
    assert "Saved the plan to: saved" in saved
    bookmark = json.loads((user.folder / "saved").read_text())
    assert (bookmark["remote_plan_format"], bookmark["hostname"]) == (1, "runyard.test")
    shown = user.run("show", "saved")
    assert "# terraform_data.one will be created" in shown and "Run status: planned and saved (confirmable)" in shown and "Workspace is unlocked" in shown
    document = json.loads(user.pipe("show", "-json", "saved"))
    assert document["format_version"] == "1.2" and document["planned_values"]["root_module"]["resources"][0]["address"] == "terraform_data.one"
    assert user.runs(name)[0]["status"] == "planned_and_saved"
    assert "Apply complete! Resources: 1 added" in user.run("apply", "saved")
    assert "Saved plan is already applied" in user.run("apply", "saved", code=1)
    assert "Run status: applied" in user.run("show", "saved")


def test_a_discarded_saved_plan_is_not_applied(terraform):
    name = new_name()
    user = saving(terraform(name))
    user.run("plan", "-out=saved")
    run = json.loads((user.folder / "saved").read_text())["run_id"]
    user.site.api.act(run, "discard")
    assert "Saved plan is discarded" in user.run("apply", "saved", code=1)


@both
def test_target_replace_and_refresh_options(terraform, block):
    name = new_name()
    user = terraform(name, block, body=BODY + 'resource "terraform_data" "two" {\n}\n')
    assert "Resource targeting is in effect" in user.apply("-target=terraform_data.one")
    assert user.runs(name)[0]["target-addrs"] == ["terraform_data.one"]
    assert user.run("state", "list").split() == ["terraform_data.one"]
    replaced = user.run("plan", "-replace=terraform_data.one", "-refresh=false")
    assert "# terraform_data.one will be replaced, as requested" in replaced and "Refreshing state" not in replaced
    run = user.runs(name)[0]
    assert (run["replace-addrs"], run["refresh"], run["refresh-only"]) == (["terraform_data.one"], False, False)
    only = user.run("plan", "-refresh-only")
    assert "Your infrastructure still matches the configuration." in only and user.runs(name)[0]["refresh-only"]


def test_refresh_is_a_refresh_only_run_with_auto_apply(terraform):
    name = new_name()
    user = terraform(name)
    user.apply()
    assert "Your infrastructure still matches the configuration." in user.run("refresh")
    run = user.runs(name)[0]
    assert run["refresh-only"] and run["auto-apply"] and run["status"] == "planned_and_finished"


def test_unsupported_options_of_the_remote_backend_are_reported(terraform):
    user = terraform(new_name(), "remote")
    assert "Run variables are currently not supported" in user.run("plan", "-var", "word=x", code=1)
    assert "Saving a generated plan is currently not supported" in user.run("plan", "-out=saved", code=1)
    assert user.engine.words("Use \"terraform apply -refresh-only\" instead") in user.run("refresh", code=1)


@both
def test_an_invalid_configuration_shows_the_engines_error(terraform, block):
    name = new_name()
    user = terraform(name, block)
    user.write("wrong.tf", 'output "wrong" {\n  value = nothing.there\n}\n')
    said = user.run("plan", code=1)
    assert "Reference to undeclared resource" in said and "on wrong.tf line 2" in said
    assert user.runs(name)[0]["status"] == "errored"


def test_a_failed_apply_shows_the_provisioners_error(terraform):
    body = 'resource "terraform_data" "one" {\n  provisioner "local-exec" {\n    command = "echo said aloud; exit 3"\n  }\n}\n'
    user = terraform(new_name(), body=body)
    said = user.run("apply", "-auto-approve", code=1)
    assert "# terraform_data.one will be created" in said and "(local-exec): said aloud" in said
    assert "Error: local-exec provisioner error" in said and "Error running command 'echo said aloud; exit 3': exit status 3." in said


def test_the_working_directory_of_the_workspace_is_used(terraform):
    """The archive contains the whole tree, and the run uses the user's folder in it."""
    name = new_name()
    user = terraform(name)
    user.site.api.patch(f"workspaces/{user.workspace(name)}", {"data": {"type": "workspaces", "attributes": {"working-directory": "user-1"}}})
    assert "Plan: 1 to add" in user.run("plan")


def test_output_shows_no_sensitive_values(terraform):
    body = 'variable "secret" {\n  sensitive = true\n}\nresource "terraform_data" "one" {\n  input = var.secret\n}\n' \
           'output "secret" {\n  value = terraform_data.one.output\n  sensitive = true\n}\n'
    name = new_name()
    user = terraform(body=body)
    user.settings("cloud", name=name)
    user.init()
    user.site.api.variable(user.workspace(name), "secret", "never-shown", sensitive=True)
    applied = user.apply()
    assert "(sensitive value)" in applied and "secret = (sensitive value)" in applied and "never-shown" not in applied
    assert "never-shown" not in user.run("output") and user.pipe("output", "-raw", "secret") == "never-shown"
    assert json.loads(user.pipe("output", "-json"))["secret"]["value"] == "never-shown"


def test_plan_with_json_prints_the_version(terraform):
    """-json applies to the local engine: of a remote run only the version is JSON."""
    user = terraform(new_name())
    lines = user.pipe("plan", "-json", "-no-color").splitlines()
    assert json.loads(lines[0])["type"] == "version" and re.search(r"^Plan: 1 to add", "\n".join(lines), re.M)


def test_configuration_is_generated_for_an_import(terraform):
    user = terraform(new_name(), body='import {\n  to = terraform_data.imported\n  id = "an-id"\n}\n')
    said = user.run("plan", "-generate-config-out=generated.tf")
    told = "Terraform has generated configuration and written it to generated.tf."
    assert "1 to import" in said and (user.engine.is_before(terraform=(1, 6)) or user.engine.words(told) in said)
    assert 'resource "terraform_data" "imported" {' in (user.folder / "generated.tf").read_text()
    assert "1 imported" in user.apply()


@pytest.fixture
def pool(site):
    """A pool of the organization, with a worker."""
    api = site.api
    identity = api.post("organizations/acme/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": "cli"}}}).data["id"]
    token = api.post(f"agent-pools/{identity}/authentication-tokens", {"data": {"type": "agent-tokens", "attributes": {"description": "a worker's"}}}).data["attributes"]["token"]
    worker = Worker("worker-2", site.folder, **{**site.worker.options, "agent_token": token, "name": "worker-2", "data_dir": site.folder / "worker-2"})
    worker.start()
    yield identity
    worker.release()


def test_a_run_in_agent_mode_uses_a_worker_of_its_pool(terraform, site, pool):
    """The CLI's output is the same as in remote mode."""
    user = terraform(new_name())
    body = {"data": {"type": "workspaces", "attributes": {"execution-mode": "agent", "agent-pool-id": pool}}}
    site.api.patch(f"workspaces/{user.workspace(user.name)}", body)
    assert "Apply complete! Resources: 1 added" in user.apply()
    assert user.run("state", "list").split() == ["terraform_data.one"]
    (run,) = site.api.get(f"workspaces/{user.workspace(user.name)}/runs").data
    details = site.api.attributes(f"plans/{site.api.sibling(run['id'], 'plan')}")["execution-details"]
    assert (details["mode"], details["agent-name"]) == ("agent", "worker-2")
