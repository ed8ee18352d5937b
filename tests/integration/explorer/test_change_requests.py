# SPDX-License-Identifier: MPL-2.0
"""Change requests: who creates, reads and archives them, their bounds, their events and their notifications."""

import json

import pytest

from support.documents import refused, refused_at
from support.event_stream import EventStream
from support.people import People
from support.runyard import Notifier
from support.wait import until

SUBJECT, MESSAGE = "[Action Required] Pin the actions", "Use **commits**, not tags.\n\n- `a`\n- `b`"


def body(subject=SUBJECT, message=MESSAGE, action="change_request", **more):
    return {"data": {"type": "bulk_actions", "attributes": {"action_type": action, "action_inputs": {"subject": subject, "message": message}, **more}}}


def ask(client, organization, document):
    return client.call("POST", f"organizations/{organization}/explorer/bulk-actions", document)


def request(org, *workspaces, client=None, **texts):
    """Creates the request in these workspaces."""
    answer = ask(client or org, org.organization, body(target_ids=list(workspaces), **texts))
    assert answer.status == 201, answer.text
    return answer.data


def requests(client, workspace, **query):
    return client.get(f"workspaces/{workspace}/change-requests", **query).data


def only(client, workspace):
    (found,) = requests(client, workspace)
    return found["id"]


@pytest.fixture
def people(org, api_site):
    return People(org, api_site.database)


def test_a_request_is_made_in_each_of_the_workspaces(org, contract):
    one, two, three = (org.workspace(name) for name in ("one", "two", "three"))
    made = request(org, one, two, two)
    user = org.get("account/details").data["id"]
    assert made["type"] == "explorer_bulk_actions" and made["id"].startswith("eba-")
    assert made["attributes"] == {"organization_id": org.attributes(f"organizations/{org.organization}")["external-id"], "action_type": "change_requests",
                                  "action_inputs": {"subject": SUBJECT, "message": MESSAGE}, "created_by": {"id": user, "type": "users"}}
    (first,), (second,) = requests(org, one), requests(org, two)
    assert first["id"] != second["id"] and first["id"].startswith("wscr-") and first["type"] == "workspace_change_requests"
    shown = first["attributes"]
    assert (shown["subject"], shown["message"], shown["archived-by"], shown["archived-at"]) == (SUBJECT, MESSAGE, None, None)
    assert first["relationships"]["workspace"]["data"]["id"] == one and first["relationships"]["created-by"]["data"]["id"] == user
    assert requests(org, three) == []
    for path in (f"workspaces/change-requests/{first['id']}", f"change-requests/{first['id']}"):
        assert org.get(path).data == first
    included = org.get(f"workspaces/{one}/change-requests", include="created_by").json["included"]
    assert [user["attributes"]["username"] for user in included] == ["admin"]


@pytest.mark.parametrize("nested", [True, False])
def test_a_query_finds_the_workspaces(org, contract, nested):
    found, other = org.workspace("app-dev"), org.workspace("app-prod")
    one = {"workspace_name": {"contains": ["dev"]}} if nested else {"field": "workspace_name", "operator": "contains", "value": ["dev"]}
    assert ask(org, org.organization, body(action="change_requests", query={"type": "workspaces", "filter": [one]})).status == 201
    assert len(requests(org, found)) == 1 and requests(org, other) == []


def test_archived_requests_come_last_and_stay(org, contract):
    workspace, beside = org.workspace("one"), org.workspace("two")
    for subject in ("first", "second", "third"):
        request(org, workspace, beside, subject=subject)
    listed = requests(org, workspace)
    assert [item["attributes"]["subject"] for item in listed] == ["third", "second", "first"]
    archived = org.post(f"workspaces/change-requests/{listed[0]['id']}").data
    assert archived["attributes"]["archived-at"] and archived["attributes"]["archived-by"] == org.get("account/details").data["id"]
    assert org.call("PATCH", f"workspaces/change-requests/{listed[0]['id']}", b"").data == archived  # it is archived already
    subjects = lambda **query: [item["attributes"]["subject"] for item in requests(org, workspace, **query)]
    assert subjects() == ["second", "first", "third"]
    assert subjects(**{"filter[archived]": "false"}) == ["second", "first"] and subjects(**{"filter[archived]": "true"}) == ["third"]
    refused(400, requests, org, workspace, **{"filter[archived]": "perhaps"})
    page = org.get(f"workspaces/{workspace}/change-requests", **{"page[size]": 2, "page[number]": 2})
    assert [item["attributes"]["subject"] for item in page.data] == ["third"] and page.json["meta"]["pagination"]["total-count"] == 3
    assert len(requests(org, beside, **{"filter[archived]": "false"})) == 3


@pytest.mark.parametrize("wrong, pointer", [
    (body(action="nonsense"), "action_type"), (body(subject=""), "action_inputs/subject"), (body(subject="x" * 256), "action_inputs/subject"), (body(subject="a\nb"), "action_inputs/subject"),
    (body(subject=7), "action_inputs/subject"), (body(message=" \n"), "action_inputs/message"), (body(message="x" * 10001), "action_inputs/message"), (body(message="a\u0001b"), "action_inputs/message"),
    (body(), "target_ids"), (body(target_ids=[]), "target_ids"), (body(target_ids="ws-1"), "target_ids"), (body(target_ids=[7]), "target_ids"), (body(target_ids=["ws-none"]), "target_ids"),
    (body(target_ids=["x"], query={"type": "workspaces"}), "target_ids"), (body(target_ids=["x"] * 1001), "target_ids"), (body(query={"type": "modules"}), "query/type"),
    (body(query={"filter": [{"nothing": {"is": ["x"]}}]}), "query"), (body(query={"filter": [{"workspace_name": {"is": ["nothing"]}}]}), "query"), (body(query="x"), "query"),
])
def test_what_is_wrong_is_said(org, contract, wrong, pointer):
    org.workspace("one")
    refused_at(ask(org, org.organization, wrong), f"/data/attributes/{pointer}")


def test_no_request_is_made_if_one_of_the_workspaces_is_not_of_the_organization(org, api_site):
    own, foreign = org.workspace("one"), api_site.organization().workspace("foreign")
    refused_at(ask(org, org.organization, body(target_ids=[own, foreign])), "/data/attributes/target_ids")
    assert requests(org, own) == []


def test_a_workspace_has_a_bound_of_open_requests_and_of_archived_ones(org, api_site):
    full, other = org.workspace("full"), org.workspace("other")
    api_site.change("insert into change_requests (id, workspace_id, subject, message) select 'wscr-' || n || %s, %s, n::text, 'm' from generate_series(1, 100) n", full, full)
    answer = ask(org, org.organization, body(target_ids=[other, full]))
    assert answer.status == 422 and "Workspace full has 100 open change requests" in answer.text and requests(org, other) == []
    api_site.change("update change_requests set archived_at = now() - n * interval '1 minute' from generate_series(1, 100) n where workspace_id = %s and subject = n::text", full)
    api_site.change("insert into change_requests (id, workspace_id, subject, message, archived_at) select 'wscr-' || n || %s, %s, n::text, 'm', now() - n * interval '1 minute' "
                    "from generate_series(101, 500) n", full, full)
    request(org, full)
    org.post(f"workspaces/change-requests/{requests(org, full)[0]['id']}")
    assert org.get(f"workspaces/{full}/change-requests").json["meta"]["pagination"]["total-count"] == 500
    assert api_site.ask("select subject from change_requests where workspace_id = %s and subject = '500'", full) == []


def test_who_may_create_read_and_archive(org, people):
    workspace, hidden = org.workspace("one"), org.workspace("hidden")

    def member(name, access=None, **organization_access):
        team = people.team(f"of-{name}", **organization_access)
        if access:
            people.give(team, "workspace", workspace, access)
        return people.member(name, team)

    made = request(org, workspace, hidden)
    assert made["attributes"]["created_by"]["id"]
    reader, writer, admin, stranger = member("reader", "read"), member("writer", "write"), member("admin-of-one", "admin"), member("stranger")
    for manager in (member("of-workspaces", **{"manage-workspaces": True}), member("of-projects", **{"manage-projects": True})):
        request(org, workspace, client=manager)
    for refused_one in (reader, writer, admin, stranger, member("viewer", **{"read-workspaces": True})):
        assert ask(refused_one, org.organization, body(target_ids=[workspace])).status == 404
    may = lambda client: client.attributes(f"organizations/{org.organization}")["permissions"]["can-create-change-requests"]
    assert may(org) and not may(admin)
    ids = [item["id"] for item in requests(org, workspace)]
    assert len(requests(reader, workspace)) == 3 and reader.get(f"change-requests/{ids[0]}").data["id"] == ids[0]
    for client in (stranger, reader):
        assert client.call("POST", f"workspaces/change-requests/{ids[0]}", b"").status == 404
    assert stranger.call("GET", f"workspaces/{workspace}/change-requests").status == 404 and stranger.call("GET", f"change-requests/{ids[0]}").status == 404
    assert writer.call("GET", f"change-requests/{only(org, hidden)}").status == 404
    assert writer.post(f"workspaces/change-requests/{ids[0]}").data["attributes"]["archived-at"]


def test_the_audit_trail_and_the_stream_have_each_request(org, api_site):
    workspace = org.workspace("one")
    stream = EventStream(org.url, [f"workspace:{workspace}"], org.token)
    request(org, workspace)
    made = only(org, workspace)
    org.post(f"workspaces/change-requests/{made}")
    trail = lambda: [(event[0], event[1]) for event in api_site.ask(
        "select action, resource_type from audit_events where resource_id = %s order by position", made)]
    assert trail() == [("create", "workspace_change_request"), ("archive", "workspace_change_request")]
    assert api_site.ask("select count(*) from audit_events where resource_type = 'explorer_bulk_action' and action = 'create'")[0][0] >= 1
    changed = lambda: [event.data["action"] for event in stream.of("workspace") if event.data.get("changed") == "workspace_change_request"]
    until(lambda: changed() == ["create", "archive"], lambda: f"both events: {changed()}")
    stream.close()


def test_an_action_by_a_query_is_one_event_and_a_refused_one_none(org, api_site):
    org.workspace("one")
    events = lambda: api_site.ask("select action, resource_type from audit_events e join organizations o on o.id = e.organization_id where o.name = %s order by position", org.organization)
    before = events()
    query = lambda name: body(query={"type": "workspaces", "filter": [{"workspace_name": {"is": [name]}}]})
    assert ask(org, org.organization, query("nothing")).status == 422 and events() == before
    assert ask(org, org.organization, query("one")).status == 201
    assert sorted(events()[len(before):]) == [("create", "explorer_bulk_action"), ("create", "workspace_change_request")]


def test_a_deleted_workspace_takes_its_requests_with_it(org, api_site):
    workspace = org.workspace("one")
    request(org, workspace)
    org.delete(f"workspaces/{workspace}")
    assert api_site.ask("select 1 from change_requests where workspace_id = %s", workspace) == []


# ---- notifications ----


@pytest.fixture
def notifier(api_site, redis, mail_server):
    notifier = Notifier("notifier", api_site.folder, smtp_url=mail_server.url, smtp_from="runyard@example.com", smtp_tls="none", notifier_token=api_site.tokens["notifier-token"], scheduler_url=api_site.scheduler.url, redis_url=redis.url,
                        name="notifier", allow="127.0.0.1", **api_site.bus.options).start()
    yield notifier
    notifier.release()


def subscribe(org, api_site, owner, url, *triggers, kind="generic", **attributes):
    attributes = {"name": "a hook", "enabled": False, "destination-type": kind, "triggers": list(triggers), **({"url": url} if url else {}), **attributes}
    id = org.post(f"{owner}/notification-configurations", {"data": {"type": "notification-configurations", "attributes": attributes}}).data["id"]
    api_site.change("update notification_configurations set enabled = true where id = %s", id)
    return id


def test_teams_with_access_to_a_workspace_are_notified(org, api_site, people, hooks, notifier):
    workspace, other = org.workspace("one"), org.workspace("two")
    project = org.get(f"workspaces/{workspace}").data["relationships"]["project"]["data"]["id"]
    teams = {name: people.team(name) for name in ("direct", "by-project", "without", "silent")}
    people.give(teams["direct"], "workspace", workspace, "read")
    people.give(teams["by-project"], "project", project, "read")
    people.give(teams["silent"], "workspace", workspace, "admin")
    calls = {name: hooks.hook() for name in (*teams, "workspace")}
    for name, trigger in (("direct", "team:change_request"), ("by-project", "change_request:created"), ("without", "change_request:created"), ("silent", "run:created")):
        subscribe(org, api_site, f"teams/{teams[name]}", calls[name].url, trigger)
    subscribe(org, api_site, f"workspaces/{workspace}", calls["workspace"].url, "change_request:created")
    request(org, workspace, other)
    bodies = lambda name: [json.loads(call.body) for call in calls[name].calls]
    until(lambda: len(bodies("direct")) == 1 and len(bodies("by-project")) == 2 and len(bodies("workspace")) == 1, lambda: {name: bodies(name) for name in calls})
    until(lambda: api_site.ask("select count(*) from notifications") == [(0,)], "no notification is pending")
    assert bodies("without") == [] and bodies("silent") == []
    (direct,) = bodies("direct")
    made = org.get(f"change-requests/{only(org, workspace)}").data
    assert direct.pop("notification_configuration_id").startswith("nc-")
    assert direct == {
        "payload_version": 1, "trigger": "team:change_request",
        "change_request_url": f"{api_site.scheduler.url}/app/{org.organization}/workspaces/one/change-requests/{made['id']}", "change_request_subject": SUBJECT,
        "change_request_message": MESSAGE, "change_request_created_at": made["attributes"]["created-at"], "change_request_created_by": "admin", "workspace_id": workspace,
        "workspace_name": "one", "organization_name": org.organization}
    assert {item["workspace_name"] for item in bodies("by-project")} == {"one", "two"} and bodies("workspace")[0]["trigger"] == "change_request:created"


def test_chats_and_mails_name_the_request(org, api_site, hooks, mail_server, notifier):
    workspace = org.workspace("one")
    slack, chat = hooks.hook(), hooks.hook()
    subscribe(org, api_site, f"workspaces/{workspace}", slack.url, "change_request:created", kind="slack")
    subscribe(org, api_site, f"workspaces/{workspace}", chat.url, "change_request:created", kind="microsoft-teams")
    subscribe(org, api_site, f"workspaces/{workspace}", None, "change_request:created", kind="email", **{"email-addresses": ["ops@example.org"]})
    request(org, workspace, subject="<b>Pin</b>")
    mail = mail_server.got()
    assert mail.subject == f"{org.organization}/one: Change Request Created: <b>Pin</b>" and MESSAGE.split("\n")[0] in mail.text and "/change-requests/wscr-" in mail.text
    until(lambda: slack.calls and chat.calls, "both arrive")
    (attachment,) = json.loads(slack.calls[0].body)["attachments"]
    assert attachment["title"] == "Change Request Created: &lt;b&gt;Pin&lt;/b&gt;" and "/change-requests/wscr-" in attachment["title_link"]
    assert {"title": "Created by", "value": "admin", "short": True} in attachment["fields"]
    assert '"title": "View change request"' in json.dumps(json.loads(chat.calls[0].body))
