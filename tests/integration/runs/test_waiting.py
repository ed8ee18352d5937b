# SPDX-License-Identifier: MPL-2.0
"""Why a run waits: GET runs/:id/waiting, the run's events, log and page."""

import re
from urllib.parse import urlsplit

import pytest

from support.browser import Browser
from support.wait import until


class Pool:
    """A pool of the organization, and workspaces that use it."""

    def __init__(self, api_site, org):
        self.api_site, self.org = api_site, org
        self.id, self.token = org.pool()

    def workspace(self):
        return self.org.workspace(execution_mode="agent", agent_pool_id=self.id)

    def run(self, workspace=None, **attributes):
        return self.org.run_files(workspace or self.workspace(), {"main.tf": ""}, **attributes)

    def worker(self, slots=100):
        worker = self.api_site.fake_worker(self.token)
        worker.slots = slots
        return worker


@pytest.fixture
def pool(api_site, org):
    return Pool(api_site, org)


def waiting(org, run):
    shown = org.get(f"runs/{run}/waiting").data
    assert shown["id"] == run and shown["type"] == "run-waits"
    return shown["attributes"]


def reason(org, run):
    return waiting(org, run)["reason"]


def noted(org, run, action):
    """The event's description, and the log's lines that name it, once they are written."""
    told = until(lambda: org.events(run, f"waiting-for-{action}"), "the run has an event")[0][1]
    assert org.log(run).splitlines().count(f"Waiting: {told}") == 1
    return told


def test_a_run_waits_for_a_worker(api_site, org, pool):
    run = pool.run()
    shown = waiting(org, run)
    assert shown["reason"] == "worker" and shown["description"] == "No worker in pool pool." and shown["position"] == 1
    assert shown["since"] == org.attributes(f"runs/{run}")["status-timestamps"]["plan-queued-at"]
    worker = pool.worker()
    assert waiting(org, run)["reason"] == "claim"
    worker.leave()
    api_site.change("update workers set left_at = '2026-11-21T14:02:30Z', seen_at = left_at where id = %s", worker.id)
    assert waiting(org, run)["description"] == "No worker in pool pool since 2026-11-21 14:02 UTC."
    assert noted(org, run, "worker") == "No worker in pool pool since 2026-11-21 14:02 UTC."
    # The worker's output follows the note.
    job = pool.worker().take(run, "plan")
    worker.on(job, "PUT", "log?offset=0", b"Terraform v1.11.4\n")
    assert org.log(run).splitlines()[-1] == "Terraform v1.11.4" and org.log(run).startswith("Waiting: No worker")
    assert waiting(org, run) == {"reason": "none", "description": "", "since": None, "position": None}


def test_a_run_waits_for_a_free_slot_with_its_position(api_site, org, pool):
    worker = pool.worker(slots=1)
    first = pool.run()
    job = worker.take(first, "plan")
    worker.heartbeat(job)
    runs = [pool.run(), pool.run(), pool.run(plan_only=True)]
    applied = first
    assert [waiting(org, run)["position"] for run in runs] == [1, 2, 3]
    assert waiting(org, runs[1])["description"] == "No slot in pool pool is free, of 1. The run's position is 2."
    worker.end(job, "passed", **{"has-changes": True, "additions": 1})
    org.act(applied, "apply")
    assert waiting(org, applied)["position"] == 1 and [waiting(org, run)["position"] for run in runs] == [2, 3, 4]
    worker.slots = 100
    assert [worker.claim(1)[0]["run"] for _ in range(4)] == [applied, *runs]


def test_positions_follow_the_order_of_claims_across_organizations(api_site, org):
    """Each organization's jobs take turns, and those that run count."""
    worker = api_site.fake_worker()
    other = api_site.organization()
    running = org.run_files(org.workspace(), {"main.tf": ""})
    worker.take(running, "plan")
    runs = [one.run_files(one.workspace(), {"main.tf": ""}) for one in (org, org, other, org, other)]
    places = {waiting(one, run)["position"]: run for run, one in zip(runs, (org, org, other, org, other))}
    assert [worker.claim(1)[0]["run"] for _ in runs] == [places[place] for place in sorted(places)]


def test_a_run_waits_for_a_locked_workspace(org, pool):
    workspace = pool.workspace()
    version = org.upload(workspace, {"main.tf": ""})
    org.post(f"workspaces/{workspace}/actions/lock", {"reason": "a change by hand"})
    run = org.run(workspace, version)
    assert waiting(org, run)["description"] == "The workspace is locked by admin: a change by hand." and reason(org, run) == "workspace-locked"
    assert noted(org, run, "workspace-locked").endswith("a change by hand.")
    org.post(f"workspaces/{workspace}/actions/unlock")
    assert reason(org, run) == "worker"


def test_a_run_waits_for_earlier_runs_of_its_workspace(org, pool):
    workspace = pool.workspace()
    version = org.upload(workspace, {"main.tf": ""})
    runs = [org.run(workspace, version) for _ in range(3)]
    assert reason(org, runs[1]) == reason(org, runs[2]) == "turn"
    assert waiting(org, runs[2])["description"] == f"The workspace's current run is {runs[0]}. Queued before this run: 1."
    assert waiting(org, runs[1])["position"] is None and waiting(org, runs[1])["since"]


def test_a_run_waits_for_a_held_workspace(api_site, org, pool):
    worker = pool.worker()
    workspace = pool.workspace()
    version = org.upload(workspace, {"main.tf": ""})
    lost = org.run(workspace, version, auto_apply=True)
    worker.plan(lost)
    job = worker.take(lost, "apply")
    worker.on(job, "POST", "started")
    api_site.change("update jobs set lease_until = now() where id = %s", job["job"])
    org.wait_status(lost, "errored")
    run = org.run(workspace, version)
    assert reason(org, run) == "workspace-held"
    org.post(f"workspaces/{workspace}/actions/force-unlock", {})
    assert reason(org, run) == "claim"


def test_a_planned_run_waits_for_confirmation(org, pool):
    worker, run = pool.worker(), pool.run()
    worker.plan(run)
    assert waiting(org, run) == {"reason": "confirmation", "description": "A person must confirm or discard the run.", "since": None, "position": None}
    org.act(run, "discard")
    assert reason(org, run) == "none"


def test_the_id_of_a_run_leads_to_its_page(api_site, org, pool):
    run = pool.run()
    browser = Browser(api_site.scheduler.url).sign_in("admin", api_site.tokens["password"])
    found = browser.ask(f"/app/runs/{run}", follow=False)
    assert found.status == 303
    assert re.fullmatch(rf"/app/{org.organization}/workspaces/[^/]+/runs/{run}", urlsplit(found.headers["Location"]).path)
    assert browser.ask("/app/runs/run-AAAAAAAAAAAAAAAA").status == 404
    other = Browser(api_site.scheduler.url).ask(f"/app/runs/{run}", follow=False)
    assert other.status == 303 and "/app/login" in other.headers["Location"]


def test_only_readers_of_a_run_see_why_it_waits(api_site, org, pool):
    run = pool.run()
    stranger = api_site.stranger()
    assert stranger.call("GET", f"runs/{run}/waiting").status == 404
