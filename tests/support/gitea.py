# SPDX-License-Identifier: MPL-2.0
"""A real Gitea on 127.0.0.1 with SQLite, for extended/ and bench/: tests/tools/go builds it once, in minutes."""

import json
import os
import pwd
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from support.browser import Browser
from support.chart import built, source
from support.process import Process, clean_environment, free_port
from support.wait import PATIENCE, until
from support.work_copy import WorkCopy

VERSION = "1.26.0"
PASSWORD = "Password-of-the-tests-1"
OAUTH_SECONDS = 24  # the lifetime of tokens by OAuth
CONFIGURATION = """
APP_NAME = Gitea
RUN_USER = {user}
RUN_MODE = prod
WORK_PATH = {folder}

[server]
PROTOCOL = http
HTTP_ADDR = {listen}
HTTP_PORT = {port}
ROOT_URL = {url}/
STATIC_ROOT_PATH = {sources}
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false

[database]
DB_TYPE = sqlite3
PATH = {folder}/gitea.db
SQLITE_JOURNAL_MODE = WAL

[security]
INSTALL_LOCK = true
SECRET_KEY = secret-of-the-tests
PASSWORD_HASH_ALGO = pbkdf2_v1

[webhook]
ALLOWED_HOST_LIST = loopback,private,198.18.0.0/15
DELIVER_TIMEOUT = 30

[indexer]
ISSUE_INDEXER_TYPE = db

[repository]
DEFAULT_PRIVATE = private
DEFAULT_BRANCH = main

[api]
MAX_RESPONSE_ITEMS = 100

[service]
REGISTER_EMAIL_CONFIRM = false
ENABLE_NOTIFY_MAIL = false

[cron]
ENABLED = false

[cron.update_checker]
ENABLED = false

[actions]
ENABLED = false

[oauth2]
ACCESS_TOKEN_EXPIRATION_TIME = {oauth_seconds}

[packages]
ENABLED = false

[log]
MODE = console
LEVEL = Warn
"""


class Refused(AssertionError):
    """Gitea answered with an error."""

    def __init__(self, method, path, status, body):
        super().__init__(f"{method} {path}: {status} {body}")
        self.status = status


class Gitea:
    """One server with the administrator `bot`. stop() and start() restart it with its data. network: a PrivateNetwork that it
    stands in; this process reaches it at the network's link."""

    def __init__(self, folder, network=None):
        self.folder = Path(folder) / "gitea"
        self.folder.mkdir()
        self.port = free_port()
        self.listen = "0.0.0.0" if network else "127.0.0.1"
        self.url = f"http://{network.inside if network else '127.0.0.1'}:{self.port}"
        self.api_url = f"{self.url}/api/v1"
        self.program = built("gitea") / "gitea"
        self.ini = self.folder / "app.ini"
        self.environment = clean_environment(HOME=self.folder, GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT="true")
        self.process = Process("gitea", [*(network.enter if network else ()), self.program, "-c", self.ini, "web"], self.folder, env=self.environment)
        self.tokens = {}
        self.clones = 0

    # ---- the server ----

    def prepare(self):
        """Makes the database and the administrator."""
        user = pwd.getpwuid(os.geteuid()).pw_name
        sources = source(f"code.gitea.io/gitea@v{VERSION}")
        self.ini.write_text(CONFIGURATION.format(user=user, folder=self.folder, port=self.port, listen=self.listen, url=self.url, sources=sources, oauth_seconds=OAUTH_SECONDS))
        self._command("migrate")
        self._create_user("bot", "--admin")
        return self

    def start(self):
        if not self.ini.exists():
            self.prepare()
        self.process.launch()
        self.process.wait_until(self._answers, "answers")
        return self

    def stop(self):
        self.process.stop()

    def release(self):
        if self.process.alive():
            self.process.stop()

    def _answers(self):
        try:
            return self.call("GET", "version")["version"] == VERSION
        except (urllib.error.URLError, ConnectionError, Refused):  # it refuses tokens while its database is busy
            return False

    def _command(self, *words):
        done = subprocess.run([self.program, "-c", self.ini, *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE, cwd=self.folder)
        assert done.returncode == 0, f"gitea {' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def _create_user(self, name, *more):
        self._command("admin", "user", "create", "--username", name, "--password", PASSWORD, "--email", f"{name}@example.com", "--must-change-password=false", *more)
        self.tokens[name] = self._command("admin", "user", "generate-access-token", "--username", name, "--token-name", "tests", "--scopes", "all", "--raw").split()[-1]

    def user(self, name):
        """One more user, who is no administrator."""
        self._create_user(name)
        return name

    @property
    def token(self):
        return self.tokens["bot"]

    # ---- its pages ----

    def browser(self, user="bot"):
        """A browser in which the user is signed in."""
        return Browser(self.url).ask("/user/login", {"user_name": user, "password": PASSWORD}, follow=False)

    def consent(self, browser, url):
        """The user agrees to the application on the page at the URL. Returns the address to which the browser is sent."""
        browser.ask(url, follow=False)
        if browser.status == 200:  # not asked again later
            browser.send("/login/oauth/grant", press="true")
        assert browser.status == 303, f"{browser.status} {browser.text}"
        return browser.headers["Location"]

    # ---- its API ----

    def call(self, method, path, body=None, user="bot"):
        """A request below /api/v1. Returns the answer's document, or None; an error raises Refused."""
        headers = {"Authorization": f"token {self.tokens[user]}", "Content-Type": "application/json", "Accept": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.api_url}/{path}", data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise Refused(method, path, error.code, error.read().decode(errors="replace")) from None
        return json.loads(text) if text else None

    def application(self, callback, known=None):
        """An OAuth application with that callback: {id, client_id, client_secret}. A `known` one gets the callback and a new secret."""
        body = {"name": "Runyard", "redirect_uris": [callback], "confidential_client": True}
        path = "user/applications/oauth2"
        return self.call("PATCH", f"{path}/{known['id']}", body) if known else self.call("POST", path, body)

    def organization(self, name):
        self.call("POST", "orgs", {"username": name})
        return name

    def repository(self, name, files=None, owner="bot"):
        """A repository with one commit, or an empty one if files is None."""
        path = f"orgs/{owner}/repos" if owner not in self.tokens else f"admin/users/{owner}/repos"
        self.call("POST", path, {"name": name, "private": False, "default_branch": "main"})
        made = GiteaRepository(self, owner, name)
        if files is not None:
            made.copy.commit_and_push(files)
        return made


class GiteaRepository:
    """A repository of a Gitea, and a clone of it."""

    def __init__(self, gitea, owner, name):
        self.gitea = gitea
        self.owner = owner
        self._called(name)
        gitea.clones += 1
        self.copy = WorkCopy(gitea.folder / f"clone-{gitea.clones}", self.address(owner if owner in gitea.tokens else "bot"))

    def _called(self, name):
        self.name = name
        self.identifier = f"{self.owner}/{name}"
        self.url = f"{self.gitea.url}/{self.identifier}"

    def rename(self, name):
        self.call("PATCH", body={"name": name})
        self._called(name)
        self.copy.git("remote", "set-url", "origin", self.address(self.owner))

    def delete(self):
        self.call("DELETE")

    def address(self, user):
        """Where that user clones it from and pushes it to."""
        return f"{self.gitea.url.replace('://', f'://{user}:{self.gitea.tokens[user]}@')}/{self.identifier}.git"

    def call(self, method, path="", body=None, user="bot"):
        return self.gitea.call(method, f"repos/{self.identifier}{'/' if path else ''}{path}", body, user)

    def pull(self, head, title="A change", base="main", body="", user="bot", draft=False):
        """Opens a pull request and returns it. `head` is a branch, or USER:BRANCH of a fork."""
        title = f"WIP: {title}" if draft else title
        return self.call("POST", "pulls", {"head": head, "base": base, "title": title, "body": body}, user)

    def change_pull(self, number, user="bot", **changes):
        """Changes title, body, base or state ("closed", "open") of a pull request."""
        return self.call("PATCH", f"pulls/{number}", changes, user)

    def merge_pull(self, number, how="merge"):
        def merged():
            try:
                self.call("POST", f"pulls/{number}/merge", {"Do": how})
                return True
            except Refused as refused:
                if refused.status != 405:  # it still checks for conflicts
                    raise
                return False

        until(merged, f"pull request {number} can be merged")

    def fork(self, user):
        """Forks it for a user. Returns the fork."""
        self.call("POST", "forks", {}, user)
        fork = GiteaRepository(self.gitea, user, self.name)
        fork.copy.git("fetch", "--quiet", "origin")
        fork.copy.git("checkout", "--quiet", "-B", "main", "origin/main")
        return fork

    def statuses(self, sha):
        """All statuses of a commit that were ever written, the newest first."""
        return self._all(f"statuses/{sha}?sort=recentupdate")

    def status(self, sha, context):
        """The newest status of a context: {"status": "pending", ...}, or None."""
        answer = self.call("GET", f"commits/{sha}/status")
        return next((each for each in answer["statuses"] or () if each["context"] == context), None)

    def comments(self, number):
        return self.call("GET", f"issues/{number}/comments")

    def hooks(self):
        return self.call("GET", "hooks")

    def deliver_again(self, hook, browser):
        """Replays all deliveries of a hook that its page shows, in the order of the page, the newest first. Returns how many."""
        page = f"/{self.identifier}/settings/hooks/{hook['id']}"
        found = re.findall(f'action="({page}/replay/[0-9a-f-]+)"', browser.ask(page).page)
        for path in found:
            assert browser.ask(path, {}, follow=False).status == 303, browser.text
        return len(found)

    def delete_hooks(self):
        for hook in self.hooks():
            self.call("DELETE", f"hooks/{hook['id']}")

    def _all(self, path):
        found, page = [], 1
        while True:
            more = self.call("GET", f"{path}{'&' if '?' in path else '?'}{urllib.parse.urlencode({'page': page, 'limit': 50})}")
            found += more
            page += 1
            if len(more) < 50:
                return found
