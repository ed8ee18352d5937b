# SPDX-License-Identifier: MPL-2.0
"""The queue and its workers, of an organization and of the site."""

import re

import pytest
from playwright.sync_api import expect

from support import pages
from support.configurations import planning_at
from support.fake_worker import FakeWorker
from support.gate import Gate
from support.runyard import Scheduler
from support.wait import until

OUTPUT = {"main.tf": 'output "one" {\n  value = 1\n}\n'}


@pytest.fixture(scope="module")
def locked(site):
    """A workspace that is locked, with a pending run."""
    workspace = site.api.workspace("net-prod")
    site.api.post(f"workspaces/{workspace}/actions/lock", {"reason": "a change of the network"})
    site.api.run_files(workspace, OUTPUT, message="<b>bold</b>")
    return workspace


def test_the_queue_of_an_organization_names_what_runs_wait_for(browser_page, site, locked):
    page = browser_page("/app/acme/queue")
    row = page.get_by_role("table", name="Pending runs").get_by_role("row").nth(1)
    expect(row).to_contain_text("a change of the network")
    expect(row).to_contain_text("<b>bold</b>")
    expect(page.get_by_text("The shared pool has 1 worker.")).to_be_visible()
    page.get_by_text("Runs and slots as a table").click()
    expect(page.get_by_role("table", name="Runs and slots")).to_be_visible()
    page.get_by_role("link", name="24 h").click()
    expect(page).to_have_url(re.compile("range=24h"))
    page.get_by_role("link", name="net-prod").click()
    expect(page).to_have_url(re.compile("/app/acme/workspaces/net-prod/runs/run-"))


def test_the_queue_of_the_site_drains_and_resumes_a_worker(browser_page, site, locked):
    page = browser_page("/app/acme/queue")
    page.get_by_role("link", name="Queue and workers of the site").click()
    row = page.get_by_role("row", name=re.compile("worker-1"))
    expect(row.get_by_text("Idle")).to_be_visible()
    row.get_by_role("button", name="Drain worker-1").click()
    expect(row.get_by_text("Drained")).to_be_visible()
    row.get_by_role("button", name="Resume worker-1").click()
    expect(row.get_by_text("Idle")).to_be_visible()
    row.get_by_role("button", name="Leave worker-1").click()
    expect(page.get_by_role("dialog", name="Leave: worker-1")).to_contain_text("Its process ends now.")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(row.get_by_role("button", name="Leave worker-1")).to_be_focused()
    expect(page.get_by_role("table", name="Pending runs")).to_contain_text("acme")


def test_without_a_worker_the_queue_says_how_to_start_one(browser_page, site, locked):
    page = browser_page("/app/acme/settings/agent-pools")
    page.get_by_role("button", name="New agent pool").click()
    page.get_by_role("dialog").get_by_label("Name").fill("edge")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name=re.compile("^edge"))).to_be_visible()
    expect(page.get_by_text("runyard-worker --scheduler-url")).to_be_visible()


def sum_of(metrics, name, *labels):
    """The sum of the metric's series that have these labels."""
    return sum(value for text, value in metrics.items() if text.split("{")[0] == name and all(label in text for label in labels))


def test_the_queue_of_the_site_shows_the_numbers_of_the_metrics(browser_page, site, locked):
    page = browser_page("/app/admin/queue")
    expect(page.get_by_role("heading", name="Queue and workers")).to_be_visible()

    def shown(word):
        return page.locator(".tile", has=page.get_by_text(word, exact=True)).locator(".tile-value").inner_text()

    def equal():
        metrics = site.scheduler.metrics()
        person = [sum_of(metrics, "runyard_runs", f'status="{status}"') for status in ("planned", "cost_estimated", "policy_checked", "policy_override", "planned_and_saved")]
        wanted = {
            "Pending": sum_of(metrics, "runyard_runs", 'status="pending"') + sum_of(metrics, "runyard_jobs", 'state="waiting"'),
            "Running": sum_of(metrics, "runyard_jobs", 'state="running"'),
            "Waiting for a person": sum(person),
            "Outbox": sum_of(metrics, "runyard_outbox_rows"),
            "Notifier backlog": sum_of(metrics, "runyard_notifier_backlog"),
            "Kafka lag": sum_of(metrics, "runyard_kafka_topic_lag"),
        }
        slots = f'{sum_of(metrics, "runyard_jobs", "running"):.0f} of {sum_of(metrics, "runyard_worker_slots", "all"):.0f} slots busy'
        return wanted["Pending"] == 1 and page.get_by_text(slots).is_visible() and all(shown(word) == f"{value:.0f}" for word, value in wanted.items())

    until(equal, "the tiles are those of /metrics")
    expect(page.get_by_role("link", name="Dashboards in Grafana")).to_have_count(0)


def test_the_operators_dashboards_have_a_link(visitors, site):
    scheduler = Scheduler("scheduler-2", site.folder, **{**site.scheduler.options, "grafana_url": "https://grafana.example.com/d/runyard"})
    try:
        page = pages.sign_in(visitors(scheduler.start().url), site.tokens["user"], site.tokens["password"], "/app/admin/queue")
        link = page.get_by_role("link", name="Dashboards in Grafana")
        expect(link).to_have_attribute("href", "https://grafana.example.com/d/runyard")
        expect(link).to_have_attribute("rel", "noopener noreferrer")
        page.context.close()
    finally:
        scheduler.release()


@pytest.fixture
def plan_gate(site):
    gate = Gate(site.gates)
    yield gate
    gate.open()


def test_a_drained_worker_ends_its_run_and_takes_no_other(browser_page, site, plan_gate):
    api, gate = site.api, plan_gate
    workspace = api.workspace("drained")
    configuration = api.upload(workspace, planning_at(gate))
    first = api.run(workspace, configuration, plan_only=True)
    gate.wait()
    page = browser_page("/app/admin/queue")
    row = page.get_by_role("row", name=re.compile("worker-1"))
    expect(row).to_contain_text("1 of 2")
    row.get_by_role("button", name="Drain worker-1").click()
    expect(row.get_by_text("Draining")).to_be_visible()
    second = api.run_files(api.workspace("after"), OUTPUT, plan_only=True)
    gate.open()
    api.wait_status(first, "planned_and_finished")
    expect(row).to_contain_text("0 of 2")
    expect(row).to_contain_text("Drained")
    expect(page.get_by_role("table", name="Pending runs").get_by_role("row", name=re.compile("^after"))).to_be_visible()
    row.get_by_role("button", name="Resume worker-1").click()
    api.wait_status(second, "planned_and_finished")


def test_workers_beyond_the_first_page_are_shown(browser_page, site):
    """The last test: the pool and its workers stay."""
    pool, token = site.api.pool("many")
    for name in ("first", "second"):
        FakeWorker(site.scheduler.url, token, slots=1, name=name)
    page = browser_page("/app")
    page.route(re.compile("/(workers|agents)[?]"), lambda route: route.continue_(url=re.sub("size%5D=[0-9]+", "size%5D=1", route.request.url)))
    for path in (f"/app/acme/settings/agent-pools?id={pool}", "/app/admin/queue"):
        page.goto(path)
        table = page.get_by_role("table", name="Workers")
        expect(table).to_contain_text("first")
        expect(table).to_contain_text("second")
