# SPDX-License-Identifier: MPL-2.0
"""The network access of a job: not to its worker's machine or other jobs, but to the API, DNS and the destinations
that the operator permits."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from support.api import Api
from support.gate import Gate
from support.resolver import Resolver, WithResolver
from support.runyard import Worker
from support.site import release_all
from support.wait import until

# Connects to each [host, port] of its argument and prints the outcome. libc resolves the host.
PROBE = """
import errno, json, socket, sys, time
for host, port in json.loads(sys.argv[1]):
    began = time.monotonic()
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as one:
            one.settimeout(20)
            one.connect(address)
        came = "connected"
    except OSError as why:
        came = errno.errorcode.get(why.errno, repr(why))
    print("PROBE", json.dumps([host, port, came, round(time.monotonic() - began, 2)]), flush=True)
"""

QUICK = 5  # seconds; a time-out takes 20


@pytest.fixture(scope="module")
def isolated(site):
    """The file's worker, whose jobs have networks of their own."""
    (started,) = [line for line in site.worker.log_lines() if line["msg"] == "worker started"][-1:]
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox jobs have the worker's network")
    assert started["job-network"] == "isolated", site.worker.process.log()
    return site


@pytest.fixture
def another(site, folder):
    """Stops the file's worker and starts one with more options in its place."""
    created = []

    def make(start=True, kind=Worker, **options):
        worker = kind(f"worker-{len(created) + 2}", folder, **{**site.worker.options, "data_dir": folder / f"data-{len(created)}", **options})
        created.append(worker.launch())
        return worker.start_waiting() if start else worker

    site.worker.stop()
    yield make
    release_all(created)
    site.worker.start()


def provisioner(script):
    return {"main.tf": 'resource "terraform_data" "script" {\n  provisioner "local-exec" {\n    command = "sh ${path.root}/script.sh 2>&1"\n  }\n}\n',
            "script.sh": script, "probe.py": PROBE}


def start_script(api, script, workspace=None):
    """A run whose apply runs the script in a provisioner."""
    return api.run_files(workspace or api.workspace(auto_apply=True), provisioner(script))


def printed(api, run):
    lines = [json.loads(line) for line in api.log(run, "apply").splitlines() if line.startswith("{")]
    return "\n".join(line["hook"]["output"] for line in lines if line["type"] == "provision_progress")


def run_script(api, script):
    run = start_script(api, script)
    api.wait_status(run, "applied")
    return printed(api, run)


def start_confirmed_script(api, script):
    """Like start_script(), with a confirmation: the plan's job has ended, and its network is free, before the apply's begins."""
    run = start_script(api, script, api.workspace())
    api.wait_status(run, "planned")
    api.post(f"runs/{run}/actions/apply", {})
    return run


def run_confirmed_script(api, script):
    run = start_confirmed_script(api, script)
    api.wait_status(run, "applied")
    return printed(api, run)


def probe_results(text):
    return {(host, port): (came, seconds) for host, port, came, seconds in map(json.loads, re.findall(r"PROBE (.*)", text))}


def probe(api, targets):
    """{(host, port): (outcome, seconds)}."""
    came = probe_results(run_script(api, f"python3 probe.py '{json.dumps(list(targets))}'\n"))
    assert set(came) == set(targets)
    return came


class Listener:
    """Accepts connections on one address and keeps them open without an answer."""

    def __init__(self, address="0.0.0.0", port=0):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.create_server((address, port), family=family, dualstack_ipv6=address == "::")
        self.port = self.socket.getsockname()[1]
        self.taken = []
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        while True:
            try:
                self.taken.append(self.socket.accept()[0])
            except OSError:
                return

    def close(self):
        for one in (self.socket, *self.taken):
            one.close()


@pytest.fixture
def listen():
    created = []

    def make(*where):
        created.append(Listener(*where))
        return created[-1]

    yield make
    for one in created:
        one.close()


def own_addresses():
    """This machine's addresses, except loopback and link-local ones."""
    said = subprocess.run(["ip", "-json", "address"], check=True, capture_output=True, text=True).stdout
    return [at["local"] for link in json.loads(said) for at in link["addr_info"] if at["scope"] == "global"]


# ---- denied ----


def loopback_targets(four, six):
    """The notations of this machine's own addresses."""
    return [(host, four) for host in ("127.0.0.1", "127.0.0.2", "127.1", "0.0.0.0", "2130706433", "0x7f000001", "017700000001", "::ffff:127.0.0.1")] + [
        (host, six) for host in ("::1", "::", "0:0:0:0:0:0:0:1", "localhost")]  # which may be either address


def test_a_job_can_not_reach_the_workers_machine(isolated, listen, postgres, redis):
    """Its loopback, its services, and its own addresses, in every form."""
    api, four = isolated.api, listen("0.0.0.0").port
    six = listen("::").port
    services = [("127.0.0.1", port) for port in (postgres.port, redis.port, isolated.worker.port)]
    brokers = [("127.0.0.1", int(isolated.worker.options["brokers"].split(":")[1]))]
    own = [(address, six if ":" in address else four) for address in own_addresses()]
    targets = [*loopback_targets(four, six), *services, *brokers, *own]
    for host, port in targets:  # these are reachable from the host
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as one:
            one.connect((host if host not in ("2130706433", "0x7f000001", "017700000001", "127.1") else "127.0.0.1", port))
    for target, (came, seconds) in probe(api, targets).items():
        assert came in ("ECONNREFUSED", "EACCES") and seconds < QUICK, (target, came, seconds)
    for target, (came, _) in probe(api, own).items():
        assert came == "EACCES", (target, came)


def test_a_job_without_isolation_reaches_the_workers_machine(isolated, another, listen, postgres, redis):
    """The services that other tests must not reach do exist."""
    another(job_network="host")
    four, six = listen("0.0.0.0").port, listen("::").port
    targets = [*loopback_targets(four, six), ("127.0.0.1", postgres.port), ("127.0.0.1", redis.port), *((address, six if ":" in address else four) for address in own_addresses())]
    came = probe(isolated.api, targets)
    assert {what for what, _ in came.values()} == {"connected"}, came


DENIED = ["169.254.169.254", "::ffff:169.254.169.254", "169.254.0.1", "0xa9fea9fe", "2852039166", "168.63.129.16", "100.100.100.200", "0.0.0.1", "fd00:ec2::254", "fd20:ce::254", "fe80::1%net0",
          "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"]


def test_link_local_and_metadata_addresses_are_denied(isolated):
    came = probe(isolated.api, [(host, 80) for host in DENIED])
    for (host, _), (what, seconds) in came.items():
        assert what == "EACCES" and seconds < QUICK, (host, what, seconds)


def test_a_job_can_not_send_multicast(isolated):
    script = """
import socket
for family, group in ((socket.AF_INET, "224.0.0.251"), (socket.AF_INET, "239.1.2.3"), (socket.AF_INET6, "ff02::fb"), (socket.AF_INET6, "ff05::1:3"), (socket.AF_INET6, "ff0e::1")):
    try:
        socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", (group, 5353))
        print("SENT", group)
    except OSError as why:
        print("REFUSED", group, why)
"""
    said = run_script(isolated.api, f"cat >sends.py <<'END'\n{script}END\npython3 sends.py\n")
    assert said.count("REFUSED") == 5 and "SENT" not in said, said


# ---- permitted ----


def test_a_job_reaches_the_api(isolated):
    target = ("127.0.0.1", isolated.scheduler.port)
    assert probe(isolated.api, [target])[target][0] == "connected"


def test_a_job_reaches_only_allowed_addresses_and_ports(isolated, another, listen):
    """Other ports and other denied destinations stay denied."""
    allowed, other, at_own = listen("127.0.0.1").port, listen("127.0.0.1").port, listen("0.0.0.0").port
    own = next(address for address in own_addresses() if ":" not in address)
    another(job_network_allow=f"127.0.0.1:{allowed}, {own}:{at_own}", job_network_deny=f"192.0.2.128/25,{own}")
    targets = {("127.0.0.1", allowed): "connected", ("localhost", allowed): "connected", ("127.0.0.1", other): "ECONNREFUSED",
               (own, at_own): "connected", (own, allowed): "EACCES", (own, other): "EACCES", ("192.0.2.129", 80): "EACCES"}
    came = probe(isolated.api, targets)
    assert {target: what for target, (what, _) in came.items()} == targets


def test_invalid_allow_and_deny_lists_are_refused(isolated, another):
    for option, entry in (("job_network_allow", "127.0.0.0/8"), ("job_network_allow", "127.0.0.1"), ("job_network_allow", "127.0.0.2:80"), ("job_network_allow", "[::1]"),
                          ("job_network_allow", "example.com"), ("job_network_deny", "10.0.0.0/33"), ("job_network_deny", "10.0.0.1:0"), ("job_network", "1")):
        refused = another(start=False, **{option: entry})
        assert refused.process.ended() == 2 and option.replace("_", "-") in refused.process.log(), (option, entry)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root binds port 53 and mounts a resolv.conf")
def test_a_job_uses_a_resolver_on_the_loopback(isolated, another):
    resolver = Resolver(lambda name: "192.0.2.77")
    before = Path("/etc/resolv.conf").read_text()
    another(kind=WithResolver, resolver=resolver)
    said = run_script(isolated.api, f"cat /etc/resolv.conf; getent ahostsv4 one.test; python3 probe.py '[[\"{resolver.at}\", 53]]'\n")
    resolver.release()
    assert "192.0.2.77" in said and resolver.at not in said.split("PROBE")[0] and "search example.com" in said, said
    assert probe_results(said)[(resolver.at, 53)][0] == "ECONNREFUSED"
    assert Path("/etc/resolv.conf").read_text() == before


# ---- between jobs ----

LISTENS = """
import socket, subprocess
kept = [socket.create_server(("0.0.0.0", 5599)), socket.create_server(("::", 5598), family=socket.AF_INET6), socket.socket(socket.AF_UNIX)]
kept[2].bind("\\0runyard-between-jobs")
kept[2].listen()
print("LISTENS", flush=True)
subprocess.run(["cat", "%s"])
"""

LOOKS = """
import socket
for family, address in ((socket.AF_INET, ("127.0.0.1", 5599)), (socket.AF_INET, ("192.0.0.2", 5599)), (socket.AF_INET6, ("::1", 5598)), (socket.AF_INET6, ("fd72:756e:7961:7264::2", 5598)),
                        (socket.AF_UNIX, "\\0runyard-between-jobs")):
    try:
        socket.socket(family).connect(address)
        print("REACHED", address)
    except OSError as why:
        print("MISSED", address, why)
"""


def test_concurrent_jobs_can_not_reach_each_other(isolated, folder, another):
    """Both listen on the same ports, at the same time."""
    api = isolated.api
    gates = [Gate(folder, "first"), Gate(folder, "second")]
    another(slots=2, sandbox_bind=",".join(str(gate.folder) for gate in gates))
    listens = [f"cat >listens.py <<'END'\n{LISTENS % gate.path}END\n" for gate in gates]
    first = start_script(api, f"{listens[0]}python3 listens.py\n")
    gates[0].wait()
    second = start_script(api, f"cat >looks.py <<'END'\n{LOOKS}END\npython3 looks.py\n{listens[1]}python3 listens.py\n")
    gates[1].wait()
    for gate in gates:
        gate.open()
    for run in (first, second):
        api.wait_status(run, "applied")
        assert "LISTENS" in printed(api, run)
    said = printed(api, second)
    assert said.count("MISSED") == 5 and "REACHED" not in said, said


# Prints a job's view of its network. Counters are left out, and so are link-local routes, which the kernel adds a second late.
SNAPSHOT = """
echo BEGIN
readlink /proc/self/ns/net
tail -n +2 /proc/net/route; cut -c1-41 /proc/net/if_inet6; awk '!/^(fe80|ff)/ { print $1, $2, $5, $10 }' /proc/net/ipv6_route | sort; grep -v '^ *sl' /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 | grep -c ' 0A '
grep -c '@' /proc/net/unix
ip -4 rule; ip -6 rule; ip -4 address; cat /proc/sys/net/ipv4/ip_local_port_range /proc/sys/net/ipv4/ping_group_range
echo END
"""

CHANGES = """
ip route add 169.254.169.254/32 dev net0 && echo CHANGED route
ip route replace default via 192.0.0.3 && echo CHANGED default
ip rule del pref 1000 && echo CHANGED rule
ip rule add pref 1 lookup main && echo CHANGED rule
ip addr add 127.0.0.9/32 dev lo && echo CHANGED address
ip link set net0 mtu 1000 && echo CHANGED link
ip link add veth9 type veth && echo CHANGED veth
nft add table inet runyard && echo CHANGED nft
iptables -A OUTPUT -j DROP && echo CHANGED iptables
echo 1024 1025 >/proc/sys/net/ipv4/ip_local_port_range && echo CHANGED sysctl
python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' && echo CHANGED packet
python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)' && echo CHANGED raw
unshare -U -r ip rule add pref 1 lookup main && echo CHANGED rule as root of its own
nsenter --net=/proc/1/ns/net ip rule add pref 1 lookup main && echo CHANGED rule by nsenter
for fd in /proc/self/fd/*; do readlink $fd; done | grep -E 'net:|user:' && echo HELD a namespace
true
"""

LEAVES = """
import os, socket, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        kept = [socket.create_server(("0.0.0.0", 5599)), socket.create_server(("::", 5598), family=socket.AF_INET6), socket.socket(socket.AF_UNIX)]
        kept[2].bind("\\0runyard-between-jobs")
        kept[2].listen()
        open("listens", "w").close()
        for fd in range(3):
            os.close(fd)
        time.sleep(600)
    os._exit(0)
while not os.path.exists("listens"):
    time.sleep(0.01)
print("LEFT")
"""


def snapshot(text):
    return re.search(r"BEGIN\n(.*?)END", text, re.S).group(1)


def test_the_next_job_gets_the_network_in_its_initial_state(isolated, another):
    """Jobs of one organization share a network one after the other."""
    worker = another(slots=1)
    first = run_confirmed_script(isolated.api, f"{SNAPSHOT}\n{CHANGES}\ncat >leaves.py <<'END'\n{LEAVES}END\npython3 leaves.py\n")
    assert "LEFT" in first and "CHANGED" not in first and "HELD" not in first, first
    before = pastas(worker)
    second = run_confirmed_script(isolated.api, f"{SNAPSHOT}\ncat >looks.py <<'END'\n{LOOKS}END\npython3 looks.py\n")
    assert snapshot(second) == snapshot(first)  # with the namespace's number, so it is the same network
    assert set(before) <= set(pastas(worker))
    assert second.count("MISSED") == 5 and "REACHED" not in second, second


def other_organization(site):
    site.api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": "other", "email": "other@example.com"}}})
    return Api(site.scheduler.url, site.tokens["token"], organization="other")


def used_namespace(api):
    return run_confirmed_script(api, "readlink /proc/self/ns/net\n").splitlines()[-1]


def namespaces(worker):
    """The network namespaces that the worker can give to jobs."""
    links = [os.readlink(at) for at in Path(f"/proc/{worker.pid}/fd").iterdir()]
    return {link for link in links if link.startswith("net:")}


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root reads the worker's descriptors")


@needs_root
def test_a_prepared_network_serves_one_organization(isolated, another):
    """Each organization keeps the network that it got, and the worker replaces it."""
    worker = another(slots=2)
    prepared = until(lambda: of_number(2, namespaces(worker)), "the networks are prepared")
    first = used_namespace(isolated.api)
    until(lambda: of_number(3, namespaces(worker)), "a network is prepared in its place")
    second = used_namespace(other_organization(isolated))
    assert first in prepared and second != first
    assert used_namespace(isolated.api) == first
    assert prepared <= until(lambda: of_number(4, namespaces(worker)), "two organizations' networks and two prepared ones")


@needs_root
def test_a_prepared_network_ends_when_the_machine_has_changed(isolated, another):
    resolver = Resolver(lambda name: "192.0.2.77")
    worker = another(kind=WithResolver, resolver=resolver, slots=1)
    until(lambda: of_number(1, namespaces(worker)), "a network is prepared")
    prepared = pastas(worker)
    (worker.folder / "resolv.conf").write_text("nameserver 169.254.1.1\n")
    used_namespace(isolated.api)
    until(lambda: all_ended(prepared), "the prepared network has ended")
    resolver.release()


@needs_root
def test_a_prepared_network_that_fails_is_replaced(isolated, another):
    worker = another(slots=1)
    until(lambda: of_number(1, namespaces(worker)), "a network is prepared")
    prepared = pastas(worker)
    kill_all(prepared)
    until(lambda: all_ended(prepared) and pastas(worker) and namespaces(worker), "another network is prepared")
    used_namespace(isolated.api)
    assert len([line for line in worker.log_lines() if "prepared network failed" in line["msg"]]) == 1


# ---- its end ----


def below(pid):
    """{pid: name} of the processes below one."""
    found = {}
    for one in Path("/proc").glob("[0-9]*"):
        try:
            name, parent = re.search(r"\((.*)\) \S (\d+)", (one / "stat").read_text()).groups()
        except (OSError, AttributeError):
            continue
        found[int(one.name)] = (name, int(parent))
    return {one: name for one, (name, _) in found.items() if pid in ancestors(found, one)}


def ancestors(found, pid):
    while pid in found:
        pid = found[pid][1]
        yield pid


def pastas(worker):
    return [pid for pid, name in below(worker.pid).items() if name.startswith(("pasta", "passt"))]


def kill_all(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def of_number(number, found):
    return found if len(found) == number else None


def all_ended(pids):
    return not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_a_job_fails_with_a_reason_when_its_pasta_is_killed(isolated, another, listen):
    """It ends although it waits for an answer on a connection that is never closed."""
    silent, own = listen("0.0.0.0"), next(address for address in own_addresses() if ":" not in address)
    worker = another(slots=1, job_network_allow=f"{own}:{silent.port}", job_stop_seconds=2)
    run = start_confirmed_script(isolated.api, f"python3 -c 'import socket; socket.create_connection((\"{own}\", {silent.port})).recv(1)'\n")
    until(lambda: silent.taken, "the job is connected")
    kill_all(pastas(worker))
    isolated.api.wait_status(run, "errored")
    assert "network ended" in isolated.api.attributes(f"runs/{run}")["error"]
    assert run_script(isolated.api, "echo fine\n").strip().endswith("fine")


@pytest.mark.parametrize("how", ["cancel", "kill", "stop"])
def test_no_pasta_is_left_after_a_job_or_its_worker_ends(isolated, another, folder, how):
    gate = Gate(folder)
    worker = another(slots=1, sandbox_bind=gate.folder)
    run = start_confirmed_script(isolated.api, f"{gate.command}\n")
    gate.wait()
    processes = below(worker.pid)
    assert "runyard-network" in processes.values() and pastas(worker), processes
    if how == "cancel":
        isolated.api.act(run, "cancel")
        isolated.api.wait_status(run, "canceled")
        gate.open()
        worker.stop()
    elif how == "kill":
        worker.kill()
        gate.open()
    else:
        gate.open()
        isolated.api.wait_status(run, "applied")
        assert worker.stop() == 0
    until(lambda: all_ended(processes), "all child processes of the worker have ended")


# ---- machines with restrictions ----


@pytest.fixture
def without_pasta(folder, monkeypatch):
    """A machine on which pasta can't create a network."""
    fake = folder / "pasta"
    fake.write_text("#!/bin/sh\necho no device here >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def started(worker):
    return [line for line in worker.log_lines() if line["msg"] == "worker started"][-1]


def test_jobs_share_the_machines_network_if_isolation_is_impossible(isolated, another, without_pasta):
    shared = another()
    assert started(shared)["job-network"] == "host"
    (why,) = [line["why"] for line in shared.log_lines() if "share this machine's network" in line["msg"]]
    assert "no device here" in why and "/dev/net/tun" in why
    shared.stop()
    refused = another(start=False, job_network="isolated")
    assert refused.process.ended() == 1 and "no device here" in refused.process.log()
