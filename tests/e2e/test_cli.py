# SPDX-License-Identifier: MPL-2.0
"""The terraform CLI with a cloud block, and with the older remote backend, against Runyard."""

import itertools
import shutil
import signal
import subprocess

import pytest

from support.process import clean_environment
from support.wait import until

pytestmark = pytest.mark.skipif(not shutil.which("terraform"), reason="there is no terraform here")
names = itertools.count(1)
BODY = """
variable "word" {
  default = "unset"
}

resource "terraform_data" "one" {
  input = var.word
}

output "word" {
  value = terraform_data.one.output
}
"""


class Cli:
    def __init__(self, site, folder, workspace, backend):
        self.folder = folder
        block = {
            "cloud": f'cloud {{\n    hostname     = "runyard.test"\n    organization = "acme"\n    workspaces {{\n      name = "{workspace}"\n    }}\n  }}',
            "remote": f'backend "remote" {{\n    hostname     = "runyard.test"\n    organization = "acme"\n    workspaces {{\n      name = "{workspace}"\n    }}\n  }}',
        }[backend]
        services = "\n".join(f'    "{name}" = "{site.scheduler.url}/api/v2/"' for name in ("tfe.v2", "tfe.v2.1", "tfe.v2.2", "state.v2"))
        (folder / "main.tf").write_text(f"terraform {{\n  {block}\n}}\n{BODY}")
        config = folder.with_suffix(".tfrc")
        config.write_text(f'host "runyard.test" {{\n  services = {{\n{services}\n  }}\n}}\ncredentials "runyard.test" {{\n  token = "{site.api.token}"\n}}\n')
        self.environment = clean_environment(TF_CLI_CONFIG_FILE=config, CHECKPOINT_DISABLE=1, TF_IN_AUTOMATION=1)

    def start(self, *arguments):
        return subprocess.Popen(["terraform", *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def run(self, *arguments, code=0):
        """What it printed."""
        running = self.start(*arguments)
        try:
            said, _ = running.communicate(timeout=90)
        finally:
            running.kill()
        assert running.returncode == code, said
        return said


@pytest.fixture
def cli(site, tmp_path, request):
    workspace = f"cli-{next(names)}"
    cli = Cli(site, tmp_path, workspace, getattr(request, "param", "cloud"))
    cli.workspace = workspace
    cli.run("init", "-no-color", "-input=false")
    return cli


def test_plan_apply_destroy(cli, site):
    planned = cli.run("plan", "-no-color", "-detailed-exitcode", code=2)
    assert "terraform_data.one will be created" in planned and "Plan: 1 to add, 0 to change, 0 to destroy." in planned
    applied = cli.run("apply", "-no-color", "-auto-approve", "-var", "word=told")
    assert "terraform_data.one: Creation complete" in applied and "Apply complete! Resources: 1 added" in applied and 'word = "told"' in applied
    assert cli.run("output", "-raw", "word") == "told"
    assert cli.run("state", "list").split() == ["terraform_data.one"]
    assert "No changes." in cli.run("plan", "-no-color", "-detailed-exitcode", "-var", "word=told")
    assert "Resources: 0 added, 0 changed, 1 destroyed." in cli.run("apply", "-destroy", "-no-color", "-auto-approve")
    assert cli.run("state", "list").split() == []
    runs = site.api.get("organizations/acme/runs", **{"filter[workspace_names]": cli.workspace}).data
    assert {run["attributes"]["source"] for run in runs} == {"terraform+cloud"}


def test_a_saved_plan(cli):
    cli.run("plan", "-no-color", "-out=saved")
    assert "terraform_data.one will be created" in cli.run("show", "-no-color", "saved")
    assert "Apply complete! Resources: 1 added" in cli.run("apply", "-no-color", "saved")


def test_a_configuration_that_is_wrong(cli):
    with open(cli.folder / "main.tf", "a") as file:
        file.write('output "wrong" {\n  value = nothing.there\n}\n')
    assert "Reference to undeclared resource" in cli.run("plan", "-no-color", code=1)


def test_an_interrupt_cancels_what_waits(cli, site):
    """Behind another run it waits in the queue until somebody presses Ctrl-C."""
    workspace = site.api.get(f"organizations/acme/workspaces/{cli.workspace}").data["id"]
    holder = site.api.run_files(workspace, {"main.tf": BODY})
    site.api.wait_status(holder, "planned")
    waiting = cli.start("apply", "-no-color", "-auto-approve")
    try:
        (run,) = until(lambda: [r["id"] for r in site.api.get(f"workspaces/{workspace}/runs").data if r["attributes"]["status"] == "pending"], "its run waits")
        waiting.send_signal(signal.SIGINT)
        said, _ = waiting.communicate(timeout=60)
    finally:
        waiting.kill()
    assert "successfully cancelled" in said
    site.api.wait_status(run, "canceled")
    site.api.act(holder, "discard")


@pytest.mark.parametrize("cli", ["remote"], indirect=True)
def test_the_remote_backend(cli):
    assert "Plan: 1 to add" in cli.run("plan", "-no-color")
    applied = cli.run("apply", "-no-color", "-auto-approve")
    assert "Apply complete! Resources: 1 added" in applied and '{"@level"' not in applied
    assert cli.run("state", "list").split() == ["terraform_data.one"]
