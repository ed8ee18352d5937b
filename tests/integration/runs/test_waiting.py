# SPDX-License-Identifier: MPL-2.0
"""Why a run waits: GET runs/:id/waiting, the run's events, log and page."""

import re
from urllib.parse import urlsplit

import pytest

from support.api import Api
from support.browser import Browser
from support.people import People
from support.receiver import acknowledges
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


def code(org, run):
    return waiting(org, run)["code"]


def page(org, workspace, run=None):
    name = org.attributes(f"workspaces/{workspace}")["name"]
    return f"/app/{org.organization}/workspaces/{name}" + (f"/runs/{run}" if run else "")


def workspace_of(org, run):
    return org.get(f"runs/{run}").data["relationships"]["workspace"]["data"]["id"]


def noted(org, run, action):
    """The event's description, and the log's lines that name it, once they are written."""
    told = until(lambda: org.events(run, f"waiting-for-{action}"), "the run has an event")[0][1]
    assert org.log(run).splitlines().count(f"Waiting: {told}") == 1
    return told


def test_a_run_waits_for_a_worker(api_site, org, pool):
    run = pool.run()
    shown = waiting(org, run)
    assert shown["code"] == "no_worker" and shown["text"] == "No worker in pool pool." and shown["position"] == 1
    assert shown["links"] == [] and shown["eta"] is None
    assert shown["since"] == org.attributes(f"runs/{run}")["status-timestamps"]["plan-queued-at"]
    worker = pool.worker()
    assert code(org, run) == "starting"
    worker.leave()
    api_site.change("update workers set left_at = '2026-11-21T14:02:30Z', seen_at = left_at where id = %s", worker.id)
    assert waiting(org, run)["text"] == "No worker in pool pool since 2026-11-21 14:02 UTC."
    assert noted(org, run, "worker") == "No worker in pool pool since 2026-11-21 14:02 UTC."
    # The worker's output follows the note.
    job = pool.worker().take(run, "plan")
    worker.on(job, "PUT", "log?offset=0", b"Terraform v1.11.4\n")
    assert org.log(run).splitlines()[-1] == "Terraform v1.11.4" and org.log(run).startswith("Waiting: No worker")
    assert waiting(org, run) == {"code": "none", "text": "", "since": None, "eta": None, "position": None, "links": []}


def test_a_run_waits_for_a_free_slot_with_its_position(api_site, org, pool):
    worker = pool.worker(slots=1)
    first = pool.run()
    job = worker.take(first, "plan")
    worker.heartbeat(job)
    runs = [pool.run(), pool.run(), pool.run(plan_only=True)]
    applied = first
    assert [waiting(org, run)["position"] for run in runs] == [1, 2, 3]
    shown = waiting(org, runs[1])
    assert (shown["code"], shown["text"]) == ("slots_busy", "The only worker slot of pool pool is busy: position 2 of 3.")
    assert shown["links"] == [{"text": "position 2 of 3", "href": f"/app/{org.organization}/queue"}] and shown["eta"] is None
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
    shown = waiting(org, run)
    assert (shown["code"], shown["text"]) == ("workspace_locked", 'The workspace is locked by admin: "a change by hand".')
    assert shown["links"] == [{"text": "locked", "href": f"{page(org, workspace)}/settings/locking"}]
    assert noted(org, run, "workspace-locked") == shown["text"]
    org.post(f"workspaces/{workspace}/actions/unlock")
    assert code(org, run) == "no_worker"


def test_a_run_waits_for_earlier_runs_of_its_workspace(org, pool):
    workspace = pool.workspace()
    version = org.upload(workspace, {"main.tf": ""})
    runs = [org.run(workspace, version) for _ in range(3)]
    next_one, last = (waiting(org, run) for run in runs[1:])
    assert next_one["code"] == last["code"] == "behind_run"
    assert re.fullmatch(rf"Behind {runs[0]} \(Planning, \d+ s\)\.", next_one["text"])
    assert re.fullmatch(rf"Behind {runs[0]} \(Planning, \d+ s\)\. Runs between them in the queue: 1\.", last["text"])
    assert next_one["links"] == [{"text": runs[0], "href": page(org, workspace, runs[0])}]
    assert next_one["position"] is None and next_one["since"]


def test_the_first_of_a_locked_workspace_waits_for_the_lock_and_the_others_for_that_run(org, pool):
    workspace = pool.workspace()
    version = org.upload(workspace, {"main.tf": ""})
    org.post(f"workspaces/{workspace}/actions/lock", {"reason": ""})
    first, second = (org.run(workspace, version) for _ in range(2))
    assert waiting(org, first)["text"] == "The workspace is locked by admin."
    assert re.fullmatch(rf"Behind {first} \(Pending, \d+ s\)\.", waiting(org, second)["text"])


def test_a_run_behind_one_that_awaits_confirmation_says_who_may_give_it(api_site, org, pool):
    people = People(org, api_site.database)
    planners, appliers, secret = people.team("planners"), people.team("appliers"), people.team("secret")
    for team in (planners, appliers):
        org.patch(f"teams/{team}", {"data": {"type": "teams", "attributes": {"visibility": "organization"}}})
    planner, applier = people.member("planner", planners), people.member("applier", appliers)
    worker, workspace = pool.worker(), pool.workspace()
    for team, access in ((planners, "plan"), (appliers, "write"), (secret, "write")):
        people.give(team, "workspace", workspace, access)
    version = org.upload(workspace, {"main.tf": ""})
    first, second = org.run(workspace, version), org.run(workspace, version)
    worker.plan(first)
    assert re.fullmatch(rf"Behind {first} \(awaiting confirmation by one of the teams owners, appliers, \d+ s\)\.", waiting(planner, second)["text"])
    assert re.fullmatch(rf"Behind {first} \(awaiting confirmation, which you may give, \d+ s\)\.", waiting(applier, second)["text"])
    shown = waiting(planner, first)
    assert (shown["code"], shown["text"]) == ("needs_confirmation", "Awaiting confirmation by one of the teams owners, appliers.")
    assert shown["since"] == org.attributes(f"runs/{first}")["status-timestamps"]["planned-at"]
    assert shown["links"] == [{"text": "confirmation", "href": f"{page(org, workspace, first)}#confirm"}]
    assert waiting(applier, first)["text"] == waiting(org, first)["text"] == "Awaiting confirmation, which you may give."


def test_a_lock_by_a_secret_team_is_not_named(api_site, org, pool):
    people = People(org, api_site.database)
    team = people.team("hidden")
    workspace = pool.workspace()
    people.give(team, "workspace", workspace, "write")
    token = org.post(f"teams/{team}/authentication-token", {"data": {"type": "authentication-tokens", "attributes": {}}}).data["attributes"]["token"]
    version = org.upload(workspace, {"main.tf": ""})
    Api(org.url, token, org.organization).post(f"workspaces/{workspace}/actions/lock", {"reason": ""})
    run = org.run(workspace, version)
    assert waiting(org, run)["text"] == "The workspace is locked by a team."
    org.patch(f"teams/{team}", {"data": {"type": "teams", "attributes": {"visibility": "organization"}}})
    assert waiting(org, run)["text"] == "The workspace is locked by the team hidden."


def test_a_failed_policy_waits_for_an_override(api_site, org, pool):
    worker, workspace = pool.worker(), pool.workspace()
    policy = org.policy("opa", "mandatory", "package p")
    policies = org.policy_set("opa", [policy], workspace)
    run = org.run_files(workspace, {"main.tf": ""})
    worker.plan(run)
    name = org.attributes(f"policies/{policy}")["name"]
    failed = {"name": name, "enforcement": "mandatory", "status": "failed", "query": "data.p.deny", "output": None, "error": None, "description": None}
    worker.evaluate(run, "opa", "failed", [{"id": policies, "error": None, "outcomes": [failed]}])
    shown = waiting(org, run)
    assert (shown["code"], shown["text"]) == ("needs_override", "Failed policies need an override, which you may give.")
    assert shown["links"] == [{"text": "Failed policies", "href": f"{page(org, workspace, run)}#opa"}]
    org.override(run)
    assert code(org, run) == "needs_confirmation"


def test_a_run_waits_for_a_run_task(org, pool, receiver):
    worker, workspace = pool.worker(), pool.workspace()
    org.attach(workspace, org.task(receiver.service(acknowledges), "scan"), "post_plan")
    run = org.run_files(workspace, {"main.tf": ""})
    worker.plan(run)
    shown = waiting(org, run)
    assert (shown["code"], shown["text"]) == ("run_task", 'Run task "scan" has not taken its request.')
    assert shown["links"] == [{"text": 'Run task "scan"', "href": f"{page(org, workspace, run)}#post_plan"}]


def test_a_canceled_run_waits_until_its_worker_has_stopped(org, pool):
    worker, run = pool.worker(), pool.run()
    job = worker.take(run, "plan")
    org.act(run, "cancel")
    shown = waiting(org, run)
    assert shown["code"] == "stopping" and re.fullmatch(r"Cancel sent to worker fake-worker \d+ s ago; its programs have not ended\.", shown["text"])
    assert shown["since"] == org.attributes(f"runs/{run}")["canceled-at"]
    worker.end(job, "canceled")
    assert code(org, run) == "none"


def test_the_time_until_a_slot_is_free_follows_from_recent_jobs(api_site, org, pool):
    worker = pool.worker(slots=1)
    for _ in range(3):
        run = pool.run()
        worker.end(worker.take(run, "plan"), "failed", error="no")
        api_site.change("update operations set status_timestamps = status_timestamps || "
                        "jsonb_build_object('started-at', (now() - interval '100 seconds')::text, 'finished-at', now()::text) where run_id = %s and worker_id is not null", run)
    worker.heartbeat(worker.take(pool.run(), "plan"))
    runs = [pool.run(), pool.run()]
    first, second = (waiting(org, run) for run in runs)
    assert first["text"] == "The only worker slot of pool pool is busy: position 1 of 2, about 1 min."
    assert second["text"] == "The only worker slot of pool pool is busy: position 2 of 2, about 3 min."
    assert second["since"] < first["eta"] < second["eta"]


def test_lists_of_runs_include_why_each_waits(org, pool, contract):
    runs = [pool.run() for _ in range(2)]
    answer = org.get(f"organizations/{org.organization}/runs", include="waiting").json
    shown = {included["id"]: included["attributes"] for included in answer["included"]}
    assert shown == {run: waiting(org, run) for run in runs}
    assert [item["relationships"]["waiting"]["data"]["id"] for item in answer["data"]] == [item["id"] for item in answer["data"]]
    org.act(runs[0], "discard" if org.status(runs[0]) == "pending" else "cancel")
    assert org.get(f"runs/{runs[0]}", include="waiting").json["data"]["relationships"]["waiting"]["data"] is None


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
    shown = waiting(org, run)
    assert shown["code"] == "workspace_held"
    assert shown["text"] == f"The workspace is held: worker fake-worker was lost in the apply of {lost}, and its last state may still come."
    assert shown["links"] == [{"text": "held", "href": f"{page(org, workspace)}/settings/locking"}, {"text": lost, "href": page(org, workspace, lost)}]
    org.post(f"workspaces/{workspace}/actions/force-unlock", {})
    assert code(org, run) == "starting"


def test_a_planned_run_waits_for_confirmation(org, pool):
    worker, run = pool.worker(), pool.run()
    worker.plan(run)
    assert code(org, run) == "needs_confirmation"
    org.act(run, "discard")
    assert code(org, run) == "none"


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
