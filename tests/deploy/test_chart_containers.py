# SPDX-License-Identifier: MPL-2.0
# label: extended
"""The containers of the chart start with their environment, secrets, account and read-only root, and do a run."""

import json
import os
import shutil
import urllib.request

import pytest

from support import container
from support.api import Api
from support.chart import case, pods, render
from support.process import free_port
from support.runyard import KEYS, Scheduler

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a container's files to its account")
RUN = {"main.tf": 'resource "terraform_data" "one" {\n  provisioner "local-exec" {\n    command = "id -u; cat /etc/runyard/agent-token/token || echo hidden"\n  }\n}\n'}


def answers(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


class Release:
    """The containers of one rendered release, started on this machine."""

    def __init__(self, settings, folder, tree, secrets, broker):
        self.pods = dict(pods(render(*settings)))
        self.folder, self.tree, self.secrets = folder, tree, secrets
        self.instead = {"brokers": broker.address, "fetch_wait_ms": broker.fetch_wait_ms}
        self.started = []

    def start(self, pod, **instead):
        """Starts a container and waits for its probes. Returns the process."""
        port = free_port()
        listener = {"listen": f"127.0.0.1:{port}"} if "-worker" in pod else {"metrics_listen": f"127.0.0.1:{port}"}
        process = container.start(self.pods[pod], self.folder, self.tree, self.secrets, shown=engine_folders(), **{**self.instead, **listener, **instead})
        self.started.append(process)
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            path = self.pods[pod]["containers"][0][probe]["httpGet"]["path"]
            process.wait_until(lambda: answers(port, path), f"answers {path}")
        return process

    def release(self):
        for process in reversed(self.started):
            container.end(process)


def engine_folders():
    """The folder of the engine, if it is not below /usr."""
    found = shutil.which("terraform") or shutil.which("tofu")
    folder = os.path.dirname(os.path.realpath(found))
    return [] if folder.startswith("/usr/") else [folder]


@pytest.fixture
def release(request, installed, folder, postgres, broker, redis):
    """A site of the rendered containers: migrated, bootstrapped, served."""
    settings = (case("minimal"), *getattr(request, "param", ()))
    url = postgres.new_database()
    secrets = {"runyard": {"keys": KEYS}, "runyard-postgresql": {"uri": url}, "runyard-redis": {"url": redis.url}}
    release = Release(settings, folder, installed / "usr", secrets, broker)
    try:
        migration = release.pods["runyard-migrate"]
        for containers in (migration["initContainers"], migration["containers"]):
            process = container.start({**migration, "containers": containers}, folder, release.tree, secrets, **release.instead)
            assert process.ended() == 0, process.log()
        tokens = json.loads(Scheduler.run_command("bootstrap", "admin", "admin@example.com", "acme", database_url=url, keys=KEYS).stdout)
        secrets["runyard"].update({name: tokens[name] for name in ("agent-token", "notifier-token")})
        port = free_port()
        release.start("runyard-scheduler", listen=f"127.0.0.1:{port}", public_url=f"http://127.0.0.1:{port}")
        release.url = release.instead["scheduler_url"] = f"http://127.0.0.1:{port}"
        release.api = Api(release.url, tokens["token"])
        yield release
    finally:
        release.release()


def engine():
    return os.path.realpath(shutil.which("terraform") or shutil.which("tofu"))


def test_a_run_is_applied_by_the_containers(release):
    release.start("runyard-notifier", listen=f"127.0.0.1:{free_port()}")
    worker = release.start("runyard-worker-default", engine=engine())
    run = release.api.run_files(release.api.workspace(auto_apply=True), RUN)
    release.api.wait_status(run, "applied")
    assert "65532" in release.api.log(run, "apply")
    assert container.stop(worker) == 0


SANDBOXED = "worker.pools[0].name=default,worker.pools[0].isolation=bubblewrap,worker.pools[0].slots=2,worker.pools[0].options.job-network=host"


@pytest.mark.parametrize("release", [[SANDBOXED]], indirect=True)
def test_a_sandboxed_job_runs_under_the_shipped_profile(release, sandbox):
    if sandbox != "bwrap":
        pytest.skip("bubblewrap does not work here")
    release.start("runyard-worker-default", engine=engine())
    run = release.api.run_files(release.api.workspace(auto_apply=True), RUN)
    release.api.wait_status(run, "applied")
    assert "hidden" in release.api.log(run, "apply")
