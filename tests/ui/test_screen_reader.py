# SPDX-License-Identifier: MPL-2.0
"""What screen readers get: landmarks, names, titles, and each change of a status once. Logs are not read aloud."""

import re

import pytest
from playwright.sync_api import expect

from support import pages
from support.rich_site import PAGES
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {\n  input = "first"\n}\n'}

# In the page: keeps each text that a live region says, as screen readers do: when it changes, and when a region comes.
LISTEN = """() => {
    self.said = [];
    const live = "[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]";
    const before = new Map([...document.querySelectorAll(live)].map(region => [region, region.innerText.trim()]));
    new MutationObserver(() => {
        for (const region of document.querySelectorAll(live)) {
            const text = region.innerText.trim();
            if (text !== (before.get(region) ?? "")) {
                before.set(region, text);
                if (text) {
                    self.said.push(text.replace(/\\s+/g, " "));
                }
            }
        }
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
}"""


def test_each_status_of_a_run_is_said_once_and_its_log_is_not(browser_page, site):
    api = site.api
    run = api.run_files(api.workspace("said"), ONE, message="Add one")
    api.wait_status(run, "planned")
    page = browser_page(f"/app/acme/workspaces/said/runs/{run}")
    header = page.locator(".run-header")
    expect(header.get_by_role("status")).to_contain_text("Needs Confirmation")
    page.evaluate(LISTEN)
    header.get_by_role("button", name="Confirm & Apply").click()
    page.get_by_role("dialog").get_by_role("button", name="Confirm & Apply").click()
    expect(header.get_by_role("status")).to_contain_text("Applied")
    said = page.evaluate("self.said")
    statuses = [text for text in said if re.fullmatch(r"\W*(Needs Confirmation|Confirmed|Apply Pending|Applying|Applied)", text)]
    assert len(statuses) == len(set(statuses)) and statuses[-1].endswith("Applied"), said
    assert len(said) == len(set(said)), said
    assert not any("terraform_data" in text or "Creat" in text for text in said), said
    assert any("confirmed" in text for text in said), said


def test_no_live_region_holds_a_log_or_a_time(visit):
    for pattern, text in PAGES.items():
        page = visit(pattern, text)
        for region in ("[role=status]", "[role=alert]", "[aria-live]:not([aria-live=off])"):
            expect(page.locator(f"{region} :is(time, .elapsed, .log, [role=log])")).to_have_count(0)
        expect(page.locator(":is(.log, .log-scroll)[aria-live]")).to_have_count(0)


def new_title(page, titles):
    title = page.title()
    return title if re.fullmatch(".+ · Runyard", title) and title not in titles else None


def test_each_page_has_a_title_of_its_own_landmarks_and_named_controls(visit):
    titles = set()
    for pattern, text in PAGES.items():
        page = visit(pattern, text)
        titles.add(until(lambda page=page: new_title(page, titles), f"{pattern} has a title of its own"))
        expect(page.locator("main")).to_have_count(1)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        expect(page.get_by_role("banner").first).to_be_visible()
        names = page.evaluate("() => [...document.querySelectorAll('nav')].map(nav => nav.getAttribute('aria-label'))")
        assert all(names) and len(names) == len(set(names)), (pattern, names)
        nameless = page.evaluate("""() => [...document.querySelectorAll("button, a[href], [role=tab], summary")].filter(node =>
            !/[\\p{L}\\p{N}]/u.test((node.getAttribute("aria-label") ?? "") + node.textContent)).map(node => node.outerHTML.slice(0, 120))""")
        assert not nameless, (pattern, nameless)


def test_the_tree_of_a_run_names_what_is_shown(visit):
    page = visit("/app/:org/workspaces/:ws/runs/:run", "Comments")
    expect(page.get_by_role("banner").first).to_match_aria_snapshot("""
      - banner:
        - link "Runyard"
        - group: acme
        - navigation "Organization":
          - link "Workspaces"
          - link "Runs"
          - link "Queue"
          - link "Settings"
        - search:
          - searchbox "Search workspaces of acme"
    """)
    expect(page.locator("main")).to_match_aria_snapshot("""
      - main:
        - navigation "Breadcrumb":
          - list:
            - listitem:
              - link "acme"
            - listitem:
              - link "net-prod"
        - article:
          - status: Cost Estimated
          - heading "Open port 443 for the gateway" [level=1]
          - button "Apply, destroying 2"
          - button "Discard Plan"
          - region "Stages":
            - heading "Stages" [level=2]
          - region "Comments":
            - heading "Comments" [level=2]
    """)
    page.locator("#plan > summary").click()
    page.get_by_role("tab", name="Log").click()
    expect(page.get_by_role("region", name="Log of the plan")).to_match_aria_snapshot("""
      - region "Log of the plan":
        - list:
          - listitem:
            - link "Line 1"
            - text: "terraform_data.one: Refreshing state..."
    """)


@pytest.mark.parametrize("pattern", ["/app/:org/workspaces", "/app/:org/workspaces/:ws/variables", "/app/:org/workspaces/:ws/settings/notifications"])
def test_a_table_has_a_name_and_its_columns_have_heads(visit, pattern):
    page = visit(pattern, PAGES[pattern])
    for table in page.locator("main").get_by_role("table").all():
        assert table.locator("caption").inner_text().strip()
        assert all(head.inner_text().strip() or head.locator("input").count() for head in table.locator("thead th").all())


def test_icon_buttons_have_words(visit):
    page = visit("/app/:org/workspaces/:ws", PAGES["/app/:org/workspaces/:ws"])
    for button in page.locator(".icon-button").all():
        assert button.get_attribute("aria-label")
    pages.check_accessible(page)
