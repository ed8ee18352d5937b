# SPDX-License-Identifier: MPL-2.0
"""A run's `status-label`: a more detailed text than its status."""

import pytest

from support.office import Hands

STATE = b'{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "resources": []}'


@pytest.fixture
def hands(office):
    return Hands(office)


def label(org, run):
    shown = org.attributes(f"runs/{run}")
    listed = [item["attributes"]["status-label"] for item in org.get(f"workspaces/{org.get(f'runs/{run}').data['relationships']['workspace']['data']['id']}/runs",
              **{"filter[operation]": "plan_only,plan_and_apply,refresh_only,destroy,empty_apply,save_plan"}).data if item["id"] == run]
    assert listed == [shown["status-label"]]
    return shown["status-label"]


def new_run(org, **attributes):
    return org.run_files(org.workspace(), {"main.tf": ""}, **attributes)


def applying(org, hands):
    """A run whose apply runs."""
    run = new_run(org)
    hands.plan(run)
    org.act(run, "apply")
    job = hands.take(run, "apply")
    hands.call("POST", f"jobs/{job['job']}/started", job["token"])
    return run, job


def test_a_run_that_rests_says_where(org, hands):
    run = new_run(org)
    job = hands.take(run, "plan")
    assert label(org, run) == "Planning"
    hands.end(job, "passed", **{"has-changes": True})
    assert org.status(run) == "planned" and label(org, run) == "Needs Confirmation"
    org.act(run, "discard")
    assert label(org, run) == "Discarded"


def test_a_run_that_is_behind_another_is_pending(org, hands):
    workspace = org.workspace()
    version = org.upload(workspace, {"main.tf": ""})
    hands.plan(org.run(workspace, version))
    behind = org.run(workspace, version)
    assert label(org, behind) == "Pending"
    org.act(behind, "cancel")
    assert label(org, behind) == "Canceled"


def test_runs_that_end_well(org, hands):
    finished, saved = new_run(org), new_run(org, save_plan=True)
    hands.end(hands.take(finished, "plan"), "passed")
    hands.plan(saved)
    assert (label(org, finished), label(org, saved)) == ("Planned and Finished", "Planned and Saved")
    run, job = applying(org, hands)
    assert label(org, run) == "Applying"
    hands.end(job, "passed", additions=1)
    assert label(org, run) == "Applied"


@pytest.mark.parametrize("outcome", ["failed", "errored"])
def test_an_error_names_its_stage(org, hands, outcome):
    run = new_run(org)
    hands.end(hands.take(run, "plan"), outcome, error="no")
    assert org.status(run) == "errored" and label(org, run) == "Plan Errored"
    run, job = applying(org, hands)
    hands.end(job, outcome, error="no", additions=1)
    assert org.status(run) == "errored" and label(org, run) == "Apply Errored"


def test_a_policy_awaits_an_override(org, hands):
    workspace = org.workspace()
    policies = org.policy_set("opa", [org.policy("opa", "mandatory", "package p")], workspace)
    run = org.run_files(workspace, {"main.tf": ""})
    job = hands.take(run, "plan")
    hands.call("PUT", f"jobs/{job['job']}/plan-json", job["token"], {"format_version": "1.2", "resource_changes": []})
    hands.end(job, "passed", **{"has-changes": True})
    assert label(org, run) == "Policy Check"
    outcomes = [{"policy_name": "p", "enforcement_level": "mandatory", "query": "data.p.deny", "status": "failed", "description": "", "output": []}]
    hands.evaluate(run, "opa", "failed", [{"id": policies, "error": None, "outcomes": outcomes}])
    assert label(org, run) == "Policy Override"
    org.override(run)
    assert org.status(run) == "policy_checked" and label(org, run) == "Policy Checked"


@pytest.mark.parametrize("numbers, words", [((2, 1, 0), "Canceled, applied: 2 added, 1 changed, 0 destroyed"), ((0, 0, 0), "Canceled, nothing applied")])
def test_a_canceled_apply_says_what_it_did(org, hands, numbers, words):
    run, job = applying(org, hands)
    org.act(run, "cancel")
    assert label(org, run) == "Applying", "its terraform still runs"
    hands.end(job, "canceled", **dict(zip(("additions", "changes", "destructions"), numbers)))
    assert org.status(run) == "canceled" and label(org, run) == words


def test_a_canceled_plan_applied_nothing(org, hands):
    run = new_run(org)
    job = hands.take(run, "plan")
    org.act(run, "cancel")
    hands.end(job, "canceled", additions=7)
    assert label(org, run) == "Canceled"
