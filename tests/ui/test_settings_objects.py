# SPDX-License-Identifier: MPL-2.0
"""Every kind of object in an organization's settings is created, changed and deleted; the audit trail shows each step."""

import re

import pytest
from playwright.sync_api import expect

from support.receiver import acknowledges

# By the page: the kind, the fields of a new one, the field that changes, and the words of the audit trail.
KINDS = {
    "teams": ("team", {"Name": "builders"}, ("Name", "makers"), "team"),
    "agent-pools": ("agent pool", {"Name": "yard"}, ("Name", "garden"), "agent pool"),
    "run-tasks": ("run task", {"Name": "lint", "Endpoint URL": None}, ("Description", "Looks at names"), "task"),
    "policy-sets": ("policy set", {"Name": "base"}, ("Description", "For all"), "policy set"),
    "policies": ("policy", {"Name": "no-open-ports", "Query": "data.p.deny"}, ("Description", "Closed"), "policy"),
    "variable-sets": ("variable set", {"Name": "common"}, ("Description", "For all"), "varset"),
    "provider-sets": ("provider set", {"Name": "clock", "Provider source": "hashicorp/time", "Configuration": 'provider "time" {}'}, ("Description", "For all"), "provider set"),
}


@pytest.fixture(scope="module")
def site(full_site):
    return full_site


@pytest.fixture(scope="module")
def service(site):
    return site.receiver.service(acknowledges, key="")


def dialog(page, button):
    page.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("section", KINDS)
def test_an_object_is_created_changed_deleted_and_audited(browser_page, site, service, section):
    kind, fields, (changed, value), audited = KINDS[section]
    page = browser_page(f"/app/acme/settings/{section}")
    page.get_by_role("button", name=f"New {kind}").click()
    for label, text in fields.items():
        page.get_by_role("dialog").get_by_label(label, exact=True).fill(text or service.url)
    dialog(page, "Create")
    expect(page).to_have_url(re.compile(r"\?id="))
    page.get_by_label(changed, exact=True).fill(value)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name=re.compile("^Save .not possible: nothing has changed"))).to_be_visible()
    page.reload()
    expect(page.get_by_label(changed, exact=True)).to_have_value(value)
    page.get_by_role("button", name=f"Delete {kind}").click()
    dialog(page, "Delete")
    expect(page).not_to_have_url(re.compile(r"\?id="))
    expect(page.get_by_text(value, exact=True)).to_have_count(0)
    page.goto("/app/acme/settings/audit-trail")
    rows = page.get_by_role("table", name="Audit trail")
    for action in ("create", "update", "(delete|destroy)"):
        expect(rows.get_by_text(re.compile(f"^{audited.replace(' ', '.')}s?: {action}")).first).to_be_visible()


def test_a_token_of_the_organization_is_created_replaced_and_revoked(browser_page, site):
    page = browser_page("/app/acme/settings/tokens")
    for use in ("Organization token", "Audit trail token"):
        part = page.get_by_role("region", name=use)
        part.get_by_role("button", name="Create token").click()
        dialog(page, "Create token")
        expect(part.get_by_role("status")).to_contain_text("It is not shown again")
        first = part.locator(".copy code").inner_text()
        expect(part).to_contain_text("never used")
        part.get_by_role("button", name="Replace token").click()
        dialog(page, "Create token")
        expect(part.locator(".copy code")).not_to_have_text(first)
        page.reload()
        assert first not in page.content()
        part.get_by_role("button", name="Revoke token").click()
        dialog(page, "Revoke")
        expect(part.get_by_role("button", name="Create token")).to_be_visible()


def test_a_run_task_has_an_agent_pool(browser_page, site, service):
    pool, _ = site.api.pool("far-away")
    page = browser_page("/app/acme/settings/run-tasks")
    page.get_by_role("button", name="New run task").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill("private")
    form.get_by_label("Endpoint URL", exact=True).fill("https://tasks.internal.example/check")
    form.get_by_label("Agent pool that sends the requests").select_option("far-away")
    dialog(page, "Create")
    expect(page).to_have_url(re.compile(r"\?id="))
    expect(page.get_by_label("Agent pool that sends the requests")).to_have_value(pool)
    page.get_by_label("Endpoint URL", exact=True).fill(service.url)
    page.get_by_label("Agent pool that sends the requests").select_option("None: the site sends them")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name=re.compile("^Save .not possible: nothing has changed"))).to_be_visible()
    page.reload()
    expect(page.get_by_label("Agent pool that sends the requests")).to_have_value("")
