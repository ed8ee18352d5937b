# SPDX-License-Identifier: MPL-2.0
"""A real Prometheus watches real processes: the pages, the dashboards' panels, and faults that alerts report."""

import pytest

from support.fake_worker import FakeWorker
from support.prometheus import DASHBOARDS, Prometheus, expressions, panels, promtool, used_names
from support.wait import until

UNTOLD = {"runyard_kafka_group_members"}  # the embedded broker does not tell the members of a group
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture(scope="module")
def watched(full_site):
    """A site that has applied a run with a run task, and a Prometheus that watches it."""
    server = Prometheus(full_site.folder, [full_site.scheduler, full_site.worker, full_site.notifier]).start()
    yield full_site, server
    server.stop()


@pytest.mark.parametrize("name", ["scheduler", "worker", "notifier"])
def test_the_pages_have_no_fault_that_promtool_knows(full_site, name):
    code, said = promtool("check", "metrics", text=getattr(full_site, name).get("/metrics")[1])
    assert code == 0 and not said, said


def test_each_panel_shows_data(watched):
    site, prometheus = watched
    api = site.api
    workspace = api.workspace(auto_apply=True)
    api.attach(workspace, api.task(site.receiver.service(lambda call: call.back("passed"))), "post_plan")
    until(lambda: prometheus.query("runyard_slots_wanted"), "the first scrape")
    api.wait_status(api.run_files(workspace, ONE), "applied")
    wanted = {(path.stem, panel["title"], expression) for path in DASHBOARDS for panel in panels(path) for expression in expressions(panel)
              if used_names(expression) - UNTOLD}
    empty = lambda: {row for row in wanted if not prometheus.query(row[2])}
    until(lambda: not empty(), lambda: f"panels have data: {sorted(empty())}", timeout=60)


def test_no_alert_fires_while_all_is_well(watched):
    _, prometheus = watched
    until(lambda: prometheus.query("runyard:slots_wanted"), "rules are evaluated")
    firing = lambda: [labels["alertname"] for labels, _ in prometheus.query('ALERTS{alertstate="firing"}')]
    until(lambda: not firing(), lambda: f"no alert fires: {firing()}")


# ---- drills: the expressions become true on the real pages; `for` is left out ----


@pytest.fixture
def drill(folder):
    """drill(service...) starts a Prometheus that watches them."""
    servers = []

    def start(*services):
        servers.append(Prometheus(folder, services).start())
        until(lambda: servers[0].query("runyard:slots_all"), "rules are evaluated")
        return servers[0]

    yield start
    for server in servers:
        server.stop()


def test_the_broker_is_killed(drill, scheduler, api, broker, ask):
    first = scheduler.all[0]
    prometheus = drill(first)
    until(lambda: prometheus.query('runyard_kafka_up{client="publisher"} == 1'), "the broker is there")
    prometheus.wait_quiet("KafkaDown", "OutboxStuck")
    broker.process.kill()
    prometheus.wait_fires("KafkaDown", instance=first.name, client="publisher", severity="page")
    prometheus.wait_fires("KafkaDown", instance=first.name, client="intake", severity="page")
    until(lambda: any(line["event"] == "broker-trouble" for line in first.log_lines()), "the line that the runbook looks for")
    ask("insert into outbox (topic, payload, created_at) select 'runyard.events', '{}', now() - interval '1 minute' from generate_series(1, 20)")
    prometheus.wait_fires("OutboxStuck", severity="page")
    broker.start()
    prometheus.wait_quiet("KafkaDown", "OutboxStuck")


def test_the_worker_is_stopped(drill, scheduler, api, worker):
    first = worker()
    prometheus = drill(scheduler.all[0], first)
    until(lambda: prometheus.query("runyard:slots_all > 0"), "it is there")
    first.stop()
    until(lambda: prometheus.query("runyard:slots_all == 0"), "its slots are gone")
    prometheus.wait_quiet("NoWorkers")
    run = api.run_files(api.workspace(), ONE)
    prometheus.wait_fires("NoWorkers", pool="default", severity="page")
    first.start()
    api.wait_status(run, "planned")
    prometheus.wait_quiet("NoWorkers")


def test_a_worker_falls_silent(drill, scheduler, api, tokens):
    first = scheduler.all[0]
    prometheus = drill(first)
    first.options["lease_seconds"] = 2
    first.restart()
    api.run_files(api.workspace(), ONE)
    assert until(FakeWorker(first.url, tokens["agent-token"]).claim, "its job waits")
    prometheus.wait_fires("LeaseLost", severity="ticket")
    assert any(line["event"] == "lease-ended" and line["worker"] == "fake-worker" for line in first.log_lines())  # the runbook looks for it


def test_jobs_wait_although_slots_are_free(drill, scheduler, api, tokens, ask):
    first = scheduler.all[0]
    prometheus = drill(first)
    for name in ("worker-1", "worker-2"):
        FakeWorker(first.url, tokens["agent-token"], name=name, slots=2)
    api.run_files(api.workspace(), ONE)
    ask("update jobs set created_at = now() - interval '6 minutes'")
    prometheus.wait_fires("JobsWaitTooLong", pool="default", severity="page")
    ask("update workers set free = 0")
    prometheus.wait_fires("JobsWaitTooLong", pool="default", severity="ticket")
    until(lambda: len(prometheus.firing("JobsWaitTooLong")) == 1, "it is a question of capacity now")
