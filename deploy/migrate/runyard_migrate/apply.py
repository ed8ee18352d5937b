# SPDX-License-Identifier: MPL-2.0
"""Makes the target equal to the source, as far as possible. It can be stopped at any time and be started again."""

from . import difference
from .client import LOST, Failure, Unclear, threads
from .content import Uploads, replaces, same_state, state_head, temporary
from .kinds import KINDS

MARK = "runyard-migrate"
WAITS = f"{MARK}: this workspace is being moved here. It is unlocked at its cut-over."


class Applied:
    """What an apply did, for its summary and exit status."""

    def __init__(self):
        self.done, self.failed, self.skipped = {}, [], []

    def count(self, action, kind):
        self.done[action, kind] = self.done.get((action, kind), 0) + 1


class Apply:
    """`source` has fetch(item, file). `wanted` of run selects the objects."""

    def __init__(self, source, comparison, writer, journal, options, progress=None):
        self.source, self.comparison, self.writer, self.journal, self.options = source, comparison, writer, journal, options
        self.uploads = Uploads(writer.client, journal)
        self.result, self.progress = Applied(), progress or (lambda text: None)

    def run(self, wanted=lambda item: True, contents=True):
        with threads(self.options.parallel) as pool:
            self.pool = pool
            for late in (False, True):
                for kind in KINDS:
                    if kind.content in ("state", "configuration") or (kind.name == "organization-memberships" and self.options.members == "sso"):
                        continue
                    if late and not (kind.initial or kind.name == "organization" or any(r.late for r in kind.relations.values())):
                        continue
                    items = [item for item in self.comparison.source.of(kind.name) if wanted(item)]
                    self.each(self.settle, [self.comparison.change(item) if late else self.early(item) for item in items], kind.name)
                    if kind.name == "workspaces" and not late:
                        self.each(self.lock, [item for item in items if item.key not in self.comparison.live], "locks")
            self.each(self.settle, [change for change in self.comparison.surplus() if wanted(change.item)], "deferred objects")
            if contents:
                self.each(self.contents, [item for item in self.comparison.source.of("workspaces") if wanted(item)], "states")
        return self.result

    def early(self, item):
        """The item's change, without what is written after all objects exist."""
        change = self.comparison.change(item)
        if change.action == difference.UPDATE:
            relations = item.kind.relations
            change.fields = [name for name in change.fields if name not in item.kind.initial and not (name in relations and relations[name].late)]
            change.action = difference.UPDATE if change.fields else difference.SAME
        return change

    def each(self, work, things, what):
        def safely(thing):
            try:
                work(thing)
            except LOST as why:
                self.fail(thing, f"{type(why).__name__}: {why}")
            except (Failure, ValueError, KeyError) as why:
                self.fail(thing, why if isinstance(why, Failure) else f"unexpected answer: {type(why).__name__} {why}")
        for number, _ in enumerate(self.pool.map(safely, things), 1):
            self.progress(f"{what}: {number} of {len(things)}")

    def fail(self, thing, why):
        self.report(self.result.failed, getattr(thing, "item", thing), str(why))

    @staticmethod
    def report(rows, item, why):
        """What is tried early and late is reported once."""
        row = {"object": item.key, "why": why}
        if row not in rows:
            rows.append(row)

    def missing(self, item):
        """The key of an object that the item cannot be created without, and that the target does not have; or None."""
        if item.owner and item.owner not in self.comparison.target.items:
            return item.owner
        for name, relation in item.kind.relations.items():
            key = item.relations.get(name)
            if relation.needed and (name in item.facts.get("unread", ()) or key and key not in self.comparison.target.items):
                return key or f"its {name}"
        return None

    def settle(self, change):
        item = change.item
        if change.action == difference.CREATE:
            missing = self.missing(item)
            if missing:
                return self.report(self.result.skipped, item, f"{missing} is not at the target")
            if item.kind.name == "workspaces":
                self.create_workspace(item)
            else:
                self.writer.create(item)
        elif change.action == difference.UPDATE:
            self.writer.update(change)
        elif change.action == difference.DELETE:
            self.writer.delete(change)
        elif change.action in (difference.SECRET, difference.OPERATOR):
            return self.report(self.result.skipped, item, change.why)
        else:
            return None
        there = self.comparison.target.items.get(item.key)
        self.journal.note({"create": "created", "update": "updated", "delete": "deleted"}[change.action], item.key, id=there.id if there else "",
                          **({"fields": change.fields} if change.fields else {}))
        return self.result.count(change.action, item.kind.name)

    def create_workspace(self, item):
        """The workspace is ours even if the answer is lost. If the target refuses it, the next one of this name is somebody else's."""
        line = self.journal.last(item.key, "creating", "created", "not created")
        unclear = line and line["did"] == "creating"  # an earlier command may have created it after all
        self.journal.note("creating", item.key)
        try:
            self.writer.create(item)
        except Failure as why:
            if not isinstance(why, Unclear) and not (unclear and self.writer.look(item)):
                self.journal.note("not created", item.key)
            raise

    def lock(self, item):
        """A workspace that was not cut over is locked, so that both servers never apply."""
        there = self.comparison.target.items.get(item.key)
        if there and item.key not in self.comparison.foreign and not there.facts.get("locked"):
            try:
                self.writer.client.call("POST", f"workspaces/{there.id}/actions/lock", {"reason": WAITS}, repeat=True)
            except Failure as why:
                if why.status != 409:
                    raise
            there.facts["locked"] = True

    # ---- contents ----

    def contents(self, workspace):
        there = self.comparison.target.items.get(workspace.key)
        if there is None or workspace.key in self.comparison.foreign:
            return
        self.states(workspace, there)
        for item in self.comparison.source.owned(workspace.key, "configurations"):
            if self.journal.uploaded(item.key)[0] != item.id:  # the target plans with the newest one
                with temporary() as file:
                    try:
                        self.source.fetch(item, file)
                    except Failure as why:
                        if why.status not in (403, 404, 409, 410):
                            raise
                        self.result.skipped.append({"object": item.key, "why": f"the source does not return it ({why.status})"})
                        continue
                    made = self.uploads.configuration(there.id, file)
                self.journal.note("uploaded " + item.id, item.key, id=made)
                self.result.count(difference.CREATE, "configurations")

    def states(self, workspace, there):
        """Writes the states after the newest one that the target has: each is newer than the one before it. The newest one of all
        is written again if the target has another current state."""
        mine = self.comparison.source.owned(workspace.key, "state-versions")
        theirs = self.comparison.target.owned(workspace.key, "state-versions")
        current = theirs[-1] if theirs else None
        wrote = current is not None and self.journal.wrote(workspace.key, current)
        known = [number for number, item in enumerate(mine) if any(same_state(item, other) for other in theirs)]
        start = known[-1] + 1 if known else 0
        if known and not same_state(mine[-1], current) and not (wrote and mine[-1].attributes["serial"] == current.attributes["serial"]):
            start = min(start, len(mine) - 1)
        for item in mine[:start]:
            if item.key not in self.comparison.target.items:
                self.result.skipped.append({"object": item.key, "why": "the target has a newer state already"})
        previous = (current.attributes["serial"], current.facts.get("lineage")) if current else None
        ours = current is None or wrote or self.options.adopt or any(same_state(mine[number], current) for number in known)
        for item in mine[start:]:
            with temporary() as file:
                self.source.fetch(item, file)
                if not ours and replaces(state_head(file), previous):
                    return self.result.skipped.append({"object": item.key, "why": "the target has another state, which was not moved: use --adopt to replace it"})
                head, md5, size = self.uploads.state(there.id, file, previous)
            previous, ours = head, True
            self.journal.note("wrote state", workspace.key, serial=head[0], md5=md5, size=size)
            self.result.count(difference.CREATE, "state-versions")
