# SPDX-License-Identifier: MPL-2.0
"""The web UI in the distribution's Chromium, which Playwright drives. Each page fails its test if the console has a line
or a request leaves the site."""

import os
import shutil
import urllib.parse

from playwright.sync_api import expect, sync_playwright

from support.servers import ROOT
from support.wait import PATIENCE

AXE = ROOT / "build/ui/node_modules/axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

expect.set_options(timeout=PATIENCE * 1000)


class Chromium:
    """One process for the tests of a file. Each visitor has cookies of its own."""

    def __init__(self):
        program = os.environ.get("RUNYARD_CHROMIUM") or shutil.which("chromium")
        assert program, "the tests of pages need Chromium: apt-get install chromium"
        self.playwright = sync_playwright().start()
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.browser = self.playwright.chromium.launch(executable_path=program, args=[*sandbox, "--disable-gpu", "--disable-dev-shm-usage"])

    def release(self):
        self.browser.close()
        self.playwright.stop()


class Visitors:
    """visitors(url) opens a browser window of its own at the site. check() ends all and fails with what was wrong."""

    def __init__(self, chromium):
        self.chromium = chromium
        self.contexts, self.wrong, self.expected = [], [], []

    def __call__(self, url, **options):
        context = self.chromium.browser.new_context(base_url=url, **{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(PATIENCE * 1000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self.note(f"console: {message.type}: {message.text} ({message.location.get('url', '')})"))
        page.on("pageerror", lambda error: self.note(f"error: {error}"))
        page.on("request", lambda request: self.request(url, request.url))
        return page

    def note(self, line):
        # A test may fill a field before Chromium handles the page's autofocus.
        if "Autofocus processing was blocked" not in line:
            self.wrong.append(line)

    def request(self, site, url):
        if urllib.parse.urlsplit(url).scheme in ("http", "https") and not url.startswith(site):
            self.wrong.append(f"a request to another origin: {url}")

    def expect_console(self, part):
        """Chromium writes a line for each answer of 400 and above. A test that wants such an answer names a part of it."""
        self.expected.append(part)

    def check(self):
        for context in self.contexts:
            context.close()
        wrong = [line for line in self.wrong if not any(part in line for part in self.expected)]
        assert not wrong, "\n".join(wrong)


def sign_in(page, username, password, path="/app"):
    """Opens the path, signs in, and returns the page at the path."""
    page.goto(path)
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    return page


def check_accessible(page):
    """Fails with the violations of WCAG 2 A to 2.2 AA that axe-core finds."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})", RULES)["violations"]
    lines = [f"{rule['id']}: {rule['help']}: {node['html'][:160]} {node['failureSummary'][:200]}" for rule in found for node in rule["nodes"]]
    assert not lines, "\n".join(lines)


def check_narrow(page):
    """Nothing but logs and the like scrolls sideways at 320 pixels."""
    size = page.viewport_size
    page.set_viewport_size({"width": 320, "height": 700})
    wide = page.evaluate("""() => document.documentElement.scrollWidth <= 320 ? [] :
        [...document.querySelectorAll("body *")].filter(node => node.getBoundingClientRect().right > 320).map(node => node.outerHTML.slice(0, 120))""")
    assert not wide, "\n".join(wide)
    page.set_viewport_size(size)
