# SPDX-License-Identifier: MPL-2.0
"""The registry's modules: the list with its search, and a module with its versions."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Api
from support.documents import document
from support.fake_worker import FakeWorker
from support.modules import TYPE, Modules, ModuleTests
from support.vcs_connections import GIT, connect


@pytest.fixture(scope="module")
def published(fake_site):
    """The registry of the organization, with a module of three versions, one of them deprecated and one revoked, and another module."""
    modules = Modules(Api(fake_site.scheduler.url, fake_site.tokens["token"]))
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        modules.publish("network", version, {"main.tf": ""})
    for version, *marks in (("1.1.0", {"deprecation": {"deprecated-status": "Deprecated", "reason": "It has a defect.", "link": "https://example.com/why"}}),
                            ("1.2.0", {"deprecation": {"deprecated-status": "Deprecated"}}, {"revocation": {"status": "Revoked"}})):
        for mark in marks:
            modules.api.patch(modules.path("network", version), {"data": {"type": "module-versions", "attributes": mark}})
    modules.create("database")
    return modules


@pytest.fixture
def visit(visitors, sessions, fake_site, published):
    """visit(path) is a signed-in page."""
    user = (fake_site.tokens["user"], fake_site.tokens["password"])
    return lambda path: sessions.page(visitors, fake_site.scheduler.url, user, path)


def test_a_module_is_searched_and_opened(visit, fake_site, axe):
    page = visit("/app/acme/modules")
    expect(page.get_by_text("2 modules")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("database"))).to_contain_text("No version yet")
    page.get_by_label("Search modules").fill("netw")
    expect(page).to_have_url(re.compile("q=netw"))
    expect(page.get_by_text("1 module", exact=True)).to_be_visible()
    axe(page)
    page.get_by_role("link", name="network", exact=True).click()
    expect(page.get_by_role("heading", name="network", level=1)).to_be_visible()
    host = fake_site.scheduler.url.removeprefix("http://")
    expect(page.locator("pre")).to_have_text(f'module "network" {{\n  source  = "{host}/acme/network/null"\n  version = "1.0.0"\n}}')
    versions = page.get_by_role("table", name="Versions")
    for version, texts in (("1.0.0", ["Usable"]), ("1.1.0", ["Deprecated", "It has a defect."]), ("1.2.0", ["Revoked"])):
        for text in texts:
            expect(versions.get_by_role("row", name=re.compile(re.escape(version)))).to_contain_text(text)
    expect(page.get_by_role("link", name="More about version 1.1.0")).to_have_attribute("href", "https://example.com/why")
    axe(page)


def test_tags_of_a_module_are_changed_and_searched(visit, published):
    page = visit(f"/app/acme/modules/{published.read('network')['id']}")
    expect(page.get_by_text("No tags")).to_be_visible()
    for key, value in (("my team", ""), ("env", "production")):
        page.get_by_label("New tag").fill(key)
        page.get_by_label("Value, if it has one").fill(value)
        page.get_by_label("Value, if it has one").press("Enter")
        expect(page.get_by_role("button", name=f"Remove the tag {key}")).to_be_visible()
    page.get_by_role("link", name="my team").click()
    expect(page.get_by_label("Search modules")).to_have_value('tag:"my team"')
    expect(page.get_by_text("1 module", exact=True)).to_be_visible()
    page.get_by_label("Search modules").fill("tag:env=test")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.get_by_label("Search modules").fill("tag:env=production net")
    page.get_by_role("link", name="env: production").click()
    expect(page.get_by_label("Search modules")).to_have_value("tag:env=production")
    page.get_by_role("link", name="network", exact=True).click()
    page.get_by_role("button", name="Remove the tag env").click()
    expect(page.get_by_role("link", name="env: production")).to_have_count(0)
    bindings = published.api.get(f"registry-modules/{published.read('network')['id']}/tag-bindings").data
    assert [item["attributes"] for item in bindings] == [{"key": "my team", "value": ""}]


def test_a_search_without_a_match_and_a_module_without_versions_say_so(visit):
    page = visit("/app/acme/modules?q=nothing-like-it")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page = visit("/app/acme/modules?q=database")
    page.get_by_role("link", name="database").click()
    expect(page.get_by_text("There is no version yet.")).to_be_visible()


@pytest.fixture(scope="module")
def described(fake_site, published):
    """A module with a description: hostile markup, inputs and outputs, a submodule, and two workspaces that use it."""
    worker = FakeWorker(fake_site.scheduler.url, fake_site.tokens["agent-token"], "describer")
    published.publish("described", "1.0.0", {"main.tf": ""})
    published.publish("described", "2.0.0", {"main.tf": ""})
    root = {"inputs": [{"name": "cidr", "type": "string", "description": "The <b>range</b>.", "default": "", "required": True, "sensitive": False},
                       {"name": "key", "type": "string", "description": "", "default": "", "required": False, "sensitive": True}],
            "outputs": [{"name": "id", "description": "The id.", "sensitive": False}], "dependencies": [{"name": "inner", "source": "./modules/inner", "version": ""}],
            "provider_dependencies": [{"name": "aws", "namespace": "hashicorp", "source": "hashicorp/aws", "version": "~> 5.0"}],
            "resources": [{"type": "aws_vpc", "name": "this", "mode": "managed"}]}
    worker.describe("# A network\n\n<script>alert(1)</script>\n\n[bad](javascript:alert(1)) and [good](https://example.com/docs)", **root)
    return published


def test_a_module_shows_what_is_in_it(visit, described, axe):
    module = described.read("described")
    page = visit(f"/app/acme/modules/{module['id']}")
    expect(page.get_by_role("heading", name="A network")).to_be_visible()
    expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()
    expect(page.get_by_role("link", name="good")).to_have_attribute("href", "https://example.com/docs")
    assert page.get_by_role("link", name="bad").count() == 0
    inputs = page.get_by_role("table", name="inputs")
    for row, texts in (("cidr", ["required", "The <b>range</b>."]), ("key", ["(sensitive)"])):
        for text in texts:
            expect(inputs.get_by_role("row", name=re.compile(row))).to_contain_text(text)
    for table, text in (("outputs", "The id."), ("called modules", "./modules/inner"), ("providers", "hashicorp/aws"), ("resources", "aws_vpc.this")):
        expect(page.get_by_role("table", name=table)).to_contain_text(text)
    expect(page.get_by_label("Described version")).to_have_value("2.0.0")
    page.get_by_label("Described version").select_option("1.0.0")
    expect(page).to_have_url(re.compile("version=1.0.0"))
    expect(page.get_by_role("heading", name="A network")).to_be_visible()
    expect(page.get_by_text("No workspace that you see uses this module.")).to_be_visible()
    axe(page)


def test_a_version_without_a_description_says_so(visit, described):
    described.publish("undescribed", "1.0.0", {"main.tf": ""})
    page = visit(f"/app/acme/modules/{described.read('undescribed')['id']}")
    expect(page.get_by_text("This version has not been inspected yet, or can't be described.")).to_be_visible()


def test_test_runs_of_a_module_are_shown_with_their_log(visit, fake_site, published, axe):
    tests = ModuleTests(published, "network")
    worker = FakeWorker(fake_site.scheduler.url, fake_site.tokens["agent-token"], slots=4, capabilities=["terraform 1.11.4", "test"])
    made = tests.run(tests.upload({"main.tf": ""}))
    page = visit(f"/app/acme/modules/{tests.module}")
    page.get_by_role("link", name="Tests").click()
    expect(page.get_by_role("heading", name="Tests", level=1)).to_be_visible()
    page.get_by_role("link", name=re.compile("Queued")).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    job = worker.take(made["id"].replace("trun-", "run-"), "plan")
    worker.on(job, "PUT", "log?offset=0", b'{"@message":"a word of the log","type":"log"}\n')
    worker.end(job, additions=2, changes=1)
    expect(page.get_by_role("status").filter(has_text="Failed")).to_be_visible()
    expect(page.get_by_text("2 passed, 1 failed")).to_be_visible()
    expect(page.get_by_text("a word of the log")).to_be_visible()
    axe(page)


def test_a_version_whose_tests_have_failed_is_tested_again(visit, fake_site, published, axe):
    published.create("required")
    worker = FakeWorker(fake_site.scheduler.url, fake_site.tokens["agent-token"], slots=4, capabilities=["terraform 1.11.4", "test"])
    page = visit(f"/app/acme/modules/{published.read('required')['id']}/tests")
    expect(page.get_by_text("New versions are published without tests.")).to_be_visible()
    page.get_by_role("button", name="Require Tests").click()
    expect(page.get_by_text("A new version is published when its tests have passed.")).to_be_visible()
    axe(page)
    published.publish("required", "1.0.0")
    page = visit(f"/app/acme/modules/{published.read('required')['id']}")
    row = page.get_by_role("table", name="Versions").get_by_role("row", name=re.compile("1.0.0"))
    expect(row).to_contain_text("Waiting for its tests")
    link = row.get_by_role("link", name="Test run of version 1.0.0")
    expect(link).to_be_visible()
    run = re.search("run=trun-([^&]+)", link.get_attribute("href"))[1]
    worker.end(worker.take(f"run-{run}", "plan"), additions=2, changes=1)
    expect(row).to_contain_text("Tests failed")
    expect(row).to_contain_text(f"The tests did not pass in the test run trun-{run}: 2 passed, 1 failed, 0 errored.")
    axe(page)
    row.get_by_role("button", name="Test Again: version 1.0.0").click()
    expect(row).to_contain_text("Waiting for its tests")
    again = published.read("required", "1.0.0")["relationships"]["test-run"]["data"]["id"]
    worker.end(worker.take(again.replace("trun-", "run-"), "plan"), additions=3)
    expect(row).to_contain_text("Usable")


def test_each_commit_of_a_branch_is_tested_or_not(visit, published, axe):
    _, token = connect(published.api, GIT)
    repo = {"identifier": "acme/terraform-null-followed.git", "oauth-token-id": token, "branch": "main", "tags": False}
    made = published.api.post(f"{published.base}/vcs", document(TYPE, {"vcs-repo": repo}))
    page = visit(f"/app/acme/modules/{made.data['id']}/tests")
    expect(page.get_by_text("No commit of the branch main is tested.")).to_be_visible()
    page.get_by_role("button", name="Test Each Commit").click()
    expect(page.get_by_text("starts a test run")).to_be_visible()
    assert published.read("followed")["attributes"]["test-config"]["tests-enabled"]
    axe(page)
    page.get_by_role("button", name="Stop Testing Commits").click()
    expect(page.get_by_role("button", name="Test Each Commit")).to_be_visible()
    assert not published.read("followed")["attributes"]["test-config"]["tests-enabled"]
