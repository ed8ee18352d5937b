# SPDX-License-Identifier: MPL-2.0
"""Deliveries of providers to hooks: their proofs, what is stored, what is refused, and what users see of it."""

import base64
import hashlib
import hmac
import http.client
import json
import time
import urllib.parse
import uuid
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from support.api_site import open_api_site
from support.people import People
from support.vcs_connections import GIT, connect
from support.wait import PATIENCE, until

BODY = json.dumps({"ref": "refs/heads/main", "note": "ünïcode"}, indent=1).encode() + b"\n"  # not as any library prints it again
PROVIDERS = {
    "gitea": {}, "forgejo": {"service_provider": "forgejo"},
    "github": {"service_provider": "github", "http_url": "https://github.com", "api_url": "https://api.github.com"},
    "gitlab": {"service_provider": "gitlab_hosted", "http_url": "https://gitlab.com", "api_url": "https://gitlab.com/api/v4"},
    "bitbucket": {"service_provider": "bitbucket_hosted", "http_url": "https://bitbucket.org", "api_url": "https://api.bitbucket.org/2.0"},
    "azure": {"service_provider": "ado_services", "http_url": "https://dev.azure.com", "api_url": "https://dev.azure.com"},
}
IDENTIFIER = {"azure": "acme/project/_git/network"}


@pytest.fixture(scope="module")
def api_site(postgres):
    """Without the rate limit of addresses: hooks have limits of their own."""
    with open_api_site(postgres) as api_site:
        yield api_site


def hook_of(org, kind="gitea", **changes):
    """A connected workspace's hook: its URL, its secret, and its repository."""
    token = connect(org, **PROVIDERS[kind], **changes)[1]
    repo = {"oauth-token-id": token, "identifier": IDENTIFIER.get(kind, "acme/network")}
    workspace = org.post(f"organizations/{org.organization}/workspaces", {"data": {"type": "workspaces", "attributes": {"name": f"w{next(org.names)}", "vcs-repo": repo}}})
    shown = workspace.data["attributes"]["vcs-repo"]
    repository = org.get(f"vcs-repositories/{shown['repository-id']}").data
    return shown["webhook-url"], repository["attributes"]["webhook-secret"], repository["id"]


def sha256(secret, body):
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def proof(kind, secret, body):
    """The headers of a delivery."""
    id = str(uuid.uuid4())
    return {
        "gitea": {"X-Gitea-Signature": sha256(secret, body), "X-Gitea-Event": "push", "X-Gitea-Delivery": id},
        "forgejo": {"X-Forgejo-Signature": sha256(secret, body), "X-Gitea-Signature": sha256(secret, body), "X-Gitea-Event": "push", "X-Gitea-Delivery": id},
        "github": {"X-Hub-Signature-256": f"sha256={sha256(secret, body)}", "X-GitHub-Event": "push", "X-GitHub-Delivery": id},
        "gitlab": {"X-Gitlab-Token": secret, "X-Gitlab-Event": "Push Hook", "X-Gitlab-Event-UUID": id},
        "bitbucket": {"X-Hub-Signature": f"sha256={sha256(secret, body)}", "X-Event-Key": "repo:push", "X-Request-UUID": id},
        "azure": {"X-Runyard-Secret": secret},
    }[kind]


def deliver(url, body=BODY, headers=None, method="POST"):
    """Sends it without a token. Returns the status and the body of the answer."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    try:
        connection.request(method, parts.path, body, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def stored(api_site, repository):
    return api_site.ask("select delivery_id, event, body_sealed from vcs_deliveries where repository_id = %s order by sequence", repository)


# ---- proofs ----


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_delivery_with_a_proof_is_stored(org, api_site, kind):
    url, secret, repository = hook_of(org, kind)
    body = json.dumps({"id": "a-delivery-of-azure", "eventType": "git.push"}).encode() if kind == "azure" else BODY
    headers = proof(kind, secret, body)
    assert deliver(url, body, headers) == (204, "")
    ((id, event, sealed),) = stored(api_site, repository)
    assert id and event
    assert body not in bytes(sealed) and secret.encode() not in bytes(sealed)
    for _ in range(9):
        assert deliver(url, body, headers)[0] == 204
    assert len(stored(api_site, repository)) == 1, "ten times the same delivery is one"
    assert deliver(url, body, proof(kind, secret, body))[0] == 204
    assert len(stored(api_site, repository)) == (1 if kind == "azure" else 2)


@pytest.mark.parametrize("kind", PROVIDERS)
def test_other_secrets_and_changed_bytes_prove_nothing(org, api_site, kind):
    url, secret, repository = hook_of(org, kind)
    wrong = [proof(kind, other, BODY) for other in ("", "wrong", secret[:-1], secret + "0", secret.upper())]
    refused = [deliver(url, BODY, headers) for headers in [{}, *wrong]]
    if kind not in ("gitlab", "azure"):
        refused += [deliver(url, BODY[:-1] + b" ", proof(kind, secret, BODY)), deliver(url, json.dumps(json.loads(BODY)).encode(), proof(kind, secret, BODY))]
    assert {status for status, _ in refused} == {401}
    assert len({text for _, text in refused}) == 1 and secret not in refused[0][1], "no detail"
    assert stored(api_site, repository) == []


def seal_previous(api_site, repository, until):
    """Makes the hook's secret its previous one."""
    api_site.change("update vcs_repositories set hook_previous_sealed = hook_secret_sealed, hook_secret_sealed = null, "
                    f"hook_previous_until = now() + interval '{until}' where id = %s", repository)


def test_the_previous_secret_holds_until_its_end(org, api_site):
    url, secret, repository = hook_of(org)
    seal_previous(api_site, repository, "1 hour")
    assert deliver(url, BODY, proof("gitea", secret, BODY))[0] == 204
    seal_previous(api_site, repository, "-1 second")
    assert deliver(url, BODY, proof("gitea", secret, BODY))[0] == 401


def test_a_hook_without_a_secret_proves_nothing(org, api_site):
    url, _, repository = hook_of(org)
    api_site.change("update vcs_repositories set hook_secret_sealed = null where id = %s", repository)
    for secret in ("", "null"):
        assert deliver(url, BODY, proof("gitea", secret, BODY))[0] == 401


def test_a_signed_time_must_be_near(org, api_site):
    """GitLab's newer hooks sign the id, the time and the body."""
    url, secret, repository = hook_of(org, "gitlab")
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)

    def headers(seconds, body=BODY):
        at = str(int(time.time()) + seconds)
        signature = base64.b64encode(hmac.new(key, f"msg_{seconds}.{at}.".encode() + body, hashlib.sha256).digest()).decode()
        return {"webhook-id": f"msg_{seconds}", "webhook-timestamp": at, "webhook-signature": f"v1,{signature}", "X-Gitlab-Event": "Push Hook"}

    assert [deliver(url, BODY, headers(seconds))[0] for seconds in (0, -280, 280, -320, 320, -86400)] == [204, 204, 204, 401, 401, 401]
    assert deliver(url, BODY, {**headers(1), "webhook-timestamp": "now"})[0] == 401
    assert deliver(url, BODY, headers(2, BODY + b" "))[0] == 401
    assert len(stored(api_site, repository)) == 1, "the same bytes are the same delivery"


# ---- hostile input ----


@pytest.mark.parametrize("path", ["/webhooks/vcs/00000000-0000-0000-0000-000000000000", "/webhooks/vcs/x", "/webhooks/vcs/'--", "/webhooks/vcs/00000000000000000000000000000000",
                                  "/webhooks/vcs/%00", "/webhooks/vcs/0000000000000000-0000-0000-000000000000-", "/webhooks/vcs/"])
def test_unknown_hooks_are_nothing(api_site, path):
    status, _ = deliver(api_site.scheduler.url + path)
    assert status in (400, 404)
    assert deliver(api_site.scheduler.url + path, b"x" * 200_000)[0] in (400, 404, 413)


def test_hooks_take_posts_only(org):
    url, secret, _ = hook_of(org)
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        assert deliver(url, BODY, proof("gitea", secret, BODY), method)[0] == 404


def test_large_bodies_are_taken_up_to_25_megabytes(org, api_site):
    url, secret, repository = hook_of(org)
    body = b'{"a": "' + b"x" * (25 * 2**20 - 9) + b'"}'
    assert len(body) == 25 * 2**20
    assert deliver(url, body, proof("gitea", secret, body))[0] == 204
    assert len(stored(api_site, repository)) == 1
    more = body + b" " * 2**20
    try:
        assert deliver(url, more, proof("gitea", secret, more))[0] == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # the server answers and closes before it has read all
    assert len(stored(api_site, repository)) == 1
    wrong = b"x" * 2**20
    assert deliver(url, wrong, {"X-Gitea-Signature": "0" * 64})[0] == 401


@pytest.mark.parametrize("body", [b"", b"[" * 100_000, b"\xff\xfe\x00", b"null", b"7", b'{"a":' * 5000, b'{"a": "\\ud800"}', b"payload=%7B%7D"])
def test_any_bytes_with_a_proof_are_kept_for_the_reader(org, api_site, body):
    """Whether they are interesting is not the hook's business: providers disable hooks that fail."""
    for kind in ("gitea", "azure"):
        url, secret, repository = hook_of(org, kind)
        assert deliver(url, body, proof(kind, secret, body))[0] == 204
        assert len(stored(api_site, repository)) == 1


def test_a_delivery_whose_name_can_not_be_read_is_refused(postgres):
    """Its event is in the body. The provider shows the refusal; a delivery without an event would start nothing."""
    with open_api_site(postgres, document_memory=64) as site:
        org = site.organization()
        url, secret, repository = hook_of(org, "azure")
        body = b'{"id": "a", "eventType": "git.push", "resource": [%s]}' % b",".join([b"{}"] * 400_000)
        assert deliver(url, body, proof("azure", secret, body))[0] == 413
        assert stored(site, repository) == []


def test_a_form_has_the_payload_in_a_field(org, api_site):
    url, secret, repository = hook_of(org, "github")
    body = urllib.parse.urlencode({"payload": BODY.decode()}).encode()
    headers = {**proof("github", secret, body), "Content-Type": "application/x-www-form-urlencoded"}
    assert deliver(url, body, headers)[0] == 204
    ((_, _, sealed),) = stored(api_site, repository)
    assert len(bytes(sealed)) == len(BODY) + 32  # the seal's own bytes


def test_headers_of_any_kind_are_names_only(org, api_site):
    url, secret, repository = hook_of(org)
    headers = {**proof("gitea", secret, BODY), "X-Gitea-Event": "p" * 3000, "X-Gitea-Delivery": "'; drop table runs; --" * 50}
    assert deliver(url, BODY, headers)[0] == 204
    ((id, event, _),) = stored(api_site, repository)
    assert len(id) < 200 and len(event) < 100


# ---- batches ----

INSERTS_WAIT = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into vcs_deliveries%%'"


def test_deliveries_that_are_committed_together_are_answered_for_themselves(org, api_site):
    """A lock makes both threads that commit deliveries wait. What arrives meanwhile becomes one or two batches."""
    url, secret, repository = hook_of(org)
    other, other_secret, other_repository = hook_of(org, "gitlab")
    gone, gone_secret, gone_repository = hook_of(org, "github")
    unknown = f"{api_site.scheduler.url}/webhooks/vcs"
    twice = proof("gitea", secret, BODY)
    sent = [(url, twice), (url, twice), (other, proof("gitlab", other_secret, BODY)), (url, proof("gitea", other_secret, BODY)), (f"{unknown}/{uuid.uuid4()}", twice), (f"{unknown}/x", twice)]
    with psycopg.connect(api_site.database) as connection, ThreadPoolExecutor(40) as threads:
        begin = lambda hook, headers: threads.submit(deliver, hook, BODY, headers)  # noqa: E731
        connection.execute("lock table vcs_deliveries in share mode")
        first = begin(gone, proof("github", gone_secret, BODY))
        until(lambda: api_site.ask(INSERTS_WAIT) == [(1,)], "a batch waits for the lock")
        many = [begin(url, proof("gitea", secret, BODY)) for _ in range(20)]
        until(lambda: api_site.ask(INSERTS_WAIT) == [(2,)], "both batches wait for the lock")
        mixed = [begin(*each) for each in sent]
        connection.execute("delete from vcs_repositories where id = %s", [gone_repository])
        connection.commit()
        assert [each.result()[0] for each in mixed] == [204, 204, 204, 401, 404, 404]
        assert {each.result()[0] for each in [first, *many]} == {204}
    assert len(stored(api_site, repository)) == 21 and len(stored(api_site, other_repository)) == 1
    until(lambda: not stored(api_site, gone_repository), "the delivery of a repository that was deleted meanwhile is dropped")


def test_a_deleted_repository_leaves_no_delivery(org, api_site):
    url, secret, repository = hook_of(org)
    other, other_secret, other_repository = hook_of(org)
    for hook, key in ((url, secret), (other, other_secret)):
        assert deliver(hook, BODY, proof("gitea", key, BODY))[0] == 204
    until(lambda: not waiting(api_site, repository, other_repository), "both are read")
    api_site.change("delete from vcs_repositories where id = %s", repository)
    assert stored(api_site, repository) == [] and len(stored(api_site, other_repository)) == 1


def test_a_delivery_wakes_the_other_schedulers(org, api_site):
    """Their threads share the work. The one of this scheduler needs no notification."""
    url, secret, repository = hook_of(org)
    with psycopg.connect(api_site.database, autocommit=True) as connection:
        until(lambda: not waiting(api_site, repository), "nothing is left to be read")
        connection.execute("listen runyard_vcs")
        assert deliver(url, BODY, proof("gitea", secret, BODY))[0] == 204
        assert next(connection.notifies(timeout=PATIENCE, stop_after=1)).channel == "runyard_vcs"


# ---- reading in batches ----

HOSTILE = ["'; drop table runs; --", '{"a","b",NULL}', "\\\\ \\n \"", "\ud7ff\ue000\ufffe\U0010ffff", "\u202e\u0001\x7f", "m" * 20_000, "NULL", "{}"]


def push(message, sha="b" * 40):
    commit = {"id": sha, "message": message, "url": "", "author": {"name": message[:100], "email": ""}, "added": [], "removed": [], "modified": []}
    return json.dumps({"ref": "refs/heads/other", "before": "a" * 40, "after": sha, "commits": [commit], "head_commit": commit, "total_commits": 1,
                       "repository": {"id": 1, "full_name": "acme/network", "default_branch": "main"}}).encode()


def deliver_as_one_batch(api_site, sent):
    """Sends (url, secret, body) in this order, while a lock stops the thread that reads them."""
    with psycopg.connect(api_site.database) as connection:
        connection.execute("lock table vcs_events in share mode")
        for url, secret, body in sent:
            assert deliver(url, body, proof("gitea", secret, body))[0] == 204


def waiting(api_site, *repositories):
    return api_site.ask("select delivery_id from vcs_deliveries where repository_id = any(%s) and state = 'waiting' and tries = 0", list(repositories))


def told(api_site, repository):
    """What the events of deliveries say, in their order."""
    return [message for (message,) in api_site.ask("select coalesce(e.detail ->> 'message', e.message) from vcs_events e where e.repository_id = %s and e.delivery is not null order by e.sequence", repository)]


def test_a_batch_of_hostile_texts_becomes_events_in_their_order(org, api_site):
    hooks = [hook_of(org), hook_of(org)]
    texts = [text for text in HOSTILE for _ in range(20)]
    sent = [(url, secret, push(text)) for text in texts for url, secret, _ in hooks]
    sent.insert(50, (*hooks[0][:2], push("\0 ends no text")))  # PostgreSQL stores no NUL
    sent.insert(90, (*hooks[0][:2], b"\xff\xfe"))
    deliver_as_one_batch(api_site, sent)
    repositories = [repository for _, _, repository in hooks]
    until(lambda: not waiting(api_site, *repositories), "all are read")
    first, second = (told(api_site, repository) for repository in repositories)
    assert second == [text[:16384] for text in texts]
    assert [place for place, message in enumerate(first) if message.startswith("A delivery can't be read")] == [25, 46]
    assert [message for message in first if not message.startswith("A delivery can't be read")] == second
    failed = api_site.ask("select count(*) from vcs_deliveries where repository_id = any(%s) and state = 'failed'", repositories)
    assert failed == [(2,)]


def test_a_delivery_that_can_not_be_stored_delays_no_other(org, api_site):
    hooks = [hook_of(org), hook_of(org)]
    repositories = [repository for _, _, repository in hooks]
    api_site.change("create function refuse() returns trigger language plpgsql as $$ begin if new.detail ->> 'message' = 'poison' then raise 'poison'; end if; return new; end $$")
    api_site.change("create trigger refuse before insert on vcs_events for each row execute function refuse()")
    try:
        sent = [(url, secret, push(f"{number}")) for number in range(6) for url, secret, _ in hooks]
        sent.insert(5, (*hooks[0][:2], push("poison")))
        deliver_as_one_batch(api_site, sent)
        until(lambda: not waiting(api_site, *repositories), "all others are read, and that one has failed once")
        assert told(api_site, repositories[0]) == told(api_site, repositories[1]) == [f"{number}" for number in range(6)]
        postponed = "select error from vcs_deliveries where repository_id = any(%s) and state = 'waiting'"
        assert "poison" in api_site.ask(postponed, repositories)[0][0]
    finally:
        api_site.change("drop trigger refuse on vcs_events")
        api_site.change("drop function refuse")
    api_site.change("update vcs_deliveries set due_at = now() where state = 'waiting'")
    api_site.change("select pg_notify('runyard_vcs', '')")
    until(lambda: "poison" in told(api_site, repositories[0]), "it is stored at a later try")
    assert len(told(api_site, repositories[0])) == 7


# ---- floods ----


def test_a_flood_of_failures_is_limited_and_proven_deliveries_pass(api_site):
    org = api_site.organization()
    url, secret, repository = hook_of(org)
    source = {"X-Forwarded-For": "203.0.113.9"}
    statuses = [deliver(url, BODY, source)[0] for _ in range(400)]
    assert statuses[0] == 401 and statuses[-1] == 429
    assert deliver(api_site.scheduler.url + f"/webhooks/vcs/{uuid.uuid4()}", BODY, source)[0] == 429
    assert deliver(url, BODY, {**proof("gitea", secret, BODY), "X-Forwarded-For": "203.0.113.10"})[0] == 204
    assert api_site.scheduler.metric("runyard_vcs_deliveries_total", outcome="refused") >= 200
    assert api_site.scheduler.metric("runyard_vcs_deliveries_total", outcome="limited") >= 1


def test_a_flood_on_one_hook_does_not_slow_another(api_site):
    org = api_site.organization()
    url, secret, _ = hook_of(org)
    other, other_secret, _ = hook_of(org)
    headers = proof("gitea", secret, BODY)
    parts, statuses = urllib.parse.urlsplit(url), []
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    while 429 not in statuses and len(statuses) < 5000:
        connection.request("POST", parts.path, BODY, headers)
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
    retry = answer.headers["Retry-After"]
    connection.close()
    assert statuses[-1] == 429 and set(statuses) == {204, 429} and int(retry) >= 1
    assert deliver(other, BODY, proof("gitea", other_secret, BODY))[0] == 204


def test_a_backlog_of_deliveries_does_not_stop_events(org, api_site):
    _, _, repository = hook_of(org)
    _, _, other = hook_of(org)
    api_site.change("insert into vcs_deliveries (repository_id, delivery_id, event, body_sealed) select %s, 'backlog-' || n, 'push', 'x' from generate_series(1, 4000) n", repository)
    event = add_event(api_site, other, kind="ping", state="waiting")
    api_site.change("select pg_notify('runyard_vcs', '')")
    until(lambda: api_site.ask("select 1 from vcs_events where id = %s and state = 'done'", event), "the event is decided")
    assert api_site.ask("select 1 from vcs_deliveries where delivery_id like 'backlog-%%' and tries = 0 and state = 'waiting' limit 1"), "some of the backlog was not read yet"
    api_site.change("delete from vcs_deliveries where delivery_id like 'backlog-%%'")


# ---- repositories ----


def test_repositories_show_their_hooks_and_only_vcs_managers_see_secrets(org, api_site):
    url, secret, id = hook_of(org)
    people = People(org, api_site.database)
    reader_team = people.team("r")
    reader, manager = people.member("hook-reader", reader_team), people.member("hook-manager", people.team("m", manage_vcs_settings=True))
    shown = org.get(f"vcs-repositories/{id}").data
    attributes, (workspace,) = shown["attributes"], shown["relationships"]["workspaces"]["data"]
    assert reader.call("GET", f"vcs-repositories/{id}").status == 404, "who sees none of its workspaces does not see it"
    people.give(reader_team, "workspace", workspace["id"], "read")
    assert attributes["webhook-url"] == url and len(secret) == 64 and attributes["identifier"] == "acme/network" and attributes["hook-made"] is False
    assert attributes["state"] == "unverified" and attributes["web-url"] == "https://gitea.example.com/acme/network" and attributes["looked-at"] is None
    assert manager.get(f"vcs-repositories/{id}").data["attributes"]["webhook-secret"] == secret
    hidden = reader.get(f"vcs-repositories/{id}").data
    assert hidden["attributes"]["webhook-secret"] is None and hidden["relationships"]["workspaces"]["data"] == [workspace]
    assert manager.get(f"vcs-repositories/{id}").data["relationships"]["workspaces"]["data"] == []
    listed = org.get(f"organizations/{org.organization}/vcs-repositories", include="workspaces,policy_sets,oauth_client")
    (item,) = listed.data
    assert item["id"] == id and "webhook-secret" not in item["attributes"]
    assert {each["type"] for each in listed.json["included"]} == {"workspaces", "oauth-clients"}
    stranger = api_site.stranger()
    assert stranger.call("GET", f"vcs-repositories/{id}").status == 404
    assert stranger.call("GET", f"organizations/{org.organization}/vcs-repositories").status == 404
    with psycopg.connect(api_site.database) as connection:
        (row,) = connection.execute("select r::text from vcs_repositories r where id = %s", [id]).fetchone()
    assert secret not in row and secret.encode().hex() not in row


def test_plain_git_has_no_hook_to_show(org):
    token = connect(org, GIT)[1]
    body = {"data": {"type": "workspaces", "attributes": {"name": "plain", "vcs-repo": {"oauth-token-id": token, "identifier": "a.git"}}}}
    repo = org.post(f"organizations/{org.organization}/workspaces", body).data["attributes"]["vcs-repo"]
    attributes = org.get(f"vcs-repositories/{repo['repository-id']}").data["attributes"]
    assert attributes["webhook-url"] is None and attributes["webhook-secret"] is None and attributes["web-url"] is None


# ---- events ----


def add_event(api_site, repository, **columns):
    values = {"id": f"ve-{uuid.uuid4().hex[:16]}", "kind": "push", "ref": "refs/heads/main", "sha": "a" * 40, "state": "done", "level": "info", "message": "m", "detail": "{}", **columns}
    names = ", ".join(values)
    api_site.change(f"insert into vcs_events (organization_id, connection_id, repository_id, {names}) select organization_id, connection_id, id, "
                    f"{', '.join(['%s'] * len(values))} from vcs_repositories where id = %s", *values.values(), repository)
    return values["id"]


def test_events_are_listed_and_filtered(org, api_site):
    _, _, repository = hook_of(org)
    _, _, other = hook_of(org)
    api_site.change("delete from vcs_events where repository_id = any(%s)", [repository, other])
    old = add_event(api_site, repository, created_at="2026-01-01T00:00:00Z", level="error", message="it failed")
    new = add_event(api_site, other, pull_request=7, kind="pr_open", detail=json.dumps({"title": "<b>t</b>", "sender": "ada", "message": "first\nsecond", "url": "https://gitea.example.com/p/7"}))
    path = f"organizations/{org.organization}/vcs-events"
    found = lambda **query: [item["id"] for item in org.get(path, **query).data]  # noqa: E731
    assert found() == [new, old]
    assert found(**{"filter[levels]": "error"}) == [old] and found(**{"filter[levels]": "info,error"}) == [new, old]
    assert found(**{"filter[from]": "2026-02-01T00:00:00Z"}) == [new] and found(**{"filter[to]": "2026-02-01T00:00:00Z"}) == [old]
    assert found(**{"page[size]": 1, "page[number]": 2}) == [old]
    client = org.get(f"vcs-events/{old}").data["relationships"]["oauth-client"]["data"]["id"]
    assert found(**{"filter[oauth_client_external_ids]": client}) == [old]
    listed = org.get(path, include="oauth_client")
    assert len(listed.json["included"]) == 2 and listed.json["meta"]["pagination"]["total-count"] == 2
    attributes = org.get(f"vcs-events/{new}").data["attributes"]
    assert attributes["pull-request-number"] == 7 and attributes["pull-request-title"] == "<b>t</b>" and attributes["sender-username"] == "ada"
    assert attributes["commit-url"] == f"https://gitea.example.com/acme/network/commit/{'a' * 40}" and attributes["organization-id"] == org.organization
    assert attributes["outcomes"] == [] and attributes["commit-message"] == "first\nsecond"
    for bad in ("filter[from]=yesterday", "filter[to]=%27", "page[size]=x"):
        assert org.call("GET", f"{path}?{bad}").status == 400
    assert found(**{"filter[levels]": "'; drop", "filter[workspace]": "'"}) == []


def test_an_event_shows_what_it_did_to_those_who_see_it(org, api_site):
    _, _, repository = hook_of(org)
    ((workspace,),) = api_site.ask("select workspace_id from workspace_repositories where repository_id = %s", repository)
    hidden = org.workspace("hidden")
    detail = {"message": "secret commit", "title": "secret title", "sender": "secret-sender", **{name: f"https://secret.example.com/{name}" for name in ("url", "commit_url", "compare_url", "sender_url", "sender_avatar_url")}}
    event = add_event(api_site, repository, detail=json.dumps(detail), files=json.dumps(["secret.tf"]), pull_request=4711, sha="5" * 40, before_sha="6" * 40)
    for subject, reason in ((workspace, "path"), (hidden, "started")):
        api_site.change("insert into vcs_outcomes (event_id, subject_id, reason) values (%s, %s, %s)", event, subject, reason)
    outcomes = org.get(f"vcs-events/{event}").data["attributes"]["outcomes"]
    assert {(item["subject-id"], item["reason"]) for item in outcomes} == {(workspace, "path"), (hidden, "started")}
    (sentence,) = [item["message"] for item in outcomes if item["reason"] == "path"]
    assert sentence.startswith("No changed file matches")
    people = People(org, api_site.database)
    team = people.team("some")
    people.give(team, "workspace", workspace, "read")
    seer, blind = people.member("event-seer", team), people.member("event-blind", people.team("none"))
    manager = people.member("event-manager", people.team("vcs", manage_vcs_settings=True))
    assert [item["subject-id"] for item in seer.get(f"vcs-events/{event}").data["attributes"]["outcomes"]] == [workspace]
    assert seer.get(f"vcs-events/{event}").data["attributes"]["files"] == ["secret.tf"]
    seen = blind.get(f"vcs-events/{event}")
    hidden_texts = ("secret", "refs/heads", "acme/network", repository, "4711", "5" * 40, "6" * 40)
    assert seen.data["attributes"]["outcomes"] == [] and [text for text in hidden_texts if text in seen.text] == []
    assert all(text in seer.get(f"vcs-events/{event}").text for text in hidden_texts)
    assert seen.data["attributes"] | {"created-at": 0} == {
        **{name: None if name in ("files", "files-note", "pull-request-number") else "" for name in seen.data["attributes"]},
        "created-at": 0, "organization-id": org.organization, "kind": "push", "state": "done", "level": "info", "found-by": "webhook", "outcomes": []}
    assert manager.get(f"vcs-events/{event}").data["attributes"]["outcomes"] == []
    path = f"organizations/{org.organization}/vcs-events"
    assert [who.call("GET", path).status for who in (seer, blind, manager, api_site.stranger())] == [404, 404, 200, 404]
    assert [item["id"] for item in org.get(path, **{"filter[workspace]": "HIDDEN"}).data] == [event]
    assert api_site.stranger().call("GET", f"vcs-events/{event}").status == 404
