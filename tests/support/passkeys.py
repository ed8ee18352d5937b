# SPDX-License-Identifier: MPL-2.0
"""Second factors as people have them: an authenticator app, and a passkey made with the openssl command. Each part of a
passkey's answer can be wrong."""

import base64
import hashlib
import hmac
import json
import struct
import subprocess
import tempfile
import time
from pathlib import Path


def app_code(secret, at=None):
    """The code of RFC 6238 for a secret in base32, now or at that time."""
    step = int(time.time() if at is None else at) // 30
    digest = hmac.new(base64.b32decode(secret + "=" * (-len(secret) % 8)), struct.pack(">Q", step), hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place:place + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


def url64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def cbor(value):
    """RFC 8949, as far as passkeys use it."""
    def head(kind, number):
        for limit, mark, form in ((24, None, None), (1 << 8, 24, ">B"), (1 << 16, 25, ">H"), (1 << 32, 26, ">I")):
            if number < limit:
                return bytes([kind << 5 | (number if mark is None else mark)]) + (struct.pack(form, number) if form else b"")

    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    return head(5, len(value)) + b"".join(cbor(key) + cbor(item) for key, item in value.items())


def openssl(*words, data=b""):
    return subprocess.run(["openssl", *words], input=data, capture_output=True, check=True).stdout


KEYS = {"ES256": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "EdDSA": ["ED25519"], "RS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]}


class Passkey:
    """A passkey for a site at that origin. Its counter grows with each use."""

    def __init__(self, origin, algorithm="ES256"):
        self.origin, self.algorithm = origin, algorithm
        self.id = hashlib.sha256(str(id(self)).encode() + struct.pack(">d", time.time())).digest()
        self.counter = 1
        self.folder = tempfile.TemporaryDirectory(prefix="runyard-passkey.")
        self.key = Path(self.folder.name, "key.pem")
        self.key.write_bytes(openssl("genpkey", "-algorithm", *KEYS[algorithm]))

    @property
    def party(self):
        return self.origin.split("://")[1].split(":")[0]

    def public_key(self):
        """In COSE's form."""
        public = openssl("pkey", "-in", self.key, "-pubout", "-outform", "DER")
        if self.algorithm == "ES256":
            return cbor({1: 2, 3: -7, -1: 1, -2: public[-64:-32], -3: public[-32:]})
        if self.algorithm == "EdDSA":
            return cbor({1: 1, 3: -8, -1: 6, -2: public[-32:]})
        modulus = bytes.fromhex(openssl("rsa", "-in", self.key, "-noout", "-modulus").decode().strip().partition("=")[2])
        return cbor({1: 3, 3: -257, -1: modulus, -2: b"\x01\x00\x01"})

    def client_data(self, type, challenge, origin):
        return json.dumps({"type": type, "challenge": challenge, "origin": origin or self.origin, "crossOrigin": False}).encode()

    def authenticator_data(self, flags, party, more=b""):
        return hashlib.sha256((party or self.party).encode()).digest() + struct.pack(">BI", flags, self.counter) + more

    def creation(self, challenge, *, origin=None, party=None, flags=0x45, type="webauthn.create"):
        """The fields of the form that registers it."""
        credential = b"\0" * 16 + struct.pack(">H", len(self.id)) + self.id + self.public_key()
        data = self.authenticator_data(flags, party, credential)
        return {"client_data": url64(self.client_data(type, challenge, origin)),
                "attestation": url64(cbor({"fmt": "none", "attStmt": {}, "authData": data}))}

    def sign(self, data):
        if self.algorithm != "EdDSA":
            return openssl("dgst", "-sha256", "-sign", self.key, data=data)
        text = Path(self.folder.name, "text")
        text.write_bytes(data)
        return openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.key, "-in", text)

    def assertion(self, challenge, *, origin=None, party=None, flags=0x05, type="webauthn.get", grows=True):
        """The fields of the form that signs in with it."""
        self.counter += grows
        client, data = self.client_data(type, challenge, origin), self.authenticator_data(flags, party)
        return {"credential": url64(self.id), "client_data": url64(client), "authenticator_data": url64(data),
                "signature": url64(self.sign(data + hashlib.sha256(client).digest()))}
