# SPDX-License-Identifier: MPL-2.0
"""Responses of SAML that nobody may sign in with."""

import base64
import urllib.parse
import zlib

import pytest

from support.saml_messages import ASSERTION, DSIG, Maker, cut, encode, template
from support.saml_provider import make_key
from support.saml_site import AUTH

TOKENS = "/app/settings/tokens"
GOOD, EVIL = "mallory@example.com", "admin@example.com"


class Attempt:
    """A browser whose sign-in waits for the provider's answer, and what makes answers to it."""

    def __init__(self, saml):
        self.saml = saml
        self.browser, location = saml.begin(path=f"{AUTH}?return={TOKENS}")
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))
        self.state = query["RelayState"]
        request = zlib.decompress(base64.b64decode(query["SAMLRequest"]), -15).decode()
        self.maker = Maker(saml.provider, saml.url, cut(request, ' ID="', '" ').split('"')[1])

    def post(self, text):
        return self.saml.post(self.browser, {"SAMLResponse": encode(text), "RelayState": self.state})

    def refused(self, text, reason):
        """The reason is a part of what the audit trail says."""
        self.post(text)
        assert self.browser.status == 403 and self.browser.cookie is None, self.browser.text
        noted = self.saml.api_site.ask("select details ->> 'reason' from audit_events where action = 'sign_in_failed' order by position desc limit 1")[0][0]
        assert reason in noted, noted
        assert not self.saml.api_site.ask("select from identities where subject = %s", EVIL)


@pytest.fixture
def attempt(saml):
    return Attempt(saml)


def test_the_messages_of_these_tests_are_accepted(attempt):
    """So that each of the others is refused for what it changes."""
    assert "mallory" in attempt.post(attempt.maker.signed(GOOD, name="mallory")).text


# ---- signature wrapping ----


def wrapped(maker, variant):
    """The eight variants: what is signed stays in the message as it was, and another element is to be read."""
    signed_response = maker.sign(maker.sign(maker.response(maker.assertion(GOOD), signature=template("_response"))), "_response")
    message = maker.sign(maker.response(maker.assertion(GOOD)))
    original = cut(message, "<saml:Assertion", "</saml:Assertion>")
    signature = cut(original, "<ds:Signature", "</ds:Signature>")
    bare = original.replace(signature, "")
    evil = bare.replace(maker.id, "_evil").replace(GOOD, EVIL)
    outer = cut(signed_response, "</saml:Issuer><ds:Signature", "</ds:Signature>").removeprefix("</saml:Issuer>")
    forged = signed_response.replace('ID="_response"', 'ID="_evil"', 1).replace(GOOD, EVIL)
    with_evil = message.replace(original, "{}")
    return {
        # The whole response is signed: the original is put into the signature, or before it.
        1: lambda: forged.replace(outer, outer.replace("</ds:Signature>", f"<ds:Object>{signed_response.replace(outer, '')}</ds:Object></ds:Signature>")),
        2: lambda: forged.replace(outer, signed_response.replace(outer, "") + outer),
        # The assertion is signed: another one before it, around it, or with its signature.
        3: lambda: with_evil.format(evil + original),
        4: lambda: with_evil.format(evil.replace("</saml:Assertion>", original + "</saml:Assertion>")),
        5: lambda: with_evil.format(evil.replace("</saml:Issuer>", "</saml:Issuer>" + signature, 1) + bare),
        6: lambda: with_evil.format(evil.replace("</saml:Issuer>", "</saml:Issuer>" + signature.replace("</ds:Signature>", bare + "</ds:Signature>"), 1)),
        # The other one, or the original, in an element that may have any content.
        7: lambda: with_evil.format(f"<samlp:Extensions>{evil}</samlp:Extensions>{original}"),
        8: lambda: with_evil.format(evil.replace("</saml:Issuer>", "</saml:Issuer>" + signature.replace("</ds:Signature>", f"<ds:Object>{bare}</ds:Object></ds:Signature>"), 1)),
    }[variant]()


@pytest.mark.parametrize("variant, reason", [(1, "not the form"), (2, "inside of another"), (3, "more than one"), (4, "more than one"), (5, "more than one"),
                                             (6, "another element"), (7, "more than one"), (8, "not the form")])
def test_signature_wrapping(attempt, variant, reason):
    text = wrapped(attempt.maker, variant)
    assert EVIL in text and GOOD in text
    attempt.refused(text, reason)


def test_two_elements_with_one_id(attempt):
    message = attempt.maker.signed(GOOD)
    attempt.refused(message.replace("<samlp:Status>", f'<samlp:Extensions><x xmlns="urn:x" Id="{attempt.maker.id}"/></samlp:Extensions><samlp:Status>'), "same id")


def test_a_signature_of_another_element(attempt):
    message = attempt.maker.signed(GOOD)
    attempt.refused(message.replace(f'URI="#{attempt.maker.id}"', 'URI="#_response"'), "another element")
    attempt.refused(message.replace(f'URI="#{attempt.maker.id}"', 'URI=""'), "another element")


# ---- what is signed ----


def test_unsigned(attempt):
    attempt.refused(attempt.maker.response(attempt.maker.assertion(EVIL, signature="")), "not signed")


def test_only_the_response_is_signed(attempt):
    maker = attempt.maker
    attempt.refused(maker.sign(maker.response(maker.assertion(EVIL, signature=""), signature=template("_response")), "_response"), "the assertion is not signed")


def test_changed_after_signing(attempt):
    attempt.refused(attempt.maker.signed(GOOD).replace(GOOD, EVIL), "signature")


def test_a_signed_assertion_of_another_provider(attempt, tmp_path):
    key, certificate = make_key(tmp_path, "other")
    maker = attempt.maker
    text = maker.response(maker.assertion(EVIL))
    attempt.refused(maker.sign(text, key=key, certificate=certificate), "signature is not the identity provider's")
    maker.issuer = "http://another/metadata"
    attempt.refused(maker.sign(maker.response(maker.assertion(EVIL)), key=key, certificate=certificate), "another identity provider")


def test_an_unsigned_response_around_an_assertion_of_another_issuer(attempt):
    maker = attempt.maker
    attempt.refused(maker.sign(maker.response(maker.assertion(EVIL, issuer="http://another/metadata"))), "signature is not the identity provider's")


def test_two_assertions(attempt):
    maker = attempt.maker
    both = maker.assertion(GOOD) + maker.assertion(EVIL, identity="_second", signature="")
    attempt.refused(maker.sign(maker.response(both)), "more than one assertion")
    both = maker.assertion(EVIL, identity="_first") + maker.assertion(GOOD)
    attempt.refused(maker.sign(maker.sign(maker.response(both)), "_first"), "more than one assertion")


@pytest.mark.parametrize("method, digest", [(DSIG + "rsa-sha1", "http://www.w3.org/2001/04/xmlenc#sha256"), ("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", DSIG + "sha1"),
                                            (DSIG + "rsa-sha1", DSIG + "sha1")])
def test_sha1(attempt, method, digest):
    maker = attempt.maker
    attempt.refused(maker.sign(maker.response(maker.assertion(EVIL, signature=template(maker.id, method, digest)))), "is not accepted")


def test_a_key_that_both_know(attempt):
    """HMAC with the certificate's text as key: nobody has to keep it secret."""
    message = attempt.maker.signed(EVIL).replace("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", DSIG + "hmac-sha1")
    attempt.refused(message, "is not accepted")


def test_transforms(attempt):
    message = attempt.maker.signed(EVIL)
    step = '<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"><x/></ds:Transform></ds:Transforms>'
    attempt.refused(message.replace("</ds:Transforms>", step), "transform")


# ---- the text ----


@pytest.mark.parametrize("name", ["admin@example.com<!-- -->.evil.example", "admin<!-- -->@example.com"])
def test_comment_in_the_name(attempt, name):
    """Canonicalization leaves comments out, so the signature stays valid."""
    message = attempt.maker.signed(name.replace("<!-- -->", ""))
    attempt.refused(message.replace(name.replace("<!-- -->", ""), name, 1), "comment")


def test_other_markup(attempt):
    message = attempt.maker.signed(GOOD)
    for wrong, reason in ((message.replace(GOOD, f"<![CDATA[{EVIL}]]>"), "CDATA"), (message.replace(GOOD, f"<?x y?>{EVIL}"), "processing instruction"),
                          (message.replace(GOOD, f"<b xmlns=''>{EVIL}</b>"), "signature")):
        attempt.refused(wrong, reason)


@pytest.mark.parametrize("type_", ['<!DOCTYPE x [<!ENTITY e "admin@example.com">]>', '<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd">', '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
                                   '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'])
def test_document_types(attempt, type_):
    attempt.refused(type_ + attempt.maker.signed(GOOD).replace(GOOD, "&e;"), "document type")
    attempt.refused('<?xml version="1.0"?>' + type_ + attempt.maker.signed(GOOD), "document type")


def test_other_encodings(attempt):
    message = attempt.maker.signed(GOOD)
    attempt.refused(message.encode("utf-16"), "UTF-8")
    attempt.refused(f'<?xml version="1.0" encoding="UTF-7"?>{message}', "encoding is not UTF-8")
    attempt.refused(message.replace(GOOD, GOOD + "\x00"), "UTF-8")


def test_sizes(attempt):
    message = attempt.maker.signed(GOOD)
    attempt.refused(message.replace("<samlp:Status>", " " * (256 << 10) + "<samlp:Status>"), "256 KiB")
    attempt.refused(message.replace("<samlp:Status>", "<samlp:Extensions>" + "<a>" * 100 + "</a>" * 100 + "</samlp:Extensions><samlp:Status>"), "deep")
    attempt.refused(message.replace("<samlp:Status>", "<samlp:Status " + " ".join(f'a{i}=""' for i in range(100)) + ">"), "attributes")
    attempt.refused(message.replace("<samlp:Status>", "<samlp:Extensions>" + "<a/>" * 21000 + "</samlp:Extensions><samlp:Status>"), "tags")
    attempt.refused("<", "well-formed")
    assert attempt.saml.browser().ask(AUTH, {"RelayState": attempt.state}).status == 400
    attempt.refused("<", "well-formed")
    too_large = attempt.saml.browser().ask(AUTH, {"SAMLResponse": "x" * (600 << 10), "RelayState": attempt.state}, follow=False)
    assert too_large.status == 413


# ---- audience, recipient and times ----


@pytest.mark.parametrize("changed, reason", [
    ({"audience": "https://another/users/saml/metadata"}, "Audience"), ({"audience": None}, "Audience"), ({"recipient": "https://another/users/saml/auth"}, "Recipient"),
    ({"answers": "_other"}, "InResponseTo"), ({"answers": None}, "InResponseTo"), ({"begins": 120}, "not yet valid"), ({"begins": -600, "ends": -90}, "expired"),
    ({"conditions": '<saml:Condition xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x"/>'}, "condition"),
    ({"conditions": "<saml:AudienceRestriction><saml:Audience>https://another</saml:Audience></saml:AudienceRestriction>"}, "Audience"),
])
def test_assertions_for_another_place_or_time(attempt, changed, reason):
    attempt.refused(attempt.maker.signed(GOOD, **changed), reason)


def test_clocks_may_differ_by_a_minute(saml):
    assert Attempt(saml).post(Attempt(saml).maker.signed(GOOD)).status == 403, "another request"
    for changed in ({"begins": 40}, {"ends": -40}):
        attempt = Attempt(saml)
        assert attempt.post(attempt.maker.signed(GOOD, **changed)).status == 200, changed


@pytest.mark.parametrize("changed, reason", [({"destination": "https://another/users/saml/auth"}, "Destination"), ({"answers": "_other"}, "InResponseTo"),
                                             ({"issuer": "https://another/metadata"}, "another identity provider"),
                                             ({"status": "urn:oasis:names:tc:SAML:2.0:status:Responder"}, "refused the sign-in")])
def test_responses_for_another_place(attempt, changed, reason):
    maker = attempt.maker
    attempt.refused(maker.sign(maker.response(maker.assertion(GOOD), **changed)), reason)


def test_replay(attempt, saml):
    message = attempt.maker.signed(GOOD)
    assert attempt.post(message).status == 200
    attempt.browser = saml.browser()
    assert "did not begin here" in attempt.post(message).text and attempt.browser.status == 403
    saml.set(idp_initiated_enabled=True)
    again = Attempt(saml)
    unsolicited = again.maker.sign(again.maker.response(again.maker.assertion(GOOD, identity="_once", answers=None), answers=None), "_once")
    again.state = ""
    assert again.post(unsolicited).status == 200
    again.browser = saml.browser()
    again.refused(unsolicited, "used before")


def test_the_code_is_used_once(attempt, saml):
    posted = saml.browser().ask(AUTH, {"SAMLResponse": encode(attempt.maker.signed(GOOD)), "RelayState": attempt.state}, follow=False)
    path = posted.headers["Location"]
    assert posted.status == 303 and saml.browser().ask(path).status == 403
    assert attempt.browser.ask(path).status == 403 and attempt.browser.cookie is None


def test_where_the_browser_goes_on_is_here(saml):
    for away in ("https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"):
        saml.person()
        browser = saml.sign_in(path=f"{AUTH}?return={urllib.parse.quote(away)}")
        assert browser.at == f"{saml.url}/app", browser.at
