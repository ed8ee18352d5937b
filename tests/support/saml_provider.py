# SPDX-License-Identifier: MPL-2.0
"""An identity provider of SAML 2.0 (pysaml2), with a page that signs its one person in at once."""

import base64
import html
import subprocess
import threading
import urllib.parse
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_EMAILADDRESS, NameID
from saml2.server import Server

from support.process import which

RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256"
PASSWORD = "urn:oasis:names:tc:SAML:2.0:ac:classes:Password"


def make_key(folder, name):
    """A key and a certificate of its own. Returns their files."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "30", "-subj", f"/CN={name}"],
                   check=True, capture_output=True)
    return key, certificate


class SamlProvider:
    """person: (NameID, attributes) of who is signed in there. answers: what /metadata answers in place of its own, as (status, headers, bytes)."""

    def __init__(self, folder):
        self.folder = folder
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.entity_id = f"{self.url}/metadata"
        self.service = None  # the metadata of the service that it serves
        self.format, self.person = NAMEID_FORMAT_EMAILADDRESS, ("ada@example.com", {"Username": ["ada"]})
        self.answer = {}
        self.encrypts, self.signs = False, True
        self.indexes, self.logged_out = [], []
        self.metadata_answers = []
        self.rotate()

    def release(self):
        self.http.shutdown()
        self.http.server_close()

    def rotate(self):
        """Signs with a new key from now on."""
        self.key, self.certificate_file = make_key(self.folder, f"idp-{uuid.uuid4().hex[:8]}")
        self.made = None

    @property
    def certificate(self):
        return self.certificate_file.read_text()

    def serve(self, service_metadata):
        """The operator has given it the metadata of the service."""
        self.service, self.made = service_metadata, None

    # ---- pysaml2 ----

    def config(self):
        bindings = [(f"{self.url}/slo", BINDING_HTTP_REDIRECT), (f"{self.url}/slo", BINDING_HTTP_POST)]
        return IdPConfig().load({
            "entityid": self.entity_id, "xmlsec_binary": which("xmlsec1"), "key_file": str(self.key), "cert_file": str(self.certificate_file),
            "metadata": {"inline": [self.service]} if self.service else {}, "allow_unknown_attributes": True,
            "service": {"idp": {
                "endpoints": {"single_sign_on_service": [(f"{self.url}/sso", BINDING_HTTP_REDIRECT)], "single_logout_service": bindings},
                "policy": {"default": {"lifetime": {"minutes": 15}, "attribute_restrictions": None,
                                       "name_form": "urn:oasis:names:tc:SAML:2.0:attrname-format:basic"}}}}})

    @property
    def server(self):
        self.made = self.made or Server(config=self.config())
        return self.made

    @property
    def metadata(self):
        return str(entity_descriptor(self.config()))

    # ---- sign-in ----

    def request_of(self, url):
        """Checks the request to which the browser was redirected, with its signature if it has one. Returns pysaml2's, and the query."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, strict_parsing=True))
        signed = {"sigalg": query["SigAlg"], "signature": query["Signature"]} if "Signature" in query else {}
        return self.server.parse_authn_request(query["SAMLRequest"], BINDING_HTTP_REDIRECT, relay_state=query.get("RelayState"), **signed), query

    def name_id(self):
        return NameID(format=self.format, text=self.person[0])

    def response(self, arguments):
        made = str(self.server.create_authn_response(
            self.person[1], name_id=self.name_id(), authn={"class_ref": PASSWORD, "authn_auth": self.entity_id}, sign_assertion=self.signs, sign_response=False,
            encrypt_assertion=self.encrypts, sign_alg=RSA_SHA256, digest_alg=SHA256, **arguments))
        return made

    def sign_in(self, url):
        """The person signs in at the address to which the service has redirected. Returns the fields of the form that the browser then posts."""
        request, query = self.request_of(url)
        arguments = self.server.response_args(request.message)
        taken = {name: arguments[name] for name in ("in_response_to", "destination", "sp_entity_id")}
        response = self.response(taken)
        return {"SAMLResponse": base64.b64encode(response.encode()).decode(), "RelayState": query.get("RelayState", "")}

    def unsolicited(self, destination, audience):
        """The fields of a sign-in that begins here."""
        response = self.response({"in_response_to": None, "destination": destination, "sp_entity_id": audience})
        return {"SAMLResponse": base64.b64encode(response.encode()).decode(), "RelayState": ""}

    # ---- logout ----

    def logout(self, url):
        """The browser brings the service's LogoutRequest. Returns the address with the answer."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, strict_parsing=True))
        request = self.server.parse_logout_request(query["SAMLRequest"], BINDING_HTTP_REDIRECT, relay_state=query.get("RelayState"),
                                                   sigalg=query["SigAlg"], signature=query["Signature"])
        self.logged_out.append((request.message.name_id.text, request.message.name_id.format, [index.text for index in request.message.session_index]))
        answer = self.server.create_logout_response(request.message, [BINDING_HTTP_REDIRECT], sign=False)
        made = self.server.apply_binding(BINDING_HTTP_REDIRECT, str(answer), answer.destination, query.get("RelayState", ""), response=True, sign=True, sigalg=RSA_SHA256)
        return dict(made["headers"])["Location"]

    def logout_request(self, destination, binding=BINDING_HTTP_REDIRECT, indexes=(), **options):
        """The logout that the provider begins: an address (redirect), or the fields of a form (POST)."""
        post = binding == BINDING_HTTP_POST
        _, request = self.server.create_logout_request(destination, issuer_entity_id=self.entity_id, name_id=self.name_id(), session_indexes=list(indexes), sign=post,
                                                       sign_alg=RSA_SHA256, digest_alg=SHA256, **options)
        if post:
            return {"SAMLRequest": base64.b64encode(str(request).encode()).decode(), "RelayState": "relay"}
        made = self.server.apply_binding(binding, str(request), destination, "relay", sign=True, sigalg=RSA_SHA256)
        return dict(made["headers"])["Location"]

    # ---- its pages ----

    def handler(provider):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                path = urllib.parse.urlsplit(self.path).path
                if path == "/metadata" and provider.metadata_answers:
                    self.reply(*provider.metadata_answers.pop(0))
                elif path == "/metadata":
                    self.reply(200, {"Content-Type": "application/samlmetadata+xml"}, provider.metadata.encode())
                elif path == "/sso":
                    self.sign_in()
                elif path == "/slo":
                    self.reply(302, {"Location": provider.logout(provider.url + self.path)}, b"")
                else:
                    self.reply(404, {}, b"")

            def sign_in(self):
                request, _ = provider.request_of(provider.url + self.path)
                fields = "".join(f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in provider.sign_in(provider.url + self.path).items())
                action = html.escape(provider.server.response_args(request.message)["destination"])
                page = f'<!doctype html><title>IdP</title><form method="post" action="{action}">{fields}<button>Continue</button></form><script>document.forms[0].submit()</script>'
                self.reply(200, {"Content-Type": "text/html"}, page.encode())

            def reply(self, status, headers, body):
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler
