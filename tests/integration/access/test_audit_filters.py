# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Filters of the audit trail, and how an organization's events are kept."""

import pytest

from support.documents import refused, refused_at


def trail(org, **query):
    query = {"since": query.pop("since", None), "until": query.pop("until", None), **{f"filter[{name.replace('_', '-')}]": value for name, value in query.items()}}
    document = org.get(f"organizations/{org.organization}/audit-trail", **{name: value for name, value in query.items() if value}).json
    return [(event["resource"]["type"], event["resource"]["action"], event["resource"]["id"]) for event in document["data"]]


@pytest.fixture
def made(org):
    """Two workspaces, one of which was locked and unlocked."""
    ids = [org.workspace(name) for name in ("one", "two")]
    org.post(f"workspaces/{ids[0]}/actions/lock", {})
    org.post(f"workspaces/{ids[0]}/actions/unlock")
    return ids


def test_events_are_filtered(org, made, api_site):
    one, two = made
    assert trail(org, resource=one) == [("workspace", "unlock", one), ("workspace", "lock", one), ("workspace", "create", one)]
    assert trail(org, action="create") == [("workspace", "create", two), ("workspace", "create", one)]
    assert trail(org, resource_type="workspace", action="lock") == [("workspace", "lock", one)]
    assert trail(org, resource_type="run") == []
    me = org.get("account/details").data
    assert len(trail(org, actor=me["id"])) == len(trail(org, actor=me["attributes"]["username"].upper())) == 4
    assert trail(org, actor="nobody") == [] and trail(org, actor="user-AAAAAAAAAAAAAAAA") == []
    base = f"organizations/{org.organization}/audit-trail"
    ((middle,),) = api_site.ask("select to_char(at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') from audit_events where resource_id = %s and action = 'lock'", one)
    assert trail(org, until=middle) == [("workspace", "lock", one), ("workspace", "create", two), ("workspace", "create", one)]
    assert trail(org, since=middle, until="2100-01-01T00:00:00Z") == [("workspace", "unlock", one)]
    refused(400, org.get, base, until="yesterday")


def test_filtered_events_come_in_pages(org, made):
    base = f"organizations/{org.organization}/audit-trail"
    first = org.get(base, **{"filter[resource-type]": "workspace", "page[size]": 3}).json
    assert len(first["data"]) == 3 and first["pagination"] == {"current_page": 1, "prev_page": None, "next_page": 2, "total_pages": None, "total_count": None}
    last = org.get(base, **{"filter[resource-type]": "workspace", "page[size]": 3, "page[number]": 2}).json
    assert len(last["data"]) == 1 and last["pagination"]["next_page"] is None and last["pagination"]["prev_page"] == 1


def test_filters_reach_no_other_organization(org, made, api_site):
    stranger = api_site.stranger()
    assert trail(stranger, resource=made[0]) == []
    me = org.get("account/details").data["id"]
    assert trail(stranger, actor=me) == []


def test_the_whole_sites_events_are_filtered(org, made):
    events = org.get("admin/audit-trail", **{"filter[resource]": made[1]}).json["data"]
    assert [event["resource"]["action"] for event in events] == ["create"]


def test_the_trail_is_always_on(org):
    path = f"organizations/{org.organization}/audit-configuration"
    item = org.get(path).data
    assert item["attributes"]["audit-trails"] == {"enabled": True} and item["attributes"]["hcp-audit-log-streaming"]["enabled"] is False
    for attributes, at in (({"audit-trails": {"enabled": False}}, "audit-trails"), ({"hcp-audit-log-streaming": {"enabled": True}}, "hcp-audit-log-streaming")):
        refused_at(org.call("PATCH", path, {"data": {"type": "audit-configurations", "attributes": attributes}}), f"/data/attributes/{at}/enabled")
    answer = org.post(f"{path}/test")
    assert answer.status == 201
    (event,) = [event for event in org.get(f"organizations/{org.organization}/audit-trail").json["data"] if event["request"]["id"] == answer.json["request-id"]]
    assert event["resource"]["type"] == "audit_configuration"
    assert org.get(path).data["attributes"]["timestamps"]["audit-trails-last-success"]
