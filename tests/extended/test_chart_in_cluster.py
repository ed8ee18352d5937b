# SPDX-License-Identifier: MPL-2.0
"""The Helm chart at a real API server with PodSecurity `restricted`: what it accepts, rollouts, evictions. No container runs."""

import json
import shutil
import subprocess

import pytest

from support import chart
from support.chart import CASES, CHART, EXAMPLES, built, case, objects, render, source
from support.cluster import Cluster, warnings
from support.site import new_folder
from support.wait import until

SETTINGS = {name: case(name) for name in CASES} | {"example": EXAMPLES / "values.yaml"}
SANDBOXED = {"full": "runyard-worker-sandboxed", "example": "runyard-worker-default"}


@pytest.fixture(scope="module")
def cluster():
    folder = new_folder("cluster")
    cluster = Cluster(folder)
    try:
        cluster.start()
        for module, crds in chart.VENDORS.values():
            for path in (source(module) / crds).glob("*.yaml"):
                if "kind: CustomResourceDefinition\n" in path.read_text():
                    done = cluster.kubectl("apply", "--server-side", "-f", path)
                    assert done.returncode == 0, done.stderr
        cluster.namespace("runyard")
        for group, kind in (("keda.sh/v1alpha1", "scaledobjects"), ("monitoring.coreos.com/v1", "servicemonitors"), ("gateway.networking.k8s.io/v1", "httproutes"), ("postgresql.cnpg.io/v1", "clusters")):
            until(lambda: cluster.get(f"/apis/{group}/{kind}") is not None, f"{kind} are served", every=0.2)
        yield cluster
    finally:
        cluster.release()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def release(cluster):
    """release(command, argument...) calls helm for a release in a namespace of its own."""
    number = sum(one["metadata"]["name"].startswith("release-") for one in cluster.get("/api/v1/namespaces")["items"])
    namespace = cluster.namespace(f"release-{number + 1}")

    def call(command, *arguments, chart_folder=CHART):
        return [built("helm") / "helm", f"--kubeconfig={cluster.kubeconfig}", "--namespace", namespace, command, "runyard", *([chart_folder] if chart_folder else []), *arguments]

    def run(command, *arguments):
        done = subprocess.run(call(command, *arguments), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.namespace, run.call = namespace, call
    yield run
    subprocess.run(call("uninstall", "--no-hooks", chart_folder=None), capture_output=True)


def dry_run(cluster, one, validate="strict"):
    return cluster.kubectl("apply", "--server-side", "--dry-run=server", f"--validate={validate}", "-f", "-", text=json.dumps(one))


# ---- what the API server accepts ----


@pytest.mark.parametrize("name", SETTINGS)
def test_every_object_is_accepted_without_warnings(cluster, name):
    """A sandboxed pool is the exception: its Deployment is accepted, its pods are not `restricted`."""
    for one in render(SETTINGS[name]):
        done = dry_run(cluster, one)
        assert done.returncode == 0, done.stderr
        expected = one["kind"] in ("Deployment", "StatefulSet") and one["metadata"]["name"] == SANDBOXED.get(name)
        assert bool(warnings(done.stderr)) == expected, (one["kind"], one["metadata"]["name"], done.stderr)


def test_pods_of_a_sandboxed_pool_need_a_namespace_that_allows_them(cluster, release):
    rendered = {one["metadata"]["name"]: one for one in render(SETTINGS["full"]) if one["kind"] == "Deployment"}
    template = rendered["runyard-worker-sandboxed"]["spec"]["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": release.namespace, "labels": template["metadata"]["labels"]}, "spec": template["spec"]}
    refused = dry_run(cluster, pod)
    assert refused.returncode != 0 and 'violates PodSecurity "restricted' in refused.stderr
    cluster.namespace(release.namespace, **{f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "warn", "audit")})
    allowed = dry_run(cluster, pod)
    assert allowed.returncode == 0 and not warnings(allowed.stderr), allowed.stderr


@pytest.mark.parametrize("kind, right, wrong", [("Deployment", "readinessProbe", "readynessProbe"), ("ScaledObject", "cooldownPeriod", "cooldownPeriode"),
                                                ("NetworkPolicy", "policyTypes", "policyType"), ("ServiceMonitor", "endpoints", "endpoint")])
def test_a_misspelt_key_is_refused(cluster, kind, right, wrong):
    one = next(one for one in render(SETTINGS["full"]) if one["kind"] == kind)
    done = dry_run(cluster, json.loads(json.dumps(one).replace(f'"{right}"', f'"{wrong}"')))
    assert done.returncode != 0 and wrong in done.stderr, done.stderr


def test_the_database_of_the_example_is_accepted(cluster):
    (one,) = objects((EXAMPLES / "cloudnativepg.yaml").read_text())
    done = dry_run(cluster, one)
    assert done.returncode == 0 and not warnings(done.stderr), done.stderr


# Checks of kube-score that the chart does not pass, with the reasons.
NOT_DONE = (
    "container-resources",  # a limit of CPU slows a job down
    "container-ephemeral-storage-request-and-limit",  # a pod that exceeds the limit is evicted without grace
    "container-image-pull-policy",  # tags are versions, which do not change
    "deployment-has-host-podantiaffinity", "statefulset-has-host-podantiaffinity",  # topologySpreadConstraints do that
    "deployment-replicas",  # KEDA sets those of scaled pools
)


def test_kube_score_finds_nothing_critical():
    """The network policies of pods of ScaledJobs have no pods that kube-score knows."""
    text = "---\n".join(json.dumps(one) + "\n" for one in render(SETTINGS["full"]) if one["kind"] not in ("ScaledJob", "ConfigMap") and one["metadata"]["name"] != "runyard-worker-jobs")
    ignored = [part for name in NOT_DONE for part in ("--ignore-test", name)]
    done = subprocess.run([built("kube-score") / "kube-score", "score", "--kubernetes-version", "v1.34", "--output-format", "ci", *ignored, "-"], input=text, capture_output=True, text=True)
    assert "[OK]" in done.stdout and "[CRITICAL]" not in done.stdout, [line for line in done.stdout.splitlines() if "CRITICAL" in line]


# ---- releases ----


def test_nothing_is_installed_before_the_database_is_migrated(cluster, release):
    helm = subprocess.Popen(release.call("install", "--values", SETTINGS["minimal"], "--timeout", "170s"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        (pod,) = cluster.wait_running(release.namespace, 1)
        assert pod["metadata"]["labels"]["app.kubernetes.io/component"] == "migration"
        assert not cluster.get(f"/apis/apps/v1/namespaces/{release.namespace}/deployments")["items"]
        status, _ = cluster.call("PATCH", f"/api/v1/namespaces/{release.namespace}/pods/{pod['metadata']['name']}/status", {"status": {"phase": "Succeeded"}}, "application/merge-patch+json")
        assert status == 200
        out, err = helm.communicate(timeout=170)
        assert helm.returncode == 0, err
    finally:
        helm.kill()
    assert "Jobs run without a sandbox" in out and "runyard-scheduler bootstrap" in out
    cluster.wait_running(release.namespace, 6)


def budget(cluster, namespace, name):
    return cluster.get(f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/{name}")["status"]


def test_evictions_leave_one_scheduler_and_take_one_worker(cluster, release):
    release("install", "--values", SETTINGS["minimal"], "--no-hooks", "--set", "worker.defaults.replicas=3")
    cluster.wait_running(release.namespace, 7)
    for component, count in (("scheduler", 2), ("notifier", 2), ("worker", 3)):
        names = [pod["metadata"]["name"] for pod in cluster.running(release.namespace, component)]
        assert len(names) == count
        name = "runyard-worker-default" if component == "worker" else f"runyard-{component}"
        until(lambda: budget(cluster, release.namespace, name).get("disruptionsAllowed") == 1, f"{name} allows one disruption")
        status, _ = cluster.evict(release.namespace, names[0])
        assert status == 201
        status, answer = cluster.evict(release.namespace, names[1])
        assert status == 429 and "disruption budget" in answer["message"]
    # New pods run, and evictions go on.
    cluster.wait_running(release.namespace, 7)
    until(lambda: budget(cluster, release.namespace, "runyard-worker-default")["disruptionsAllowed"] == 1, "the next worker may go")


def test_a_rollout_never_has_less_than_two_schedulers(cluster, release):
    release("install", "--values", SETTINGS["minimal"], "--no-hooks")
    cluster.wait_running(release.namespace, 6)
    release("upgrade", "--values", SETTINGS["minimal"], "--no-hooks", "--set", "image.tag=next")
    seen = []

    def rolled_out():
        found = cluster.running(release.namespace, "scheduler")
        seen.append(len(found))
        return len(found) == 2 and all(pod["spec"]["containers"][0]["image"] == "runyard:next" for pod in found)

    until(rolled_out, "all schedulers are new", every=0.05)
    assert min(seen) >= 2 and max(seen) <= 3


def test_a_pool_with_volumes_keeps_its_names(cluster, release):
    release("install", "--values", SETTINGS["minimal"], "--no-hooks", "--set", "worker.defaults.state=volume")
    cluster.wait_running(release.namespace, 6)
    claims = sorted(one["metadata"]["name"] for one in cluster.get(f"/api/v1/namespaces/{release.namespace}/persistentvolumeclaims")["items"])
    assert claims == ["data-runyard-worker-default-0", "data-runyard-worker-default-1"]
    cluster.kubectl("-n", release.namespace, "scale", "statefulset/runyard-worker-default", "--replicas=1")
    cluster.wait_running(release.namespace, 5)
    assert "runyard-worker-default-0" in [pod["metadata"]["name"] for pod in cluster.running(release.namespace)]
    assert len(cluster.get(f"/api/v1/namespaces/{release.namespace}/persistentvolumeclaims")["items"]) == 2
