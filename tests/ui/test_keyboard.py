# SPDX-License-Identifier: MPL-2.0
"""From sign-in to applied without a mouse: the focus is always on something that can be seen."""

import re

from playwright.sync_api import expect

from support import pages

ONE = {"main.tf": 'resource "terraform_data" "one" {\n  input = "first"\n}\n'}
STOPS = 80  # a page has fewer elements that take the focus


class Keyboard:
    """A person who uses keys alone. After each key the focus must be on an element that can be seen."""

    def __init__(self, page):
        self.page = page

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
            pages.check_focus(self.page)

    def type(self, text):
        self.page.keyboard.type(text)
        pages.check_focus(self.page)

    def to(self, target, key="Tab"):
        """Moves with Tab or Shift+Tab to the element."""
        expect(target).to_be_visible()
        for _ in range(STOPS):
            if target.evaluate("node => node === document.activeElement"):
                return
            self.press(key)
        raise AssertionError(f"{key} does not reach {target}")

    def use(self, target, key="Enter"):
        self.to(target)
        self.press(key)

    def has(self, target):
        """The focus is there, by itself."""
        expect(target).to_be_focused()
        pages.check_focus(self.page)


def dialog(page, name):
    return page.get_by_role("dialog", name=name)


def test_a_run_is_queued_confirmed_and_applied_by_keys(visitors, site):
    """With a real engine: sign-in, search, Queue Plan, the log, Confirm & Apply, the new state."""
    site.api.upload(site.api.workspace("net-prod"), ONE)
    page = visitors(site.scheduler.url)
    keys = Keyboard(page)
    page.goto("/app")
    keys.to(page.get_by_label("Username"))
    keys.type(site.tokens["user"])
    keys.to(page.get_by_label("Password"))
    page.keyboard.type(site.tokens["password"])
    page.keyboard.press("Enter")

    # The list of organizations, then its workspaces: a new page begins at its heading.
    acme = page.locator("main").get_by_role("link", name="acme", exact=True)
    keys.use(acme)
    keys.has(page.get_by_role("heading", level=1, name="Workspaces"))
    row = page.get_by_role("link", name="net-prod", exact=True)
    expect(row).to_be_visible()
    keys.press("j")
    keys.has(row)
    keys.press("Enter")
    keys.has(page.get_by_role("heading", level=1, name="net-prod"))

    # A dialog takes the focus, keeps it, and gives it back.
    queue = page.get_by_role("button", name="Queue Plan")
    keys.use(queue)
    opened = dialog(page, "Queue Plan in net-prod")
    expect(opened).to_be_visible()
    pages.check_focus(page)
    for _ in range(20):
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement === document.body || document.activeElement.closest('dialog') !== null"), "the focus left the dialog"
    keys.press("Escape")
    keys.has(queue)
    keys.press("Enter")
    keys.to(opened.get_by_label("Message"))
    keys.type("Add one")
    keys.use(opened.get_by_role("button", name="Queue Plan"))
    keys.has(page.get_by_role("heading", level=1, name="Add one"))

    # The page follows the run, and the focus stays.
    header = page.locator(".run-header")
    expect(header.get_by_text("Needs Confirmation")).to_be_visible()
    keys.has(page.get_by_role("heading", level=1, name="Add one"))
    keys.use(page.locator("#plan > summary"))
    keys.to(page.locator("#plan").get_by_role("tab", name="Changes"))
    keys.press("ArrowRight")
    keys.has(page.locator("#plan").get_by_role("tab", name="Log"))
    log = page.get_by_role("region", name="Log of the plan")
    keys.to(log)
    keys.press("End", "Home", "Control+f")
    keys.has(page.get_by_label("Find in the log"))
    keys.type("terraform_data.one")
    keys.press("Enter", "Escape")
    pages.check_focus(page)

    # One key goes to the action; nothing happens before it is confirmed.
    keys.press("a")
    keys.has(header.get_by_role("button", name="Confirm & Apply"))
    keys.press("Enter")
    opened = dialog(page, "Confirm & Apply")
    keys.to(opened.get_by_label(re.compile("^Comment")))
    keys.type("It is tested")
    keys.use(opened.get_by_role("button", name="Confirm & Apply"))
    expect(opened).to_have_count(0)
    pages.check_focus(page)
    expect(header.get_by_text("Applied")).to_be_visible()
    pages.check_focus(page)

    # The new state, by the links of the breadcrumb and of the workspace.
    keys.press("u")
    keys.has(page.get_by_role("heading", level=1, name="net-prod"))
    keys.use(page.get_by_role("navigation", name="Workspace").get_by_role("link", name="States"))
    keys.has(page.get_by_role("heading", level=1, name=re.compile("net-prod")))
    expect(page.get_by_role("table", name="Versions of the state").locator("tbody tr")).to_have_count(1)

    # The menu, and the sheet of keys.
    menu = page.locator(".bar-end summary")
    keys.to(menu, "Shift+Tab")
    keys.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    keys.press("Tab", "Escape")
    keys.has(menu)
    keys.press("?")
    keys.has(dialog(page, "Keys").get_by_role("button", name="Close"))
    keys.press("Enter")
    keys.has(menu)


def test_the_first_key_skips_to_the_content(browser_page):
    page = browser_page("/app/acme/workspaces")
    expect(page.get_by_role("heading", level=1, name="Workspaces")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    pages.check_focus(page)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('main') !== null")
    pages.check_focus(page)
