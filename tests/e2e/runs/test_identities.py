# SPDX-License-Identifier: MPL-2.0
"""Identities and dynamic credentials of runs, from the variables of a workspace to the programs of its runs."""

import json
import re

import pytest

from integration.identity.test_workload_identity import decoded
from support.kcat import every_message
from support.receiver import acknowledges
from support.wait import until

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
def api(full_site):
    return full_site.api


def workspace_with(api, variables, **attributes):
    workspace = api.workspace(**attributes)
    for key, value in variables.items():
        api.variable(workspace, key, value, category="env")
    return workspace


def test_the_programs_of_an_apply_have_its_identity(api):
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


def in_redis(redis):
    """All keys and values. What is dumped without compression has its texts as they are."""
    redis.command("config", "set", "rdbcompression", "no")
    keys = redis.command("--scan").splitlines()
    return "\n".join(key + redis.command("--no-raw", "dump", key) for key in keys)


def tables_with(site, text):
    """The tables of PostgreSQL with that text, also as bytes. Logs, plans and states are encrypted there."""
    tables = [table for table, in site.ask("select tablename from pg_tables where schemaname = 'public'")]
    return [table for table in tables if site.ask(f"select 1 from {table} t where strpos(t::text, %s) > 0 or strpos(t::text, %s) > 0 limit 1", text, text.encode().hex())]


def test_tokens_are_in_no_message_and_in_no_table(full_site, redis, api):
    """Redis is searched while a run task is open, so that the notifier has it there. The tokens of both phases begin with the same header."""
    workspace = workspace_with(api, VARIABLES, auto_apply=True)
    service = full_site.receiver.service(acknowledges)
    api.attach(workspace, api.task(service, service.name), "post_apply")
    program = 'import os\nprint("FOUND", os.environ["TFC_WORKLOAD_IDENTITY_TOKEN"][::-1])\n'  # redaction does not recognize it
    run = api.run_files(workspace, {**FILES, "program.py": program})
    call = service.got()
    until(lambda: call["task_result_id"] in in_redis(redis), "the deadline of the call is in Redis")  # the notifier sets it after the answer
    kept = in_redis(redis)
    call.back("passed")
    api.wait_status(run, "applied")
    header = re.search(r"FOUND ([\w.-]+)", api.log(run, "apply")).group(1)[::-1].partition(".")[0] + "."
    assert json.loads(decoded(header.rstrip(".")))["alg"] == "RS256"
    assert call["task_result_id"] in kept and header not in kept
    messages = every_message(full_site.scheduler.options["brokers"])
    assert run in messages and header not in messages
    assert "audit_events" in tables_with(full_site, run) and tables_with(full_site, header) == []
    for text in (api.log(run, "plan"), api.log(run, "apply"), json.dumps(api.plan_json(run)), json.dumps(api.state(workspace))):  # what is sealed in PostgreSQL
        assert "terraform_data" in text and header not in text
