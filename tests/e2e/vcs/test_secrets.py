# SPDX-License-Identifier: MPL-2.0
"""Secrets of connections are only sealed in the database, in the memory of processes, and in requests to their providers."""

import base64
import os
import threading
import urllib.parse
from pathlib import Path

import psycopg
import pytest

from support.browser import Browser
from support.gate import Gate
from support.git_servers import HttpServer, SshServer
from support.oauth_provider import OAuthProvider
from support.proc import descendants
from support.site import open_full_site, release_all
from support.vcs_connections import connect, create_client
from support.vcs_fakes.github_login import GitHubWithLogin
from support.wait import until

TOKEN, PASSWORD, APP_SECRET, APP_WEBHOOK_SECRET = "secret-token-of-github", "secret-of-ada-1", "secret-of-the-app", "secret-of-the-apps-webhook"


# The server's side of a fetch goes on when the watch has read all processes, the client's among them.
HOOK = """#!/bin/sh
waits=$(mktemp "{folder}/XXXXXX")
while [ -e "$waits" ]; do sleep 0.02; done
exec "$@"
"""


class Watch:
    """Reads the arguments and the environment of processes and of all that they start, and the files of git jobs, over and over.
    Fetches from the servers wait until it has read their processes."""

    def __init__(self, pids, jobs, servers, folder):
        self.pids, self.jobs = pids, jobs
        self.fetches = folder / "fetches"
        self.fetches.mkdir()
        hook = folder / "hook"
        hook.write_text(HOOK.format(folder=self.fetches))
        hook.chmod(0o755)
        for server in servers:
            with open(server.folder / "gitconfig", "a") as config:
                config.write(f"[uploadpack]\n\tpackObjectsHook = {hook}\n")
        self.rounds = 0
        self.seen = {}  # bytes: where they were
        self.programs = set()
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self._repeat, args=(read,), daemon=True) for read in (self._processes, self._files)]
        for thread in self.threads:
            thread.start()

    def _repeat(self, read):
        while not self.stopped.wait(0.02):
            read()

    def wait_round(self):
        """Waits until it has read every process that runs now."""
        before = self.rounds
        until(lambda: self.rounds > before + 1, "the processes are read")

    def _processes(self):
        fetches = list(self.fetches.iterdir())
        for pid in descendants(*self.pids):
            self._note(Path(f"/proc/{pid}/environ"))
            arguments = self._note(Path(f"/proc/{pid}/cmdline"))
            self.programs.add(Path(arguments.split(b"\0")[0].decode(errors="replace")).name)
        for fetch in fetches:
            fetch.unlink()
        self.rounds += 1

    def _files(self):
        for folder, _, names in os.walk(self.jobs):
            for name in set(names) - {"key"}:  # the key that ssh reads is a file while its job runs
                self._note(Path(folder, name))

    def _note(self, path):
        try:
            content = path.read_bytes()
        except OSError:
            return b""
        self.seen.setdefault(content, path)
        return content

    def stop(self):
        assert all(thread.is_alive() for thread in self.threads), "they have read until now"
        self.stopped.set()
        for thread in self.threads:
            thread.join()


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
    given = {"github_app_key_file": github.app(), "github_app_client_secret_file": tmp_path / "client", "github_app_webhook_secret_file": tmp_path / "webhook"}
    (tmp_path / "client").write_text(APP_SECRET)
    (tmp_path / "webhook").write_text(APP_WEBHOOK_SECRET)
    with open_full_site(postgres, sandbox, redis, engine, github_app_id=github.app_id, github_app_url=github.url, github_app_client_id=github.client_id, log_level="debug",
                        **given) as site:
        yield site


class Connections:
    """A connection of each kind, and a workspace of each that a run can come from."""

    def __init__(self, stack, github, oauth, http, ssh, gate):
        files = {"main.tf": f'output "one" {{\n  value = {gate.expression}\n}}\n'}
        self.stack, self.api, self.github, self.oauth = stack, stack.api, github, oauth
        self.ssh_key = ssh.key
        self.browser = Browser(stack.scheduler.url).sign_in(stack.tokens["user"], stack.tokens["password"])
        self.hosted = [github.repository(name, files) for name in ("acme/token", "acme/app")]
        plain = [server.repository("acme/plain") for server in (http, ssh)]
        for repository in plain:
            repository.commit(files)
        of_token = connect(self.api, {"service-provider": "github_enterprise", "http-url": github.url, "api-url": github.api_url, "oauth-token-string": TOKEN})
        of_password = connect(self.api, {"service-provider": "git", "http-url": http.url, "key": http.user, "oauth-token-string": PASSWORD})
        of_key = connect(self.api, {"service-provider": "git", "http-url": ssh.url, "oauth-token-string": "none"})
        self.api.patch(f"oauth-tokens/{of_key[1]}", {"data": {"type": "oauth-tokens", "attributes": {"ssh-key": ssh.key}}})
        self.clients = [of_token[0], of_password[0], of_key[0], self._by_oauth()]
        self.repository, self.installation = self.hosted[0], self._installed()
        self.workspaces = [self.api.workspace(name, queue_all_runs=True, auto_apply=True, vcs_repo={"identifier": identifier, **by}) for name, identifier, by in (
            ("token", "acme/token", {"oauth-token-id": of_token[1]}), ("app", "acme/app", {"github-app-installation-id": self.installation}),
            ("password", "acme/plain.git", {"oauth-token-id": of_password[1]}), ("key", "acme/plain.git", {"oauth-token-id": of_key[1]}))]

    def _browse(self, path):
        """The address to which a page of the site redirects a browser that has signed in."""
        self.browser.ask(path, headers={"Sec-Fetch-Site": "same-origin"}, follow=False)
        return self.browser.headers["Location"]

    def _by_oauth(self):
        made = create_client(self.api, self.oauth.attributes()).data
        assert "connected=" in self._browse(self.oauth.consent(self._browse(made["attributes"]["connect-path"])))
        return made["id"]

    def _installed(self):
        number = self.github.installation("acme", ["acme/app"], kind="User")
        install = self.github.install(self._browse("/github-app/connect/acme"), number, f"{self.stack.scheduler.url}/github-app/setup")
        connected = self._browse(self.github.log_in(self._browse(install), "acme"))
        until(lambda: self.ask("select 1 from vcs_installations where token_sealed is not null"), "the installation has a token")
        return connected.partition("connected=")[2]

    def ask(self, query, *values):
        with psycopg.connect(self.stack.database, autocommit=True) as connection:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else None

    def run(self, workspace, count=1):
        """The newest of that many runs, at its end."""
        runs = until(lambda: self._runs(workspace, count), lambda: f"{workspace} has {count} runs: {self.api.get('organizations/acme/vcs-events').text}")
        self.api.wait_status(runs[0], {"applied", "planned_and_finished"})
        return runs[0]

    def _runs(self, workspace, count):
        runs = [each["id"] for each in self.api.get(f"workspaces/{workspace}/runs").data]
        return runs if len(runs) == count else None

    def push(self):
        """Pushes to the App's repository, which a look finds, and to the token's, with a webhook."""
        self.hosted[1].copy.commit_and_push({"other.tf": ""})
        self.api.post(f"workspaces/{self.workspaces[1]}/actions/vcs-check", {})
        until(lambda: self.repository.hooks, "the notifier makes the hook")
        before = self.repository.sha("main")
        self.repository.copy.commit_and_push({"other.tf": ""})
        sha = self.repository.sha("main")
        assert self.repository.deliver(*self.github.push(self.repository, "refs/heads/main", before, sha)) == [204]

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
                 "organizations/acme/vcs-repositories", "organizations/acme/audit-trail", "github-app/installations", f"github-app/installation/{self.installation}",
                 *(f"oauth-clients/{client}?include=oauth_tokens" for client in self.clients), *(f"oauth-clients/{client}/oauth-tokens" for client in self.clients),
                 *(f"workspaces/{workspace}" for workspace in self.workspaces), *(f"runs/{run}?include=configuration_version.ingress_attributes,created_by,workspace" for run in runs),
                 *(f"runs/{run}/run-events" for run in runs), *(f"configuration-versions/{version}/ingress-attributes" for version in versions)]
        found = {path: self.api.get(path).body for path in paths}
        found.update({f"{run}.log": self.api.log(run).encode() for run in runs})
        return found


def forms(secret):
    """The forms of a secret: plain, in a URL, and in a header with a user."""
    yield secret.encode()
    yield urllib.parse.quote(secret, safe="").encode()
    for user in ("ada", "x-access-token", "oauth2", "robot"):
        yield base64.b64encode(f"{user}:{secret}".encode())


def test_secrets_are_nowhere_but_sealed_and_in_memory(stack, github, oauth, servers, tmp_path):
    """A push is received, fetched, planned and reported with a token; commits are applied with each other kind of connection."""
    watch = Watch([process.pid for process in (stack.scheduler, stack.worker, stack.notifier)], stack.folder / "worker-1" / "git", servers, tmp_path)
    gate = Gate(stack.gates)
    connections = Connections(stack, github, oauth, *servers, gate)
    gate.wait()
    watch.wait_round()
    gate.open()
    runs = [connections.run(workspace) for workspace in connections.workspaces]
    connections.push()
    runs += [connections.run(workspace, count=2) for workspace in connections.workspaces[:2]]
    for repository in connections.hosted:
        until(lambda: any(status["sha"] == repository.sha("main") and status["state"] == "success" for status in repository.statuses), lambda: f"the commit has its status: {repository.statuses}")
    answers = connections.answers(runs)
    watch.stop()

    secrets = {kind: [form for text in texts for form in forms(text)] for kind, texts in connections.secrets().items()}
    assert {"runyard-git", "git", "git-remote-http", "ssh"} <= {name.removeprefix("/usr/lib/git-core/") for name in watch.programs}, watch.programs
    places = [*((str(where), content) for content, where in watch.seen.items()), *answers.items()]
    places += [(str(path), path.read_bytes()) for path in stack.folder.rglob("*") if path.is_file() and path.stat().st_size < 64 << 20]
    for (table,) in connections.ask("select table_name from information_schema.tables where table_schema = 'public'"):
        places.append((f"table {table}", "".join(row for (row,) in connections.ask(f"select t::text from {table} t")).encode()))
    environments = [content for where, content in places if where.startswith("/proc/")]
    assert any(workspace.encode() in content for workspace in connections.workspaces for content in environments), "environments of jobs were read"
    assert [(kind, where) for kind, texts in secrets.items() for text in texts for where, content in places if text in content or text.hex().encode() in content] == []
