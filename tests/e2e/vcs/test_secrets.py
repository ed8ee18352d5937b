# SPDX-License-Identifier: MPL-2.0
"""Where the secrets of connections may be: sealed in the database, in the memory of processes, and in requests to their providers. Nowhere else."""

import base64
import gzip
import shutil
import threading
import urllib.parse
from pathlib import Path

import psycopg
import pytest

from support.browser import Browser
from support.git_servers import HttpServer, SshServer
from support.oauth_provider import OAuthProvider
from support.proc import descendants
from support.servers import Broker
from support.site import new_folder, release_all
from support.vcs_connections import connect, create_client
from support.vcs_fakes.github_login import GitHubWithLogin
from support.vcs_flow import VcsSite
from support.wait import until

FILES = {"main.tf": 'output "one" {\n  value = 1\n}\n'}
TOKEN, PASSWORD, APP_SECRET, APP_WEBHOOK_SECRET = "secret-token-of-github", "secret-of-ada-1", "secret-of-the-app", "secret-of-the-apps-webhook"


class Watch:
    """Reads the arguments and the environment of processes and of all that they start, and the files of git jobs, over and over."""

    def __init__(self, pids, jobs):
        self.pids, self.jobs = pids, jobs
        self.seen = {}  # bytes: where they were
        self.programs = set()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        while not self.stopped.wait(0.02):
            for pid in descendants(*self.pids):
                self._note(Path(f"/proc/{pid}/environ"))
                arguments = self._note(Path(f"/proc/{pid}/cmdline"))
                self.programs.add(Path(arguments.split(b"\0")[0].decode(errors="replace")).name)
            for path in self.jobs.rglob("*"):
                # The key that ssh reads is a file while its job runs.
                if path.name != "key" and path.is_file():
                    self._note(path)

    def _note(self, path):
        try:
            content = path.read_bytes()
        except OSError:
            return b""
        self.seen.setdefault(content, path)
        return content

    def stop(self):
        self.stopped.set()
        self.thread.join()


@pytest.fixture
def github(tmp_path):
    fake = GitHubWithLogin(tmp_path / "github")
    fake.tokens = {TOKEN: "robot"}
    fake.client_secret = APP_SECRET
    yield fake
    fake.release()
    fake.check()


@pytest.fixture
def oauth():
    provider = OAuthProvider("gitea")
    yield provider
    provider.release()
    provider.check()


@pytest.fixture
def servers(tmp_path):
    started = [HttpServer(tmp_path / "http").start(), SshServer(tmp_path / "ssh").start()]
    yield started
    release_all(started)


@pytest.fixture
def stack(postgres, sandbox, redis, engine, github, tmp_path):
    folder = new_folder("site")
    bus = Broker(folder).start()
    redis.command("flushall")
    site = VcsSite(folder, bus, postgres, sandbox, redis, engine.option)
    given = {"github_app_key_file": github.app(), "github_app_client_secret_file": tmp_path / "client", "github_app_webhook_secret_file": tmp_path / "webhook"}
    (tmp_path / "client").write_text(APP_SECRET)
    (tmp_path / "webhook").write_text(APP_WEBHOOK_SECRET)
    site.scheduler.options.update(github_app_id=github.app_id, github_app_url=github.url, github_app_client_id=github.client_id, **given)
    for process in (site.scheduler, site.worker, site.notifier):
        process.options["log_level"] = "debug"
    try:
        yield site.start()
    finally:
        release_all([bus, site.scheduler, site.worker, site.notifier, site.receiver])
        shutil.rmtree(folder, ignore_errors=True)


class Connections:
    """A connection of each kind, and a workspace of each that a run can come from."""

    def __init__(self, stack, github, oauth, http, ssh):
        self.stack, self.api, self.github, self.oauth = stack, stack.api, github, oauth
        self.ssh_key = ssh.key
        hosted = [github.repository(name, FILES) for name in ("acme/token", "acme/app")]
        plain = [server.repository("acme/plain") for server in (http, ssh)]
        for repository in plain:
            repository.commit(FILES)
        of_token = connect(self.api, {"service-provider": "github_enterprise", "http-url": github.url, "api-url": github.api_url, "oauth-token-string": TOKEN})
        of_password = connect(self.api, {"service-provider": "git", "http-url": http.url, "key": http.user, "oauth-token-string": PASSWORD})
        of_key = connect(self.api, {"service-provider": "git", "http-url": ssh.url, "oauth-token-string": "none"})
        self.api.patch(f"oauth-tokens/{of_key[1]}", {"data": {"type": "oauth-tokens", "attributes": {"ssh-key": ssh.key}}})
        self.clients = [of_token[0], of_password[0], of_key[0], self._by_oauth()]
        self.repository, installed = hosted[0], self._installed()
        self.workspaces = [self.api.workspace(name, queue_all_runs=True, vcs_repo={"identifier": identifier, **by}) for name, identifier, by in (
            ("token", "acme/token", {"oauth-token-id": of_token[1]}), ("app", "acme/app", {"github-app-installation-id": installed}),
            ("password", "acme/plain.git", {"oauth-token-id": of_password[1]}), ("key", "acme/plain.git", {"oauth-token-id": of_key[1]}))]

    def _by_oauth(self):
        made = create_client(self.api, self.oauth.attributes()).data
        browser = Browser(self.stack.scheduler.url).sign_in(self.stack.tokens["user"], self.stack.tokens["password"])
        browser.ask(made["attributes"]["connect-path"], headers={"Sec-Fetch-Site": "same-origin"}, follow=False)
        browser.ask(self.oauth.consent(browser.headers["Location"]), follow=False)
        assert "connected=" in browser.headers["Location"], browser.text
        return made["id"]

    def _installed(self):
        number = self.github.installation("acme", ["acme/app"])
        self.ask("insert into vcs_installations (id, installation_id, organization_id, name, kind) select 'ghain-test000000000001', %s, id, 'acme', 'Organization' from organizations", number)
        until(lambda: self.ask("select 1 from vcs_installations where token_sealed is not null"), "the installation has a token")
        return "ghain-test000000000001"

    def ask(self, query, *values):
        with psycopg.connect(self.stack.database, autocommit=True) as connection:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else None

    def run(self, workspace, count=1):
        """The newest of that many runs, at its end."""
        runs = until(lambda: self._runs(workspace, count), lambda: f"{workspace} has {count} runs: {self.api.get('organizations/acme/vcs-events').text}")
        self.api.wait_status(runs[0], {"planned", "planned_and_finished"})
        return runs[0]

    def _runs(self, workspace, count):
        runs = [each["id"] for each in self.api.get(f"workspaces/{workspace}/runs").data]
        return runs if len(runs) == count else None

    def push(self):
        """Pushes to the token's repository, with a webhook. Returns the commit."""
        until(lambda: self.repository.hooks, "the notifier makes the hook")
        before = self.repository.sha("main")
        self.repository.copy.commit_and_push({"other.tf": ""})
        sha = self.repository.sha("main")
        assert self.repository.deliver(*self.github.push(self.repository, "refs/heads/main", before, sha)) == [204]
        return sha

    def hook_secret(self):
        (hook,) = self.repository.hooks.values()
        return hook["secret"]

    def secrets(self):
        """{kind: texts that only the secret has}."""
        app_key, ssh_key = ((text.splitlines()[3:5]) for text in (Path(self.stack.scheduler.options["github_app_key_file"]).read_text(), self.ssh_key))
        minted = [token for token in self.github.tokens if token.startswith("ghs_")]
        found = {"token": [TOKEN], "password": [PASSWORD], "SSH key": ssh_key, "webhook secret": [self.hook_secret()], "App key": app_key, "App's client secret": [APP_SECRET],
                 "App's webhook secret": [APP_WEBHOOK_SECRET], "installation token": minted, "OAuth secret": [self.oauth.secret],
                 "OAuth tokens": [*self.oauth.access_tokens, *self.oauth.refresh_tokens]}
        assert all(found.values()), found
        return found

    def answers(self, runs):
        """The answers of all resources that a connection, a repository or a commit has."""
        versions = [self.api.get(f"runs/{run}").data["relationships"]["configuration-version"]["data"]["id"] for run in runs]
        paths = ["organizations/acme/oauth-clients?include=oauth_tokens,projects", "organizations/acme/oauth-tokens", "organizations/acme/vcs-events?include=oauth_client",
                 "organizations/acme/vcs-repositories", "organizations/acme/audit-trail", "github-app/installations", "github-app/installation/ghain-test000000000001",
                 *(f"oauth-clients/{client}?include=oauth_tokens" for client in self.clients), *(f"oauth-clients/{client}/oauth-tokens" for client in self.clients),
                 *(f"workspaces/{workspace}" for workspace in self.workspaces), *(f"runs/{run}?include=configuration_version.ingress_attributes,created_by,workspace" for run in runs),
                 *(f"runs/{run}/run-events" for run in runs), *(f"configuration-versions/{version}/ingress-attributes" for version in versions)]
        found = {path: self.api.get(path).body for path in paths}
        found.update({f"{version}.tar": gzip.decompress(self.api.get(f"configuration-versions/{version}/download").body) for version in versions})
        found.update({f"{run}.log": self.api.log(run).encode() for run in runs})
        return found


def forms(secret):
    """How a secret can look: as it is, in a URL, and in a header with a user."""
    yield secret.encode()
    yield urllib.parse.quote(secret, safe="").encode()
    for user in ("ada", "x-access-token", "oauth2", "robot"):
        yield base64.b64encode(f"{user}:{secret}".encode())


def test_secrets_are_nowhere_but_sealed_and_in_memory(stack, github, oauth, servers):
    """A push is received, fetched, planned and reported with a token; commits are planned with each other kind of connection."""
    with_pids = [process.pid for process in (stack.scheduler, stack.worker, stack.notifier)]
    watch = Watch(with_pids, stack.folder / "worker-1" / "git")
    connections = Connections(stack, github, oauth, *servers)
    runs = [connections.run(workspace) for workspace in connections.workspaces]
    sha = connections.push()
    runs.append(connections.run(connections.workspaces[0], count=2))
    until(lambda: any(status["sha"] == sha and status["state"] == "success" for status in connections.repository.statuses), "the commit has its status")
    until(lambda: github.check_runs, "the App's commit has a check run")
    answers = connections.answers(runs)
    watch.stop()

    secrets = {kind: [form for text in texts for form in forms(text)] for kind, texts in connections.secrets().items()}
    assert {"runyard-git", "git", "git-remote-http", "ssh"} <= {name.removeprefix("/usr/lib/git-core/") for name in watch.programs}, watch.programs
    places = {**{str(where): content for content, where in watch.seen.items()}, **answers}
    places.update({str(path): path.read_bytes() for path in stack.folder.rglob("*") if path.is_file() and path.stat().st_size < 64 << 20})
    found = [(kind, where) for kind, texts in secrets.items() for text in texts for where, content in places.items() if text in content]
    assert not found, found
    for (table,) in connections.ask("select table_name from information_schema.tables where table_schema = 'public'"):
        for kind, texts in secrets.items():
            plain = [text.decode() for text in texts]
            wanted = [*plain, *(text.encode().hex() for text in plain)]
            assert connections.ask(f"select 1 from {table} t where exists (select from unnest(%s::text[]) s where position(s in t::text) > 0)", wanted) == [], (table, kind)
