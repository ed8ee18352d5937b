# SPDX-License-Identifier: MPL-2.0
"""A Kubernetes cluster without containers: etcd, kube-apiserver, kube-controller-manager, and kwok in place of kubelets. The test binds pods to the node; kwok says that they
run. Every namespace enforces PodSecurity `restricted`, unless its label says otherwise."""

import json
import re
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from ssl import CERT_NONE, create_default_context

import yaml

from support.authority import Authority
from support.chart import built
from support.process import Process, clean_environment, free_port
from support.wait import until

TOKEN = "admin-token"
NODE = "node-1"
CONTROLLERS = ("deployment-controller", "replicaset-controller", "statefulset-controller", "job-controller", "disruption-controller", "horizontal-pod-autoscaler-controller",
               "garbage-collector-controller", "namespace-controller", "clusterrole-aggregation-controller")
# A pod runs at once and is ready. One that is deleted goes after the seconds of its annotation `test/drain`, as a worker does
# that finishes its jobs.
STAGES = [
    {"name": "pod-ready", "selector": [{"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}, {"key": ".status.podIP", "operator": "DoesNotExist"}],
     "next": {"statusTemplate": """
{{ $now := Now }}
conditions:
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: Initialized}
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: Ready}
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: ContainersReady}
containerStatuses:
{{ range .spec.containers }}
- {image: {{ .image | Quote }}, name: {{ .name | Quote }}, ready: true, restartCount: 0, imageID: "", state: {running: {startedAt: {{ $now | Quote }}}}}
{{ end }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}
phase: Running
startTime: {{ $now | Quote }}
"""}},
    {"name": "pod-delete", "selector": [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}], "next": {"finalizers": {"empty": True}, "delete": True},
     "delay": {"durationMilliseconds": 0, "durationFrom": {"expressionFrom": '.metadata.annotations["test/drain"]'}}},
]


class Cluster:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.kubeconfig = self._write("kubeconfig", self._config())
        self.trust = create_default_context()
        self.trust.check_hostname, self.trust.verify_mode = False, CERT_NONE
        self.processes = []
        self.authority = Authority(folder)

    # ---- the programs ----

    def _write(self, name, text):
        path = self.folder / name
        path.write_text(text if isinstance(text, str) else yaml.safe_dump_all(text) if isinstance(text, list) else yaml.safe_dump(text))
        return path

    def _config(self):
        return {"apiVersion": "v1", "kind": "Config", "current-context": "test", "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
                "clusters": [{"name": "test", "cluster": {"server": self.url, "insecure-skip-tls-verify": True}}], "users": [{"name": "admin", "user": {"token": TOKEN}}]}

    def run(self, name, *command, env=None):
        """Starts one more process of the cluster."""
        process = Process(name, command, self.folder, env=env or clean_environment())
        self.processes.append(process)
        return process.launch()

    def start(self):
        """All of it, with a node."""
        self.start_api()
        self.start_controllers()
        stages = [{"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": stage["name"]},
                   "spec": {"resourceRef": {"apiGroup": "v1", "kind": "Pod"}, "selector": {"matchExpressions": stage["selector"]}, "next": stage["next"],
                            **({"delay": stage["delay"]} if "delay" in stage else {})}} for stage in STAGES]
        self.run("kwok", built("kwok") / "kwok", f"--kubeconfig={self.kubeconfig}", "--manage-all-nodes=true", f"--config={self._write('stages.yaml', stages)}",
                 f"--server-address=127.0.0.1:{free_port()}")
        self.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
        return self

    def start_api(self, *options):
        """etcd and kube-apiserver, the latter with more options."""
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.run("etcd", built("etcd") / "server", "--data-dir", self.folder / "etcd", "--listen-client-urls", client, "--advertise-client-urls", client,
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}", "--unsafe-no-fsync", "--log-level", "warn")
        self._keys()
        proxy, proxy_key = self.authority.issue("front-proxy", usage="clientAuth")
        api = self.run("kube-apiserver", built("kubernetes") / "kube-apiserver", f"--etcd-servers={client}", f"--secure-port={self.port}",
                       "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--cert-dir={self.folder}/certificates", "--service-cluster-ip-range=10.0.0.0/24",
                       "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={self.folder}/sa.pub",
                       f"--service-account-signing-key-file={self.folder}/sa.key", f"--token-auth-file={self.folder}/tokens.csv", "--authorization-mode=RBAC",
                       "--enable-admission-plugins=PodSecurity", f"--admission-control-config-file={self.folder}/admission.yaml", "--disable-admission-plugins=ServiceAccount",
                       "--endpoint-reconciler-type=none", f"--requestheader-client-ca-file={self.authority.file}", "--requestheader-username-headers=X-Remote-User",
                       "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-", f"--proxy-client-cert-file={proxy}",
                       f"--proxy-client-key-file={proxy_key}", *options)
        api.wait_until(lambda: self.get("/readyz") == "ok", "is ready")

    def start_controllers(self):
        self.run("kube-controller-manager", built("kubernetes") / "kube-controller-manager", f"--kubeconfig={self.kubeconfig}", "--bind-address=127.0.0.1",
                 f"--secure-port={free_port()}", f"--cert-dir={self.folder}/controller-manager", "--leader-elect=false", f"--service-account-private-key-file={self.folder}/sa.key",
                 f"--controllers={','.join(CONTROLLERS)}", "--horizontal-pod-autoscaler-sync-period=2s", "--horizontal-pod-autoscaler-downscale-stabilization=1s")

    def _keys(self):
        for command in ("genrsa -out sa.key 2048", "rsa -in sa.key -pubout -out sa.pub"):
            subprocess.run(["openssl", *command.split()], cwd=self.folder, check=True, capture_output=True)
        self._write("tokens.csv", f"{TOKEN},admin,admin,system:masters\n")
        defaults = {mode: "restricted" for mode in ("enforce", "audit", "warn")}
        security = {"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration", "defaults": defaults, "exemptions": {}}
        self._write("admission.yaml", {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": [{"name": "PodSecurity", "configuration": security}]})

    def release(self):
        for process in reversed(self.processes):
            process.kill()
            process.popen.wait()

    # ---- its API ----

    def call(self, method, path, body=None, type="application/json"):
        """(status, answer)"""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Authorization": f"Bearer {TOKEN}", "Content-Type": type}, method=method)
        try:
            with urllib.request.urlopen(request, context=self.trust, timeout=30) as answer:
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        except OSError:
            return 0, ""
        return status, json.loads(text) if text.startswith("{") else text

    def get(self, path):
        status, answer = self.call("GET", path)
        return answer if status == 200 else None

    def kubectl(self, *arguments, text=None):
        return subprocess.run([built("kubernetes") / "kubectl", f"--kubeconfig={self.kubeconfig}", *map(str, arguments)], input=text, capture_output=True, text=True)

    def apply(self, *objects, options=()):
        """kubectl apply. Returns its output, warnings of the server included."""
        done = self.kubectl("apply", "--server-side", "--validate=strict", *options, "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def namespace(self, name, **labels):
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        return name

    def pods(self, namespace, component=None):
        """The pods, of a component of the chart if named, that are not being deleted."""
        selector = f"?labelSelector=app.kubernetes.io/component={component}" if component else ""
        listed = self.get(f"/api/v1/namespaces/{namespace}/pods{selector}")
        return [pod for pod in listed["items"] if "deletionTimestamp" not in pod["metadata"]]

    def bind(self, namespace):
        """Binds all waiting pods to the node, as kube-scheduler would."""
        for pod in self.get(f"/api/v1/namespaces/{namespace}/pods")["items"]:
            if not pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]:
                name = pod["metadata"]["name"]
                binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"apiVersion": "v1", "kind": "Node", "name": NODE}}
                self.call("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", binding)

    def running(self, namespace, component=None):
        """The pods that run, after waiting ones were bound."""
        self.bind(namespace)
        return [pod for pod in self.pods(namespace, component) if pod["status"].get("phase") == "Running"]

    def wait_running(self, namespace, count, component=None):
        return until(lambda: len(found := self.running(namespace, component)) == count and found, f"{count} pods run in {namespace}", every=0.2)

    def evict(self, namespace, pod):
        """The status of the answer to an eviction."""
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace}}
        return self.call("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction", body)


def warnings(output):
    return re.findall(r"^Warning: .*$", output, re.M)
