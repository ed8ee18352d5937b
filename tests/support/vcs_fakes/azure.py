# SPDX-License-Identifier: MPL-2.0
"""The REST API of Azure DevOps (one organization per fake: the first part of an identifier) and its service hooks."""

import base64
import re
import uuid

from support.vcs_fakes.github import is_text, is_url
from support.vcs_fakes.repository import ZERO, basic, packed
from support.vcs_fakes.server import Answer, Provider, route

O = "/{organization}"
G = "/{organization}/{project}/_apis/git/repositories/{name}"
STATES = {"notSet", "pending", "succeeded", "failed", "error", "notApplicable"}
VERSIONS = r"[5-7]\.[0-2](-preview(\.\d)?)?"
EVENTS = {"git.push", "git.pullrequest.created", "git.pullrequest.updated", "git.pullrequest.merged", "git.repo.renamed", "git.repo.deleted"}


class Azure(Provider):
    """Identifiers are ORGANIZATION/PROJECT/_git/NAME."""

    dialect = "ado_services"

    def pull_ref(self, number):
        return f"refs/pull/{number}/merge"

    # ---- every request ----

    def examine(self, request):
        super().examine(request)
        version = request.query.get("api-version") or next(iter(re.findall(r"api-version=([^;, ]+)", request.headers.get("Accept", ""))), "")
        if not re.fullmatch(VERSIONS, version):
            self.refuse(request, 400, "No api-version was supplied for the request. The version must be supplied either as part of the Accept header or as a query parameter.")
        if "/statuses" in request.path and request.method == "POST" and version.startswith("5") and "preview" not in version:
            self.refuse(request, 400, "statuses are a preview before 6.0")

    def authenticate(self, request):
        """A personal access token is a password; anything else than a token gets the page for signing in."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "basic":
            token = base64.b64decode(token).decode().partition(":")[2]
        elif kind.lower() != "bearer":
            raise Answer(203, text="<html>Azure DevOps Services | Sign In</html>", headers={"Content-Type": "text/html"})
        if token not in self.tokens:
            raise Answer(401, text="", headers={"WWW-Authenticate": 'Basic realm="https://dev.azure.com/"'})
        request.user = self.tokens[token]

    def git_user(self, user, password):
        return password in self.tokens

    def error(self, text):
        return {"$id": "1", "innerException": None, "message": text, "typeKey": "VssServiceException", "errorCode": 0, "eventId": 3000}

    def limited(self, seconds):
        return Answer(429, self.error("Request was blocked due to exceeding usage of resource"), {"Retry-After": str(seconds), "X-RateLimit-Remaining": "0", "X-RateLimit-Resource": "Core"})

    def _find(self, organization, project, name):
        for each in self.repositories.values():
            if not each.gone and name == each.uuid:
                return each
        return self.find(f"{organization}/{project}/_git/{name}")

    def identifier_of(self, path):
        return path

    def _list(self, items):
        return {"value": items, "count": len(items)}

    def _cut(self, request, items):
        try:
            top, skip = int(request.query.get("$top", 100)), int(request.query.get("$skip", 0))
        except ValueError:
            self.refuse(request, 400, "$top and $skip are numbers")
        return items[skip:skip + top]

    # ---- documents ----

    def user(self, name):
        identity = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
        return {"id": identity, "displayName": name.title(), "uniqueName": f"{name}@example.com", "imageUrl": f"{self.url}/avatars/{name}", "url": f"{self.url}/identities/{identity}"}

    def project_document(self, identifier):
        project = identifier.split("/")[1]
        return {"id": str(uuid.uuid5(uuid.NAMESPACE_URL, project)), "name": project, "state": "wellFormed", "visibility": "private"}

    def document(self, repository):
        organization, project, _, name = repository.identifier.split("/")
        address = f"{self.url}/{repository.identifier}"
        return {"id": repository.uuid, "name": name, "project": self.project_document(repository.identifier), "defaultBranch": f"refs/heads/{repository.default_branch}", "size": 1,
                "url": f"{self.url}/{organization}/_apis/git/repositories/{repository.uuid}", "remoteUrl": address, "webUrl": address, "sshUrl": f"git@127.0.0.1:v3/{organization}/{project}/{name}",
                "isDisabled": False, "isFork": repository.fork_of is not None}

    def commit_document(self, repository, sha):
        commit = repository.commit(sha)
        person = {"name": commit["author"], "email": "ann@example.com", "date": commit["at"]}
        return {"commitId": commit["sha"], "comment": commit["message"], "author": person, "committer": person, "parents": commit["parents"],
                "remoteUrl": f"{self.url}/{repository.identifier}/commit/{commit['sha']}", "url": f"{self.url}/_apis/git/repositories/{repository.uuid}/commits/{commit['sha']}"}

    def _changes(self, files):
        types = {"added": "add", "removed": "delete", "modified": "edit", "renamed": "rename"}
        return [{"item": {"gitObjectType": "blob", "path": f"/{path}", "isFolder": False}, "changeType": types[status], **({"sourceServerItem": f"/{old}"} if status == "renamed" else {})}
                for status, old, path in files]

    def pull_document(self, pull):
        state = {"open": "active", "closed": "abandoned", "merged": "completed"}[pull.state]
        document = {"pullRequestId": pull.number, "codeReviewId": pull.number, "status": state, "title": pull.title, "description": pull.body, "isDraft": pull.draft, "createdBy": self.user(pull.sender),
                    "sourceRefName": f"refs/heads/{pull.branch}", "targetRefName": f"refs/heads/{pull.base}", "mergeStatus": "succeeded", "repository": self.document(pull.target),
                    "lastMergeSourceCommit": {"commitId": pull.head}, "lastMergeTargetCommit": {"commitId": pull.base_sha}, "lastMergeCommit": {"commitId": pull.head},
                    "url": f"{self.url}/_apis/git/repositories/{pull.target.uuid}/pullRequests/{pull.number}"}
        if pull.is_fork:
            document["forkSource"] = {"name": f"refs/heads/{pull.branch}", "repository": self.document(pull.source)}
        return document

    def thread(self, pull, comment):
        return {"id": comment["thread"], "status": "active", "isDeleted": False, "comments": [{"id": comment["id"], "parentCommentId": 0, "author": self.user(comment["user"]), "content": comment["text"],
                                                                                         "commentType": "text"}]}

    def subscription(self, repository, number):
        hook = repository.hooks[number]
        return {**{name: value for name, value in hook["document"].items() if name != "consumerInputs"}, "id": number, "status": "enabled",
                "consumerInputs": {name: "********" if name == "basicAuthPassword" else value for name, value in hook["document"]["consumerInputs"].items()}}

    # ---- reads ----

    @route("GET", O + "/_apis/connectionData")
    def get_connection(self, request, organization):
        return {"authenticatedUser": {"id": self.user(request.user)["id"], "providerDisplayName": request.user, "isActive": True}, "instanceId": str(uuid.uuid4())}

    @route("GET", O + "/_apis/projects")
    def get_projects(self, request, organization):
        found = {each.identifier.split("/")[1]: self.project_document(each.identifier) for each in self.repositories.values() if each.identifier.startswith(f"{organization}/")}
        return self._list(list(found.values()))

    @route("GET", O + "/_apis/git/repositories")
    @route("GET", O + "/{project}/_apis/git/repositories")
    def get_repositories(self, request, organization, project=None):
        return self._list([self.document(each) for each in self.repositories.values() if not each.gone and each.identifier.startswith(f"{organization}/{project}/" if project else f"{organization}/")])

    @route("GET", G)
    def get_repository(self, request, organization, project, name):
        return self.document(self._find(organization, project, name))

    @route("GET", G + "/refs")
    def get_refs(self, request, organization, project, name):
        """`filter` is a prefix, without refs/."""
        repository = self._find(organization, project, name)
        wanted = request.query.get("filter", "")
        if wanted.startswith("refs/"):
            self.refuse(request, 400, "filter begins with heads/ or tags/")
        return self._list([{"name": f"refs/heads/{branch}", "objectId": sha, "creator": self.user("ann")} for branch, sha in repository.branches().items() if f"heads/{branch}".startswith(wanted)])

    @route("GET", G + "/stats/branches")
    def get_stats(self, request, organization, project, name):
        repository = self._find(organization, project, name)
        wanted = request.query.get("name")
        sha = repository.branches().get(wanted)
        if not sha:
            raise Answer(404, self.error(f'TF401175:The version descriptor <Branch: {wanted}> could not be resolved'))
        return {"name": wanted, "commit": self.commit_document(repository, sha), "isBaseVersion": wanted == repository.default_branch}

    @route("GET", G + "/commits")
    def get_commits(self, request, organization, project, name):
        repository, criteria = self._find(organization, project, name), "searchCriteria."
        if request.query.get(criteria + "itemVersion.versionType") != "branch":
            self.refuse(request, 400, "versionType")
        found = repository.newest(request.query.get(criteria + "itemVersion.version"), int(request.query.get(criteria + "$top", 100)))
        if found is None:
            raise Answer(404, self.error("TF401175: the version descriptor could not be resolved"))
        return self._list([self.commit_document(repository, sha) for sha in found])

    @route("GET", G + "/commits/{sha}")
    def get_commit(self, request, organization, project, name, sha):
        repository = self._find(organization, project, name)
        if not re.fullmatch("[0-9a-f]{40}", sha) or not repository.sha(sha):
            raise Answer(404, self.error("TF401175: the commit does not exist"))
        return self.commit_document(repository, sha)

    @route("GET", G + "/diffs/commits")
    def get_diffs(self, request, organization, project, name):
        repository = self._find(organization, project, name)
        for side in ("base", "target"):
            if request.query.get(f"{side}VersionType", "branch") not in ("branch", "commit", "tag") or not request.query.get(f"{side}Version"):
                self.refuse(request, 400, f"{side}Version")
        before, after = request.query["baseVersion"], request.query["targetVersion"]
        if not (repository.sha(before) and repository.sha(after)):
            raise Answer(404, self.error("TF401175: the commit does not exist"))
        changes = self._changes(repository.files(repository.merge_base(before, after), after))
        chosen = self._cut(request, changes)
        return {"allChangesIncluded": len(chosen) == len(changes), "changeCounts": {"Edit": len(changes)}, "changes": chosen, "commonCommit": repository.merge_base(before, after),
                "baseCommit": before, "targetCommit": after}

    def _pull(self, organization, project, name, number):
        repository = self._find(organization, project, name)
        if int(number) not in repository.pulls:
            raise Answer(404, self.error(f"TF401180: The requested pull request was not found."))
        return repository.pulls[int(number)]

    @route("GET", G + "/pull[rR]equests")
    def get_pulls(self, request, organization, project, name):
        wanted = request.query.get("searchCriteria.status", "active")
        if wanted not in ("active", "abandoned", "completed", "all", "notSet"):
            self.refuse(request, 400, "searchCriteria.status")
        items = [self.pull_document(each) for each in reversed(self._find(organization, project, name).pulls.values())]
        return self._list(self._cut(request, [each for each in items if wanted in ("all", each["status"])]))

    @route("GET", G + "/pull[rR]equests/{number}")
    def get_pull(self, request, organization, project, name, number):
        return self.pull_document(self._pull(organization, project, name, number))

    @route("GET", G + "/pull[rR]equests/{number}/iterations")
    def get_iterations(self, request, organization, project, name, number):
        pull = self._pull(organization, project, name, number)
        return self._list([{"id": 1, "sourceRefCommit": {"commitId": pull.head}, "targetRefCommit": {"commitId": pull.base_sha}}])

    @route("GET", G + "/pull[rR]equests/{number}/iterations/{iteration}/changes")
    def get_pull_files(self, request, organization, project, name, number, iteration):
        pull = self._pull(organization, project, name, number)
        changes = self._changes(pull.target.files(pull.target.merge_base(pull.base_sha, pull.head), pull.head))
        chosen = self._cut(request, changes)
        return {"changeEntries": [{"changeTrackingId": place + 1, **each} for place, each in enumerate(chosen)], **({"nextSkip": len(chosen), "nextTop": 100} if len(chosen) < len(changes) else {})}

    # ---- statuses ----

    def _status(self, request, **more):
        body = self.fields(request, request.body, state=STATES, context=dict, description=(lambda text: isinstance(text, str) and len(text) <= 4000,), targetUrl=(is_url,), **more)
        context = self.fields(request, body["context"], name=is_text(100), genre=(is_text(100),))
        return body, f"{context['genre']}/{context['name']}" if context.get("genre") else context["name"]

    @route("POST", G + "/commits/{sha}/statuses")
    def post_status(self, request, organization, project, name, sha):
        repository = self._find(organization, project, name)
        if not repository.sha(sha):
            raise Answer(404, self.error("TF401175: the commit does not exist"))
        body, context = self._status(request)
        repository.note_status(sha=sha, context=context, state=body["state"], description=body.get("description"), url=body.get("targetUrl"), of="commit")
        return Answer(201, {"id": next(self.numbers), **body})

    @route("POST", G + "/pull[rR]equests/{number}/statuses")
    def post_pull_status(self, request, organization, project, name, number):
        pull = self._pull(organization, project, name, number)
        body, context = self._status(request, iterationId=(int,))
        pull.target.note_status(sha=pull.head, context=context, state=body["state"], description=body.get("description"), url=body.get("targetUrl"), of=f"pull request {number}")
        return {"id": next(self.numbers), **body}

    # ---- comments ----

    @route("GET", G + "/pull[rR]equests/{number}/threads")
    def get_threads(self, request, organization, project, name, number):
        pull = self._pull(organization, project, name, number)
        return self._list([self.thread(pull, each) for each in pull.comments])

    def _content(self, request, value):
        return self.fields(request, value, content=is_text(150000), parentCommentId=(int,), commentType=({"text", 1},))["content"]

    @route("POST", G + "/pull[rR]equests/{number}/threads")
    def post_thread(self, request, organization, project, name, number):
        pull = self._pull(organization, project, name, number)
        body = self.fields(request, request.body, comments=lambda comments: isinstance(comments, list) and len(comments) == 1, status=({"active", "closed", "fixed", "byDesign", "pending", "unknown", 1, 2, 4},),
                           properties=(dict,))
        pull.comments.append({"thread": next(self.numbers), "id": 1, "text": self._content(request, body["comments"][0]), "user": request.user, "edits": 0})
        return self.thread(pull, pull.comments[-1])

    @route("PATCH", G + "/pull[rR]equests/{number}/threads/{thread}/comments/{comment}")
    def patch_comment(self, request, organization, project, name, number, thread, comment):
        found = next((each for each in self._pull(organization, project, name, number).comments if (str(each["thread"]), str(each["id"])) == (thread, comment)), None)
        if not found:
            raise Answer(404, self.error("TF401301: the comment does not exist"))
        found["text"] = self._content(request, request.body)
        found["edits"] += 1
        return self.thread(None, found)["comments"][0]

    @route("PATCH", G + "/pull[rR]equests/{number}/threads/{thread}")
    def patch_thread(self, request, organization, project, name, number, thread):
        found = next((each for each in self._pull(organization, project, name, number).comments if str(each["thread"]) == thread), None)
        if not found:
            raise Answer(404, self.error("the thread does not exist"))
        self.fields(request, request.body, status=({"active", "closed", "fixed", "byDesign", "pending", "unknown"},))
        return self.thread(None, found)

    # ---- service hooks: one subscription for each event ----

    def _subscription(self, request):
        body = self.fields(request, request.body, publisherId={"tfs"}, eventType=EVENTS, resourceVersion=(str,), consumerId={"webHooks"}, consumerActionId={"httpRequest"}, publisherInputs=dict,
                           consumerInputs=dict, id=(str,), status=(str,))
        publisher = self.fields(request, body["publisherInputs"], projectId=lambda value: self._is_id(value), repository=(lambda value: value == "" or self._is_id(value),), branch=(str,), pushedBy=(str,),
                                pullrequestCreatedBy=(str,), pullrequestReviewersContains=(str,), notificationType=(str,), mergeResult=(str,))
        # It lets only HTTPS have a password; the fake itself has no certificate, so it doesn't ask for it.
        inputs = self.fields(request, body["consumerInputs"], url=is_url, basicAuthUsername=(str,), basicAuthPassword=(str,), httpHeaders=(str,), resourceDetailsToSend=({"all", "minimal", "none"},),
                             messagesToSend=({"all", "text", "html", "markdown", "none"},), detailedMessagesToSend=({"all", "text", "html", "markdown", "none"},), acceptUntrustedCerts=(str,))
        repository = next((each for each in self.repositories.values() if each.uuid == publisher.get("repository")), None)
        if not repository or self.project_document(repository.identifier)["id"] != publisher["projectId"]:
            self.refuse(request, 400, "the subscription is not for a repository of the project")
        secret = f"{inputs.get('basicAuthUsername', '')}:{inputs.get('basicAuthPassword', '')}" if "basicAuthPassword" in inputs else inputs.get("httpHeaders", "")
        return repository, {"url": inputs["url"], "secret": secret, "event": body["eventType"], "document": body}

    def _is_id(self, value):
        return isinstance(value, str) and re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value) is not None

    def _owner(self, number):
        for repository in self.repositories.values():
            if number in repository.hooks:
                return repository
        raise Answer(404, self.error("The subscription does not exist"))

    @route("GET", O + "/_apis/hooks/subscriptions")
    def get_hooks(self, request, organization):
        return self._list([self.subscription(repository, number) for repository in self.repositories.values() for number in repository.hooks])

    @route("POST", O + "/_apis/hooks/subscriptions")
    def post_hook(self, request, organization):
        repository, hook = self._subscription(request)
        number = str(uuid.uuid4())
        repository.hooks[number] = hook
        return self.subscription(repository, number)

    @route("PUT", O + "/_apis/hooks/subscriptions/{hook}")
    def put_hook(self, request, organization, hook):
        owner = self._owner(hook)
        owner.hooks[hook] = self._subscription(request)[1]
        return self.subscription(owner, hook)

    @route("DELETE", O + "/_apis/hooks/subscriptions/{hook}")
    def delete_hook(self, request, organization, hook):
        self._owner(hook).hooks.pop(hook)
        return Answer(204)

    # ---- webhooks ----

    def wants(self, hook, event):
        return hook["event"] == event

    def signed(self, event, document, secret, delivery=None):
        """The secret is USER:PASSWORD, or "Name: value" of a header of one's own. `delivery` is the document's id."""
        document = document if isinstance(document, bytes) or not delivery else {**document, "id": delivery}
        name, _, value = secret.partition(": ")
        proof = {name: value} if value else {"Authorization": basic(*secret.split(":", 1))} if secret else {}
        return {"Content-Type": "application/json; charset=utf-8", "User-Agent": "VSServices/20.0", **proof}, packed(document)

    def _event(self, kind, resource):
        return kind, {"subscriptionId": str(uuid.uuid4()), "notificationId": next(self.numbers), "id": str(uuid.uuid4()), "eventType": kind, "publisherId": "tfs", "message": {"text": "It happened."},
                      "detailedMessage": {"text": "It happened."}, "resource": resource, "resourceVersion": "1.0", "resourceContainers": {"account": {"id": str(uuid.uuid4())}},
                      "createdDate": "2026-11-23T10:00:00.000Z"}

    def push(self, repository, ref, before, after, forced=False):
        """("git.push", payload). `before` or `after` is ZERO for a ref that is made or deleted."""
        commits = [] if after == ZERO else repository.commits(None if before == ZERO else before, after)
        return self._event("git.push", {"commits": [self.commit_document(repository, each["sha"]) for each in commits[::-1][:25]], "refUpdates": [{"name": ref, "oldObjectId": before, "newObjectId": after}],
                                        "repository": self.document(repository), "pushedBy": self.user("ann"), "pushId": next(self.numbers), "date": "2026-11-23T10:00:00Z"})

    def pull_event(self, pull, action):
        """(event, payload); action: created, updated, merged."""
        return self._event(f"git.pullrequest.{action}", self.pull_document(pull))
