# SPDX-License-Identifier: MPL-2.0
"""A real Gitea in a network that only a worker reaches: runs from commits, with hooks, statuses, and lists of repositories
through that worker. Gitea itself reaches the scheduler, for its hooks."""

import os
import shutil
import urllib.request

import pytest

from support.gitea import Gitea
from support.private_network import SERVICES, PrivateNetwork
from support.site import new_folder
from support.vcs_flow import Repo, telling
from support.wait import until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces")


@pytest.fixture
def network():
    network = PrivateNetwork()
    yield network
    network.release()


@pytest.fixture
def gitea(network):
    folder = new_folder("gitea")
    server = Gitea(folder, network).start()
    yield server
    server.release()
    shutil.rmtree(folder, ignore_errors=True)


def test_runs_from_commits_of_a_private_gitea(network, gitea, scheduler, notifier, worker, folder, request):
    url = f"http://{SERVICES}:{gitea.port}"  # unlike its link, this address has no route from here
    with pytest.raises(OSError):  # a gateway may accept connections to any address
        urllib.request.urlopen(url, timeout=2)
    scheduler(address=network.outside)
    api = request.getfixturevalue("api")
    notifier()
    worker(git_slots=0)
    pool, token = api.pool("far")
    far = network.worker("far-1", folder, scheduler_url=api.url, agent_token=token, brokers="", name="far-1", data_dir=folder / "far-1", request_forwarding=1, vcs_allow=SERVICES, engine="/nonexistent").start()
    repository = gitea.repository("network", telling("first"))
    client = {"service-provider": "gitea", "http-url": url, "api-url": f"{url}/api/v1", "oauth-token-string": gitea.token}
    repo = Repo(api, repository.identifier, client, relations={"agent-pool": {"type": "agent-pools", "id": pool}})
    assert repository.identifier in [each["attributes"]["identifier"] for each in api.get(f"oauth-tokens/{repo.token}/repositories").data]
    workspace = repo.ready("network", auto_apply=True)
    until(lambda: [hook for hook in repository.hooks() if "/webhooks/vcs/" in hook["config"]["url"]], "the hook is there")
    sha = repository.copy.commit_and_push(telling("second"), "Say the second word")
    api.wait_status(repo.run(workspace, sha), "applied")
    context = f"Runyard/{api.organization}"
    until(lambda: (repository.status(sha, context) or {}).get("status") == "success", "the status of the commit is there")
    far.release()
