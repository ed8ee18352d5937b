# SPDX-License-Identifier: MPL-2.0
"""Modules of a private registry, published by upload as clients of the API do."""

from support.api import tar_gz
from support.documents import document

TYPE, VERSION = "registry-modules", "registry-module-versions"
OUTPUT = 'output "word" {\n  value = "%s"\n}\n'


class Modules:
    """The registry of the client's organization."""

    def __init__(self, api, provider="null"):
        self.api, self.provider = api, provider
        self.base = f"organizations/{api.organization}/registry-modules"

    def create(self, name, **attributes):
        return self.api.post(self.base, document(TYPE, {"name": name, "provider": self.provider, **attributes})).data

    def path(self, name, *rest):
        return "/".join((self.base, "private", self.api.organization, name, self.provider, *rest))

    def version(self, name, version, **attributes):
        """A new version, without content."""
        return self.api.post(self.path(name, "versions"), document(VERSION, {"version": version, **attributes})).data

    def upload(self, version, content):
        """Uploads to the version's link. Content is {file: text}, or bytes."""
        archive = content if isinstance(content, bytes) else tar_gz(content)
        return self.api.call("PUT", version["links"]["upload"], archive, {"Authorization": None, "Content-Type": "application/octet-stream"})

    def publish(self, name, version, content=None):
        """A version with content. Its id."""
        if self.api.call("GET", self.path(name)).status == 404:
            self.create(name)
        made = self.version(name, version)
        answer = self.upload(made, content or {"main.tf": OUTPUT % version})
        assert answer.status == 200, answer.text
        return made["id"]

    def read(self, name, version=None):
        """The module, or a version of it."""
        if version is None:
            return self.api.get(self.path(name)).data
        return self.api.get(self.path(name, "version"), module_version=version).data

    def names(self, **query):
        return [module["attributes"]["name"] for module in self.api.get(self.base, **query).data]


class ModuleTests:
    """The tests of a module of the private registry."""

    def __init__(self, modules, name):
        self.api, self.module = modules.api, modules.read(name)["id"]
        self.base = modules.path(name).replace("/registry-modules/", "/tests/registry-modules/", 1)

    def path(self, *rest):
        return "/".join((self.base, *rest))

    def upload(self, content):
        """A configuration version with content; its id."""
        made = self.api.post(self.path("test-runs", "configuration-versions")).data
        answer = self.api.call("PUT", made["attributes"]["upload-url"], tar_gz(content), {"Authorization": None, "Content-Type": "application/octet-stream"})
        assert answer.status == 200, answer.text
        return made["id"]

    def document(self, configuration, **attributes):
        return document("test-runs", {key.replace("_", "-"): value for key, value in attributes.items()},
                        **{"configuration-version": {"data": {"type": "configuration-versions", "id": configuration}}})

    def run(self, configuration, **attributes):
        return self.api.post(self.path("test-runs"), self.document(configuration, **attributes)).data

    def read(self, run):
        return self.api.get(self.path("test-runs", run["id"])).data["attributes"]

    def act(self, run, action):
        return self.api.call("POST", self.path("test-runs", run["id"], action))

    def variable(self, key, value, category="env", **attributes):
        return self.api.post(self.path("vars"), document("vars", {"key": key, "value": value, "category": category, **attributes})).data
