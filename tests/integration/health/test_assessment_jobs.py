# SPDX-License-Identifier: MPL-2.0
"""Which assessments begin, who claims their jobs, and what ends them."""

import json

import pytest

from support.assessed import Assessments, found, state_of
from support.fake_worker import FakeWorker
from support.synthetic import NOTHING
from support.wait import until

ENGINE = ["terraform 1.11.4", "opa", "sentinel", "cost"]


class Site:
    """What Assessments needs of a site."""

    def __init__(self, ask):
        self.ask = ask


@pytest.fixture
def make(api, tokens, ask):
    """make(slots) is a worker with its Assessments."""

    def make(slots=1, *refused):
        worker = FakeWorker(api.url, tokens["agent-token"], slots=slots, capabilities=[*ENGINE, *(f"no {kind}" for kind in refused)])
        return Assessments(Site(ask), api, worker)

    return make


def due(ask, *workspaces):
    ask("update workspaces set latest_change_at = now() - interval '2 days', assess_at = now() where id = any(%s)", list(workspaces))


def underway(ask):
    return {row[0] for row in ask("select workspace_id from assessments")}


def test_a_run_is_claimed_before_an_assessment(make, api, ask):
    health = make()
    first, second = health.workspace("first", "one"), health.workspace("second", "one")
    due(ask, first)
    until(lambda: underway(ask) == {first}, "the assessment begins")
    run = api.run_files(second, NOTHING)
    (job,) = health.worker.claim()
    assert job["run"] == run
    health.worker.end(job)
    api.wait_status(run, "planned_and_finished")
    (job,) = health.worker.claim()
    assert job["workspace"]["id"] == first and job["stage"] == "plan"


def test_a_pool_has_as_many_assessments_as_its_share_of_slots(make, ask):
    health = make(8)
    workspaces = [health.workspace(f"w{number}", "one") for number in range(4)]
    health.worker.heartbeat()
    due(ask, *workspaces)
    until(lambda: len(underway(ask)) == 2, "a quarter of eight slots")
    job = health.job(next(iter(underway(ask))))
    health.end(job["workspace"]["id"], job, {"format_version": "1.2"})
    until(lambda: len(underway(ask)) == 2 and job["workspace"]["id"] not in underway(ask), "the next one begins")


def test_a_worker_that_does_not_accept_assessments_gets_none(make, ask):
    refuses = make(1, "assessment")
    workspace = refuses.workspace("w", "one")
    due(ask, workspace)
    until(lambda: underway(ask) == {workspace}, "the assessment begins")
    assert refuses.worker.claim() == []
    (job,) = make().worker.claim()
    assert job["workspace"]["id"] == workspace


def test_a_job_that_waits_while_no_slot_is_free_cancels_an_assessment(make, api, ask):
    health = make()
    first, second = health.workspace("first", "one"), health.workspace("second", "one")
    health.ask(first)
    job = health.job(first)
    health.worker.heartbeat(job)
    run = api.run_files(second, NOTHING)
    until(lambda: health.worker.lease(job)[1] == "cancel", "the assessment is asked to stop")
    health.worker.end(job, "canceled")
    until(lambda: underway(ask) == set(), "the assessment has ended")
    assert api.get(f"workspaces/{first}/assessment-results").data == []
    (job,) = health.worker.claim()
    assert job["run"] == run


def test_an_assessment_that_does_not_stop_is_killed(make, api, ask):
    health = make()
    workspace = health.workspace("w", "one")
    health.ask(workspace)
    job = health.job(workspace)
    api.run_files(workspace, NOTHING)
    assert health.worker.lease(job)[1] == "cancel"
    ask("update runs set canceled_at = now() - interval '1 minute' where id = %s", job["run"])
    until(lambda: health.worker.lease(job)[1] == "force", "the assessment is killed")


def test_an_assessment_whose_worker_is_lost_is_tried_again(make, ask):
    health = make()
    workspace = health.workspace("w", "one")
    health.ask(workspace)
    job = health.job(workspace)
    ask("update jobs set lease_until = now() - interval '1 second' where id = %s", job["job"])
    again = until(lambda: health.worker.claim(), "the job is offered again")[0]
    assert (again["job"], again["attempt"]) == (job["job"], 2)
    assert not health.end(workspace, again, {"format_version": "1.2"})["attributes"]["drifted"]


def test_an_assessment_of_an_earlier_state_gives_no_result(make, api, ask):
    health = make()
    workspace = health.workspace("w", "one")
    health.ask(workspace)
    job = health.job(workspace)
    health.push(workspace, state_of("two"), 2)
    health.worker.on(job, "PUT", "plan-json", json.dumps(found(["one"])).encode())
    health.worker.end(job)
    until(lambda: underway(ask) == set(), "the assessment has ended")
    assert api.get(f"workspaces/{workspace}/assessment-results").data == []
    assert ask("select drifted, assess_at > now() from workspaces where id = %s", workspace) == [(False, True)]
    assert health.assess(workspace, found(["two"]))["attributes"]["drifted"]


def test_quotas_have_no_place_for_assessments(make, api, ask):
    """An assessment takes no place of the quota, so a run finds one."""
    health = make(2)
    first, second = health.workspace("first", "one"), health.workspace("second", "one")
    ask("insert into run_quotas (organization_id, runs) select organization_id, 1 from workspaces where id = %s", first)
    health.ask(first)
    health.job(first)
    run = api.run_files(second, NOTHING)
    (job,) = health.worker.claim()
    assert job["run"] == run


def test_the_first_assessments_of_an_organization_are_spread_over_its_period(api, ask):
    workspaces = [api.workspace(f"w{number}") for number in range(40)]
    assert ask("select count(*) from workspaces where assess_at is not null") == [(0,)]
    api.patch(f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"assessments-enforced": True, "assessment-hours": 10}}})
    hours = [float(row[0]) for row in ask("select extract(epoch from assess_at - now()) / 3600 from workspaces where id = any(%s)", workspaces)]
    assert len(hours) == 40 and min(hours) < 3 and max(hours) > 7 and max(hours) <= 10
    api.patch(f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"assessments-enforced": False}}})
    assert ask("select count(*) from workspaces where assess_at is not null") == [(0,)]


def test_only_the_newest_results_are_kept(make, ask):
    health = make()
    workspace = health.workspace("w", "one")
    ask("insert into assessment_results (id, workspace_id, succeeded) select 'asmtres-old' || n, %s, true from generate_series(1, 120) n", workspace)
    health.assess(workspace, {"format_version": "1.2"})
    assert ask("select count(*) from assessment_results where workspace_id = %s", workspace) == [(100,)]
    assert ask("select count(*) from runs where workspace_id = %s and assessment", workspace) == [(1,)]
