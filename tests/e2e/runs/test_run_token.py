# SPDX-License-Identifier: MPL-2.0
"""Inside a run, terraform and other programs reach the API with the run's own token."""

import pytest

from support.wait import until

PRODUCER = {"main.tf": 'resource "terraform_data" "one" {\n  input = "from afar"\n}\noutput "word" {\n  value = terraform_data.one.output\n}\n'}


def consumer(host, backend):
    """Reads the producer's outputs."""
    return {"main.tf": f"""
data "terraform_remote_state" "producer" {{
  backend = "{backend}"
  config = {{
    hostname     = "{host}"
    organization = "acme"
    workspaces   = {{ name = "producer" }}
  }}
}}

output "word" {{
  value = data.terraform_remote_state.producer.outputs.word
}}
"""}


@pytest.fixture(scope="module")
def producer(site):
    workspace = site.api.workspace("producer", auto_apply=True)
    site.api.wait_status(site.api.run_files(workspace, PRODUCER), "applied")
    return workspace


def share(site, workspace, shared):
    site.api.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"global-remote-state": shared}}})


def test_a_run_reads_only_shared_states_of_other_workspaces(site, producer):
    api, host = site.api, site.scheduler.url.removeprefix("http://")
    share(site, producer, False)
    workspace = api.workspace(auto_apply=True)
    refused = api.run_files(workspace, consumer(host, "remote"))
    api.wait_status(refused, "errored")
    share(site, producer, True)
    run = api.run_files(workspace, consumer(host, "remote"))
    api.wait_status(run, "applied")
    outputs = api.get(f"workspaces/{workspace}/current-state-version-outputs").data
    assert [(item["attributes"]["name"], item["attributes"]["value"]) for item in outputs] == [("word", "from afar")]
    assert len([item for item in api.get("organizations/acme/workspaces").data if item["attributes"]["name"] == "producer"]) == 1


def test_a_run_reads_a_remote_state_over_tls(authority, scheduler, worker, request):
    """Includes service discovery, with certificates of a private CA."""
    server = scheduler(**authority.serving())
    api = request.getfixturevalue("api")
    worker(ca_file=authority.file)
    shared = api.workspace("producer", auto_apply=True, global_remote_state=True)
    api.wait_status(api.run_files(shared, PRODUCER), "applied")
    run = api.run_files(api.workspace(auto_apply=True), consumer(server.url.removeprefix("https://"), "remote"))
    api.wait_status(run, "applied")


PROGRAM = {"main.tf": r"""
resource "terraform_data" "one" {
  provisioner "local-exec" {
    command = <<-END
      token=$(sed -n 's/.*token = "\(.*\)"/\1/p' "$TF_CLI_CONFIG_FILE")
      echo "the token is $token"
      env | grep -q "$token" && echo "it stands in the "environment
      [ -n "$token" ] && echo "and ends here; $TFC_PROJECT_NAME $TFC_WORKSPACE_SLUG $TFC_CONFIGURATION_VERSION_GIT_BRANCH."
    END
  }
}
"""}


def test_the_run_token_is_only_in_the_cli_configuration_file(site):
    api = site.api
    workspace = api.workspace("shower", auto_apply=True)
    run = api.run_files(workspace, PROGRAM)
    api.wait_status(run, "applied")
    log = api.log(run, "apply")
    assert "the token is (sensitive value)" in log and "and ends here; Default Project acme/shower ." in log
    assert "it stands in the environment" not in log and "ry_run_" not in log + api.log(run, "plan")
    for process in (site.worker, site.scheduler):
        until(lambda: "ry_run_" not in process.process.log(), "no token is logged")
