# SPDX-License-Identifier: MPL-2.0
"""A certificate authority for one test's TLS."""

import ssl
import subprocess
from pathlib import Path


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def key(path):
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
    return path


class Authority:
    """`file` is its certificate (for SSL_CERT_FILE and --ca-file). context() is an ssl.SSLContext that trusts only it."""

    def __init__(self, folder):
        self.folder = Path(folder) / "authority"
        self.folder.mkdir()
        self.folder.chmod(0o755)
        self.key = key(self.folder / "ca.key")
        self.file = self.folder / "ca.pem"
        openssl("req", "-x509", "-new", "-key", self.key, "-sha256", "-days", 2, "-subj", "/CN=Runyard test CA",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-out", self.file)

    def context(self):
        return ssl.create_default_context(cafile=self.file)

    def issue(self, name="server", hosts=("DNS:localhost", "IP:127.0.0.1"), usage="serverAuth"):
        """The files of a new certificate with its chain, and of its key."""
        own = key(self.folder / f"{name}.key")
        request, leaf, chain = (self.folder / f"{name}.{end}" for end in ("csr", "crt", "pem"))
        more = self.folder / f"{name}.cnf"
        more.write_text(f"subjectAltName={','.join(hosts)}\nextendedKeyUsage={usage}\n")
        openssl("req", "-new", "-key", own, "-subj", f"/CN={name}", "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key, "-CAcreateserial", "-days", 1, "-sha256",
                "-extfile", more, "-out", leaf)
        chain.write_text(leaf.read_text() + self.file.read_text())
        return chain, own

    def serving(self, name="server"):
        """The options of a scheduler with a new certificate, and the test's trust in it."""
        certificate, own = self.issue(name)
        return {"tls_certificate": certificate, "tls_key": own, "trust": self.context()}
