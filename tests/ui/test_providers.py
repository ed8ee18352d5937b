# SPDX-License-Identifier: MPL-2.0
"""The registry's providers: the list with its search, a provider with its versions, their deletion, and GPG keys."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Api
from support.openpgp import signer
from support.providers import Providers


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
    user = (fake_site.tokens["user"], fake_site.tokens["password"])
    return lambda path: sessions.page(visitors, fake_site.scheduler.url, user, path)


def test_a_provider_is_searched_opened_and_its_version_deleted(visit, fake_site, published, axe):
    page = visit("/app/acme/providers")
    expect(page.get_by_text("2 providers")).to_be_visible()
    page.get_by_label("Search providers").fill("tim")
    expect(page).to_have_url(re.compile("q=tim"))
    expect(page.get_by_text("1 provider", exact=True)).to_be_visible()
    axe(page)
    page.get_by_role("link", name="time").click()
    expect(page.get_by_role("heading", name="time", level=1)).to_be_visible()
    host = fake_site.scheduler.url.removeprefix("http://")
    expect(page.locator("pre")).to_contain_text(f'source  = "{host}/acme/time"\n      version = "1.1.0"')
    versions = page.get_by_role("table", name="Versions")
    expect(versions.get_by_role("row", name=re.compile("2.0.0"))).to_contain_text("Not uploaded")
    expect(versions.get_by_role("row", name=re.compile("1.1.0"))).to_contain_text("darwin_arm64, linux_amd64")
    axe(page)
    page.get_by_role("button", name="Delete version 2.0.0").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type 2.0.0 to confirm").fill("2.0.0")
    dialog.get_by_role("button", name="Delete").click()
    expect(versions.get_by_role("row", name=re.compile("2.0.0"))).to_have_count(0)
    assert published.api.call("GET", published.path("time", "versions", "2.0.0")).status == 404


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
