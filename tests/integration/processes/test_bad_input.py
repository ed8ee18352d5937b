# SPDX-License-Identifier: MPL-2.0
"""Bad input gets a clear answer or a clear line in the log. Nothing is lost and nothing crashes. Cases of workspaces,
archives and states are in their own tests."""

import gzip
import io
import json
import subprocess
import tarfile

import pytest

from support.kcat import consume, produce
from support.process import clean_environment, program
from support.runyard import KEYS, Scheduler
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def client(site):
    return site.api


def has_log_line(service, message, level=None):
    """Whether a line of the process's log contains the words."""
    return any(message in json.dumps(line) and level in (None, line["level"]) for line in service.log_lines())


def run_body(workspace, relationships=None, **attributes):
    relations = {"workspace": {"data": {"type": "workspaces", "id": workspace}}, **(relationships or {})}
    return {"data": {"type": "runs", "attributes": attributes, "relationships": relations}}


# ---- requests ----


@pytest.mark.parametrize("body", [b"", b"{", b"plan, please", b"\xff\xfe\x00", b'{"data":', b"[1]", b'"data"', b"{}", b'{"data":{}}',
                                  b'{"data":{"attributes":{"message":"\\ud800"}}}', b'{"data":{"attributes":{"message":"a\\u0000b"}}}', b"[" * 5000])
def test_invalid_bodies_are_refused(client, body):
    answer = client.call("POST", "runs", body)
    assert answer.status in (400, 422), answer.text
    assert answer.json["errors"][0]["status"] == str(answer.status) and answer.errors()


@pytest.mark.parametrize(("attributes", "pointer"), [
    ({"is-destroy": "yes"}, "is-destroy"), ({"auto-apply": 1}, "auto-apply"), ({"message": ["a"]}, "message"), ({"plan-only": "true"}, "plan-only"),
    ({"target-addrs": "a.b"}, "target-addrs"), ({"replace-addrs": [1]}, "replace-addrs"), ({"variables": {"a": "b"}}, "variables"),
    ({"variables": [{"key": "a"}]}, "variables"), ({"variables": [{"key": 1, "value": "x"}]}, "variables"), ({"variables": ["a=b"]}, "variables"),
    ({"is-destroy": True, "refresh-only": True}, "refresh-only"), ({"save-plan": True, "plan-only": True}, "save-plan"),
    ({"terraform-version": "1.0.0"}, "terraform-version"), ({"terraform-version": "-chdir", "plan-only": True}, "terraform-version"),
    ({"replace-addrs": ["a.b"], "is-destroy": True}, "replace-addrs"), ({"replace-addrs": ["a.b"], "refresh-only": True}, "replace-addrs"),
    ({"refresh": False, "refresh-only": True}, "refresh"), ({"target-addrs": [""]}, "target-addrs"), ({"target-addrs": ["a" * 1025]}, "target-addrs"),
    ({"target-addrs": ["a.b"] * 1001}, "target-addrs"), ({"replace-addrs": ["a\nb"]}, "replace-addrs"), ({"policy-paths": {"a": 1}}, "policy-paths"),
    ({"policy-paths": [""]}, "policy-paths"), ({"invoke-action-addrs": [1]}, "invoke-action-addrs"), ({"debugging-mode": "on"}, "debugging-mode"),
    ({"variables": [{"key": "a b", "value": "1"}]}, "variables"), ({"variables": [{"key": "a=", "value": "1"}]}, "variables"),
    ({"variables": [{"key": "", "value": "1"}]}, "variables"), ({"message": "x" * 65537}, "message"),
])
def test_invalid_run_attributes_are_refused_with_a_pointer(client, attributes, pointer):
    workspace = client.workspace()
    client.upload(workspace, ONE)
    answer = client.call("POST", "runs", run_body(workspace, **attributes))
    assert answer.status == 422, answer.text
    assert answer.json["errors"][0]["source"]["pointer"] == f"/data/attributes/{pointer}"
    assert client.get(f"workspaces/{workspace}/runs").data == []


def test_unknown_objects_are_not_found(client):
    workspace = client.workspace()
    assert client.call("POST", "runs", run_body("ws-nonexistent000000")).status == 404
    assert client.call("POST", "runs", run_body("' or 1=1 --")).status == 404
    for path in ("workspaces/nonexistent", "runs/nonexistent", "plans/nonexistent", "applies/nonexistent", "configuration-versions/nonexistent",
                 "state-versions/nonexistent", "organizations/nonexistent", "organizations/acme/workspaces/nonexistent", "comments/nonexistent", "nowhere"):
        answer = client.call("GET", path)
        assert answer.status == 404 and answer.json["errors"][0]["status"] == "404", path
    for kind in ("apply", "discard", "cancel", "force-cancel"):
        assert client.call("POST", f"runs/nonexistent/actions/{kind}", {}).status == 404
    without_configuration = client.call("POST", "runs", run_body(workspace))
    assert without_configuration.status == 422 and "upload one first" in without_configuration.text
    foreign = client.upload(client.workspace(), ONE)
    other = client.call("POST", "runs", run_body(workspace, {"configuration-version": {"data": {"type": "configuration-versions", "id": foreign}}}))
    assert other.status == 422 and "not one of this workspace" in other.text


def test_a_taken_name_is_refused(client):
    client.workspace("taken")
    for name in ("taken", "TAKEN"):
        answer = client.call("POST", "organizations/acme/workspaces", {"data": {"type": "workspaces", "attributes": {"name": name}}})
        assert answer.status == 422 and "Name has already been taken" in answer.errors()


def member(name, kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def archive(*members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for info in members:
            tar.addfile(info, io.BytesIO())
    return out.getvalue()


@pytest.mark.parametrize("sent", [b"resource {}", gzip.compress(b"no tar"), archive(member("../up.tf")), archive(member("/etc/cron.d/x")),
                                  archive(member("etc", tarfile.SYMTYPE, "/etc"), member("etc/x"))], ids=["not gzip", "not tar", "path above the root", "absolute path", "through a link"])
def test_invalid_and_escaping_archives_are_refused(client, sent):
    workspace = client.workspace()
    body = {"data": {"type": "configuration-versions", "attributes": {"auto-queue-runs": True}}}
    version = client.post(f"workspaces/{workspace}/configuration-versions", body).data
    answer = client.call("PUT", version["attributes"]["upload-url"], sent)
    assert answer.status == 422 and answer.errors()
    shown = client.attributes(f"configuration-versions/{version['id']}")
    assert shown["status"] != "uploaded"
    relation = {"configuration-version": {"data": {"type": "configuration-versions", "id": version["id"]}}}
    assert client.call("POST", "runs", run_body(workspace, relation)).status == 422
    assert client.get(f"workspaces/{workspace}/runs").data == []


def test_a_too_large_body_is_refused(client):
    workspace = client.workspace()
    answer = client.call("POST", "runs", run_body(workspace, message="x" * (2 << 20)))
    assert answer.status == 413 and answer.json["errors"][0]["status"] == "413"


ALLOWED = {
    "pending": {"cancel", "discard"},
    "plan_queued": {"cancel"},
    "planned": {"apply", "discard"},
    "planned_and_saved": {"apply", "discard"},
    "planned_and_finished": set(),
    "applied": set(),
    "discarded": set(),
    "canceled": set(),
    "errored": set(),
}


def test_actions_not_allowed_in_a_status_are_refused(api, worker):
    """Every status in which a run waits, with every action that it refuses: the run is unchanged."""
    workspace = api.workspace()
    queued = api.run_files(api.workspace(), ONE)
    assert api.status(queued) == "plan_queued"
    runs = {"plan_queued": queued}

    def refused(status, run):
        assert api.status(run) == status
        for action in {"apply", "discard", "cancel", "force-cancel"} - ALLOWED[status]:
            answer = api.call("POST", f"runs/{run}/actions/{action}", {"comment": "no"})
            assert answer.status == 409, (status, action, answer.text)
            assert answer.json["errors"][0]["title"] == "transition not allowed" and answer.json["errors"][0]["detail"]
            assert api.status(run) == status
        assert api.get(f"runs/{run}/comments").data == []
        actions = api.attributes(f"runs/{run}")["actions"]
        assert actions == {"is-cancelable": "cancel" in ALLOWED[status], "is-confirmable": "apply" in ALLOWED[status],
                           "is-discardable": "discard" in ALLOWED[status], "is-force-cancelable": False, "is-window-overridable": False}

    refused("plan_queued", queued)
    worker()
    runs["planned"] = api.run_files(workspace, ONE)
    api.wait_status(runs["planned"], "planned")
    runs["pending"] = api.run(workspace)
    for status in ("planned", "pending"):
        refused(status, runs[status])
    for action, status in (("cancel", "canceled"), ("discard", "discarded")):
        run = api.run(workspace)
        api.post(f"runs/{run}/actions/{action}", b"")
        refused(status, run)
    for status in ("pending", "planned"):
        api.act(runs[status], "discard")
    runs["planned_and_finished"] = api.run(workspace, plan_only=True)
    runs["planned_and_saved"] = api.run(workspace, save_plan=True)
    runs["errored"] = api.run_files(api.workspace(), {"main.tf": "nonsense {}\n"})
    runs["applied"] = api.run_files(api.workspace(auto_apply=True), ONE)
    for status in ("planned_and_finished", "planned_and_saved", "errored", "applied"):
        api.wait_status(runs[status], status)
        refused(status, runs[status])


def test_invalid_configurations_end_the_run_with_a_reason(site):
    """Whatever an archive contains, the run ends errored with a reason, and the next one continues."""
    api = site.api
    workspace = api.workspace(auto_apply=True)
    for files in ({"readme.txt": "no configuration"}, {"main.tf": "\x00\x01\xff"}, {"main.tf": "x" * 100000}, {"main.tf/x": "a folder"},
                  {"main.tf": 'terraform {\n  required_version = "99.0.0"\n}\n'}, {"main.tf": 'module "m" {\n  source = "./missing"\n}\n'},
                  {"main.tf": 'resource "nothing_known" "x" {}\n'}):
        run = api.run_files(workspace, files)
        attributes = api.wait_status(run, {"errored", "planned_and_finished"})
        assert attributes["status"] == "planned_and_finished" or attributes["error"], files
    api.wait_status(api.run_files(workspace, ONE), "applied")


def test_inputs_that_look_like_options_are_not_options(site):
    api = site.api
    workspace = api.workspace(auto_apply=True)
    configuration = api.upload(workspace, ONE)
    for attributes in ({"target_addrs": ["-destroy"]}, {"replace_addrs": ["--help"]},
                       {"variables": [{"key": "-x", "value": "1"}]}, {"variables": [{"key": "x", "value": "{"}]}):
        run = api.run(workspace, configuration, **attributes)
        assert api.wait_status(run, "errored")["error"]
    api.wait_status(api.run(workspace, configuration), "applied")


# ---- messages ----

MALFORMED_RESULTS = ["no json", "{}", "[]", "null", '{"v":2,"job":"job-0000000000000000","attempt":1,"run":"run-0000000000000000","outcome":"passed"}',
           '{"v":1,"job":7,"attempt":"one","run":null,"outcome":[]}',
           '{"v":1,"job":"job-0000000000000000","attempt":1,"run":"run-0000000000000000","outcome":"splendid"}', "x" * 100000]


def dead_letters(database, *arguments, check=True):
    done = Scheduler.run_command("dead-letters", *(arguments or ["--json"]), check=check, database_url=database, keys=KEYS)
    return done if arguments else [json.loads(line) for line in done.stdout.splitlines()]


def test_malformed_results_become_dead_letters(api, scheduler, worker, bus, database):
    worker()
    produce(bus, "runyard.results", *MALFORMED_RESULTS)
    stored = until(lambda: len(dead_letters(database)) == len(MALFORMED_RESULTS) and dead_letters(database), "the dead letters are stored")
    assert {letter["payload"][:50] for letter in stored} == {text[:50] for text in MALFORMED_RESULTS}
    assert all(letter["topic"] == "runyard.results" and letter["error"] and not letter["replayed-at"] for letter in stored)
    assert scheduler.all[0].metric("runyard_dead_letters_total") == len(MALFORMED_RESULTS)
    assert has_log_line(scheduler.all[0], "went to the dead letters", "warn")
    announced = until(lambda: len(consume(bus, "runyard.dead-letters")) == len(MALFORMED_RESULTS) and consume(bus, "runyard.dead-letters"), "each dead letter is published")
    assert {json.loads(message)["topic"] for message in announced} == {"runyard.results"}
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, ONE), "applied")


def test_a_dead_letter_is_replayed(scheduler, bus, database):
    first = scheduler()
    produce(bus, "runyard.results", "no json")
    (letter,) = until(lambda: dead_letters(database), "the dead letter is stored")
    assert dead_letters(database, "replay", str(letter["id"])).returncode == 0
    letters = until(lambda: len(dead_letters(database)) == 2 and dead_letters(database), "the replayed message becomes a dead letter again")
    assert letters[0]["replayed-at"] and letters[1]["payload"] == "no json"
    assert first.ready()


def test_all_dead_letters_are_replayed_once_and_discarded(scheduler, bus, database):
    """A message that is not text, or that was truncated, can't be republished. It stays, and blocks no other."""
    scheduler()
    produce(bus, "runyard.results", "no json", "\udcff\udcfe".encode(errors="surrogateescape"), "x" * 800000)
    until(lambda: len(dead_letters(database)) == 3, "the dead letters are stored")
    output = dead_letters(database, "replay", "all").stdout
    assert "1 of 3 put back" in output and output.count("dead letter ") == 2
    until(lambda: len(dead_letters(database)) == 4, "one message becomes a dead letter again")
    shown = dead_letters(database, "list", check=False)
    assert shown.returncode != 0 and "usage" in shown.stderr
    table = Scheduler.run_command("dead-letters", database_url=database, keys=KEYS).stdout.splitlines()
    assert len(table) == 5 and len([line for line in table if "runyard.results  scheduler  20" in line]) == 1
    long = next(letter for letter in dead_letters(database) if letter["size"] == 800000)
    assert len(json.loads(dead_letters(database, "show", str(long["id"])).stdout)["payload"]) == 700 << 10
    dead_letters(database, "discard", str(long["id"]))
    assert long["id"] not in [letter["id"] for letter in dead_letters(database)]
    dead_letters(database, "discard", "all")
    assert dead_letters(database) == []


@pytest.mark.parametrize("which", ["999", "0", "x", ""])
def test_an_unknown_dead_letter_is_refused(database, which):
    Scheduler.run_command("migrate", database_url=database, keys=KEYS)
    for action in ("show", "replay", "discard"):
        done = dead_letters(database, action, which, check=False)
        assert done.returncode != 0 and ("no dead letter" in done.stderr or "usage" in done.stderr)


# ---- start ----


def start(binary, *arguments, **environment):
    return subprocess.run([program(binary), *arguments], capture_output=True, text=True, env=clean_environment(**environment))


SCHEDULER = {"RUNYARD_DATABASE_URL": "postgresql://127.0.0.1:1/x", "RUNYARD_KEYS": KEYS}
WORKER = {"RUNYARD_AGENT_TOKEN": "token-nobody-reads"}


@pytest.mark.parametrize(("binary", "arguments", "environment", "words"), [
    ("runyard-scheduler", ["--nonsense", "1"], SCHEDULER, "unknown option --nonsense"),
    ("runyard-scheduler", ["--hold-seconds", "60"], SCHEDULER, "--hold-alert-seconds"),
    ("runyard-scheduler", ["--hold-seconds=60"], SCHEDULER, "--hold-seconds: there is no such option any more"),
    ("runyard-scheduler", ["--hold-second", "60"], SCHEDULER, "unknown option --hold-second:"),
    ("runyard-scheduler", [], {**SCHEDULER, "RUNYARD_HOLD_SECONDS": "60"}, "RUNYARD_HOLD_SECONDS: there is no such option any more"),
    ("runyard-scheduler", ["--http-threads", "many"], SCHEDULER, "--http-threads: a whole number"),
    ("runyard-scheduler", ["--http-threads", "0"], SCHEDULER, "--http-threads: a whole number from 1"),
    ("runyard-scheduler", ["--lease-seconds"], SCHEDULER, "--lease-seconds: a value is needed"),
    ("runyard-scheduler", [], {**SCHEDULER, "RUNYARD_LEASE_SECONDS": "1e3"}, "RUNYARD_LEASE_SECONDS"),
    ("runyard-scheduler", [], {"RUNYARD_KEYS": KEYS}, "RUNYARD_DATABASE_URL"),
    ("runyard-scheduler", [], {**SCHEDULER, "RUNYARD_KEYS": "1:abc"}, "key"),
    ("runyard-scheduler", ["--log-level", "loud"], SCHEDULER, "--log-level"),
    ("runyard-scheduler", ["--database-url", "postgresql://user:password-nobody-reads@h/x"], SCHEDULER, "use --database-url-file"),
    ("runyard-scheduler", ["--keys=1:00"], SCHEDULER, "use --keys-file"),
    ("runyard-scheduler", ["--keys-file", "/nonexistent/keys"], SCHEDULER, "/nonexistent/keys"),
    ("runyard-scheduler", ["--grafana-url", "javascript:alert(1)"], SCHEDULER, "--grafana-url must begin with"),
    ("runyard-scheduler", ["fly"], SCHEDULER, "unknown command 'fly'"),
    ("runyard-scheduler", ["bootstrap", "admin"], SCHEDULER, "usage: runyard-scheduler bootstrap"),
    ("runyard-worker", ["--nonsense"], WORKER, "unknown option --nonsense"),
    ("runyard-worker", ["--slots", "0"], WORKER, "--slots: a whole number from 1"),
    ("runyard-worker", ["--agent-token", "token-nobody-reads"], {}, "use --agent-token-file"),
    ("runyard-worker", [], {}, "RUNYARD_AGENT_TOKEN"),
    ("runyard-worker", ["--sandbox", "magic"], WORKER, "--sandbox must be auto, bwrap or none"),
    ("runyard-worker", ["--scheduler-url", "ftp://x"], WORKER, "--scheduler-url must begin with"),
    ("runyard-worker", ["--data-dir", "/proc/nowhere"], WORKER, "--data-dir /proc/nowhere can't be"),
    ("runyard-worker", ["--provider-mirror", "/nonexistent/mirror"], WORKER, "--provider-mirror: there is no /nonexistent/mirror"),
    ("runyard-broker", ["--port", "many"], {}, "--port"),
])
def test_bad_options_end_the_start_with_the_reason(folder, binary, arguments, environment, words):
    if binary == "runyard-worker" and "--data-dir" not in arguments:
        arguments = ["--data-dir", str(folder / "data"), *arguments]
    done = start(binary, *arguments, **environment)
    assert done.returncode in (1, 2), done
    assert words in done.stderr and not done.stdout
    assert "nobody-reads" not in done.stderr and "Sanitizer" not in done.stderr


def test_secrets_are_read_from_files(folder, postgres, database):
    url, keys = folder / "url", folder / "keys"
    url.write_text(database + "\n")
    keys.write_text(KEYS + "\n")
    done = start("runyard-scheduler", "--database-url-file", str(url), "migrate", RUNYARD_KEYS_FILE=str(keys))
    assert done.returncode == 0, done.stderr
