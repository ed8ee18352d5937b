# SPDX-License-Identifier: MPL-2.0
"""A run from upload to end, with the real engine: every kind of run, its inputs and its results."""

import base64
import gzip
import io
import json
import subprocess
import tarfile
from pathlib import Path

import psycopg
import pytest

from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {\n  input = "hello"\n}\n\noutput "said" {\n  value = terraform_data.one.output\n}\n'}
TWO = {"main.tf": 'resource "terraform_data" "one" {}\nresource "terraform_data" "two" {}\n'}
NONE = {"main.tf": 'output "fixed" {\n  value = "same"\n}\n'}
SECRET = "s3cret-that-nobody-may-read"
SAYS = """
variable "word" {
  type    = any
  default = "unset"
}

resource "terraform_data" "one" {
  input = var.word
}

output "word" {
  value     = terraform_data.one.output
  sensitive = true
}
"""


@pytest.fixture
def api(site):
    return site.api


def applied(api, workspace, files, **attributes):
    """A run of these files, auto-applied. Returns its id."""
    run = api.run_files(workspace, files, auto_apply=True, **attributes)
    api.wait_status(run, "applied")
    return run


def output(api, workspace, name="word"):
    return api.state(workspace)["outputs"][name]["value"]


def plan_actions(api, run):
    """{address: actions} of the run's plan."""
    return {change["address"]: change["change"]["actions"] for change in api.plan_json(run)["resource_changes"]}


# ---- kinds of runs ----


def test_a_confirmed_run_is_applied(api):
    workspace = api.workspace()
    run = api.run_files(workspace, ONE, message="first")
    planned = api.wait_status(run, "planned")
    assert planned["has-changes"] and planned["message"] == "first"
    assert planned["actions"] == {"is-cancelable": False, "is-confirmable": True, "is-discardable": True, "is-force-cancelable": False, "is-window-overridable": False}
    assert api.state(workspace) is None
    api.act(run, "apply", "go ahead")
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]
    plan = api.attributes(f"plans/{api.sibling(run, 'plan')}")
    assert (plan["status"], plan["resource-additions"], plan["resource-changes"], plan["resource-destructions"]) == ("finished", 1, 0, 0)
    apply = api.attributes(f"applies/{api.sibling(run, 'apply')}")
    assert (apply["status"], apply["resource-additions"]) == ("finished", 1)
    relations = api.get(f"runs/{run}").data["relationships"]
    assert relations["confirmed-by"]["data"] == relations["created-by"]["data"]


def test_a_run_without_changes_ends_after_the_plan(api):
    workspace = api.workspace(auto_apply=True)
    applied(api, workspace, ONE)
    run = api.run(workspace)
    assert api.wait_status(run, "planned_and_finished")["has-changes"] is False


def test_a_workspace_with_auto_apply_needs_no_confirmation(api):
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, ONE), "applied")


def test_auto_apply_of_a_run_overrides_its_workspace(api):
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE, auto_apply=False)
    api.wait_status(run, "planned")
    api.act(run, "discard")
    applied(api, workspace, ONE)


def test_plan_only_runs_bypass_the_queue_and_are_never_applied(api):
    workspace = api.workspace(auto_apply=True)
    holder = api.run_files(workspace, ONE, auto_apply=False)
    api.wait_status(holder, "planned")
    run = api.run(workspace, plan_only=True)
    assert api.wait_status(run, "planned_and_finished")["has-changes"] is True
    assert api.call("POST", f"runs/{run}/actions/apply", {}).status == 409
    assert api.status(holder) == "planned"
    assert api.state(workspace) is None
    speculative = api.run(workspace, api.upload(workspace, ONE, speculative=True))
    assert api.wait_status(speculative, "planned_and_finished")["plan-only"] is True
    listed = [listed["id"] for listed in api.get(f"workspaces/{workspace}/runs").data]
    assert listed == [holder]


def test_a_destroy_run_removes_all_resources(api):
    workspace = api.workspace(auto_apply=True)
    applied(api, workspace, TWO)
    run = api.run(workspace, is_destroy=True)
    api.wait_status(run, "applied")
    assert api.resources(workspace) == []
    assert api.attributes(f"applies/{api.sibling(run, 'apply')}")["resource-destructions"] == 2


def test_refresh_only_changes_outputs_and_no_resource(api):
    workspace = api.workspace(auto_apply=True)
    applied(api, workspace, ONE)
    more = {"main.tf": ONE["main.tf"] + 'resource "terraform_data" "more" {}\noutput "added" {\n  value = 1\n}\n'}
    run = api.run_files(workspace, more, refresh_only=True)
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]
    assert output(api, workspace, "added") == 1


def test_targets_limit_a_run_to_their_resources(api):
    workspace = api.workspace(auto_apply=True)
    applied(api, workspace, TWO, target_addrs=["terraform_data.two"])
    assert api.resources(workspace) == ["terraform_data.two"]


def test_replace_recreates_a_resource(api):
    workspace = api.workspace(auto_apply=True)
    applied(api, workspace, TWO)
    run = api.run(workspace, replace_addrs=["terraform_data.one"])
    api.wait_status(run, "applied")
    assert sorted(plan_actions(api, run)["terraform_data.one"]) == ["create", "delete"]
    assert plan_actions(api, run)["terraform_data.two"] == ["no-op"]


def test_the_next_run_starts_after_a_discard(api):
    workspace = api.workspace()
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "planned")
    after = api.run(workspace)
    assert api.status(after) == "pending"
    api.act(run, "discard", "not today")
    assert "discarded-at" in api.wait_status(run, "discarded")["status-timestamps"]
    api.wait_status(after, "planned")
    assert api.state(workspace) is None


def test_an_empty_apply_is_done_on_request(api):
    workspace = api.workspace(auto_apply=True)
    applied(api, workspace, ONE)
    serial = api.state(workspace)["serial"]
    run = api.run(workspace, allow_empty_apply=True)
    assert api.wait_status(run, "applied")["has-changes"] is False
    assert api.state(workspace)["serial"] >= serial


def test_a_failed_plan_shows_its_error(api):
    workspace = api.workspace()
    run = api.run_files(workspace, {"main.tf": 'resource "terraform_data" "one" {\n  input = nothing.there\n}\n'})
    attributes = api.wait_status(run, "errored")
    assert "undeclared" in attributes["error"]
    assert "Reference to undeclared resource" in api.log(run)
    assert api.attributes(f"plans/{api.sibling(run, 'plan')}")["status"] == "errored"


def test_a_failed_apply_keeps_its_created_resources_in_the_state(api):
    workspace = api.workspace(auto_apply=True)
    files = {"main.tf": """
resource "terraform_data" "good" {}
resource "terraform_data" "bad" {
  depends_on = [terraform_data.good]
  provisioner "local-exec" {
    command = "exit 3"
  }
}
"""}
    run = api.run_files(workspace, files)
    api.wait_status(run, "errored")
    resources = {r["name"]: r["instances"] for r in api.state(workspace)["resources"]}
    assert set(resources) == {"good", "bad"} and resources["bad"][0]["status"] == "tainted"
    applied(api, workspace, TWO)


# ---- saved plans ----


def test_a_saved_plan_is_applied_later(api):
    workspace = api.workspace(auto_apply=True)
    saved = api.run_files(workspace, ONE, save_plan=True)
    attributes = api.wait_status(saved, "planned_and_saved")
    assert attributes["actions"]["is-confirmable"] and attributes["actions"]["is-discardable"]
    assert api.get(f"workspaces/{workspace}").data["attributes"]["locked"] is False
    api.act(saved, "apply")
    api.wait_status(saved, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]


def test_a_newer_apply_discards_a_saved_plan(api):
    workspace = api.workspace(auto_apply=True)
    saved = api.run_files(workspace, ONE, save_plan=True)
    api.wait_status(saved, "planned_and_saved")
    applied(api, workspace, TWO)
    api.wait_status(saved, "discarded")
    assert api.call("POST", f"runs/{saved}/actions/apply", {}).status == 409


# ---- variables ----


@pytest.mark.parametrize(("value", "more", "wanted"), [
    ("plain", {}, "plain"),
    ("line\n\"quoted\" ${not} %{this} $$ é", {}, "line\n\"quoted\" ${not} %{this} $$ é"),
    ('["a", "b"]', {}, '["a", "b"]'),
    ('["a", 1 + 1]', {"hcl": True}, ["a", 2]),
    (SECRET, {"sensitive": True}, SECRET),
])
def test_terraform_gets_the_value_of_a_variable(api, value, more, wanted):
    workspace = api.workspace()
    api.variable(workspace, "word", value, **more)
    applied(api, workspace, {"main.tf": SAYS})
    assert output(api, workspace) == wanted


def test_terraform_gets_an_environment_variable(api):
    workspace = api.workspace()
    api.variable(workspace, "TF_VAR_word", "\"from the environment\"", category="env")
    applied(api, workspace, {"main.tf": SAYS})
    assert output(api, workspace) == "from the environment"


def test_variables_of_a_run_override_those_of_its_workspace(api):
    workspace = api.workspace()
    api.variable(workspace, "word", "of the workspace")
    run = applied(api, workspace, {"main.tf": SAYS}, variables=[{"key": "word", "value": '"of the run"'}])
    assert output(api, workspace) == "of the run"
    assert api.attributes(f"runs/{run}")["variables"] == [{"key": "word", "value": '"of the run"'}]


def test_a_run_keeps_the_variables_that_it_was_created_with(api):
    workspace = api.workspace()
    variable = api.variable(workspace, "word", "before")
    configuration = api.upload(workspace, {"main.tf": SAYS})
    first = api.run(workspace, configuration)
    second = api.run(workspace, configuration)
    body = {"data": {"type": "vars", "id": variable, "attributes": {"value": "after"}}}
    api.patch(f"workspaces/{workspace}/vars/{variable}", body)
    api.wait_status(first, "planned")
    assert api.status(second) == "pending"
    third = api.run(workspace, configuration, auto_apply=True)
    api.act(first, "discard")
    api.wait_status(second, "planned")
    api.act(second, "apply")
    api.wait_status(second, "applied")
    assert output(api, workspace) == "before"
    api.wait_status(third, "applied")
    assert output(api, workspace) == "after"


def processes_that_show(secret):
    """Processes with the value in their arguments, or in an environment other than a configuration's own."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments, environment = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
        except OSError:
            continue
        if secret in arguments or (secret in environment and b"TF_VAR_TFC_RUN_ID" not in environment):
            yield arguments


def test_sensitive_values_are_in_no_answer_log_dump_or_process(api, site):
    workspace = api.workspace(auto_apply=True)
    api.variable(workspace, "word", SECRET, sensitive=True)
    api.variable(workspace, "HIDDEN", SECRET + "-env", category="env", sensitive=True)
    files = {"main.tf": SAYS + """
resource "terraform_data" "says" {
  provisioner "local-exec" {
    command     = "echo it is $HIDDEN and $WORD"
    environment = { WORD = var.word }
  }
}
"""}
    run = api.run_files(workspace, files, auto_apply=False)
    api.wait_status(run, "planned")
    api.act(run, "apply")
    while api.status(run) != "applied":
        assert not list(processes_that_show(SECRET.encode()))
        assert api.status(run) != "errored", api.logs(run)
    answers = [f"workspaces/{workspace}/vars", f"runs/{run}", f"runs/{run}?include=plan,apply,workspace", f"workspaces/{workspace}/runs",
               f"runs/{run}/run-events", f"plans/{api.sibling(run, 'plan')}", f"plans/{api.sibling(run, 'plan')}/json-output-redacted",
               f"workspaces/{workspace}/current-state-version", f"workspaces/{workspace}/current-state-version-outputs"]
    for path in answers:
        assert SECRET not in api.get(path).text, path
    for kind in ("plan", "apply"):
        assert SECRET not in api.log(run, kind)
    assert "it is" in api.log(run, "apply")
    for log in site.folder.glob("*.log"):
        assert SECRET not in log.read_text(errors="replace"), log.name
    assert not holds_secret(dump(site.database))


def dump(database):
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    return subprocess.run([programs / "pg_dump", "--inserts", database], check=True, capture_output=True).stdout


def holds_secret(text):
    secret = SECRET.encode()
    return any(form in text for form in (secret, secret.hex().encode(), base64.b64encode(secret)[:-4]))


# ---- logs ----


def raw_log(api, run, kind, size):
    """The log's bytes, read `size` at a time as the CLI reads them."""
    url = api.attributes(f"{'plans' if kind == 'plan' else 'applies'}/{api.sibling(run, kind)}")["log-read-url"]
    text = b""
    while not text.endswith(b"\x03"):
        text += api.ask("GET", f"{url}?limit={size}&offset={len(text)}").body
    return text, url


@pytest.mark.parametrize("kind", ["plan", "apply"])
def test_a_log_read_in_parts_equals_the_whole_log(api, kind):
    workspace = api.workspace()
    run = applied(api, workspace, ONE)
    whole, url = raw_log(api, run, kind, 65536)
    assert raw_log(api, run, kind, 7)[0] == whole
    assert raw_log(api, run, kind, 1000)[0] == whole
    assert api.call("GET", f"{url}?limit=10&offset={len(whole) + 1000}").body == b""
    assert whole[:1] == b"\x02" and whole[-1:] == b"\x03" and whole.count(b"\x02") == whole.count(b"\x03") == 1
    lines = whole[1:-1].decode().splitlines()
    assert lines[0].startswith(("Terraform v", "OpenTofu v")) and lines[1].startswith("on linux_") and lines[2] == "Initializing plugins and modules..."
    types = [json.loads(line)["type"] for line in lines[3:]]
    assert "version" in types and "change_summary" in types


def test_a_log_url_needs_its_signature_and_no_token(api):
    workspace = api.workspace()
    run = applied(api, workspace, ONE)
    _, url = raw_log(api, run, "plan", 65536)
    bare = {"Authorization": None}
    assert api.call("GET", url, headers=bare).status == 200
    at = url.rindex("/signed/") + len("/signed/") + 5
    wrong = url[:at] + ("b" if url[at] == "a" else "a") + url[at + 1:]
    assert api.call("GET", wrong, headers=bare).status in (401, 404)


def test_logs_are_plain_text_without_structured_run_output(api):
    workspace = api.workspace(structured_run_output_enabled=False)
    run = applied(api, workspace, ONE)
    lines = api.log(run).splitlines()
    assert not [line for line in lines if line.startswith("{")]
    assert any("terraform_data.one will be created" in line for line in lines)
    assert any("Apply complete! Resources: 1 added" in line for line in api.log(run, "apply").splitlines())
    assert api.attributes(f"plans/{api.sibling(run, 'plan')}")["resource-additions"] == 1


# ---- results of a run ----


def test_the_json_of_a_plan_is_available_whole_and_redacted(api):
    workspace = api.workspace()
    api.variable(workspace, "word", SECRET, sensitive=True)
    run = api.run_files(workspace, {"main.tf": SAYS})
    api.wait_status(run, "planned")
    plan = api.sibling(run, "plan")
    whole = api.get(f"plans/{plan}/json-output").json
    assert whole["planned_values"] and whole["terraform_version"]
    assert api.get(f"runs/{run}/plan/json-output").json == whole
    redacted = api.get(f"plans/{plan}/json-output-redacted").json
    assert redacted["plan_format_version"] == whole["format_version"]
    assert [change["address"] for change in redacted["resource_changes"]] == ["terraform_data.one"]
    assert "terraform.io/builtin/terraform" in redacted["provider_schemas"]
    assert redacted["output_changes"]["word"]["after_sensitive"] is True
    assert "format_version" in api.get(f"plans/{plan}/json-schema").json


IMPORT = 'import {\n  to = terraform_data.found\n  id = "abc"\n}\n'
FAILS = """
resource "terraform_data" "one" {
  input = "a"
}

resource "terraform_data" "two" {
  lifecycle {
    precondition {
      condition     = terraform_data.one.input == "b"
      error_message = "not today"
    }
  }
}
"""


@pytest.mark.parametrize(("rest", "status"), [("", "planned_and_finished"), (FAILS, "errored")])
def test_configuration_is_generated_for_imported_resources(api, rest, status):
    """Also if the plan fails, since the user may need the configuration to continue."""
    workspace = api.workspace()
    run = api.run_files(workspace, {"main.tf": IMPORT + rest}, allow_config_generation=True, plan_only=True)
    api.wait_status(run, status)
    plan = api.sibling(run, "plan")
    assert api.attributes(f"plans/{plan}")["generated-configuration"] is True
    changes = {change["address"]: change["change"] for change in api.get(f"plans/{plan}/json-output-redacted").json["resource_changes"]}
    assert 'resource "terraform_data" "found"' in changes["terraform_data.found"]["generated_config"]
    refused = api.run_files(workspace, {"main.tf": IMPORT + rest}, plan_only=True)
    api.wait_status(refused, "errored")
    assert api.attributes(f"plans/{api.sibling(refused, 'plan')}")["generated-configuration"] is False


def test_debugging_mode_writes_a_trace_to_the_log(api):
    workspace = api.workspace()
    normal, debugged = (api.run_files(workspace, NONE, plan_only=True, debugging_mode=mode) for mode in (False, True))
    for run in (normal, debugged):
        api.wait_status(run, "planned_and_finished")
    assert "[TRACE]" in api.log(debugged) and "[TRACE]" not in api.log(normal)


def export(api, plan, data_type="sentinel-mock-bundle-v0", kind="plans"):
    relations = {"plan": {"data": {"type": kind, "id": plan}}} if plan else {}
    return api.call("POST", "plan-exports", {"data": {"type": "plan-exports", "attributes": {"data-type": data_type}, "relationships": relations}})


def test_a_plan_export_has_the_mock_data_of_policies(api, site):
    run = api.run_files(api.workspace("exported"), ONE)
    api.wait_status(run, "planned")
    plan = api.sibling(run, "plan")
    exported = export(api, plan)
    assert exported.status == 201 and exported.data["attributes"]["data-type"] == "sentinel-mock-bundle-v0"
    path = f"plan-exports/{exported.data['id']}"
    assert exported.data["attributes"]["status"] == "finished" and api.get(path).data == exported.data
    assert api.get(f"plans/{plan}").data["relationships"]["exports"]["data"] == [{"type": "plan-exports", "id": exported.data["id"]}]
    with tarfile.open(fileobj=io.BytesIO(api.get(f"{path}/download").body)) as archive:
        files = {member.name: archive.extractfile(member).read().decode() for member in archive}
    assert sorted(files) == ["mock-tfconfig-v2.sentinel", "mock-tfconfig.sentinel", "mock-tfplan-v2.sentinel", "mock-tfplan.sentinel", "mock-tfrun.sentinel",
                             "mock-tfstate-v2.sentinel", "mock-tfstate.sentinel", "plan.json", "sentinel.hcl"]
    assert '"terraform_data.one"' in files["mock-tfplan-v2.sentinel"] and "resource_changes = " in files["mock-tfplan-v2.sentinel"]
    assert 'workspace = {' in files["mock-tfrun.sentinel"] and '"exported"' in files["mock-tfrun.sentinel"] and "created_at = " in files["mock-tfrun.sentinel"]
    assert files["sentinel.hcl"].count("mock ") == 10 and 'source = "mock-tfplan-v2.sentinel"' in files["sentinel.hcl"]
    assert json.loads(files["plan.json"]) == api.get(f"plans/{plan}/json-output").json
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute("update plan_exports set expires_at = now() - interval '1 second' where id = %s", [exported.data["id"]])
    late = api.get(path).data["attributes"]
    assert late["status"] == "expired" and late["status-timestamps"]["expired-at"]
    assert api.call("GET", f"{path}/download").status == 404
    assert api.delete(path).status == 204 and api.call("GET", path).status == 404 and api.call("DELETE", path).status == 404


def test_invalid_plan_exports_are_refused(api):
    workspace = api.workspace()
    api.post(f"workspaces/{workspace}/actions/lock")
    unplanned = api.sibling(api.run_files(workspace, ONE), "plan")
    for answer, status, pointer in ((export(api, unplanned), 422, "relationships/plan"), (export(api, None), 422, "relationships/plan"),
                                    (export(api, unplanned, "json"), 422, "attributes/data-type"), (export(api, unplanned, None), 422, "attributes/data-type"),
                                    (export(api, unplanned, 7), 422, "attributes/data-type")):
        assert answer.status == status and answer.json["errors"][0]["source"]["pointer"] == f"/data/{pointer}", answer.text
    for nowhere in ("nonexisting", "plan-0000000000000000", unplanned.replace("plan-", "apply-")):
        assert export(api, nowhere).status == 404
    assert api.call("GET", f"applies/{unplanned.replace('plan-', 'apply-')}/errored-state").status == 404


def test_a_state_version_has_its_resources_and_outputs(api):
    workspace = api.workspace()
    api.variable(workspace, "word", "shown")
    run = applied(api, workspace, {"main.tf": SAYS + 'output "open" {\n  value = [1, "b"]\n}\n'})
    current = api.get(f"workspaces/{workspace}/current-state-version").data
    state = api.state(workspace)
    attributes = current["attributes"]
    assert attributes["status"] == "finalized" and attributes["serial"] == state["serial"] and attributes["lineage"] == state["lineage"]
    assert [(r["type"], r["name"]) for r in attributes["resources"]] == [("terraform_data", "one")]
    assert current["relationships"]["run"]["data"]["id"] == run
    listed = api.get("state-versions", **{"filter[organization][name]": "acme", "filter[workspace][name]": workspace_name(api, workspace)}).data
    assert listed[0]["id"] == current["id"]
    outputs = {o["attributes"]["name"]: o["attributes"] for o in api.get(f"state-versions/{current['id']}/outputs").data}
    assert outputs["word"]["sensitive"] and outputs["word"]["value"] in (None, "shown")
    assert outputs["open"]["value"] == [1, "b"] and outputs["open"]["type"] == "array" and outputs["open"]["detailed-type"] == ["tuple", ["number", "string"]]
    shown = {o["attributes"]["name"]: o["attributes"]["value"] for o in api.get(f"workspaces/{workspace}/current-state-version-outputs").data}
    assert shown == {"word": None, "open": [1, "b"]}


def workspace_name(api, workspace):
    return api.attributes(f"workspaces/{workspace}")["name"]


def test_comments_of_a_run_are_listed(api):
    workspace = api.workspace()
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "planned")
    made = api.post(f"runs/{run}/comments", {"data": {"type": "comments", "attributes": {"body": "looks good"}}}).data
    api.act(run, "apply", "going")
    api.wait_status(run, "applied")
    assert sorted(c["attributes"]["body"] for c in api.get(f"runs/{run}/comments").data) == ["going", "looks good"]
    assert api.attributes(f"comments/{made['id']}")["body"] == "looks good"
    related = api.get(f"runs/{run}").data["relationships"]["comments"]["data"]
    assert len(related) == 2 and made["id"] in [c["id"] for c in related]


def test_timestamps_are_in_the_order_of_the_statuses(api):
    workspace = api.workspace()
    run = applied(api, workspace, ONE)
    times = api.attributes(f"runs/{run}")["status-timestamps"]
    way = ["plan-queueable-at", "plan-queued-at", "planning-at", "planned-at", "confirmed-at", "apply-queued-at", "applying-at", "applied-at"]
    assert [name for name in way if name not in times] == []
    assert sorted(way, key=lambda name: (times[name], way.index(name))) == way
    assert not [name for name in times if name.startswith(("fetch", "cost", "polic", "pre", "post"))]
    for kind, path in (("plan", "plans"), ("apply", "applies")):
        stamps = api.attributes(f"{path}/{api.sibling(run, kind)}")["status-timestamps"]
        assert stamps["queued-at"] <= stamps["started-at"] <= stamps["finished-at"]


def test_a_working_directory_must_exist_and_may_use_modules_above_it(api):
    workspace = api.workspace(working_directory="live/eu")
    files = {"live/eu/main.tf": 'module "m" {\n  source = "../../lib"\n}\n', "lib/main.tf": ONE["main.tf"]}
    applied(api, workspace, files)
    assert api.resources(workspace) == ["terraform_data.one"]
    missing = api.run_files(workspace, ONE)
    assert "live/eu" in api.wait_status(missing, "errored")["error"]


def test_a_cloud_block_in_the_configuration_is_ignored(api):
    workspace = api.workspace()
    files = {"main.tf": 'terraform {\n  cloud {\n    organization = "acme"\n    workspaces {\n      name = "w"\n    }\n  }\n}\n' + ONE["main.tf"]}
    applied(api, workspace, files)


def test_each_run_continues_from_the_last_state(api, site):
    workspace = api.workspace(auto_apply=True)
    serials = []
    for word in ("one", "two", "three"):
        applied(api, workspace, {"main.tf": ONE["main.tf"].replace("hello", word)})
        serials.append(api.state(workspace)["serial"])
    assert serials == sorted(set(serials))
    assert output(api, workspace, "said") == "three"
    until(lambda: not list((site.folder / "worker-1/jobs").iterdir()), "jobs' folders are gone")


def test_an_uploaded_configuration_can_be_downloaded(api):
    workspace = api.workspace()
    version = api.upload(workspace, ONE)
    assert b"terraform_data" in gzip.decompress(api.get(f"configuration-versions/{version}/download").body)


def test_variables_and_tokens_are_encrypted_or_hashed_in_the_database(api, site):
    workspace = api.workspace()
    api.variable(workspace, "word", SECRET)
    applied(api, workspace, {"main.tf": SAYS})
    assert not holds_secret(dump(site.database))
    with psycopg.connect(site.database) as connection:
        token = site.tokens["token"]
        assert connection.execute("select count(*) from tokens where hash = %s", (token,)).fetchone() == (0,)
    assert token.encode() not in dump(site.database)
