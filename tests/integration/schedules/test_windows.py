# SPDX-License-Identifier: MPL-2.0
"""Maintenance windows: what they accept, and that confirmed runs wait for them."""

from datetime import datetime, timedelta, timezone

import pytest

from support.people import People
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
WEEK = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
ALWAYS = {"days": WEEK, "start": "00:00", "duration-minutes": 1440}


def in_days(days):
    """A minute of the day that comes in so many days."""
    return {"days": [WEEK[(datetime.now(timezone.utc) + timedelta(days=days)).isoweekday() % 7]], "start": "12:00", "duration-minutes": 1}


LATER = in_days(3)


def create(api, place, status=201, **attributes):
    answer = api.call("POST", f"{place}/maintenance-windows", {"data": {"type": "maintenance-windows", "attributes": {"name": "nights", **LATER, **attributes}}})
    assert answer.status == status, answer.text
    return answer.json["data"]["id"] if status == 201 else answer.json["errors"][0]


def change(api, window, **attributes):
    return api.patch(f"maintenance-windows/{window}", {"data": {"type": "maintenance-windows", "attributes": attributes}}).data["attributes"]


@pytest.fixture
def fake_worker(api_site):
    return api_site.fake_worker()


def plan(api, fake_worker, workspace, **attributes):
    """A run whose plan has changes."""
    run = api.run_files(workspace, ONE, **attributes)
    fake_worker.end(fake_worker.take(run, "plan"), "passed", **{"has-changes": True})
    return run


def confirmed_late(api, fake_worker, workspace):
    """A run that waits for its window."""
    run = plan(api, fake_worker, workspace)
    api.wait_status(run, "planned")
    api.act(run, "apply")
    assert api.status(run) == "confirmed"
    return run


def waiting(api, run):
    return api.get(f"runs/{run}/waiting").data["attributes"]


# ---- what is accepted ----

def test_a_window_is_created_changed_and_deleted(org):
    workspace = org.workspace()
    window = create(org, f"workspaces/{workspace}", **{"time-zone": "Europe/Berlin", "start": "22:30", "duration-minutes": 90, "days": ["sat", "mon"]})
    shown = org.get(f"maintenance-windows/{window}").data
    assert {name: shown["attributes"][name] for name in ("name", "days", "start", "duration-minutes", "time-zone")} == {
        "name": "nights", "days": ["mon", "sat"], "start": "22:30", "duration-minutes": 90, "time-zone": "Europe/Berlin"}
    assert shown["relationships"]["owner"]["data"] == {"type": "workspaces", "id": workspace}
    assert change(org, window, start="00:00")["duration-minutes"] == 90
    assert [one["id"] for one in org.get(f"workspaces/{workspace}/maintenance-windows").data] == [window]
    assert org.get(f"organizations/{org.organization}/maintenance-windows").data == []
    org.delete(f"maintenance-windows/{window}")
    assert org.call("GET", f"maintenance-windows/{window}").status == 404


@pytest.mark.parametrize("attributes, pointer", [
    ({"name": " "}, "name"), ({"name": "x" * 91}, "name"), ({"days": []}, "days"), ({"days": ["monday"]}, "days"), ({"days": None}, "days"), ({"start": "24:00"}, "start"), ({"start": "9:00"}, "start"),
    ({"start": "-1:00"}, "start"), ({"start": None}, "start"), ({"start": "22:00 "}, "start"), ({"duration-minutes": 0}, "duration-minutes"), ({"duration-minutes": 1441}, "duration-minutes"),
    ({"time-zone": "CEST"}, "time-zone"), ({"time-zone": "Europe/Atlantis"}, "time-zone"),
])
def test_invalid_windows_are_refused(org, attributes, pointer):
    assert create(org, f"workspaces/{org.workspace()}", status=422, **attributes)["source"]["pointer"] == f"/data/attributes/{pointer}"


def test_a_place_has_a_limit_of_windows(org):
    place = f"workspaces/{org.workspace()}"
    for _ in range(20):
        create(org, place)
    assert "more than 20" in create(org, place, status=422)["detail"]
    create(org, f"workspaces/{org.workspace()}")


# ---- waiting ----

def test_a_confirmed_run_waits_until_its_window_opens(org, api_site, fake_worker):
    workspace = org.workspace()
    window = create(org, f"workspaces/{workspace}")
    run = confirmed_late(org, fake_worker, workspace)
    why = waiting(org, run)
    opens = (datetime.now(timezone.utc) + timedelta(days=3)).strftime("%Y-%m-%d 12:00 UTC")
    assert why["code"] == "maintenance_window" and why["since"]
    assert why["text"] == f"Applies start only in maintenance windows. The next one opens at {opens}. You may start the apply now."
    actions = org.attributes(f"runs/{run}")["actions"]
    assert actions == {"is-cancelable": True, "is-confirmable": False, "is-discardable": True, "is-force-cancelable": False, "is-window-overridable": True}
    # A sweep that looks too early changes nothing.
    api_site.change("update window_waits set opens_at = now() where run_id = %s", run)
    until(lambda: api_site.ask("select opens_at > now() from window_waits where run_id = %s", run) == [(True,)], "the wait is computed again")
    assert org.status(run) == "confirmed"
    # A change of the window is noticed.
    change(org, window, **ALWAYS)
    org.wait_status(run, "apply_queued")
    assert api_site.ask("select count(*) from window_waits where run_id = %s", run) == [(0,)]
    job = fake_worker.take(run, "apply")
    # An apply that has begun is not stopped.
    change(org, window, **LATER)
    fake_worker.on(job, "POST", "started")
    assert org.status(run) == "applying"


def test_an_automatic_apply_waits_and_starts_when_the_last_window_is_deleted(org, fake_worker):
    workspace = org.workspace(auto_apply=True)
    window = create(org, f"workspaces/{workspace}")
    run = plan(org, fake_worker, workspace)
    org.wait_status(run, "confirmed")
    assert waiting(org, run)["code"] == "maintenance_window"
    org.delete(f"maintenance-windows/{window}")
    org.wait_status(run, "apply_queued")


def test_a_run_waits_before_its_pre_apply_tasks(org, fake_worker, receiver):
    workspace = org.workspace()
    org.attach(workspace, org.task(receiver.service(lambda call: call.answer())), "pre_apply")
    window = create(org, f"workspaces/{workspace}")
    run = confirmed_late(org, fake_worker, workspace)
    change(org, window, **ALWAYS)
    org.wait_status(run, "pre_apply_running")


def test_an_open_window_delays_nothing_and_plans_never_wait(org, fake_worker):
    workspace = org.workspace()
    create(org, f"workspaces/{workspace}", **ALWAYS)
    run = plan(org, fake_worker, workspace)
    org.wait_status(run, "planned")
    org.act(run, "apply")
    assert org.status(run) == "apply_queued"
    closed = org.workspace()
    create(org, f"workspaces/{closed}")
    run = plan(org, fake_worker, closed, plan_only=True)
    org.wait_status(run, "planned_and_finished")


def test_a_person_who_may_apply_overrides_once(org, api_site, fake_worker):
    workspace, people = org.workspace(), People(org, api_site.database)
    create(org, f"workspaces/{workspace}")
    run = confirmed_late(org, fake_worker, workspace)
    members = {}
    for level in ("plan", "write"):
        team = people.team(f"window-{level}")
        people.give(team, "workspace", workspace, level)
        members[level] = people.member(f"window-{level}", team)
    assert members["plan"].call("POST", f"runs/{run}/actions/override-window", {}).status == 404
    assert "You may start" not in members["plan"].get(f"runs/{run}/waiting").data["attributes"]["text"]
    members["write"].act(run, "override-window", "the site is down")
    assert org.status(run) == "apply_queued"
    again = members["write"].call("POST", f"runs/{run}/actions/override-window", {})
    assert again.status == 409 and again.json["errors"][0]["title"] == "transition not allowed"
    events = org.get(f"organizations/{org.organization}/audit-trail").json["data"]
    assert [event["resource"]["action"] for event in events if event["resource"]["id"] == run][0] == "override_window"
    assert org.get(f"runs/{run}/comments").data[0]["attributes"]["body"] == "the site is down"
    # The next run of the workspace waits again.
    fake_worker.end(fake_worker.take(run, "apply"), "passed")
    org.wait_status(run, "applied")
    confirmed_late(org, fake_worker, workspace)


@pytest.mark.parametrize("action, status", [("discard", "discarded"), ("cancel", "canceled")])
def test_a_run_that_waits_is_discarded_and_canceled(org, api_site, fake_worker, action, status):
    workspace = org.workspace()
    create(org, f"workspaces/{workspace}")
    run = confirmed_late(org, fake_worker, workspace)
    following = org.run(workspace)
    assert org.status(following) == "pending"
    org.act(run, action)
    assert org.status(run) == status
    org.wait_status(following, "plan_queued")
    assert api_site.ask("select count(*) from window_waits where run_id = %s", run) == [(0,)]


def test_a_saved_plan_waits_too(org, fake_worker):
    workspace = org.workspace()
    window = create(org, f"workspaces/{workspace}")
    run = plan(org, fake_worker, workspace, save_plan=True)
    org.wait_status(run, "planned_and_saved")
    org.act(run, "apply")
    org.wait_status(run, "confirmed")
    assert waiting(org, run)["code"] == "maintenance_window"
    org.delete(f"maintenance-windows/{window}")
    org.wait_status(run, "apply_queued")


def test_the_nearest_windows_decide(org, api_site, fake_worker):
    closed = lambda workspace: api_site.ask("select closed from apply_window(%s)", workspace)[0][0]
    project = org.post(f"organizations/{org.organization}/projects", {"data": {"type": "projects", "attributes": {"name": "windows"}}}).data["id"]
    workspace, other = org.workspace(), org.workspace()
    org.post(f"projects/{project}/relationships/workspaces", {"data": [{"type": "workspaces", "id": workspace}]})
    assert not closed(workspace)
    everywhere = create(org, f"organizations/{org.organization}")
    assert closed(workspace) and closed(other)
    of_project = create(org, f"projects/{project}", **ALWAYS)
    assert not closed(workspace) and closed(other)
    run = confirmed_late(org, fake_worker, other)
    create(org, f"workspaces/{workspace}")
    assert closed(workspace)
    # A workspace that moves has the windows of its new project.
    org.post(f"projects/{project}/relationships/workspaces", {"data": [{"type": "workspaces", "id": other}]})
    org.wait_status(run, "apply_queued")
    org.delete(f"maintenance-windows/{of_project}")
    org.delete(f"maintenance-windows/{everywhere}")
    assert closed(workspace) and not closed(other)


def test_windows_follow_the_clocks_of_their_zone(org, api_site):
    """A window of two hours that opens at 2:00 where clocks skip from 2:00 to 3:00 opens at 3:00; windows end after their duration."""
    opening = lambda at, minute: api_site.ask("select schedule_moment(%s::date + make_interval(mins => %s), 'Europe/Berlin') at time zone 'UTC'", at, minute)[0][0].isoformat()
    assert opening("2027-03-28", 150) == "2027-03-28T01:00:00" and opening("2027-10-31", 150) == "2027-10-31T00:30:00"
    # A window that opened yesterday is open until it ends today.
    workspace = org.workspace()
    now = datetime.now(timezone.utc)
    start = now - timedelta(minutes=5)
    window = create(org, f"workspaces/{workspace}", days=[WEEK[start.isoweekday() % 7]], start=start.strftime("%H:%M"), **{"duration-minutes": 1440})
    closed = lambda: api_site.ask("select closed from apply_window(%s)", workspace)[0][0]
    assert not closed()
    yesterday = now - timedelta(hours=23)
    change(org, window, days=[WEEK[yesterday.isoweekday() % 7]], start=yesterday.strftime("%H:%M"))
    assert not closed()
    change(org, window, **{"duration-minutes": 60})
    assert closed()
