# SPDX-License-Identifier: MPL-2.0
"""The changes and logs of plans, as pages show them."""

import json

import psycopg
import pytest

from support.engine import time_provider
from support.wait import until

SECRET, NEXT_SECRET = "s3cret-of-the-first-run", "s3cret-of-the-second-run"
HEAD = """
terraform {
  required_providers {
    time = {
      source = "hashicorp/time"
    }
  }
}

variable "word" {
  default = "unset"
}
"""
BEFORE = HEAD + """
resource "time_rotating" "passed" {
  rfc3339       = "2020-01-01T00:00:00Z"
  rotation_days = 1
}

resource "terraform_data" "follows" {
  input = time_rotating.passed.id
}

resource "terraform_data" "old" {
  input = "same"
}

resource "terraform_data" "moved_and_changed" {
  input = "a"
}

resource "terraform_data" "replaced" {
  triggers_replace = { "key" = "one" }
}

resource "terraform_data" "first" {
  input            = 1
  triggers_replace = 1
  lifecycle {
    create_before_destroy = true
  }
}

resource "terraform_data" "secret" {
  input = { shown = "a", list = ["x", var.word], marked = sensitive("quiet-before") }
}

resource "terraform_data" "gone" {
}

resource "terraform_data" "kept" {
}

module "inner" {
  source = "./inner"
  count  = 1
}

output "said" {
  value     = var.word
  sensitive = true
}

check "young" {
  assert {
    condition     = terraform_data.replaced.id != "never"
    error_message = "it is old"
  }
}
"""
AFTER = HEAD + """
resource "time_rotating" "passed" {
  rfc3339       = "2020-01-01T00:00:00Z"
  rotation_days = 1
}

resource "terraform_data" "follows" {
  input = time_rotating.passed.id
}

resource "terraform_data" "new" {
  input = "same"
}

moved {
  from = terraform_data.old
  to   = terraform_data.new
}

resource "terraform_data" "changed" {
  input = "needle-in-the-plan"
}

moved {
  from = terraform_data.moved_and_changed
  to   = terraform_data.changed
}

resource "terraform_data" "replaced" {
  triggers_replace = { "key" = "two" }
}

resource "terraform_data" "first" {
  input            = 1
  triggers_replace = 2
  lifecycle {
    create_before_destroy = true
  }
}

resource "terraform_data" "secret" {
  input = { shown = "a", list = ["x", var.word], marked = sensitive("quiet-after") }
}

removed {
  from = terraform_data.kept
  lifecycle {
    destroy = false
  }
}

import {
  to = terraform_data.found
  id = "abc"
}

resource "terraform_data" "found" {
}

module "inner" {
  source = "./inner"
  count  = 2
}

output "said" {
  value     = var.word
  sensitive = true
}

check "young" {
  assert {
    condition     = terraform_data.replaced.id == "never"
    error_message = "it is old"
  }
}
"""
INNER = {"inner/main.tf": 'resource "terraform_data" "one" {\n  input = "inner"\n}\n'}


@pytest.fixture
def site_api(site, contract):
    return site.api


@pytest.fixture
def planned(api, worker, contract):
    """The plan of a run with every kind of change, and the workspace."""
    time_provider()
    worker()
    workspace = api.workspace()
    variable = api.variable(workspace, "word", SECRET, sensitive=True)
    run = api.run_files(workspace, {"main.tf": BEFORE, **INNER}, auto_apply=True)
    api.wait_status(run, "applied")
    api.patch(f"workspaces/{workspace}/vars/{variable}", {"data": {"type": "vars", "attributes": {"value": NEXT_SECRET}}})
    run = api.run_files(workspace, {"main.tf": AFTER, **INNER})
    api.wait_status(run, "planned")
    return api.sibling(run, "plan"), workspace


def changes_of(api, plan, **query):
    return api.get(f"plans/{plan}/changes", **query).data["attributes"]


def one(api, plan, rows, address):
    (row,) = [row for row in rows if row.get("address") == address]
    answer = api.get(f"plans/{plan}/changes/{row['index']}")
    for secret in (SECRET, NEXT_SECRET, "quiet-before", "quiet-after"):
        assert secret not in answer.text
    assert answer.data["id"] == f"{plan}-{row['index']}"
    return row, answer.data["attributes"]


def test_the_changes_of_a_plan_are_classified_and_redacted(api, planned):
    plan, _ = planned
    summary = changes_of(api, plan)
    assert summary == changes_of(api, plan), "the stored summary is the computed one"
    rows = summary["resource-changes"]
    actions = {row["address"]: (row["action"], row.get("badges"), row.get("previous-address")) for row in rows}
    assert actions == {
        "time_rotating.passed": ("create", None, None),
        "terraform_data.follows": ("update", None, None),
        "terraform_data.new": ("no-op", ["move"], "terraform_data.old"),
        "terraform_data.changed": ("update", ["move"], "terraform_data.moved_and_changed"),
        "terraform_data.replaced": ("delete,create", None, None),
        "terraform_data.first": ("create,delete", None, None),
        "terraform_data.secret": ("update", None, None),
        "terraform_data.gone": ("delete", None, None),
        "terraform_data.kept": ("forget", None, None),
        "terraform_data.found": ("no-op", ["import"], None),
        "module.inner[1].terraform_data.one": ("create", None, None),
    }
    assert summary["counts"] == {"create": 2, "update": 3, "no-op": 3, "move": 2, "import": 1, "delete,create": 1, "create,delete": 1, "delete": 1, "forget": 1}
    assert not summary["truncated"] and summary["risk-hints"] == []

    row, replaced = one(api, plan, rows, "terraform_data.replaced")
    assert row["reason"] == "replace_because_cannot_update" and row["type"] == "terraform_data"
    assert replaced["replace-paths"] == [["triggers_replace"]]
    assert (replaced["before"]["triggers_replace"], replaced["after"]["triggers_replace"]) == ({"key": "one"}, {"key": "two"})
    assert replaced["unknown"]["id"] is True and "id" in row["changed"] and "input" not in row["changed"]

    row, inner = one(api, plan, rows, "module.inner[1].terraform_data.one")
    assert row["module"] == inner["module"] == "module.inner[1]" and inner["list"] == "resource-changes" and inner["name"] == "one"
    assert one(api, plan, rows, "terraform_data.found")[1]["import-id"] == "abc"

    _, secret = one(api, plan, rows, "terraform_data.secret")
    assert secret["before"]["input"] == {"shown": "a", "list": ["x", None], "marked": None}
    assert secret["sensitive"]["input"] == secret["changed"]["input"] == {"list": [False, True], "marked": True}

    drift, gone = one(api, plan, summary["drift"], "time_rotating.passed")
    assert drift["action"] == gone["action"] == "delete" and gone["list"] == "drift"
    assert drift["relevant"] is True
    output, said = one(api, plan, summary["outputs"], "said")
    assert (output["action"], said["before"], said["after"], said["sensitive"], said["changed"]) == ("update", None, None, True, True)
    (check,) = summary["checks"]
    assert (check["address"], check["kind"], check["status"]) == ("check.young", "check", "unknown")

    risky = {"data": {"type": "organizations", "attributes": {"risk-hint-types": ["aws_db_instance", "terraform_data", "time_rotating"]}}}
    assert api.patch(f"organizations/{api.organization}", risky).data["attributes"]["risk-hint-types"] == risky["data"]["attributes"]["risk-hint-types"]
    hints = [{"type": "terraform_data", "action": "delete", "count": 1}, {"type": "terraform_data", "action": "replace", "count": 2}]
    assert changes_of(api, plan) == {**summary, "risk-hints": hints}
    assert changes_of(api, plan, **{"filter[value]": "nothing has this"})["risk-hints"] == hints

    whole = api.get(f"plans/{plan}/changes").text
    assert SECRET not in whole and NEXT_SECRET not in whole and "quiet" not in whole
    assert api.call("GET", f"plans/{plan}/changes/99").status == api.call("GET", f"plans/{plan}/changes/x").status == 404


def test_a_search_for_values_never_matches_sensitive_ones(api, planned):
    plan, _ = planned

    def found(text):
        summary = changes_of(api, plan, **{"filter[value]": text})
        return {row["address"] for name in ("resource-changes", "drift", "outputs") for row in summary[name]}

    assert found("NEEDLE-in-the") == {"terraform_data.changed"}
    assert found(SECRET) == found(NEXT_SECRET) == found("s3cret") == found("quiet") == found("null") == set()
    assert api.call("GET", f"plans/{plan}/changes?filter[value]={'x' * 257}").status == 400


def test_changes_are_stored_once_and_deleted_with_the_run(api, planned, database):
    plan, workspace = planned
    kept = "select b.id, b.size from operation_blobs o join blobs b on b.id = o.blob_id where o.operation_id = %s and o.kind = 'changes'"
    with psycopg.connect(database, autocommit=True) as connection:
        assert connection.execute(kept, [plan]).fetchall() == []
        first = changes_of(api, plan)
        (stored,) = connection.execute(kept, [plan]).fetchall()
        assert changes_of(api, plan) == first and connection.execute(kept, [plan]).fetchall() == [stored]
        # Made from another JSON: it is made again.
        connection.execute("update operation_blobs set blob_id = (select blob_id from operation_blobs where operation_id = %s and kind = 'init') where operation_id = %s and kind = 'json'", [plan, plan])
        assert api.call("GET", f"plans/{plan}/changes").status == 422
        api.delete(f"workspaces/{workspace}")
        until(lambda: not connection.execute("select 1 from blobs where id = %s", [stored[0]]).fetchall(), "the blob is deleted")


def test_there_are_no_changes_without_the_json_of_the_plan(site_api):
    run = site_api.run_files(site_api.workspace(), {"main.tf": "syntax error"})
    site_api.wait_status(run, "errored")
    plan = site_api.sibling(run, "plan")
    assert site_api.call("GET", f"plans/{plan}/changes").status == site_api.call("GET", f"plans/{plan}/changes/0").status == 204
    assert site_api.call("GET", "plans/plan-AAAAAAAAAAAAAAAA/changes").status == 404


# ---- logs ----

LOUD = 'output "many" {\n  value = [for pair in setproduct(range(200), range(300)) : "line ${pair[0]} ${pair[1]} of the output"]\n}\n'


def whole(api, plan, **headers):
    return api.call("GET", f"plans/{plan}/log", headers=headers)


def test_a_log_is_read_whole_and_in_ranges(site_api):
    run = site_api.run_files(site_api.workspace("loud", structured_run_output_enabled=False), {"main.tf": LOUD})
    site_api.wait_status(run, "planned")
    plan = site_api.sibling(run, "plan")
    answer = whole(site_api, plan)
    log = answer.body
    assert len(log) > 1 << 20 and log.decode() == site_api.log(run) and not log.startswith(b"\x02") and not log.endswith(b"\x03")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="loud-{run}-plan.log"'
    for sent, expected in (("bytes=0-9", log[:10]), ("bytes=70000-200000", log[70000:200001]), ("bytes=-7", log[-7:]), (f"bytes={len(log) - 3}-", log[-3:])):
        part = whole(site_api, plan, Range=sent)
        start = log.rindex(expected) if sent.startswith("bytes=-") or sent.endswith("-") else int(sent[6:].split("-")[0])
        assert (part.status, part.body) == (206, expected)
        assert part.headers["Content-Range"] == f"bytes {start}-{start + len(expected) - 1}/{len(log)}"
    assert whole(site_api, plan, Range=f"bytes={len(log)}-").status == 416
    for ignored in ("lines=1-2", "bytes=1-2,4-5", "bytes=x-", "bytes=-"):
        assert whole(site_api, plan, Range=ignored).body == log
    assert site_api.call("GET", f"plans/{plan}/log?format=xml").status == 400
    assert site_api.call("GET", "applies/apply-AAAAAAAAAAAAAAAA/log").status == 404


def test_a_log_as_json_has_an_object_for_each_line(site_api):
    run = site_api.run_files(site_api.workspace(), {"main.tf": 'output "a" {\n  value = 1\n}\n'}, auto_apply=True)
    site_api.wait_status(run, "applied")
    answer = site_api.get(f"applies/{site_api.sibling(run, 'apply')}/log", format="json")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines and all("@message" in line for line in lines)
    assert any("Apply complete" in line["@message"] for line in lines)
    assert answer.headers["Content-Disposition"].endswith('-apply.json"')
