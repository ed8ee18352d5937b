# SPDX-License-Identifier: MPL-2.0
"""How services of run tasks behave, also unusually, and the results of the tasks."""

import itertools
import re
import threading

import pytest

from support.receiver import acknowledges, answers, says, says_first
from support.wait import until

CHANGES = {"main.tf": 'resource "terraform_data" "one" {\n  input = "hello"\n}\n'}


class TaskRun:
    """A run with one mandatory task in a stage."""

    def __init__(self, site, act, stage="post_plan", **options):
        self.api = site.api
        self.stage = stage
        self.service = site.receiver.service(act)
        self.task = self.api.task(self.service, self.service.name)
        self.workspace = self.api.workspace(auto_apply=True)
        self.api.attach(self.workspace, self.task, stage)
        self.run = self.api.run_files(self.workspace, CHANGES, message="Größe – 100 %", **options)

    def result(self):
        return self.api.task_result(self.run, self.stage)

    def attributes(self):
        return self.result()["attributes"]

    def ends(self, status):
        """Waits until the task has that result. Returns its attributes."""
        self.api.wait_status(self.run, "applied" if status == "passed" else "errored")
        attributes = self.attributes()
        assert attributes["status"] == status, attributes
        return attributes

    def deliveries(self):
        return self.api.deliveries(self.result())


@pytest.fixture
def ask(full_site):
    """ask(act) starts a run with a task whose service has that behaviour."""
    return lambda act, *arguments, **options: TaskRun(full_site, act, *arguments, **options)


# ---- the request ----


def test_the_request_has_all_documented_members(ask):
    task_run = ask(says("passed"))
    call = task_run.service.got()
    run = task_run.api.get(f"runs/{task_run.run}").data
    base = task_run.api.url
    document = dict(call.document)
    assert document.pop("access_token") and document.pop("run_created_at").endswith("Z")
    assert document.pop("task_result_callback_url").endswith(f"/api/v2/task-results/{document['task_result_id']}/callback")
    workspace = task_run.api.attributes(f"workspaces/{task_run.workspace}")
    project = task_run.api.get(f"workspaces/{task_run.workspace}").data["relationships"]["project"]["data"]["id"]
    configuration = run["relationships"]["configuration-version"]["data"]["id"]
    name = workspace["name"]
    assert document.pop("project_app_url").startswith(base)
    assert document == {
        "payload_version": 1, "stage": "post_plan", "capabilities": {"outcomes": True}, "is_speculative": False,
        "configuration_version_id": configuration, "configuration_version_download_url": f"{base}/api/v2/configuration-versions/{configuration}/download",
        "plan_json_api_url": f"{base}/api/v2/plans/{task_run.api.sibling(task_run.run, 'plan')}/json-output",
        "organization_name": "acme", "workspace_id": task_run.workspace, "workspace_name": name, "workspace_app_url": f"{base}/app/acme/{name}",
        "workspace_working_directory": workspace["working-directory"], "run_id": task_run.run, "run_app_url": f"{base}/app/acme/{name}/runs/{task_run.run}",
        "run_message": "Größe – 100 %", "run_created_by": "admin", "task_result_id": task_run.result()["id"], "task_result_enforcement_level": "mandatory",
        "vcs_branch": None, "vcs_commit_url": None, "vcs_pull_request_url": None, "vcs_repo_url": None, "vcs_commit_hash": None,
        "project_id": project, "project_name": "Default Project",
    }
    task_run.ends("passed")


def test_a_pre_plan_request_has_no_plan_url(ask):
    task_run = ask(says("passed"), "pre_plan")
    assert "plan_json_api_url" not in task_run.service.got().document
    task_run.ends("passed")


def test_the_access_token_reads_only_the_plan_and_the_configuration(ask):
    seen = {}

    def look(call):
        call.answer()
        for name in ("plan_json_api_url", "configuration_version_download_url"):
            seen[name] = call.ask("GET", call[name]).status
        root = call["plan_json_api_url"].split("/api/v2/")[0] + "/api/v2/"
        others = ("runs/" + call["run_id"], "workspaces/" + call["workspace_id"], f"workspaces/{call['workspace_id']}/current-state-version",
                  f"workspaces/{call['workspace_id']}/vars", "organizations", "account/details")
        for path in others:
            seen[path] = call.ask("GET", root + path).status
        call.back("passed")

    task_run = ask(look)
    task_run.ends("passed")
    opened = {path for path, status in seen.items() if status == 200}
    assert opened == {"plan_json_api_url", "configuration_version_download_url"}, seen
    assert set(seen.values()) <= {200, 401, 403, 404}, seen
    call = task_run.service.calls[0]
    assert call.ask("GET", call["plan_json_api_url"]).status in (401, 404), "the token is still valid after its task"


def test_the_signature_is_empty_without_an_hmac_key(full_site):
    api = full_site.api
    service = full_site.receiver.service(says("passed"), key="")
    workspace = api.workspace(auto_apply=True)
    api.attach(workspace, api.task(service, hmac_key=None), "pre_plan")
    api.wait_status(api.run_files(workspace, CHANGES), "applied")
    assert service.calls[0].headers["X-TFC-Task-Signature"] == ""


# ---- answers ----


def test_a_callback_before_the_answer_is_accepted(ask):
    task_run = ask(says_first("passed", "seen at once"))
    assert task_run.ends("passed")["message"] == "seen at once"
    assert task_run.service.answers == [200] and len(task_run.service.calls) == 1


@pytest.mark.parametrize("code", [500, 401, 404])
@pytest.mark.parametrize("status", ["passed", "failed"])
def test_an_error_answer_after_the_callback_does_not_change_the_result(ask, status, code):
    task_run = ask(says_first(status, "as I said", code=code))
    assert task_run.ends(status)["message"] == "as I said"
    assert len(task_run.service.calls) == 1


def test_requests_are_repeated_until_the_answer_is_200(ask):
    task_run = ask(answers(503, 202, then=says("passed")))
    task_run.ends("passed")
    assert len(task_run.service.calls) == 3
    assert [delivery["status"] for delivery in task_run.deliveries()] == [503, 202, 200]
    assert len({call["access_token"] for call in task_run.service.calls}) == 1


def test_a_callback_is_accepted_while_the_request_is_retried(ask):
    back = threading.Event()

    def act(call):
        call.answer(500)
        if not back.is_set():
            back.set()
            call.back("passed", "after all")

    task_run = ask(act)
    assert task_run.ends("passed")["message"] == "after all"


def test_a_service_that_never_acknowledges_fails(ask):
    task_run = ask(answers(500))
    message = task_run.ends("failed")["message"]
    assert "500" in message, message
    assert len(task_run.service.calls) > 1


def test_a_service_that_never_answers_is_unreachable(ask):
    message = ask(lambda call: call.decided.wait()).ends("unreachable")["message"]
    assert "could not be delivered" in message


def test_retries_respect_retry_after(ask):
    task_run = ask(answers(429, retry_after=2, then=says("passed")))
    task_run.ends("passed")
    first, second = (delivery["sent-at"] for delivery in task_run.deliveries())
    assert seconds(second) - seconds(first) >= 1.9, (first, second)


def seconds(time):
    hours, minutes, rest = time.split("T")[1].rstrip("Z").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def test_a_request_is_retried_after_its_connection_closed(ask):
    tries = itertools.count()
    passes = says("passed")
    # Twice, since libcurl itself retries if the first connection was a reused one.
    task_run = ask(lambda call: call.hang_up() if next(tries) < 2 else passes(call))
    task_run.ends("passed")
    first, *_, last = task_run.deliveries()
    assert (first["status"], last["status"]) == (0, 200) and first["error"], first


def test_a_closed_reused_connection_does_not_delay_other_requests(full_site):
    """libcurl then repeats the request by itself. The host's other requests must not wait for that."""
    api = full_site.api
    tries = itertools.count()
    passes = says("passed")
    service = full_site.receiver.service(lambda call: call.hang_up() if next(tries) == 1 else passes(call))
    workspace = api.workspace(auto_apply=True)
    api.attach(workspace, api.task(service), ["pre_plan", "post_plan", "pre_apply", "post_apply"])
    api.wait_status(api.run_files(workspace, CHANGES), "applied")
    assert [call["stage"] for call in service.calls] == ["pre_plan", "post_plan", "post_plan", "pre_apply", "post_apply"]


def test_a_redirect_is_not_followed(ask, full_site):
    elsewhere = full_site.receiver.service(says("passed"))
    task_run = ask(answers(302, location=elsewhere.url))
    task_run.ends("failed")
    assert elsewhere.calls == []


def test_a_service_that_closes_every_connection_is_unreachable(ask, full_site):
    api = full_site.api
    service = full_site.receiver.service(says("passed"))
    workspace = api.workspace(auto_apply=True)
    task = api.task(service)
    api.attach(workspace, task, "pre_plan")
    body = {"data": {"type": "tasks", "attributes": {"url": "http://127.0.0.1:9/gone"}}}
    refused = api.call("PATCH", f"tasks/{task}", body)
    assert refused.status == 422, refused.text
    service.act = lambda call: call.hang_up()
    run = api.run_files(workspace, CHANGES)
    api.wait_status(run, "errored")
    result = api.task_result(run, "pre_plan")
    assert result["attributes"]["status"] == "unreachable", result
    assert all(delivery["status"] == 0 and delivery["error"] for delivery in api.deliveries(result))


def test_the_delivery_log_hides_answers_of_addresses_on_the_allow_list(ask):

    def act(call):
        call.answer(200, b"x" * 3_000_000)
        call.back("passed")

    task_run = ask(act)
    task_run.ends("passed")
    until(task_run.deliveries, "the delivery is in the log")
    assert [(delivery["status"], delivery["answer"]) for delivery in task_run.deliveries()] == [(200, None)]


# ---- the callback ----


def test_progress_extends_the_deadline(ask, full_site):
    """The task takes three times as long as a service may be silent."""
    silent = full_site.scheduler.options["task_progress_seconds"]
    steps = []

    def act(call):
        call.answer()
        for step in range(6):
            done = threading.Event()
            done.wait(silent / 2)
            steps.append(call.back("running", f"step {step}").status)
        call.back("passed", "done")

    task_run = ask(act)
    until(lambda: len(steps) > 1, "progress")
    assert task_run.attributes()["status"] == "running" and task_run.attributes()["message"].startswith("step")
    assert task_run.ends("passed")["message"] == "done"
    assert steps == [200] * 6


def test_a_task_with_endless_progress_fails_after_its_total_time(ask, full_site):
    pause = threading.Event()

    def act(call):
        call.answer()
        while call.back("running").status == 200:
            pause.wait(full_site.scheduler.options["task_progress_seconds"] / 2)

    assert "total time limit" in ask(act).ends("failed")["message"]


def test_a_silent_task_fails_and_its_late_callback_is_refused(ask):
    task_run = ask(acknowledges)
    task_run.service.got()
    wait = until(lambda: "called back" in (shown := task_run.api.attributes(f"runs/{task_run.run}/waiting"))["text"] and shown, "the run waits for the callback")
    assert wait["code"] == "run_task" and re.fullmatch(r'Run task "[^"]+" has not called back: \d+ s of \d+ s\.', wait["text"])
    message = task_run.ends("failed")["message"]
    assert "No answer" in message
    assert task_run.service.calls[0].back("passed").status == 409
    assert task_run.attributes()["status"] == "failed"


def test_a_repeated_result_is_accepted_and_a_different_one_is_refused(ask):
    def act(call):
        call.answer()
        for status in ("passed", "passed", "failed", "running"):
            call.back(status, status)

    task_run = ask(act)
    assert task_run.ends("passed")["message"] == "passed"
    until(lambda: len(task_run.service.answers) == 4, "all callbacks are answered")
    assert task_run.service.answers == [200, 200, 409, 409]


def test_callbacks_with_another_token_or_task_are_refused(ask):
    found = {}

    def act(call):
        call.answer()
        found["another token"] = call.back("passed", token="ry_task_0000000000000000").status
        url = call["task_result_callback_url"]
        found["another task"] = call.ask("PATCH", url.replace(call["task_result_id"], "taskrs-0000000000000000"), b'{"data":{"type":"task-results","attributes":{"status":"passed"}}}').status
        call.back("passed")

    ask(act).ends("passed")
    assert found == {"another token": 401, "another task": 404}


def outcome(**attributes):
    return {"type": "task-result-outcomes", "attributes": {"outcome-id": "ST-1", "description": "a finding", **attributes}}


def result(status="passed", outcomes=None, relation="outcomes", kind="task-results", **attributes):
    data = {"type": kind, "attributes": {"status": status, **attributes}}
    if outcomes is not None:
        data["relationships"] = {relation: {"data": outcomes}}
    return {"data": data}


REFUSED = [
    (b"no JSON", ""),
    ({}, "/data"),
    (result(kind="tasks"), "/data/type"),
    (result("errored"), "/data/attributes/status"),
    (result(message="m" * 1001), "/data/attributes/message"),
    (result(url="javascript:alert(1)"), "/data/attributes/url"),
    (result(url="https://example.com/" + "u" * 490), "/data/attributes/url"),
    (result(outcomes=[outcome()] * 251), "/data/relationships/outcomes/data"),
    (result(outcomes=[outcome(**{"outcome-id": "i" * 65})]), "/data/relationships/outcomes/data/0/attributes/outcome-id"),
    (result(outcomes=[outcome(description="d" * 1001)]), "/data/relationships/outcomes/data/0/attributes/description"),
    (result(outcomes=[outcome(body="b" * 1_048_577)]), "/data/relationships/outcomes/data/0/attributes/body"),
    (result(outcomes=[outcome(tags={f"tag {n}": [] for n in range(11)})]), "/data/relationships/outcomes/data/0/attributes/tags"),
    (result(outcomes=[outcome(tags={"Severity": [{"label": "l" * 33}]})]), "/data/relationships/outcomes/data/0/attributes/tags/Severity/0/label"),
    (result(outcomes=[outcome(tags={"Severity": [{"label": "High", "level": "fatal"}]})]), "/data/relationships/outcomes/data/0/attributes/tags/Severity/0/level"),
]


def test_errors_of_invalid_callbacks_have_a_pointer(ask):
    """None of them ends the task."""
    found = []

    def act(call):
        call.answer()
        found.extend(call.back_with(document) for document, _ in REFUSED)
        call.back("passed", "in the end")

    assert ask(act).ends("passed")["message"] == "in the end"
    for answer, (document, pointer) in zip(found, REFUSED):
        assert answer.status == 422, (document, answer.text)
        (error,) = answer.json["errors"]
        if pointer:
            assert error["source"]["pointer"].startswith(pointer), error


def test_alternative_spellings_of_types_are_accepted(ask):
    def act(call):
        call.answer()
        call.back_with(result(kind="task_results", outcomes=[outcome()], relation="task-result-outcomes"))

    task_run = ask(act)
    task_run.ends("passed")
    assert len(task_run.api.get(f"task-results/{task_run.result()['id']}/outcomes").data) == 1


def test_outcomes_are_stored_as_sent_and_updated_by_id(ask):
    body = "# Resolution\n\n* one\n* <script>two</script>\n"
    tags = {"Severity": [{"label": "High", "level": "error"}, {"label": "Recoverable"}], "Cost Centre": [{"label": "IT-OPS"}]}

    def act(call):
        call.answer()
        call.back("running", "half", outcomes=[outcome(body=body, tags=tags, url="https://example.com/1"), outcome(**{"outcome-id": "ST-2"})])
        better = [outcome(**{"outcome-id": "ST-2", "description": text}) for text in ("said again", "said better")]
        call.back("failed", "two findings", url="https://example.com/all", outcomes=better)

    task_run = ask(act)
    attributes = task_run.ends("failed")
    assert (attributes["url"], attributes["task-result-outcomes-count"]) == ("https://example.com/all", 2)
    first, second = task_run.api.get(f"task-results/{task_run.result()['id']}/outcomes").data
    assert (first["attributes"]["outcome-id"], first["attributes"]["url"], second["attributes"]["description"]) == ("ST-1", "https://example.com/1", "said better")
    read = {tag["label"]: tag["value"] for tag in first["attributes"]["tags"]}
    assert read["Severity"] == [{"label": "High", "level": "error"}, {"label": "Recoverable", "level": "none"}] and set(read) == set(tags)
    shown = task_run.api.ask("GET", task_run.api.url + first["links"]["body"])
    assert shown.text == body and shown.headers["Content-Type"].startswith("text/plain")


def test_an_answer_on_a_closing_connection_has_the_header_connection_close(ask):
    """urllib requires it."""
    heads = []

    def act(call):
        call.answer()
        heads.append(call.back("passed").headers["Connection"])

    ask(act).ends("passed")
    assert [head.lower() for head in heads] == ["close"]


# ---- tasks ----


def test_a_new_task_is_verified_with_a_request(full_site):
    api, receiver = full_site.api, full_site.receiver
    service = receiver.service(says("passed"))
    service.test_code = 500
    refused = api.call("POST", "organizations/acme/tasks", {"data": {"type": "tasks", "attributes": {
        "name": "unverified", "url": service.url, "category": "task", "hmac-key": service.key}}})
    assert refused.status == 422, refused.text
    service.test_code = 200
    task = api.task(service)
    (_, call) = service.tests
    assert (call["stage"], call["access_token"], call["task_result_enforcement_level"]) == ("test", "test-token", "test")
    assert call["task_result_callback_url"] and call.back("passed").status in (401, 404)
    api.patch(f"tasks/{task}", {"data": {"type": "tasks", "attributes": {"hmac-key": "a new key"}}})
    assert api.attributes(f"tasks/{task}")["hmac-key"] is None
    service.wrong.clear()  # the verification was made with the new key, as expected
    service.key = "a new key"
    workspace = api.workspace(auto_apply=True)
    api.attach(workspace, task, "pre_plan")
    api.wait_status(api.run_files(workspace, CHANGES), "applied")


@pytest.mark.parametrize("url", ["http://10.1.2.3/", "http://127.0.0.2/", "http://[::ffff:127.0.0.2]/", "http://169.254.169.254/latest", "http://[fe80::1]/", "ftp://example.com/"])
def test_tasks_with_private_addresses_are_refused(full_site, url):
    refused = full_site.api.call("POST", "organizations/acme/tasks", {"data": {"type": "tasks", "attributes": {"name": "within", "url": url, "category": "task"}}})
    assert refused.status == 422, refused.text
    assert [error["source"]["pointer"] for error in refused.json["errors"]] == ["/data/attributes/url"]


def test_a_notifier_does_not_call_addresses_that_are_not_allowed(scheduler, worker, notifier, receiver, api):
    """The name of an address that the scheduler permitted may resolve to another address later."""
    worker()
    notifier(allow="")
    service = receiver.service(says("passed"))
    workspace = api.workspace(auto_apply=True)
    api.attach(workspace, api.task(service), "pre_plan")
    run = api.run_files(workspace, CHANGES)
    api.wait_status(run, "errored")
    result = api.task_result(run, "pre_plan")
    assert result["attributes"]["status"] == "unreachable" and service.calls == []
    (delivery,) = api.deliveries(result)
    assert delivery["status"] == 0 and "127.0.0.1" in delivery["error"], delivery


def test_a_request_is_redelivered_on_request(ask):
    tries = itertools.count()
    passes = says("passed")
    task_run = ask(lambda call: call.answer() if next(tries) == 0 else passes(call))
    task_run.service.got(1)
    until(task_run.deliveries, "the delivery is in the log")
    task_run.api.post(f"task-results/{task_run.result()['id']}/actions/redeliver")
    task_run.ends("passed")
    assert len(task_run.service.calls) == 2


def test_global_tasks_run_in_every_workspace(full_site):
    api = full_site.api
    service = full_site.receiver.service(says("passed"))
    configuration = {"enabled": True, "stages": ["pre_plan"], "enforcement-level": "mandatory"}
    task = api.task(service, "everywhere", global_configuration=configuration)
    try:
        workspace = api.workspace(auto_apply=True)
        api.wait_status(api.run_files(workspace, CHANGES), "applied")
        assert [call["workspace_id"] for call in service.calls] == [workspace]
    finally:
        api.delete(f"tasks/{task}")
    api.wait_status(api.run(workspace), "planned_and_finished")
    assert len(service.calls) == 1


@pytest.mark.parametrize("change", ["task", "attachment"])
def test_a_deleted_task_still_runs_for_existing_runs(full_site, change):
    """A run keeps the tasks that it had at its creation."""
    api = full_site.api
    service = full_site.receiver.service(acknowledges)
    task = api.task(service)
    workspace = api.workspace(auto_apply=True)
    attached = api.attach(workspace, task, "pre_plan")
    run = api.run_files(workspace, CHANGES)
    call = service.got()
    api.delete(f"tasks/{task}" if change == "task" else f"workspaces/{workspace}/tasks/{attached}")
    assert call.back("passed").status == 200
    api.wait_status(run, "applied")
    api.wait_status(api.run(workspace), "planned_and_finished")
    assert len(service.calls) == 1
