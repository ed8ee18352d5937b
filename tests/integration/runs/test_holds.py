# SPDX-License-Identifier: MPL-2.0
"""After a lost apply, its workspace is held until its last state is stored, and none of its states is ever refused."""

import json
import re
import uuid

import pytest

from support.api import Api, ApiError
from support.api_site import open_api_site
from support.browser import Browser, Forms
from support.people import People
from support.runyard import KEYS, Scheduler
from support.wait import until


@pytest.fixture(scope="module")
def fake_worker(api_site):
    return api_site.fake_worker()


def state(serial, *resources, lineage="line"):
    return {"version": 4, "serial": serial, "lineage": lineage, "terraform_version": "1.11.4", "outputs": {},
            "resources": [{"mode": "managed", "type": "terraform_data", "name": name, "provider": 'provider["terraform.io/builtin/terraform"]',
                           "instances": [{"attributes": {"id": name}}]} for name in resources]}


class Workspace:
    """A workspace with runs."""

    def __init__(self, api_site, org, fake_worker):
        self.api_site, self.api, self.fake_worker = api_site, org, fake_worker
        self.id = org.workspace("network", auto_apply=True)
        self.version = org.upload(self.id, {"main.tf": ""})

    def run(self, **attributes):
        return self.api.run(self.id, self.version, **attributes)

    def applying(self, run, *states):
        """The job of the run's apply, which has started and sent these states."""
        self.fake_worker.plan(run)
        job = self.fake_worker.take(run, "apply")
        self.fake_worker.on(job, "POST", "started")
        for sent in states:
            assert self.send(job, sent) is None
        return job

    def send(self, job, sent):
        """None if it is the workspace's current state, otherwise the answer."""
        answer = self.fake_worker.on(job, "PUT", "state", sent)
        return answer.json if answer.body else None

    def refused(self, job, method, what, body=None):
        return self.fake_worker.on(job, method, what, body, check=False).status in (404, 409)

    def released(self, job):
        """The answer to the only release of the job's hold."""
        ((_, text),) = self.api.events(job["run"], "workspace-released")
        return text

    def hold(self, job):
        """The hold's row: worker_id, attempt, stop, engine_ended, and the seconds left until the deadline; None if
        there is none."""
        ((worker, attempt, stop, ended, left),) = self.api_site.ask(
            "select worker_id, attempt, stop, engine_ended, case when isfinite(until) then extract(epoch from until - now()) end "
            "from workspace_holds where job_id = %s", job["job"])
        return worker, attempt, stop, ended, left if left is None else float(left)

    def actions(self, job):
        shown = self.api.attributes(f"runs/{job['run']}")["actions"]
        return shown["is-cancelable"], shown["is-force-cancelable"]

    def heartbeat(self, job):
        """The job in a heartbeat's answer: held, awaited, stop."""
        (answer,) = self.fake_worker.heartbeat(job)
        return answer["held"], answer["awaited"], answer["stop"]

    def lose(self, job):
        """Simulates a whole lease without heartbeats."""
        self.api_site.change("update jobs set lease_until = now() where id = %s", job["job"])
        return self.api.wait_status(job["run"], "errored")

    def settle(self, job):
        self.fake_worker.on(job, "POST", "last-state")

    def lost(self, *states):
        job = self.applying(self.run(), *states)
        self.lose(job)
        return job

    @property
    def shown(self):
        return self.api.get(f"workspaces/{self.id}").data

    def held(self):
        return self.shown["attributes"]["locked-reason"].startswith("Held after ")

    def resources(self):
        return self.api.resources(self.id)

    def detached_states(self):
        return self.api.get("state-versions", **{"filter[organization][name]": self.api.organization, "filter[workspace][name]": "network",
                                                 "filter[status]": "detached"}).data


@pytest.fixture
def workspace(api_site, org, fake_worker):
    return Workspace(api_site, org, fake_worker)


def conflict(call, *arguments):
    with pytest.raises(ApiError) as caught:
        call(*arguments)
    assert caught.value.status == 409, caught.value
    return caught.value.answer.errors()


def audit_actions(api):
    return [(e["resource"]["action"], e["auth"]["accessor_type"]) for e in api.get(f"organizations/{api.organization}/audit-trail").json["data"]
            if e["resource"]["type"] == "workspace"]


def test_a_workspace_is_held_until_its_last_state_arrives(workspace):
    first, second = workspace.run(), workspace.run()
    job = workspace.applying(first, state(1, "one"))
    error = workspace.lose(job)["error"]
    assert "Contact with worker fake-worker was lost" in error and "never tried again" in error and "is held" in error
    shown = workspace.shown
    assert shown["attributes"]["locked"] is True and shown["relationships"]["locked-by"]["data"] == {"type": "runs", "id": first}
    for words in (first, "worker fake-worker", "force-unlock"):
        assert words in shown["attributes"]["locked-reason"]
    hold = shown["attributes"]["hold"]
    assert (hold["run-id"], hold["worker"], hold["engine-ended"], hold["settled"]) == (first, "fake-worker", False, False)
    assert hold["since"] > shown["attributes"]["created-at"] and hold["until"] is None
    assert workspace.api.events(first, "workspace-held")
    assert ("hold", "system") in audit_actions(workspace.api)
    assert workspace.api.status(second) == "pending"
    for what in ("lock", "unlock", "safe-delete"):
        conflict(workspace.api.post, f"workspaces/{workspace.id}/actions/{what}")
    assert "force-unlock it first" in conflict(workspace.api.delete, f"workspaces/{workspace.id}")
    assert "force-unlock it first" in conflict(workspace.api.post, f"runs/{second}/actions/force-execute")
    workspace.fake_worker.plan(workspace.run(plan_only=True))

    # Only states are accepted from the ended attempt.
    for method, what, body in (("PUT", "plan", {}), ("GET", "configuration", None), ("GET", "state", None), ("POST", "started", None),
                               ("PUT", "log?offset=0", {})):
        assert workspace.refused(job, method, what, body), what
    assert workspace.send(job, state(2, "one", "two")) is None and workspace.send(job, state(2, "one", "two")) is None
    assert workspace.resources() == ["terraform_data.one", "terraform_data.two"]
    assert workspace.api.attributes(f"workspaces/{workspace.id}/current-state-version")["recovered"] is True
    assert workspace.held() and workspace.api.status(second) == "pending"

    workspace.settle(job)
    until(lambda: workspace.api.status(second) == "plan_queued", "the queue advances")
    assert workspace.shown["relationships"]["locked-by"]["data"]["id"] == second and not workspace.held()
    assert workspace.shown["attributes"]["hold"] is None
    assert workspace.released(job) == "The last state of the apply has arrived."
    assert audit_actions(workspace.api)[0] == ("release", "system")
    assert workspace.refused(job, "PUT", "state", state(3)) and workspace.refused(job, "POST", "last-state")
    assert workspace.detached_states() == []


def test_force_unlock_ends_the_hold(workspace):
    first, second = workspace.run(), workspace.run()
    job = workspace.applying(first, state(1, "one"))
    workspace.lose(job)
    people = People(workspace.api, workspace.api_site.database)
    member = people.member("m")
    assert member.call("POST", f"workspaces/{workspace.id}/actions/force-unlock").status == 404
    assert workspace.held()
    answer = workspace.api.post(f"workspaces/{workspace.id}/actions/force-unlock", {"reason": "the machine burnt down"}).data
    assert answer["relationships"]["locked-by"]["data"]["id"] == second
    assert workspace.api.status(second) == "plan_queued"
    assert workspace.released(job).endswith(", while its terraform could still run: the machine burnt down")
    assert audit_actions(workspace.api)[0] == ("force_unlock", "user") and ("release", "system") not in audit_actions(workspace.api)

    # The workspace was not written since: the state becomes current, and later plans are stale.
    assert workspace.send(job, state(2, "one", "two")) is None
    assert workspace.resources() == ["terraform_data.one", "terraform_data.two"]
    workspace.settle(job)
    assert workspace.api.status(second) == "plan_queued"


def test_the_deadline_ends_the_hold(workspace, api_site):
    """The deadline is the time of the claim plus the limit that the worker reported with it."""
    workspace.fake_worker = api_site.fake_worker(apply_seconds=1000)
    job = workspace.lost()
    second = workspace.run()
    assert workspace.hold(job)[:4] == (workspace.fake_worker.id, job["attempt"], 0, False)
    assert 1000 - 60 < workspace.hold(job)[4] <= 1000 + 10 + 5
    ((_, text),) = workspace.api.events(job["run"], "workspace-held")
    assert re.search(r"or until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, when the worker must have ended terraform\.$", text), text
    hold = workspace.shown["attributes"]["hold"]
    assert hold["since"] < hold["until"]
    assert re.search(r"or at \d{4}-.* UTC, when that worker must have ended terraform\. Cancel run-", workspace.shown["attributes"]["locked-reason"])
    assert workspace.api.status(second) == "pending"
    workspace.api_site.change("update workspace_holds set until = now() where job_id = %s", job["job"])
    until(lambda: workspace.api.status(second) == "plan_queued", "the queue advances")
    assert "deadline" in workspace.released(job)
    assert audit_actions(workspace.api)[0] == ("release", "system")


def test_a_hold_without_a_deadline_does_not_expire(workspace, api_site):
    """The worker reports no limit, or is of an earlier version, so the end of its terraform is unknown."""
    job = workspace.lost()
    assert workspace.hold(job)[4] is None
    ((_, text),) = workspace.api.events(job["run"], "workspace-held")
    assert text == "The workspace is held until the last state of the apply has arrived."
    assert "The hold ends when that state arrives. Cancel run-" in workspace.shown["attributes"]["locked-reason"]
    lines = Scheduler.run_command("holds", "--json", database_url=api_site.database, keys=KEYS).stdout.splitlines()
    (hold,) = [hold for hold in map(json.loads, lines) if hold["workspace"] == workspace.id]
    assert hold["until"] is None and hold["stop"] == "none"
    # All times that a sweep checks are long past.
    api_site.change("update workspace_holds set began_at = now() - interval '10 years' where job_id = %s", job["job"])
    other = workspace.api_site.organization()
    swept = Workspace(api_site, other, api_site.fake_worker(apply_seconds=1000))
    late = swept.lost()
    api_site.change("update workspace_holds set until = now() where job_id = %s", late["job"])
    until(lambda: not swept.held(), "the sweep has run")
    assert workspace.held()


@pytest.mark.parametrize("seconds", [-1, 8640000 + 86400 + 1, 10 ** 15])
def test_a_claim_with_an_invalid_apply_limit_is_refused(workspace, api_site, seconds):
    fake_worker = workspace.fake_worker
    assert fake_worker.call("POST", "claim", {"worker": fake_worker.id, "slots": 0, "apply-seconds": seconds}, check=False).status == 422


def test_only_an_apply_has_a_deadline(workspace, api_site):
    workspace.fake_worker = api_site.fake_worker(apply_seconds=1000)
    job = workspace.fake_worker.take(workspace.run(), "plan")
    assert api_site.ask("select deadline from jobs where id = %s", job["job"]) == [(None,)]


def test_a_long_hold_raises_an_alert(workspace, api_site):
    def alerts():
        return [line for line in api_site.scheduler.log_lines() if line["msg"].startswith("a workspace is held for long") and line["workspace"] == workspace.id]

    job = workspace.lost()
    api_site.scheduler.metrics()  # gauges are updated only if metrics are read
    until(lambda: api_site.scheduler.metric("runyard_workspaces_held") >= 1, "the gauge counts the hold")
    before = api_site.scheduler.metric("runyard_workspaces_held_long")
    assert not alerts()
    api_site.change("update workspace_holds set began_at = now() - interval '2 hours' where job_id = %s", job["job"])
    until(alerts, "the alert is logged")
    until(lambda: api_site.scheduler.metric("runyard_workspaces_held_long") == before + 1, "the gauge counts the long hold")
    (alert,) = alerts()
    assert (alert["level"], alert["run"], alert["worker"]) == ("warn", job["run"], "fake-worker")
    assert workspace.held()
    workspace.settle(job)
    until(lambda: api_site.scheduler.metric("runyard_workspaces_held_long") == before, "the gauge no longer counts the long hold")
    assert len(alerts()) == 1


def test_a_held_apply_is_canceled_and_then_force_canceled(workspace, api_site):
    """Its run has ended as errored. Its terraform continues on a worker that lost its lease."""
    api = workspace.api
    job = workspace.lost(state(1, "one"))
    second = workspace.run()
    assert workspace.actions(job) == (True, False) and workspace.heartbeat(job) == (False, True, "none")
    assert conflict(api.act, job["run"], "force-cancel")
    api.act(job["run"], "cancel", "it is stuck")
    assert workspace.heartbeat(job) == (False, True, "cancel")
    assert workspace.fake_worker.listen() == [
        {"job": job["job"], "attempt": job["attempt"], "stop": "cancel"}]
    assert workspace.actions(job) == (False, False)
    shown = api.attributes(f"runs/{job['run']}")
    assert shown["status"] == "errored" and shown["canceled-at"] and shown["force-cancel-available-at"]
    assert api.get(f"runs/{job['run']}").data["relationships"]["canceled-by"]["data"]
    assert "canceled already" in conflict(api.act, job["run"], "cancel")
    assert "canceled just now" in conflict(api.act, job["run"], "force-cancel")

    api_site.change("update runs set force_cancel_available_at = now() where id = %s", job["run"])
    assert workspace.actions(job) == (False, True)
    api.act(job["run"], "force-cancel")
    assert workspace.heartbeat(job) == (False, True, "force") and workspace.actions(job) == (False, False)
    assert "force-canceled already" in conflict(api.act, job["run"], "force-cancel")
    assert [action for action, _ in api.events(job["run"]) if "cancel" in action] == ["canceled", "force-canceled"]
    assert [c["attributes"]["body"] for c in api.get(f"runs/{job['run']}/comments").data] == ["it is stuck"]
    audited = [(e["resource"]["action"], e["auth"]["accessor_type"]) for e in api.get(f"organizations/{api.organization}/audit-trail").json["data"]
            if e["resource"]["id"] == job["run"]]
    assert ("cancel", "user") in audited and ("force_cancel", "user") in audited

    # A stop is a request. The worker's report ends the hold.
    assert workspace.held() and api.status(second) == "pending"
    workspace.settle(job)
    until(lambda: api.status(second) == "plan_queued", "the queue advances")
    assert workspace.heartbeat(job) == (False, False, "none")
    assert workspace.fake_worker.heartbeat() == []
    assert "can't be canceled" in conflict(api.act, job["run"], "cancel")


def test_canceling_a_held_apply_needs_the_permission(workspace):
    job = workspace.lost()
    member = People(workspace.api, workspace.api_site.database).member("canceler")
    for action in ("cancel", "force-cancel"):
        assert member.call("POST", f"runs/{job['run']}/actions/{action}").status == 404
    stranger = workspace.api_site.stranger()
    with pytest.raises(ApiError) as caught:
        stranger.act(job["run"], "cancel")
    assert caught.value.status == 404
    assert workspace.hold(job)[2] == 0


def test_a_cancel_before_the_loss_stays_in_effect(workspace):
    """The worker may not have received it."""
    job = workspace.applying(workspace.run())
    workspace.api.act(job["run"], "cancel")
    workspace.lose(job)
    assert workspace.heartbeat(job) == (False, True, "cancel") and workspace.hold(job)[2] == 1


@pytest.mark.parametrize("difference", [1, 2])
def test_a_cancel_of_a_held_apply_does_not_stop_other_attempts(workspace, difference):
    job = workspace.lost()
    workspace.api.act(job["run"], "cancel")
    other = {**job, "attempt": job["attempt"] + difference}
    assert workspace.heartbeat(other) == (False, True, "none")


def test_an_ended_apply_that_owes_its_state_cannot_be_canceled(workspace):
    """No process of the apply is left. Only its state is missing."""
    job = workspace.applying(workspace.run())
    workspace.fake_worker.end(job, "errored", **{"state-owed": True})
    workspace.api.wait_status(job["run"], "errored")
    assert workspace.held() and workspace.hold(job)[3] is True
    assert "the apply has ended on worker fake-worker, and its last state is missing" in workspace.shown["attributes"]["locked-reason"]
    assert workspace.actions(job) == (False, False)
    assert "no terraform of the run is left" in conflict(workspace.api.act, job["run"], "cancel")
    workspace.api.post(f"workspaces/{workspace.id}/actions/force-unlock")
    assert workspace.released(job) == "An operator ended the wait for the last state of the apply."


def test_a_fence_does_not_claim_that_terraform_has_ended(postgres):
    """Commits may be lost: the fenced apply runs on its worker, and of one that waits the claim may be lost."""
    with open_api_site(postgres) as api_site:
        workspaces = [Workspace(api_site, api_site.organization(), api_site.fake_worker()) for _ in range(2)]
        applying, waiting = workspaces
        job, run = applying.applying(applying.run()), waiting.run()
        waiting.fake_worker.plan(run)
        waiting.api.wait_status(run, "apply_queued")
        options = {"database_url": api_site.database, "keys": KEYS}
        Scheduler.run_command("new-epoch", **options)
        for workspace, fenced in ((applying, job["run"]), (waiting, run)):
            workspace.api.wait_status(fenced, "errored")
            hold = workspace.shown["attributes"]["hold"]
            assert (hold["run-id"], hold["worker"], hold["engine-ended"]) == (fenced, "unknown" if workspace is waiting else "fake-worker", False)
            assert "Its terraform may still run" in workspace.shown["attributes"]["locked-reason"]
            workspace.api.act(fenced, "cancel")
        assert applying.heartbeat(job) == (False, True, "cancel") and applying.actions(job) == (False, False)
        done = Scheduler.run_command("holds", "release", applying.id, "gone", **options)
        assert done.stderr.startswith("warning: the terraform of the lost apply may still run.")


# ---- the page ----


class Page:
    """The page of a held workspace, as a user sees it."""

    def __init__(self, workspace, name, password):
        self.path = f"/app/workspaces/{workspace.id}/hold"
        self.browser = Browser(workspace.api.url).sign_in(name, password)
        assert self.browser.status == 200, self.browser.text

    def load(self):
        return self.browser.ask(self.path)

    def buttons(self):
        return [button for form in Forms(self.load().page).all for button in form["buttons"]]

    def press(self, button, **fields):
        form = next(form for form in Forms(self.load().page).all if button in form["buttons"])
        return self.browser.ask(self.path, {**form["fields"], "do": button, **fields})


@pytest.fixture
def owned(api_site):
    """A workspace, and its page as the organization's owner sees it."""
    name = f"u-{uuid.uuid4().hex[:12]}"
    created = api_site.bootstrap(name, name)
    workspace = Workspace(api_site, Api(api_site.scheduler.url, created["token"], name), api_site.fake_worker())
    return workspace, Page(workspace, name, created["password"])


def test_the_page_cancels_and_releases_a_held_apply(owned, api_site):
    workspace, page = owned
    assert page.load().status == 200 and "Not held" in page.browser.text
    job = workspace.lost(state(1, "one"))
    second = workspace.run()
    shown = page.load().text
    for words in (job["run"], "network", "fake-worker", "may still run on that worker", "two of them can change the same resources"):
        assert words in shown, words
    assert page.buttons() == ["cancel", "release"]
    assert "to interrupt it" in page.press("cancel").text
    assert workspace.heartbeat(job) == (False, True, "cancel")
    api_site.change("update runs set force_cancel_available_at = now() where id = %s", job["run"])
    assert page.buttons() == ["force-cancel", "release"]
    page.press("force-cancel")
    assert workspace.heartbeat(job) == (False, True, "force")
    assert page.press("release").status == 422 and page.press("release", reason="x" * 513).status == 422 and workspace.held()
    done = page.press("release", reason="<it> must go on")
    assert done.status == 200 and "Not held" in done.text
    csrf = page.browser.ask("/app/settings/tokens").form("/app/settings/tokens")["fields"]["csrf"]
    assert page.browser.ask(page.path, {"csrf": csrf, "do": "cancel"}).status == 409
    assert workspace.released(job).endswith("while its terraform could still run: <it> must go on")
    until(lambda: workspace.api.status(second) == "plan_queued", "the queue advances")
    actions = [(e["resource"]["type"], e["resource"]["action"]) for e in workspace.api.get(f"organizations/{workspace.api.organization}/audit-trail").json["data"]
           if e["auth"]["accessor_type"] == "user"]
    for action in (("run", "cancel"), ("run", "force_cancel"), ("workspace", "force_unlock")):
        assert action in actions, actions


def test_the_page_needs_permission_and_a_csrf_token(owned, api_site):
    workspace, page = owned
    job = workspace.lost()
    name = f"u-{uuid.uuid4().hex[:12]}"
    other = Page(workspace, name, api_site.bootstrap(name, name)["password"])
    api_site.change("update users set is_site_admin = false where username = %s", name)
    assert other.load().status == 404 and job["run"] not in other.browser.text
    csrf = other.browser.ask("/app/settings/tokens").form("/app/settings/tokens")["fields"]["csrf"]
    for action in ("cancel", "force-cancel", "release", "nonsense", ""):
        assert other.browser.ask(page.path, {"csrf": csrf, "do": action, "reason": "mine"}).status == 404, action
    assert workspace.hold(job)[2] == 0 and workspace.held()
    # The owner's form without the session's CSRF token, or with an unknown action.
    assert page.browser.ask(page.path, {"do": "cancel"}).status == 403
    assert page.press("cancel", do="nonsense").status == 422
    assert workspace.hold(job)[2] == 0
    anonymous = Browser(workspace.api.url).ask(page.path)
    assert "Sign in" in anonymous.text and job["run"] not in anonymous.text


def test_an_organization_with_a_held_workspace_is_not_deleted(workspace):
    """The last state of the apply would have no place any more."""
    api = workspace.api
    job = workspace.lost()
    assert "the workspace network is held until the last state of a lost apply has arrived" in conflict(api.delete, f"organizations/{api.organization}")
    assert workspace.send(job, state(1, "one")) is None
    workspace.settle(job)
    assert api.delete(f"organizations/{api.organization}").status == 204


def test_releasing_a_hold_warns_of_its_risk(workspace, api_site):
    job = workspace.lost()
    assert "two of them can change the same resources" in workspace.shown["attributes"]["locked-reason"]
    done = Scheduler.run_command("holds", "release", workspace.id, "gone", database_url=api_site.database, keys=KEYS)
    assert done.stderr.startswith("warning: the terraform of the lost apply may still run.")
    assert workspace.released(job).endswith("the last state of the apply, while its terraform could still run: gone")


def test_holds_are_listed_and_released_at_the_command_line(workspace, api_site):
    options = {"database_url": api_site.database, "keys": KEYS}
    job = workspace.lost()
    second = workspace.run()
    lines = Scheduler.run_command("holds", "--json", **options).stdout.splitlines()
    (hold,) = [hold for hold in map(json.loads, lines) if hold["workspace"] == workspace.id]
    assert (hold["name"], hold["run"], hold["worker"], hold["organization"]) == ("network", job["run"], "fake-worker", workspace.api.organization)
    titles, *table = Scheduler.run_command("holds", **options).stdout.splitlines()
    assert titles.split()[:2] == ["WORKSPACE", "NAME"] and any(line.split()[:2] == [workspace.id, "network"] for line in table)
    Scheduler.run_command("holds", "release", workspace.id, "by hand", **options)
    assert workspace.api.status(second) == "plan_queued"
    assert workspace.released(job).endswith(": by hand")
    assert audit_actions(workspace.api)[0] == ("release", "system")
    again = Scheduler.run_command("holds", "release", workspace.id, check=False, **options)
    assert again.returncode == 1 and "is not held" in again.stderr


def test_a_late_state_is_detached_after_another_state(workspace):
    job = workspace.lost(state(1, "one"))
    api = workspace.api
    api.post(f"workspaces/{workspace.id}/actions/force-unlock")
    second = workspace.applying(workspace.run())

    # The other apply began with the old state, and would be out of date.
    kept = workspace.send(job, state(9, "one", "two"))
    assert "another apply" in kept["why"]
    assert workspace.resources() == ["terraform_data.one"]
    assert workspace.send(second, state(2, "one", "three")) is None
    workspace.fake_worker.end(second, "passed")
    api.wait_status(second["run"], "applied")
    second_answer = workspace.send(job, state(10, "one", "two", "four"))
    assert second_answer["detached"] == kept["detached"] and "somebody else" in second_answer["why"]
    workspace.settle(job)
    assert workspace.resources() == ["terraform_data.one", "terraform_data.three"]

    (version,) = workspace.detached_states()
    assert version["id"] == kept["detached"] and version["attributes"]["serial"] == 10
    assert [r["name"] for r in api.ask("GET", version["attributes"]["hosted-state-download-url"]).json["resources"]] == ["one", "two", "four"]
    listed = api.get("state-versions", **{"filter[organization][name]": api.organization, "filter[workspace][name]": "network"}).data
    assert version["id"] not in [s["id"] for s in listed] and len(listed) == 2
    shown = workspace.shown
    assert shown["attributes"]["kept-state-versions-count"] == 1
    assert api.ask("GET", workspace.api.url + shown["links"]["kept-state-versions"]).data[0]["id"] == version["id"]
    apply = api.get(f"applies/{api.sibling(job['run'], 'apply')}").data["relationships"]
    assert [s["id"] for s in apply["kept-state-versions"]["data"]] == [version["id"]]
    assert version["id"] not in [s["id"] for s in apply["state-versions"]["data"]]
    assert len(api.events(job["run"], "state-detached")) == 1
    assert api.ask("GET", f"applies/{api.sibling(job['run'], 'apply')}/errored-state").json["serial"] == 10

    # A user can roll back to it.
    api.post(f"workspaces/{workspace.id}/actions/lock")
    api.patch(f"workspaces/{workspace.id}/state-versions", {"data": {"type": "state-versions", "relationships": {
        "rollback-state-version": {"data": {"type": "state-versions", "id": version["id"]}}}}})
    api.post(f"workspaces/{workspace.id}/actions/unlock")
    assert workspace.resources() == ["terraform_data.four", "terraform_data.one", "terraform_data.two"]
    assert api.state(workspace.id)["serial"] == 3


@pytest.mark.parametrize("sent, reason", [(state(5, "one", lineage="other"), "lineage"), (state(1, "one"), "behind")])
def test_a_state_with_another_lineage_or_a_lower_serial_is_detached(workspace, sent, reason):
    job = workspace.applying(workspace.run(), state(2, "two"))
    assert reason in workspace.send(job, sent)["why"]
    assert workspace.send(job, state(3, "three")) is None
    workspace.lose(job)
    for late in (state(5, "one", lineage="other"), state(1, "one", lineage="other")):
        assert "lineage" in workspace.send(job, late)["why"]
    assert workspace.resources() == ["terraform_data.three"] and len(workspace.detached_states()) == 1
    workspace.settle(job)


def test_a_late_state_that_its_apply_has_replaced_changes_nothing(workspace):
    """The request with it waited for the network, while a later state came by the object store."""
    job = workspace.lost(state(1, "one"), state(3, "one", "two"))
    workspace.api.post(f"workspaces/{workspace.id}/actions/force-unlock")
    second = workspace.applying(workspace.run(), state(4, "three"))
    workspace.fake_worker.end(second, "passed")
    workspace.api.wait_status(second["run"], "applied")
    assert workspace.send(job, state(2, "one")) is None
    assert workspace.detached_states() == [] and not workspace.api.events(job["run"], "state-detached")
    for other in (state(3, "other"), state(4, "one", "two", "four"), state(2, "one", lineage="other")):
        assert "somebody else" in workspace.send(job, other)["why"]
    assert workspace.resources() == ["terraform_data.three"] and len(workspace.detached_states()) == 1
    workspace.settle(job)


def test_a_late_state_is_detached_while_a_user_holds_the_lock(workspace):
    job = workspace.lost(state(1, "one"))
    workspace.api.post(f"workspaces/{workspace.id}/actions/force-unlock")
    workspace.api.post(f"workspaces/{workspace.id}/actions/lock")
    assert "locked" in workspace.send(job, state(2, "two"))["why"]
    assert workspace.send(job, state(1, "one")) is None
    assert workspace.resources() == ["terraform_data.one"]


def test_invalid_late_states_are_refused(workspace):
    job = workspace.lost()
    assert workspace.fake_worker.on(job, "PUT", "state", {"serial": 1}, check=False).status == 422
    assert workspace.fake_worker.on({**job, "token": "job.wrong"}, "PUT", "state", state(1), check=False).status == 404
    assert workspace.held()


def test_a_worker_that_returns_before_its_lease_ends_leaves_no_hold(workspace):
    """The worker has no data of the apply any more, so the workspace is not held."""
    first, second = workspace.run(), workspace.run()
    job = workspace.applying(first, state(1, "one"))
    workspace.settle(job)
    assert "was stopped during the apply" in workspace.api.wait_status(first, "errored")["error"]
    assert workspace.api.status(second) == "plan_queued"
    assert not workspace.api.events(first, "workspace-held")
    assert workspace.refused(job, "POST", "last-state")


def test_a_late_result_is_refused_until_the_last_state_arrives(workspace):
    """The worker was stopped until its lease had ended, and terraform ended meanwhile: it does not know of the hold."""
    job = workspace.lost(state(1, "one"))
    result = {"v": 1, "job": job["job"], "attempt": job["attempt"], "run": job["run"], "outcome": "passed", "error": "", "has-changes": False,
              "additions": 0, "changes": 0, "destructions": 0, "imports": 0, "terraform-version": "1.11.4"}
    assert workspace.fake_worker.on(job, "POST", "result", result, check=False).status == 409
    (answer,) = workspace.fake_worker.heartbeat(job)
    assert answer["held"] is False and answer["awaited"] is True
    assert workspace.held() and workspace.api.status(job["run"]) == "errored"
    workspace.settle(job)
    assert not workspace.held()
    (answer,) = workspace.fake_worker.heartbeat(job)
    assert answer["held"] is False and answer["awaited"] is False
    assert workspace.fake_worker.on(job, "POST", "result", result, check=False).status == 204


@pytest.mark.parametrize("outcome, error", [("canceled", ""), ("passed", "The apply succeeded, but its last state has not arrived.")])
def test_a_result_that_owes_a_state_holds_the_workspace(workspace, outcome, error):
    """Workers of earlier versions send such a result as passed, too."""
    run = workspace.run()
    job = workspace.applying(run)
    workspace.fake_worker.end(job, outcome, **{"state-owed": True})
    assert workspace.api.wait_status(run, "errored")["error"] == error
    assert workspace.held()
    assert workspace.send(job, state(1, "one")) is None
    workspace.settle(job)
    assert not workspace.held() and workspace.resources() == ["terraform_data.one"]


def test_an_apply_that_never_started_leaves_no_hold(workspace):
    run = workspace.run()
    workspace.fake_worker.plan(run)
    while workspace.api.status(run) != "errored":
        job = workspace.fake_worker.take(run, "apply")
        workspace.api_site.change("update jobs set lease_until = now() where id = %s", job["job"])
        until(lambda: workspace.api.status(run) in ("apply_queued", "errored"), "its lease ends")
    assert workspace.shown["attributes"]["locked"] is False
    assert workspace.refused(job, "PUT", "state", state(1))


def test_a_plan_token_cannot_settle_a_hold(workspace):
    job = workspace.fake_worker.take(workspace.run(), "plan")
    assert workspace.fake_worker.on(job, "POST", "last-state", check=False).status == 422
