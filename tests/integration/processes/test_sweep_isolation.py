# SPDX-License-Identifier: MPL-2.0
"""A row that fails does not stop a sweep for other organizations."""

import json
import urllib.request

import pytest

from support.api_site import open_api_site
from support.servers import ObjectStore
from support.wait import PATIENCE, until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
DAMAGE = "set_byte({0}, 20, get_byte({0}, 20) # 1)"


@pytest.fixture
def fake_worker(api_site):
    return api_site.fake_worker()


@pytest.fixture
def failing(api_site):
    """Makes PostgreSQL refuse every change of these rows of a table."""
    tables = []

    def fail(table, *ids):
        api_site.change("create or replace function fails() returns trigger language plpgsql as $$ begin raise exception 'this row fails'; end $$")
        listed = ", ".join(f"'{one}'" for one in ids)
        api_site.change(f"create trigger fails before update on {table} for each row when (new.id in ({listed})) execute function fails()")
        tables.append(table)

    yield fail
    for table in tables:
        api_site.change(f"drop trigger fails on {table}")


def skip_log_lines(api_site, sweep):
    """The log's lines about rows that this sweep skips."""
    return [line for line in api_site.scheduler.log_lines() if "leaves out rows that fail" in line["msg"] and line["sweep"] == sweep]


def test_automatic_destruction_skips_workspaces_that_fail(org, api_site):
    broken, fine = org.workspace(), api_site.organization()
    due = fine.workspace()
    org.upload(broken, ONE)
    fine.upload(due, ONE)
    org.variable(broken, "name", "value")
    api_site.change(f"update variables set value_sealed = {DAMAGE.format('value_sealed')} where workspace_id = %s", broken)
    api_site.change("update workspaces set resource_count = 1 where id = any(%s)", [broken, due])
    for year, (api, workspace) in enumerate([(org, broken), (fine, due)], 2020):  # the broken workspace is due first
        api.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"auto-destroy-at": f"{year}-01-01T00:00:00Z"}}})
    until(lambda: fine.get(f"workspaces/{due}/runs").data, "the other workspace is destroyed")
    until(lambda: skip_log_lines(api_site, "auto destroy"), "the failure is logged")
    assert skip_log_lines(api_site, "auto destroy")[0]["first"] == broken and "the variable name can't be read" in skip_log_lines(api_site, "auto destroy")[0]["error"]
    assert org.get(f"workspaces/{broken}/runs").data == [] and org.attributes(f"workspaces/{broken}")["auto-destroy-at"]
    assert api_site.ask("select destroy_check_at > now() from workspaces where id = %s", broken) == [(True,)]
    # The broken workspace keeps its time, and is destroyed once its variables can be read.
    api_site.change("delete from variables where workspace_id = %s", broken)
    api_site.change("update workspaces set destroy_check_at = now() where id = %s", broken)
    until(lambda: org.get(f"workspaces/{broken}/runs").data, "the workspace is destroyed")


def test_the_lease_sweep_skips_runs_that_fail(org, api_site, fake_worker, failing):
    runs = [org.run_files(org.workspace(), ONE), api_site.organization()]
    runs[1] = runs[1].run_files(runs[1].workspace(), ONE)
    for run in runs:
        fake_worker.take(run, "plan")
    failing("runs", runs[0])
    api_site.change("update jobs set lease_until = now() - interval '1 minute' where run_id = %s", runs[0])
    api_site.change("update jobs set lease_until = now() - interval '1 second' where run_id = %s", runs[1])
    until(lambda: api_site.ask("select state, attempt from jobs where run_id = %s", runs[1]) == [("waiting", 2)], "the other lease ends")
    until(lambda: skip_log_lines(api_site, "leases"), "the failure is logged")
    assert skip_log_lines(api_site, "leases")[0]["first"] == runs[0]


def test_the_queue_sweep_skips_runs_that_fail(org, api_site, failing):
    other = api_site.organization()
    workspaces = [(org, org.workspace()), (other, other.workspace())]
    runs = []
    for api, workspace in workspaces:
        runs.append(api.run_files(workspace, ONE))
    # Two queues are stuck: each has a run that could start.
    api_site.change("delete from jobs where run_id = any(%s)", runs)
    api_site.change("update workspaces set current_run_id = null, has_queue = true where id = any(%s)", [workspace for _, workspace in workspaces])
    api_site.change("update runs set status = 'pending', stage = 'none', queued = true, underway = false, holds = false, "
                    "updated_at = now() - interval '1 hour' where id = any(%s)", runs)
    failing("runs", runs[0])
    until(lambda: other.status(runs[1]) == "plan_queued", "the other queue advances")
    until(lambda: skip_log_lines(api_site, "queues"), "the failure is logged")
    assert skip_log_lines(api_site, "queues")[0]["first"] == workspaces[0][1] and org.status(runs[0]) == "pending"


def test_reports_of_run_tasks_skip_runs_that_fail(org, api_site, failing, receiver):
    other = api_site.organization()
    results, runs = [], []
    for api in (org, other):
        workspace = api.workspace()
        api.attach(workspace, api.task(receiver.service(lambda call: call.answer())), "pre_plan")
        runs.append(api.run_files(workspace, ONE))
        ((result,),) = until(lambda: api_site.ask("select id from task_results where run_id = %s and status = 'pending'", runs[-1]), "the task is pending")
        results.append(result)
    failing("runs", runs[0])
    api_site.change("update task_results set reported = '{\"status\": \"passed\"}', updated_at = now() - interval '1 minute' where id = any(%s)", results)
    other.wait_status(runs[1], "plan_queued")
    until(lambda: skip_log_lines(api_site, "task deadlines"), "the failure is logged")
    assert skip_log_lines(api_site, "task deadlines")[0]["first"] == results[0] and org.status(runs[0]) == "pre_plan_running"


def test_claims_of_run_task_requests_skip_unreadable_keys(org, api_site, receiver):
    """A notifier's claim is like a worker's: one whose key can't be opened blocks no other."""
    def claim():
        body = json.dumps({"notifier": "n", "callback-url": "http://127.0.0.1:9", "max": 200, "ids": []}).encode()
        headers = {"Authorization": f"Bearer {api_site.tokens['notifier-token']}", "Content-Type": "application/json"}
        request_to_claim = urllib.request.Request(f"{api_site.scheduler.url}/api/notifier/v1/claim", body, headers, method="POST")
        with urllib.request.urlopen(request_to_claim, timeout=PATIENCE) as answer:
            return {request["run"] for request in json.loads(answer.read())["requests"]}

    runs = []
    for api in (org, api_site.organization()):
        workspace = api.workspace()
        api.attach(workspace, api.task(receiver.service(lambda call: call.answer())), "pre_plan")
        runs.append(api.run_files(workspace, ONE))
    api_site.change(f"update task_results set hmac_sealed = {DAMAGE.format('hmac_sealed')} where run_id = %s", runs[0])
    assert claim() & set(runs) == {runs[1]}
    assert any(line["msg"] == "a run task's request can't be sent" and line["run"] == runs[0] for line in api_site.scheduler.log_lines())
    # The request is claimed again after its lease, and does not block others then either.
    assert api_site.ask("select delivery from task_results where run_id = %s", runs[0]) == [("claimed",)]


def test_log_packing_skips_logs_that_fail(postgres, tmp_path):
    objects = ObjectStore(tmp_path).start()
    try:
        with open_api_site(postgres, **objects.options("packing"), object_store_from_bytes=1, object_store_after_seconds=3600) as api_site:
            org, other = api_site.organization(), api_site.organization()
            fake_worker, runs = api_site.fake_worker(), []
            for api in (org, other):
                runs.append(api.run_files(api.workspace(), ONE))
                job = fake_worker.take(runs[-1], "plan")
                fake_worker.on(job, "PUT", "log?offset=0", {"a": "line"})
                fake_worker.end(job, "errored")
            plans = [api.sibling(run, "plan") for api, run in zip((org, other), runs)]
            api_site.change(f"update log_chunks set bytes_sealed = {DAMAGE.format('bytes_sealed')} where operation_id = %s", plans[0])
            api_site.change("update runs set updated_at = now() - interval '1 day' where id = %s", runs[0])
            api_site.change("update runs set updated_at = now() - interval '12 hours' where id = %s", runs[1])
            packed = lambda plan: api_site.ask("select log_blob is not null from operations where id = %s", plan) == [(True,)]
            until(lambda: packed(plans[1]), "the other log is packed")
            assert not packed(plans[0])
            assert any(line["msg"] == "a row that fails is left as it is" and line["row"] == runs[0] for line in api_site.scheduler.log_lines())
            assert '"line"' in other.log(runs[1])
    finally:
        objects.release()
