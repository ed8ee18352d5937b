# SPDX-License-Identifier: MPL-2.0
"""The registry's modules: the list with its search, and a module with its versions."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Api, tar_gz
from support.documents import document
from support.fake_git import FakeGit
from support.fake_worker import FakeWorker
from support.modules import TYPE, Modules, ModuleTests
from support.pages import wait_loaded
from support.people import People
from support.site import new_folder
from support.vcs_connections import GIT, connect
from support.vcs_fakes import GitHub
from support.vcs_fakes.repository import GitView


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
    expect(page.get_by_role("heading", name="Tags")).to_be_focused()
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
    row = page.get_by_role("table", name="Versions").get_by_role("row", name=re.compile(r"^1\.0\.0 "))
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


# ---- publishing and managing ----


def archive(content):
    return {"name": "module.tar.gz", "mimeType": "application/gzip", "buffer": content if isinstance(content, bytes) else tar_gz(content)}


def row_of(page, version):
    return page.get_by_role("table", name="Versions").get_by_role("row", name=re.compile(re.escape(version)))


def delete(page, what, name):
    """Types the name into the dialog, and deletes."""
    page.get_by_role("button", name=f"Delete {what} {name}", exact=True).click()
    dialog = page.get_by_role("dialog", name=f"Delete {what} {name}")
    expect(dialog.get_by_role("button", name="Delete")).to_have_attribute("aria-disabled", "true")
    dialog.get_by_label(f"Type {name} to confirm").fill(name)
    dialog.get_by_role("button", name="Delete").click()


def test_a_module_is_published_by_upload_and_goes_on_after_a_refused_step(visit, visitors, published, axe):
    visitors.expect_console("422")
    page = visit("/app/acme/modules")
    page.get_by_role("link", name="Publish Module").click()
    page.get_by_role("tab", name="By upload").click()
    publish = page.get_by_role("button", name="Publish")
    for label, value, reason in (("Name", "network", "enter its provider"), ("Provider", "null", "enter a version"), ("Version", "1.0", "choose the files")):
        page.get_by_label(label, exact=True).fill(value)
        expect(publish).to_have_attribute("title", reason)
    page.get_by_label("Files").set_input_files(archive(b"no archive"))
    publish.click()
    expect(page.get_by_label("Version", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Version", exact=True).fill("1.0.0")
    publish.click()
    expect(page.get_by_text("Name has already been taken")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Name", exact=True).fill("uploaded")
    publish.click()
    expect(page.get_by_label("Files")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert")).to_contain_text("no gzip'd tar archive")
    page.get_by_role("tab", name="From a repository").click()
    page.get_by_role("tab", name="By upload").click()
    expect(page.get_by_text("Its version 1.0.0 has no files yet")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_count(0)
    axe(page)
    page.get_by_label("Files").set_input_files(archive({"main.tf": ""}))
    publish.click()
    expect(page.get_by_role("heading", name="uploaded", level=1)).to_be_visible()
    expect(row_of(page, "1.0.0")).to_contain_text("Usable")
    assert [item["version"] for item in published.read("uploaded")["attributes"]["version-statuses"]] == ["1.0.0"]


def test_versions_are_added_marked_and_deleted(visit, visitors, published, axe):
    visitors.expect_console("422")
    visitors.expect_console("404")
    published.publish("managed", "1.0.0")
    page = visit(f"/app/acme/modules/{published.read('managed')['id']}")
    page.get_by_role("button", name="New Version").click()
    dialog = page.get_by_role("dialog", name="New version")
    dialog.get_by_label("Files").set_input_files(archive(b"no archive"))
    for version, field in (("1.x", "Version"), ("1.0.0", "Version"), ("1.1.0", "Files")):
        dialog.get_by_label("Version", exact=True).fill(version)
        dialog.get_by_role("button", name="Publish").click()
        expect(dialog.get_by_label(field, exact=True)).to_have_attribute("aria-invalid", "true")
    axe(page)
    dialog.get_by_role("button", name="Cancel").click()
    row = row_of(page, "1.1.0")
    expect(row).to_contain_text("Upload refused")
    row.get_by_role("button", name="Upload version 1.1.0").click()
    dialog = page.get_by_role("dialog", name="Upload version 1.1.0")
    dialog.get_by_label("Files").set_input_files(archive({"main.tf": ""}))
    dialog.get_by_role("button", name="Publish").click()
    expect(row).to_contain_text("Usable")

    row = row_of(page, "1.0.0")
    row.get_by_role("button", name="Deprecate version 1.0.0").click()
    dialog = page.get_by_role("dialog", name="Deprecate version 1.0.0")
    dialog.get_by_label("Reason").fill("It is old.")
    dialog.get_by_label("Link").fill("javascript:alert(1)")
    dialog.get_by_role("button", name="Deprecate").click()
    expect(dialog.get_by_label("Link")).to_have_attribute("aria-invalid", "true")
    axe(page)
    dialog.get_by_label("Link").fill("https://example.com/new")
    dialog.get_by_role("button", name="Deprecate").click()
    expect(row).to_contain_text("It is old.")
    expect(row.get_by_role("link", name="More about version 1.0.0")).to_have_attribute("href", "https://example.com/new")
    row.get_by_role("button", name="Revoke version 1.0.0").click()
    dialog = page.get_by_role("dialog", name="Revoke version 1.0.0")
    dialog.get_by_label("Reason").fill("It leaks.")
    dialog.get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("Revoked")
    expect(row).to_contain_text("It leaks.")
    for word, deprecated in (("Deprecated", True), ("Usable", False)):
        row.get_by_role("button", name="Reinstate version 1.0.0").click()
        dialog = page.get_by_role("dialog", name="Reinstate version 1.0.0")
        if deprecated:
            dialog.get_by_label("It stays deprecated").check()
        dialog.get_by_role("button", name="Reinstate").click()
        expect(row).to_contain_text(word)
    delete(page, "version", "1.0.0")
    expect(row).to_have_count(0)
    delete(page, "version", "1.1.0")
    expect(page.get_by_role("heading", name="Modules", level=1)).to_be_visible()
    assert "managed" not in published.names()


def test_all_modules_of_a_name_are_deleted(visit, visitors, published):
    visitors.expect_console("404")
    for provider in ("null", "aws"):
        published.create("twins", provider=provider)
    page = visit(f"/app/acme/modules/{published.read('twins')['id']}")
    expect(page.get_by_text("All 2 modules of the name twins: those of aws, null.")).to_be_visible()
    delete(page, "all modules", "twins")
    expect(page.get_by_role("heading", name="Modules", level=1)).to_be_visible()
    assert "twins" not in published.names()


@pytest.fixture(scope="module")
def forge(fake_site, published):
    """A repository of a fake GitHub, with a tag and two commits, that the organization is connected with. Its commits are fetched."""
    fake, git = GitHub(new_folder("github")), FakeGit(fake_site)
    connect(published.api, {"service-provider": "github", "http-url": fake.url, "api-url": fake.api_url, "oauth-token-string": "good-token"}, name="Forge")
    repository = fake.repository("acme/terraform-null-vpc", {"main.tf": ""})
    repository.copy.git("tag", "app-v1.2.3")
    repository.copy.git("push", "--quiet", "origin", "app-v1.2.3")
    repository.copy.commit_and_push({"main.tf": "# two"}, "Add a subnet", "main")
    git.repositories[repository.identifier] = GitView(repository)
    yield repository
    git.stop()
    fake.release()
    fake.check()


def choose(page, repository):
    page.get_by_label("Connection", exact=True).select_option("Forge")
    page.get_by_label("Repository", exact=True).fill(repository.identifier)
    expect(page.get_by_label("Name", exact=True)).to_have_value("vpc")
    expect(page.get_by_label("Provider", exact=True)).to_have_value("null")


def test_a_module_is_published_from_tags(visit, visitors, published, forge, axe):
    visitors.expect_console("422")
    page = visit("/app/acme/modules/new")
    publish = page.get_by_role("button", name="Publish")
    expect(publish).to_have_attribute("title", "choose a connection")
    choose(page, forge)
    page.get_by_label("Tag prefix").fill("app-")
    page.get_by_label("Folder").fill("../elsewhere")
    publish.click()
    expect(page.get_by_label("Folder")).to_have_attribute("aria-invalid", "true")
    axe(page)
    page.get_by_label("Folder").fill("")
    publish.click()
    expect(page.get_by_role("heading", name="vpc", level=1)).to_be_visible()
    expect(page.get_by_text("Each tag of the repository such as app-v1.2.3 publishes a version.")).to_be_visible()
    expect(row_of(page, "1.2.3")).to_contain_text("Usable")
    repository = page.get_by_role("region", name="Repository")
    expect(repository.get_by_role("link", name=forge.identifier)).to_be_visible()
    expect(repository).to_contain_text("Last look")
    expect(repository).not_to_contain_text("None has succeeded yet")
    expect(page.get_by_role("button", name="New Version")).to_have_count(0)


def test_a_module_is_published_from_a_branch(visit, visitors, published, forge, axe):
    visitors.expect_console("422")
    page = visit("/app/acme/modules/new")
    choose(page, forge)
    page.get_by_label("Versions").select_option("branch")
    publish = page.get_by_role("button", name="Publish")
    expect(publish).to_have_attribute("title", "enter the branch")
    page.get_by_label("Branch", exact=True).fill("main")
    name = page.get_by_label("Name", exact=True)
    name.fill("network")
    publish.click()
    expect(name).to_have_attribute("aria-invalid", "true")
    name.fill("renamed")
    publish.click()
    expect(page.get_by_role("heading", name="renamed", level=1)).to_be_visible()
    expect(page.get_by_text(f"From the branch main of {forge.identifier}")).to_be_visible()
    expect(row_of(page, "0.0.0")).to_contain_text("Usable")
    page.get_by_role("button", name="New Version").click()
    dialog = page.get_by_role("dialog", name="New version")
    dialog.get_by_label("Version", exact=True).fill("1.0.0")
    options = dialog.get_by_label("Commit").locator("option")
    expect(options.nth(1)).to_contain_text("Add a subnet")
    older = options.nth(2).get_attribute("value")
    dialog.get_by_label("Commit").select_option(older)
    axe(page)
    dialog.get_by_role("button", name="Publish").click()
    expect(row_of(page, "1.0.0")).to_contain_text("Usable")
    assert published.read("renamed", "1.0.0")["attributes"]["commit-sha"] == older == forge.sha("main~1")


def test_people_who_may_not_manage_modules_are_told_why(visitors, sessions, fake_site, published):
    people = People(published.api, fake_site.database)
    user = people.with_password("iris", people.team("readers"))
    page = sessions.page(visitors, fake_site.scheduler.url, user, "/app/acme/modules")
    why = "you need the permission to manage modules"
    expect(page.get_by_role("button", name="Publish Module")).to_have_attribute("title", why)
    page.goto("/app/acme/modules/new")
    expect(page.get_by_text(f"To publish a module, {why}.")).to_be_visible()
    expect(page.get_by_role("button", name="Publish")).to_have_attribute("title", why)
    page.goto(f"/app/acme/modules/{published.read('network')['id']}")
    wait_loaded(page, "How to use")
    for name in ("New Version", "Delete module network"):
        expect(page.get_by_role("button", name=re.compile(name))).to_have_attribute("title", why)
    expect(page.get_by_role("button", name=re.compile("version 1.0.0"))).to_have_count(0)
