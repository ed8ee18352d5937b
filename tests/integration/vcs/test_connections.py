# SPDX-License-Identifier: MPL-2.0
"""OAuth clients and OAuth tokens: what they show, what they refuse, who may use them, and what stays secret."""

import re

import psycopg
import pytest

from support.api import Api
from support.people import People
from support.vcs_connections import DATA_CENTER, GIT, GITEA, client_document, connect, create_client, ssh_key

SECRETS = ["secret-token-of-gitea", "secret-password-of-git"]


@pytest.fixture
def base(org):
    return f"organizations/{org.organization}"


def refused(answer, pointer, detail=None):
    assert answer.status == 422, answer.text
    (error,) = answer.json["errors"]
    assert error["source"]["pointer"] == pointer, error
    if detail:
        assert detail in error["detail"], error
    return True


def patch_client(org, id, relations=None, **attributes):
    return org.call("PATCH", f"oauth-clients/{id}", client_document(relations, **{name.replace("_", "-"): value for name, value in attributes.items()}))


def patch_token(org, id, **attributes):
    return org.call("PATCH", f"oauth-tokens/{id}", {"data": {"type": "oauth-tokens", "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}})


# ---- what is shown ----


def test_a_client_is_shown_listed_and_deleted(org, base, api_site):
    client = create_client(org, name="our Gitea").data
    attributes = client["attributes"]
    callback = re.fullmatch(rf"{re.escape(api_site.scheduler.url)}/auth/([0-9a-f-]{{36}})/callback", attributes["callback-url"])[1]
    assert attributes | {"created-at": 0, "callback-url": 0} == {
        "name": "our Gitea", "service-provider": "gitea", "service-provider-display-name": "Gitea", "http-url": "https://gitea.example.com",
        "api-url": "https://gitea.example.com/api/v1", "key": None, "rsa-public-key": None, "organization-scoped": True, "call-error": None,
        "calls-blocked-until": None, "created-at": 0, "callback-url": 0, "connect-path": f"/auth/{callback}?organization_id=1"}
    relations = client["relationships"]
    (token,) = relations["oauth-tokens"]["data"]
    assert relations["organization"]["data"]["id"] == org.organization
    assert relations["projects"]["data"] == [] and relations["agent-pool"]["data"] is None
    assert org.get(f"oauth-clients/{client['id']}").data == client
    listed = org.get(f"{base}/oauth-clients")
    assert listed.data == [client] and "meta" not in listed.json
    assert org.get(f"oauth-tokens/{token['id']}").data["relationships"]["oauth-client"]["data"]["id"] == client["id"]
    org.delete(f"oauth-clients/{client['id']}")
    assert org.call("GET", f"oauth-clients/{client['id']}").status == 404
    assert org.call("GET", f"oauth-tokens/{token['id']}").status == 404
    assert org.call("DELETE", f"oauth-clients/{client['id']}").status == 404
    assert org.get(f"{base}/oauth-clients").data == []
    assert org.attributes(base)["github-app-connect-path"] is None


def test_lists_give_all_unless_a_page_is_asked_for(org, base):
    clients = [connect(org)[0] for _ in range(25)]
    assert [client["id"] for client in org.get(f"{base}/oauth-clients").data] == clients
    assert len(org.get(f"{base}/oauth-tokens").data) == 25
    page = org.get(f"{base}/oauth-clients", **{"page[size]": 10, "page[number]": 3})
    assert [client["id"] for client in page.data] == clients[20:]
    assert page.json["meta"]["pagination"]["total-count"] == 25
    assert len(org.get(f"oauth-clients/{clients[3]}/oauth-tokens").data) == 1


def test_tokens_and_projects_are_included(org, base):
    project = People(org, None).project("a")
    client, token = connect(org, relations={"projects": [{"type": "projects", "id": project}]})
    for path in (f"oauth-clients/{client}", f"{base}/oauth-clients"):
        included = org.get(path, include="oauth_tokens,projects").json["included"]
        assert {(item["type"], item["id"]) for item in included} == {("oauth-tokens", token), ("projects", project)}
    assert org.call("GET", f"oauth-clients/{client}?include=secrets").status == 400


@pytest.mark.parametrize("provider", ["github", "github_enterprise", "gitlab_hosted", "gitlab_community_edition", "gitlab_enterprise_edition", "bitbucket_hosted",
                                      "bitbucket_data_center", "bitbucket_server", "ado_server", "ado_services", "gitea", "forgejo", "git"])
def test_every_provider_can_be_connected(org, provider):
    client, token = connect(org, service_provider=provider)
    attributes = org.get(f"oauth-clients/{client}").data["attributes"]
    assert attributes["service-provider"] == provider and attributes["service-provider-display-name"]
    shown = org.get(f"oauth-tokens/{token}").data["attributes"]
    assert shown | {"created-at": 0} == {"service-provider-user": None, "has-ssh-key": False, "host-keys": "", "state": "unverified", "error": None, "uid": None, "created-at": 0}


# ---- what is refused ----


@pytest.mark.parametrize("changes, attribute", [
    ({"service_provider": None}, "service-provider"),
    ({"service_provider": "sourcehut"}, "service-provider"),
    ({"service_provider": "github_app"}, "service-provider"),
    ({"http_url": None}, "http-url"),
    ({"http_url": ""}, "http-url"),
    ({"api_url": None}, "api-url"),
    ({"oauth_token_string": None}, "oauth-token-string"),
    ({"oauth_token_string": ""}, "oauth-token-string"),
    ({"oauth_token_string": "two\nlines"}, "oauth-token-string"),
    ({"key": "two\nlines"}, "key"),
    ({"private_key": "x"}, "private-key"),
    ({"name": "n" * 256}, "name"),
    ({"name": "a\nb"}, "name"),
    ({"oauth_token_string": "t" * 70000}, "oauth-token-string"),
    ({"organization_scoped": "yes"}, "organization-scoped"),
    ({"name": 7}, "name"),
])
def test_incomplete_and_wrong_clients_are_refused(org, base, changes, attribute):
    refused(create_client(org, **changes), f"/data/attributes/{attribute}")
    assert org.get(f"{base}/oauth-clients").data == []


@pytest.mark.parametrize("url", [
    "gitea.example.com", "ftp://gitea.example.com", "file:///etc/passwd", "ext::sh -c id", "https://", "https:///path", "https://user:password@gitea.example.com",
    "https://gitea.example.com?x=1", "https://gitea.example.com#x", "https://gitea.example.com/a b", "https://gitea.example.com\r\nX: y", "https://gitea\u202eexample.com",
    "-oProxyCommand=id", "javascript:alert(1)", "https://" + "g" * 2000, "http://[::1", "https://@gitea.example.com", "https://gitea.example.com\\@evil.example",
])
def test_urls_that_hide_or_name_no_host_are_refused(org, url):
    refused(create_client(org, http_url=url), "/data/attributes/http-url")
    refused(create_client(org, api_url=url), "/data/attributes/api-url")


@pytest.mark.parametrize("url, accepted", [("ssh://git@git.example.com", True), ("git://git.example.com:9418", True), ("http://git.example.com", True),
                                           ("ssh://git:password@git.example.com", False), ("ssh://-oProxyCommand=id", False), ("file:///srv/git", False)])
def test_plain_git_has_more_schemes(org, url, accepted):
    answer = create_client(org, GIT, http_url=url)
    assert answer.status == 201 if accepted else refused(answer, "/data/attributes/http-url")
    if accepted:
        assert answer.data["attributes"]["api-url"] == url
        refused(create_client(org, http_url=url.replace("http:", "ssh:")), "/data/attributes/http-url")


def test_urls_lose_their_last_slash_only(org):
    attributes = create_client(org, http_url="https://gitea.example.com/sub/", api_url="https://gitea.example.com/sub/api/v1//").data["attributes"]
    assert (attributes["http-url"], attributes["api-url"]) == ("https://gitea.example.com/sub", "https://gitea.example.com/sub/api/v1")


def test_some_providers_need_no_token(org):
    assert connect(org, DATA_CENTER)[1] is None
    assert connect(org, GIT, oauth_token_string=None, key=None)[1] is not None
    assert connect(org, oauth_token_string=None, key="application", secret="secret")[1] is None
    refused(create_client(org, oauth_token_string=None, key="application"), "/data/attributes/oauth-token-string")
    assert connect(org, service_provider="ado_server", private_key="key")


# ---- changes ----


def test_empty_texts_of_a_change_are_absent(org, api_site):
    client, token = connect(org, name="n", key="k", rsa_public_key="public", secret="s")
    sealed = api_site.ask("select token_sealed, secret_sealed from vcs_tokens t join vcs_connections c on c.id = t.connection_id where c.id = %s", client)
    shown = org.get(f"oauth-clients/{client}").data
    assert patch_client(org, client, name="", key="", rsa_public_key="", secret="", oauth_token_string="").data == shown
    assert patch_client(org, client).data == shown
    assert api_site.ask("select token_sealed, secret_sealed from vcs_tokens t join vcs_connections c on c.id = t.connection_id where c.id = %s", client) == sealed
    changed = patch_client(org, client, name="m", key="l", rsa_public_key="other", organization_scoped=False).data["attributes"]
    assert (changed["name"], changed["key"], changed["rsa-public-key"], changed["organization-scoped"]) == ("m", "l", "other", False)


def test_a_new_token_string_replaces_the_token_and_keeps_its_id(org, api_site):
    client, token = connect(org)
    api_site.change("update vcs_tokens set state = 'refused', error = 'revoked', user_name = 'bot' where id = %s", token)
    patch_client(org, client, oauth_token_string="another")
    assert [item["id"] for item in org.get(f"oauth-clients/{client}/oauth-tokens").data] == [token]
    attributes = org.get(f"oauth-tokens/{token}").data["attributes"]
    assert attributes["state"] == "unverified" and attributes["error"] is None
    late, none = connect(org, DATA_CENTER)
    assert none is None
    patch_client(org, late, oauth_token_string="first")
    assert len(org.get(f"oauth-clients/{late}/oauth-tokens").data) == 1


def test_the_key_of_bitbucket_data_center_must_be_present(org):
    client, _ = connect(org, DATA_CENTER, key="k", secret="s", rsa_public_key="p")
    refused(patch_client(org, client, key=""), "/data/attributes/key", "The Consumer Key for Bitbucket Data Center must be present. Please add a value for `key`.")
    assert patch_client(org, client, key="l").data["attributes"]["key"] == "l"


def test_a_credential_stays_with_its_host(org):
    client, _ = connect(org)
    for name, value in (("http-url", "https://evil.example"), ("api-url", "https://gitea.example.com/api/v1evil"), ("service-provider", "git")):
        refused(patch_client(org, client, **{name: value}), f"/data/attributes/{name}", "can't be changed")
    assert patch_client(org, client, http_url="https://gitea.example.com/", api_url=GITEA["api-url"], service_provider="gitea").status == 200


# ---- the agent pool ----


@pytest.mark.parametrize("relation", ["agent-pool", "fork-agent-pool"])
def test_a_client_has_agent_pools(org, api_site, relation):
    pool, _ = org.pool()
    client, _ = connect(org, relations={relation: {"type": "agent-pools", "id": pool}})
    shown = lambda: org.get(f"oauth-clients/{client}").data["relationships"][relation]["data"]  # noqa: E731
    assert shown()["id"] == pool
    assert patch_client(org, client, name="other").status == 200 and shown()["id"] == pool
    assert org.call("DELETE", f"agent-pools/{pool}").status == 409
    assert patch_client(org, client, relations={relation: None}).status == 200 and shown() is None
    org.delete(f"agent-pools/{pool}")
    strange, _ = api_site.organization().pool()
    for id in (strange, "apool-none", pool):
        answer = create_client(org, relations={relation: {"type": "agent-pools", "id": id}})
        refused(answer, f"/data/relationships/{relation}", "the provided agent pool does not exist or you are not authorized to use it")


def test_code_of_forks_is_not_planned_where_the_credential_is(org):
    pool = {"type": "agent-pools", "id": org.pool()[0]}
    client, _ = connect(org, relations={"fork-agent-pool": pool})
    for answer in (patch_client(org, client, relations={"agent-pool": pool}), create_client(org, relations={"agent-pool": pool, "fork-agent-pool": pool})):
        refused(answer, "/data/relationships/fork-agent-pool", "must differ from the agent pool")


# ---- projects ----


def test_projects_are_added_and_removed(org, api_site):
    people = People(org, api_site.database)
    one, two, strange = people.project("one"), people.project("two"), People(api_site.organization(), None).project("strange")
    client, _ = connect(org, organization_scoped=False, relations={"projects": [{"type": "projects", "id": id} for id in (one, strange)]})
    path = f"oauth-clients/{client}/relationships/projects"
    shown = lambda: {item["id"] for item in org.get(f"oauth-clients/{client}").data["relationships"]["projects"]["data"]}  # noqa: E731
    assert shown() == {one}
    links = lambda *ids: {"data": [{"type": "projects", "id": id} for id in ids]}  # noqa: E731
    assert org.call("POST", path, links(one, two)).status == 204 and shown() == {one, two}
    refused(org.call("POST", path, links(two, strange)), "/data")
    assert org.call("DELETE", path, links(one, strange)).status == 204 and shown() == {two}
    assert org.call("POST", path, {"data": [{"type": "workspaces", "id": two}]}).status == 422
    org.delete(f"projects/{two}")
    assert shown() == set()


# ---- SSH keys ----


@pytest.mark.parametrize("options", [("-t", "ed25519"), ("-t", "rsa", "-b", "1024"), ("-t", "rsa", "-b", "1024", "-m", "PEM"), ("-t", "ecdsa", "-m", "PKCS8")])
def test_a_token_takes_an_ssh_key(org, options):
    _, token = connect(org, GIT)
    key = ssh_key(*options)
    assert patch_token(org, token, ssh_key=key).data["attributes"]["has-ssh-key"] is True
    assert patch_token(org, token, ssh_key="").data["attributes"]["has-ssh-key"] is True
    assert patch_token(org, token).data["attributes"]["has-ssh-key"] is True
    assert patch_token(org, token, ssh_key=None).data["attributes"]["has-ssh-key"] is False


@pytest.mark.parametrize("key", ["random", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n!!\n-----END RSA PRIVATE KEY-----\n",
                                 "-----BEGIN RSA PRIVATE KEY-----\naGVsbG8=\n-----END RSA PRIVATE KEY-----\n", "-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n",
                                 "-----BEGIN OPENSSH PRIVATE KEY-----\naGVsbG8=\n-----END OPENSSH PRIVATE KEY-----\n", "ssh-ed25519 AAAA a@b", 7, "x" * 70000])
def test_other_texts_are_no_ssh_key(org, key):
    _, token = connect(org, GIT)
    answer = patch_token(org, token, ssh_key=key)
    refused(answer, "/data/attributes/ssh-key", "Ssh key is invalid" if isinstance(key, str) else None)
    assert org.get(f"oauth-tokens/{token}").data["attributes"]["has-ssh-key"] is False


def test_keys_with_a_passphrase_are_refused(org, tmp_path):
    _, token = connect(org, GIT)
    for form in ([], ["-m", "PEM"]):
        refused(patch_token(org, token, ssh_key=ssh_key("-t", "rsa", "-b", "1024", "-N", "passphrase", *form)), "/data/attributes/ssh-key", "without a passphrase")


def test_host_keys_are_lines_of_known_hosts(org):
    _, token = connect(org, GIT)
    lines = "# ours\ngit.example.com,[git.example.com]:2222 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0=\n|1|c2FsdA==|aGFzaA== ecdsa-sha2-nistp256 AAAA comment\n"
    assert patch_token(org, token, host_keys=lines).data["attributes"]["host-keys"] == lines
    for bad in ("git.example.com", "git.example.com ssh-ed25519", "git.example.com ssh-ed25519 $(id)", "@cert-authority * ssh-rsa AAAA", "x" * 70000):
        refused(patch_token(org, token, host_keys=bad), "/data/attributes/host-keys")
    assert patch_token(org, token, host_keys=None).data["attributes"]["host-keys"] == ""


# ---- rights and secrets ----


def test_members_read_connections_and_only_vcs_managers_change_them(org, api_site, base):
    people = People(org, api_site.database)
    reader = people.member("vcs-reader", people.team("readers"))
    manager = people.member("vcs-manager", people.team("managers", manage_vcs_settings=True))
    workspaces = people.member("vcs-workspaces", people.team("workspaces", manage_workspaces=True))
    client, token = connect(org)
    document = client_document(name="x")
    reads = [f"{base}/oauth-clients", f"{base}/oauth-tokens", f"oauth-clients/{client}", f"oauth-clients/{client}/oauth-tokens", f"oauth-tokens/{token}"]
    changes = [("PATCH", f"oauth-clients/{client}", document), ("PATCH", f"oauth-tokens/{token}", {"data": {"type": "oauth-tokens", "attributes": {}}}),
               ("POST", f"oauth-clients/{client}/relationships/projects", {"data": []}), ("DELETE", f"oauth-clients/{client}/relationships/projects", {"data": []}),
               ("POST", f"{base}/oauth-clients", client_document(**GITEA)), ("DELETE", f"oauth-tokens/{token}", None), ("DELETE", f"oauth-clients/{client}", None)]
    strangers = [api_site.stranger(), Api(org.url, "no-token", org.organization)]
    for path in reads:
        assert [who.call("GET", path).status for who in (reader, manager, workspaces)] == [200, 200, 200]
        assert [who.call("GET", path).status for who in strangers] == [404, 401]
    for method, path, body in changes:
        assert [who.call(method, path, body).status for who in (reader, workspaces, *strangers)] == [404, 404, 404, 401], path
    for method, path, body in changes:
        assert manager.call(method, path, body).status in (200, 201, 204), path


def test_projects_that_the_reader_does_not_see_are_not_shown(org, api_site):
    people = People(org, api_site.database)
    seen, hidden = people.project("seen"), people.project("hidden")
    team = people.team("some")
    people.give(team, "project", seen, "read")
    client, _ = connect(org, relations={"projects": [{"type": "projects", "id": id} for id in (seen, hidden)]})
    answer = people.member("vcs-some", team).get(f"oauth-clients/{client}", include="projects")
    assert [item["id"] for item in answer.data["relationships"]["projects"]["data"]] == [seen]
    assert hidden not in answer.text


def test_secrets_are_sealed_and_never_shown(org, api_site, base):
    key = ssh_key("-t", "ed25519")
    client, token = connect(org, GIT, secret="secret-of-client", rsa_public_key="public")
    patch_token(org, token, ssh_key=key)
    connect(org, service_provider="ado_server", private_key="secret-private-key")
    needles = [*SECRETS, "secret-of-client", "secret-private-key", key.splitlines()[1]]
    for path in (f"{base}/oauth-clients?include=oauth_tokens", f"{base}/oauth-tokens", f"oauth-clients/{client}", f"oauth-tokens/{token}"):
        assert not [needle for needle in needles if needle in org.get(path).text], path
    with psycopg.connect(api_site.database) as connection:
        rows = connection.execute("select c::text from vcs_connections c union all select t::text from vcs_tokens t union all select e::text from audit_events e").fetchall()
    text = "\n".join(row[0] for row in rows)
    hexed = [needle.encode().hex() for needle in needles]
    assert not [needle for needle in needles + hexed if needle in text]
    assert text.count("\\x") >= 5
    assert not [needle for needle in needles if needle in str(list(api_site.scheduler.log_lines()))]


def test_changes_are_in_the_audit_trail_without_values(org, api_site):
    client, token = connect(org, name="n")
    patch_client(org, client, oauth_token_string="another-secret")
    patch_token(org, token, host_keys="git.example.com ssh-ed25519 AAAA")
    org.delete(f"oauth-clients/{client}")
    rows = api_site.ask("select action, resource_type, resource_id, attributes::text from audit_events where resource_id in (%s, %s) order by position", client, token)
    assert [(action, type) for action, type, *_ in rows] == [("create", "oauth_client"), ("update", "oauth_client"), ("update", "oauth_token"), ("destroy", "oauth_client")], rows
    assert "oauth-token-string" in rows[1][3] and "another-secret" not in str(rows)
