# SPDX-License-Identifier: MPL-2.0
"""The CLI of an engine, terraform or tofu, as a user runs it: a folder, a configuration, a token, and a terminal or a
pipe."""

import json
import subprocess

from support.process import clean_environment
from support.terminal import Terminal

HOST = "runyard.test"
SERVICES = ("tfe.v2", "tfe.v2.1", "tfe.v2.2", "state.v2")
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


class Terraform:
    """One user in one folder. A block of the CLI's configuration for HOST names the services, over plain HTTP."""

    def __init__(self, site, engine, folder, body=BODY, host=HOST, token=None, signed_in=True, **environment):
        self.site = site
        self.engine = engine
        self.folder = folder
        self.host = host
        self.open = []
        folder.mkdir(exist_ok=True)
        home = folder.with_name(folder.name + ".home")
        (home / ".terraform.d").mkdir(parents=True, exist_ok=True)
        config = home / "terraformrc"
        config.write_text(self.services() + (self.credentials(token or site.api.token) if signed_in else ""))
        self.environment = clean_environment(HOME=home, CHECKPOINT_DISABLE=1, **environment)
        if signed_in:  # with a configuration file named in the environment, terraform ignores those that `terraform login` writes
            self.environment["TF_CLI_CONFIG_FILE"] = str(config)
        self.write("main.tf", body)

    def services(self):
        if self.host != HOST:
            return ""
        lines = "".join(f'    "{name}" = "{self.site.scheduler.url}/api/v2/"\n' for name in SERVICES)
        lines += f'    "modules.v1" = "{self.site.scheduler.url}/api/registry/v1/modules/"\n'
        lines += f'    "providers.v1" = "{self.site.scheduler.url}/api/registry/v1/providers/"\n'
        return f'host "{HOST}" {{\n  services = {{\n{lines}  }}\n}}\n'

    def credentials(self, token):
        return f'credentials "{self.host}" {{\n  token = "{token}"\n}}\n'

    # ---- the configuration ----

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self

    def settings(self, block, **workspaces):
        """The settings of a "cloud" or a "remote" block; `workspaces` is its inner block."""
        block = {"cloud": "cloud", "remote": 'backend "remote"'}[block]
        lines = "".join(f"      {name} = {json.dumps(value)}\n" for name, value in workspaces.items())
        return self.write("settings.tf", f'terraform {{\n  {block} {{\n    hostname = "{self.host}"\n    organization = "{self.site.api.organization}"\n'
                                         f"    workspaces {{\n{lines}    }}\n  }}\n}}\n")

    # ---- commands ----

    def terminal(self, *arguments, **environment):
        """Starts it on a terminal."""
        self.open.append(Terminal([self.engine.path, *arguments], self.folder, {**self.environment, **environment}))
        return self.open[-1]

    def run(self, *arguments, code=0, **environment):
        """The output on a terminal without input."""
        return self.terminal(*arguments, **environment).ended(code)

    def pipe(self, *arguments, code=0, stdin=None, **environment):
        """The standard output of a script."""
        done = subprocess.run([self.engine.path, *arguments], cwd=self.folder, env={**self.environment, **environment}, input=stdin or "",
                              capture_output=True, text=True)
        assert done.returncode == code, f"{arguments} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def init(self, *arguments):
        return self.run("init", "-input=false", *arguments)

    def apply(self, *arguments):
        return self.run("apply", "-auto-approve", *arguments)

    # ---- the other side ----

    def workspace(self, name):
        """The workspace's id."""
        return self.site.api.get(f"organizations/{self.site.api.organization}/workspaces/{name}").data["id"]

    def runs(self, name):
        """The attributes of its runs, the newest first, including plan-only runs."""
        query = {"filter[operation]": "plan_only,plan_and_apply,refresh_only,destroy,empty_apply,save_plan"}
        return [run["attributes"] for run in self.site.api.get(f"workspaces/{self.workspace(name)}/runs", **query).data]

    def mode(self, name, mode):
        body = {"data": {"type": "workspaces", "attributes": {"execution-mode": mode}}}
        self.site.api.patch(f"workspaces/{self.workspace(name)}", body)

    def release(self):
        for terminal in self.open:
            terminal.release()
