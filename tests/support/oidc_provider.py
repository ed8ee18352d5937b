# SPDX-License-Identifier: MPL-2.0
"""An OpenID provider that a test controls: it signs with any algorithm, answers wrongly on demand, and sends logouts. tests/extended has Keycloak, a real one."""

import base64
import hashlib
import hmac
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from support.vcs_fakes.server import Served

LOGOUT = "http://schemas.openid.net/event/backchannel-logout"


def encoded(data):
    if not isinstance(data, bytes):
        data = json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value):
    return encoded(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class Key:
    """A key pair with its algorithm: RS256, PS256, ES256 or EdDSA."""

    def __init__(self, algorithm="RS256", bits=2048):
        self.id, self.algorithm = uuid.uuid4().hex, algorithm
        self.private = {"ES256": lambda: ec.generate_private_key(ec.SECP256R1()), "EdDSA": ed25519.Ed25519PrivateKey.generate}.get(
            algorithm, lambda: rsa.generate_private_key(65537, bits))()

    def public(self):
        numbers = self.private.public_key().public_numbers() if self.algorithm != "EdDSA" else None
        head = {"kid": self.id, "use": "sig", "alg": self.algorithm}
        if self.algorithm == "ES256":
            return {**head, "kty": "EC", "crv": "P-256", "x": encoded(numbers.x.to_bytes(32, "big")), "y": encoded(numbers.y.to_bytes(32, "big"))}
        if self.algorithm == "EdDSA":
            return {**head, "kty": "OKP", "crv": "Ed25519", "x": encoded(self.private.public_key().public_bytes_raw())}
        return {**head, "kty": "RSA", "n": number(numbers.n), "e": number(numbers.e)}

    def sign(self, data):
        if self.algorithm == "ES256":
            r, s = decode_dss_signature(self.private.sign(data, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        if self.algorithm == "EdDSA":
            return self.private.sign(data)
        pss = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
        return self.private.sign(data, pss if self.algorithm == "PS256" else padding.PKCS1v15(), hashes.SHA256())

    def token(self, claims, **header):
        head = {"alg": self.algorithm, "kid": self.id, "typ": "JWT", **header}
        signed = f"{encoded({name: value for name, value in head.items() if value is not None})}.{encoded(claims)}"
        return f"{signed}.{encoded(self.sign(signed.encode()))}"


def unsigned(claims):
    return f"{encoded({'alg': 'none'})}.{encoded(claims)}."


def signed_with_the_public_key(key, claims):
    """HS256 with the text of the public key as the secret."""
    signed = f"{encoded({'alg': 'HS256', 'kid': key.id})}.{encoded(claims)}"
    return f"{signed}.{encoded(hmac.digest(json.dumps(key.public()).encode(), signed.encode(), 'sha256'))}"


class OidcProvider(Served):
    """`person` has the claims of whoever signs in next. `change` (a function of the claims) and `make_token` (of the key and the claims) change the next ID tokens.
    userinfo: what its endpoint says in addition; None: it fails. away: the provider answers no request."""

    def __init__(self, algorithm="RS256", tls=None):
        self.client, self.secret = f"client-{uuid.uuid4().hex}", f"secret/+&{uuid.uuid4().hex}"
        self.keys = [Key(algorithm)]
        self.person = {"sub": "ada", "preferred_username": "ada", "email": "ada@example.com", "email_verified": True, "groups": []}
        self.change, self.make_token = lambda claims: claims, lambda key, claims: key.token(claims)
        self.userinfo, self.graph = {}, None
        self.codes, self.tokens, self.asked = {}, {}, []
        self.away = threading.Event()
        super().__init__(tls)
        self.issuer = self.url

    def attributes(self, name=None, **more):
        """Of its oidc-settings."""
        return {"name": name or f"provider-{uuid.uuid4().hex[:8]}", "issuer": self.issuer, "client-id": self.client, "client-secret": self.secret, **more}

    # ---- the person's browser ----

    def page(self, url):
        """The person signs in on the page at the URL. Returns the address to which the browser is sent."""
        parts = urllib.parse.urlsplit(url)
        query = dict(urllib.parse.parse_qsl(parts.query, strict_parsing=True))
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.url}/authorize", url
        assert query["response_type"] == "code" and query["client_id"] == self.client and "openid" in query["scope"].split(), query
        assert query["code_challenge_method"] == "S256" and len(query["code_challenge"]) == 43 and len(query["state"]) >= 43 and len(query["nonce"]) >= 43
        code = f"code-{uuid.uuid4().hex}"
        self.codes[code] = {"challenge": query["code_challenge"], "redirect": query["redirect_uri"], "nonce": query["nonce"], "person": dict(self.person), "fresh": query.get("max_age") == "0"}
        return f"{query['redirect_uri']}?{urllib.parse.urlencode({'code': code, 'state': query['state'], 'iss': self.issuer})}"

    # ---- requests of the client ----

    def claims(self, known):
        now = int(time.time())
        return self.change({"iss": self.issuer, "aud": self.client, "iat": now, "exp": now + 300, "auth_time": now, "nonce": known["nonce"], **known["person"]})

    def exchange(self, headers, form):
        pair = f"{urllib.parse.quote(self.client, safe='')}:{urllib.parse.quote(self.secret, safe='')}"
        if headers.get("Authorization") != f"Basic {base64.b64encode(pair.encode()).decode()}":
            return 401, {"error": "invalid_client"}
        known = self.codes.pop(form.get("code"), None)
        if not known or form["redirect_uri"] != known["redirect"] or encoded(hashlib.sha256(form["code_verifier"].encode()).digest()) != known["challenge"]:
            return 400, {"error": "invalid_grant"}
        access = f"access-{uuid.uuid4().hex}"
        self.tokens[access] = known["person"]
        return 200, {"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": self.make_token(self.keys[0], self.claims(known))}

    def answer(self, method, path, headers, body):
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            return 200, {"issuer": self.issuer, "authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token", "jwks_uri": f"{self.url}/keys",
                         "userinfo_endpoint": f"{self.url}/userinfo", "end_session_endpoint": f"{self.url}/end", "token_endpoint_auth_methods_supported": ["client_secret_basic"]}
        if path == "/keys":
            return 200, {"keys": [key.public() for key in self.keys]}
        if path == "/token":
            return self.exchange(headers, dict(urllib.parse.parse_qsl(body, keep_blank_values=True)))
        person = self.tokens.get(headers.get("Authorization", "").removeprefix("Bearer "))
        if path == "/userinfo" and self.userinfo is None:
            return 500, {}
        if path == "/userinfo" and person:
            return 200, {"sub": person["sub"], **self.userinfo}
        if path.startswith("/graph") and person and self.graph:
            return 200, self.graph(path)
        return 404, {"error": "not_found"}

    def _handler(provider):
        class Handler(BaseHTTPRequestHandler):
            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                if provider.away.is_set():
                    self.connection.close()
                    return
                parts = urllib.parse.urlsplit(self.path)
                if parts.path == "/authorize":  # of a real browser
                    self.send_response(302)
                    self.send_header("Location", provider.page(provider.url + self.path))
                    self.end_headers()
                    return
                status, document = provider.answer(self.command, self.path, self.headers, body)
                data = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = serve

            def log_message(self, *_):
                pass

        return Handler

    close = Served.release

    # ---- logout ----

    def logout_token(self, **claims):
        now = int(time.time())
        return self.keys[0].token({"iss": self.issuer, "aud": self.client, "iat": now, "exp": now + 120, "jti": uuid.uuid4().hex, "events": {LOGOUT: {}}, **claims}, typ="logout+jwt")

    def log_out(self, url, token):
        """Sends the logout token. Returns the status."""
        request = urllib.request.Request(url, urllib.parse.urlencode({"logout_token": token}).encode())
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
