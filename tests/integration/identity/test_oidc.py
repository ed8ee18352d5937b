# SPDX-License-Identifier: MPL-2.0
"""Signing in through OpenID providers: accounts, groups, links, logouts, rotation of keys, and every known way in which such sign-ins were broken."""

import contextlib
import time
import urllib.parse
import uuid

import pytest

from support import scim as idp
from support.api import Api, ApiError
from support.browser import Browser
from support.oidc_provider import Key, OidcProvider, encoded, signed_with_the_public_key, unsigned
from support.wait import until

TOKENS = "/app/settings/tokens"


class Sso:
    """A provider with its settings, and the browsers that sign in there."""

    def __init__(self, api_site, provider, **attributes):
        self.api_site, self.provider = api_site, provider
        self.admin = Api(api_site.scheduler.url, api_site.tokens["token"], "acme")
        created = self.admin.post("admin/oidc-settings", {"data": {"type": "oidc-settings", "attributes": provider.attributes(**attributes)}})
        self.id = created.data["id"]

    def change(self, **attributes):
        return self.admin.patch(f"admin/oidc-settings/{self.id}", {"data": {"type": "oidc-settings", "attributes": attributes}})

    def browser(self):
        return Browser(self.api_site.scheduler.url)

    def begin(self, browser=None, path=TOKENS, query=""):
        """Follows the link of the sign-in page to the provider. Returns the browser, and the address of the provider's page."""
        browser = browser or self.browser()
        browser.ask(f"/oidc/{self.id}/sign-in?return={urllib.parse.quote(path)}{query}", follow=False)
        assert browser.status == 303, browser.text
        return browser, browser.headers["Location"]

    def finish(self, browser, page):
        return browser.ask(self.provider.page(page))

    def sign_in(self, path=TOKENS, **person):
        """As a person with these claims."""
        self.provider.person = {**self.provider.person, **person}
        return self.finish(*self.begin(path=path))

    def signed_in(self, **person):
        browser = self.sign_in(**person)
        assert browser.status == 200 and "New token" in browser.text, browser.text
        return browser

    def user(self, subject):
        """(id, username, email, address is confirmed) of the account, or None."""
        rows = self.api_site.ask("select u.id, u.username, u.email, u.email_confirmed from users u join identities i on i.user_id = u.id where i.issuer = %s and i.subject = %s",
                                 self.provider.issuer, subject)
        return rows[0] if rows else None


@contextlib.contextmanager
def opened(api_site, provider, **attributes):
    sso = Sso(api_site, provider, **attributes)
    try:
        yield sso
    finally:
        sso.admin.delete(f"admin/oidc-settings/{sso.id}")
        provider.release()


@pytest.fixture
def sso(api_site):
    with opened(api_site, OidcProvider()) as sso:
        sso.provider.person["sub"] = sso.provider.person["preferred_username"] = f"p-{uuid.uuid4().hex[:12]}"
        yield sso


def subject(sso):
    return sso.provider.person["sub"]


def teams(api_site, user):
    return {name for (name,) in api_site.ask("select t.name from team_members m join teams t on t.id = m.team_id where m.user_id = %s", user)}


def organization(api_site, sso, **settings):
    """An organization that accepts the provider."""
    api = api_site.organization()
    api.patch(f"organizations/{api.organization}/sso-settings", {"data": {"type": "sso-settings", "attributes": settings, "relationships": {
        "identity-providers": {"data": [{"type": "identity-providers", "id": sso.id}]}}}})
    return api


def team(api, name, **attributes):
    return api.post(f"organizations/{api.organization}/teams", {"data": {"type": "teams", "attributes": {"name": name, **attributes}}}).data["id"]


# ---- signing in ----


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
def test_the_first_sign_in_creates_the_account_and_the_next_finds_it(api_site, algorithm):
    with opened(api_site, OidcProvider(algorithm)) as sso:
        name = f"p-{uuid.uuid4().hex[:12]}"
        browser = sso.signed_in(sub=name, preferred_username=name, email=f"{name}@example.com")
        assert sso.user(name)[1:] == (name, f"{name}@example.com", True)
        assert name in browser.text and browser.cookie.has_nonstandard_attr("HttpOnly")
        first = sso.user(name)
        sso.signed_in(preferred_username="another-name", email="other@example.com")
        assert sso.user(name) == first
        (event,) = api_site.ask("select details from audit_events where action = 'sign_in' and actor_id = %s order by position limit 1", first[0])
        assert event[0] == {"method": "oidc", "provider": sso.id}


def test_the_sign_in_page_lists_the_provider_and_returns(sso):
    browser = sso.browser().ask("/app/settings/tokens")
    name = sso.admin.get(f"admin/oidc-settings/{sso.id}").data["attributes"]["name"]
    assert f"Sign in with {name}" in browser.text and f"/oidc/{sso.id}/sign-in?return=%2Fapp%2Fsettings%2Ftokens" in browser.page
    sso.change(enabled=False)
    assert f"Sign in with {name}" not in sso.browser().ask("/app/settings/tokens").text
    assert sso.browser().ask(f"/oidc/{sso.id}/sign-in").status == 404


def test_a_sign_in_can_begin_at_one_scheduler_and_end_at_another(api_site, sso):
    second = api_site.new_scheduler("scheduler-2", public_url=api_site.scheduler.url)
    second.start()
    try:
        browser, page = sso.begin()
        answer = urllib.parse.urlsplit(sso.provider.page(page))
        other = Browser(second.url)
        other.cookies = browser.cookies
        other.opener = browser.opener
        assert "New token" in other.ask(f"{answer.path}?{answer.query}").text
    finally:
        second.release()


def test_a_taken_name_gets_a_number(api_site, sso):
    taken = f"u-{uuid.uuid4().hex[:12]}"
    api_site.bootstrap(taken, taken)
    sso.signed_in(preferred_username=taken.upper())
    assert sso.user(subject(sso))[1] == f"{taken.upper()}-2"


@pytest.mark.parametrize(("claims", "name"), [({"preferred_username": "Ada.Lovelace@example.com"}, "Ada-Lovelace"), ({"preferred_username": None, "email": "x.y+z@e.org"}, "x-y-z"),
                                              ({"preferred_username": "<b>\u0430'; drop--", "email": None}, "b-drop"), ({"preferred_username": "...", "email": None}, "user")])
def test_names_are_made_of_letters_and_digits(sso, claims, name):
    sso.signed_in(**claims)
    made = sso.user(subject(sso))[1]
    assert made == name or made.rpartition("-")[0] == name


def test_claims_of_the_userinfo_endpoint_count_where_the_token_has_none(sso):
    del sso.provider.person["email"]
    sso.provider.userinfo = {"email": "info@example.com", "email_verified": True, "preferred_username": "ignored"}
    sso.signed_in()
    assert sso.user(subject(sso))[1:] == (subject(sso), "info@example.com", True)
    sso.provider.userinfo = {"sub": "somebody else", "email": "wrong@example.com"}
    sso.signed_in(sub=f"p-{uuid.uuid4().hex}")
    assert sso.user(subject(sso))[2] is None


def test_a_suspended_account_is_refused(api_site, sso):
    sso.signed_in()
    api_site.change("update users set is_suspended = true where id = %s", sso.user(subject(sso))[0])
    browser = sso.sign_in()
    assert browser.status == 403 and "suspended" in browser.text and browser.cookie is None


def test_options_make_the_first_provider(api_site):
    with contextlib.closing(OidcProvider()) as provider:
        options = {"oidc_issuer": provider.issuer, "oidc_client_id": provider.client, "oidc_client_secret": provider.secret, "sso_token_days": 30}
        for _ in range(2):  # the second start finds it
            scheduler = api_site.new_scheduler(f"scheduler-{uuid.uuid4().hex[:4]}", **options)
            scheduler.start()
            assert "Sign in with Single sign-on" in Browser(scheduler.url).ask("/app/login").text
            scheduler.release()
        (made,) = api_site.ask("select id, token_days, settings from identity_providers where issuer = %s", provider.issuer)
        assert made[1:] == (30, {"client-id": provider.client})
        Api(api_site.scheduler.url, api_site.tokens["token"], "acme").delete(f"admin/oidc-settings/{made[0]}")


# ---- groups ----


def test_groups_lead_to_teams_and_leave_them(api_site, sso):
    api = organization(api_site, sso)
    named, mapped, other = f"net-{uuid.uuid4().hex[:6]}", f"g-{uuid.uuid4().hex[:6]}", f"o-{uuid.uuid4().hex[:6]}"
    team(api, named)
    team(api, "by id", **{"sso-team-id": mapped})
    team(api, other)
    sso.signed_in(groups=[f"/{named}", mapped, "unknown"])
    user = sso.user(subject(sso))[0]
    assert teams(api_site, user) == {named, "by id"}
    sso.signed_in(groups=[other])
    assert teams(api_site, user) == {other}
    sso.signed_in(groups=[])
    assert teams(api_site, user) == set()
    assert not api_site.ask("select 1 from organization_memberships where user_id = %s", user)


def test_without_the_claim_a_person_has_no_groups(api_site, sso):
    """As real providers send it, which leave out an empty list."""
    api = organization(api_site, sso)
    team(api, "net")
    sso.change(**{"site-admin-group": "net"})
    sso.signed_in(groups=["net"])
    user = sso.user(subject(sso))[0]
    assert teams(api_site, user) == {"net"}
    del sso.provider.person["groups"]
    sso.signed_in()
    assert teams(api_site, user) == set() and api_site.ask("select is_site_admin from users where id = %s", user) == [(False,)]


def test_teams_stay_if_the_groups_are_not_known(api_site, sso):
    api = organization(api_site, sso)
    team(api, "net")
    sso.signed_in(groups=["net"])
    user = sso.user(subject(sso))[0]
    del sso.provider.person["groups"]
    sso.provider.userinfo = None  # its endpoint fails, which may have known them
    sso.signed_in()
    assert teams(api_site, user) == {"net"}
    sso.provider.userinfo = {}
    sso.change(**{"groups-claim": ""})  # the provider sends none
    sso.signed_in()
    assert teams(api_site, user) == {"net"}


def test_a_membership_by_hand_stays(api_site, sso):
    api = organization(api_site, sso)
    by_hand = team(api, "by-hand")
    team(api, "net")
    sso.signed_in(groups=["net"])
    user, name = sso.user(subject(sso))[:2]
    api.post(f"teams/{by_hand}/relationships/users", {"data": [{"type": "users", "id": name}]})
    sso.signed_in(groups=[])
    assert teams(api_site, user) == {"by-hand"}


def test_nested_claims_and_objects(api_site, sso):
    api = organization(api_site, sso)
    team(api, "net")
    team(api, "ops")
    sso.change(**{"groups-claim": "realm_access.roles"})
    sso.signed_in(realm_access={"roles": ["net"]})
    user = sso.user(subject(sso))[0]
    assert teams(api_site, user) == {"net"}
    sso.change(**{"groups-claim": "https://example.com/groups"})
    sso.signed_in(**{"https://example.com/groups": [{"name": "ops"}]})
    assert teams(api_site, user) == {"ops"}


def test_groups_of_an_organization_that_does_not_accept_the_provider_do_nothing(api_site, sso):
    api = api_site.organization()
    name = f"t-{uuid.uuid4().hex}"
    team(api, name)
    sso.signed_in(groups=[name])
    assert teams(api_site, sso.user(subject(sso))[0]) == set()


def test_a_group_named_owners_makes_no_owner(api_site, sso):
    api = organization(api_site, sso)
    sso.signed_in(groups=["owners", "Owners"])
    user = sso.user(subject(sso))[0]
    assert teams(api_site, user) == set()
    api.patch(f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"owners-team-saml-role-id": "the-owners"}}})
    sso.signed_in(groups=["the-owners"])
    assert teams(api_site, user) == {"owners"}


def test_the_last_owner_stays(api_site, sso):
    api = organization(api_site, sso)
    api.patch(f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"owners-team-saml-role-id": "the-owners"}}})
    sso.signed_in(groups=["the-owners"])
    user = sso.user(subject(sso))[0]
    api_site.change("delete from team_members m using teams t, users u where t.id = m.team_id and u.id = m.user_id and not u.is_service_account and t.kind = 'owners' "
                    "and t.organization_id = (select id from organizations where name = %s) and m.user_id <> %s", api.organization, user)
    sso.signed_in(groups=[])
    assert teams(api_site, user) == {"owners"}


def test_too_many_groups_need_the_graph(api_site, sso):
    api = organization(api_site, sso)
    team(api, "net")
    sso.signed_in(groups=["net"])
    user = sso.user(subject(sso))[0]
    del sso.provider.person["groups"]
    sso.signed_in(_claim_names={"groups": "src1"})
    assert teams(api_site, user) == {"net"}  # unknown: nothing changes
    team(api, "ops")
    pages = {"/graph": {"value": [{"id": "1", "displayName": "ops"}], "@odata.nextLink": f"{sso.provider.url}/graph2"}, "/graph2": {"value": [{"id": "2"}]}}
    sso.provider.graph = pages.get
    sso.change(**{"graph-endpoint": f"{sso.provider.url}/graph"})
    sso.signed_in()
    assert teams(api_site, user) == {"ops"}
    pages["/graph"]["@odata.nextLink"] = "http://127.0.0.1:1/elsewhere"
    sso.signed_in()
    assert teams(api_site, user) == {"ops"}


def test_a_group_makes_site_admins(api_site, sso):
    def admin():
        return api_site.ask("select is_site_admin from users where id = %s", sso.user(subject(sso))[0])[0][0]

    sso.signed_in(groups=["root"])
    assert not admin()
    sso.change(**{"site-admin-group": "root"})
    sso.signed_in()
    assert admin()
    sso.signed_in(groups=[])
    assert not admin()


# ---- whose account it is ----


def test_an_address_equal_to_an_owners_leads_nowhere(api_site, sso):
    owner = api_site.stranger(f"u-{uuid.uuid4().hex[:12]}")
    address = f"{owner.organization}@example.com"
    for verified in (False, True):
        sso.signed_in(sub=f"s-{uuid.uuid4().hex}", preferred_username=owner.organization, email=address, email_verified=verified)
        made = sso.user(subject(sso))
        assert made[1] != owner.organization and teams(api_site, made[0]) == set()


def test_an_unconfirmed_address_shows_no_invitations(api_site, sso):
    api = api_site.organization()
    address = f"i-{uuid.uuid4().hex[:8]}@example.com"
    api.post(f"organizations/{api.organization}/organization-memberships", {"data": {"type": "organization-memberships", "attributes": {"email": address}}})
    sso.signed_in(email=address, email_verified=False)
    assert api.organization not in sso.finish(*sso.begin(path="/app/settings/invitations")).text
    browser = sso.sign_in(sub=f"s-{uuid.uuid4().hex}", email_verified="true", path="/app/settings/invitations")
    assert api.organization in browser.text
    assert not api_site.ask("select 1 from organization_memberships where user_id = %s and status = 'active'", sso.user(subject(sso))[0])


def test_a_subject_that_is_used_again_after_deletion_is_a_new_account(api_site, sso):
    sso.signed_in()
    old = sso.user(subject(sso))
    sso.admin.delete(f"admin/users/{old[0]}")
    sso.signed_in()
    assert sso.user(subject(sso))[0] != old[0]


def test_only_its_owner_links_an_account(api_site, sso):
    local = api_site.bootstrap(name := f"u-{uuid.uuid4().hex[:12]}", name)
    browser = sso.browser().sign_in(name, local["password"])
    browser.ask(f"/oidc/{sso.id}/sign-in?purpose=link", follow=False)
    assert browser.status == 200 and "will be able to sign in here as" in browser.text  # asked first: another site may have led here
    browser.ask(f"/oidc/{sso.id}/sign-in?purpose=link", headers={"Sec-Fetch-Site": "same-origin"}, follow=False)
    sso.finish(browser, browser.headers["Location"])
    assert sso.user(subject(sso))[1] == name and subject(sso) in browser.text
    sso.signed_in()
    # Another user can't take it.
    other = api_site.bootstrap(second := f"u-{uuid.uuid4().hex[:12]}", second)
    browser = sso.browser().sign_in(second, other["password"])
    browser.ask(f"/oidc/{sso.id}/sign-in?purpose=link", headers={"Sec-Fetch-Site": "same-origin"}, follow=False)
    assert "belongs to another user" in sso.finish(browser, browser.headers["Location"]).text
    assert "The account is not linked" in browser.text and "Sign out" in browser.text  # no page to sign in
    assert sso.user(subject(sso))[1] == name
    (event,) = api_site.ask("select details from audit_events where action = 'sign_in_failed' and details ->> 'purpose' = 'link' and actor_name = %s", second)
    assert "belongs to another user" in event[0]["reason"]


def test_unlinking_ends_what_was_made_through_the_provider(api_site, sso):
    browser = sso.signed_in()
    browser.send("/app/settings/tokens", description="mine", days="30")
    token = browser.page.partition("<code>")[2].partition("</code>")[0]
    api = Api(api_site.scheduler.url, token, "acme")
    assert api.get("account/details").data["attributes"]["username"] == sso.user(subject(sso))[1]
    browser.ask("/app/settings/identities")
    browser.send(f"/app/settings/identities/{sso.id}/unlink")
    assert "could not sign in any more" in browser.text
    api_site.change("update users set password_hash = 'x' where id = %s", sso.user(subject(sso))[0])
    browser.ask("/app/settings/identities")
    browser.send(f"/app/settings/identities/{sso.id}/unlink")
    with pytest.raises(ApiError) as refused:
        api.get("account/details")
    assert refused.value.status == 401 and "Sign in" in browser.ask(TOKENS).text


# ---- tokens and sessions ----


def token_of(browser):
    browser.send("/app/settings/tokens", description=uuid.uuid4().hex, days="30")
    return browser.page.partition("<code>")[2].partition("</code>")[0]


def test_tokens_end_when_the_person_no_longer_comes(api_site, sso):
    api = Api(api_site.scheduler.url, token_of(sso.signed_in()), "acme")
    sso.change(**{"token-days": 7})
    api.get("account/details")
    api_site.change("update identities set last_sign_in_at = now() - interval '8 days' where subject = %s", subject(sso))
    assert api.call("GET", "account/details").status == 401
    sso.signed_in()
    api.get("account/details")


def test_a_back_channel_logout_ends_the_session(api_site, sso):
    url = f"{api_site.scheduler.url}/oidc/{sso.id}/backchannel-logout"
    first, second = sso.signed_in(sid="session-1"), sso.signed_in(sid="session-2")
    assert sso.provider.log_out(url, sso.provider.logout_token(sid="session-1", sub=subject(sso))) == 200
    assert "Sign in" in first.ask(TOKENS).text and "New token" in second.ask(TOKENS).text
    token = sso.provider.logout_token(sub=subject(sso))
    assert sso.provider.log_out(url, token) == 200
    assert "Sign in" in second.ask(TOKENS).text
    third = sso.signed_in(sid="session-3")
    assert sso.provider.log_out(url, token) == 400  # each is used once
    now = int(time.time())
    wrong = {"another issuer": {"iss": "https://evil.example"}, "another audience": {"aud": "x"}, "expired": {"exp": now - 120}, "an ID token": {"nonce": "n"}, "no event": {"events": {}},
             "no id": {"jti": ""}}
    for what, claims in wrong.items():
        assert sso.provider.log_out(url, sso.provider.logout_token(**{"sub": subject(sso), **claims})) == 400, what
    assert sso.provider.log_out(url, "nonsense") == 400 and sso.provider.log_out(url, "") == 400
    assert "New token" in third.ask(TOKENS).text


def test_a_sign_in_replaces_the_browsers_session(sso):
    browser = sso.signed_in()
    fixed = browser.cookie.value
    sso.finish(*sso.begin(browser))
    assert browser.cookie.value != fixed
    other = sso.browser().ask(TOKENS, headers={"Cookie": f"runyard_session={fixed}"})
    assert "Sign in" in other.text


def test_a_sign_out_leads_to_the_provider(sso):
    browser = sso.signed_in()
    browser.send("/app/logout")
    assert browser.status == 200 and browser.cookie is None and "still signed in at" in browser.text and f"/oidc/{sso.id}/sign-out" in browser.page
    browser.ask(f"/oidc/{sso.id}/sign-out", follow=False)
    assert browser.headers["Location"].startswith(f"{sso.provider.url}/end?client_id=")


def test_site_admins_confirm_who_they_are(api_site, sso):
    sso.change(**{"site-admin-group": "root", "site-admin-max-age": 60})
    browser = sso.signed_in(groups=["root"])
    assert browser.ask("/api/v2/admin/users").status == 200
    api_site.change("update sessions set authenticated_at = now() - interval '61 minutes' where user_id = %s", sso.user(subject(sso))[0])
    assert browser.ask("/api/v2/admin/users").status == 403 and "purpose=confirm" in browser.page
    assert browser.ask("/api/v2/organizations").status == 200

    def confirm(person):
        browser.ask(f"/oidc/{sso.id}/sign-in?purpose=confirm", headers={"Sec-Fetch-Site": "same-origin"}, follow=False)
        page = browser.headers["Location"]
        assert "prompt=login" in page and "max_age=0" in page
        sso.provider.person = {**sso.provider.person, "sub": person}
        return sso.finish(browser, page)

    mine = subject(sso)
    sso.provider.change = lambda claims: {**claims, "auth_time": int(time.time()) - 600}
    assert "did not ask you again" in confirm(mine).text
    sso.provider.change = lambda claims: claims
    assert "another account" in confirm("somebody-else").text and browser.ask("/api/v2/admin/users").status == 403
    assert confirm(mine).status == 200 and browser.ask("/api/v2/admin/users").status == 200


def test_memberships_by_groups_are_audited(api_site, sso):
    api = organization(api_site, sso)
    made = team(api, "net")
    sso.signed_in(groups=["net"])
    sso.signed_in(groups=[])
    user = sso.user(subject(sso))[0]
    events = api_site.ask("select action, actor_type, actor_id, details from audit_events where resource_id = %s and action like '%%_member' order by position", made)
    assert events == [(action, "identity-provider", sso.id, {"user": user}) for action in ("add_member", "remove_member")]


# ---- organizations that require it ----


def test_an_organization_that_requires_it_refuses_other_credentials(api_site, sso):
    api = organization(api_site, sso)
    team(api, "net")
    path = f"organizations/{api.organization}"
    browser = sso.signed_in(groups=["net"])
    member = Api(api_site.scheduler.url, token_of(browser), api.organization)
    local = api_site.bootstrap(name := f"u-{uuid.uuid4().hex[:12]}", name)
    api_site.change("update users set is_site_admin = false where username = %s", name)
    api_site.change("insert into organization_memberships (organization_id, user_id, id) select o.id, u.id, 'ou-' || u.id from organizations o, users u where o.name = %s and u.username = %s",
                    api.organization, name)
    outsider = Api(api_site.scheduler.url, local["token"], api.organization)
    assert outsider.get(path).status == 200
    api.patch(f"{path}/sso-settings", {"data": {"type": "sso-settings", "attributes": {"required": True}}})
    assert member.get(path).status == 200
    refused = outsider.call("GET", path)
    assert refused.status == 403 and "single sign-on" in refused.json["errors"][0]["detail"]
    assert outsider.get("account/details").status == 200
    session = sso.browser().sign_in(name, local["password"])
    assert session.ask(f"/api/v2/{path}").status == 403
    api_site.change("update users set is_break_glass = true where username = %s", name)
    assert outsider.get(path).status == 200


def test_nobody_locks_themselves_out(api_site, sso):
    owner = api_site.stranger(f"u-{uuid.uuid4().hex[:12]}")
    path = f"organizations/{owner.organization}/sso-settings"

    def patch(providers=None, **attributes):
        relations = {} if providers is None else {"identity-providers": {"data": [{"type": "identity-providers", "id": each} for each in providers]}}
        return owner.call("PATCH", path, {"data": {"type": "sso-settings", "attributes": attributes, "relationships": relations}})

    assert patch([sso.id]).status == 200
    refused = patch(required=True)
    assert refused.status == 422 and refused.json["errors"][0]["source"]["pointer"] == "/data/attributes/required" and "lock yourself out" in refused.text
    assert patch(["idp-unknown"]).status == 422
    assert patch(domains=["example.com"]).status == 422
    sso.change(domains=["example.com"], **{"allowed-organizations": ["another"]})
    assert patch([sso.id]).status == 422 and sso.id not in owner.call("GET", f"organizations/{owner.organization}/identity-providers").text
    sso.change(**{"allowed-organizations": [owner.organization.upper()]})
    assert patch([sso.id], domains=["EXAMPLE.com"]).status == 200
    assert owner.get(path).data["attributes"] == {"required": False, "domains": ["example.com"]}


def test_a_domain_leads_to_its_provider(api_site, sso):
    domain = f"{uuid.uuid4().hex[:12]}.example"
    sso.change(domains=[domain])
    with opened(api_site, OidcProvider(), domains=[f"other-{domain}"]) as second:
        for address, wanted in ((f"ada@{domain.upper()}", sso), (f"ada@other-{domain}", second)):
            browser = sso.browser().ask("/app/login")
            browser.send("/app/login/provider", address=address)
            assert f"/oidc/{wanted.id}/sign-in" in browser.page, browser.text
    browser = sso.browser().ask("/app/login")
    assert browser.send("/app/login/provider", address="ada@unknown.example").status == 404


# ---- what goes wrong ----


def test_keys_are_rotated_without_a_failed_sign_in(sso):
    sso.signed_in()
    new = Key()
    sso.provider.keys = [new, *sso.provider.keys]
    sso.signed_in()
    sso.provider.keys = [Key(), new]  # a second look-up within a minute
    asked = sso.provider.asked.count("/keys")
    assert "not among" in sso.sign_in().text and sso.provider.asked.count("/keys") == asked


def test_a_provider_that_is_away_gets_one_sentence_and_signed_in_people_go_on(sso):
    signed_in = sso.signed_in()
    browser, page = sso.begin()
    answer = sso.provider.page(page)
    sso.provider.away.set()
    browser.ask(answer)
    assert browser.status == 503 and "does not answer" in browser.text and browser.cookie is None
    assert "New token" in signed_in.ask(TOKENS).text
    # The next sign-in is not sent to the provider's page, which the browser could not open.
    until(lambda: sso.browser().ask(f"/oidc/{sso.id}/sign-in", follow=False).status == 503, "the scheduler notices within seconds")
    assert "does not answer" in sso.browser().ask(f"/oidc/{sso.id}/sign-in", follow=False).text
    sso.provider.away.clear()
    sso.signed_in()


def test_a_provider_with_a_certificate_of_a_private_ca(api_site, authority):
    with opened(api_site, OidcProvider(tls=authority.issue("provider"))) as sso:
        assert "certificate" in sso.admin.call("POST", f"admin/oidc-settings/{sso.id}/actions/check").errors()
        second = api_site.new_scheduler("scheduler-2", environment={"SSL_CERT_FILE": authority.file})
        second.start()
        try:
            admin = Api(second.url, api_site.tokens["token"], "acme")
            assert admin.post(f"admin/oidc-settings/{sso.id}/actions/check").json["keys"] == 1
        finally:
            second.release()


def test_the_connection_can_be_tested_before_it_is_used(api_site, sso):
    facts = sso.admin.post(f"admin/oidc-settings/{sso.id}/actions/check").json
    assert facts["keys"] == 1 and facts["issuer"] == sso.provider.issuer and facts["ends-sessions"] is True
    sso.change(enabled=False)
    browser = sso.browser().sign_in("admin", api_site.tokens["password"])
    browser.ask(f"/oidc/{sso.id}/sign-in?purpose=test", headers={"Sec-Fetch-Site": "same-origin"}, follow=False)
    sso.provider.person["groups"] = ["<b>net</b>"]
    sso.finish(browser, browser.headers["Location"])
    assert browser.status == 200 and subject(sso) in browser.text and "&lt;b&gt;net" in browser.page and sso.user(subject(sso)) is None
    # The admin's page says what is wrong. It is no failed sign-in of the audit trail.
    sso.change(**{"client-secret": "wrong"})
    browser.ask(f"/oidc/{sso.id}/sign-in?purpose=test", headers={"Sec-Fetch-Site": "same-origin"}, follow=False)
    sso.finish(browser, browser.headers["Location"])
    assert browser.status == 403 and "The connection does not work" in browser.text and "invalid_client" in browser.text
    assert not api_site.ask("select 1 from audit_events where action = 'sign_in_failed' and strpos(details ->> 'reason', 'invalid_client') > 0")
    sso.change(issuer="http://127.0.0.1:1")
    refused = sso.admin.call("POST", f"admin/oidc-settings/{sso.id}/actions/check")
    assert refused.status == 422 and "does not answer" in refused.json["errors"][0]["detail"]


def test_settings_are_checked_and_hide_the_secret(sso):
    shown = sso.admin.get(f"admin/oidc-settings/{sso.id}")
    assert sso.provider.secret not in shown.text and shown.data["attributes"]["has-client-secret"] is True
    for attributes, field in (({"issuer": "ftp://x"}, "issuer"), ({"name": ""}, "name"), ({"client-id": ""}, "client-id"), ({"token-days": -1}, "token-days"), ({"domains": "x"}, "domains"),
                              ({"graph-endpoint": "file:///etc/passwd"}, "graph-endpoint")):
        refused = sso.admin.call("PATCH", f"admin/oidc-settings/{sso.id}", {"data": {"type": "oidc-settings", "attributes": attributes}})
        assert refused.status == 422 and refused.json["errors"][0]["source"]["pointer"].startswith(f"/data/attributes/{field}"), attributes
    again = sso.admin.call("POST", "admin/oidc-settings", {"data": {"type": "oidc-settings", "attributes": sso.provider.attributes()}})
    assert again.status == 422 and again.json["errors"][0]["source"]["pointer"] == "/data/attributes/issuer"


# ---- attacks ----


def refused_token(sso, make):
    sso.provider.make_token = make
    browser = sso.sign_in()
    assert browser.status == 403 and browser.cookie is None and "refused" in browser.text, browser.text
    assert sso.user(subject(sso)) is None
    return browser


def test_tokens_that_are_not_signed_by_the_provider_are_refused(api_site, sso):
    other = Key()
    small = Key(bits=1024)
    refused_token(sso, lambda key, claims: unsigned(claims))
    refused_token(sso, lambda key, claims: signed_with_the_public_key(key, claims))
    refused_token(sso, lambda key, claims: other.token(claims))
    refused_token(sso, lambda key, claims: other.token(claims, kid=key.id))
    refused_token(sso, lambda key, claims: other.token(claims, kid=None, jwk=other.public(), jku=f"{sso.provider.url}/evil"))
    refused_token(sso, lambda key, claims: key.token(claims, alg="none"))
    refused_token(sso, lambda key, claims: key.token(claims, alg="ES256"))
    refused_token(sso, lambda key, claims: key.token(claims, alg="PS256"))
    refused_token(sso, lambda key, claims: key.token(claims, crit=["x"]))
    refused_token(sso, lambda key, claims: key.token(claims)[:-4])
    refused_token(sso, lambda key, claims: key.token(claims) + ".x")
    refused_token(sso, lambda key, claims: f"{key.token(claims).rpartition('.')[0].rpartition('.')[0]}.{encoded({**claims, 'sub': 'evil'})}.{key.token(claims).rpartition('.')[2]}")
    refused_token(sso, lambda key, claims: "x" * 70000)
    refused_token(sso, lambda key, claims: None)
    sso.provider.keys = [small]
    sso.change()
    refused_token(sso, lambda key, claims: key.token(claims))


@pytest.mark.parametrize("wrong", [{"iss": "https://evil.example"}, {"aud": "another"}, {"aud": []}, {"nonce": "x"}, {"nonce": None}, {"exp": 1}, {"exp": None}, {"iat": 4102444800},
                                   {"nbf": 4102444800}, {"sub": ""}, {"sub": None}, {"sub": "s" * 1025}, {"azp": "another"}])
def test_claims_that_are_not_of_this_sign_in_are_refused(sso, wrong):
    sso.provider.change = lambda claims: {name: value for name, value in {**claims, **wrong}.items() if value is not None}
    browser = sso.sign_in()
    assert browser.status == 403 and browser.cookie is None, browser.text


def test_several_audiences_need_the_party(sso):
    sso.provider.change = lambda claims: {**claims, "aud": [sso.provider.client, "another"]}
    assert sso.sign_in().status == 403
    sso.provider.change = lambda claims: {**claims, "aud": ["another", sso.provider.client], "azp": sso.provider.client}
    sso.signed_in()


def test_an_answer_is_used_once_by_the_browser_that_asked(api_site, sso):
    browser, page = sso.begin()
    answer = sso.provider.page(page)
    assert sso.browser().ask(answer).status == 403  # another browser
    browser.ask(answer.replace("state=", "state=x"))
    assert browser.status == 403 and browser.cookie is None
    assert "New token" in browser.ask(answer).text
    assert browser.ask(answer).status == 403  # again
    # A code of another sign-in: PKCE binds it.
    browser, page = sso.begin()
    victim, other = sso.begin()
    stolen = urllib.parse.parse_qs(urllib.parse.urlsplit(sso.provider.page(other)).query)["code"][0]
    own = urllib.parse.urlsplit(sso.provider.page(page))
    query = {**{name: values[0] for name, values in urllib.parse.parse_qs(own.query).items()}, "code": stolen}
    assert browser.ask(f"{own.path}?{urllib.parse.urlencode(query)}").status == 403


def test_answers_of_two_providers_are_not_mixed_up(api_site, sso):
    with opened(api_site, OidcProvider()) as evil:
        browser, page = sso.begin()
        honest = urllib.parse.urlsplit(sso.provider.page(page))
        assert browser.ask(f"/oidc/{evil.id}/callback?{honest.query}").status == 403
        browser, page = sso.begin()
        honest = urllib.parse.urlsplit(sso.provider.page(page))
        query = {name: values[0] for name, values in urllib.parse.parse_qs(honest.query).items()}
        browser.ask(f"{honest.path}?{urllib.parse.urlencode({**query, 'iss': evil.provider.issuer})}")
        assert browser.status == 403 and "another identity provider" in browser.text


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "/a\r\nSet-Cookie: x=y"])
def test_the_return_path_stays_here(sso, path):
    browser = sso.finish(*sso.begin(path=path))
    assert browser.at.startswith(sso.api_site.scheduler.url) and "evil" not in browser.at


def test_what_the_provider_says_of_an_error_is_not_shown(sso):
    browser, page = sso.begin()
    state = urllib.parse.parse_qs(urllib.parse.urlsplit(page).query)["state"][0]
    browser.ask(f"/oidc/{sso.id}/callback?error=access_denied&error_description=%3Cb%3Ecall+me&state={state}")
    assert browser.status == 403 and "denied" in browser.text and "call me" not in browser.page


def test_a_document_of_another_issuer_is_refused(api_site, sso):
    sso.provider.issuer = "https://elsewhere.example"
    sso.change(name=f"x-{uuid.uuid4().hex}")
    browser = sso.browser().ask(f"/oidc/{sso.id}/sign-in", follow=False)
    assert browser.status == 503 and "another issuer" in browser.text
    sso.provider.issuer = sso.provider.url


def test_attempts_expire(api_site, sso):
    browser, page = sso.begin()
    api_site.change("update sign_in_attempts set created_at = now() - interval '11 minutes'")
    assert sso.finish(browser, page).status == 403


# ---- accounts that SCIM made ----


def test_the_first_sign_in_gets_the_account_that_scim_made(sso, api_site):
    scim = idp.enabled(api_site)
    idp.settings(sso.admin, identity_provider_id=sso.id)
    subject, other = f"00u{uuid.uuid4().hex[:10]}", f"00u{uuid.uuid4().hex[:10]}"
    made, suspended = scim.user(externalId=subject), scim.user(externalId=other, active=False)
    ((account,),) = api_site.ask("select user_id from scim_users where id = %s", made["id"])
    sso.signed_in(sub=subject, preferred_username="elsewhere", email="other@example.com")
    assert sso.user(subject)[0] == account
    assert "suspended" in sso.sign_in(sub=other).text and sso.user(other) is None
    scim.ask("DELETE", f"Users/{made['id']}", status=204)
    sso.signed_in(sub=subject, preferred_username="again")
    assert sso.user(subject)[0] != account
    # Another account is never reached by the name of a user whom somebody has signed in as, nor through another provider.
    idp.settings(sso.admin, identity_provider_id=None)
    third = scim.user(externalId=f"third-{subject}")
    api_site.change("insert into identity_providers (id, kind, name, issuer) values ('idp-third', 'oidc', 'third', 'https://third.example.com') on conflict do nothing")
    sso.signed_in(sub=f"third-{subject}", preferred_username="third")
    assert sso.user(f"third-{subject}")[0] != api_site.ask("select user_id from scim_users where id = %s", third["id"])[0][0]
    api_site.change("delete from identity_providers where id = 'idp-third'")
    sso.admin.call("DELETE", "admin/scim-settings")
