# SPDX-License-Identifier: MPL-2.0
"""The site's maintenance: what starts, what finishes, and what waiting runs say."""

import json

import pytest

from support.api import ApiError
from support.runyard import KEYS, Scheduler
from support.wait import until


@pytest.fixture
def command(api_site):
    return lambda *arguments, check=True: Scheduler.run_command("maintenance", *arguments, check=check, database_url=api_site.database, keys=KEYS)


@pytest.fixture(autouse=True)
def off(api_site, command):
    yield
    command("off")
    until(lambda: not api_site.ask("select is_resuming from maintenance")[0][0], "all runs were started")


@pytest.fixture
def fake_worker(api_site):
    return api_site.fake_worker()


def switch(org, **attributes):
    return org.patch("admin/maintenance", {"data": {"type": "maintenance", "attributes": attributes}}).data["attributes"]


def waiting(org, run):
    return org.attributes(f"runs/{run}/waiting")


def test_new_runs_wait_until_maintenance_ends(api_site, org, fake_worker):
    shown = switch(org, enabled=True, reason="new disks")
    assert shown["enabled"] and shown["reason"] == "new disks" and shown["since"]
    workspace = org.workspace()
    version = org.upload(workspace, {"main.tf": ""})
    run, behind, speculative = org.run(workspace, version), org.run(workspace, version), org.run(workspace, version, plan_only=True)
    for one in (run, behind, speculative):
        assert org.status(one) == "pending" and waiting(org, one)["code"] == "maintenance"
    assert waiting(org, run)["text"].startswith("Maintenance since ") and ': "new disks".' in waiting(org, run)["text"]
    told = until(lambda: org.events(speculative, "waiting-for-maintenance"), "the run has an event")[0][1]
    assert ': "new disks".' in told and f"Waiting: {told}" in org.log(speculative)
    assert fake_worker.claim() == []
    until(lambda: api_site.scheduler.metric("runyard_maintenance") == 1, "the metric shows it")
    assert switch(org, enabled=False) == {"enabled": False, "reason": None, "since": None}
    org.wait_status(run, "plan_queued")
    org.wait_status(speculative, "plan_queued")
    assert org.status(behind) == "pending" and waiting(org, behind)["code"] == "behind_run"


def test_started_runs_finish_during_maintenance(org, fake_worker, command):
    planning = org.run_files(org.workspace(), {"main.tf": ""})
    queued = org.run_files(org.workspace(), {"main.tf": ""})
    planned = org.run_files(org.workspace(), {"main.tf": ""})
    fake_worker.plan(planned)
    job = fake_worker.take(planning, "plan")
    command("on", "an upgrade")
    fake_worker.end(job, "passed", **{"has-changes": True, "additions": 1})
    fake_worker.plan(queued)
    for run in (planned, planning, queued):
        org.act(run, "apply")
        fake_worker.end(fake_worker.take(run, "apply"))
        org.wait_status(run, "applied")


def test_the_next_run_of_a_queue_waits_for_the_end_of_maintenance(org, fake_worker, command):
    workspace = org.workspace(auto_apply=True)
    version = org.upload(workspace, {"main.tf": ""})
    first, second = org.run(workspace, version), org.run(workspace, version)
    command("on", "an upgrade")
    fake_worker.end(fake_worker.take(first, "plan"))
    org.wait_status(first, "planned_and_finished")
    assert org.status(second) == "pending" and waiting(org, second)["code"] == "maintenance"
    command("off")
    org.wait_status(second, "plan_queued")


def test_all_waiting_runs_start_when_maintenance_ends(api_site, org, command):
    command("on", "an upgrade")
    workspace = org.workspace()
    version = org.upload(workspace, {"main.tf": ""})
    runs = [org.run(workspace, version, plan_only=True) for _ in range(120)] + [org.run_files(org.workspace(), {"main.tf": ""}) for _ in range(5)]
    assert {org.status(run) for run in runs} == {"pending"}
    command("off")
    until(lambda: api_site.ask("select count(*) from runs where organization_id = (select id from organizations where name = %s) and status = 'plan_queued'",
                               org.organization) == [(125,)], "all are started")


def test_maintenance_suspends_automatic_destruction(api_site, org, fake_worker, command):
    workspace = org.workspace(auto_apply=True)
    run = org.run_files(workspace, {"main.tf": ""})
    fake_worker.plan(run)
    api_site.change("update workspaces set resource_count = 1 where id = %s", workspace)
    fake_worker.end(fake_worker.take(run, "apply"))
    command("on", "an upgrade")
    org.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"auto-destroy-at": "2026-01-01T00:00:00Z"}}})
    api_site.change("update workspaces set resource_count = 1 where id = %s", workspace)
    others = org.run_files(org.workspace(), {"main.tf": ""})
    until(lambda: org.events(others, "waiting-for-maintenance"), "some sweeps have passed")
    assert len(org.get(f"workspaces/{workspace}/runs").data) == 1
    command("off")
    until(lambda: len(org.get(f"workspaces/{workspace}/runs").data) == 2, "it is destroyed now")


def test_the_maintenance_command_is_validated_and_audited(api_site, org, command):
    assert json.loads(command("--json").stdout) == {"enabled": False, "since": None, "reason": None}
    shown = json.loads(command("on", "two words", "--json").stdout)
    assert shown["enabled"] and shown["reason"] == "two words"
    again = json.loads(command("on", "other words", "--json").stdout)
    assert (again["reason"], again["since"]) == ("other words", shown["since"])
    assert "other words" in command().stdout.splitlines()[1]
    trail = [event for event in org.get("admin/audit-trail").json["data"] if event["resource"]["type"] == "maintenance"]
    assert len(trail) >= 2
    for wrong in (("on",), ("on", " "), ("on", "x" * 201), ("on", "two\nlines"), ("up",), ("off", "now")):
        assert command(*wrong, check=False).returncode == 1, wrong
    assert org.attributes("admin/maintenance")["reason"] == "other words"


def test_only_site_admins_change_maintenance(api_site, org):
    stranger = api_site.stranger()
    assert stranger.call("GET", "admin/maintenance").status == 404
    assert stranger.call("PATCH", "admin/maintenance", {"data": {"type": "maintenance", "attributes": {"enabled": True, "reason": "x"}}}).status == 404
    for attributes, pointer in (({"enabled": True}, "reason"), ({"reason": "x"}, "enabled"), ({"enabled": True, "reason": " "}, "reason")):
        with pytest.raises(ApiError) as refused:
            switch(org, **attributes)
        assert refused.value.answer.json["errors"][0]["source"]["pointer"] == f"/data/attributes/{pointer}"
