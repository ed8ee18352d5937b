# SPDX-License-Identifier: MPL-2.0
"""Tests of modules, run by the engines in the sandbox."""

import itertools
import urllib.request

import pytest

from support.engine import each_engine
from support.modules import ModuleTests, Modules
from support.terraform import HOST
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


def test_a_test_run_is_canceled(site, tests, gate):
    configuration = tests.upload(waiting(gate))
    with site.worker.changed(sandbox_bind=gate.folder, job_stop_seconds=3600):
        run = tests.run(configuration)
        gate.wait()
        assert tests.act(run, "cancel").status == 202
        gate.open()
        assert counts(ended(tests, run))[0] == "canceled"


def test_a_test_run_above_the_time_limit_is_stopped(site, tests, gate):
    organization = f"admin/organizations/{site.api.organization}"

    def limit(text):
        site.api.patch(organization, {"data": {"type": "organizations", "attributes": {"plan-timeout": text}}})

    configuration = tests.upload(waiting(gate))
    limit("3s")
    with site.worker.changed(sandbox_bind=gate.folder, job_stop_seconds=1):
        shown = ended(tests, tests.run(configuration))
    limit("")
    assert shown["status"] == "errored" and shown["error"].startswith("The plan took more than 3 s (plan-timeout of the organization) and was stopped.")


# ---- terraform test -cloud-run ----


@pytest.fixture
def laptop(engine, terraform, tests):
    """A user's terraform in a copy of the module, and how it names the module."""
    if engine.program != "terraform":
        pytest.skip("OpenTofu does not have -cloud-run")
    user = terraform(body=MAIN)
    (user.folder / "tests").mkdir()
    return user, f"-cloud-run={HOST}/acme/{tests.name}/null"


def test_terraform_test_runs_the_tests_here(tests, laptop):
    user, module = laptop
    tests.variable("size", "2", "terraform", hcl=True)
    user.write("tests/a.tftest.hcl", TEST % ("two", 2)).init()
    said = user.run("test", module)
    assert "two... pass" in said and "Success! 1 passed, 0 failed." in said
    said = user.run("test", module, "-var=size=3", code=1)
    assert "wrong size" in said and "Failure! 0 passed, 1 failed." in said
    runs = tests.api.get(tests.path("test-runs")).data
    assert [(run["attributes"]["status"], run["attributes"]["test-status"]) for run in runs] == [("finished", "fail"), ("finished", "pass")]


def test_an_interrupted_terraform_test_cancels_its_run(site, tests, laptop, gate):
    user, module = laptop
    for name, text in waiting(gate).items():
        user.write(name, text)
    user.init()
    with site.worker.changed(sandbox_bind=gate.folder, job_stop_seconds=3600):
        terminal = user.terminal("test", module)
        gate.wait()
        terminal.type("\x03")
        gate.open()
        terminal.ended(1)
    (run,) = tests.api.get(tests.path("test-runs")).data
    assert run["attributes"]["status"] == "canceled"
