# SPDX-License-Identifier: MPL-2.0
"""Rounds of faults. In each, a fault occurs while runs are in progress, more runs are queued, and the fault is
removed. When all runs have ended, everything is checked. A round's choices follow from its seed."""

import random
import statistics
import threading
import time
from dataclasses import dataclass, field

from support.chaos_checks import violations
from support.chaos_faults import ACTIONS, pick
from support.chaos_stack import KINDS, Stack
from support.chaos_work import Work
from support.wait import TimedOut, until


@dataclass
class Round:
    seed: int
    fault: str  # its row in the summary
    description: str  # in full
    runs: int = 0
    recovery_seconds: float | None = None  # seconds from the fault until a run queued after it was applied
    end_seconds: float = 0  # seconds from the fault until all runs had ended
    statuses: dict = field(default_factory=dict)
    wrong: list = field(default_factory=list)
    stuck: bool = False

    def __str__(self):
        recovery_seconds = "-" if self.recovery_seconds is None else f"{self.recovery_seconds:.1f}"
        ends = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        return f"seed {self.seed}: {self.description}: {ends}; recovered after {recovery_seconds} s, all runs ended after {self.end_seconds:.1f} s"


class Chaos:
    """A stack, its work, and rounds. `say` is called with a line for each round."""

    def __init__(self, folder, seed, say=print, kinds=KINDS, actions=ACTIONS, embedded=False, **work):
        self.seed = seed
        self.say = say
        self.kinds, self.actions = kinds, actions
        self.stack = Stack(folder, embedded)
        self.work_options = work
        self.rounds = []
        self.known = set()  # each problem is reported once

    def __enter__(self):
        try:
            self.stack.start()
            self.work = Work(self.stack, self.seed, **self.work_options)
        except BaseException:
            self.stack.release()
            raise
        return self

    def __exit__(self, *why):
        self.stack.release()

    def round(self):
        """Runs one round and returns its result."""
        seed = self.seed + len(self.rounds)
        fault = pick(self.stack, seed, self.kinds, self.actions)
        self.rounds.append(self.run_round(seed, fault))
        self.say(str(self.rounds[-1]))
        for sentence in self.rounds[-1].wrong:
            self.say(f"  WRONG: {sentence}")
        return self.rounds[-1]

    def run_round(self, seed, fault):
        rng = random.Random(f"{seed} when")
        this = Round(seed, fault.name, str(fault))
        before = self.ids()
        self.work.queue(max_runs=2)
        self.wait_for_lines(len(self.stack.record.lines) + rng.randint(0, 6 * len(self.work.workspaces)))
        known = self.ids()
        with EngineWatch(self.stack, self.work) as watch:
            begin = time.time()
            fault.begin()
            client = Background(self.queue_and_cancel)
            time.sleep(fault.seconds)  # not a wait for a condition: the duration of the fault
            fault.end()
            client.end()
            self.wait_for_all_ends(this)
        this.end_seconds = time.time() - begin
        this.wrong += self.new_violations([*watch.wrong, *([] if this.stuck else violations(self.stack, self.work))])
        self.count(this, before, known, begin)
        return this

    def quiet_round(self):
        """A round without faults and cancels."""
        this = Round(self.seed, "nothing", "no fault")
        self.work.queue()
        self.wait_for_all_ends(this)
        this.wrong += [] if this.stuck else violations(self.stack, self.work)
        return this

    def wait_for_lines(self, lines):
        """Waits until the runs have written that many lines, or have all ended."""
        until(lambda: len(self.stack.record.lines) >= lines or not self.unfinished_runs(), "runs are in progress")

    def queue_and_cancel(self):
        self.work.cancel()
        self.work.queue()

    def ids(self):
        return {run for (run,) in self.stack.rows("select id from runs")}

    def unfinished_runs(self):
        return self.stack.rows("select id from runs where not ended")

    def wait_for_all_ends(self, this):
        def ended():
            self.work.confirm()
            return not self.unfinished_runs() and self.nothing_pending()

        try:
            until(ended, "all runs end", every=0.2)
        except TimedOut:
            this.stuck = True
            this.wrong.append(f"runs have not ended:\n{self.database_diagnosis()}")

    def nothing_pending(self):
        """Waits for things that may follow the last run's end: a lost apply's last state, and messages."""
        (left,) = self.stack.rows("select (select count(*) from outbox) + (select count(*) from notifications) + (select count(*) from jobs) "
                                  "+ (select count(*) from workspaces where hold_job_id is not null)")
        return left == (0,)

    def database_diagnosis(self):
        queries = ("select id, workspace_id, status, stage, stopping, queued, holds, updated_at from runs where not ended",
                     "select id, run_id, stage, state, attempt, started, stop, worker_id, lease_until - now() from jobs",
                     "select h.job_id, h.run_id, h.worker, h.until from workspace_holds h join workspaces w on w.hold_job_id = h.job_id",
                     "select id, name, free, slots, draining, now() - seen_at from workers",
                     "select id, run_id, stage, status, delivery, attempt, due_at, reported from task_results where delivery not in ('none', 'over')",
                     "select e.run_id, e.status, e.output from policy_evaluations e join runs r on r.id = e.run_id where not r.ended",
                     "select id, trigger, run_id from notifications", "select topic, payload, created_at from outbox")
        found = []
        for query in queries:
            try:
                found += [query, *(f"  {row}" for row in self.stack.rows(query))]
            except Exception as why:  # noqa: BLE001: the other queries still run
                found.append(f"{query}: {why}")
        return "\n".join(found)

    def new_violations(self, sentences):
        found = [sentence for sentence in sentences if sentence not in self.known]
        self.known.update(found)
        return found

    def count(self, this, before, known, begin):
        rows = self.stack.rows("select id, status, extract(epoch from updated_at)::float8 from runs")
        mine = [(run, status, at) for run, status, at in rows if run not in before]
        this.runs = len(mine)
        for _, status, _ in mine:
            this.statuses[status] = this.statuses.get(status, 0) + 1
        applied = [at - begin for run, status, at in mine if status == "applied" and run not in known]
        this.recovery_seconds = min(applied, default=None)


class Background:
    """The client, which continues during the fault."""

    def __init__(self, work):
        self.why = None
        self.thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self.thread.start()

    def _run(self, work):
        try:
            work()
        except BaseException as why:  # noqa: BLE001: raised where it is waited for
            self.why = why

    def end(self):
        self.thread.join()
        if self.why:
            raise self.why


class EngineWatch:
    """Checks continuously which engines run, and for which runs. Engines of two runs of one workspace must never run
    at the same time, nor two for one run, nor one for a run that is reported as ended. (A run that lost its
    worker's lease is reported as ended: its workspace is held instead.)"""

    def __init__(self, stack, work):
        self.stack, self.work = stack, work
        self.wrong = []
        self.done = threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(check,), daemon=True)
                        for check in (self._concurrent_engines, self._engines_after_end)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *why):
        self.done.set()
        for thread in self.threads:
            thread.join()

    def _run(self, check):
        while not self.done.wait(0.2):
            for sentence in check():
                if sentence not in self.wrong:
                    self.wrong.append(sentence)

    def _concurrent_engines(self):
        seen = {}
        for workspace, run, worker in self.stack.engines(self.work.workspaces):
            seen.setdefault(workspace, set()).add((run, worker))
        return [f"programs of two attempts ran at once in {workspace}: {sorted(who)}" for workspace, who in seen.items() if len(who) > 1]

    def _engines_after_end(self):
        ended = dict(self.stack.rows("select id, status from runs where ended and status <> 'errored'"))
        return [f"{run} was {ended[run]} while its engine ran" for _, run, _ in self.stack.engines(self.work.workspaces) if run in ended]


def summary(rounds):
    """A table by fault."""
    lines = [f"{'fault':34} {'rounds':>6} {'runs':>5} {'recovery: median':>17} {'max':>6} {'all ended: med.':>15} {'max':>6} {'violations':>10}"]
    for name in sorted({this.fault for this in rounds}):
        mine = [this for this in rounds if this.fault == name]
        lines.append(row(name, mine))
    return "\n".join([*lines, row("all", rounds)])


def row(name, rounds):
    recoveries = [this.recovery_seconds for this in rounds if this.recovery_seconds is not None] or [float("nan")]
    ends = [this.end_seconds for this in rounds]
    return (f"{name:34} {len(rounds):6} {sum(this.runs for this in rounds):5} {statistics.median(recoveries):15.1f} s {max(recoveries):4.1f} s "
            f"{statistics.median(ends):13.1f} s {max(ends):4.1f} s {sum(len(this.wrong) for this in rounds):10}")
