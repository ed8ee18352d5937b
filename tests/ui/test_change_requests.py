# SPDX-License-Identifier: MPL-2.0
"""Change requests of a workspace, and the actions on the workspaces of an explorer's result."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Api


@pytest.fixture(scope="module")
def site(fake_site):
    """`colleague` and `browser_page` use it."""
    fake_site.api = Api(fake_site.scheduler.url, fake_site.tokens["token"])
    return fake_site


@pytest.fixture(scope="module")
def api(site):
    return site.api


@pytest.fixture
def result(browser_page):
    """result(prefix) is a result of the explorer with the workspaces whose names contain that."""

    def result(prefix, columns="workspace_name,workspace_terraform_version,locked", **options):
        page = browser_page(f"/app/acme/explorer?type=workspaces&columns={columns}&sort=workspace_name&filter=workspace_name+contains+{prefix}", **options)
        expect(page.get_by_role("table", name="Results")).to_be_visible()
        return page

    return result


def requests(api, workspace):
    return api.get(f"workspaces/{workspace}/change-requests").data


def make(api, *workspaces, subject="Pin the actions", message="Use **commits**, not tags."):
    attributes = {"action_type": "change_request", "action_inputs": {"subject": subject, "message": message}, "target_ids": list(workspaces)}
    api.post("organizations/acme/explorer/bulk-actions", {"data": {"type": "bulk_actions", "attributes": attributes}})


def act(page, word, title=None):
    """Opens the dialog of an action."""
    page.get_by_role("region", name="Actions on workspaces").get_by_role("button", name=word).click()
    return page.get_by_role("dialog", name=re.compile(f"^{title or word}: "))


def confirm(dialog, word):
    dialog.get_by_role("button", name=word, exact=True).click()


# ---- the pages of a workspace ----


def test_a_request_is_read_and_archived(api, browser_page, axe):
    workspace = api.workspace("asked")
    page = browser_page("/app/acme/workspaces/asked/change-requests")
    expect(page.get_by_role("heading", name="No open change requests")).to_be_visible()
    axe(page)
    make(api, workspace)
    page.get_by_role("link", name="Pin the actions").click()  # it comes by itself
    expect(page.get_by_role("heading", name="Pin the actions", level=2)).to_be_visible()
    expect(page).to_have_title(re.compile("^Change request · asked"))
    expect(page.get_by_role("link", name="Change requests 1 open")).to_have_attribute("aria-current", "page")
    expect(page.locator(".markdown strong")).to_have_text("commits")
    expect(page.get_by_text("by admin")).to_be_visible()
    axe(page)
    page.get_by_role("button", name="Archive Pin the actions").focus()
    page.keyboard.press("Enter")
    expect(page.locator("dt", has_text="Archived").locator("xpath=following-sibling::dd").first).to_contain_text("by admin")
    expect(page.get_by_role("button", name="Archive Pin the actions")).to_have_count(0)
    expect(page.get_by_role("link", name="Change requests", exact=True)).to_be_visible()
    page.get_by_role("link", name="Change requests", exact=True).click()
    expect(page.get_by_role("heading", name="No open change requests")).to_be_visible()
    page.get_by_role("link", name="Archived", exact=True).click()
    expect(page.get_by_role("row", name=re.compile("Pin the actions"))).to_contain_text("admin")
    axe(page)


def test_readers_archive_nothing(api, browser_page, colleague):
    workspace = api.workspace("read-only")
    make(api, workspace)
    page = browser_page("/app/acme/workspaces/read-only/change-requests", user=colleague("reader", workspace, "read"))
    button = page.get_by_role("button", name="Archive Pin the actions (not possible: you need write access to this workspace)")
    button.press("Enter")
    expect(button).to_be_visible()
    assert requests(api, workspace)[0]["attributes"]["archived-at"] is None


def test_a_message_is_sanitized(api, browser_page):
    workspace = api.workspace("attacked")
    make(api, workspace, subject="<img src=x onerror=alert(1)>", message="<script>pwned=1</script> ![x](https://evil.example/x.png) [click](javascript:pwned=1)")
    page = browser_page(f"/app/acme/workspaces/attacked/change-requests/{requests(api, workspace)[0]['id']}")
    expect(page.get_by_role("heading", name="<img src=x onerror=alert(1)>", level=2)).to_be_visible()
    expect(page.locator(".markdown").get_by_text("<script>pwned=1</script>")).to_be_visible()
    assert page.locator(".markdown img, .markdown script, .markdown a[href^=javascript]").count() == 0 and page.evaluate("self.pwned") is None


# ---- the explorer ----


def test_a_request_is_created_for_selected_workspaces(api, result, axe):
    ids = {name: api.workspace(name) for name in ("chosen-a", "chosen-b", "chosen-c")}
    page = result("chosen-")
    create = page.get_by_role("button", name="Create change request (not possible: select workspaces first)")
    create.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    for name in ("chosen-a", "chosen-c"):
        page.get_by_role("checkbox", name=f"Select {name}").press("Space")
    expect(page.get_by_text("2 workspaces selected")).to_be_visible()
    axe(page)
    dialog = act(page, "Create change request")
    expect(dialog.get_by_role("listitem")).to_have_text(["chosen-a", "chosen-c"])
    dialog.get_by_label("Subject").fill("Leave vpc 4.x")
    dialog.get_by_role("textbox", name="Description").fill("Version **5.10** has the fix.")
    dialog.get_by_role("tab", name="Write").press("ArrowRight")
    expect(dialog.get_by_role("tabpanel").locator("strong")).to_have_text("5.10")
    axe(page)
    confirm(dialog, "Create")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("0 workspaces selected")).to_be_visible()
    assert [len(requests(api, id)) for id in ids.values()] == [1, 0, 1]
    assert requests(api, ids["chosen-a"])[0]["attributes"]["message"] == "Version **5.10** has the fix."


def test_what_the_api_refuses_stands_in_the_dialog(api, result, visitors, site):
    visitors.expect_console("/explorer/bulk-actions")  # 422
    workspace = api.workspace("full-of-requests")
    site.ask("insert into change_requests (id, workspace_id, subject, message) select 'wscr-full' || n, %s, 's', 'm' from generate_series(1, 100) n", workspace)
    page = result("full-of-requests")
    page.get_by_role("checkbox", name="Select all on this page").check()
    dialog = act(page, "Create change request")
    dialog.get_by_label("Subject").fill("One more")
    dialog.get_by_role("textbox", name="Description").fill("too many")
    confirm(dialog, "Create")
    expect(dialog.get_by_text("Workspace full-of-requests has 100 open change requests")).to_be_visible()


def test_all_of_a_result_are_tagged(api, result):
    ids = [api.workspace(f"many-{number:02}") for number in range(55)]
    page = result("many-")
    expect(page.get_by_text("55 in total")).to_be_visible()
    page.get_by_role("checkbox", name="Select all on this page").check()
    expect(page.get_by_text("50 workspaces selected")).to_be_visible()
    page.get_by_role("button", name="Select all 55 of the result").click()
    expect(page.get_by_text("55 workspaces selected")).to_be_visible()
    dialog = act(page, "Tag")
    expect(dialog.get_by_role("button", name="Tag (not possible: it needs a key)")).to_be_visible()
    dialog.get_by_label("Key").fill("team")
    dialog.get_by_label("Value").fill("blue")
    confirm(dialog, "Tag")
    expect(page.get_by_text("0 workspaces selected")).to_be_visible()
    for id in (ids[0], ids[-1]):
        assert [(tag["attributes"]["key"], tag["attributes"]["value"]) for tag in api.get(f"workspaces/{id}/tag-bindings").data] == [("team", "blue")]


def test_each_workspace_that_failed_is_named_and_stays_selected(api, result, visitors, axe):
    visitors.expect_console("/actions/lock")  # 409
    free, locked = api.workspace("lockable-a"), api.workspace("lockable-b")
    api.post(f"workspaces/{locked}/actions/lock", {})
    page = result("lockable-")
    page.get_by_role("checkbox", name="Select all on this page").check()
    dialog = act(page, "Lock")
    dialog.get_by_label("Reason").fill("a freeze")
    confirm(dialog, "Lock")
    expect(dialog.get_by_text(re.compile("lockable-b: .*locked"))).to_be_visible()
    expect(dialog.get_by_role("listitem").filter(has_text=re.compile("^lockable-a$"))).to_have_count(0)
    axe(page)
    confirm(dialog, "Cancel")
    expect(page.get_by_text("1 workspace selected")).to_be_visible()
    shown = api.attributes(f"workspaces/{free}")
    assert shown["locked"] and shown["locked-reason"] == "a freeze"


def test_versions_are_set_and_runs_queued(api, result, site):
    ids = [api.workspace(f"versioned-{letter}") for letter in "ab"]
    for id in ids:
        api.upload(id, {"main.tf": ""})
    page = result("versioned-")
    page.get_by_role("checkbox", name="Select all on this page").check()
    dialog = act(page, "Set Terraform version")
    dialog.get_by_label("Version").fill("1.11.4")
    confirm(dialog, "Set Terraform version")
    expect(page.get_by_text("0 workspaces selected")).to_be_visible()
    assert {api.attributes(f"workspaces/{id}")["terraform-version"] for id in ids} == {"1.11.4"}
    page.get_by_role("checkbox", name="Select all on this page").check()
    dialog = act(page, "Queue run")
    dialog.get_by_label("Run", exact=True).select_option("plan")
    dialog.get_by_label("Message").fill("with the new version")
    confirm(dialog, "Queue run")
    expect(page.get_by_text("0 workspaces selected")).to_be_visible()
    for id in ids:
        (run,) = api.get(f"workspaces/{id}/runs", **{"filter[operation]": "plan_only"}).data
        assert run["attributes"]["plan-only"] and run["attributes"]["message"] == "with the new version"


def test_a_member_without_rights_learns_what_failed(api, result, visitors, colleague):
    visitors.expect_console("/actions/lock")  # 404
    may, may_not = api.workspace("rights-a"), api.workspace("rights-b")
    user = colleague("mona", may, "write")
    team = api.get("organizations/acme/teams").data
    (own,) = [item["id"] for item in team if item["attributes"]["name"] == "team-of-mona"]
    access = {"team": {"data": {"type": "teams", "id": own}}, "workspace": {"data": {"type": "workspaces", "id": may_not}}}
    api.post("team-workspaces", {"data": {"type": "team-workspaces", "attributes": {"access": "read"}, "relationships": access}})
    page = result("rights-", user=user)
    page.get_by_role("checkbox", name="Select all on this page").check()
    expect(page.get_by_role("button", name=re.compile("Create change request .not possible: you need to manage all"))).to_be_visible()
    dialog = act(page, "Lock")
    confirm(dialog, "Lock")
    expect(dialog.get_by_text("rights-b: you may not do this here, or it is gone")).to_be_visible()
    assert api.attributes(f"workspaces/{may}")["locked"] and not api.attributes(f"workspaces/{may_not}")["locked"]


def test_results_of_other_types_have_no_actions(browser_page):
    page = browser_page("/app/acme/explorer?type=tf_versions")
    expect(page.get_by_role("table", name="Results")).to_be_visible()
    expect(page.get_by_role("region", name="Actions on workspaces")).to_have_count(0)
