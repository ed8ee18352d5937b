# SPDX-License-Identifier: MPL-2.0
"""The settings of sign-in by SAML."""

import pytest

from support.saml_provider import make_key
from support.saml_site import AUTH, LOGOUT, METADATA


def refused(saml, **attributes):
    """The errors' details and pointers, as one text."""
    answer = saml.admin.call("PATCH", "admin/saml-settings", {"data": {"type": "saml-settings", "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}})
    assert answer.status == 422, answer.text
    return answer.text


def test_defaults(saml):
    saml.api_site.change("delete from identity_providers where kind = 'saml'")
    settings = saml.settings()
    assert settings == {
        "permissions": {"can-read": True, "can-update": True},
        "enabled": False, "name": "SAML", "debug": False, "idp-cert": None, "old-idp-cert": None, "slo-endpoint-url": None, "sso-endpoint-url": None,
        "attr-username": "Username", "attr-groups": "MemberOf", "attr-site-admin": "SiteAdmin", "site-admin-role": "site-admins",
        "sso-api-token-session-timeout": 1209600, "team-management-enabled": False, "authn-requests-signed": False, "want-assertions-signed": False,
        "certificate": None, "private-key": None, "private-key-set": False, "signature-signing-method": "SHA256", "signature-digest-method": "SHA256",
        "provider-type": "unknown", "acs-consumer-url": saml.url + AUTH, "metadata-url": saml.url + METADATA, "slo-url": saml.url + LOGOUT,
        "idp-entity-id": None, "idp-initiated-enabled": False, "email-addresses-verified": False, "problems": []}
    assert saml.get(AUTH).status == 422
    document = saml.get(METADATA + ".xml").page
    assert f'entityID="{saml.url}{METADATA}"' in document and 'WantAssertionsSigned="true"' in document and "KeyDescriptor" not in document


def test_the_private_key_is_not_shown(saml):
    answer = saml.admin.get("admin/saml-settings")
    assert answer.data["attributes"]["private-key-set"] is True and "PRIVATE" not in answer.text
    stored = saml.api_site.ask("select settings::text, encode(secret_sealed, 'escape') from identity_providers where kind = 'saml'")[0]
    assert "PRIVATE" not in stored[0] + stored[1]
    assert saml.set(private_key=None)["private-key-set"] is False


def test_metadata_by_address(saml):
    settings = saml.settings()
    assert settings["idp-entity-id"] == saml.provider.entity_id and settings["sso-endpoint-url"] == saml.provider.url + "/sso"
    assert settings["slo-endpoint-url"] == saml.provider.url + "/slo" and settings["idp-cert"].split() == saml.provider.certificate.split()
    assert settings["problems"] == []


def test_metadata_as_text(saml):
    saml.api_site.change("delete from identity_providers where kind = 'saml'")
    settings = saml.set(idp_metadata="<!-- made by hand -->" + saml.provider.metadata.removeprefix('<?xml version="1.0"?>'))
    assert settings["idp-entity-id"] == saml.provider.entity_id and not settings["enabled"]


@pytest.mark.parametrize("answer, reason", [
    ((302, {"Location": "/metadata"}, b""), "redirect"), ((404, {}, b"not here"), "status 404"), ((200, {}, b"<html></html>"), "no metadata"),
    ((200, {}, b"x" * (257 << 10)), "larger than 256 KiB"), ((200, {}, b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'), "document type"),
    ((200, {}, b""), "no XML document")])
def test_metadata_that_is_refused(saml, answer, reason):
    before = saml.settings()
    saml.provider.metadata_answers.append(answer)
    text = refused(saml, idp_metadata_url=saml.provider.entity_id)
    assert reason in text and "not here" not in text
    assert saml.settings() == before


@pytest.mark.parametrize("url", ["http://169.254.169.254/latest/meta-data", "http://10.0.0.1/metadata", "file:///etc/passwd", "ftp://127.0.0.1/x", "http://[::1]/"])
def test_metadata_of_addresses_that_are_not_public(saml, url):
    assert "/data/attributes/idp-metadata-url" in refused(saml, idp_metadata_url=url)


def test_values_that_are_refused(saml):
    for attributes in ({"sso_endpoint_url": "javascript:alert(1)"}, {"sso_endpoint_url": "https://"}, {"slo_endpoint_url": "https://x/\"><script>"},
                       {"signature_signing_method": "MD5"}, {"signature_digest_method": "SHA1234"}, {"provider_type": "other"}, {"sso_api_token_session_timeout": -1},
                       {"name": ""}, {"name": "x" * 65}, {"enabled": "yes"}, {"idp_metadata": "<x/>"}, {"sso_endpoint_url": None, "enabled": True}, {"idp_cert": "", "enabled": True}):
        name = list(attributes)[0].replace("_", "-")
        assert f"/data/attributes/{name}" in refused(saml, **attributes), attributes


def test_values_that_do_not_work_are_problems(saml, tmp_path):
    _, other = make_key(tmp_path, "other")
    settings = saml.set(idp_cert="testCert", certificate=other.read_text())
    assert settings["problems"] == ["idp-cert: it is no certificate in PEM", "private-key: it is not the key of the certificate"]
    assert saml.set(certificate="testCert", private_key="testKey")["problems"][1:] == [
        "certificate: it is no certificate in PEM", "private-key: it is no private key in PEM, or it has a password"]
    assert saml.get(AUTH).status == 409 and saml.get(METADATA).status == 200


def test_the_entity_id_of_the_first_answer_stays(saml):
    """Clients of Terraform Enterprise do not know the setting."""
    saml.set(idp_entity_id=None)
    assert saml.settings()["idp-entity-id"] is None
    saml.person()
    assert saml.sign_in().status == 200
    assert saml.settings()["idp-entity-id"] == saml.provider.entity_id
    real, saml.provider.entity_id = saml.provider.entity_id, "https://another/metadata"
    try:
        saml.provider.made = None
        assert saml.sign_in().status == 403
        saml.set(sso_endpoint_url=saml.provider.url + "/sso?other")
        assert saml.settings()["idp-entity-id"] is None, "another address may be another provider"
    finally:
        saml.provider.entity_id, saml.provider.made = real, None


def test_reasons_are_shown_while_debugging(saml):
    saml.person()
    saml.provider.signs = False
    assert "audit trail" in saml.sign_in().text
    saml.set(debug=True)
    assert "not signed" in saml.sign_in().text


def test_changes_are_audited_without_secrets(saml):
    saml.set(private_key=saml.key, attr_groups="groups")
    noted = saml.api_site.ask("select action, row_to_json(e)::text from audit_events e where resource_type = 'admin' order by position desc limit 1")[0]
    assert noted[0] == "update" and "private-key" in noted[1] and "PRIVATE" not in noted[1]


def test_only_site_admins(saml):
    stranger = saml.api_site.stranger()
    body = {"data": {"type": "saml-settings", "attributes": {"enabled": False}}}
    for method, path in (("GET", ""), ("PATCH", ""), ("POST", "/actions/revoke-old-certificate")):
        assert stranger.call(method, "admin/saml-settings" + path, body).status == 404
    assert saml.settings()["enabled"]
