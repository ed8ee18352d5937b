# SPDX-License-Identifier: MPL-2.0
"""OAuth of VCS connections in the browser: consents, codes that are used once, and tokens that are renewed."""

import html
import re
import urllib.parse

import psycopg
import pytest

from support.api_site import open_api_site
from support.browser import Browser
from support.oauth_provider import KINDS, OAuthProvider
from support.people import Owner
from support.vcs_connections import create_client
from support.wait import until

ASKED = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def api_site(postgres):
    with open_api_site(postgres, vcs_allow="127.0.0.1", log_level="debug") as api_site:
        yield api_site


@pytest.fixture
def owner(api_site):
    return Owner(api_site)


@pytest.fixture
def providers():
    made = []

    def new(kind="gitea", **options):
        made.append(OAuthProvider(kind, **options))
        return made[-1]

    yield new
    for each in made:
        each.release()
    for each in made:
        each.check()


class Connection:
    def __init__(self, owner, provider):
        self.owner, self.provider = owner, provider
        answer = create_client(owner.api, provider.attributes())
        assert answer.status == 201, answer.text
        self.id = answer.data["id"]
        self.path = answer.data["attributes"]["connect-path"]
        self.callback = answer.data["attributes"]["callback-url"]

    def asked(self, browser, **query):
        """The address of the provider's page of consent."""
        browser.ask(self.path, headers=ASKED, follow=False)
        assert browser.status == 303, browser.text
        return browser.headers["Location"]

    def consent(self, browser):
        """The user agrees: the address of our callback."""
        back = self.provider.consent(self.asked(browser))
        assert back.startswith(self.callback + "?")
        return back

    def connect(self, browser):
        return browser.ask(self.consent(browser), follow=False)

    def connected(self, browser):
        self.connect(browser)
        assert browser.status == 303, browser.text
        assert browser.headers["Location"] == f"/app/{self.owner.name}/settings/vcs-connections?connected={self.id}"
        return self.token()

    def token(self):
        """The attributes of its token; None: it has none."""
        tokens = self.owner.api.get(f"oauth-clients/{self.id}/oauth-tokens").data
        return tokens[0]["attributes"] if tokens else None

    def row(self, column):
        ((value,),) = self.owner.api_site.ask(f"select {column} from vcs_tokens where connection_id = %s", self.id)
        return value


@pytest.fixture
def connection(owner, providers):
    return Connection(owner, providers())


# ---- consents ----


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_consent_gives_the_connection_its_token(owner, providers, kind):
    provider = providers(kind)
    connection = Connection(owner, provider)
    assert connection.token() is None
    assert connection.connected(owner.browser())["service-provider-user"] == "ada"
    assert connection.row("state") == "verified" and connection.row("refresh_sealed") is not None
    assert len(provider.exchanges) == 1


def test_a_token_that_does_not_expire_is_not_renewed(owner, providers, api_site):
    connection = Connection(owner, providers("github_enterprise", lifetime=None))
    connection.connected(owner.browser())
    assert connection.row("expires_at") is None
    assert api_site.ask("select 1 from vcs_renewals r join vcs_tokens t on t.id = r.token_id where t.connection_id = %s", connection.id) == []


def test_a_second_consent_replaces_the_token(connection, owner):
    browser = owner.browser()
    connection.connected(browser)
    before = connection.row("id"), connection.row("token_sealed")
    connection.provider.user = "grace"
    assert connection.connected(browser)["service-provider-user"] == "grace"
    assert connection.row("id") == before[0] and connection.row("token_sealed") != before[1]


def test_secrets_are_sealed_and_not_logged(connection, owner, api_site):
    browser = owner.browser()
    back = connection.consent(browser)
    browser.ask(back, follow=False)
    assert browser.status == 303
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))
    provider = connection.provider
    secrets = [query["code"], query["state"], provider.secret, *provider.access_tokens, *provider.refresh_tokens, provider.exchanges[0]["code_verifier"]]
    log = "".join(path.read_text() for path in api_site.folder.glob("*.log"))
    with psycopg.connect(api_site.database) as database:
        tables = [row[0] for row in database.execute("select tablename from pg_tables where schemaname = 'public' and tablename like 'vcs_%%' or tablename = 'audit_events'")]
        stored = "".join(str(row) for table in tables for row in database.execute(f"select t::text from {table} t"))
    assert "/auth/:callback/callback" in log
    for secret in secrets:
        assert secret not in log and secret not in stored and secret.encode().hex() not in stored


def test_the_consent_is_audited(connection, owner, api_site):
    connection.connected(owner.browser())
    assert (owner.name, "connect", "oauth_client") in api_site.ask("select actor_name, action, resource_type from audit_events where resource_id = %s", connection.id)


# ---- who may, and from where ----


def test_a_visitor_signs_in_and_is_asked(connection, owner, api_site):
    browser = Browser(api_site.scheduler.url, address=owner.address).ask(connection.path, headers=ASKED)
    assert "Sign in" in browser.text
    browser.send("/app/login", username=owner.name, password=owner.password)
    assert browser.status == 200 and "Continue to Gitea" in browser.text


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", None])
def test_another_site_can_not_begin_a_consent(connection, owner, site):
    browser = owner.browser()
    browser.ask(connection.path, headers={"Sec-Fetch-Site": site} if site else None, follow=False)
    assert browser.status == 200 and "Continue to Gitea" in browser.text
    path = html.unescape(re.search(r'<a href="(/auth/[^"]+)"', browser.page)[1])
    other = owner.browser()
    assert other.ask(path, follow=False).status == 200  # the link is that of one session
    browser.ask(path, follow=False)
    assert browser.status == 303
    connection.provider.consent(browser.headers["Location"])


def test_only_people_who_manage_connections(connection, api_site):
    stranger = Owner(api_site)
    browser = stranger.browser()
    assert browser.ask(connection.path, headers=ASKED).status == 404
    assert browser.ask(f"{connection.callback}?code=x&state=y").status == 404
    assert browser.ask("/auth/00000000-0000-0000-0000-000000000000", headers=ASKED).status == 404


def test_a_connection_without_an_application(owner):
    answer = create_client(owner.api)
    browser = owner.browser().ask(answer.data["attributes"]["connect-path"], headers=ASKED)
    assert browser.status == 422 and "has no OAuth application" in browser.text


# ---- states ----


def refused(browser, back):
    browser.ask(back, follow=False)
    assert browser.status == 422 and "Begin again" in browser.text, browser.text
    return True


def test_a_state_is_used_once(connection, owner):
    browser = owner.browser()
    back = connection.consent(browser)
    assert browser.ask(back, follow=False).status == 303
    assert refused(browser, back)
    assert len(connection.provider.exchanges) == 1


@pytest.mark.parametrize("state", ["", "wrong", "x" * 500, "'; drop table vcs_tokens", "%00"])
def test_an_unknown_state_is_refused(connection, owner, state):
    browser = owner.browser()
    back = re.sub(r"state=[^&]*", f"state={state if state == '%00' else urllib.parse.quote(state)}", connection.consent(browser))
    browser.ask(back, follow=False)
    assert browser.status in (400, 422), browser.text
    assert connection.provider.exchanges == [] and connection.token() is None


def test_a_state_of_another_session_is_refused(connection, owner):
    browser, other = owner.browser(), owner.browser()
    back = connection.consent(browser)
    assert refused(other, back)
    assert connection.provider.exchanges == []
    assert browser.ask(back, follow=False).status == 303  # and stays that of its own


def test_a_state_of_another_connection_is_refused(connection, owner, providers):
    browser = owner.browser()
    other = Connection(owner, providers())
    query = urllib.parse.urlsplit(connection.consent(browser)).query
    assert refused(browser, f"{other.callback}?{query}")
    assert connection.provider.exchanges == [] and other.provider.exchanges == []


def test_an_old_state_is_refused(connection, owner, api_site):
    browser = owner.browser()
    back = connection.consent(browser)
    api_site.change("update vcs_authorizations set created_at = now() - interval '11 minutes'")
    assert refused(browser, back)
    assert connection.provider.exchanges == []


def test_without_a_session_a_state_is_nothing(connection, owner, api_site):
    browser = owner.browser()
    back = connection.consent(browser)
    stranger = Browser(api_site.scheduler.url, address=owner.address).ask(back, follow=False)
    assert stranger.status == 400 and "Sign in first" in stranger.text
    browser.ask("/app/settings/tokens").send("/app/logout")
    assert api_site.ask("select 1 from vcs_authorizations where connection_id = %s", connection.id) == []


def test_open_consents_are_bounded(connection, owner, api_site):
    browser = owner.browser()
    first = connection.consent(browser)
    for _ in range(20):
        last = connection.consent(browser)
    assert refused(browser, first)
    assert browser.ask(last, follow=False).status == 303
    assert api_site.ask("select count(*) from vcs_authorizations where connection_id = %s", connection.id) == [(19,)]


# ---- what providers answer ----


@pytest.mark.parametrize("kind", ["gitea", "github_enterprise"])
def test_a_replayed_code_is_refused(owner, providers, kind):
    connection = Connection(owner, providers(kind))
    browser = owner.browser()
    back = connection.consent(browser)
    assert browser.ask(back, follow=False).status == 303
    code = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))["code"]
    again = re.sub(r"code=[^&]*", f"code={urllib.parse.quote(code, safe='')}", connection.consent(browser))
    browser.ask(again, follow=False)
    assert browser.status == 422 and "refused with the error" in browser.text and "<b>" not in browser.page
    assert connection.token() is not None


def test_a_denied_consent(connection, owner):
    browser = owner.browser()
    state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(connection.asked(browser)).query))["state"]
    browser.ask(f"{connection.callback}?error=access_denied&error_description=%3Cb%3Eno&state={state}", follow=False)
    assert browser.status == 422 and "was denied at the provider" in browser.text and "<b>" not in browser.page
    assert refused(browser, f"{connection.callback}?code=late&state={state}")
    assert connection.token() is None


def test_wrong_secrets_of_the_application(connection, owner):
    connection.provider.secret = "another"
    browser = owner.browser()
    assert connection.connect(browser).status == 422 and "invalid_client" in browser.text
    assert connection.token() is None


@pytest.mark.parametrize("answer", [(500, {"error": "x"}), (200, {"access_token": "a\r\nb"}), (200, [1]), (200, {"access_token": "x" * 2_000_000}), (302, {}, {"Location": "http://127.0.0.1:1/"})])
def test_useless_answers(connection, owner, answer):
    browser = owner.browser()
    back = connection.consent(browser)
    connection.provider.answers.append(answer)
    browser.ask(back, follow=False)
    assert browser.status in (422, 502) and "gave no token" in browser.text
    assert connection.token() is None


def test_a_provider_that_is_not_there(connection, owner):
    browser = owner.browser()
    back = connection.consent(browser)
    connection.provider.server.server_close()
    browser.ask(back, follow=False)
    assert browser.status == 502 and "gave no token" in browser.text


def test_a_token_that_the_provider_itself_refuses(connection, owner):
    connection.provider.user_status = 403
    browser = owner.browser()
    assert connection.connect(browser).status == 422 and "refused the token that it gave" in browser.text
    assert connection.token() is None


def test_private_addresses_are_not_called(postgres, providers):
    with open_api_site(postgres, vcs_allow="") as api_site:
        owner = Owner(api_site)
        connection = Connection(owner, providers())
        browser = owner.browser()
        assert connection.connect(browser).status == 502 and "loopback" in browser.text
        assert connection.provider.exchanges == []


# ---- renewal ----


def test_tokens_are_renewed_before_they_expire(owner, providers):
    connection = Connection(owner, providers(lifetime=2))
    connection.connected(owner.browser())
    before = connection.row("token_sealed")
    until(lambda: len(connection.provider.refreshes) >= 2, "two renewals")
    assert connection.row("token_sealed") != before
    assert connection.row("state") == "verified" and connection.token()["service-provider-user"] == "ada"


def test_one_scheduler_renews(postgres, providers):
    with open_api_site(postgres, vcs_allow="127.0.0.1") as api_site:
        second = api_site.new_scheduler("scheduler-2", vcs_allow="127.0.0.1")
        second.start()
        owner = Owner(api_site)
        connections = [Connection(owner, providers(lifetime=2)) for _ in range(3)]
        browser = owner.browser()
        for each in connections:
            each.connected(browser)
        until(lambda: all(len(each.provider.refreshes) >= 2 for each in connections), "two renewals of each")
        # A refresh token is used once: a second scheduler with the same one would have ended the connection.
        assert [each.row("state") for each in connections] == ["verified"] * 3
        second.release()


def test_a_revoked_refresh_token_is_shown(owner, providers, api_site):
    connection = Connection(owner, providers(lifetime=2))
    connection.connected(owner.browser())
    connection.provider.revoke()
    until(lambda: connection.row("state") == "refused", "the refusal")
    assert "invalid_grant" in connection.row("error") and "Connect again" in connection.row("error")
    ((level, message),) = api_site.ask("select level, message from vcs_events where connection_id = %s", connection.id)
    assert level == "error" and "invalid_grant" in message
    assert api_site.ask("select 1 from vcs_renewals r join vcs_tokens t on t.id = r.token_id where t.connection_id = %s", connection.id) == []
    connection.connected(owner.browser())
    assert connection.row("state") == "verified" and connection.row("error") is None


def test_a_provider_that_is_down_for_a_while(owner, providers):
    connection = Connection(owner, providers(lifetime=2))
    connection.connected(owner.browser())
    connection.provider.answers += [(503, {}, {"Retry-After": "1"}), (429, {}, {"Retry-After": "1"})]
    until(lambda: len(connection.provider.refreshes) >= 1, "a renewal")
    assert connection.provider.answers == [] and connection.row("state") == "verified"


class Renewal:
    """A renewal whose answer waits. The thread renews the `later` connection next."""

    def __init__(self, owner, providers):
        self.connection, self.later = Connection(owner, providers(lifetime=2)), Connection(owner, providers(lifetime=2))
        self.provider, self.browser = self.connection.provider, owner.browser()
        self.provider.refreshing.clear()
        self.connection.connected(self.browser)
        self.later.connected(self.browser)
        until(lambda: self.provider.refreshes, "a renewal, whose answer waits")

    def end(self):
        """The provider answers. Waits until the scheduler has taken the answer."""
        self.provider.refreshing.set()
        until(lambda: self.later.provider.refreshes, "the next renewal of the same thread")


def test_a_new_consent_during_a_renewal_wins(owner, providers):
    renewal = Renewal(owner, providers)
    connection, provider = renewal.connection, renewal.provider
    provider.lifetime = 7200
    connection.connected(renewal.browser)
    renewal.end()
    assert connection.row("expires_at - now() > interval '1 hour'") and connection.row("state") == "verified"
    assert len(provider.refreshes) == 1


def set_by_api(connection):
    """Gives the connection a personal token by the API."""
    connection.provider.personal_tokens.add("personal")
    attributes = {"type": "oauth-clients", "attributes": {"oauth-token-string": "personal"}}
    connection.owner.api.patch(f"oauth-clients/{connection.id}", {"data": attributes})


def test_a_token_that_was_set_by_the_api_is_not_renewed(owner, providers, api_site):
    connection = Connection(owner, providers(lifetime=2))
    connection.connected(owner.browser())
    set_by_api(connection)
    until(lambda: api_site.ask("select 1 from vcs_renewals r join vcs_tokens t on t.id = r.token_id where t.connection_id = %s", connection.id) == [], "the end of its renewal")
    assert connection.provider.refreshes == []


def test_a_token_that_is_set_by_the_api_during_a_renewal_wins(owner, providers):
    renewal = Renewal(owner, providers)
    connection = renewal.connection
    set_by_api(connection)
    mine = connection.row("token_sealed")
    renewal.end()
    assert connection.row("token_sealed") == mine and connection.row("refresh_sealed") is None
