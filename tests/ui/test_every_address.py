# SPDX-License-Identifier: MPL-2.0
"""Every address of a page works when it is reloaded, left and returned to, copied, or opened in a new tab. The server
writes the theme into the page. The focus stays where it is while a page updates. What may not be seen reads as missing."""

import json
import re

import psycopg
import pytest
from playwright.sync_api import expect

from support import pages
from support.browser import Browser
from support.rich_site import ALL_PAGES, PAGES, SERVER_PAGES, patterns
from support.runyard import KEYS, Scheduler
from support.wait import until

# Addresses that the server redirects, or that end the session.
SHORT = re.compile("/app/runs/run-[^/]+$")


@pytest.fixture(scope="module")
def reader(rich):
    """A browser without scripts, signed in."""
    tokens = rich.site.tokens
    return Browser(rich.site.scheduler.url).sign_in(tokens["user"], tokens["password"], path="/app")


@pytest.fixture(scope="module")
def checked():
    """The links that were followed."""
    return set()


def looks(page):
    """What tells one page from another. Times and states may change."""
    return page.title().replace("● ", ""), page.locator("h1").all_inner_texts(), re.sub(r"\d+", "", page.locator("nav.breadcrumb, header.bar").last.inner_text())


def has_page(path):
    shapes = [re.sub(":[a-z]+", "[^/]+", pattern) for pattern in patterns()]
    return any(re.fullmatch(shape, path) for shape in shapes)


# The pages of settings have much in common.
@pytest.mark.parametrize("pattern", [pytest.param(page, marks=pytest.mark.extended if "/settings/" in page else ()) for page in ALL_PAGES])
def test_an_address_is_reloaded_returned_to_and_has_no_dead_links(visit, reader, checked, pattern):
    page = visit(pattern, ALL_PAGES[pattern])
    page.context.add_cookies([{"name": "runyard_theme", "value": "dark", "url": page.url}])
    seen, address = looks(page), page.url
    answer = page.reload()
    pages.wait_loaded(page, ALL_PAGES[pattern])
    until(lambda: looks(page) == seen, lambda: f"{looks(page)} is {seen}")
    assert '<html lang="en" data-theme="dark">' in answer.text()
    pages.follow(page, "/app/settings/theme")
    pages.wait_loaded(page, "Theme")
    page.go_back()
    pages.wait_loaded(page, ALL_PAGES[pattern])
    until(lambda: looks(page) == seen, lambda: f"{looks(page)} is {seen}")
    assert page.url == address
    links = set(page.evaluate("() => [...document.querySelectorAll('a[href]')].map(link => link.getAttribute('href')).filter(href => href.startsWith('/app'))"))
    for link in links - checked:
        answer = reader.ask(link)
        assert answer.status == 200, link
        path = link.split("?")[0].split("#")[0]
        assert 'id="app"' not in answer.page or has_page(path) or SHORT.match(path), f"no page has the address {link}"
    checked.update(links)


def test_a_page_is_busy_until_the_next_one_is_there(visit):
    page = visit("/app/settings/theme", "Theme")
    page.reload()
    pages.wait_loaded(page, "Theme")
    held = []
    page.route(re.compile("/assets/keyboard-"), lambda route: held.append(route))
    page.get_by_role("link", name="Keyboard").first.click()
    expect(page.locator("main[aria-busy=true] h1")).to_contain_text("Theme")
    until(lambda: page.title() and held, "the request for the next page")
    held[0].continue_()
    pages.wait_loaded(page, "Use keys")
    page.unroute_all()


def test_links_open_in_a_new_tab_and_copied_addresses_in_another_window(visitors, sessions, rich):
    site = rich.site
    user = (site.tokens["user"], site.tokens["password"])
    page = sessions.page(visitors, site.scheduler.url, user, rich.address("/app/:org/workspaces?sort=name"))
    pages.wait_loaded(page, "storage")
    for link in (page.locator("table .row-link", has_text="net-prod"), page.get_by_role("navigation", name="Organization").get_by_role("link", name="Runs")):
        with page.context.expect_page() as opened:
            link.click(modifiers=["Control"])
        tab = opened.value
        expect(tab).to_have_url(re.compile(re.escape(link.get_attribute("href")) + "$"))
        pages.wait_loaded(tab, "Open port 443")
        expect(page).to_have_url(re.compile(r"\?sort=name$"))
        copied = sessions.page(visitors, site.scheduler.url, user, tab.url)
        pages.wait_loaded(copied, "Open port 443")
        until(lambda: looks(copied) == looks(tab), lambda: f"{looks(copied)} is {looks(tab)}")


def test_a_dark_page_is_dark_from_its_first_frame(visitors, sessions, rich):
    site = rich.site
    page = sessions.page(visitors, site.scheduler.url, (site.tokens["user"], site.tokens["password"]), "/app", color_scheme="light")
    page.context.add_cookies([{"name": "runyard_theme", "value": "dark", "url": site.scheduler.url}])
    page.add_init_script("""self.colors = new Set();
        const note = () => {
            if (document.body) {
                self.colors.add(getComputedStyle(document.body).backgroundColor);
            }
            requestAnimationFrame(note);
        };
        note();""")
    for path in ("/app", rich.address("/app/:org/workspaces/:ws/runs/:run"), *SERVER_PAGES):
        page.goto(rich.address(path))
        page.locator("h1").wait_for()
        assert page.evaluate("[...self.colors]") == ["rgb(15, 19, 24)"], path


def comment(rich):
    rich.api.post(f"runs/{rich.ids['run']}/comments", {"data": {"type": "comments", "attributes": {"body": "a new comment"}}})


def lock(rich):
    rich.api.post(f"workspaces/{rich.ids['empty']}/actions/lock", {"reason": "a new lock"})


def unlock(rich):
    rich.api.post(f"workspaces/{rich.ids['empty']}/actions/unlock")


UPDATES = {
    "/app/:org/workspaces/:ws/runs/:run": (comment, "a new comment"),
    "/app/:org/workspaces/empty": (lock, "a new lock"),
    "/app/:org/workspaces": (unlock, ""),
}


@pytest.mark.parametrize("pattern", UPDATES)
def test_the_focus_stays_while_a_page_updates(visitors, sessions, rich, pattern):
    change, text = UPDATES[pattern]
    site = rich.site
    page = sessions.page(visitors, site.scheduler.url, (site.tokens["user"], site.tokens["password"]), rich.address(pattern))
    pages.wait_loaded(page)
    page.keyboard.press("Tab")
    stops = page.locator("main").locator("a[href], button, summary, input")
    kept = stops.nth(stops.count() // 2)
    kept.focus()
    element = page.evaluate_handle("document.activeElement")
    change(rich)
    if text:
        expect(page.locator("main")).to_contain_text(text)
    else:
        expect(page.locator("main")).not_to_contain_text("a new lock")
    assert page.evaluate("element => document.activeElement === element", element)
    pages.check_focus(page)


@pytest.fixture(scope="module")
def stranger(rich):
    """The name and password of the owner of another organization."""
    made = Scheduler.run_command("bootstrap", "mallory", "mallory@example.com", "other", database_url=rich.site.database, keys=KEYS)
    with psycopg.connect(rich.site.database, autocommit=True) as connection:
        connection.execute("update users set is_site_admin = false where username = 'mallory'")
    return "mallory", json.loads(made.stdout)["password"]


def test_an_object_of_another_organization_reads_as_one_that_does_not_exist(visitors, sessions, rich, stranger):
    """Every page of an organization: the address of real objects, and one with wrong names and ids."""
    wrong = {"ws": "no-place", "run": "run-0000000000000000", "project": "prj-0000000000000000", "state": "sv-0000000000000000", "event": "ve-none", "module": "mod-none", "provider": "prov-none",
             "request": "wscr-0000000000000000", "query": "query-0000000000000000"}
    visitors.expect_console("404")
    page = sessions.page(visitors, rich.site.scheduler.url, stranger, "/app")
    pages.wait_loaded(page, "other")
    places = [pattern for pattern in PAGES if ":org" in pattern]
    assert len(places) > 20
    for pattern in places:
        texts = []
        for values in (rich.ids, {**wrong, "org": "nowhere" if pattern.count(":") == 1 else "acme"}):
            page.goto(re.sub(":([a-z]+)", lambda found: values[found[1]], pattern))
            expect(page.locator("main")).to_contain_text("This does not exist, or you may not see it.")
            text = page.locator("main").inner_text()
            for name in (key for key in values if f":{key}" in pattern):
                text = text.replace(values[name], name).replace(values[name][:12], name)
            texts.append(text)
        assert texts[0] == texts[1], pattern
