# SPDX-License-Identifier: MPL-2.0
"""The audit trail: who changed what, when and from where, in the same transaction as the change."""

import json

import psycopg

from support.api import Api
from support.kcat import consume
from support.wait import until


def trail(api, **query):
    return api.get(f"organizations/{api.organization}/audit-trail", **query).json["data"]


def deeds(events):
    return [(e["resource"]["type"], e["resource"]["action"]) for e in events]


def test_what_was_done_by_whom_from_where(org):
    user = org.get("account/details").data
    workspace = org.workspace("w", description="very secret text")
    org.post(f"workspaces/{workspace}/actions/lock", {"reason": "because"})
    org.variable(workspace, "password", "hunter2 is secret", sensitive=True)
    org.delete(f"workspaces/{workspace}")
    events = trail(org)
    assert deeds(events) == [("workspace", "destroy"), ("var", "create"), ("workspace", "lock"), ("workspace", "create")]
    made = events[-1]
    assert made["type"] == "Resource" and made["version"] == "0" and made["timestamp"].endswith("Z")
    assert made["resource"]["id"] == workspace and made["auth"]["accessor_id"] == user["id"]
    assert made["auth"]["description"] == user["attributes"]["username"] and made["auth"]["token_id"].startswith("at-")
    assert made["auth"]["type"] == "Client" and made["resource"]["meta"]["address"] == "127.0.0.1"
    assert set(made["resource"]["meta"]["attributes"]) == {"name", "description"}
    assert [e["resource"]["meta"]["workspace_id"] for e in events[1:3]] == [workspace, workspace]
    assert events[0]["resource"]["id"] == workspace
    assert len({e["request"]["id"] for e in events}) == 4 and len({e["id"] for e in events}) == 4
    assert "secret" not in json.dumps(events) and "hunter2" not in json.dumps(events)


def test_what_was_refused_leaves_nothing(org):
    workspace = org.workspace("w")
    before = deeds(trail(org))
    assert org.call("POST", f"organizations/{org.organization}/workspaces",
                    {"data": {"type": "workspaces", "attributes": {"name": "w"}}}).status == 422
    assert org.call("PATCH", f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"name": 1}}}).status == 422
    assert org.call("DELETE", "workspaces/ws-nowhere").status == 404
    assert org.call("POST", f"workspaces/{workspace}/actions/unlock").status == 409
    assert deeds(trail(org)) == before


def test_uploads_and_runs(org):
    workspace = org.workspace("w")
    version = org.upload(workspace, {"main.tf": ""})
    run = org.run(workspace, version)
    org.act(run, "discard") if org.get(f"runs/{run}").data["attributes"]["actions"]["is-discardable"] else org.act(run, "cancel")
    found = [(e["resource"]["type"], e["resource"]["action"], e["resource"]["id"], e["auth"]["accessor_type"]) for e in trail(org)]
    assert ("configuration_version", "create", version, "user") in found
    assert ("configuration_version", "upload", version, "signed-address") in found
    assert ("run", "create", run, "user") in found
    assert any(f[:1] == ("run",) and f[1] in ("cancel", "discard") and f[2] == run for f in found)


def test_a_refused_upload_is_kept_as_refused(org):
    workspace = org.workspace("w")
    made = org.post(f"workspaces/{workspace}/configuration-versions", {"data": {"type": "configuration-versions", "attributes": {}}}).data
    assert org.call("PUT", made["attributes"]["upload-url"], b"no archive").status == 422
    assert org.attributes(f"configuration-versions/{made['id']}")["status"] == "errored"


def test_an_organizations_own_token_reads_its_trail(org):
    made = org.post(f"organizations/{org.organization}/authentication-token", {"data": {"type": "authentication-tokens", "attributes": {}}}).data
    own = Api(org.url, made["attributes"]["token"], org.organization)
    workspace = own.workspace("by-token")
    event = own.get("organization/audit-trail").json["data"][0]
    assert event["resource"]["id"] == workspace and event["auth"]["accessor_type"] == "service-account"
    assert event["auth"]["token_id"] == made["id"]
    assert org.call("GET", "organization/audit-trail").status == 404


def test_site_admins_read_all_of_it(org, api_site):
    workspace = org.workspace("seen-by-admins")
    events = org.get("admin/audit-trail").json["data"]
    assert any(e["resource"]["id"] == workspace for e in events)
    assert any(deed == ("organization", "create") for deed in deeds(events))
    assert api_site.stranger().call("GET", "admin/audit-trail").status == 404


def test_pages_and_since(org):
    for number in range(5):
        org.workspace(f"w{number}")
    path = f"organizations/{org.organization}/audit-trail"
    whole = org.get(path).json
    assert whole["pagination"] == {"current_page": 1, "prev_page": None, "next_page": None, "total_pages": 1, "total_count": 5}
    page = org.get(path, **{"page[number]": 2, "page[size]": 2}).json
    assert page["pagination"] == {"current_page": 2, "prev_page": 1, "next_page": 3, "total_pages": 3, "total_count": 5}
    assert [e["id"] for e in page["data"]] == [e["id"] for e in whole["data"][2:4]]
    beyond = org.get(path, **{"page[number]": 9}).json
    assert beyond["data"] == [] and beyond["pagination"]["total_count"] == 5
    since = whole["data"][0]["timestamp"]
    later = org.workspace("later")
    assert later in [e["resource"]["id"] for e in org.get(path, since=since).json["data"]]
    assert org.get(path, since="2200-01-01T00:00:00Z").json["data"] == []
    for wrong in ({"since": "yesterday"}, {"page[size]": "x"}, {"page[number]": 0}):
        assert org.call("GET", path + "?" + "&".join(f"{k}={v}" for k, v in wrong.items())).status == 400


def test_the_total_is_exact_whatever_was_counted_before(org, api_site):
    """Events of past hours are counted once (audit_totals). Pages and times may begin and end anywhere in them."""
    path = f"organizations/{org.organization}/audit-trail"
    for number in range(24):
        org.workspace(f"w{number}")
    with psycopg.connect(api_site.database, autocommit=True) as connection:
        # Three in each of the last eight half hours, and all other events long ago.
        connection.execute("update audit_events e set at = case when organization_id = (select organization_id from workspaces where id = %s) then now() - n / 3 * interval '30 min' "
                           "else at - interval '1000 days' - n * interval '7 hours' end from (select id, row_number() over (partition by organization_id order by position desc) - 1 as n "
                           "from audit_events) x where x.id = e.id", [org.get(path).json["data"][0]["resource"]["id"]])
        connection.execute("delete from audit_totals")
        connection.execute("update audit_counted set until = '2000-01-01'")
        last, = connection.execute("select date_trunc('hour', max(at)) + interval '1 hour' from audit_events where at < date_trunc('hour', now() - interval '1 hour')").fetchone()
        checked(org, path)
        api_site.scheduler.stop()  # each scheduler counts at its start
        api_site.scheduler.start()
        until(lambda: connection.execute("select until >= %s from audit_counted", [last]).fetchone()[0], "the hours that are over are counted")
        assert connection.execute("select (select count(*) from audit_events where at < c.until) = (select max(events) from audit_totals where organization_id = '') "
                                  "from audit_counted c").fetchone()[0]
        checked(org, path)
        org.workspace("later")
        checked(org, path)
        site = org.get("admin/audit-trail", **{"page[size]": 7}).json
        assert site["pagination"]["total_count"] == connection.execute("select count(*) from audit_events").fetchone()[0]


def checked(org, path):
    """The totals of all pages, and of those since any event, are correct."""
    events = org.get(path).json["data"]
    whole = org.get(path, **{"page[size]": 5, "page[number]": 3}).json
    assert whole["pagination"]["total_count"] == len(events) and [e["id"] for e in whole["data"]] == [e["id"] for e in events[10:15]]
    for event in events:
        since = event["timestamp"]
        told = org.get(path, since=since, **{"page[size]": 2}).json
        assert len(events) > 20 and told["pagination"]["total_count"] == len(org.get(path, since=since).json["data"])


def test_strangers_read_nothing(org, api_site):
    stranger = api_site.stranger()
    assert stranger.call("GET", f"organizations/{org.organization}/audit-trail").status == 404
    assert org.call("GET", f"organizations/{org.organization}/audit-trail", headers={"Authorization": None}).status == 401


def test_a_change_and_its_event_commit_together(api_site, org):
    """If an event can't be written, the change is rolled back."""
    api_site.change("alter table audit_events add constraint never check (resource_type <> 'project') not valid")
    try:
        body = {"data": {"type": "projects", "attributes": {"name": "unseen"}}}
        assert org.call("POST", f"organizations/{org.organization}/projects", body).status == 500
    finally:
        api_site.change("alter table audit_events drop constraint never")
    assert "unseen" not in [p["attributes"]["name"] for p in org.get(f"organizations/{org.organization}/projects").data]


FAILS_ONCE = """
create sequence tries;
create function fail_once() returns trigger language plpgsql as $$
begin
  if nextval('tries') = 1 then raise exception using errcode = '40P01', message = 'deadlock'; end if;
  return new;
end $$;
create trigger fail_once before insert on audit_events for each row when (new.resource_type = 'project') execute function fail_once();
"""


def test_a_deadlock_does_the_whole_request_again(api_site, org):
    """The rows and the answer of the first attempt are dropped. The second attempt counts, once."""
    api_site.change(FAILS_ONCE)
    try:
        body = {"data": {"type": "projects", "attributes": {"name": "twice"}}}
        made = org.post(f"organizations/{org.organization}/projects", body).data
    finally:
        api_site.change("drop trigger fail_once on audit_events; drop function fail_once; drop sequence tries")
    projects = org.get(f"organizations/{org.organization}/projects").data
    assert [p["id"] for p in projects if p["attributes"]["name"] == "twice"] == [made["id"]]
    assert [e["resource"]["id"] for e in trail(org)] == [made["id"]]


def test_events_are_streamed(api_site, org):
    workspace = org.workspace("streamed")

    def told():
        messages = [json.loads(line) for line in consume(api_site.bus, "runyard.events")]
        return next((message for message in messages if message.get("resource") == workspace), None)

    event = trail(org)[0]
    assert until(told, "the event is published") == {
        "v": 1, "audit": event["id"], "organization": event["auth"]["organization_id"], "actor": event["auth"]["accessor_id"],
        "action": "create", "resource-type": "workspace", "resource": workspace}


def test_a_run_is_announced_after_its_commit(api_site, org):
    """The whole request is one transaction, and its messages are sent once it has committed."""
    workspace = org.workspace("w")
    run = org.run(workspace, org.upload(workspace, {"main.tf": ""}))

    def left():
        return api_site.ask("select count(*) from outbox where payload like %s", f"%{run}%")[0][0]

    def told():
        return [line for line in consume(api_site.bus, "runyard.events") if f'"run":"{run}"' in line]

    until(told, "the run's change is published")
    until(lambda: left() == 0, "what was sent is deleted")
    assert len(told()) == len(set(told()))
