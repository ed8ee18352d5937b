# SPDX-License-Identifier: MPL-2.0
# label: quick
"""One request changes an object while another one, which has read it before, writes it back."""

import threading

import psycopg
import pytest

from support.people import People
from support.shared import api, database, scheduler  # noqa: F401
from support.wait import until

LOCK_WAITS = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


@pytest.fixture
def people(api, database):
    return People(api, database)


def data(resource, **attributes):
    return {"data": {"type": resource, "attributes": attributes}}


def during_change(database, change, arguments, ask):
    """Commits the change once the request waits for it. Returns the answer."""
    answers = []
    with psycopg.connect(database) as holder, psycopg.connect(database, autocommit=True) as watcher:
        holder.execute(change, arguments)
        asking = threading.Thread(target=lambda: answers.append(ask()))
        asking.start()
        until(lambda: watcher.execute(LOCK_WAITS).fetchone()[0], "the request waits for the change")
        holder.commit()
        asking.join()
    return answers[0]


def test_a_concurrent_update_does_not_reveal_a_variable_made_sensitive(api, database):
    workspace = api.workspace("w")
    path = f"workspaces/{workspace}/vars"
    variable = api.post(path, data("vars", key="password", value="hunter2", category="env")).data["id"]
    answer = during_change(database, "update variables set sensitive = true where id = %s", [variable],
                       lambda: api.call("PATCH", f"{path}/{variable}", data("vars", description="d")))
    assert answer.data["attributes"]["sensitive"] is True and "hunter2" not in answer.text
    assert api.get(f"{path}/{variable}").data["attributes"]["value"] is None


def test_a_concurrent_update_does_not_restore_revoked_permissions(api, people, database):
    team = people.team("t", manage_workspaces=True)
    manager = people.member("renamer", people.team("managers", manage_teams=True, access_secret_teams=True))
    answer = during_change(database, "update teams set organization_access = '{}', rights = 4294967296 where id = %s", [team],
                       lambda: manager.call("PATCH", f"teams/{team}", data("teams", name="renamed")))
    assert answer.status == 200 and answer.data["attributes"]["name"] == "renamed"
    assert answer.data["attributes"]["organization-access"]["manage-workspaces"] is False
    member = people.member("stripped", team)
    assert member.call("POST", f"organizations/{api.organization}/workspaces", data("workspaces", name="w")).status == 404
