# SPDX-License-Identifier: MPL-2.0
"""Bitbucket Cloud's REST API, version 2.0, and its webhooks. Pull requests tell 12 characters of a commit's hash only."""

import base64
import re
import uuid
from urllib.parse import urlencode, urlsplit

from support.vcs_fakes.github import is_text, is_url
from support.vcs_fakes.repository import ZERO, hex_hmac, packed
from support.vcs_fakes.server import Answer, Provider, page, route

R = "/2.0/repositories/{owner}/{name}"
STATES = {"SUCCESSFUL", "FAILED", "INPROGRESS", "STOPPED"}
HOOK_EVENTS = {"repo:push", "repo:updated", "pullrequest:created", "pullrequest:updated", "pullrequest:fulfilled", "pullrequest:rejected", "repo:transfer", "repo:deleted"}
SHORT = 12


class BitbucketCloud(Provider):
    base = "/2.0"
    dialect = "bitbucket_hosted"

    def pull_ref(self, number):
        return None

    # ---- every request ----

    def authenticate(self, request):
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "basic":
            token = base64.b64decode(token).decode().partition(":")[2]
        elif kind.lower() != "bearer":
            token = ""
        if token not in self.tokens:
            raise Answer(401, self.error("Access denied"))
        request.user = self.tokens[token]

    def git_user(self, user, password):
        return user in ("x-token-auth", "x-bitbucket-api-token-auth") and password in self.tokens

    def error(self, text):
        return {"type": "error", "error": {"message": text}}

    def limited(self, seconds):
        """It does not tell when to come back."""
        return Answer(429, self.error("Rate limit for this resource has been exceeded"))

    def _find(self, owner, name):
        found = next((each for each in self.repositories.values() if name == "{" + each.uuid + "}" and not each.gone), None)
        return found or self.find(f"{owner}/{name}")

    def _page(self, request, items):
        number, size = self.numbers_of(request, "pagelen", 10)
        chosen, more = page(items, number, size)
        return {"pagelen": size, "page": number, "size": len(items), "values": chosen,
                **({"next": f"{self.url}{urlsplit(request.target).path}?{urlencode({**request.query, 'page': number + 1})}"} if more else {})}

    # ---- documents ----

    def user(self, name):
        identity = uuid.uuid5(uuid.NAMESPACE_URL, name)
        return {"type": "user", "display_name": name.title(), "nickname": name, "uuid": "{%s}" % identity, "account_id": f"557058:{identity}",
                "links": {"avatar": {"href": f"{self.url}/avatars/{name}"}, "html": {"href": f"{self.url}/{name}"}}}

    def document(self, repository):
        return {"type": "repository", "uuid": "{%s}" % repository.uuid, "full_name": repository.identifier, "name": repository.identifier.split("/")[1], "slug": repository.identifier.split("/")[1],
                "scm": "git", "is_private": True, "mainbranch": {"type": "branch", "name": repository.default_branch},
                "links": {"html": {"href": f"{self.url}/{repository.identifier}"}, "self": {"href": f"{self.api_url}/repositories/{repository.identifier}"},
                          "clone": [{"name": "https", "href": f"{self.url}/{repository.identifier}.git"}, {"name": "ssh", "href": f"git@127.0.0.1:{repository.identifier}.git"}]}}

    def commit_document(self, repository, sha):
        commit = repository.commit(sha)
        return {"type": "commit", "hash": commit["sha"], "message": commit["message"], "date": commit["at"], "author": {"type": "author", "raw": "Ann Author <ann@example.com>", "user": self.user("ann")},
                "parents": [{"type": "commit", "hash": parent} for parent in commit["parents"]], "links": {"html": {"href": f"{self.url}/{repository.identifier}/commits/{commit['sha']}"}}}

    def _side(self, repository, branch, sha):
        return {"branch": {"name": branch}, "commit": {"type": "commit", "hash": sha[:SHORT], "links": {"html": {"href": f"{self.url}/{repository.identifier}/commits/{sha[:SHORT]}"}}},
                "repository": {name: self.document(repository)[name] for name in ("type", "uuid", "full_name", "name", "links")}}

    def pull_document(self, pull):
        state = {"open": "OPEN", "closed": "DECLINED", "merged": "MERGED"}[pull.state]
        return {"type": "pullrequest", "id": pull.number, "title": pull.title, "description": pull.body, "state": state, "draft": pull.draft, "author": self.user(pull.sender),
                "source": self._side(pull.source, pull.branch, pull.head), "destination": self._side(pull.target, pull.base, pull.base_sha),
                "links": {"html": {"href": f"{self.url}/{pull.target.identifier}/pull-requests/{pull.number}"}}}

    def stat(self, files):
        return [{"type": "diffstat", "status": status, "lines_added": 1, "lines_removed": 0, "old": None if status == "added" else {"type": "commit_file", "path": old},
                 "new": None if status == "removed" else {"type": "commit_file", "path": path}} for status, old, path in files]

    def comment_document(self, comment):
        return {"type": "pullrequest_comment", "id": comment["id"], "content": {"type": "rendered", "raw": comment["text"], "markup": "markdown"}, "user": self.user(comment["user"]), "deleted": False}

    def hook_document(self, number, hook):
        return {"type": "webhook_subscription", "uuid": number, "url": hook["url"], "description": hook["description"], "active": hook["active"], "events": hook["events"], "secret_set": bool(hook["secret"])}

    # ---- reads ----

    @route("GET", "/2.0/user")
    def get_user(self, request):
        return self.user(request.user)

    @route("GET", "/2.0/repositories")
    def get_repositories(self, request):
        if request.query.get("role") not in ("member", "contributor", "owner", "admin", None):
            self.refuse(request, 400, "role")
        return self._page(request, [self.document(each) for each in self.repositories.values() if not each.gone])

    @route("GET", "/2.0/repositories/{owner}")
    def get_repositories_of(self, request, owner):
        return self._page(request, [self.document(each) for each in self.repositories.values() if not each.gone and each.identifier.startswith(f"{owner}/")])

    @route("GET", R)
    def get_repository(self, request, owner, name):
        return self.document(self._find(owner, name))

    @route("GET", R + "/refs/branches/{branch+}")
    def get_branch(self, request, owner, name, branch):
        repository = self._find(owner, name)
        sha = repository.branches().get(branch)
        if not sha:
            raise Answer(404, self.error(f'Branch "{branch}" does not exist'))
        return {"type": "branch", "name": branch, "target": self.commit_document(repository, sha)}

    @route("GET", R + "/commits")
    def get_commits(self, request, owner, name):
        repository = self._find(owner, name)
        size = int(request.query.get("pagelen", 30))
        found = repository.newest(request.query.get("include", repository.default_branch), size)
        if found is None:
            raise Answer(404, self.error("Commit not found"))
        return {"pagelen": size, "values": [self.commit_document(repository, sha) for sha in found]}

    @route("GET", R + "/commit/{sha}")
    def get_commit(self, request, owner, name, sha):
        repository = self._find(owner, name)
        if not repository.sha(sha):
            raise Answer(404, self.error("Commit not found"))
        return self.commit_document(repository, sha)

    @route("GET", R + "/diffstat/{span}")
    def get_diffstat(self, request, owner, name, span):
        """`after..before`, in that order."""
        repository = self._find(owner, name)
        after, _, before = span.partition("..")
        if not before:
            self.refuse(request, 400, "a span has two commits")
        if not (repository.sha(before) and repository.sha(after)):
            raise Answer(404, self.error("Commit not found"))
        base = repository.merge_base(before, after) if request.query.get("topic") == "true" else before
        return self._page(request, self.stat(repository.files(base, after)))

    def _pull(self, owner, name, number):
        repository = self._find(owner, name)
        if int(number) not in repository.pulls:
            raise Answer(404, self.error("Pull request not found"))
        return repository.pulls[int(number)]

    @route("GET", R + "/pullrequests")
    def get_pulls(self, request, owner, name):
        wanted = request.query.get("state", "OPEN")
        if wanted not in ("OPEN", "MERGED", "DECLINED", "SUPERSEDED"):
            self.refuse(request, 400, f"state can't be {wanted}")
        if int(request.query.get("pagelen", 10)) > 50:
            self.refuse(request, 400, "Invalid pagelen")
        return self._page(request, [each for each in map(self.pull_document, reversed(self._find(owner, name).pulls.values())) if each["state"] == wanted])

    @route("GET", R + "/pullrequests/{number}")
    def get_pull(self, request, owner, name, number):
        return self.pull_document(self._pull(owner, name, number))

    @route("GET", R + "/pullrequests/{number}/diffstat")
    def get_pull_files(self, request, owner, name, number):
        """Redirects to the diffstat of the two commits."""
        pull = self._pull(owner, name, number)
        span = f"{pull.head}..{pull.target.merge_base(pull.base_sha, pull.head)}"
        return Answer(302, None, {"Location": f"{self.api_url}/repositories/{pull.target.identifier}/diffstat/{span}"})

    # ---- statuses ----

    @route("POST", R + "/commit/{sha}/statuses/build")
    def post_status(self, request, owner, name, sha):
        repository = self._find(owner, name)
        if not repository.sha(sha):
            raise Answer(404, self.error("Commit not found"))
        body = self.fields(request, request.body, key=is_text(40), state=STATES, url=is_url, name=(is_text(255),), description=(lambda text: isinstance(text, str) and len(text) <= 255,),
                           refname=(str,), type=({"build"},))
        repository.note_status(sha=repository.sha(sha), context=body.get("name", body["key"]), key=body["key"], state=body["state"], description=body.get("description"), url=body["url"])
        return Answer(201, {"type": "build", "uuid": str(uuid.uuid4()), **body})

    # ---- comments ----

    @route("GET", R + "/pullrequests/{number}/comments")
    def get_comments(self, request, owner, name, number):
        return self._page(request, [self.comment_document(each) for each in self._pull(owner, name, number).comments])

    def _comment(self, request):
        body = self.fields(request, request.body, content=dict)
        return self.fields(request, body["content"], raw=is_text(32768))["raw"]

    @route("POST", R + "/pullrequests/{number}/comments")
    def post_comment(self, request, owner, name, number):
        pull = self._pull(owner, name, number)
        pull.comments.append({"id": next(self.numbers), "text": self._comment(request), "user": request.user, "edits": 0})
        return Answer(201, self.comment_document(pull.comments[-1]))

    @route("PUT", R + "/pullrequests/{number}/comments/{comment}")
    def put_comment(self, request, owner, name, number, comment):
        found = next((each for each in self._pull(owner, name, number).comments if str(each["id"]) == comment), None)
        if not found:
            raise Answer(404, self.error("Comment not found"))
        found["text"] = self._comment(request)
        found["edits"] += 1
        return self.comment_document(found)

    # ---- hooks ----

    def _hook(self, request):
        return self.fields(request, request.body, description=str, url=is_url, active=(bool,), secret=(lambda secret: secret is None or isinstance(secret, str) and len(secret) <= 128,),
                           skip_cert_verification=(bool,), events=lambda events: isinstance(events, list) and events and set(events) <= HOOK_EVENTS)

    @route("GET", R + "/hooks")
    def get_hooks(self, request, owner, name):
        return self._page(request, [self.hook_document(number, hook) for number, hook in self._find(owner, name).hooks.items()])

    @route("POST", R + "/hooks")
    def post_hook(self, request, owner, name):
        repository, body = self._find(owner, name), self._hook(request)
        number = "{%s}" % uuid.uuid4()
        repository.hooks[number] = {"active": False, "secret": "", **body}
        return Answer(201, self.hook_document(number, repository.hooks[number]))

    @route("PUT", R + "/hooks/{hook}")
    def put_hook(self, request, owner, name, hook):
        """Without `secret` the secret stays; null removes it."""
        kept = self._find(owner, name).hooks.get(hook)
        if kept is None:
            raise Answer(404, self.error("Webhook not found"))
        body = self._hook(request)
        kept.update(body, secret=body.get("secret", kept["secret"]) or "")
        return self.hook_document(hook, kept)

    @route("DELETE", R + "/hooks/{hook}")
    def delete_hook(self, request, owner, name, hook):
        if not self._find(owner, name).hooks.pop(hook, None):
            raise Answer(404, self.error("Webhook not found"))
        return Answer(204)

    # ---- webhooks ----

    def wants(self, hook, event):
        return hook["active"] and event in hook["events"]

    def signed(self, event, document, secret, delivery=None):
        body = packed(document)
        return {"Content-Type": "application/json", "User-Agent": "Bitbucket-Webhooks/2.0", "X-Event-Key": event, "X-Hook-UUID": str(uuid.uuid4()), "X-Event-Time": "Mon, 23 Nov 2026 10:00:00 GMT",
                "X-Request-UUID": delivery or str(uuid.uuid4()), "X-Attempt-Number": "1", **({"X-Hub-Signature": f"sha256={hex_hmac(secret, body)}"} if secret else {})}, body

    def _tip(self, repository, ref, sha):
        kind, name = re.fullmatch("refs/(heads|tags)/(.+)", ref).groups()
        return None if sha == ZERO else {"type": "branch" if kind == "heads" else "tag", "name": name, "target": self.commit_document(repository, repository.sha(sha)),
                                         "links": {"html": {"href": f"{self.url}/{repository.identifier}/branch/{name}"}}}

    def push(self, repository, ref, before, after, forced=False):
        """("repo:push", payload). `before` or `after` is ZERO for a ref that is made or deleted. Five commits at most are told, without their files."""
        commits = [] if after == ZERO else repository.commits(None if before == ZERO else before, after)
        change = {"old": self._tip(repository, ref, before), "new": self._tip(repository, ref, after), "created": before == ZERO, "closed": after == ZERO, "forced": forced,
                  "truncated": len(commits) > 5, "commits": [self.commit_document(repository, each["sha"]) for each in commits[::-1][:5]],
                  "links": {"html": {"href": f"{self.url}/{repository.identifier}/branches/compare/{after}..{before}"}}}
        return "repo:push", {"actor": self.user("ann"), "repository": self.document(repository), "push": {"changes": [change]}}

    def pull_event(self, pull, action):
        """(event, payload); action: created, updated, fulfilled, rejected."""
        return f"pullrequest:{action}", {"actor": self.user("ann"), "repository": self.document(pull.target), "pullrequest": self.pull_document(pull)}
