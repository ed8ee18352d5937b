# SPDX-License-Identifier: MPL-2.0
"""KEDA scales pools by the metrics of real schedulers. The pods run nowhere; the tests do their work."""

import ctypes
import datetime
import os
import shutil
import subprocess

import pytest

from support import keda
from support.chart import CHART, built, case
from support.cluster import Cluster
from support.fake_worker import FakeWorker
from support.kcat import produce
from support.site import new_folder
from support.wait import until

CLONE_NEWNET = 0x40000000
PORT = 9464
ADDRESSES = "192.0.2.1", "192.0.2.2"  # an EndpointSlice has no addresses of the loopback network
COOLDOWN = 4
WORKERS = "runyard-worker-default"


@pytest.fixture(scope="session", autouse=True)
def network():
    """A network of this process's own, in which the schedulers have addresses: before any server is started. The programs are built first, since it leads nowhere."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a network with addresses for the schedulers")
    for name in ("helm", "kubernetes", "etcd", "kwok", "keda"):
        built(name)
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    assert libc.unshare(CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
    try:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        for address in ADDRESSES:
            subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)
        yield
    finally:
        assert libc.setns(before, CLONE_NEWNET) == 0
        os.close(before)


@pytest.fixture(scope="module")
def cluster(network):
    folder = new_folder("cluster")
    cluster = Cluster(folder)
    try:
        keda.start(cluster.start())
        yield cluster
    finally:
        cluster.release()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def schedulers(scheduler):
    return [scheduler(metrics_listen=f"{address}:{PORT}") for address in ADDRESSES]


class Pool:
    """A release of the chart, whose pool KEDA scales."""

    def __init__(self, cluster, namespace):
        self.cluster, self.namespace = cluster, namespace

    def install(self, *settings):
        scaling = {"enabled": "true", "pool": "default", "max": 4, "pollingSeconds": 1, "cooldownSeconds": COOLDOWN, "scaleDownSeconds": 0}
        options = [part for setting in (*(f"worker.defaults.autoscaling.{name}={value}" for name, value in scaling.items()), *settings) for part in ("--set", setting)]
        done = subprocess.run([built("helm") / "helm", f"--kubeconfig={self.cluster.kubeconfig}", "--namespace", self.namespace, "install", "runyard", CHART, "--no-hooks",
                               "--values", case("minimal"), *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        keda.publish(self.cluster, self.namespace, "runyard-metrics", ADDRESSES, PORT)
        return self

    @property
    def replicas(self):
        return self.cluster.get(f"/apis/apps/v1/namespaces/{self.namespace}/deployments/{WORKERS}")["spec"]["replicas"]

    @property
    def scaled(self):
        return self.cluster.get(f"/apis/keda.sh/v1alpha1/namespaces/{self.namespace}/scaledobjects/{WORKERS}")

    def wait(self, count):
        """Waits for that number of workers. The pods of workers are bound, so that they run."""

        def scaled():
            self.cluster.bind(self.namespace)
            return self.replicas == count

        until(scaled, lambda: f"{count} workers are wanted, of {self.replicas}: {self.scaled.get('status')}", every=0.1)

    def stays(self, count):
        """KEDA looks for longer than the cooldown, and the number is the same each time."""
        first = until(self.active, "KEDA has noted that it is active")

        def looked():
            assert self.replicas == count
            return self.active() > first + datetime.timedelta(seconds=2 * COOLDOWN)

        until(looked, "the cooldown passes", every=0.2)

    def active(self):
        """When KEDA last found something to do; None: not yet."""
        at = self.scaled["status"].get("lastActiveTime")
        return at and datetime.datetime.fromisoformat(at)


@pytest.fixture
def pool(cluster):
    number = sum(one["metadata"]["name"].startswith("pool-") for one in cluster.get("/api/v1/namespaces")["items"])
    pool = Pool(cluster, cluster.namespace(f"pool-{number + 1}"))
    yield pool
    cluster.kubectl("-n", pool.namespace, "delete", "scaledobject,scaledjob", "--all")


def queue(api, count):
    """That many runs, each with a job that waits."""
    return [api.run_files(api.workspace(), {"main.tf": ""}) for _ in range(count)]


def test_from_zero_to_many_and_back(schedulers, pool, api, tokens):
    """A job that takes longer than the cooldown keeps its worker."""
    pool.install().wait(0)
    queue(api, 3)
    pool.wait(3)
    workers = [FakeWorker(schedulers[0].url, tokens["agent-token"], name=f"worker-{number}") for number in range(3)]
    jobs = [until(worker.claim, "there is a job to claim")[0] for worker in workers]
    for worker, job in list(zip(workers, jobs))[:2]:
        worker.result(job, "failed", error="enough")
    pool.wait(1)
    pool.stays(1)
    workers[2].result(jobs[2], "failed", error="enough")
    pool.wait(0)


def test_a_run_that_waits_for_a_person_keeps_no_worker(schedulers, pool, api, worker):
    pool.install().wait(0)
    run = api.run_files(api.workspace(), {"main.tf": 'resource "terraform_data" "one" {}'})
    pool.wait(1)
    worker()
    api.wait_status(run, "planned")
    pool.wait(0)
    assert api.status(run) == "planned"
    api.act(run, "apply")
    api.wait_status(run, "applied")


def test_without_schedulers_a_pool_keeps_its_workers(schedulers, pool, api):
    pool.install().wait(0)
    queue(api, 2)
    pool.wait(2)
    for one in schedulers:
        one.stop()
    until(lambda: [one for one in pool.scaled["status"]["conditions"] if one["type"] == "Fallback" and one["status"] == "True"], "the fallback holds", every=0.2)
    assert pool.replicas == 2


def test_a_pool_of_jobs_gets_one_for_each_slot(schedulers, pool, api, tokens):
    """A Job that runs counts: KEDA makes no second one for its slot."""
    pool.install("worker.defaults.isolation=job")
    queue(api, 2)
    jobs = f"/apis/batch/v1/namespaces/{pool.namespace}/jobs"
    until(lambda: len(pool.cluster.get(jobs)["items"]) == 2, "there is a Job for each run", every=0.2)
    workers = [FakeWorker(schedulers[0].url, tokens["agent-token"], name=f"worker-{number}") for number in range(2)]
    claimed = [until(worker.claim, "there is a job to claim")[0] for worker in workers]
    pool.cluster.wait_running(pool.namespace, 2, "worker")
    queue(api, 1)
    until(lambda: len(pool.cluster.get(jobs)["items"]) == 3, "the third run has a Job", every=0.2)
    for worker, job in zip(workers, claimed):
        worker.result(job, "failed", error="enough")


@pytest.mark.kafka
def test_lag_alone_wakes_one_worker(schedulers, pool, api, bus, ask):
    """The chart refuses a pool with lag alone. Here its second trigger is the only one."""
    ((pool_id,),) = ask("select id from agent_pools where name = 'default'")
    queue(api, 1)
    topic = f"runyard.jobs.{pool_id}"
    produce(bus, topic, *({"number": number} for number in range(999)))
    pool.install("worker.defaults.autoscaling.kafka.enabled=true", f"worker.defaults.autoscaling.kafka.poolId={pool_id}", f"kafka.bootstrap={bus.options['brokers']}")
    wakes = pool.scaled["spec"]["triggers"][1]
    status, _ = pool.cluster.call("PATCH", f"/apis/keda.sh/v1alpha1/namespaces/{pool.namespace}/scaledobjects/{WORKERS}", {"spec": {"triggers": [wakes]}}, "application/merge-patch+json")
    assert status == 200
    pool.wait(1)
    pool.stays(1)
