# SPDX-License-Identifier: MPL-2.0
"""A stack whose runs show what programs make of their identities and credentials, in plans as in applies."""

import shutil
from contextlib import contextmanager

from support.authority import Authority
from support.runyard import KEYS, Scheduler
from support.servers import Broker
from support.site import Site, new_folder, release_all

ROLES = ("plan", "apply")
# A plan has no provisioner: the engine's place is taken by this script, whose output is in the plan's log.
ENGINE = """#!/bin/sh
if [ "$1" = plan ] && [ "$LOOK" ]; then
	PHASE=plan sh -c "$LOOK" >&2 || exit 1
fi
exec {engine} "$@"
"""
CONFIGURATION = """
resource "terraform_data" "look" {
  input = timestamp()
  provisioner "local-exec" {
    command     = "sh -c \\"$LOOK\\""
    environment = { PHASE = "apply" }
  }
}
"""


class IdentitySite(Site):
    """The command in a workspace's variable LOOK is executed in each plan and apply, with their environment and with PHASE. Jobs see the folder `programs`."""

    authority = None  # of the scheduler's certificate

    def __init__(self, folder, bus, postgres, sandbox, engine, ports, more_folders=()):
        self.programs = folder / "programs"
        self.programs.mkdir()
        script = self.program(engine.program, ENGINE.format(engine=engine.path))
        super().__init__(folder, bus, postgres, sandbox, script)
        seen = [self.programs, engine.folder, self.gates, *more_folders]
        self.worker.options.update(sandbox_bind=",".join(map(str, seen)), job_network_allow=",".join(f"127.0.0.1:{port}" for port in ports), slots=4)

    def serve_by_tls(self):
        """Before its start. Verifiers need `authority.file`."""
        self.authority = Authority(self.folder)
        serving = self.authority.serving("scheduler")
        self.scheduler.trust = serving.pop("trust")
        self.scheduler.options.update(serving)
        self.worker.options["ca_file"] = self.authority.file

    def program(self, name, text):
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def workspace(self, name, look, variables):
        made = self.api.workspace(name, auto_apply=True)
        for key, value in {"LOOK": look, **variables}.items():
            self.api.variable(made, key, value, category="env")
        return made

    def run(self, workspace, configuration=CONFIGURATION):
        return self.api.run_files(workspace, {"main.tf": configuration})

    def applied(self, workspace, configuration=CONFIGURATION):
        """Runs it, and returns the logs of the plan and of the apply."""
        run = self.run(workspace, configuration)
        self.api.wait_status(run, "applied")
        return tuple(self.api.log(run, role) for role in ROLES)

    def rotate(self, command="rotate"):
        Scheduler.run_command("workload-keys", command, database_url=self.database, keys=KEYS)

    def pass_hours(self, hours):
        """The clock of the keys."""
        self.ask("update workload_keys set signs_from = signs_from - make_interval(hours => %s)", hours)


def with_variable(kind, fields, look):
    """A configuration whose apply looks at a member of the input variable of a kind."""
    members = "\n".join(f"{field} = string" for field in fields)
    variable = f'variable "tfc_{kind}_dynamic_credentials" {{\n  type = object({{\n default = object({{\n{members}\n}})\n aliases = map(object({{\n{members}\n}}))\n}})\n}}\n'
    return variable + CONFIGURATION.replace('sh -c \\"$LOOK\\"', look)


def subject(workspace, phase):
    return f"organization:acme:project:Default Project:workspace:{workspace}:run_phase:{phase}"


@contextmanager
def open_identity_site(postgres, sandbox, engine, ports, more_folders=(), tls=False):
    """It is running. `ports` of the loopback can be reached by jobs."""
    folder = new_folder("site")
    bus = Broker(folder).start()
    site = IdentitySite(folder, bus, postgres, sandbox, engine, ports, more_folders)
    if tls:
        site.serve_by_tls()
    try:
        yield site.start()
    finally:
        site.statements.close()
        release_all([bus, site.scheduler, site.worker])
        shutil.rmtree(folder, ignore_errors=True)
