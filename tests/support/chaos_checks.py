# SPDX-License-Identifier: MPL-2.0
"""Conditions that must hold once all runs have ended, after any faults. Each check yields a sentence per violation."""

import re

from support.chaos_work import STAGES
from support.record import alive, applied_twice, ended, overlaps

# The reasons that faults cause. If a run ends for any other reason, that is an error of the product.
REASONS = re.compile(r"Contact with worker|lost with its worker|The worker was stopped during the apply")
# A client without an answer retries, and the second of the two runs finds nothing to do.
ENDS = ("applied", "errored", "canceled", "force_canceled", "planned_and_finished")

# {violation: the statement whose rows are violations}
INVARIANTS = {
    "jobs are left": "select id, run_id, stage, state, attempt from jobs",
    "messages are left": "select topic, payload from outbox",
    "a workspace is not free": "select id, current_run_id, locked_by, hold_job_id from workspaces "
    "where num_nonnulls(current_run_id, locked_by, hold_job_id) > 0",
    "a run holds its workspace": "select id, status from runs where holds or queued",
    "an ended run's task has not ended": "select r.id, t.stage, t.status, t.delivery from task_results t join runs r on r.id = t.run_id "
    "where r.ended and (t.status = 'running' or t.delivery in ('waiting', 'claimed', 'acknowledged'))",
    "an ended run's log has not": "select o.id, o.status, o.log_length from operations o join runs r on r.id = o.run_id "
    "where r.ended and o.log_length > 0 and not o.log_ended",
    "a workspace has states of several lineages": "select workspace_id, array_agg(distinct lineage) from state_versions "
    "group by workspace_id having count(distinct lineage) > 1",
    "notifications are left": "select id, trigger from notifications",
}


def database_violations(stack):
    found = [(what, stack.rows(sql)) for what, sql in INVARIANTS.items()]
    return [f"{what}: {rows}" for what, rows in found if rows]


def run_violations(stack, lines):
    """Every run that was not applied has a reason, and the apply of every applied run completed."""
    violations, completed = [], ended(lines)
    for run, status, error in stack.rows("select r.id, r.status, coalesce(i.error, '') from runs r join run_inputs i on i.run_id = r.id"):
        if status == "applied" and run not in completed:
            violations.append(f"{run} is applied, but its apply did not complete")
        if status == "errored" and not REASONS.search(error):
            violations.append(f"{run} is errored, and no fault of the round explains it: {error!r}")
        if status not in ENDS:
            violations.append(f"{run} is {status}")
    return violations


def state_violations(stack, lines, workspace):
    """No created resource is missing. After an apply that passed there are no additional ones."""
    state = stack.api.state(workspace) or {"resources": []}
    kept = {instance["attributes"]["id"] for resource in state["resources"] if resource["name"].startswith("made_")
            for instance in resource["instances"]}
    wanted = alive(lines, workspace)
    violations = [f"{workspace}: {resource} was created by {creator(lines, resource)} and is missing in its state"
                  for resource in sorted(wanted - kept)]
    last = next((line for line in reversed(lines) if line.workspace == workspace), None)
    if last and last.word == "end" and kept - wanted:
        violations.append(f"{workspace}: {sorted(kept - wanted)} were destroyed and are in its state")
    return violations


def creator(lines, resource):
    return next(line.run for line in lines if line.resource == resource)


def engine_violations(stack, work):
    return [f"the engine of {run} still runs" for _, run, _ in stack.engines(work.workspaces)]


def lock_violations(stack, work):
    shown = {workspace: stack.api.attributes(f"workspaces/{workspace}") for workspace in work.workspaces}
    return [f"{workspace} is locked: {attributes.get('locked-reason')}" for workspace, attributes in shown.items() if attributes["locked"]]


def stage_violations(stack, work):
    """Each stage of an applied run passed once: the results of tasks, policies and jobs were accepted once, however
    often they arrived."""
    rows = stack.rows("select r.id, r.workspace_id, count(*) from runs r join run_events e on e.run_id = r.id "
                      "where r.status = 'applied' and e.action = 'passed' group by r.id")
    return [f"{run} passed {count} stages of {STAGES[work.workspaces[workspace]]}" for run, workspace, count in rows
            if count != STAGES[work.workspaces[workspace]]]


def notification_violations(stack, work):
    """The end of each run was published to its subscribers."""
    notified, ends = work.notified_runs(), stack.rows("select id, workspace_id, status from runs where status in ('applied', 'errored')")
    return [f"no notification was sent for {run}, which is {status}" for run, workspace, status in ends
            if work.workspaces[workspace] == "plain" and run not in notified]


def violations(stack, work):
    lines = list(stack.record.lines)
    states = [sentence for workspace in work.workspaces for sentence in state_violations(stack, lines, workspace)]
    return [*stack.died(), *stack.api.wrong, *overlaps(lines), *applied_twice(lines), *database_violations(stack), *run_violations(stack, lines), *states,
            *engine_violations(stack, work), *lock_violations(stack, work), *stage_violations(stack, work), *notification_violations(stack, work)]
