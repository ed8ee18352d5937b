# SPDX-License-Identifier: MPL-2.0
# label: extended
"""The objects and URLs of rescued applies: hostile ones, too large ones, and jobs that look for them."""

import ctypes
import ctypes.util
import json
import os
import urllib.error
import urllib.request

import pytest

from support.configurations import applying
from support.fake_worker import FakeWorker
from support.runyard import KEYS, Scheduler
from support.wait import until


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


def test_the_url_writes_one_object_and_reads_none_and_a_large_object_is_refused(lost, objects, prefix, ask):
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
    (path,) = objects.files(prefix)
    os.truncate(path, (256 << 20) + (17 << 20))
    ask("update rescues set look_at = now(), seen = ''")
    until(lambda: any("larger than" in line.get("why", "") for line in scheduler.log_lines()), "it is refused")
    assert api.attributes(f"workspaces/{workspace}")["locked-reason"].startswith("Held")


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
    until(lambda: api.resources(workspace) == ["terraform_data.first"], "the first state is sent")
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
