# SPDX-License-Identifier: MPL-2.0
"""Bitbucket Data Center's REST APIs (api 1.0, build-status 1.0) and its webhooks."""

import re
import uuid

from support.vcs_fakes.github import is_text, is_url
from support.vcs_fakes.repository import ZERO, hex_hmac, packed
from support.vcs_fakes.server import Answer, Provider, route

A = "/rest/api/(?:1.0|latest)"
R = A + "/projects/{project}/repos/{slug}"
STATES = {"SUCCESSFUL", "FAILED", "INPROGRESS", "CANCELLED", "UNKNOWN"}
HOOK_EVENTS = {"repo:refs_changed", "repo:modified", "pr:opened", "pr:from_ref_updated", "pr:modified", "pr:merged", "pr:declined", "pr:deleted", "diagnostics:ping"}


class BitbucketServer(Provider):
    base = ""
    dialect = "bitbucket_data_center"

    def pull_ref(self, number):
        return f"refs/pull-requests/{number}/from"

    # ---- every request ----

    def authenticate(self, request):
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer" or token not in self.tokens:
            raise Answer(401, self.error("Authentication failed. Please check your credentials and try again."))
        request.user = self.tokens[token]

    def standard_headers(self, request):
        return {"X-AREQUESTID": "@1", **({"X-AUSERNAME": request.user} if request.user else {})}

    def git_user(self, user, password):
        """An HTTP access token is the password of its own user."""
        return self.tokens.get(password) is not None and user in (self.tokens[password], "x-token-auth")

    def identifier_of(self, path):
        return path.removeprefix("scm/").removesuffix(".git")

    def error(self, text):
        return {"errors": [{"context": None, "message": text, "exceptionName": None}]}

    def limited(self, seconds):
        return Answer(429, self.error("You have exceeded the rate limit for requests."), {"Retry-After": str(seconds), "X-RateLimit-Remaining": "0"})

    def _find(self, project, slug):
        return self.find(f"{project}/{slug}")

    def _page(self, request, items):
        try:
            start, limit = int(request.query.get("start", 0)), int(request.query.get("limit", 25))
        except ValueError:
            self.refuse(request, 400, "start and limit are numbers")
        if start < 0 or not 1 <= limit <= 1000:
            self.refuse(request, 400, "limit")
        last = start + limit >= len(items)
        return {"size": len(items[start:start + limit]), "limit": limit, "start": start, "isLastPage": last, "values": items[start:start + limit],
                "nextPageStart": None if last else start + limit}

    # ---- documents ----

    def user(self, name):
        number = self.users.setdefault(name, next(self.numbers))
        return {"name": name, "id": number, "slug": name, "displayName": name.title(), "emailAddress": f"{name}@example.com", "active": True, "type": "NORMAL",
                "links": {"self": [{"href": f"{self.url}/users/{name}"}]}}

    def document(self, repository):
        project, slug = repository.identifier.split("/")
        return {"id": repository.id, "slug": slug, "name": slug, "scmId": "git", "state": "AVAILABLE", "forkable": True, "public": False,
                "project": {"key": project, "id": 1, "name": project, "public": False, "type": "PERSONAL" if project.startswith("~") else "NORMAL"},
                "links": {"self": [{"href": f"{self.url}/projects/{project}/repos/{slug}/browse"}],
                          "clone": [{"name": "http", "href": f"{self.url}/scm/{repository.identifier.lower()}.git"}, {"name": "ssh", "href": f"ssh://git@127.0.0.1:7999/{repository.identifier}.git"}]}}

    def commit_document(self, repository, sha):
        commit = repository.commit(sha)
        return {"id": commit["sha"], "displayId": commit["sha"][:11], "message": commit["message"], "author": {"name": commit["author"], "emailAddress": "ann@example.com"},
                "authorTimestamp": 1790000000000, "parents": [{"id": parent, "displayId": parent[:11]} for parent in commit["parents"]]}

    def _branch(self, repository, name, sha):
        return {"id": f"refs/heads/{name}", "displayId": name, "type": "BRANCH", "latestCommit": sha, "latestChangeset": sha, "isDefault": name == repository.default_branch}

    def _changes(self, files):
        def path(text):
            return {"components": text.split("/"), "parent": text.rpartition("/")[0], "name": text.rpartition("/")[2], "toString": text}

        types = {"added": "ADD", "removed": "DELETE", "modified": "MODIFY", "renamed": "MOVE"}
        return [{"contentId": "0" * 40, "path": path(new), "type": types[status], "nodeType": "FILE", **({"srcPath": path(old)} if status == "renamed" else {})} for status, old, new in files]

    def _ref(self, repository, branch, sha):
        return {"id": f"refs/heads/{branch}", "displayId": branch, "type": "BRANCH", "latestCommit": sha, "repository": self.document(repository)}

    def pull_document(self, pull):
        state = {"open": "OPEN", "closed": "DECLINED", "merged": "MERGED"}[pull.state]
        return {"id": pull.number, "version": pull.version, "title": pull.title, "description": pull.body, "state": state, "open": state == "OPEN", "closed": state != "OPEN", "draft": pull.draft,
                "fromRef": self._ref(pull.source, pull.branch, pull.head), "toRef": self._ref(pull.target, pull.base, pull.base_sha), "locked": False,
                "author": {"user": self.user(pull.sender), "role": "AUTHOR", "approved": False}, "reviewers": [],
                "links": {"self": [{"href": f"{self.url}/projects/{pull.target.identifier.replace('/', '/repos/')}/pull-requests/{pull.number}"}]}}

    def comment_document(self, comment):
        return {"id": comment["id"], "version": comment["version"], "text": comment["text"], "author": self.user(comment["user"]), "comments": [], "severity": "NORMAL", "state": "OPEN"}

    def hook_document(self, number, hook):
        return {"id": number, "name": hook["name"], "url": hook["url"], "active": hook["active"], "events": hook["events"], "configuration": {"createdBy": "bitbucket"},
                "sslVerificationRequired": hook.get("sslVerificationRequired", True)}

    # ---- reads ----

    @route("GET", "/plugins/servlet/applinks/whoami")
    def whoami(self, request):
        return Answer(200, text=request.user)

    @route("GET", A + "/users/{name}")
    def get_user(self, request, name):
        if name not in self.users:
            raise Answer(404, self.error(f"User {name} does not exist."))
        return self.user(name)

    @route("GET", A + "/users")
    def get_users(self, request):
        return self._page(request, [self.user(name) for name in self.users])

    @route("GET", A + "/application-properties")
    def get_properties(self, request):
        return {"version": "9.4.0", "buildNumber": "9004000", "displayName": "Bitbucket"}

    @route("GET", A + "/repos")
    def get_repositories(self, request):
        wanted = request.query.get("name", "").lower()
        return self._page(request, [self.document(each) for each in self.repositories.values() if not each.gone and wanted in each.identifier.split("/")[1].lower()])

    @route("GET", R)
    def get_repository(self, request, project, slug):
        return self.document(self._find(project, slug))

    @route("GET", R + "/default-branch")
    @route("GET", R + "/branches/default")
    def get_default_branch(self, request, project, slug):
        repository = self._find(project, slug)
        return self._branch(repository, repository.default_branch, repository.branches().get(repository.default_branch))

    @route("GET", R + "/branches")
    def get_branches(self, request, project, slug):
        """filterText is a part of the name."""
        repository = self._find(project, slug)
        wanted = request.query.get("filterText", "").lower()
        return self._page(request, [self._branch(repository, name, sha) for name, sha in repository.branches().items() if wanted in name.lower()])

    @route("GET", R + "/commits")
    def get_commits(self, request, project, slug):
        repository = self._find(project, slug)
        until = request.query.get("until", repository.default_branch).removeprefix("refs/heads/")
        found = repository.newest(until, 1000)
        if found is None:
            raise Answer(404, self.error(f"Commit '{until}' does not exist in repository '{slug}'."))
        return self._page(request, [self.commit_document(repository, sha) for sha in found])

    @route("GET", R + "/commits/{sha+}")
    def get_commit(self, request, project, slug, sha):
        repository = self._find(project, slug)
        if not repository.sha(sha):
            raise Answer(404, self.error(f"Commit '{sha}' does not exist in repository '{slug}'."))
        return self.commit_document(repository, sha)

    @route("GET", R + "/compare/changes")
    def get_compare(self, request, project, slug):
        """What `from` has that `to` has not."""
        repository = self._find(project, slug)
        newer, older = request.query.get("from"), request.query.get("to")
        if not newer or not older:
            self.refuse(request, 400, "from and to")
        if not (repository.sha(newer) and repository.sha(older)):
            raise Answer(404, self.error("no such commit"))
        return self._page(request, self._changes(repository.files(repository.merge_base(older, newer), newer)))

    @route("GET", R + "/changes")
    def get_changes(self, request, project, slug):
        """The changes from `since` to `until`."""
        repository = self._find(project, slug)
        since, until = request.query.get("since"), request.query.get("until")
        if not until:
            self.refuse(request, 400, "until")
        if not repository.sha(until) or since and not repository.sha(since):
            raise Answer(404, self.error("no such commit"))
        return self._page(request, self._changes(repository.files(since, until) if since else repository.files_of(until)))

    def _pull(self, project, slug, number):
        repository = self._find(project, slug)
        if int(number) not in repository.pulls:
            raise Answer(404, self.error(f"Pull request {number} does not exist"))
        return repository.pulls[int(number)]

    @route("GET", R + "/pull-requests")
    def get_pulls(self, request, project, slug):
        wanted = request.query.get("state", "OPEN")
        if wanted not in ("OPEN", "DECLINED", "MERGED", "ALL"):
            self.refuse(request, 400, "state")
        items = [self.pull_document(each) for each in reversed(self._find(project, slug).pulls.values())]
        return self._page(request, [each for each in items if wanted in ("ALL", each["state"])])

    @route("GET", R + "/pull-requests/{number}")
    def get_pull(self, request, project, slug, number):
        return self.pull_document(self._pull(project, slug, number))

    @route("GET", R + "/pull-requests/{number}/changes")
    def get_pull_files(self, request, project, slug, number):
        pull = self._pull(project, slug, number)
        return self._page(request, self._changes(pull.target.files(pull.target.merge_base(pull.base_sha, pull.head), pull.head)))

    # ---- statuses ----

    def _status(self, request, repository, sha, **more):
        if not repository.sha(sha):
            raise Answer(404, self.error("no such commit"))
        short = (lambda text: isinstance(text, str) and len(text) <= 255,)
        body = self.fields(request, request.body, state=STATES, key=is_text(255), url=lambda url: is_url(url) and len(url) <= 450, name=short, description=short, **more)
        repository.note_status(sha=sha, context=body.get("name", body["key"]), key=body["key"], state=body["state"], description=body.get("description"), url=body["url"])
        return Answer(204)

    @route("POST", R + "/commits/{sha}/builds")
    def post_build(self, request, project, slug, sha):
        return self._status(request, self._find(project, slug), sha, parent=(is_text(1024),), ref=(lambda ref: isinstance(ref, str) and ref.startswith("refs/"),), buildNumber=(is_text(255),),
                            duration=(int,), lastUpdated=(int,), testResults=(dict,))

    @route("POST", "/rest/build-status/(?:1.0|latest)/commits/{sha}")
    def post_status(self, request, sha):
        repository = next((each for each in self.repositories.values() if each.sha(sha)), None)
        if not repository:
            raise Answer(404, self.error("no such commit"))
        return self._status(request, repository, sha)

    # ---- comments ----

    @route("GET", R + "/pull-requests/{number}/activities")
    def get_activities(self, request, project, slug, number):
        """The newest first; comments are among other activities."""
        pull = self._pull(project, slug, number)
        return self._page(request, [*({"id": each["id"], "action": "COMMENTED", "commentAction": "ADDED", "comment": self.comment_document(each)} for each in reversed(pull.comments)),
                                    {"id": 1, "action": "OPENED", "user": self.user(pull.sender)}])

    @route("POST", R + "/pull-requests/{number}/comments")
    def post_comment(self, request, project, slug, number):
        pull = self._pull(project, slug, number)
        body = self.fields(request, request.body, text=is_text(32768), severity=(str,), parent=(dict,))
        pull.comments.append({"id": next(self.numbers), "version": 0, "text": body["text"], "user": request.user, "edits": 0})
        return Answer(201, self.comment_document(pull.comments[-1]))

    def _comment(self, project, slug, number, comment):
        found = next((each for each in self._pull(project, slug, number).comments if str(each["id"]) == comment), None)
        if not found:
            raise Answer(404, self.error("no such comment"))
        return found

    @route("GET", R + "/pull-requests/{number}/comments/{comment}")
    def get_comment(self, request, project, slug, number, comment):
        return self.comment_document(self._comment(project, slug, number, comment))

    @route("PUT", R + "/pull-requests/{number}/comments/{comment}")
    def put_comment(self, request, project, slug, number, comment):
        found = self._comment(project, slug, number, comment)
        body = self.fields(request, request.body, text=is_text(32768), version=int, severity=(str,))
        if body["version"] != found["version"]:
            raise Answer(409, self.error("You are attempting to modify a comment based on out-of-date information."))
        found.update(text=body["text"], version=found["version"] + 1, edits=found["edits"] + 1)
        return self.comment_document(found)

    # ---- hooks ----

    def _hook(self, request):
        body = self.fields(request, request.body, name=is_text(255), url=is_url, active=(bool,), configuration=(dict,), sslVerificationRequired=(bool,), id=(int,),
                           events=lambda events: isinstance(events, list) and events and set(events) <= HOOK_EVENTS)
        self.fields(request, body.get("configuration", {}), secret=(str,), createdBy=(str,))
        return {**body, "secret": body.get("configuration", {}).get("secret", "")}

    @route("GET", R + "/webhooks")
    def get_hooks(self, request, project, slug):
        return self._page(request, [self.hook_document(number, hook) for number, hook in self._find(project, slug).hooks.items()])

    @route("POST", R + "/webhooks")
    def post_hook(self, request, project, slug):
        repository, body = self._find(project, slug), self._hook(request)
        number = next(self.numbers)
        repository.hooks[number] = {"active": True, **body}
        return Answer(201, self.hook_document(number, repository.hooks[number]))

    @route("PUT", R + "/webhooks/{hook}")
    def put_hook(self, request, project, slug, hook):
        kept = self._find(project, slug).hooks.get(int(hook))
        if kept is None:
            raise Answer(404, self.error("no such webhook"))
        kept.update(self._hook(request))
        return self.hook_document(int(hook), kept)

    @route("DELETE", R + "/webhooks/{hook}")
    def delete_hook(self, request, project, slug, hook):
        if not self._find(project, slug).hooks.pop(int(hook), None):
            raise Answer(404, self.error("no such webhook"))
        return Answer(204)

    # ---- webhooks ----

    def wants(self, hook, event):
        return hook["active"] and event in hook["events"]

    def signed(self, event, document, secret, delivery=None):
        body = packed(document)
        return {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Atlassian HttpClient / Bitbucket-9.4.0", "X-Event-Key": event, "X-Request-Id": delivery or str(uuid.uuid4()),
                **({"X-Hub-Signature": f"sha256={hex_hmac(secret, body)}"} if secret else {})}, body

    def push(self, repository, ref, before, after, forced=False):
        """("repo:refs_changed", payload). `before` or `after` is ZERO for a ref that is made or deleted."""
        kind, name = re.fullmatch("refs/(heads|tags)/(.+)", ref).groups()
        change = {"ref": {"id": ref, "displayId": name, "type": "BRANCH" if kind == "heads" else "TAG"}, "refId": ref, "fromHash": before, "toHash": after,
                  "type": "ADD" if before == ZERO else "DELETE" if after == ZERO else "UPDATE"}
        document = {"eventKey": "repo:refs_changed", "date": "2026-11-23T10:00:00+0000", "actor": self.user("ann"), "repository": self.document(repository), "changes": [change]}
        if after != ZERO:
            document["toCommit"] = self.commit_document(repository, repository.sha(after))
        return "repo:refs_changed", document

    def pull_event(self, pull, action, **more):
        """(event, payload); action: opened, from_ref_updated (previousFromHash), modified (previousTitle, previousTarget), merged, declined, deleted."""
        return f"pr:{action}", {"eventKey": f"pr:{action}", "date": "2026-11-23T10:00:00+0000", "actor": self.user("ann"), "pullRequest": self.pull_document(pull), **more}
