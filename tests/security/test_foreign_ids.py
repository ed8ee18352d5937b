# SPDX-License-Identifier: MPL-2.0
"""Every id that a document of the API may contain, replaced by the id of another organization's object of that kind.

The relations and attributes with ids come from the OpenAPI document, the documents from support/samples.py, and the
objects from two tenants. test_every_id_has_an_object_of_its_kind fails for a new kind or attribute without a row in
the tables below."""

import copy
import re
import uuid
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from support.connection import Connection
from support.contract import document as openapi
from support.routes import table
from support.samples import SAMPLES, document_of
from support.tenant import digest, leaks, mentions, missing_ids

API = Path(__file__).parents[2] / "scheduler/api"

# ---- kinds of objects ----

# The keys of Tenant.ids whose values may stand for an object of the type.
KINDS = {
    "agent-pools": ("pool",), "authentication-tokens": ("team_token",), "configuration-versions": ("configuration", "test_configuration"), "github-app-installations": ("installation",), "identity-providers": ("provider",), "oauth-tokens": ("oauth_token",),
    "organization-memberships": ("membership",), "organizations": ("organization",), "plans": ("plan",), "policies": ("policy",), "projects": ("project",), "provider-sets": ("provider_set",), "registry-modules": ("free_module",), "runs": ("run",), "ssh-keys": ("key",),
    "state-versions": ("state",), "tags": ("tag",), "tasks": ("free_task",), "teams": ("free_team",), "users": ("user", "username"), "vars": ("set_variable", "variable", "test_variable"), "workspaces": ("other",),
}
# Types of objects that belong to no organization.
OF_NOBODY = {"feature-sets", "scim-groups"}
# The type of the object that an attribute names.
ATTRIBUTES = {
    "agent-pool-id": "agent-pools", "default-agent-pool-id": "agent-pools", "oauth-token-id": "oauth-tokens", "github-app-installation-id": "github-app-installations",
    "identity-provider-id": "identity-providers", "scim-group-id": "scim-groups", "site-admin-group-scim-id": "scim-groups", "ssh-key-assignments.id": "ssh-keys",
    "target_ids": "workspaces",
}
# Attributes with ids of other systems. A key-id counts when a signature is uploaded (tests/integration/registry/test_providers.py).
OF_OTHER_SYSTEMS = {"key-id", "aws-access-key-id", "azure-client-id", "azure-subscription-id", "azure-tenant-id", "client-id", "idp-entity-id", "owners-team-saml-role-id", "sso-team-id"}
# Other attributes that the API requires with an attribute or a relation.
BESIDE = {
    "agent-pool-id": {"execution-mode": "agent"}, "agent-pool": {"execution-mode": "agent"}, "default-agent-pool-id": {"default-execution-mode": "agent"}, "default-agent-pool": {"default-execution-mode": "agent"},
    "users": {"destination-type": "email", "url": None}, "oauth-token-id": {"vcs-repo": {"identifier": "group/fine"}}, "github-app-installation-id": {"vcs-repo": {"identifier": "group/fine", "oauth-token-id": None}},
    "target_ids": {"query": None},
}
# Relations of a path's :relation that are not named like the type of their objects.
RELATIONS = {"/policy-sets/": {"workspaces": ("workspaces", "workspace-exclusions"), "projects": ("projects", "project-exclusions")}}


# Relations that only another endpoint of the resource sets, and projects of other organizations for a new connection, which clients
# name as well (go-tfe). These handlers ignore them.
IGNORED = {
    "team_workspaces_update": {"team", "workspace"}, "team_projects_update": {"team", "project"}, "workspace_tasks_update": {"task"}, "varsets_create": {"vars"}, "varsets_update": {"parent", "vars"},
    "policy_sets_update": {"policies", "workspaces", "workspace-exclusions", "projects", "project-exclusions"}, "oauth_clients_update": {"projects"}, "oauth_clients_create": {"projects"},
    "states_create": {"rollback-state-version"}, "states_roll_back": {"run"},
    **{f"{kind}_create": {"workspace"} for kind in ("team_tokens", "team_token", "organization_token", "agent_tokens", "notifier_tokens")},
}
# Relations that no object satisfies. A new organization has no pool. Only notifiers send tasks. Without an organization in the path, only an OAuth token finds a repository.
# A test run names the module of its path, which is another one.
NEVER = {"test_runs_create": {"registry-module"}, "registry_modules_connect_token": {"github-app-installation-id"}, "organizations_create": {"default-agent-pool"}, "tasks_create": {"agent-pool"}, "tasks_update": {"agent-pool"}}


class Slot(NamedTuple):
    """A place of a document that holds an id: its path, the type of the object, and whether it is a {type, id}."""

    path: tuple
    type: str
    is_link: bool

    @property
    def name(self):
        """The attribute's or the relation's."""
        return next((part for part in reversed(self.path) if isinstance(part, str) and part != "data"), "data")

    def set(self, document, id):
        at = {"type": self.type, "id": id} if self.is_link else id
        for part in reversed(self.path):
            at = [at] if part == 0 else {part: at}
        merge(document, at)


def merge(document, change):
    """Puts the members of the change into the document. A list of the change replaces the document's."""
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            merge(document[key], value)
        else:
            document[key] = value


def slots_of(schema, path=(), resource=""):
    """The slots in documents of the schema, of unknown attributes with type None."""
    for choice in schema.get("anyOf", ()):
        yield from slots_of(choice, path, resource)
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        resource = name.removesuffix("-input")
        if path and path[-1] == 0 and resource in KINDS:
            yield Slot(path, resource, True)  # a list of documents that may be {type, id}
        yield from slots_of(openapi()["components"]["schemas"][name], path, resource)
    elif "items" in schema:
        yield from slots_of(schema["items"], (*path, 0), resource)
    elif set(schema.get("properties", ())) == {"id", "type"}:
        yield from (Slot(path, type, True) for type in schema["properties"]["type"]["enum"])
    else:
        for name, member in schema.get("properties", {}).items():
            if re.search(r"(^|[-_])ids?$", name):
                if name not in OF_OTHER_SYSTEMS:
                    at = (*path, name, 0) if "items" in member else (*path, name)
                    yield Slot(at, ATTRIBUTES.get(name) or ATTRIBUTES.get(f"{resource}.{name}"), False)
            else:
                yield from slots_of(member, (*path, name), resource)


# Relations that the document does not have, because their objects may be described instead of named.
DESCRIBED = {"workspaces_create": {"tags": "tags"}, "workspaces_update": {"tags": "tags"}}
WITHOUT_IDS = {"tag-bindings"}


@cache
def slots(route):
    described = [Slot(("data", "relationships", name, "data", 0), type, True) for name, type in DESCRIBED.get(route.handler, {}).items()]
    operation = openapi()["paths"]["/api/v2" + re.sub(r":(\w+)", r"{\1}", route.path)][route.method.lower()]
    content = operation.get("requestBody", {"content": {}})["content"].values()
    return described + [slot for media in content for slot in slots_of(media["schema"]) if slot.type not in OF_NOBODY]


ROUTES = [route for route in table() if route.kind == "API" and route.method != "GET" and route.body.startswith("JSON")]
WITH_IDS = sorted((route for route in ROUTES if slots(route)), key=lambda route: (route.method == "DELETE", "delete" in route.handler))


def test_every_id_has_an_object_of_its_kind(victim):
    unknown = {f"{route.handler}: {'.'.join(map(str, slot.path))}: {slot.type}" for route in ROUTES for slot in slots(route) if slot.type not in KINDS}
    assert not unknown, f"KINDS or ATTRIBUTES need a row for {sorted(unknown)}"
    missing = {key for keys in KINDS.values() for key in keys} - {*victim.ids, "username"}
    assert not missing, f"Tenant (support/tenant.py) makes no such object: {missing}"
    assert len({(route.handler, slot) for route in WITH_IDS for slot in slots(route)}) > 60


def test_every_relation_that_handlers_read_is_known():
    read = {name for path in API.rglob("*.c") for name in re.findall(r'body_relation\w*\(\s*req,\s*"([^"]+)"', path.read_text())}
    known = {slot.name for route in ROUTES for slot in slots(route)} | {name for names in DESCRIBED.values() for name in names} | WITHOUT_IDS | {"feature-set"}
    assert len(read) > 15 and read - known == set()


# ---- requests ----


def ids_of(tenant):
    return {**tenant.ids, "username": f"{tenant.mark}-member"}


def documents(route, slot, own, ids):
    """Documents of the tenant with each of the ids in the slot."""
    for id in ids:
        document = copy.deepcopy(document_of(route.handler, own))
        unique = getattr(SAMPLES.get(route.handler), "unique", "")
        if unique:
            document["data"]["attributes"][unique] = f"fine-{uuid.uuid4().hex[:12]}"
        if slot.name in BESIDE:
            merge(document["data"]["attributes"], copy.deepcopy(BESIDE[slot.name]))
        slot.set(document, id)
        yield document


def paths(route, slot, tenant, ids):
    """The paths of the route to the tenant's objects."""
    path = "/api/v2" + tenant.fill(route.path.replace(":relation", "{}"), ids)
    if "{}" not in path:
        return [path]
    others = next((relations for prefix, relations in RELATIONS.items() if route.path.startswith(prefix)), {})
    return [path.format(relation) for relation in others.get(slot.type, (slot.type,))]


def comparable(answer, id):
    """The answer without the id and unique names."""
    return answer.status, re.sub(r"fine-[0-9a-f]{12}", "", answer.text.replace(id, ""))


class Check:
    """Sends documents with ids of the victim, and records the answers that are wrong."""

    def __init__(self, connection, attacker, victim, own):
        self.connection, self.attacker, self.victim, self.wrong = connection, attacker, victim, []
        self.own, self.theirs, self.missing = {**ids_of(attacker), **own}, ids_of(victim), missing_ids(ids_of(victim))

    def ask(self, route, path, document):
        return self.connection.ask(route.method, path, document, {"Authorization": f"Bearer {self.attacker.api.token}"})

    def ignored(self, route, slot, path):
        """The answer must not show the object, and no row that mentions it may change."""
        for key, document in zip(KINDS[slot.type], documents(route, slot, self.own, [self.theirs[key] for key in KINDS[slot.type]])):
            before = mentions(self.attacker.api_site.database, self.theirs[key])
            answer = self.ask(route, path, document)
            message = f"{route.method} {path} {'.'.join(map(str, slot.path))}={self.theirs[key]}: {answer.status} {answer.text[:300]}"
            if answer.status >= 500 or self.theirs[key] in answer.text or leaks(self.victim, "", answer):
                self.wrong.append(message)
            after = mentions(self.attacker.api_site.database, self.theirs[key])
            if changed := [table for table in after if after[table] != before[table]]:
                self.wrong.append(f"{message}: changed {changed}")

    def foreign(self, route, slot, path):
        """The answers must be refusals, and identical to those for ids of no object. Returns them."""
        keys, answers = KINDS[slot.type], []
        forged, unknown = (documents(route, slot, self.own, [ids[key] for key in keys]) for ids in (self.theirs, self.missing))
        for key, document, nothing in zip(keys, forged, unknown):
            answer, empty = self.ask(route, path, document), self.ask(route, path, nothing)
            message = f"{route.method} {path} {'.'.join(map(str, slot.path))}={self.theirs[key]}: {answer.status} {answer.text[:300]}"
            answers.append(comparable(answer, self.theirs[key]))
            if answers[-1] != comparable(empty, self.missing[key]):
                self.wrong.append(f"{message}, not like {empty.status} {empty.text[:300]}")
            elif answer.status not in (403, 404, 422) and not is_removal(route, answer):
                self.wrong.append(message)
            if found := leaks(self.victim, f"{path} {document}", answer):
                self.wrong.append(f"{message}: shows {found}")
        return answers

    def control(self, route, slot, path, refused):
        """The tenant's own id must be answered differently, so what was refused was the foreign id."""
        keys = KINDS[slot.type]
        answers = [(key, self.ask(route, path, document)) for key, document in zip(keys, documents(route, slot, self.own, [self.own[key] for key in keys]))]
        if all(comparable(answer, self.own[key]) in refused and not is_removal(route, answer) for key, answer in answers):
            self.wrong.append(f"{route.method} {path} {'.'.join(map(str, slot.path))}: refuses the own object as well: {[(answer.status, answer.text[:300]) for _, answer in answers]}")


def is_removal(route, answer):
    """To remove a relation that does not exist is no error."""
    return route.method == "DELETE" and answer.status == 204


@pytest.fixture(scope="module")
def connection(api_site, attacker, victim):
    for tenant in (attacker, victim):
        allowed = '{"allowed-organizations": ["%s"]}' % tenant.api.organization
        api_site.change("update identity_providers set is_enabled = true, settings = %s where id = %s", allowed, tenant.ids["provider"])
    # Only this kind of destination has users.
    mail = {"name": "mail", "destination-type": "email", "enabled": False}
    attacker.make("notification", f"workspaces/{attacker.ids['workspace']}/notification-configurations", "notification-configurations", mail)
    return Connection(api_site.scheduler.url)


@pytest.fixture(scope="module")
def states(attacker):
    """A workspace that the attacker has locked, with a run and a state: only whoever holds the lock writes states."""
    api, ids = attacker.api, {**attacker.ids, "workspace": attacker.api.workspace("atk-states")}
    ids["run"] = api.run(ids["workspace"], api.upload(ids["workspace"], {"main.tf": ""}), plan_only=True)
    api.post(f"workspaces/{ids['workspace']}/actions/lock", {})
    ids["state"] = attacker.state(ids["workspace"])
    return ids


@pytest.fixture(scope="module")
def refused():
    """{(handler, slot, path): comparable answers to the foreign ids}."""
    return {}


@pytest.fixture
def check(connection, attacker, victim, states, route):
    check = Check(connection, attacker, victim, states if route.handler.startswith("states_") else attacker.ids)
    yield check
    assert not check.wrong, "\n".join(check.wrong)


def requests_of(route, check, is_ignored):
    """(slot, path) of each request."""
    for slot in slots(route):
        if (slot.name in IGNORED.get(route.handler, ())) == is_ignored:
            yield from ((slot, path) for path in paths(route, slot, check.attacker, check.own))


every_route = pytest.mark.parametrize("route", WITH_IDS, ids=[f"{route.method} {route.path}" for route in WITH_IDS])


# This comes first: what the other tests create gives the scheduler background work, which changes rows.
@every_route
def test_ids_of_another_organization_are_refused(api_site, check, refused, route):
    before = digest(api_site.database)
    for slot, path in requests_of(route, check, is_ignored=False):
        refused[route.handler, slot, path] = check.foreign(route, slot, path)
    after = digest(api_site.database)
    # The audit trail has removals that removed nothing.
    changed = [name for name in after if after[name] != before[name] and (route.method, name) != ("DELETE", "audit_events")]
    assert changed == []


@every_route
def test_own_ids_are_not_refused_like_foreign_ones(check, refused, route):
    """Without this test, documents that are wrong elsewhere would pass for refused ids."""
    if route.permission == "CAN_ADMINISTER_SITE":
        pytest.skip("for site admins")
    for slot, path in requests_of(route, check, is_ignored=False):
        if slot.name not in NEVER.get(route.handler, ()):
            check.control(route, slot, path, refused[route.handler, slot, path])


@pytest.mark.parametrize("route", [route for route in WITH_IDS if route.handler in IGNORED], ids=lambda route: f"{route.method} {route.path}")
def test_ids_that_the_endpoint_ignores_have_no_effect(check, route):
    for slot, path in requests_of(route, check, is_ignored=True):
        check.ignored(route, slot, path)


def test_the_audit_trail_shows_nothing_of_another_organization(attacker, victim):
    """It has the requests of the tests above, with the ids that they sent."""
    answer = attacker.api.get(f"organizations/{attacker.api.organization}/audit-trail?page[size]=1000")
    assert len(answer.data) > 20
    assert leaks(victim, str(list(ids_of(victim).values())), answer) == []
