# SPDX-License-Identifier: MPL-2.0
"""A small client of the API: JSON:API bodies, bearer token, and the steps that most tests share."""

import gzip
import io
import itertools
import json
import subprocess
import tarfile
import urllib.error
import urllib.parse
import urllib.request

from support.wait import PATIENCE, until

FINAL = {"applied", "planned_and_finished", "errored", "discarded", "canceled", "force_canceled", "policy_soft_failed"}


observers = []  # each is called with the method and the Answer to a request


class Answer:
    def __init__(self, status, headers, body, url=""):
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url

    @property
    def text(self):
        return self.body.decode(errors="replace")

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def data(self):
        return self.json["data"]

    def errors(self):
        """The errors' titles and details, as one text."""
        return "; ".join(f"{e.get('title')}: {e.get('detail')}" for e in self.json.get("errors", []))


def observed(method, answer):
    """The answer, after the observers have seen it."""
    for observe in observers:
        observe(method, answer)
    return answer


class ApiError(AssertionError):
    def __init__(self, method, path, answer):
        super().__init__(f"{method} {path}: {answer.status} {answer.text[:2000]}")
        self.answer = answer
        self.status = answer.status


class Api:
    names = itertools.count(1)

    def __init__(self, url, token, organization="acme", trust=None):
        self.url = url
        self.trust = trust
        self.token = token
        self.organization = organization

    # ---- requests ----

    def call(self, method, path, body=None, headers=None, timeout=PATIENCE):
        """Sends a request and returns its answer of any status. A dict or a list becomes JSON; bytes are sent as they are."""
        url = path if path.startswith("http") else f"{self.url}/api/v2/{path}"
        sent = {"Content-Type": "application/vnd.api+json"}
        if self.token and url.startswith(self.url):
            sent["Authorization"] = f"Bearer {self.token}"
        sent.update(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        request = urllib.request.Request(url, data=body, method=method, headers={k: v for k, v in sent.items() if v is not None})
        try:
            with urllib.request.urlopen(request, timeout=timeout, context=self.trust) as answer:
                return observed(method, Answer(answer.status, answer.headers, answer.read(), answer.url))
        except urllib.error.HTTPError as error:
            return observed(method, Answer(error.code, error.headers, error.read(), error.url))

    def ask(self, method, path, body=None, **more):
        """As call, but an answer of 400 and above raises ApiError."""
        answer = self.call(method, path, body, **more)
        if answer.status >= 400:
            raise ApiError(method, path, answer)
        return answer

    def get(self, path, **query):
        return self.ask("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""))

    def post(self, path, body=None):
        return self.ask("POST", path, body if body is not None else b"")

    def patch(self, path, body):
        return self.ask("PATCH", path, body)

    def delete(self, path):
        return self.ask("DELETE", path)

    # ---- workspaces ----

    def workspace(self, name=None, **attributes):
        """A new workspace; its id. Attributes are written with underscores: auto_apply=True."""
        name = name or f"w{next(self.names)}"
        body = {"data": {"type": "workspaces", "attributes": {"name": name, **dashed(attributes)}}}
        return self.post(f"organizations/{self.organization}/workspaces", body).data["id"]

    def variable(self, workspace, key, value, **attributes):
        attributes = {"key": key, "value": value, "category": "terraform", **dashed(attributes)}
        return self.post(f"workspaces/{workspace}/vars", {"data": {"type": "vars", "attributes": attributes}}).data["id"]

    # ---- pools ----

    def pool(self, name="pool"):
        """A new agent pool of the organization; its id, and a token for its workers."""
        made = self.post(f"organizations/{self.organization}/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": name}}}).data["id"]
        return made, self.agent_token(made)

    def agent_token(self, pool):
        body = {"data": {"type": "authentication-tokens", "attributes": {"description": "test"}}}
        return self.post(f"agent-pools/{pool}/authentication-tokens", body).data["attributes"]["token"]

    # ---- configuration ----

    def upload(self, workspace, files, **attributes):
        """A configuration version of {name: text}, or of an archive's bytes; its id, once it is uploaded."""
        body = {"data": {"type": "configuration-versions", "attributes": {"auto-queue-runs": False, **dashed(attributes)}}}
        version = self.post(f"workspaces/{workspace}/configuration-versions", body).data
        archive = files if isinstance(files, bytes) else tar_gz(files)
        self.ask("PUT", version["attributes"]["upload-url"], archive, headers={"Content-Type": "application/octet-stream"})
        until(lambda: self.attributes(f"configuration-versions/{version['id']}")["status"] == "uploaded", "the configuration is uploaded")
        return version["id"]

    # ---- runs ----

    def run(self, workspace, configuration=None, **attributes):
        """A new run; its id."""
        relations = {"workspace": {"data": {"type": "workspaces", "id": workspace}}}
        if configuration:
            relations["configuration-version"] = {"data": {"type": "configuration-versions", "id": configuration}}
        body = {"data": {"type": "runs", "attributes": dashed(attributes), "relationships": relations}}
        return self.post("runs", body).data["id"]

    def run_files(self, workspace, files, **attributes):
        return self.run(workspace, self.upload(workspace, files), **attributes)

    def act(self, run, action, comment=None):
        """apply, discard, cancel, force-cancel."""
        return self.post(f"runs/{run}/actions/{action}", {"comment": comment} if comment else {})

    def attributes(self, path):
        return self.get(path).data["attributes"]

    def status(self, run):
        return self.attributes(f"runs/{run}")["status"]

    def wait_status(self, run, wanted):
        """Waits until the run's status is one of those wanted; fails as soon as it can't become one any more."""
        wanted = {wanted} if isinstance(wanted, str) else set(wanted)
        seen = []

        def there():
            attributes = self.attributes(f"runs/{run}")
            status = attributes["status"]
            if not seen or seen[-1] != status:
                seen.append(status)
            assert status in wanted or status not in FINAL, f"{run} is {status}, wanted {wanted}; was {seen}\n{self.logs(run)}"
            return attributes if status in wanted else None

        return until(there, lambda: f"{run} is {wanted}; was {seen}\n{self.logs(run)}")

    def sibling(self, run, kind):
        """The id of the run's plan or apply."""
        relation = self.get(f"runs/{run}").data["relationships"].get(kind, {}).get("data")
        return relation and relation["id"]

    def plan_json(self, run):
        """The JSON of the run's plan, which is made while an automatic apply runs."""
        path = f"plans/{self.sibling(run, 'plan')}/json-output"
        until(lambda: self.get(path).status == 200, "the plan is shown")
        return self.get(path).json

    def log(self, run, kind="plan"):
        """The plan's or apply's log so far, without the marks at its ends."""
        identity = self.sibling(run, kind)
        url = identity and self.attributes(f"{kind == 'plan' and 'plans' or 'applies'}/{identity}").get("log-read-url")
        if not url:
            return ""
        text, offset = b"", 0
        while True:
            chunk = self.ask("GET", f"{url}?limit=65536&offset={offset}").body
            text, offset = text + chunk, offset + len(chunk)
            if not chunk or chunk.endswith(b"\x03"):
                return text.strip(b"\x02\x03").decode(errors="replace")

    def logs(self, run):
        """Both logs, for a failing test's message."""
        try:
            return "\n".join(f"--- {kind} log\n{self.log(run, kind)[-4000:]}" for kind in ("plan", "apply"))
        except Exception as why:  # noqa: BLE001: the message is built despite any error
            return f"(no logs: {why})"

    def events(self, run, action=None):
        """[(action, description)] of the run's events, in their order."""
        found = [event["attributes"] for event in self.get(f"runs/{run}/run-events").data]
        return [(event["action"], event["description"]) for event in found if action in (None, event["action"])]

    # ---- run tasks ----

    def task(self, service, name=None, agent_pool=None, **attributes):
        """A new run task of the organization, behind which the receiver's service stands; its id. agent_pool: the pool
        whose workers send its requests."""
        attributes = {"name": name or f"{service.name}-{next(self.names)}", "url": service.url, "category": "task",
                      "hmac-key": service.key, **dashed(attributes)}
        relations = {"agent-pool": {"data": {"type": "agent-pools", "id": agent_pool}}} if agent_pool else {}
        body = {"data": {"type": "tasks", "attributes": attributes, "relationships": relations}}
        return self.post(f"organizations/{self.organization}/tasks", body).data["id"]

    def attach(self, workspace, task, stage, enforcement="mandatory"):
        """Has the workspace's runs call the task in a stage, or in several; the workspace task's id."""
        attributes = {"enforcement-level": enforcement, "stages": [stage] if isinstance(stage, str) else stage}
        relations = {"task": {"data": {"type": "tasks", "id": task}}}
        body = {"data": {"type": "workspace-tasks", "attributes": attributes, "relationships": relations}}
        return self.post(f"workspaces/{workspace}/tasks", body).data["id"]

    def task_stages(self, run):
        """{stage: resource}"""
        return {stage["attributes"]["stage"]: stage for stage in self.get(f"runs/{run}/task-stages").data}

    def task_results(self, run, stage):
        """{task's name: resource}"""
        answer = self.get(f"task-stages/{self.task_stages(run)[stage]['id']}", include="task_results").json
        return {result["attributes"]["task-name"]: result for result in answer.get("included", []) if result["type"] == "task-results"}

    def task_result(self, run, stage):
        """The one result of a stage with one task."""
        (result,) = self.task_results(run, stage).values()
        return result

    def deliveries(self, result):
        """The delivery log of a task result, first to last."""
        return [delivery["attributes"] for delivery in reversed(self.get(f"task-results/{result['id']}/deliveries").data)]

    # ---- policies ----

    def policy(self, kind, enforcement, source, name=None):
        """A new policy; its id. OPA is asked for data.p.deny."""
        attributes = {"name": name or f"p{next(self.names)}", "kind": kind, "enforcement-level": enforcement}
        if kind == "opa":
            attributes["query"] = "data.p.deny"
        policy = self.post(f"organizations/{self.organization}/policies", {"data": {"type": "policies", "attributes": attributes}}).data["id"]
        self.ask("PUT", f"policies/{policy}/upload", source.encode(), headers={"Content-Type": "application/octet-stream"})
        return policy

    def policy_set(self, kind, policies, workspace, **attributes):
        """A policy set of these policies for the workspace; its id."""
        relations = {"policies": {"data": [{"type": "policies", "id": policy} for policy in policies]},
                     "workspaces": {"data": [{"type": "workspaces", "id": workspace}]}}
        attributes = {"name": f"s{next(self.names)}", "kind": kind, **({"overridable": True} if kind == "opa" else {}), **dashed(attributes)}
        body = {"data": {"type": "policy-sets", "attributes": attributes, "relationships": relations}}
        return self.post(f"organizations/{self.organization}/policy-sets", body).data["id"]

    def evaluation(self, run):
        """The attributes of the run's OPA evaluation, or None."""
        stage = self.task_stages(run).get("post_plan")
        found = self.get(f"task-stages/{stage['id']}/policy-evaluations").data if stage else []
        return found[0]["attributes"] if found else None

    def policy_check(self, run):
        """The run's Sentinel check, or None."""
        found = self.get(f"runs/{run}/policy-checks").data
        return found[0] if found else None

    def override(self, run):
        """Overrides the policy check or the task stage that the run waits for."""
        stage = self.task_stages(run).get("post_plan")
        if stage and stage["attributes"]["status"] == "awaiting_override":
            return self.post(f"task-stages/{stage['id']}/actions/override", {})
        return self.post(f"policy-checks/{self.policy_check(run)['id']}/actions/override", {})

    # ---- state ----

    def state(self, workspace):
        """The current state as terraform wrote it, or None."""
        answer = self.call("GET", f"workspaces/{workspace}/current-state-version")
        if answer.status == 404:
            return None
        return self.ask("GET", answer.data["attributes"]["hosted-state-download-url"]).json

    def resources(self, workspace):
        """The addresses in the current state."""
        state = self.state(workspace) or {"resources": []}
        return sorted(f"{r['type']}.{r['name']}" for r in state["resources"])


def dashed(attributes):
    return {name.replace("_", "-"): value for name, value in attributes.items()}


def tar_gz(files):
    """The bytes of an archive of {name: text or bytes}."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w|") as archive:
        for name, text in files.items():
            data = text.encode() if isinstance(text, str) else text
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def untar_gz(archive, folder):
    """Unpacks an archive's bytes. GNU tar writes nothing outside of the folder; Debian 12's tarfile has no filter for that."""
    subprocess.run(["tar", "-xz", "-C", folder], input=archive, check=True)
