# SPDX-License-Identifier: MPL-2.0
# label: full
"""Starting without the servers it takes, with a wrong token, or where another runs already: a clear line, then on."""

import json
import os
import stat
import subprocess

import pytest

from support.process import clean_environment, program
from support.runyard import KEYS
from support.servers import Broker
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def said(service, message, level=None):
    """Whether a line of the process's log has the words."""
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
        until(lambda: first.metric("runyard_outbox_rows") == 0 and first.metric("runyard_kafka_up", client="results") == 1, "what waited is sent")
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
