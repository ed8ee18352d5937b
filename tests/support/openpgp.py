# SPDX-License-Identifier: MPL-2.0
"""Keys and signatures of OpenPGP, made by gpg."""

import shutil
import subprocess
import tempfile
from functools import cache


class Signer:
    """A key in a folder of its own. remove() ends gpg's agent."""

    def __init__(self, name="Runyard tests", kind="ed25519", expires="never"):
        self.home = tempfile.mkdtemp(prefix="gpg-")
        self.gpg("--passphrase", "", "--quick-gen-key", f"{name} <tests@example.com>", kind, "sign", expires)
        lines = self.gpg("--list-keys", "--with-colons").decode().splitlines()
        self.fingerprint = next(line.split(":")[9] for line in lines if line.startswith("fpr:"))
        self.key_id = self.fingerprint[-16:]

    def gpg(self, *arguments, stdin=b""):
        command = ("gpg", "--homedir", self.home, "--batch", "--yes", "--pinentry-mode", "loopback", *arguments)
        return subprocess.run(command, input=stdin, check=True, capture_output=True, timeout=60).stdout

    @property
    def armor(self):
        return self.gpg("--armor", "--export").decode()

    @property
    def secret_armor(self):
        return self.gpg("--armor", "--passphrase", "", "--export-secret-keys").decode()

    def sign(self, content, *options):
        """A detached signature, binary unless the options say otherwise."""
        return self.gpg("--passphrase", "", "--local-user", self.fingerprint, *options, "--detach-sign", stdin=content)

    def add_subkey(self):
        self.gpg("--passphrase", "", "--quick-add-key", self.fingerprint, "ed25519", "sign", "never")

    def revoke(self):
        certificate = (f"{self.home}/openpgp-revocs.d/{self.fingerprint}.rev")
        with open(certificate, encoding="utf-8") as file:
            self.gpg("--import", stdin=file.read().replace(":-----BEGIN", "-----BEGIN").encode())

    def remove(self):
        subprocess.run(("gpgconf", "--homedir", self.home, "--kill", "all"), check=False, capture_output=True, timeout=60)
        shutil.rmtree(self.home, ignore_errors=True)


@cache
def signer(name="Runyard tests", **options):
    """A key that the tests of a process share: nobody changes it."""
    import atexit
    made = Signer(name, **options)
    atexit.register(made.remove)
    return made
