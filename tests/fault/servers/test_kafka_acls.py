# SPDX-License-Identifier: MPL-2.0
# label: extended
"""A Kafka with ACLs: those that `topics` prints suffice. If one is missing, runs continue, and a log line names it."""

import pytest

from support.kafka_acls import KafkaWithAcls
from support.runyard import KEYS, Scheduler
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
LEASE = 12  # a result that can't go by Kafka is sent again after a heartbeat
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
        one = scheduler(lease_seconds=LEASE, **kafka_with_acls.options_of("runyard-scheduler"))
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


# The beginnings of names of ACLs, and what the log of the process names: one of the worker, and one of the scheduler.
# The two processes have accounts of their own, so one missing ACL does not hide the other.
MISSING = [(("--group runyard-worker-", "Read on group runyard-worker-apool-"), ("--group runyard-worker-", "Describe on group runyard-worker-apool-")),
           (("--topic runyard.results", "Write on topic runyard.results"), ("--group runyard-scheduler", "Read on group runyard-scheduler")),
           (("--group runyard-broadcast-", "Describe on group runyard-broadcast-"), ("--topic runyard.", "Write on topic runyard."))]


def line_of(allowed, process, acl):
    (line,) = [line for line in allowed if f"User:runyard-{process} " in line and acl in line]
    return line


def check_named(service, named):
    until(lambda: any(acl.startswith(named) for acl in refusals(service)), lambda: f"{named}: {refusals(service)}", timeout=60)
    if not named.startswith("Describe"):
        assert service.metric("runyard_kafka_errors_total", kind="authorization") >= 1
    assert service.ready()


@pytest.mark.parametrize("of_worker, of_scheduler", [MISSING[0], *(pytest.param(*row, marks=pytest.mark.extended) for row in MISSING[1:])], ids=lambda pair: pair[1].replace(" ", "-"))
def test_a_missing_acl_is_named(kafka_with_acls, allowed, stack, request, of_worker, of_scheduler):
    lines = [line_of(allowed, "worker", of_worker[0]), line_of(allowed, "scheduler", of_scheduler[0])]
    kafka_with_acls.forbid_all(lines)
    try:
        one, two = stack()
        applied(request.getfixturevalue("api"))
        check_named(two, of_worker[1])
        check_named(one, of_scheduler[1])
        if of_scheduler[1].startswith("Describe"):
            until(lambda: one.metric("runyard_kafka_lag_failures_total", reason="authorization") >= 1, "a counter says why")
            assert lag_series(one) == []
    finally:
        kafka_with_acls.run_all(lines)
