# SPDX-License-Identifier: MPL-2.0
"""A queue that is stuck: whatever the reason, the sweep finds it, and checks no other."""

import pytest

from support.wait import until

STANDS = "select id from workspaces where stands_still order by id"
ENDS = ("update runs set status = 'errored', stage = 'none', queued = false, underway = false, holds = false, ended = true where id = %s",
        "delete from jobs where run_id = %s")


class Place:
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


def ends(place):
    for statement in ENDS:
        place.ask(statement, place.first)
    place.free()
    return place.second


def unlocked(place):
    place.ask("update workspaces set locked_by = (select id from users order by created_at limit 1) where id = %s", place.id)
    return ends(place)


def released(place):
    place.ask("update workspaces set hold_job_id = 'job-lost' where id = %s", place.id)
    return ends(place)


def never_begun(place):
    """The previous run has ended and nothing waits; then a run is created that is not started."""
    place.api.act(place.second, "cancel")
    second = ends(place)
    place.scheduler.restart()
    until(lambda: not place.has_queue(), "nothing is said to wait")
    assert place.ask(STANDS) == []
    place.ask("update runs set status = 'pending', stage = 'none', queued = true, ended = false, "
              "updated_at = now() + interval '1 hour' where id = %s", second)
    return second


FAULTS = [ends, unlocked, released, never_begun]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_queue_that_nobody_woke_is_found(scheduler, api, ask, fault):
    place, other = Place(scheduler, api, ask), Place(scheduler, api, ask)
    assert ask(STANDS) == [] and place.has_queue() and other.has_queue()
    head = fault(place)
    assert ask(STANDS) == [(place.id,)]
    ask("update runs set updated_at = now() - interval '1 minute'")
    place.scheduler.restart()
    api.wait_status(head, "plan_queued")
    assert ask(STANDS) == [] and not place.has_queue()
    assert "a queue stood still" in place.scheduler.process.log()
    assert api.status(other.second) == "pending" and other.has_queue()


def test_what_is_before_a_queue_keeps_it_from_being_looked_at(scheduler, api, ask):
    place = Place(scheduler, api, ask)
    ask("update runs set updated_at = now() - interval '1 hour'")
    assert ask(STANDS) == []
    api.act(place.first, "cancel")
    assert api.status(place.second) == "plan_queued" and not place.has_queue()
    # Locked while it is empty.
    locked = api.workspace()
    configuration = api.upload(locked, {"main.tf": ""})
    api.post(f"workspaces/{locked}/actions/lock", {"reason": "not now"})
    waits = api.run(locked, configuration)
    assert ask(STANDS) == [] and api.status(waits) == "pending"
    assert ask("select has_queue from workspaces where id = %s", locked) == [(True,)]
    api.post(f"workspaces/{locked}/actions/unlock")
    assert api.status(waits) == "plan_queued" and ask(STANDS) == []


def test_a_workspace_whose_queue_was_emptied_is_forgotten(scheduler, api, ask):
    place = Place(scheduler, api, ask)
    api.act(place.second, "cancel")
    assert place.has_queue()
    api.act(place.first, "cancel")
    place.scheduler.restart()
    until(lambda: not place.has_queue(), "it is forgotten")
    assert "a queue stood still" not in place.scheduler.process.log()
    third, fourth = place.run(), place.run()
    assert (api.status(third), api.status(fourth)) == ("plan_queued", "pending") and place.has_queue()


def test_a_plan_that_goes_beside_the_queue_is_none(api, ask):
    workspace = api.workspace()
    configuration = api.upload(workspace, {"main.tf": ""})
    api.run(workspace, configuration, plan_only=True)
    assert ask("select has_queue, stands_still from workspaces where id = %s", workspace) == [(False, False)]
