# SPDX-License-Identifier: MPL-2.0
# label: quick
"""A heartbeat names the jobs of messages that the worker has read; the answer names those that no longer wait."""

import pytest

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
UNKNOWN = "job-0000000000000000"


def job_of(api_site, run):
    ((job,),) = api_site.ask("select id from jobs where run_id = %s", run)
    return job


def settled(worker, *jobs):
    return worker.announced(*jobs).json["not-waiting"]


def test_claimed_canceled_and_unknown_jobs_do_not_wait(org, api_site):
    worker = api_site.fake_worker()
    runs = [org.run_files(org.workspace(), ONE) for _ in range(3)]
    jobs = [job_of(api_site, run) for run in runs]
    assert settled(worker, *jobs) == []
    org.act(runs[1], "cancel")
    assert settled(worker, *jobs, UNKNOWN) == [jobs[1], UNKNOWN]
    job = worker.take(runs[0], "plan")
    worker.end(job)
    assert jobs[0] in settled(worker, *jobs)
    assert settled(worker) == []


def test_jobs_of_another_pool_do_not_wait(org, api_site):
    made = org.post(f"organizations/{org.organization}/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": "other"}}}).data
    run = org.run_files(org.workspace(execution_mode="agent", agent_pool_id=made["id"]), ONE)
    job = job_of(api_site, run)
    assert settled(api_site.fake_worker(), job) == [job]


@pytest.mark.parametrize("announced", [["no id"], [7], [UNKNOWN] * 2049], ids=["no id", "no text", "too many"])
def test_an_invalid_list_is_refused(api_site, announced):
    answer = api_site.fake_worker().announced(*announced, check=False)
    assert answer.status == 422 and "'announced' must be an array of at most 2048 ids" in answer.text
