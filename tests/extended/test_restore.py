# SPDX-License-Identifier: MPL-2.0
"""A drill: PostgreSQL is backed up under load, lost and restored, and the broker and Redis have lost everything."""

import itertools
import json
import threading
import time

import pytest

from support.api import Api
from support.configurations import applying
from support.gate import Gate
from support.modules import OUTPUT, Modules
from support.providers import Providers, zip_of
from support.receiver import says
from support.runyard import KEYS, Scheduler
from support.servers import Postgres
from support.wait import until

LEASE = 6
ONE = {"main.tf": 'variable "secret" {}\nresource "terraform_data" "one" {\n  input = var.secret\n}\n'}


@pytest.fixture
def postgres():
    server = Postgres().start()
    yield server
    server.release()


@pytest.fixture
def template(postgres):
    return postgres.new_bootstrapped()


@pytest.fixture
def database(template):
    return template[0]


def command(database, *words):
    return Scheduler.run_command(*words, database_url=database, keys=KEYS)


def restored(database):
    return [json.loads(line) for line in command(database, "restored", "--json").stdout.splitlines()]


def serial(api, workspace):
    state = api.state(workspace)
    return state["serial"] if state else 0


class Load:
    """Runs that are applied all the time, in a few workspaces. Failures of requests while nothing serves are no matter."""

    def __init__(self, api):
        self.api = api
        self.workspaces = [api.workspace(auto_apply=True) for _ in range(3)]
        self.configurations = {}
        for workspace in self.workspaces:
            api.variable(workspace, "secret", f"of {workspace}", sensitive=False)
            self.configurations[workspace] = api.upload(workspace, ONE)
        self.applied, self.stopping = 0, False
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        for number in itertools.count():
            if self.stopping:
                return
            workspace = self.workspaces[number % len(self.workspaces)]
            run = self.api.run(workspace, self.configurations[workspace], **({"replace_addrs": ["terraform_data.one"]} if number >= 3 else {}))
            while not self.stopping and (status := self.api.status(run)) != "applied":
                assert status != "errored", self.api.attributes(f"runs/{run}")
                time.sleep(0.02)
            self.applied += status == "applied"

    def end(self):
        self.stopping = True
        self.thread.join()


def ended(api, run):
    return api.status(run) in ("applied", "planned_and_finished", "errored", "discarded", "canceled")


def described(modules):
    return modules.api.get(f"registry-modules/{modules.read('kept')['id']}/description", module_version="1.0.0").data["attributes"]["root"]


def content(modules):
    """The archive that engines download."""
    path = f"{modules.api.url}/api/registry/v1/modules/{modules.api.organization}/kept/null/1.0.0/download"
    return modules.api.call("GET", modules.api.call("GET", path).headers["X-Terraform-Get"]).body


def downloaded(providers):
    """What engines get of a provider's version: the archive, the digests, the signature and the key."""
    package = providers.ask("kept", "1.0.0", "download", "linux", "amd64").json
    links = [package[link] for link in ("download_url", "shasums_url", "shasums_signature_url")]
    return [providers.api.call("GET", link, headers={"Authorization": None}).body for link in links], package["shasum"], package["signing_keys"]


def test_a_site_is_restored_from_a_backup(postgres, database, scheduler, worker, notifier, broker, redis, gate, request, ask):
    two = [scheduler(lease_seconds=LEASE) for _ in range(2)]
    api = request.getfixturevalue("api")
    old = worker(sandbox_bind=gate.folder.parent, slots=4)
    notifier()
    load = Load(api)
    until(lambda: load.applied >= 3, "the load runs")
    held = api.workspace(auto_apply=True)
    interrupted = api.run_files(held, applying(gate.command))
    gate.wait()
    waiting = api.workspace()
    confirmed = api.run_files(waiting, {"main.tf": 'resource "terraform_data" "two" {}\n'})
    api.wait_status(confirmed, "planned")

    modules = Modules(api)
    modules.publish("kept", "1.0.0", {"README.md": "# Kept", "main.tf": OUTPUT % "kept"})
    until(lambda: described(modules), "the version is described")
    published = (modules.read("kept", "1.0.0")["attributes"], described(modules), content(modules))
    providers = Providers(api)
    providers.publish("kept", "1.0.0", {"linux_amd64": zip_of({"terraform-provider-kept_v1.0.0": b"a provider"})})
    provided = downloaded(providers)

    acknowledged = {workspace: serial(api, workspace) for workspace in load.workspaces}
    folder = postgres.folder / "backup"
    postgres.back_up(folder)
    command(database, "backup-mark")
    until(lambda: two[0].metric("runyard_last_backup_timestamp_seconds") > time.time() - 600, "the metric shows the backup")
    modules.publish("kept", "2.0.0")
    providers.publish("kept", "2.0.0", {"linux_amd64": zip_of({"terraform-provider-kept_v2.0.0": b"a newer one"})})
    count = load.applied
    until(lambda: load.applied > count + 1, "runs are applied after the backup")
    api.act(confirmed, "apply")
    api.wait_status(confirmed, "applied")
    lost = api.run_files(api.workspace(auto_apply=True), {"main.tf": ""})
    api.wait_status(lost, "planned_and_finished")
    unheard = Gate(gate.folder.parent, "unheard")
    unknown = api.run_files(api.workspace(auto_apply=True), applying(unheard.command))
    unheard.wait()
    load.end()

    # Everything is lost but the backup and the keys. The worker goes on.
    for one in two:
        one.kill()
    broker.process.kill()
    redis.command("flushall")
    postgres.restore(folder)
    before = ask("select epoch from database_history")[0][0]
    first = restored(database)
    (epoch,) = ask("select epoch from database_history")[0]
    restored(database)
    (again,) = ask("select epoch from database_history")[0]
    assert before < 1000 < time.time() - 600 < epoch < again
    listed = {run["run"]: run for run in first}
    assert listed[interrupted]["workspace"] == held and listed[interrupted]["ended"] and listed[confirmed]["status"] == "planned"
    assert not ask("select 1 from jobs where state = 'claimed' or run_token_hash is not null")
    broker.start()
    for one in two:
        one.start()
    command(database, "republish")

    # The worker is refused, registers anew, and delivers the state of its apply, which is stored beside the current one.
    api.wait_status(confirmed, "discarded")
    assert "never started again" in api.wait_status(interrupted, "errored")["error"]
    until(lambda: ask("select 1 from workers where left_at is null"), "the worker has registered anew")
    gate.open()
    until(lambda: ask("select 1 from state_versions where workspace_id = %s and status = 'detached'", held), "the late state is detached")
    until(lambda: ask("select 1 from workspace_holds where workspace_id = %s and settled_at is not null", held), "nothing is awaited any more")
    assert api.attributes(f"workspaces/{held}")["locked"]
    assert api.call("GET", f"runs/{lost}").status == 404

    # The state of an apply whose run is lost stays on the worker's disk.
    unheard.open()
    assert api.call("GET", f"runs/{unknown}").status == 404
    until(lambda: list((old.options["data_dir"] / "unsent").glob("*.refused")), lambda: f"it is kept: {list(old.options['data_dir'].rglob('*'))}")
    assert old.process.alive()

    # Nothing starts until an operator has compared.
    queued = api.run(load.workspaces[0], load.configurations[load.workspaces[0]], replace_addrs=["terraform_data.one"])
    assert api.status(queued) == "pending"
    assert "restored from a backup" in command(database, "maintenance").stdout
    command(database, "maintenance", "off")
    for (workspace,) in ask("select workspace_id from workspace_holds where until is not null and workspace_id <> %s", held):
        command(database, "holds", "release", workspace, "the apply of the load that was in flight")
    api.wait_status(queued, "applied")

    # The registry has the versions of the backup, with their content, description and signatures.
    assert [item["version"] for item in modules.read("kept")["attributes"]["version-statuses"]] == ["1.0.0"]
    assert (modules.read("kept", "1.0.0")["attributes"], described(modules), content(modules)) == published
    modules.publish("kept", "2.0.0")
    assert providers.served("kept") == {"1.0.0": ["linux_amd64"]} and downloaded(providers) == provided

    # All else settles, with the secrets and states of the backup.
    for workspace in load.workspaces:
        assert serial(api, workspace) >= acknowledged[workspace]
        assert [v["attributes"]["value"] for v in api.get(f"workspaces/{workspace}/vars").data] == [f"of {workspace}"]
    for run, in ask("select id from runs where not ended"):
        until(lambda run=run: ended(api, run), f"{run} ends: {api.status(run)}")
    api.wait_status(api.run(load.workspaces[0], load.configurations[load.workspaces[0]], auto_apply=True, replace_addrs=["terraform_data.one"]), "applied")
    command(database, "holds", "release", held, "compared by hand")
    api.wait_status(api.run_files(held, {"main.tf": ""}), ("applied", "planned_and_finished", "planned"))
    assert Api(two[1].url, api.token).call("GET", "account/details").status == 200


def test_all_waiting_work_is_announced_again(scheduler, api, worker, notifier, broker, redis, receiver, database):
    """The broker and Redis lose everything while a run and a run task wait."""
    service = receiver.service(says("passed"))
    asked, plain = api.workspace(auto_apply=True), api.workspace(auto_apply=True)
    api.attach(asked, api.task(service), "pre_plan")
    runs = [api.run_files(asked, {"main.tf": 'resource "terraform_data" "x" {}\n'}), api.run_files(plain, {"main.tf": 'resource "terraform_data" "x" {}\n'})]
    broker.process.kill()
    redis.command("flushall")
    broker.start()
    assert int(command(database, "republish").stdout.split()[0]) == 2
    worker(), notifier()
    for run in runs:
        api.wait_status(run, "applied")
