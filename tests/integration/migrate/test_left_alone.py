# SPDX-License-Identifier: MPL-2.0
# label: extended
"""What a migration leaves alone at the target, and what it says when it stops."""

import signal

import pytest

from support.api import Api
from support.documents import document
from support.migration import Migrate, connect
from support.wait import PATIENCE, until


@pytest.fixture
def settled(migrate, there):
    """Everything is at the target."""
    migrate.run("plan")
    migrate.secrets = migrate.fill_secrets()
    migrate.run("apply", "--secrets", migrate.secrets, status=3)
    connect(there)
    migrate.run("apply", "--secrets", migrate.secrets)
    return migrate


def workspace(api, name):
    return api.get(f"organizations/{api.organization}/workspaces/{name}").data


def locked(api, name):
    return workspace(api, name)["attributes"]["locked"]


def lock_again(api):
    """Locks the workspace `remote` as those are locked that wait for their cut-over."""
    api.post(f"workspaces/{workspace(api, 'remote')['id']}/actions/lock", {"reason": workspace(api, "storage")["attributes"]["locked-reason"]})


def team_client(api, access, read=()):
    """A client with the token of a team that may read these workspaces."""
    team = api.post(f"organizations/{api.organization}/teams", document("teams", {"name": "few", "organization-access": access})).data
    for id in read:
        links = {"team": {"data": {"type": "teams", "id": team["id"]}}, "workspace": {"data": {"type": "workspaces", "id": id}}}
        api.post("team-workspaces", {"data": {"type": "team-workspaces", "attributes": {"access": "read"}, "relationships": links}})
    return Api(api.url, api.post(f"teams/{team['id']}/authentication-token").data["attributes"]["token"], api.organization)


def scopes(api):
    """What policy sets and variable sets apply to."""
    sets = [one for kind in ("policy-sets", "varsets") for one in api.get(f"organizations/{api.organization}/{kind}").data]
    return {one["attributes"]["name"]: {name: len(one["relationships"][name]["data"]) for name in ("projects", "workspaces")} for one in sets}


def test_a_token_that_sees_less_takes_nothing_away(settled, tmp_path, moved, there):
    before = scopes(there)
    assert before["guardrails"]["workspaces"] == 1 and before["shared"] == {"projects": 1, "workspaces": 1}
    few = team_client(settled.source, {}, [moved.ids["storage"]])
    out = Migrate(tmp_path / "few", few, there).run("apply", "--secrets", settled.secrets, status=3)
    assert "cannot be read: policy-sets/guardrails: workspaces: refers to an object that was not read" in out
    assert scopes(there) == before


def test_a_lost_working_folder_leaves_cut_over_workspaces_alone(settled, there):
    """The source's lock says that the workspace moved."""
    settled.run("cut-over", "remote", "--without-plan")
    settled.folder.rename(settled.folder.with_name("lost"))
    secrets = settled.folder.with_name("lost") / settled.name / "secrets.json"
    there.patch(f"workspaces/{workspace(there, 'remote')['id']}", document("workspaces", {"description": "changed here"}))
    settled.run("apply", "--adopt", "--secrets", secrets)
    assert not locked(there, "remote") and workspace(there, "remote")["attributes"]["description"] == "changed here"
    assert "nothing to do" in settled.run("apply", "--secrets", secrets)  # the others were adopted
    assert "cut over: remote" in settled.run("cut-over", "remote")
    assert "cut over: storage" in settled.run("cut-over", "storage", "--without-plan", "--secrets", secrets)
    assert "rolled back: remote" in settled.run("roll-back", "remote")
    assert locked(there, "remote") and not locked(settled.source, "remote")


def test_a_cut_over_that_a_lost_folder_had_not_ended_is_not_trusted(settled, there):
    """The source is locked, and the target waits: newer states may be missing."""
    settled.run("cut-over", "remote", "--without-plan")
    lock_again(there)
    settled.folder.rename(settled.folder.with_name("lost"))
    out = settled.run("cut-over", "remote", "--without-plan", "--adopt", status=3)
    assert "stopped: remote: cannot be locked at the source: " in out and "unlock it there, and repeat" in out
    assert locked(there, "remote")


def test_a_cut_over_is_repeated_if_the_target_was_locked_again(settled, there):
    settled.run("cut-over", "remote", "--without-plan")
    lock_again(there)
    settled.run("cut-over", "remote", "--without-plan")
    assert not locked(there, "remote")


def test_a_workspace_waits_for_the_ssh_key_that_it_uses(migrate, there):
    migrate.run("plan")
    secrets = migrate.fill_secrets(**{"ssh-keys/deploy": ""})
    migrate.run("apply", "--secrets", secrets, status=3)
    out = migrate.run("cut-over", "network", "--without-plan", "--secrets", secrets, status=3)
    assert "stopped: network: waits for you: ssh-keys/deploy: the source does not return its value" in out
    assert not locked(migrate.source, "network")


def test_a_workspace_is_not_created_in_another_project(migrate, there):
    there.post("organizations", document("organizations", {"name": there.organization, "email": "admin@example.com"}))
    there.post(f"organizations/{there.organization}/projects", document("projects", {"name": "network AND co"}))
    out = migrate.run("apply", status=3)
    assert out.count("failed: projects/Network and Co: ") == 1
    assert "waits for you: workspaces/network: projects/Network and Co is not at the target" in out
    assert {one["attributes"]["name"] for one in there.get(f"organizations/{there.organization}/workspaces").data} == {"remote", "storage"}


def test_a_workspace_that_the_source_lost_is_named(settled, moved):
    settled.source.patch(f"workspaces/{moved.ids['remote']}", document("workspaces", {"name": "renamed"}))
    out = settled.run("apply", "--secrets", settled.secrets)
    assert "only at the target: workspaces/remote: it was renamed or deleted at the source" in out
    assert "only at the target: workspaces/remote" in settled.run("verify", status=3)


def test_the_checklist_gets_shorter(settled):
    text = (settled.work / "checklist.md").read_text()
    assert "supply its" not in text and "create the connection" not in text
    assert "make new tokens" in text


def test_an_interrupted_cut_over_unlocks_the_source(settled, there):
    """No worker plans here."""
    running = settled.start("cut-over", "network", "--secrets", settled.secrets)
    run = next(line for line in running.stdout if "the plan is " in line).strip().rpartition("/")[2]
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode == 1 and "interrupted" in out and "Traceback" not in out
    assert not locked(settled.source, "network") and locked(there, "network")
    until(lambda: there.status(run) == "canceled", "the plan is canceled")


def test_a_token_of_a_member_is_refused(settled, tmp_path, there):
    member = Migrate(tmp_path / "member", settled.source, team_client(there, {"manage-workspaces": True}))
    member.run("apply", status=1)
    assert f"the target's token must be an owner's of the organization {there.organization}" in member.done.stderr


def test_wrong_use_is_explained(migrate, there, tmp_path):
    def said(*arguments, to=there):
        one = Migrate(tmp_path / "wrong", migrate.source, to)
        one.run(*arguments, status=1)
        return one.done.stderr
    assert f"--code: {tmp_path / 'none'} is no folder" in said("cut-over", "--all", "--code", tmp_path / "none")
    assert f"source and target are the same organization, {migrate.source.organization}" in said("plan", to=migrate.source)
    assert "the token of the target cannot be read: /none: No such file or directory" in said("plan", "--to-token-file", "/none")
    assert f"the target, {there.url}, refuses the token" in said("plan", to=Api(there.url, "no-token", there.organization))
