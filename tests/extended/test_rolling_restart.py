# SPDX-License-Identifier: MPL-2.0
"""Schedulers behind a load balancer are restarted one by one, while runs are applied and clients send requests."""

import threading
import time

import pytest

from support.api import Api
from support.balancer import Balancer
from support.wait import until

STOP_SECONDS = 2
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


class Requests:
    """Requests at a steady pace. `failures`: (when, why) of each that failed; `seconds`: the time without service, from
    the begin of each failed request to the end of the next good one."""

    def __init__(self, api):
        self.api, self.failures, self.seconds, self.count = api, [], 0.0, 0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        failed_at = None
        while not self.stopping.wait(0.02):
            began = time.monotonic()
            try:
                answer = self.api.call("GET", "account/details", timeout=5)
                why = None if answer.status == 200 else answer.status
            except OSError as error:
                why = error
            self.count += 1
            if why is not None:
                self.failures.append((began, why))
                failed_at = failed_at or began
            elif failed_at:
                self.seconds += time.monotonic() - failed_at
                failed_at = None

    def end(self):
        self.stopping.set()
        self.thread.join()


class Runs:
    """Runs that are applied one after another, through the balancer; a request without service is repeated."""

    def __init__(self, api):
        self.api, self.runs, self.stopping = api, [], False
        self.workspace = api.workspace(auto_apply=True)
        self.configuration = api.upload(self.workspace, ONE)
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _patiently(self, act):
        while True:
            try:
                return act()
            except OSError:
                time.sleep(0.05)

    def _work(self):
        while not self.stopping:
            more = {"replace_addrs": ["terraform_data.one"]} if self.runs else {}
            run = self._patiently(lambda: self.api.run(self.workspace, self.configuration, **more))
            self.runs.append(run)
            while self._patiently(lambda: self.api.status(run)) not in ("applied", "errored", "canceled", "discarded"):
                time.sleep(0.02)

    def end(self):
        self.stopping = True
        self.thread.join()


@pytest.mark.parametrize("count", [2, 3])
def test_a_rolling_restart_loses_no_run_and_no_second_of_requests(scheduler, worker, notifier, tokens, request, gate, count):
    schedulers = [scheduler(stop_seconds=STOP_SECONDS) for _ in range(count)]
    balancer = Balancer(*[one.port for one in schedulers])
    request.addfinalizer(balancer.release)
    until(lambda: all(balancer.ready.values()), "the balancer sees all of them")
    api = Api(balancer.url, tokens["token"])
    worker(scheduler_url=balancer.url, slots=3, sandbox_bind=gate.folder), notifier(scheduler_url=balancer.url)
    workspace = api.workspace(auto_apply=True)
    held = api.run_files(workspace, {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n'})
    gate.wait()

    runs, requests = Runs(api), Requests(api)
    for one in schedulers:
        before = len(runs.runs)
        until(lambda before=before: len(runs.runs) > before + 1, "runs go on")
        one.restart()
        until(lambda: all(balancer.ready.values()), "it is ready again")
    before = len(runs.runs)
    until(lambda: len(runs.runs) > before + 1, "runs go on")
    requests.end(), runs.end()
    gate.open()
    api.wait_status(held, "applied")

    for run in runs.runs:
        assert api.status(run) == "applied", api.attributes(f"runs/{run}")
    print(f"{count} schedulers: {requests.count} requests, {len(requests.failures)} failed, {requests.seconds:.3f} s without service, {len(runs.runs)} runs")
    assert requests.seconds < 1, requests.failures
    assert requests.count > 100
