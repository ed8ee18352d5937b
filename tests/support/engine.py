# SPDX-License-Identifier: MPL-2.0
"""The engines of this machine: terraform, OpenTofu, or both."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property

import pytest

from support.servers import DEPS


@dataclass(frozen=True)
class Engine:
    program: str  # its name in PATH
    title: str  # its name in its own messages
    registry: str  # the host of a provider whose source names no host
    wording: tuple = ()  # its wording in place of terraform's, in the order of replacement
    writes_at_once: bool = True  # it writes the state after each change of an apply, and not every 20 s

    @property
    def path(self):
        found = shutil.which(self.program)
        return found and os.path.realpath(found)

    @property
    def folder(self):
        """The folder of its binary. A job whose engine is a script around it needs this folder: worker(sandbox_bind=engine.folder)."""
        return os.path.dirname(self.path)

    @property
    def option(self):
        """The worker's --engine; None for the engine that a worker finds by itself."""
        return None if self == ENGINES[0] else self.program

    @cached_property
    def version(self):
        version_text = subprocess.run([self.path, "version"], capture_output=True, text=True, check=True).stdout
        return re.match(rf"{self.title} v(\S+)", version_text).group(1)

    def is_before(self, **first):
        """Whether its version is before that of its program: is_before(terraform=(1, 10), tofu=(1, 11))."""
        return self.program in first and tuple(map(int, self.version.split(".")[:2])) < first[self.program]

    def words(self, text):
        """A message of terraform as this engine writes it."""
        if self.is_before(terraform=(1, 6)):  # it does not ask the server for its name
            text = text.replace("Terraform Enterprise", "Terraform Cloud")
        for theirs, own in self.wording:
            text = text.replace(theirs, own)
        return text


KNOWN = (Engine("terraform", "Terraform", "registry.terraform.io"),
         Engine("tofu", "OpenTofu", "registry.opentofu.org",
                (("Terraform Enterprise", "cloud backend"), ("failed policies?", "failed policy check?"), ("terraform ", "tofu "), ("Terraform", "OpenTofu")), writes_at_once=False))
ENGINES = [engine for engine in KNOWN if engine.path]  # a worker without --engine uses the first
assert ENGINES, "neither terraform nor tofu is in PATH; tests/run builds tofu"


def each_engine():
    """Runs a test once with each engine."""
    return pytest.mark.parametrize("engine", [pytest.param(engine, id=engine.program) for engine in ENGINES], indirect=True)


def unrecorded(api, run):
    """The addresses of the open unrecorded resources of a run."""
    return sorted(r["attributes"]["address"] for r in api.get(f"runs/{run}/unrecorded-resources").data if r["attributes"]["status"] == "open")


def written_states(worker):
    """The texts of the states that the engines of a worker's jobs have written."""
    return [path.read_text() for path in worker.options["data_dir"].glob("jobs/*/root/state/terraform.tfstate")]


def time_provider():
    """The program of the provider hashicorp/time, in a folder named for its platform in a folder named for its version."""
    found = next(DEPS.glob("mirror/registry.terraform.io/hashicorp/time/*/*/terraform-provider-time*"), None)
    assert found, f"the provider hashicorp/time is not in {DEPS}/mirror; tests/run builds it"
    return found
