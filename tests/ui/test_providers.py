# SPDX-License-Identifier: MPL-2.0
"""The registry's providers: the list with its search, a provider with its versions, their publication and deletion, and GPG keys."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Api
from support.openpgp import signer
from support.people import People
from support.providers import Providers, file_name, shasums
from support.wait import until


@pytest.fixture(scope="module")
def published(fake_site):
    providers = Providers(Api(fake_site.scheduler.url, fake_site.tokens["token"]))
    for version in ("1.0.0", "1.1.0"):
        providers.publish("time", version, {"linux_amd64": b"an archive", "darwin_arm64": b"another archive"})
    providers.version("time", "2.0.0")
    providers.create("aws", **{"registry-name": "public", "namespace": "hashicorp"})
    return providers


@pytest.fixture
def visit(visitors, sessions, fake_site, published):
    """visit(path) is a signed-in page."""
    owner = (fake_site.tokens["user"], fake_site.tokens["password"])
    return lambda path, user=owner: sessions.page(visitors, fake_site.scheduler.url, user, path)


def test_a_provider_is_searched_opened_and_its_version_deleted(visit, fake_site, published, axe):
    page = visit("/app/acme/providers")
    expect(page.get_by_text(re.compile("[2-4] providers"))).to_be_visible()
    page.get_by_label("Search providers").fill("tim")
    expect(page).to_have_url(re.compile("q=tim"))
    expect(page.get_by_text("1 provider", exact=True)).to_be_visible()
    axe(page)
    page.get_by_role("link", name="time").click()
    expect(page.get_by_role("heading", name="time", level=1)).to_be_visible()
    host = fake_site.scheduler.url.removeprefix("http://")
    expect(page.locator("pre")).to_contain_text(f'source  = "{host}/acme/time"\n      version = "1.1.0"')
    versions = page.get_by_role("table", name="Versions")
    expect(versions.get_by_role("row", name=re.compile(r"^2\.0\.0 "))).to_contain_text("Not uploaded")
    expect(versions.get_by_role("row", name=re.compile(r"^1\.1\.0 "))).to_contain_text("darwin_arm64, linux_amd64")
    axe(page)
    page.get_by_role("button", name="Delete version 2.0.0").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type 2.0.0 to confirm").fill("2.0.0")
    dialog.get_by_role("button", name="Delete").click()
    expect(versions.get_by_role("row", name=re.compile(r"^2\.0\.0 "))).to_have_count(0)
    assert published.api.call("GET", published.path("time", "versions", "2.0.0")).status == 404


def chosen(name, content):
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def archives(version, *platforms):
    return {file_name("fresh", version, platform): f"the archive {platform}".encode() for platform in platforms}


def choose(dialog, files, sums=None, signature=None):
    if sums:
        dialog.get_by_label("SHA256SUMS", exact=True).set_input_files(chosen("SHA256SUMS", sums))
    if signature:
        dialog.get_by_label("Signature of SHA256SUMS").set_input_files(chosen("SHA256SUMS.sig", signature))
    dialog.get_by_label("Archives").set_input_files([chosen(name, content) for name, content in files.items()])


def test_a_provider_and_its_version_are_published(visit, visitors, published, axe):
    visitors.expect_console("422")
    page = visit("/app/acme/providers")
    page.get_by_role("button", name="Publish Provider").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("fresh")
    dialog.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("heading", name="fresh", level=1)).to_be_visible()
    page.get_by_role("button", name="New Version").click()
    files = archives("1.0.0", "linux_amd64", "darwin_arm64")
    sums = shasums(files)
    choose(dialog, {**files, **archives("1.0.0", "linux_arm64"), "<b>.zip": b"x"}, sums)
    expect(dialog.get_by_label("Version", exact=True)).to_have_value("1.0.0")
    table = dialog.get_by_role("table", name="Files")
    expect(table.get_by_role("row", name=re.compile("linux_arm64"))).to_contain_text("SHA256SUMS has no line for it")
    expect(table.get_by_role("row", name=re.compile("<b>.zip"))).to_contain_text("Not named terraform-provider-fresh_VERSION_OS_ARCH.zip")
    publish = dialog.get_by_role("button", name="Publish")
    expect(publish).to_be_disabled()
    axe(page)
    choose(dialog, files, signature=signer("another").sign(sums))
    publish.click()
    expect(dialog.get_by_role("alert")).to_contain_text("can't be verified")
    expect(table.get_by_role("row", name=re.compile("SHA256SUMS.sig"))).to_contain_text("Failed")
    name = file_name("fresh", "1.0.0", "darwin_arm64")
    choose(dialog, {**files, name: b"changed"}, signature=published.key.sign(sums))
    publish.click()
    expect(dialog.get_by_role("alert")).to_contain_text("the SHA-256 of the archive is")
    expect(table.get_by_role("row", name=re.compile("linux_amd64"))).to_contain_text("Sent")
    expect(table.get_by_role("row", name=re.compile("darwin_arm64"))).to_contain_text("Failed")
    axe(page)
    dialog.get_by_role("button", name="Cancel").click()
    row = page.get_by_role("table", name="Versions").get_by_role("row", name=re.compile(r"^1\.0\.0 "))
    expect(row).to_contain_text("Usable")
    row.get_by_role("button", name="Add files to version 1.0.0").click()
    choose(dialog, files)
    held = []
    page.route("**/*", lambda route: held.append(route) if route.request.method == "PUT" and not held else route.continue_())
    dialog.get_by_role("button", name="Upload").click()
    until(lambda: page.title() and held, "the first file is on its way")
    page.keyboard.press("Escape")  # a slip of the hand ends no upload
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("button", name=re.compile("^Cancel"))).to_have_attribute("title", "the request has been sent")
    held[0].continue_()
    expect(dialog).to_have_count(0)
    expect(row).to_contain_text("darwin_arm64, linux_amd64")
    assert {version: sorted(platforms) for version, platforms in published.served("fresh").items()} == {"1.0.0": ["darwin_arm64", "linux_amd64"]}


def test_a_person_without_the_right_sees_why_nothing_can_be_published(visit, fake_site, published):
    made = published.create("guarded")
    people = People(published.api, fake_site.database)
    reader = people.with_password("rita", people.team("readers"))
    published.api.patch(published.path("guarded"), {"data": {"type": "registry-providers", "relationships": {
        "tag-bindings": {"data": [{"type": "tag-bindings", "attributes": {"key": "env", "value": "test"}}]}}}})
    page = visit("/app/acme/providers", user=reader)
    reason = "you need the permission to manage providers"
    expect(page.get_by_role("button", name="Publish Provider")).to_have_attribute("title", reason)
    page.get_by_role("link", name="env: test").click()
    expect(page.get_by_text("1 provider", exact=True)).to_be_visible()
    page.get_by_role("link", name="guarded").click()
    expect(page).to_have_url(re.compile(made["id"]))
    for button in ("New Version", "Delete provider guarded"):
        expect(page.get_by_role("button", name=button)).to_have_attribute("title", reason)
    expect(page.get_by_role("link", name="env: test")).to_be_visible()
    expect(page.get_by_label("New tag")).to_have_count(0)


def test_a_version_needs_a_key(visit, published):
    published.api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": "keyless", "email": "keyless@example.com"}}})
    keyless = Providers(Api(published.api.url, published.api.token, "keyless"))
    page = visit(f"/app/keyless/providers/{keyless.create('time')['id']}")
    expect(page.get_by_text("There is no version yet.")).to_be_visible()
    page.get_by_role("button", name="New Version").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("link", name="settings")).to_have_attribute("href", "/app/keyless/settings/gpg-keys")
    expect(dialog.get_by_role("button", name="Publish")).to_be_disabled()


def test_a_key_is_added_and_deleted_and_one_in_use_stays(visit, visitors, published, axe):
    visitors.expect_console("422")
    other = signer("another")
    page = visit("/app/acme/settings/gpg-keys")
    expect(page.get_by_text(published.key.key_id, exact=True)).to_be_visible()
    page.get_by_role("button", name="New GPG key").click()
    page.get_by_label("Public key").fill("nonsense")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.get_by_role("dialog")).to_contain_text("not an OpenPGP key")
    page.get_by_label("Public key").fill(other.armor)
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.get_by_text(other.key_id, exact=True)).to_be_visible()
    axe(page)
    page.get_by_role("button", name=f"Delete {other.key_id}").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text(other.key_id, exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name=f"Delete {published.key.key_id}")).to_be_disabled()
