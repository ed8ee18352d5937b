# SPDX-License-Identifier: MPL-2.0
"""Interfaces for operators: health, metrics, logs and --help."""

import json
import re
import subprocess
from datetime import datetime

import pytest

from support.process import clean_environment, program
from support.servers import ROOT
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
TABLE = re.compile(r'^OPTION\(\w+,\s+"([\w-]+)",\s+(?:OPT_)?(\w+),\s+(?:[^"]*,)?\s*(NULL|"[^"]*"),.*"(.*)"\)$', re.M)
KINDS = {"COUNTER": "counter", "GAUGE": "gauge", "SAMPLE": "gauge", "HISTOGRAM": "histogram"}
METRIC = re.compile(r'^METRIC\(\w+,\s+"(\w+)",\s+(\w+),\s+"(.*)"\)$', re.M)


@pytest.fixture(scope="module")
def done(site):
    """A site that has applied a run, and that run."""
    api = site.api
    run = api.run_files(api.workspace(auto_apply=True), ONE)
    api.wait_status(run, "applied")
    return site, run


@pytest.mark.parametrize("name", ["scheduler", "worker"])
def test_a_running_process_is_healthy_and_ready(site, name):
    service = getattr(site, name)
    assert service.get("/healthz")[0] == 200
    assert service.get("/readyz")[0] == 200


@pytest.mark.parametrize("name", ["scheduler", "worker"])
def test_every_metric_of_the_table_is_exposed_in_the_prometheus_format(done, name):
    service = getattr(done[0], name)
    rows = [row for folder in ("common", name) for row in METRIC.findall((ROOT / folder / "metrics.def").read_text())]
    text = service.get("/metrics")[1]
    assert len(rows) > 10
    for metric, kind, help in rows:
        assert f"# HELP {metric} {help}\n" in text and f"# TYPE {metric} {KINDS[kind]}\n" in text, metric
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) .*|[a-z_]+(\{[a-z]+=\"[^\"]*\"(,[a-z]+=\"[^\"]*\")*\})? [-+0-9.einfNa]+", line), line


@pytest.mark.parametrize("name", ["scheduler", "worker"])
def test_histogram_counts_match_their_buckets(done, name):
    found = getattr(done[0], name).metrics()
    counts = {series: value for series, value in found.items() if "_count" in series.split("{")[0]}
    assert counts
    for series, value in counts.items():
        base, _, labels = series.partition("{")
        base, labels = base.removesuffix("_count"), labels.rstrip("}")
        bucket = [v for s, v in found.items() if s.startswith(f"{base}_bucket{{") and 'le="+Inf"' in s and all(part in s for part in labels.split(",") if part)]
        assert value in bucket, series
        assert f"{base}_sum{{{labels}}}" in found or f"{base}_sum" in found


def test_the_scheduler_counts_jobs_claims_and_requests(done):
    scheduler, worker = done[0].scheduler, done[0].worker
    until(lambda: scheduler.metric("runyard_worker_slots", state="all") == 2, "the sweep has counted the worker")
    until(lambda: scheduler.metric("runyard_slots_wanted") == 0, "no slot is wanted")
    for state in ("waiting", "running"):
        until(lambda: scheduler.metric("runyard_jobs", pool="default", state=state) == 0, f"no job is {state}")
    until(lambda: scheduler.metric("runyard_outbox_rows") == 0, "the outbox is empty")
    until(lambda: scheduler.metric("runyard_kafka_up") >= 1, "the broker is connected")
    found = scheduler.metrics()
    assert 'runyard_slots_wanted{pool="default"}' in found and 'runyard_oldest_waiting_seconds{pool="default"}' in found
    assert scheduler.metric("runyard_claims_total", outcome="jobs") >= 2
    assert scheduler.metric("runyard_claimed_jobs_total", stage="plan") == scheduler.metric("runyard_claimed_jobs_total", stage="apply") == 1
    assert scheduler.metric("runyard_run_transitions_total", status="applied") == 1
    assert scheduler.metric("runyard_result_seconds_count") == 2
    assert scheduler.metric("runyard_runs_total", outcome="applied", source="tfe-api") == 1
    for stage in ("plan", "apply"):
        assert scheduler.metric("runyard_run_stage_seconds_count", stage=stage, outcome="finished") == 1
        assert 0 < scheduler.metric("runyard_run_stage_seconds_sum", stage=stage, outcome="finished") < 300
    assert scheduler.metric("runyard_job_starts_total") == 2
    assert scheduler.metric("runyard_state_writes_total", result="current") >= 1
    assert scheduler.metric("runyard_state_writes_total") == scheduler.metric("runyard_state_writes_total", result="current")
    assert scheduler.metric("runyard_database_up") == 1
    assert 0 < scheduler.metric("runyard_database_wait_seconds_sum") < scheduler.metric("runyard_database_wait_seconds_count")
    assert scheduler.metric("runyard_schema_version", of="database") == scheduler.metric("runyard_schema_version", of="program") >= 1
    assert scheduler.metric("runyard_encryption_key_first_used_timestamp_seconds", key="1") > 1.7e9
    assert scheduler.metric("runyard_outbox_oldest_seconds") == 0 == scheduler.metric("runyard_run_tasks_open")
    assert scheduler.metric("runyard_outbox_publish_seconds_count") >= 2
    assert scheduler.metric("runyard_http_requests_total", route="/api/v2/runs", method="POST", status="201") == 1
    assert scheduler.metric("runyard_http_request_duration_seconds_count") > 0
    until(lambda: worker.metric("runyard_worker_jobs_total", stage="apply", outcome="passed") == 1, "its jobs have ended")


@pytest.mark.parametrize("name, clients", [("scheduler", ("publisher", "intake")), ("worker", ("results", "job messages"))])
def test_brokers_and_the_build_are_shown(done, name, clients):
    service = getattr(done[0], name)
    version = subprocess.run([program(f"runyard-{name}"), "--version"], capture_output=True, text=True, check=True).stdout.split()
    assert service.version == version[1]
    for client in clients:
        until(lambda client=client: service.metric("runyard_kafka_brokers", client=client, state="up") == 1, f"{client} has the broker")
        assert service.metric("runyard_kafka_brokers", client=client) == 1
    until(lambda: 0 < service.metric("runyard_kafka_broker_rtt_seconds", broker="1") < 10, "its time is measured")


def test_waiting_jobs_are_counted_as_wanted_slots(api, scheduler):
    runs = [api.run_files(api.workspace(), ONE) for _ in range(3)]
    first = scheduler.all[0]
    until(lambda: first.metric("runyard_slots_wanted", pool="default") == 3, "all slots are wanted")
    until(lambda: first.metric("runyard_runs", status="plan_queued") == 3, "all runs are counted")
    assert first.metric("runyard_jobs", state="waiting") == 3 and first.metric("runyard_jobs", state="running") == 0
    until(lambda: first.metric("runyard_oldest_waiting_seconds", pool="default") > 0, "the age grows")
    for run in runs:
        api.act(run, "cancel")
    until(lambda: first.metric("runyard_slots_wanted", pool="default") == 0, "no slot is wanted")


def test_the_worker_counts_jobs_steps_and_results(done):
    worker = done[0].worker
    until(lambda: worker.metric("runyard_worker_job_slots_busy") == 0, "the worker is idle")
    until(lambda: worker.metric("runyard_worker_result_seconds_count") == 2, "both results are delivered")
    found = worker.metrics()
    assert found["runyard_worker_job_slots"] == 2 and found["runyard_worker_draining"] == 0
    for command in ("init", "plan", "show", "apply"):
        assert worker.metric("runyard_worker_process_seconds_count", command=command) == 1
    assert worker.metric("runyard_worker_states_sent_total") >= 1
    assert worker.metric("runyard_worker_job_message_seconds_count") >= 1
    assert worker.metric("runyard_worker_result_seconds_count", way="kafka") >= 1  # the broker may be slow
    for step in ("fetch", "unpack", "init", "plan", "settle"):
        assert worker.metric("runyard_worker_step_seconds_count", stage="plan", step=step) == 1
    assert worker.metric("runyard_worker_inits_reused_total") == 1


@pytest.mark.parametrize("name", ["scheduler", "worker"])
def test_logs_are_json_lines_with_the_runs_id(done, name):
    site, run = done
    lines = getattr(site, name).process.log().splitlines()
    entries = [json.loads(line) for line in lines]
    assert len(entries) > 3
    for line in entries:
        assert {"ts", "level", "process", "msg"} <= line.keys() and line["process"] == name
        assert line["ts"].endswith("Z") and datetime.fromisoformat(line["ts"].replace("Z", "+00:00"))
        assert line["level"] in ("debug", "info", "warn", "error")
    assert len([line for line in entries if line.get("run") == run]) >= 4


@pytest.mark.parametrize("name", ["scheduler", "worker"])
def test_help_lists_every_option_with_its_variable_and_default(name):
    done = subprocess.run([program(f"runyard-{name}"), "--help"], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0 and not done.stderr
    rows = TABLE.findall((ROOT / name / "options.def").read_text())
    assert len(rows) >= 10
    for option, kind, fallback, help in rows:
        section = next(part for part in done.stdout.split("\n\n") if re.match(rf"\s*--{option}(-file)? ", part))
        assert "RUNYARD_" + option.upper().replace("-", "_") in section and help in " ".join(section.split()), option
        assert ("--" + option + "-file" in section) == (kind == "SECRET")
        if fallback == "NULL":
            assert "Required." in section
        elif fallback != '""':
            assert f"Default: {fallback[1:-1]}" in section, option


def test_the_broker_has_help():
    done = subprocess.run([program("runyard-broker"), "--help"], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0 and "--port" in done.stdout and "--port-file" in done.stdout
