# SPDX-License-Identifier: MPL-2.0
"""Redis behind Sentinel, and Redis with TLS by stunnel."""

import pytest

from support.authority import Authority
from support.process import Process, answers, free_port, which
from support.receiver import acknowledges
from support.servers import Redis
from support.wait import until

CHANGES = {"main.tf": 'resource "terraform_data" "one" {\n  input = "hello"\n}\n'}


@pytest.fixture
def task(scheduler, worker, notifier, receiver, api):
    """task() starts a run that waits for a task's callback; the call that the service got."""
    service = receiver.service(acknowledges)

    def start():
        workspace = api.workspace(auto_apply=True)
        api.attach(workspace, api.task(service), "pre_plan")
        run = api.run_files(workspace, CHANGES)
        call = until(lambda: next((call for call in list(service.calls) if call["run_id"] == run), None), "the service is called")
        return run, call

    return start


def has_deadlines(server):
    return server.command("dbsize") not in ("0", "")


class Sentinel:
    def __init__(self, folder, master):
        self.port = free_port()
        configuration = folder / "sentinel.conf"
        configuration.write_text(f"port {self.port}\nbind 127.0.0.1\nsentinel monitor deadlines 127.0.0.1 {master.port} 1\n"
                                 "sentinel down-after-milliseconds deadlines 500\nsentinel failover-timeout deadlines 3000\n")
        self.process = Process("sentinel", [which("redis-server"), configuration, "--sentinel"], folder)
        self.process.launch()
        self.process.wait_until(lambda: answers(self.port), "takes connections")

    def replicas(self):
        """The number of replicas that the sentinel knows."""
        lines = Redis.command(self, "sentinel", "replicas", "deadlines").splitlines()
        return lines.count("role-reported")


@pytest.fixture
def pair(folder):
    """A master, its replica and a sentinel."""
    folders = [folder / name for name in ("master", "replica", "sentinel")]
    for path in folders:
        path.mkdir()
    master, replica = (Redis(path).start() for path in folders[:2])
    replica.command("replicaof", "127.0.0.1", str(master.port))
    sentinel = Sentinel(folders[2], master)
    until(lambda: "master_link_status:up" in replica.command("info", "replication"), "the replica has the data")
    until(lambda: sentinel.replicas() == 1, "the sentinel knows the replica")
    yield master, replica, sentinel
    for server in (sentinel, replica, master):
        server.process.stop()


def test_a_failover_by_sentinel(pair, api, worker, notifier, task):
    """The first sentinel is away. Deadlines of running tasks survive on the replica, and new ones are kept there."""
    master, replica, sentinel = pair
    worker()
    one = notifier(redis_url=f"redis+sentinel://127.0.0.1:{free_port()},127.0.0.1:{sentinel.port}/deadlines/0")
    run, call = task()
    until(lambda: has_deadlines(master), "the master has the deadline")
    until(lambda: has_deadlines(replica), "the replica has it")
    master.process.kill()
    until(lambda: "role:master" in replica.command("info", "replication"), "the replica is promoted")
    until(lambda: one.metric("runyard_notifier_redis_up") == 1, "the notifier is connected to it")
    assert call.back("passed").status == 200
    api.wait_status(run, "applied")
    later, again = task()
    until(lambda: has_deadlines(replica), "the new master has the next deadline")
    assert again.back("passed").status == 200
    api.wait_status(later, "applied")


@pytest.fixture
def encrypted(folder):
    """A Redis that accepts only TLS, and a stunnel in front of it with a plain port."""
    authority = Authority(folder)
    certificate, key = authority.issue("redis")
    server, port, tls_port = Redis(folder), free_port(), free_port()
    server.process.argv = [*map(str, server.process.argv), "--port", "0", "--tls-port", str(tls_port), "--tls-cert-file", str(certificate),
                           "--tls-key-file", str(key), "--tls-ca-cert-file", str(authority.file), "--tls-auth-clients", "no"]
    server.process.launch()
    server.process.wait_until(lambda: answers(tls_port), "takes connections")
    configuration = folder / "stunnel.conf"
    configuration.write_text(f"foreground = yes\npid =\n[redis]\nclient = yes\naccept = 127.0.0.1:{port}\nconnect = 127.0.0.1:{tls_port}\n"
                             f"CAfile = {authority.file}\nverifyChain = yes\ncheckHost = localhost\n")
    tunnel = Process("stunnel", ["stunnel", configuration], folder)
    tunnel.launch()
    tunnel.wait_until(lambda: answers(port), "takes connections")
    server.port = port
    yield server
    tunnel.stop()
    server.process.stop()


def test_tls_by_stunnel(encrypted, api, worker, notifier, task):
    worker()
    notifier(redis_url=encrypted.url)
    run, call = task()
    until(lambda: has_deadlines(encrypted), "Redis has the deadline")
    assert call.back("passed").status == 200
    api.wait_status(run, "applied")
