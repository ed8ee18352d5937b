# SPDX-License-Identifier: MPL-2.0
"""The event stream in a browser: two schedulers behind a TCP proxy, which the tests restart, cut and heal."""

import os
import re
import shutil
import signal
import time

import psycopg
import pytest
from playwright.sync_api import expect

from support import pages
from support.api import Api
from support.fake_worker import FakeWorker
from support.gate import Gate
from support.people import People
from support.proxy import Proxy, Wires
from support.runyard import KEYS, Scheduler, Worker
from support.servers import ROOT, Broker
from support.site import new_folder, release_all
from support.wait import until

CHANGES = {"main.tf": 'resource "terraform_data" "one" {\n  input = "first"\n}\n'}
# Texts of the connection's mark, since the page was loaded.
RECORD = """() => {
    window.marks = [];
    const look = () => {
        const text = document.querySelector(".bar-end > :first-child").textContent;
        if (window.marks.at(-1) !== text) window.marks.push(text);
    };
    look();
    new MutationObserver(look).observe(document.querySelector(".bar-end"), {subtree: true, childList: true, characterData: true});
}"""


class Pair:
    """Two schedulers behind a proxy, a worker, and a broker."""

    def __init__(self, folder, postgres, sandbox):
        self.folder = folder
        self.broker = Broker(folder).start()
        self.database, self.tokens = postgres.new_bootstrapped()
        self.wires = Wires()
        self.proxy = Proxy(self.wires)
        self.url = f"http://127.0.0.1:{self.proxy.port}"
        self.closed = []
        self.gates = folder / "gates"
        self.gates.mkdir()
        settings = {"database_url": self.database, "keys": KEYS, "public_url": self.url, **self.broker.options}
        self.schedulers = [Scheduler(f"scheduler-{number}", folder, **settings).start() for number in (1, 2)]
        self.through(*self.schedulers)
        self.api = Api(self.schedulers[0].url, self.tokens["token"])
        self.worker = Worker("worker-1", folder, scheduler_url=self.url, agent_token=self.tokens["agent-token"], name="worker-1",
                             data_dir=folder / "worker-1", sandbox=sandbox, sandbox_bind=self.gates, **self.broker.options).start()

    def through(self, *schedulers):
        self.proxy.targets[:] = [scheduler.port for scheduler in schedulers]

    def streams(self):
        return [scheduler.metric("runyard_event_streams") for scheduler in self.schedulers]

    def change(self, query, *values):
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute(query, values)

    def gate(self, name):
        self.closed.append(Gate(self.gates, name))
        return self.closed[-1]

    def restore(self):
        """Whatever a test did, the next one finds all processes."""
        self.proxy.heal()
        self.through(*self.schedulers)
        for gate in self.closed:
            gate.open()
        self.closed.clear()
        for server in (self.broker, *self.schedulers):
            if not server.process.alive():
                server.start()

    def release(self):
        self.restore()
        release_all([self.wires, self.proxy, self.broker, *self.schedulers, self.worker])


@pytest.fixture(scope="module")
def pair(postgres, sandbox):
    folder = new_folder("pair")
    pair = Pair(folder, postgres, sandbox)
    yield pair
    pair.release()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def open_page(visitors, sessions, pair):
    """open_page(path) is a signed-in page through the proxy, once the browser has loaded it."""

    def open_page(path, user="admin"):
        return sessions.page(visitors, pair.url, (user, pair.tokens["password"]), path)

    yield open_page
    pair.restore()


def tab(page, path):
    """One more tab of the same browser window."""
    other = page.context.new_page()
    other.goto(path)
    return other


def mark(page, text):
    expect(page.locator(".bar-end > :first-child")).to_contain_text(text)


def workspace_names(page):
    return page.locator("table .row-link")


def test_eight_tabs_stay_live_on_one_stream(open_page, pair):
    pair.through(pair.schedulers[0])
    workspace = pair.api.workspace("eight")
    first = pair.api.run_files(workspace, CHANGES)
    pair.api.wait_status(first, "planned")
    list_page = open_page("/app/acme/workspaces?q=eight")
    lists = [list_page, *(tab(list_page, "/app/acme/workspaces?q=eight") for _ in range(3))]
    runs = [tab(list_page, f"/app/acme/workspaces/eight/runs/{first}") for _ in range(4)]
    for page in runs:
        expect(page.locator(".run-header").get_by_text("Needs Confirmation")).to_be_visible()
    pair.api.act(first, "discard")
    for page in runs:
        expect(page.locator(".run-header").get_by_text("Discarded")).to_be_visible()
    for page in lists:
        expect(page.locator("tbody tr")).to_contain_text("Discarded")
    for page in lists + runs:
        mark(page, "Live")
    until(lambda: sum(pair.streams()) == 1, lambda: f"one stream: {pair.streams()}")


def test_pages_show_comments_runs_and_locks_of_others_at_once(open_page, pair):
    workspace = pair.api.workspace("followed")
    run = pair.api.run_files(workspace, CHANGES)
    pair.api.wait_status(run, "planned")
    run_page = open_page(f"/app/acme/workspaces/followed/runs/{run}")
    overview, states = (tab(run_page, f"/app/acme/workspaces/followed{path}") for path in ("", "/states"))
    for page in (run_page, overview, states):
        mark(page, "Live")
    pair.api.post(f"runs/{run}/comments", {"data": {"type": "comments", "attributes": {"body": "looks **good**"}}})
    expect(run_page.locator(".comment")).to_contain_text("looks good")
    pair.api.act(run, "discard")
    expect(overview.locator("#now + .run-line")).to_contain_text("Discarded")
    pair.api.post(f"workspaces/{workspace}/actions/lock", {"reason": "a long change"})
    for page in (overview, states):
        expect(page.locator("header .lock")).to_contain_text("a long change")
    expect(run_page.get_by_role("button", name="Unlock")).to_be_visible()


def test_a_log_is_whole_after_a_restart_of_its_scheduler(open_page, pair, visitors):
    """The stream and the log continue at the other scheduler. A request that was on its way to the stopped one gets no
    answer, or 503."""
    visitors.expect_console("net::ERR_EMPTY_RESPONSE")
    visitors.expect_console("503")
    holder, other = pair.schedulers
    pair.through(holder)
    gate, end = pair.gate("middle"), pair.gate("end")
    command = f"seq 1001 1200 | sed s/^/line-/; {gate.command}; seq 1201 1400 | sed s/^/line-/; {end.command}"
    files = {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{command}"\n  }}\n}}\n'}
    run = pair.api.run_files(pair.api.workspace("restart", auto_apply=True), files)
    gate.wait()
    page = open_page(f"/app/acme/workspaces/restart/runs/{run}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    log = page.get_by_role("region", name="Log of the apply")
    expect(log).to_contain_text("line-1200")
    page.evaluate(RECORD)
    pair.through(other)
    holder.stop()
    until(lambda: [text for text in page.evaluate("window.marks") if "Reconnecting" in text], "Reconnecting is shown")
    mark(page, "Live")
    gate.open()
    expect(log).to_contain_text("line-1400")
    page.evaluate("location.hash = '#apply:L1-L1000'")
    page.get_by_role("button", name="Copy text").click()
    text = page.evaluate("navigator.clipboard.readText()")
    assert re.findall(r"local-exec\): line-(\d+)", text) == [str(number) for number in range(1001, 1401)]
    end.wait()
    end.open()
    expect(page.locator(".run-header").get_by_text("Applied")).to_be_visible()


def test_while_the_broker_is_away_pages_poll(open_page, pair):
    page = open_page("/app/acme/workspaces?q=broker")
    mark(page, "Live")
    pair.broker.process.stop()
    mark(page, "Polling every 3 s")
    pair.api.workspace("broker-away")
    expect(workspace_names(page)).to_have_text(["broker-away"])
    pair.broker.start()
    mark(page, "Live")
    pair.api.workspace("broker-back")
    page.get_by_role("button", name="re-sort").click()
    expect(workspace_names(page)).to_have_text(["broker-away", "broker-back"])


@pytest.fixture
def reader(pair, visitors, open_page):
    """reader(workspace, access, path) is the page of a person with that access to the workspace, and the access."""
    people = People(pair.api, pair.database)

    def reader(workspace, access, path):
        name = f"reader-{workspace}"
        team = people.team(name)
        people.member(name, team)
        pair.change("update users set password_hash = (select password_hash from users where username = 'admin') where username = %s", name)
        given = people.give(team, "workspace", workspace, access)
        return open_page(path, name), given

    return reader


ACT = """async run => (await fetch(`/api/v2/runs/${run}/actions/cancel`, {
    method: "POST", headers: {"X-CSRF-Token": document.querySelector("meta[name=csrf]").content},
})).status"""


def test_a_withdrawn_permission_ends_the_run_page_and_its_log(reader, visitors, pair):
    gate = pair.gate("withdrawn")
    workspace = pair.api.workspace("withdrawn", auto_apply=True)
    command = f"echo line-1; {gate.command}; echo line-2"
    files = {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{command}"\n  }}\n}}\n'}
    run = pair.api.run_files(workspace, files)
    gate.wait()
    page, access = reader(workspace, "write", f"/app/acme/workspaces/withdrawn/runs/{run}")
    expect(page.get_by_role("region", name="Log of the apply")).to_contain_text("line-1")
    expect(page.get_by_role("button", name="Cancel Run").first).to_be_enabled()
    visitors.expect_console("404")
    pair.api.delete(f"team-workspaces/{access}")
    expect(page.get_by_text("This does not exist, or you may not see it.")).to_be_visible()
    expect(page.locator(".run-header, .log")).to_have_count(0)
    assert page.evaluate(ACT, run) == 404


def test_an_action_whose_right_was_withdrawn_says_so(reader, visitors, pair):
    workspace = pair.api.workspace("reduced")
    run = pair.api.run_files(workspace, CHANGES)
    pair.api.wait_status(run, "planned")
    page, access = reader(workspace, "write", f"/app/acme/workspaces/reduced/runs/{run}")
    page.get_by_role("button", name="Discard Plan").first.click()
    pair.api.patch(f"team-workspaces/{access}", {"data": {"type": "team-workspaces", "attributes": {"access": "read"}}})
    visitors.expect_console("403")
    visitors.expect_console("404")
    page.get_by_role("dialog").get_by_role("button", name="Discard Plan").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    assert pair.api.status(run) == "planned"


def test_sign_out_ends_all_tabs(open_page, visitors):
    page = open_page("/app/acme/workspaces")
    others = [tab(page, "/app/acme/workspaces"), tab(page, "/app")]
    for one in (page, *others):
        mark(one, "Live")
    visitors.expect_console("401")
    page.locator(".bar-end summary").click()
    page.get_by_role("button", name="Sign out").click()
    for one in (page, *others):
        expect(one.get_by_role("button", name="Sign in")).to_be_visible()


def test_an_ended_session_leads_to_sign_in_and_back(open_page, visitors, pair):
    page = open_page("/app/acme/workspaces?q=ended")
    mark(page, "Live")
    visitors.expect_console("401")
    pair.change("delete from sessions")
    until(lambda: pair.api.workspace(f"ended-{time.monotonic_ns()}") and page.get_by_label("Password").count(), "the stream is checked before an event", every=0.5)
    expect(page).to_have_url(re.compile(r"/app/login\?return=%2Fapp%2Facme%2Fworkspaces%3Fq%3Dended"))


def test_another_build_of_the_server_offers_a_reload(open_page, visitors, pair):
    """The second scheduler serves the files of a directory."""
    visitors.expect_console("ERR_")
    other = pair.schedulers[1]
    pair.through(pair.schedulers[0])
    page = open_page("/app/acme/workspaces")
    mark(page, "Live")
    other.stop()
    other.options["ui_dir"] = ROOT / "build/ui/dist"
    other.start()
    pair.through(other)
    pair.proxy.break_as("reset")
    pair.proxy.heal()
    page.get_by_role("button", name="New version, reload").click()
    expect(page.get_by_role("heading", name="Workspaces", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="New version, reload")).to_have_count(0)
    page.close()  # a scheduler that stops answers its requests with 503
    other.stop()
    del other.options["ui_dir"]
    other.start()


def test_a_part_that_is_gone_offers_a_reload(open_page, visitors):
    page = open_page("/app/acme/workspaces")
    visitors.expect_console("404")
    page.route(re.compile("/assets/organizations-"), lambda route: route.fulfill(status=404))
    page.get_by_role("link", name="Runyard").click()
    expect(page.get_by_role("button", name="New version, reload")).to_be_visible()


def test_after_a_time_offline_the_page_is_right(open_page, visitors, pair):
    page = open_page("/app/acme/workspaces?q=offline")
    mark(page, "Live")
    visitors.expect_console("ERR_")
    pair.proxy.break_as("cut")
    mark(page, "Reconnecting (")
    page.context.set_offline(True)
    mark(page, "Offline (data as of ")
    pair.api.workspace("offline")
    pair.proxy.heal()
    page.context.set_offline(False)
    mark(page, "Live")
    expect(workspace_names(page)).to_have_text(["offline"])


def test_a_part_that_could_not_be_loaded_is_there_after_the_reconnection(open_page, visitors, pair):
    page = open_page("/app/settings/keyboard")
    mark(page, "Live")
    visitors.expect_console("ERR_")
    pair.proxy.break_as("cut")
    page.get_by_role("link", name="Runyard").click()
    mark(page, "Reconnecting (")
    pair.proxy.heal()
    expect(page.get_by_role("main").get_by_role("link", name="acme")).to_be_visible()
    mark(page, "Live")
    expect(page.get_by_role("button", name="New version, reload")).to_have_count(0)


def test_after_a_sleep_the_page_is_right(open_page, visitors, chromium, pair):
    """All processes of the browser stop, and their connections are lost meanwhile."""
    page = open_page("/app/acme/workspaces?q=asleep")
    mark(page, "Live")
    visitors.expect_console("ERR_")
    session = chromium.browser.new_browser_cdp_session()
    processes = [item["id"] for item in session.send("SystemInfo.getProcessInfo")["processInfo"]]
    for pid in processes:
        os.kill(pid, signal.SIGSTOP)
    try:
        pair.proxy.break_as("reset")
        pair.api.workspace("asleep")
        pair.proxy.heal()
    finally:
        for pid in processes:
            os.kill(pid, signal.SIGCONT)
    expect(workspace_names(page)).to_have_text(["asleep"])
    mark(page, "Live")


def test_a_frozen_tab_is_right_when_it_continues(open_page, pair):
    page = open_page("/app/acme/workspaces?q=frozen")
    mark(page, "Live")
    session = page.context.new_cdp_session(page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    pair.api.workspace("frozen")
    session.send("Page.setWebLifecycleState", {"state": "active"})
    expect(workspace_names(page)).to_have_text(["frozen"])


def test_without_shared_workers_pages_poll(visitors, pair):
    page = visitors(pair.url)
    page.add_init_script("delete window.SharedWorker")
    pages.sign_in(page, "admin", pair.tokens["password"], "/app/acme/workspaces?q=polled")
    mark(page, "Polling every 3 s")
    pair.api.workspace("polled")
    expect(workspace_names(page)).to_have_text(["polled"])


def test_without_the_file_of_the_worker_pages_poll_until_it_is_there(open_page, visitors, pair):
    other = pair.schedulers[1]
    files = pair.folder / "files"
    shutil.copytree(ROOT / "build/ui/dist", files)
    worker, = (file for file in (files / "assets").glob("events-*.js") if '"connect"' in file.read_text())
    worker.rename(pair.folder / worker.name)
    other.stop()
    other.options["ui_dir"] = files
    other.start()
    pair.through(other)
    visitors.expect_console("404")
    page = open_page("/app/acme/workspaces?q=absent")
    mark(page, "Polling every 3 s")
    pair.api.workspace("absent")
    expect(workspace_names(page)).to_have_text(["absent"])
    (pair.folder / worker.name).rename(worker)
    mark(page, "Live")
    page.close()
    other.stop()
    del other.options["ui_dir"]


def test_a_shared_worker_that_ended_is_started_again(visitors, chromium, pair):
    page = visitors(pair.url)
    page.clock.install()
    pages.sign_in(page, "admin", pair.tokens["password"], "/app/acme/workspaces?q=killed")
    mark(page, "Live")
    session = chromium.browser.new_browser_cdp_session()
    ended = [target for target in session.send("Target.getTargets", {"filter": [{}]})["targetInfos"] if target["type"] == "shared_worker" and pair.url in target["url"]]
    for target in ended:
        session.send("Target.closeTarget", {"targetId": target["targetId"]})
    assert ended
    pair.api.workspace("killed")
    for _ in range(3):
        page.clock.fast_forward(31_000)  # the page sends its topics, and expects an answer
    expect(workspace_names(page)).to_have_text(["killed"])
    mark(page, "Live")


def test_the_queue_page_shows_that_a_worker_arrives_drains_and_leaves(open_page, pair):
    page = open_page("/app/admin/queue")
    expect(page.get_by_role("row", name=re.compile("worker-1"))).to_be_visible()
    mark(page, "Live")
    worker = FakeWorker(pair.api.url, pair.tokens["agent-token"], "arrives", capabilities=[])
    row = page.get_by_role("row", name=re.compile("arrives"))
    expect(row).to_be_visible()
    worker.heartbeat(draining=True)
    expect(row.get_by_text("Drained")).to_be_visible()  # it has no job
    worker.leave()
    expect(row.get_by_text("Ended")).to_be_visible()
