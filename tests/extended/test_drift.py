# SPDX-License-Identifier: MPL-2.0
"""Drift of real objects: files that the provider hashicorp/local manages, changed behind the engine's back."""

import shutil

import pytest

from support.chart import built
from support.engine import ENGINES, each_engine
from support.wait import until

pytestmark = each_engine()

VERSION = "1.4.0"
FILES = """
terraform {{
  required_providers {{
    local = {{
      source = "hashicorp/local"
    }}
  }}
}}

resource "local_file" "one" {{
  content  = "as configured"
  filename = "{folder}/one"
}}

resource "local_file" "two" {{
  content  = "as configured"
  filename = "{folder}/two"
}}

output "names" {{
  value = [local_file.one.filename, local_file.two.filename]
}}
"""


@pytest.fixture
def objects(folder):
    """The folder of the files, which jobs may write."""
    objects = folder / "objects"
    objects.mkdir()
    objects.chmod(0o777)
    return objects


@pytest.fixture
def mirror(folder):
    program = built("providers") / "terraform-provider-local"
    mirror = folder / "providers"
    for engine in ENGINES:
        place = mirror / engine.registry / "hashicorp/local" / VERSION / "linux_amd64"
        place.mkdir(parents=True)
        shutil.copy(program, place / f"terraform-provider-local_v{VERSION}")
    return mirror


class Health:
    def __init__(self, api, ask, workspace):
        self.api, self.ask, self.workspace = api, ask, workspace

    def assess(self):
        """The result of an assessment that begins now, as if the last one was long ago."""
        self.ask("update assessment_results set created_at = created_at - interval '1 hour' where workspace_id = %s", self.workspace)
        before = len(self.results())
        assert self.api.post(f"workspaces/{self.workspace}/health/actions/assess").status == 202
        return until(lambda: len(now := self.results()) > before and now[0], "the assessment has a result")

    def results(self):
        return self.api.get(f"workspaces/{self.workspace}/assessment-results").data

    def drifted(self):
        result = self.assess()
        assert result["attributes"]["succeeded"], result
        changes = self.api.get(f"plans/{result['relationships']['plan']['data']['id']}/changes").data["attributes"]
        rows = sorted(row["address"] for row in changes["drift"] if row["relevant"])
        assert len(rows) == result["attributes"]["resources-drifted"] and bool(rows) == result["attributes"]["drifted"]
        return rows


def test_files_that_others_change_have_drifted(api, worker, ask, objects, mirror):
    worker(provider_mirror=mirror, sandbox="none")  # a sandbox lets no job write outside of its own folders
    workspace = api.workspace(auto_apply=True, assessments_enabled=True)
    health = Health(api, ask, workspace)
    api.wait_status(api.run_files(workspace, {"main.tf": FILES.format(folder=objects)}), "applied")
    assert health.drifted() == []

    (objects / "one").write_text("by hand")
    assert health.drifted() == ["local_file.one"]
    (objects / "two").unlink()
    assert health.drifted() == ["local_file.one", "local_file.two"]

    # A run restores what is configured.
    api.wait_status(api.run(workspace, message="Restore 2 resources that have drifted"), "applied")
    assert [(objects / name).read_text() for name in ("one", "two")] == ["as configured"] * 2
    assert health.drifted() == []

    # A refresh-only run accepts what others did: the next plan creates the file, but nothing differs from the state.
    (objects / "one").unlink()
    assert health.drifted() == ["local_file.one"]
    api.wait_status(api.run(workspace, refresh_only=True), "applied")
    assert health.drifted() == []
