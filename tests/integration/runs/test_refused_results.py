# SPDX-License-Identifier: MPL-2.0
"""A final result that the run's row can't accept is kept, shown and retried. Other results are accepted."""

import json
import threading

import pytest

from support import mac
from support.kcat import produce
from support.runyard import KEYS, Scheduler
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
RESULTS = "runyard.results"


@pytest.fixture
def fake_worker(api_site):
    return api_site.fake_worker()


def applying(org, fake_worker, workspace=None):
    """A run whose apply was claimed, and the job."""
    run = org.run_files(workspace or org.workspace(), ONE)
    fake_worker.plan(run)
    org.act(run, "apply")
    return run, fake_worker.take(run, "apply")


def dead_letters(api_site):
    done = Scheduler.run_command("dead-letters", "--json", database_url=api_site.database, keys=KEYS)
    return [json.loads(line) for line in done.stdout.splitlines()]


def counted(api_site, outcome):
    return api_site.scheduler.metric("runyard_results_total", outcome=outcome)


def refused(api_site):
    return counted(api_site, "refused")


def refusal_events(org, run):
    return [text for _, text in org.events(run, "result-refused")]


def end_status(fake_worker, job, outcome="passed"):
    return fake_worker.on(job, "POST", "result", mac.result(job, outcome), check=False).status


def held(fake_worker, job):
    return [(of["held"], of["awaited"]) for of in fake_worker.heartbeat(job)]


def test_a_refused_result_over_http_is_retried(org, api_site, fake_worker):
    run, job = applying(org, fake_worker)
    api_site.change("update runs set underway = false where id = %s", run)
    before = refused(api_site)
    for _ in range(3):
        assert end_status(fake_worker, job) == 503
        assert held(fake_worker, job) == [(True, False)]
    assert (org.status(run), refused(api_site)) == ("applying", before + 3)
    (text,) = refusal_events(org, run)
    assert "(passed)" in text and "no work of it is underway" in text
    assert sum("a result is refused" in line["msg"] and line["run"] == run for line in api_site.scheduler.log_lines()) == 1
    api_site.change("update runs set underway = true where id = %s", run)
    accepted = counted(api_site, "accepted")
    assert end_status(fake_worker, job) == 204 and org.status(run) == "applied"
    assert end_status(fake_worker, job) == 204  # the job has ended: the result is ignored
    assert counted(api_site, "accepted") == accepted + 1


def test_a_refused_result_over_the_broker_becomes_a_dead_letter(org, api_site, fake_worker):
    run, job = applying(org, fake_worker)
    fine, fine_job = applying(org, fake_worker)
    # Other messages use up the space for unproven messages.
    produce(api_site.bus, RESULTS, *[f"no json {number}" for number in range(200)])
    until(lambda: api_site.scheduler.metric("runyard_dead_letters_dropped_total", topic=RESULTS) > 0, "some unproven messages are dropped")
    api_site.change("update runs set underway = false where id = %s", run)
    before = refused(api_site)
    message = mac.signed(mac.result(job), job["token"])
    produce(api_site.bus, RESULTS, message, mac.signed(mac.result(fine_job), fine_job["token"]), {**message, "mac": "v1:" + "0" * 64})
    org.wait_status(fine, "applied")
    until(lambda: refused(api_site) == before + 1, "the result is refused, and the forged one is not counted as such")
    (stored,) = [letter for letter in dead_letters(api_site) if letter["error"] == "no work of it is underway"]
    assert stored["topic"] == RESULTS and len(refusal_events(org, run)) == 1 and held(fake_worker, job) == [(True, False)]
    api_site.change("update runs set underway = true where id = %s", run)
    Scheduler.run_command("dead-letters", "replay", str(stored["id"]), database_url=api_site.database, keys=KEYS)
    org.wait_status(run, "applied")
    assert held(fake_worker, job) == [(False, False)]


@pytest.mark.parametrize("way", ["http", "kafka"])
def test_a_run_that_breaks_an_invariant_blocks_no_other_and_can_only_end(org, api_site, fake_worker, way):
    workspace = org.workspace()
    run, job = applying(org, fake_worker, workspace)
    fine, fine_job = applying(org, fake_worker)
    following = org.run(workspace)
    api_site.change("update runs set queued = true where id = %s", run)  # invariant 4
    jobs, answers = (job, fine_job), {}
    if way == "kafka":
        produce(api_site.bus, RESULTS, *[mac.signed(mac.result(of), of["token"]) for of in jobs])
        until(lambda: refusal_events(org, run), "the refusal is recorded")
    else:
        threads = [threading.Thread(target=lambda of=of: answers.update({of["job"]: end_status(fake_worker, of)})) for of in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == {job["job"]: 503, fine_job["job"]: 204}
    org.wait_status(fine, "applied")
    assert org.status(run) == "applying" and "4: a run is queued" in refusal_events(org, run)[0]
    assert held(fake_worker, job) == [(True, False)]
    fake_worker.end(job, "errored", error="The apply failed.")
    assert org.status(run) == "errored" and held(fake_worker, job) == [(False, False)]
    # Its workspace is free, and its queue continues.
    org.wait_status(following, "plan_queued")
    fake_worker.plan(following)


def test_a_broken_apply_whose_lease_ends_holds_its_workspace(org, api_site, fake_worker):
    workspace = org.workspace()
    run, job = applying(org, fake_worker, workspace)
    fake_worker.on(job, "POST", "started")
    following = org.run(workspace)
    fine, fine_job = applying(org, fake_worker)
    api_site.change("update runs set queued = true where id = %s", run)
    api_site.change("update jobs set lease_until = now() - interval '1 second' where id = any(%s)", [job["job"], fine_job["job"]])
    until(lambda: org.status(run) == "errored", "the lost apply is errored")
    until(lambda: held(fake_worker, fine_job) == [(False, False)], "the other lease is ended, too")
    assert "Contact with worker" in api_site.ask("select error from run_inputs where run_id = %s", run)[0][0]
    assert org.get(f"workspaces/{workspace}").data["attributes"]["locked"] and org.status(following) == "pending"
    fake_worker.on(job, "POST", "last-state")
    org.wait_status(following, "plan_queued")
