# SPDX-License-Identifier: MPL-2.0
"""Texts of users, services and programs are shown as they are: nothing in them runs, loads or leads elsewhere."""

import re

import pytest
from playwright.sync_api import expect

from support import hostile_texts, pages
from support.hostile_texts import CORPUS, SHORT
from support.rich_site import ALL_PAGES, RichSite

# In the page: what a hostile text has become, if it is more than text.
FOUND = """() => {
    const found = [];
    const say = (what, node) => found.push(`${what}: ${node.outerHTML.slice(0, 200)}`);
    for (const node of document.querySelectorAll("*")) {
        for (const { name, value } of node.attributes) {
            if (/^on/i.test(name) || name === "srcdoc") {
                say("a handler", node);
            }
            if (/^(href|src|action|formaction|data|poster|xlink:href)$/i.test(name) && !/^(https?:|\\/(?!\\/)|#|\\?|$)/i.test(value.trim()) && node.rel !== "icon") {
                say("an address", node);
            }
        }
    }
    for (const node of document.body.querySelectorAll("script, img, iframe, object, embed, base, meta, link, style, video, audio, math, animate, foreignObject, template")) {
        say("an element", node);
    }
    for (const link of document.querySelectorAll("a[href]")) {
        const elsewhere = link.origin !== location.origin;
        if (elsewhere && !(link.relList.contains("noopener") && link.relList.contains("noreferrer"))) {
            say("a link without rel", link);
        }
        if (link.username || link.password) {
            say("a link with a user name", link);
        }
    }
    for (const name of ["pwned", "evil"]) {
        if (self[name] !== undefined) {
            found.push(`${name} is set`);
        }
    }
    return found;
}"""

# In the page: texts whose right-to-left marks may reorder what stands beside them.
REORDERED = """() => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        if (!/[\\u202a-\\u202e\\u2066-\\u2069]/.test(text.data) || text.parentElement.closest("textarea, option, script, style")) {
            continue;
        }
        let node = text.parentElement;
        while (getComputedStyle(node).display === "inline" && !/isolate|plaintext/.test(getComputedStyle(node).unicodeBidi)) {
            node = node.parentElement;
        }
        const isolated = /isolate|plaintext/.test(getComputedStyle(node).unicodeBidi) || node.textContent.trim() === text.data.trim();
        if (!isolated && node.innerText.split("\\n").some(line => line.includes(text.data.trim().split("\\n")[0]) && line.trim() !== text.data.trim())) {
            found.push(node.outerHTML.slice(0, 200));
        }
    }
    return found;
}"""


# The pages that show a text of one line as it is written.
SHOWN = {
    "/app/:org/workspaces", "/app/:org/runs", "/app/:org/projects/:project", "/app/:org/workspaces/:ws", "/app/:org/workspaces/:ws/runs",
    "/app/:org/workspaces/:ws/runs/:run", "/app/:org/workspaces/:ws/variables", "/app/:org/workspaces/:ws/settings/general",
    "/app/:org/workspaces/:ws/settings/team-access", "/app/:org/workspaces/:ws/settings/notifications", "/app/:org/queue", "/app/admin/queue",
    "/app/:org/settings/teams", "/app/:org/settings/members", "/app/:org/settings/variable-sets", "/app/:org/settings/notifications",
    "/app/:org/workspaces/empty", "/app/:org/workspaces/locked", "/app/:org/workspaces/:ws/runs/:run?view=events", "/app/:org/workspaces/:ws/runs/:run?view=reader",
    "/app/:org/settings/teams?id=:team", "/app/:org/settings/policy-sets?id=:set", "/app/:org/settings/variable-sets?id=:varset",
    "/app/workspaces/:held/hold", "/app/:org/settings/vcs-connections", "/app/:org/settings/vcs-connections?id=:connection",
    "/app/:org/modules/:module", "/app/:org/modules/:module/provision",
    "/app/:org/workspaces/:ws/change-requests", "/app/:org/workspaces/:ws/change-requests/:request", "/app/:org/workspaces/:ws/change-requests?archived=true",
    "/app/:org/workspaces/tracked/settings/version-control", "/app/:org/vcs/events", "/app/:org/vcs/events/:event", "/app/:org/vcs/events/:pushed",
}


@pytest.fixture(scope="module")
def rich(rich_full_site):
    return RichSite(rich_full_site, hostile_texts.hostile, hostile_texts.LOG)


def check(page):
    """Nothing has run, and nothing could."""
    assert page.evaluate(FOUND) == []
    assert page.evaluate(REORDERED) == []


def open_all(page):
    """Opens each fold, change and tab."""
    for opener in ("main details:not([open]) > summary", "main .change-address[aria-expanded=false]", "main [role=tab][aria-selected=false]"):
        for number in range(page.locator(opener).count()):
            found = page.locator(opener)
            if number < found.count():
                found.nth(number if "tab" in opener else 0).evaluate("node => node.click()")
                expect(page.locator(".skeleton")).to_have_count(0)
                check(page)


@pytest.mark.parametrize("pattern", ALL_PAGES)
def test_a_page_shows_hostile_texts_as_text(visit, pattern):
    page = visit(pattern, ALL_PAGES[pattern])
    check(page)
    if pattern in SHOWN:
        expect(page.locator("main")).to_contain_text(SHORT)
    open_all(page)
    pages.check_narrow(page)


def test_every_kind_of_hostile_text_of_a_run_is_shown(visit):
    page = visit("/app/:org/workspaces/:ws/runs/:run", "Comments")
    for text in CORPUS[:4]:
        expect(page.locator(".comment").first).to_contain_text(text)
    page.locator("#plan > summary").click()
    page.get_by_role("tab", name="Log").click()
    log = page.get_by_role("region", name="Log of the plan")
    for text in CORPUS[:4]:
        expect(log).to_contain_text(text)
    log.focus()
    page.keyboard.press("End")
    links = log.locator("a[target=_blank]")
    expect(links.filter(has_text=re.compile("^fine$"))).to_have_attribute("href", "https://ok.example/")
    expect(links.filter(has_text=re.compile("^(click|data|user)$"))).to_have_count(0)
    check(page)
