# SPDX-License-Identifier: MPL-2.0
"""The end of a suspended person's access: everything that they could use ends within a second, on each scheduler."""

import time
import uuid

import pytest

from support import scim as idp
from support.api import Api
from support.browser import Browser
from support.event_stream import EventStream
from support.fake_worker import PendingRequest
from support.people import People
from support.scim import operation
from support.shared import api, database, scheduler  # noqa: F401
from support.wait import until


@pytest.fixture(scope="module")
def second(api_site):
    """Another scheduler of the site."""
    with_second = api_site.new_scheduler("replica").start()
    yield with_second
    with_second.release()


@pytest.fixture
def people(api, database):
    return People(api, database)


@pytest.fixture
def person(api_site, api, people):
    """An owner of the organization whom SCIM made, who has a token."""
    scim = idp.enabled(api_site)
    user = scim.user()
    ((account,),) = api_site.ask("select user_id from scim_users where id = %s", user["id"])
    api_site.change("insert into organization_memberships (id, organization_id, user_id) select %s, id, %s from organizations where name = %s", f"ou-{uuid.uuid4().hex[:16]}", account, api.organization)
    api_site.change("insert into team_members (team_id, organization_id, user_id) select id, organization_id, %s from teams where id = %s", account, people.owners())
    client = Api(api.url, people.token(account), api.organization)
    client.user, client.scim, client.resource = account, scim, user
    return client


def suspend_by_scim(api, person):
    person.scim.patch(f"Users/{person.resource['id']}", operation("Replace", "False", "active"))


def suspend_by_put(api, person):
    person.scim.ask("PUT", f"Users/{person.resource['id']}", {**person.resource, "active": False})


def delete_by_scim(api, person):
    person.scim.ask("DELETE", f"Users/{person.resource['id']}", status=204)


def suspend_by_admin(api, person):
    api.post(f"admin/users/{person.user}/actions/suspend")


WAYS = [suspend_by_scim, suspend_by_put, delete_by_scim, suspend_by_admin]


@pytest.mark.parametrize("suspend", WAYS)
def test_everything_ends_within_a_second_in_each_process(api_site, api, person, people, second, suspend):
    worker = api_site.fake_worker(person.pool()[1])
    workspace = person.workspace()
    run = person.run(workspace, person.upload(workspace, {"main.tf": ""}))
    (job,) = [job for job in api_site.fake_worker().claim(100) if job["run"] == run]
    api_site.change("insert into sessions (hash, user_id, address) values (%s, %s, '127.0.0.1')", uuid.uuid4().hex, person.user)
    team_token = person.post(f"teams/{people.owners()}/authentication-tokens", {"data": {"type": "authentication-tokens", "attributes": {"description": "team"}}}).data["attributes"]["token"]
    urls = [api.url, second.url]
    streams = [EventStream(url, f"workspace:{workspace}", person.token).online() for url in urls]
    waiting = PendingRequest(lambda: worker.call("POST", "wait", {"worker": worker.id, "slots": 1}, check=False))
    until(lambda: api_site.scheduler.metric("runyard_waiting_workers") == 1, "the worker waits")
    programs = [Api(url, job["run-token"], api.organization) for url in urls]
    for client in programs:
        assert client.call("GET", f"runs/{run}").status == 200
    before = time.monotonic()
    suspend(api, person)
    assert [Api(url, person.token).call("GET", "account/details").status for url in urls] == [401, 401]
    assert [client.call("GET", f"runs/{run}").status for client in programs] == [401, 401]
    assert worker.call("POST", "claim", {"worker": worker.id, "slots": 1}, check=False).status == 401
    assert waiting.answer().json["jobs"] is False  # its worker must authenticate again
    for stream in streams:
        assert stream.closed.wait(10)
    # A second on an idle machine. Without the message of the suspension, streams end with their next comment: after 15 s.
    assert time.monotonic() - before < 10
    assert api_site.ask("select count(*) from sessions where user_id = %s", person.user) == [(0,)]
    # The team's token and the run stay.
    assert Api(api.url, team_token, api.organization).call("GET", f"organizations/{api.organization}").status == 200
    assert api.attributes(f"runs/{run}")["status"] == "planning" and api.get(f"runs/{run}").data["relationships"]["created-by"]["data"]["id"] == person.user
    events = api_site.ask("select action, resource_type from audit_events where resource_id = %s and action = 'end_access'", person.user)
    assert events == [("end_access", "user")]
    assert api_site.ask("select count(*) from audit_events where action = 'destroy' and resource_type = 'authentication_token' and details->>'reason' = 'user suspended' and position > 0 and organization_id = (select id from organizations where name = %s)", api.organization) == [(1,)]


def test_what_ended_does_not_come_back(api_site, api, person):
    suspend_by_scim(api, person)
    assert person.scim.patch(f"Users/{person.resource['id']}", operation("replace", True, "active"))["active"] is True
    assert person.call("GET", "account/details").status == 401
    assert api_site.ask("select is_suspended from users where id = %s", person.user) == [(False,)]


def test_a_session_of_a_browser_ends(api_site, api):
    name = f"u-{uuid.uuid4().hex[:12]}"
    created = api_site.bootstrap(name, name)
    browser = Browser(api.url, address="10.1.3.3").sign_in(name, created["password"])
    assert "New token" in browser.ask("/app/settings/tokens").text
    api.post(f"admin/users/{api_site.ask('select id from users where username = %s', name)[0][0]}/actions/suspend")
    assert "New token" not in browser.ask("/app/settings/tokens").text
    assert "New token" not in Browser(api.url, address="10.1.3.4").sign_in(name, created["password"]).ask("/app/settings/tokens").text


def test_queued_runs_that_would_be_applied_by_their_right_wait_for_another(api_site, api, person):
    workspace = person.workspace(auto_apply=True)
    configuration = person.upload(workspace, {"main.tf": ""})
    first, queued = person.run(workspace, configuration), person.run(workspace, configuration)
    others = api.workspace(auto_apply=True)
    other = api.run(others, api.upload(others, {"main.tf": ""}))
    suspend_by_scim(api, person)
    worker = api_site.fake_worker()
    for run in (first, other):
        worker.plan(run)
    assert api.attributes(f"runs/{first}")["status"] == "planned" and api.attributes(f"runs/{other}")["status"] == "apply_queued"
    wait = api.attributes(f"runs/{first}/waiting")
    assert wait["code"] == "needs_confirmation" and "was suspended" in wait["text"]
    api.act(first, "apply")
    worker.end(worker.take(first, "apply"))
    worker.plan(queued)
    assert api.attributes(f"runs/{queued}")["status"] == "planned" and api.attributes(f"runs/{queued}")["auto-apply"] is False
    api.act(queued, "discard")
    worker.leave()


def test_the_last_owner_is_suspended_and_stays_the_owner(api_site, person, people, api):
    client = api_site.stranger(f"sole-{uuid.uuid4().hex[:10]}")
    ((owner,),) = api_site.ask("select id from users where username = %s", client.organization)
    api_site.change("insert into scim_users (id, user_id, user_name) values (%s, %s, %s)", scim_id := str(uuid.uuid4()), owner, f"{client.organization}@example.com")
    person.scim.patch(f"Users/{scim_id}", operation("replace", False, "active"), operation("replace", f"{client.organization}@example.com", 'emails[type eq "work"].value'))
    owned = "select count(*) from team_members m join teams t on t.id = m.team_id where t.kind = 'owners' and m.user_id = %s"
    assert api_site.ask(owned, owner) == [(1,)] and client.call("GET", "account/details").status == 401
    assert api_site.ask("select details->>'user' from audit_events where action = 'last_owner_suspended' and resource_id = (select id from organizations where name = %s)", client.organization) == [(owner,)]
    person.scim.ask("DELETE", f"Users/{scim_id}", status=204)
    assert api_site.ask(owned, owner) == [(1,)]
    assert "last owner of an organization was suspended" in api_site.scheduler.process.log()


def test_a_deleted_persons_identity_is_free_for_a_new_account(api_site, api, person):
    provider = api_site.ask("select id from identity_providers limit 1")[0][0]
    api_site.change("insert into identities (issuer, subject, user_id, provider_id) values ('https://idp.example.com', %s, %s, %s)", subject := uuid.uuid4().hex, person.user, provider)
    workspace = person.workspace()
    run = person.run(workspace, person.upload(workspace, {"main.tf": ""}))
    delete_by_scim(api, person)
    ((name, email, suspended),) = api_site.ask("select username, email, is_suspended from users where id = %s", person.user)
    assert "-deleted-" in name and email is None and suspended
    assert api_site.ask("select count(*) from identities where subject = %s", subject) == [(0,)]
    assert api.get(f"runs/{run}").data["relationships"]["created-by"]["data"]["id"] == person.user
    again = person.scim.user(person.resource["userName"])
    assert api_site.ask("select user_id <> %s from scim_users where id = %s", person.user, again["id"]) == [(True,)]
    assert api_site.ask("select count(*) from organization_memberships m join scim_users s on s.user_id = m.user_id where s.id = %s", again["id"]) == [(0,)]


def test_streams_end_while_the_broker_is_away(postgres, tmp_path):
    from support.api_site import open_api_site
    with open_api_site(postgres) as site:
        api = site.organization()
        person = site.stranger()
        user = person.get("account/details").data["id"]
        stream = EventStream(api.url, f"workspace:{person.workspace()}", person.token).online()
        site.bus.process.stop()
        stream.wait("offline")
        api.post(f"admin/users/{user}/actions/suspend")
        assert stream.closed.wait(3.5)


def test_a_suspended_persons_lately_used_token_is_unknown_at_once(api, person, second):
    """A scheduler remembers the rights of a token's last request: never longer than the token is valid."""
    for url in (api.url, second.url) * 3:
        assert Api(url, person.token).call("GET", f"organizations/{person.organization}/workspaces").status == 200
    suspend_by_admin(api, person)
    for url in (api.url, second.url):
        assert Api(url, person.token).call("GET", f"organizations/{person.organization}/workspaces").status == 401
    until(lambda: Api(api.url, person.token).call("GET", "account/details").status == 401, "it stays so")
