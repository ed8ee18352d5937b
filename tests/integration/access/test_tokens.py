# SPDX-License-Identifier: MPL-2.0
"""The API with a database of its own: tokens, permissions, the first user, and an unavailable database."""

import json
import signal
import threading

import psycopg

from support.api import Api
from support.runyard import KEYS, Scheduler
from support.wait import until


def error(answer):
    """The only error of an answer, checked to be a document as clients parse it."""
    assert answer.headers["Content-Type"] == "application/vnd.api+json"
    (one,) = answer.json["errors"]
    assert one["status"] == str(answer.status) and one["title"] and one["detail"]
    return one


def test_invalid_and_expired_tokens_are_refused(api, tokens, database):
    for wrong in (None, "", "nonsense", "x" * 10000, tokens["token"][:-1]):
        answer = Api(api.url, wrong).call("GET", "account/details")
        assert answer.status == 401, wrong
        error(answer)
    assert api.call("GET", "account/details").data["attributes"]["username"] == "admin"
    assert api.call("GET", "account/details", headers={"Authorization": f"bearer {tokens['token']}"}).status == 200
    # A worker's token is valid, but has no permissions here.
    assert Api(api.url, tokens["agent-token"]).call("GET", "account/details").status == 404
    with psycopg.connect(database, autocommit=True) as connection:
        stored = connection.execute("select string_agg(hash || description, '') from tokens").fetchone()[0]
        assert tokens["token"] not in stored
        assert connection.execute("select count(last_used_at) from tokens where user_id is not null").fetchone()[0] == 1
        connection.execute("update tokens set expired_at = now() where user_id is not null")
    assert api.call("GET", "account/details").status == 401


def commit_until(database, done):
    with psycopg.connect(database, autocommit=True) as connection:
        while not done.is_set():
            connection.execute("update tokens set description = description where notifier")


def test_reads_do_not_wait_for_a_lost_standby(api, postgres, database):
    """A request records the use of its token, and that commit need not be durable."""
    done = threading.Event()
    committing = threading.Thread(target=commit_until, args=[database, done])
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update tokens set last_used_at = null")
        try:
            postgres.set("synchronous_standby_names", "lost")
            committing.start()
            until(lambda: connection.execute("select 1 from pg_stat_activity where wait_event = 'SyncRep'").fetchone(), "commits wait")
            assert api.call("GET", "account/details").status == 200
            assert connection.execute("select count(last_used_at) from tokens where user_id is not null").fetchone()[0] == 1
        finally:
            done.set()
            postgres.set("synchronous_standby_names", "")
            committing.join()


def test_users_create_and_delete_tokens(api, tokens):
    user = api.get("account/details").data["id"]
    path = f"users/{user}/authentication-tokens"
    created = api.post(path, {"data": {"type": "authentication-tokens", "attributes": {"description": "laptop", "expired-at": "2100-01-01T00:00:00.000Z"}}}).data
    assert created["attributes"]["expired-at"] == "2100-01-01T00:00:00.000Z"
    other = Api(api.url, created["attributes"]["token"])
    assert other.get("account/details").data["id"] == user
    read = api.get(f"authentication-tokens/{created['id']}").data
    assert read["attributes"]["token"] is None and read["attributes"]["description"] == "laptop"
    assert created["attributes"]["token"] not in api.get(path).text
    assert len(api.get(path).data) == 2
    api.delete(f"authentication-tokens/{created['id']}")
    assert other.call("GET", "account/details").status == 401
    assert api.call("GET", f"authentication-tokens/{created['id']}").status == 404
    assert api.call("POST", "users/user-nobody/authentication-tokens", b"").status == 404
    for wrong in ("tomorrow", "2026-02-30T00:00:00Z", "2026-01-01T00:00:61Z", "2026-01-01", "2026-01-01T00:00:00", "9999-01-01T00:00:00Z"):
        answer = api.call("POST", path, {"data": {"type": "authentication-tokens", "attributes": {"expired-at": wrong}}})
        assert answer.status == 422, wrong


def test_the_tokens_of_an_organization_are_listed_without_an_error(api, contract):
    path, document = f"organizations/{api.organization}/authentication-token", {"data": {"type": "authentication-tokens", "attributes": {}}}
    assert api.get(f"{path}s").json["data"] == [] and api.call("GET", path).status == 404
    made = api.post(path, document).data
    audit = api.post(f"{path}?token=audit-trails", document).data
    (listed,) = api.get(f"{path}s").data
    assert listed["id"] == made["id"] and listed["attributes"]["token"] is None
    assert [token["id"] for token in api.get(f"{path}s", token="audit-trails").data] == [audit["id"]]
    assert api.call("GET", f"{path}s?token=nonsense").status == 400
    api.delete(path)
    assert api.get(f"{path}s").json["data"] == []


def test_organizations_without_membership_are_not_found(api, database):
    """A valid token without permission gets the same answer as for a missing object."""
    api.workspace("secret")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update users set is_site_admin = false")
        connection.execute("delete from organization_memberships")
    for path in ("organizations/acme", "organizations/acme/workspaces", "organizations/acme/workspaces/secret", "organizations/acme/entitlement-set"):
        answer = api.call("GET", path)
        assert answer.status == 404 and "not found" in error(answer)["detail"]
    assert api.call("DELETE", "organizations/acme").status == 404
    assert api.get("organizations").data == []


def test_a_second_bootstrap_keeps_existing_objects_and_tokens(api, tokens, database, scheduler):
    done = Scheduler.run_command("bootstrap", "admin", "admin@example.com", "acme", database_url=database, keys=KEYS)
    again = json.loads(done.stdout)
    assert again["user"] == "admin" and again["organization"] == "acme"
    assert set(again) == {"user", "organization"} and api.get("account/details").data["attributes"]["username"] == "admin"
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*) from tokens").fetchone()[0] == 3
        people = "users where not is_service_account"
        members = "organization_memberships where user_id in (select id from " + people + ")"
        for table in (people, "organizations", "agent_pools", members):
            assert connection.execute(f"select count(*) from {table}").fetchone()[0] == 1
    refused = Scheduler.run_command("bootstrap", "no spaces", "a@b", "acme", database_url=database, keys=KEYS, check=False)
    assert refused.returncode != 0 and "Username" in refused.stderr


def test_requests_fail_with_503_while_the_database_is_down(api, postgres, scheduler):
    workspace = api.workspace("before")
    postgres.stop(signal.SIGQUIT)
    try:
        answer = api.call("GET", f"workspaces/{workspace}")
        assert answer.status == 503 and int(answer.headers["Retry-After"]) > 0
        assert "service unavailable" in error(answer)["detail"]
        assert scheduler.all[0].get("/readyz")[0] == 503
        assert scheduler.all[0].get("/healthz")[0] == 200
        assert api.call("GET", "ping").status == 204
    finally:
        postgres.start()
    until(scheduler.all[0].ready, "the scheduler is ready again")
    assert api.get(f"workspaces/{workspace}").data["attributes"]["name"] == "before"


def test_requests_are_counted_by_route(api, scheduler):
    api.workspace("counted")
    api.get("organizations/acme/workspaces/counted")
    api.call("GET", "organizations/acme/workspaces/other")
    route = "/api/v2/organizations/:organization/workspaces/:name"
    first = scheduler.all[0]
    assert first.metric("runyard_http_requests_total", route=route, status="200", method="GET") == 1
    assert first.metric("runyard_http_requests_total", route=route, status="404") == 1
    assert first.metric("runyard_http_request_duration_seconds_count", route=route) == 2


def test_the_tokens_of_an_organization_are_listed_by_their_use(org):
    path = f"organizations/{org.organization}/authentication-token"
    assert org.get(path + "s").data == [] and org.get(path + "s", token="audit-trails").data == []
    made = org.post(path).data["id"]
    audit = org.post(path + "?token=audit-trails").data["id"]
    assert [token["id"] for token in org.get(path + "s").data] == [made]
    (listed,) = org.get(path + "s", token="audit-trails").data
    assert listed["id"] == audit and not listed["attributes"]["token"]
    assert org.call("GET", path + "s?token=other").status == 400
    org.delete(path)
    assert org.get(path + "s").data == []
