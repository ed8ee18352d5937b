# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Some allocations in libraries fail: the process continues, or exits with that message and is restarted. Acknowledged
data is not lost."""

import http.client
import os
import threading

import pytest

from support.alloc_faults import EXITING_LIBRARIES, LIBRARIES, Supervisor, AllocationFaults
from support.api import FINAL, tar_gz
from support.wait import until

LEASE = 4
SEED = int(os.environ.get("RUNYARD_SEED", "1"))
FILES = {"main.tf": 'resource "terraform_data" "one" {\n  input = "one"\n}\n'}
BROKEN = (OSError, http.client.HTTPException)


class Clients:
    """Clients that send requests all the time and remember the acknowledgements."""

    def __init__(self, api, count=2):
        self.api = api
        self.stop = threading.Event()
        self.workspaces, self.variables, self.requests, self.wrong = [], [], 0, []
        self.threads = [threading.Thread(target=self.keep_requesting, args=(number,)) for number in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def ask(self, method, path, body=None):
        """The acknowledged document; None if the connection broke or the answer was 503."""
        self.requests += 1
        try:
            answer = self.api.call(method, path, body)
        except BROKEN:
            return None
        try:
            document = answer.json
        except ValueError:
            document = {}
        if answer.status >= 400 and (answer.status < 500 or not document.get("errors")):
            self.wrong.append(f"{method} {path}: {answer.status} {answer.text[:300]}")
        return document["data"] if answer.status < 300 and document else None

    def keep_requesting(self, number):
        turn = 0
        while not self.stop.is_set():
            turn += 1
            attributes = {"name": f"created-{number}-{turn}"}
            created = self.ask("POST", f"organizations/{self.api.organization}/workspaces", {"data": {"type": "workspaces", "attributes": attributes}})
            if not created:
                continue
            self.workspaces.append(created["id"])
            attributes = {"key": "secret", "value": "hidden", "category": "env", "sensitive": True}
            variable = self.ask("POST", f"workspaces/{created['id']}/vars", {"data": {"type": "vars", "attributes": attributes}})
            if variable:
                self.variables.append((created["id"], variable["id"]))
            self.ask("GET", f"organizations/{self.api.organization}/workspaces")

    def check(self):
        assert not self.wrong, self.wrong[:5]
        for workspace in self.workspaces:
            self.api.get(f"workspaces/{workspace}")
        for workspace, variable in self.variables:
            assert variable in [shown["id"] for shown in self.api.get(f"workspaces/{workspace}/vars").data]


def passes(call):
    """Repeats a callback until it is answered, as a persistent service does."""
    call.answer()

    def answered():
        try:
            return call.back("passed").status < 500
        except BROKEN:
            return False

    until(answered, "the callback is answered")


def rarely(*row):
    return pytest.param(*row, marks=pytest.mark.extended)


# One call in how many fails: libraries that allocate for each request make far more calls than others.
@pytest.mark.parametrize("which, libraries, one_in, failures", [
    ("scheduler", LIBRARIES, 400, 6), ("worker", EXITING_LIBRARIES, 100, 2), ("notifier", "by TLS program", 4000, 2),
    rarely("scheduler", "program", 20000, 2), rarely("scheduler", EXITING_LIBRARIES, 150, 2), rarely("scheduler", "by TLS " + LIBRARIES, 2000, 6),
    rarely("worker", "by TLS program", 5000, 2), rarely("notifier", EXITING_LIBRARIES, 100, 2)])
def test_no_acknowledged_data_is_lost_while_allocations_fail(which, libraries, one_in, failures, scheduler, worker, notifier, receiver, folder, request):
    faults = AllocationFaults(folder, SEED, libraries.removeprefix("by TLS "))
    more = {name: {"environment": faults.environment} if name == which else {} for name in ("scheduler", "worker", "notifier")}
    if libraries.startswith("by TLS"):
        authority = request.getfixturevalue("authority")
        more["scheduler"] |= authority.serving()
        more["worker"] |= {"ca_file": authority.file}
        more["notifier"] |= {"ca_file": authority.file}
    services = {"scheduler": scheduler(lease_seconds=LEASE, **more["scheduler"])}
    api = request.getfixturevalue("api")
    services["notifier"] = notifier(**more["notifier"])
    services["worker"] = worker(**more["worker"])
    service = receiver.service(passes)
    service.trust = api.trust
    task = api.task(service)
    workspaces = [api.workspace(auto_apply=True) for _ in range(4)]
    for workspace in workspaces:
        api.attach(workspace, task, "pre_plan")
    configurations = [api.upload(workspace, FILES) for workspace in workspaces]
    runs = [api.run(workspace, configuration) for workspace, configuration in zip(workspaces, configurations)]

    with Supervisor(services[which], faults, one_in) as supervisor, Clients(api) as clients:
        supervisor.until(lambda: faults.failed >= failures and clients.requests >= 60, lambda: f"{faults.failed} calls failed, {clients.requests} requests")
    print(f"\n{which}: {faults.failed} calls failed, it exited {supervisor.restart_count} times; {clients.requests} requests, {len(clients.workspaces)} workspaces")

    clients.check()
    for run in runs:
        until(lambda run=run: api.status(run) in FINAL, lambda run=run: f"{run} is {api.status(run)}")
    if which != "worker":  # a worker that exits during an apply leaves a lost apply, whose run says so
        assert {api.status(run) for run in runs} == {"applied"}


def test_a_failed_allocation_is_no_reason_to_refuse_an_upload(scheduler, folder, request):
    """Each of an upload's first allocations in the libraries fails in turn."""
    faults = AllocationFaults(folder, SEED, libraries="libmicrohttpd libpq")
    service = scheduler(environment=faults.environment)
    api = request.getfixturevalue("api")
    workspace = api.workspace()
    archive = tar_gz(FILES)
    body = {"data": {"type": "configuration-versions", "attributes": {"auto-queue-runs": False}}}

    def put(url):
        try:
            return api.call("PUT", url, archive, headers={"Content-Type": "application/octet-stream"}).status
        except BROKEN:
            return None

    for number in [*range(1, 20), *range(20, 60, 4)]:
        version = api.post(f"workspaces/{workspace}/configuration-versions", body).data
        url = version["attributes"]["upload-url"]
        with Supervisor(service, faults, -number):
            status = put(url)
        assert status is None or status < 300 or status >= 500, f"call {number}: {status}"
        shown = api.attributes(f"configuration-versions/{version['id']}")["status"]
        assert shown == "uploaded" or (shown == "pending" and (status or 500) >= 500), f"call {number}: answered {status}, it is {shown}"
        if shown == "pending":
            assert put(url) == 200
    assert faults.failed >= 10
