# SPDX-License-Identifier: MPL-2.0
"""Runyard to Runyard: plan, apply and verify."""

from support.migration import SECRET, connect, states_of


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
