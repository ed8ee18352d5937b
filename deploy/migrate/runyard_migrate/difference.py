# SPDX-License-Identifier: MPL-2.0
"""What must change at the target so that it has what the source has."""

import datetime
import json
from dataclasses import dataclass, field
from typing import List, Optional

from .inventory import Inventory, Item, is_revoked

CREATE, UPDATE, DELETE, SAME, SECRET, HELD, OPERATOR, TAG, LEFT = (
    "create", "update", "delete", "same", "needs secret", "at the cut-over", "waits for you", "from its tag", "not moved")


@dataclass
class Change:
    action: str
    item: Item
    target: Optional[Item] = None
    fields: List[str] = field(default_factory=list)
    why: str = ""

    def row(self):
        """For people and files: names only, never values."""
        return {"action": self.action, "kind": self.item.kind.name, "object": self.item.key, "fields": self.fields, "why": self.why}


def canonical(value):
    """Null, an empty text, an empty list and an object that is switched off are the same; so are false members of an object and absent ones."""
    if isinstance(value, dict) and value.get("enabled") is False:
        return None
    if isinstance(value, dict):
        return {k: canonical(v) for k, v in sorted(value.items()) if canonical(v) is not None}
    if isinstance(value, list):
        return sorted((canonical(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True)) or None
    if isinstance(value, str) and len(value) >= 20 and value[4:5] == "-" and value[10:11] == "T":
        try:
            return datetime.datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp()
        except ValueError:
            return value
    return None if value in ("", False) or value == {} else value


class Comparison:
    """The source's inventory against the target's. `live` are the keys of the workspaces that were cut over, `foreign`
    those of workspaces at the target that have a name of the source's, but were made by others: they are not touched."""

    def __init__(self, source: Inventory, target: Inventory, live=(), mapping=None, secrets=(), foreign=()):
        self.source, self.target, self.live, self.secrets = source, target, set(live), secrets
        self.mapping, self.foreign = mapping or {}, foreign
        self.attached = [(self.source.workspace_of(item), item.relations.get("task")) for item in source.of("workspace-tasks")]
        self.refresh_live()

    def refresh_live(self):
        """After `live` changed."""
        self.all_live = all(item.key in self.live for item in self.source.of("workspaces"))
        self.live_tasks = {task for workspace, task in self.attached if workspace in self.live}

    def is_live(self, item):
        """Whether the item's workspace works at the target. A project does once all its workspaces do, a task once one that uses it does."""
        workspace = self.source.workspace_of(item)
        if workspace:
            return workspace in self.live
        if item.kind.name == "tasks":
            return item.key in self.live_tasks or bool(self.live and (item.attributes.get("global-configuration") or {}).get("enabled"))
        project = item.key if item.kind.name == "projects" else item.owner if item.owner and item.owner.startswith("projects/") else None
        if project:
            return all(one.key in self.live for one in self.source.of("workspaces") if one.relations.get("project") == project)
        return self.all_live

    def wanted(self, item):
        """The attributes that the item has at the target now."""
        attributes = dict(item.attributes)
        if item.kind.held and not self.is_live(item):
            attributes.update({name: value for name, value in item.kind.held.items() if name in attributes})
        repo = attributes.get("vcs-repo")
        if repo:
            attributes["vcs-repo"] = {**repo, "connection": self.connection(repo["connection"])}
        if item.kind.name == "policy-sets" and attributes.get("kind") == "sentinel":
            attributes.pop("overridable", None)  # its policies' levels decide at the target
        if item.kind.name == "organization":
            attributes["name"] = self.target.organization
        return attributes

    def connection(self, name):
        return self.mapping.get("vcs", {}).get(name, name)

    def changes(self):
        found = [self.change(item) for item in self.source.all()]
        return found + self.surplus()

    def is_foreign(self, item):
        return self.source.workspace_of(item) in self.foreign

    def surplus(self):
        """Deferred objects at the target that the source does not have, of workspaces that were not cut over."""
        found = []
        for item in self.target.all():
            if self.target.workspace_of(item) in self.foreign or item.key in self.source.items or not item.owner or item.owner not in self.source.items or item.kind.content:
                continue
            if item.kind.deferred and self.source.workspace_of(self.source.items[item.owner]) not in self.live:
                found.append(Change(DELETE, item, item, why="its workspace is not cut over"))
        return found

    def extra(self):
        """Objects of moved objects that the target alone has."""
        return [item for item in self.target.all() if item.owner in self.source.items and item.key not in self.source.items
                and not item.kind.content and not item.kind.deferred]

    def change(self, item):
        kind, there = item.kind, self.target.items.get(item.key)
        if self.is_foreign(item):
            return Change(OPERATOR if kind.name == "workspaces" else HELD, item, there, why="the target has a workspace of this name that was not moved: rename one, or use --adopt")
        if kind.deferred and not self.is_live(item) and not (there and kind.held):
            return Change(DELETE, item, there, why="its workspace is not cut over") if there else Change(HELD, item)
        if not kind.made:
            return self.operator_makes(item)
        if there is None:
            if self.from_tag(item):
                return Change(TAG, item, why="the target publishes it from its tag")
            if is_revoked(item):
                return Change(LEFT, item, why="it is revoked, so the source does not give its files")
            if kind.secret and kind.needs_secret and kind.secret_if(item.attributes) and item.key not in self.secrets:
                return Change(SECRET, item, why=f"the source does not return its {kind.secret}")
            repo = self.wanted(item).get("vcs-repo")
            if kind.name == "registry-modules" and repo and not self.has_connection(repo["connection"]):
                return Change(OPERATOR, item, why=f"the target has no VCS connection {repo['connection']}")
            if kind.name == "registry-provider-versions" and not self.has_key(item.attributes.get("key-id")):
                return Change(OPERATOR, item, why=f"the source has no GPG key {item.attributes.get('key-id')}: add it at the target")
            owner = item.owner and self.target.items.get(item.owner)
            return Change(CREATE, item, why="" if owner or not item.owner else f"together with {item.owner}")
        fields = self.differing(item, there)
        if "vcs-repo" in fields and not self.has_connection(self.wanted(item)["vcs-repo"]["connection"] if self.wanted(item)["vcs-repo"] else ""):
            return Change(OPERATOR, item, there, fields, why=f"the target has no VCS connection {self.wanted(item)['vcs-repo']['connection']}")
        fixed = [name for name in fields if name in kind.fixed]
        if fixed and kind.secret and kind.secret_if(item.attributes):
            return Change(SECRET, item, there, fields, "the target has it with another " + ", ".join(fixed))
        if fixed:
            return Change(OPERATOR, item, there, fields, f"the target has it with another {', '.join(fixed)}, which cannot be changed: delete it there")
        return Change(UPDATE if fields else SAME, item, there, fields)

    def from_tag(self, item):
        """Whether the target publishes the item from a tag of its repository."""
        return item.kind.name == "registry-module-versions" and bool(self.source.items[item.owner].attributes.get("vcs-repo"))

    def has_connection(self, name):
        return not name or name.startswith("github-app ") or "oauth-clients/" + name in self.target.items

    def has_key(self, key_id):
        return f"gpg-keys/{key_id}" in self.source.items or f"gpg-keys/{key_id}" in self.target.items

    def operator_makes(self, item):
        name = self.connection(item.key.partition("/")[2])
        there = self.target.items.get("oauth-clients/" + name)
        if there:
            return Change(SAME, item, there, why=f"is {name} at the target")
        return Change(OPERATOR, item, why="create the connection at the target, or map it to one")

    def differing(self, item, there):
        """Names of attributes and relations. What the source does not have is not compared; nor is what it does not return."""
        wanted, kind = self.wanted(item), item.kind
        hidden = kind.secret if kind.secret and kind.secret_if(item.attributes) else None
        fields = [name for name, value in wanted.items() if name != hidden and canonical(value) != canonical(self.narrowed(value, there.attributes.get(name)))]
        for name in kind.relations:
            if name in item.relations and (self.reachable(self.related(item, name, there)) or None) != (there.relations.get(name) or None):
                fields.append(name)
        return fields

    def related(self, item, name, there):
        """The keys of the related objects that the item has at the target now. What the source did not show is left as it is there."""
        mine, theirs = item.relations[name], there.relations.get(name) if there else None
        if name not in item.facts.get("unread", ()):
            return mine
        return sorted({*mine, *(theirs or ())}) if isinstance(mine, list) else theirs

    def narrowed(self, mine, theirs):
        """The target may have members of an object that the source does not know."""
        if isinstance(mine, dict) and isinstance(theirs, dict):
            return {k: v for k, v in theirs.items() if k in mine}
        return theirs

    def waits_for_secret(self, key):
        item = self.source.items.get(key)
        return key not in self.target.items and bool(item and item.kind.needs_secret and item.kind.secret and item.key not in self.secrets)

    def reachable(self, keys):
        """Related objects that can be there: those that wait for a secret cannot."""
        if isinstance(keys, list):
            return [key for key in keys if not self.waits_for_secret(key)]
        return keys if keys and not self.waits_for_secret(keys) else None


def secrets_of(inventory):
    """{key: what is asked for}: everything that the source does not return."""
    found = {}
    for item in inventory.all():
        if item.kind.secret and item.kind.secret_if(item.attributes):
            found[item.key] = item.kind.secret
    return found

