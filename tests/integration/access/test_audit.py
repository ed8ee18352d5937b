# SPDX-License-Identifier: MPL-2.0
"""The audit trail records actor, action, object, time and address in the same transaction as the change."""

import json

import psycopg

from support.api import Api
from support.kcat import consume
from support.wait import until


def audit_events(api, **query):
    return api.get(f"organizations/{api.organization}/audit-trail", **query).json["data"]


def actions(events):
    return [(e["resource"]["type"], e["resource"]["action"]) for e in events]


def test_events_record_action_actor_and_address(org):
    user = org.get("account/details").data
    workspace = org.workspace("w", description="very secret text")
    org.post(f"workspaces/{workspace}/actions/lock", {"reason": "because"})
    org.variable(workspace, "password", "hunter2 is secret", sensitive=True)
    org.delete(f"workspaces/{workspace}")
    events = audit_events(org)
    assert actions(events) == [("workspace", "destroy"), ("var", "create"), ("workspace", "lock"), ("workspace", "create")]
    created = events[-1]
    assert created["type"] == "Resource" and created["version"] == "0" and created["timestamp"].endswith("Z")
    assert created["resource"]["id"] == workspace and created["auth"]["accessor_id"] == user["id"]
    assert created["auth"]["description"] == user["attributes"]["username"] and created["auth"]["token_id"].startswith("at-")
    assert created["auth"]["type"] == "Client" and created["resource"]["meta"]["address"] == "127.0.0.1"
    assert set(created["resource"]["meta"]["attributes"]) == {"name", "description"}
    assert [e["resource"]["meta"]["workspace_id"] for e in events[1:3]] == [workspace, workspace]
    assert events[0]["resource"]["id"] == workspace
    assert len({e["request"]["id"] for e in events}) == 4 and len({e["id"] for e in events}) == 4
    assert "secret" not in json.dumps(events) and "hunter2" not in json.dumps(events)


def test_refused_requests_leave_no_event(org):
    workspace = org.workspace("w")
    before = actions(audit_events(org))
    assert org.call("POST", f"organizations/{org.organization}/workspaces",
                    {"data": {"type": "workspaces", "attributes": {"name": "w"}}}).status == 422
    assert org.call("PATCH", f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"name": 1}}}).status == 422
    assert org.call("DELETE", "workspaces/ws-nowhere").status == 404
    assert org.call("POST", f"workspaces/{workspace}/actions/unlock").status == 409
    assert actions(audit_events(org)) == before


def test_uploads_and_runs_are_audited(org):
    workspace = org.workspace("w")
    version = org.upload(workspace, {"main.tf": ""})
    run = org.run(workspace, version)
    org.act(run, "discard") if org.get(f"runs/{run}").data["attributes"]["actions"]["is-discardable"] else org.act(run, "cancel")
    found = [(e["resource"]["type"], e["resource"]["action"], e["resource"]["id"], e["auth"]["accessor_type"]) for e in audit_events(org)]
    assert ("configuration_version", "create", version, "user") in found
    assert ("configuration_version", "upload", version, "signed-address") in found
    assert ("run", "create", run, "user") in found
    assert any(f[:1] == ("run",) and f[1] in ("cancel", "discard") and f[2] == run for f in found)


def test_a_refused_upload_marks_the_configuration_version_errored(org):
    workspace = org.workspace("w")
    created = org.post(f"workspaces/{workspace}/configuration-versions", {"data": {"type": "configuration-versions", "attributes": {}}}).data
    assert org.call("PUT", created["attributes"]["upload-url"], b"no archive").status == 422
    assert org.attributes(f"configuration-versions/{created['id']}")["status"] == "errored"


def test_an_organization_token_reads_its_audit_trail(org):
    created = org.post(f"organizations/{org.organization}/authentication-token", {"data": {"type": "authentication-tokens", "attributes": {}}}).data
    own = Api(org.url, created["attributes"]["token"], org.organization)
    workspace = own.workspace("by-token")
    event = own.get("organization/audit-trail").json["data"][0]
    assert event["resource"]["id"] == workspace and event["auth"]["accessor_type"] == "service-account"
    assert event["auth"]["token_id"] == created["id"]
    assert org.call("GET", "organization/audit-trail").status == 404


def test_site_admins_read_all_audit_events(org, api_site):
    workspace = org.workspace("seen-by-admins")
    events = org.get("admin/audit-trail").json["data"]
    assert any(e["resource"]["id"] == workspace for e in events)
    assert any(action == ("organization", "create") for action in actions(events))
    assert api_site.stranger().call("GET", "admin/audit-trail").status == 404


def test_events_are_paged_and_filtered_by_since(org):
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


def test_the_total_count_is_exact_before_and_after_hours_are_counted(org, api_site):
    """Events of past hours are counted once (audit_totals). Pages and times may begin and end anywhere in them."""
    path = f"organizations/{org.organization}/audit-trail"
    for number in range(24):
        org.workspace(f"w{number}")
    with psycopg.connect(api_site.database, autocommit=True) as connection:
        # Three events in each of the last eight half hours, and all other events long ago.
        connection.execute("update audit_events e set at = case when organization_id = (select organization_id from workspaces where id = %s) then now() - n / 3 * interval '30 min' "
                           "else at - interval '1000 days' - n * interval '7 hours' end from (select id, row_number() over (partition by organization_id order by position desc) - 1 as n "
                           "from audit_events) x where x.id = e.id", [org.get(path).json["data"][0]["resource"]["id"]])
        connection.execute("delete from audit_totals")
        connection.execute("update audit_counted set until = '2000-01-01'")
        last, = connection.execute("select date_trunc('hour', max(at)) + interval '1 hour' from audit_events where at < date_trunc('hour', now() - interval '1 hour')").fetchone()
        check_totals(org, path)
        api_site.scheduler.stop()  # each scheduler counts at its start
        api_site.scheduler.start()
        until(lambda: connection.execute("select until >= %s from audit_counted", [last]).fetchone()[0], "all past hours are counted")
        assert connection.execute("select (select count(*) from audit_events where at < c.until) = (select max(events) from audit_totals where organization_id = '') "
                                  "from audit_counted c").fetchone()[0]
        check_totals(org, path)
        org.workspace("later")
        check_totals(org, path)
        site = org.get("admin/audit-trail", **{"page[size]": 7}).json
        assert site["pagination"]["total_count"] == connection.execute("select count(*) from audit_events").fetchone()[0]


def check_totals(org, path):
    """The totals of all pages, and of those since any event, are correct."""
    events = org.get(path).json["data"]
    whole = org.get(path, **{"page[size]": 5, "page[number]": 3}).json
    assert whole["pagination"]["total_count"] == len(events) and [e["id"] for e in whole["data"]] == [e["id"] for e in events[10:15]]
    for event in events:
        since = event["timestamp"]
        page = org.get(path, since=since, **{"page[size]": 2}).json
        assert len(events) > 20 and page["pagination"]["total_count"] == len(org.get(path, since=since).json["data"])


def test_strangers_read_no_audit_trail(org, api_site):
    stranger = api_site.stranger()
    assert stranger.call("GET", f"organizations/{org.organization}/audit-trail").status == 404
    assert org.call("GET", f"organizations/{org.organization}/audit-trail", headers={"Authorization": None}).status == 401


def test_a_change_and_its_audit_event_commit_together(api_site, org):
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


def test_a_deadlocked_request_is_retried_as_a_whole(api_site, org):
    """The rows and the answer of the first attempt are dropped. The second attempt counts, once."""
    api_site.change(FAILS_ONCE)
    try:
        body = {"data": {"type": "projects", "attributes": {"name": "twice"}}}
        created = org.post(f"organizations/{org.organization}/projects", body).data
    finally:
        api_site.change("drop trigger fail_once on audit_events; drop function fail_once; drop sequence tries")
    projects = org.get(f"organizations/{org.organization}/projects").data
    assert [p["id"] for p in projects if p["attributes"]["name"] == "twice"] == [created["id"]]
    assert [e["resource"]["id"] for e in audit_events(org)] == [created["id"]]


def test_audit_events_are_published(api_site, org):
    workspace = org.workspace("streamed")

    def published_event():
        messages = [json.loads(line) for line in consume(api_site.bus, "runyard.events")]
        return next((message for message in messages if message.get("resource") == workspace), None)

    event = audit_events(org)[0]
    assert until(published_event, "the event is published") == {
        "v": 1, "audit": event["id"], "organization": event["auth"]["organization_id"], "actor": event["auth"]["accessor_id"],
        "action": "create", "resource-type": "workspace", "resource": workspace, "workspace": None}


def test_run_events_are_published_once_after_the_commit(api_site, org):
    """The whole request is one transaction, and its messages are sent once it has committed."""
    workspace = org.workspace("w")
    run = org.run(workspace, org.upload(workspace, {"main.tf": ""}))

    def outbox_rows():
        return api_site.ask("select count(*) from outbox where payload like %s", f"%{run}%")[0][0]

    def published_events():
        return [line for line in consume(api_site.bus, "runyard.events") if f'"run":"{run}"' in line]

    until(published_events, "the run's change is published")
    until(lambda: outbox_rows() == 0, "sent messages are deleted")
    assert len(published_events()) == len(set(published_events()))
