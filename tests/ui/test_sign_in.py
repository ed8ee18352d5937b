# SPDX-License-Identifier: MPL-2.0
"""Sign-in, addresses, headers and files of the web UI."""

import gzip
import json
import re
import urllib.request

import psycopg
from playwright.sync_api import expect

from support import pages
from support.browser import Browser
from support.fake_worker import FakeWorker
from support.runyard import KEYS, Scheduler
from support.wait import until


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


def test_the_password_form_is_folded_away_if_only_break_glass_accounts_have_passwords(visitors, site, axe):
    settings = lambda on: site.api.patch("admin/general-settings", {"data": {"type": "general-settings", "attributes": {"password-sign-in-enabled": on}}})  # noqa: E731
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute("insert into identity_providers (id, kind, name, issuer) values ('idp-folded', 'oidc', 'Work', 'http://127.0.0.1:1')")
        connection.execute("update users set is_break_glass = true where username = %s", [site.tokens["user"]])
        settings(False)
        try:
            page = visitors(site.scheduler.url)
            page.goto("/app/login")
            expect(page.get_by_role("link", name="Sign in with Work")).to_be_visible()
            expect(page.get_by_label("Password")).to_be_hidden()
            page.get_by_text("Break-glass account").click()
            axe(page)
            page.get_by_label("Username").fill(site.tokens["user"])
            page.get_by_label("Password").fill(site.tokens["password"])
            page.get_by_role("button", name="Sign in", exact=True).click()
            expect(page.get_by_role("heading", name="Organizations")).to_be_visible()
        finally:
            settings(True)
            connection.execute("update users set is_break_glass = false")
            connection.execute("delete from identity_providers where id = 'idp-folded'")


def test_sign_out_ends_the_session(browser_page):
    page = browser_page("/app")
    page.locator(".bar-end summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    page.goto("/app/acme/workspaces")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


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


def test_pages_of_the_server_are_accessible_and_have_the_menu(browser_page, visitors, site, axe):
    page = visitors(site.scheduler.url)
    page.goto("/app/login")
    axe(page)
    page = browser_page("/app/settings/tokens")
    for word in ("Password", "Invitations", "Tokens"):
        page.get_by_role("navigation", name="Your settings").get_by_role("link", name=word).click()
        expect(page.get_by_role("heading", name=word, exact=True)).to_be_visible()
        axe(page)
    page.get_by_role("banner").get_by_text(site.tokens["user"], exact=True).click()
    axe(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("banner").get_by_role("link", name="Keyboard")).not_to_be_visible()
    page.keyboard.press("Enter")  # the focus is at the menu
    page.get_by_role("banner").get_by_role("link", name="Keyboard").click()
    expect(page.get_by_role("heading", name="Keyboard")).to_be_visible()


def test_a_refused_token_keeps_what_was_asked_for(browser_page, visitors, axe):
    visitors.expect_console("422")
    page = browser_page("/app/settings/tokens")
    page.get_by_label("Description").fill('"backup" <b>')
    page.get_by_label("Valid for").select_option("one year")
    page.get_by_label("Only reads").check()
    page.get_by_label(re.compile("^Only this workspace")).fill("ws-nowhere")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no such workspace")
    expect(page.get_by_label("Description")).to_have_value('"backup" <b>')
    expect(page.get_by_label("Valid for")).to_have_value("365")
    expect(page.get_by_label("Only reads")).to_be_checked()
    axe(page)
    page.get_by_label(re.compile("^Only this workspace")).fill("")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("row", name=re.compile('"backup" <b>'))).to_contain_text("Only reads")
    expect(page.get_by_label("Only reads")).not_to_be_checked()
    expect(page.get_by_label("Valid for")).to_have_value("90")


def test_an_invitation_is_accepted(browser_page, site, axe):
    made = Scheduler.run_command("add-user", "guest", "guest@example.com", database_url=site.database, keys=KEYS)
    password = json.loads(made.stdout)["password"]
    body = {"data": {"type": "organization-memberships", "attributes": {"email": "guest@example.com"}}}
    site.api.post("organizations/acme/organization-memberships", body)
    page = browser_page("/app", user=("guest", password))
    expect(page.get_by_role("heading", name="You are in no organization")).to_be_visible()
    page.get_by_role("link", name="Your invitations").click()
    row = page.get_by_role("row", name=re.compile("acme"))
    axe(page)
    row.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("No organization invites your address.")).to_be_visible()
    page.get_by_role("link", name="Organizations").click()
    expect(page.get_by_role("table", name="Organizations").get_by_role("link", name="acme")).to_be_visible()


def test_a_lost_apply_shows_its_hold_and_the_resources_that_no_state_has(browser_page, visitors, site, axe):
    visitors.expect_console("422")
    pool, token = site.api.pool("lost")
    worker = FakeWorker(site.scheduler.url, token, slots=1)
    workspace = site.api.workspace("network", auto_apply=True, execution_mode="agent", agent_pool_id=pool)
    run = site.api.run_files(workspace, {"main.tf": ""})
    worker.plan(run)
    job = worker.take(run, "apply")
    worker.on(job, "POST", "started")
    log = ""
    for name in ("main", "late"):
        resource = {"addr": f"aws_vpc.{name}", "module": "", "resource": f"aws_vpc.{name}", "implied_provider": "aws", "resource_type": "aws_vpc",
                    "resource_name": name, "resource_key": None}
        hook = {"resource": resource, "action": "create", "id_key": "id", "id_value": f"<i>vpc-{name}</i>"}
        log += json.dumps({"@level": "info", "type": "apply_complete", "hook": hook}) + "\n"
    worker.on(job, "PUT", "log?offset=0", log.encode())
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute("update jobs set lease_until = now() where id = %s", [job["job"]])
    # The file's scheduler expires no leases for half of its lease after its start.
    second = Scheduler("scheduler-2", site.folder, **{**site.scheduler.options, "lease_seconds": 2}).start()
    try:
        until(lambda: site.api.get(f"runs/{run}/unrecorded-resources").data, "the resource is listed")
    finally:
        second.release()

    def late(dismissed):
        """The other resource is open only after the page was read."""
        with psycopg.connect(site.database, autocommit=True) as connection:
            connection.execute("update unrecorded_resources set dismissed_at = case when %s then now() end where run_id = %s and address = 'aws_vpc.late'", [dismissed, run])

    page = browser_page(f"/app/workspaces/{workspace}/hold")
    expect(page.get_by_role("heading", name="Release the workspace")).to_be_visible()
    axe(page)
    for shown in page.locator("input[name=run]").all():
        shown.evaluate("field => field.value = 'run-before'")  # the hold of another run, which ended while the page was open
    page.get_by_label("Reason").fill("its worker is gone")
    page.get_by_role("button", name="Release the workspace").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was done: the workspace is now held for another run")
    assert site.api.attributes(f"workspaces/{workspace}")["hold"]["run-id"] == run
    late(True)
    page.get_by_role("link", name="Resources of the run that no state shows").click()
    expect(page.get_by_role("row", name=re.compile("aws_vpc.main"))).to_contain_text("<i>vpc-main</i>")
    axe(page)
    late(False)
    page.get_by_role("button", name="Dismiss all").click()
    expect(page.get_by_role("row", name=re.compile("aws_vpc.main"))).to_contain_text("dismissed")
    page.get_by_role("row", name=re.compile("aws_vpc.late")).get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("dismissed", exact=True)).to_have_count(2)
    expect(page.get_by_role("button", name="Dismiss all")).to_have_count(0)
    page.goto(f"/app/workspaces/{workspace}/hold")
    expect(page.get_by_role("heading", name="Held workspace")).to_be_visible()
    page.get_by_role("link", name="network").click()
    expect(page).to_have_url(re.compile("/app/acme/workspaces/network$"))
