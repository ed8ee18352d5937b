# SPDX-License-Identifier: MPL-2.0
"""Run tasks of an organization: verified before they are accepted, attached to workspaces, with secrets that are never
shown."""

import hashlib
import hmac
import socket
import threading

import psycopg
import pytest

from support.api import Api
from support.documents import refused_at
from support.receiver import acknowledges
from support.wait import until

KEY = "a key of this task"


@pytest.fixture
def service(receiver):
    return receiver.service(acknowledges, key=KEY)


def create(api, **attributes):
    """Creates a run task with these attributes. Returns the answer of any status."""
    attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
    return api.call("POST", f"organizations/{api.organization}/tasks", {"data": {"type": "tasks", "attributes": {"category": "task", **attributes}}})


def change(api, task, **attributes):
    attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
    return api.call("PATCH", f"tasks/{task}", {"data": {"id": task, "type": "tasks", "attributes": attributes}})


# ---- verification ----


def test_a_change_during_a_test_request_is_not_overwritten(org, service):
    task = create(org, name="scanner", url=service.url, hmac_key=KEY).data["id"]
    with socket.create_server(("127.0.0.1", 0)) as slow:
        answers = []
        pending = threading.Thread(target=lambda: answers.append(change(org, task, url=f"http://127.0.0.1:{slow.getsockname()[1]}/")))
        pending.start()
        with slow.accept()[0] as connection:
            assert change(org, task, description="changed meanwhile").status == 200
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            pending.join()
    assert answers[0].status == 409
    attributes = org.get(f"tasks/{task}").data["attributes"]
    assert attributes["url"] == service.url and attributes["description"] == "changed meanwhile"


def test_creating_a_task_sends_a_test_request(org, service):
    created = create(org, name="scanner", url=service.url, hmac_key=KEY, description="looks at plans")
    assert created.status == 201
    attributes = created.data["attributes"]
    assert (attributes["name"], attributes["url"], attributes["category"], attributes["enabled"]) == ("scanner", service.url, "task", True)
    assert attributes["hmac-key"] is None
    assert attributes["global-configuration"] == {"enabled": False, "stages": [], "enforcement-level": "advisory"}
    (test,) = service.tests
    assert (test["stage"], test["access_token"], test["task_result_enforcement_level"], test["payload_version"]) == ("test", "test-token", "test", 1)
    assert test["organization_name"] == org.organization and test["capabilities"] == {"outcomes": True}
    assert None not in test.document.values()
    assert all(value.startswith("http://") for name, value in test.document.items() if name.endswith("_url"))


@pytest.mark.parametrize("code", [204, 302, 404, 500])
def test_a_task_whose_test_request_fails_is_refused(org, service, code):
    service.test_code = code
    answer = create(org, name="scanner", url=service.url, hmac_key=KEY)
    assert f"it answered {code}" in refused_at(answer, "/data/attributes/url")
    assert org.get(f"organizations/{org.organization}/tasks").data == []


def test_a_task_whose_service_is_unreachable_is_refused(org):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    refused_at(create(org, name="scanner", url=f"http://127.0.0.1:{port}/"), "/data/attributes/url")


def test_a_task_at_a_private_address_is_refused(scheduler, tokens, service):
    api = Api(scheduler(task_allow="").url, tokens["token"])
    assert "loopback" in refused_at(create(api, name="scanner", url=service.url, hmac_key=KEY), "/data/attributes/url")
    assert "metadata" in refused_at(create(api, name="scanner", url="http://169.254.169.254/latest"), "/data/attributes/url")
    assert not service.tests


def test_only_changes_of_the_called_service_send_a_test_request(org, service, receiver):
    task = create(org, name="scanner", url=service.url, hmac_key=KEY).data["id"]
    other = receiver.service(acknowledges, key=KEY)
    assert change(org, task, name="renamed", description="other").status == 200
    assert len(service.tests) == 1
    assert change(org, task, url=other.url).status == 200
    assert (len(service.tests), len(other.tests)) == (1, 1)
    other.test_code = 503
    # The URL of a disabled task may be unreachable. It is verified when the task is enabled again.
    assert change(org, task, enabled=False).status == 200
    refused_at(change(org, task, enabled=True), "/data/attributes/url")
    assert org.attributes(f"tasks/{task}")["enabled"] is False
    other.test_code = 200
    assert change(org, task, enabled=True).status == 200


def test_a_silent_service_does_not_block_other_requests(scheduler, tokens):
    api = Api(scheduler(http_threads=1, task_allow="127.0.0.1").url, tokens["token"])
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answers = []
        creating = threading.Thread(target=lambda: answers.append(create(api, name="scanner", url=f"http://127.0.0.1:{silent.getsockname()[1]}/")))
        creating.start()
        connection, _ = silent.accept()
        assert api.get("organizations/acme").data["id"] == "acme"
        assert not answers
        connection.close()
    creating.join()
    refused_at(answers[0], "/data/attributes/url")


# ---- the key ----


def example(api, task):
    return api.get(f"tasks/{task}/example").data["attributes"]


def signature(key, body):
    return hmac.new(key.encode(), body.encode(), hashlib.sha512).hexdigest() if key else ""


def test_a_key_is_replaced_removed_or_left_unchanged(org, service):
    task = create(org, name="scanner", url=service.url, hmac_key=KEY).data["id"]
    service.key = "another key"
    for sent, key in (({"hmac_key": "another key"}, "another key"), ({"hmac_key": None}, "another key"), ({"name": "renamed"}, "another key")):
        assert change(org, task, **sent).status == 200
        assert example(org, task)["headers"]["X-TFC-Task-Signature"] == signature(key, example(org, task)["body"])
    service.key = ""
    assert change(org, task, hmac_key="").status == 200
    assert example(org, task)["headers"]["X-TFC-Task-Signature"] == ""


def test_a_key_is_neither_shown_nor_stored_in_plain_text(org, api_site, service):
    task = create(org, name="scanner", url=service.url, hmac_key=KEY).data["id"]
    assert KEY not in org.get(f"tasks/{task}").text + org.get(f"organizations/{org.organization}/tasks").text + org.get(f"tasks/{task}/example").text
    with psycopg.connect(api_site.database) as connection:
        assert KEY.encode() not in connection.execute("select hmac_sealed from tasks").fetchone()[0]


# ---- an example ----


def test_an_example_shows_the_last_run(org, service):
    task = create(org, name="scanner", url=service.url, hmac_key=KEY).data["id"]
    assert example(org, task)["payload"]["stage"] == "test"
    workspace = org.workspace("network")
    run = org.run_files(workspace, {"main.tf": ""}, message="a change")
    shown = example(org, task)
    payload = shown["payload"]
    assert (shown["method"], shown["url"]) == ("POST", service.url)
    assert (payload["run_id"], payload["workspace_name"], payload["run_message"], payload["stage"]) == (run, "network", "a change", "post_plan")
    assert payload["project_name"] == "Default Project" and payload["project_id"].startswith("prj-")
    assert payload["access_token"] == "test-token"
    assert shown["headers"]["X-TFC-Task-Signature"] == signature(KEY, shown["body"])


# ---- refused values ----


INVALID = [
    ({"name": None}, "/data/attributes/name"),
    ({"name": "two words"}, "/data/attributes/name"),
    ({"url": None}, "/data/attributes/url"),
    ({"url": "ftp://example.com/"}, "/data/attributes/url"),
    ({"url": "http://example.com/a b"}, "/data/attributes/url"),
    ({"url": "https://example.com/" + "x" * 500}, "/data/attributes/url"),
    ({"category": "other"}, "/data/attributes/category"),
    ({"enabled": "yes"}, "/data/attributes/enabled"),
    ({"hmac-key": "x" * 1001}, "/data/attributes/hmac-key"),
    ({"description": "x" * 1001}, "/data/attributes/description"),
    ({"global-configuration": []}, "/data/attributes/global-configuration"),
    ({"global-configuration": {"enabled": True}}, "/data/attributes/global-configuration/stages"),
    ({"global-configuration": {"stages": ["plan"]}}, "/data/attributes/global-configuration/stages"),
    ({"global-configuration": {"enforcement-level": "hard"}}, "/data/attributes/global-configuration/enforcement-level"),
]


@pytest.mark.parametrize("attributes,pointer", INVALID, ids=[f"{next(iter(attributes))}-{i}" for i, (attributes, _) in enumerate(INVALID)])
def test_errors_have_a_pointer(org, attributes, pointer):
    refused_at(create(org, **{"name": "scanner", "url": "https://example.com/", **attributes}), pointer)


def test_a_taken_name_is_refused(org, service):
    assert create(org, name="scanner", url=service.url, hmac_key=KEY).status == 201
    assert "has already been taken" in refused_at(create(org, name="Scanner", url=service.url, hmac_key=KEY), "/data/attributes/name")


def test_a_task_reads_back_as_created_and_is_deleted(org, service):
    everywhere = {"enabled": True, "stages": ["pre_plan", "post_apply"], "enforcement-level": "mandatory"}
    created = create(org, name="scanner", url=service.url, hmac_key=KEY, enabled=False, global_configuration=everywhere)
    assert created.data["attributes"]["global-configuration"] == everywhere
    assert org.get(f"tasks/{created.data['id']}").data == created.data
    assert org.get(f"organizations/{org.organization}/tasks").data == [created.data]
    org.delete(f"tasks/{created.data['id']}")
    assert org.call("GET", f"tasks/{created.data['id']}").status == 404


def test_a_task_is_hidden_from_other_organizations(org, api_site, service):
    task = create(org, name="scanner", url=service.url, hmac_key=KEY).data["id"]
    stranger = api_site.stranger()
    for method, path in (("GET", f"tasks/{task}"), ("GET", f"tasks/{task}/example"), ("DELETE", f"tasks/{task}"), ("GET", f"organizations/{org.organization}/tasks")):
        assert stranger.call(method, path).status == 404, path
    assert change(stranger, task, name="mine").status == 404
    foreign = stranger.workspace()
    refused = stranger.call("POST", f"workspaces/{foreign}/tasks", attachment(task, stages=["pre_plan"]))
    refused_at(refused, "/data/relationships/task")


def test_the_organization_is_entitled_to_run_tasks(org):
    entitlements = org.attributes(f"organizations/{org.organization}/entitlement-set")
    assert entitlements["run-tasks"] and entitlements["global-run-tasks"] and entitlements["policy-enforcement"] and entitlements["sentinel"]


# ---- workspaces ----


def attachment(task, level="mandatory", **attributes):
    relations = {"task": {"data": {"type": "tasks", "id": task}}}
    return {"data": {"type": "workspace-tasks", "attributes": {"enforcement-level": level, **attributes}, "relationships": relations}}


def test_a_task_is_attached_changed_and_detached(org, service):
    task = create(org, name="scanner", url=service.url, hmac_key=KEY).data["id"]
    workspace = org.workspace()
    created = org.post(f"workspaces/{workspace}/tasks", attachment(task, stages=["post_plan", "pre_plan"])).data
    assert (created["attributes"]["stage"], created["attributes"]["stages"]) == ("post_plan", ["post_plan", "pre_plan"])
    assert created["relationships"]["task"]["data"]["id"] == task and created["relationships"]["workspace"]["data"]["id"] == workspace
    path = f"workspaces/{workspace}/tasks/{created['id']}"
    assert org.get(path).data == created and org.get(f"workspaces/{workspace}/tasks").data == [created]
    changed = org.patch(path, {"data": {"type": "workspace-tasks", "attributes": {"enforcement-level": "advisory", "stage": "pre_apply"}}}).data
    assert (changed["attributes"]["stages"], changed["attributes"]["enforcement-level"]) == (["pre_apply"], "advisory")
    shown = org.get(f"tasks/{task}", include="workspace_tasks.workspace").json
    assert sorted(item["type"] for item in shown["included"]) == ["workspace-tasks", "workspaces"]
    assert shown["data"]["relationships"]["workspace-tasks"]["data"] == [{"id": created["id"], "type": "workspace-tasks"}]
    org.delete(path)
    assert org.call("GET", path).status == 404 and org.get(f"workspaces/{workspace}/tasks").data == []


def test_invalid_and_repeated_attachments_are_refused(org, service):
    task = create(org, name="scanner", url=service.url, hmac_key=KEY).data["id"]
    workspace = org.workspace()
    path = f"workspaces/{workspace}/tasks"
    refused_at(org.call("POST", path, attachment(task, stages=["plan"])), "/data/attributes/stages")
    refused_at(org.call("POST", path, attachment(task, stages=[])), "/data/attributes/stages")
    refused_at(org.call("POST", path, attachment(task, stage="plan")), "/data/attributes/stage")
    refused_at(org.call("POST", path, attachment(task, level="strict", stage="pre_plan")), "/data/attributes/enforcement-level")
    refused_at(org.call("POST", path, attachment("task-0000000000000000", stage="pre_plan")), "/data/relationships/task")
    assert org.post(path, attachment(task)).data["attributes"]["stages"] == ["post_plan"]
    refused_at(org.call("POST", path, attachment(task, stage="pre_plan")), "/data/relationships/task")


def test_a_run_copies_its_tasks_at_creation(org, api_site, service):
    """A run calls every enabled task once for each stage. A workspace's attachment precedes the global one; post-apply is
    always advisory."""
    own = create(org, name="own", url=service.url, hmac_key=KEY).data["id"]
    everywhere = {"enabled": True, "stages": ["pre_plan", "post_apply"], "enforcement-level": "mandatory"}
    global_task = create(org, name="global", url=service.url, hmac_key=KEY, global_configuration=everywhere).data["id"]
    workspace = org.workspace()
    org.post(f"workspaces/{workspace}/tasks", attachment(own, "advisory", stages=["pre_plan"]))
    run = org.run_files(workspace, {"main.tf": ""})
    stages = org.task_stages(run)
    assert list(stages) == ["pre_plan", "post_apply"]
    levels = {name: result["attributes"]["workspace-task-enforcement-level"] for name, result in org.task_results(run, "pre_plan").items()}
    assert levels == {"own": "advisory", "global": "mandatory"}
    assert org.task_result(run, "post_apply")["attributes"]["workspace-task-enforcement-level"] == "advisory"
    # A run has a copy of its tasks: replacing a key or deleting a task does not change it.
    service.key = "another key"
    assert change(org, global_task, hmac_key="another key").status == 200
    org.delete(f"tasks/{own}")
    with psycopg.connect(api_site.database) as connection:
        keys = connection.execute("select count(distinct hmac_sealed) from task_results where run_id = %s", [run]).fetchone()
        old = connection.execute("select bool_or(r.hmac_sealed = t.hmac_sealed) from task_results r, tasks t where t.id = %s", [global_task]).fetchone()
    assert keys == (2,) and old == (False,)
    assert org.get(f"runs/{run}/task-stages").data


# ---- override ----


def test_a_stage_that_awaits_no_override_cannot_be_overridden(org, service):
    create(org, name="scanner", url=service.url, hmac_key=KEY, global_configuration={"enabled": True, "stages": ["pre_plan"], "enforcement-level": "mandatory"})
    run = org.run_files(org.workspace(), {"main.tf": ""})
    stage = until(lambda: org.task_stages(run)["pre_plan"], "the run has its stage")
    assert stage["attributes"]["actions"] == {"is-overridable": False}
    assert org.call("POST", f"task-stages/{stage['id']}/actions/override", {}).status == 409
    assert org.call("POST", "task-stages/ts-0000000000000000/actions/override", {}).status == 404
