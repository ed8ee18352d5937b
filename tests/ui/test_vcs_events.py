# SPDX-License-Identifier: MPL-2.0
"""Commits on the pages of runs, and the pages of what happened in repositories. A worker in memory answers for git."""

import json
import re

import pytest
from playwright.sync_api import expect

from support.api import Api
from support.fake_git import FakeGit
from support.vcs_connections import connect
from support.wait import until


@pytest.fixture(scope="module")
def api(fake_site):
    return Api(fake_site.scheduler.url, fake_site.tokens["token"])


@pytest.fixture(scope="module")
def git(fake_site):
    git = FakeGit(fake_site)
    yield git
    git.stop()


@pytest.fixture(scope="module")
def token(api):
    """Of a connection with a separate agent pool for forks."""
    pool = api.post("organizations/acme/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": "forks"}}}).data["id"]
    return connect(api, name="Forge", relations={"fork-agent-pool": {"type": "agent-pools", "id": pool}})[1]


@pytest.fixture
def vcs_page(visitors, sessions, fake_site):
    """vcs_page(path) is a signed-in page of the site."""
    user = (fake_site.tokens["user"], fake_site.tokens["password"])
    return lambda path: sessions.page(visitors, fake_site.scheduler.url, user, path)


class Tracked:
    """A workspace with a repository of its own name."""

    def __init__(self, fake_site, api, git, token, name, **attributes):
        self.site, self.api, self.git, self.name = fake_site, api, git, name
        self.identifier = f"acme/{name}"
        self.repository = git.repository(self.identifier)
        body = {"name": name, "queue-all-runs": True, "vcs-repo": {"oauth-token-id": token, "identifier": self.identifier}, **attributes}
        self.id = api.post("organizations/acme/workspaces", {"data": {"type": "workspaces", "attributes": body}}).data["id"]
        self.first = self.run_of(self.repository.sha())

    def run_of(self, sha, count=1):
        """The newest run of the commit, once there are as many."""
        query = ("select r.id from runs r join run_inputs i on i.run_id = r.id join configuration_commits k on k.configuration_version_id = "
                 "i.configuration_version_id where r.workspace_id = %s and k.sha = %s order by r.position desc")
        until(lambda: len(self.site.ask(query, self.id, sha)) >= count, f"{count} runs of {sha}")
        return self.site.ask(query, self.id, sha)[0][0]

    def settled(self):
        """All events are decided, and no look is under way, which would find a commit before its event tells of it."""
        open_work = ("select (select count(*) from vcs_events e where e.repository_id = r.id and e.state not in ('done', 'approval')) + "
                     "(select count(*) from git_jobs j where j.repository_id = r.id and j.kind = 'look') from vcs_repositories r where r.identifier = %s")
        until(lambda: self.site.ask(open_work, self.identifier)[0][0] == 0, f"the events of {self.identifier} are decided")

    def push(self, message="A change", branch="main", files=("main.tf",), **detail):
        """A commit and its event: (sha, event)."""
        self.settled()
        before = self.repository.refs.get(f"refs/heads/{branch}", "")
        sha = self.repository.commit({path: message for path in files}, message, branch)
        return sha, self.event("push", f"refs/heads/{branch}", sha, before, files=list(files), message=message, default_branch="main", **detail)

    def event(self, kind, ref, sha, before="", number=None, files=None, **detail):
        """An event as the reader of deliveries inserts it."""
        id = f"ve-{sha[:16]}"
        self.site.change("with new as (insert into vcs_events (id, organization_id, connection_id, repository_id, kind, ref, before_sha, sha, pull_request, detail, files) "
                         "select %s, organization_id, connection_id, id, %s, %s, %s, %s, %s, %s, %s from vcs_repositories where identifier = %s returning id) "
                         "select pg_notify('runyard_vcs', '') from new",
                         id, kind, ref, before, sha, number, json.dumps(detail), None if files is None else json.dumps(files), self.identifier)
        return id

    def address(self, run):
        return f"/app/acme/workspaces/{self.name}/runs/{run}"


@pytest.fixture
def tracked(fake_site, api, git, token):
    return lambda name, **attributes: Tracked(fake_site, api, git, token, name, **attributes)


DETAIL = {"sender": "ada", "sender_url": "https://forge.example/ada", "commit_url": "https://forge.example/c/1"}


def test_a_run_shows_its_commit_and_runs_it_again(vcs_page, api, tracked, axe):
    place = tracked("network")
    api.post(f"runs/{place.first}/actions/cancel")
    sha, event = place.push("Open <b>port</b> 443\n\nFor the gateway.", **DETAIL)
    run = place.run_of(sha)
    page = vcs_page(f"/app/acme/workspaces/{place.name}/runs")
    row = page.get_by_role("row", name=re.compile("Open .b.port.+ 443"))
    expect(row.get_by_role("link", name=f"Commit {sha[:7]}")).to_have_attribute("href", "https://forge.example/c/1")
    expect(row.locator(".commit-line")).to_contain_text("main")
    expect(row.locator(".commit-line")).to_contain_text("ada")
    axe(page)
    page.get_by_role("link", name="Overview").click()
    expect(page.locator(".now .commit-line").first.get_by_role("link", name=f"Commit {sha[:7]}")).to_be_visible()
    axe(page)
    page.get_by_role("link", name="Runs", exact=True).last.click()
    row.locator(".row-link").click()
    facts = page.locator(".run-facts")
    expect(page.get_by_role("heading", level=1)).to_have_text("Open <b>port</b> 443")
    expect(facts).to_contain_text("by a commit to branch main from ada")
    expect(facts.get_by_role("link", name=f"Commit {sha[:7]}")).to_have_attribute("rel", "noopener noreferrer")
    expect(facts).to_contain_text(place.identifier)
    expect(facts.get_by_role("link", name="VCS event")).to_have_attribute("href", f"/app/acme/vcs/events/{event}")
    api.post(f"runs/{run}/actions/cancel")
    header = page.locator(".run-header")
    header.get_by_role("button", name="Run this commit again").click()
    dialog = page.get_by_role("dialog", name="Run this commit again")
    expect(dialog).to_contain_text("as if it had just been pushed")
    dialog.get_by_role("button", name="Run this commit again").click()
    expect(page).to_have_url(re.compile("/app/acme/vcs/events/ve-"))
    expect(page.get_by_text("found by a user's request")).to_be_visible()
    again = place.run_of(sha, 2)
    expect(page.get_by_role("table", name="Workspaces and policy sets").locator(f"a[href$='{again}']")).to_be_visible()
    page.locator(f"a[href$='{again}']").click()
    expect(facts).to_contain_text("by admin")


def test_fetching_is_a_stage_whose_error_stands_in_it(vcs_page, api, git, tracked, axe):
    place = tracked("fetching")
    api.post(f"runs/{place.first}/actions/cancel")
    api.wait_status(place.first, "canceled")
    git.hold("fetch")
    sha, _ = place.push("Fetch me")
    page = vcs_page(place.address(place.run_of(sha)))
    stage = page.locator("#fetch")
    expect(stage).to_contain_text("The files of commit")
    expect(stage).to_contain_text("are being fetched")
    axe(page)
    git.outcomes[sha] = ("failed", "commit <i>gone</i> no longer exists")
    git.release("fetch")
    expect(page.locator(".run-header")).to_contain_text("Plan Errored")
    expect(stage.locator(".note.failure")).to_contain_text("commit <i>gone</i> no longer exists")
    expect(stage.get_by_role("link", name="Settings of the repository")).to_be_visible()
    axe(page)


def test_an_event_says_why_a_workspace_has_no_run(vcs_page, fake_site, tracked, api, token, axe):
    place = tracked("filtered")
    other = {"name": "other-folder", "vcs-repo": {"oauth-token-id": token, "identifier": place.identifier}, "file-triggers-enabled": True, "trigger-prefixes": ["modules"]}
    api.post("organizations/acme/workspaces", {"data": {"type": "workspaces", "attributes": other}})
    sha, event = place.push("Only the root", **DETAIL)
    run = place.run_of(sha)
    page = vcs_page("/app/acme/vcs/events?workspace=filtered")
    row = page.get_by_role("row", name=re.compile("Only the root"))
    expect(row).to_contain_text("Push to main")
    expect(row).to_contain_text("1 of 2 workspaces and policy sets use the commit.")
    row.locator(".row-link").click()
    expect(page).to_have_url(re.compile(f"/app/acme/vcs/events/{event}$"))
    outcomes = page.get_by_role("table", name="Workspaces and policy sets")
    expect(outcomes.get_by_role("row", name=re.compile("^other-folder"))).to_contain_text("No changed file matches")
    mine = outcomes.get_by_role("row", name=re.compile("^filtered"))
    expect(mine.get_by_role("link", name="Only the root")).to_have_attribute("href", place.address(run))
    expect(mine).to_contain_text("A run was started for this commit.")
    expect(mine.locator(".mark")).to_contain_text(re.compile("Plan Queued|Pending|Fetching|Planning"))
    page.get_by_text("1 changed file").click()
    expect(page.get_by_text("main.tf", exact=True)).to_be_visible()
    axe(page)
    api.post(f"runs/{run}/actions/cancel")
    expect(mine.locator(".mark")).to_contain_text("Canceled")


def test_events_are_filtered_in_the_address(vcs_page, fake_site, tracked):
    place = tracked("listed")
    _, event = place.push("Listed one", branch="dev")
    until(lambda: fake_site.ask("select state from vcs_events where id = %s", event)[0][0] == "done", "the event is decided")
    fake_site.change("update vcs_events set level = 'error', message = 'the delivery <i>broke</i>' where id = %s", event)
    page = vcs_page("/app/acme/vcs/events")
    page.get_by_label("Level").select_option("Error")
    expect(page).to_have_url(re.compile(r"level=error"))
    expect(page.get_by_role("table").get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("table")).to_contain_text("the delivery <i>broke</i>")
    page.get_by_label("From").fill("2001-01-01")
    expect(page).to_have_url(re.compile(r"from=2001-01-01"))
    expect(page.get_by_role("table").get_by_role("row")).to_have_count(2)
    page.get_by_label("To").fill("2001-01-02")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("table").get_by_role("row")).to_have_count(2)


def test_the_head_of_a_fork_is_approved(vcs_page, tracked, git, axe):
    place = tracked("forked", **{"vcs-fork-plans": True})
    sha = git.repository(place.identifier).commit({"main.tf": "# theirs"}, "From a fork", "feature")
    event = place.event("pr_open", "refs/heads/feature", sha, number=7, files=["main.tf"], base="main", fork="yes", title="Pull <b>7</b>",
                        url="https://forge.example/pulls/7", default_branch="main", **DETAIL)
    page = vcs_page(f"/app/acme/vcs/events/{event}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Pull request #7 opened")
    expect(page.get_by_text("Pull <b>7</b>")).to_be_visible()
    expect(page.get_by_role("link", name="pull request #7")).to_have_attribute("href", "https://forge.example/pulls/7")
    expect(page.get_by_text("Needs approval")).to_be_visible()
    page.get_by_role("button", name="Approve commit").click()
    dialog = page.get_by_role("dialog", name=f"Approve commit {sha[:7]}")
    expect(dialog).to_contain_text(sha)
    axe(page)
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog).to_have_count(0)
    run = place.run_of(sha)
    expect(page.get_by_role("table", name="Workspaces and policy sets").locator(f"a[href$='{run}']")).to_be_visible()
    expect(page.get_by_role("button", name="Approve commit")).to_have_count(0)


def test_check_now_looks_at_the_repository(vcs_page, git, tracked):
    place = tracked("checked")
    before = git.count("look")
    page = vcs_page(f"/app/acme/workspaces/{place.name}/settings/version-control")
    sha = place.repository.commit({"main.tf": "# missed"}, "Missed by the hook")
    page.get_by_role("button", name="Check now").click()
    until(lambda: git.count("look") > before, "a look")
    place.run_of(sha)
    page.get_by_role("region", name="Repository").get_by_role("link", name="Events").click()
    expect(page.get_by_role("row", name=re.compile("Missed by the hook|checked")).first).to_contain_text("by a look at the repository")


def test_the_list_of_events_says_what_it_needs(browser_page, visitors, site, colleague):
    visitors.expect_console("/vcs-events?")
    page = browser_page("/app/acme/vcs/events", user=colleague("ezra", site.api.workspace("small"), "read"))
    expect(page.get_by_text("needs the permission to manage VCS settings")).to_be_visible()
