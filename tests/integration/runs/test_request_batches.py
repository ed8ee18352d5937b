# SPDX-License-Identifier: MPL-2.0
"""States and results that arrive at the same time are processed in one transaction. Each gets its own answer, as if it
had arrived alone."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from support.wait import until

WORKSPACES = 8


def state(serial, lineage="line"):
    resources = [{"mode": "managed", "type": "terraform_data", "name": "one", "provider": 'provider["terraform.io/builtin/terraform"]', "instances": [{"attributes": {}}]}]
    outputs = {"serial": {"value": serial, "type": "number"}}
    return {"version": 4, "serial": serial, "lineage": lineage, "terraform_version": "1.11.4", "outputs": outputs, "resources": resources}


@pytest.fixture(scope="module")
def fake_worker(api_site):
    return api_site.fake_worker()


@pytest.fixture
def jobs(api_site, org, fake_worker):
    """Applies of WORKSPACES workspaces, each of which has sent its first state: {workspace: job}."""
    found = {}
    for number in range(WORKSPACES):
        workspace = org.workspace(f"w-{number}", auto_apply=True)
        run = org.run(workspace, org.upload(workspace, {"main.tf": ""}))
        fake_worker.plan(run)
        job = found[workspace] = fake_worker.take(run, "apply")
        fake_worker.on(job, "POST", "started")
        fake_worker.on(job, "PUT", "state", state(1))
    return found


def current(api_site, workspace):
    return api_site.ask("select s.serial, s.lineage, s.status, w.resource_count, (select count(*) from state_version_outputs o where o.state_version_id = s.id) "
                        "from workspaces w join state_versions s on s.id = w.current_state_id where w.id = %s", workspace)


def test_concurrent_states_in_one_batch_get_their_own_answers(api_site, org, fake_worker, jobs):
    numbers = itertools.count(2)

    def cases(job, serial):
        yield job, job["token"], state(serial), "current"
        yield job, job["token"], state(0), "detached"
        yield job, job["token"], state(serial + 99, lineage="another"), "detached"
        yield job, "job.wrong", state(serial + 99), 404
        yield job, job["token"], b'"no state"', 422

    def send(case):
        job, token, sent, expected = case
        answer = fake_worker.call("PUT", f"jobs/{job['job']}/state", sent, token, check=False)
        if isinstance(expected, int):
            assert answer.status == expected
        else:
            assert answer.status < 300 and ("detached" if answer.body and "detached" in answer.json else "current") == expected, answer.text

    def send_all():
        """Sends all at once. Returns whether one transaction wrote several."""
        serial = next(numbers)
        with ThreadPoolExecutor(32) as pool:
            list(pool.map(send, (case for job in jobs.values() for case in cases(job, serial))))
        for workspace in jobs:
            assert current(api_site, workspace) == [(serial, "line", "finalized", 1, 1)]
        return api_site.ask("select count(*) > count(distinct s.xmin::text) from state_versions s where s.status = 'finalized' and s.job_id = any(%s)",
                            [job["job"] for job in jobs.values()])[0][0]

    until(send_all, "two states are written by one transaction")
    last = next(numbers) - 1
    for workspace, job in jobs.items():
        assert api_site.ask("select status, count(*) from state_versions where job_id = %s group by 1 order by 1", job["job"]) == [("detached", 1), ("finalized", 1)]
        assert api_site.ask("select count(*) from run_events where run_id = %s and action = 'state-detached'", job["run"]) == [(1,)]
        assert [o["attributes"]["value"] for o in org.get(f"workspaces/{workspace}/current-state-version-outputs").data] == [last]


def test_concurrent_states_of_one_workspace_keep_the_newest_current(api_site, fake_worker, jobs):
    """In any order, the newest state is current. All others are the same row or detached."""
    workspace, job = next(iter(jobs.items()))
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda serial: fake_worker.on(job, "PUT", "state", state(serial)), range(2, 42)))
    assert current(api_site, workspace) == [(41, "line", "finalized", 1, 1)]


def test_a_locked_workspace_row_does_not_block_states_of_other_workspaces(api_site, fake_worker, jobs):
    (locked, stuck), *others = jobs.items()
    with psycopg.connect(api_site.database) as holder, ThreadPoolExecutor(1) as pool:
        holder.execute("select 1 from workspaces where id = %s for update", [locked])
        waiting = pool.submit(fake_worker.on, stuck, "PUT", "state", state(2))
        until(lambda: api_site.ask("select 1 from pg_locks where not granted and pid <> pg_backend_pid()"), "the state waits for its workspace")
        for workspace, job in others:
            fake_worker.on(job, "PUT", "state", state(2))
            assert current(api_site, workspace)[0][0] == 2
        assert not waiting.done()
        holder.rollback()
        assert not waiting.result().body
    assert current(api_site, locked)[0][0] == 2


def test_concurrent_results_in_one_batch_get_their_own_answers(api_site, org, fake_worker):
    workspace = org.workspace("results")
    version = org.upload(workspace, {"main.tf": ""})

    def planning():
        run = org.run(workspace, version, **{"plan-only": True})
        return fake_worker.take(run, "plan")

    def send(case):
        job, token, changes, expected = case
        result = {"v": 1, "job": job["job"], "attempt": job["attempt"], "run": job["run"], "outcome": "passed", "error": "", "has-changes": True, "additions": 1,
                  "changes": 0, "destructions": 0, "imports": 0, "terraform-version": "1.11.4", **changes}
        assert fake_worker.call("POST", f"jobs/{job['job']}/result", result, token, check=False).status == expected, changes

    def send_all():
        """Sends all at once. Returns whether one transaction accepted several."""
        good, stale, other, errored, stranger = ([planning() for _ in range(4)] for _ in range(5))
        cases = [(job, job["token"], {}, 204) for job in good for _ in range(2)]
        cases += [(job, job["token"], {"attempt": 9}, 409) for job in stale]
        cases += [(job, job["token"], {"run": good[0]["run"]}, 422) for job in other]
        cases += [(job, job["token"], {"outcome": "errored", "error": "no"}, 204) for job in errored]
        cases += [(job, job["token"], {"outcome": "what"}, 400) for job in other]
        cases += [(job, "job.wrong", {}, 204) for job in stranger]
        with ThreadPoolExecutor(32) as pool:
            list(pool.map(send, cases[::2] + cases[1::2]))
        for jobs, status in (good, "planned_and_finished"), (stale, "planning"), (other, "planning"), (errored, "errored"), (stranger, "planning"):
            assert {org.get(f"runs/{job['run']}").data["attributes"]["status"] for job in jobs} == {status}
        return api_site.ask("select count(*) > count(distinct xmin::text) from operations where run_id = any(%s) and status = 'finished'",
                            [job["run"] for job in good])[0][0]

    until(send_all, "two results are accepted by one transaction")


def test_a_lost_applys_result_in_a_batch_is_refused_alone(api_site, org, fake_worker, jobs):
    (held, lost), *others = jobs.items()
    api_site.change("update jobs set lease_until = now() where id = %s", lost["job"])
    org.wait_status(lost["run"], "errored")

    def end(job):
        result = {"v": 1, "job": job["job"], "attempt": 1, "run": job["run"], "outcome": "passed", "error": "", "has-changes": False,
                  "additions": 0, "changes": 0, "destructions": 0, "imports": 0, "terraform-version": "1.11.4"}
        return fake_worker.on(job, "POST", "result", result, check=False).status

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(end, jobs.values()))
    assert statuses == [409] + [204] * len(others)
    for _, job in others:
        org.wait_status(job["run"], "applied")
