# SPDX-License-Identifier: MPL-2.0
"""Every route of the API as members of the organization with every level of access. Without the route's permission the
answer is 404 and nothing changes; with it the request passes the gate.

The tables below define the permissions of each level. They are written from the documentation of the API, not from
the code under test.
"""

import pytest

from support.api import Api
from support.event_stream import EventStream
from support.routes import rows
from support.tenant import NO_CONTENT, OBJECT_IN_BODY, digest
from support.wait import until

# ---- permissions by level ----

MEMBER = {"CAN_READ_ORGANIZATION"}
VIEW = {"CAN_READ_WORKSPACE", "CAN_READ_RUNS", "CAN_DOWNLOAD_CONFIGURATION"}
RUNS = VIEW | {"CAN_READ_PROJECT"}  # access to a workspace includes seeing its project
READ = RUNS | {"CAN_READ_VARIABLES", "CAN_READ_OUTPUTS", "CAN_READ_STATE"}
PLAN = READ | {"CAN_QUEUE_RUN"}
WRITE = PLAN | {"CAN_APPLY", "CAN_WRITE_VARIABLES", "CAN_WRITE_STATE", "CAN_LOCK", "CAN_READ_MOCKS"}
ADMIN = WRITE | {"CAN_ATTACH_TASKS", "CAN_MANAGE_WORKSPACE", "CAN_DELETE_WORKSPACE", "CAN_READ_PLAN_JSON"}
IN_PROJECT = {"CAN_READ_PROJECT", "CAN_READ_VARSETS"}
PROJECT_ADMIN = IN_PROJECT | {"CAN_WRITE_VARSETS", "CAN_MANAGE_PROJECT", "CAN_DELETE_PROJECT", "CAN_CREATE_WORKSPACE", "CAN_READ_PROJECT_TEAMS", "CAN_MANAGE_PROJECT_TEAMS"}
ALL_VARSETS = {"CAN_READ_VARSETS", "CAN_WRITE_VARSETS", "CAN_MANAGE_ALL_WORKSPACES"}

WORKSPACE = {  # the access level of a team in the workspace, with its details
    "read": ({}, READ), "plan": ({}, PLAN), "write": ({}, WRITE), "admin": ({}, ADMIN),
    "custom": ({"runs": "read", "variables": "none", "state-versions": "read-outputs", "workspace-locking": True, "run-tasks": True},
               RUNS | {"CAN_READ_OUTPUTS", "CAN_LOCK", "CAN_ATTACH_TASKS"}),
}
PROJECT = {"read": READ | IN_PROJECT, "write": WRITE | IN_PROJECT, "maintain": ADMIN | IN_PROJECT | {"CAN_WRITE_VARSETS", "CAN_CREATE_WORKSPACE", "CAN_MOVE_WORKSPACE"},
           "admin": ADMIN | PROJECT_ADMIN | {"CAN_MOVE_WORKSPACE"}}
ORGANIZATION = {
    "manage-policies": VIEW | {"CAN_MANAGE_POLICIES"},
    "manage-policy-overrides": VIEW | {"CAN_OVERRIDE"},
    "manage-workspaces": ADMIN | ALL_VARSETS | {"CAN_READ_PROJECT", "CAN_CREATE_WORKSPACE"},
    "manage-projects": ADMIN | PROJECT_ADMIN | ALL_VARSETS | {"CAN_CREATE_PROJECT", "CAN_MOVE_WORKSPACE"},
    "read-workspaces": READ | IN_PROJECT,
    "read-projects": READ | IN_PROJECT | {"CAN_READ_PROJECT_TEAMS"},
    "manage-vcs-settings": {"CAN_MANAGE_VCS"},
    "manage-modules": {"CAN_MANAGE_MODULES", "CAN_MANAGE_NO_CODE"},
    "manage-providers": {"CAN_MANAGE_PROVIDERS"},
    "manage-run-tasks": {"CAN_MANAGE_TASKS"},
    "manage-membership": {"CAN_MANAGE_MEMBERSHIP"},
    "manage-teams": {"CAN_MANAGE_MEMBERSHIP", "CAN_MANAGE_TEAMS"},
    "manage-organization-access": {"CAN_MANAGE_MEMBERSHIP", "CAN_MANAGE_TEAMS", "CAN_MANAGE_ORGANIZATION_ACCESS"},
    "access-secret-teams": {"CAN_SEE_SECRET_TEAMS"},
    "manage-agent-pools": {"CAN_MANAGE_POOLS"},
}
EVERYTHING = object()
# An organization's token manages objects, but no no-code modules, and cannot run anything.
NOT_FOR_ORGANIZATIONS = {"CAN_QUEUE_RUN", "CAN_APPLY", "CAN_WRITE_STATE", "CAN_OVERRIDE", "CAN_MANAGE_NO_CODE"}

# Any token satisfies these. The handler shows only the caller's own objects.
ANY_TOKEN = {"CAN_ANYTHING_SIGNED_IN", "CAN_WITH_TOKEN", "CAN_WITHOUT_TOKEN", "CAN_CALL_BACK"}
# The caller's own account and organization (test_route_matrix.py).
OWN_ACCOUNT = {"site_ping", "account_details", "account_update", "account_password", "organizations_index", "organizations_create", "audit_trail_own"}


class Actor:
    def __init__(self, name, client, holds):
        self.name, self.client, self.holds = name, client, holds

    def has(self, permission):
        if self.holds is EVERYTHING:
            return permission not in ("CAN_ADMINISTER_SITE",)
        return permission in self.holds | MEMBER


@pytest.fixture(scope="module")
def all_actors(victim):
    """A member of each level of access, a team's token and the organization's."""
    api, people, ids = victim.api, victim.people, victim.ids

    def member(name, **organization_access):
        """A member in a team of their own; returns the team's id, too."""
        team = people.team(f"team-{name}", **organization_access)
        return team, people.member(name, team)

    actors = [Actor("owner", people.member("second-owner", people.owners()), EVERYTHING), Actor("member without rights", member("nothing")[1], set())]
    for level, (details, holds) in WORKSPACE.items():
        team, client = member(f"workspace-{level}")
        for place in ("workspace", "applying"):
            people.give(team, "workspace", ids[place], level, **details)
        actors.append(Actor(f"workspace {level}", client, holds))
        if level == "write":
            token = api.post(f"teams/{team}/authentication-token").data["attributes"]["token"]
            actors.append(Actor("team token", Api(api.url, token, api.organization), holds))
    for level, holds in PROJECT.items():
        team, client = member(f"project-{level}")
        people.give(team, "project", ids["project"], level)
        actors.append(Actor(f"project {level}", client, holds))
    for flag, holds in ORGANIZATION.items():
        actors.append(Actor(flag, member(flag, **{flag: True})[1], holds))
    everything_else = {row[3] for row in rows("API")} - NOT_FOR_ORGANIZATIONS - {"CAN_ADMINISTER_SITE", "CAN_ANYTHING_SIGNED_IN"}
    actors.append(Actor("organization token", Api(api.url, victim.organization_token, api.organization), everything_else))
    return actors


def request_of(victim, method, path, handler):
    """The path, and a body that passes the permission check and is refused afterwards."""
    ids, organization = victim.ids, victim.api.organization
    query = {"states_index": f"?filter[organization][name]={organization}&filter[workspace][name]={ids['name']}", "run_triggers_index": "?filter[run-trigger][type]=inbound",
             "team_workspaces_index": f"?filter[workspace][id]={ids['workspace']}", "team_projects_index": f"?filter[project][id]={ids['project']}",
             "module_versions_read": f"?module_version={ids['module_version']}"}.get(handler, "")
    relations = {"workspace": {"data": {"type": "workspaces", "id": ids["workspace"]}}, "project": {"data": {"type": "projects", "id": ids["project"]}}}
    body = {"data": {"type": "what-is-not-there", "attributes": {}, "relationships": relations}}
    return victim.fill(path)[1:] + query, body if method in ("POST", "PATCH", "PUT") else None


def test_requests_without_the_permission_show_and_change_nothing(api_site, victim, all_actors):
    before, wrong = digest(api_site.database), []
    for method, path, handler, permission in rows("API"):
        if handler in OWN_ACCOUNT or permission in ANY_TOKEN:
            continue
        target, body = request_of(victim, method, path, handler)
        for actor in all_actors:
            if actor.has(permission):
                continue
            answer = actor.client.call(method, target, body)
            expected = (404, 422, 400) if handler in OBJECT_IN_BODY else (404,)
            if answer.status not in expected:
                wrong.append(f"{actor.name}: {method} {path} ({permission}): {answer.status} {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)
    assert digest(api_site.database) == before


def test_the_event_stream_denies_topics_without_the_permission(victim, all_actors):
    ids = victim.ids
    needs = {f"org:{victim.api.organization}": "CAN_READ_ORGANIZATION", f"workspace:{ids['workspace']}": "CAN_READ_WORKSPACE", f"run:{ids['run']}": "CAN_READ_RUNS",
             f"log:{ids['plan']}": "CAN_READ_RUNS", "site": "CAN_ADMINISTER_SITE"}
    for actor in all_actors:
        stream = EventStream(victim.api.url, [f"{topic}@0" if topic.startswith("log:") else topic for topic in needs], actor.client.token)
        expected = {topic for topic, permission in needs.items() if not actor.has(permission)}
        until(lambda: {event.data["topic"] for event in stream.of("denied")} == expected, f"{actor.name} is denied {expected}")
        stream.close()


# Of the organization, but shown only to who sees a workspace that uses it, or manages connections.
OF_WORKSPACES = {"vcs_repositories_read", "no_code_upgrade_read"}
# Of whoever made them, and of owners.
OF_CREATORS = {"explorer_views_update"}
# No assessment of the workspace has ended.
NOT_THERE_YET = {"assessment_results_current"}


def test_requests_with_the_permission_are_accepted(victim, all_actors):
    wrong = []
    for method, path, handler, permission in rows("API"):
        # Creations are tested, too. Actions and deletions have separate tests.
        if method not in ("GET", "PATCH") and not handler.endswith("_create") or "retention" in handler or permission in ANY_TOKEN:
            continue
        target, body = request_of(victim, method, path, handler)
        for actor in all_actors:
            if not actor.has(permission):
                continue
            answer = actor.client.call(method, target, body)
            hidden = answer.status == 404 and handler not in NO_CONTENT | OF_WORKSPACES | OF_CREATORS | NOT_THERE_YET
            if hidden or answer.status in (401, 403) or answer.status >= 500:
                wrong.append(f"{actor.name}: {method} {path} ({permission}): {answer.status} {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)
