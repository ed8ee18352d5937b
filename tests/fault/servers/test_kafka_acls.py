# SPDX-License-Identifier: MPL-2.0
# label: full
"""A Kafka with ACLs: those that `topics` prints suffice. If one is missing, runs continue, and a log line names it."""

import pytest

from support.kafka_acls import KafkaWithAcls
from support.runyard import KEYS, Scheduler
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
REFUSED = "Kafka refuses this account: an ACL is missing"


@pytest.fixture(scope="module")
def kafka_with_acls(session_folder):
    folder = session_folder / "kafka-acls"
    folder.mkdir()
    server = KafkaWithAcls(folder).start()
    yield server
    server.release()


@pytest.fixture
def bus(kafka_with_acls):
    return kafka_with_acls


def printed(database, kafka, *arguments):
    options = kafka.options_of("runyard")
    return Scheduler.run_command("topics", *arguments, database_url=database, keys=KEYS, **options).stdout.splitlines()


@pytest.fixture(scope="module")
def allowed(kafka_with_acls, template):
    """Runs the commands that the command prints, once: the template's pool is in every copy of its database."""
    lines = printed(template[0], kafka_with_acls, "--acls")
    kafka_with_acls.run_all(lines)
    return lines


@pytest.fixture
def stack(kafka_with_acls, allowed, scheduler, worker):
    def start():
        one = scheduler(**kafka_with_acls.options_of("runyard-scheduler"))
        return one, worker(**kafka_with_acls.options_of("runyard-worker"))

    return start


def refusals(service):
    return [line["acl"] for line in service.log_lines() if line["msg"] == REFUSED]


def lag_series(service):
    return [series for series in service.metrics() if series.startswith("runyard_kafka_topic_lag") and "runyard.jobs." in series]


def applied(api):
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")


def test_the_printed_acls_suffice(kafka_with_acls, database, stack, notifier, request):
    for line in printed(database, kafka_with_acls, "--create")[:2]:
        kafka_with_acls.run(line)
    one, two = stack()
    three = notifier(**kafka_with_acls.options_of("runyard-notifier"))
    applied(request.getfixturevalue("api"))
    until(lambda: two.metric("runyard_worker_results_total", way="kafka") >= 1, "results arrive by Kafka")
    until(lambda: lag_series(one), "the lag is measured", timeout=60)
    for service in (one, two, three):
        assert refusals(service) == []
        assert service.metric("runyard_kafka_errors_total", kind="authorization") == 0


# The beginnings of names of ACLs, and what the log of which process names.
MISSING = [("worker", "--group runyard-worker-", "Read on group runyard-worker-apool-"),
           ("worker", "--topic runyard.results", "Write on topic runyard.results"),
           ("worker", "--group runyard-broadcast-", "Describe on group runyard-broadcast-"),
           ("scheduler", "--group runyard-worker-", "Describe on group runyard-worker-apool-"),
           ("scheduler", "--group runyard-scheduler", "Read on group runyard-scheduler"),
           ("scheduler", "--topic runyard.", "Write on topic runyard.")]


@pytest.mark.parametrize("process,acl,named", MISSING, ids=lambda value: value.replace(" ", "-"))
def test_a_missing_acl_is_named(kafka_with_acls, allowed, stack, request, process, acl, named):
    (line,) = [line for line in allowed if f"User:runyard-{process} " in line and acl in line]
    kafka_with_acls.forbid(line)
    try:
        one, two = stack()
        service = one if process == "scheduler" else two
        applied(request.getfixturevalue("api"))
        until(lambda: any(acl.startswith(named) for acl in refusals(service)), lambda: f"{named}: {refusals(service)}", timeout=60)
        if service is one and named.startswith("Describe"):
            until(lambda: one.metric("runyard_kafka_lag_failures_total", reason="authorization") >= 1, "a counter says why")
            assert lag_series(one) == []
        if not named.startswith("Describe"):
            assert service.metric("runyard_kafka_errors_total", kind="authorization") >= 1
        assert one.ready() and two.ready()
    finally:
        kafka_with_acls.run(line)
