# SPDX-License-Identifier: MPL-2.0
"""The fakes of VCS providers: they refuse what a provider refuses, and they take what it takes."""

import base64
import hashlib
import hmac
import json
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest

from support.vcs_fakes import FAKES, Azure, BitbucketCloud, BitbucketServer, GitHub, GitLab
from support.vcs_fakes.repository import ZERO
from support.work_copy import git

ONE = {"main.tf": "# one\n"}
LOGINS = {GitHub: "x-access-token", GitLab: "oauth2", BitbucketCloud: "x-token-auth", BitbucketServer: "robot", Azure: "any"}


@pytest.fixture(params=FAKES, ids=lambda kind: kind.__name__)
def fake(request, folder):
    server = request.param(folder)
    server.path = FAKES[request.param]
    yield server
    server.release()


@pytest.fixture
def receiver():
    received = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            received.append((self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    received_at = f"http://127.0.0.1:{server.server_port}/hook"
    yield received_at, received
    server.shutdown()
    server.server_close()


def ask(fake, method, path, body=None, token="good-token", **headers):
    """(status, document) of a request of the form that all providers take."""
    headers = {"User-Agent": "Runyard", "Accept": "application/json", "Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
    if isinstance(fake, Azure):
        path += "&api-version=7.1" if "?" in path else "?api-version=7.1"
    request = urllib.request.Request(f"{fake.url}{path}", data=None if body is None else json.dumps(body).encode(), method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        text = error.read()
        return error.code, json.loads(text) if text and error.headers["Content-Type"] == "application/json" else None


def paths(fake):
    """The paths of its API: of a repository, of a commit's statuses, of a pull request, of its comments, of hooks."""
    owner, name = fake.path.split("/")[0], fake.path.split("/")[-1]
    if isinstance(fake, GitHub):
        top = f"/api/v3/repos/{fake.path}"
        return top, top + "/statuses/{sha}", top + "/pulls/{number}", top + "/issues/{number}/comments", top + "/hooks"
    if isinstance(fake, GitLab):
        top = f"/api/v4/projects/{quote(fake.path, safe='')}"
        return top, top + "/statuses/{sha}", top + "/merge_requests/{number}", top + "/merge_requests/{number}/notes", top + "/hooks"
    if isinstance(fake, BitbucketCloud):
        top = f"/2.0/repositories/{fake.path}"
        return top, top + "/commit/{sha}/statuses/build", top + "/pullrequests/{number}", top + "/pullrequests/{number}/comments", top + "/hooks"
    if isinstance(fake, BitbucketServer):
        top = f"/rest/api/1.0/projects/{owner}/repos/{name}"
        return top, top + "/commits/{sha}/builds", top + "/pull-requests/{number}", top + "/pull-requests/{number}/comments", top + "/webhooks"
    top = f"/{owner}/platform/_apis/git/repositories/{name}"
    return top, top + "/commits/{sha}/statuses", top + "/pullRequests/{number}", top + "/pullRequests/{number}/threads", f"/{owner}/_apis/hooks/subscriptions"


def status(fake, bad=False):
    if isinstance(fake, (GitHub, GitLab)):
        name = "context" if isinstance(fake, GitHub) else "name"
        return {"state": "done" if bad else "pending", name: "Runyard/acme", "target_url": "http://runyard.example.com/", "description": "Planning"}
    if isinstance(fake, Azure):
        return {"state": "done" if bad else "pending", "context": {"name": "acme", "genre": "Runyard"}, "targetUrl": "http://runyard.example.com/", "description": "Planning"}
    return {"state": "done" if bad else "INPROGRESS", "key": "runyard-acme", "name": "Runyard/acme", "url": "http://runyard.example.com/", "description": "Planning"}


def comment(fake, text):
    return {GitHub: {"body": text}, GitLab: {"body": text}, BitbucketCloud: {"content": {"raw": text}}, BitbucketServer: {"text": text},
            Azure: {"comments": [{"parentCommentId": 0, "content": text, "commentType": "text"}], "status": "active"}}[type(fake)]


def hook(fake, repository, url, secret):
    if isinstance(fake, GitHub):
        return {"name": "web", "active": True, "events": ["push", "pull_request"], "config": {"url": url, "content_type": "json", "secret": secret, "insecure_ssl": "0"}}
    if isinstance(fake, GitLab):
        return {"url": url, "token": secret, "push_events": True, "tag_push_events": True, "merge_requests_events": True, "enable_ssl_verification": True}
    if isinstance(fake, BitbucketCloud):
        return {"description": "Runyard", "url": url, "active": True, "secret": secret, "events": ["repo:push", "pullrequest:created"]}
    if isinstance(fake, BitbucketServer):
        return {"name": "Runyard", "url": url, "active": True, "events": ["repo:refs_changed", "pr:opened"], "configuration": {"secret": secret}}
    return {"publisherId": "tfs", "eventType": "git.push", "resourceVersion": "1.0", "consumerId": "webHooks", "consumerActionId": "httpRequest",
            "publisherInputs": {"projectId": fake.project_document(fake.path)["id"], "repository": repository.uuid},
            "consumerInputs": {"url": url, "basicAuthUsername": "runyard", "basicAuthPassword": secret}}


def test_git(fake, folder):
    """A clone needs the provider's login; the provider's ref of a pull request has its head."""
    repository = fake.repository(fake.path, ONE)
    path = f"scm/{fake.path}" if isinstance(fake, BitbucketServer) else fake.path
    address = f"http://{LOGINS[type(fake)]}:good-token@{fake.url[7:]}/{path}{'' if isinstance(fake, Azure) else '.git'}"
    assert repository.copy.head in git(folder, "ls-remote", address)
    assert git(folder, "ls-remote", address.replace("good-token", "bad-token"), check=False) == ""
    repository.copy.branch("feature")
    head = repository.copy.commit_and_push({"two.tf": "# two\n"})
    pull = repository.pull("feature")
    if name := fake.pull_ref(pull.number):
        assert f"{head}\t{name}" in git(folder, "ls-remote", address)
    fake.check()


def test_reads(fake):
    repository = fake.repository(fake.path, ONE)
    repository.copy.branch("feature/one")
    repository.copy.commit_and_push({"two.tf": "# two\n"})
    fork = fake.repository("ann/platform/_git/network" if isinstance(fake, Azure) else "ann/network", fork_of=repository)
    fork.copy.branch("theirs")
    fork.copy.commit_and_push({"three.tf": "# three\n"})
    pulls = [repository.pull("feature/one", "Mine", draft=True), repository.pull("theirs", "Theirs", source=fork)]
    top, _, pull, *_ = paths(fake)
    assert ask(fake, "GET", top)[0] == 200
    assert ask(fake, "GET", top.replace("network", "nothing"))[0] == 404
    for each in pulls:
        code, document = ask(fake, "GET", pull.format(number=each.number))
        assert code == 200 and each.title in json.dumps(document) and each.head[:12] in json.dumps(document)
    assert pulls[1].is_fork and not pulls[0].is_fork
    assert ask(fake, "GET", top, token="bad-token")[0] == 401
    fake.check()


def test_status(fake):
    repository = fake.repository(fake.path, ONE)
    path = paths(fake)[1].format(sha=repository.copy.head)
    code, _ = ask(fake, "POST", path, status(fake))
    assert code in (200, 201, 204)
    assert repository.status("Runyard/acme")["description"] == "Planning"
    fake.check()
    assert ask(fake, "POST", path, status(fake, bad=True))[0] == 422
    assert len(repository.statuses) == 1
    with pytest.raises(AssertionError, match="state can't be 'done'"):
        fake.check()


def test_equal_transition_of_gitlab(folder):
    fake = GitLab(folder)
    repository = fake.repository("acme/network", ONE)
    path = f"/api/v4/projects/acme%2Fnetwork/statuses/{repository.copy.head}"
    codes = [ask(fake, "POST", path, {"state": state, "name": "Runyard/acme"})[0] for state in ("pending", "pending", "running", "running", "pending", "success", "success", "pending")]
    assert codes == [201, 400, 201, 400, 400, 201, 201, 201]
    fake.check()
    fake.release()


def test_comments(fake):
    repository = fake.repository(fake.path, ONE)
    repository.copy.branch("feature")
    repository.copy.commit_and_push()
    pull = repository.pull("feature")
    path = paths(fake)[3].format(number=pull.number)
    code, document = ask(fake, "POST", path, comment(fake, "one"))
    assert code in (200, 201)
    number = document["id"]
    if isinstance(fake, GitHub):
        assert ask(fake, "PATCH", f"/api/v3/repos/{fake.path}/issues/comments/{number}", {"body": "two"})[0] == 200
    elif isinstance(fake, Azure):
        assert ask(fake, "PATCH", f"{path}/{number}/comments/1", {"content": "two"})[0] == 200
    elif isinstance(fake, BitbucketServer):
        assert ask(fake, "PUT", f"{path}/{number}", {"text": "two", "version": 0})[0] == 200
        assert ask(fake, "PUT", f"{path}/{number}", {"text": "three", "version": 0})[0] == 409
    else:
        assert ask(fake, "PUT", f"{path}/{number}", comment(fake, "two"))[0] == 200
    assert [each["text"] for each in pull.comments] == ["two"]
    fake.check()


def proof_holds(fake, headers, body, secret):
    if isinstance(fake, GitLab):
        return headers["X-Gitlab-Token"] == secret
    if isinstance(fake, Azure):
        return base64.b64decode(headers["Authorization"].removeprefix("Basic ")).decode() == f"runyard:{secret}"
    return headers["X-Hub-Signature-256" if isinstance(fake, GitHub) else "X-Hub-Signature"] == "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def test_hooks(fake, receiver):
    """A hook that is made over the API gets pushes with its proof, as long as it is there."""
    address, received = receiver
    repository = fake.repository(fake.path, ONE)
    before, path = repository.copy.head, paths(fake)[4]
    code, document = ask(fake, "POST", path, hook(fake, repository, address, "the-secret"))
    assert code in (200, 201) and "the-secret" not in json.dumps(document)
    after = repository.copy.commit_and_push()
    assert repository.deliver(*fake.push(repository, "refs/heads/main", before, after)) == [204]
    headers, body = received[0]
    assert proof_holds(fake, headers, body, "the-secret") and before in body.decode() and after in body.decode()
    repository.copy.tag("v1")
    repository.deliver(*fake.push(repository, "refs/tags/v1", ZERO, after))
    assert len(received) == 2
    number = document.get("id") or document["uuid"]
    assert ask(fake, "DELETE", f"{path}/{quote(str(number))}")[0] == 204
    repository.deliver(*fake.push(repository, "refs/heads/main", before, after))
    assert len(received) == 2
    fake.check()


def test_signature_of_gitlab(folder):
    fake = GitLab(folder)
    secret = "whsec_" + base64.b64encode(b"a key of some bytes").decode()
    headers, body = fake.signed("Push Hook", {"one": 1}, secret, delivery="one", at=1790000000, form="signature")
    right = base64.b64encode(hmac.new(b"a key of some bytes", b"one.1790000000." + body, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{right}"
    fake.release()


def test_faults(fake):
    """Limits, refusals and lost connections come once each; an unknown route or a missing User-Agent is found."""
    fake.repository(fake.path, ONE)
    top = paths(fake)[0]
    fake.rate_limit("GET", "network", 7)
    assert ask(fake, "GET", top)[0] in (403, 429)
    fake.fault("GET", "network", 503, "hang up")
    assert ask(fake, "GET", top)[0] == 503
    with pytest.raises((ConnectionError, urllib.error.URLError)):
        ask(fake, "GET", top)
    assert ask(fake, "GET", top)[0] == 200
    fake.check()
    assert len(fake.calls("GET", "network")) == 4
    assert ask(fake, "DELETE", top)[0] == 404
    with pytest.raises(AssertionError, match="there is no such route"):
        fake.check()


def token_of(fake, key, **claims):
    """A JSON Web Token as the App makes it."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode() if isinstance(value, dict) else value).rstrip(b"=").decode()

    now = int(time.time())
    signed = f"{part({'alg': 'RS256', 'typ': 'JWT'})}.{part({'iat': now - 60, 'exp': now + 540, 'iss': fake.app_id, **claims})}"
    proof = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=signed.encode(), capture_output=True, check=True).stdout
    return f"{signed}.{part(proof)}"


def test_app(folder):
    """An App's token is signed and short-lived; what it gives reads its repositories, and writes check runs."""
    fake = GitHub(folder)
    key = fake.app()
    repository = fake.repository("acme/network", ONE)
    fake.repository("acme/other", ONE)
    number = fake.installation("acme", ["acme/network"])
    path = f"/api/v3/app/installations/{number}/access_tokens"
    code, made = ask(fake, "POST", path, token=token_of(fake, key))
    assert code == 201
    assert ask(fake, "GET", "/api/v3/repos/acme/network", token=made["token"])[0] == 200
    assert ask(fake, "GET", "/api/v3/repos/acme/other", token=made["token"])[0] == 404
    assert ask(fake, "GET", "/api/v3/installation/repositories", token=made["token"])[1]["total_count"] == 1
    run = {"name": "Runyard/acme", "head_sha": repository.copy.head, "status": "completed", "conclusion": "success", "output": {"title": "Passed", "summary": "All"}}
    assert ask(fake, "POST", "/api/v3/repos/acme/network/check-runs", run, token=made["token"])[0] == 201
    fake.expiring[made["token"]] = 0
    assert ask(fake, "GET", "/api/v3/repos/acme/network", token=made["token"])[0] == 401
    fake.check()
    assert ask(fake, "POST", path, token=token_of(fake, key, exp=int(time.time()) + 3600))[0] == 401
    assert ask(fake, "POST", path, token=token_of(fake, key)[:-8] + "AAAAAAAA")[0] == 401
    assert len(fake.complaints) == 2
    fake.installations[number]["removed"] = True
    assert ask(fake, "POST", path, token=token_of(fake, key))[0] == 404
    fake.release()
