# SPDX-License-Identifier: MPL-2.0
"""An apply whose pod ends while no scheduler is reachable: with --rescue 1 its last state comes by the object store. The
manual's table of what happens to states is tested cell by cell, for pods without a volume and with the object store."""

import ctypes
import ctypes.util
import json
import os
import signal
import urllib.error
import urllib.request

import pytest

from support.configurations import applying
from support.fake_worker import FakeWorker
from support.gate import Gate
from support.http_proxy import HttpProxy
from support.pod import Pod
from support.proxy import Proxy, Wires
from support.runyard import KEYS, Scheduler
from support.servers import ObjectStore
from support.wait import until

LEASE = 3
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


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    store = ObjectStore(tmp_path_factory.mktemp("objects")).start()
    yield store
    store.release()


@pytest.fixture
def prefix(request):
    """Each test has a part of the bucket of its own."""
    return f"t{abs(hash(request.node.nodeid))}"


@pytest.fixture
def with_store(scheduler, objects, prefix):
    """with_store("objectStore") starts a scheduler with --rescue 1."""

    def start(setup="objectStore", rescue=1):
        options = {**objects.options(prefix), "rescue": rescue} if setup == "objectStore" else {}
        return scheduler(lease_seconds=LEASE, **options)

    return start


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
    assert not list(apply.pod.data.glob("unsent/*"))
    assert other.metric("runyard_worker_jobs_total", stage="apply") == 1 and apply.pod.applies() == 1


def test_a_result_that_nobody_takes_ends_the_hold(fronts, with_store, request, worker, gate):
    """The scheduler has every state, and then the worker's network is lost: the object has only the result."""
    scheduler = with_store()
    front = fronts(scheduler.port)
    apply = Apply(request.getfixturevalue("api"), worker, gate, scheduler_url=front.url, brokers="127.0.0.1:1")
    front.reply = lambda method, path: (503, [], b"") if path.endswith(("/result", "/heartbeat", "/register")) else None
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
    until(lambda: not objects.files(prefix) or ask("select delete_at < now() + interval '16 minutes' from rescues")[0][0], "it is due soon")
    ask("update rescues set delete_at = now()")
    until(lambda: not objects.files(prefix) and ask("select count(*) from rescues") == [(0,)], "it is deleted")


# ---- hostile objects ----


def seal(key, context, plain):
    """As common/crypto.h seals with key 1."""
    crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
    for name in ("EVP_CIPHER_CTX_new", "EVP_aes_256_gcm"):
        getattr(crypto, name).restype = ctypes.c_void_p
    nonce, tag, out, size = os.urandom(12), ctypes.create_string_buffer(16), ctypes.create_string_buffer(len(plain) + 16), ctypes.c_int()
    cipher = ctypes.c_void_p(crypto.EVP_CIPHER_CTX_new())
    assert crypto.EVP_EncryptInit_ex(cipher, ctypes.c_void_p(crypto.EVP_aes_256_gcm()), None, bytes.fromhex(key), nonce) == 1
    assert crypto.EVP_EncryptUpdate(cipher, None, ctypes.byref(size), context.encode(), len(context)) == 1
    assert crypto.EVP_EncryptUpdate(cipher, out, ctypes.byref(size), plain, len(plain)) == 1
    assert crypto.EVP_EncryptFinal_ex(cipher, None, ctypes.byref(size)) == 1
    assert crypto.EVP_CIPHER_CTX_ctrl(cipher, 16, 16, tag) == 1
    crypto.EVP_CIPHER_CTX_free(cipher)
    return (1).to_bytes(4, "big") + nonce + out.raw[:len(plain)] + tag.raw


def sealed(job, state, key=None, context=None, head=()):
    """A rescue object of the job, as its worker makes it."""
    line = json.dumps({"v": 1, "job": job["job"], "attempt": job["attempt"], "run": job["run"], "final": True, **dict(head)})
    return seal(key or job["rescue"]["key"], context or f"rescue:{job['job']}:{job['attempt']}", line.encode() + b"\n" + state)


def put(url, body, method="PUT"):
    request = urllib.request.Request(url, data=body, method=method, headers={"Content-Type": "application/octet-stream"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


STATE = json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": 7, "lineage": "of-a-rescue", "outputs": {}, "resources": []}).encode()


@pytest.fixture
def lost(with_store, request, tokens):
    """A lost apply: its workspace is held, and the worker has uploaded nothing."""
    scheduler = with_store()
    api = request.getfixturevalue("api")
    fake = FakeWorker(scheduler.url, tokens["agent-token"])
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, {"main.tf": ""})
    fake.plan(run)
    job = until(lambda: next((job for job in fake.claim() if job["run"] == run), None), "the apply waits")
    fake.on(job, "POST", "started")
    api.wait_status(run, "errored")
    return scheduler, api, workspace, job


def test_a_hostile_object_changes_nothing_and_a_valid_one_still_counts(lost, objects, prefix, ask):
    scheduler, api, workspace, job = lost
    url = job["rescue"]["url"]

    def state():
        return api.attributes(f"workspaces/{workspace}")["locked-reason"]

    assert state().startswith("Held")
    cut = sealed(job, STATE)[:-1]
    flipped = bytearray(sealed(job, STATE))
    flipped[40] ^= 1
    hostile = {
        "garbage": b"x" * 1000,
        "too short": b"y" * 20,
        "truncated": cut,
        "changed": bytes(flipped),
        "of another key": sealed(job, STATE, key="5a" * 32),
        "of another attempt": sealed(job, STATE, context=f"rescue:{job['job']}:{job['attempt'] + 1}"),
        "of another job": sealed(job, STATE, head={"job": "job-0000000000000000"}),
        "without a head": seal(job["rescue"]["key"], f"rescue:{job['job']}:{job['attempt']}", STATE),
        "not a state": sealed(job, b"not a state"),
        "with a result of another kind": sealed(job, STATE, head={"result": {"v": 1}}),
    }
    for number, (name, body) in enumerate(hostile.items(), 1):
        assert put(url, body) == 200, name
        ask("update rescues set look_at = now()")
        until(lambda: scheduler.metric("runyard_rescues_total", result="refused") == number, f"{name} is refused")
    lines = [line for line in scheduler.log_lines() if "a rescue object is refused" in line["msg"]]
    assert len(lines) == len(hostile) and all(line["run"] == job["run"] and line["why"] for line in lines)
    assert state().startswith("Held") and api.call("GET", f"workspaces/{workspace}/current-state-version").status == 404
    assert put(url, b"") == 200, "an empty object is none"
    assert put(url, sealed(job, STATE)) == 200
    ask("update rescues set look_at = now()")
    until(lambda: not (state() or "").startswith("Held"), "the hold ended")
    assert api.state(workspace)["lineage"] == "of-a-rescue"
    log = scheduler.process.log()
    assert job["rescue"]["key"] not in log and "X-Amz-Signature" not in log


def test_an_object_that_is_too_large_is_refused(lost, objects, prefix, ask):
    scheduler, api, workspace, job = lost
    assert put(job["rescue"]["url"], b"x") == 200
    (path,) = objects.files(prefix)
    os.truncate(path, (256 << 20) + (17 << 20))
    ask("update rescues set look_at = now(), seen = ''")
    until(lambda: any("larger than" in line.get("why", "") for line in scheduler.log_lines()), "it is refused")
    assert api.attributes(f"workspaces/{workspace}")["locked-reason"].startswith("Held")


def test_the_url_writes_one_object_and_reads_none(lost, objects, prefix, ask):
    """The worker has no more of the object store than that. The key is stored sealed."""
    scheduler, api, workspace, job = lost
    url, key = job["rescue"]["url"], job["rescue"]["key"]
    assert "X-Amz-Expires=604800" in url and objects.secret not in url
    name = url.partition("?")[0].rpartition("/")[2]
    assert put(url, b"1234") == 200
    assert put(url, None, "GET") == 403 and put(url, None, "DELETE") == 403
    assert put(url.replace(name, "f" * 32), b"1234") == 403
    ((row_key, stored),) = ask("select object_key, key_sealed from rescues")
    assert row_key.endswith(name) and key.encode() not in bytes(stored) and bytes.fromhex(key) not in bytes(stored)


# ---- jobs ----

PROBE = r"""
import os, re
mark = re.compile(b"X-Amz-Sign" + b"ature=[0-9a-f]{64}")
looked, found = 0, []
def look(path):
    global looked
    try:
        with open(path, "rb") as file:
            looked += 1
            if mark.search(file.read(1 << 24)):
                found.append(path)
    except OSError:
        pass
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid():
        continue
    for name in ("environ", "cmdline"):
        look(f"/proc/{pid}/{name}")
    try:
        regions = open(f"/proc/{pid}/maps").read()
        with open(f"/proc/{pid}/mem", "rb") as memory:
            looked += 1
            for start, end in re.findall(r"^(\w+)-(\w+) rw", regions, re.M):
                memory.seek(int(start, 16))
                if mark.search(memory.read(int(end, 16) - int(start, 16))):
                    found.append(f"memory of {pid}")
    except (OSError, ValueError, OverflowError):
        pass
for top in (os.getcwd(), "/job", "FOLDER"):
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                look(path)
print("PROBED", looked > 3, "FOUND", found)
"""


@pytest.mark.parametrize("kind", ["sandboxed", "none"])
def test_no_job_can_find_the_url_or_the_key(kind, with_store, request, worker, gate, sandbox, folder):
    """Not in variables, arguments, memory or files, even without a sandbox and as the worker's own account, and while the
    worker uses them."""
    scheduler = with_store()
    api = request.getfixturevalue("api")
    one = worker(sandbox="none" if kind == "none" else sandbox, **({"sandbox_bind": gate.folder} if kind != "none" else {}))
    gate.folder.chmod(0o755)
    gate.path.chmod(0o644)
    workspace = api.workspace(auto_apply=True)
    main = applying(f"{gate.command}; python3 probe.py")["main.tf"]
    run = api.run_files(workspace, {"main.tf": main, "probe.py": PROBE.replace("FOLDER", str(folder))})
    gate.wait()
    until(lambda: api.resources(workspace) == FIRST, "the first state is sent")
    scheduler.kill()
    gate.open()
    until(lambda: one.metric("runyard_worker_rescues_total", outcome="final") == 1, "the worker has used the URL")
    scheduler.start()
    found = until(lambda: [line for line in api.log(run, "apply").splitlines() if "PROBED" in line], "the job has looked")
    assert any("PROBED True FOUND []" in line for line in found), found
    assert "X-Amz-Signature" not in one.process.log()
    until(lambda: one.metric("runyard_worker_slots_busy") == 0, "its job has ended")


# ---- settings ----


def test_rescue_without_an_object_store_is_refused_at_the_start(database):
    for command in ((), ("check",)):
        done = Scheduler.run_command(*command, check=False, database_url=database, keys=KEYS, rescue=1)
        assert done.returncode == 1 and "--rescue 1 needs an object store" in done.stdout + done.stderr


def test_a_scheduler_without_rescue_gives_no_object(with_store, request, tokens, objects, prefix, ask):
    """A worker of this version gets the claim of an earlier scheduler."""
    scheduler = with_store(rescue=0)
    api, fake = request.getfixturevalue("api"), FakeWorker(scheduler.url, tokens["agent-token"])
    run = api.run_files(api.workspace(auto_apply=True), {"main.tf": ""})
    fake.plan(run)
    (job,) = until(fake.claim, "the apply waits")
    assert job["stage"] == "apply" and "rescue" not in job and ask("select count(*) from rescues") == [(0,)]
    fake.end(job)
