# SPDX-License-Identifier: MPL-2.0
"""GitHub Enterprise Server's REST API, version 2022-11-28, its App, and its webhooks."""

import base64
import json
import re
import subprocess
import time
import uuid

from support.vcs_fakes.repository import ZERO, hex_hmac, packed
from support.vcs_fakes.server import Answer, Provider, link, page, route

R = "/api/v3/repos/{owner}/{name}"
STATES = {"error", "failure", "pending", "success"}
CONCLUSIONS = {"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"}
HOOK_EVENTS = {"push", "create", "delete", "pull_request", "repository", "installation", "installation_repositories"}


def is_text(most):
    return lambda value: isinstance(value, str) and 0 < len(value) <= most


def is_url(value):
    return isinstance(value, str) and re.match(r"https?://[^\s]+$", value) is not None


def bytes_of(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class GitHub(Provider):
    """`installations` are those of the App: {id: {"account", "identifiers", "removed"}}; app_key() makes the App's key."""

    base = "/api/v3"
    dialect = "github_enterprise"

    def __init__(self, folder):
        super().__init__(folder)
        self.app_id = None
        self.installations = {}
        self.expiring = {}  # installation token: its end, by time.time()
        self.token_seconds = 3600
        self.deliveries = []  # of failed ones, of the App or of hooks
        self.check_runs = []
        self.remaining = 5000

    def pull_ref(self, number):
        return f"refs/pull/{number}/head"

    # ---- the App ----

    def app(self, number="4711"):
        """Makes the App. Returns the file with its private key."""
        self.app_id = number
        key = self.folder / "app.pem"
        for words in (["genrsa", "-out", key, "2048"], ["rsa", "-in", key, "-pubout", "-out", self.folder / "app.pub"]):
            subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
        return key

    def installation(self, account, identifiers, kind="Organization"):
        number = next(self.numbers)
        self.installations[number] = {"account": account, "identifiers": list(identifiers), "kind": kind, "removed": False}
        return number

    def _installation_of(self, token):
        number = self.tokens.get(token, "")
        return self.installations.get(number) if isinstance(number, int) else None

    def _app_only(self, request):
        """A JSON Web Token: RS256, of this App, issued in the past, for ten minutes at most."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        parts = token.split(".")
        if kind.lower() != "bearer" or len(parts) != 3:
            self.refuse(request, 401, "A JSON web token could not be decoded")
        head, claims = (json.loads(bytes_of(part)) for part in parts[:2])
        (self.folder / "signature").write_bytes(bytes_of(parts[2]))
        proof = subprocess.run(["openssl", "dgst", "-sha256", "-verify", self.folder / "app.pub", "-signature", self.folder / "signature"],
                               input=".".join(parts[:2]).encode(), capture_output=True)
        now = time.time()
        if head.get("alg") != "RS256" or proof.returncode != 0:
            self.refuse(request, 401, "A JSON web token could not be decoded")
        if str(claims.get("iss")) != self.app_id:
            self.refuse(request, 401, "'Issuer' claim ('iss') must be an Integer")
        if not isinstance(claims.get("iat"), int) or claims["iat"] > now + 1:
            self.refuse(request, 401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
        if not isinstance(claims.get("exp"), int) or claims["exp"] > now + 600 or claims["exp"] < now:
            self.refuse(request, 401, "'Expiration time' claim ('exp') is too far in the future")

    # ---- every request ----

    def examine(self, request):
        if not request.headers.get("User-Agent"):
            self.refuse(request, 403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header")
        version = request.headers.get("X-GitHub-Api-Version")
        if version not in (None, "2022-11-28"):
            self.refuse(request, 400, f"{version} is no version of the API")
        if not any(kind in request.headers.get("Accept", "*/*") for kind in ("application/vnd.github+json", "application/json", "*/*")):
            self.refuse(request, 415, "Accept must be application/vnd.github+json")
        if re.match(r"/api/v3/app(/|$)", request.path):
            return self._app_only(request)
        return self.authenticate(request)

    def authenticate(self, request):
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() not in ("bearer", "token") or token not in self.tokens or self.expiring.get(token, time.time() + 1) < time.time():
            raise Answer(401, {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"})
        request.user = self.tokens[token]
        installation = self._installation_of(token)
        if installation and installation["removed"]:
            raise Answer(401, {"message": "Bad credentials"})

    def git_user(self, user, password):
        """git logs in as x-access-token, or any name, with a token that has not expired."""
        return password in self.tokens and bool(user) and self.expiring.get(password, time.time() + 1) >= time.time()

    def standard_headers(self, request):
        self.remaining = max(self.remaining - 1, 0)
        return {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": str(self.remaining), "X-RateLimit-Reset": str(int(time.time()) + 3600), "X-GitHub-Request-Id": str(uuid.uuid4())}

    def limited(self, seconds):
        """The primary limit."""
        return Answer(403, {"message": "API rate limit exceeded for user ID 1."},
                      {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + seconds)})

    def limited_secondary(self, seconds):
        return Answer(403, {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}, {"Retry-After": str(seconds)})

    def _find(self, request, owner, name):
        found = self.find(f"{owner}/{name}")
        installation = self.installations.get(request.user) if isinstance(request.user, int) else None
        if installation and found.identifier not in installation["identifiers"]:
            raise Answer(404, self.error("Not Found"))
        return found

    # ---- documents ----

    def user(self, name):
        number = self.users.setdefault(name, next(self.numbers))
        return {"login": name, "id": number, "type": "User", "avatar_url": f"{self.url}/avatars/{number}", "html_url": f"{self.url}/{name}"}

    def document(self, repository):
        owner, name = repository.identifier.split("/")
        return {
            "id": repository.id, "name": name, "full_name": repository.identifier, "private": True, "fork": repository.fork_of is not None, "owner": {**self.user(owner), "name": owner},
            "html_url": f"{self.url}/{repository.identifier}", "clone_url": f"{self.url}/{repository.identifier}.git", "ssh_url": f"git@127.0.0.1:{repository.identifier}.git",
            "default_branch": repository.default_branch, "archived": False,
        }

    def commit_document(self, repository, sha):
        commit = repository.commit(sha)
        url = f"{self.url}/{repository.identifier}/commit/{commit['sha']}"
        return {"sha": commit["sha"], "html_url": url, "commit": {"message": commit["message"], "author": {"name": commit["author"], "email": "ann@example.com", "date": commit["at"]}},
                "author": self.user("ann"), "parents": [{"sha": parent} for parent in commit["parents"]]}

    def file_documents(self, files):
        return [{"filename": path, "status": status, "additions": 1, "deletions": 0, "changes": 1, **({"previous_filename": old} if status == "renamed" else {})}
                for status, old, path in files]

    def pull_document(self, pull):
        closed = pull.state != "open"
        return {
            "id": pull.number + 70000, "number": pull.number, "state": "closed" if closed else "open", "draft": pull.draft, "title": pull.title, "body": pull.body or None,
            "html_url": f"{self.url}/{pull.target.identifier}/pull/{pull.number}", "user": self.user(pull.sender), "merged": pull.state == "merged",
            "head": {"ref": pull.branch, "sha": pull.head, "label": f"ann:{pull.branch}", "user": self.user("ann"), "repo": self.document(pull.source)},
            "base": {"ref": pull.base, "sha": pull.base_sha, "label": f"ann:{pull.base}", "user": self.user("ann"), "repo": self.document(pull.target)},
        }

    def comment_document(self, comment):
        return {"id": comment["id"], "body": comment["text"], "user": self.user(comment["user"]), "html_url": f"{self.url}/c/{comment['id']}"}

    def hook_document(self, number, hook):
        return {"id": number, "type": "Repository", "name": "web", "active": hook["active"], "events": hook["events"],
                "config": {"url": hook["url"], "content_type": "json", "insecure_ssl": "0", "secret": "********"}}

    # ---- reads ----

    @route("GET", "/api/v3/user")
    def get_user(self, request):
        if isinstance(request.user, int):
            raise Answer(403, {"message": "Resource not accessible by integration"})
        return self.user(request.user)

    def _list(self, request, items):
        number, size = self.numbers_of(request, size=30)
        chosen, more = page(items, number, size)
        return Answer(200, chosen, link(request, number, more, self.url))

    @route("GET", "/api/v3/user/repos")
    def get_repositories(self, request):
        return self._list(request, [self.document(each) for each in self.repositories.values() if not each.gone])

    @route("GET", R)
    def get_repository(self, request, owner, name):
        return self.document(self._find(request, owner, name))

    @route("GET", "/api/v3/repositories/{number}")
    def get_repository_of(self, request, number):
        found = next((each for each in self.repositories.values() if str(each.id) == number and not each.gone), None)
        return self.document(found) if found else Answer(404, self.error("Not Found"))

    @route("GET", R + "/branches/{branch+}")
    def get_branch(self, request, owner, name, branch):
        repository = self._find(request, owner, name)
        sha = repository.branches().get(branch)
        if not sha:
            raise Answer(404, {"message": "Branch not found"})
        return {"name": branch, "commit": self.commit_document(repository, sha), "protected": False}

    @route("GET", R + "/commits")
    def get_commits(self, request, owner, name):
        repository = self._find(request, owner, name)
        found = repository.newest(request.query.get("sha", repository.default_branch), int(request.query.get("per_page", 30)))
        if found is None:
            raise Answer(404, {"message": "Not Found"})
        return [self.commit_document(repository, sha) for sha in found]

    @route("GET", R + "/commits/{sha}")
    def get_commit(self, request, owner, name, sha):
        repository = self._find(request, owner, name)
        if not repository.sha(sha):
            raise Answer(422, {"message": f"No commit found for SHA: {sha}"})
        return {**self.commit_document(repository, sha), "files": self.file_documents(repository.files_of(sha))}

    @route("GET", R + "/compare/{span+}")
    def get_compare(self, request, owner, name, span):
        repository = self._find(request, owner, name)
        before, _, after = span.partition("...")
        if not (repository.sha(before) and repository.sha(after)):
            raise Answer(404, {"message": "Not Found"})
        base = repository.merge_base(before, after)
        commits = repository.commits(base, after)
        return {"status": "ahead" if base == repository.sha(before) else "diverged", "total_commits": len(commits), "merge_base_commit": {"sha": base},
                "commits": [self.commit_document(repository, each["sha"]) for each in commits[:250]], "files": self.file_documents(repository.files(base, after))[:300]}

    def _pull(self, repository, number):
        if int(number) not in repository.pulls:
            raise Answer(404, {"message": "Not Found"})
        return repository.pulls[int(number)]

    @route("GET", R + "/pulls")
    def get_pulls(self, request, owner, name):
        wanted = request.query.get("state", "open")
        if wanted not in ("open", "closed", "all"):
            self.refuse(request, 422, f"state can't be {wanted}")
        repository = self._find(request, owner, name)
        return self._list(request, [self.pull_document(each) for each in reversed(repository.pulls.values()) if wanted == "all" or (each.state == "open") == (wanted == "open")])

    @route("GET", R + "/pulls/{number}")
    def get_pull(self, request, owner, name, number):
        return self.pull_document(self._pull(self._find(request, owner, name), number))

    @route("GET", R + "/pulls/{number}/files")
    def get_pull_files(self, request, owner, name, number):
        repository = self._find(request, owner, name)
        pull = self._pull(repository, number)
        return self._list(request, self.file_documents(repository.files(repository.merge_base(pull.base_sha, pull.head), pull.head))[:3000])

    # ---- statuses and check runs ----

    @route("POST", R + "/statuses/{sha}")
    def post_status(self, request, owner, name, sha):
        repository = self._find(request, owner, name)
        if not re.fullmatch("[0-9a-f]{40}", sha):
            self.refuse(request, 422, "The SHA must be 40 characters")
        if not repository.sha(sha):
            raise Answer(422, {"message": f"No commit found for SHA: {sha}"})
        body = self.fields(request, request.body, state=STATES, target_url=(is_url,), description=(lambda text: isinstance(text, str) and len(text) <= 140,), context=(is_text(255),))
        context = body.get("context", "default")
        if sum(each["sha"] == sha and each["context"] == context for each in repository.statuses) >= 1000:
            raise Answer(422, {"message": "Validation Failed", "errors": [{"message": "This SHA and context has reached the maximum number of statuses."}]})
        repository.note_status(sha=sha, context=context, state=body["state"], description=body.get("description"), url=body.get("target_url"))
        return Answer(201, {"id": next(self.numbers), **body, "creator": self.user("robot")})

    def _check_run(self, request, body, known):
        run = self.fields(request, body, **known, status=({"queued", "in_progress", "completed"},), conclusion=(CONCLUSIONS,), details_url=(is_url,), external_id=(str,),
                          started_at=(str,), completed_at=(str,), output=(dict,))
        if "output" in run:
            self.fields(request, run["output"], title=str, summary=lambda text: isinstance(text, str) and len(text) <= 65535, text=(str,))
        if run.get("status") == "completed" and "conclusion" not in run:
            self.refuse(request, 422, "conclusion is missing")
        return run

    @route("POST", R + "/check-runs")
    def post_check_run(self, request, owner, name):
        repository = self._find(request, owner, name)
        if not isinstance(request.user, int):
            self.refuse(request, 403, "You must authenticate via a GitHub App.")
        run = self._check_run(request, request.body, {"name": is_text(255), "head_sha": lambda sha: re.fullmatch("[0-9a-f]{40}", sha) is not None})
        if not repository.sha(run["head_sha"]):
            raise Answer(422, {"message": f"No commit found for SHA: {run['head_sha']}"})
        made = {"id": next(self.numbers), "status": "queued", "repository": repository.identifier, **run}
        self.check_runs.append(made)
        repository.note_status(sha=run["head_sha"], context=run["name"], state=run.get("conclusion", made["status"]), description=run.get("output", {}).get("title"), url=run.get("details_url"))
        return Answer(201, made)

    @route("PATCH", R + "/check-runs/{number}")
    def patch_check_run(self, request, owner, name, number):
        repository = self._find(request, owner, name)
        if not isinstance(request.user, int):
            self.refuse(request, 403, "You must authenticate via a GitHub App.")
        run = next((each for each in self.check_runs if each["id"] == int(number)), None)
        if not run:
            raise Answer(404, {"message": "Not Found"})
        run.update(self._check_run(request, request.body, {"name": (is_text(255),)}))
        repository.note_status(sha=run["head_sha"], context=run["name"], state=run.get("conclusion", run["status"]), description=run.get("output", {}).get("title"), url=run.get("details_url"))
        return run

    @route("GET", R + "/commits/{sha}/check-runs")
    def get_check_runs(self, request, owner, name, sha):
        self._find(request, owner, name)
        found = [each for each in self.check_runs if each["head_sha"] == sha and request.query.get("check_name", each["name"]) == each["name"]]
        return {"total_count": len(found), "check_runs": found}

    # ---- comments ----

    @route("GET", R + "/issues/{number}/comments")
    def get_comments(self, request, owner, name, number):
        return self._list(request, [self.comment_document(each) for each in self._pull(self._find(request, owner, name), number).comments])

    @route("POST", R + "/issues/{number}/comments")
    def post_comment(self, request, owner, name, number):
        pull = self._pull(self._find(request, owner, name), number)
        body = self.fields(request, request.body, body=is_text(65536))
        pull.comments.append({"id": next(self.numbers), "text": body["body"], "user": str(request.user), "edits": 0})
        return Answer(201, self.comment_document(pull.comments[-1]))

    @route("PATCH", R + "/issues/comments/{comment}")
    def patch_comment(self, request, owner, name, comment):
        repository = self._find(request, owner, name)
        found = next((each for pull in repository.pulls.values() for each in pull.comments if str(each["id"]) == comment), None)
        if not found:
            raise Answer(404, {"message": "Not Found"})
        found["text"] = self.fields(request, request.body, body=is_text(65536))["body"]
        found["edits"] += 1
        return self.comment_document(found)

    # ---- hooks ----

    def _hook(self, request, first):
        kind = (lambda value: value) if first else (lambda value: (value,))
        body = self.fields(request, request.body, **({"name": ({"web"},)} if first else {}), active=(bool,), config=kind(dict),
                           events=(lambda events: isinstance(events, list) and set(events) <= HOOK_EVENTS,), **({} if first else {"add_events": (list,), "remove_events": (list,)}))
        if "config" in body:
            self.fields(request, body["config"], url=is_url, content_type=({"json", "form"},), secret=(str,), insecure_ssl=({"0", "1", 0, 1},))
            if body["config"].get("content_type") != "json":
                self.refuse(request, 422, "payloads in forms are not for us")
        return body

    @route("GET", R + "/hooks")
    def get_hooks(self, request, owner, name):
        return self._list(request, [self.hook_document(number, hook) for number, hook in self._find(request, owner, name).hooks.items()])

    @route("POST", R + "/hooks")
    def post_hook(self, request, owner, name):
        repository = self._find(request, owner, name)
        body = self._hook(request, True)
        if any(hook["url"] == body["config"]["url"] for hook in repository.hooks.values()):
            raise Answer(422, {"message": "Validation Failed", "errors": [{"resource": "Hook", "code": "custom", "message": "Hook already exists on this repository"}]})
        number = next(self.numbers)
        repository.hooks[number] = {"url": body["config"]["url"], "secret": body["config"].get("secret", ""), "events": body.get("events", ["push"]), "active": body.get("active", True)}
        return Answer(201, self.hook_document(number, repository.hooks[number]))

    @route("PATCH", R + "/hooks/{hook}")
    def patch_hook(self, request, owner, name, hook):
        repository = self._find(request, owner, name)
        if int(hook) not in repository.hooks:
            raise Answer(404, {"message": "Not Found"})
        body = self._hook(request, False)
        kept = repository.hooks[int(hook)]
        kept.update({name: body[name] for name in ("events", "active") if name in body}, **{name: body["config"][name] for name in ("url", "secret") if name in body.get("config", {})})
        return self.hook_document(int(hook), kept)

    @route("DELETE", R + "/hooks/{hook}")
    def delete_hook(self, request, owner, name, hook):
        if not self._find(request, owner, name).hooks.pop(int(hook), None):
            raise Answer(404, {"message": "Not Found"})
        return Answer(204)

    def _deliveries(self, request):
        return self._list(request, [each["document"] for each in self.deliveries])

    @route("GET", R + "/hooks/{hook}/deliveries")
    def get_hook_deliveries(self, request, owner, name, hook):
        return self._deliveries(request)

    @route("GET", "/api/v3/app/hook/deliveries")
    def get_app_deliveries(self, request):
        return self._deliveries(request)

    @route("POST", R + "/hooks/{hook}/deliveries/{delivery}/attempts")
    def post_attempt(self, request, owner, name, hook, delivery):
        for each in self.deliveries:
            if str(each["document"]["id"]) == delivery:
                each["again"] = True
                return Answer(202, {})
        raise Answer(404, {"message": "Not Found"})

    # ---- the App's installations ----

    def installation_document(self, number):
        installation = self.installations[number]
        return {"id": number, "app_id": int(self.app_id), "account": {**self.user(installation["account"]), "type": installation["kind"]}, "target_type": installation["kind"],
                "repository_selection": "selected", "html_url": f"{self.url}/organizations/{installation['account']}/settings/installations/{number}", "suspended_at": None,
                "access_tokens_url": f"{self.api_url}/app/installations/{number}/access_tokens"}

    def _live(self, number):
        if int(number) not in self.installations or self.installations[int(number)]["removed"]:
            raise Answer(404, {"message": "Integration not found"})
        return int(number)

    @route("GET", "/api/v3/app")
    def get_app(self, request):
        return {"id": int(self.app_id), "slug": "runyard", "name": "Runyard", "html_url": f"{self.url}/github-apps/runyard", "permissions": {}, "events": []}

    @route("GET", "/api/v3/app/installations")
    def get_installations(self, request):
        return self._list(request, [self.installation_document(number) for number, each in self.installations.items() if not each["removed"]])

    @route("GET", "/api/v3/app/installations/{number}")
    def get_installation(self, request, number):
        return self.installation_document(self._live(number))

    @route("POST", "/api/v3/app/installations/{number}/access_tokens")
    def post_token(self, request, number):
        number = self._live(number)
        if request.raw:
            self.fields(request, request.body, repositories=(list,), repository_ids=(list,), permissions=(dict,))
        token = f"ghs_{uuid.uuid4().hex}"
        self.tokens[token] = number
        self.expiring[token] = time.time() + self.token_seconds
        return Answer(201, {"token": token, "expires_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.expiring[token])), "repository_selection": "selected",
                            "permissions": {"checks": "write", "contents": "read", "statuses": "write", "pull_requests": "write"}})

    @route("GET", "/api/v3/installation/repositories")
    def get_installation_repositories(self, request):
        if not isinstance(request.user, int):
            raise Answer(403, {"message": "You must authenticate with an installation access token in order to list repositories for an installation."})
        number, size = self.numbers_of(request, size=30)
        items = [self.document(self.find(identifier)) for identifier in self.installations[request.user]["identifiers"]]
        chosen, more = page(items, number, size)
        return Answer(200, {"total_count": len(items), "repository_selection": "selected", "repositories": chosen}, link(request, number, more, self.url))

    # ---- webhooks ----

    def wants(self, hook, event):
        return hook["active"] and (event in hook["events"] or event == "ping")

    def signed(self, event, document, secret, delivery=None):
        """The headers and the body of a delivery."""
        body = packed(document)
        headers = {"Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/044aadd", "X-GitHub-Event": event, "X-GitHub-Delivery": delivery or str(uuid.uuid4()),
                   "X-GitHub-Hook-ID": "1", "X-GitHub-Hook-Installation-Target-Type": "repository", "X-Hub-Signature-256": f"sha256={hex_hmac(secret, body)}"}
        return headers, body

    def _commit(self, repository, sha):
        commit = repository.commit(sha)
        files = repository.files_of(sha)
        person = {"name": commit["author"], "email": "ann@example.com", "username": "ann"}
        return {"id": sha, "message": commit["message"], "timestamp": commit["at"], "url": f"{self.url}/{repository.identifier}/commit/{sha}", "author": person, "committer": person,
                "distinct": True, "added": [path for status, _, path in files if status == "added"] + [path for status, _, path in files if status == "renamed"],
                "removed": [old for status, old, _ in files if status in ("removed", "renamed")], "modified": [path for status, _, path in files if status == "modified"]}

    def _sent(self, repository, **members):
        return {**members, "repository": self.document(repository), "sender": self.user("ann")}

    def push(self, repository, ref, before, after, forced=False):
        """("push", payload). `before` or `after` is ZERO for a ref that is made or deleted."""
        commits = [] if after == ZERO or ref.startswith("refs/tags/") else [self._commit(repository, each["sha"]) for each in repository.commits(before, after)]
        head = None if after == ZERO else self._commit(repository, repository.sha(after))
        return "push", self._sent(repository, ref=ref, before=before, after=after, created=before == ZERO, deleted=after == ZERO, forced=forced, base_ref=None,
                                  compare=f"{self.url}/{repository.identifier}/compare/{before[:12]}...{after[:12]}", commits=commits[:2048], head_commit=head,
                                  pusher={"name": "ann", "email": "ann@example.com"})

    def pull_event(self, pull, action, **more):
        """("pull_request", payload); action: opened, reopened, synchronize, edited, closed, ready_for_review, converted_to_draft, labeled."""
        return "pull_request", self._sent(pull.target, action=action, number=pull.number, pull_request=self.pull_document(pull), **more)

    def installation_event(self, number, action):
        """("installation", payload); action: created, deleted, suspend, unsuspend."""
        return "installation", {"action": action, "installation": self.installation_document(number), "sender": self.user("ann"),
                                "repositories": [{"id": self.find(each).id, "full_name": each} for each in self.installations[number]["identifiers"]]}

    def ping(self, repository):
        return "ping", self._sent(repository, zen="Keep it logically awesome.", hook_id=1)
