# SPDX-License-Identifier: MPL-2.0
"""A repository of a fake provider: a bare one that git serves, a clone that pushes into it, and what the provider keeps beside it."""

import base64
import hashlib
import hmac
import itertools
import json
import time
import urllib.error
import urllib.request
import uuid

from support.wait import PATIENCE
from support.work_copy import WorkCopy, git

ZERO = "0" * 40


class Pull:
    """A pull request from a branch of `source` (its repository or a fork) to a branch of `target`."""

    def __init__(self, number, source, branch, target, base, title, body, draft):
        self.number = number
        self.source = source
        self.branch = branch
        self.target = target
        self.base = base
        self.title = title
        self.body = body
        self.draft = draft
        self.state = "open"  # closed, merged
        self.version = 0
        self.comments = []  # {"id", "version", "text", "user"}
        self.sender = "ann"

    @property
    def head(self):
        return self.source.sha(f"refs/heads/{self.branch}")

    @property
    def base_sha(self):
        return self.target.sha(f"refs/heads/{self.base}")

    @property
    def is_fork(self):
        return self.source is not self.target


class Repository:
    """`settings` are the provider's own (a project's id, say)."""

    def __init__(self, provider, identifier, number, fork_of=None, **settings):
        self.provider = provider
        self.identifier = identifier
        self.id = number
        self.uuid = str(uuid.UUID(hashlib.md5(identifier.encode()).hexdigest()))
        self.default_branch = "main"
        self.fork_of = fork_of
        self.settings = settings
        self.gone = False
        self.pulls = {}
        self.statuses = []  # as written: {"sha", "context", "state", "description", "url", "at", ...}
        self.hooks = {}  # id: {"url", "secret", "events", ...}
        self.pull_numbers = fork_of.pull_numbers if fork_of else itertools.count(1)
        self.bare = provider.folder / f"{number}.git"
        git(provider.folder, *(["clone", "--quiet", "--bare", fork_of.bare] if fork_of else ["init", "--quiet", "--bare", "--initial-branch=main"]), self.bare)
        for name in ("uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter"):
            git(self.bare, "config", name, "true")
        self.copy = WorkCopy(provider.folder / f"clone-{number}", self.bare)
        if fork_of:
            self.copy.git("fetch", "--quiet", "origin")
            self.copy.git("checkout", "--quiet", "-B", "main", "origin/main")

    # ---- what git knows ----

    def git(self, *words, **options):
        return git(self.bare, *words, **options)

    def sha(self, name):
        """The commit of a ref or revision; None if there is none."""
        return self.git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", check=False) or None

    def branches(self):
        lines = self.git("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads").splitlines()
        return {name: sha for name, sha in (line.split(" ") for line in lines)}

    def commit(self, sha):
        """{"sha", "message", "author", "parents", "at"} of a commit."""
        author, at, parents, message = self.git("show", "--no-patch", "--format=%an%n%aI%n%P%n%B", sha).split("\n", 3)
        return {"sha": self.sha(sha), "message": message, "author": author, "at": at, "parents": parents.split()}

    def commits(self, before, after):
        """The commits of a push, the oldest first."""
        return [self.commit(sha) for sha in self.git("rev-list", "--reverse", *([f"{before}..{after}"] if before and before != ZERO else [after])).split()]

    def newest(self, branch, size):
        """The newest commits of the branch, the newest first; None: there is no such branch."""
        return self.git("rev-list", f"--max-count={size}", self.branches()[branch]).split() if branch in self.branches() else None

    def files(self, before, after):
        """(status, path before, path) of what changed: "added", "removed", "modified", "renamed"."""
        names = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "T": "modified"}
        found = []
        for line in self.git("diff", "--name-status", "--find-renames", before, after).splitlines():
            kind, *paths = line.split("\t")
            found.append((names[kind[0]], paths[0], paths[-1]))
        return found

    def files_of(self, sha):
        """The changes of one commit, against its first parent."""
        parents = self.commit(sha)["parents"]
        return self.files(parents[0] if parents else self.git("hash-object", "-t", "tree", "/dev/null"), sha)

    def merge_base(self, one, other):
        return self.git("merge-base", one, other)

    # ---- pull requests ----

    def pull(self, branch, title="A change", base="main", source=None, body="", draft=False):
        """Opens a pull request; `source` is a fork. Nothing is delivered."""
        made = Pull(next(self.pull_numbers), source or self, branch, self, base, title, body, draft)
        self.pulls[made.number] = made
        self.publish(made)
        return made

    def publish(self, pull):
        """Puts the head under the provider's ref of pull requests, as the provider does after each push."""
        name = self.provider.pull_ref(pull.number)
        if pull.is_fork:
            self.git("fetch", "--quiet", pull.source.bare, f"+refs/heads/{pull.branch}:refs/fetched/{pull.number}")
        if name:
            self.git("update-ref", name, pull.head)

    def status(self, context):
        """The newest status that was written with a context, of any commit; None if there is none."""
        return next((each for each in reversed(self.statuses) if each["context"] == context), None)

    def note_status(self, **members):
        self.statuses.append({"at": time.monotonic(), **members})
        return self.statuses[-1]

    # ---- deliveries ----

    def deliver(self, event, document, **members):
        """Sends a payload to all hooks that want it. Returns the answers' codes."""
        return [self.send(hook, event, document, **members) for hook in list(self.hooks.values()) if self.provider.wants(hook, event)]

    def send(self, hook, event, document, **members):
        """Sends a payload to one hook as the provider does: {"url", "secret"}."""
        headers, body = self.provider.signed(event, document, hook["secret"], **members)
        code = post(hook["url"], headers, body)
        self.provider.sent.append((hook["url"], event, code))
        return code


def post(url, headers, body):
    request = urllib.request.Request(url, data=body, method="POST", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def hex_hmac(secret, body):
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def packed(document):
    """The bytes of a payload: a text stays as it is."""
    return document if isinstance(document, bytes) else json.dumps(document).encode()


class GitView:
    """The repository as a FakeGit's worker reads it (support/fake_git.py). git does not have the commits in `lost`."""

    def __init__(self, repository):
        self.repository = repository
        self.commits = self
        self.lost = set()

    @property
    def head(self):
        return self.repository.default_branch

    @property
    def refs(self):
        lines = self.repository.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return {name: sha for name, sha in (line.split(" ") for line in lines) if not name.startswith("refs/fetched/")}

    def __contains__(self, sha):
        return sha not in self.lost and self.repository.sha(sha) is not None

    def __getitem__(self, sha):
        """(the first parent or "", {path: text}, message) of a commit."""
        commit = self.repository.commit(sha)
        paths = self.repository.git("ls-tree", "-r", "--name-only", sha).splitlines()
        return (commit["parents"] or [""])[0], {path: self.repository.git("show", f"{sha}:{path}") for path in paths}, commit["message"]

    def changed(self, before, after):
        return sorted({path for _, *paths in self.repository.files(before or self.repository.git("hash-object", "-t", "tree", "/dev/null"), after) for path in paths})
