# SPDX-License-Identifier: MPL-2.0
"""Health of real objects: files that the provider hashicorp/local manages, changed behind the engine's back, and a server that a check asks with the provider hashicorp/http."""

import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.chart import built
from support.engine import ENGINES, each_engine
from support.wait import until

pytestmark = each_engine()

VERSIONS = {"local": "1.4.0", "http": "1.2.0"}
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
    mirror = folder / "providers"
    for name, version in VERSIONS.items():
        for engine in ENGINES:
            place = mirror / engine.registry / "hashicorp" / name / version / "linux_amd64"
            place.mkdir(parents=True)
            shutil.copy(built("providers") / f"terraform-provider-{name}", place / f"terraform-provider-{name}_v{version}")
    return mirror


@pytest.fixture
def door():
    """A server whose answers have the status `door.status`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(door.status)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(b"open")

        def log_message(self, *words):
            pass

    door = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    door.status = 200
    threading.Thread(target=door.serve_forever, daemon=True).start()
    yield door
    door.shutdown()
    door.server_close()


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


CHECK = """
terraform {{
  required_providers {{
    http = {{
      source = "hashicorp/http"
    }}
  }}
}}

resource "terraform_data" "one" {{}}

check "door" {{
  data "http" "door" {{
    url = "http://127.0.0.1:{port}/"
  }}
  assert {{
    condition     = data.http.door.body == "open"
    error_message = "the door is closed"
  }}
}}
"""


def test_a_check_follows_the_status_of_a_server(api, worker, ask, door, mirror):
    worker(provider_mirror=mirror, job_network="host")
    workspace = api.workspace(auto_apply=True, assessments_enabled=True)
    health = Health(api, ask, workspace)
    api.wait_status(api.run_files(workspace, {"main.tf": CHECK.format(port=door.server_port)}), "applied")

    def counts():
        attributes = health.assess()["attributes"]
        assert attributes["succeeded"] and not attributes["drifted"], attributes
        return [attributes[f"checks-{kind}"] for kind in ("passed", "failed", "errored")]

    assert counts() == [1, 0, 0]
    door.status = 500
    assert counts() == [0, 1, 0]
    door.status = 200
    assert counts() == [1, 0, 0]
