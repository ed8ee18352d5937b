# SPDX-License-Identifier: MPL-2.0
# label: full
"""Start without the necessary servers, with a wrong token, or next to another process: a clear line, then recovery."""

import json
import os
import stat
import subprocess

import psycopg
import pytest

from support.process import clean_environment, program
from support.runyard import KEYS
from support.servers import Broker, Postgres
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def said(service, message, level=None):
    """Whether a line of the process's log contains the words."""
    return any(message in json.dumps(line) and level in (None, line["level"]) for line in service.log_lines())


def start(binary, *arguments, **environment):
    return subprocess.run([program(binary), *arguments], capture_output=True, text=True, env=clean_environment(**environment))


def test_postgresql_is_away_at_the_start(scheduler, postgres):
    postgres.stop()
    try:
        first = scheduler.launch()
        first.process.wait_until(lambda: said(first, "waiting for PostgreSQL", "warn"), "waits for PostgreSQL")
    finally:
        postgres.start()
    first.start_waiting()
    assert first.ready()


def test_waiting_for_postgresql_ends_on_a_signal(scheduler):
    first = scheduler.launch(database_url="postgresql://runyard@127.0.0.1:1/none")
    first.process.wait_until(lambda: said(first, "waiting for PostgreSQL", "warn"), "waits for PostgreSQL")
    assert first.stop() == 1


def test_a_broker_that_is_not_there_yet(scheduler, worker, tokens, folder, request):
    later = Broker(folder)
    later.process.name, later.process.log_path = "broker-later", folder / "broker-later.log"
    first = scheduler(brokers=later.address)
    api = request.getfixturevalue("api")
    one = worker(brokers=later.address)
    try:
        workspace = api.workspace(auto_apply=True)
        api.wait_status(api.run_files(workspace, ONE), "applied")
        until(lambda: said(first, later.address) and said(one, later.address), "both say that the broker is not there")
        assert first.metric("runyard_kafka_up") == 0
        later.start()
        until(lambda: first.metric("runyard_outbox_rows") == 0 and first.metric("runyard_kafka_up", client="intake") == 1, "what waited is sent")
        api.wait_status(api.run(workspace, is_destroy=True), "applied")
    finally:
        first.stop(), one.stop(), later.release()


def test_a_port_that_is_taken(scheduler, folder):
    first = scheduler()
    done = start("runyard-scheduler", "--listen", f"127.0.0.1:{first.port}", RUNYARD_DATABASE_URL=first.options["database_url"], RUNYARD_KEYS=KEYS,
                 RUNYARD_BROKERS=first.options["brokers"])
    assert done.returncode == 1 and str(first.port) in done.stderr and "in use" in done.stderr


def test_a_data_folder_that_another_worker_uses(worker, tokens):
    one = worker()
    done = start("runyard-worker", "--data-dir", str(one.options["data_dir"]), RUNYARD_AGENT_TOKEN=tokens["agent-token"])
    assert done.returncode == 1 and "another worker uses" in done.stderr


@pytest.mark.parametrize("token", ["wrong", ""])
def test_a_worker_with_a_wrong_token(worker, tokens, token):
    one = worker.launch(agent_token=token or tokens["token"])
    assert one.process.ended() == 1
    assert said(one, "does not take this worker's agent token", "error")
    assert tokens["token"] not in one.process.log()


def test_a_worker_before_its_scheduler(scheduler, worker, tokens, request):
    first = scheduler()
    first.stop()
    one = worker.launch()
    one.process.wait_until(lambda: said(one, "can't be reached", "warn"), "says that the scheduler can't be reached")
    first.start()
    one.start_waiting()
    api = request.getfixturevalue("api")
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")


def test_a_workers_folder_is_its_owners_alone(worker):
    one = worker()
    assert stat.S_IMODE(os.stat(one.options["data_dir"]).st_mode) & 0o077 == 0


# ---- errors that are reported at once ----


def refused(binary, *arguments, **environment):
    """The output of a process that exits at once."""
    done = subprocess.run([program(binary), *arguments], capture_output=True, text=True, timeout=30, env=clean_environment(**environment))
    assert done.returncode in (1, 2), done
    return done.stderr


def scheduler_refused(url, *arguments):
    return refused("runyard-scheduler", *arguments, RUNYARD_DATABASE_URL=url, RUNYARD_KEYS=KEYS, RUNYARD_BROKERS="127.0.0.1:1")


@pytest.mark.parametrize("url", ["", "mysql://user:s3cr3t@host/db", "http://127.0.0.1/", "s3cr3t", "postgresql://user:s3cr3t@[::1/db"])
def test_a_database_url_that_is_none(url):
    said = scheduler_refused(url)
    assert "--database-url" in said and "s3cr3t" not in said


@pytest.mark.parametrize("url", ["postgresql://user:s3/cr3t@127.0.0.1:5432/db", "postgresql://user:x@s3cr3t@127.0.0.1/db"])
def test_a_password_that_is_not_escaped(url):
    said = scheduler_refused(url)
    assert "--database-url has no valid host or port" in said and "cr3t" not in said


@pytest.fixture
def guarded():
    """A PostgreSQL that requires passwords."""
    server = Postgres()
    (server.folder / "data/pg_hba.conf").write_text("host all runyard 127.0.0.1/32 trust\nhost all guest 127.0.0.1/32 scram-sha-256\n")
    server.start()
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("create role guest login password 'right'")
    yield server
    server.release()


def test_what_postgresql_refuses(guarded):
    there = f"127.0.0.1:{guarded.port}"
    for url, words in ((f"postgresql://guest:s3cr3t@{there}/postgres", "password authentication failed"), (f"postgresql://guest@{there}/postgres", "no password"),
                       (f"postgresql://nobody@{there}/postgres", "no pg_hba.conf entry"), (f"postgresql://runyard@{there}/absent", "does not exist")):
        for command in ((), ("migrate",), ("bootstrap", "admin", "admin@example.com", "acme")):
            said = scheduler_refused(url, *command)
            assert words in said and "--database-url" in said and "s3cr3t" not in said


def test_a_database_of_an_unreleased_version(postgres, ask, database):
    ask("update schema_migrations set name = '0001_first_run' where name = '0001_baseline'")
    for command in ((), ("migrate",)):
        said = scheduler_refused(database, *command)
        assert "made by an unreleased version" in said and "0001_first_run" in said and "empty database" in said


def test_an_address_that_can_not_be_listened_on(scheduler, postgres):
    """It is reported before any wait: nothing listens on the ports of the database and the broker."""
    taken = scheduler().port
    nowhere = "postgresql://runyard@127.0.0.1:1/none"
    for address, words in ((f"127.0.0.1:{taken}", "in use"), ("192.0.2.1:8080", "assign"), ("8080", "host:port"), ("localhost:1", "IPv4")):
        for option in ("--listen", "--metrics-listen"):
            said = scheduler_refused(nowhere, *(["--listen", "127.0.0.1:0"] if option == "--metrics-listen" else []), option, address)
            assert option in said and words in said
        assert words in refused("runyard-notifier", "--listen", address, RUNYARD_NOTIFIER_TOKEN="token")


def test_an_address_of_a_worker(worker, folder):
    one = worker()
    for address, words in ((f"127.0.0.1:{one.port}", "in use"), ("8080", "host:port")):
        said = refused("runyard-worker", "--listen", address, "--data-dir", str(folder / "other"), RUNYARD_AGENT_TOKEN="token")
        assert "--listen" in said and words in said


@pytest.mark.parametrize("binary, options", [("runyard-scheduler", {"RUNYARD_DATABASE_URL": "postgresql://runyard@127.0.0.1:1/none", "RUNYARD_KEYS": KEYS}),
                                             ("runyard-worker", {"RUNYARD_AGENT_TOKEN": "token"}), ("runyard-notifier", {"RUNYARD_NOTIFIER_TOKEN": "token"})])
def test_too_few_descriptors(binary, options, folder):
    more = {"RUNYARD_DATA_DIR": folder / "data"} if binary == "runyard-worker" else {}
    limited = ["prlimit", "--nofile=200:200", program(binary), "--listen", "127.0.0.1:0"]
    done = subprocess.run(limited, capture_output=True, text=True, timeout=30, env=clean_environment(**options, **more))
    assert done.returncode == 1
    assert "too few descriptors: this process may open 200 and needs" in done.stderr and "LimitNOFILE" in done.stderr


@pytest.mark.parametrize("arguments, words", [
    (("serve", "--listen", "127.0.0.1:0"), "--listen is not an option of this command. Options of the process precede it: runyard-scheduler [options] serve"),
    (("bootstrap", "admin", "--keys-file", "x"), "--keys-file is not an option of this command"),
    (("migrate", "now"), "unexpected argument 'now'"),
    (("srve",), "unknown command 'srve'"),
    (("--listen",), "--listen: a value is needed"),
    (("--listen", "--rate-limit", "5"), "--listen: a value is needed"),
    (("--lisen", "x"), "unknown option --lisen"),
])
def test_arguments_of_a_scheduler(arguments, words):
    assert words in scheduler_refused("postgresql://runyard@127.0.0.1:1/none", *arguments)


@pytest.mark.parametrize("binary, secret", [("runyard-worker", "RUNYARD_AGENT_TOKEN"), ("runyard-notifier", "RUNYARD_NOTIFIER_TOKEN")])
def test_arguments_that_nobody_reads(binary, secret):
    for arguments in (("serve",), ("--log-level", "info", "start"), ("-v",)):
        assert f"unexpected argument '{arguments[-1]}'" in refused(binary, *arguments, **{secret: "token"})
