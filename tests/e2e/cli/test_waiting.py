# SPDX-License-Identifier: MPL-2.0
"""The CLI's output while it waits for other runs, for a lock, or for a decision; and Ctrl-C meanwhile."""

import itertools

import pytest

from support.gate import Gate
from support.terminal import INTERRUPT
from support.wait import until

names = itertools.count(1)
both = pytest.mark.parametrize("block", ["cloud", "remote"])
QUESTION = "Do you want to cancel the remote operation?"


@pytest.fixture
def gates(full_site):
    """Gates that are opened when the test ends."""
    created = []

    def make():
        created.append(Gate(full_site.gates, f"waiting-{next(names)}"))
        return created[-1]

    yield make
    for gate in created:
        gate.open()


def stops_in_plan(gate):
    return f'resource "terraform_data" "one" {{\n  input = {gate.expression}\n}}\n'


def stops_in_apply(gate):
    return f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n'


def new_name():
    return f"waiting-{next(names)}"


def status_is(user, *wanted):
    """Waits until the newest run has that status."""
    until(lambda: tuple(run["status"] for run in user.runs(user.name))[: len(wanted)] == wanted,
          lambda: f"{wanted}, not {[run['status'] for run in user.runs(user.name)]}")


@both
def test_an_interrupted_plan_is_canceled_after_a_confirmation(full_site, terraform, gates, block):
    gate = gates()
    user = terraform(new_name(), block, stops_in_plan(gate))
    planning = user.terminal("apply").expect("Initializing plugins and modules...")
    gate.wait()
    planning.type(INTERRUPT).expect("Interrupt received.").expect(QUESTION).expect("Enter a value:").type("yes")
    assert "The remote operation was successfully cancelled." in planning.ended()
    gate.open()  # a read can't be interrupted
    status_is(user, "canceled")


@both
def test_an_interrupted_apply_continues_without_a_confirmation(full_site, terraform, gates, block):
    """The user answers that the run must not be canceled."""
    gate = gates()
    user = terraform(new_name(), block, stops_in_apply(gate))
    applying = user.terminal("apply").expect("Enter a value:").type("yes").expect("terraform_data.one: Creating...")
    gate.wait()
    applying.type(INTERRUPT).expect(QUESTION).expect("Enter a value:").type("no")
    assert "The remote operation was not cancelled." in applying.ended()
    gate.open()
    status_is(user, "applied")


def test_an_interrupt_with_auto_approve_cancels_without_a_question(full_site, terraform, gates):
    gate = gates()
    user = terraform(new_name(), body=stops_in_apply(gate))
    applying = user.terminal("apply", "-auto-approve").expect("terraform_data.one: Creating...")
    gate.wait()
    said = applying.type(INTERRUPT).ended()
    assert "The remote operation was successfully cancelled." in said and QUESTION not in said
    status_is(user, "canceled")


@both
def test_a_queued_run_is_interrupted_times_out_or_starts(full_site, terraform, block):
    user = terraform(new_name(), block)
    first = user.terminal("apply").expect("Enter a value:")
    second = user.terminal("apply").expect("Waiting for 1 run(s) to finish before being queued...")
    status_is(user, "pending", "planned")
    second.type(INTERRUPT).expect(QUESTION).type("yes")
    assert "successfully cancelled" in second.ended()
    status_is(user, "canceled", "planned")
    timed = user.terminal("apply", "-auto-approve", "-lock-timeout=3s").expect("Waiting for 1 run(s)").expect("Lock timeout exceeded, sending interrupt to cancel the remote operation.")
    assert "successfully cancelled" in timed.ended()
    status_is(user, "canceled", "canceled", "planned")
    third = user.terminal("apply", "-auto-approve").expect("Waiting for 1 run(s) to finish before being queued...")
    first.type("no").ended(1)
    assert "Apply complete! Resources: 1 added" in third.ended()


def test_the_cli_shows_why_the_apply_of_a_killed_worker_ends(full_site, terraform, gates):
    gate = gates()
    user = terraform(new_name(), body=stops_in_apply(gate))
    applying = user.terminal("apply", "-auto-approve").expect("terraform_data.one: Creating...")
    gate.wait()
    full_site.worker.restart(kill=True)
    said = " ".join(applying.ended(1).split())
    assert "Error: The worker was stopped during the apply. An apply is never tried again" in said
    status_is(user, "errored")


def test_an_apply_waits_until_the_workspace_is_unlocked(full_site, terraform):
    user = terraform(new_name())
    workspace = user.workspace(user.name)
    full_site.api.post(f"workspaces/{workspace}/actions/lock", {"reason": "the test"})
    waiting = user.terminal("apply", "-auto-approve").expect("Waiting for the manually locked workspace to be unlocked...")
    full_site.api.post(f"workspaces/{workspace}/actions/unlock")
    assert "Apply complete! Resources: 1 added" in waiting.ended()


@pytest.mark.parametrize("action, said, code", [("apply", "approved using the UI or API", 0), ("discard", "discarded using the UI or API", 1)])
def test_a_decision_of_another_user_ends_the_prompt(full_site, terraform, action, said, code):
    user = terraform(new_name())
    asking = user.terminal("apply").expect("Enter a value:")
    (run,) = full_site.api.get(f"workspaces/{user.workspace(user.name)}/runs").data
    full_site.api.act(run["id"], action)
    asking.expect(said)
    asking.ended(code)
