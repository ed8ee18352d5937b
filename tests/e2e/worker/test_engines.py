# SPDX-License-Identifier: MPL-2.0
"""Workers with several engines, another one, or none: jobs run with the engine and the version that they need."""

import pytest

from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture(autouse=True)
def short_leases(scheduler):
    """A worker reports a new engine with its next heartbeat."""
    return scheduler(lease_seconds=8)


def install(folder, engine, program, title, version):
    """An engine that reports that version, and runs the engine of the test."""
    folder.mkdir(exist_ok=True)
    draft, path = folder / f".{program}-{version}", folder / f"{program}-{version}"
    draft.write_text(f'#!/bin/sh\ncase "$1" in\nversion) echo "{title} v{version}" ;;\n*) exec {engine.path} "$@" ;;\nesac\n')
    draft.chmod(0o755)
    draft.rename(path)
    return path


def options_with_engines(engine, folder):
    """The options of a worker that has only the engines in the folder."""
    folder.mkdir(exist_ok=True)
    return {"engine": "/nowhere/terraform", "engine_dir": folder, "opa": "/nowhere/opa", "sandbox_bind": f"{engine.folder},{folder}"}


def started(worker):
    return [line for line in worker.log_lines() if line["msg"] == "worker started"][-1]


def test_a_worker_without_an_engine_is_not_ready_until_it_has_one(api, worker, engine, folder):
    engines = folder / "engines"
    one = worker.launch(**options_with_engines(engine, engines)).start_waiting(ready=False)
    until(lambda: "can run nothing" in one.get("/readyz")[1], "it says why it is not ready")
    assert one.get("/readyz")[0] == 503 and started(one)["capabilities"] == "none"
    run = api.run_files(api.workspace(auto_apply=True), ONE)
    until(lambda: one.metric("runyard_worker_heartbeats_total", outcome="ok") >= 2, "the scheduler knows it")
    assert api.status(run) in ("pending", "plan_queued")
    assert one.metric("runyard_worker_claims_total") == 0 and one.metric("runyard_worker_jobs_total") == 0
    install(engines, engine, engine.program, engine.title, "9.9.8")
    one.process.wait_until(one.ready, "is ready with the engine")
    assert api.wait_status(run, "applied")["terraform-version"] == "9.9.8"
    assert [line["capabilities"] for line in one.log_lines() if "capabilities have changed" in line["msg"]] == [f"{engine.program} 9.9.8, sentinel, cost, query, test, provider-sets, identity"]


def test_an_apply_waits_for_a_worker_with_the_engine_of_its_plan(api, worker, engine, gate, folder):
    """The other worker has the same version of another engine, and a similar version of the same one."""
    install(folder / "a", engine, "tofu", "OpenTofu", "1.10.6")
    install(folder / "b", engine, "terraform", "Terraform", "1.10.6")
    install(folder / "b", engine, "tofu", "OpenTofu", "1.10.7")
    one = worker(**options_with_engines(engine, folder / "a"), slots=1)
    workspace = api.workspace()
    run = api.run_files(workspace, ONE)
    assert api.wait_status(run, "planned")["terraform-version"] == "1.10.6"
    two = worker(**options_with_engines(engine, folder / "b"))
    api.act(run, "apply")
    api.wait_status(run, "applied")
    assert "OpenTofu v1.10.6" in api.log(run, "apply")
    assert one.metric("runyard_worker_jobs_total", stage="apply") == 1 and two.metric("runyard_worker_jobs_total") == 0


def test_an_apply_fails_if_no_worker_has_its_engine(api, worker, engine, folder):
    install(folder / "a", engine, "tofu", "OpenTofu", "1.10.6")
    install(folder / "b", engine, "terraform", "Terraform", "1.10.6")
    one = worker(**options_with_engines(engine, folder / "a"))
    run = api.run_files(api.workspace(), ONE)
    api.wait_status(run, "planned")
    assert one.stop() == 0
    worker(**options_with_engines(engine, folder / "b"))
    api.act(run, "apply")
    error = api.wait_status(run, "errored")["error"]
    assert "planned with OpenTofu 1.10.6" in error and "There are: Terraform 1.10.6." in error, error
