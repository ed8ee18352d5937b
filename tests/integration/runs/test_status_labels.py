# SPDX-License-Identifier: MPL-2.0
# label: quick
"""A run's `status-label`: a more detailed text than its status."""

import pytest


STATE = b'{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "resources": []}'


@pytest.fixture
def fake_worker(api_site):
    return api_site.fake_worker()


def label(org, run):
    shown = org.attributes(f"runs/{run}")
    listed = [item["attributes"]["status-label"] for item in org.get(f"workspaces/{org.get(f'runs/{run}').data['relationships']['workspace']['data']['id']}/runs",
              **{"filter[operation]": "plan_only,plan_and_apply,refresh_only,destroy,empty_apply,save_plan"}).data if item["id"] == run]
    assert listed == [shown["status-label"]]
    return shown["status-label"]


def new_run(org, **attributes):
    return org.run_files(org.workspace(), {"main.tf": ""}, **attributes)


def applying(org, fake_worker):
    """A run whose apply runs."""
    run = new_run(org)
    fake_worker.plan(run)
    org.act(run, "apply")
    job = fake_worker.take(run, "apply")
    fake_worker.on(job, "POST", "started")
    return run, job


def test_waiting_and_discarded_runs_have_their_labels(org, fake_worker):
    run = new_run(org)
    job = fake_worker.take(run, "plan")
    assert label(org, run) == "Planning"
    fake_worker.end(job, "passed", **{"has-changes": True})
    assert org.status(run) == "planned" and label(org, run) == "Needs Confirmation"
    org.act(run, "discard")
    assert label(org, run) == "Discarded"


def test_a_queued_run_is_labeled_pending(org, fake_worker):
    workspace = org.workspace()
    version = org.upload(workspace, {"main.tf": ""})
    fake_worker.plan(org.run(workspace, version))
    behind = org.run(workspace, version)
    assert label(org, behind) == "Pending"
    org.act(behind, "cancel")
    assert label(org, behind) == "Canceled"


def test_successful_runs_have_their_labels(org, fake_worker):
    finished, saved = new_run(org), new_run(org, save_plan=True)
    fake_worker.end(fake_worker.take(finished, "plan"), "passed")
    fake_worker.plan(saved)
    assert (label(org, finished), label(org, saved)) == ("Planned and Finished", "Planned and Saved")
    run, job = applying(org, fake_worker)
    assert label(org, run) == "Applying"
    fake_worker.end(job, "passed", additions=1)
    assert label(org, run) == "Applied"


@pytest.mark.parametrize("outcome", ["failed", "errored"])
def test_the_label_of_an_errored_run_names_the_stage(org, fake_worker, outcome):
    run = new_run(org)
    fake_worker.end(fake_worker.take(run, "plan"), outcome, error="no")
    assert org.status(run) == "errored" and label(org, run) == "Plan Errored"
    run, job = applying(org, fake_worker)
    fake_worker.end(job, outcome, error="no", additions=1)
    assert org.status(run) == "errored" and label(org, run) == "Apply Errored"


def test_policy_stages_have_their_labels(org, fake_worker):
    workspace = org.workspace()
    policies = org.policy_set("opa", [org.policy("opa", "mandatory", "package p")], workspace)
    run = org.run_files(workspace, {"main.tf": ""})
    job = fake_worker.take(run, "plan")
    fake_worker.on(job, "PUT", "plan-json", {"format_version": "1.2", "resource_changes": []})
    fake_worker.end(job, "passed", **{"has-changes": True})
    assert label(org, run) == "Policy Check"
    outcomes = [{"policy_name": "p", "enforcement_level": "mandatory", "query": "data.p.deny", "status": "failed", "description": "", "output": []}]
    fake_worker.evaluate(run, "opa", "failed", [{"id": policies, "error": None, "outcomes": outcomes}])
    assert label(org, run) == "Policy Override"
    org.override(run)
    assert org.status(run) == "policy_checked" and label(org, run) == "Policy Checked"


@pytest.mark.parametrize("numbers, words", [((2, 1, 0), "Canceled, applied: 2 added, 1 changed, 0 destroyed"), ((0, 0, 0), "Canceled, nothing applied")])
def test_the_label_of_a_canceled_apply_counts_its_changes(org, fake_worker, numbers, words):
    run, job = applying(org, fake_worker)
    org.act(run, "cancel")
    assert label(org, run) == "Applying", "its terraform still runs"
    fake_worker.end(job, "canceled", **dict(zip(("additions", "changes", "destructions"), numbers)))
    assert org.status(run) == "canceled" and label(org, run) == words


def test_a_canceled_plan_is_labeled_canceled(org, fake_worker):
    run = new_run(org)
    job = fake_worker.take(run, "plan")
    org.act(run, "cancel")
    fake_worker.end(job, "canceled", additions=7)
    assert label(org, run) == "Canceled"
