# SPDX-License-Identifier: MPL-2.0
"""What an organization has: objects by their keys, as read by the API, from an export or from a folder of code."""

import urllib.parse
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Union

from .client import Failure, threads
from .kinds import BY_NAME, KINDS, OPTIONAL, RUNYARD_ONLY, UNMARKED, Kind, owners


def quoted(text):
    return urllib.parse.quote(str(text), safe="")


@dataclass
class Item:
    kind: Kind
    key: str
    attributes: Dict[str, object]
    relations: Dict[str, Union[None, str, List[str]]] = field(default_factory=dict)
    owner: Optional[str] = None  # key
    id: str = ""
    path: str = ""  # of a registry's objects, below the list of their kind
    ids: Dict[str, str] = field(default_factory=dict)  # further ids, by the type of their resource
    facts: Dict[str, object] = field(default_factory=dict)  # not compared: locks, sizes, addresses of files; `unread`: names of relations with an object that was not read

    @property
    def name(self):
        return str(self.attributes.get("name") or self.key.rpartition("/")[2])


class Inventory:
    def __init__(self, organization):
        self.organization = organization
        self.items: Dict[str, Item] = {}
        self.problems: List[dict] = []  # what could not be read
        self.notes: List[dict] = []  # what cannot move, for the checklist

    def add(self, item):
        """Objects of one name get numbers, in the order of the list."""
        key, number = item.key, 1
        while item.key in self.items:
            number += 1
            item.key = f"{key}#{number}"
        self.items[item.key] = item
        return item

    def all(self):
        """A list of its own: other threads add and remove objects meanwhile."""
        return list(self.items.values())

    def of(self, kind):
        return [item for item in self.all() if item.kind.name == kind]

    def owned(self, owner, kind=None):
        return [item for item in self.all() if item.owner == owner and kind in (None, item.kind.name)]

    def workspace_of(self, item):
        """The key of the workspace that the item is, or belongs to."""
        while item and item.kind.name != "workspaces":
            item = self.items.get(item.owner) if item.owner else None
        return item.key if item else None

    def problem(self, what, why):
        self.problems.append({"object": what, "why": str(why)})


def key_of(kind, local, owner):
    """A key has no `/` but those of its own form."""
    return "/".join(part for part in (owner, kind.name, local) if part)


def marks_of(version):
    """The deprecation and the revocation of a module's version, as a request sets them. Nothing if the source knows none."""
    if "deprecation" not in version and "revoked" not in version:
        return {}
    marks = dict(UNMARKED)
    deprecation, revocation = version.get("deprecation"), version.get("revocation") or ({} if version.get("revoked") else None)
    if deprecation:
        marks["deprecation"] = {"deprecated-status": "Deprecated", **members(deprecation, "reason", "link")}
    if revocation is not None:
        marks["revocation"] = {"status": "Revoked", **members(revocation, "message", "link")}
    return marks


def members(of, *names):
    return {name: of[name] for name in names if of.get(name)}


def is_revoked(item):
    """Whether nobody can install the module's version. Its files can't be read."""
    return (item.attributes.get("revocation") or {}).get("status") == "Revoked"


class Reader:
    """Reads an organization by the API. Nothing is changed."""

    def __init__(self, client, organization, states=10, parallel=8, kinds=None, progress=None):
        self.client, self.organization, self.states, self.parallel = client, organization, states, parallel
        self.kinds = [kind for kind in KINDS if kinds is None or kind.name in kinds]
        self.progress = progress or (lambda text: None)
        self.absent = set()  # kinds that the server does not have

    def read(self):
        found = Inventory(self.organization)
        raw = []
        with threads(self.parallel) as pool:
            for kind in self.kinds:
                parents = [found.items[key] for key in list(found.items) if found.items[key].kind.name in owners(kind)] if kind.owner else [None]
                self.progress(f"reading {kind.name}")
                for parent, resources in zip(parents, pool.map(lambda parent: self.resources(kind, parent, found), parents)):
                    for resource in resources:
                        item = self.item(kind, resource, parent)
                        if item:
                            raw.append((found.add(item), resource))
            self.files(pool, found)
        index = {(item.kind.kind_type, item.id): item.key for item, _ in raw if not item.kind.link and item.id}
        index.update(((type, id), item.key) for item, _ in raw for type, id in item.ids.items())
        for item, resource in raw:
            self.relate(item, resource, index, found)
        self.rename(found)
        for item in found.all():  # of a workspace that was deleted meanwhile
            if item.owner and item.owner not in found.items:
                del found.items[item.key]
        return found

    # ---- lists ----

    def path(self, kind, path, parent, item=None):
        base = urllib.parse.urlsplit(self.client.url)
        return path.format(org=quoted(self.organization), id=quoted(parent.id) if parent else "", name=quoted(parent.name) if parent else "",
                           path=parent.path if parent else "", own=item.path if item else "", item=quoted(item.id) if item else "",
                           registry=f"{base.scheme}://{base.netloc}/api/registry/private")

    def resources(self, kind, parent, found):
        """The resources of a list. A list that may not be read is a problem of its owner, and the rest is read."""
        if kind.name == "registry-module-versions":
            return self.module_versions(parent, found)
        if not kind.list or self.skipped(kind, parent):
            return []
        try:
            if kind.name == "state-versions":
                return self.latest_states(parent)
            listed = self.client.list(self.path(kind, kind.list, parent))
            if kind.name == "registry-modules":
                return [self.whole_module(one) for one in listed]
            return [one for one in listed if self.complete(kind, one, parent, found)]
        except Failure as why:
            if why.status == 404 and parent and parent.kind.name == "workspaces" and self.gone(parent):
                found.items.pop(parent.key, None)
                found.notes.append({"object": parent.key, "why": "was deleted while the list was read"})
            elif why.status in (404, 405) and kind.name in OPTIONAL:
                self.absent |= {kind.name} & RUNYARD_ONLY
            else:
                found.problem(f"{parent.key + '/' if parent else ''}{kind.name}", why)
            return []

    def whole_module(self, module):
        """Lists do not show the repository of a module."""
        attributes = module["attributes"]
        if attributes.get("registry-name") != "private" or "vcs-repo" in attributes or attributes.get("namespace") != self.organization:
            return module
        path = "/".join(quoted(attributes.get(name)) for name in ("registry-name", "namespace", "name", "provider"))
        return self.client.get(f"organizations/{quoted(self.organization)}/registry-modules/{path}")["data"]

    def complete(self, kind, resource, parent, found):
        """Whether the object's files were uploaded. Without them it does not move, and at the target `apply` completes it."""
        if all(resource["attributes"].get(name, True) for name in kind.uploaded):
            return True
        self.not_published(self.item(kind, resource, parent).key, found)
        return False

    @staticmethod
    def not_published(key, found):
        found.notes.append({"object": key, "why": "publish it at the target: its files were never uploaded to the source"})

    def skipped(self, kind, parent):
        """Lists that are known to be empty: most servers limit the rate of requests."""
        if kind.name in self.absent or kind.name in ("tags", "data-retention") and parent.facts.get(kind.name) is False:
            return True
        if kind.name == "remote-state-consumers":
            return parent.attributes.get("global-remote-state") or parent.attributes.get("project-remote-state")
        return kind.name == "registry-provider-versions" and parent.attributes.get("registry-name") == "public"

    def gone(self, item):
        try:
            self.client.get(f"{item.kind.kind_type}/{item.id}")
        except Failure as why:
            return why.status == 404
        return False

    def latest_states(self, workspace):
        """The current state and those before it, the oldest first."""
        path, found, number = self.path(BY_NAME["state-versions"], BY_NAME["state-versions"].list, workspace), [], 1
        while number and len(found) < self.states:
            answer = self.client.get(f"{path}&page%5Bnumber%5D={number}&page%5Bsize%5D={max(1, min(100, self.states + 5))}")
            found += [one for one in answer["data"] if one["attributes"].get("status", "finalized") == "finalized"]
            number = ((answer.get("meta") or {}).get("pagination") or {}).get("next-page")
        seen = {one["id"]: one for one in found}
        return list(seen.values())[:self.states][::-1]

    def module_versions(self, module, found):
        if module.attributes.get("registry-name") != "private":
            return []
        for one in module.facts["versions"]:
            if one.get("status") == "pending" and not module.attributes.get("vcs-repo"):
                self.not_published(key_of(BY_NAME["registry-module-versions"], one["version"], module.key), found)
        return [{"type": "registry-module-versions", "id": "", "attributes": {"version": one["version"], **marks_of(one)}}
                for one in module.facts["versions"] if one.get("status") == "ok"]

    def refresh(self, workspace, found):
        """Reads a workspace's states and its configuration again."""
        states, answer = self.latest_states(workspace), self.client.get(f"workspaces/{quoted(workspace.id)}")["data"]
        for item in found.owned(workspace.key, "state-versions") + found.owned(workspace.key, "configurations"):
            del found.items[item.key]
        kind = BY_NAME["state-versions"]
        for resource in states:
            found.add(self.item(kind, resource, workspace))
        current = ((answer.get("relationships") or {}).get("current-configuration-version") or {}).get("data")
        if current:
            kind = BY_NAME["configurations"]
            found.add(Item(kind, key_of(kind, "current", workspace.key), {}, {}, workspace.key, current["id"]))

    # ---- resources ----

    def item(self, kind, resource, parent):
        attributes = resource.get("attributes") or {}
        if kind.name == "workspace-tags" and not attributes.get("value"):
            return None  # a tag without a value is one of `tags`
        if kind.link:  # a reference: its name follows from the related object
            return Item(kind, key_of(kind, resource["id"], parent.key), {}, {"object": resource["id"]}, parent.key, resource["id"])
        item = Item(kind, "", {name: attributes[name] for name in kind.attributes if name in attributes}, {}, parent.key if parent else None,
                    resource.get("id") or "")
        if "type" in kind.attributes:
            item.attributes["type"] = resource["type"]
        if kind.name.startswith("registry-") or kind.name == "gpg-keys":
            self.registry(item, attributes, parent)
            if attributes.get("registry-name") == "private" and attributes.get("namespace") not in (None, self.organization):
                return None  # shared by another organization
        item.facts.update({name: attributes[name] for name in ("locked", "locked-reason", "size", "md5", "created-at", "lineage", "status") if name in attributes})
        relations = resource.get("relationships") or {}
        if kind.name == "workspaces":
            item.facts["tags"] = attributes.get("tag-names") != []
            item.facts["data-retention"] = (relations.get("data-retention-policy") or {"data": True}).get("data", True) is not None
        if kind.name == "state-versions":
            item.facts["url"] = attributes.get("hosted-state-download-url") or f"state-versions/{item.id}/download"
        if kind.name == "oauth-clients":
            item.facts["tokens"] = [one["id"] for one in (relations.get("oauth-tokens") or {}).get("data") or []]
            item.ids.update({"oauth-tokens " + id: id for id in item.facts["tokens"]})
        for name in ("user", "current-configuration-version"):
            one = (relations.get(name) or {}).get("data")
            if one:
                item.ids[one["type"]] = one["id"]
        links = {name: (relations.get(name) or {}).get("data") for name in kind.relations}
        named = {name: f"{data['type']}/{data['id']}" for name, data in links.items() if isinstance(data, dict)}
        item.key = key_of(kind, str(kind.key(item.attributes, named)), item.owner)  # see rename
        return item

    def registry(self, item, attributes, parent):
        if attributes.get("namespace") == self.organization:
            item.attributes["namespace"] = "{org}"
        if item.attributes.get("key-id"):
            item.attributes["key-id"] = item.attributes["key-id"].upper()
        if item.kind.name == "gpg-keys":
            item.attributes["ascii-armor"] = "\n".join((attributes.get("ascii-armor") or "").split("\r\n")).strip() + "\n"
        item.facts["versions"] = attributes.get("version-statuses") or []
        if item.kind.name in ("registry-modules", "registry-providers"):
            item.path = "/".join(quoted(attributes.get(n)) for n in ("registry-name", "namespace", "name") + (("provider",) if item.kind.name == "registry-modules" else ()))
        elif item.kind.name == "registry-provider-platforms":
            item.path = f"{parent.path}/platforms/{quoted(attributes.get('os'))}/{quoted(attributes.get('arch'))}"
        elif item.kind.name == "registry-module-versions":
            item.path = f"{parent.path}/{quoted(attributes.get('version'))}"
        elif parent is not None:
            item.path = f"{parent.path}/versions/{quoted(attributes.get('version'))}"

    def relate(self, item, resource, index, found):
        """Replaces ids by keys. An id that was not read belongs to an object that the token may not see."""
        relations = resource.get("relationships") or {}
        if item.kind.link:
            item.relations["object"] = index.get((item.kind.link, item.id))
            if not item.relations["object"]:
                found.problem(f"{item.key}", "refers to an object that was not read")
            return
        for name, relation in item.kind.relations.items():
            if name not in relations or "data" not in (relations[name] or {}):
                continue
            data = relations[name]["data"]
            many = isinstance(data, list)
            keys = []
            for one in data if many else [data] if data else []:
                key = index.get((one["type"], one["id"]))
                if key:
                    keys.append(key)
                elif one["type"] in ({BY_NAME[relation.kind].kind_type, relation.follow}):
                    found.problem(f"{item.key}: {name}", f"refers to an object that was not read ({one['id']})")
                    item.facts.setdefault("unread", []).append(name)
            item.relations[name] = sorted(keys) if many else keys[0] if keys else None
        repo = item.attributes.get("vcs-repo")
        if repo:
            token = repo.get("oauth-token-id")
            client = index.get(("oauth-tokens " + token, token)) if token else None
            item.attributes["vcs-repo"] = {name: repo[name] for name in ("identifier", "branch", "ingress-submodules", "tags-regex", "source-directory", "tag-prefix") if repo.get(name)}
            item.attributes["vcs-repo"]["connection"] = (client or "oauth-clients/?").partition("/")[2] if token else f"github-app {repo.get('github-app-installation-id')}"

    @staticmethod
    def rename(found):
        """Keys that were made of ids become keys of names."""
        new = {}
        for item in found.all():
            owner = new.get(item.owner, item.owner)
            if item.kind.link:
                local = (item.relations["object"] or item.key).partition("/")[2]
            elif item.kind.name in ("team-projects", "team-workspaces", "run-triggers", "workspace-tasks"):
                local = item.kind.key(item.attributes, item.relations)
            else:
                continue
            new[item.key] = key_of(item.kind, local, owner)
        for old, key in new.items():
            item = found.items.pop(old)
            item.key = key
            if not item.kind.link or item.relations["object"]:
                found.add(item)

    # ---- files ----

    def files(self, pool, found):
        """What is read with its object: the sources of policies, and which configuration a workspace uses."""
        def policy(item):
            try:
                text = self.client.get(f"policies/{item.id}/download")
                item.attributes["content"] = text.decode(errors="replace") if isinstance(text, bytes) else ""
            except Failure as why:
                if why.status != 404:
                    found.problem(f"{item.key}: content", why)
        list(pool.map(policy, found.of("policies")))
        if not any(kind.name == "configurations" for kind in self.kinds):
            return
        kind = BY_NAME["configurations"]
        for workspace in found.of("workspaces"):
            id = workspace.ids.get("configuration-versions")
            if id:
                found.add(Item(kind, key_of(kind, "current", workspace.key), {}, {}, workspace.key, id))
