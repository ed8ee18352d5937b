# SPDX-License-Identifier: MPL-2.0
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


def has_log_line(service, message, level=None):
    """Whether a line of the process's log contains the words."""
    return any(message in json.dumps(line) and level in (None, line["level"]) for line in service.log_lines())


def start(binary, *arguments, **environment):
    return subprocess.run([program(binary), *arguments], capture_output=True, text=True, env=clean_environment(**environment))


def test_the_scheduler_waits_for_postgresql_at_the_start(scheduler, postgres):
    postgres.stop()
    try:
        first = scheduler.launch()
        first.process.wait_until(lambda: has_log_line(first, "waiting for PostgreSQL", "warn"), "waits for PostgreSQL")
    finally:
        postgres.start()
    first.start_waiting()
    assert first.ready()


def test_waiting_for_postgresql_ends_on_a_signal(scheduler):
    first = scheduler.launch(database_url="postgresql://runyard@127.0.0.1:1/none")
    first.process.wait_until(lambda: has_log_line(first, "waiting for PostgreSQL", "warn"), "waits for PostgreSQL")
    assert first.stop() == 1


def test_processes_start_and_run_jobs_without_a_broker(scheduler, worker, tokens, folder, request):
    broker = Broker(folder)
    broker.process.name, broker.process.log_path = "broker-later", folder / "broker-later.log"
    first = scheduler(brokers=broker.address)
    api = request.getfixturevalue("api")
    one = worker(brokers=broker.address)
    try:
        workspace = api.workspace(auto_apply=True)
        api.wait_status(api.run_files(workspace, ONE), "applied")
        until(lambda: has_log_line(first, broker.address) and has_log_line(one, broker.address), "both log that the broker is unreachable")
        assert first.metric("runyard_kafka_up") == 0
        broker.start()
        until(lambda: first.metric("runyard_outbox_rows") == 0 and first.metric("runyard_kafka_up", client="intake") == 1, "the pending messages are sent")
        api.wait_status(api.run(workspace, is_destroy=True), "applied")
    finally:
        first.stop(), one.stop(), broker.release()


def test_a_taken_port_ends_the_start(scheduler, folder):
    first = scheduler()
    done = start("runyard-scheduler", "--listen", f"127.0.0.1:{first.port}", RUNYARD_DATABASE_URL=first.options["database_url"], RUNYARD_KEYS=KEYS,
                 RUNYARD_BROKERS=first.options["brokers"])
    assert done.returncode == 1 and str(first.port) in done.stderr and "in use" in done.stderr


def test_a_data_folder_in_use_by_another_worker_ends_the_start(worker, tokens):
    one = worker()
    done = start("runyard-worker", "--data-dir", str(one.options["data_dir"]), RUNYARD_AGENT_TOKEN=tokens["agent-token"])
    assert done.returncode == 1 and "another worker uses" in done.stderr


@pytest.mark.parametrize("token", ["wrong", ""])
def test_a_worker_with_a_wrong_token_exits(worker, tokens, token):
    one = worker.launch(agent_token=token or tokens["token"])
    assert one.process.ended() == 1
    assert has_log_line(one, "does not take this worker's agent token", "error")
    assert tokens["token"] not in one.process.log()


def test_a_worker_waits_for_its_scheduler(scheduler, worker, tokens, request):
    first = scheduler()
    first.stop()
    one = worker.launch()
    one.process.wait_until(lambda: has_log_line(one, "can't be reached", "warn"), "says that the scheduler can't be reached")
    first.start()
    one.start_waiting()
    api = request.getfixturevalue("api")
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")


def test_a_workers_data_folder_is_readable_by_its_owner_only(worker):
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
def test_an_invalid_database_url_is_refused(url):
    output = scheduler_refused(url)
    assert "--database-url" in output and "s3cr3t" not in output


@pytest.mark.parametrize("url", ["postgresql://user:s3/cr3t@127.0.0.1:5432/db", "postgresql://user:x@s3cr3t@127.0.0.1/db"])
def test_an_unescaped_password_in_the_database_url_is_refused(url):
    output = scheduler_refused(url)
    assert "--database-url has no valid host or port" in output and "cr3t" not in output


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


def test_connections_refused_by_postgresql_end_the_start_with_the_reason(guarded):
    server = f"127.0.0.1:{guarded.port}"
    for url, words in ((f"postgresql://guest:s3cr3t@{server}/postgres", "password authentication failed"), (f"postgresql://guest@{server}/postgres", "no password"),
                       (f"postgresql://nobody@{server}/postgres", "no pg_hba.conf entry"), (f"postgresql://runyard@{server}/absent", "does not exist")):
        for command in ((), ("migrate",), ("bootstrap", "admin", "admin@example.com", "acme")):
            output = scheduler_refused(url, *command)
            assert words in output and "--database-url" in output and "s3cr3t" not in output


def test_a_database_of_an_unreleased_version_is_refused(postgres, ask, database):
    ask("update schema_migrations set name = '0001_first_run' where name = '0001_baseline'")
    for command in ((), ("migrate",)):
        output = scheduler_refused(database, *command)
        assert "made by an unreleased version" in output and "0001_first_run" in output and "empty database" in output


def test_an_unusable_listen_address_is_reported_at_once(scheduler, postgres):
    """The error is reported before any wait: nothing listens on the ports of the database and the broker."""
    taken = scheduler().port
    unreachable_url = "postgresql://runyard@127.0.0.1:1/none"
    for address, words in ((f"127.0.0.1:{taken}", "in use"), ("192.0.2.1:8080", "assign"), ("8080", "host:port"), ("localhost:1", "IPv4")):
        for option in ("--listen", "--metrics-listen"):
            output = scheduler_refused(unreachable_url, *(["--listen", "127.0.0.1:0"] if option == "--metrics-listen" else []), option, address)
            assert option in output and words in output
        assert words in refused("runyard-notifier", "--listen", address, RUNYARD_NOTIFIER_TOKEN="token")


def test_an_unusable_listen_address_of_a_worker_is_reported_at_once(worker, folder):
    one = worker()
    for address, words in ((f"127.0.0.1:{one.port}", "in use"), ("8080", "host:port")):
        output = refused("runyard-worker", "--listen", address, "--data-dir", str(folder / "other"), RUNYARD_AGENT_TOKEN="token")
        assert "--listen" in output and words in output


@pytest.mark.parametrize("binary, options", [("runyard-scheduler", {"RUNYARD_DATABASE_URL": "postgresql://runyard@127.0.0.1:1/none", "RUNYARD_KEYS": KEYS}),
                                             ("runyard-worker", {"RUNYARD_AGENT_TOKEN": "token"}), ("runyard-notifier", {"RUNYARD_NOTIFIER_TOKEN": "token"})])
def test_too_few_file_descriptors_end_the_start(binary, options, folder):
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
def test_invalid_arguments_of_the_scheduler_are_refused(arguments, words):
    assert words in scheduler_refused("postgresql://runyard@127.0.0.1:1/none", *arguments)


@pytest.mark.parametrize("binary, secret", [("runyard-worker", "RUNYARD_AGENT_TOKEN"), ("runyard-notifier", "RUNYARD_NOTIFIER_TOKEN")])
def test_unexpected_arguments_are_refused(binary, secret):
    for arguments in (("serve",), ("--log-level", "info", "start"), ("-v",)):
        assert f"unexpected argument '{arguments[-1]}'" in refused(binary, *arguments, **{secret: "token"})
