# SPDX-License-Identifier: MPL-2.0
"""Commands that read and write the state from the client, in every execution mode of the workspace; and runs in local
mode."""

import itertools
import json

import pytest

from support.engine import each_engine
from support.terraform import BODY, HOST

pytestmark = each_engine()
names = itertools.count(1)
modes = pytest.mark.parametrize("block, mode", [("cloud", "remote"), ("cloud", "local"), ("remote", "local")])
MORE = BODY + """
output "list" {
  value = ["a", 1]
}

output "hidden" {
  value     = "hush"
  sensitive = true
}
"""


@pytest.fixture
def applied(terraform):
    """A user whose workspace has a state, created in local mode, which is faster."""

    def make(block="cloud", mode="local", body=MORE):
        user = terraform(f"state-{next(names)}", block, body)
        user.mode(user.name, "local")
        user.apply()
        user.mode(user.name, mode)
        return user

    return make


@modes
def test_commands_that_read_the_state(applied, block, mode):
    user = applied(block, mode)
    assert user.run("state", "list").split() == ["terraform_data.one"]
    shown = user.run("state", "show", "terraform_data.one")
    assert 'resource "terraform_data" "one" {' in shown and 'output = "unset"' in shown
    assert 'word = "unset"' in user.run("show") and json.loads(user.pipe("show", "-json"))["values"]["outputs"]["word"]["value"] == "unset"
    assert json.loads(user.pipe("state", "pull"))["resources"][0]["name"] == "one"
    assert "provider[terraform.io/builtin/terraform]" in user.run("providers") and "terraform_data.one" in user.run("graph")
    printed = user.run("output")
    assert 'word = "unset"' in printed and "hidden = <sensitive>" in printed and "hush" not in printed
    assert user.pipe("output", "-raw", "word") == "unset" and user.pipe("output", "-raw", "hidden") == "hush"
    outputs = json.loads(user.pipe("output", "-json"))
    assert outputs["list"] == {"sensitive": False, "type": ["tuple", ["string", "number"]], "value": ["a", 1]}
    assert outputs["hidden"] == {"sensitive": True, "type": "string", "value": "hush"}
    assert 'Output "nothing" not found' in user.run("output", "nothing", code=1)


@modes
def test_commands_that_change_the_state(applied, block, mode):
    user = applied(block, mode)
    assert "Successfully moved 1 object(s)." in user.run("state", "mv", "terraform_data.one", "terraform_data.two")
    assert "Successfully moved 1 object(s)." in user.run("state", "mv", "terraform_data.two", "terraform_data.one")
    assert "has been marked as tainted" in user.run("taint", "terraform_data.one")
    assert "has been successfully untainted" in user.run("untaint", "terraform_data.one")
    replaced = user.run("state", "replace-provider", "-auto-approve", "terraform.io/builtin/terraform", "registry.terraform.io/some/other")
    assert "Successfully replaced provider for 1 resources." in replaced
    user.run("state", "replace-provider", "-auto-approve", "registry.terraform.io/some/other", "terraform.io/builtin/terraform")
    assert "Successfully removed 1 resource instance(s)." in user.run("state", "rm", "terraform_data.one")
    assert user.run("state", "list").split() == []
    assert "Import successful!" in user.run("import", "terraform_data.one", "an-id")
    assert 'id     = "an-id"' in user.run("state", "show", "terraform_data.one").replace("id = ", "id     = ")
    assert not user.site.api.get(f"workspaces/{user.workspace(user.name)}").data["attributes"]["locked"]


def test_import_reads_the_workspaces_variables(applied):
    user = applied(mode="remote")
    user.run("state", "rm", "terraform_data.one")
    user.write("needs.tf", 'variable "needed" {\n}\nvariable "sensitive" {\n}\n')
    user.site.api.variable(user.workspace(user.name), "needed", "x")
    user.site.api.variable(user.workspace(user.name), "sensitive", "x", sensitive=True)
    assert "Import successful!" in user.run("import", "-input=false", "terraform_data.one", "an-id")


@modes
def test_a_push_with_an_older_serial_is_refused(applied, block, mode):
    user = applied(block, mode)
    state = json.loads(user.pipe("state", "pull"))
    user.write("same.tfstate", json.dumps(state))
    user.run("state", "push", "same.tfstate")
    user.run("apply", "-auto-approve") if mode == "remote" else user.apply("-var", "word=other")
    older = {**state, "serial": 0}
    user.write("older.tfstate", json.dumps(older))
    assert "cannot import state with serial 0 over newer state" in user.run("state", "push", "older.tfstate", code=1)
    user.write("newer.tfstate", json.dumps({**state, "serial": 40}))
    user.run("state", "push", "newer.tfstate")
    assert json.loads(user.pipe("state", "pull"))["serial"] >= 40


def test_a_forced_push_replaces_the_lineage(applied):
    """The remote backend tells the server that the push is forced. The cloud block of this version does not."""
    user = applied("remote")
    state = json.loads(user.pipe("state", "pull"))
    user.apply("-var", "word=other")
    user.write("older.tfstate", json.dumps({**state, "serial": 0, "lineage": "another"}))
    user.run("state", "push", "-force", "older.tfstate")
    assert json.loads(user.pipe("state", "pull"))["lineage"] == "another"


def test_console_reads_the_state(applied):
    user = applied(mode="remote")
    console = user.terminal("console")
    console.expect("> ").type("terraform_data.one.output").expect('"unset"').expect("> ").type("exit").ended()
    assert user.pipe("console", stdin='upper("a")\n') == '"A"\n'


def test_plan_apply_and_destroy_in_local_mode(applied):
    user = applied()
    assert "Your infrastructure matches the configuration." in user.run("plan", "-detailed-exitcode")
    assert "Plan: 0 to add, 1 to change" in user.run("plan", "-detailed-exitcode", "-var", "word=x", "-out=saved", code=2)
    assert "# terraform_data.one will be updated in-place" in user.run("show", "saved")
    assert "Apply complete! Resources: 0 added, 1 changed" in user.run("apply", "saved")
    assert 'word = "x"' in user.run("refresh", "-var", "word=x")
    assert "Destroy complete! Resources: 1 destroyed." in user.terminal("destroy").expect("Enter a value:").type("yes").ended()
    assert user.runs(user.name) == [] and user.run("state", "list").split() == []


def test_a_locked_workspace_refuses_or_delays_local_commands(applied):
    user = applied()
    workspace = user.workspace(user.name)
    api = user.site.api
    api.post(f"workspaces/{workspace}/actions/lock", {"reason": "the test"})
    for command in (["apply", "-auto-approve"], ["taint", "terraform_data.one"], ["plan", "-lock-timeout=1s"]):
        assert "Error acquiring the state lock" in user.run(*command, code=1)
    assert "workspace already locked" in user.run("plan", code=1)
    assert "No changes." in user.run("plan", "-lock=false")
    waiting = user.terminal("plan", "-lock-timeout=60s").expect("Acquiring state lock. This may take a few moments...")
    api.post(f"workspaces/{workspace}/actions/unlock")
    assert "No changes." in waiting.ended()


def test_force_unlock_requires_the_lock_id_and_a_lock(applied):
    user = applied()
    user.site.api.post(f"workspaces/{user.workspace(user.name)}/actions/lock", {"reason": "the test"})
    lock = f"acme/{user.name}"
    assert "does not match existing lock ID" in user.run("force-unlock", "-force", "another", code=1)
    unlocked = user.terminal("force-unlock", lock).expect("Do you really want to force-unlock?").expect("Enter a value:").type("yes").ended()
    assert user.engine.words("Terraform state has been successfully unlocked!") in unlocked
    assert "workspace already unlocked" in user.run("force-unlock", "-force", lock, code=1)


@pytest.mark.parametrize("block", ["cloud", "remote"])
def test_init_migrates_a_local_state(terraform, block):
    user = terraform(body=MORE)
    user.init()
    user.apply()
    before = json.loads((user.folder / "terraform.tfstate").read_text())
    name = f"migrated-{next(names)}"
    user.settings(block, name=name)
    question = {"cloud": "Should Terraform migrate your existing state?", "remote": "Do you want to copy existing state to the new backend?"}[block]
    printed = user.terminal("init").expect(user.engine.words(question)).expect("Enter a value:").type("yes").ended()
    assert "successfully initialized!" in printed or "Successfully configured the backend" in printed
    after = json.loads(user.pipe("state", "pull"))
    assert after["resources"] == before["resources"]
    assert not user.site.api.get(f"workspaces/{user.workspace(name)}").data["attributes"]["locked"]
    assert user.site.api.attributes(f"workspaces/{user.workspace(name)}")["terraform-version"] == user.engine.version
    user.mode(name, "local")
    assert "No changes." in user.run("plan")


def test_a_local_run_reads_the_remote_state_of_another_workspace(applied, terraform):
    """terraform_remote_state from a local run: the user's own token reads the outputs."""
    source = applied()
    reader = terraform(f"state-{next(names)}", body=f'data "terraform_remote_state" "it" {{\n  backend = "remote"\n  config = {{\n    hostname = "{HOST}"\n    organization = "acme"\n'
                            f'    workspaces = {{\n      name = "{source.name}"\n    }}\n  }}\n}}\noutput "got" {{\n  value = data.terraform_remote_state.it.outputs.word\n}}\n')
    reader.mode(reader.name, "local")
    assert 'got = "unset"' in reader.apply()
