# SPDX-License-Identifier: MPL-2.0
"""Schedules of runs: what they accept, what each kind queues, when they are skipped and stopped, and their next times."""

import json
from datetime import datetime, timezone

import pytest

from support.api import Api
from support.people import People
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def create(api, workspace, status=201, **attributes):
    attributes = {"name": "nightly", "kind": "plan", "cron": "0 3 * * *", **{name.replace("_", "-"): value for name, value in attributes.items()}}
    answer = api.call("POST", f"workspaces/{workspace}/schedules", {"data": {"type": "schedules", "attributes": attributes}})
    assert answer.status == status, answer.text
    return answer.json["data"]["id"] if status == 201 else answer.json["errors"][0]


def change(api, schedule, status=200, **attributes):
    attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
    answer = api.call("PATCH", f"schedules/{schedule}", {"data": {"type": "schedules", "attributes": attributes}})
    assert answer.status == status, answer.text
    return answer.json["data"]["attributes"] if status == 200 else answer.json["errors"][0]


def shown(api, schedule):
    return api.get(f"schedules/{schedule}").data


def make_due(api_site, *schedules, late="0 seconds"):
    api_site.change("update schedules set next_at = now() - %s::interval, check_at = now() where id = any(%s)", late, list(schedules))


def outcome(api, schedule):
    """The outcome and the reason once the schedule was used."""
    attributes = until(lambda: next((a for a in [shown(api, schedule)["attributes"]] if a["last-at"]), None), "the schedule is used")
    return attributes["last-outcome"], attributes["last-reason"]


def run_of(api, schedule):
    assert outcome(api, schedule) == ("queued", None)
    return api.get(f"runs/{shown(api, schedule)['relationships']['last-run']['data']['id']}").data


def ready(api, **attributes):
    workspace = api.workspace(**attributes)
    api.upload(workspace, ONE)
    return workspace


def events(api, schedule):
    found = api.get(f"organizations/{api.organization}/audit-trail").json["data"]
    return [event["resource"]["action"] for event in found if event["resource"]["id"] == schedule]


# ---- what is accepted ----

def test_a_schedule_is_created_changed_and_deleted(org):
    workspace = ready(org)
    schedule = create(org, workspace, kind="plan-and-apply", time_zone="Europe/Berlin", jitter_seconds=300)
    attributes = shown(org, schedule)["attributes"]
    assert (attributes["kind"], attributes["auto-apply"], attributes["cron"], attributes["time-zone"], attributes["enabled"]) == ("plan-and-apply", True, "0 3 * * *", "Europe/Berlin", True)
    assert len(attributes["next-occurrences"]) == 5 and attributes["last-at"] is attributes["last-outcome"] is attributes["at"] is None
    first, start = (datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (attributes["next-occurrences"][0], attributes["next-at"]))
    assert 0 <= (start - first).total_seconds() <= 300 and first > datetime.now(timezone.utc)
    relations = shown(org, schedule)["relationships"]
    me = org.get("account/details").data["id"]
    assert relations["created-by"]["data"]["id"] == relations["run-as"]["data"]["id"] == me and relations["last-run"]["data"] is None
    assert [one["id"] for one in org.get(f"workspaces/{workspace}/schedules?include=run_as").data] == [schedule]

    assert change(org, schedule, at="2100-01-01T00:00:00Z")["cron"] is None
    once = shown(org, schedule)["attributes"]
    assert once["next-occurrences"] == [once["at"]] and once["time-zone"] is None
    assert change(org, schedule, cron="0 4 * * *")["at"] is None and shown(org, schedule)["attributes"]["time-zone"] == "UTC"
    disabled = change(org, schedule, enabled=False)
    assert (disabled["next-at"], disabled["next-occurrences"]) == (None, [])
    assert change(org, schedule, enabled=True)["next-at"]
    org.call("DELETE", f"schedules/{schedule}")
    assert org.call("GET", f"schedules/{schedule}").status == 404
    assert events(org, schedule) == ["destroy", "update", "update", "update", "update", "create"]


@pytest.mark.parametrize("attributes, pointer", [
    ({"name": " "}, "name"), ({"name": "x" * 91}, "name"), ({"kind": "apply"}, "kind"), ({"kind": None}, "kind"),
    ({"cron": None}, "cron"), ({"at": "2100-01-01T00:00:00Z"}, "cron"), ({"cron": "0 0 30 2 *"}, "cron"), ({"cron": "* * * * *"}, "cron"), ({"cron": "nightly"}, "cron"),
    ({"time_zone": "Europe/Atlantis"}, "time-zone"), ({"time_zone": "CEST"}, "time-zone"), ({"time_zone": "posix/Europe/Berlin"}, "time-zone"), ({"time_zone": "Europe/Berlin5"}, "time-zone"),
    ({"time_zone": ""}, "time-zone"), ({"time_zone": "X" * 100}, "time-zone"), ({"cron": None, "at": "2020-01-01T00:00:00Z"}, "at"), ({"cron": None, "at": "tomorrow"}, "at"),
    ({"jitter_seconds": -1}, "jitter-seconds"), ({"jitter_seconds": 3601}, "jitter-seconds"), ({"jitter_seconds": "5"}, "jitter-seconds"),
])
def test_invalid_schedules_are_refused(org, attributes, pointer):
    error = create(org, org.workspace(), status=422, **attributes)
    assert error["source"]["pointer"] == f"/data/attributes/{pointer}"


def test_names_are_unique_and_a_workspace_has_a_limit(org):
    workspace = org.workspace()
    schedules = [create(org, workspace, name=f"schedule {n}") for n in range(20)]
    assert "more than 20" in create(org, workspace, status=422, name="one more")["detail"]
    org.call("DELETE", f"schedules/{schedules.pop()}")
    assert "taken" in create(org, workspace, status=422, name="SCHEDULE 0")["detail"]
    assert "taken" in change(org, schedules[1], status=422, name="schedule 0")["detail"]
    create(org, org.workspace(), name="schedule 0")


# ---- kinds ----

@pytest.mark.parametrize("kind, auto_apply, expected", [
    ("plan", True, {"plan-only": True, "auto-apply": False, "is-destroy": False, "refresh-only": False}),
    ("plan-and-apply", True, {"plan-only": False, "auto-apply": True, "is-destroy": False, "refresh-only": False}),
    ("plan-and-apply", False, {"plan-only": False, "auto-apply": False, "is-destroy": False, "refresh-only": False}),
    ("refresh-only", True, {"plan-only": False, "auto-apply": True, "is-destroy": False, "refresh-only": True}),
    ("destroy", True, {"plan-only": False, "auto-apply": True, "is-destroy": True, "refresh-only": False}),
])
def test_each_kind_queues_its_run_with_the_rights_of_who_saved_it(org, api_site, kind, auto_apply, expected):
    schedule = create(org, ready(org), kind=kind, auto_apply=auto_apply)
    make_due(api_site, schedule)
    run = run_of(org, schedule)
    assert {name: run["attributes"][name] for name in expected} == expected
    assert (run["attributes"]["source"], run["attributes"]["trigger-reason"], run["attributes"]["message"]) == ("runyard-schedule", "schedule", "Queued by the schedule nightly")
    assert run["relationships"]["created-by"]["data"]["id"] == org.get("account/details").data["id"]
    assert shown(org, schedule)["attributes"]["enabled"] and shown(org, schedule)["attributes"]["next-at"]
    assert "create" in events(org, run["id"])


def test_a_schedule_with_one_time_runs_once(org, api_site):
    schedule = create(org, ready(org), cron=None, at="2100-01-01T00:00:00Z")
    make_due(api_site, schedule)
    run_of(org, schedule)
    attributes = shown(org, schedule)["attributes"]
    assert (attributes["enabled"], attributes["next-at"], attributes["stopped-reason"]) == (False, None, None)


# ---- skipped and stopped ----

def test_occurrences_are_skipped_with_the_reason(org, api_site):
    (locked, held, waiting, late), empty = (ready(org) for _ in range(4)), org.workspace()
    org.post(f"workspaces/{locked}/actions/lock", {})
    api_site.change("update workspaces set hold_job_id = 'job-x' where id = %s", held)
    schedules = {place: create(org, place) for place in (locked, held, waiting, empty, late)}
    make_due(api_site, schedules[waiting])
    run = run_of(org, schedules[waiting])["id"]
    api_site.change("update schedules set last_at = null where id = %s", schedules[waiting])
    make_due(api_site, *(schedules[place] for place in (locked, held, waiting, empty)))
    make_due(api_site, schedules[late], late="61 minutes")
    assert outcome(org, schedules[locked]) == ("skipped", "The workspace was locked")
    assert outcome(org, schedules[held]) == ("skipped", "The workspace was held after a lost apply")
    assert outcome(org, schedules[waiting]) == ("skipped", "The previous run of the schedule had not ended")
    assert outcome(org, schedules[empty]) == ("skipped", "Configuration version must exist: upload one first")
    assert outcome(org, schedules[late])[0] == "skipped" and "more than an hour later" in outcome(org, schedules[late])[1]
    assert all(shown(org, schedule)["attributes"]["next-at"] for schedule in schedules.values())
    # The same reason is one event, however often it comes.
    api_site.change("update schedules set last_at = null where id = %s", schedules[locked])
    make_due(api_site, schedules[locked])
    assert outcome(org, schedules[locked]) == ("skipped", "The workspace was locked")
    assert events(org, schedules[locked]) == ["skip", "create"]
    # It runs again once nothing is in the way, and within the grace when it is late.
    org.post(f"workspaces/{locked}/actions/unlock", {})
    api_site.change("update schedules set last_at = null where id = %s", schedules[locked])
    make_due(api_site, schedules[locked], late="59 minutes")
    run_of(org, schedules[locked])
    assert shown(org, schedules[waiting])["relationships"]["last-run"]["data"]["id"] == run


@pytest.mark.parametrize("loss, reason", [
    ("left", "may no longer queue runs"), ("read", "may no longer queue runs"), ("plan", "may no longer apply runs"), ("suspended", "suspended or deleted"),
])
def test_a_schedule_stops_when_its_person_may_no_longer_run_it(org, api_site, loss, reason):
    workspace, people = ready(org), People(org, api_site.database)
    team = people.team(f"team-{loss}")
    access = people.give(team, "workspace", workspace, "admin")
    person = people.member(f"member-{loss}", team)
    schedule = create(person, workspace, kind="plan-and-apply")
    if loss == "left":
        org.call("DELETE", f"organization-memberships/{person.membership}")
    elif loss == "suspended":
        Api(org.url, api_site.tokens["token"]).post(f"admin/users/{shown(org, schedule)['relationships']['run-as']['data']['id']}/actions/suspend")
    else:
        org.patch(f"team-workspaces/{access}", {"data": {"type": "team-workspaces", "attributes": {"access": loss}}})
    make_due(api_site, schedule)
    attributes = until(lambda: next((a for a in [shown(org, schedule)["attributes"]] if a["last-outcome"] == "stopped"), None), "the schedule stops")
    assert reason in attributes["stopped-reason"] and (attributes["enabled"], attributes["next-at"]) == (False, None)
    assert org.get(f"workspaces/{workspace}/runs").data == [] and events(org, schedule)[0] == "stop"
    # Who enables it gives it their own rights.
    assert change(org, schedule, enabled=True)["stopped-reason"] is None
    assert shown(org, schedule)["relationships"]["run-as"]["data"]["id"] == org.get("account/details").data["id"]
    api_site.change("update schedules set last_at = null where id = %s", schedule)
    make_due(api_site, schedule)
    run_of(org, schedule)


def test_who_may_not_apply_makes_no_schedule_that_does(org):
    """Managing a workspace and running it are rights of their own."""
    token = org.post(f"organizations/{org.organization}/authentication-token").data["attributes"]["token"]
    organization = Api(org.url, token, org.organization)
    assert "right to queue runs" in create(organization, org.workspace(), status=422)["detail"]


# ---- times ----

ZONES = [
    # Clocks skip from 2:00 to 3:00 and from 2:00 to 2:30: the first moment after the gap.
    ("30 2 * * *", "Europe/Berlin", "2027-03-28T01:00:00.000Z", ["2027-03-29T00:30:00.000Z"]),
    ("0,20,40 2 * * *", "America/New_York", "2027-03-14T07:00:00.000Z", ["2027-03-15T06:00:00.000Z"]),
    ("15 2 * * *", "Australia/Lord_Howe", "2027-10-02T15:30:00.000Z", ["2027-10-03T15:15:00.000Z"]),
    # Clocks go back from 3:00 to 2:00, and from 2:00 to 1:00: the first time.
    ("30 2 * * *", "Europe/Berlin", "2027-10-31T00:30:00.000Z", ["2027-11-01T01:30:00.000Z"]),
    ("0,30 1,2 * * *", "America/New_York", "2027-11-07T05:30:00.000Z", ["2027-11-07T07:00:00.000Z", "2027-11-07T07:30:00.000Z", "2027-11-08T06:00:00.000Z"]),
    # Leap days.
    ("0 12 29 2 *", "UTC", "2028-02-29T12:00:00.000Z", ["2032-02-29T12:00:00.000Z"]),
]


@pytest.mark.parametrize("cron, zone, at, following", ZONES)
def test_occurrences_follow_the_clocks_of_their_zone(org, api_site, cron, zone, at, following):
    """The occurrence before `at` is used, then `at` itself, and so on."""
    schedule = create(org, ready(org), cron=cron, time_zone=zone)
    api_site.change("update schedules set occurrence_at = %s::timestamptz - interval '1 minute' where id = %s", at, schedule)
    for expected in [at, *following]:
        api_site.change("update schedules set last_run_id = null, last_at = null where id = %s", schedule)
        make_due(api_site, schedule)
        run_of(org, schedule)
        assert shown(org, schedule)["attributes"]["next-at"] == expected
        assert shown(org, schedule)["attributes"]["next-occurrences"][0] == expected


def test_local_times_during_a_repeated_hour_do_not_repeat(api_site):
    """A schedule that is saved in the second pass of a repeated hour has no occurrence in it."""
    local = lambda at, zone: api_site.ask("select to_char(schedule_local(%s, %s), 'YYYY-MM-DD HH24:MI')", at, zone)[0][0]
    assert local("2027-10-31T00:30:00Z", "Europe/Berlin") == "2027-10-31 02:30"
    assert local("2027-10-31T01:10:00Z", "Europe/Berlin") == "2027-10-31 02:59"
    assert local("2027-10-31T02:00:00Z", "Europe/Berlin") == "2027-10-31 03:00"
    assert local("2027-10-31T03:30:00Z", "Europe/Berlin") == "2027-10-31 04:30"
    assert local("2027-03-28T01:00:00Z", "Europe/Berlin") == "2027-03-28 03:00"


def test_every_minute_of_a_year_has_one_moment_in_order(api_site):
    """Moments never decrease, whatever the zone does, and are exact where the local time exists."""
    for zone in ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu", "UTC"):
        wrong = api_site.ask("""
            with moments as (select l, schedule_moment(l, %s) as m from generate_series('2027-01-01 00:07'::timestamp, '2027-12-31 23:59', interval '13 minutes') l)
            select l from (select l, m, lag(m) over (order by l) as before from moments) x where m is null or m < before or m at time zone %s < l limit 1""", zone, zone)
        assert wrong == [], zone


def test_jitter_is_the_same_for_each_occurrence_and_bounded(api_site):
    starts = [row[0] for row in api_site.ask("select extract(epoch from schedule_start('sched-' || n, '2027-01-01', 60) - '2027-01-01'::timestamptz)::int from generate_series(1, 1000) n")]
    assert min(starts) == 0 and max(starts) == 60 and len(set(starts)) == 61
    again = [row[0] for row in api_site.ask("select extract(epoch from schedule_start('sched-' || n, '2027-01-01', 60) - '2027-01-01'::timestamptz)::int from generate_series(1, 1000) n")]
    assert starts == again


def test_a_clock_that_steps_back_repeats_no_occurrence(org, api_site):
    """The next occurrence comes after the one that was used, whatever the clock says."""
    schedule = create(org, ready(org), cron="0 3 * * *")
    api_site.change("update schedules set occurrence_at = '2090-06-01T03:00:00Z' where id = %s", schedule)
    make_due(api_site, schedule)
    run_of(org, schedule)
    assert shown(org, schedule)["attributes"]["next-at"] == "2090-06-02T03:00:00.000Z"


def test_a_schedule_that_fails_stops_no_other(org, api_site):
    broken, fine = (create(org, ready(org), name=name) for name in ("broken", "fine"))
    api_site.change("update schedules set time_zone = 'Europe/Atlantis' where id = %s", broken)
    make_due(api_site, broken, fine)
    run_of(org, fine)
    until(lambda: api_site.ask("select check_at > now() from schedules where id = %s", broken) == [(True,)], "the schedule is tried again later")
    assert any(line["msg"].startswith("a sweep leaves out rows that fail") or line.get("first") == broken for line in api_site.scheduler.log_lines())
    api_site.change("delete from schedules where id = %s", broken)


def test_schedules_wait_for_the_end_of_maintenance(org, api_site):
    schedule = create(org, ready(org))
    admin = Api(org.url, api_site.tokens["token"])
    set_maintenance = lambda enabled: admin.patch("admin/maintenance", {"data": {"type": "maintenance", "attributes": {"enabled": enabled, "reason": "a test"}}})
    set_maintenance(True)
    try:
        make_due(api_site, schedule)
        other = create(org, ready(org))
        assert shown(org, other)["attributes"]["last-at"] is None
    finally:
        set_maintenance(False)
    run_of(org, schedule)


def test_metrics_count_occurrences(org, api_site):
    used = lambda: api_site.scheduler.metric("runyard_schedules_used_total", outcome="queued")
    before = used()
    schedule = create(org, ready(org))
    make_due(api_site, schedule)
    run_of(org, schedule)
    assert used() > before
    assert {"runyard_schedules_due", "runyard_schedules_late"} <= api_site.scheduler.metrics().keys()


def test_a_stop_is_notified(api, notifier, hooks, ask):
    notifier()
    hook = hooks.hook()
    workspace = ready(api)
    attributes = {"name": "a hook", "enabled": True, "destination-type": "generic", "url": hook.url, "triggers": ["workspace:schedule_stopped"]}
    api.post(f"workspaces/{workspace}/notification-configurations", {"data": {"type": "notification-configurations", "attributes": attributes}})
    schedule = create(api, workspace)
    ask("update schedules set run_as = null, next_at = now(), check_at = now() where id = %s", schedule)
    sent = lambda: [body for call in hook.calls if (body := json.loads(call.body)).get("trigger") == "workspace:schedule_stopped"]
    (body,) = until(sent, "the notification is sent")
    assert body["message"] == "The schedule nightly was stopped. The account of the person who saved it is suspended or deleted"
    assert body["details"] == {"workspace_id": workspace, "workspace_name": api.attributes(f"workspaces/{workspace}")["name"], "organization_name": api.organization}
