# SPDX-License-Identifier: MPL-2.0
"""PostgreSQL fails over to a real standby: with a synchronous one no run is affected; if commits are lost, no apply starts
twice."""

import json
import signal

import psycopg
import pytest

from support.api import Api
from support.configurations import applying
from support.http_proxy import HttpProxy
from support.runyard import Scheduler
from support.servers import Postgres
from support.wait import until

LEASE = 6
MAY_HAVE_LOST = "The database may have lost its last commits"
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


class Pair:
    """A primary and its standby."""

    def __init__(self):
        self.primary = Postgres().start()
        self.standby = Postgres(primary=self.primary).start()
        until(lambda: self._ask(self.primary, "select 1 from pg_stat_replication where state = 'streaming'"), "the standby follows")

    @staticmethod
    def _ask(server, query):
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            return connection.execute(query).fetchall()

    def url(self, database):
        hosts = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}"
        return f"postgresql://runyard@{hosts}/{database.rpartition('/')[2]}?target_session_attrs=read-write"

    def synchronous(self):
        self.primary.set("synchronous_standby_names", "standby")
        until(lambda: self._ask(self.primary, "select 1 from pg_stat_replication where sync_state = 'sync'"), "the standby is synchronous")

    def caught_up(self):
        (position,) = self._ask(self.primary, "select pg_current_wal_lsn()")
        until(lambda: self._ask(self.standby, f"select pg_last_wal_replay_lsn() >= '{position[0]}'") == [(True,)], "the standby has caught up")

    def cut(self):
        """Stops replication: a failover loses all later commits."""
        self.caught_up()
        self.standby.set("primary_conninfo", "")
        until(lambda: not self._ask(self.standby, "select 1 from pg_stat_wal_receiver"), "the standby receives nothing")

    def fail_over(self):
        self.primary.stop(signal.SIGKILL)
        self.standby.promote()

    def release(self):
        self.standby.release()
        self.primary.release()


@pytest.fixture
def postgres():
    pair = Pair()
    yield pair
    pair.release()


@pytest.fixture
def template(postgres):
    return postgres.primary.new_bootstrapped()


@pytest.fixture
def database(postgres, template):
    return postgres.url(template[0])


@pytest.fixture
def two(scheduler):
    def start(replication):
        return [scheduler(lease_seconds=LEASE, database_replication=replication) for _ in range(2)]

    return start


def epoch(ask):
    """The epoch and the history, as soon as PostgreSQL answers again."""

    def read():
        try:
            return ask("select epoch, history from database_history")[0]
        except psycopg.OperationalError:
            return None

    return until(read, "PostgreSQL answers")


def wait_until_served(two, api):
    """Waits until every thread of each scheduler is connected to the new primary."""
    until(lambda: all(one.ready() for one in two), "the schedulers are ready")
    apis = [Api(one.url, api.token) for one in two]
    until(lambda: all(one.call("GET", "account/details").status == 200 for one in apis for _ in range(10)), "all threads answer")


@pytest.mark.parametrize("replication", ["async", "none"])
def test_an_apply_whose_start_was_lost_is_not_started_again(two, postgres, request, worker, gate, ask, replication):
    schedulers = two(replication)
    api = request.getfixturevalue("api")
    first = worker()
    workspace = api.workspace()
    run = api.run_files(workspace, applying(gate.command))
    api.wait_status(run, "planned")
    first.stop()
    api.act(run, "apply")
    assert api.status(run) in ("apply_queued", "confirmed")
    postgres.cut()

    second = worker(sandbox_bind=gate.folder)
    gate.wait()
    assert api.status(run) == "applying"
    third = worker(sandbox_bind=gate.folder)
    postgres.fail_over()
    wait_until_served(schedulers, api)

    assert "never started again" in api.wait_status(run, "errored")["error"]
    attributes = api.attributes(f"workspaces/{workspace}")
    assert attributes["locked"] and attributes["locked-reason"].startswith(f"Held after {run}")
    assert epoch(ask)[0] == 2
    after = api.run(workspace)
    until(lambda: ask("select 1 from workspace_holds where token_hash <> ''"), "the worker names its apply")
    gate.open()
    until(lambda: second.metric("runyard_worker_jobs_total", stage="apply") == 1, "the only apply ends")
    until(lambda: not api.attributes(f"workspaces/{workspace}")["locked"], "the hold ends with the last state")
    api.wait_status(after, "planned_and_finished")
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    assert third.metric("runyard_worker_jobs_total", stage="apply") == 0


def test_an_apply_whose_confirmation_was_lost_is_not_started_again(two, postgres, request, worker, gate, ask):
    """The database has no such apply, and the worker's heartbeat names it. A second confirmation starts nothing."""
    schedulers = two("async")
    api = request.getfixturevalue("api")
    first, second = worker(sandbox_bind=gate.folder), worker(sandbox_bind=gate.folder)
    workspace = api.workspace()
    run = api.run_files(workspace, applying(gate.command))
    api.wait_status(run, "planned")
    other = api.run_files(api.workspace(auto_apply=True), ONE)
    api.wait_status(other, "applied")
    postgres.cut()
    api.act(run, "apply")
    gate.wait()
    postgres.fail_over()
    wait_until_served(schedulers, api)

    answer = api.call("POST", f"runs/{run}/actions/apply", {})
    assert answer.status in (202, 409), answer.text
    ended = api.wait_status(run, {"errored", "discarded"})
    assert ended["status"] == "discarded" or MAY_HAVE_LOST in ended["error"]
    assert api.attributes(f"workspaces/{workspace}")["locked-reason"].startswith(f"Held after {run}")
    assert [text for action, text in api.events(run, "workspace-held") if MAY_HAVE_LOST in text]
    after = api.run(workspace)
    gate.open()
    api.wait_status(after, "planned_and_finished")
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    assert sum(one.metric("runyard_worker_jobs_total", stage="apply") for one in (first, second)) == 2
    assert api.status(other) == "applied" and ask("select count(*) from workspaces where hold_job_id is not null") == [(0,)]


@pytest.mark.parametrize("killed", [False, True])
def test_an_apply_that_ends_before_a_heartbeat_loses_no_state(two, postgres, request, worker, gate, ask, killed):
    """Its job is unknown until a heartbeat has named it: earlier uploads get a 503, which the worker repeats."""
    schedulers = two("async")
    api = request.getfixturevalue("api")
    front = HttpProxy(schedulers[0].port)
    one = worker(scheduler_url=front.url, sandbox_bind=gate.folder)
    workspace = api.workspace()
    run = api.run_files(workspace, applying(gate.command))
    api.wait_status(run, "planned")
    postgres.cut()
    api.act(run, "apply")
    gate.wait()
    front.reply = lambda method, path: (502, [], b"") if path.endswith("/heartbeat") else None
    postgres.fail_over()
    wait_until_served(schedulers, api)

    gate.open()
    refused = lambda: schedulers[0].metric("runyard_http_requests_total", route="/api/worker/v1/jobs/:job/state", status="503") >= 1
    until(lambda: refused() or one.metric("runyard_worker_jobs_total", stage="apply") == 1, "an upload of the apply is answered")
    if killed:
        one.kill()
        one.start()
    front.reply = lambda method, path: None
    ended = api.wait_status(run, {"errored", "discarded"})
    assert ended["status"] == "discarded" or MAY_HAVE_LOST in ended["error"]
    api.wait_status(api.run(workspace), "planned_and_finished")
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    assert not [line for line in one.log_lines() if "refused a state" in line["msg"]]
    front.release()


def test_an_apply_with_a_known_claim_delivers_its_last_state(two, postgres, request, worker, gate, ask):
    """Its claim was not lost: the run ends, and the worker still delivers its state."""
    schedulers = two("async")
    api = request.getfixturevalue("api")
    one = worker(sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying(gate.command))
    gate.wait()
    postgres.cut()
    postgres.fail_over()
    wait_until_served(schedulers, api)
    assert "never started again" in api.wait_status(run, "errored")["error"]
    gate.open()
    until(lambda: not api.attributes(f"workspaces/{workspace}")["locked"], "the hold ends with the last state")
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    assert one.metric("runyard_worker_jobs_total", stage="apply") == 1


def test_a_plan_is_repeated_after_a_failover(two, postgres, request, worker, gate, ask):
    schedulers = two("async")
    api = request.getfixturevalue("api")
    worker(sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(), {"main.tf": f"output \"x\" {{\n  value = {gate.expression}\n}}\n"})
    gate.wait()
    postgres.cut()
    postgres.fail_over()
    wait_until_served(schedulers, api)
    assert epoch(ask)[0] == 2
    gate.open()
    api.wait_status(run, "planned")
    assert ask("select attempt from jobs") == [] and [action for action, _ in api.events(run)].count("lost") == 0


def test_a_synchronous_failover_does_not_affect_runs(two, postgres, request, worker, gate, ask):
    postgres.synchronous()
    schedulers = two("sync")
    api = request.getfixturevalue("api")
    one = worker(sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying(gate.command))
    gate.wait()
    _, before = epoch(ask)
    postgres.fail_over()
    wait_until_served(schedulers, api)
    number, after = epoch(ask)
    assert number == 1 and after != before and after.split("/")[0] == before.split("/")[0]
    assert api.status(run) == "applying"
    gate.open()
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    assert one.metric("runyard_worker_jobs_total", stage="apply") == 1


def test_a_scheduler_refuses_to_start_without_the_declared_synchronous_standby(scheduler, postgres, database):
    one = scheduler.launch(database_replication="sync")
    assert one.process.ended() == 1
    assert "do not wait for a standby" in json.loads(one.process.log().splitlines()[-1])["why"]
    postgres.synchronous()
    scheduler(database_replication="sync")
    assert Scheduler.run_command("migrate", database_url=database, keys=one.options["keys"], database_replication="twice", check=False).returncode == 1


def test_a_failover_after_synchronous_replication_ended_is_a_new_epoch(two, postgres, request, worker, gate, ask):
    """The setting declares a synchronous standby, and PostgreSQL has none any more."""
    postgres.synchronous()
    schedulers = two("sync")
    api = request.getfixturevalue("api")
    worker(sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(auto_apply=True), applying(gate.command))
    gate.wait()
    postgres.primary.set("synchronous_standby_names", "")
    until(lambda: ask("select durable from database_history") == [(False,)], "the schedulers have detected it")
    assert schedulers[0].metric("runyard_database_synchronous") == 0
    postgres.caught_up()
    postgres.fail_over()
    wait_until_served(schedulers, api)
    assert "never started again" in api.wait_status(run, "errored")["error"]


def test_an_operator_can_begin_an_epoch(two, postgres, request, worker, gate, database, ask):
    """An operator does this after a restore that the database does not show."""
    (one, _) = two("none")
    api = request.getfixturevalue("api")
    worker(sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(auto_apply=True), applying(gate.command))
    gate.wait()
    Scheduler.run_command("new-epoch", database_url=database, keys=one.options["keys"])
    assert "never started again" in api.wait_status(run, "errored")["error"]
    assert epoch(ask)[0] == 2
