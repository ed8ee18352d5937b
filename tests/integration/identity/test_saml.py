# SPDX-License-Identifier: MPL-2.0
"""Sign-in by SAML, with an ordinary identity provider."""

import urllib.parse
import uuid

import pytest
from saml2 import BINDING_HTTP_POST
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NAMEID_FORMAT_TRANSIENT

from support import scim as idp
from support.saml_site import AUTH, LOGOUT, METADATA

TOKENS = "/app/settings/tokens"


def account(saml, name):
    """(id, is_site_admin) of the user of that name."""
    return saml.api_site.ask("select id, is_site_admin from users where username = %s", name)[0]


def teams(saml, name):
    rows = saml.api_site.ask("select t.name from team_members m join teams t on t.id = m.team_id join users u on u.id = m.user_id where u.username = %s", name)
    return {team for (team,) in rows}


def team(org, name, **attributes):
    return org.post(f"organizations/{org.organization}/teams", {"data": {"type": "teams", "attributes": {"name": name, **attributes}}}).data


# ---- signing in ----


@pytest.mark.parametrize("signs_requests", [True, False])
def test_sign_in_creates_the_account_once(saml, signs_requests):
    saml.set(authn_requests_signed=signs_requests)
    saml.provider.serve(saml.get(METADATA).page)
    name = saml.person()
    browser, location = saml.begin(path=f"{AUTH}?return={TOKENS}")
    assert ("Signature=" in location) == signs_requests
    saml.post(browser, saml.provider.sign_in(location))
    assert browser.status == 200 and name in browser.text and browser.at.endswith(TOKENS), browser.text
    first = account(saml, name)
    assert saml.sign_in(path=f"{AUTH}?return={TOKENS}").status == 200
    assert account(saml, name) == first
    session = saml.api_site.ask("select method, provider_session is not null from sessions where user_id = %s", first[0])
    assert session == [("saml", True)] * 2


def test_encrypted_assertions_are_accepted(saml):
    saml.provider.encrypts = True
    name = saml.person()
    assert name in saml.sign_in(path=f"{AUTH}?return={TOKENS}").text


def test_an_account_is_not_found_by_its_name(saml):
    taken = saml.api_site.organization().organization[:20].replace("-", "")
    saml.api_site.bootstrap(taken, f"org-{taken}")
    saml.provider.person = f"{taken}@example.com", {"Username": [taken]}
    assert f"{taken}-2" in saml.sign_in(path=f"{AUTH}?return={TOKENS}").text


def test_names_at_the_provider(saml):
    saml.person()
    saml.provider.format = NAMEID_FORMAT_TRANSIENT
    assert saml.sign_in().status == 403
    saml.provider.format = NAMEID_FORMAT_PERSISTENT
    saml.provider.person = "0815-<&>", {"mail": ["grace@example.com"]}
    assert "grace" in saml.sign_in(path=f"{AUTH}?return={TOKENS}").text
    assert saml.api_site.ask("select subject, subject_format from identities where subject = '0815-<&>'") == [("0815-<&>", NAMEID_FORMAT_PERSISTENT)]


def test_a_response_is_finished_by_the_browser_that_began(saml):
    saml.person()
    _, location = saml.begin()
    victim = saml.post(saml.browser(), saml.provider.sign_in(location))
    assert victim.status == 403 and victim.cookie is None


def test_two_schedulers(saml):
    """The sign-in begins at one and ends at the other. A response is used once at both."""
    other = saml.api_site.new_scheduler("scheduler-2", public_url=saml.url).start()
    try:
        name = saml.person()
        browser, location = saml.begin()
        fields = saml.provider.sign_in(location)
        browser.url = other.url
        assert name in saml.post(browser, fields).ask(TOKENS).text
        assert saml.post(saml.browser(), fields).status == 403
        assert saml.post(saml.browser(other.url), fields).status == 403
    finally:
        other.release()


def test_sign_in_is_audited(saml):
    name = saml.person()
    saml.sign_in()
    found = saml.api_site.ask("select details ->> 'method', details ->> 'provider' from audit_events where action = 'sign_in' and actor_name = %s", name)
    assert [method for method, _ in found] == ["saml"] and found[0][1].startswith("idp-")


def test_switched_off(saml):
    saml.person()
    browser, location = saml.begin()
    saml.set(enabled=False)
    assert saml.get(AUTH).status == 422
    assert "switched off" in saml.post(browser, saml.provider.sign_in(location)).text


# ---- what the provider says ----


def test_groups_become_teams(saml):
    org = saml.api_site.organization()
    devs, ops = team(org, f"devs-{org.organization[:8]}"), team(org, "operators", **{"sso-team-id": f"id-{org.organization}"})
    groups = [devs["attributes"]["name"], f"id-{org.organization}", "owners", "unknown"]
    name = saml.person(MemberOf=groups)
    saml.sign_in()
    assert teams(saml, name) == set(), "teams are not managed by default"
    saml.set(team_management_enabled=True)
    saml.sign_in()
    assert teams(saml, name) == {devs["attributes"]["name"], ops["attributes"]["name"]}
    saml.provider.person[1]["MemberOf"] = [",".join([groups[0], "other"])]
    saml.sign_in()
    assert teams(saml, name) == {groups[0]}, "one value is a list with commas"
    del saml.provider.person[1]["MemberOf"]
    saml.sign_in()
    assert teams(saml, name) == set(), "a provider leaves the attribute out for a person without groups"


def test_site_admins(saml):
    name = saml.person(SiteAdmin=["true"])
    saml.sign_in()
    assert account(saml, name)[1]
    saml.provider.person[1]["SiteAdmin"] = ["false"]
    saml.provider.person[1]["MemberOf"] = ["site-admins"]
    saml.sign_in()
    assert not account(saml, name)[1], "the attribute overrides the role"
    del saml.provider.person[1]["SiteAdmin"]
    saml.sign_in()
    assert account(saml, name)[1]
    saml.set(site_admin_role="")
    saml.provider.person[1]["MemberOf"] = ["others"]
    saml.sign_in()
    assert account(saml, name)[1], "without a role the groups say nothing"


def test_an_account_that_scim_maintains(saml):
    scim, org = idp.enabled(saml.api_site), saml.api_site.organization()
    saml.set(team_management_enabled=True)
    devs = team(org, f"devs-{org.organization[:8]}")["attributes"]["name"]
    saml.person(SiteAdmin=["true"], MemberOf=[devs])
    made = scim.user(saml.provider.person[0])
    saml.sign_in()
    (id_, name), = saml.api_site.ask("select u.id, u.username from identities i join users u on u.id = i.user_id where i.subject = %s", saml.provider.person[0])
    assert saml.api_site.ask("select user_id from scim_users where id = %s", made["id"]) == [(id_,)], "its userName is the NameID"
    assert (account(saml, name), teams(saml, name)) == ((id_, False), set()), "groups come from SCIM alone"
    saml.api_site.change("update users set is_site_admin = true where id = %s", id_)
    saml.provider.person[1]["SiteAdmin"] = ["false"]
    saml.sign_in()
    assert account(saml, name)[1]
    saml.admin.call("DELETE", "admin/scim-settings")
    saml.sign_in()
    assert (account(saml, name), teams(saml, name)) == ((id_, False), {devs})


def test_names_of_attributes(saml):
    saml.set(attr_username="login", attr_site_admin="admin")
    name = saml.person(login=["renamed-" + saml.admin.organization[:8]], admin=["1"])
    saml.sign_in()
    assert account(saml, "renamed-" + saml.admin.organization[:8])[1]
    assert not saml.api_site.ask("select from users where username = %s", name)


# ---- rotation ----


def test_rotation_of_the_certificate(saml):
    saml.person()
    old = saml.provider.certificate
    _, location = saml.begin()
    before = saml.provider.sign_in(location)
    saml.provider.rotate()
    settings = saml.set(idp_cert=saml.provider.certificate)
    assert settings["old-idp-cert"].split() == old.split()
    assert saml.post(saml.browser(), before).status == 403, "only because the browser is another"
    browser, location = saml.begin()
    saml.provider.serve(saml.provider.service)
    assert saml.post(browser, saml.provider.sign_in(location)).status == 200
    revoked = saml.admin.post("admin/saml-settings/actions/revoke-old-certificate").data["attributes"]
    assert revoked["old-idp-cert"] is None and revoked["idp-cert"] == saml.provider.certificate
    assert saml.sign_in().status == 200


def test_old_certificate_verifies_until_it_is_revoked(saml):
    saml.person()
    key, file = saml.provider.key, saml.provider.certificate_file
    saml.provider.rotate()
    saml.set(idp_cert=saml.provider.certificate)
    saml.provider.key, saml.provider.certificate_file, saml.provider.made = key, file, None
    assert saml.sign_in().status == 200
    saml.admin.post("admin/saml-settings/actions/revoke-old-certificate")
    assert saml.sign_in().status == 403


# ---- the provider's own sign-ins ----


def test_a_sign_in_that_begins_at_the_provider(saml):
    name = saml.person()

    def unsolicited():
        return saml.provider.unsolicited(saml.url + AUTH, saml.url + METADATA)

    assert saml.post(saml.browser(), unsolicited()).status == 403
    saml.set(idp_initiated_enabled=True)
    assert name in saml.post(saml.browser(), unsolicited()).ask(TOKENS).text
    _, location = saml.begin()
    answered = {**saml.provider.sign_in(location), "RelayState": ""}
    assert saml.post(saml.browser(), answered).status == 403, "an answer to a request is none that began there"


# ---- test and link ----


def admin_browser(saml):
    name = f"admin-{uuid.uuid4().hex[:10]}"
    password = saml.api_site.bootstrap(name, name)["password"]
    return saml.browser().sign_in(name, password), name


def test_a_test_shows_the_claims_and_changes_nothing(saml):
    browser, _ = admin_browser(saml)
    saml.set(enabled=False, team_management_enabled=True)
    name = saml.person(MemberOf=["devs", "<b>ops</b>"])
    saml.sign_in(browser, f"{AUTH}?purpose=test")
    assert browser.status == 200 and name in browser.text and '["devs","<b>ops</b>"]' in browser.text and "<b>" not in browser.page
    assert not saml.api_site.ask("select from users where username = %s", name)
    assert saml.browser().ask(f"{AUTH}?purpose=test").at.endswith("return=%2Fusers%2Fsaml%2Fauth%3Fpurpose%3Dtest")


def test_an_account_is_linked_by_its_owner(saml):
    browser, name = admin_browser(saml)
    saml.person()
    identities = "/app/settings/identities"
    link = next(part.split('"')[0] for part in browser.ask(identities).page.split('href="') if "purpose=link" in part)
    asked = browser.ask(link.replace("&amp;", "&"))
    assert asked.status == 200 and name in asked.text
    link = next(part.split('"')[0] for part in asked.page.split('href="') if "answer=" in part).replace("&amp;", "&")
    saml.sign_in(browser, link)
    assert browser.at.endswith(identities) and saml.provider.person[0] in browser.text, browser.text
    assert name in saml.sign_in(path=f"{AUTH}?return={TOKENS}").text


# ---- logout ----


def test_logout_begins_here(saml):
    name = saml.person()
    browser = saml.sign_in(path=f"{AUTH}?return={TOKENS}")
    browser.send("/app/logout")
    assert browser.status == 200 and browser.cookie is None and "signed out here" in browser.text
    address = browser.headers["Refresh"].removeprefix("0; url=")
    back = saml.provider.logout(address)
    assert saml.provider.logged_out[-1][0] == f"{name}@example.com" and saml.provider.logged_out[-1][2]
    assert back.startswith(saml.url + LOGOUT)
    assert "Sign in" in browser.ask(back).text
    assert "Sign in" in browser.ask(TOKENS).text


def test_logout_without_single_logout(saml):
    saml.set(slo_endpoint_url=None)
    name = saml.person()
    browser = saml.sign_in(path=f"{AUTH}?return={TOKENS}")
    assert name in browser.text
    browser.send("/app/logout")
    assert "still signed in at SAML" in browser.text and "Sign in" in browser.ask(TOKENS).text


@pytest.mark.parametrize("binding", ["redirect", "post"])
def test_logout_begins_at_the_provider(saml, binding):
    name = saml.person()
    browser, other = saml.sign_in(path=f"{AUTH}?return={TOKENS}"), saml.sign_in(path=f"{AUTH}?return={TOKENS}")
    assert name in browser.text and name in other.text
    index = saml.api_site.ask("select provider_session from sessions s join users u on u.id = s.user_id where username = %s order by s.created_at", name)[0][0]
    if binding == "redirect":
        answer = saml.browser().ask(saml.provider.logout_request(saml.url + LOGOUT, indexes=[index]))
    else:
        answer = saml.browser().ask(LOGOUT, saml.provider.logout_request(saml.url + LOGOUT, BINDING_HTTP_POST, indexes=[index]), follow=False)
    assert answer.status == 303 and answer.headers["Location"].startswith(saml.provider.url + "/slo?SAMLResponse="), answer.text
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["Location"]).query))
    assert query["RelayState"] == "relay" and "Signature" in query
    assert "Sign in" in browser.ask(TOKENS).text
    assert name in other.ask(TOKENS).text
    saml.browser().ask(saml.provider.logout_request(saml.url + LOGOUT))
    assert "Sign in" in other.ask(TOKENS).text, "without an index all sessions end"


def test_logouts_that_are_not_signed_or_changed_are_refused(saml):
    name = saml.person()
    browser = saml.sign_in(path=f"{AUTH}?return={TOKENS}")
    address = saml.provider.logout_request(saml.url + LOGOUT)
    unsigned = address.split("&SigAlg=")[0]
    twice = address + "&" + urllib.parse.urlsplit(unsigned).query.split("&")[0]
    for wrong in (unsigned, twice, address.replace("RelayState=relay", "RelayState=other"), address.replace("rsa-sha256", "rsa-sha1")):
        assert saml.browser().ask(wrong).status == 403
    posted = saml.provider.logout_request(saml.url + LOGOUT, BINDING_HTTP_POST)
    posted["SAMLRequest"] = posted["SAMLRequest"][:-400]
    assert saml.browser().ask(LOGOUT, posted).status == 403
    assert name in browser.ask(TOKENS).text
