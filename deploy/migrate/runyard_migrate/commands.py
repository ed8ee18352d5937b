# SPDX-License-Identifier: MPL-2.0
"""The commands. Each works on one organization after the other."""

import sys
import threading
import time
import urllib.parse

from . import code, files, report, verify
from .apply import WAITS, Apply
from .backends import CodeSource
from .client import Client, Failure
from .content import ApiContent
from .cutover import LOCKS, REASON, CutOver
from .difference import HELD, Comparison
from .files import FileSource
from .inventory import Inventory, Reader, quoted
from .journal import Journal, Trouble, read_secrets
from .writer import Writer

GOOD, FAILED, INCOMPLETE = 0, 1, 3


class ApiSource(ApiContent):
    """An organization of a server."""

    def __init__(self, client, organization, options, progress):
        super().__init__(client, organization)
        self.options, self.progress = options, progress

    def reader(self):
        return Reader(self.client, self.organization, self.options.states, self.options.parallel, progress=self.progress)

    def read(self):
        return self.reader().read()


class Migration:
    """The move of one organization."""

    def __init__(self, options, old, new, secrets):
        self.options, self.old, self.new, self.secrets = options, old, new, secrets
        self.lock, self.shown = threading.Lock(), time.monotonic()
        self.source = self.open_source()
        if options.command == "export":
            return
        self.client = Client(options.target, options.target_token, cafile=options.ca_file, side="the target", progress=self.progress)
        if options.by_api and self.source.client.url == self.client.url and old == new:
            raise Trouble(f"source and target are the same organization, {old}: give another name with --organization {old}=NEW")
        self.target = ApiSource(self.client, new, options, self.progress)
        self.journal = Journal(options.folder, new, write=options.command not in ("plan", "verify"))
        self.journal.require(self.place)

    def open_source(self):
        if self.options.by_api:
            return ApiSource(source_client(self.options, self.progress), self.old, self.options, self.progress)
        if files.is_export(self.options.source) or self.options.command == "import":
            return FileSource(self.options.source, self.old)
        if self.options.command == "export":
            raise Trouble("export reads servers")
        return CodeSource(self.options, self.new, self.progress)

    @property
    def place(self):
        """What the journal belongs to. An export does not know its server."""
        if self.options.by_api:
            source, organization = self.options.source.rstrip("/").lower(), self.old
        elif isinstance(self.source, FileSource):
            source, organization = "", self.source.name
        else:
            source, organization = str(self.source.root), self.new
        return {"source": source, "organization": organization, "target": self.client.url.lower()}

    def progress(self, text):
        """At most a line in three seconds."""
        now = time.monotonic()
        if not self.options.quiet and now - self.shown > 3:
            with self.lock:
                self.shown = now
                print(f"{self.new}: {text}", file=sys.stderr, flush=True)

    def compare(self):
        """Reads both sides."""
        mine = self.source.read()
        if self.options.by_api and not mine.of("organization"):
            raise Trouble(f"the organization {self.old} cannot be read: {mine.problems[0]['why']}")
        theirs = self.target.read() if self.exists() else Inventory(self.new)
        self.journal.belong(self.place)  # not before both sides have answered: an address may be mistyped
        live = self.journal.live | self.cut_over_before(mine, theirs)
        foreign = {item.key for item in theirs.of("workspaces") if item.key in mine.items} - self.journal.moved - live
        if self.options.adopt or self.options.command == "verify":
            for key in foreign if self.journal.writes else ():
                self.journal.note("adopted", key)
            foreign = set()
        self.comparison = Comparison(mine, theirs, live, self.options.map, self.secrets, foreign)
        return self.comparison

    def cut_over_before(self, source, target):
        """The workspaces that a lost working folder has cut over: both locks say so, and this folder knows nothing."""
        moved = {item.key for item in source.of("workspaces") if item.facts.get("locked-reason") == REASON + self.client.url and not self.journal.last(item.key, *LOCKS)}
        found = {item.key for item in target.of("workspaces") if item.key in moved and item.facts.get("locked-reason") != WAITS}
        for key in sorted(found) if self.journal.writes else ():
            for did in ("locked source", "cut over", "works"):
                self.journal.note(did, key)
        return found

    def exists(self):
        try:
            found = self.client.get(f"organizations/{quoted(self.new)}")["data"]["attributes"]
        except Failure as why:
            if why.status == 404:
                return False
            raise
        if self.journal.writes and not (found.get("permissions") or {}).get("can-update", True):
            raise Trouble(f"the target's token must be an owner's of the organization {self.new}")
        return True

    # ---- commands ----

    def plan(self):
        rows = report.rows_of(self.compare(), self.journal)
        todo = report.write_plan(self.journal.folder, rows, self.comparison, self.client.url)
        print(f"{self.old} -> {self.client.url}/app/{self.new}\n\n{report.table(rows)}\n")
        for problem in self.comparison.source.problems:
            print(f"cannot be read: {problem['object']}: {problem['why']}")
        self.print_abandoned()
        print(f"{len(todo)} things for people: {self.journal.folder / 'checklist.md'}")
        print(f"everything: {self.journal.folder / 'plan.json'}, plan.csv; secrets to fill in: {self.journal.folder / 'secrets.json'}")
        return INCOMPLETE if self.comparison.source.problems else GOOD

    def apply(self):
        comparison = self.compare()
        live = comparison.live
        if not comparison.target.items and "organization/settings" not in comparison.source.items:
            raise Trouble(f"the target has no organization {self.new}: create it first")
        if not comparison.target.items:  # a new organization has a project, a team and a member
            settings = comparison.source.items["organization/settings"]
            self.engine().writer.create(settings)
            self.journal.note("created", settings.key)
            comparison.target.items.update(self.target.read().items)
        applied = self.engine().run(lambda item: comparison.source.workspace_of(item) not in live)  # those belong to the target
        report.write_checklist(self.journal.folder, report.checklist(comparison, self.client.url))
        return self.summary(applied)

    import_ = apply

    def export(self):
        folder = self.options.folder / self.old
        if files.is_export(folder):
            print(f"not exported: {self.old}: {folder} has an export, which is not changed: name another folder with --folder, such as one with the date, or delete it", file=sys.stderr)
            return FAILED
        inventory = self.source.read()
        if not inventory.items:
            raise Trouble(f"the organization {self.old} cannot be read: {inventory.problems[0]['why']}")
        wrong = inventory.problems + files.export(self.source, inventory, folder, self.options.parallel, self.progress)
        for row in wrong:
            print(f"cannot be read: {row['object']}: {row['why']}")
        for note in inventory.notes:
            print(f"not in the export: {note['object']}: {note['why']}")
        print(f"{len(inventory.items)} objects: {folder}")
        return INCOMPLETE if wrong else GOOD

    def print_abandoned(self):
        """Names the workspaces that were moved, and which the source no longer has. True if there are any."""
        comparison = self.comparison
        found = [key for key in sorted(self.journal.moved - comparison.live) if key in comparison.target.items and key not in comparison.source.items]
        for key in found:
            print(f"only at the target: {key}: it was renamed or deleted at the source: delete it, or rename it")
        return bool(found)

    def engine(self):
        writer = Writer(self.client, self.comparison, self.secrets, self.source)
        return Apply(self.source, self.comparison, writer, self.journal, self.options, self.progress)

    def summary(self, applied):
        source = self.comparison.source
        for (action, kind), number in sorted(applied.done.items()):
            print(f"{action}: {number} {kind}")
        if not applied.done:
            print("nothing to do")
        for title, rows in (("failed", applied.failed), ("waits for you", applied.skipped), ("cannot be read", source.problems)):
            for row in rows:
                print(f"{title}: {row['object']}: {row['why']}")
        self.print_abandoned()
        return INCOMPLETE if applied.failed or applied.skipped or source.problems else GOOD

    # ---- cut-over ----

    def say(self, text):
        with self.lock:
            print(text, flush=True)

    def refresh(self, workspace):
        """States change until their workspace is locked."""
        if self.options.by_api:
            self.source.reader().refresh(workspace, self.comparison.source)

    def write_patch(self):
        """Leads the code over: a patch of its cloud and backend blocks."""
        if not self.options.code:
            return
        if isinstance(self.source, CodeSource):
            text = self.source.patch()
        else:
            hosts = [urllib.parse.urlsplit(url).netloc for url in (self.options.source, self.client.url)]
            text = code.server_patch(self.options.code, hosts[0], self.old, hosts[1], self.new)
        if not text:
            print(f"no patch: nothing in {self.options.code} names what was moved")
            return
        path = self.options.patch or self.journal.folder / "cut-over.patch"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        print(f"patch for {self.options.code}: {path}")

    def cut_over(self):
        status = self.switch_on()
        self.write_patch()
        return status

    def switch_on(self):
        return self.switch("cut over", CutOver(self, self.compare()).cut_over)

    def roll_back(self):
        return self.switch("rolled back", CutOver(self, self.compare()).roll_back)

    def switch(self, title, work):
        names = self.options.workspaces
        results = work.__self__.run(names, work)
        for item, why in results:
            print(f"stopped: {item.name}: {why}" if why else f"{title}: {item.name}")
        return INCOMPLETE if any(why for _, why in results) else GOOD

    def verify(self):
        comparison = self.compare()
        wrong, waiting = verify.differences(comparison, self.options.members)
        self.progress("comparing contents")
        wrong += verify.contents(self.source, self.target, comparison, self.journal, self.options.parallel)
        for row in wrong:
            print(f"{row['object']}: {row['why'] or row['action']}" + (f": {', '.join(row['fields'])}" if row["fields"] else ""))
        for row in waiting:
            print(f"waits for you: {row['object']}: {row['why']}")
        for problem in comparison.source.problems + comparison.target.problems:
            print(f"cannot be read: {problem['object']}: {problem['why']}")
        abandoned = self.print_abandoned()
        held = sum(change.action == HELD for change in comparison.changes())
        states = len(comparison.source.of("state-versions"))
        print(f"{len(comparison.source.items)} objects compared, {states} states and {len(verify.archives(comparison))} files of the registry byte by byte: {len(wrong)} differ, {len(waiting)} wait for you, {held} come at the cut-over")
        return INCOMPLETE if wrong or waiting or comparison.source.problems or comparison.target.problems or abandoned else GOOD


def source_client(options, progress=None):
    return Client(options.source, options.source_token, read_only=True, rate=options.rate, cafile=options.ca_file, side="the source", progress=progress)


def organizations(options):
    """[(name at the source, name at the target)]"""
    if options.organization:
        return options.organization
    if not options.by_api:
        if files.is_export(options.source):
            name = FileSource(options.source, "").name
            return [(name, name)]
        raise Trouble("give --organization: the name of the one to create")
    return [(one["attributes"]["name"],) * 2 for one in source_client(options).list("organizations")]


def run(options):
    secrets = read_secrets(options.secrets)
    worst = GOOD
    for old, new in organizations(options):
        migration = Migration(options, old, new, secrets)
        worst = max(worst, getattr(migration, {"import": "import_"}.get(options.command, options.command.replace("-", "_")))())
    return worst

