# SPDX-License-Identifier: MPL-2.0
"""Plain backends: local, PostgreSQL, HTTP and S3, each read by the engine; and projects of Atlantis."""

import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.engine import ENGINES
from support.migration import Migrate, states_of
from support.servers import ObjectStore

CODE = 'terraform {\n  required_version = ">= 1.5"\n  # backend "none" {}\n%s}\n\noutput "word" {\n  value = "${terraform.workspace} { of %s"\n}\n'
S3 = """  backend "s3" {
    bucket                      = "runyard"
    key                         = "state"
    region                      = "eu-test-1"
    endpoints                   = { s3 = "http://127.0.0.1:%d" }
    use_path_style              = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
    skip_s3_checksum            = true
  }
"""


class StateServer:
    """An HTTP backend: GET and POST of one state."""

    def __init__(self):
        self.state, front = b"", self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.reply(200 if front.state else 404, front.state)

            def do_POST(self):
                front.state = self.rfile.read(int(self.headers["Content-Length"]))
                self.reply(200, b"")

            def reply(self, status, body):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/state"


@pytest.fixture
def http_backend():
    server = StateServer()
    yield server
    server.server.shutdown()
    server.server.server_close()


@pytest.fixture
def objects(tmp_path, monkeypatch):
    store = ObjectStore(tmp_path).start()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", store.access)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", store.secret)
    yield store
    store.release()


def engine(folder, *arguments, **more):
    done = subprocess.run([ENGINES[0].path, *arguments], cwd=folder, capture_output=True, text=True, env={**os.environ, **more})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def apply(root, name, backend, *workspaces):
    """A folder with a configuration that was applied in these CLI workspaces."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "main.tf").write_text(CODE % (backend, name))
    engine(folder, "init", "-input=false")
    for workspace in workspaces or ("default",):
        if workspace != "default":
            engine(folder, "workspace", "new", workspace)
        engine(folder, "apply", "-auto-approve", "-input=false", TF_WORKSPACE=workspace)
    return folder


@pytest.fixture
def migrate(tmp_path, target_site):
    api = target_site.organization()
    (tmp_path / "infra").mkdir()
    migrate = Migrate(tmp_path, api, api, url=str(tmp_path / "infra"))
    migrate.root = tmp_path / "infra"
    return migrate


def words(api, name):
    return [json.loads(text)["outputs"]["word"]["value"] for text in states_of(api, name)]


def test_every_backend_is_moved(migrate, postgres, http_backend, objects):
    root, api = migrate.root, migrate.target
    apply(root, "net/local", "", "default", "staging")
    apply(root, "database", f'  backend "pg" {{\n    conn_str = "{postgres.new_database()}?sslmode=disable"\n  }}\n', "default", "blue")
    apply(root, "web", f'  backend "http" {{\n    address = "{http_backend.url}"\n  }}\n')
    apply(root, "files", S3 % objects.port, "default", "green")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    expected = {"net-local": "default { of net/local", "net-local-staging": "staging { of net/local", "database": "default { of database", "database-blue": "blue { of database",
                "web": "default { of web", "files": "default { of files", "files-green": "green { of files"}
    migrate.run("plan")
    assert {row["object"] for row in migrate.plan_rows() if row["kind"] == "workspaces"} == {f"workspaces/{name}" for name in expected}
    migrate.run("apply")
    assert "nothing to do" in migrate.run("apply")
    assert " 0 differ, 0 wait" in migrate.run("verify")
    assert {name: words(api, name) for name in expected} == {name: [word] for name, word in expected.items()}
    assert states_of(api, "web") == [http_backend.state]
    assert states_of(api, "net-local") == [(root / "net/local/terraform.tfstate").read_bytes()]
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before  # the code is only read

    (root / "web/more.tf").write_text('output "more" {\n  value = "1"\n}\n')
    engine(root / "web", "apply", "-auto-approve")
    migrate.run("cut-over", "--all", "--without-plan", "--code", root)
    assert states_of(api, "web")[-1] == http_backend.state and len(states_of(api, "web")) == 2
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "apply", migrate.work / "cut-over.patch"], cwd=root, check=True)
    text = (root / "web/main.tf").read_text()
    assert f'cloud {{\n    hostname     = "{api.url.partition("//")[2]}"' in text and 'name = "web"' in text and 'backend "http"' not in text
    assert 'folder = "database"' in (root / "database/main.tf").read_text()
    assert '# backend "none"' in text and "{ of web" in text


def test_projects_of_atlantis(migrate):
    root = migrate.root
    apply(root, "net", "", "default", "staging", "old")
    apply(root, "dns", "")
    (root / "atlantis.yaml").write_text("""version: 3
automerge: true  # of all
projects:
- name: network-prod
  dir: net
  terraform_version: v1.9.8
  autoplan:
    when_modified: ["*.tf", "../modules/**/*.tf"]
    enabled: true
- dir: "net"
  workspace: staging
  workflow: custom
workflows:
  custom:
    plan:
      steps:
      - run: echo "hello: world"
      - plan:
          extra_args: ["-lock", "false"]
""")
    migrate.run("plan")
    names = {row["object"] for row in migrate.plan_rows() if row["kind"] == "workspaces"}
    assert names == {"workspaces/network-prod", "workspaces/net-staging"}
    assert "workflows/custom" in (migrate.work / "checklist.md").read_text()
    migrate.run("apply")
    made = migrate.target.get(f"organizations/{migrate.target.organization}/workspaces/network-prod").data["attributes"]
    assert (made["terraform-version"], made["working-directory"]) == ("1.9.8", "net")
    assert words(migrate.target, "net-staging") == ["staging { of net"]


def test_a_backend_that_does_not_answer_is_named(migrate):
    apply(migrate.root, "good", "")
    (migrate.root / "bad").mkdir()
    (migrate.root / "bad/main.tf").write_text(CODE % ('  backend "http" {\n    address = "http://127.0.0.1:9/state"\n    retry_max = 0\n  }\n', "bad"))
    out = migrate.run("apply", status=3)
    assert "cannot be read: bad: " in out and "create: 1 workspaces" in out


def test_an_engine_that_is_not_installed_is_named(migrate, http_backend):
    folder = migrate.root / "web"
    folder.mkdir()
    (folder / "main.tf").write_text(CODE % (f'  backend "http" {{\n    address = "{http_backend.url}"\n  }}\n', "web"))
    said = migrate.run("plan", "--engine", "no-engine", status=3)
    assert "web: no-engine is not installed: install it, or name another engine with --engine" in said
