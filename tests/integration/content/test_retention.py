# SPDX-License-Identifier: MPL-2.0
"""Retention: old data is deleted by the policies of the site and the workspaces, and needed data stays."""

import base64
import hashlib
import json

import pytest

from support.api import Api
from support.fake_worker import FakeWorker
from support.wait import until

HIDDEN, DELETED = "backing_data_soft_deleted", "backing_data_permanently_deleted"


@pytest.fixture
def api_of(tokens):
    return lambda scheduler: Api(scheduler.url, tokens["token"])


def push_states(api, workspace, count):
    api.post(f"workspaces/{workspace}/actions/lock", {"reason": "test"})
    for serial in range(1, count + 1):
        state = json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "l", "outputs": {
            "o": {"value": serial, "type": "number"}}, "resources": [], "check_results": None}).encode()
        attributes = {"serial": serial, "lineage": "l", "md5": hashlib.md5(state).hexdigest(), "state": base64.b64encode(state).decode()}
        api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}})


def policy(api, path, days=None):
    kind = "data-retention-policy-delete-olders" if days else "data-retention-policy-dont-deletes"
    attributes = {"delete-older-than-n-days": days} if days else {}
    api.post(f"{path}/relationships/data-retention-policy", {"data": {"type": kind, "attributes": attributes}})


def statuses(ask, workspace):
    """The statuses of the workspace's states, the oldest first."""
    return [status for (status,) in ask("select status from state_versions where workspace_id = %s order by serial", workspace)]


# One statement sets all times back: retention does not check times again that it has already passed.


def age_states(ask, workspaces, *days):
    ask("update state_versions set created_at = now() - make_interval(days => (%s::int[])[serial::int]) where workspace_id = any(%s)", list(days), workspaces)


def test_states_are_deleted_by_the_most_specific_policy(scheduler, api_of, ask):
    one = scheduler(keep_states_days=30)
    api = api_of(one)
    site, own, forever, other_own = [api.workspace() for _ in range(4)]
    policy(api, f"workspaces/{own}", 10)
    policy(api, f"workspaces/{forever}")
    policy(api, f"workspaces/{other_own}", 20)
    for workspace in (site, own, forever, other_own):
        push_states(api, workspace, 4)
    # Each is deleted by the age of its successor: 40, 25 and 15 days.
    age_states(ask, [site, own, forever, other_own], 50, 40, 25, 15)
    until(lambda: statuses(ask, site) == [HIDDEN, "finalized", "finalized", "finalized"], "the site's policy is applied")
    until(lambda: statuses(ask, own) == [HIDDEN, HIDDEN, HIDDEN, "finalized"], "the workspace's policy is applied")
    until(lambda: statuses(ask, other_own) == [HIDDEN, HIDDEN, "finalized", "finalized"], "the other workspace's policy is applied")
    assert statuses(ask, forever) == ["finalized"] * 4
    assert api.state(own)["serial"] == 4

    # The organization's policy applies to workspaces without one. A changed policy applies to old data, too.
    policy(api, f"organizations/{api.organization}", 15)
    until(lambda: statuses(ask, site) == [HIDDEN, HIDDEN, HIDDEN, "finalized"], "the organization's policy is applied")
    api.delete(f"workspaces/{forever}/relationships/data-retention-policy")
    until(lambda: statuses(ask, forever) == [HIDDEN, HIDDEN, HIDDEN, "finalized"], "the organization's policy applies to a workspace without one")

    # Hidden data can be restored, and is later deleted for good.
    first, second = [row[0] for row in ask("select id from state_versions where workspace_id = %s and serial < 3 order by serial", own)]
    assert api.call("GET", f"state-versions/{second}/download").status == 404
    api.post(f"state-versions/{second}/actions/restore_backing_data")
    assert api.ask("GET", f"state-versions/{second}/download").json["serial"] == 2
    blobs = ask("select count(*) from blobs")[0][0]
    ask("update state_versions set hidden_at = now() - interval '8 days' where id = %s", first)
    until(lambda: api.attributes(f"state-versions/{first}")["status"] == DELETED, "the state is permanently deleted")
    until(lambda: ask("select count(*) from blobs")[0][0] == blobs - 1, "its content is deleted")
    assert not ask("select 1 from state_version_outputs where state_version_id = %s", first)
    assert statuses(ask, own)[1] == "finalized"

    # The trail names the deleted data, and no actor.
    events = api.get(f"organizations/{api.organization}/audit-trail").json["data"]
    retention_events = [(event["resource"]["action"], event["resource"]["type"], event["auth"]["type"]) for event in events if first in event["resource"]["meta"]["attributes"]]
    assert retention_events == [("destroy", "state_version", "System"), ("expire", "state_version", "System")]
    assert one.metric("runyard_retention_deleted_total", rule="states") == 11


def test_the_newest_states_are_kept(scheduler, api_of, ask):
    api = api_of(scheduler(keep_states_days=1, keep_states_newest=3))
    workspace = api.workspace()
    push_states(api, workspace, 5)
    age_states(ask, [workspace], 50, 40, 30, 20, 10)
    until(lambda: statuses(ask, workspace) == [HIDDEN, HIDDEN] + ["finalized"] * 3, "all but three states are deleted")


def test_detached_states_are_deleted_unless_a_hold_refers_to_them(scheduler, api_of, ask):
    """Restored states become detached again."""
    api = api_of(scheduler())
    workspace = api.workspace()
    push_states(api, workspace, 5)
    run = api.run_files(workspace, {"main.tf": ""})
    ask("insert into workspace_holds (job_id, workspace_id, run_id, worker, token_hash) values ('job-held', %s, %s, 'w', 't')", workspace, run)
    # Two states of one job, one of them detached, and one state of a job that a hold refers to.
    ask("update state_versions set status = (array['detached', 'finalized', 'detached', 'finalized', 'finalized'])[serial], "
        "job_id = (array['job-over', 'job-over', 'job-held', null, null])[serial] where workspace_id = %s", workspace)
    age_states(ask, [workspace], 60, 50, 45, 40, 35)
    policy(api, f"workspaces/{workspace}", 30)
    until(lambda: statuses(ask, workspace) == [HIDDEN, HIDDEN, "detached", HIDDEN, "finalized"], lambda: f"{statuses(ask, workspace)}")
    first = ask("select id from state_versions where workspace_id = %s and serial = 1", workspace)[0][0]
    api.post(f"state-versions/{first}/actions/restore_backing_data")
    assert statuses(ask, workspace)[0] == "detached"
    assert api.state(workspace)["serial"] == 5


def test_configurations_in_use_are_kept(scheduler, api_of, ask):
    api = api_of(scheduler(keep_configurations_days=30))
    workspace = api.workspace()
    unused, needed, superseded, speculative, current = [api.upload(workspace, {"main.tf": str(number)}, speculative=number == 3) for number in range(5)]
    run = api.run(workspace, needed)
    order = [unused, needed, superseded, speculative, current]
    ask("update configuration_versions set created_at = now() - make_interval(days => (array[60, 50, 40, 35, 20])[array_position(%s::text[], id)])", order)

    def status(version):
        return api.attributes(f"configuration-versions/{version}")["status"]

    until(lambda: status(superseded) == HIDDEN, "the superseded configuration is deleted")
    assert [status(version) for version in (unused, needed, speculative, current)] == [HIDDEN, "uploaded", "uploaded", "uploaded"]
    assert api.call("GET", f"configuration-versions/{superseded}/download").status == 404
    assert api.call("GET", f"runs/{run}/configuration-version/download").status == 200


def done_run(api, fake_worker, workspace):
    """A run that the test's worker planned, then discarded."""
    run = api.run_files(workspace, {"main.tf": "x"})
    (job,) = until(fake_worker.claim, "its plan is claimable")
    fake_worker.on(job, "PUT", "init", b"init")
    fake_worker.on(job, "PUT", "plan", b"plan")
    fake_worker.on(job, "PUT", "plan-json", json.dumps({"format_version": "1.2"}).encode())
    fake_worker.on(job, "PUT", "log?offset=0", b"a log of some length\n" * 100)
    assert fake_worker.result(job).status == 204
    api.wait_status(run, "planned")
    return run


def test_logs_and_plans_of_ended_runs_are_deleted(scheduler, api_of, tokens, ask):
    one = scheduler(keep_logs_days=30, keep_plans_days=40)
    api = api_of(one)
    fake_worker = FakeWorker(one.url, tokens["agent-token"])
    exempt = api.workspace()
    policy(api, f"workspaces/{exempt}")
    old, older, waiting, exempt_run = [done_run(api, fake_worker, workspace) for workspace in (api.workspace(), api.workspace(), api.workspace(), exempt)]
    for run in (old, older, exempt_run):
        api.act(run, "discard")
    plans = {run: api.sibling(run, "plan") for run in (old, older, waiting, exempt_run)}
    urls = {run: api.attributes(f"plans/{plan}")["log-read-url"] for run, plan in plans.items()}
    kept = "select count(*) from operation_blobs where operation_id = %s and kind = 'changes'"
    for run in (old, older):
        assert api.call("GET", f"plans/{plans[run]}/changes").status == 200 and ask(kept, plans[run]) == [(1,)]
    ask("update runs set updated_at = now() - make_interval(days => case when id = %s then 35 else 45 end)", old)

    def log(run, offset=0):
        return api.ask("GET", f"{urls[run]}?limit=65536&offset={offset}").body

    until(lambda: b"was deleted" in log(older) and b"was deleted" in log(old), "the logs are deleted")
    # A reader reaches the end of the log from any offset.
    assert log(old).startswith(b"\x02") and log(old).endswith(b"\x03") and log(old, 1000) == b"\x03" and log(old, len(log(old)) - 1) == b"\x03"
    until(lambda: api.call("GET", f"plans/{plans[older]}/json-output").status == 404, "the older run's plan is deleted")
    assert "older than plans are kept" in api.call("GET", f"plans/{plans[older]}/json-output").errors()
    assert "older than plans are kept" in api.call("GET", f"plans/{plans[older]}/json-output-redacted").errors()
    assert "older than plans are kept" in api.call("GET", f"plans/{plans[older]}/changes").errors() and ask(kept, plans[older]) == [(0,)]
    assert "older than logs are kept" in api.call("GET", f"plans/{plans[older]}/log").errors()
    assert api.call("GET", f"plans/{plans[old]}/json-output").status == 200 and ask(kept, plans[old]) == [(1,)]
    for run in (waiting, exempt_run):
        assert api.call("GET", f"plans/{plans[run]}/json-output").status == 200 and len(log(run)) > 2000

    # Plan files are useless once their run has ended.
    files = "select count(*) from operation_blobs where operation_id = %s and kind in ('plan', 'init')"
    until(lambda: ask(files, plans[old]) == [(0,)], "plan files are deleted after a day")
    assert ask(files, plans[waiting]) == ask(files, plans[exempt_run]) == [(2,)]
    api.act(waiting, "apply")
    (job,) = until(fake_worker.claim, "its apply is claimable")
    assert fake_worker.on(job, "GET", "plan").body == b"plan"
    assert not ask("select 1 from log_chunks where operation_id = %s", plans[old])
    assert api.status(old) == "discarded"


def test_content_is_deleted_with_its_last_reference(scheduler, api_of, ask):
    api = api_of(scheduler())
    first, second = api.workspace(), api.workspace()
    for workspace in (first, second):
        api.upload(workspace, {"main.tf": "the same"})
    push_states(api, first, 2)
    assert ask("select count(*) from blobs") == [(3,)]
    api.delete(f"workspaces/{first}")
    until(lambda: ask("select count(*) from blobs") == [(1,)], "the states are deleted")
    until(lambda: not ask("select 1 from loose_blobs"), "all unreferenced blobs are checked")
    api.delete(f"workspaces/{second}")
    until(lambda: ask("select count(*) from blobs") == [(0,)], "the configuration is deleted")
