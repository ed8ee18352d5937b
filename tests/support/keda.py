# SPDX-License-Identifier: MPL-2.0
"""KEDA at a cluster without containers: its operator, and its adapter as the API of external metrics."""

import shutil

from support.chart import VENDORS, built, source
from support.process import clean_environment, free_port
from support.wait import until

NAMESPACE = "keda"


def start(cluster):
    """Starts KEDA. It reads the metrics of pods at the addresses of EndpointSlices."""
    module, definitions = VENDORS["keda.sh"]
    done = cluster.kubectl("apply", "--server-side", *(part for path in sorted((source(module) / definitions).glob("*.yaml")) for part in ("-f", path)))
    assert done.returncode == 0, done.stderr
    until(lambda: cluster.get("/apis/keda.sh/v1alpha1/scaledobjects") is not None, "ScaledObjects are served", every=0.2)
    cluster.namespace(NAMESPACE)
    certificates = cluster.folder / "keda"
    certificates.mkdir()
    certificate, key = cluster.authority.issue("keda", usage="serverAuth,clientAuth")
    for file, name in ((certificate, "tls.crt"), (key, "tls.key"), (cluster.authority.file, "ca.crt")):
        shutil.copy(file, certificates / name)
    environment = clean_environment(POD_NAMESPACE=NAMESPACE, WATCH_NAMESPACE="", KEDA_CLUSTER_OBJECT_NAMESPACE=NAMESPACE, KUBECONFIG=str(cluster.kubeconfig), HOME=str(cluster.folder))
    grpc, probe, api = free_port(), free_port(), free_port()
    operator = cluster.run("keda-operator", built("keda") / "operator", f"--kubeconfig={cluster.kubeconfig}", f"--cert-dir={certificates}", f"--ca-dir={certificates}",
                           "--enable-cert-rotation=false", "--metrics-bind-address=127.0.0.1:0", f"--health-probe-bind-address=127.0.0.1:{probe}",
                           f"--metrics-service-bind-address=127.0.0.1:{grpc}", "--zap-encoder=console", env=environment)
    operator.wait_until(lambda: "Starting workers" in operator.log(), "starts")
    adapter = cluster.run("keda-adapter", built("keda") / "adapter", f"--kubeconfig={cluster.kubeconfig}", f"--lister-kubeconfig={cluster.kubeconfig}",
                          f"--authentication-kubeconfig={cluster.kubeconfig}", f"--authorization-kubeconfig={cluster.kubeconfig}", f"--cert-dir={certificates}",
                          "--bind-address=127.0.0.1", f"--secure-port={api}", f"--metrics-service-address=localhost:{grpc}", f"--port={free_port()}",
                          f"--client-ca-file={certificates}/ca.crt", env=environment)
    cluster.apply(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "adapter", "namespace": NAMESPACE}, "spec": {"type": "ExternalName", "externalName": "localhost"}},
        {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1beta1.external.metrics.k8s.io"},
         "spec": {"group": "external.metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": True,
                  "service": {"name": "adapter", "namespace": NAMESPACE, "port": api}}})
    adapter.wait_until(lambda: cluster.get("/apis/external.metrics.k8s.io/v1beta1") is not None, "serves external metrics")


def publish(cluster, namespace, service, addresses, port):
    """Makes the addresses the ready endpoints of the Service, as the endpoints of its pods would be."""
    cluster.apply({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": service, "namespace": namespace, "labels": {"kubernetes.io/service-name": service}},
                   "addressType": "IPv4", "ports": [{"name": "metrics", "port": port, "protocol": "TCP"}],
                   "endpoints": [{"addresses": [address], "conditions": {"ready": True}} for address in addresses]})
