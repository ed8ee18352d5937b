# SPDX-License-Identifier: MPL-2.0
"""Every endpoint of the route table as every kind of actor: who lacks the row's permission gets 404 and changes nothing, who has it gets an answer.

What each kind of actor holds is said here again, from the documentation of the products, and not from the code's own tables.
"""

import base64
import hashlib
import json
import uuid

import psycopg
import pytest

from support.api import Api
from support.routes import rows
from support.shared import api, database, folder, scheduler, stack  # noqa: F401
from test_api_strangers import OPEN, everything, filled
from test_api_strangers import things as rows_of_things  # noqa: F401

# ---- who holds what ----

MEMBER = {"CAN_READ_ORGANIZATION"}
SEE = {"CAN_READ_WORKSPACE", "CAN_READ_RUNS", "CAN_DOWNLOAD_CONFIGURATION"}
RUNS = SEE | {"CAN_READ_PROJECT"}  # who sees a workspace sees its project
READ = RUNS | {"CAN_READ_VARIABLES", "CAN_READ_OUTPUTS", "CAN_READ_STATE"}
PLAN = READ | {"CAN_QUEUE_RUN"}
WRITE = PLAN | {"CAN_APPLY", "CAN_WRITE_VARIABLES", "CAN_WRITE_STATE", "CAN_LOCK", "CAN_READ_MOCKS"}
ADMIN = WRITE | {"CAN_ATTACH_TASKS", "CAN_MANAGE_WORKSPACE", "CAN_DELETE_WORKSPACE", "CAN_READ_PLAN_JSON"}
IN_PROJECT = {"CAN_READ_PROJECT", "CAN_READ_VARSETS"}
PROJECT_ADMIN = IN_PROJECT | {"CAN_WRITE_VARSETS", "CAN_MANAGE_PROJECT", "CAN_DELETE_PROJECT", "CAN_CREATE_WORKSPACE", "CAN_READ_PROJECT_TEAMS", "CAN_MANAGE_PROJECT_TEAMS"}
ALL_VARSETS = {"CAN_READ_VARSETS", "CAN_WRITE_VARSETS", "CAN_MANAGE_VARSETS"}

WORKSPACE = {  # the access level of a team in the workspace, with its details
    "read": ({}, READ), "plan": ({}, PLAN), "write": ({}, WRITE), "admin": ({}, ADMIN),
    "custom": ({"runs": "read", "variables": "none", "state-versions": "read-outputs", "workspace-locking": True, "run-tasks": True},
               RUNS | {"CAN_READ_OUTPUTS", "CAN_LOCK", "CAN_ATTACH_TASKS"}),
}
PROJECT = {"read": READ | IN_PROJECT, "write": WRITE | IN_PROJECT, "maintain": ADMIN | IN_PROJECT | {"CAN_WRITE_VARSETS", "CAN_CREATE_WORKSPACE", "CAN_MOVE_WORKSPACE"},
           "admin": ADMIN | PROJECT_ADMIN | {"CAN_MOVE_WORKSPACE"}}
ORGANIZATION = {
    "manage-policies": SEE | {"CAN_MANAGE_POLICIES"},
    "manage-policy-overrides": SEE | {"CAN_OVERRIDE"},
    "manage-workspaces": ADMIN | ALL_VARSETS | {"CAN_READ_PROJECT", "CAN_CREATE_WORKSPACE"},
    "manage-projects": ADMIN | PROJECT_ADMIN | ALL_VARSETS | {"CAN_CREATE_PROJECT", "CAN_MOVE_WORKSPACE"},
    "read-workspaces": READ | IN_PROJECT,
    "read-projects": READ | IN_PROJECT | {"CAN_READ_PROJECT_TEAMS"},
    "manage-vcs-settings": {"CAN_MANAGE_VCS"},
    "manage-modules": {"CAN_MANAGE_MODULES"},
    "manage-providers": {"CAN_MANAGE_PROVIDERS"},
    "manage-run-tasks": {"CAN_MANAGE_TASKS"},
    "manage-membership": {"CAN_MANAGE_MEMBERSHIP"},
    "manage-teams": {"CAN_MANAGE_MEMBERSHIP", "CAN_MANAGE_TEAMS"},
    "manage-organization-access": {"CAN_MANAGE_MEMBERSHIP", "CAN_MANAGE_TEAMS", "CAN_MANAGE_ORGANIZATION_ACCESS"},
    "access-secret-teams": {"CAN_SEE_SECRET_TEAMS"},
    "manage-agent-pools": {"CAN_MANAGE_POOLS"},
}
EVERYTHING = object()
# An organization's token manages, and never runs anything.
NOT_FOR_ORGANIZATIONS = {"CAN_QUEUE_RUN", "CAN_APPLY", "CAN_WRITE_STATE", "CAN_OVERRIDE"}

# What answers every user, whatever they may: the handler shows what is theirs.
THEIRS = {"CAN_ANYTHING_SIGNED_IN", "CAN_WITH_TOKEN", "CAN_WITHOUT_TOKEN"}
# Rows whose object was never made here.
MAY_BE_MISSING = {"team_token_read", "organization_token_read"}


class Actor:
    def __init__(self, name, client, holds):
        self.name, self.client, self.holds = name, client, holds

    def may(self, permission):
        if self.holds is EVERYTHING:
            return permission not in ("CAN_ADMINISTER_SITE",)
        return permission in self.holds | MEMBER


def lock(database, workspace, user):
    """Its run holds it, so that nobody can lock it through the API."""
    change(database, "update workspaces set locked_by = %s where id = %s", user, workspace)


def change(database, statement, *values):
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(statement, values)


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()


@pytest.fixture
def things(api, database, rows_of_things):  # noqa: F811
    """The same, with what somebody who may gets to see: a state with an output, a variable set of the project, a team that is no secret, what it may."""
    workspace, project = rows_of_things["workspace"], rows_of_things["project"]
    lock(database, workspace, api.get("account/details").data["id"])
    state = {"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {"o": {"value": "secret", "type": "string"}}, "resources": []}
    text = json.dumps(state).encode()
    made = api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": {
        "serial": 1, "lineage": "l", "md5": hashlib.md5(text).hexdigest(), "state": base64.b64encode(text).decode(), "force": True}}}).data["id"]
    lock(database, workspace, None)
    varset = api.post(f"organizations/{api.organization}/varsets", {"data": {"type": "varsets", "attributes": {"name": "of the project"}, "relationships": {
        "parent": {"data": {"type": "projects", "id": project}}}}}).data["id"]
    variable = api.post(f"varsets/{varset}/relationships/vars", {"data": {"type": "vars", "attributes": {"key": "k", "value": "secret", "category": "env"}}}).data["id"]
    change(database, "delete from policy_set_parameters where id = %s", rows_of_things["parameter"])
    parameter = api.post(f"policy-sets/{rows_of_things['set']}/parameters", {"data": {"type": "vars", "attributes": {"key": "k", "value": "v", "category": "policy-set"}}}).data["id"]
    team = api.post(f"organizations/{api.organization}/teams", {"data": {"type": "teams", "attributes": {"name": "seen", "visibility": "organization"}}}).data["id"]
    access = {kind: api.post(f"team-{kind}", {"data": {"type": f"team-{kind}", "attributes": {"access": "read"}, "relationships": {
        "team": {"data": {"type": "teams", "id": team}}, kind[:-1]: {"data": {"type": kind, "id": id}}}}}).data["id"]
        for kind, id in (("workspaces", workspace), ("projects", project))}
    return {**rows_of_things, "state": made, "output": api.get(f"state-versions/{made}/outputs").data[0]["id"], "varset": varset, "varset variable": variable, "parameter": parameter,
            "team": team, "access of workspaces": access["workspaces"], "access of projects": access["projects"]}


@pytest.fixture
def cast(api, database, things):
    """Every kind of actor, as members of the organization that the things are in."""

    def user(name):
        token, id = f"token-{uuid.uuid4()}", f"user-{name}-{api.organization}"
        change(database, "insert into users (id, username, email) values (%s, %s, %s)", id, id, f"{id}@example.com")
        change(database, "insert into tokens (id, hash, user_id) values (%s, %s, %s)", f"at-{id}", digest(token), id)
        return id, Api(api.url, token, api.organization)

    def member(name, organization_access=None):
        """Somebody in a team of their own; the team's id."""
        id, client = user(name)
        if name == "owner":
            team = next(team["id"] for team in api.get(f"organizations/{api.organization}/teams").data if team["attributes"]["name"] == "owners")
        else:
            team = api.post(f"organizations/{api.organization}/teams", {"data": {"type": "teams", "attributes": {"name": name, "organization-access": organization_access or {}}}}).data["id"]
        invitation = api.post(f"organizations/{api.organization}/organization-memberships", {"data": {
            "type": "organization-memberships", "attributes": {"email": f"{id}@example.com"}, "relationships": {"teams": {"data": [{"type": "teams", "id": team}]}}}}).data
        client.post(f"account/invitations/{invitation['id']}/actions/accept")
        return team, client

    actors = [Actor("owner", member("owner")[1], EVERYTHING), Actor("member without rights", member("nothing")[1], set())]
    for level, (details, holds) in WORKSPACE.items():
        team, client = member(f"workspace-{level}")
        api.post("team-workspaces", {"data": {"type": "team-workspaces", "attributes": {"access": level, **details}, "relationships": {
            "team": {"data": {"type": "teams", "id": team}}, "workspace": {"data": {"type": "workspaces", "id": things["workspace"]}}}}})
        actors.append(Actor(f"workspace {level}", client, holds))
        if level == "write":
            token = api.post(f"teams/{team}/authentication-token").data["attributes"]["token"]
            actors.append(Actor("team token", Api(api.url, token, api.organization), holds))
    for level, holds in PROJECT.items():
        team, client = member(f"project-{level}")
        api.post("team-projects", {"data": {"type": "team-projects", "attributes": {"access": level}, "relationships": {
            "team": {"data": {"type": "teams", "id": team}}, "project": {"data": {"type": "projects", "id": things["project"]}}}}})
        actors.append(Actor(f"project {level}", client, holds))
    for flag, holds in ORGANIZATION.items():
        actors.append(Actor(flag, member(flag, {flag: True})[1], holds))
    token = api.post(f"organizations/{api.organization}/authentication-token").data["attributes"]["token"]
    everything_else = {row[3] for row in rows("API")} - NOT_FOR_ORGANIZATIONS - {"CAN_ADMINISTER_SITE", "CAN_ANYTHING_SIGNED_IN"}
    actors.append(Actor("organization token", Api(api.url, token, api.organization), everything_else))
    return actors


def request_of(api, method, path, handler, things):
    """The path, and a body that gets past the permission and no further."""
    query = f"?filter[organization][name]={api.organization}&filter[workspace][name]=secret" if handler == "states_index" else ""
    query = {"run_triggers_index": "?filter[run-trigger][type]=inbound", "team_workspaces_index": f"?filter[workspace][id]={things['workspace']}",
             "team_projects_index": f"?filter[project][id]={things['project']}"}.get(handler, query)
    relations = {"workspace": {"data": {"type": "workspaces", "id": things["workspace"]}}, "project": {"data": {"type": "projects", "id": things["project"]}}}
    body = {"data": {"type": "what-is-not-there", "attributes": {}, "relationships": relations}}
    own = {"access": things["access of projects" if "team-projects" in path else "access of workspaces"],
           "variable": things["varset variable" if path.startswith("/varsets/") else "variable"]}
    return filled(path, {**things, **own})[1:] + query, body if method in ("POST", "PATCH", "PUT") else None


def test_who_lacks_the_permission_sees_and_changes_nothing(api, database, things, cast):
    before, wrong = everything(database), []
    for method, path, handler, permission in rows("API"):
        if handler in OPEN or permission in THEIRS:
            continue
        sent, body = request_of(api, method, path, handler, things)
        for actor in cast:
            if actor.may(permission):
                continue
            answer = actor.client.call(method, sent, body)
            # Where the object is one of the body's, what is wrong with the body may come first.
            expected = (404, 422, 400) if handler in OF_THE_BODY else (404,)
            if answer.status not in expected:
                wrong.append(f"{actor.name}: {method} {path} ({permission}): {answer.status} {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)
    assert everything(database) == before


# The workspace or project of these stands in the body.
OF_THE_BODY = {"runs_create", "team_workspaces_create", "team_projects_create", "workspaces_create", "plan_exports_create"}


def test_who_has_the_permission_gets_an_answer(api, things, cast):
    wrong = []
    for method, path, handler, permission in rows("API"):
        # Creating is tried, too; what acts or deletes has tests of its own.
        if method not in ("GET", "PATCH") and not handler.endswith("_create") or handler in MAY_BE_MISSING or "retention" in handler or permission in THEIRS:
            continue
        sent, body = request_of(api, method, path, handler, things)
        for actor in cast:
            if not actor.may(permission):
                continue
            answer = actor.client.call(method, sent, body)
            # That an object has no content (yet) is told in other words than that it is not there.
            hidden = answer.status == 404 and answer.errors().endswith("not found")
            if hidden or answer.status in (401, 403) or answer.status >= 500:
                wrong.append(f"{actor.name}: {method} {path} ({permission}): {answer.status} {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)


def test_tokens_that_are_nobodys(api, database, things, stack):
    """Expired, revoked and made-up tokens are 401 everywhere; those for something else are 404 here, or 401."""
    expired = f"token-{uuid.uuid4()}"
    user = api.get("account/details").data["id"]
    change(database, "insert into tokens (id, hash, user_id, expired_at) values (%s, %s, %s, now() - interval '1 second')", f"at-{expired[:16]}", digest(expired), user)
    made = api.post(f"users/{user}/authentication-tokens", {"data": {"type": "authentication-tokens", "attributes": {"description": "gone"}}}).data
    revoked = made["attributes"]["token"]
    assert Api(api.url, revoked).get("account/details").data["id"] == user
    api.delete(f"authentication-tokens/{made['id']}")
    before, wrong = everything(database), []
    audit = api.post(f"organizations/{api.organization}/authentication-token?token=audit-trails").data["attributes"]["token"]
    for name, token, expected in (("expired", expired, {401}), ("revoked", revoked, {401}), ("made up", "nonsense", {401}), ("agent", stack.tokens["agent-token"], {404}),
                                  ("notifier", stack.tokens["notifier-token"], {404}), ("audit trails", audit, {404})):
        client = Api(api.url, token, api.organization)
        for method, path, handler, permission in rows("API"):
            if permission == "CAN_WITHOUT_TOKEN" or handler in OPEN or (name == "audit trails" and permission in THEIRS | MEMBER | {"CAN_READ_AUDIT"}):
                continue
            sent, body = request_of(api, method, path, handler, things)
            answer = client.call(method, sent, json.dumps(body).encode() if body else None)
            if answer.status not in expected | ({400, 422} if handler in OF_THE_BODY and 404 in expected else set()):
                wrong.append(f"{name}: {method} {path} ({permission}): {answer.status} {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)
    assert everything(database) == before
