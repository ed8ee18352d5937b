# SPDX-License-Identifier: MPL-2.0
# label: full
"""A row that fails does not stop a sweep for other organizations."""

import json
import urllib.request

import pytest

from support.office import Hands, open_office
from support.servers import ObjectStore
from support.wait import PATIENCE, until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
DAMAGE = "substr({0}, 1, 20) || '\\x00'::bytea || substr({0}, 22)"


@pytest.fixture
def hands(office):
    return Hands(office)


@pytest.fixture
def failing(office):
    """Makes PostgreSQL refuse every change of these rows of a table."""
    tables = []

    def fail(table, *ids):
        office.change("create or replace function fails() returns trigger language plpgsql as $$ begin raise exception 'this row fails'; end $$")
        listed = ", ".join(f"'{one}'" for one in ids)
        office.change(f"create trigger fails before update on {table} for each row when (new.id in ({listed})) execute function fails()")
        tables.append(table)

    yield fail
    for table in tables:
        office.change(f"drop trigger fails on {table}")


def told(office, sweep):
    """The log's lines about rows that this sweep skips."""
    return [line for line in office.scheduler.log_lines() if "leaves out rows that fail" in line["msg"] and line["sweep"] == sweep]


def test_automatic_destruction(org, office):
    broken, fine = org.workspace(), office.organization()
    due = fine.workspace()
    org.upload(broken, ONE)
    fine.upload(due, ONE)
    org.variable(broken, "name", "value")
    office.change(f"update variables set value_sealed = {DAMAGE.format('value_sealed')} where workspace_id = %s", broken)
    office.change("update workspaces set resource_count = 1 where id = any(%s)", [broken, due])
    for year, (api, workspace) in enumerate([(org, broken), (fine, due)], 2020):  # the broken one is due first
        api.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"auto-destroy-at": f"{year}-01-01T00:00:00Z"}}})
    until(lambda: fine.get(f"workspaces/{due}/runs").data, "the other workspace is destroyed")
    until(lambda: told(office, "auto destroy"), "the failure is told")
    assert told(office, "auto destroy")[0]["first"] == broken and "the variable name can't be read" in told(office, "auto destroy")[0]["error"]
    assert org.get(f"workspaces/{broken}/runs").data == [] and org.attributes(f"workspaces/{broken}")["auto-destroy-at"]
    assert office.ask("select destroy_check_at > now() from workspaces where id = %s", broken) == [(True,)]
    # It keeps its time, and is destroyed once its variables can be read.
    office.change("delete from variables where workspace_id = %s", broken)
    office.change("update workspaces set destroy_check_at = now() where id = %s", broken)
    until(lambda: org.get(f"workspaces/{broken}/runs").data, "the workspace is destroyed")


def test_leases(org, office, hands, failing):
    runs = [org.run_files(org.workspace(), ONE), office.organization()]
    runs[1] = runs[1].run_files(runs[1].workspace(), ONE)
    for run in runs:
        hands.take(run, "plan")
    failing("runs", runs[0])
    office.change("update jobs set lease_until = now() - interval '1 minute' where run_id = %s", runs[0])
    office.change("update jobs set lease_until = now() - interval '1 second' where run_id = %s", runs[1])
    until(lambda: office.ask("select state, attempt from jobs where run_id = %s", runs[1]) == [("waiting", 2)], "the other lease ends")
    until(lambda: told(office, "leases"), "the failure is told")
    assert told(office, "leases")[0]["first"] == runs[0]


def test_queues(org, office, failing):
    other = office.organization()
    places = [(org, org.workspace()), (other, other.workspace())]
    runs = []
    for api, workspace in places:
        runs.append(api.run_files(workspace, ONE))
    # Two queues are stuck: each has a run that could start.
    office.change("delete from jobs where run_id = any(%s)", runs)
    office.change("update workspaces set current_run_id = null, has_queue = true where id = any(%s)", [workspace for _, workspace in places])
    office.change("update runs set status = 'pending', stage = 'none', queued = true, underway = false, holds = false, "
                  "updated_at = now() - interval '1 hour' where id = any(%s)", runs)
    failing("runs", runs[0])
    until(lambda: other.status(runs[1]) == "plan_queued", "the other queue goes on")
    until(lambda: told(office, "queues"), "the failure is told")
    assert told(office, "queues")[0]["first"] == places[0][1] and org.status(runs[0]) == "pending"


def test_reports_of_run_tasks(org, office, failing, receiver):
    other = office.organization()
    results, runs = [], []
    for api in (org, other):
        workspace = api.workspace()
        api.attach(workspace, api.task(receiver.service(lambda call: call.answer())), "pre_plan")
        runs.append(api.run_files(workspace, ONE))
        ((result,),) = until(lambda: office.ask("select id from task_results where run_id = %s and status = 'pending'", runs[-1]), "the task is to be called")
        results.append(result)
    failing("runs", runs[0])
    office.change("update task_results set reported = '{\"status\": \"passed\"}', updated_at = now() - interval '1 minute' where id = any(%s)", results)
    other.wait_status(runs[1], "plan_queued")
    until(lambda: told(office, "task deadlines"), "the failure is told")
    assert told(office, "task deadlines")[0]["first"] == results[0] and org.status(runs[0]) == "pre_plan_running"


def test_requests_of_run_tasks(org, office, receiver):
    """A notifier's claim is like a worker's: one whose key can't be opened blocks no other."""
    def claim():
        body = json.dumps({"notifier": "n", "callback-url": "http://127.0.0.1:9", "most": 200, "ids": []}).encode()
        headers = {"Authorization": f"Bearer {office.tokens['notifier-token']}", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{office.scheduler.url}/api/notifier/v1/claim", body, headers, method="POST")
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            return {request["run"] for request in json.loads(answer.read())["requests"]}

    runs = []
    for api in (org, office.organization()):
        workspace = api.workspace()
        api.attach(workspace, api.task(receiver.service(lambda call: call.answer())), "pre_plan")
        runs.append(api.run_files(workspace, ONE))
    office.change(f"update task_results set hmac_sealed = {DAMAGE.format('hmac_sealed')} where run_id = %s", runs[0])
    assert claim() & set(runs) == {runs[1]}
    assert any(line["msg"] == "a run task's request can't be sent" and line["run"] == runs[0] for line in office.scheduler.log_lines())
    # It is claimed again after its lease, and does not block others then either.
    assert office.ask("select delivery from task_results where run_id = %s", runs[0]) == [("claimed",)]


def test_logs_that_are_packed(postgres, tmp_path):
    objects = ObjectStore(tmp_path).start()
    try:
        with open_office(postgres, **objects.options("packing"), object_store_from_bytes=1, object_store_after_seconds=3600) as office:
            org, other = office.organization(), office.organization()
            hands, runs = Hands(office), []
            for api in (org, other):
                runs.append(api.run_files(api.workspace(), ONE))
                job = hands.take(runs[-1], "plan")
                hands.call("PUT", f"jobs/{job['job']}/log?offset=0", job["token"], {"a": "line"})
                hands.end(job, "errored")
            plans = [api.sibling(run, "plan") for api, run in zip((org, other), runs)]
            office.change(f"update log_chunks set bytes_sealed = {DAMAGE.format('bytes_sealed')} where operation_id = %s", plans[0])
            office.change("update runs set updated_at = now() - interval '1 day' where id = %s", runs[0])
            office.change("update runs set updated_at = now() - interval '12 hours' where id = %s", runs[1])
            packed = lambda plan: office.ask("select log_blob is not null from operations where id = %s", plan) == [(True,)]
            until(lambda: packed(plans[1]), "the other log is packed")
            assert not packed(plans[0])
            assert any(line["msg"] == "a row that fails is left as it is" and line["row"] == runs[0] for line in office.scheduler.log_lines())
            assert '"line"' in other.log(runs[1])
    finally:
        objects.release()
