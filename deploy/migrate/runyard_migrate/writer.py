# SPDX-License-Identifier: MPL-2.0
"""Creates and changes objects at the target."""

import base64
import json
import threading
import time
import urllib.parse

from .client import Failure, Unclear
from .content import FILE, temporary
from .inventory import Item, Reader, quoted
from .kinds import AS_ATTRIBUTE, BY_NAME, DOCUMENT, OWN_LIST, OWN_PATCH

ATTEMPTS = 6


class Writer:
    """`comparison` has both inventories. Objects are added to the target's inventory as they are created."""

    def __init__(self, client, comparison, secrets, source=None):
        self.client, self.comparison, self.target, self.secrets, self.source = client, comparison, comparison.target, secrets, source
        self.paths = Reader(client, self.target.organization)
        self.tagging = threading.Lock()

    # ---- documents ----

    def path(self, kind, path, owner, item=None):
        parent = self.target.items.get(owner) if owner else None
        if owner and parent is None:
            raise Failure("POST", kind.name, 0, f"needs {owner}, which the target does not have")
        return self.paths.path(kind, path, parent, item)

    def reference(self, key, relation):
        item = self.target.items.get(key)
        if item is None:
            return None
        type = relation.follow or item.kind.kind_type
        id = item.ids.get(relation.follow) if relation.follow else item.id
        return {"type": type, "id": id} if id else None

    def links(self, keys, relation):
        if isinstance(keys, list):
            return [link for link in (self.reference(key, relation) for key in keys) if link]
        return self.reference(keys, relation) if keys else None

    def document(self, item, fields, there=None):
        """The request that gives the object these attributes and relations."""
        kind, wanted = item.kind, self.comparison.wanted(item)
        attributes = {name: wanted[name] for name in fields if name in wanted and name not in ("type", "content")}
        relations = {}
        for name, relation in kind.relations.items():
            if name not in fields or name not in item.relations:
                continue
            link = self.links(self.comparison.related(item, name, there), relation)
            if relation.how == AS_ATTRIBUTE:
                attributes[relation.attribute] = link["id"] if link else None
            elif relation.how == DOCUMENT and (link is not None or there is not None):
                relations[name] = {"data": link}
        self.adapt(item, attributes)
        document = {"type": wanted.get("type") or kind.kind_type, "attributes": attributes}
        if relations:
            document["relationships"] = relations
        return document

    def adapt(self, item, attributes):
        """What cannot be written as it is read."""
        kind = item.kind.name
        overwrites = item.attributes.get("setting-overwrites") or {}
        for name, members in (("execution-mode", ("execution-mode",)), ("agent-pool", ("agent-pool-id",)),
                              ("default-execution-mode", ("default-execution-mode",)), ("default-agent-pool", ("default-agent-pool-id",))):
            if overwrites.get(name) is False:  # inherited
                for member in members:
                    attributes.pop(member, None)
        if kind in ("team-workspaces", "team-projects") and item.attributes.get("access") != "custom":
            for name in list(attributes):
                if name != "access":
                    del attributes[name]
        if attributes.get("vcs-repo"):
            attributes["vcs-repo"] = self.repository(attributes["vcs-repo"])
        if attributes.get("namespace") == "{org}":
            attributes["namespace"] = self.target.organization
        if kind == "data-retention" and item.attributes.get("type", "").endswith("dont-deletes"):
            attributes.clear()

    def repository(self, repo):
        repo = dict(repo)
        connection = repo.pop("connection")
        if connection.startswith("github-app "):
            repo["github-app-installation-id"] = connection.partition(" ")[2]
            return repo
        client = self.target.items.get("oauth-clients/" + connection)
        tokens = client.facts.get("tokens") if client else None
        if not tokens:
            raise Failure("POST", "vcs-repo", 0, f"the target's VCS connection {connection} is missing or has no token")
        repo["oauth-token-id"] = tokens[0]
        return repo

    # ---- creating ----

    def create(self, item):
        kind = item.kind
        late = {name for name, relation in kind.relations.items() if relation.late}
        fields = [name for name in (*item.attributes, *item.relations) if name not in late]
        document = self.document(item, fields)
        document["attributes"].update({name: value for name, value in kind.initial.items() if name in document["attributes"]})
        if kind.secret and item.key in self.secrets and kind.secret_if(item.attributes):
            document["attributes"][kind.secret] = self.secrets[item.key]
        special = self.own_way("create", kind)
        if special:
            made = special(item, document)
        else:
            path = self.path(kind, kind.create or kind.list.partition("?")[0], item.owner)
            made = self.post(item, path, self.enveloped(item, document), kind.method)
        self.added(item, made, {name: document["attributes"].get(name, item.attributes.get(name)) for name in item.attributes if kind.name != "organization"}, late)

    def own_way(self, verb, kind):
        """The method for objects of the kind, if it has one."""
        return getattr(self, f"{verb}_{kind.name.replace('-', '_')}", None)

    def enveloped(self, item, document):
        if item.kind.link:
            return {"data": [self.links(item.relations["object"], BY_NAME["run-triggers"].relations["sourceable"])]}
        return {"data": [document] if item.kind.many else document}

    def post(self, item, path, body, method="POST"):
        """Creates an object. If the answer was lost, the list says whether it exists."""
        for attempt in range(ATTEMPTS):
            refusal = None
            try:
                return self.client.call(method, path, body)
            except Unclear as why:
                unclear = why
                time.sleep(min(8, 0.5 * 2 ** attempt))
            except Failure as why:
                if why.status not in (409, 422) or not attempt:
                    raise
                refusal = why
            try:
                there = self.look(item)
            except Failure:
                raise unclear from None  # it may exist
            if there:
                return {"data": there}
            if refusal:
                raise refusal
        raise unclear

    def look(self, item):
        """The object's resource at the target, or None."""
        parent = self.target.items.get(item.owner) if item.owner else None
        try:
            resources = self.client.list(self.paths.path(item.kind, item.kind.list, parent))
        except Failure as why:
            if why.status == 404:
                return None
            raise
        for resource in resources:
            if item.kind.link:
                if resource["id"] == self.target.items[item.relations["object"]].id:
                    return resource
                continue
            there = self.paths.item(item.kind, resource, parent)
            if there and there.kind.key(there.attributes, self.named(there, resource)) == item.kind.key(item.attributes, item.relations):
                return resource
        return None

    def named(self, there, resource):
        """The keys of the related objects of a resource of the target."""
        ids = {(one.kind.kind_type, one.id): one.key for one in self.target.all()}
        links = {name: (relation or {}).get("data") for name, relation in (resource.get("relationships") or {}).items()}
        return {name: ids.get((link["type"], link["id"])) for name, link in links.items() if isinstance(link, dict)}

    def added(self, item, made, attributes, late):
        data = made.get("data") if isinstance(made, dict) else None
        data = data if isinstance(data, dict) else {}
        parent = self.target.items.get(item.owner) if item.owner else None
        there = self.paths.item(item.kind, data, parent) if data and not item.kind.link else None
        there = there or Item(item.kind, item.key, {}, {}, item.owner, data.get("id", ""))
        there.key, there.attributes = item.key, attributes
        there.relations = {name: [] if isinstance(value, list) and name in late else None if name in late else value for name, value in item.relations.items()}
        if item.kind.name == "workspaces":
            there.facts["locked"] = False
        self.target.items[item.key] = there

    # ---- objects with their own ways ----

    def create_organization(self, item, document):
        document["attributes"] = {name: document["attributes"][name] for name in ("name", "email")}
        return self.post(item, "organizations", {"data": document})

    def create_registry_modules(self, item, document):
        path = f"organizations/{quoted(self.target.organization)}/registry-modules"
        repo = document["attributes"].get("vcs-repo")
        if not repo:
            unset = ("vcs-repo",) + (("namespace",) if item.attributes.get("registry-name") == "private" else ())
            document["attributes"] = {name: value for name, value in document["attributes"].items() if name not in unset}
            return self.post(item, path, {"data": document})
        repo["display-identifier"] = repo["identifier"]
        named = {name: document["attributes"][name] for name in ("name", "provider")}
        return self.post(item, path + "/vcs", {"data": {"type": "registry-modules", "attributes": {**named, "vcs-repo": repo}}})

    def create_registry_module_versions(self, item, document):
        module = self.target.items[item.owner]
        with temporary() as file:
            self.source.fetch(item, file)
            path = f"organizations/{quoted(self.target.organization)}/registry-modules/{module.path}"
            try:
                made = self.client.call("POST", path + "/versions", {"data": document}, repeat=True)
            except Failure as why:
                if why.status not in (409, 422):
                    raise
                made = self.client.get(f"{path}/version?module_version={quoted(item.attributes['version'])}")  # without content yet
            self.upload(made["data"]["links"]["upload"], file)
        return made

    def registry_tags(self, item, _):
        """A module takes all its tags at once, and so does a provider."""
        owner = self.target.items[item.owner]
        tags = [{"type": "tag-bindings", "attributes": one.attributes} for one in self.comparison.source.owned(item.owner, item.kind.name)]
        path = f"organizations/{quoted(self.target.organization)}/{owner.kind.name}/{owner.path}"
        body = {"data": {"type": owner.kind.name, "attributes": {}, "relationships": {"tag-bindings": {"data": tags}}}}
        with self.tagging:
            self.client.call("PATCH", path, body, repeat=True)

    create_module_tags = create_provider_tags = update_module_tags = update_provider_tags = registry_tags

    def begin(self, item, document):
        """Creates an object whose files follow. An apply that was interrupted may have created it already."""
        try:
            return self.post(item, self.path(item.kind, item.kind.list, item.owner), {"data": document})
        except Failure as why:
            there = self.look(item) if why.status in (409, 422) else None
            if not there:
                raise
            return {"data": there}

    def create_registry_provider_versions(self, item, document):
        with temporary() as file:
            self.source.fetch(item, file)
            file.seek(0)
            parts = json.load(file)
        made = self.begin(item, document)
        for name, content in parts.items():
            self.upload(made["data"]["links"].get(name + "-upload"), base64.b64decode(content))
        return made

    def create_registry_provider_platforms(self, item, document):
        with temporary() as file:
            self.source.fetch(item, file)
            made = self.begin(item, document)
            self.upload(made["data"]["links"].get("provider-binary-upload"), file)
        return made

    def upload(self, url, content):
        """Without a link, the content is there already."""
        if url:
            self.client.call("PUT", urllib.parse.urljoin(self.client.url, url), content, media=FILE)

    def create_policies(self, item, document):
        content = item.attributes.get("content") or ""
        made = self.post(item, self.path(item.kind, item.kind.list, None), {"data": document})
        self.client.call("PUT", f"policies/{made['data']['id']}/upload", content.encode(), media=FILE)
        return made

    # ---- changing ----

    def update(self, change):
        item, there, fields = change.item, change.target, change.fields
        special = self.own_way("update", item.kind)
        if special:
            special(item, there)
        else:
            self.patch(item, there, fields)
        wanted = self.comparison.wanted(item)
        there.attributes.update({name: wanted[name] for name in fields if name in wanted})
        there.relations.update({name: self.comparison.related(item, name, there) for name in fields if name in item.relations})

    def patch(self, item, there, fields):
        own = [name for name in fields if name in item.kind.relations and item.kind.relations[name].how in (OWN_LIST, OWN_PATCH)]
        rest = [name for name in fields if name not in own]
        if "content" in rest:
            self.client.call("PUT", f"policies/{there.id}/upload", item.attributes["content"].encode(), media=FILE)
        document = self.document(item, rest, there)
        if document["attributes"] or "relationships" in document:
            document.update({"id": there.id} if there.id else {})
            path = self.path(item.kind, item.kind.item or f"{item.kind.kind_type}/{quoted(there.id)}", item.owner, there)
            self.client.call("PATCH", path, {"data": [document] if item.kind.many else document})
        for name in own:
            self.relate(item, there, name, item.kind.relations[name])

    def relate(self, item, there, name, relation):
        path = f"{item.kind.kind_type}/{quoted(there.id)}/relationships/{name}"
        wanted = self.comparison.related(item, name, there)
        if relation.how == OWN_PATCH:
            link = self.links(wanted, relation)
            self.client.call("PATCH", path, {"data": {"type": "workspaces", "attributes": {"id": link["id"] if link else None}}})
            return
        mine, theirs = set(wanted), set(there.relations.get(name) or [])
        for method, keys in (("POST", mine - theirs), ("DELETE", theirs - mine)):
            links = self.links(sorted(keys), relation)
            if links:
                self.client.call(method, path, {"data": links}, repeat=True)

    def update_organization_memberships(self, item, there):
        mine, theirs = set(self.comparison.related(item, "teams", there)), set(there.relations.get("teams") or [])
        for method, keys in (("POST", mine - theirs), ("DELETE", theirs - mine)):
            for key in sorted(keys):
                team = self.target.items.get(key)
                if team:
                    body = {"data": [{"type": "organization-memberships", "id": there.id}]}
                    self.client.call(method, f"teams/{team.id}/relationships/organization-memberships", body, repeat=True)

    def delete(self, change):
        path = change.target.kind.item or f"{change.target.kind.kind_type}/{quoted(change.target.id)}"
        try:
            self.client.call("DELETE", self.path(change.target.kind, path, change.target.owner, change.target))
        except Failure as why:
            if why.status != 404:
                raise
        self.target.items.pop(change.target.key, None)
