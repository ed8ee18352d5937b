# SPDX-License-Identifier: MPL-2.0
"""Runs as users of a real Kubernetes API server, which trusts their identities as the guide says."""

import re
import shutil
import uuid

import pytest
import yaml

from support.api import Api
from support.cluster import Cluster
from support.engine import each_engine
from support.identity_page import pasted
from support.identity_site import ROLES, open_identity_site, subject, with_variable
from support.runyard import Worker
from support.servers import ROOT
from support.site import new_folder
from support.wait import until

pytestmark = each_engine()

GUIDE = ROOT / "deploy/identity/kubernetes.md"
AUDIENCE = "kubernetes"
# Says who the server takes it for, and what it may do in the namespace. The token is in a file, or in the variable of the providers.
USE = """import http.client, json, os, ssl, sys, urllib.error, urllib.request
trust = ssl.create_default_context(cafile=os.environ["CLUSTER_CA"])
token = open(sys.argv[1]).read() if len(sys.argv) > 1 else os.environ["KUBE_TOKEN"]

def call(method, path, body=None):
    # On a busy machine the API server closes a connection now and then before it has read the request.
    for again in range(5, -1, -1):
        try:
            return call_once(method, path, body)
        except http.client.RemoteDisconnected:
            if not again:
                raise

def call_once(method, path, body):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["CLUSTER"] + path, data, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, context=trust) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, {}

maps, phase = f"/api/v1/namespaces/{os.environ['PLACE']}/configmaps", os.environ["PHASE"]
review = call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})[1]
user = review.get("status", {}).get("userInfo", {}).get("username", "nobody")
print(f"KUBERNETES {phase} is {user}: read {call('GET', maps)[0]}, write {call('POST', maps, {'metadata': {'name': f'of-{phase}'}})[0]}", flush=True)
"""


def documents(markdown):
    """The YAML of a guide."""
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", markdown, re.S)]


def guide(issuer, certificate):
    """Its document for kube-apiserver, with the reader's words replaced."""
    text = GUIDE.read_text().replace("https://RUNYARD", issuer).replace("ORGANIZATION", "acme")
    indented = "\n".join(f"        {line}" for line in certificate.strip().splitlines())
    return documents(re.sub(r"# (certificateAuthority: \|).*", lambda match: f"{match[1]}\n{indented}", text))[0]


@pytest.fixture(scope="module")
def cluster(engine):
    """It is started when the issuer that it trusts is known."""
    folder = new_folder("cluster")
    cluster = Cluster(folder)
    yield cluster
    cluster.release()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def site(postgres, sandbox, engine, cluster):
    """The API server trusts it."""
    certificate, key = cluster.authority.issue("kube-apiserver")
    with open_identity_site(postgres, sandbox, engine, [cluster.port], tls=True) as site:
        site.look = f"/usr/bin/python3 {site.program('use.py', USE)}"
        shutil.copy(cluster.authority.file, site.programs / "ca.pem")
        configuration = cluster.folder / "authentication.yaml"
        configuration.write_text(yaml.safe_dump(guide(site.scheduler.url, site.authority.file.read_text())))
        cluster.start_api(f"--authentication-config={configuration}", f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}")
        cluster.start_controllers()
        until(lambda: cluster.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/edit").get("rules"), "the roles have their rules")
        yield site


@pytest.fixture
def name(request, cluster):
    """Of a workspace, and of a namespace."""
    stem = re.sub(r"\W|_", "-", request.node.name.removeprefix("test_").partition("[")[0])[:40].strip("-")
    return cluster.namespace(f"{stem}-{uuid.uuid4().hex[:6]}")


def workspace(site, cluster, name, namespace=None, look=None, **variables):
    settings = {"TFC_KUBERNETES_PROVIDER_AUTH": "true", "TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE": AUDIENCE, "CLUSTER": cluster.url,
                "CLUSTER_CA": site.programs / "ca.pem", "PLACE": namespace or name}
    return site.workspace(name, look or site.look, {key: str(value) for key, value in {**settings, **variables}.items()})


def shown(site, tmp_path, place):
    """What the page of the workspace's identity says to paste, and the variables."""
    return pasted(tmp_path, "kubernetes", {"id": place, "organization": "acme", **site.api.get(f"workspaces/{place}/workload-identity").data["attributes"]})


def bind(site, cluster, tmp_path, place, namespace):
    """Gives plans and applies of the workspace the rights that the page proposes."""
    texts, _ = shown(site, tmp_path, place)
    cluster.apply(*[yaml.safe_load(texts[f"Rights of {phase}"].replace("NAMESPACE", namespace)) for phase in ("plans", "applies")])


def user(name, phase):
    return f"runyard:{subject(name, phase)}"


def test_plan_and_apply_are_two_users(site, cluster, name, tmp_path):
    """With the rights of the page: a plan reads the namespace, an apply also writes to it."""
    place = workspace(site, cluster, name)
    bind(site, cluster, tmp_path, place, name)
    logs = site.applied(place)
    for phase, write, log in zip(ROLES, (403, 201), logs):
        assert f"KUBERNETES {phase} is {user(name, phase)}: read 200, write {write}" in log, log
    maps = {one["metadata"]["name"] for one in cluster.get(f"/api/v1/namespaces/{name}/configmaps")["items"]}
    assert "of-apply" in maps and "of-plan" not in maps


def test_the_page_says_what_the_guide_says(site, cluster, name, tmp_path):
    """The API server got the guide's document. The page's lacks only the private CA."""
    place = workspace(site, cluster, name)
    texts, variables = shown(site, tmp_path, place)
    expected = guide(site.scheduler.url, site.authority.file.read_text())
    assert expected["jwt"][0]["issuer"].pop("certificateAuthority")
    assert yaml.safe_load(texts["The issuer, once in a cluster"]) == expected
    assert variables == {"TFC_KUBERNETES_PROVIDER_AUTH": "true", "TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE": AUDIENCE}


def test_the_run_of_another_workspace_has_no_rights(site, cluster, name, tmp_path):
    bind(site, cluster, tmp_path, workspace(site, cluster, name), name)
    other = f"other-{name}"
    for phase, log in zip(ROLES, site.applied(workspace(site, cluster, other, namespace=name))):
        assert f"KUBERNETES {phase} is {user(other, phase)}: read 403, write 403" in log, log


def test_an_identity_for_another_audience_is_refused(site, cluster, name, tmp_path):
    place = workspace(site, cluster, name, TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE="another-cluster")
    bind(site, cluster, tmp_path, place, name)
    for phase, log in zip(ROLES, site.applied(place)):
        assert f"KUBERNETES {phase} is nobody: read 401, write 401" in log, log


def test_each_tag_has_the_token_of_its_cluster(site, cluster, name, tmp_path):
    """In files, which configurations of the providers read."""
    place = workspace(site, cluster, name, look="true", TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE="another-cluster", TFC_KUBERNETES_PROVIDER_AUTH_EU="true",
                      TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE_EU=AUDIENCE)
    bind(site, cluster, tmp_path, place, name)
    files = (f"${{var.tfc_kubernetes_dynamic_credentials.{which}.token_path}}" for which in ("default", 'aliases["EU"]'))
    look = " && ".join(f"{site.look} {file}" for file in files)
    log = site.applied(place, with_variable("kubernetes", ["token_path"], look))[1]
    assert "KUBERNETES apply is nobody: read 401, write 401" in log and f"KUBERNETES apply is {user(name, 'apply')}: read 200, write 201" in log, log


def test_the_runs_of_another_organization_are_refused(site, cluster, name, tmp_path):
    """Although the site, the audience and the names of project and workspace are the same: the rule for the organization."""
    stranger = Api(site.scheduler.url, site.tokens["token"], f"o-{uuid.uuid4()}", trust=site.scheduler.trust)
    stranger.post("organizations", {"data": {"type": "organizations", "attributes": {"name": stranger.organization, "email": "admin@example.com"}}})
    pool, token = stranger.pool()
    worker = Worker("worker-2", site.folder, **{**site.worker.options, "agent_token": token, "name": "worker-2", "data_dir": site.folder / "worker-2"})
    api, site.api = site.api, stranger
    try:
        worker.start()
        place = workspace(site, cluster, name)
        stranger.patch(f"workspaces/{place}", {"data": {"type": "workspaces", "attributes": {"execution-mode": "agent", "agent-pool-id": pool}}})
        for phase, log in zip(ROLES, site.applied(place)):
            assert f"KUBERNETES {phase} is nobody: read 401, write 401" in log, log
    finally:
        site.api = api
        worker.release()
