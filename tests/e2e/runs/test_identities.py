# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Identities and dynamic credentials of runs, from the variables of a workspace to the programs of its runs."""

import json

import pytest

from integration.identity.test_workload_identity import decoded

PROGRAM = """import json, os, pathlib
kept = {name: os.environ.get(name) for name in ("AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "TFC_WORKLOAD_IDENTITY_TOKEN")}
kept["aws"] = pathlib.Path(os.environ["AWS_WEB_IDENTITY_TOKEN_FILE"]).read_text()
kept["mode"] = oct(os.stat(os.environ["AWS_WEB_IDENTITY_TOKEN_FILE"]).st_mode & 0o777)
kept["config"] = pathlib.Path(json.loads(os.environ["SEEN"])["aliases"]["B"]["shared_config_file"]).read_text()
token = kept.pop("TFC_WORKLOAD_IDENTITY_TOKEN")
print(token, kept["aws"])
claims = [part.split(".")[:2] for part in (token, kept.pop("aws"))]
print("FOUND", json.dumps({**kept, "claims": claims}))
"""
FILES = {"program.py": PROGRAM, "main.tf": """
variable "tfc_aws_dynamic_credentials" {
  type = object({
    default = object({ shared_config_file = string })
    aliases = map(object({ shared_config_file = string }))
  })
}

resource "terraform_data" "one" {
  provisioner "local-exec" {
    command     = "python3 program.py"
    environment = { SEEN = jsonencode(var.tfc_aws_dynamic_credentials) }
  }
}
"""}
VARIABLES = {"TFC_WORKLOAD_IDENTITY_AUDIENCE": "mine", "TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_PLAN_ROLE_ARN": "arn:aws:iam::1:role/plan",
             "TFC_AWS_APPLY_ROLE_ARN": "arn:aws:iam::1:role/apply", "TFC_AWS_PROVIDER_AUTH_B": "true", "TFC_DEFAULT_AWS_RUN_ROLE_ARN": "arn:aws:iam::1:role/default"}


@pytest.fixture
def api(site):
    return site.api


def workspace_with(api, variables, **attributes):
    workspace = api.workspace(**attributes)
    for key, value in variables.items():
        api.variable(workspace, key, value, category="env")
    return workspace


def test_the_programs_of_an_apply_have_its_identity(site, api):
    workspace = workspace_with(api, VARIABLES, auto_apply=True)
    run = api.run_files(workspace, FILES)
    api.wait_status(run, "applied")
    log = api.log(run, "apply")
    found = json.loads(json.loads(next(line for line in log.splitlines() if "FOUND {" in line and line.startswith("{"))).get("@message", "").partition("FOUND ")[2])
    assert found["AWS_ROLE_ARN"] == "arn:aws:iam::1:role/apply" and found["AWS_ROLE_SESSION_NAME"] == f"terraform-{run}" and found["mode"] == "0o600"
    assert "role_arn = arn:aws:iam::1:role/default\n" in found["config"] and "/aws/aliases/B/token\n" in found["config"]
    claims = [json.loads(decoded(part[1])) for part in found["claims"]]
    assert [(one["aud"], one["terraform_run_phase"]) for one in claims] == [("mine", "apply"), ("aws.workload.identity", "apply")]
    assert "(sensitive value) (sensitive value)" in log  # the program has printed both tokens
    for part in found["claims"]:
        assert ".".join(part) not in log and part[1] not in json.dumps(api.state(workspace))


def test_a_missing_variable_is_said_before_terraform_starts(api):
    workspace = workspace_with(api, {"TFC_GCP_PROVIDER_AUTH": "true", "TFC_GCP_WORKLOAD_PROVIDER_NAME": "projects/1/x"})
    run = api.run_files(workspace, {"main.tf": "this is no configuration"})
    sentence = "TFC_GCP_PROVIDER_AUTH is true, but TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL is not set."
    assert api.wait_status(run, "errored")["error"] == sentence
    assert api.log(run, "plan").strip() == sentence
