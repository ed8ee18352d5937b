# SPDX-License-Identifier: MPL-2.0
"""Rounds of faults. In each, a fault occurs while runs are in progress, more runs are queued, and the fault is
removed. When all runs have ended, everything is checked. A round's choices follow from its seed."""

import random
import statistics
import threading
import time
from dataclasses import dataclass, field

from support.chaos_checks import wrong
from support.chaos_faults import ACTIONS, pick
from support.chaos_stack import KINDS, Stack
from support.chaos_work import Work
from support.wait import TimedOut, until


@dataclass
class Round:
    seed: int
    fault: str  # its row in the summary
    what: str  # in full
    runs: int = 0
    goes_on: float | None = None  # seconds from the fault until a run queued after it was applied
    over: float = 0  # seconds until all runs had ended
    statuses: dict = field(default_factory=dict)
    wrong: list = field(default_factory=list)
    stuck: bool = False

    def __str__(self):
        goes_on = "-" if self.goes_on is None else f"{self.goes_on:.1f}"
        ends = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        return f"seed {self.seed}: {self.what}: {ends}; went on after {goes_on} s, over after {self.over:.1f} s"


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
        self.rounds.append(self.play(seed, fault))
        self.say(str(self.rounds[-1]))
        for sentence in self.rounds[-1].wrong:
            self.say(f"  WRONG: {sentence}")
        return self.rounds[-1]

    def play(self, seed, fault):
        rng = random.Random(f"{seed} when")
        this = Round(seed, fault.name, str(fault))
        before = self.ids()
        self.work.queue(max_runs=2)
        self.reach(len(self.stack.record.lines) + rng.randint(0, 6 * len(self.work.workspaces)))
        known = self.ids()
        with Watch(self.stack, self.work) as watch:
            begin = time.time()
            fault.begin()
            client = Background(self.more)
            time.sleep(fault.seconds)  # not a wait for a condition: the duration of the fault
            fault.end()
            client.end()
            self.all_end(this)
        this.over = time.time() - begin
        this.wrong += self.news([*watch.wrong, *([] if this.stuck else wrong(self.stack, self.work))])
        self.count(this, before, known, begin)
        return this

    def calm(self):
        """A round without faults and cancels."""
        this = Round(self.seed, "nothing", "nothing breaks")
        self.work.queue()
        self.all_end(this)
        this.wrong += [] if this.stuck else wrong(self.stack, self.work)
        return this

    def reach(self, lines):
        """Waits until the runs have written that many lines, or have all ended."""
        until(lambda: len(self.stack.record.lines) >= lines or not self.unended(), "runs are under way")

    def more(self):
        self.work.cancel()
        self.work.queue()

    def ids(self):
        return {run for (run,) in self.stack.rows("select id from runs")}

    def unended(self):
        return self.stack.rows("select id from runs where not ended")

    def all_end(self, this):
        def ended():
            self.work.confirm()
            return not self.unended() and self.settled()

        try:
            until(ended, "all runs end", every=0.2)
        except TimedOut:
            this.stuck = True
            this.wrong.append(f"runs have not ended:\n{self.diagnosis()}")

    def settled(self):
        """Waits for things that may follow the last run's end: a lost apply's last state, and messages."""
        (left,) = self.stack.rows("select (select count(*) from outbox) + (select count(*) from notifications) + (select count(*) from jobs) "
                                  "+ (select count(*) from workspaces where hold_job_id is not null)")
        return left == (0,)

    def diagnosis(self):
        questions = ("select id, workspace_id, status, stage, stopping, queued, holds, updated_at from runs where not ended",
                     "select id, run_id, stage, state, attempt, started, stop, worker_id, lease_until - now() from jobs",
                     "select h.job_id, h.run_id, h.worker, h.until from workspace_holds h join workspaces w on w.hold_job_id = h.job_id",
                     "select id, name, free, slots, draining, now() - seen_at from workers",
                     "select id, run_id, stage, status, delivery, attempt, due_at, reported from task_results where delivery not in ('none', 'over')",
                     "select e.run_id, e.status, e.output from policy_evaluations e join runs r on r.id = e.run_id where not r.ended",
                     "select id, trigger, run_id from notifications", "select topic, payload, created_at from outbox")
        found = []
        for question in questions:
            try:
                found += [question, *(f"  {row}" for row in self.stack.rows(question))]
            except Exception as why:  # noqa: BLE001: the others are wanted all the same
                found.append(f"{question}: {why}")
        return "\n".join(found)

    def news(self, sentences):
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
        this.goes_on = min(applied, default=None)


class Background:
    """The client, which continues during the fault."""

    def __init__(self, work):
        self.why = None
        self.thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self.thread.start()

    def _run(self, work):
        try:
            work()
        except BaseException as why:  # noqa: BLE001: told where it is waited for
            self.why = why

    def end(self):
        self.thread.join()
        if self.why:
            raise self.why


class Watch:
    """Checks continuously which engines run, and for which runs. Engines of two runs of one workspace must never run
    at the same time, nor two for one run, nor one for a run that is reported as ended. (A run that lost its
    worker's lease is reported as ended: its workspace is held instead.)"""

    def __init__(self, stack, work):
        self.stack, self.work = stack, work
        self.wrong = []
        self.done = threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(look,), daemon=True) for look in (self._doubled, self._over)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *why):
        self.done.set()
        for thread in self.threads:
            thread.join()

    def _run(self, look):
        while not self.done.wait(0.2):
            for sentence in look():
                if sentence not in self.wrong:
                    self.wrong.append(sentence)

    def _doubled(self):
        seen = {}
        for workspace, run, worker in self.stack.engines(self.work.workspaces):
            seen.setdefault(workspace, set()).add((run, worker))
        return [f"programs of two attempts ran at once in {workspace}: {sorted(who)}" for workspace, who in seen.items() if len(who) > 1]

    def _over(self):
        over = dict(self.stack.rows("select id, status from runs where ended and status <> 'errored'"))
        return [f"{run} was {over[run]} while its engine ran" for _, run, _ in self.stack.engines(self.work.workspaces) if run in over]


def summary(rounds):
    """A table by fault."""
    lines = [f"{'fault':34} {'rounds':>6} {'runs':>5} {'goes on: median':>16} {'max':>6} {'over: median':>13} {'max':>6} {'violations':>10}"]
    for name in sorted({this.fault for this in rounds}):
        mine = [this for this in rounds if this.fault == name]
        lines.append(row(name, mine))
    return "\n".join([*lines, row("all", rounds)])


def row(name, rounds):
    on = [this.goes_on for this in rounds if this.goes_on is not None] or [float("nan")]
    over = [this.over for this in rounds]
    return (f"{name:34} {len(rounds):6} {sum(this.runs for this in rounds):5} {statistics.median(on):14.1f} s {max(on):4.1f} s "
            f"{statistics.median(over):11.1f} s {max(over):4.1f} s {sum(len(this.wrong) for this in rounds):10}")
