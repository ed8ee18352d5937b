# SPDX-License-Identifier: MPL-2.0
"""Notification configurations: stored attributes, refused values, and the verification of their destinations."""

import concurrent.futures
import hashlib
import hmac
import json
import socket

import pytest

from support.api import Api
from support.hooks import Hooks
from support.people import People


@pytest.fixture
def workspace(org):
    return org.workspace("network")


def document(relations=None, **attributes):
    data = {"type": "notification-configurations", "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}
    if relations:
        data["relationships"] = relations
    return {"data": data}


def people(*ids):
    return {"users": {"data": [{"type": "users", "id": id} for id in ids]}}


def get(org, path):
    return org.call("GET", path)


def post(org, path, body=None):
    return org.call("POST", path, body if body is not None else b"")


def patch(org, path, body):
    return org.call("PATCH", path, body)


def delete(org, path):
    return org.call("DELETE", path)


def configuration(**changes):
    attributes = {"destination_type": "generic", "enabled": False, "name": "a hook", "url": "http://example.com/hook", "triggers": ["run:created"]}
    return document(changes.pop("relations", None), **{**attributes, **changes})


def create(org, workspace, **changes):
    return post(org, f"workspaces/{workspace}/notification-configurations", configuration(**changes))


def must_create(org, workspace, **changes):
    answer = create(org, workspace, **changes)
    assert answer.status == 201, answer.text
    return answer.data


# ---- stored attributes ----


def test_a_configuration_reads_back_and_is_listed_as_created(org, workspace):
    created = must_create(org, workspace, token="a token", triggers=["run:errored", "run:created", "run:errored"])
    assert created["attributes"] | {"created-at": 0, "updated-at": 0} == {
        "name": "a hook", "enabled": False, "destination-type": "generic", "url": "http://example.com/hook", "token": None,
        "triggers": ["run:errored", "run:created"], "email-addresses": [], "external-email-addresses": [], "delivery-responses": [], "created-at": 0, "updated-at": 0}
    related = {"related": f"/api/v2/workspaces/{workspace}"}
    assert created["relationships"] == {"subscribable": {"data": {"type": "workspaces", "id": workspace}, "links": related}, "users": {"data": []}}
    assert get(org, f"notification-configurations/{created['id']}").data == created
    listed = get(org, f"workspaces/{workspace}/notification-configurations")
    assert listed.data == [created]
    assert "meta" not in listed.json


def test_lists_are_paged_on_request(org, workspace):
    ids = [must_create(org, workspace, name=f"hook {number}")["id"] for number in range(3)]
    path = f"workspaces/{workspace}/notification-configurations"
    assert [item["id"] for item in get(org, path).data] == ids
    second = get(org, f"{path}?page[number]=2&page[size]=2")
    assert [item["id"] for item in second.data] == ids[2:]
    assert second.json["meta"]["pagination"]["total-count"] == 3
    empty = get(org, f"{path}?page[number]=999")
    assert (empty.data, empty.json["meta"]["pagination"]["current-page"]) == ([], 999)


def test_projects_have_notification_configurations(org):
    project = post(org, f"organizations/{org.organization}/projects", {"data": {"type": "projects", "attributes": {"name": "platform"}}}).data["id"]
    created = post(org, f"projects/{project}/notification-configurations", configuration()).data
    assert created["relationships"]["subscribable"]["data"] == {"type": "projects", "id": project}
    assert get(org, f"projects/{project}/notification-configurations").data == [created]
    assert get(org, f"notification-configurations/{created['id']}").data == created


def test_teams_have_notification_configurations(org):
    team = post(org, f"organizations/{org.organization}/teams", {"data": {"type": "teams", "attributes": {"name": "operators"}}}).data["id"]
    created = post(org, f"teams/{team}/notification-configurations", configuration(triggers=["change_request:created"])).data
    assert created["relationships"]["subscribable"]["data"] == {"type": "teams", "id": team}
    assert get(org, f"teams/{team}/notification-configurations").data == [created]
    assert patch(org, f"notification-configurations/{created['id']}", document(name="other")).status == 200


def test_the_singular_type_is_accepted(org, workspace):
    body = configuration()
    body["data"]["type"] = "notification-configuration"
    assert post(org, f"workspaces/{workspace}/notification-configurations", body).status == 201


def test_a_configuration_is_changed_and_deleted(org, workspace):
    created = must_create(org, workspace)
    path = f"notification-configurations/{created['id']}"
    changed = patch(org, path, document(name="another", triggers=[]))
    assert (changed.status, changed.data["attributes"]["name"], changed.data["attributes"]["triggers"]) == (200, "another", [])
    assert changed.data["attributes"]["url"] == "http://example.com/hook"
    assert get(org, path).data == changed.data
    assert delete(org, path).status == 204
    assert [get(org, path).status, patch(org, path, document()).status, delete(org, path).status] == [404] * 3


def test_unknown_configurations_and_subscribables_are_not_found(org):
    assert get(org, "notification-configurations/nonexisting").status == 404
    assert get(org, "workspaces/nonexisting/notification-configurations").status == 404
    assert post(org, "projects/nonexisting/notification-configurations", configuration()).status == 404
    assert post(org, "notification-configurations/nonexisting/actions/verify").status == 404


def test_configurations_are_deleted_with_their_workspace(org, workspace, api_site):
    created = must_create(org, workspace)
    assert delete(org, f"workspaces/{workspace}").status == 204
    assert get(org, f"notification-configurations/{created['id']}").status == 404
    assert api_site.ask("select count(*) from notification_configurations where id = %s", created["id"]) == [(0,)]


def test_the_token_is_stored_encrypted(org, workspace, api_site):
    created = must_create(org, workspace, token="a very secret token")
    ((sealed,),) = api_site.ask("select token_sealed from notification_configurations where id = %s", created["id"])
    assert sealed and b"secret" not in bytes(sealed)
    patch(org, f"notification-configurations/{created['id']}", document(name="other"))
    assert api_site.ask("select token_sealed is not null from notification_configurations where id = %s", created["id"]) == [(True,)]
    patch(org, f"notification-configurations/{created['id']}", document(token=None))
    assert api_site.ask("select token_sealed is not null from notification_configurations where id = %s", created["id"]) == [(False,)]


SECRET_URL = "http://example.com/services/T00/B00/a-secret-of-a-chat"


def dump(api_site):
    """The rows, as text, of every table with notifications or their deliveries."""
    tables = ("notification_configurations", "notification_responses", "notifications", "audit_events", "outbox", "dead_letters")
    return "".join(row for table in tables for (row,) in api_site.ask(f"select t::text from {table} t"))


@pytest.mark.parametrize("kind", ["generic", "slack", "microsoft-teams"])
def test_the_url_is_stored_encrypted(org, workspace, api_site, hooks, kind):
    created = must_create(org, workspace, url=SECRET_URL, destination_type=kind)
    path = f"notification-configurations/{created['id']}"
    assert created["attributes"]["url"] == get(org, path).data["attributes"]["url"] == SECRET_URL
    patch(org, path, document(name="other"))
    assert get(org, path).data["attributes"]["url"] == SECRET_URL
    hook = hooks.hook()
    assert patch(org, path, document(url=hook.url, enabled=True)).status == 200
    assert post(org, f"{path}/actions/verify").status == 200
    shown = get(org, path).data["attributes"]
    assert [shown["url"], *(response["url"] for response in shown["delivery-responses"])] == [hook.url] * 3
    assert all("url-sealed" not in response for response in shown["delivery-responses"])
    stored_text = dump(api_site)
    assert SECRET_URL not in stored_text and hook.url not in stored_text and "a-secret-of-a-chat" not in stored_text
    assert b"a-secret-of-a-chat" not in b"".join(bytes(sealed) for (sealed,) in api_site.ask("select url_sealed from notification_configurations where url_sealed is not null"))
    assert "a-secret-of-a-chat" not in json.dumps(api_site.scheduler.log_lines())


def test_only_workspace_managers_read_the_url(org, workspace, api_site):
    created, members = must_create(org, workspace, url=SECRET_URL), People(org, api_site.database)
    team = members.team("readers")
    reader = members.member(f"reader-{created['id'][3:9]}", team)
    members.give(team, "workspace", workspace, "write")
    for path in (f"notification-configurations/{created['id']}", f"workspaces/{workspace}/notification-configurations"):
        answer = get(reader, path)
        assert answer.status == 404 and "a-secret" not in answer.text
    assert "a-secret" not in get(org, f"organizations/{org.organization}/audit-trail").text


# ---- refused values ----


@pytest.mark.parametrize("changes, pointer", [
    ({"name": None}, "name"), ({"name": "  "}, "name"), ({"name": "x" * 256}, "name"), ({"name": "two\nlines"}, "name"), ({"name": 3}, "name"),
    ({"destination_type": None}, "destination-type"), ({"destination_type": "pigeon"}, "destination-type"), ({"destination_type": ["slack"]}, "destination-type"),
    ({"url": None}, "url"), ({"url": ""}, "url"), ({"url": "ftp://example.com"}, "url"), ({"url": "http://a b"}, "url"), ({"url": "http://" + "x" * 600}, "url"),
    ({"url": {}}, "url"), ({"destination_type": "slack", "url": None}, "url"), ({"destination_type": "microsoft-teams", "url": None}, "url"),
    ({"destination_type": "email"}, "url"),
    ({"enabled": "yes"}, "enabled"), ({"token": 7}, "token"), ({"token": "x" * 1001}, "token"),
    ({"triggers": "run:created"}, "triggers"), ({"triggers": ["the beacons of gondor are lit"]}, "triggers"), ({"triggers": [1]}, "triggers"),
    ({"email_addresses": ["a@example.com"]}, "email-addresses"),
    ({"destination_type": "email", "url": None, "email_addresses": ["nobody"]}, "email-addresses"),
    ({"destination_type": "email", "url": None, "email_addresses": ["a@b\r\nBcc: c@d"]}, "email-addresses"),
    ({"destination_type": "email", "url": None, "email_addresses": ["a@b,c@d"]}, "email-addresses"),
    ({"destination_type": "email", "url": None, "email_addresses": [f"a{n}@example.com" for n in range(101)]}, "email-addresses"),
])
def test_invalid_attributes_are_refused_with_a_pointer(org, workspace, changes, pointer):
    answer = create(org, workspace, **changes)
    assert (answer.status, answer.json["errors"][0]["source"]["pointer"]) == (422, f"/data/attributes/{pointer}"), answer.text
    assert get(org, f"workspaces/{workspace}/notification-configurations").data == []


def test_invalid_documents_are_refused(org, workspace):
    path = f"workspaces/{workspace}/notification-configurations"
    for body, status in ((None, 400), ({}, 400), ({"data": []}, 400), ({"data": {"type": "runs"}}, 422), ({"data": {"type": ""}}, 422)):
        assert post(org, path, body).status == status, body


def test_the_destination_type_cannot_be_changed(org, workspace):
    created = must_create(org, workspace)
    answer = patch(org, f"notification-configurations/{created['id']}", document(destination_type="slack"))
    assert (answer.status, answer.json["errors"][0]["source"]["pointer"]) == (422, "/data/attributes/destination-type")


def test_a_workspace_has_at_most_twenty_configurations(org, workspace):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda number: create(org, workspace, name=f"hook {number}").status, range(24)))
    assert sorted(statuses) == [201] * 20 + [422] * 4
    assert len(get(org, f"workspaces/{workspace}/notification-configurations").data) == 20


# ---- e-mail ----


def test_mail_recipients_are_members_and_addresses(org, workspace, api_site):
    me = get(org, "account/details").data["id"]
    created = must_create(org, workspace, destination_type="email", url=None, email_addresses=["ops@example.com", "ops@example.com"], relations=people(me))
    assert created["attributes"]["url"] is None
    assert created["attributes"]["email-addresses"] == ["ops@example.com"]
    assert created["relationships"]["users"]["data"] == [{"type": "users", "id": me}]
    assert get(org, f"notification-configurations/{created['id']}").data == created
    changed = patch(org, f"notification-configurations/{created['id']}", document(enabled=True))
    assert (changed.status, changed.data["attributes"]["enabled"], changed.data["relationships"]["users"]["data"]) == (200, True, [])
    assert changed.data["attributes"]["email-addresses"] == ["ops@example.com"]


def test_mail_recipients_must_be_members(org, workspace, api_site):
    stranger = api_site.stranger().get("account/details").data["id"]
    for id in (stranger, "user-nonexisting"):
        answer = create(org, workspace, destination_type="email", url=None, relations=people(id))
        assert (answer.status, answer.json["errors"][0]["source"]["pointer"]) == (422, "/data/relationships/users")
    assert get(org, f"workspaces/{workspace}/notification-configurations").data == []
    me = get(org, "account/details").data["id"]
    assert create(org, workspace, relations=people(me)).status == 422
    assert create(org, workspace, destination_type="email", url=None, relations={"users": {"data": [{"type": "teams", "id": me}]}}).status == 422


def test_verifying_a_mail_configuration_queues_a_mail(org, workspace, api_site):
    created = must_create(org, workspace, destination_type="email", url=None, email_addresses=["ops@example.com"])
    assert post(org, f"notification-configurations/{created['id']}/actions/verify").status == 200
    assert api_site.ask("select trigger, run_id from notifications where configuration_id = %s", created["id"]) == [("verification", None)]


# ---- verification ----


def test_enabling_sends_a_test_request(org, workspace, hooks):
    hook = hooks.hook(body=b'{"ok": true}')
    created = must_create(org, workspace, enabled=True, url=hook.url, token="a key")
    (call,) = hook.calls
    assert call.headers["X-TFE-Notification-Signature"] == hmac.new(b"a key", call.body, hashlib.sha512).hexdigest()
    assert call.headers["Content-Type"] == "application/json"
    assert call.headers["User-Agent"].startswith("TFE/1.0 (+")
    assert json.loads(call.body) == {
        "payload_version": 1, "notification_configuration_id": created["id"], "run_url": None, "run_id": None, "run_message": None, "run_created_at": None,
        "run_created_by": None, "workspace_id": None, "workspace_name": None, "organization_name": None,
        "notifications": [{"message": "Verification of a hook", "trigger": "verification", "run_status": None, "run_updated_at": None,
                           "run_updated_by": None}]}
    (response,) = created["attributes"]["delivery-responses"]
    assert (response["url"], response["code"], response["successful"]) == (hook.url, "200", "true")
    assert (response["body"], response["headers"]) == ("", {})  # the allow-list names the address
    assert response["sent-at"].endswith("Z")


def test_without_a_token_the_signature_is_empty(org, workspace, hooks):
    hook = hooks.hook(204)
    must_create(org, workspace, enabled=True, url=hook.url)
    assert hook.calls[0].headers["X-TFE-Notification-Signature"] == ""


@pytest.mark.parametrize("kind", ["slack", "microsoft-teams"])
def test_test_requests_to_chats_have_the_chats_format(org, workspace, hooks, kind):
    hook = hooks.hook()
    must_create(org, workspace, enabled=True, url=hook.url, destination_type=kind)
    body = json.loads(hook.calls[0].body)
    assert body["attachments"]
    assert "Verification of a hook" in json.dumps(body)


@pytest.mark.parametrize("code", [301, 400, 404, 500])
def test_a_configuration_whose_test_request_fails_is_not_saved(org, workspace, hooks, code):
    hook = hooks.hook(code)
    answer = create(org, workspace, enabled=True, url=hook.url)
    assert answer.status == 400
    assert f"it answered {code}" in answer.json["errors"][0]["detail"]
    assert get(org, f"workspaces/{workspace}/notification-configurations").data == []


def test_the_allow_list_permits_only_its_ports(api_site, org, workspace, hooks):
    inside, checker = hooks.hook(body=b"a page of the inside"), Hooks()
    scheduler = api_site.new_scheduler("scheduler-2", task_allow=f"127.0.0.1:{checker.server.server_port},localhost:{checker.server.server_port}").start()
    client = Api(scheduler.url, org.token, org.organization)
    try:
        for url in (inside.url, inside.url.replace("127.0.0.1", "localhost"), inside.url.replace("127.0.0.1", "[::ffff:127.0.0.1]")):
            answer = create(client, workspace, enabled=True, url=url)
            assert answer.status == 400 and "loopback" in answer.text and "inside" not in answer.text
        for host in ("127.0.0.1", "localhost"):
            assert create(client, workspace, enabled=True, url=checker.hook().url.replace("127.0.0.1", host)).status == 201
    finally:
        checker.release()
        scheduler.release()
    assert inside.calls == []


def test_unreachable_and_private_destinations_are_refused(org, workspace):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        for url in (f"http://127.0.0.1:{taken.getsockname()[1]}/", "http://127.0.0.2/", "http://169.254.169.254/latest"):
            answer = create(org, workspace, enabled=True, url=url)
            assert answer.status == 400, answer.text


def test_changes_of_an_enabled_configuration_send_a_test_request(org, workspace, hooks):
    hook = hooks.hook()
    created = must_create(org, workspace, url=hook.url, token="a key")
    path = f"notification-configurations/{created['id']}"
    assert hook.calls == []
    updated = patch(org, path, document(enabled=True)).data
    assert len(updated["attributes"]["delivery-responses"]) == 1
    assert hook.calls[0].headers["X-TFE-Notification-Signature"] == hmac.new(b"a key", hook.calls[0].body, hashlib.sha512).hexdigest()
    hook.code = 500
    assert patch(org, path, document(name="never")).status == 400
    assert get(org, path).data["attributes"]["name"] == "a hook"
    assert patch(org, path, document(enabled=False, name="off")).status == 200
    assert len(hook.calls) == 2


def test_a_change_during_a_test_request_is_not_overwritten(org, workspace):
    path = f"notification-configurations/{must_create(org, workspace, enabled=False)['id']}"
    with socket.create_server(("127.0.0.1", 0)) as slow, concurrent.futures.ThreadPoolExecutor() as pool:
        url = f"http://127.0.0.1:{slow.getsockname()[1]}/"
        pending = pool.submit(patch, org, path, document(url=url, enabled=True))
        connection = slow.accept()[0]
        with connection:
            assert patch(org, path, document(name="changed meanwhile")).status == 200
            connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            assert pending.result().status == 409
    attributes = get(org, path).data["attributes"]
    assert attributes["name"] == "changed meanwhile" and attributes["enabled"] is False and attributes["url"] != url


def test_verifying_stores_the_responses(org, workspace, hooks):
    hook = hooks.hook()
    created = must_create(org, workspace, url=hook.url)
    path = f"notification-configurations/{created['id']}"
    verified = post(org, f"{path}/actions/verify")
    assert verified.status == 200
    assert [response["code"] for response in verified.data["attributes"]["delivery-responses"]] == ["200"]
    hook.code = 503
    assert post(org, f"{path}/actions/verify").status == 400
    first, second = get(org, path).data["attributes"]["delivery-responses"]
    assert (first["code"], first["successful"], second["code"]) == ("503", "false", "200")
    for _ in range(12):
        post(org, f"{path}/actions/verify")
    assert len(get(org, path).data["attributes"]["delivery-responses"]) == 10
