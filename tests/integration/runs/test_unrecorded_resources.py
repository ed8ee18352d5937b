# SPDX-License-Identifier: MPL-2.0
"""Resources that an apply reported and that no state shows: they are listed, and hold the workspace until a user
dismisses them."""

import json
import uuid

import pytest

from support.api import Api, ApiError
from support.api_site import open_api_site
from support.browser import Browser, Forms
from support.people import People
from support.servers import ObjectStore
from support.wait import until

LISTED = "runs/{}/unrecorded-resources"


@pytest.fixture(scope="module")
def fake_worker(api_site):
    return api_site.fake_worker()


def state(serial, *ids):
    """A state with an instance of aws_vpc.<id> for each id."""
    return {"version": 4, "serial": serial, "lineage": "line", "terraform_version": "1.11.4", "outputs": {},
            "resources": [{"mode": "managed", "type": "aws_vpc", "name": id, "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
                           "instances": [{"attributes": {"id": id}}]} for id in ids]}


def report(name, action="create", id=None):
    """The output of terraform -json after it has created aws_vpc.<name>."""
    resource = {"addr": f"aws_vpc.{name}", "module": "", "resource": f"aws_vpc.{name}", "implied_provider": "aws", "resource_type": "aws_vpc",
                "resource_name": name, "resource_key": None}
    return json.dumps({"@level": "info", "type": "apply_complete", "hook": {"resource": resource, "action": action, "id_key": "id", "id_value": id or name}}) + "\n"


def missing(name, action="create", **changed):
    """An item of a worker's list."""
    return {"action": action, "address": f"aws_vpc.{name}", "type": "aws_vpc", "provider": "aws", "id": name, **changed}


class Workspace:
    """A workspace whose run's apply has started, and a run that waits behind it."""

    def __init__(self, api_site, api, fake_worker, *log):
        self.api_site, self.api, self.fake_worker = api_site, api, fake_worker
        self.id = api.workspace("network", auto_apply=True)
        version = api.upload(self.id, {"main.tf": ""})
        self.run, self.after = (api.run(self.id, version) for _ in range(2))
        fake_worker.plan(self.run)
        self.job = fake_worker.take(self.run, "apply")
        self.on("POST", "started")
        if log:
            self.on("PUT", "log?offset=0", "".join(log).encode())

    def on(self, method, what, body=None):
        return self.fake_worker.on(self.job, method, what, body)

    def put(self, *items):
        self.on("PUT", "unrecorded-resources", {"resources": list(items)})

    def lose(self):
        self.api_site.change("update jobs set lease_until = now() where id = %s", self.job["job"])
        self.api.wait_status(self.run, "errored")

    def wait_until_compared(self):
        until(lambda: self.api_site.ask("select compared_at is not null from workspace_holds where job_id = %s", self.job["job"]) == [(True,)], "the reports are compared")

    @property
    def shown(self):
        return self.api.attributes(f"workspaces/{self.id}")

    def held(self):
        return self.shown["locked-reason"].startswith(f"Held after {self.run}")

    def released(self):
        until(lambda: self.api.status(self.after) == "plan_queued", "the queue advances")
        return not self.held()

    @property
    def data(self):
        return self.api.get(LISTED.format(self.run)).data

    def listed(self, status="open"):
        return [(r["attributes"]["action"], r["attributes"]["address"], r["attributes"]["resource-id"]) for r in self.data if r["attributes"]["status"] == status]

    def blocks(self):
        return self.api.get(f"{LISTED.format(self.run)}/import-blocks").text


def audited(api):
    return [(e["resource"]["type"], e["resource"]["action"]) for e in api.get(f"organizations/{api.organization}/audit-trail").json["data"]]


def refused(call, *arguments):
    with pytest.raises(ApiError) as caught:
        call(*arguments)
    return caught.value.status


def test_resources_in_a_lost_workers_log_but_not_in_the_state_are_listed(api_site, org, fake_worker):
    """The worker never returns. Resources that the stored log reports and the state lacks are listed. Only a user ends
    the hold."""
    workspace = Workspace(api_site, org, fake_worker, report("a"), report("b"), "aws_vpc.c: Creation complete after 1s [id=c]\n", report("d", "update"))
    workspace.on("PUT", "state", state(1, "a"))
    assert workspace.data == []
    workspace.lose()
    workspace.wait_until_compared()
    assert workspace.listed() == [("create", "aws_vpc.b", "b"), ("create", "aws_vpc.c", "c"), ("update", "aws_vpc.d", "d")]
    resource = workspace.data[0]
    assert resource["type"] == "unrecorded-resources" and resource["relationships"]["run"]["data"]["id"] == workspace.run
    assert (resource["attributes"]["resource-type"], resource["attributes"]["provider"]) == ("aws_vpc", "aws")
    assert org.get(f"unrecorded-resources/{resource['id']}").data == resource
    ((_, text),) = org.events(workspace.run, "resources-unrecorded")
    assert "3 resources" in text
    assert workspace.blocks() == "".join(f'import {{\n  to = aws_vpc.{name}\n  id = "{name}"\n}}\n\n' for name in "bcd")

    # The deadline for the last state ends only the wait for that state.
    api_site.change("update workspace_holds set until = now() where job_id = %s", workspace.job["job"])
    until(lambda: "unrecorded-resources" in workspace.shown["locked-reason"], "only the resources hold the workspace")
    assert org.status(workspace.after) == "pending" and workspace.held()

    org.post(f"unrecorded-resources/{resource['id']}/actions/dismiss")
    assert workspace.listed("dismissed") == [("create", "aws_vpc.b", "b")] and workspace.held() and "aws_vpc.b" not in workspace.blocks()
    assert refused(org.post, f"unrecorded-resources/{resource['id']}/actions/dismiss") == 409
    org.post(f"runs/{workspace.run}/actions/dismiss-unrecorded-resources")
    assert workspace.released() and workspace.listed() == [] and len(workspace.listed("dismissed")) == 3 and workspace.blocks() == ""
    assert refused(org.post, f"runs/{workspace.run}/actions/dismiss-unrecorded-resources") == 409
    assert org.events(workspace.run, "workspace-released")[0][1] == "The unrecorded resources of the apply were dismissed."
    assert {("unrecorded_resource", "dismiss"), ("run", "dismiss_unrecorded_resources")} <= set(audited(org))
    assert workspace.data[0]["relationships"]["dismissed-by"]["data"]["id"] == org.get("account/details").data["id"]


def test_a_long_log_in_the_object_store_is_compared(postgres, tmp_path):
    """Each part of a log is an object's range of its own."""
    objects = ObjectStore(tmp_path).start()
    try:
        with open_api_site(postgres, **objects.options("logs"), object_store_from_bytes=1, object_store_after_seconds=0) as site:
            workspace = Workspace(site, site.organization(), site.fake_worker(), report("a"))
            piece = b"a line\n" * 100_000
            begin = len(report("a"))
            for at in range(begin, begin + 10 * len(piece), len(piece)):
                workspace.on("PUT", f"log?offset={at}", piece)
            workspace.on("PUT", f"log?offset={begin + 10 * len(piece)}", report("b").encode())
            workspace.lose()
            stored = "select b.object_key is not null from operations o join blobs b on b.id = o.log_blob where o.id = %s"
            until(lambda: site.ask(stored, workspace.run.replace("run", "apply")) == [(True,)], "the log is in the object store")
            workspace.wait_until_compared()
            site.change("delete from unrecorded_resources where job_id = %s", workspace.job["job"])
            site.change("update workspace_holds set compared_at = null where job_id = %s", workspace.job["job"])
            workspace.wait_until_compared()
            assert workspace.listed() == [("create", "aws_vpc.a", "a"), ("create", "aws_vpc.b", "b")]
    finally:
        objects.release()


def test_the_list_of_a_returning_worker_replaces_that_of_the_log(api_site, org, fake_worker):
    workspace = Workspace(api_site, org, fake_worker, report("a"), report("b"))
    workspace.lose()
    workspace.wait_until_compared()
    assert len(workspace.listed()) == 2
    first = workspace.data[0]["id"]
    org.post(f"unrecorded-resources/{first}/actions/dismiss")
    assert workspace.held(), "its last state may still arrive"
    workspace.put(missing("a"), missing("c"))
    assert workspace.listed() == [("create", "aws_vpc.c", "c")] and workspace.listed("dismissed") == [("create", "aws_vpc.a", "a")]
    workspace.on("PUT", "state", state(1, "b"))
    workspace.on("POST", "last-state")
    assert workspace.held() and org.status(workspace.after) == "pending" and org.resources(workspace.id) == ["aws_vpc.b"]
    # Until its hold ends, the token is valid for a state.
    workspace.put()
    assert workspace.listed() == []
    workspace.on("POST", "last-state")
    assert workspace.released()
    assert fake_worker.on(workspace.job, "POST", "last-state", check=False).status == 404


def test_a_returning_worker_with_a_complete_state_ends_the_hold(api_site, org, fake_worker):
    workspace = Workspace(api_site, org, fake_worker, report("a"))
    workspace.lose()
    workspace.wait_until_compared()
    assert workspace.listed()
    workspace.put()
    workspace.on("PUT", "state", state(1, "a"))
    workspace.on("POST", "last-state")
    assert workspace.released() and workspace.data == []


def test_unrecorded_resources_reported_before_the_lease_ends_hold_the_workspace(api_site, org, fake_worker):
    workspace = Workspace(api_site, org, fake_worker)
    workspace.put(missing("a"))
    workspace.on("POST", "last-state")
    org.wait_status(workspace.run, "errored")
    assert workspace.held() and org.status(workspace.after) == "pending"
    assert workspace.listed() == [("create", "aws_vpc.a", "a")]
    org.post(f"runs/{workspace.run}/actions/dismiss-unrecorded-resources")
    assert workspace.released()


def test_a_result_with_unrecorded_resources_holds_the_workspace(api_site, org, fake_worker):
    workspace = Workspace(api_site, org, fake_worker, report("a"))
    fake_worker.end(workspace.job, "failed", error="it was killed", **{"state-owed": True})
    org.wait_status(workspace.run, "errored")
    workspace.put(missing("a"))
    workspace.on("POST", "last-state")
    assert workspace.held() and workspace.listed() == [("create", "aws_vpc.a", "a")]
    org.post(f"workspaces/{workspace.id}/actions/force-unlock")
    assert workspace.released() and workspace.listed() == [("create", "aws_vpc.a", "a")], "it stays listed"
    org.post(f"runs/{workspace.run}/actions/dismiss-unrecorded-resources")


def test_a_hostile_list_is_bounded_and_escaped(api_site, org, fake_worker):
    """A worker sends its job's output, which may contain lines of the job's own."""
    workspace = Workspace(api_site, org, fake_worker)
    workspace.lose()
    wrong = [missing("a", address="aws_vpc.a\n}\n"), missing("a", address="x" * 2000), missing("a", action="explode"), missing("a", action=7), {}, 7, None]
    workspace.put(*wrong, *(missing("a", address=f"aws_vpc.a[{i}]") for i in range(2000)))
    assert 900 <= len(workspace.listed()) <= 1000
    workspace.put(missing("a", id="${file(\"/etc/passwd\")}\"\n%{x}"), missing("b", action="delete"), missing("c", id=""), missing("d", id="x" * 2000))
    assert workspace.blocks() == ('import {\n  to = aws_vpc.a\n  id = "$${file(\\"/etc/passwd\\")}\\"\\n%%{x}"\n}\n\n'
                                  '# aws_vpc.c: its id is not known.\n\n# aws_vpc.d: its id is not known.\n\n')
    for body in ({}, {"resources": 7}, [], None):
        assert fake_worker.on(workspace.job, "PUT", "unrecorded-resources", body, check=False).status in (400, 422)
    sealed = api_site.ask("select resource_id_sealed from unrecorded_resources where address = 'aws_vpc.a'")[0][0]
    assert b"passwd" not in bytes(sealed)


def test_reading_and_dismissing_need_permissions(api_site, org, fake_worker):
    workspace = Workspace(api_site, org, fake_worker, report("a"))
    workspace.lose()
    workspace.wait_until_compared()
    (resource,) = workspace.data
    people = People(org, api_site.database)
    paths = [("GET", LISTED.format(workspace.run)), ("GET", f"{LISTED.format(workspace.run)}/import-blocks"), ("GET", f"unrecorded-resources/{resource['id']}"),
             ("POST", f"unrecorded-resources/{resource['id']}/actions/dismiss"), ("POST", f"runs/{workspace.run}/actions/dismiss-unrecorded-resources")]
    member = people.member("m")
    assert [member.call(*path).status for path in paths] == [404] * 5
    team = org.post(f"organizations/{org.organization}/teams", {"data": {"type": "teams", "attributes": {"name": "readers"}}}).data["id"]
    reader = people.member("r", team)
    people.give(team, "workspace", workspace.id, "write")
    assert [reader.call(*path).status for path in paths] == [200] * 3 + [404] * 2
    assert workspace.held()


def owner(api_site):
    """The owner of a new organization, who is not a site admin: a client, and a signed-in browser."""
    name = f"u-{uuid.uuid4()}"
    created = api_site.bootstrap(name, name)
    api_site.change("update users set is_site_admin = false where username = %s", name)
    browser = Browser(api_site.scheduler.url, address=f"10.6.{next(People.ids) % 256}.9").sign_in(name, created["password"])
    assert browser.status == 200, browser.text
    return Api(api_site.scheduler.url, created["token"], name), browser


def test_the_page_lists_and_dismisses_unrecorded_resources(api_site, fake_worker):
    api, browser = owner(api_site)
    workspace = Workspace(api_site, api, fake_worker, report("a", id="<b>&"), report("b"))
    workspace.lose()
    workspace.wait_until_compared()
    workspace.on("POST", "last-state")
    assert workspace.held()
    path = f"/app/runs/{workspace.run}/unrecorded-resources"
    assert f'href="{path}"' in browser.ask(f"/app/workspaces/{workspace.id}/hold").page
    page = browser.ask(path)
    assert page.status == 200 and "&lt;b&gt;&amp;" in page.page and "<b>" not in page.page and "import {" in page.page
    one, _, all_resources = [form["fields"] for form in Forms(page.page).all if form["action"] == path]
    assert browser.ask(path, {**one, "csrf": "0" * 64}).status == 403 and len(workspace.listed()) == 2
    assert browser.ask(path, one).status == 200 and workspace.listed() == [("create", "aws_vpc.b", "b")]
    assert browser.ask(path, all_resources).status == 200 and workspace.released() and workspace.listed() == []
    assert browser.ask(path, all_resources).status == 409
    assert {("unrecorded_resource", "dismiss"), ("run", "dismiss_unrecorded_resources")} <= set(audited(api))
    stranger = owner(api_site)[1]
    assert stranger.ask(path).status == 404 and stranger.ask(path, all_resources).status in (403, 404)
    assert stranger.ask("/app/runs/run-none/unrecorded-resources").status == 404
