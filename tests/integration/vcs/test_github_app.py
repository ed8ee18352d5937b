# SPDX-License-Identifier: MPL-2.0
"""The site's GitHub App: who may connect and use an installation, its tokens, its webhook, and its end."""

import json
import re
import urllib.parse
import uuid

import pytest

from support.api_site import open_api_site
from support.browser import Browser
from support.fake_git import FakeGit
from support.people import Owner
from support.site import new_folder
from support.vcs_fakes.github_login import GitHubWithLogin
from support.vcs_fakes.repository import GitView
from support.wait import until

ASKED = {"Sec-Fetch-Site": "same-origin"}
SECRET = "the secret of the App's webhook"


@pytest.fixture(scope="module")
def github():
    fake = GitHubWithLogin(new_folder("github"))
    fake.key = fake.app()
    yield fake
    fake.release()


@pytest.fixture(autouse=True)
def checked(github):
    yield
    github.check()


@pytest.fixture(scope="module")
def api_site(postgres, github):
    options = {"vcs_allow": "127.0.0.1", "github_app_id": github.app_id, "github_app_key": github.key.read_text(), "github_app_client_id": github.client_id,
               "github_app_client_secret": github.client_secret, "github_app_webhook_secret": SECRET, "github_app_url": github.url}
    with open_api_site(postgres, **options) as api_site:
        yield api_site


class GitHubOwner(Owner):
    """An owner who has an account at GitHub."""

    def __init__(self, api_site, github):
        super().__init__(api_site)
        self.github, self.account = github, f"{self.name}-at-github"

    def asked(self, browser):
        """The address of GitHub's page on which the App is installed."""
        browser.ask(f"/github-app/connect/{self.name}", headers=ASKED, follow=False)
        assert browser.status == 303, browser.text
        return browser.headers["Location"]

    def set_up(self, browser, number):
        """Installs the App: the address of GitHub's login."""
        browser.ask(self.github.install(self.asked(browser), number, f"{self.api_site.scheduler.url}/github-app/setup"), follow=False)
        assert browser.status == 303, browser.text
        return browser.headers["Location"]

    def connect(self, browser, number, login=None):
        """The browser after all steps."""
        return browser.ask(self.github.log_in(self.set_up(browser, number), login or self.account), follow=False)

    def connected(self, number=None, identifiers=()):
        """Connects the installation of the user's own account. Returns its id."""
        number = number or self.github.installation(self.account, identifiers, kind="User")
        browser = self.connect(self.browser(), number)
        assert browser.status == 303, browser.text
        return re.fullmatch(rf"/app/{self.name}/settings/vcs-connections\?connected=(ghain-\w+)", browser.headers["Location"])[1]

    def installations(self, query=""):
        return self.api.get(f"github-app/installations{query}").data


@pytest.fixture
def owner(api_site, github):
    return GitHubOwner(api_site, github)


@pytest.fixture
def row(api_site):
    """row(id, columns): values of an installation."""

    def row(id, columns):
        return api_site.ask(f"select {columns} from vcs_installations where id = %s", id)[0]

    return row


def has_token(row, id):
    return row(id, "token_expires_at > now()")[0]


# ---- connecting ----


def test_an_account_is_connected(owner, github, row, api_site):
    number = github.installation(owner.account, [], kind="User")
    id = owner.connected(number)
    (shown,) = owner.installations()
    assert shown["id"] == id and shown["type"] == "github-app-installations"
    assert shown["attributes"] | {"created-at": 0} == {
        "name": owner.account, "installation-id": number, "icon-url": github.user(owner.account)["avatar_url"], "installation-type": "User",
        "installation-url": f"{github.url}/organizations/{owner.account}/settings/installations/{number}", "error": None, "call-error": None,
        "calls-blocked-until": None, "created-at": 0}
    assert shown["relationships"]["organization"]["data"]["id"] == owner.name
    assert owner.api.attributes(f"organizations/{owner.name}")["github-app-connect-path"] == f"/github-app/connect/{owner.name}"
    assert owner.api.get(f"github-app/installation/{id}").data == shown
    until(lambda: has_token(row, id), "a token of the installation")
    assert (owner.name, "connect") in api_site.ask("select actor_name, action from audit_events where resource_id = %s", id)


def test_an_organization_is_connected_by_its_owner(owner, github):
    company = f"company-{owner.name}"
    number = github.installation(company, [])
    github.owners[company] = {owner.account}
    owner.connected(number)
    assert owner.installations()[0]["attributes"]["installation-type"] == "Organization"


def test_lists_are_filtered(owner, github):
    id, number = owner.connected(), None
    number = owner.installations()[0]["attributes"]["installation-id"]
    for query, wanted in ((f"filter[installation_id]={number}", [id]), ("filter[installation_id]=1", []), ("filter[installation_id]=x", []), (f"filter[name]={owner.account.upper()}", [id]),
                          ("filter[name]=another", []), (f"filter[name]=&filter[installation_id]=", [id]), ("page[size]=1", [id]), ("page[number]=2", [])):
        assert [each["id"] for each in owner.installations(f"?{query}")] == wanted, query


def test_another_tenant_sees_and_takes_nothing(owner, api_site, github):
    id = owner.connected()
    number = owner.installations()[0]["attributes"]["installation-id"]
    stranger = GitHubOwner(api_site, github)
    assert stranger.installations() == [] and stranger.installations(f"?filter[installation_id]={number}") == []
    assert stranger.api.call("GET", f"github-app/installation/{id}").status == 404
    # A number that the browser was given, and not GitHub: the stranger does not own that account.
    browser = stranger.connect(stranger.browser(), number)
    assert browser.status == 404 and "is yours" in browser.text
    # Not even the account's owner connects it to a second organization.
    browser = stranger.connect(stranger.browser(), number, login=owner.account)
    assert browser.status == 409 and "another organization" in browser.text
    assert [each["id"] for each in owner.installations()] == [id] and stranger.installations() == []
    body = {"data": {"type": "workspaces", "attributes": {"name": "stolen", "vcs-repo": {"identifier": "a/b", "github-app-installation-id": id}}}}
    assert stranger.api.call("POST", f"organizations/{stranger.name}/workspaces", body).status == 422


def test_a_member_of_the_account_is_not_its_owner(owner, github):
    company = f"company-{owner.name}"
    number = github.installation(company, [])
    for owners in ({"somebody"}, None):
        if owners:
            github.owners[company] = owners
        else:
            del github.owners[company]
        browser = owner.connect(owner.browser(), number)
        assert browser.status == 404 and "owner of the organization" in browser.text
    assert owner.installations() == []


def test_only_people_who_manage_connections(owner, api_site, github):
    stranger = GitHubOwner(api_site, github).browser()
    assert stranger.ask(f"/github-app/connect/{owner.name}", headers=ASKED).status == 404
    asked = owner.browser().ask(f"/github-app/connect/{owner.name}", headers={"Sec-Fetch-Site": "cross-site"})
    assert asked.status == 200 and "Continue to GitHub" in asked.text


def test_states_are_used_once_by_their_session(owner, github, api_site):
    browser, other = owner.browser(), owner.browser()
    number = github.installation(owner.account, [], kind="User")
    setup_url = f"{api_site.scheduler.url}/github-app/setup"
    setup = github.install(owner.asked(browser), number, setup_url)
    assert other.ask(setup, follow=False).status == 422
    browser.ask(setup, follow=False)
    login = browser.headers["Location"]
    assert browser.ask(setup, follow=False).status == 422
    back = github.log_in(login, owner.account)
    assert other.ask(back, follow=False).status == 422
    # The states of the two steps are not exchangeable.
    state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(owner.asked(browser)).query))["state"]
    assert browser.ask(re.sub("state=[^&]*", f"state={state}", back), follow=False).status == 422
    assert browser.ask(back, follow=False).status == 303
    assert browser.ask(back, follow=False).status == 422
    for query in ("", "?state=x", f"?installation_id={number}&setup_action=install"):
        assert browser.ask(f"/github-app/setup{query}", follow=False).status == 422
        assert browser.ask(f"/github-app/callback{query}", follow=False).status == 422


@pytest.mark.parametrize("number", ["", "0", "-1", "x", "99999999999999999999", "1"])
def test_useless_numbers(owner, github, api_site, number):
    browser = owner.browser()
    browser.ask(github.install(owner.asked(browser), number, f"{api_site.scheduler.url}/github-app/setup"), follow=False)
    if number == "1":  # there is none
        browser.ask(github.log_in(browser.headers["Location"], owner.account), follow=False)
        assert browser.status == 404 and "no such installation" in browser.text
    else:
        assert browser.status == 422


def test_a_request_for_an_installation_waits_for_github(owner, github, api_site):
    browser = owner.browser()
    browser.ask(github.install(owner.asked(browser), 1, f"{api_site.scheduler.url}/github-app/setup", action="request"), follow=False)
    assert browser.status == 422 and "must approve" in browser.text


def test_a_site_without_an_app(postgres):
    with open_api_site(postgres) as api_site:
        owner = GitHubOwner(api_site, None)
        assert owner.browser().ask(f"/github-app/connect/{owner.name}", headers=ASKED).status == 422
        assert owner.installations() == []
        assert deliver(api_site, "push", {"installation": {"id": 1}}) == 401


# ---- tokens ----


def test_tokens_are_renewed_before_they_expire(owner, github, row):
    github.token_seconds = 4
    try:
        id = owner.connected()
        until(lambda: has_token(row, id), "a token")
        first = row(id, "token_sealed")
        until(lambda: row(id, "token_sealed") != first, "another token")
        assert has_token(row, id)
    finally:
        github.token_seconds = 3600


def test_github_is_down_for_a_while(owner, github, row):
    github.fault("POST", r"/access_tokens$", github.limited(1), github.limited(1))
    id = owner.connected()
    until(lambda: has_token(row, id), "a token")
    assert row(id, "error") == (None,)


# ---- the webhook ----


def deliver(api_site, event, document, secret=SECRET, changed=lambda body: body, **headers):
    """The status of a delivery."""
    sent, body = GitHubWithLogin.signed(None, event, document, secret)
    browser = Browser(api_site.scheduler.url)
    import urllib.request
    request = urllib.request.Request(f"{api_site.scheduler.url}/webhooks/github-app", data=changed(body), headers={**sent, **headers})
    try:
        return browser.opener.open(request).status
    except urllib.error.HTTPError as error:
        return error.code


@pytest.fixture
def used(owner, github, api_site):
    """An installation, and the row of a repository that its organization uses."""
    repository = github.repository(f"{owner.account}/network", {"main.tf": ""})
    owner.id = owner.connected(identifiers=[repository.identifier])
    ((organization,),) = api_site.ask("select organization_id from vcs_installations where id = %s", owner.id)
    owner.repository, owner.row_id = repository, f"vr-{uuid.uuid4().hex[:16]}"
    api_site.change("insert into vcs_repositories (id, organization_id, installation_id, identifier, state, look_due) values (%s, %s, %s, %s, 'verified', now() + interval '1 day')",
                    owner.row_id, organization, owner.id, repository.identifier)
    owner.number = api_site.ask("select installation_id from vcs_installations where id = %s", owner.id)[0][0]
    return owner


def push_of(owner, **changes):
    return {"ref": "refs/heads/main", "before": "0" * 40, "after": "a" * 40, "commits": [], "created": True, "deleted": False, "forced": False,
            "repository": {"id": owner.repository.id, "full_name": owner.repository.identifier, "default_branch": "main"}, "installation": {"id": owner.number}, **changes}


def deliveries(api_site, owner):
    return api_site.ask("select event, delivery_id from vcs_deliveries where repository_id = %s order by sequence", owner.row_id)


def test_deliveries_are_stored_for_the_repository(used, api_site):
    assert deliver(api_site, "push", push_of(used), **{"X-GitHub-Delivery": f"d-{used.name}"}) == 204
    assert deliveries(api_site, used) == [("push", f"d-{used.name}")]
    assert deliver(api_site, "push", push_of(used), **{"X-GitHub-Delivery": f"d-{used.name}"}) == 204
    assert len(deliveries(api_site, used)) == 1


@pytest.mark.parametrize("case", ["another repository", "another installation", "no installation", "no repository", "no object", "ping"])
def test_deliveries_of_no_interest(used, api_site, github, case):
    other = GitHubOwner(api_site, github)
    other.connected()
    document = {"another repository": push_of(used, repository={"id": 1, "full_name": "some/thing"}), "no installation": push_of(used, installation=None),
                "another installation": push_of(used, installation={"id": other.installations()[0]["attributes"]["installation-id"]}),
                "no repository": push_of(used, repository=7), "no object": [1], "ping": {"zen": "Speak like a human."}}[case]
    assert deliver(api_site, "ping" if case == "ping" else "push", document) == 204
    assert deliveries(api_site, used) == []


def test_wrong_proofs_are_refused(used, api_site):
    assert deliver(api_site, "push", push_of(used), secret="wrong") == 401
    assert deliver(api_site, "push", push_of(used), changed=lambda body: body.replace(b"main", b"Main", 1)) == 401
    assert deliver(api_site, "push", push_of(used), **{"X-Hub-Signature-256": ""}) == 401
    assert deliver(api_site, "push", push_of(used), changed=lambda body: body + b" " * (26 << 20)) in (401, 413)
    assert deliveries(api_site, used) == []


# ---- git ----


@pytest.fixture
def git(api_site):
    git = FakeGit(api_site)
    git.hold("look", "diff", "fetch")
    yield git
    git.stop()


def look(api_site, owner):
    api_site.change("insert into git_jobs (id, kind, organization_id, repository_id, pool_id) select %s, 'look', organization_id, id, "
                    "(select id from agent_pools where organization_id is null) from vcs_repositories where id = %s", f"gj-{uuid.uuid4().hex[:16]}", owner.row_id)


def refuse(git, job, **more):
    """The worker's git was refused. Returns the job's next try."""
    git.waiting.remove(job)
    assert git.send(job, outcome="failed", error="The server refused the connection's user and password.", **more) == 204


def test_a_token_that_expires_while_git_works_is_replaced(used, api_site, github, row, git):
    until(lambda: has_token(row, used.id), "a token")
    look(api_site, used)
    job = git.claimed("look")
    first = job["login"]["password"]
    assert job["login"]["user"] == "x-access-token" and github.tokens[first] == used.number
    assert job["url"] == f"{github.url}/{used.repository.identifier}.git"
    api_site.change("update vcs_renewals set renewed_at = now() - interval '1 hour' where installation_id = %s", used.id)
    github.expiring[first] = 0
    refuse(git, job, **{"login-refused": True})
    second = git.claimed("look")["login"]["password"]
    assert second != first and github.tokens[second] == used.number and github.expiring[second] > 0
    assert repository_state(api_site, used)[0] == "verified"


def test_looks_that_failed_without_a_token_are_repeated_with_the_first(used, api_site, row, git):
    until(lambda: has_token(row, used.id), "a token")
    api_site.change("update vcs_installations set token_sealed = null, token_expires_at = null where id = %s", used.id)
    look(api_site, used)
    job = git.claimed("look")
    assert job["login"]["password"] is None
    refuse(git, job)
    until(lambda: api_site.ask("select look_failures from vcs_repositories where id = %s", used.row_id) == [(1,)], "the failure")
    api_site.change("update vcs_renewals set due_at = now() where installation_id = %s", used.id)
    api_site.change("select pg_notify('runyard_renewals', '')")
    until(lambda: api_site.ask("select look_failures, look_due <= now() from vcs_repositories where id = %s", used.row_id) == [(0, True)], "a look that is due")


def test_other_failures_of_git_are_not_tried_again(used, api_site, row, git):
    until(lambda: has_token(row, used.id), "a token")
    look(api_site, used)
    refuse(git, git.claimed("look"))
    until(lambda: api_site.ask("select look_failures from vcs_repositories where id = %s", used.row_id) == [(1,)], "the failure")
    assert api_site.ask("select 1 from git_jobs where repository_id = %s", used.row_id) == []


def test_a_push_makes_a_run(owner, api_site, github, row, notifier):
    """The App's webhook, its token for git, a run of the commit, and its check run at GitHub."""
    repository = github.repository(f"{owner.account}/network", {"main.tf": ""})
    id = owner.connected(identifiers=[repository.identifier])
    until(lambda: has_token(row, id), "a token")
    git = FakeGit(api_site)
    git.repositories[repository.identifier] = GitView(repository)
    vcs_repo = {"identifier": repository.identifier, "github-app-installation-id": id}
    workspace = owner.api.post(f"organizations/{owner.name}/workspaces", {"data": {"type": "workspaces", "attributes": {"name": "network", "queue-all-runs": True, "vcs-repo": vcs_repo}}}).data
    shown = workspace["attributes"]["vcs-repo"]
    assert shown["service-provider"] == "github_app" and shown["github-app-installation-id"] == id and shown["oauth-token-id"] is None
    assert shown["repository-http-url"] == f"{github.url}/{repository.identifier}"

    def commits():
        runs = owner.api.get(f"workspaces/{workspace['id']}/runs?include=configuration_version.ingress_attributes")
        return {each["attributes"]["commit-sha"] for each in runs.json.get("included", []) if each["type"] == "ingress-attributes"}

    until(lambda: commits() == {repository.sha("main")}, "the first run")
    before = repository.sha("main")
    repository.copy.commit_and_push({"main.tf": "# second"})
    after = repository.sha("main")
    number = owner.installations()[0]["attributes"]["installation-id"]
    document = {"ref": "refs/heads/main", "before": before, "after": after, "commits": [{"id": after, "added": [], "removed": [], "modified": ["main.tf"], "message": "Second"}], "created": False,
                "deleted": False, "forced": False, "size": 1, "head_commit": {"id": after, "message": "Second"}, "installation": {"id": number},
                "repository": {"id": repository.id, "full_name": repository.identifier, "default_branch": "main"}, "sender": {"login": "ann"}}
    assert deliver(api_site, "push", document) == 204
    until(lambda: after in commits(), "the run of the push")
    notifier()

    def checks():
        return [(each["name"], each["status"], each.get("conclusion")) for each in github.check_runs if each["head_sha"] == after]

    name = f"Runyard/{owner.name}"
    until(lambda: checks() == [(name, "in_progress", None)], lambda: f"its check run: {github.check_runs}")
    run = owner.api.get(f"workspaces/{workspace['id']}/runs").data[0]["id"]
    owner.api.post(f"runs/{run}/actions/cancel", {})
    until(lambda: checks()[-1] == (name, "completed", "failure"), lambda: f"the end of its check run: {github.check_runs}")
    assert not github.calls("POST", "/statuses/"), "an App sends check runs in place of statuses"
    git.stop()


# ---- what connections have, too ----


def connect_workspace(owner, identifier, name="network", **attributes):
    """The answer to the creation of a workspace that uses a repository of the installation."""
    vcs_repo = {"identifier": identifier, "github-app-installation-id": owner.id}
    return owner.api.call("POST", f"organizations/{owner.name}/workspaces", {"data": {"type": "workspaces", "attributes": {"name": name, "vcs-repo": vcs_repo, **attributes}}})


def set_pools(owner, **pools):
    relations = {name.replace("_", "-"): {"data": pool and {"type": "agent-pools", "id": pool}} for name, pool in pools.items()}
    return owner.api.call("PATCH", f"github-app/installation/{owner.id}", {"data": {"type": "github-app-installations", "relationships": relations}})


def test_an_installation_has_agent_pools(used, api_site, github):
    reading, forks = (used.api.post(f"organizations/{used.name}/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": name}}}).data["id"] for name in ("reading", "forks"))
    shown = set_pools(used, agent_pool=reading, fork_agent_pool=forks)
    assert shown.status == 200, shown.text
    assert [shown.data["relationships"][name]["data"]["id"] for name in ("agent-pool", "fork-agent-pool")] == [reading, forks] and shown.data == used.installations()[0]
    refusal = set_pools(used, fork_agent_pool=reading)
    assert refusal.status == 422 and refusal.json["errors"][0]["source"]["pointer"] == "/data/relationships/fork-agent-pool"
    stranger = GitHubOwner(api_site, github)
    stranger.id = used.id
    assert set_pools(stranger, agent_pool=None).status == 404
    workspace = connect_workspace(used, used.repository.identifier, **{"queue-all-runs": True, "vcs-fork-plans": True})
    assert workspace.status == 201, workspace.text
    until(lambda: api_site.ask("select pool_id from git_jobs where repository_id = %s", used.row_id) == [(reading,)], "a job for the connection's pool")
    for pool in (reading, forks):
        assert "installations of the GitHub App" in used.api.call("DELETE", f"agent-pools/{pool}").text
    assert reason_of_a_fork(api_site, used) == "fork_approval"
    assert set_pools(used, agent_pool=None, fork_agent_pool=None).data["relationships"]["agent-pool"]["data"] is None
    assert reason_of_a_fork(api_site, used) == "fork_pool"


def reason_of_a_fork(api_site, owner):
    """What a new pull request from a fork does in the workspace."""
    id, number = f"ve-{uuid.uuid4().hex[:16]}", uuid.uuid4().int % 10**6
    detail = json.dumps({"base": "main", "default_branch": "main", "fork": "yes", "looked": True})
    api_site.change("with new as (insert into vcs_events (id, organization_id, repository_id, kind, ref, sha, pull_request, detail, files) select %s, organization_id, id, "
                    "'pr_open', 'refs/heads/fork', %s, %s, %s, '[]' from vcs_repositories where id = %s returning id) select pg_notify('runyard_vcs', '') from new",
                    id, uuid.uuid4().hex + "0" * 8, number, detail, owner.row_id)
    until(lambda: api_site.ask("select state from vcs_events where id = %s", id)[0][0] in ("done", "approval"), "the event is decided")
    return api_site.ask("select reason from vcs_outcomes where event_id = %s", id)[0][0]


def test_an_installation_lists_its_repositories(used, api_site, github, row):
    until(lambda: has_token(row, used.id), "a token")
    path = f"github-app/installation/{used.id}/repositories"
    for query, identifiers in (("", [used.repository.identifier]), ("?search[name]=NETW", [used.repository.identifier]), ("?search[name]=other", [])):
        assert [item["attributes"]["identifier"] for item in used.api.get(path + query).data] == identifiers
    assert GitHubOwner(api_site, github).api.call("GET", path).status == 404


def test_a_repository_that_the_installation_does_not_see_is_refused(used, row):
    until(lambda: has_token(row, used.id), "a token")
    refusal = connect_workspace(used, f"{used.account}/missing")
    assert refusal.status == 422 and refusal.json["errors"][0]["source"]["pointer"] == "/data/attributes/vcs-repo/identifier"
    assert connect_workspace(used, used.repository.identifier).status == 201


def test_a_renamed_repository_is_followed(used, api_site, github, row, notifier):
    """The App's deliveries name the repository by its number, which a lookup has told."""
    until(lambda: has_token(row, used.id), "a token")
    state = lambda: api_site.ask("select identifier, external_id, state from vcs_repositories where id = %s", used.row_id)[0]  # noqa: E731
    api_site.change("update vcs_repositories set state = 'unverified' where id = %s", used.row_id)
    notifier()
    until(lambda: state() == (f"{used.account}/network", str(used.repository.id), "verified"), lambda: f"the repository is looked up: {state()}")
    renamed = f"{used.account}/renamed"
    github.rename(used.repository, renamed)
    github.installations[used.number]["identifiers"] = [renamed]
    assert deliver(api_site, "push", push_of(used)) == 204
    until(lambda: state() == (renamed, str(used.repository.id), "verified"), lambda: f"the new name is taken: {state()}")


def test_a_check_run_that_is_requested_again_plans_the_head_again(used, api_site, github, row, git):
    """A plan that has not ended is not repeated, and pushes are not: a run of theirs could be applied."""
    until(lambda: has_token(row, used.id), "a token")
    git.repositories[used.repository.identifier] = GitView(used.repository)
    git.release("look", "diff", "fetch")
    answer = connect_workspace(used, used.repository.identifier, **{"queue-all-runs": True})
    assert answer.status == 201, answer.text
    runs = lambda: [each["id"] for each in used.api.get(f"workspaces/{answer.data['id']}/runs", **{"filter[operation]": "plan_only,plan_and_apply"}).data]  # noqa: E731
    (first,) = until(runs, "the first run")
    used.repository.copy.branch("topic")
    head = used.repository.copy.commit_and_push({"main.tf": "# topic"}, branch="topic")
    event, document = github.pull_event(used.repository.pull("topic"), "opened")
    assert deliver(api_site, event, {**document, "installation": {"id": used.number}}) == 204
    (second,) = until(lambda: set(runs()) - {first}, "the plan of the pull request")

    def request_again(sha):
        """The message of the event."""
        document = {"action": "rerequested", "check_run": {"id": 1, "name": f"Runyard/{used.name}", "head_sha": sha}, "installation": {"id": used.number},
                    "repository": github.document(used.repository), "sender": github.user("ann")}
        before = api_site.ask("select coalesce(max(sequence), 0) from vcs_events")[0][0]
        assert deliver(api_site, "check_run", document) == 204
        new = "select kind, state, message from vcs_events where sequence > %s and repository_id = %s order by sequence"
        until(lambda: {"rerun"} <= {kind for kind, _, _ in api_site.ask(new, before, used.row_id)} and {state for _, state, _ in api_site.ask(new, before, used.row_id)} == {"done"},
              lambda: f"its events are decided: {api_site.ask(new, before, used.row_id)}")
        return [message for _, _, message in api_site.ask(new, before, used.row_id)]

    assert request_again(head) == ["The head of 1 pull request is planned again.", "Processing skipped for duplicate commit SHA."]
    assert set(runs()) == {first, second}
    used.api.post(f"runs/{second}/actions/cancel", {})
    until(lambda: used.api.attributes(f"runs/{second}")["status"] == "canceled", "the plan has ended")
    assert request_again(head)[0] == "The head of 1 pull request is planned again."
    (third,) = set(runs()) - {first, second}
    assert used.api.attributes(f"runs/{third}")["plan-only"] is True
    assert "No open pull request has this head" in request_again(used.repository.sha("main"))[0]
    assert set(runs()) == {first, second, third}


# ---- the end ----


def repository_state(api_site, owner):
    return api_site.ask("select state, error from vcs_repositories where id = %s", owner.row_id)[0]


def test_a_removed_installation_is_shown(used, api_site, github, row):
    until(lambda: has_token(row, used.id), "a token")
    github.installations[used.number]["removed"] = True
    _, document = github.installation_event(used.number, "deleted")
    assert deliver(api_site, "installation", document) == 204
    until(lambda: row(used.id, "removed_at is not null")[0], "the removal")
    state, error = repository_state(api_site, used)
    assert state == "errored" and "was removed at GitHub" in error
    assert row(used.id, "token_sealed") == (None,)
    assert used.installations() == [] and used.api.call("GET", f"github-app/installation/{used.id}").status == 404
    ((level, message),) = api_site.ask("select level, message from vcs_events v join organizations o on o.id = v.organization_id where o.name = %s", used.name)
    assert level == "error" and "was removed at GitHub" in message


def test_a_forged_end_changes_nothing(used, api_site, github, row):
    """The webhook makes the scheduler ask GitHub, which knows better."""
    until(lambda: has_token(row, used.id), "a token")
    first = row(used.id, "token_sealed")
    _, document = github.installation_event(used.number, "deleted")
    assert deliver(api_site, "installation", document) == 204
    until(lambda: row(used.id, "token_sealed") != first, "the question to GitHub")
    assert row(used.id, "removed_at") == (None,) and repository_state(api_site, used)[0] == "verified"


def test_a_suspended_installation_comes_back(used, api_site, github, row):
    until(lambda: has_token(row, used.id), "a token")
    github.suspended.add(used.number)
    assert deliver(api_site, "installation", github.installation_event(used.number, "suspend")[1]) == 204
    until(lambda: row(used.id, "error is not null")[0], "the suspension")
    assert repository_state(api_site, used)[0] == "errored"
    assert "is suspended" in used.installations()[0]["attributes"]["error"]
    github.suspended.clear()
    assert deliver(api_site, "installation", github.installation_event(used.number, "unsuspend")[1]) == 204
    until(lambda: has_token(row, used.id), "a token")
    assert repository_state(api_site, used) == ("unverified", None) and used.installations()[0]["attributes"]["error"] is None


def test_secrets_are_sealed_and_not_logged(owner, github, row, api_site):
    id = owner.connected()
    until(lambda: has_token(row, id), "a token")
    log = "".join(path.read_text() for path in api_site.folder.glob("*.log"))
    stored = "".join(str(each) for table in ("vcs_installations", "vcs_authorizations", "vcs_renewals") for each in api_site.ask(f"select t::text from {table} t"))
    for secret in [*map(str, github.tokens), github.client_secret, SECRET, "BEGIN PRIVATE KEY", "BEGIN RSA"]:
        assert secret not in log and secret not in stored and secret.encode().hex() not in stored
    assert json.dumps(owner.installations()).count("ghs_") == 0
