# SPDX-License-Identifier: MPL-2.0
"""Compares both sides: objects by their attributes, contents byte by byte."""

from . import difference
from .client import LOST, Failure, threads
from .content import digest, temporary
from .inventory import is_revoked

PUBLISHED = {"module-version", "provider-version", "provider-platform"}


def differences(comparison, members):
    """(differences, what waits for people), as rows. Members that come by single sign-on are not compared."""
    unseen = {"state-versions", "configurations"} | ({"organization-memberships"} if members == "sso" else set())
    rows = [change.row() for change in comparison.changes() if change.item.kind.name not in unseen]
    wrong = [row for row in rows if row["action"] in (difference.CREATE, difference.UPDATE, difference.DELETE)]
    for row in wrong:
        row["why"] = {difference.CREATE: "is missing at the target", difference.UPDATE: "differs"}.get(row["action"], row["why"])
    wrong += [{"action": "only at the target", "kind": item.kind.name, "object": item.key, "fields": [], "why": ""} for item in comparison.extra()]
    return wrong, [row for row in rows if row["action"] in (difference.SECRET, difference.OPERATOR)]


def archives(comparison):
    """Objects of the registry whose files are compared."""
    return [item for item in comparison.source.all() if item.kind.content in PUBLISHED and not comparison.from_tag(item) and not is_revoked(item)]


def contents(source, target, comparison, journal, parallel):
    """Rows of the contents that differ. A workspace that was cut over may have newer states at the target."""
    def row(item, why):
        return {"action": "content", "kind": item.kind.name, "object": item.key, "fields": [], "why": why}

    def sha(side, item):
        with temporary() as file:
            side.fetch(item, file)
            return digest(file)[1]

    current = [{state.owner: state for state in side.of("state-versions")} for side in (comparison.source, comparison.target)]  # the newest ones are last

    def compare(item):
        there = comparison.target.items.get(item.key)
        if there and item is current[0].get(item.owner):
            there = current[1][item.owner]
            if there.attributes["serial"] != item.attributes["serial"]:
                return row(item, "is not the current state at the target")
        if item.kind.content == "configuration":
            mine, theirs = journal.uploaded(item.key)
            there = type(item)(item.kind, item.key, {}, {}, item.owner, theirs) if mine == item.id else None
        if there is None:
            known = item.kind.content == "configuration" and not journal.lines or item.kind.content in PUBLISHED  # see differences
            return None if known else row(item, "is missing at the target")
        try:
            return None if sha(source, item) == sha(target, there) else row(item, "has another content")
        except (Failure, *LOST) as why:
            return row(item, f"cannot be read: {why}")
    items = archives(comparison) + [item for item in comparison.source.all() if item.kind.content in ("state", "configuration")
                                    and comparison.source.workspace_of(item) not in comparison.live]
    with threads(parallel) as pool:
        return [found for found in pool.map(compare, items) if found]
