# SPDX-License-Identifier: MPL-2.0
"""Loads everything that has threads at the same time. tests/thread/run builds the processes with the thread sanitizer
for this test."""

import itertools
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.receiver import says
from support.wait import until

WORKSPACES, RUNS, CLIENTS = 4, 3, 6
FILES = {"main.tf": 'resource "terraform_data" "one" {\n  input = timestamp()\n}\n'}
ENDED = {"applied", "canceled", "errored", "planned_and_finished"}


@pytest.fixture
def stack(scheduler, worker, notifier):
    """Two schedulers, a worker at each, and a notifier."""
    schedulers = [scheduler(task_allow="127.0.0.1", http_threads=8) for _ in range(2)]
    workers = [worker(scheduler_url=one.url, slots=3) for one in schedulers]
    return schedulers, workers, notifier()


def runs_of(api, configurations):
    return [api.run(workspace, configuration) for _ in range(RUNS) for workspace, configuration in configurations.items()]


def page_requests(api, runs):
    """A function that sends the requests of pages and clients for the next run."""
    next_runs = itertools.cycle(runs)

    def send_requests(number):
        run = next(next_runs)
        api.get(f"runs/{run}", include="plan,apply,workspace")
        api.get(f"organizations/{api.organization}/workspaces")
        api.get(f"runs/{run}/run-events")
        if number % 3 == 0:
            api.log(run)

    return send_requests


def test_processes_under_load_have_no_data_races(stack, receiver, api):
    schedulers, workers, notifier = stack
    configurations = {}
    task = api.task(receiver.service(says("passed")))
    for _ in range(WORKSPACES):
        workspace = api.workspace(auto_apply=True)
        api.attach(workspace, task, "post_plan")
        configurations[workspace] = api.upload(workspace, FILES)
    runs = runs_of(api, configurations)
    for run in runs[-2:]:
        api.act(run, "cancel")
    send_requests, ended = page_requests(api, runs), set()

    def all_ended():
        ended.update(run for run in runs if run not in ended and api.status(run) in ENDED)
        return len(ended) == len(runs)

    with ThreadPoolExecutor(CLIENTS) as clients:
        until(lambda: [*clients.map(send_requests, range(CLIENTS * 4))] and all_ended(), "all runs have ended")
    for service in [*schedulers, *workers, notifier]:
        assert service.metrics()
        service.process.send(signal.SIGTERM)
