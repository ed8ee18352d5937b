# SPDX-License-Identifier: MPL-2.0
"""The cut-over of a workspace, and its undoing.

The source is locked, the newest states are moved, and a plan at the target must show no changes. Only then do
notifications, webhooks, tasks, triggers and schedules start to work there, and the target's lock is removed.
The journal says "cut over" before the first of them starts, and "works" after the last. It says "rolled back" before the
first of them is switched off, and "switched off" after the last.
"""

import contextlib
import threading
import time
from typing import NamedTuple, Optional

from .apply import MARK, WAITS
from .client import LOST, Failure, threads
from .content import digest, temporary
from .difference import OPERATOR, SECRET
from .inventory import Reader
from .journal import Trouble
from .kinds import BY_NAME

FINAL = {"planned_and_finished", "applied", "errored", "canceled", "force_canceled", "discarded", "policy_soft_failed", "planned_and_saved"}
REASON = f"{MARK}: this workspace moved to "  # and the target's address
LOCKS = ("locking source", "locked source", "unlocked source")  # what the journal says about the source's lock
APPLIES = {"confirmed", "apply_queued", "applying", "applied", "queuing_apply", "pre_apply_running", "pre_apply_completed"}


class Stop(Exception):
    """A workspace that is not cut over, and why."""


class Lock(NamedTuple):
    reason: Optional[str]  # None if the server tells no reasons
    by_run: bool

    def __str__(self):
        return " by a run" if self.by_run else f' ("{self.reason}")' if self.reason else ""


def md5_of(side, state):
    if state.facts.get("md5"):
        return state.facts["md5"]
    with temporary() as file:
        side.fetch(state, file)
        return digest(file)[0]


class CutOver:
    def __init__(self, migration, comparison):
        self.migration, self.comparison, self.journal, self.options = migration, comparison, migration.journal, migration.options
        self.source, self.client = migration.source, migration.client
        self.switching = threading.Lock()  # objects of several workspaces are changed by one thread
        self.stopping = threading.Event()

    # ---- which ----

    def chosen(self, names):
        found = [self.comparison.source.items.get("workspaces/" + name) for name in names]
        for name, item in zip(names, found):
            if item is None:
                raise Trouble(f"the source has no workspace {name}")
        return found or self.comparison.source.of("workspaces")

    def run(self, names, work):
        """Does the work with each workspace. [(workspace, why it stopped or None)]. An interruption ends the plans that are waited for."""
        def safely(item):
            try:
                work(item)
                return item, None
            except (Stop, Failure, *LOST) as why:
                return item, str(why)
            except Exception as why:  # one workspace's must not hide what became of the others
                return item, f"unexpected {type(why).__name__}: {why}"
        with threads(self.options.parallel) as pool:
            try:
                return list(pool.map(safely, self.chosen(names)))
            except KeyboardInterrupt:
                self.migration.say("interrupted: waiting until each workspace is at one of both servers again")
                self.stopping.set()
                raise

    # ---- cut-over ----

    def cut_over(self, item):
        there = self.comparison.target.items.get(item.key)
        if there is None or item.key in self.comparison.foreign:
            raise Stop("is not at the target: run apply")
        if item.key in self.comparison.live:
            last = self.journal.last(item.key, "works", "cut over")
            if last["did"] == "cut over" or there.facts.get("locked-reason") == WAITS:
                self.switch_on(item)  # it was interrupted, or a part of it failed
            return
        waiting = self.waiting(item)
        if waiting:
            raise Stop("waits for you: " + "; ".join(waiting))
        repo = item.attributes.get("vcs-repo")
        if repo and not self.comparison.has_connection(self.comparison.connection(repo["connection"])):
            raise Stop(f"waits for you: the target has no VCS connection {self.comparison.connection(repo['connection'])}")
        self.lock_source(item)
        with self.undoing(lambda: self.unlock_source(item)):
            self.move(item)
            self.plan(item, there)
        self.journal.note("cut over", item.key)
        self.comparison.live.add(item.key)
        self.switch_on(item)

    def waiting(self, item):
        """What people must do before the workspace can work at the target."""
        source = self.comparison.source
        own = [change for change in self.comparison.changes() if change.action in (SECRET, OPERATOR) and source.workspace_of(change.item) == item.key]
        used = [self.comparison.change(source.items[key]) for key in item.relations.values() if key and self.comparison.waits_for_secret(key)]
        return [f"{change.item.key}: {change.why}" for change in own + used]

    def lock_source(self, item):
        if not self.options.by_api:
            return
        mine, ours = self.locked_source(item), REASON + self.client.url
        self.journal.note("locking source", item.key)
        try:
            self.source.client.call("POST", f"workspaces/{item.id}/actions/lock", {"reason": ours}, allow=True, repeat=True)
        except Failure as why:
            lock = self.lock_of(self.source.client, item) if why.status == 409 else None
            fresh = lock and lock.reason == ours and item.facts.get("locked-reason") != ours  # the answer to the first request was lost
            if not fresh and not (mine and lock in (Lock(ours, False), Lock(None, False))):
                if why.status == 409 or 400 <= why.status < 500 and not mine:  # otherwise it may be locked
                    self.journal.note("unlocked source", item.key)
                hint = f"{lock}: {'let the run end' if lock.by_run else 'unlock it there'}, and repeat" if lock else ""
                raise Stop(f"cannot be locked at the source: {why.text or why}{hint}") from None
        self.journal.note("locked source", item.key)

    def locked_source(self, item):
        line = self.journal.last(item.key, *LOCKS)
        return bool(line) and line["did"] != "unlocked source"

    def unlock_source(self, item):
        if not self.options.by_api or not self.locked_source(item):
            return
        self.unlock(self.source.client, item, "source")
        self.journal.note("unlocked source", item.key)

    @staticmethod
    def lock_of(client, workspace):
        """The workspace's lock as it is now, or None if the workspace is unlocked."""
        resource = client.get(f"workspaces/{workspace.id}")["data"]
        attributes, holder = resource["attributes"], ((resource.get("relationships") or {}).get("locked-by") or {}).get("data") or {}
        if not attributes.get("locked"):
            return None
        return Lock(attributes["locked-reason"] or "" if "locked-reason" in attributes else None, holder.get("type") == "runs")

    def unlock(self, client, workspace, side):
        """The answer is 409 if the workspace is unlocked already, also if a run has locked it since, and if another user holds its lock."""
        try:
            client.call("POST", f"workspaces/{workspace.id}/actions/unlock", allow=True, repeat=True)
        except Failure as why:
            if why.status != 409:
                raise
            lock = self.lock_of(client, workspace)
            if lock and not lock.by_run:
                raise Stop(f"cannot be unlocked at the {side}: {why.text}{lock}: use the token of the user who locked it, or unlock it there, and repeat") from None

    @staticmethod
    @contextlib.contextmanager
    def undoing(undo):
        """Undoes a step if what follows fails. If that fails, too, both reasons are told."""
        try:
            yield
        except BaseException as why:
            try:
                undo()
            except (Stop, Failure) as second:
                raise Stop(f"{why}; {second}") from None
            raise

    def move(self, item):
        """Moves what changed since apply."""
        self.migration.refresh(item)
        applied = self.migration.engine().run(lambda one: self.comparison.source.workspace_of(one) == item.key)
        wrong = applied.failed + applied.skipped
        if wrong:
            raise Stop("; ".join(f"{row['object']}: {row['why']}" for row in wrong[:5]))

    # ---- the plan ----

    def plan(self, item, there):
        states = self.comparison.source.owned(item.key, "state-versions")
        _, configuration = self.journal.uploaded(item.key + "/configurations/current")
        if self.options.without_plan or item.attributes.get("execution-mode") == "local" or not (states or configuration):
            return
        if not configuration:
            raise Stop("has no configuration to plan with: use --without-plan, or upload one to the source")
        body = {"data": {"type": "runs", "attributes": {"plan-only": True, "message": f"{MARK}: is it the same as at the source?"}, "relationships": {
            "workspace": {"data": {"type": "workspaces", "id": there.id}}, "configuration-version": {"data": {"type": "configuration-versions", "id": configuration}}}}}
        run = self.client.call("POST", "runs", body, repeat=True)["data"]
        page = f"{self.client.url}/app/{self.migration.new}/workspaces/{item.name}/runs/{run['id']}"
        until = time.monotonic() + self.options.plan_timeout
        while run["attributes"]["status"] not in FINAL:
            why = "was interrupted" if self.stopping.wait(1) else f"did not end within {self.options.plan_timeout} s" if time.monotonic() > until else None
            if why:
                self.client.call("POST", f"runs/{run['id']}/actions/cancel", {}, repeat=True)
                raise Stop(f"the plan {why} ({run['attributes']['status']}): {page}")
            self.migration.progress(f"{item.name}: the plan is {run['attributes']['status']}: {page}")
            run = self.client.get(f"runs/{run['id']}")["data"]
        if run["attributes"]["status"] != "planned_and_finished":
            raise Stop(f"the plan is {run['attributes']['status']}: {page}\n  {run['attributes'].get('error') or ''}".rstrip())
        if run["attributes"].get("has-changes"):
            shown = self.changes(run)
            if not self.options.accept_changes:
                raise Stop(f"the plan shows changes: {page}\n" + shown)
            self.migration.say(f"{item.name}: changes were accepted: {page}\n{shown}")

    def changes(self, run):
        """What the plan would do, without values."""
        plan = run["relationships"]["plan"]["data"]["id"]
        try:
            document = self.client.get(f"plans/{plan}/json-output")
            found = [(one["address"], one["change"]["actions"]) for one in document.get("resource_changes", [])]
            found += [(f"output.{name}", one["actions"]) for name, one in (document.get("output_changes") or {}).items()]
            return "\n".join(f"  {'/'.join(actions)} {address}" for address, actions in found if actions not in (["no-op"], ["read"]))
        except (Failure, KeyError, TypeError, AttributeError):
            return "  (the plan's details cannot be read)"

    # ---- working at the target ----

    def settle(self, item):
        """Gives the workspace, and objects that depend on cut-overs, the values that the journal asks for."""
        with self.switching:
            self.comparison.refresh_live()
            source = self.comparison.source

            def wanted(one):
                return source.workspace_of(one) == item.key or source.workspace_of(one) is None and bool(one.kind.held or one.kind.deferred)
            applied = self.migration.engine().run(wanted, contents=False)
        return applied.failed + [row for row in applied.skipped if row["object"].startswith(item.key)]

    def switch_on(self, item):
        """A destination that does not answer must not keep a workspace from working. The workspace itself must be as it was."""
        wrong = self.settle(item)
        text = "; ".join(f"{row['object']}: {row['why']}" for row in wrong[:5])
        if any(row["object"] == item.key for row in wrong):
            raise Stop(f"is locked on both sides until the cut-over is repeated: {text}")
        there = self.comparison.target.items[item.key]
        self.unlock(self.client, there, "target")
        if wrong:
            raise Stop(f"works at the target, but repeat the cut-over for: {text}")
        self.journal.note("works", item.key)

    # ---- roll-back ----

    def roll_back(self, item):
        begun = self.journal.last(item.key, "rolled back", "switched off")
        if item.key not in self.comparison.live and not self.locked_source(item) and not (begun and begun["did"] == "rolled back"):
            raise Stop("was not cut over")
        there = self.comparison.target.items[item.key]
        try:
            self.client.call("POST", f"workspaces/{there.id}/actions/lock", {"reason": WAITS}, repeat=True)
        except Failure as why:
            if why.status != 409 or self.lock_of(self.client, there) != Lock(WAITS, False):
                raise Stop(f"is in use at the target: {why.text}") from None
        last = self.journal.last(item.key, "works", "cut over")
        works = item.key in self.comparison.live and (last["did"] == "works" or there.facts.get("locked-reason") != WAITS)  # otherwise it stays locked
        with self.undoing(lambda: works and self.unlock(self.client, there, "target")):
            self.require_untouched(item, there)
        self.journal.note("rolled back", item.key)
        self.comparison.live.discard(item.key)
        wrong = self.settle(item)
        own = [row for row in wrong if (row["object"] + "/").startswith(item.key + "/")]
        if own:
            raise Stop("repeat the roll-back: " + "; ".join(f"{row['object']}: {row['why']}" for row in own[:5]))
        for row in wrong:  # of other workspaces that work at the target: nothing that keeps this one there
            self.migration.say(f"failed: {row['object']}: {row['why']}")
        self.journal.note("switched off", item.key)
        self.unlock_source(item)

    def require_untouched(self, item, there):
        """The target is locked, so what is read now stays. What was read before it was locked may be old."""
        for run in self.client.list(f"workspaces/{there.id}/runs"):
            if run["attributes"]["status"] in APPLIES:
                raise Stop(f"the target has applied {run['id']}: move back by hand, from the target's state")
        reader = Reader(self.client, self.migration.new, states=1)
        for resource in reader.latest_states(there):
            state = reader.item(BY_NAME["state-versions"], resource, there)
            if not self.journal.wrote(item.key, state) and not self.is_newest(item, state):
                raise Stop("the target has a newer state: move back by hand, from the target's state")

    def is_newest(self, item, state):
        """Whether the source's newest state is this one of the target. The journal does not know it if it was adopted, or if the program was killed after it was written."""
        mine = self.comparison.source.owned(item.key, "state-versions")[-1:]
        return any(one.attributes["serial"] == state.attributes["serial"] and md5_of(self.source, one) == md5_of(self.migration.target, state) for one in mine)
