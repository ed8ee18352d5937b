# SPDX-License-Identifier: MPL-2.0
"""Tests of modules, run by the engines in the sandbox, and started by terraform itself."""

import contextlib
import itertools
import urllib.request

import pytest

from support.engine import each_engine
from support.gate import Gate
from support.modules import ModuleTests, Modules
from support.wait import until

names = itertools.count(1)
pytestmark = each_engine()
MAIN = 'variable "size" {\n  default = 1\n}\nresource "terraform_data" "one" {\n  input = var.size\n}\noutput "size" {\n  value = terraform_data.one.output\n}\n'
TEST = 'run "%s" {\n  assert {\n    condition = output.size == %s\n    error_message = "wrong size"\n  }\n}\n'
FINAL = ("finished", "errored", "canceled")


def waiting(gate):
    """A module whose apply blocks at the gate."""
    return {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n', "tests/a.tftest.hcl": 'run "blocks" {}\n'}


@pytest.fixture
def tests(site):
    modules, name = Modules(site.api), f"tested-{next(names)}"
    modules.create(name)
    made = ModuleTests(modules, name)
    made.name = name
    return made


def ended(tests, run):
    until(lambda: tests.read(run)["status"] in FINAL, "the test run has ended")
    return tests.read(run)


def log(shown):
    with urllib.request.urlopen(shown["log-read-url"]) as answer:
        return answer.read().decode()


def counts(shown):
    return (shown["status"], shown["test-status"], *(shown[f"tests-{what}"] for what in ("passed", "failed", "errored", "skipped")))


def test_tests_pass_and_fail_with_the_modules_variables(tests):
    tests.variable("size", "2", "terraform", hcl=True)
    tests.variable("SECRET", "very-hidden-word", sensitive=True)
    files = {"main.tf": MAIN, "tests/a.tftest.hcl": TEST % ("two", 2), "checks/b.tftest.hcl": TEST % ("three", 3),
             "tests/c.tftest.hcl": 'run "inner" {\n  module {\n    source = "./tests/inner"\n  }\n}\n',
             "tests/inner/main.tf": 'resource "terraform_data" "said" {\n  provisioner "local-exec" {\n    command = "echo said: $SECRET"\n  }\n}\n'}
    configuration = tests.upload(files)
    shown = ended(tests, tests.run(configuration))
    assert counts(shown) == ("finished", "pass", 2, 0, 0, 0), log(shown)
    assert "Success!" in log(shown) and "very-hidden-word" not in log(shown)
    shown = ended(tests, tests.run(configuration, test_directory="checks"))
    assert counts(shown) == ("finished", "fail", 0, 1, 0, 0) and "wrong size" in log(shown)
    shown = ended(tests, tests.run(configuration, test_directory="checks", variables=[{"key": "size", "value": "3"}], verbose=True))
    assert counts(shown) == ("finished", "pass", 1, 0, 0, 0) and '"type":"test_state"' in log(shown)
    shown = ended(tests, tests.run(configuration, filters=["tests/a.tftest.hcl"]))
    assert counts(shown) == ("finished", "pass", 1, 0, 0, 0)


def test_a_broken_module_errs(tests):
    shown = ended(tests, tests.run(tests.upload({"main.tf": "resource {", "tests/a.tftest.hcl": 'run "a" {}\n'})))
    assert shown["status"] == "errored" and shown["test-status"] is None and shown["error"]


@contextlib.contextmanager
def changed(worker, **options):
    """The worker, restarted with other options for a while."""
    before = dict(worker.options)
    worker.stop()
    worker.options.update(options)
    worker.start()
    yield worker
    worker.stop()
    worker.options = before
    worker.start()


def test_a_test_run_is_canceled_force_canceled_and_timed_out(site, tests, gate):
    configuration = tests.upload(waiting(gate))
    with changed(site.worker, sandbox_bind=gate.folder, job_stop_seconds=3600):
        run = tests.run(configuration)
        gate.wait()
        assert tests.act(run, "cancel").status == 202
        gate.open()
        assert counts(ended(tests, run))[0] == "canceled"
    again = Gate(gate.folder.parent, "again")
    configuration = tests.upload({"main.tf": f"output \"word\" {{\n  value = {again.expression}\n}}\n", "tests/a.tftest.hcl": 'run "blocks" {}\n'})  # which no signal ends
    with changed(site.worker, sandbox_bind=again.folder, job_stop_seconds=3600):
        run = tests.run(configuration)
        again.wait()
        assert tests.act(run, "cancel").status == 202
        until(lambda: tests.read(run)["actions"]["is-force-cancelable"], "the test run may be force-canceled")
        assert tests.act(run, "force-cancel").status == 202
        shown = ended(tests, run)
        assert shown["status"] == "canceled" and "force-canceled-at" in shown["status-timestamps"]
    with changed(site.worker, sandbox_bind=again.folder, plan_seconds=5, job_stop_seconds=1):
        shown = ended(tests, tests.run(configuration))
    again.open()
    assert shown["status"] == "errored" and "took more than 5 s" in shown["error"]


def test_the_identity_is_signed_for_the_module(tests):
    tests.variable("TFC_WORKLOAD_IDENTITY_AUDIENCE", "cloud")
    files = {"main.tf": 'resource "terraform_data" "one" {\n  provisioner "local-exec" {\n    command = "echo $TFC_WORKLOAD_IDENTITY_TOKEN | cut -d. -f2 | tr _- /+ | base64 -d 2>/dev/null || true"\n  }\n}\n',
             "tests/a.tftest.hcl": 'run "said" {}\n'}
    shown = ended(tests, tests.run(tests.upload(files)))
    assert counts(shown)[:3] == ("finished", "pass", 1)


def test_terraform_runs_tests_remotely(terraform, tests, engine):
    if engine.program != "terraform":
        pytest.skip("OpenTofu has no -cloud-run")
    user = terraform(body=MAIN)
    (user.folder / "tests").mkdir()
    user.write("tests/a.tftest.hcl", TEST % ("two", 2))
    user.run("init", "-input=false")
    said = user.run("test", f"-cloud-run={user.host}/acme/{tests.name}/null", "-var", "size=2")
    assert "Success!" in said and '"two"... pass' in said
    said = user.run("test", f"-cloud-run={user.host}/acme/{tests.name}/null", code=1)
    assert "wrong size" in said
    (failed, passed) = tests.api.get(tests.path("test-runs")).data
    assert (passed["attributes"]["source"], passed["attributes"]["test-status"], failed["attributes"]["test-status"]) == ("terraform", "pass", "fail")
