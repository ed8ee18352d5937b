# SPDX-License-Identifier: MPL-2.0
"""The explorer: its types and use cases, the query builder, columns, orders, saved views and the export."""

import csv
import hashlib
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from support import pages
from support.api import Api
from support.wait import until


def push(api, workspace, resources):
    content = json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": workspace, "outputs": {}, "resources": [
        {"mode": "managed", "type": "aws_instance", "name": f"web-{number}", "provider": 'provider["registry.terraform.io/hashicorp/aws"]', "instances": [{"attributes": {}}]}
        for number in range(resources)]}).encode()
    api.post(f"workspaces/{workspace}/actions/lock", {})
    attributes = {"serial": 1, "lineage": workspace, "md5": hashlib.md5(content).hexdigest()}
    created = api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}}).data
    Api(api.url, None).call("PUT", created["attributes"]["hosted-state-upload-url"], content, headers={"Content-Type": "application/octet-stream"})
    api.post(f"workspaces/{workspace}/actions/unlock", {})


@pytest.fixture(scope="module")
def stated(fake_site):
    """Two workspaces with states."""
    api = Api(fake_site.scheduler.url, fake_site.tokens["token"])
    for name, resources in (("explored-large", 3), ("explored-small", 1)):
        push(api, api.workspace(name), resources)
    until(lambda: not fake_site.ask("select 1 from explorer_due limit 1"), "the rows of the explorer")
    return api


@pytest.fixture
def explorer(visitors, sessions, fake_site, stated):
    """explorer(query) is a signed-in page of the explorer."""
    user = (fake_site.tokens["user"], fake_site.tokens["password"])
    return lambda query="": sessions.page(visitors, fake_site.scheduler.url, user, f"/app/acme/explorer{query}")


def names(page):
    """The first cells of the result's rows, but for the boxes that select."""
    table = page.get_by_role("table", name="Results")
    expect(table).to_be_visible()
    return [row.locator("td:not(.select)").first.inner_text() for row in table.get_by_role("row").all()[1:]]


def test_a_use_case_is_changed_sorted_and_followed(explorer, axe):
    page = explorer()
    expect(page.get_by_role("heading", name="Use cases")).to_be_visible()
    page.get_by_role("link", name="Largest states").click()
    assert names(page)[:2] == ["explored-large", "explored-small"]
    page.get_by_role("link", name="State size").click()
    expect(page).to_have_url(re.compile("sort=state_size"))
    expect(page.get_by_role("columnheader", name="State size")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Add condition").click()
    page.get_by_label("Field of condition 1").select_option("workspace_name")
    page.get_by_label("Operator of condition 1").select_option("contains")
    page.get_by_label("Value of condition 1").fill("explored-")
    page.get_by_label("Value of condition 1").press("Enter")
    expect(page).to_have_url(re.compile("filter=workspace_name"))
    expect(page.get_by_text("2 in total")).to_be_visible()
    assert names(page) == ["explored-small", "explored-large"]
    axe(page)
    page.get_by_role("row", name=re.compile("explored-large")).get_by_role("link", name="3", exact=True).click()
    expect(page.get_by_role("heading", name="Resources", level=1)).to_be_visible()
    expect(page.get_by_text("3 in total")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Value of condition 1")).to_have_value("explored-")
    page.get_by_role("button", name="Remove condition 1").click()
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("State size").uncheck()
    page.get_by_role("button", name="Run query").click()
    expect(page.get_by_role("columnheader", name="State size")).to_have_count(0)


def test_a_query_without_rows_says_so(explorer, axe):
    page = explorer("?type=workspaces&filter=workspace_name+is+nothing")
    expect(page.get_by_text("Nothing fits all conditions.")).to_be_visible()
    axe(page)
    expect(explorer("?type=modules").get_by_text("Nothing is known yet.")).to_be_visible()


def test_an_empty_value_is_a_condition(explorer):
    page = explorer("?type=workspaces&columns=workspace_name&filter=workspace_name+contains+explored&filter=vcs_repo_identifier+is_empty+")
    expect(page.get_by_text("2 in total")).to_be_visible()
    expect(page.get_by_label("Value of condition 2")).to_have_count(0)


def test_the_export_has_the_query(explorer):
    page = explorer("?type=workspaces&columns=workspace_name,resource_count&sort=-resource_count&filter=workspace_name+contains+explored")
    expect(page.get_by_text("2 in total")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").click()
    rows = list(csv.reader(Path(download.value.path()).read_text().splitlines()))
    assert rows == [["workspace_name", "resource_count"], ["explored-large", "3"], ["explored-small", "1"]]


def test_a_view_is_saved_opened_renamed_and_deleted(explorer, axe):
    page = explorer("?type=workspaces&columns=workspace_name&sort=-workspace_name&filter=workspace_name+contains+explored")
    page.get_by_role("button", name="Save view").click()
    dialog = page.get_by_role("dialog", name="Save view")
    dialog.get_by_label("Name").fill("mine")
    axe(page)
    dialog.get_by_role("button", name="Save").click()
    expect(page).to_have_url(re.compile("view=sq-"))
    pages.follow(page, "/app/acme/explorer")
    page.get_by_role("link", name="mine", exact=True).click()
    assert names(page) == ["explored-small", "explored-large"]
    page.get_by_role("link", name="Explorer").first.click()
    page.get_by_role("button", name="Rename mine").click()
    page.get_by_role("dialog").get_by_label("Name").fill("ours")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("link", name="ours", exact=True)).to_be_visible()
    page.get_by_role("button", name="Delete ours").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="ours", exact=True)).to_have_count(0)


def test_new_rows_come_by_themselves(explorer, stated, fake_site):
    page = explorer("?type=workspaces&columns=workspace_name&filter=workspace_name+contains+later")
    expect(page.get_by_text("Nothing fits all conditions.")).to_be_visible()
    stated.workspace("later-made")
    expect(page.get_by_role("link", name="later-made")).to_be_visible()
