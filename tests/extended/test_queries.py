# SPDX-License-Identifier: MPL-2.0
# label: extended
"""`terraform query` as a user runs it: Terraform 1.14 on both sides, and a provider whose resources can be listed."""

import json
import os
import shutil

import pytest

from support.chart import built, go
from support.engine import KNOWN
from support.terminal import INTERRUPT
from support.terraform import Terraform
from support.wait import until

VERSION = "1.14.8"
PLATFORM = "linux_amd64"
MAIN = """
terraform {
  required_providers {
    folder = {
      source = "runyard/folder"
    }
  }
}
"""
QUERY = """
variable "where" {
  type    = string
  default = "%s"
}

list "folder_file" "all" {
  provider         = folder
  include_resource = true
  config {
    folder = var.where
  }
}
"""


class Fourteen(type(KNOWN[0])):
    """Terraform 1.14, which is not in PATH."""

    @property
    def path(self):
        return str(go("terraform", VERSION) / "terraform")


@pytest.fixture(scope="session")
def engine():
    return Fourteen("terraform", "Terraform", "registry.terraform.io")


@pytest.fixture
def files(folder):
    """A folder with two files, which jobs may read."""
    files = folder / "files"
    files.mkdir()
    files.chmod(0o755)
    for name in ("one", "two"):
        (files / name).write_text(f"content of {name}")
    return files


@pytest.fixture
def mirror(folder):
    place = folder / "providers/registry.terraform.io/runyard/folder/1.0.0" / PLATFORM
    place.mkdir(parents=True)
    shutil.copy(built("listing") / "terraform-provider-folder", place / "terraform-provider-folder_v1.0.0")
    return folder / "providers"


@pytest.fixture
def user(api, worker, engine, files, mirror, tmp_path, scheduler):
    """A person in a folder with a query, whose workspace is `queried`."""
    worker(engine=engine.path, provider_mirror=mirror, sandbox_bind=files)

    class Site:
        pass

    site = Site()
    site.api, site.scheduler = api, scheduler.all[0]
    user = Terraform(site, engine, tmp_path / "user", MAIN)
    with open(user.environment["TF_CLI_CONFIG_FILE"], "a") as config:
        config.write(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n')
    user.settings("cloud", name="queried").write("all.tfquery.hcl", QUERY % files)
    user.init()
    yield user
    user.release()


def queries(user):
    return user.site.api.get(f"workspaces/{user.workspace('queried')}/queries", include="created-by").data


def query_of(user):
    (query,) = queries(user)
    return query


def ended(user, wanted):
    return until(lambda: (query := query_of(user))["attributes"]["status"] == wanted and query, lambda: (query_of(user), log_of(user)))


def log_of(user):
    run = query_of(user)["id"].replace("query-", "run-")
    return user.site.api.log(run)


def found(log):
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    return [line["list_resource_found"] for line in lines if line.get("type") == "list_resource_found"]


def test_the_cli_begins_a_query_and_shows_its_results(user, files):
    output = user.run("query")
    query = ended(user, "finished")
    assert f"/app/acme/queried/search/{query['id']}" in output
    assert f"path={files}/one" in output and f"path={files}/two" in output
    results = found(log_of(user))
    assert [(r["display_name"], r["resource_type"], r["identity"]) for r in results] == [
        (name, "folder_file", {"path": f"{files}/{name}"}) for name in ("one", "two")]
    assert query["attributes"]["terraform-version"] == VERSION and query["attributes"]["generate-config-out"]
    assert query["relationships"]["created-by"]["data"]["type"] == "users"
    assert user.runs("queried") == [], "a query is no run"


def test_the_cli_writes_the_configuration_that_the_server_generated(user, files):
    user.run("query", "-generate-config-out=generated.tf")
    text = (user.folder / "generated.tf").read_text()
    assert text.count('resource "folder_file"') == 2 and text.count("import {") == 2 and "content of one" in text


def test_variables_of_the_workspace_and_of_the_request(user, files):
    api, workspace = user.site.api, user.workspace("queried")
    elsewhere = files / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "three").write_text("3")
    api.variable(workspace, "where", str(elsewhere))
    user.run("query")
    ended(user, "finished")
    assert [r["display_name"] for r in found(log_of(user))] == ["three"]
    (elsewhere / "deep").mkdir()
    (elsewhere / "deep/four").write_text("4")
    relations = {"workspace": {"data": {"type": "workspaces", "id": workspace}}}
    variables = [{"key": "where", "value": json.dumps(str(elsewhere / "deep"))}]
    made = api.post("queries", {"data": {"type": "queries", "attributes": {"source": "tfe-api", "variables": variables, "generate-config-out": False}, "relationships": relations}}).data
    until(lambda: api.get(f"queries/{made['id']}").data["attributes"]["status"] == "finished", "the query has finished")
    (four,) = found(api.log(made["id"].replace("query-", "run-")))
    assert four["display_name"] == "four" and not four.get("config")


@pytest.fixture
def held(user, files):
    """A query that the provider holds: it reads a FIFO in the middle of the list. (terminal, FIFO)"""
    gate = files / "held"
    os.mkfifo(gate)
    gate.chmod(0o666)
    terminal = user.terminal("query")
    until(lambda: queries(user) and query_of(user)["attributes"]["status"] == "running" and "list_start" in log_of(user), "the query lists")
    yield terminal, gate
    end = os.open(gate, os.O_RDWR | os.O_NONBLOCK)  # lets a reader that is still there go on
    os.write(end, b"x")
    os.close(end)


def test_an_interrupt_cancels_the_query(user, held):
    terminal, gate = held
    terminal.type(INTERRUPT).expect("Do you want to cancel the remote operation?")
    terminal.type("yes").expect("The remote operation was successfully cancelled")
    until(lambda: "Stopping operation" in log_of(user), "the engine is interrupted")
    gate.write_text("opened")
    query = ended(user, "canceled")
    assert query["relationships"]["canceled-by"]["data"] == query["relationships"]["created-by"]["data"]


def test_an_interrupt_alone_leaves_the_query_running(user, held):
    terminal, gate = held
    terminal.type(INTERRUPT).expect("Do you want to cancel the remote operation?")
    terminal.type("no").expect("was not cancelled")
    gate.write_text("opened")
    assert len(found(log_of(user))) <= 3 and ended(user, "finished")
    assert [r["display_name"] for r in found(log_of(user))] == ["held", "one", "two"]


def test_a_query_that_does_not_stop_is_killed(user, held):
    api = user.site.api
    query = query_of(user)
    assert api.post(f"queries/{query['id']}/actions/cancel").status == 202
    until(lambda: query_of(user)["attributes"]["actions"]["is-force-cancelable"], "a force-cancel is possible")
    assert api.post(f"queries/{query['id']}/actions/force-cancel").status == 202
    ended(user, "canceled")


def test_a_query_that_fails_says_why(user, files):
    user.write("all.tfquery.hcl", QUERY % (files / "missing"))
    output = user.run("query", code=1)
    query = ended(user, "errored")
    assert "The folder can't be listed" in output
    assert "The folder can't be listed" in query["attributes"]["error"] and "The folder can't be listed" in log_of(user)


def test_an_engine_without_queries_is_named(user):
    api, workspace = user.site.api, user.workspace("queried")
    api.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"terraform-version": "1.11.4"}}})
    assert "terraform query needs 1.14 or later" in user.run("query", code=1)
