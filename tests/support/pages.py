# SPDX-License-Identifier: MPL-2.0
"""The web UI in the distribution's Chromium, which Playwright drives. Each page fails its test if the console has a line
or a request leaves the site."""

import os
import shutil
import urllib.parse

from playwright.sync_api import expect, sync_playwright

from support.servers import ROOT
from support.wait import PATIENCE

# In the order of preference: the shell needs half the processor time.
PROGRAMS = "chromium-headless-shell", "chromium"
AXE = ROOT / "build/ui/node_modules/axe-core/axe.min.js"
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

expect.set_options(timeout=PATIENCE * 1000)


class Chromium:
    """One process for the tests of a file. Each visitor has cookies of its own."""

    def __init__(self, programs=PROGRAMS):
        program = os.environ.get("RUNYARD_CHROMIUM") or next(filter(None, map(shutil.which, programs)), None)
        assert program, f"the tests of pages need Chromium: apt-get install {programs[0]}"
        self.playwright = sync_playwright().start()
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.browser = self.playwright.chromium.launch(executable_path=program, args=[*sandbox, "--disable-gpu", "--disable-dev-shm-usage"])

    def release(self):
        self.browser.close()
        self.playwright.stop()


class Visitors:
    """visitors(url) opens a browser window of its own at the site. check() fails with what was wrong since the last one;
    release() closes the windows."""

    def __init__(self, chromium):
        self.chromium = chromium
        self.contexts, self.wrong, self.expected, self.others = [], [], [], []

    def __call__(self, url, **options):
        context = self.chromium.browser.new_context(base_url=url, **{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(PATIENCE * 1000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self.note(f"console: {message.type}: {message.text} ({message.location.get('url', '')})"))
        page.on("pageerror", lambda error: self.note(f"error: {error}"))
        page.on("request", lambda request: self.request(url, request.url))
        page.on("dialog", self.dialog)
        return page

    def note(self, line):
        # A test may fill a field before Chromium handles the page's autofocus.
        if "Autofocus processing was blocked" not in line:
            self.wrong.append(line)

    def dialog(self, dialog):
        if dialog.type != "beforeunload":
            self.wrong.append(f"a dialog of a script: {dialog.message}")
        dialog.dismiss()

    def request(self, site, url):
        if urllib.parse.urlsplit(url).scheme in ("http", "https") and not url.startswith((site, *self.others)):
            self.wrong.append(f"a request to another origin: {url}")

    def expect_console(self, part):
        """Chromium writes a line for each answer of 400 and above. A test that wants such an answer names a part of it."""
        self.expected.append(part)

    def expect_site(self, url):
        """A test whose pages lead to another site, such as an identity provider, names it."""
        self.others.append(url)

    def release(self):
        for context in self.contexts:
            context.close()

    def check(self):
        wrong = [line for line in self.wrong if not any(part in line for part in self.expected)]
        self.wrong.clear()
        self.expected.clear()
        assert not wrong, "\n".join(wrong)


def sign_in(page, username, password, path="/app"):
    """Opens the path, signs in if the session has ended, and returns the page at the path."""
    page.goto(path)
    if "/app/login" in page.url:
        page.get_by_label("Username").fill(username)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
    return page


class Sessions:
    """Signs each user in once. Later windows of the user begin with the cookies of that session."""

    def __init__(self):
        self.states = {}

    def page(self, visitors, url, user, path, **options):
        """A new window of the user (name, password) at the path."""
        page = sign_in(visitors(url, storage_state=self.states.get((url, user)), **options), *user, path)
        page.wait_for_url(lambda address: "/app/login" not in address)
        self.states[url, user] = page.context.storage_state()
        return page


def follow(page, path):
    """Goes to the path as a click on a link to it does: without a new document if the browser part has the page."""
    page.evaluate("""path => {
        const link = document.createElement("a");
        link.href = path;
        document.body.append(link);
        link.click();
        link.remove();
    }""", path)
    page.wait_for_url(lambda url: url.endswith(path))


def wait_loaded(page, text=""):
    """Waits until the page shows the text, and nothing is loading: the page before it stays until the new one is there,
    and may show the same text."""
    expect(page.locator("main[aria-busy=true]")).to_have_count(0)
    expect(page.locator("main")).to_contain_text(text)
    expect(page.locator(".skeleton")).to_have_count(0)


def check_accessible(page, rules=None, tags=None):
    """Fails with the violations that axe-core finds, by default of WCAG 2 A to 2.2 AA and of its practices for headings,
    landmarks and the like."""
    if page.evaluate("() => typeof axe") == "undefined":
        page.evaluate(AXE.read_text())
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": tags or [*WCAG, "best-practice"]}
    found = page.evaluate("only => axe.run(document, {runOnly: only, resultTypes: ['violations']})", only)["violations"]
    lines = [f"{rule['id']}: {rule['help']}: {node['html'][:160]} {node['failureSummary'][:200]}" for rule in found for node in rule["nodes"]]
    assert not lines, "\n".join(lines)


def check_themes(page, tags=None):
    """Fails if the page is not accessible in the light or the dark theme. The themes differ in colours alone."""
    page.emulate_media(color_scheme="light")
    check_accessible(page, tags=tags)
    page.emulate_media(color_scheme="dark")
    check_accessible(page, ["color-contrast"])
    page.emulate_media(color_scheme="null")


# Logs, differences and code may scroll sideways.
SIDEWAYS = ".explorer-rows, .log-scroll, .changes, .drawer, .text-change, .value-text, .plan-json, pre"


def check_width(page):
    """Nothing but logs and differences is wider than the window, or scrolls sideways."""
    wide = page.evaluate("""allowed => {
        const name = node => node.outerHTML.slice(0, 160);
        const nodes = [...document.querySelectorAll("body *")].filter(node => !node.closest(allowed) && !node.closest(".sr-only, svg"));
        const beyond = document.documentElement.scrollWidth <= innerWidth ? [] : nodes.filter(node => node.getBoundingClientRect().right > innerWidth);
        const scrolls = nodes.filter(node => /auto|scroll/.test(getComputedStyle(node).overflowX) && node.scrollWidth > node.clientWidth + 1);
        return [...beyond.map(node => "too wide: " + name(node)), ...scrolls.map(node => "scrolls: " + name(node))];
    }""", SIDEWAYS)
    assert not wide, "\n".join(wide[:12])


def check_narrow(page):
    """The page fits into 320 pixels."""
    size = page.viewport_size
    page.set_viewport_size({"width": 320, "height": 700})
    check_width(page)
    page.set_viewport_size(size)


def check_large_text(page):
    """The page fits, and no text is cut off, if the browser's text is twice as large."""
    session = page.context.new_cdp_session(page)
    session.send("Page.setFontSizes", {"fontSizes": {"standard": 32}})
    check_width(page)
    cut = page.evaluate("""() => [...document.querySelectorAll("main *, .bar *")].filter(node => {
        const style = getComputedStyle(node);
        const hides = /hidden|clip/.test(style.overflowY) || style.maxHeight !== "none";
        return hides && style.textOverflow !== "ellipsis" && !/auto|scroll/.test(style.overflowY) && !node.closest(".sr-only, .skip, .log-scroll, [hidden]")
            && node.clientHeight > 2 && node.scrollHeight > node.clientHeight + 2;
    }).map(node => node.outerHTML.slice(0, 160))""")
    session.send("Page.setFontSizes", {"fontSizes": {"standard": 16}})
    session.detach()
    assert not cut, "\n".join(cut[:12])


def check_forced_colors(page):
    """Controls keep a border where the browser removes backgrounds."""
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    bare = page.evaluate("""() => [...document.querySelectorAll("button, input:not([type=checkbox], [type=radio], [type=hidden]), select, textarea, .chip")]
        .filter(node => node.checkVisibility() && node.getClientRects().length && !node.matches(".icon-button"))
        .filter(node => getComputedStyle(node).borderTopStyle === "none" || getComputedStyle(node).borderTopWidth === "0px")
        .map(node => node.outerHTML.slice(0, 160))""")
    moving = page.evaluate("""() => [...document.querySelectorAll("*")]
        .filter(node => /[1-9]/.test(getComputedStyle(node).transitionDuration + getComputedStyle(node).animationDuration))
        .map(node => node.outerHTML.slice(0, 160))""")
    page.emulate_media(forced_colors="null", reduced_motion="null")
    assert not bare, "without a border: " + "\n".join(bare[:12])
    assert not moving, "moves: " + "\n".join(moving[:12])


# In the page: whether the element with the focus can be seen, and where it is.
FOCUS = """() => {
    const node = document.activeElement;
    if (!node || node === document.body || node === document.documentElement) {
        return "the focus is lost";
    }
    const name = node.outerHTML.slice(0, 160);
    const target = node.matches("h1, main, [tabindex='-1'], dialog") ? null : node;
    const boxes = [...node.getClientRects()].filter(box => box.width > 0 && box.height > 0);
    if (boxes.length === 0) {
        return "the element with the focus is not visible: " + name;
    }
    const style = getComputedStyle(node);
    if (target && (style.outlineStyle === "none" || Number.parseFloat(style.outlineWidth) < 1)) {
        return "no focus ring: " + name;
    }
    const inView = boxes.filter(box => box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth);
    const reached = inView.some(box => {
        const x = Math.min(Math.max(box.left + box.width / 2, 1), innerWidth - 1), y = Math.min(Math.max(box.top + box.height / 2, 1), innerHeight - 1);
        const top = document.elementFromPoint(x, y);
        return top && (top === node || node.contains(top) || top.contains(node) || [...(node.labels ?? [])].some(label => label.contains(top)));
    });
    return target && !reached ? "something covers the element with the focus: " + name : "";
}"""


def check_focus(page):
    """The focus is on an element that can be seen, with a ring."""
    problem = page.evaluate(FOCUS)
    assert not problem, problem


EVERY_FOCUS = """() => {
    const problem = %s;
    const taking = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
    const found = [];
    for (const node of document.querySelectorAll(taking)) {
        if (node.checkVisibility() && node.tabIndex >= 0 && !node.disabled && !node.closest(".log-scroll *, .change-item ~ .change-item")) {
            node.focus();
            const why = document.activeElement === node ? problem() : "it does not take the focus: " + node.outerHTML.slice(0, 160);
            found.push(...(why ? [why] : []));
        }
    }
    return found;
}""" % FOCUS


def check_every_focus(page):
    """The same for each element of the page that takes the focus."""
    page.keyboard.press("Tab")  # browsers show the ring to people who use keys
    problems = page.evaluate(EVERY_FOCUS)
    assert not problems, "\n".join(problems[:12])
