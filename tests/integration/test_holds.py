# SPDX-License-Identifier: MPL-2.0
# label: full
"""After a lost apply: its workspace is held until its last state is here, and no state of it is ever turned away."""

import json

import pytest

from support.api import ApiError
from support.office import Hands
from support.people import People
from support.runyard import KEYS, Scheduler
from support.wait import until


@pytest.fixture(scope="module")
def hands(office):
    return Hands(office)


def state(serial, *resources, lineage="line"):
    return {"version": 4, "serial": serial, "lineage": lineage, "terraform_version": "1.11.4", "outputs": {},
            "resources": [{"mode": "managed", "type": "terraform_data", "name": name, "provider": 'provider["terraform.io/builtin/terraform"]',
                           "instances": [{"attributes": {"id": name}}]} for name in resources]}


class Place:
    """A workspace with runs in it."""

    def __init__(self, office, org, hands):
        self.office, self.api, self.hands = office, org, hands
        self.id = org.workspace("network", auto_apply=True)
        self.version = org.upload(self.id, {"main.tf": ""})

    def run(self, **attributes):
        return self.api.run(self.id, self.version, **attributes)

    def applying(self, run, *states):
        """The job of the run's apply, which has started and sent these states."""
        self.hands.plan(run)
        job = self.hands.take(run, "apply")
        self.hands.call("POST", f"jobs/{job['job']}/started", job["token"])
        for sent in states:
            assert self.send(job, sent) is None
        return job

    def send(self, job, sent):
        """None if it is the workspace's now, else what was answered."""
        return self.hands.call("PUT", f"jobs/{job['job']}/state", job["token"], sent)

    def refused(self, job, method, what, body=None):
        return self.hands.status(method, f"jobs/{job['job']}/{what}", job["token"], body) in (404, 409)

    def lose(self, job):
        """No heartbeat has come for a whole lease."""
        self.office.change("update jobs set lease_until = now() where id = %s", job["job"])
        return self.api.wait_status(job["run"], "errored")

    def settle(self, job):
        self.hands.call("POST", f"jobs/{job['job']}/last-state", job["token"])

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

    def kept(self):
        return self.api.get("state-versions", **{"filter[organization][name]": self.api.organization, "filter[workspace][name]": "network",
                                                 "filter[status]": "kept_beside"}).data


@pytest.fixture
def place(office, org, hands):
    return Place(office, org, hands)


def conflict(call, *arguments):
    with pytest.raises(ApiError) as caught:
        call(*arguments)
    assert caught.value.status == 409, caught.value
    return caught.value.answer.errors()


def deeds(api):
    return [(e["resource"]["action"], e["auth"]["accessor_type"]) for e in api.get(f"organizations/{api.organization}/audit-trail").json["data"]
            if e["resource"]["type"] == "workspace"]


def test_it_is_held_until_its_last_state_is_here(place):
    first, second = place.run(), place.run()
    job = place.applying(first, state(1, "one"))
    error = place.lose(job)["error"]
    assert "Contact with worker hands was lost" in error and "never tried again" in error and "is held" in error
    shown = place.shown
    assert shown["attributes"]["locked"] is True and shown["relationships"]["locked-by"]["data"] == {"type": "runs", "id": first}
    for told in (first, "worker hands", "force-unlock"):
        assert told in shown["attributes"]["locked-reason"]
    assert place.api.events(first, "workspace-held")
    assert ("hold", "system") in deeds(place.api)
    assert place.api.status(second) == "pending"
    for what in ("lock", "unlock", "safe-delete"):
        conflict(place.api.post, f"workspaces/{place.id}/actions/{what}")
    assert "force-unlock it first" in conflict(place.api.delete, f"workspaces/{place.id}")
    assert "force-unlock it first" in conflict(place.api.post, f"runs/{second}/actions/force-execute")
    place.hands.plan(place.run(plan_only=True))

    # Of the attempt that is over only states are taken.
    for method, what, body in (("PUT", "plan", {}), ("GET", "configuration", None), ("GET", "state", None), ("POST", "started", None),
                               ("PUT", "log?offset=0", {})):
        assert place.refused(job, method, what, body), what
    assert place.send(job, state(2, "one", "two")) is None and place.send(job, state(2, "one", "two")) is None
    assert place.resources() == ["terraform_data.one", "terraform_data.two"]
    assert place.api.attributes(f"workspaces/{place.id}/current-state-version")["recovered"] is True
    assert place.held() and place.api.status(second) == "pending"

    place.settle(job)
    until(lambda: place.api.status(second) == "plan_queued", "the queue goes on")
    assert place.shown["relationships"]["locked-by"]["data"]["id"] == second and not place.held()
    assert place.api.events(first, "workspace-released") == [("workspace-released", "The last state of the apply has arrived.")]
    assert deeds(place.api)[0] == ("release", "system")
    assert place.refused(job, "PUT", "state", state(3)) and place.refused(job, "POST", "last-state")
    assert place.kept() == []


def test_an_operator_ends_it(place):
    first, second = place.run(), place.run()
    job = place.applying(first, state(1, "one"))
    place.lose(job)
    people = People(place.api, place.office.database)
    member = people.member("m")
    assert member.call("POST", f"workspaces/{place.id}/actions/force-unlock").status == 404
    assert place.held()
    answer = place.api.post(f"workspaces/{place.id}/actions/force-unlock", {"reason": "the machine burnt down"}).data
    assert answer["relationships"]["locked-by"]["data"]["id"] == second
    assert place.api.status(second) == "plan_queued"
    ((_, told),) = place.api.events(first, "workspace-released")
    assert told.endswith(": the machine burnt down")
    assert deeds(place.api)[0] == ("force_unlock", "user") and ("release", "system") not in deeds(place.api)

    # Nobody else has written since: its state is the workspace's, and what was planned meanwhile is stale.
    assert place.send(job, state(2, "one", "two")) is None
    assert place.resources() == ["terraform_data.one", "terraform_data.two"]
    place.settle(job)
    assert place.api.status(second) == "plan_queued"


def test_its_time_ends_it(place):
    job = place.lost()
    second = place.run()
    assert place.api.status(second) == "pending"
    place.office.change("update workspace_holds set until = now() where job_id = %s", job["job"])
    until(lambda: place.api.status(second) == "plan_queued", "the queue goes on")
    ((_, told),) = place.api.events(job["run"], "workspace-released")
    assert "time" in told
    assert deeds(place.api)[0] == ("release", "system")


def test_at_the_command_line(place, office):
    options = {"database_url": office.database, "keys": KEYS}
    job = place.lost()
    second = place.run()
    lines = Scheduler.run_command("holds", **options).stdout.splitlines()
    (hold,) = [hold for hold in map(json.loads, lines) if hold["workspace"] == place.id]
    assert (hold["name"], hold["run"], hold["worker"], hold["organization"]) == ("network", job["run"], "hands", place.api.organization)
    Scheduler.run_command("holds", "release", place.id, "by hand", **options)
    assert place.api.status(second) == "plan_queued"
    assert place.api.events(job["run"], "workspace-released")[0][1].endswith(": by hand")
    assert deeds(place.api)[0] == ("release", "system")
    again = Scheduler.run_command("holds", "release", place.id, check=False, **options)
    assert again.returncode == 1 and "is not held" in again.stderr


def test_a_state_that_comes_after_somebody_elses_is_kept_beside(place):
    job = place.lost(state(1, "one"))
    api = place.api
    api.post(f"workspaces/{place.id}/actions/force-unlock")
    second = place.applying(place.run())

    # The other apply has begun with what was there, and would be behind.
    kept = place.send(job, state(9, "one", "two"))
    assert "another apply" in kept["why"]
    assert place.resources() == ["terraform_data.one"]
    assert place.send(second, state(2, "one", "three")) is None
    place.hands.end(second, "passed")
    api.wait_status(second["run"], "applied")
    again = place.send(job, state(10, "one", "two", "four"))
    assert again["kept-beside"] == kept["kept-beside"] and "somebody else" in again["why"]
    place.settle(job)
    assert place.resources() == ["terraform_data.one", "terraform_data.three"]

    (version,) = place.kept()
    assert version["id"] == kept["kept-beside"] and version["attributes"]["serial"] == 10
    assert [r["name"] for r in api.ask("GET", version["attributes"]["hosted-state-download-url"]).json["resources"]] == ["one", "two", "four"]
    listed = api.get("state-versions", **{"filter[organization][name]": api.organization, "filter[workspace][name]": "network"}).data
    assert version["id"] not in [s["id"] for s in listed] and len(listed) == 2
    shown = place.shown
    assert shown["attributes"]["kept-state-versions-count"] == 1
    assert api.ask("GET", place.api.url + shown["links"]["kept-state-versions"]).data[0]["id"] == version["id"]
    apply = api.get(f"applies/{api.sibling(job['run'], 'apply')}").data["relationships"]
    assert [s["id"] for s in apply["kept-state-versions"]["data"]] == [version["id"]]
    assert version["id"] not in [s["id"] for s in apply["state-versions"]["data"]]
    assert len(api.events(job["run"], "state-kept-beside")) == 1
    assert api.ask("GET", f"applies/{api.sibling(job['run'], 'apply')}/errored-state").json["serial"] == 10

    # Who wants it rolls back to it.
    api.post(f"workspaces/{place.id}/actions/lock")
    api.patch(f"workspaces/{place.id}/state-versions", {"data": {"type": "state-versions", "relationships": {
        "rollback-state-version": {"data": {"type": "state-versions", "id": version["id"]}}}}})
    api.post(f"workspaces/{place.id}/actions/unlock")
    assert place.resources() == ["terraform_data.four", "terraform_data.one", "terraform_data.two"]
    assert api.state(place.id)["serial"] == 3


@pytest.mark.parametrize("sent, why", [(state(5, "one", lineage="other"), "lineage"), (state(1, "one"), "behind")])
def test_a_state_that_does_not_follow_is_kept_beside(place, sent, why):
    job = place.applying(place.run(), state(2, "two"))
    assert why in place.send(job, sent)["why"]
    assert place.send(job, state(3, "three")) is None
    place.lose(job)
    assert why in place.send(job, sent)["why"]
    assert place.resources() == ["terraform_data.three"] and len(place.kept()) == 1
    place.settle(job)


def test_a_state_that_comes_under_somebodys_lock_is_kept_beside(place):
    job = place.lost(state(1, "one"))
    place.api.post(f"workspaces/{place.id}/actions/force-unlock")
    place.api.post(f"workspaces/{place.id}/actions/lock")
    assert "locked" in place.send(job, state(2, "two"))["why"]
    assert place.send(job, state(1, "one")) is None
    assert place.resources() == ["terraform_data.one"]


def test_what_is_no_state_is_refused(place):
    job = place.lost()
    assert place.hands.status("PUT", f"jobs/{job['job']}/state", job["token"], {"serial": 1}) == 422
    assert place.hands.status("PUT", f"jobs/{job['job']}/state", "job.wrong", state(1)) == 404
    assert place.held()


def test_a_worker_that_is_back_before_the_leases_end(place):
    """It has nothing of the apply any more: there is nothing to wait for."""
    first, second = place.run(), place.run()
    job = place.applying(first, state(1, "one"))
    place.settle(job)
    assert "was stopped during the apply" in place.api.wait_status(first, "errored")["error"]
    assert place.api.status(second) == "plan_queued"
    assert not place.api.events(first, "workspace-held")
    assert place.refused(job, "POST", "last-state")


def test_a_worker_whose_result_came_too_late_is_told_that_it_is_awaited(place):
    """It stood still until its lease had ended, with terraform ending meanwhile: it would not know of the hold."""
    job = place.lost(state(1, "one"))
    result = {"v": 1, "job": job["job"], "attempt": job["attempt"], "run": job["run"], "outcome": "passed", "error": "", "has-changes": False,
              "additions": 0, "changes": 0, "destructions": 0, "imports": 0, "terraform-version": "1.11.4"}
    assert place.hands.status("POST", f"jobs/{job['job']}/result", job["token"], result) == 409
    (said,) = place.hands.beat(job)
    assert said["held"] is False and said["awaited"] is True
    assert place.held() and place.api.status(job["run"]) == "errored"
    place.settle(job)
    assert not place.held()
    (said,) = place.hands.beat(job)
    assert said["held"] is False and said["awaited"] is False
    assert place.hands.status("POST", f"jobs/{job['job']}/result", job["token"], result) == 200


@pytest.mark.parametrize("outcome, status", [("canceled", "errored"), ("passed", "applied")])
def test_a_worker_that_says_itself_that_a_state_is_owed(place, outcome, status):
    run = place.run()
    job = place.applying(run)
    place.hands.end(job, outcome, **{"state-owed": True})
    place.api.wait_status(run, status)
    assert place.held()
    assert place.send(job, state(1, "one")) is None
    place.settle(job)
    assert not place.held() and place.resources() == ["terraform_data.one"]


def test_an_apply_that_never_started_holds_nothing(place):
    run = place.run()
    place.hands.plan(run)
    while place.api.status(run) != "errored":
        job = place.hands.take(run, "apply")
        place.office.change("update jobs set lease_until = now() where id = %s", job["job"])
        until(lambda: place.api.status(run) in ("apply_queued", "errored"), "its lease is over")
    assert place.shown["attributes"]["locked"] is False
    assert place.refused(job, "PUT", "state", state(1))


def test_a_plans_token_settles_nothing(place):
    job = place.hands.take(place.run(), "plan")
    assert place.hands.status("POST", f"jobs/{job['job']}/last-state", job["token"]) == 422
