# SPDX-License-Identifier: MPL-2.0
"""terraform.workspace is the full name of the run's workspace, in every command of a run."""

import io
import json
import os
import subprocess
import tarfile

import pytest

from support.api import tar_gz
from support.engine import each_engine
from support.fake_worker import FakeWorker

pytestmark = each_engine()

READER = {"main.tf": """
resource "terraform_data" "one" {
  input = terraform.workspace
  provisioner "local-exec" {
    command = "echo in ${terraform.workspace}, as $TF_WORKSPACE says"
  }
}

output "word" {
  value = terraform.workspace
}
"""}


def outputs(api, workspace):
    return {name: output["value"] for name, output in api.state(workspace)["outputs"].items()}


@pytest.mark.parametrize("name", ["network-prod_eu", "default"])
def test_plan_and_apply_read_the_full_name(api, worker, name):
    worker()
    workspace = api.workspace(name, auto_apply=True)
    run = api.run_files(workspace, READER)
    api.wait_status(run, "applied")
    assert outputs(api, workspace) == {"word": name} and api.resources(workspace) == ["terraform_data.one"]
    assert f"in {name}, as {name} says" in api.log(run, "apply")
    assert api.plan_json(run)["planned_values"]["outputs"]["word"]["value"] == name
    second = api.run(workspace)
    assert api.wait_status(second, "planned_and_finished"), "the state of the first run is the second one's"


def test_workspaces_that_share_an_init_have_their_own_names(api, worker):
    """The second plan uses the result of the first one's init."""
    worker()
    for name in ("first", "second"):
        workspace = api.workspace(name, auto_apply=True)
        api.wait_status(api.run_files(workspace, READER), "applied")
        assert outputs(api, workspace) == {"word": name}


def test_a_state_file_in_the_configuration_is_ignored(api, worker):
    """A local workspace left the file in the uploaded folder earlier."""
    worker()
    stray = json.dumps({"version": 4, "terraform_version": "1.0.0", "serial": 9, "lineage": "stray", "outputs": {}, "resources": []})
    workspace = api.workspace("strays", auto_apply=True)
    api.wait_status(api.run_files(workspace, {**READER, "terraform.tfstate.d/strays/terraform.tfstate": stray}), "applied")
    assert api.state(workspace)["lineage"] != "stray" and outputs(api, workspace) == {"word": "strays"}


def test_a_run_with_a_working_directory_reads_the_full_name(api, worker):
    worker()
    workspace = api.workspace("deep", auto_apply=True, working_directory="a/b")
    api.wait_status(api.run_files(workspace, {"a/b/main.tf": READER["main.tf"]}), "applied")
    assert outputs(api, workspace) == {"word": "deep"}


def test_policies_read_the_name_in_the_plan(api, worker):
    worker()
    workspace = api.workspace("judged", auto_apply=True)
    rego = 'package p\ndeny[name] {\n  name := input.plan.planned_values.outputs.word.value\n  name != "judged"\n}\n'
    api.policy_set("opa", [api.policy("opa", "mandatory", rego)], workspace)
    api.wait_status(api.run_files(workspace, READER), "applied")


# ---- during an upgrade of workers: the earlier version used the name "default" ----

OLD_OVERRIDE = 'terraform {\n  backend "local" {\n    path = "../state/terraform.tfstate"\n  }\n}\n'
BUNDLE = (".terraform.lock.hcl", ".terraform/terraform.tfstate")


def plan_of_earlier_version(engine, folder):
    """The results of an earlier version's worker for READER: the plan file, and the archive of its init."""
    config = folder / "config"
    config.mkdir()
    (folder / "state").mkdir()
    (config / "main.tf").write_text(READER["main.tf"])
    (config / "zz_runyard_override.tf").write_text(OLD_OVERRIDE)
    settings = {"PATH": os.environ["PATH"], "HOME": str(folder), "CHECKPOINT_DISABLE": "1"}
    for arguments in (["init", "-input=false"], ["plan", "-input=false", "-lock=false", f"-out={folder}/plan"]):
        subprocess.run([engine.path, *arguments], cwd=config, env=settings, check=True, capture_output=True)
    files = {name: (config / name).read_bytes() for name in BUNDLE if (config / name).exists()}
    return (folder / "plan").read_bytes(), tar_gz(files)


def test_a_plan_of_an_earlier_workers_version_is_applied_unchanged(api, worker, scheduler, tokens, tmp_path, engine):
    plan, init = plan_of_earlier_version(engine, tmp_path)
    workspace = api.workspace("waiting", auto_apply=False)
    fake_worker = FakeWorker(scheduler.all[0].url, tokens["agent-token"])
    run = api.run_files(workspace, READER)
    (job,) = fake_worker.claim()
    fake_worker.on(job, "PUT", "plan", plan)
    fake_worker.on(job, "PUT", "init", init)
    fake_worker.result(job, **{"terraform-version": engine.version})
    api.wait_status(run, "planned")
    worker()
    api.act(run, "apply")
    api.wait_status(run, "applied")
    assert outputs(api, workspace) == {"word": "default"}, "the name in the plan"
    api.wait_status(api.run(workspace, auto_apply=True), "applied")
    assert outputs(api, workspace) == {"word": "waiting"}


def test_an_earlier_workers_version_can_use_the_archive_of_init(api, worker, scheduler, tokens):
    """An earlier worker refuses a record of the backend that names a folder of workspaces."""
    one = worker()
    workspace = api.workspace("handed-on", auto_apply=False)
    run = api.run_files(workspace, READER)
    api.wait_status(run, "planned")
    one.stop()
    fake_worker = FakeWorker(scheduler.all[0].url, tokens["agent-token"])
    api.act(run, "apply")
    (job,) = fake_worker.claim()
    with tarfile.open(fileobj=io.BytesIO(fake_worker.on(job, "GET", "init").body)) as archive:
        record = json.load(archive.extractfile(".terraform/terraform.tfstate"))
    assert record["backend"]["config"] == {"path": "../state/terraform.tfstate", "workspace_dir": None}
