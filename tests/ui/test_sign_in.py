# SPDX-License-Identifier: MPL-2.0
"""Sign-in, addresses, headers and files of the web UI."""

import gzip
import re
import urllib.request

from playwright.sync_api import expect

from support import pages
from support.browser import Browser


def test_the_root_leads_to_sign_in_and_then_to_organizations(browser_page):
    page = browser_page("/")
    expect(page).to_have_url(re.compile("/app$"))
    expect(page.get_by_role("heading", name="Organizations")).to_be_visible()
    page.get_by_role("link", name="acme", exact=True).last.click()
    expect(page.get_by_role("heading", name="Workspaces", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Organizations")).to_be_visible()


def test_sign_in_returns_to_the_address_with_query_and_fragment(visitors, site):
    page = pages.sign_in(visitors(site.scheduler.url), site.tokens["user"], site.tokens["password"], "/app/acme/workspaces?status=errored&q=a%20b#main")
    expect(page.get_by_role("heading", name="Workspaces", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/app/acme/workspaces\?status=errored&q=a%20b#main$"))


def test_sign_out_ends_the_session(browser_page):
    page = browser_page("/app")
    page.locator(".bar-end summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    page.goto("/app/acme/workspaces")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_an_ended_session_leads_to_sign_in_and_back(browser_page, visitors):
    page = browser_page("/app/acme/workspaces")
    expect(page.get_by_role("heading", name="Workspaces", exact=True)).to_be_visible()
    visitors.expect_console("401")
    page.context.clear_cookies()
    expect(page).to_have_url(re.compile(r"/app/login\?return=%2Fapp%2Facme%2Fworkspaces"))


def test_the_theme_is_in_the_page_that_the_server_sends(browser_page, site):
    page = browser_page("/app")
    page.locator(".bar-end summary").click()
    page.get_by_label("Dark").check()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert 'data-theme="dark"' in page.goto("/app/acme/workspaces").text()


def test_an_unknown_workspace_reads_as_not_found(browser_page, visitors, axe):
    visitors.expect_console("Failed to load resource")
    page = browser_page("/app/acme/workspaces/there-is-none/variables")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    axe(page)


def test_short_addresses_redirect_with_their_query(site):
    browser = Browser(site.scheduler.url)
    for short, full in (("/app/acme", "/app/acme/workspaces"),
                        ("/app/acme/net", "/app/acme/workspaces/net"),
                        ("/app/acme/net/runs/run-1?a=b", "/app/acme/workspaces/net/runs/run-1?a=b")):
        answer = browser.ask(short, follow=False)
        assert (answer.status, answer.headers["Location"]) == (303, full)
    answer = browser.ask("/app/acme/runs?status=errored", follow=False)
    assert answer.headers["Location"] == "/app/login?return=%2Fapp%2Facme%2Fruns%3Fstatus%3Derrored"


def test_names_in_the_place_of_an_organization_are_reserved(site):
    for name in ("login", "logout", "settings", "Admin"):
        body = {"data": {"type": "organizations", "attributes": {"name": name, "email": "a@example.com"}}}
        answer = site.api.call("POST", "organizations", body)
        assert answer.status == 422 and "reserved" in answer.text and "/data/attributes/name" in answer.text


def fetch(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    try:
        return urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        return error


def test_pages_send_a_strict_policy_and_files_are_stored_for_ever(site):
    browser = Browser(site.scheduler.url).sign_in(site.tokens["user"], site.tokens["password"], path="/app")
    policy = browser.headers["Content-Security-Policy"]
    for part in ("default-src 'none'", "script-src 'self'", "form-action 'self';", "base-uri 'none'", "frame-ancestors 'none'",
                 "require-trusted-types-for 'script'", "trusted-types dompurify runyard"):
        assert part in policy
    assert browser.headers["Cross-Origin-Opener-Policy"] == "same-origin" and browser.headers["Cache-Control"] == "no-store"
    script = re.search(r'src="(/assets/app-[A-Z0-9]+\.js)"', browser.page).group(1)
    zipped = fetch(site.scheduler.url + script, **{"Accept-Encoding": "gzip"})
    plain = fetch(site.scheduler.url + script)
    assert zipped.headers["Cache-Control"] == "public, max-age=31536000, immutable" and zipped.headers["Vary"] == "Accept-Encoding"
    assert zipped.headers["Content-Encoding"] == "gzip" and not plain.headers["Content-Encoding"]
    assert gzip.decompress(zipped.read()) == plain.read()
    assert fetch(site.scheduler.url + script, **{"If-None-Match": plain.headers["ETag"]}).status == 304
    for missing in ("/assets/app-AAAAAAAA.js", "/assets/..%2Fmanifest.txt", "/assets/.hidden"):
        assert fetch(site.scheduler.url + missing).status == 404


def test_the_sign_in_page_is_accessible(visitors, site, axe):
    page = visitors(site.scheduler.url)
    page.goto("/app/login")
    axe(page)
