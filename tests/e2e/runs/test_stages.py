# SPDX-License-Identifier: MPL-2.0
"""Every outcome of every stage, one per row, with real processes."""

import re
from dataclasses import dataclass, field

import pytest

from support.api import FINAL
from support.configurations import planning_at
from support.gate import Gate
from support.receiver import acknowledges, answers, says
from support.servers import ROOT
from support.wait import until


CHANGES = {"main.tf": 'resource "terraform_data" "one" {\n  input = "hello"\n}\n'}
NOTHING = {"main.tf": "locals {\n  nothing = true\n}\n"}
PLAN_FAILS = {"main.tf": 'resource "terraform_data" "one" {\n  input = file("nowhere")\n}\n'}
APPLY_FAILS = {"main.tf": 'resource "terraform_data" "one" {\n  provisioner "local-exec" {\n    command = "exit 3"\n  }\n}\n'}
NO_PRICE = {"main.tf": 'resource "terraform_data" "one" {\n  input = "breaks the estimate"\n}\n'}


def stops_in_apply(gate):
    return {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n'}


# Policies.
ALLOWS = 'package p\nimport rego.v1\ndeny contains "no" if input.run.workspace.name == "another"\n'
DENIES = 'package p\nimport rego.v1\ndeny contains "never" if count(input.plan.resource_changes) >= 0\n'
NO_REGO = "package p\nthis is no policy\n"
LOOPS = "package p\nimport rego.v1\ndeny contains i if { some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i * j < 0 }\n"
SENTINEL_PASSES = 'import "tfrun"\nmain = rule { tfrun.workspace.name is not "another" }\n'
SENTINEL_FAILS = 'import "tfplan/v2" as tfplan\nmain = rule { length(tfplan.resource_changes) < 0 }\n'
SENTINEL_BREAKS = 'main = rule { 1 / int("0") is 1 }\n'
SENTINEL_LOOPS = "for range(100000) as _, i { for range(100000) as _, j {} }\nmain = true\n"
PASSED_BY = {ALLOWS, SENTINEL_PASSES}

# Sequences of statuses that most rows have.
PLANNED = "pending plan_queued planning planned"
SPECULATIVE = f"{PLANNED} planned_and_finished"
APPLIED = "confirmed apply_queued applying applied"


def passes(call):
    says("passed", "all is well")(call)


def fails(call):
    says("failed", "two things are wrong")(call)


@dataclass
class Row:
    """A path through the stages: the configuration, the events, and the result."""

    title: str
    reached: str  # the statuses, in order; the run ends with the last
    tasks: list = field(default_factory=list)  # (stage, enforcement level, the service's behaviour)
    opa: list = field(default_factory=list)  # (enforcement level, source)
    sentinel: list = field(default_factory=list)
    cost: bool = False
    files: object = field(default_factory=lambda: CHANGES)  # or a function of a gate
    auto: bool = True
    steps: list = field(default_factory=list)  # (status waited for, a user's action then)
    options: dict = field(default_factory=dict)
    warned: str = ""  # contained in the run's warning; in other rows there is none
    error: str = ""  # contained in the run's error

    @property
    def statuses(self):
        return self.reached.split()


@pytest.fixture(scope="module")
def stages(full_site):
    return full_site


class Walk:
    """One row's run."""

    def __init__(self, site, row):
        self.site, self.api, self.row = site, site.api, row
        self.gate = Gate(site.gates, re.sub(r"\W+", "-", row.title)) if callable(row.files) else None
        self.workspace = self.api.workspace(auto_apply=row.auto)
        self.services = {}  # by task's name
        for stage, enforcement, act in row.tasks:
            service = site.receiver.service(act)
            self.services[service.name] = service
            self.api.attach(self.workspace, self.api.task(service, service.name), stage, enforcement)
        for kind in ("opa", "sentinel"):
            policies = [self.api.policy(kind, *policy) for policy in getattr(row, kind)]
            if policies:
                self.api.policy_set(kind, policies, self.workspace)

    def start(self):
        files = self.row.files(self.gate) if self.gate else self.row.files
        configuration = self.api.upload(self.workspace, files)
        self.site.estimates(self.row.cost)
        self.run = self.api.run(self.workspace, configuration, **self.row.options)
        return self

    def does(self, status, act):
        self.api.wait_status(self.run, status)
        if status.endswith("_running"):
            stage = status.removesuffix("_running")
            for service, (where, _, _) in zip(self.services.values(), self.row.tasks):
                if where == stage:
                    service.got()
        if self.gate:
            self.gate.wait()
        self.api.override(self.run) if act == "override" else self.api.act(self.run, act)
        if self.gate and status == "planning":
            self.gate.open()  # terraform has the interrupt, but can't handle it during the read

    def ends(self):
        for step in self.row.steps:
            self.does(*step)
        self.attributes = self.api.wait_status(self.run, self.row.statuses[-1])
        return self


# ---- conditions for every run ----

ROWS = re.findall(r'^RUN_STATUS\(\w+,\s*"(\w+)",\s*"([\w-]+)",', (ROOT / "proto/run_status.def").read_text(), re.M)
TIMES = dict(ROWS)


def reached_in_order(walk):
    """The statuses reached are exactly the row's, with ascending times."""
    times = walk.attributes["status-timestamps"]
    assert set(times) == {TIMES[status] for status in walk.row.statuses}, walk.row.title
    # A status that is reached twice has the time of the second.
    last = {status: i for i, status in enumerate(walk.row.statuses)}
    order = [times[TIMES[status]] for i, status in enumerate(walk.row.statuses) if last[status] == i]
    assert order == sorted(order), dict(zip(walk.row.statuses, order))


def warnings_as_expected(walk):
    warnings = [text for _, text in walk.api.events(walk.run, "warned")]
    assert bool(warnings) == bool(walk.row.warned), warnings
    assert all(walk.row.warned in text for text in warnings), warnings
    advisory = [name for name, (_, enforcement, act) in zip(walk.services, walk.row.tasks) if enforcement == "advisory" and act is fails]
    assert all(name in warnings[0] for name in advisory if warnings), (advisory, warnings)


def events_in_order(walk):
    actions = [action for action, _ in walk.api.events(walk.run)]
    assert actions[:2] == ["created", "turn"], actions


def error_as_expected(walk):
    error = walk.attributes["error"]
    assert bool(error) == (walk.row.statuses[-1] == "errored"), error
    assert walk.row.error in (error or "")


def stages_as_configured(walk):
    """A stage that is not configured leaves no trace. In a configured one, every task has ended."""
    # For clients, OPA's evaluation belongs to the post_plan stage.
    configured = {stage for stage, _, _ in walk.row.tasks} | ({"post_plan"} if walk.row.opa else set())
    assert set(walk.api.task_stages(walk.run)) == configured
    for stage, resource in walk.api.task_stages(walk.run).items():
        assert resource["attributes"]["status"] not in ("pending", "running"), (stage, resource)
        for result in walk.api.task_results(walk.run, stage).values():
            assert result["attributes"]["status"] not in ("pending", "running"), result


def policies_as_expected(walk):
    """Whatever the run's result, the results of its policies can be read."""
    evaluation, check = walk.api.evaluation(walk.run), walk.api.policy_check(walk.run)
    assert (evaluation is not None, check is not None) == (bool(walk.row.opa), bool(walk.row.sentinel))
    if "canceled" in walk.row.statuses or "policy_checking" not in walk.row.statuses:
        return
    if evaluation:
        said = evaluation["result-count"]
        assert said["passed"] == sum(source in PASSED_BY for _, source in walk.row.opa), said
        assert sum(said.values()) == len(walk.row.opa), said
    if check:
        said = check["attributes"]["result"]
        assert (said["passed"], said["total-failed"]) == tuple(sum((source in PASSED_BY) is passed for _, source in walk.row.sentinel) for passed in (True, False)), said


def late_callbacks_refused(walk):
    for service in walk.services.values():
        if service.act is acknowledges and service.calls:
            assert service.calls[0].back("passed").status == 409, service.name
        assert len(service.calls) <= 1 or service.act not in (passes, fails, acknowledges), "asked more than once"


def resources_as_applied(walk):
    applied = "applied" in walk.row.statuses and walk.row.files is not NOTHING
    if walk.row.statuses[-1] in ("errored", "canceled") and "applying" in walk.row.statuses:
        return  # the tests of states check the rest
    assert walk.api.resources(walk.workspace) == (["terraform_data.one"] if applied else []), walk.row.title


def check(walk):
    reached_in_order(walk)
    events_in_order(walk)
    warnings_as_expected(walk)
    error_as_expected(walk)
    stages_as_configured(walk)
    policies_as_expected(walk)
    late_callbacks_refused(walk)
    resources_as_applied(walk)
    until(lambda: walk.api.attributes(f"workspaces/{walk.workspace}")["locked"] is False, "the workspace is free")


# ---- the rows ----

PLAN = [
    Row("plan: failed", "pending plan_queued planning errored", files=PLAN_FAILS),
    Row("plan: canceled by a user", "pending plan_queued planning canceled", files=planning_at, steps=[("planning", "cancel")]),
    Row("plan: without changes", f"{PLANNED} planned_and_finished", files=NOTHING),
    Row("plan: auto-applied", f"{PLANNED} {APPLIED}"),
    Row("plan: approved", f"{PLANNED} {APPLIED}", auto=False, steps=[("planned", "apply")]),
    Row("plan: discarded", f"{PLANNED} discarded", auto=False, steps=[("planned", "discard")]),
    Row("plan: of a speculative run", SPECULATIVE, options={"plan_only": True}),
    Row("plan: saved and applied", f"{PLANNED} planned_and_saved {APPLIED}", options={"save_plan": True}, steps=[("planned_and_saved", "apply")]),
    Row("plan: saved and discarded", f"{PLANNED} planned_and_saved discarded", options={"save_plan": True}, steps=[("planned_and_saved", "discard")]),
]

PRE = "pending pre_plan_running"
PRE_PASSED = f"{PRE} pre_plan_completed plan_queued planning planned"
PRE_PLAN = [
    Row("pre-plan: passed", f"{PRE_PASSED} {APPLIED}", tasks=[("pre_plan", "mandatory", passes)]),
    Row("pre-plan: a mandatory task failed", f"{PRE} errored", tasks=[("pre_plan", "mandatory", fails)], error="two things are wrong"),
    Row("pre-plan: an advisory task failed", f"{PRE_PASSED} {APPLIED}", tasks=[("pre_plan", "advisory", fails)], warned="two things are wrong"),
    Row("pre-plan: two advisory tasks passed and one mandatory failed", f"{PRE} errored",
        tasks=[("pre_plan", "advisory", passes), ("pre_plan", "advisory", passes), ("pre_plan", "mandatory", fails)], error="two things are wrong"),
    Row("pre-plan: one mandatory task passed and two advisory failed", f"{PRE_PASSED} {APPLIED}",
        tasks=[("pre_plan", "mandatory", passes), ("pre_plan", "advisory", fails), ("pre_plan", "advisory", fails)], warned="(advisory) failed"),
    Row("pre-plan: a user canceled the run", f"{PRE} canceled", tasks=[("pre_plan", "mandatory", acknowledges)], steps=[("pre_plan_running", "cancel")]),
    Row("pre-plan: the deadline expired", f"{PRE} errored", tasks=[("pre_plan", "mandatory", acknowledges)], error="No answer"),
    Row("pre-plan: of a speculative plan", f"{PRE_PASSED} planned_and_finished", tasks=[("pre_plan", "mandatory", passes)], options={"plan_only": True}),
]

POST = f"{PLANNED} post_plan_running"
POST_PASSED = f"{POST} post_plan_completed"
POST_PLAN = [
    Row("post-plan: passed", f"{POST_PASSED} {APPLIED}", tasks=[("post_plan", "mandatory", passes)]),
    Row("post-plan: passed and approved", f"{POST_PASSED} {APPLIED}", tasks=[("post_plan", "mandatory", passes)],
        auto=False, steps=[("post_plan_completed", "apply")]),
    Row("post-plan: passed and discarded", f"{POST_PASSED} discarded", tasks=[("post_plan", "mandatory", passes)],
        auto=False, steps=[("post_plan_completed", "discard")]),
    Row("post-plan: a mandatory task failed", f"{POST} errored", tasks=[("post_plan", "mandatory", fails)], error="two things are wrong"),
    Row("post-plan: an advisory task failed", f"{POST_PASSED} {APPLIED}", tasks=[("post_plan", "advisory", fails)], warned="two things are wrong"),
    Row("post-plan: two advisory tasks passed and one mandatory failed", f"{POST} errored",
        tasks=[("post_plan", "advisory", passes), ("post_plan", "advisory", passes), ("post_plan", "mandatory", fails)], error="two things are wrong"),
    Row("post-plan: one mandatory task passed and two advisory failed", f"{POST_PASSED} {APPLIED}",
        tasks=[("post_plan", "mandatory", passes), ("post_plan", "advisory", fails), ("post_plan", "advisory", fails)], warned="(advisory) failed"),
    Row("post-plan: a user canceled the run", f"{POST} canceled", tasks=[("post_plan", "mandatory", acknowledges)], steps=[("post_plan_running", "cancel")]),
    Row("post-plan: the deadline expired", f"{POST} errored", tasks=[("post_plan", "mandatory", acknowledges)], error="No answer"),
    Row("post-plan: the service never answered 200", f"{POST} errored", tasks=[("post_plan", "mandatory", answers(500))], error="(mandatory) failed"),
    Row("post-plan: of a speculative plan", f"{POST_PASSED} planned_and_finished", tasks=[("post_plan", "mandatory", passes)], options={"plan_only": True}),
    Row("post-plan: does not run after a failed plan", "pending plan_queued planning errored", tasks=[("post_plan", "mandatory", passes)], files=PLAN_FAILS),
    Row("post-plan: of a plan without changes", f"{POST_PASSED} planned_and_finished", tasks=[("post_plan", "mandatory", passes)], files=NOTHING),
]

ESTIMATED = f"{PLANNED} cost_estimating cost_estimated"
COST = [
    Row("cost: finished and auto-applied", f"{ESTIMATED} {APPLIED}", cost=True),
    Row("cost: finished and approved", f"{ESTIMATED} {APPLIED}", cost=True, auto=False, steps=[("cost_estimated", "apply")]),
    Row("cost: finished and discarded", f"{ESTIMATED} discarded", cost=True, auto=False, steps=[("cost_estimated", "discard")]),
    Row("cost: errored, and the run continues", f"{ESTIMATED} {APPLIED}", cost=True, files=NO_PRICE),
    Row("cost: of a plan without changes", f"{ESTIMATED} planned_and_finished", cost=True, files=NOTHING),
    Row("cost: of a speculative plan", f"{ESTIMATED} planned_and_finished", cost=True, options={"plan_only": True}),
    Row("cost: runs after the run tasks", f"{POST_PASSED} cost_estimating cost_estimated {APPLIED}", cost=True, tasks=[("post_plan", "mandatory", passes)]),
]

CHECKED = f"{PLANNED} policy_checking policy_checked"
REFUSED = f"{PLANNED} policy_checking policy_override"
OPA = [
    Row("OPA: passed and auto-applied", f"{CHECKED} {APPLIED}", opa=[("mandatory", ALLOWS)]),
    Row("OPA: passed and approved", f"{CHECKED} {APPLIED}", opa=[("mandatory", ALLOWS)], auto=False, steps=[("policy_checked", "apply")]),
    Row("OPA: passed and discarded", f"{CHECKED} discarded", opa=[("mandatory", ALLOWS)], auto=False, steps=[("policy_checked", "discard")]),
    Row("OPA: an advisory policy failed", f"{CHECKED} {APPLIED}", opa=[("advisory", DENIES), ("mandatory", ALLOWS)]),
    Row("OPA: a mandatory policy failed and was overridden", f"{REFUSED} policy_checked {APPLIED}",
        opa=[("mandatory", DENIES), ("advisory", ALLOWS)], steps=[("policy_override", "override")]),
    Row("OPA: a mandatory policy failed, was overridden and approved", f"{REFUSED} policy_checked {APPLIED}", opa=[("mandatory", DENIES)],
        auto=False, steps=[("policy_override", "override"), ("policy_checked", "apply")]),
    Row("OPA: a mandatory policy failed and the run was discarded", f"{REFUSED} discarded", opa=[("mandatory", DENIES)], steps=[("policy_override", "discard")]),
    Row("OPA: a mandatory policy with invalid Rego counts as failed", f"{REFUSED} discarded", opa=[("mandatory", NO_REGO), ("mandatory", ALLOWS)],
        steps=[("policy_override", "discard")]),
    Row("OPA: an advisory policy with invalid Rego does not stop the run", f"{CHECKED} {APPLIED}", opa=[("advisory", NO_REGO)]),
    Row("OPA: a user canceled the run", f"{PLANNED} policy_checking canceled", opa=[("mandatory", LOOPS)], steps=[("policy_checking", "cancel")]),
    Row("OPA: of a speculative plan", f"{CHECKED} planned_and_finished", opa=[("mandatory", ALLOWS)], options={"plan_only": True}),
    Row("OPA: a mandatory policy failed on a speculative plan", f"{PLANNED} policy_checking policy_soft_failed", opa=[("mandatory", DENIES)], options={"plan_only": True}),
    Row("OPA: does not run after a failed plan", "pending plan_queued planning errored", opa=[("mandatory", ALLOWS)], files=PLAN_FAILS),
    Row("OPA: of a plan without changes", f"{CHECKED} planned_and_finished", opa=[("mandatory", ALLOWS)], files=NOTHING),
    Row("OPA: runs between the run tasks and the estimate", f"{POST_PASSED} policy_checking policy_checked cost_estimating cost_estimated {APPLIED}",
        tasks=[("post_plan", "mandatory", passes)], opa=[("mandatory", ALLOWS)], cost=True),
    Row("OPA: the estimate runs after an override", f"{REFUSED} policy_checked cost_estimating cost_estimated {APPLIED}", opa=[("mandatory", DENIES)], cost=True,
        steps=[("policy_override", "override")]),
]

SENTINEL = [
    Row("Sentinel: passed and auto-applied", f"{CHECKED} {APPLIED}", sentinel=[("hard-mandatory", SENTINEL_PASSES)]),
    Row("Sentinel: passed and approved", f"{CHECKED} {APPLIED}", sentinel=[("hard-mandatory", SENTINEL_PASSES)], auto=False, steps=[("policy_checked", "apply")]),
    Row("Sentinel: passed and discarded", f"{CHECKED} discarded", sentinel=[("hard-mandatory", SENTINEL_PASSES)], auto=False, steps=[("policy_checked", "discard")]),
    Row("Sentinel: an advisory policy failed", f"{CHECKED} {APPLIED}", sentinel=[("advisory", SENTINEL_FAILS), ("soft-mandatory", SENTINEL_PASSES)]),
    Row("Sentinel: a hard-mandatory policy failed", f"{PLANNED} policy_checking errored", sentinel=[("hard-mandatory", SENTINEL_FAILS), ("soft-mandatory", SENTINEL_FAILS)],
        error="Policies that must pass did not"),
    Row("Sentinel: a soft-mandatory policy failed and was overridden", f"{REFUSED} policy_checked {APPLIED}",
        sentinel=[("soft-mandatory", SENTINEL_FAILS), ("hard-mandatory", SENTINEL_PASSES)], steps=[("policy_override", "override")]),
    Row("Sentinel: a soft-mandatory policy failed, was overridden, and the run was discarded", f"{REFUSED} policy_checked discarded", sentinel=[("soft-mandatory", SENTINEL_FAILS)],
        auto=False, steps=[("policy_override", "override"), ("policy_checked", "discard")]),
    Row("Sentinel: a soft-mandatory policy failed and the run was discarded", f"{REFUSED} discarded", sentinel=[("soft-mandatory", SENTINEL_FAILS)], steps=[("policy_override", "discard")]),
    Row("Sentinel: a soft-mandatory policy that can't be evaluated counts as failed", f"{REFUSED} discarded", sentinel=[("soft-mandatory", SENTINEL_BREAKS)],
        steps=[("policy_override", "discard")]),
    Row("Sentinel: a hard-mandatory policy that can't be evaluated counts as failed", f"{PLANNED} policy_checking errored", sentinel=[("hard-mandatory", SENTINEL_BREAKS)],
        error="Policies that must pass did not"),
    Row("Sentinel: a user canceled the run", f"{PLANNED} policy_checking canceled", sentinel=[("hard-mandatory", SENTINEL_LOOPS)], steps=[("policy_checking", "cancel")]),
    Row("Sentinel: of a speculative plan", f"{CHECKED} planned_and_finished", sentinel=[("soft-mandatory", SENTINEL_PASSES)], options={"plan_only": True}),
    Row("Sentinel: a soft-mandatory policy failed on a speculative plan", f"{PLANNED} policy_checking policy_soft_failed", sentinel=[("soft-mandatory", SENTINEL_FAILS)],
        options={"plan_only": True}),
    Row("Sentinel: a hard-mandatory policy failed on a speculative plan", f"{PLANNED} policy_checking errored", sentinel=[("hard-mandatory", SENTINEL_FAILS)],
        options={"plan_only": True}, error="Policies that must pass did not"),
    Row("Sentinel: does not run after a failed plan", "pending plan_queued planning errored", sentinel=[("hard-mandatory", SENTINEL_PASSES)], files=PLAN_FAILS),
    Row("Sentinel: of a plan without changes", f"{CHECKED} planned_and_finished", sentinel=[("hard-mandatory", SENTINEL_PASSES)], files=NOTHING),
    Row("Sentinel: runs after the estimate", f"{ESTIMATED} policy_checking policy_checked {APPLIED}", sentinel=[("hard-mandatory", SENTINEL_PASSES)], cost=True),
    Row("Sentinel: runs after a failed estimate", f"{ESTIMATED} policy_checking policy_checked {APPLIED}", sentinel=[("hard-mandatory", SENTINEL_PASSES)], cost=True, files=NO_PRICE),
    Row("Sentinel: runs after OPA, both overridden", f"{REFUSED} policy_checked policy_checking policy_override policy_checked {APPLIED}",
        opa=[("mandatory", DENIES)], sentinel=[("soft-mandatory", SENTINEL_FAILS)], steps=[("policy_override", "override"), ("policy_override", "override")]),
]

CONFIRMED = f"{PLANNED} confirmed pre_apply_running"
PRE_APPLIED = f"{CONFIRMED} pre_apply_completed apply_queued applying applied"
PRE_APPLY = [
    Row("pre-apply: passed", PRE_APPLIED, tasks=[("pre_apply", "mandatory", passes)]),
    Row("pre-apply: of a confirmed run", PRE_APPLIED, tasks=[("pre_apply", "mandatory", passes)], auto=False, steps=[("planned", "apply")]),
    Row("pre-apply: does not run for a discarded run", f"{PLANNED} discarded", tasks=[("pre_apply", "mandatory", passes)], auto=False, steps=[("planned", "discard")]),
    Row("pre-apply: a mandatory task failed", f"{CONFIRMED} errored", tasks=[("pre_apply", "mandatory", fails)], error="two things are wrong"),
    Row("pre-apply: an advisory task failed", PRE_APPLIED, tasks=[("pre_apply", "advisory", fails)], warned="two things are wrong"),
    Row("pre-apply: two advisory tasks passed and one mandatory failed", f"{CONFIRMED} errored",
        tasks=[("pre_apply", "advisory", passes), ("pre_apply", "advisory", passes), ("pre_apply", "mandatory", fails)], error="two things are wrong"),
    Row("pre-apply: a user canceled the run", f"{CONFIRMED} canceled", tasks=[("pre_apply", "mandatory", acknowledges)], steps=[("pre_apply_running", "cancel")]),
    Row("pre-apply: the deadline expired", f"{CONFIRMED} errored", tasks=[("pre_apply", "mandatory", acknowledges)], error="No answer"),
]

APPLY = [
    Row("apply: failed", f"{PLANNED} confirmed apply_queued applying errored", files=APPLY_FAILS),
    Row("apply: canceled by a user", f"{PLANNED} confirmed apply_queued applying canceled", files=stops_in_apply, steps=[("applying", "cancel")]),
]

APPLYING = f"{PLANNED} confirmed apply_queued applying"
POST_APPLIED = f"{APPLYING} post_apply_running post_apply_completed applied"
POST_APPLY = [
    Row("post-apply: passed", POST_APPLIED, tasks=[("post_apply", "advisory", passes)]),
    Row("post-apply: an advisory task failed", POST_APPLIED, tasks=[("post_apply", "advisory", fails)], warned="two things are wrong"),
    Row("post-apply: the deadline expired", POST_APPLIED, tasks=[("post_apply", "advisory", acknowledges)], warned="No answer"),
    Row("post-apply: a user canceled the run", f"{APPLYING} post_apply_running canceled", tasks=[("post_apply", "advisory", acknowledges)],
        steps=[("post_apply_running", "cancel")]),
    Row("post-apply: does not run after a failed apply", f"{APPLYING} errored", tasks=[("post_apply", "advisory", passes)], files=APPLY_FAILS),
    Row("every stage in one run", f"{PRE} pre_plan_completed plan_queued planning planned post_plan_running post_plan_completed "
        "policy_checking policy_checked cost_estimating cost_estimated policy_checking policy_checked confirmed pre_apply_running pre_apply_completed apply_queued applying post_apply_running post_apply_completed applied",
        tasks=[("pre_plan", "mandatory", passes), ("post_plan", "mandatory", passes), ("pre_apply", "mandatory", passes), ("post_apply", "advisory", passes)],
        opa=[("mandatory", ALLOWS)], cost=True, sentinel=[("hard-mandatory", SENTINEL_PASSES)]),
]

TABLE = [*PLAN, *PRE_PLAN, *POST_PLAN, *OPA, *COST, *SENTINEL, *PRE_APPLY, *APPLY, *POST_APPLY]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.title)
def test_outcome_of_stage(stages, row):
    walk = Walk(stages, row).start()
    try:
        check(walk.ends())
    finally:
        if walk.gate:
            walk.gate.open()


@pytest.mark.parametrize("act, status", [("discard", "discarded"), ("cancel", "canceled")])
def test_an_ended_pending_run_does_not_start_the_next_one(stages, act, status):
    api = stages.api
    stages.estimates(False)
    workspace = api.workspace()
    first = api.run_files(workspace, CHANGES)
    api.wait_status(first, "planned")
    ended_run, next_one = api.run(workspace), api.run(workspace)
    assert api.status(ended_run) == api.status(next_one) == "pending"
    api.act(ended_run, act)
    assert set(api.wait_status(ended_run, status)["status-timestamps"]) == {TIMES["pending"], TIMES[status]}
    assert api.status(next_one) == "pending"
    api.act(first, "discard")
    api.wait_status(next_one, "planned")
    api.act(next_one, "discard")


def test_the_table_covers_every_status():
    """Fetching belongs to version control; statuses that exist only in older clients' lists are never reached."""
    walked = {status for row in TABLE for status in row.statuses}
    unreached = {"fetching", "fetching_completed", "queuing", "queuing_apply", "force_canceled"}
    assert set(TIMES) - walked == unreached
    assert {row.statuses[-1] for row in TABLE} <= FINAL
