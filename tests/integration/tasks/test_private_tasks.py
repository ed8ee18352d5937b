# SPDX-License-Identifier: MPL-2.0
"""Run tasks whose requests a worker of an agent pool sends (request forwarding), with a service in a network that only
this worker reaches."""

import os
import socket

import pytest

from support.pending_tasks import PendingTasks
from support.private_network import SERVICES, PrivateNetwork
from support.receiver import Receiver, says
from support.runyard import Worker
from support.wait import until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces")
CHANGES = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def network():
    network = PrivateNetwork()
    yield network
    network.release()


@pytest.fixture
def far_receiver(network):
    """Services in the network."""
    receiver = Receiver(network.listener()).start()
    yield receiver
    receiver.release()


@pytest.fixture
def forwarder(folder, network, scheduler, bus):
    """forwarder(token, option=value...) starts a worker in the network that forwards requests, and runs no jobs."""
    started = []

    def start(token, **options):
        name = f"far-{len(started) + 1}"
        settings = {"scheduler_url": scheduler.all[0].url, "agent_token": token, "brokers": "", "name": name, "data_dir": folder / name,
                    "request_forwarding": 1, "vcs_allow": SERVICES, "engine": "/nonexistent", **options}
        started.append(network.worker(name, folder, **settings))
        return started[-1].start()

    yield start
    for worker in started:
        worker.release()


@pytest.fixture
def far_api(network, scheduler, request):
    """A client of a scheduler that listens at the network's link."""
    scheduler(address=network.outside)
    return request.getfixturevalue("api")


@pytest.fixture
def pending_tasks(database, far_api, bus):
    pending_tasks = PendingTasks(database, far_api, bus)
    yield pending_tasks
    pending_tasks.release()


def no_worker(name):
    return f'no worker of the agent pool "{name}" with request forwarding is there'


# ---- with a network that only the worker reaches ----


def test_a_run_passes_a_task_that_only_the_worker_reaches(far_api, far_receiver, forwarder, notifier, worker):
    api = far_api
    service = far_receiver.service(says("passed", "from afar"))
    with pytest.raises(OSError):
        socket.create_connection((SERVICES, far_receiver.port), timeout=1).close()
    pool, token = api.pool("far")
    forwarder(token)
    worker()
    notifier()
    task = api.task(service, agent_pool=pool)
    assert service.tests, "the worker sent the test request"
    workspace = api.workspace(auto_apply=True)
    api.attach(workspace, task, "post_plan")
    run = api.run_files(workspace, CHANGES)
    api.wait_status(run, "applied")
    result = api.task_result(run, "post_plan")
    shown = result["attributes"]
    assert (shown["status"], shown["message"], shown["agent-pool-id"]) == ("passed", "from afar", pool)
    assert [delivery["status"] for delivery in api.deliveries(result)] == [200]


def test_a_task_waits_for_a_worker_of_its_pool(far_api, far_receiver, forwarder, notifier, worker):
    """Until then it needs no test request, and the run shows what it waits for."""
    api = far_api
    service = far_receiver.service(says("passed"))
    pool, token = api.pool("far")
    worker(request_forwarding=1)  # the shared pool's worker never sends it
    notifier()
    workspace = api.workspace(auto_apply=True)
    api.attach(workspace, api.task(service, agent_pool=pool), "pre_plan")
    run = api.run_files(workspace, CHANGES)
    until(lambda: api.task_results(run, "pre_plan") and api.task_result(run, "pre_plan")["attributes"]["delivery-error"] == no_worker("far"), "the run shows what its task waits for")
    assert not service.tests and not service.calls
    forwarder(token)
    api.wait_status(run, "applied")
    assert api.task_result(run, "pre_plan")["attributes"]["delivery-error"] is None
    assert len(service.calls) == 1


def test_a_task_fails_if_no_worker_comes_in_time(far_api, notifier, pending_tasks):
    pool, _ = far_api.pool("far")
    notifier()
    (id,) = pending_tasks.add(f"http://{SERVICES}:1/", give_up=3, pool=pool)
    assert pending_tasks.ended(id) == "unreachable"
    assert pending_tasks.column(id, "message") == f"The request could not be delivered: {no_worker('far')}"
