# SPDX-License-Identifier: MPL-2.0
"""Responses of SAML as texts, signed by xmlsec1, for attacks that no library makes."""

import base64
import datetime
import subprocess
import tempfile
import uuid
from pathlib import Path

PROTOCOL, ASSERTION, DSIG = "urn:oasis:names:tc:SAML:2.0:protocol", "urn:oasis:names:tc:SAML:2.0:assertion", "http://www.w3.org/2000/09/xmldsig#"
RSA_SHA256, SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", "http://www.w3.org/2001/04/xmlenc#sha256"
EXCLUSIVE, ENVELOPED = "http://www.w3.org/2001/10/xml-exc-c14n#", DSIG + "enveloped-signature"
SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"


def time_at(seconds):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def template(identity, method=RSA_SHA256, digest=SHA256, transforms=(ENVELOPED, EXCLUSIVE)):
    """A signature that xmlsec1 fills in."""
    steps = "".join(f'<ds:Transform Algorithm="{step}"/>' for step in transforms)
    return (f'<ds:Signature xmlns:ds="{DSIG}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="{EXCLUSIVE}"/><ds:SignatureMethod Algorithm="{method}"/>'
            f'<ds:Reference URI="#{identity}"><ds:Transforms>{steps}</ds:Transforms><ds:DigestMethod Algorithm="{digest}"/><ds:DigestValue/></ds:Reference></ds:SignedInfo>'
            "<ds:SignatureValue/><ds:KeyInfo><ds:X509Data/></ds:KeyInfo></ds:Signature>")


class Maker:
    """Makes responses to a request, from the provider to the service at that address."""

    def __init__(self, provider, site_url, request_id):
        self.provider, self.request_id = provider, request_id
        self.audience, self.consumer = site_url + "/users/saml/metadata", site_url + "/users/saml/auth"
        self.issuer = provider.entity_id
        self.id = f"_{uuid.uuid4().hex}"  # of the assertion, which is used once

    def assertion(self, subject, identity=None, signature=None, **changed):
        """Unsigned, but with the template of a signature. changed: audience, recipient, answers, issuer, begins, ends, conditions, name."""
        given = {"audience": self.audience, "recipient": self.consumer, "answers": self.request_id, "issuer": self.issuer, "begins": -5, "ends": 300, "name": subject,
                 "conditions": "", **changed}
        identity = identity or self.id
        answers = f' InResponseTo="{given["answers"]}"' if given["answers"] else ""
        audience = f'<saml:AudienceRestriction><saml:Audience>{given["audience"]}</saml:Audience></saml:AudienceRestriction>' if given["audience"] else ""
        return (
            f'<saml:Assertion xmlns:saml="{ASSERTION}" ID="{identity}" Version="2.0" IssueInstant="{time_at(0)}"><saml:Issuer>{given["issuer"]}</saml:Issuer>'
            f'{template(identity) if signature is None else signature}<saml:Subject><saml:NameID>{subject}</saml:NameID>'
            f'<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData Recipient="{given["recipient"]}" '
            f'NotOnOrAfter="{time_at(given["ends"])}"{answers}/></saml:SubjectConfirmation></saml:Subject>'
            f'<saml:Conditions NotBefore="{time_at(given["begins"])}" NotOnOrAfter="{time_at(given["ends"])}">{audience}{given["conditions"]}</saml:Conditions>'
            f'<saml:AuthnStatement AuthnInstant="{time_at(0)}" SessionIndex="s"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password'
            "</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>"
            f'<saml:Attribute Name="Username"><saml:AttributeValue>{given["name"]}</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion>')

    def response(self, body, identity="_response", signature="", **changed):
        given = {"destination": self.consumer, "answers": self.request_id, "issuer": self.issuer, "status": SUCCESS, **changed}
        answers = f' InResponseTo="{given["answers"]}"' if given["answers"] else ""
        return (f'<samlp:Response xmlns:samlp="{PROTOCOL}" ID="{identity}" Version="2.0" IssueInstant="{time_at(0)}" Destination="{given["destination"]}"{answers}>'
                f'<saml:Issuer xmlns:saml="{ASSERTION}">{given["issuer"]}</saml:Issuer>{signature}<samlp:Status><samlp:StatusCode Value="{given["status"]}"/></samlp:Status>'
                f"{body}</samlp:Response>")

    def sign(self, text, identity=None, key=None, certificate=None):
        """Fills in the signature of the element with that id."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "message.xml"
            file.write_text(text)
            done = subprocess.run(["xmlsec1", "--sign", "--privkey-pem", f"{key or self.provider.key},{certificate or self.provider.certificate_file}", "--id-attr:ID",
                                   f"{ASSERTION}:Assertion", "--id-attr:ID", f"{PROTOCOL}:Response", "--node-xpath",
                                   f"//*[@ID='{identity or self.id}']/*[local-name()='Signature']", file], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.removeprefix('<?xml version="1.0"?>\n').strip()

    def signed(self, subject, **changed):
        """A response whose assertion is signed."""
        return self.sign(self.response(self.assertion(subject, **changed)))


def cut(text, begin, end):
    """The part of the text from `begin` to `end`, both included."""
    start = text.index(begin)
    return text[start:text.index(end, start) + len(end)]


def encode(text):
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()
