# SPDX-License-Identifier: MPL-2.0
"""Runyard to Runyard: plan, apply and verify."""

from pathlib import Path

from support.documents import document
from support.migration import SECRET, connect, state_text, states_of, write_states
from support.wait import until


def test_an_organization_is_moved_and_verified(migrate, there, task):
    out = migrate.run("plan")
    assert "cannot be read" not in out
    waiting = {row["object"] for row in migrate.plan_rows() if row["action"] == "needs secret"}
    assert waiting == {"ssh-keys/deploy", "varsets/shared/varset-vars/env/TOKEN", "workspaces/network/vars/env/PASSWORD"}
    secrets = migrate.fill_secrets()
    out = migrate.run("apply", "--secrets", secrets, status=3)
    assert "oauth-clients/git" in out and "\nfailed" not in out, print(out)
    connect(there)
    assert "nothing to do" in migrate.run("apply", "--secrets", secrets)
    out = migrate.run("verify")
    assert " 0 differ, 0 wait" in out
    assert states_of(there, "network") == states_of(migrate.source, "network") and len(states_of(there, "network")) == 3
    assert SECRET not in "".join(migrate.files().values()) + out
    assert not task.tests and not task.calls


def test_a_workspace_of_others_is_not_touched(migrate, there):
    """The target has a workspace of the same name, with a state of its own."""
    there.post("organizations", document("organizations", {"name": there.organization, "email": "admin@example.com"}))
    other = there.workspace("storage", description="ours")
    write_states(there, other, state_text(99, "theirs"))
    out = migrate.run("apply", status=3)
    assert "waits for you: workspaces/storage: the target has a workspace of this name" in out and "\nfailed" not in out
    assert there.attributes(f"workspaces/{other}")["description"] == "ours" and not there.attributes(f"workspaces/{other}")["locked"]
    assert states_of(there, "storage") == [state_text(99, "theirs")] and len(states_of(there, "network")) == 3
    migrate.run("apply", "--adopt", status=3)
    assert states_of(there, "storage")[-1] == states_of(migrate.source, "storage")[0]


def test_a_working_folder_that_is_a_file_is_named(migrate):
    """The program itself, which has the folder's usual name, may lie there."""
    migrate.folder.write_text("")
    migrate.run("plan", status=1)
    assert f"the working folder {migrate.folder} is a file: name another one with --folder" in migrate.done.stderr


def test_tokens_and_secrets_are_no_arguments(migrate):
    migrate.run("plan")
    running = migrate.start("apply", "--secrets", migrate.fill_secrets())
    arguments = until(lambda: (text := Path(f"/proc/{running.pid}/cmdline").read_text()) and "runyard_migrate" in text and text, "the program runs")
    assert not [secret for secret in (SECRET, migrate.source.token, migrate.target.token) if secret in arguments]
    running.kill()
    running.communicate()
