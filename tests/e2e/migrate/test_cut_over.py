# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Cut-overs and roll-backs, with real runs."""

import itertools
import json

import pytest

from support.api import Api
from support.documents import document
from support.migration import Migrate, write_states
from support.receiver import says

NAMES = itertools.count(1)
MAIN = 'resource "terraform_data" "one" {\n  input = "%s"\n}\n\noutput "word" {\n  value = terraform_data.one.output\n}\n'


@pytest.fixture
def pair(full_site):
    """Clients of two organizations."""
    made = []
    for side in ("source", "target"):
        api = Api(full_site.api.url, full_site.api.token, f"{side}-{next(NAMES)}")
        api.post("organizations", document("organizations", {"name": api.organization, "email": "admin@example.com"}))
        made.append(api)
    return made


@pytest.fixture
def service(full_site):
    return full_site.receiver.service(says("passed"), "scan")


@pytest.fixture
def hook(hooks):
    return hooks.hook(200)


@pytest.fixture
def migrate(tmp_path, pair, service, hook):
    """An organization with a workspace that was applied, and that has a task and a notification."""
    source, target = pair
    workspace = source.workspace("network", auto_apply=True)
    run = source.run_files(workspace, {"main.tf": MAIN % "first"})
    source.wait_status(run, "applied")
    task = source.task(service, name="scan")
    source.attach(workspace, task, "post_plan")
    attributes = {"name": "on call", "destination-type": "slack", "url": hook.url, "enabled": True, "triggers": ["run:applying", "run:completed"]}
    source.post(f"workspaces/{workspace}/notification-configurations", document("notification-configurations", attributes))
    migrate = Migrate(tmp_path, source, target)
    migrate.workspace = workspace
    service.tests.clear()
    hook.calls.clear()
    return migrate


def at_target(migrate):
    return migrate.target.get(f"organizations/{migrate.target.organization}/workspaces/network").data


def is_locked(api, name="network"):
    return api.get(f"organizations/{api.organization}/workspaces/{name}").data["attributes"]


def test_a_workspace_is_cut_over_and_works(migrate, service, hook):
    migrate.run("plan")
    migrate.secrets = migrate.fill_secrets(**{"tasks/scan": service.key})
    migrate.run("apply")
    assert is_locked(migrate.target)["locked"] and "being moved" in is_locked(migrate.target)["locked-reason"]
    assert not service.tests and not service.calls and not hook.calls
    assert "cut over: network" in migrate.run("cut-over", "network", "--secrets", migrate.secrets)
    assert is_locked(migrate.source)["locked-reason"].endswith(migrate.target.url)
    there = at_target(migrate)
    assert not there["attributes"]["locked"]
    (hooked,) = migrate.target.get(f"workspaces/{there['id']}/notification-configurations").data
    assert hooked["attributes"]["enabled"]
    assert "cut over: network" in migrate.run("cut-over", "network")  # again: nothing happens
    assert " 0 differ" in migrate.run("verify")
    run = migrate.target.run_files(there["id"], {"main.tf": MAIN % "second"})
    migrate.target.wait_status(run, "applied")
    assert service.calls
    migrate.run("roll-back", "network", status=3)
    assert "has applied" in migrate.done.stdout and is_locked(migrate.source)["locked"]
    assert "nothing to do" in migrate.run("apply")  # what was cut over belongs to the target


def test_drift_stops_the_cut_over_and_is_shown(migrate, service):
    migrate.run("plan")
    secrets = migrate.fill_secrets(**{"tasks/scan": service.key})
    migrate.run("apply")
    source = migrate.source
    state = source.state(migrate.workspace)
    state["serial"] += 1
    state["resources"][0]["instances"][0]["attributes"]["input"]["value"] = "edited"
    write_states(source, migrate.workspace, json.dumps(state).encode())
    out = migrate.run("cut-over", "network", status=3)
    assert "the plan shows changes" in out and "update terraform_data.one" in out
    assert not is_locked(source)["locked"] and is_locked(migrate.target)["locked"]
    assert migrate.target.state(at_target(migrate)["id"]) == state  # it was moved before the plan
    assert "cut over: network" in migrate.run("cut-over", "--all", "--accept-changes", "--secrets", secrets)


def test_a_source_that_is_in_use_is_not_cut_over(migrate):
    migrate.run("apply")
    migrate.source.post(f"workspaces/{migrate.workspace}/actions/lock", {"reason": "ours"})
    out = migrate.run("cut-over", "network", status=3)
    assert "cannot be locked at the source" in out
    assert is_locked(migrate.source)["locked-reason"] == "ours" and is_locked(migrate.target)["locked"]


def test_a_cut_over_is_rolled_back(migrate, service):
    migrate.run("plan")
    migrate.run("apply")
    migrate.run("cut-over", "network", "--secrets", migrate.fill_secrets(**{"tasks/scan": service.key}))
    assert "rolled back: network" in migrate.run("roll-back", "--all")
    there = at_target(migrate)
    assert there["attributes"]["locked"] and not is_locked(migrate.source)["locked"]
    (hooked,) = migrate.target.get(f"workspaces/{there['id']}/notification-configurations").data
    assert not hooked["attributes"]["enabled"]
    assert migrate.target.get(f"workspaces/{there['id']}/tasks").data == []
    migrate.run("apply")
    assert "nothing to do" in migrate.run("apply")
    run = migrate.source.run_files(migrate.workspace, {"main.tf": MAIN % "second"})
    migrate.source.wait_status(run, "applied")
    assert "cut over: network" in migrate.run("cut-over", "network")
    assert migrate.target.state(there["id"]) == migrate.source.state(migrate.workspace)


def test_a_plan_that_fails_says_why(migrate):
    migrate.source.patch(f"workspaces/{migrate.workspace}", document("workspaces", {"terraform-version": "9.9.9"}))
    migrate.run("apply")
    out = migrate.run("cut-over", "network", status=3)
    assert "stopped: network: the plan is errored: " in out and '\n  The run\'s Terraform version is "9.9.9", which no worker' in out
    assert not is_locked(migrate.source)["locked"] and is_locked(migrate.target)["locked"]


def test_a_service_that_is_away_keeps_no_other_workspace_from_a_roll_back(migrate, service):
    migrate.source.workspace("storage", execution_mode="local")
    migrate.run("plan")
    migrate.run("apply")
    secrets = migrate.fill_secrets(**{"tasks/scan": service.key})
    migrate.run("cut-over", "--all", "--secrets", secrets)
    (task,) = migrate.target.get(f"organizations/{migrate.target.organization}/tasks").data
    migrate.target.delete(f"tasks/{task['id']}")
    service.test_code = 503
    out = migrate.run("roll-back", "storage", "--secrets", secrets)
    assert "rolled back: storage" in out and "failed: tasks/scan: " in out
    assert is_locked(migrate.target, "storage")["locked"] and not is_locked(migrate.source, "storage")["locked"]
    assert not is_locked(migrate.target)["locked"]
