# SPDX-License-Identifier: MPL-2.0
"""What is asked of a provider while a client waits: credentials, repositories, branches; and what notifiers ask later."""

import json
import secrets
import threading

import pytest

from support.at_once import at_once
from support.vcs_connections import create_client
from support.vcs_fakes import FAKES, Azure, BitbucketServer, GitHub, GitLab
from support.wait import until


@pytest.fixture
def connected(watch):
    """A repository with two branches, whose connection was tried."""
    watched = watch(GitHub)
    watched.repository.copy.git("push", "--quiet", "origin", "HEAD:refs/heads/release/1.0")
    return watched


def client_of(fake, **changes):
    return {"service-provider": fake.dialect, "http-url": fake.url, "api-url": fake.api_url, "oauth-token-string": "good-token", **changes}


def repository_of(watched, workspace, **attributes):
    repository = {"identifier": watched.identifier, "oauth-token-id": watched.token, **{name.replace("_", "-"): value for name, value in attributes.items()}}
    return watched.org.call("PATCH", f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"vcs-repo": repository}}})


def refused(answer, pointer):
    assert answer.status == 422, answer.text
    (error,) = answer.json["errors"]
    assert error["source"]["pointer"] == pointer, error
    return error["detail"]


def token_state(api_site, connection):
    return api_site.ask("select state, user_name from vcs_tokens where connection_id = %s", connection)[0]


@pytest.mark.parametrize("kind", [kind for kind in FAKES if kind is not Azure])
def test_credentials_are_tried_when_they_are_set(api_site, org, provider, kind):
    fake = provider(kind)
    assert "refused by the provider" in refused(create_client(org, client_of(fake), oauth_token_string="bad-token"), "/data/attributes/oauth-token-string")
    assert api_site.ask("select count(*) from vcs_connections where api_url = %s", fake.api_url) == [(0,)]
    made = create_client(org, client_of(fake))
    assert made.status == 201, made.text
    state, user = token_state(api_site, made.data["id"])
    assert state == "verified" and (user or kind is BitbucketServer)
    change = {"data": {"type": "oauth-clients", "attributes": {"oauth-token-string": "bad-token"}}}
    refused(org.call("PATCH", f"oauth-clients/{made.data['id']}", change), "/data/attributes/oauth-token-string")
    assert token_state(api_site, made.data["id"])[0] == "verified"


def test_a_provider_that_does_not_answer_leaves_the_credential_unverified(api_site, org, provider, notifier):
    fake = provider(GitLab)
    fake.fault("GET", "/user", "hang up", 500, 500)
    made = create_client(org, client_of(fake))
    assert made.status == 201, made.text
    assert token_state(api_site, made.data["id"]) == ("unverified", None)
    notifier()
    until(lambda: token_state(api_site, made.data["id"]) == ("verified", "robot"), "a notifier has tried it again")


def test_a_repository_that_is_not_there_is_refused(connected):
    workspace = connected.org.workspace("one")
    assert "does not find it" in refused(repository_of(connected, workspace, identifier="acme/other"), "/data/attributes/vcs-repo/identifier")
    refused(repository_of(connected, workspace, branch="no/such"), "/data/attributes/vcs-repo/branch")
    assert repository_of(connected, workspace, branch="release/1.0").status == 200
    calls = len(connected.fake.calls("GET", "/repos/"))
    assert repository_of(connected, workspace, branch="release/1.0").status == 200
    assert len(connected.fake.calls("GET", "/repos/")) == calls, "the same again calls nobody"


def test_a_workspace_is_not_created_with_a_repository_that_is_not_there(connected):
    attributes = {"name": "one", "vcs-repo": {"identifier": "acme/other", "oauth-token-id": connected.token}}
    answer = connected.org.call("POST", f"organizations/{connected.org.organization}/workspaces", {"data": {"type": "workspaces", "attributes": attributes}})
    refused(answer, "/data/attributes/vcs-repo/identifier")
    assert connected.org.call("GET", f"organizations/{connected.org.organization}/workspaces/one").status == 404


def test_nobody_is_asked_for_those_without_the_permission(connected, api_site):
    stranger = api_site.stranger()
    workspace = connected.org.workspace("one")
    repository = {"identifier": "acme/other", "oauth-token-id": connected.token}
    before = len(connected.fake.requests)
    answer = stranger.call("PATCH", f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"vcs-repo": repository}}})
    assert answer.status == 404
    assert len(connected.fake.requests) == before


def test_an_unreachable_provider_refuses_no_repository(connected):
    workspace = connected.org.workspace("one")
    connected.fake.fault("GET", "/repos/", "hang up")
    assert repository_of(connected, workspace).status == 200


def policy_set(watched, name):
    repository = {"identifier": watched.identifier, "oauth-token-id": watched.token}
    document = {"data": {"type": "policy-sets", "attributes": {"name": name, "kind": "opa", "vcs-repo": repository}}}
    return watched.org.post(f"organizations/{watched.org.organization}/policy-sets", document).data


def the_answer_has_a_version(watched, head):
    """Creates a policy set while git jobs wait."""
    first = policy_set(watched, "first")
    version = watched.org.get(f"policy-set-versions/{first['relationships']['newest-version']['data']['id']}").data["attributes"]
    assert version["status"] == "ingressing" and first["attributes"]["versioned"]
    attributes = version["ingress-attributes"]
    assert attributes["commit-sha"] == head and attributes["identifier"] == watched.identifier
    assert attributes["commit-url"].startswith(watched.fake.url) and attributes["commit-url"].endswith(head)
    return first


def looks_keep_the_version_until_the_head_is_newer(watched, twin, head, first):
    ask, org = watched.api_site.ask, watched.org

    def shas(made):
        return [sha for (sha,) in ask("select k.sha from policy_set_versions v join policy_set_version_commits k on k.policy_set_version_id = v.id "
                                      "where v.policy_set_id = %s order by v.created_at", made["id"])]

    def decided():
        events = ask("select state, message from vcs_events where organization_id = (select organization_id from policy_sets where id = %s)", first["id"])
        return events and {state for state, _ in events} == {"done"} and [message for _, message in events]

    assert until(decided, "the look was taken") == ["1 of 1 workspaces and policy sets use the commit."]
    until(lambda: org.get(f"policy-sets/{first['id']}").data["relationships"]["current-version"]["data"], "the version is ready")
    assert shas(first) == [head]
    newer = secrets.token_hex(20)
    twin.refs, twin.commits[newer] = {"refs/heads/main": newer}, (head, {"main.tf": "# newer"}, "Second")
    second = policy_set(watched, "second")
    until(lambda: shas(second) == [head, newer] and shas(first) == [head, newer], lambda: f"both have the newer head: {shas(first)}, {shas(second)}")


def test_a_policy_set_has_a_version_at_once(watch, git):
    """The answer has it. The look that follows keeps it, or makes one of a newer head."""
    made = []
    git.hold("look", "fetch")
    for kind in FAKES:
        watched = watch(kind, f"{FAKES[kind]}-{kind.__name__.lower()}")
        head, twin = watched.repository.sha("main"), git.repository(watched.identifier)
        twin.refs, twin.commits = {"refs/heads/main": head}, {head: ("", {"main.tf": ""}, "First")}
        made.append((watched, twin, head, the_answer_has_a_version(watched, head)))
    git.release("look", "fetch")
    at_once(lambda each: looks_keep_the_version_until_the_head_is_newer(*each), made)


def connections_to(fake):
    """The number of open connections from this machine to the fake."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split()[2:4] for line in table.readlines()[1:]]
    return sum(1 for address, state in rows if state == "01" and int(address.split(":")[1], 16) == fake.server.server_port)


def test_lookups_never_hold_the_threads_of_other_requests(connected, api_site):
    """Nor do those whose body has the name of the member with an escape. There are 8 threads, and 4 for lookups."""
    fake, go_on = connected.fake, threading.Event()
    whole = fake.answer

    def answer(request):
        go_on.wait()
        return whole(request)

    workspace = connected.org.workspace("one")
    document = {"data": {"type": "workspaces", "attributes": {"vcs-repo": {"identifier": connected.identifier, "oauth-token-id": connected.token}}}}
    body = json.dumps(document).replace("vcs-repo", "vcs\\u002drepo").encode()
    clients = [threading.Thread(target=connected.org.call, args=("PATCH", f"workspaces/{workspace}", body)) for _ in range(12)]
    fake.answer = answer
    for client in clients:
        client.start()
    try:
        until(lambda: connections_to(fake) >= 4, lambda: f"requests wait for the provider: {connections_to(fake)}")
        for _ in range(12):
            assert connected.org.call("GET", f"workspaces/{workspace}", timeout=3).status == 200
    finally:
        go_on.set()
        for client in clients:
            client.join()
    assert connected.org.get(f"workspaces/{workspace}").data["attributes"]["vcs-repo"]["identifier"] == connected.identifier


def notifiers_read_what_a_repository_is(watched):
    watched.workspace("one")

    def known():
        return watched.api_site.ask("select state, default_branch, external_id is not null from vcs_repositories where id = %s", watched.id)

    until(lambda: known() == [("verified", "main", True)], lambda: f"the repository is known: {known()}")
    watched.quiet()
    if isinstance(watched.fake, BitbucketServer):
        assert watched.fake.calls("GET", "/default-branch")


def test_notifiers_read_what_a_repository_is(watch, notifier):
    notifier()
    at_once(lambda kind: notifiers_read_what_a_repository_is(watch(kind)), FAKES)


def test_the_repositories_that_a_token_sees_can_be_searched(connected, api_site):
    for number in range(120):
        connected.fake.repository(f"acme/service-{number}")

    def found(search=""):
        return [item["attributes"]["identifier"] for item in connected.org.get(f"oauth-tokens/{connected.token}/repositories?page[size]=100&search[name]={search}").data]

    assert len(found()) == 100
    assert found("SERVICE-119") == ["acme/service-119"]
    assert found("no-such") == []
    assert api_site.stranger().call("GET", f"oauth-tokens/{connected.token}/repositories").status == 404
    connected.fake.tokens.clear()
    assert connected.org.call("GET", f"oauth-tokens/{connected.token}/repositories").status == 422
