# SPDX-License-Identifier: MPL-2.0
"""The log of a plan: long, hostile and growing."""

import re

from playwright.sync_api import expect

from support.wait import until

LINES = 100_000


def show_log(page):
    """Opens the plan's log. Sections above it may appear meanwhile, so that a click meets another one."""
    tab = page.locator("#plan").get_by_role("tab", name="Log")

    def opened():
        if not tab.is_visible():
            page.locator("#plan > summary").click()
        return tab.is_visible()

    until(opened, "the plan is open")
    tab.click()
    return page.get_by_role("region", name="Log of the plan")


def line(log, number):
    return log.locator(f'[data-line="{number - 1}"]')


def drag(page, log, first, last):
    """Drags over the numbers of these lines, again if the log has moved under the pointer meanwhile."""

    def dragged():
        line(log, first).locator(".log-number").hover()
        place = line(log, first).bounding_box()
        page.mouse.down()
        line(log, last).locator(".log-number").hover()
        page.mouse.up()
        return line(log, first).bounding_box() == place

    until(dragged, "the log stays where it is during a drag")


def expect_in_view(log, number):
    """Scrolls the page to the log until that line of it is in view: sections above the log may appear later and move it."""

    def seen():
        log.scroll_into_view_if_needed()
        try:
            expect(line(log, number)).to_be_in_viewport(timeout=1000)
        except AssertionError:
            return False
        return True

    until(seen, f"line {number} is in view")


def test_a_long_log_is_scrolled_searched_and_linked(operations, open_plan, axe):
    text = "".join(f"example_thing.row[{i}]: Creating...{' needle' if i % 1000 == 7 else ''}\n" for i in range(LINES - 4))
    text += "╷\n│ \x1b[31mError: \x1b[0mno way\n│ on main.tf line 1\n╵\n"
    run = operations.planned(operations.api.workspace(), text.encode())
    page = open_plan(run)
    log = show_log(page)
    state = page.locator(".log-state")
    expect(state).to_contain_text("100,000 lines, ended")
    expect(line(log, 1)).to_contain_text("row[0]")
    assert log.get_by_role("listitem").count() < 200
    expect(line(log, 1)).to_have_attribute("aria-setsize", str(LINES))

    log.focus()
    page.keyboard.press("End")
    expect(line(log, LINES)).to_contain_text("╵")
    expect_in_view(log, LINES)
    page.keyboard.press("Control+f")
    search = page.get_by_label("Find in the log")
    expect(search).to_be_focused()
    search.fill("NEEDLE")
    result = page.locator(".find-bar [role=status]")
    expect(result).to_have_text("100 lines")
    search.press("Enter")
    expect(result).to_have_text("1 of 100 lines")
    expect(line(log, 8)).to_be_in_viewport()
    expect(line(log, 8).locator("mark")).to_have_text("needle")
    search.press("Shift+Enter")
    expect(result).to_have_text("100 of 100 lines")
    expect(line(log, 99_008)).to_be_in_viewport()
    page.get_by_role("button", name="Regex").click()
    search.fill("row\\[9{4,5}\\].*\\.$")
    expect(result).to_have_text("1 line")
    search.fill("(a+)+(")
    expect(result).to_contain_text("Not a pattern")
    axe(page)
    search.press("Escape")

    page.get_by_role("button", name="Errors only").click()
    expect(log.get_by_role("listitem")).to_have_count(4)
    expect(log.locator(".failure")).to_have_text("Error: ")
    page.get_by_role("button", name="Errors only").click()

    linked = open_plan(run, "#plan:L50000-L50003")
    log = linked.get_by_role("region", name="Log of the plan")
    expect(line(log, 50_000)).to_be_in_viewport()
    expect(log.locator(".selected")).to_have_count(4)
    line(log, 50_002).locator(".log-number").click()
    expect(linked).to_have_url(re.compile("#plan:L50002$"))
    line(log, 50_005).locator(".log-number").click(modifiers=["Shift"])
    expect(linked).to_have_url(re.compile("#plan:L50002-L50005$"))
    drag(linked, log, 50_003, 50_006)
    expect(linked).to_have_url(re.compile("#plan:L50003-L50006$"))
    line(log, 50_002).locator(".log-number").click()
    line(log, 50_005).locator(".log-number").click(modifiers=["Shift"])
    linked.get_by_role("button", name="Copy text").click()
    expect(linked.locator(".toast")).to_have_text("Copied")
    assert linked.evaluate("navigator.clipboard.readText()").splitlines() == text.splitlines()[50_001:50_005]
    line(log, 50_003).locator(".log-number").focus()
    linked.keyboard.press("ArrowDown")
    expect(line(log, 50_004).locator(".log-number")).to_be_focused()
    linked.keyboard.press("Enter")
    expect(linked).to_have_url(re.compile("#plan:L50004$"))


HOSTILE = (
    b"\x1b[1;32mgreen\x1b[0m plain\n"
    b"10%\r50%\r100%\n"
    b"bad \xff\xfe\xc3 bytes\n"
    b"<img src=x onerror=alert(1)><script>alert(2)</script>\n"
    b"see https://docs.example.org/a?b=1.\n"
    b"\x1b]8;;javascript:alert(3)\x07click\x1b]8;;\x07 \x1b]8;;https://ok.example/\x07fine\x1b]8;;\x07\n"
    b"\x02\x03 in the middle \x1b[2J\x1b]0;title\x07 end\n"
    b"rtl \xe2\x80\xae exe.txt\n" + b"x" * (1 << 20) + b"\nlast\n"
)


def test_a_hostile_log_is_text(operations, open_plan):
    page = open_plan(operations.planned(operations.api.workspace(), HOSTILE))
    log = show_log(page)
    expect(page.locator(".log-state")).to_contain_text("10 lines")
    expect(line(log, 1).locator(".success.bold")).to_have_text("green")
    texts = log.locator(".log-text")
    expect(texts.nth(1)).to_have_text("100%")
    expect(texts.nth(2)).to_have_text("bad \ufffd\ufffd\ufffd bytes")
    expect(texts.nth(3)).to_have_text("<img src=x onerror=alert(1)><script>alert(2)</script>")
    expect(texts.nth(6)).to_have_text(" in the middle  end")
    expect(texts.nth(7)).to_have_text("rtl  exe.txt")
    expect(texts.nth(8)).to_contain_text("more characters")
    expect(texts.nth(9)).to_have_text("last")
    links = log.locator(".log-text a")
    assert [link.get_attribute("href") for link in links.all()] == ["https://docs.example.org/a?b=1", "https://ok.example/"]
    assert {link.get_attribute("rel") for link in links.all()} == {"noopener noreferrer"}
    assert log.locator("img, script").count() == 0
    page.get_by_role("button", name="Wrap").click()
    until(lambda: texts.nth(8).bounding_box()["height"] > 100, "the long line is wrapped")
    log.focus()
    page.keyboard.press("End")
    expect_in_view(log, 10)
    page.get_by_role("button", name="Raw").click()
    expect(texts.first).to_have_text("␛[1;32mgreen␛[0m plain")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download .log").click()
    assert download.value.path().read_bytes() == HOSTILE


def test_a_growing_log_is_followed_until_the_reader_scrolls_up(operations, open_plan):
    run, job = operations.start(operations.api.workspace())
    at = operations.write(job, "".join(f"first {i}\n" for i in range(500)).encode())
    page = open_plan(run)
    log = page.get_by_role("region", name="Log of the plan")
    expect_in_view(log, 500)
    expect(page.locator(".log-state")).to_contain_text("live")
    at = operations.write(job, "".join(f"second {i}\n" for i in range(500)).encode(), at)
    expect_in_view(log, 1000)
    log.focus()
    page.keyboard.press("Home")
    expect_in_view(log, 1)
    at = operations.write(job, b"third\n", at)
    follow = page.get_by_role("button", name="1 new line: follow")
    follow.click()
    expect_in_view(log, 1001)
    operations.write(job, b"no newline", at)
    operations.finish(job)
    expect(page.locator("#plan .stage-state")).to_have_text("finished")
    page.locator("#plan > summary").click()
    page.locator("#plan").get_by_role("tab", name="Log").click()
    expect(page.locator(".log-state")).to_contain_text("1,002 lines, ended")


def test_lines_do_not_overlap_with_large_text(operations, open_plan):
    page = open_plan(operations.planned(operations.api.workspace(), b"".join(b"line %d\n" % i for i in range(2000))))
    page.locator("#plan").wait_for()
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    log = show_log(page)
    log.focus()
    page.keyboard.press("End")
    expect_in_view(log, 2000)
    boxes = [line(log, number).bounding_box() for number in (1998, 1999, 2000)]
    assert [boxes[1]["y"] - boxes[0]["y"], boxes[2]["y"] - boxes[1]["y"]] == [40, 40]
    assert line(log, 1999).locator(".log-text").bounding_box()["height"] <= 40


def test_a_log_goes_on_after_the_scheduler_was_away(operations, open_plan, visitors, fake_site):
    visitors.expect_console("Failed to load resource")
    run, job = operations.start(operations.api.workspace())
    at = operations.write(job, b"".join(b"before %d\n" % i for i in range(100)))
    page = open_plan(run)
    log = page.get_by_role("region", name="Log of the plan")
    expect(line(log, 100)).to_be_visible()
    fake_site.scheduler.stop()
    expect(page.locator(".log-state")).to_contain_text(f"interrupted at byte {at + 1:,}, retrying")
    expect(line(log, 100)).to_be_visible()
    fake_site.scheduler.restart()
    operations.write(job, b"".join(b"after %d\n" % i for i in range(100)), at)
    expect(line(log, 200)).to_contain_text("after 99")
    expect(page.locator(".log-state")).to_contain_text("200 lines, live")
