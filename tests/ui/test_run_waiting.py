# SPDX-License-Identifier: MPL-2.0
"""Why a run waits."""

import re

import pytest
from playwright.sync_api import expect

from support.configurations import planning_at, resources
from support.gate import Gate
from support.runyard import Worker


@pytest.fixture
def gate(site):
    gate = Gate(site.folder)
    yield gate
    gate.open()


@pytest.fixture
def pool(site, gate):
    """A pool, and a function that starts its worker, which has one slot."""
    api = site.api
    made, token = api.pool("lone")
    workers = []

    def start():
        options = {**site.worker.options, "agent_token": token, "name": "lone-1", "data_dir": site.folder / "lone-1", "slots": 1, "sandbox_bind": gate.folder}
        workers.append(Worker("lone-1", site.folder, **options).start())

    yield made, start
    gate.open()
    for worker in workers:
        worker.release()


def test_pending_runs_show_their_positions_and_the_lock_that_they_wait_for(site, open_run):
    api = site.api
    workspace = api.workspace("queue")
    current = api.run_files(workspace, resources("one"), message="Needs a person")
    api.wait_status(current, "planned")
    pending = [api.run(workspace, message=f"Waits {number}") for number in (1, 2, 3)]
    page = open_run("queue", pending[0])
    waiting = page.locator(".waiting")
    for number, run in enumerate(pending, 1):
        page.goto(f"/app/acme/workspaces/queue/runs/{run}")
        expect(page.get_by_role("heading", name=f"Waits {number}")).to_be_visible()
        expect(waiting).to_contain_text(re.compile(f"osition {number}|^((?!osition).)*{current}"))
    expect(waiting.get_by_role("link").first).to_be_visible()
    page.goto("/app/acme/workspaces/queue")
    expect(page.get_by_role("region", name="Current run").get_by_role("listitem")).to_have_text([re.compile(f"Waits {number}") for number in (1, 2, 3)])

    locked = api.workspace("locked")
    api.post(f"workspaces/{locked}/actions/lock", {"reason": "moving the state"})
    behind = api.run_files(locked, resources("one"))
    page.goto(f"/app/acme/workspaces/locked/runs/{behind}")
    expect(waiting).to_contain_text(re.compile("admin.*moving the state"))
    page.get_by_role("button", name="Unlock workspace").click()
    page.get_by_role("dialog").get_by_role("button", name="Unlock workspace").click()
    expect(page.locator(".run-header").get_by_text(re.compile("Planning|Needs Confirmation"))).to_be_visible()


def test_a_run_says_that_no_worker_is_there_or_that_all_slots_are_busy(site, open_run, pool, gate):
    api = site.api
    made, start = pool
    attributes = {"execution_mode": "agent", "agent_pool_id": made}
    first = api.run_files(api.workspace("lone-first", **attributes), planning_at(gate))
    page = open_run("lone-first", first)
    expect(page.locator(".waiting")).to_contain_text(re.compile("no worker.*lone|lone.*no worker", re.IGNORECASE))
    start()
    gate.wait()
    expect(page.locator(".run-header").get_by_text("Planning")).to_be_visible()
    expect(page.locator(".waiting")).to_have_count(0)
    second = api.run_files(api.workspace("lone-second", **attributes), resources("one"))
    page.goto(f"/app/acme/workspaces/lone-second/runs/{second}")
    expect(page.locator(".waiting")).to_contain_text(re.compile("(?=.*[Ss]lot)(?=.*osition( is)? 1)"))
