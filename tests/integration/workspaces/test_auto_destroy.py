# SPDX-License-Identifier: MPL-2.0
# label: full
"""A workspace is destroyed at its time, or that long after its last change: once, by a visible run."""

import json
from datetime import datetime, timedelta, timezone

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


def checked(ask, workspace):
    """It was checked after its last change, and must be checked again."""
    return ask("select destroy_check_at > now() from workspaces where id = %s", workspace) == [(True,)]


def test_at_its_time(api, worker, ask):
    worker()
    empty, workspace = api.workspace(auto_destroy_at=PAST), managed(api)
    change(api, "workspaces", workspace, auto_destroy_at=PAST)
    run = destroyed(api, workspace)
    assert (run["source"], run["trigger-reason"], run["auto-apply"]) == ("tfe-infrastructure-lifecycle", "auto_destroy", True)
    assert "2020-01-01 00:00 UTC" in run["message"] and api.resources(workspace) == []
    for one in (empty, workspace):
        until(lambda one=one: api.attributes(f"workspaces/{one}")["auto-destroy-at"] is None, "its time is over")
    assert api.get(f"workspaces/{empty}/runs").data == [] and len(api.get(f"workspaces/{workspace}/runs").data) == 2
    assert actions(api) == ["auto_destroy"]


def test_after_a_time_without_change(api, worker, ask):
    """The project's duration applies to workspaces that inherit it. A change in the meantime postpones the time."""
    worker()
    idle, busy = managed(api), managed(api)
    project = api.get(f"workspaces/{idle}").data["relationships"]["project"]["data"]["id"]
    ask("update workspaces set latest_change_at = now() - interval '3 hours' where id = %s", idle)
    change(api, "projects", project, auto_destroy_activity_duration="2h")
    assert destroyed(api, idle)["is-destroy"]
    until(lambda: checked(ask, busy), "it is looked at when its time may be over")
    assert not newest(api, busy)["attributes"]["is-destroy"]
    ask("update workspaces set latest_change_at = now() - interval '3 hours', destroy_check_at = now() where id = %s", busy)
    destroyed(api, busy)
    until(lambda: checked(ask, busy), "and again, after as long")
    change(api, "projects", project, auto_destroy_activity_duration=None)
    assert ask("select count(*) from workspaces where destroy_check_at is not null") == [(0,)]


def told(hook, trigger):
    """The notifications of that trigger, in any format."""
    bodies = [json.loads(call.body) for call in hook.calls]
    return [body for body in bodies if trigger in (body.get("trigger"), *(one["trigger"] for one in body.get("notifications", [])))]


REMINDER, RESULTS = "workspace:auto_destroy_reminder", "workspace:auto_destroy_run_results"


def hour(hours):
    return (datetime.now(timezone.utc) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def test_who_asks_for_it_is_reminded_and_told_what_came_of_it(api, worker, notifier, hooks, ask):
    worker()
    notifier()
    hook, empty_hook = hooks.hook(), hooks.hook()
    workspace, empty = managed(api), api.workspace()
    for where, at in ((workspace, hook), (empty, empty_hook)):
        attributes = {"name": "a hook", "enabled": True, "destination-type": "generic", "url": at.url, "triggers": [REMINDER, RESULTS]}
        made = api.post(f"workspaces/{where}/notification-configurations", {"data": {"type": "notification-configurations", "attributes": attributes}}).data["id"]
        configuration = configuration if where == empty else made

    def look_again():
        ask("update workspaces set destroy_check_at = now() where id = %s", workspace)
        until(lambda: checked(ask, workspace), "it is looked at")

    # A day before, and not a second time; half a day before; and not hours after that.
    first = hour(23.9)
    change(api, "workspaces", empty, auto_destroy_at=first)
    change(api, "workspaces", workspace, auto_destroy_at=first)
    (reminder,) = until(lambda: told(hook, REMINDER), "it is reminded")
    assert reminder == {
        "payload_version": 2, "notification_configuration_id": configuration, "trigger_scope": "workspace", "trigger": REMINDER,
        "notification_configuration_url": f"{api.url}/api/v2/notification-configurations/{configuration}",
        "message": f"Workspace {api.attributes(f'workspaces/{workspace}')['name']} is to be destroyed automatically at {first}",
        "details": {"workspace_id": workspace, "workspace_name": api.attributes(f"workspaces/{workspace}")["name"],
                    "organization_name": api.organization, "auto_destroy_at": first}}
    until(lambda: checked(ask, workspace), "it was looked at")
    assert ask("select destroy_check_at between now() + interval '11 hours' and now() + interval '12 hours' from workspaces where id = %s", workspace) == [(True,)]
    look_again()
    change(api, "workspaces", workspace, auto_destroy_at=hour(11.9))
    until(lambda: len(told(hook, REMINDER)) == 2, "it is reminded again")
    change(api, "workspaces", workspace, auto_destroy_at=hour(6))
    until(lambda: checked(ask, workspace), "it is looked at")

    change(api, "workspaces", workspace, auto_destroy_at=PAST)
    run = until(lambda: next((run for run in [newest(api, workspace)] if run["attributes"]["is-destroy"]), None), "a run that destroys")
    api.wait_status(run["id"], "applied")
    (result,) = until(lambda: told(hook, RESULTS), "what came of it is told")
    assert (result["payload_version"], result["run_id"], result["workspace_id"]) == (1, run["id"], workspace)
    assert (result["notifications"][0]["run_status"], result["notifications"][0]["message"]) == ("applied", "Run Applied")
    assert len(told(hook, REMINDER)) == 2 and not told(empty_hook, REMINDER)
    assert ask("select count(*) from notifications") == [(0,)]


def test_where_it_may_not_be(api, worker):
    worker()
    workspace = managed(api)
    change(api, "workspaces", workspace, auto_destroy_at=PAST, allow_destroy_plan=False)
    until(lambda: actions(api) == ["auto_destroy_refused"], "the audit trail says so")
    assert api.attributes(f"workspaces/{workspace}")["auto-destroy-at"] is None
    assert len(api.get(f"workspaces/{workspace}/runs").data) == 1 and len(api.resources(workspace)) == 1
