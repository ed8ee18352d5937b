# SPDX-License-Identifier: MPL-2.0
"""Health assessments with the real engine: what has drifted, and which checks do not hold."""

import json

import pytest

from support.gate import Gate
from support.servers import DEPS
from support.wait import until

HEAD = """
terraform {
  required_providers {
    time = {
      source = "hashicorp/time"
    }
  }
}
"""
# The provider drops a rotation that has passed when it refreshes: the resource is gone behind terraform's back.
PASSED = """
resource "time_rotating" "passed" {
  rfc3339       = "2020-01-01T00:00:00Z"
  rotation_days = 1
}
"""
STABLE = 'resource "terraform_data" "stable" {\n  input = "same"\n}\n'
CHECK = 'check "door" {\n  assert {\n    condition     = terraform_data.stable.output == "same" && fileexists("%s")\n    error_message = "the door is missing"\n  }\n}\n'


@pytest.fixture(scope="module")
def api(full_site):
    full_site.worker.options["provider_mirror"] = DEPS / "mirror"
    full_site.worker.restart()
    return full_site.api


def assessed(api, workspace, number=1):
    """The newest result, once there are so many."""
    results = until(lambda: (found := api.get(f"workspaces/{workspace}/assessment-results").data) and len(found) >= number and found,
                    lambda: (api.get(f"workspaces/{workspace}/health").json, api.get(f"workspaces/{workspace}/assessment-results").json))
    return results[0]


def assess(site, workspace):
    """Another assessment, as if the minute had passed that must be between two."""
    site.ask("update assessment_results set created_at = created_at - interval '2 minutes' where workspace_id = %s", workspace)
    site.ask("update workspaces set latest_change_at = latest_change_at - interval '2 minutes' where id = %s", workspace)
    before = len(site.api.get(f"workspaces/{workspace}/assessment-results").data)
    answer = site.api.post(f"workspaces/{workspace}/health/actions/assess")
    assert answer.status == 202, answer.json
    return assessed(site.api, workspace, before + 1)


def applied(api, configuration, **attributes):
    workspace = api.workspace(auto_apply=True, assessments_enabled=True, **attributes)
    run = api.run_files(workspace, {"main.tf": configuration})
    api.wait_status(run, "applied")
    return workspace


def test_drift_is_found_and_notified_once(full_site, api, hooks):
    workspace = applied(api, HEAD + PASSED + STABLE)
    hook = hooks.hook()
    api.post(f"workspaces/{workspace}/notification-configurations", {"data": {"type": "notification-configurations", "attributes": {
        "name": "n", "enabled": True, "destination-type": "generic", "url": hook.url,
        "triggers": ["assessment:drifted", "assessment:failed", "assessment:check_failure"]}}})
    result = assess(full_site, workspace)
    shown = result["attributes"]
    assert (shown["succeeded"], shown["drifted"], shown["resources-drifted"], shown["resources-undrifted"]) == (True, True, 1, 1), shown
    told = until(lambda: [call.document for call in hook.calls if "trigger_scope" in call.document], "a notification")
    assert told[0]["trigger"] == "assessment:drifted" and told[0]["trigger_scope"] == "assessment" and told[0]["message"] == "Drift Detected"
    assert told[0]["details"]["new_assessment_result"]["id"] == result["id"] and told[0]["details"]["new_assessment_result"]["resources_drifted"] == 1
    assert told[0]["details"]["prior_assessment_result"] is None

    changes = api.get(f"plans/{result['relationships']['plan']['data']['id']}/changes").data["attributes"]
    assert [(row["address"], row["action"], row["relevant"]) for row in changes["drift"]] == [("time_rotating.passed", "delete", True)]
    again = assess(full_site, workspace)
    assert again["attributes"]["drifted"] and again["id"] != result["id"]
    assert full_site.ask("select count(*) from notifications where assessment_id = %s", again["id"]) == [(0,)]

    # Nothing of it is a run of the workspace.
    assert [run["attributes"]["status"] for run in api.get(f"workspaces/{workspace}/runs").data] == ["applied"]
    assert [run["attributes"]["source"] for run in api.get(f"workspaces/{workspace}/runs?filter[operation]=plan_only").data] == []
    assert api.get(f"workspaces/{workspace}").data["attributes"]["workspace-kpis-runs-count"] == 1
    assert json.loads(api.call("GET", f"assessment-results/{result['id']}/json-output").body)["resource_drift"]
    assert "time_rotating.passed" in api.call("GET", f"assessment-results/{result['id']}/log-output").text


def test_a_failing_check_is_shown_notified_and_cleared(full_site, api, hooks):
    door = full_site.gates / "door"
    door.touch()
    workspace = applied(api, STABLE + CHECK % door)
    hook = hooks.hook()
    api.post(f"workspaces/{workspace}/notification-configurations", {"data": {"type": "notification-configurations", "attributes": {
        "name": "n", "enabled": True, "destination-type": "generic", "url": hook.url, "triggers": ["assessment:check_failure"]}}})
    result = assess(full_site, workspace)["attributes"]
    assert (result["checks-passed"], result["checks-failed"], result["all-checks-succeeded"], result["drifted"]) == (1, 0, True, False), result
    door.unlink()
    result = assess(full_site, workspace)
    shown = result["attributes"]
    assert (shown["succeeded"], shown["checks-passed"], shown["checks-failed"], shown["all-checks-succeeded"]) == (True, 0, 1, False), shown
    until(lambda: [call for call in hook.calls if call.document.get("trigger") == "assessment:check_failure"], "a notification")
    changes = api.get(f"plans/{result['relationships']['plan']['data']['id']}/changes").data["attributes"]
    assert [(row["address"], row["status"], row["problems"]) for row in changes["checks"]] == [("check.door", "fail", ["the door is missing"])]
    included = api.get(f"workspaces/{workspace}?include=current-assessment-result").json["included"]
    assert [one["id"] for one in included] == [result["id"]]
    door.touch()
    assert assess(full_site, workspace)["attributes"]["all-checks-succeeded"]


def test_a_run_cancels_the_assessment_of_its_workspace(full_site, api):
    gate = Gate(full_site.gates, "blocked")
    (full_site.gates / "plain").touch()
    workspace = applied(api, STABLE + f'variable "path" {{\n  default = "{full_site.gates}/plain"\n}}\noutput "read" {{\n  value = file(var.path)\n}}\n')
    api.variable(workspace, "path", str(gate.path))
    assert api.post(f"workspaces/{workspace}/health/actions/assess").status == 202
    gate.wait()
    assert api.get(f"workspaces/{workspace}/health").data["attributes"]["is-underway"]
    run = api.run(workspace)
    until(lambda: not api.get(f"workspaces/{workspace}/health").data["attributes"]["is-underway"], "the assessment has ended")
    gate.left()
    gate.open()
    api.wait_status(run, "planned_and_finished")
    assert api.get(f"workspaces/{workspace}/assessment-results").data == []
    assert full_site.ask("select count(*) from runs where workspace_id = %s and assessment", workspace) == [(0,)]


def test_an_errored_run_pauses_the_assessments(full_site, api):
    workspace = applied(api, STABLE)
    run = api.run_files(workspace, {"main.tf": "nonsense"})
    api.wait_status(run, "errored")
    health = api.get(f"workspaces/{workspace}/health").data["attributes"]
    assert health["enabled"] and health["refusal"] == "The last run of the workspace did not succeed. Assessments go on after a run that does.", health
    answer = api.call("POST", f"workspaces/{workspace}/health/actions/assess", b"")
    assert answer.status == 409 and health["refusal"] in answer.errors(), answer.json
    api.wait_status(api.run_files(workspace, {"main.tf": STABLE}), "planned_and_finished")
    assert api.get(f"workspaces/{workspace}/health").data["attributes"]["refusal"] is None


def test_a_failed_assessment_says_why(full_site, api):
    workspace = applied(api, 'variable "word" {\n  default = "a"\n}\n' + STABLE)
    api.variable(workspace, "word", "[", hcl=True)
    shown = assess(full_site, workspace)["attributes"]
    assert not shown["succeeded"] and shown["error-msg"], shown


def test_assessments_that_are_due_are_made_and_planned_again(full_site, api):
    workspace = applied(api, STABLE)
    planned = full_site.ask("select assess_at between now() and now() + interval '1 day' from workspaces where id = %s", workspace)
    assert planned == [(True,)]
    full_site.ask("update workspaces set assess_at = now(), latest_change_at = now() - interval '2 days' where id = %s", workspace)
    assert not assessed(api, workspace)["attributes"]["drifted"]
    assert full_site.ask("select assess_at > now() + interval '23 hours' from workspaces where id = %s", workspace) == [(True,)]
    api.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"assessments-enabled": False}}})
    assert full_site.ask("select assess_at from workspaces where id = %s", workspace) == [(None,)]
