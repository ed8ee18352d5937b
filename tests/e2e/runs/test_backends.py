# SPDX-License-Identifier: MPL-2.0
# label: extended
"""A configuration must not change where the state is stored: another backend is refused before the plan, and an apply
that writes no state holds the workspace."""

import json

import pytest

from support.wait import until

MAIN = {"main.tf": 'resource "terraform_data" "one" {\n  input = "%s"\n}\n' % "kept"}


def native(body):
    return "terraform {\n%s}\n" % body


ELSEWHERE = '  backend "local" {\n    path = "elsewhere.tfstate"\n  }\n'

VARIANTS = {
    "another-path": {"zzz_override.tf": native(ELSEWHERE)},
    "no-path": {"zzz_override.tf": native('  backend "local" {\n  }\n')},
    "another-type": {"zzz_override.tf": native('  backend "inmem" {\n  }\n')},
    "a-folder-of-workspaces": {"zzz_override.tf": native('  backend "local" {\n    path = "../state/terraform.tfstate"\n    workspace_dir = "elsewhere"\n  }\n')},
    "json": {"zzz_override.tf.json": json.dumps({"terraform": {"backend": {"local": {"path": "elsewhere.tfstate"}}}})},
    "json-of-the-workers-name": {"zz_runyard_override.tf.json": json.dumps({"terraform": {"backend": {"local": {"path": "elsewhere.tfstate"}}}})},
    "json-with-escapes": {"zzz_override.tf.json": '{"terr\\u0061form": {"b\\u0061ckend": {"local": {}}}}'},
    "beside-a-backend": {"zzz_override.tf": native(ELSEWHERE), "backend.tf": native('  backend "local" {\n    path = "third.tfstate"\n  }\n')},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_another_backend_is_refused_before_the_plan(api, worker, variant):
    worker()
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, MAIN), "applied")
    serial = api.state(workspace)["serial"]
    run = api.run_files(workspace, {**MAIN, **VARIANTS[variant], "more.tf": 'resource "terraform_data" "two" {}\n'})
    error = api.wait_status(run, "errored")["error"]
    named = [name for name in VARIANTS[variant] if "override" in name]
    assert all(name in error for name in named) and "backend" in error, error
    assert "Terraform will perform" not in api.log(run) and "planned_change" not in api.log(run)
    assert api.state(workspace)["serial"] == serial
    api.wait_status(api.run_files(workspace, {**MAIN, "more.tf": 'resource "terraform_data" "two" {}\n'}), "applied")
    assert api.resources(workspace) == ["terraform_data.one", "terraform_data.two"]


def test_a_cloud_block_in_an_override_is_refused(api, worker):
    """init fails by itself if the host can't be reached. In either case the run ends without a plan."""
    worker()
    workspace = api.workspace(auto_apply=True)
    cloud = native('  cloud {\n    hostname = "127.0.0.1"\n    organization = "x"\n    workspaces {\n      name = "y"\n    }\n  }\n')
    assert api.wait_status(api.run_files(workspace, {**MAIN, "zzz_override.tf": cloud}), "errored")["error"]
    api.wait_status(api.run_files(workspace, MAIN), "applied")


def test_ordinary_backends_and_overrides_are_replaced(api, worker):
    worker()
    workspace = api.workspace(auto_apply=True)
    files = {**MAIN, "backend.tf": native(ELSEWHERE), "override.tf": native('  backend "inmem" {\n  }\n'), "dev_override.tf.json": json.dumps({"terraform": {"backend": {"local": {}}}})}
    api.wait_status(api.run_files(workspace, files), "applied")
    assert api.resources(workspace) == ["terraform_data.one"]


def lock_reason(api, workspace):
    return api.attributes(f"workspaces/{workspace}")["locked-reason"] or ""


@pytest.mark.parametrize("option", ["-state-out=/tmp/elsewhere.tfstate", "-state=/tmp/elsewhere.tfstate"])
def test_an_apply_that_writes_no_state_holds_the_workspace(api, worker, option):
    """terraform prints "Apply complete!", but the resources would be in no state."""
    one = worker()
    workspace = api.workspace(auto_apply=True)
    variable = api.variable(workspace, "TF_CLI_ARGS_apply", option, category="env")
    run = api.run_files(workspace, MAIN)
    error = api.wait_status(run, "errored")["error"]
    assert "no state" in error and "held" in error, error
    assert lock_reason(api, workspace).startswith(f"Held after {run}")
    api.delete(f"workspaces/{workspace}/vars/{variable}")
    next_run = api.run(workspace)
    one.restart()
    assert lock_reason(api, workspace) and api.status(next_run) == "pending"
    api.post(f"workspaces/{workspace}/actions/force-unlock")
    api.wait_status(next_run, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]


@pytest.fixture
def short(scheduler):
    return scheduler(lease_seconds=3)


@pytest.mark.parametrize("json_log", [True, False], ids=["json", "plain"])
def test_a_worker_killed_in_an_apply_that_writes_no_state_holds_the_workspace(short, api, worker, gate, json_log):
    """The next worker with its folder finds no state there. It lists the resources that the engine reported."""
    one = worker(sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True, structured_run_output_enabled=json_log)
    variable = api.variable(workspace, "TF_CLI_ARGS_apply", "-state-out=/tmp/elsewhere.tfstate", category="env")
    run = api.run_files(workspace, {"main.tf": f"""
resource "terraform_data" "first" {{}}
resource "terraform_data" "one" {{
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{
    command = "{gate.command}"
  }}
}}
"""})
    gate.wait()
    until(lambda: list(one.options["data_dir"].glob("jobs/*/changed")), "the worker has recorded a change")
    one.restart(kill=True)
    assert "is held" in api.wait_status(run, "errored")["error"]
    resources = api.get(f"runs/{run}/unrecorded-resources").data
    assert [resource["attributes"]["address"] for resource in resources] == ["terraform_data.first"]
    api.delete(f"workspaces/{workspace}/vars/{variable}")
    next_run = api.run_files(workspace, MAIN)
    until(lambda: one.ready() and not list(one.options["data_dir"].glob("unsent/*")), "the worker has no unsent state")
    assert lock_reason(api, workspace).startswith(f"Held after {run}") and api.status(next_run) == "pending"
    api.post(f"workspaces/{workspace}/actions/force-unlock")
    api.wait_status(next_run, "applied")


def test_an_apply_without_resource_changes_does_not_hold_the_workspace(api, worker):
    worker()
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, MAIN), "applied")
    output = {**MAIN, "outputs.tf": 'output "word" {\n  value = "new"\n}\n'}
    api.wait_status(api.run_files(workspace, output), "applied")
    api.wait_status(api.run(workspace, refresh_only=True), {"applied", "planned_and_finished"})
    api.wait_status(api.run(workspace, is_destroy=True, auto_apply=True), "applied")
    assert not lock_reason(api, workspace) and api.state(workspace)["resources"] == []
