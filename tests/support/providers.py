# SPDX-License-Identifier: MPL-2.0
"""Providers of a private registry, published by upload as clients of the API do, signed by gpg."""

import hashlib
import io
import zipfile

from support.documents import document
from support.openpgp import signer

TYPE, VERSION, PLATFORM, KEY = "registry-providers", "registry-provider-versions", "registry-provider-version-platforms", "gpg-keys"
KEYS = "/api/registry/private/v2/gpg-keys"
PROVIDERS = "/api/registry/v1/providers"


def zip_of(files):
    """A zip of {name: bytes}, each executable."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o100755 << 16
            packed.writestr(info, content)
    return out.getvalue()


def sha(content):
    return hashlib.sha256(content).hexdigest()


def file_name(name, version, platform):
    return f"terraform-provider-{name}_{version}_{platform}.zip"


def shasums(files):
    return "".join(f"{sha(content)}  {name}\n" for name, content in files.items()).encode()


class Providers:
    """The registry of the client's organization."""

    def __init__(self, api, key=None):
        self.api, self.key = api, key or signer()
        self.base = f"organizations/{api.organization}/registry-providers"

    # ---- keys ----

    def keys(self, *path):
        return "/".join((self.api.url + KEYS, *path))

    def add_key(self, armor=None, namespace=None):
        body = document(KEY, {"namespace": namespace or self.api.organization, "ascii-armor": armor or self.key.armor})
        return self.api.call("POST", self.keys(), body)

    def ensure_key(self):
        """Adds the key, unless the organization has it."""
        if self.api.call("GET", self.keys(self.api.organization, self.key.key_id)).status == 404:
            answer = self.add_key()
            assert answer.status == 201, answer.text

    # ---- providers ----

    def create(self, name, **attributes):
        return self.api.post(self.base, document(TYPE, {"name": name, "namespace": self.api.organization, "registry-name": "private", **attributes})).data

    def path(self, name, *rest):
        return "/".join((self.base, "private", self.api.organization, name, *rest))

    def version(self, name, version, **attributes):
        """A new version, without content."""
        return self.api.post(self.path(name, "versions"), document(VERSION, {"version": version, "key-id": self.key.key_id, "protocols": ["5.0"], **attributes})).data

    def platform(self, name, version, platform, filename, shasum):
        os, arch = platform.split("_")
        return self.api.post(self.path(name, "versions", version, "platforms"), document(PLATFORM, {"os": os, "arch": arch, "filename": filename, "shasum": shasum})).data

    def put(self, resource, link, content):
        return self.api.call("PUT", resource["links"][link], content, {"Authorization": None, "Content-Type": "application/octet-stream"})

    def publish(self, name, version, archives):
        """A version with the archives {platform: bytes}. Its id."""
        self.ensure_key()
        if self.api.call("GET", self.path(name)).status == 404:
            self.create(name)
        made = self.version(name, version)
        files = {file_name(name, version, platform): content for platform, content in archives.items()}
        sums = shasums(files)
        for link, content in (("shasums-upload", sums), ("shasums-sig-upload", self.key.sign(sums))):
            answer = self.put(made, link, content)
            assert answer.status == 200, answer.text
        for platform, content in archives.items():
            answer = self.put(self.platform(name, version, platform, file_name(name, version, platform), sha(content)), "provider-binary-upload", content)
            assert answer.status == 200, answer.text
        return made["id"]

    def read(self, name, *path):
        return self.api.get(self.path(name, *path)).data

    # ---- as engines ask ----

    def ask(self, *path, namespace=None):
        return self.api.call("GET", "/".join((self.api.url + PROVIDERS, namespace or self.api.organization, *path)))

    def served(self, name):
        """{version: [platform]}"""
        return {item["version"]: [f"{platform['os']}_{platform['arch']}" for platform in item["platforms"]] for item in self.ask(name, "versions").json["versions"]}
