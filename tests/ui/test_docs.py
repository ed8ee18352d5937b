# SPDX-License-Identifier: MPL-2.0
"""The documentation, as a scheduler serves it at /app/docs and as static pages: pages, links, search, print, and the errors of its build."""

import functools
import http.server
import json
import re
import shutil
import subprocess
import threading
import urllib.parse

import pytest
from playwright.sync_api import expect

from support import pages
from support.browser import Browser
from support.rich_site import SERVER_PAGES, patterns
from support.servers import ROOT

TOOL = "scheduler/ui/web/tools/docs.mjs"
NAMES = [line.split()[0] for line in subprocess.run(["node", ROOT / TOOL, "names"], capture_output=True, text=True, check=True).stdout.splitlines()]


def path_of(name):
    return "/app/docs" if name == "index" else f"/app/docs/{name}"


@pytest.fixture(scope="module")
def reader(fake_site):
    """A browser without scripts that is not signed in."""
    return Browser(fake_site.scheduler.url)


@pytest.fixture(scope="module")
def tour(chromium, fake_site):
    """One window for the pages of this file."""
    visitors = pages.Visitors(chromium)
    yield visitors(fake_site.scheduler.url), visitors
    visitors.release()


def ids_of(page):
    return set(re.findall(r'\sid="([^"]+)"', page))


def links_of(page):
    """The addresses in the part of the page below the bar."""
    return {link.replace("&amp;", "&") for link in re.findall(r'<a href="([^"]+)"', page.split("<main")[1])}


def check_links(texts, known):
    """Every link of the pages leads to one of them, to a heading that it has, or to a site of others. texts: by address. known: further addresses."""
    wrong = []
    for address, text in texts.items():
        for link in links_of(text):
            if re.match("https?://|mailto:", link):
                continue
            path, anchor = urllib.parse.urldefrag(urllib.parse.urljoin(address, link))
            if path not in texts and path not in known:
                wrong.append(f"{address}: {link}")
            elif anchor and anchor not in ids_of(texts[path]):
                wrong.append(f"{address}: {link} has no such heading")
    assert not wrong, "\n".join(wrong)


def test_every_link_leads_to_a_page_and_a_heading(reader):
    texts = {}
    for name in NAMES:
        assert reader.ask(path_of(name)).status == 200, name
        texts[path_of(name)] = reader.page
    assert len(texts) > 40 and sum(len(links_of(text)) for text in texts.values()) > 1000
    check_links(texts, ())


def test_each_page_is_in_the_list(reader):
    listed = set(re.findall(r'<li><a href="(/app/docs[^"#]*)"', reader.ask("/app/docs").page.split('class="docs-page"')[0]))
    assert listed == {path_of(name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_accessible_and_fits(tour, name):
    page, visitors = tour
    page.goto(path_of(name))
    expect(page.locator("article h1")).to_have_count(1)
    pages.check_themes(page)
    pages.check_narrow(page)
    visitors.check()


def test_a_page_has_the_policy_of_the_app_and_can_not_be_framed(reader, fake_site):
    browser = Browser(fake_site.scheduler.url)
    browser.ask("/app/login")
    policy = browser.headers["Content-Security-Policy"]
    reader.ask("/app/docs")
    assert reader.headers["Content-Security-Policy"] == policy and "frame-ancestors 'none'" in policy
    assert "style=" not in reader.page and not re.search(r"<script(?! type=\"module\" src=\"/assets/)", reader.page)


def test_an_unknown_page_reads_as_not_found(reader):
    reader.ask("/app/docs/there-is-none")
    assert reader.status == 404 and "No such page" in reader.text


def test_signed_in_people_keep_their_menu_and_theme(visitors, sessions, fake_site):
    page = sessions.page(visitors, fake_site.scheduler.url, (fake_site.tokens["user"], fake_site.tokens["password"]), "/app/settings/theme")
    page.context.add_cookies([{"name": "runyard_theme", "value": "dark", "url": fake_site.scheduler.url}])
    page.goto("/app/docs")
    expect(page.locator(".bar-end summary")).to_have_text(fake_site.tokens["user"])
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 24)"


def search(page):
    """Finds a section by two beginnings of words, and follows the first result."""
    field = page.get_by_label("Search the documentation")
    field.fill("rotate key")
    results = page.locator(".docs-search ol a")
    expect(results.first).to_contain_text("Rotate keys")
    expect(page.locator(".docs-search [role=status]")).to_contain_text("sections")
    field.fill("there-is-no-such-word")
    expect(results).to_have_count(0)
    expect(page.locator(".docs-search [role=status]")).to_have_text("0 sections")
    field.fill("rotate KEYS")
    results.filter(has_text="Rotate keys").first.click()
    expect(page.locator("#rotate-keys")).to_be_in_viewport()
    pages.check_themes(page)


def test_the_search_finds_sections_in_the_browser(visitors, fake_site):
    page = visitors(fake_site.scheduler.url)
    page.goto("/app/docs")
    search(page)


def test_without_scripts_the_pages_are_complete_and_have_no_search(visitors, fake_site):
    page = visitors(fake_site.scheduler.url, java_script_enabled=False)
    page.goto("/app/docs/deploy")
    expect(page.locator("article h1")).to_be_visible()
    expect(page.locator(".docs-search")).to_be_hidden()


def test_on_paper_there_is_only_the_text(visitors, fake_site):
    page = visitors(fake_site.scheduler.url, color_scheme="dark")
    page.goto("/app/docs/deploy")
    page.emulate_media(media="print")
    for part in (".bar", ".docs-list", ".docs-contents"):
        expect(page.locator(part)).to_be_hidden()
    expect(page.locator("article h1")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('article')).color") == "rgb(27, 31, 36)"
    assert page.evaluate("[...document.querySelectorAll('article pre')].every(block => getComputedStyle(block).whiteSpace === 'pre-wrap')")


# ---- links from the pages of the web UI ----


def helps():
    """Patterns of pages with their sections."""
    return re.findall(r'\["(/app[^"]*)", "([^"]*)"\]', (ROOT / "scheduler/ui/web/src/core/help.ts").read_text())


@pytest.mark.parametrize("pattern, section", helps())
def test_the_section_that_explains_a_page_is_there(reader, pattern, section):
    name, _, anchor = section.partition("#")
    assert reader.ask(path_of(name or "index")).status == 200
    assert not anchor or anchor in ids_of(reader.page), section
    assert any(route.startswith(pattern) for route in [*patterns(), *SERVER_PAGES]), f"no page begins with {pattern}"


def test_a_page_leads_to_its_section(visitors, sessions, fake_site):
    page = sessions.page(visitors, fake_site.scheduler.url, (fake_site.tokens["user"], fake_site.tokens["password"]), "/app/acme/settings/teams")
    page.get_by_role("banner").get_by_role("link", name="Help").click()
    expect(page.locator("#who-may-do-what")).to_be_in_viewport()
    page.goto("/app/settings/tokens")
    page.get_by_role("banner").get_by_role("link", name="Help").click()
    expect(page.get_by_role("heading", level=1, name="Documentation")).to_be_visible()


# ---- static pages ----


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def static(session_folder):
    """The folder that deploy/docs/build writes, and the address of a web server that serves it."""
    folder = session_folder / "docs"
    subprocess.run([ROOT / "deploy/docs/build", folder], check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_static_pages_are_the_same_and_have_no_dead_links(static):
    folder, _ = static
    texts = {path.name: path.read_text() for path in folder.glob("*.html")}
    assert set(texts) == {f"{name}.html" for name in NAMES}
    check_links(texts, ())
    for text in texts.values():
        assert all((folder / name).is_file() for name in re.findall(r'(?:src|href)="([^":#]+\.(?:js|css))"', text))


def test_static_pages_can_be_searched(static, visitors):
    page = visitors(static[1])
    page.goto("/index.html")
    search(page)
    expect(page).to_have_url(re.compile(r"/deploy\.html#rotate-keys$"))


def test_two_builds_write_the_same_bytes(static, folder):
    assert subprocess.run([ROOT / "deploy/docs/build", folder / "again"], capture_output=True).returncode == 0
    read = lambda root: {path.name: path.read_bytes() for path in root.iterdir()}  # noqa: E731
    assert read(folder / "again") == read(static[0])


def test_a_folder_with_other_files_is_not_deleted(static, folder):
    (folder / "precious").mkdir()
    (folder / "precious/file").write_text("kept")
    done = subprocess.run([ROOT / "deploy/docs/build", folder / "precious"], capture_output=True, text=True)
    assert done.returncode == 1 and "no documentation" in done.stderr and (folder / "precious/file").read_text() == "kept"


# ---- errors of the build ----


@pytest.fixture
def tree(folder):
    """tree(files) runs the tool in a repository with these files alone, and returns what it said."""

    def tree(files):
        tool = folder / TOOL
        tool.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / TOOL, tool)
        if not (tool.parents[1] / "node_modules").exists():
            (tool.parents[1] / "node_modules").symlink_to(ROOT / "build/ui/node_modules")
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        return subprocess.run(["node", tool, "embed", folder / "out"], capture_output=True, text=True)

    return tree


START = {"deploy/docs/README.md": "# Start\n\nText.\n"}


@pytest.mark.parametrize("text, said", [
    ("# A\n\n[b](b.md)\n", "README.md: b.md is not there"),
    ("# A\n\n[b](deploy/docs/README.md#nowhere)\n", "README.md: deploy/docs/README.md#nowhere has no such heading"),
    ("# A\n\n[b](#nowhere)\n", "README.md: #nowhere has no such heading"),
    ("# A\n\n[b](../secret)\n", "README.md: ../secret is not there"),
    ("# A\n\n![b](b.svg)\n", "README.md: b.svg is no image"),
])
def test_a_broken_link_fails_the_build(tree, text, said):
    done = tree({**START, "README.md": text})
    assert done.returncode == 1 and said in done.stderr, done.stderr


def test_two_files_of_one_name_fail_the_build(tree):
    done = tree({**START, "deploy/docs/worker.md": "# A\n", "worker/README.md": "# B\n"})
    assert done.returncode == 1 and "two Markdown files make the page worker" in done.stderr


def test_html_is_text_and_source_files_are_named(tree, folder):
    done = tree({**START, "common/a.c": "", "README.md": '# A <b>\n\n<script>alert(1)</script>\n\n[the code](common/a.c) and [`a.c`](common/a.c)\n\n```sh file=x.sh\n<x>\n```\n'})
    assert done.returncode == 0, done.stderr
    page = (folder / "out/docs/readme").read_text()
    assert "<script" not in page and "&lt;script&gt;" in page and "&lt;x&gt;" in page
    assert "the code (<code>common/a.c</code> in the source)" in page and '<span title="common/a.c"><code>a.c</code></span>' in page
    assert '<p class="docs-file"><code>x.sh</code></p>' in page
    assert json.loads((folder / "out/docs/search.json").read_text())["pages"][0] == ["/app/docs/readme", "A "]
