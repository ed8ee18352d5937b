# SPDX-License-Identifier: MPL-2.0
"""GitLab's REST API, version 4, and its webhooks."""

import base64
import hashlib
import hmac
import re
import time
import uuid

from support.vcs_fakes.github import is_text, is_url
from support.vcs_fakes.repository import ZERO, packed
from support.vcs_fakes.server import Answer, Provider, link, page, route

P = "/api/v4/projects/{project}"
STATES = {"pending", "running", "success", "failed", "canceled", "skipped"}
EVENT_OF = {"pending": "enqueue", "running": "run", "success": "success", "failed": "drop", "canceled": "cancel", "skipped": "skip"}
HOOK_FLAGS = ("push_events", "tag_push_events", "merge_requests_events", "issues_events", "note_events", "enable_ssl_verification", "repository_update_events", "job_events",
              "pipeline_events", "wiki_page_events", "deployment_events", "releases_events")


class GitLab(Provider):
    base = "/api/v4"
    dialect = "gitlab_community_edition"

    def pull_ref(self, number):
        return f"refs/merge-requests/{number}/head"

    # ---- every request ----

    def authenticate(self, request):
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        token = request.headers.get("PRIVATE-TOKEN") or (token if kind.lower() == "bearer" else "")
        if token not in self.tokens:
            raise Answer(401, {"message": "401 Unauthorized"})
        request.user = self.tokens[token]

    def git_user(self, user, password):
        return user == "oauth2" and password in self.tokens

    def limited(self, seconds):
        return Answer(429, text="Retry later\n", headers={"Retry-After": str(seconds), "RateLimit-Limit": "600", "RateLimit-Remaining": "0", "RateLimit-Reset": str(int(time.time()) + seconds)})

    def error(self, text):
        return {"message": f"400 Bad request - {text}", "error": text}

    def _find(self, project):
        found = next((each for each in self.repositories.values() if str(each.id) == project and not each.gone), None) or self.repositories.get(project.lower())
        if not found or found.gone:
            raise Answer(404, {"message": "404 Project Not Found"})
        return found

    def _page(self, request, items, size=20):
        number, size = self.numbers_of(request, size=size)
        chosen, more = page(items, number, size)
        return Answer(200, chosen, {"X-Page": str(number), "X-Next-Page": str(number + 1) if more else "", **link(request, number, more, self.url)})

    # ---- documents ----

    def user(self, name):
        number = self.users.setdefault(name, next(self.numbers))
        return {"id": number, "username": name, "name": name.title(), "state": "active", "avatar_url": f"{self.url}/avatars/{number}", "web_url": f"{self.url}/{name}"}

    def document(self, repository):
        space, _, name = repository.identifier.rpartition("/")
        return {"id": repository.id, "name": name, "path": name, "path_with_namespace": repository.identifier, "name_with_namespace": repository.identifier.replace("/", " / "),
                "namespace": {"full_path": space}, "default_branch": repository.default_branch, "visibility": "private", "web_url": f"{self.url}/{repository.identifier}",
                "http_url_to_repo": f"{self.url}/{repository.identifier}.git", "ssh_url_to_repo": f"git@127.0.0.1:{repository.identifier}.git", "archived": False}

    def commit_document(self, repository, sha):
        commit = repository.commit(sha)
        return {"id": commit["sha"], "short_id": commit["sha"][:8], "title": commit["message"].split("\n")[0], "message": commit["message"], "author_name": commit["author"],
                "author_email": "ann@example.com", "authored_date": commit["at"], "created_at": commit["at"], "parent_ids": commit["parents"],
                "web_url": f"{self.url}/{repository.identifier}/-/commit/{commit['sha']}"}

    def diffs(self, files):
        return [{"old_path": old, "new_path": path, "new_file": status == "added", "deleted_file": status == "removed", "renamed_file": status == "renamed", "a_mode": "100644",
                 "b_mode": "100644", "diff": "", "too_large": False, "collapsed": False} for status, old, path in files]

    def pull_document(self, pull):
        return {"id": pull.number + 50000, "iid": pull.number, "project_id": pull.target.id, "title": pull.title, "description": pull.body, "draft": pull.draft, "work_in_progress": pull.draft,
                "state": {"open": "opened"}.get(pull.state, pull.state), "sha": pull.head, "source_branch": pull.branch, "target_branch": pull.base, "source_project_id": pull.source.id,
                "target_project_id": pull.target.id, "author": self.user(pull.sender), "web_url": f"{self.url}/{pull.target.identifier}/-/merge_requests/{pull.number}"}

    def note(self, comment):
        return {"id": comment["id"], "body": comment["text"], "author": self.user(comment["user"]), "system": False, "noteable_type": "MergeRequest"}

    def hook_document(self, number, hook):
        return {"id": number, "url": hook["url"], "token": None, **{name: hook.get(name, False) for name in HOOK_FLAGS}}

    # ---- reads ----

    @route("GET", "/api/v4/user")
    def get_user(self, request):
        return self.user(request.user)

    @route("GET", "/api/v4/projects")
    def get_projects(self, request):
        wanted = request.query.get("search", "").lower()
        return self._page(request, [self.document(each) for each in self.repositories.values() if not each.gone and wanted in each.identifier.lower()])

    @route("GET", P)
    def get_project(self, request, project):
        return self.document(self._find(project))

    @route("GET", P + "/repository/branches/{branch}")
    def get_branch(self, request, project, branch):
        repository = self._find(project)
        sha = repository.branches().get(branch)
        if not sha:
            raise Answer(404, {"message": "404 Branch Not Found"})
        return {"name": branch, "default": branch == repository.default_branch, "protected": False, "commit": self.commit_document(repository, sha)}

    @route("GET", P + "/repository/commits")
    def get_commits(self, request, project):
        repository = self._find(project)
        found = repository.newest(request.query.get("ref_name", repository.default_branch), int(request.query.get("per_page", 20)))
        if found is None:
            raise Answer(404, {"message": "404 Commit Not Found"})
        return [self.commit_document(repository, sha) for sha in found]

    @route("GET", P + "/repository/commits/{sha}")
    def get_commit(self, request, project, sha):
        repository = self._find(project)
        if not repository.sha(sha):
            raise Answer(404, {"message": "404 Commit Not Found"})
        return self.commit_document(repository, sha)

    @route("GET", P + "/repository/compare")
    def get_compare(self, request, project):
        repository = self._find(project)
        before, after = request.query.get("from"), request.query.get("to")
        if not before or not after:
            self.refuse(request, 400, "from and to are required")
        if not (repository.sha(before) and repository.sha(after)):
            raise Answer(404, {"message": "404 Ref Not Found"})
        base = before if request.query.get("straight") == "true" else repository.merge_base(before, after)
        return {"commit": self.commit_document(repository, after), "commits": [self.commit_document(repository, each["sha"]) for each in repository.commits(base, after)],
                "diffs": self.diffs(repository.files(base, after)), "compare_timeout": False, "compare_same_ref": before == after}

    def _pull(self, project, number):
        repository = self._find(project)
        if int(number) not in repository.pulls:
            raise Answer(404, {"message": "404 Not found"})
        return repository.pulls[int(number)]

    @route("GET", P + "/merge_requests")
    def get_pulls(self, request, project):
        wanted = request.query.get("state", "all")
        if wanted not in ("opened", "closed", "locked", "merged", "all"):
            self.refuse(request, 400, "state does not have a valid value")
        items = [self.pull_document(each) for each in reversed(self._find(project).pulls.values())]
        return self._page(request, [each for each in items if wanted in ("all", each["state"])])

    @route("GET", P + "/merge_requests/{number}")
    def get_pull(self, request, project, number):
        return self.pull_document(self._pull(project, number))

    @route("GET", P + "/merge_requests/{number}/diffs")
    def get_pull_files(self, request, project, number):
        pull = self._pull(project, number)
        return self._page(request, self.diffs(pull.target.files(pull.target.merge_base(pull.base_sha, pull.head), pull.head)))

    # ---- statuses ----

    @route("POST", P + "/statuses/{sha}")
    def post_status(self, request, project, sha):
        repository = self._find(project)
        short = (lambda text: isinstance(text, str) and len(text) <= 255,)
        body = self.fields(request, request.body, state=STATES, name=short, context=short, description=short, target_url=(lambda url: is_url(url) and len(url) <= 255,), ref=(str,),
                           pipeline_id=(int,), coverage=(float,))
        if not re.fullmatch("[0-9a-f]{40}", sha) or not repository.sha(sha):
            raise Answer(404, {"message": "404 Commit Not Found"})
        context, state = body.get("name", body.get("context", "default")), body["state"]
        latest = next((each for each in reversed(repository.statuses) if each["sha"] == sha and each["context"] == context), None)
        # One that has not ended is changed; one that has ended stays, and a new one is made.
        if latest and latest["state"] in ("pending", "running") and (state == latest["state"] or (latest["state"], state) == ("running", "pending")):
            event = EVENT_OF[state]
            raise Answer(400, {"message": f"Cannot transition status via :{event} from :{latest['state']} (Reason(s): Status cannot transition via \"{event}\")"})
        repository.note_status(sha=sha, context=context, state=state, description=body.get("description"), url=body.get("target_url"))
        return Answer(201, {"id": next(self.numbers), "sha": sha, "status": state, "name": context, "target_url": body.get("target_url"), "description": body.get("description")})

    # ---- comments ----

    @route("GET", P + "/merge_requests/{number}/notes")
    def get_notes(self, request, project, number):
        if request.query.get("sort", "desc") not in ("asc", "desc") or request.query.get("order_by", "created_at") not in ("created_at", "updated_at"):
            self.refuse(request, 400, "sort does not have a valid value")
        items = [self.note(each) for each in self._pull(project, number).comments]
        return self._page(request, items if request.query.get("sort") == "asc" else items[::-1])

    @route("POST", P + "/merge_requests/{number}/notes")
    def post_note(self, request, project, number):
        pull = self._pull(project, number)
        body = self.fields(request, request.body, body=is_text(1000000), internal=(bool,), created_at=(str,))
        pull.comments.append({"id": next(self.numbers), "text": body["body"], "user": request.user, "edits": 0})
        return Answer(201, self.note(pull.comments[-1]))

    @route("PUT", P + "/merge_requests/{number}/notes/{note}")
    def put_note(self, request, project, number, note):
        found = next((each for each in self._pull(project, number).comments if str(each["id"]) == note), None)
        if not found:
            raise Answer(404, {"message": "404 Not found"})
        found["text"] = self.fields(request, request.body, body=is_text(1000000))["body"]
        found["edits"] += 1
        return self.note(found)

    # ---- hooks ----

    def _hook(self, request):
        return self.fields(request, request.body, url=is_url, token=(str,), name=(str,), description=(str,), push_events_branch_filter=(str,), branch_filter_strategy=(str,),
                           **{name: (bool,) for name in HOOK_FLAGS})

    @route("GET", P + "/hooks")
    def get_hooks(self, request, project):
        return self._page(request, [self.hook_document(number, hook) for number, hook in self._find(project).hooks.items()])

    @route("POST", P + "/hooks")
    def post_hook(self, request, project):
        body = self._hook(request)
        number = next(self.numbers)
        self._find(project).hooks[number] = {"push_events": True, **body, "secret": body.get("token", "")}
        return Answer(201, self.hook_document(number, self._find(project).hooks[number]))

    @route("PUT", P + "/hooks/{hook}")
    def put_hook(self, request, project, hook):
        kept = self._find(project).hooks.get(int(hook))
        if kept is None:
            raise Answer(404, {"message": "404 Not found"})
        body = self._hook(request)
        kept.update(body, secret=body.get("token", kept["secret"]))
        return self.hook_document(int(hook), kept)

    @route("DELETE", P + "/hooks/{hook}")
    def delete_hook(self, request, project, hook):
        if not self._find(project).hooks.pop(int(hook), None):
            raise Answer(404, {"message": "404 Not found"})
        return Answer(204)

    # ---- webhooks ----

    def wants(self, hook, event):
        flag = {"Push Hook": "push_events", "Tag Push Hook": "tag_push_events", "Merge Request Hook": "merge_requests_events"}[event]
        return hook.get(flag, False)

    def signed(self, event, document, secret, delivery=None, at=None, form="token"):
        """form: "token" has the secret in a header; "signature" signs id, time (`at`, seconds) and body with it, after "whsec_" in base64."""
        body = packed(document)
        delivery = delivery or str(uuid.uuid4())
        headers = {"Content-Type": "application/json", "User-Agent": "GitLab/18.5.0", "X-Gitlab-Event": event, "X-Gitlab-Instance": self.url, "X-Gitlab-Webhook-UUID": str(uuid.uuid4()),
                   "X-Gitlab-Event-UUID": str(uuid.uuid4()), "Idempotency-Key": delivery}
        if form == "token":
            return {**headers, "X-Gitlab-Token": secret}, body
        at = str(int(time.time() if at is None else at))
        key = base64.b64decode(secret.removeprefix("whsec_"))
        proof = base64.b64encode(hmac.new(key, f"{delivery}.{at}.".encode() + body, hashlib.sha256).digest()).decode()
        return {**headers, "webhook-id": delivery, "webhook-timestamp": at, "webhook-signature": f"v1,{proof}"}, body

    def _project(self, repository):
        document = self.document(repository)
        return {"id": document["id"], "name": document["name"], "description": "", "web_url": document["web_url"], "avatar_url": None, "git_ssh_url": document["ssh_url_to_repo"],
                "git_http_url": document["http_url_to_repo"], "namespace": document["namespace"]["full_path"], "visibility_level": 0, "path_with_namespace": repository.identifier,
                "default_branch": repository.default_branch, "homepage": document["web_url"], "url": document["ssh_url_to_repo"], "ssh_url": document["ssh_url_to_repo"],
                "http_url": document["http_url_to_repo"]}

    def _commit(self, repository, sha):
        commit = repository.commit(sha)
        files = repository.files_of(sha)
        return {"id": sha, "message": commit["message"], "title": commit["message"].split("\n")[0], "timestamp": commit["at"], "url": f"{self.url}/{repository.identifier}/-/commit/{sha}",
                "author": {"name": commit["author"], "email": "ann@example.com"}, "added": [path for status, _, path in files if status in ("added", "renamed")],
                "modified": [path for status, _, path in files if status == "modified"], "removed": [old for status, old, _ in files if status in ("removed", "renamed")]}

    def push(self, repository, ref, before, after, forced=False):
        """(event, payload). `before` or `after` is ZERO for a ref that is made or deleted. A list has 20 commits at most, the newest."""
        tag = ref.startswith("refs/tags/")
        commits = [] if after == ZERO or tag else repository.commits(None if before == ZERO or forced else before, after)
        kind = "tag_push" if tag else "push"
        return "Tag Push Hook" if tag else "Push Hook", {
            "object_kind": kind, "event_name": kind, "before": before, "after": after, "ref": ref, "ref_protected": False, "checkout_sha": None if after == ZERO else repository.sha(after),
            "message": None, "user_id": 1, "user_name": "Ann Author", "user_username": "ann", "user_email": "", "user_avatar": f"{self.url}/avatars/1", "project_id": repository.id,
            "project": self._project(repository), "commits": [self._commit(repository, each["sha"]) for each in commits[-20:]], "total_commits_count": len(commits),
            "push_options": {}, "repository": {"name": repository.identifier, "url": f"git@127.0.0.1:{repository.identifier}.git", "homepage": f"{self.url}/{repository.identifier}"}}

    def pull_event(self, pull, action, oldrev=None, changes=None):
        """(event, payload); action: open, reopen, update, close, merge, approved. A new head is an update with `oldrev`."""
        attributes = {**self.pull_document(pull), "action": action, "url": f"{self.url}/{pull.target.identifier}/-/merge_requests/{pull.number}", "source": self._project(pull.source),
                      "target": self._project(pull.target), "last_commit": {name: value for name, value in self._commit(pull.source, pull.head).items() if name not in ("added", "modified", "removed")},
                      **({"oldrev": oldrev} if oldrev else {})}
        return "Merge Request Hook", {"object_kind": "merge_request", "event_type": "merge_request", "user": self.user("ann"), "project": self._project(pull.target),
                                      "repository": {"name": pull.target.identifier}, "object_attributes": attributes, "labels": [], "changes": changes or {}}
