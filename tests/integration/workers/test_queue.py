# SPDX-License-Identifier: MPL-2.0
"""What runs wait for: GET organizations/:organization/queue and admin/queue, and the workers of an organization."""

import pytest

from support.api import Api
from support.people import People
from support.receiver import acknowledges
from support.wait import until

NUMBERS = ["pending", "running", "waiting-for-person", "slots", "oldest-pending-seconds", "start-p50-seconds", "start-p95-seconds", "errors-last-hour"]


@pytest.fixture
def worker(api_site, org):
    pool, token = org.pool()
    worker = api_site.fake_worker(token)
    worker.pool = pool
    return worker


def run_in(org, pool, **attributes):
    return org.run_files(org.workspace(execution_mode="agent", agent_pool_id=pool), {"main.tf": ""}, **attributes)


def queue(org, **query):
    return org.get(f"organizations/{org.organization}/queue", **query).data["attributes"]


def test_the_queue_counts_runs_by_what_they_wait_for(api_site, org, worker, contract):
    assert [queue(org)[name] for name in NUMBERS if name != "slots"] == [0, 0, 0, 0, None, None, 0]
    deciding, running = (run_in(org, worker.pool) for _ in range(2))
    worker.plan(deciding)
    worker.take(running, "plan")
    queued = org.run(org.get(f"runs/{running}").data["relationships"]["workspace"]["data"]["id"])
    failed = run_in(org, worker.pool)
    worker.end(worker.take(failed, "plan"), "failed", error="no")
    org.wait_status(deciding, "planned")
    org.wait_status(failed, "errored")
    waiting = run_in(org, worker.pool)
    shown = queue(org)
    assert (shown["pending"], shown["running"], shown["waiting-for-person"], shown["errors-last-hour"]) == (2, 1, 1, 1)
    assert 0 <= shown["start-p50-seconds"] <= shown["start-p95-seconds"] and shown["oldest-pending-seconds"] > 0
    (pool,) = [pool for pool in shown["pools"] if pool["id"] == worker.pool]
    assert (pool["workers"], pool["slots"], pool["busy"], pool["waiting"], pool["shared"], pool["drained"]) == (1, 100, 1, 1, False, False)
    assert "outbox" not in shown
    second, first = shown["pending-runs"]
    assert shown["pending-runs-total"] == 2 and (first["id"], second["id"]) == (waiting, queued)
    assert first.items() >= org.attributes(f"runs/{waiting}/waiting").items() and first["position"] == 1
    assert second["code"] == "behind_run" and running in second["text"] and second["organization-name"] == org.organization
    page = queue(org, **{"page[size]": 1, "page[number]": 2})
    assert [run["id"] for run in page["pending-runs"]] == [waiting] and page["pending-runs-total"] == 2
    assert queue(org, **{"page[number]": 9})["pending-runs"] == []


def test_a_sample_is_stored_each_minute_for_a_day(api_site, org, worker):
    run_in(org, worker.pool)
    (organization,) = api_site.ask("select id from organizations where name = %s", org.organization)[0]
    api_site.change("insert into queue_samples values (%s, now() - interval '26 hours', 1, 1, 1, 1, 1, null, null, 1), (%s, now() - interval '2 hours', 7, 1, 1, 1, 1, 0.5, 1.5, 1)", organization, organization)
    # The sample of this minute may have been taken before the run was created.
    api_site.change("delete from queue_samples where taken_at > now() - interval '5 minutes'")

    def sampled():
        return [sample for sample in queue(org)["samples"] if sample[1] == 1]

    (sample,) = until(sampled, "the minute is sampled")
    assert len(sample) == 1 + len(NUMBERS) and sample[0] % 60 == 0
    assert [sample[1:] for sample in queue(org)["samples"]][0] == [7, 1, 1, 1, 1.0, 0.5, 1.5, 1]
    until(lambda: not api_site.ask("select 1 from queue_samples where taken_at < now() - interval '25 hours'"), "the oldest sample is deleted")
    assert api_site.ask("select count(*) from queue_samples where organization_id = '' and taken_at > now() - interval '1 minute'")[0][0] >= 1


def test_the_site_has_a_queue_of_all_organizations(api_site, org, worker):
    run = run_in(org, worker.pool)
    shown = org.get("admin/queue", **{"page[size]": 100}).data
    attributes = shown["attributes"]
    assert shown["id"] == "site" and attributes["pending"] >= 1
    assert {"outbox", "outbox-age-seconds", "notifier-backlog"} <= set(attributes) and attributes["grafana-url"] is None
    (found,) = [pending for pending in attributes["pending-runs"] if pending["id"] == run]
    assert found["organization-name"] == org.organization and found["code"]
    assert api_site.stranger().call("GET", "admin/queue").status == 404


def test_the_lag_of_the_site_is_the_sum_of_the_metric(api_site, org, worker):
    """A run of a fake worker's pool waits: its job message is not read."""
    run_in(org, worker.pool)

    def measured():
        lags = [value for name, value in api_site.scheduler.metrics().items() if name.startswith("runyard_kafka_topic_lag{")]
        shown = org.attributes("admin/queue")["kafka-lag"]
        return shown is not None and shown > 0 and shown == sum(lags)

    until(measured, "the lag is measured and shown")


def test_the_queue_of_the_site_names_the_operators_dashboards(api_site, org):
    scheduler = api_site.new_scheduler("scheduler-2", grafana_url="https://grafana.example.com/d/runyard/")
    try:
        api = Api(scheduler.start().url, org.token, org.organization)
        assert api.attributes("admin/queue")["grafana-url"] == "https://grafana.example.com/d/runyard"
        assert "grafana-url" not in queue(api)
    finally:
        scheduler.release()


def test_pending_runs_are_listed_only_for_those_who_may_read_them(api_site, org, worker):
    run_in(org, worker.pool)
    hidden = queue(People(org, api_site.database).member("reader"))
    assert hidden["pending"] == 1 and hidden["pending-runs"] == [] and hidden["pending-runs-total"] == 0


def test_the_workers_of_an_organization_show_their_slots_and_runs(api_site, org, worker, contract):
    run = run_in(org, worker.pool)
    worker.take(run, "plan")
    (shown,) = org.get(f"organizations/{org.organization}/workers").data
    assert shown["id"] == worker.id and shown["attributes"]["slots"] == 100 and 0 <= shown["attributes"]["slots-free"] <= 100
    assert shown["relationships"]["runs"]["data"] == [{"type": "runs", "id": run}]
    assert shown["relationships"]["agent-pool"]["data"]["id"] == worker.pool and shown["attributes"]["draining"] is False
    for action, draining in (("drain", True), ("resume", False), ("leave", True)):
        assert org.post(f"agents/{worker.id}/actions/{action}").data["attributes"]["draining"] is draining


def test_run_tasks_that_have_not_reported_are_listed(api_site, org, worker, receiver, contract):
    workspace = org.workspace(execution_mode="agent", agent_pool_id=worker.pool)
    org.attach(workspace, org.task(receiver.service(acknowledges), "scan"), "post_plan")
    assert queue(org)["run-tasks"] == []
    run = org.run_files(workspace, {"main.tf": ""})
    worker.plan(run)
    (shown,) = until(lambda: queue(org)["run-tasks"], "the task is outstanding")
    assert (shown["run-id"], shown["task-name"], shown["stage"], shown["sent"]) == (run, "scan", "post_plan", False) and shown["due-at"]
    assert queue(People(org, api_site.database).member("no-reader"))["run-tasks"] == []
