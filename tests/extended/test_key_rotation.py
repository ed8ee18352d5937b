# SPDX-License-Identifier: MPL-2.0
"""Keys are rotated one scheduler at a time while runs, links, run tasks and browser sessions are in use."""

import itertools
import json
import signal
import threading

import psycopg
import pytest

from support.api import Api
from support.browser import Browser
from support.fake_worker import FakeWorker
from support.process import Process, clean_environment, program
from support.receiver import acknowledges, answers
from support.runyard import KEYS, Scheduler, arguments
from support.wait import until

OLD, NEW = KEYS, "2:" + "6b" * 32
ONE = {"main.tf": 'variable "secret" {}\nresource "terraform_data" "one" {}\n'}


@pytest.fixture
def two(scheduler):
    """Two schedulers with the old key."""
    return [scheduler(keys=OLD), scheduler(keys=OLD)]


@pytest.fixture
def reading(scheduler, folder):
    """Two schedulers that read their keys from the file `keys`, the old one at first."""
    (folder / "keys").write_text(OLD)
    environment = {"RUNYARD_KEYS_FILE": str(folder / "keys")}
    return [scheduler(keys=None, environment=environment), scheduler(keys=None, environment=environment)]


def rekey(one, *keys):
    one.options["keys"] = ",".join(keys)
    one.restart()


def variables(job):
    return {variable["key"]: variable["value"] for variable in job["variables"]}


def new_run(api, secret):
    workspace = api.workspace()
    api.variable(workspace, "secret", secret)
    return workspace, api.run_files(workspace, ONE)


def signed_in(one, tokens):
    browser = Browser(one.url).sign_in("admin", tokens["password"])
    assert browser.status == 200, browser.text
    return browser, browser.ask("/app/settings/tokens").form("/app/logout")["fields"]["csrf"]


def status_of_change(browser, csrf, one, organization):
    """The status of a change by the browser's session with that CSRF token."""
    api = Api(one.url, None, organization)
    body = {"data": {"type": "workspaces", "attributes": {"name": f"w-{next(Api.names)}"}}}
    return api.call("POST", f"organizations/{organization}/workspaces", body,
                    headers={"Cookie": f"{browser.cookie.name}={browser.cookie.value}", "X-CSRF-Token": csrf}).status


def test_a_rotation_in_the_documented_order_interrupts_nothing(two, api, tokens, receiver, worker, notifier, gate):
    """Every scheduler gets the new key behind the old one; then every scheduler gets it in front; then the old one is
    removed."""
    apis = [Api(one.url, tokens["token"]) for one in two]
    browser, csrf = signed_in(two[0], tokens)

    service = receiver.service(acknowledges)
    with_task = api.workspace()
    api.attach(with_task, api.task(service), "pre_plan")
    asking = api.run_files(with_task, {"main.tf": ""})
    notifier()
    call = until(lambda: service.calls and service.calls[0], "the service is called")

    worker(sandbox_bind=gate.folder)
    files = {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n'}
    running = api.run_files(api.workspace(auto_apply=True), files)
    gate.wait()
    link = api.attributes(f"plans/{api.sibling(running, 'plan')}")["log-read-url"]
    path = link[link.index("/signed/"):]

    for keys in ((OLD, NEW), (NEW, OLD)):
        for one in two:
            rekey(one, *keys)
            for other, client in zip(two, apis):
                assert client.call("GET", other.url + path, headers={"Authorization": None}).status == 200, keys
                assert status_of_change(browser, csrf, other, api.organization) == 201, keys
                assert call.ask("GET", f"{other.url}/api/v2/runs/{asking}/plan").status != 401, keys
                workspace, _ = new_run(client, "s")
                for reader in apis:
                    assert reader.get(f"workspaces/{workspace}/vars").data, keys
    assert call.back("passed").status == 200
    api.wait_status(asking, {"planned", "planned_and_finished"})
    gate.open()
    api.wait_status(running, "applied")


def test_a_job_whose_key_a_scheduler_lacks_is_claimed_at_another(two, tokens, ask):
    """One scheduler encrypts with the new key before the other has it."""
    first, second = two
    rekey(second, NEW, OLD)
    api, other = Api(first.url, tokens["token"]), Api(second.url, tokens["token"])
    fake_worker, helper = FakeWorker(first.url, tokens["agent-token"]), FakeWorker(second.url, tokens["agent-token"], name="helper")
    workspace, run = new_run(other, "sealed with the new key")
    _, readable = new_run(api, "sealed with the old key")

    (job,) = until(fake_worker.claim, "the job that can be decrypted is claimed")
    assert (job["run"], variables(job)) == (readable, {"secret": "sealed with the old key"})
    assert fake_worker.claim() == []
    assert api.status(run) in ("pending", "plan_queued", "fetching", "queuing"), api.attributes(f"runs/{run}")
    assert api.call("GET", f"workspaces/{workspace}/vars").status == 503
    body = {"data": {"type": "runs", "relationships": {"workspace": {"data": {"type": "workspaces", "id": workspace}}}}}
    assert api.call("POST", "runs", body).status == 503

    ask("update jobs set created_at = now() - interval '1 minute' where run_id = %s", run)
    until(lambda: [text for action, text in api.events(run, "waiting-for-key") if "key 2" in text], "the run has an event with the reason")
    until(lambda: first.metric("runyard_jobs_without_key") == 1, "the scheduler counts it")
    assert any(line["msg"].startswith("jobs wait for a scheduler that has their key") and line["run"] == run for line in first.log_lines())

    (job,) = until(helper.claim, "the job is claimed at the scheduler with the key")
    assert (job["run"], variables(job)) == (run, {"secret": "sealed with the new key"})
    assert len(api.events(run, "waiting-for-key")) == 1
    until(lambda: first.metric("runyard_jobs_without_key") == 0, "nothing waits any more")


def test_a_job_whose_ssh_key_a_scheduler_cannot_decrypt_is_claimed_at_another(two, tokens, ask):
    """The SSH key is encrypted separately from the run's variables."""
    first, second = two
    api, other = Api(first.url, tokens["token"]), Api(second.url, tokens["token"])
    workspace, run = new_run(api, "x")
    rekey(second, NEW, OLD)
    body = {"data": {"type": "ssh-keys", "attributes": {"name": "git", "value": "-----BEGIN X-----"}}}
    key = other.post(f"organizations/{api.organization}/ssh-keys", body).data["id"]
    ask("update workspaces set ssh_key_id = %s where id = %s", key, workspace)
    fake_worker, helper = FakeWorker(first.url, tokens["agent-token"]), FakeWorker(second.url, tokens["agent-token"], name="helper")
    assert fake_worker.claim() == []
    (job,) = until(helper.claim, "the job is claimed at the scheduler with the key")
    assert (job["run"], job["ssh-key"]) == (run, "-----BEGIN X-----")


def test_a_run_task_keeps_its_token_during_a_rotation(two, api, receiver, notifier):
    """A request that is sent again after the rotation carries the token of the first one."""
    service = receiver.service(answers(503, 200))
    workspace = api.workspace()
    api.attach(workspace, api.task(service), "pre_plan")
    run = api.run_files(workspace, {"main.tf": ""})
    one = notifier()
    first = until(lambda: service.calls and service.calls[0], "the service is called")
    one.stop()
    for scheduler in two:
        rekey(scheduler, NEW, OLD)
    one.start()
    second = until(lambda: len(service.calls) > 1 and service.calls[1], "the service is called again")
    assert second["access_token"] == first["access_token"]
    until(lambda: api.task_result(run, "pre_plan")["attributes"]["status"] == "running", "it is acknowledged")
    assert first.back("failed", token=first["access_token"]).status == 200
    api.wait_status(run, "errored")


# ---- rotate-keys ----


def rotating(folder, database, keys):
    """rotate-keys as a process that can be killed."""
    argv, environment = arguments({"database_url": database, "keys": keys})
    process = Process("rotating", [program("runyard-scheduler"), *argv, "rotate-keys"], folder, env=clean_environment(**environment))
    process.launch()
    return process


def sealed_with(ask, table, number):
    return ask(f"select count(*) from {table} where substring(value_sealed from 1 for 4) = int4send(%s)", number)[0][0]


class Load:
    """Runs that begin all the time, each to its end by the real engine, at all schedulers in turn."""

    def __init__(self, apis):
        self.apis, self.runs, self.stopping = apis, [], False
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self):
        for number in itertools.count():
            if self.stopping:
                return
            api = self.apis[number % len(self.apis)]
            workspace = api.workspace(auto_apply=True)
            api.variable(workspace, "secret", f"s{number}")
            run = api.run_files(workspace, ONE)
            self.runs.append(run)
            api.wait_status(run, "applied")

    def end(self):
        """Every run was applied."""
        self.stopping = True
        self.thread.join()
        for run in self.runs:
            assert self.apis[0].status(run) == "applied"
        return len(self.runs)


def test_a_rotation_under_load_that_is_killed_midway(reading, api, tokens, worker, ask, folder, database):
    """No run fails, old links work until the end, and the old key can go."""
    worker(slots=2)
    apis = [Api(one.url, tokens["token"]) for one in reading]
    workspace = api.workspace()
    for number in range(250):
        api.variable(workspace, f"v{number}", "x" * 100)
    done = api.run_files(api.workspace(auto_apply=True), ONE | {"secret.auto.tfvars": 'secret = "s"\n'})
    api.wait_status(done, "applied")
    link = api.attributes(f"plans/{api.sibling(done, 'plan')}")["log-read-url"]
    path = link[link.index("/signed/"):]
    load = Load(apis)

    def settled(keys):
        """Runs of the load have ended with those keys."""
        (folder / "keys").write_text(keys)
        for one in reading:
            one.process.send(signal.SIGHUP)
        until(lambda: all(sum(line["msg"] == "the keys were read again" for line in one.log_lines()) == settled.count for one in reading), "the keys are read")
        settled.count += 1
        count = len(load.runs)
        until(lambda: len(load.runs) > count + 2 or not load.thread.is_alive(), "runs go on")

    settled.count = 1
    settled(f"{OLD},{NEW}")
    settled(f"{NEW},{OLD}")
    (last,) = ask("select max(id) from variables where substring(value_sealed from 1 for 4) = int4send(1)")[0]
    with psycopg.connect(database) as blocker:
        blocker.execute("select 1 from variables where id = %s for update", (last,))
        before = sealed_with(ask, "variables", 1)
        process = rotating(folder, database, f"{NEW},{OLD}")
        until(lambda: sealed_with(ask, "variables", 1) < before, "the rotation has committed a batch")
        process.kill()
    assert 0 < sealed_with(ask, "variables", 1) < before
    done = Scheduler.run_command("rotate-keys", database_url=database, keys=f"{NEW},{OLD}")
    assert int(done.stdout.split()[0]) > 0
    (old,) = [key for key in map(json.loads, Scheduler.run_command("keys", "--json", database_url=database, keys=f"{NEW},{OLD}").stdout.splitlines())
              if key["number"] == 1]
    assert not old["seals"] and old["links-until"]
    assert api.call("GET", reading[0].url + path, headers={"Authorization": None}).status == 200
    settled(NEW)
    assert load.end() > 5
    assert len(api.get(f"workspaces/{workspace}/vars").data) == 250


# ---- keys that are refused ----


def refused(database, keys, *words):
    done = Scheduler.run_command("migrate", database_url=database, keys=keys, check=False)
    last = json.loads(done.stderr.splitlines()[-1])
    return done.returncode == 1 and all(word in last["why"] for word in words)


OTHER = "1:" + "7c" * 32


@pytest.mark.parametrize("keys", [OTHER, f"{NEW},{OTHER}"])
def test_a_different_key_with_a_known_number_is_refused(scheduler, database, keys):
    assert refused(database, keys, "key 1 is not the key that this database has by that number")
    assert Scheduler.run_command("migrate", database_url=database, keys=f"{NEW},{OLD}").returncode == 0
    assert refused(database, f"{OLD},2:{'7c' * 32}", "key 2 is not the key")


def test_a_wrong_key_is_refused_in_a_database_without_recorded_keys(scheduler, database, api, ask):
    new_run(api, "x")
    scheduler.all[0].stop()
    ask("delete from sealing_keys")
    assert refused(database, OTHER, "key 1 is not the key")
    assert ask("select 1 from sealing_keys") == []
    assert Scheduler.run_command("migrate", database_url=database, keys=f"{NEW},{OLD}").returncode == 0
    assert ask("select number from sealing_keys order by 1") == [(1,), (2,)]


def test_two_keys_with_the_same_number_are_refused(database):
    assert refused(database, f"{OLD},{OTHER}", "two keys have the number 1")
