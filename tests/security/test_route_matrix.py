# SPDX-License-Identifier: MPL-2.0
"""Every route of scheduler/api/routes.def with every kind of token.

The tables below define what each kind of token may do. They are written from proto/README.md and the headers of
scheduler/auth, and use nothing of the code under test except the table of routes. A new route is covered as soon as
it is in the table: test_every_route_has_test_objects_and_a_document fails if its path or its body needs an object that
is missing here."""

import hashlib
import itertools
import re
import uuid

import pytest

from support.api import Api
from support.browser import Browser
from support.connection import Connection
from support.fake_worker import upload_batch
from support.modules import Modules
from support.routes import table
from support.samples import DOCUMENTS, SAMPLES, document_of
from support.tenant import NO_CONTENT, OBJECT_IN_BODY, Tenant, digest, leaks, missing_ids

BASES = {"SITE": "", "API": "/api/v2", "SIGNED": "/signed/99999999999-" + "0" * 64, "WORKER": "/api/worker/v1", "NOTIFIER": "/api/notifier/v1", "SCIM": "/scim/v2", "REGISTRY": "/api/registry/v1",
         "REGISTRY_KEYS": "/api/registry/private/v2"}

# ---- the permissions of each kind of token ----

# Permissions that the token itself satisfies. The handler then shows only the caller's own objects.
FOR_EVERYBODY = {"CAN_WITHOUT_TOKEN"}
FOR_TOKENS = FOR_EVERYBODY | {"CAN_WITH_TOKEN"}
FOR_USERS = FOR_TOKENS | {"CAN_ANYTHING_SIGNED_IN"}

READ = {"CAN_READ_ORGANIZATION", "CAN_READ_WORKSPACE", "CAN_READ_RUNS", "CAN_DOWNLOAD_CONFIGURATION", "CAN_READ_PROJECT", "CAN_READ_VARIABLES", "CAN_READ_OUTPUTS", "CAN_READ_STATE"}
WRITE = READ | {"CAN_QUEUE_RUN", "CAN_APPLY", "CAN_WRITE_VARIABLES", "CAN_WRITE_STATE", "CAN_LOCK", "CAN_READ_MOCKS"}
TEAM = WRITE | {"CAN_READ_VARSETS"}  # the tenant's team writes in the workspace and reads in the project

# The API's refusals: to a token for another purpose, every object looks like one that does not exist.
NOT_FOUND, UNAUTHENTICATED = {404}, {401}
# A cookie alone permits no changes: these need the session's CSRF token (scheduler/auth/sessions.h).
NO_CSRF = {403}
# A token that only reads, by what else it would be permitted (scheduler/auth/tokens.h).
ONLY_READS = {403}

# The other routes accept only tokens of their own kind (proto/README.md).
REFUSED = {"CAN_WORK": {401}, "CAN_NOTIFY": {401}, "CAN_PROVISION": {401}, "CAN_KEEP_LEASES": {404}, "CAN_WORK_ON_JOB": {404}, "CAN_WITH_SIGNATURE": {404}, "CAN_CALL_BACK": {401}, "CAN_DELIVER": {401}}
# The permissions of routes that ignore cookies.
NO_COOKIE = {"CAN_WITHOUT_TOKEN", "CAN_KEEP_LEASES", "CAN_WORK_ON_JOB", "CAN_WITH_SIGNATURE", "CAN_CALL_BACK", "CAN_DELIVER"}
# Two routes of a job answer a token of another attempt differently. A part that asks whether the apply may start gets
# 409. A result gets 204, like one that came too late.
REFUSED_BY_HANDLER = {"jobs_upload_batch": {404, 409}, "jobs_result": {204, 404}}
# The token of any run of the organization may read this in addition to its own run (scheduler/auth/run_token.h).
OF_ANY_RUN = {"organizations_entitlements", "registry_versions", "registry_download", "registry_download_latest", "registry_module_latest", "registry_version_show",
              "registry_provider_versions", "registry_provider_download"}
# Any run of the tenant gets the tenant's own words from these.
SHOWN_TO_RUNS = {"registry_download", "registry_provider_download", "registry_module_latest", "registry_version_show"}
# A token of one workspace reads this of its organization and its owner.
OF_ANY_WORKSPACE = {"account_details", "organizations_read", "organizations_entitlements", "organizations_capacity"}
# No path names the organization: it is the caller's own.
OWN_ORGANIZATION = {"audit_trail_own"}


class Kind:
    """One kind of token. `holds`: its permissions on the victim's objects; `refusal`: the statuses of a refused API
    request; `handlers`: further handlers that it may call."""

    def __init__(self, name, headers, holds, refusal, handlers=frozenset()):
        self.name, self.headers, self.holds, self.refusal, self.handlers = name, headers, holds, refusal, handlers

    def expected(self, route):
        """The statuses of the answer, or None if the token may pass the gate."""
        if self.refusal is NO_CSRF and route.method != "GET" and route.permission not in NO_COOKIE:
            return NO_CSRF
        if self.refusal is ONLY_READS and route.kind == "API" and route.method != "GET" and route.permission in self.holds - FOR_EVERYBODY:
            return ONLY_READS
        if route.permission in self.holds or route.handler in self.handlers:
            return None
        if route.kind not in ("API", "REGISTRY", "REGISTRY_KEYS") or route.permission in REFUSED:
            return REFUSED_BY_HANDLER.get(route.handler, REFUSED[route.permission])
        statuses = NOT_FOUND if self.refusal in (NO_CSRF, ONLY_READS) else self.refusal
        if route.handler == "gpg_keys_create" and statuses is NOT_FOUND and self.holds & FOR_TOKENS == FOR_TOKENS:
            return {403}  # as clients of the API expect it
        return statuses | {400, 422} if route.handler in OBJECT_IN_BODY and statuses is NOT_FOUND else statuses


# These change the caller's own account or create objects of the caller. The matrix does not call them with tokens that
# pass their gate; integration/access has tests that do.
OWN_ACCOUNT = {"account_update", "account_password", "account_sessions_delete_others", "organizations_create"}
# Pages of the caller's own session. Without a session they redirect to the sign-in page; with one they show its user's
# own data.
OWN_SESSION = {"ui_sign_in", "ui_sign_out", "ui_tokens_create", "ui_tokens_revoke", "ui_password_set", "oauth_approve", "ui_identities_unlink", "ui_passkey_options", "ui_passkey_sign_in"}
# Answers of identity providers, which a browser's attempt must match (integration/identity).
OF_PROVIDERS = {"ui_sign_in_provider", "oidc_sign_in", "oidc_callback", "oidc_sign_out", "oidc_logout", "saml_auth_page", "saml_auth_response", "saml_logout_page",
                "saml_logout_message"}
# Answered when a job waits, or after 25 s.
LONG_POLLS = {"worker_waits", "worker_listens", "git_claims", "worker_forwards"}


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


class Session:
    """A browser of another owner of the tenant's organization."""

    def __init__(self, api_site, tenant):
        name = f"{tenant.mark}-browser-{uuid.uuid4().hex[:8]}"
        tenant.people.member(name, tenant.people.owners())
        # The password is the administrator's.
        api_site.change("update users set password_hash = (select password_hash from users where username = 'admin') where username = %s", name)
        self.name, self.password = name, api_site.tokens["password"]
        browser = Browser(api_site.scheduler.url).sign_in(self.name, self.password)
        self.cookie = {"Cookie": f"runyard_session={browser.cookie.value}"}
        self.csrf = browser.ask("/app/settings/tokens").form("/app/settings/tokens")["fields"]["csrf"]


@pytest.fixture(scope="module")
def owner_session(api_site, victim):
    return Session(api_site, victim)


@pytest.fixture(scope="module")
def kinds(api_site, victim, attacker, owner_session):
    """Every kind of token, valid and revoked."""
    other = Session(api_site, attacker)

    def owner_token(expired=False):
        """Creates another token of the victim's owner. Returns its id."""
        token, id = f"vtm-dead-{uuid.uuid4()}", f"at-{uuid.uuid4().hex[:16]}"
        api_site.change("insert into tokens (id, hash, user_id, expired_at) values (%s, %s, %s, now() + %s * interval '1 second')",
                        id, hashlib.sha256(token.encode()).hexdigest(), victim.ids["user"], -1 if expired else 3600)
        assert Api(api_site.scheduler.url, token).call("GET", "account/details").status == (401 if expired else 200)
        return token, id

    revoked, revoked_id = owner_token()
    victim.api.delete(f"authentication-tokens/{revoked_id}")
    deleted = victim.people.member("vtm-deleted", victim.people.owners())
    assert deleted.call("GET", f"organizations/{victim.api.organization}").status == 200
    api_site.change("delete from users where username = 'vtm-deleted'")
    removed = victim.people.member("removed-member", victim.people.owners())
    victim.api.delete(f"organization-memberships/{removed.membership}")
    reader = victim.people.member("vtm-reader", team := victim.people.team("vtm-readers"))
    victim.people.give(team, "workspace", victim.ids["workspace"], "read")
    live, beside, foreign = victim.jobs["live"], victim.jobs["beside"], attacker.jobs["live"]
    everything = {route.permission for route in table() if route.kind == "API"} - {"CAN_ADMINISTER_SITE", "CAN_CALL_BACK"}
    # An organization's token manages objects but cannot run anything.
    of_organization = everything - {"CAN_QUEUE_RUN", "CAN_APPLY", "CAN_WRITE_STATE", "CAN_OVERRIDE", "CAN_MANAGE_NO_CODE", "CAN_ANYTHING_SIGNED_IN"}
    signed_in = {**owner_session.cookie}
    return [Kind(*kind) for kind in (
        ("no token", {}, FOR_EVERYBODY, UNAUTHENTICATED),
        ("an unknown token", bearer("nonsense"), FOR_EVERYBODY, UNAUTHENTICATED),
        ("a token's id", bearer(victim.ids["token"]), FOR_EVERYBODY, UNAUTHENTICATED),
        ("an unknown cookie", {"Cookie": "runyard_session=nonsense"}, FOR_EVERYBODY, UNAUTHENTICATED),
        ("an expired token", bearer(owner_token(expired=True)[0]), FOR_EVERYBODY, UNAUTHENTICATED),
        ("a revoked token", bearer(revoked), FOR_EVERYBODY, UNAUTHENTICATED),
        ("a deleted user", bearer(deleted.token), FOR_EVERYBODY, UNAUTHENTICATED),
        ("a removed member", bearer(removed.token), FOR_USERS, NOT_FOUND),
        ("a foreign owner", bearer(attacker.api.token), FOR_USERS, NOT_FOUND, OWN_ORGANIZATION),
        ("a foreign organization's token", bearer(attacker.organization_token), FOR_TOKENS, NOT_FOUND, OWN_ORGANIZATION),
        ("a foreign team's token", bearer(attacker.team_token), FOR_TOKENS, NOT_FOUND),
        ("a foreign session with its CSRF token", {**other.cookie, "X-CSRF-Token": other.csrf}, FOR_USERS, NOT_FOUND, OWN_ORGANIZATION),
        ("a session without its CSRF token", signed_in, everything, NO_CSRF),
        ("a session with another one's CSRF token", {**signed_in, "X-CSRF-Token": other.csrf}, everything, NO_CSRF),
        ("a member of no team", bearer(victim.nobody.token), FOR_USERS | {"CAN_READ_ORGANIZATION"}, NOT_FOUND),
        ("a read-only member", bearer(reader.token), FOR_USERS | READ, NOT_FOUND),
        ("an owner's token that only reads", bearer(victim.scoped_token(read_only=True)), everything, ONLY_READS),
        ("an owner's token of another workspace", bearer(victim.scoped_token(victim.ids["other"])), FOR_EVERYBODY, NOT_FOUND, OF_ANY_WORKSPACE),
        ("an owner's token that only reads another workspace", bearer(victim.scoped_token(victim.ids["other"], True)), FOR_EVERYBODY, NOT_FOUND | ONLY_READS, OF_ANY_WORKSPACE),
        ("a team's token", bearer(victim.team_token), FOR_TOKENS | TEAM, NOT_FOUND),
        ("the organization's token", bearer(victim.organization_token), of_organization, NOT_FOUND),
        ("an agent token of another pool", bearer(attacker.agent_token), FOR_EVERYBODY | {"CAN_WORK"}, NOT_FOUND),
        ("an agent token of the pool", bearer(victim.agent_token), FOR_EVERYBODY | {"CAN_WORK"}, NOT_FOUND),
        ("another worker's own token", bearer(attacker.fake_worker.own_token), FOR_EVERYBODY | {"CAN_KEEP_LEASES"}, UNAUTHENTICATED),
        ("the worker's own token", bearer(victim.fake_worker.own_token), FOR_EVERYBODY | {"CAN_KEEP_LEASES"}, UNAUTHENTICATED),
        ("a notifier's token", bearer(api_site.tokens["notifier-token"]), FOR_EVERYBODY | {"CAN_NOTIFY"}, NOT_FOUND),
        ("a SCIM token", bearer(victim.scim_token), FOR_EVERYBODY | {"CAN_PROVISION"}, NOT_FOUND),
        ("a foreign run's token", bearer(foreign["run-token"]), FOR_EVERYBODY, NOT_FOUND),
        ("the token of a run of another workspace", bearer(beside["run-token"]), FOR_EVERYBODY, NOT_FOUND, OF_ANY_RUN),
        ("a foreign task's token", bearer(attacker.task_tokens["run"]), FOR_EVERYBODY, NOT_FOUND),
        ("the token of another run's task", bearer(victim.task_tokens["asked_run"]), FOR_EVERYBODY, NOT_FOUND),
        ("a foreign job's token", bearer(foreign["token"]), FOR_EVERYBODY, UNAUTHENTICATED),
        ("the token of another job", bearer(beside["token"]), FOR_EVERYBODY, UNAUTHENTICATED),
    )]


# ---- requests ----


def body_of(route, victim):
    """A body that would be accepted from an authorized caller."""
    if route.kind == "SITE":
        return b"csrf=nonsense&username=vtm-member&password=nonsense&description=n&client_id=terraform-cli"
    if route.handler == "jobs_upload_batch":
        return upload_batch(("log?offset=0", b"forged"), ("plan", b"forged"), ("started", b""))
    if route.kind == "WORKER":
        job = victim.jobs["live"]
        return {"worker": victim.ids["agent"], "name": "forged", "slots": 1, "version": "1", "free": 1, "draining": False, "partitions": [], "jobs": [], "told": [], "failed": False,
                "v": 1, "job": job["job"], "attempt": job["attempt"], "run": job["run"], "outcome": "passed", "error": "", "has-changes": True,
                "additions": 1, "changes": 0, "destructions": 0, "imports": 0, "terraform-version": "1.11.4", "sets": [], "output": "", "status": "errored"}
    if route.kind == "NOTIFIER":
        result = {"task-result": victim.ids["result"], "token": "nonsense", "status": "passed", "message": "", "url": "", "outcomes": None}
        return {"notifier": "forged", "callback-url": "http://127.0.0.1:9", "max": 200, "ids": [], "requests": [{"id": victim.ids["result"], "attempt": 1}],
                "deliveries": [{"id": victim.ids["result"], "attempt": 1, "status": 200, "seconds": 0.1, "answer": "", "error": None, "end": "gave-up"}],
                "callbacks": [result], "task-results": [victim.ids["result"]]}
    if route.kind == "SCIM" and route.body == "JSON":
        return {"userName": "forged", "displayName": "forged", "emails": [{"value": "forged@example.com"}], "Operations": [{"op": "replace", "path": "displayName", "value": "forged"}]}
    if route.body in ("NO_BODY", "RAW"):
        return None if route.body == "NO_BODY" else b"forged"
    return document_of(route.handler, victim.ids)


def query_of(route, victim):
    filters = {"states_index": f"filter[organization][name]={victim.api.organization}&filter[workspace][name]={victim.ids['name']}",
               "run_triggers_index": "filter[run-trigger][type]=inbound", "team_workspaces_index": f"filter[workspace][id]={victim.ids['workspace']}",
               "team_projects_index": f"filter[project][id]={victim.ids['project']}", "module_versions_read": f"module_version={victim.ids['module_version']}",
               "gpg_keys_index": f"filter[namespace]={victim.api.organization}"}
    if route.kind == "WORKER" and ":job" in route.path:
        return "?offset=0"
    return f"?{filters[route.handler]}" if route.handler in filters else ""


def path_of(route, victim, ids=None):
    return BASES[route.kind] + victim.fill(route.path, ids) + query_of(route, victim)


def statuses(route, answer):
    """The status of the answer; for a batch, the statuses of its parts."""
    if route.handler == "jobs_upload_batch" and answer.status == 200:
        return {part["status"] for part in answer.json["parts"]}
    return {answer.status}


def is_skipped(kind, route):
    """Requests that would change the caller's own objects, or would block."""
    passes = kind.expected(route) is None
    own_worker = route.permission in ("CAN_WORK", "CAN_KEEP_LEASES") and route.kind == "WORKER"
    return passes and (route.handler in OWN_ACCOUNT | OWN_SESSION | OF_PROVIDERS | LONG_POLLS or own_worker or route.kind in ("NOTIFIER", "SCIM"))


def test_every_route_has_test_objects_and_a_document(victim):
    """A new route needs an object for each name in its path, and a document if it takes one."""
    missing = [f"{route.method} {route.path}: {name}" for route in table() for name in re.findall(r":(\w+)", route.path) if name not in {*victim.ids, *victim.words, "relation"}]
    assert not missing, f"Tenant (support/tenant.py) makes no such object: {missing}"
    bare = {route.handler for route in table() if route.kind == "API" and route.body.startswith("JSON")} - set(SAMPLES) - set(DOCUMENTS)
    assert not bare, f"neither support/samples.py nor DOCUMENTS has a document for them: {bare}"
    unknown = {route.kind for route in table()} - set(BASES)
    assert not unknown, unknown


def test_each_kind_of_token_is_refused_by_routes_of_other_kinds(api_site, victim, kinds):
    wrong = []
    connection = Connection(api_site.scheduler.url)
    before = digest(api_site.database)
    for kind in kinds:
        for route in table():
            expected = kind.expected(route)
            if is_skipped(kind, route) or (expected is None and route.method != "GET" and kind.holds & READ):
                continue  # test_route_rights.py: what members of the organization may change
            path, body = path_of(route, victim), body_of(route, victim)
            answer = connection.ask(route.method, path, body, kind.headers)
            message = f"{kind.name}: {route.method} {route.path} ({route.permission}): {answer.status} {answer.text[:200]}"
            if answer.status >= 500 or expected is not None and not statuses(route, answer) <= expected:
                wrong.append(message)
            own = kind.handlers is OF_ANY_WORKSPACE and route.handler == "account_details" or kind.handlers is OF_ANY_RUN and route.handler in SHOWN_TO_RUNS
            if not own and not kind.holds & READ and (found := leaks(victim, f"{path} {body}", answer)):
                wrong.append(f"{message}: shows {found}")
        after = digest(api_site.database)
        changed = [name for name in after if after[name] != before[name]]
        if changed:
            wrong.append(f"{kind.name}: changed {changed}")
        before = after
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)


# ---- hidden objects ----

# Headers that differ between any two answers.
VOLATILE_HEADERS = {"date", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id"}


def comparable(answer):
    return answer.status, answer.body, sorted((name.lower(), value) for name, value in answer.headers.items() if name.lower() not in VOLATILE_HEADERS)


def test_hidden_objects_are_answered_like_missing_ones(api_site, victim, kinds):
    """Status, body and headers are identical whether every object of the path exists, only the last one does not, or
    none does."""
    wrong, compared = [], 0
    connection = Connection(api_site.scheduler.url)
    for kind in kinds:
        for route in table():
            names = [name for name in re.findall(r":(\w+)", route.path) if name != "relation"]
            if not names or kind.expected(route) is None or route.kind not in ("API", "WORKER") or 404 not in kind.expected(route):
                continue
            real = comparable(connection.ask(route.method, path_of(route, victim), body_of(route, victim), kind.headers))
            member = "CAN_READ_ORGANIZATION" in kind.holds
            for missing in (missing_ids(victim.ids, *(["organization"] if member else [])), {**victim.ids, **{key: missing_ids(victim.ids)[key] for key in keys_of(names[-1])}}):
                if names == ["organization"] and member:
                    continue  # a member knows that the organization exists
                compared += 1
                other = comparable(connection.ask(route.method, path_of(route, victim, missing), body_of(route, victim), kind.headers))
                if other != real:
                    wrong.append(f"{kind.name}: {route.method} {route.path}: {[[a, b] for a, b in zip(real, other) if a != b]}"[:400])
    assert compared > 3000
    assert not wrong, f"{len(wrong)} of {compared}:\n" + "\n".join(wrong)


QUERIES = (("team-workspaces?filter[workspace][id]={}", ["workspace"]), ("team-projects?filter[project][id]={}", ["project"]),
           ("vars?filter[organization][name]={}&filter[workspace][name]={}", ["organization", "name"]),
           ("state-versions?filter[organization][name]={}&filter[workspace][name]={}", ["organization", "name"]))
BODIES = (("team-workspaces", ["workspace", "team"]), ("team-projects", ["project", "team"]), ("runs", ["workspace"]))


def test_hidden_objects_in_queries_and_bodies_are_answered_like_missing_ones(victim, attacker):
    missing = missing_ids(victim.ids)
    for path, names in QUERIES:
        chosen = itertools.product(*[[victim.ids[name], missing[name]] for name in names])
        answers = {(answer.status, answer.text) for answer in (attacker.api.call("GET", path.format(*values)) for values in chosen)}
        assert len(answers) == 1, answers
    for path, names in BODIES:
        answers = set()
        for values in itertools.product(*[[victim.ids[name], missing[name]] for name in names]):
            relations = {name: {"data": {"type": name + "s", "id": value}} for name, value in zip(names, values)}
            answer = attacker.api.call("POST", path, {"data": {"type": path, "attributes": {"access": "read"}, "relationships": relations}})
            answers.add((answer.status, answer.text))
        assert len(answers) == 1, answers


def keys_of(name):
    """The keys of Tenant.ids that stand for the name in some path."""
    return {name, *{"variable": ["set_variable", "test_variable"], "access": ["project_access"], "outcome": ["policy_outcome"]}.get(name, [])}


# ---- pages ----

# Forms that belong to no session. They need a name and a password, a code, or a passkey.
WITHOUT_SESSION = {"ui_sign_in", "ui_factor_check", "ui_passkey_options", "ui_passkey_sign_in", "ui_forgot", "ui_reset", "oauth_token"} | OF_PROVIDERS


def test_forms_without_their_sessions_csrf_token_are_refused(api_site, victim, attacker):
    session, other, connection = Session(api_site, victim), Session(api_site, attacker), Connection(api_site.scheduler.url)
    token = api_site.ask("select t.id from tokens t join users u on u.id = t.user_id where u.username = %s", session.name)[0][0]
    requests, before = 0, digest(api_site.database)
    for route in table():
        if route.kind != "SITE" or route.method != "POST" or route.body != "FORM" or route.handler in WITHOUT_SESSION:
            continue
        path = path_of(route, victim, {**victim.ids, "token": token})
        for forged in ("", "csrf=", "csrf=nonsense", f"csrf={other.csrf}", f"csrf={session.csrf[:-1]}", f"csrf={session.csrf}0"):
            fields = f"description=forged&current_password={session.password}&password=forged-password&password_confirmation=forged-password"
            answer = connection.ask("POST", path, f"{fields}&{forged}".encode(), session.cookie)
            requests += 1
            assert answer.status == 403, f"{route.path} {forged}: {answer.status} {answer.text[:200]}"
        elsewhere = connection.ask("POST", f"{path}?csrf={session.csrf}", b"description=forged", session.cookie)
        assert elsewhere.status == 403, f"{route.path}: a token in the query is accepted"
    assert requests >= 24 and digest(api_site.database) == before
    assert connection.ask("GET", "/app/settings/tokens", None, session.cookie).status == 200, "the session has ended"


# ---- the worker's, the notifier's and the signed routes, with valid tokens of others ----


def test_an_agent_token_reaches_only_its_own_pool(api_site, victim, attacker):
    """This also applies to the worker and the jobs of another pool in the body."""
    connection, before = Connection(api_site.scheduler.url), digest(api_site.database)
    worker, job = victim.ids["agent"], victim.jobs["live"]

    def ask(path, token, body):
        return connection.ask("POST", f"/api/worker/v1/{path}", body, bearer(token))

    for path in ("claim", "wait"):
        for id in (worker, "agent-AAAAAAAAAAAAAAAA"):
            answer = ask(path, attacker.agent_token, {"worker": id, "slots": 100})
            assert answer.status == 404 and not leaks(victim, id, answer), (path, id, answer.text)
    beat = {"free": 1, "slots": 1, "draining": False, "partitions": [], "jobs": [{"job": job["job"], "attempt": job["attempt"]}]}
    heartbeat_answer = ask("heartbeat", attacker.fake_worker.own_token, beat)
    assert heartbeat_answer.status == 200 and [item["held"] for item in heartbeat_answer.json["jobs"]] == [False], heartbeat_answer.text
    claimed = ask("claim", attacker.agent_token, {"worker": attacker.fake_worker.id, "slots": 100})
    assert claimed.status == 200 and not leaks(victim, "", claimed), claimed.text
    after = digest(api_site.database)
    # The heartbeat and the claim of a worker are stored with that worker.
    assert [name for name in after if after[name] != before[name] and name != "workers"] == []


def signed_links(victim):
    """{handler: signed path} of the links that the API gives to the victim's owner."""
    api, workspace = victim.api, victim.api.workspace(f"{victim.mark}-signed")
    configuration = api.post(f"workspaces/{workspace}/configuration-versions", {"data": {"type": "configuration-versions", "attributes": {"auto-queue-runs": False}}}).data
    api.post(f"workspaces/{workspace}/actions/lock", {})
    state = api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": {"serial": 1, "lineage": "l", "md5": "0" * 32}}}).data
    links = {"configurations_upload": configuration["attributes"]["upload-url"], "states_upload": state["attributes"]["hosted-state-upload-url"],
             "states_json_upload": state["attributes"]["hosted-json-state-upload-url"], "operations_log": api.attributes(f"plans/{victim.ids['plan']}")["log-read-url"]}
    return {handler: link.removeprefix(api.url) for handler, link in links.items()}


def test_a_signature_is_valid_only_for_its_path(api_site, victim, attacker):
    connection = Connection(api_site.scheduler.url)
    links, foreign = signed_links(victim), signed_links(attacker)
    before = digest(api_site.database)
    for route in table():
        if route.handler not in links:
            continue
        link = links[route.handler]
        _, _, signature, path = link.split("/", 3)
        expiry, _, mac = signature.partition("-")
        _, _, other_signature, other_path = foreign[route.handler].split("/", 3)
        others = [f"/signed/{other_signature}/{path}", f"/signed/{signature}/{other_path}", f"/signed/{int(expiry) + 1}-{mac}/{path}", f"/signed/{expiry}-{mac[:-1]}/{path}",
                  f"/signed/{expiry}-{mac}0/{path}", f"/signed/{expiry}-{mac[::-1]}/{path}", f"/signed/-{mac}/{path}", f"/signed/{expiry}-/{path}", f"/signed//{path}", f"/api/v2/{path}", f"/{path}"]
        others += [f"/signed/{signature}/{links[handler].split('/', 3)[3]}" for handler in links if handler != route.handler]
        for forged in others:
            answer = connection.ask(route.method, forged, None if route.body == "NO_BODY" else b"forged")
            assert answer.status in (401, 404), f"{route.method} {forged}: {answer.status} {answer.text[:200]}"
    assert digest(api_site.database) == before


# ---- positive control ----

# These delete objects that other requests need, so they are called last and in this order.
DELETED_LAST = ["oauth_clients_delete", "teams_delete", "tasks_delete", "policies_delete", "policy_sets_delete", "workspaces_safe_delete", "workspaces_delete", "admin_workspaces_delete", "projects_delete", "pools_delete", "organizations_delete", "admin_scim_settings_delete"]


def headers_of(route, victim, api_site, session):
    """The headers of an authorized caller of this route."""
    by_permission = {"CAN_WORK": victim.agent_token, "CAN_KEEP_LEASES": victim.fake_worker.own_token, "CAN_WORK_ON_JOB": victim.jobs["live"]["token"],
                     "CAN_NOTIFY": api_site.tokens["notifier-token"], "CAN_ADMINISTER_SITE": api_site.tokens["token"], "CAN_CALL_BACK": victim.task_tokens["run"],
                     "CAN_PROVISION": victim.scim_token}
    if route.kind == "SITE":
        return session.cookie
    if ":git_job" in route.path:
        return bearer(victim.git_token)
    return bearer(by_permission.get(route.permission, victim.api.token))


def body_past_the_gate(route, victim, session):
    """A body that passes the gate and is refused afterwards, so that later requests find their objects. If the body
    names the object, it is a complete document."""
    if route.kind == "SITE":
        return f"csrf={session.csrf}&description=n&username={session.name}&password={session.password}".encode()
    if route.handler in OBJECT_IN_BODY | {"jobs_upload_batch"} or route.kind == "NOTIFIER":
        return body_of(route, victim)
    if route.kind == "WORKER" and route.body.startswith("JSON"):
        return {"worker": victim.ids["agent"], "slots": "many", "told": "nothing"}
    return {"data": {"type": "nothing"}} if route.body.startswith("JSON") else body_of(route, victim)


def own_ids(route, victim, session):
    """Separate objects for this request, if it deletes them."""
    if route.handler == "ui_tokens_revoke":
        query = "select t.id from tokens t join users u on u.id = t.user_id where u.username = %s"
        return {**victim.ids, "token": victim.api_site.ask(query, session.name)[0][0]}
    if route.handler in ("ui_factor_remove", "ui_sessions_end", "account_sessions_delete"):
        user = victim.ids["user"] if route.kind == "API" else victim.api_site.ask("select id from users where username = %s", session.name)[0][0]
        return {**victim.ids, **victim.signs_in_by(user)}
    if route.handler == "tokens_delete":
        created = victim.api.post(f"users/{victim.ids['user']}/authentication-tokens", {"data": {"type": "authentication-tokens", "attributes": {"description": str(uuid.uuid4())}}})
        return {**victim.ids, "token": created.data["id"]}
    if route.handler.startswith("admin_users_"):
        name = f"vtm-{uuid.uuid4().hex}"
        victim.people.user(name)
        return {**victim.ids, "user": victim.api_site.ask("select id from users where username = %s", name)[0][0]}
    if "_versions_" in route.handler and route.path.startswith("/admin/"):
        return {**victim.ids, "version": victim.tool_version(route.handler.split("_")[0])}
    if route.handler in ("invitations_accept", "invitations_decline", "ui_invitation_page"):
        invited = victim.api.get("account/details").data["attributes"]["email"]
        if route.kind == "SITE":
            ((invited,),) = victim.api_site.ask("select email from users where username = %s", session.name)
        inviting = victim.api_site.organization()
        body = {"data": {"type": "organization-memberships", "attributes": {"email": invited}}}
        return {**victim.ids, "membership": inviting.post(f"organizations/{inviting.organization}/organization-memberships", body).data["id"]}
    if route.handler == "reserved_tags_delete":
        body = {"data": {"type": "reserved-tag-keys", "attributes": {"key": str(uuid.uuid4())}}}
        return {**victim.ids, "reserved_tag": victim.api.post(f"{victim.base}/reserved-tag-keys", body).data["id"]}
    if route.handler == "explorer_views_delete":
        body = {"data": {"type": "explorer-saved-queries", "attributes": {"name": str(uuid.uuid4()), "query-type": "modules", "query": {}}}}
        return {**victim.ids, "explorer_view": victim.api.post(f"{victim.base}/explorer/views", body).data["id"]}
    if route.handler.startswith(("registry_modules_delete", "module_versions_delete")):
        name = f"vtm-{uuid.uuid4()}"
        Modules(victim.api).publish(name, victim.ids["module_version"])
        return {**victim.ids, "module": name}
    if route.handler in ("registry_providers_delete", "provider_versions_delete", "provider_platforms_delete"):
        name = f"vtm-{uuid.uuid4()}"
        victim.publish_provider(name)
        return {**victim.ids, "registry_provider": name}
    if route.handler not in ("workspaces_delete", "workspaces_safe_delete", "admin_workspaces_delete"):
        return victim.ids
    name = f"vtm-{uuid.uuid4()}"
    return {**victim.ids, "name": name, "workspace": victim.api.workspace(name)}


def is_gate_closed(route, answer):
    """True for the answer of a closed gate. An object whose state does not allow the action is answered 403 as well."""
    if answer.status == 404:
        return route.handler not in NO_CONTENT
    if route.handler == "scim_search":
        return answer.status != 501  # not offered
    if route.permission == "CAN_DELIVER":
        return answer.status != 401  # this site has no GitHub App (tests/integration/vcs/test_github_app.py)
    if route.handler == "ui_passkey_sign_in":
        return answer.status != 401  # there is no passkey (tests/integration/access/test_second_factors.py)
    if route.permission == "CAN_CALL_BACK":
        return answer.status != 503 or "No notifier" not in answer.text  # this site has none
    return answer.status == 401 or answer.status >= 500 or answer.status == 403 and "transition not allowed" not in answer.text


def test_every_route_accepts_a_token_with_its_permission(api_site, attacker, service):
    """Without this test, the matrix would pass for a server that refuses everything."""
    tenant = Tenant(api_site, "vtm2", service)
    session, closed = Session(api_site, tenant), []
    links = signed_links(tenant)
    connection = Connection(api_site.scheduler.url)
    order = {"GET": 0, "PUT": 1, "PATCH": 2, "POST": 3, "DELETE": 4}

    def request_order(route):
        """Reads, then changes, then deletions, deeper paths first."""
        late = DELETED_LAST.index(route.handler) + 1 if route.handler in DELETED_LAST else 0
        return late, order[route.method], route.handler in ("ui_sign_out", "worker_leaves", "jobs_result"), -route.path.count("/")

    for route in sorted(table(), key=request_order):
        path = links.get(route.handler) or path_of(route, tenant, own_ids(route, tenant, session))
        if route.kind == "SIGNED" and route.handler not in links:
            continue  # integration/policies/test_api.py and integration/workspaces/test_attributes.py follow these links
        answer = connection.ask(route.method, path, body_past_the_gate(route, tenant, session), headers_of(route, tenant, api_site, session))
        if is_gate_closed(route, answer) and route.handler not in OF_PROVIDERS:
            closed.append(f"{route.method} {route.path} ({route.permission}): {answer.status} {answer.text[:200]}")
    assert not closed, f"{len(closed)}:\n" + "\n".join(closed)

