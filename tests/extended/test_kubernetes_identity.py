# SPDX-License-Identifier: MPL-2.0
"""A real kube-apiserver that knows runs by their identities."""

import shutil
import uuid

import pytest

from support.chart import built
from support.cluster import Cluster
from support.identity_page import pasted
from support.identity_site import ROLES, open_identity_site
from support.site import new_folder

# Waits until the API server has read the issuer's keys. Prints the user as the API server knows it, whether it may read, and whether it may write.
LOOK = """
run() {{ {kubectl} --server={url} --insecure-skip-tls-verify --token=$KUBE_TOKEN --namespace=default "$@"; }}
until run auth whoami; do sleep 1; done
run get configmaps && echo $PHASE reads
run create configmap $PHASE-{name} && echo $PHASE writes
true
"""


@pytest.fixture(scope="module")
def folder():
    folder = new_folder("cluster")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(folder):
    """Not started yet: it needs the issuer."""
    server = Cluster(folder)
    yield server
    server.release()


@pytest.fixture(scope="module")
def site(postgres, sandbox, engine, cluster):
    port = int(cluster.url.rpartition(":")[2])
    with open_identity_site(postgres, sandbox, engine, [port], [built("kubernetes")], cluster.authority) as site:
        yield site


def test_a_plan_reads_and_an_apply_writes(site, cluster, tmp_path):
    """By the documents of the identity page, as copied, with the authority of the scheduler's certificate."""
    name = f"w-{uuid.uuid4().hex[:6]}"
    place = site.workspace(name, LOOK.format(kubectl=built("kubernetes") / "kubectl", url=cluster.url, name=name), {})
    shown = {"id": place, "organization": "acme", **site.api.get(f"workspaces/{place}/workload-identity").data["attributes"]}
    texts, variables = pasted(tmp_path, "kubernetes", shown)
    authority = "".join(f"      {line}\n" for line in cluster.authority.file.read_text().splitlines())
    cluster.start(authentication=texts["The issuer, once in a cluster"].replace("    audiences:\n", f"    certificateAuthority: |\n{authority}    audiences:\n"))
    for title in ("Rights of plans", "Rights of applies"):
        done = cluster.kubectl("apply", "-f", "-", text=texts[title].replace("NAMESPACE", "default"))
        assert done.returncode == 0, done.stderr
    for key, value in variables.items():
        site.api.variable(place, key, value, category="env")
    logs = dict(zip(ROLES, site.applied(place)))
    for phase in ROLES:
        assert f"runyard:{shown[f'{phase}-subject']}" in logs[phase] and f"{phase} reads" in logs[phase]
    assert "apply writes" in logs["apply"]
    assert "plan writes" not in logs["plan"] and "is forbidden" in logs["plan"]
