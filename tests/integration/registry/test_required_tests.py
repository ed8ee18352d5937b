# SPDX-License-Identifier: MPL-2.0
"""Versions of modules that require tests: they are published when the tests of their content have passed. No engine runs."""

import contextlib
import hashlib
import http.client
import threading

import pytest

from support.api import Api, tar_gz
from support.documents import document, refused_at
from support.modules import TYPE, ModuleTests, Modules
from support.people import People
from support.wait import until

ENGINE = ["terraform 1.11.4", "test", "identity"]
CONTENT = {"main.tf": "", "tests/a.tftest.hcl": 'run "a" {}\n'}
WAITS, FAILED, PUBLISHED = "reg_ingressing", "reg_ingress_failed", "ok"


class Required:
    """The module `network`, which requires tests, and a worker without an engine."""

    def __init__(self, api_site, org):
        self.site, self.org, self.modules = api_site, org, Modules(org)
        made = self.modules.create("network", **{"test-config": {"tests-required": True}})
        assert made["attributes"]["test-config"]["tests-required"] is True
        self.tests = ModuleTests(self.modules, "network")
        self.worker = api_site.fake_worker(capabilities=ENGINE)

    def require(self, required):
        changed = self.org.patch(self.modules.path("network"), document(TYPE, {"test-config": {"tests-required": required}}))
        assert changed.data["attributes"]["test-config"]["tests-required"] is required

    def version(self, version="1.0.0", content=None):
        """A version that was uploaded."""
        made = self.modules.version("network", version)
        assert self.modules.upload(made, content or CONTENT).status == 200
        return made

    def read(self, version="1.0.0"):
        return self.modules.read("network", version)

    def state(self, version="1.0.0"):
        """The status, which the module tells, too, and the error."""
        while True:
            shown = self.read(version)["attributes"]
            (told,) = [item for item in self.modules.read("network")["attributes"]["version-statuses"] if item["version"] == version]
            if self.read(version)["attributes"] == shown:  # it has not changed meanwhile
                break
        assert (told["status"], told["error"]) == (shown["status"], shown["error"] or "")
        return shown["status"], shown["error"]

    def run_of(self, version="1.0.0", before=None):
        """The id of the test run of the version, once there is another one than `before`."""

        def found():
            data = self.read(version)["relationships"]["test-run"]["data"]
            return data and data["id"] != before and data["id"]

        until(found, lambda: f"the tests are started: {self.read(version)}")
        return self.read(version)["relationships"]["test-run"]["data"]["id"]

    def take(self, run):
        return self.worker.take(run.replace("trun-", "run-"), "plan")

    def end(self, run, outcome="passed", **counts):
        self.worker.end(self.take(run), outcome, **counts)
        until(lambda: self.tests.read({"id": run})["status"] in ("finished", "errored", "canceled"), "the test run has ended")

    def again(self, version="1.0.0"):
        return self.org.call("POST", self.modules.path("network", version, "actions", "test"))

    def engine(self, *path):
        return self.org.call("GET", "/".join((f"{self.org.url}/api/registry/v1/modules", self.org.organization, "network", "null", *path)))

    def served(self):
        return [item["version"] for item in self.engine("versions").json["modules"][0]["versions"]]


@pytest.fixture
def required(api_site, org):
    return Required(api_site, org)


def test_a_version_is_published_when_the_tests_of_its_content_have_passed(required):
    archive = tar_gz(CONTENT)
    required.version(content=archive)
    run = required.run_of()
    assert required.state() == (WAITS, None) and required.served() == []
    assert required.modules.read("network")["attributes"]["version-statuses"][0]["test-run"] == run
    for path in (("1.0.0",), ("1.0.0", "download"), ("download",), ()):
        assert required.engine(*path).status == 404, path
    shown = required.org.get(required.tests.path("test-runs", run)).data
    assert (shown["attributes"]["message"], shown["attributes"]["test-directory"], shown["attributes"]["filters"]) == ("Version 1.0.0", "tests", [])
    job = required.take(run)
    tested = required.worker.on(job, "GET", "configuration").body
    required.worker.end(job, additions=1)
    until(lambda: required.state() == (PUBLISHED, None), "the version is published")
    assert required.served() == ["1.0.0"]
    fetched = Api(required.org.url, None).call("GET", required.engine("1.0.0", "download").headers["X-Terraform-Get"]).body
    assert tested == fetched == archive and required.read()["attributes"]["sha256"] == hashlib.sha256(archive).hexdigest()
    assert required.again().status == 409


@pytest.mark.parametrize("outcome, more, said", [
    ("passed", {"additions": 3, "changes": 1}, "3 passed, 1 failed, 0 errored."),
    ("passed", {"additions": 3, "destructions": 2}, "3 passed, 0 failed, 2 errored."),
    ("passed", {"additions": 0}, "the module requires tests, and has none. Add files *.tftest.hcl to its folder tests."),
    ("passed", {"additions": 0, "imports": 2}, "all of them were skipped."),
    ("errored", {"error": "The plan took more than 3 s and was stopped."}, "The plan took more than 3 s and was stopped."),
])
def test_a_version_whose_tests_did_not_pass_says_why_and_is_tested_again(required, outcome, more, said):
    required.version()
    run = required.run_of()
    required.end(run, outcome, **more)
    assert required.state() == (FAILED, f"The tests did not pass in the test run {run}: {said}") and required.served() == []
    answer = required.again()
    assert answer.status == 200 and answer.data["attributes"]["status"] == WAITS and answer.data["attributes"]["error"] is None
    second = answer.data["relationships"]["test-run"]["data"]["id"]
    assert second != run and required.again().status == 409, "it is being tested"
    creator = required.org.get(required.tests.path("test-runs", second)).data["relationships"]["created-by"]["data"]["id"]
    assert creator == required.org.get("account/details").data["id"]
    required.end(second, additions=1)
    assert required.state() == (PUBLISHED, None) and required.served() == ["1.0.0"]


def test_canceled_tests_publish_nothing_and_the_version_can_be_deleted(required):
    required.version("0.9.0")
    required.end(required.run_of("0.9.0"), additions=1)
    required.version()
    run = required.run_of()
    assert required.tests.act({"id": run}, "cancel").status == 202
    assert required.state() == (FAILED, f"The tests did not pass in the test run {run}: it was canceled.")
    required.org.delete(required.modules.path("network", "1.0.0"))
    assert required.served() == ["0.9.0"] and [item["version"] for item in required.modules.read("network")["attributes"]["version-statuses"]] == ["0.9.0"]


def test_another_upload_is_tested_and_the_tests_of_the_replaced_content_publish_nothing(required):
    made = required.version()
    first = required.run_of()
    job = required.take(first)
    assert required.modules.upload(made, tar_gz({"main.tf": "# other content"})).status == 200
    second = required.run_of(before=first)
    required.worker.end(job, additions=1)
    until(lambda: required.tests.read({"id": first})["status"] == "finished", "the first test run has ended")
    assert required.state() == (WAITS, None) and required.served() == []
    required.end(second, changes=1)
    assert required.state()[0] == FAILED
    failed = required.state()
    assert required.modules.upload(made, tar_gz({"main.tf": "# other content"})).status == 200, "the same content changes nothing"
    assert required.modules.upload(made, b"no archive").status == 422
    assert required.state() == failed and required.served() == []
    assert required.modules.upload(made, CONTENT).status == 200
    assert required.state() == (WAITS, None) and required.served() == []
    required.end(required.run_of(before=second), additions=1)
    assert required.state() == (PUBLISHED, None)


def test_only_the_versions_own_test_run_publishes_it(required):
    required.version()
    run = required.run_of()
    other = required.tests.run(required.tests.upload(CONTENT))
    required.end(other["id"], additions=5)
    assert required.state() == (WAITS, None) and required.served() == []
    required.end(run, changes=1)
    required.end(required.tests.run(required.tests.upload(CONTENT))["id"], additions=5)
    assert required.state()[0] == FAILED and required.served() == []


def test_the_requirement_is_for_content_that_comes_later(required):
    required.require(False)
    required.version("1.0.0")
    assert required.state() == (PUBLISHED, None)
    required.require(True)
    made = required.version("2.0.0")
    required.require(False)
    run = required.run_of("2.0.0")
    assert required.state("1.0.0") == (PUBLISHED, None) and required.state("2.0.0") == (WAITS, None)
    required.end(run, changes=1)
    assert required.state("2.0.0")[0] == FAILED, "its tests decide, though the module does not require them any more"
    assert required.modules.upload(made, {"main.tf": "# mended"}).status == 200
    assert required.state("2.0.0") == (PUBLISHED, None)
    for value in ("yes", 1):
        answer = required.org.call("PATCH", required.modules.path("network"), document(TYPE, {"test-config": {"tests-required": value}}))
        refused_at(answer, "/data/attributes/test-config/tests-required")


def test_tests_that_can_not_be_started_say_so(required):
    pool, _ = required.org.pool()
    config = {"agent-execution-mode": "agent", "agent-pool-id": pool}
    required.org.patch(required.modules.path("network"), document(TYPE, {"test-config": config}))
    required.org.patch(f"agent-pools/{pool}", document("agent-pools", {"organization-scoped": False}))
    required.version()
    until(lambda: required.state()[0] == FAILED, lambda: f"the version fails: {required.state()}")
    assert required.state()[1].startswith("The tests can't be started: ") and required.read()["relationships"]["test-run"]["data"] is None
    assert required.again().status == 422
    required.org.patch(required.modules.path("network"), document(TYPE, {"test-config": {"agent-execution-mode": "remote"}}))
    assert required.again().status == 200
    required.end(required.run_of(), additions=1)
    assert required.state() == (PUBLISHED, None)


def test_only_those_who_manage_modules_test_again(required, api_site):
    people = People(required.org, api_site.database)
    required.version()
    required.end(required.run_of(), changes=1)
    path = required.modules.path("network", "1.0.0", "actions", "test")
    reader, manager = people.member("reader", people.team("readers")), people.member("manager", people.team("managers", manage_modules=True))
    assert reader.call("POST", path).status == 404 and required.state()[0] == FAILED
    other = api_site.organization()
    assert other.call("POST", path.replace(required.org.organization, other.organization, 1)).status == 404
    assert manager.call("POST", path).status == 200


def test_an_organization_with_which_the_module_is_shared_sees_no_test_run(required, api_site):
    other = api_site.stranger()
    api_site.change("update organizations set admin_settings = admin_settings || '{\"global-module-sharing\": true}' where name = %s", required.org.organization)
    required.version()
    required.worker.describe("# A secret readme")
    run = required.run_of()
    required.end(run, changes=1)
    base = required.modules.path("network").replace(f"organizations/{required.org.organization}/", f"organizations/{other.organization}/", 1)
    shown = other.get(base).data["attributes"]["version-statuses"]
    assert [(item["status"], item["error"], item["test-run"]) for item in shown] == [(FAILED, "", None)]
    version = other.get(f"{base}/version", module_version="1.0.0").data
    assert version["relationships"]["test-run"]["data"] is None and version["attributes"]["error"] is None
    described = other.get(f"registry-modules/{required.tests.module}/description", module_version="1.0.0")
    assert described.data["attributes"]["root"] is None and "secret" not in described.text
    required.again()
    required.end(required.run_of(before=run), additions=1)
    assert "A secret readme" in other.get(f"registry-modules/{required.tests.module}/description", module_version="1.0.0").text


# ---- schedulers that end, and several ----


def test_a_killed_scheduler_starts_and_ends_the_tests_of_each_version_once(required, api_site):
    """The scheduler is killed before it has started tests, and while workers send results, again and again."""
    versions = [f"1.{number}.0" for number in range(6)]
    other = api_site.new_scheduler("scheduler-2")

    def send(job, number):
        with contextlib.suppress(OSError, http.client.HTTPException):  # the scheduler is killed meanwhile
            required.worker.result(job, "passed", additions=1, changes=number % 2)

    for version in versions:
        required.version(version)
    api_site.scheduler.kill()
    other.start()
    api_site.scheduler.start()
    try:
        runs = [required.run_of(version) for version in versions]
        assert len(required.org.get(required.tests.path("test-runs")).data) == len(versions)
        jobs = [required.take(run) for run in runs]
        ends = [threading.Thread(target=send, args=(job, number)) for number, job in enumerate(jobs) for _ in range(2)]
        for end in ends:
            end.start()
        api_site.scheduler.kill()
        for end in ends:
            end.join()
        api_site.scheduler.start()
        for number, job in enumerate(jobs):
            send(job, number)
        expected = [(number, PUBLISHED if number % 2 == 0 else FAILED) for number in range(len(versions))]
        states = lambda: [(number, required.state(version)[0]) for number, version in enumerate(versions)]
        until(lambda: states() == expected, lambda: f"the versions have ended: {states()}")
        assert [required.run_of(version) for version in versions] == runs and len(required.org.get(required.tests.path("test-runs")).data) == len(versions)
        assert sorted(required.served()) == versions[::2]
    finally:
        other.release()
