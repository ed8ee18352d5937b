# SPDX-License-Identifier: MPL-2.0
# label: extended
"""An apply whose pod ends while no scheduler is reachable: with --rescue 1 its last state comes by the object store. The
manual's table of what happens to states is tested cell by cell, for pods without a volume and with the object store."""

import json
import signal

import pytest

from support.configurations import applying
from support.gate import Gate
from support.http_proxy import HttpProxy
from support.pod import Pod
from support.proxy import Proxy, Wires
from support.wait import until

BOTH = ["terraform_data.first", "terraform_data.second"]
FIRST = ["terraform_data.first"]
THIRD = """
resource "terraform_data" "third" {
  depends_on = [terraform_data.second]
  provisioner "local-exec" {
    command = "%s"
  }
}
"""
each_setup = pytest.mark.parametrize("setup", ["emptyDir", "objectStore"])


def written(pod):
    """The names of the resources in the states that terraform has written in the pod."""
    names = set()
    for path in pod.data.glob("jobs/*/root/state/*.tfstate"):
        try:
            names |= {resource["name"] for resource in json.loads(path.read_text())["resources"]}
        except ValueError:
            continue
    return names


class Apply:
    """A run whose apply waits at the gate with one of two resources created, and a run that waits behind it."""

    def __init__(self, api, worker, gate, binds=(), more="", **options):
        self.api, self.gate = api, gate
        self.workspace = api.workspace(auto_apply=True)
        self.pod = Pod(worker, sandbox_bind=",".join(map(str, [gate.folder, *binds])), **options)
        files = applying(f"trap '' INT; {gate.command}")
        self.run = api.run_files(self.workspace, {"main.tf": files["main.tf"] + more})
        self.after = api.run(self.workspace, is_destroy=True, auto_apply=False)
        gate.wait()
        until(lambda: api.resources(self.workspace) == FIRST, "the first state is sent")

    @property
    def shown(self):
        return self.api.attributes(f"workspaces/{self.workspace}")

    def held(self):
        return (self.shown["locked-reason"] or "").startswith(f"Held after {self.run}")

    def rescued(self, outcome):
        until(lambda: self.pod.worker.metric("runyard_worker_rescues_total", outcome=outcome) >= 1, f"the object store has its state ({outcome})")

    def check_delivered(self):
        """The hold ended with the last state, and the next run plans from it."""
        self.api.wait_status(self.after, "planned")
        assert self.api.resources(self.workspace) == BOTH and not self.held()
        assert self.api.attributes(f"plans/{self.api.sibling(self.after, 'plan')}")["resource-destructions"] == 2
        assert self.pod.applies() == 1

    def check_held(self, resources=FIRST):
        """No acknowledged state is lost, and the hold says why nothing starts."""
        self.api.wait_status(self.run, "errored")
        until(self.held, "the workspace is held")
        assert self.api.resources(self.workspace) == resources
        assert self.api.status(self.after) == "pending"
        self.api.post(f"workspaces/{self.workspace}/actions/force-unlock")
        self.api.wait_status(self.after, "planned")
        assert self.api.resources(self.workspace) == resources and self.pod.applies() == 1


# ---- the table ----


@each_setup
def test_a_container_that_restarts_delivers_its_state(setup, with_store, request, worker, gate):
    scheduler = with_store(setup)
    apply = Apply(request.getfixturevalue("api"), worker, gate)
    apply.pod.restart()
    apply.api.wait_status(apply.run, "errored")
    until(lambda: apply.pod.worker.metric("runyard_worker_states_pending") == 0, "nothing waits to be delivered")
    apply.api.wait_status(apply.after, "planned")
    assert apply.api.resources(apply.workspace) == FIRST and not apply.held() and apply.pod.applies() == 1
    assert scheduler.metric("runyard_rescues_total") == 0


@each_setup
def test_a_pod_that_drains_in_time_leaves_nothing(setup, with_store, request, worker, gate, objects, prefix, ask):
    with_store(setup)
    apply = Apply(request.getfixturevalue("api"), worker, gate)
    apply.pod.worker.process.send(signal.SIGTERM)
    gate.open()
    assert apply.pod.ended() == 0
    apply.api.wait_status(apply.run, "applied")
    apply.pod.replace()
    apply.check_delivered()
    assert not objects.files(prefix)


@each_setup
def test_a_pod_that_ends_during_an_outage_of_the_scheduler(setup, with_store, request, worker, gate, objects, prefix):
    """The last state and the result wait in the object store. Without it they are lost with the pod."""
    scheduler = with_store(setup)
    apply = Apply(request.getfixturevalue("api"), worker, gate, drain_seconds=1, job_stop_seconds=1)
    scheduler.kill()
    gate.open()
    until(lambda: written(apply.pod) >= {"first", "second"}, "terraform has written its state")
    status = apply.pod.end()
    assert status == (1 if setup == "objectStore" else 3)
    if setup == "objectStore":
        (path,) = objects.files(prefix)
        assert b"terraform" not in path.read_bytes() and b"{" != path.read_bytes()[:1], "the object shows no plain text"
    scheduler.start()
    apply.pod.replace()
    if setup == "emptyDir":
        apply.check_held()
        return
    apply.check_delivered()
    assert apply.api.status(apply.run) == "errored"
    assert scheduler.metric("runyard_rescues_total", result="delivered") == 1
    until(lambda: not objects.files(prefix), "the object is deleted")


@each_setup
def test_a_pod_that_is_killed_during_an_outage_of_the_scheduler(setup, with_store, request, worker, gate, folder):
    """The uploaded state becomes the workspace's. What the apply did later is unknown, so the workspace stays held."""
    last = Gate(folder, "last")
    scheduler = with_store(setup)
    apply = Apply(request.getfixturevalue("api"), worker, gate, binds=[last.folder], more=THIRD % last.command)
    scheduler.kill()
    gate.open()
    last.wait()
    until(lambda: written(apply.pod) >= {"first", "second"}, "terraform has written its state")
    if setup == "objectStore":
        apply.rescued("state")
    apply.pod.lose()
    scheduler.start()
    apply.pod.replace()
    if setup == "objectStore":
        until(lambda: apply.api.resources(apply.workspace) == BOTH, "the uploaded state arrived")
        until(lambda: scheduler.metric("runyard_rescues_total", result="state") >= 1, "it came by the object store")
    apply.check_held(BOTH if setup == "objectStore" else FIRST)


# ---- a worker that comes back ----


@pytest.fixture
def wires():
    wires = Wires()
    yield wires
    wires.release()


@pytest.fixture
def fronts():
    """fronts(port): an HTTP proxy in front of that server, which outlives the test's processes."""
    made = []

    def make(port):
        made.append(HttpProxy(port))
        return made[-1]

    yield make
    for front in made:
        front.release()


def states_of(api, workspace):
    return [(state["id"], state["attributes"]["status"]) for state in api.get("state-versions", **{"filter[workspace][name]": api.attributes(f"workspaces/{workspace}")["name"], "filter[organization][name]": "acme", "filter[status]": "finalized"}).data]


def test_a_worker_that_comes_back_after_its_rescue_changes_nothing(wires, with_store, request, worker, gate):
    """Only its network was away. It sends the same result and the same state again."""
    scheduler = with_store()
    api, proxy = request.getfixturevalue("api"), Proxy(wires, scheduler.port)
    apply = Apply(api, worker, gate, scheduler_url=f"http://127.0.0.1:{proxy.port}", brokers="127.0.0.1:1")
    proxy.break_as("cut")
    gate.open()
    apply.rescued("final")
    other = worker()
    api.wait_status(apply.after, "planned")
    assert api.resources(apply.workspace) == BOTH and not apply.held()
    before = states_of(api, apply.workspace)
    api.act(apply.after, "apply")
    api.wait_status(apply.after, "applied")
    after = states_of(api, apply.workspace)
    proxy.heal()
    until(lambda: apply.pod.worker.metric("runyard_worker_states_pending") == 0 and apply.pod.worker.metric("runyard_worker_slots_busy") == 0, "it has delivered everything")
    until(lambda: apply.pod.worker.metric("runyard_worker_results_kept") == 0, "its result is confirmed")
    assert states_of(api, apply.workspace) == after != before
    assert api.resources(apply.workspace) == [] and not apply.held() and not api.events(apply.run, "state-detached")
    until(lambda: not list(apply.pod.data.glob("unsent/*")), "nothing is left to send")
    assert other.metric("runyard_worker_jobs_total", stage="apply") == 1 and apply.pod.applies() == 1


def test_a_result_that_nobody_takes_ends_the_hold(fronts, with_store, request, worker, gate):
    """The scheduler has every state, and then the worker's network is lost: the object has only the result."""
    scheduler = with_store()
    front = fronts(scheduler.port)
    apply = Apply(request.getfixturevalue("api"), worker, gate, scheduler_url=front.url, brokers="127.0.0.1:1")
    front.reply = lambda method, path: (503, [], b"") if path.endswith(("/result", "/heartbeat", "/register", "/wait", "/claim")) else None
    gate.open()
    apply.rescued("final")
    assert apply.pod.worker.metric("runyard_worker_states_pending") == 0
    worker()
    apply.check_delivered()
    until(lambda: scheduler.metric("runyard_rescues_total", result="delivered") == 1, "the object ended the hold")
    front.reply = lambda method, path: None
    until(lambda: apply.pod.worker.metric("runyard_worker_results_kept") == 0, "its result is confirmed")


def test_objects_of_ended_applies_are_deleted(with_store, request, worker, gate, objects, prefix, ask):
    """The outage was short: the worker delivers to the scheduler, and the object is not needed."""
    scheduler = with_store()
    apply = Apply(request.getfixturevalue("api"), worker, gate)
    scheduler.kill()
    gate.open()
    apply.rescued("final")
    assert len(objects.files(prefix)) == 1
    scheduler.start()
    until(lambda: apply.pod.worker.metric("runyard_worker_states_pending") == 0 and apply.pod.worker.metric("runyard_worker_slots_busy") == 0, "it has delivered everything")
    apply.api.wait_status(apply.after, "planned")
    scheduler.restart()  # its first pass begins at once, and the next one 15 s later
    until(lambda: not objects.files(prefix) or ask("select delete_at < now() + interval '16 minutes' from rescues")[0][0], "it is due soon")
    ask("update rescues set delete_at = now()")
    scheduler.restart()
    until(lambda: not objects.files(prefix) and ask("select count(*) from rescues") == [(0,)], "it is deleted")
