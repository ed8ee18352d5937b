# SPDX-License-Identifier: MPL-2.0
"""The sweep finds and advances stuck queues of any cause, and checks no others."""

import pytest

from support.wait import until

STUCK_QUEUES = "select id from workspaces where stands_still order by id"
END_RUN = ("update runs set status = 'errored', stage = 'none', queued = false, underway = false, holds = false, ended = true where id = %s",
        "delete from jobs where run_id = %s")


class Workspace:
    """A workspace with a run that waits for a worker, and one behind it."""

    def __init__(self, scheduler, api, ask):
        self.scheduler, self.api, self.ask = scheduler.all[0], api, ask
        self.id = api.workspace()
        self.configuration = api.upload(self.id, {"main.tf": ""})
        self.first, self.second = self.run(), self.run()
        assert (api.status(self.first), api.status(self.second)) == ("plan_queued", "pending")
        # A queue that has just stopped may be about to be advanced, so the sweep skips it.
        ask("update runs set updated_at = now() + interval '1 hour' where id = %s", self.second)

    def run(self):
        return self.api.run(self.id, self.configuration)

    def has_queue(self):
        return self.ask("select has_queue from workspaces where id = %s", self.id) == [(True,)]

    def free(self):
        """Simulates a fault: no message is sent."""
        self.ask("update workspaces set current_run_id = null, locked_by = null, hold_job_id = null where id = %s", self.id)


def end_first_run(workspace):
    for statement in END_RUN:
        workspace.ask(statement, workspace.first)
    workspace.free()
    return workspace.second


def end_after_unlock(workspace):
    workspace.ask("update workspaces set locked_by = (select id from users order by created_at limit 1) where id = %s", workspace.id)
    return end_first_run(workspace)


def end_after_release(workspace):
    workspace.ask("update workspaces set hold_job_id = 'job-lost' where id = %s", workspace.id)
    return end_first_run(workspace)


def new_run_not_started(workspace):
    """The previous run has ended and no run waits. Then a run is created that is not started."""
    workspace.api.act(workspace.second, "cancel")
    second = end_first_run(workspace)
    workspace.scheduler.restart()
    until(lambda: not workspace.has_queue(), "has_queue is reset")
    assert workspace.ask(STUCK_QUEUES) == []
    workspace.ask("update runs set status = 'pending', stage = 'none', queued = true, ended = false, "
                  "updated_at = now() + interval '1 hour' where id = %s", second)
    return second


FAULTS = [end_first_run, end_after_unlock, end_after_release, new_run_not_started]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_stuck_queue_is_advanced_by_the_sweep(scheduler, api, ask, fault):
    workspace, other = Workspace(scheduler, api, ask), Workspace(scheduler, api, ask)
    assert ask(STUCK_QUEUES) == [] and workspace.has_queue() and other.has_queue()
    head = fault(workspace)
    assert ask(STUCK_QUEUES) == [(workspace.id,)]
    ask("update runs set updated_at = now() - interval '1 minute'")
    workspace.scheduler.restart()
    api.wait_status(head, "plan_queued")
    assert ask(STUCK_QUEUES) == [] and not workspace.has_queue()
    assert "a queue stood still" in workspace.scheduler.process.log()
    assert api.status(other.second) == "pending" and other.has_queue()


def test_a_blocked_queue_is_not_stuck(scheduler, api, ask):
    workspace = Workspace(scheduler, api, ask)
    ask("update runs set updated_at = now() - interval '1 hour'")
    assert ask(STUCK_QUEUES) == []
    api.act(workspace.first, "cancel")
    assert api.status(workspace.second) == "plan_queued" and not workspace.has_queue()
    # The workspace is locked while its queue is empty.
    locked = api.workspace()
    configuration = api.upload(locked, {"main.tf": ""})
    api.post(f"workspaces/{locked}/actions/lock", {"reason": "not now"})
    pending = api.run(locked, configuration)
    assert ask(STUCK_QUEUES) == [] and api.status(pending) == "pending"
    assert ask("select has_queue from workspaces where id = %s", locked) == [(True,)]
    api.post(f"workspaces/{locked}/actions/unlock")
    assert api.status(pending) == "plan_queued" and ask(STUCK_QUEUES) == []


def test_an_empty_queue_is_no_longer_checked(scheduler, api, ask):
    workspace = Workspace(scheduler, api, ask)
    api.act(workspace.second, "cancel")
    assert workspace.has_queue()
    api.act(workspace.first, "cancel")
    workspace.scheduler.restart()
    until(lambda: not workspace.has_queue(), "has_queue is reset")
    assert "a queue stood still" not in workspace.scheduler.process.log()
    third, fourth = workspace.run(), workspace.run()
    assert (api.status(third), api.status(fourth)) == ("plan_queued", "pending") and workspace.has_queue()


def test_a_speculative_plan_is_not_in_the_queue(api, ask):
    workspace = api.workspace()
    configuration = api.upload(workspace, {"main.tf": ""})
    api.run(workspace, configuration, plan_only=True)
    assert ask("select has_queue, stands_still from workspaces where id = %s", workspace) == [(False, False)]
