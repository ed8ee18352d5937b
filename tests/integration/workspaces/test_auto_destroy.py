# SPDX-License-Identifier: MPL-2.0
"""A workspace is destroyed once, by a visible run, at a set time or after a set duration without changes."""

import json
from datetime import datetime, timedelta, timezone

from support.assessed import state_of
from support.fake_worker import FakeWorker
from support.wait import until

PAST = "2020-01-01T00:00:00Z"
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def managed(api, **attributes):
    workspace = api.workspace(auto_apply=True, **attributes)
    api.wait_status(api.run_files(workspace, ONE), "applied")
    return workspace


def change(api, kind, thing, **attributes):
    body = {"data": {"type": kind, "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}}
    return api.patch(f"{kind}/{thing}", body).data


def newest(api, workspace):
    return api.get(f"workspaces/{workspace}/runs").data[0]


def destroyed(api, workspace):
    run = until(lambda: next((run for run in [newest(api, workspace)] if run["attributes"]["is-destroy"]), None), "a run that destroys")
    api.wait_status(run["id"], "applied")
    return run["attributes"]


def actions(api):
    events = api.get(f"organizations/{api.organization}/audit-trail").json["data"]
    return [event["resource"]["action"] for event in events if event["resource"]["action"].startswith("auto_destroy")]


def is_checked(ask, workspace):
    """Whether the workspace was checked after its last change and has a next check."""
    return ask("select destroy_check_at > now() from workspaces where id = %s", workspace) == [(True,)]


def test_a_workspace_is_destroyed_at_its_time(api, worker, ask):
    worker()
    empty, workspace = api.workspace(auto_destroy_at=PAST), managed(api)
    change(api, "workspaces", workspace, auto_destroy_at=PAST)
    run = destroyed(api, workspace)
    assert (run["source"], run["trigger-reason"], run["auto-apply"]) == ("tfe-infrastructure-lifecycle", "auto_destroy", True)
    assert "2020-01-01 00:00 UTC" in run["message"] and api.resources(workspace) == []
    for one in (empty, workspace):
        until(lambda one=one: api.attributes(f"workspaces/{one}")["auto-destroy-at"] is None, "its time is reset")
    assert api.get(f"workspaces/{empty}/runs").data == [] and len(api.get(f"workspaces/{workspace}/runs").data) == 2
    assert actions(api) == ["auto_destroy"]


def test_a_workspace_keeps_its_time_while_a_run_may_create_resources(api, tokens, ask):
    fake_worker = FakeWorker(api.url, tokens["agent-token"])
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE)

    def check(**attributes):
        change(api, "workspaces", workspace, **attributes)
        until(lambda: ask("select 1 from workspaces where id = %s and (destroy_check_at > now() or destroy_check_at is null)", workspace), "the workspace is checked")
        assert is_checked(ask, workspace) and api.attributes(f"workspaces/{workspace}")["auto-destroy-at"]

    check(auto_destroy_at=PAST)
    fake_worker.plan(run)
    job = fake_worker.take(run, "apply")
    fake_worker.on(job, "POST", "started")
    ask("update workspaces set destroy_check_at = now() where id = %s", workspace)
    check()
    fake_worker.on(job, "PUT", "state", state_of("one"))
    fake_worker.end(job)
    api.wait_status(run, "applied")
    ask("update workspaces set destroy_check_at = now() where id = %s", workspace)
    until(lambda: newest(api, workspace)["attributes"]["is-destroy"], "a run that destroys")
    assert api.attributes(f"workspaces/{workspace}")["auto-destroy-at"] is None and actions(api) == ["auto_destroy"]


def test_an_inactive_workspace_is_destroyed_after_its_duration(api, worker, ask):
    """The project's duration applies to workspaces that inherit it. A change in the meantime postpones the time."""
    worker()
    idle, busy = managed(api), managed(api)
    project = api.get(f"workspaces/{idle}").data["relationships"]["project"]["data"]["id"]
    ask("update workspaces set latest_change_at = now() - interval '3 hours' where id = %s", idle)
    change(api, "projects", project, auto_destroy_activity_duration="2h")
    assert destroyed(api, idle)["is-destroy"]
    until(lambda: is_checked(ask, busy), "the workspace is checked when its time may be over")
    assert not newest(api, busy)["attributes"]["is-destroy"]
    ask("update workspaces set latest_change_at = now() - interval '3 hours', destroy_check_at = now() where id = %s", busy)
    destroyed(api, busy)
    until(lambda: is_checked(ask, busy), "the workspace is checked again after the duration")
    change(api, "projects", project, auto_destroy_activity_duration=None)
    assert ask("select count(*) from workspaces where destroy_check_at is not null") == [(0,)]


def notifications(hook, trigger):
    """The notifications of that trigger, in any format."""
    bodies = [json.loads(call.body) for call in hook.calls]
    return [body for body in bodies if trigger in (body.get("trigger"), *(one["trigger"] for one in body.get("notifications", [])))]


REMINDER, RESULTS = "workspace:auto_destroy_reminder", "workspace:auto_destroy_run_results"


def hour(hours):
    return (datetime.now(timezone.utc) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def test_auto_destroy_sends_reminders_and_results(api, worker, notifier, hooks, ask):
    worker()
    notifier()
    hook, empty_hook = hooks.hook(), hooks.hook()
    workspace, empty = managed(api), api.workspace()
    for where, at in ((workspace, hook), (empty, empty_hook)):
        attributes = {"name": "a hook", "enabled": True, "destination-type": "generic", "url": at.url, "triggers": [REMINDER, RESULTS]}
        created = api.post(f"workspaces/{where}/notification-configurations", {"data": {"type": "notification-configurations", "attributes": attributes}}).data["id"]
        configuration = configuration if where == empty else created

    def check_again():
        ask("update workspaces set destroy_check_at = now() where id = %s", workspace)
        until(lambda: is_checked(ask, workspace), "the workspace is checked")

    # One reminder a day before and one half a day before, and no others.
    first = hour(23.9)
    change(api, "workspaces", empty, auto_destroy_at=first)
    change(api, "workspaces", workspace, auto_destroy_at=first)
    (reminder,) = until(lambda: notifications(hook, REMINDER), "the reminder is sent")
    assert reminder == {
        "payload_version": 2, "notification_configuration_id": configuration, "trigger_scope": "workspace", "trigger": REMINDER,
        "notification_configuration_url": f"{api.url}/api/v2/notification-configurations/{configuration}",
        "message": f"Workspace {api.attributes(f'workspaces/{workspace}')['name']} is to be destroyed automatically at {first}",
        "details": {"workspace_id": workspace, "workspace_name": api.attributes(f"workspaces/{workspace}")["name"],
                    "organization_name": api.organization, "auto_destroy_at": first}}
    until(lambda: is_checked(ask, workspace), "the workspace is checked")
    assert ask("select destroy_check_at between now() + interval '11 hours' and now() + interval '12 hours' from workspaces where id = %s", workspace) == [(True,)]
    check_again()
    change(api, "workspaces", workspace, auto_destroy_at=hour(11.9))
    until(lambda: len(notifications(hook, REMINDER)) == 2, "the second reminder is sent")
    change(api, "workspaces", workspace, auto_destroy_at=hour(6))
    until(lambda: is_checked(ask, workspace), "the workspace is checked")

    change(api, "workspaces", workspace, auto_destroy_at=PAST)
    run = until(lambda: next((run for run in [newest(api, workspace)] if run["attributes"]["is-destroy"]), None), "a run that destroys")
    api.wait_status(run["id"], "applied")
    (result,) = until(lambda: notifications(hook, RESULTS), "the result is sent")
    assert (result["payload_version"], result["run_id"], result["workspace_id"]) == (1, run["id"], workspace)
    assert (result["notifications"][0]["run_status"], result["notifications"][0]["message"]) == ("applied", "Run Applied")
    assert len(notifications(hook, REMINDER)) == 2 and not notifications(empty_hook, REMINDER)
    until(lambda: ask("select count(*) from notifications") == [(0,)], "the notifier reports the last one as sent")


def test_auto_destroy_is_refused_where_destroy_plans_are_not_allowed(api, worker):
    worker()
    workspace = managed(api)
    change(api, "workspaces", workspace, auto_destroy_at=PAST, allow_destroy_plan=False)
    until(lambda: actions(api) == ["auto_destroy_refused"], "the refusal is audited")
    assert api.attributes(f"workspaces/{workspace}")["auto-destroy-at"] is None
    assert len(api.get(f"workspaces/{workspace}/runs").data) == 1 and len(api.resources(workspace)) == 1
