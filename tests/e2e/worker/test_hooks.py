# SPDX-License-Identifier: MPL-2.0
"""The operator's hooks around plans and applies (--hooks-dir), in the job's sandbox and outside of it."""

import base64
import json
import os
import signal

import pytest

from support.configurations import applying
from support.engine import each_engine
from support.gate import Gate
from support.proc import processes_with
from support.process import give_to_workers
from support.wait import until

KINDS = ("pre-plan", "post-plan", "pre-apply", "post-apply")
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
FAILING_PLAN = {"main.tf": 'resource "terraform_data" "one" {\n  input = file("absent")\n}\n'}
SECRET = "a-secret-of-the-hook"


class Programs:
    """A folder of hooks."""

    def __init__(self, folder):
        self.folder = folder / "programs"
        self.folder.mkdir()
        self.record = folder / "record"
        self.record.mkdir()
        give_to_workers(self.record)

    def write(self, kind, script, shell="/bin/sh"):
        """Replaces the hook."""
        path, new = self.folder / f"terraform-{kind}", self.folder / "new"
        new.write_text(f"#!{shell}\n{script}\n")
        new.chmod(0o755)
        return new.rename(path)

    def records(self, kind, text=""):
        """A trusted hook that notes that it ran, and what `text` expands to."""
        self.write(kind, f'echo "{kind}{text}" >>{self.record}/ran')

    def ran(self):
        path = self.record / "ran"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def programs(folder):
    return Programs(folder)


@pytest.fixture(params=[pytest.param(0, id="sandboxed"), pytest.param(1, id="trusted", marks=pytest.mark.extended)])
def trusted(request):
    return request.param


def ended(api, run):
    return api.wait_status(run, {"applied", "errored", "canceled", "planned_and_finished"})


def order(log, *parts):
    """Checks that the log has these parts in this order, each once."""
    assert all(log.count(part) == 1 for part in parts), (parts, log)
    places = [log.index(part) for part in parts]
    assert places == sorted(places), (parts, log)


@each_engine()
def test_each_hook_runs_at_its_place_with_its_output_in_the_log(api, worker, programs, trusted, engine):
    for kind in KINDS:
        programs.write(kind, f'echo "out of {kind}, $TFC_RUN_ID in $(ls main.tf)"; echo "err of {kind}" >&2')
    one = worker(hooks_dir=programs.folder, hooks_trusted=trusted)
    assert [line["hooks"] for line in one.log_lines() if line["msg"] == "worker started"] == ["pre-plan, post-plan, pre-apply, post-apply"]
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "applied")
    for stage, end in (("plan", '"type":"planned_change"'), ("apply", '"type":"apply_complete"')):
        order(api.log(run, stage), f"{engine.title} v{engine.version}\n", f"Executing pre-{stage} hook...\n", f"out of pre-{stage}, {run} in main.tf\n", f"err of pre-{stage}\n",
              "Initializing plugins and modules...\n", end, f"Executing post-{stage} hook...\n", f"out of post-{stage}, {run} in main.tf\n")
    assert api.resources(workspace) == ["terraform_data.one"]


@each_engine()
@pytest.mark.parametrize("kind", KINDS)
def test_a_failing_hook_fails_its_stage_with_its_name(api, worker, programs, trusted, kind):
    programs.write(kind, "echo before the end; exit 3")
    worker(hooks_dir=programs.folder, hooks_trusted=trusted)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE)
    attributes = ended(api, run)
    sentence = f"The {kind} hook ended with exit code 3."
    assert attributes["status"] == "errored" and sentence in attributes["error"], attributes
    log = api.log(run, kind.partition("-")[2])
    assert "before the end\n" in log and f"{sentence}\n" in log
    assert ("Initializing plugins" in log) == kind.startswith("post-")
    assert api.resources(workspace) == (["terraform_data.one"] if kind == "post-apply" else [])
    assert not api.attributes(f"workspaces/{workspace}")["locked"]


def test_a_run_whose_post_apply_hook_failed_shows_what_was_applied(api, worker, programs):
    """Its state is the workspace's, and the next plan has nothing to do."""
    programs.write("post-apply", "exit 1")
    worker(hooks_dir=programs.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE)
    error = ended(api, run)["error"]
    assert error == "The apply has succeeded: its changes are made. The run is errored because of a hook. The post-apply hook ended with exit code 1."
    apply = api.attributes(f"applies/{api.sibling(run, 'apply')}")
    assert (apply["status"], apply["resource-additions"]) == ("errored", 1)
    assert ended(api, api.run_files(workspace, ONE))["status"] == "planned_and_finished"


@each_engine()
def test_post_hooks_run_after_a_failed_engine_whose_error_stays(api, worker, programs, trusted):
    programs.write("post-plan", "echo post-plan ran; exit 4")
    programs.write("post-apply", "echo post-apply ran")
    worker(hooks_dir=programs.folder, hooks_trusted=trusted)
    run = api.run_files(api.workspace(), FAILING_PLAN)
    assert "hook" not in ended(api, run)["error"] and "post-plan ran\n" in api.log(run, "plan")
    (programs.folder / "terraform-post-plan").write_text("#!/bin/sh\n")
    run = api.run_files(api.workspace(auto_apply=True), applying("exit 5"))
    assert "hook" not in ended(api, run)["error"] and "post-apply ran\n" in api.log(run, "apply")


def test_a_hook_that_takes_too_long_is_killed_with_all_its_processes(api, worker, programs, trusted, folder):
    gate = Gate(folder, "late")
    programs.write("pre-plan", f"(setsid cat {gate.path} &)\n{gate.command}")
    worker(hooks_dir=programs.folder, hooks_trusted=trusted, hook_seconds=1, sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(), ONE)
    assert "The pre-plan hook took longer than 1 s (--hook-seconds of the worker) and was killed." in ended(api, run)["error"]
    assert not processes_with(gate.path)


def test_processes_that_a_hook_leaves_behind_end_with_it(api, worker, programs, trusted, folder):
    gate = Gate(folder, "left")
    programs.write("pre-plan", f"setsid cat {gate.path} >/dev/null 2>&1 &\nexit 0")
    worker(hooks_dir=programs.folder, hooks_trusted=trusted, sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(), ONE)
    api.wait_status(run, "planned")
    assert not processes_with(gate.path)


def test_output_without_an_end_meets_the_limit_of_the_log(api, worker, programs, trusted):
    programs.write("pre-plan", "yes a line of a hook that does not stop")
    worker(hooks_dir=programs.folder, hooks_trusted=trusted, job_log=1, job_stop_seconds=2)
    assert "--job-log" in ended(api, api.run_files(api.workspace(), ONE))["error"]


# ---- TFC_AGENT_ENV ----

GIVEN = {"main.tf": """
variable "given" {
  default = "nothing"
}
resource "terraform_data" "given" {
  input = var.given
  provisioner "local-exec" {
    command = "echo \\"at the apply: $OF_PLAN,$OF_APPLY,$LONG\\""
  }
}
"""}


@each_engine()
def test_a_hook_sets_variables_of_the_commands_of_its_job(api, worker, programs, trusted):
    """They are not those of the other stage, nor of the next hook. Long values are redacted."""
    programs.write("pre-plan", "printf 'TF_VAR_given=by the hook=1\\n\\nOF_PLAN=set' >>$TFC_AGENT_ENV")
    programs.write("post-plan", "echo \"next hook: $TF_VAR_given.$OF_PLAN.\"")
    programs.write("pre-apply", f"echo OF_APPLY=set >$TFC_AGENT_ENV; echo LONG={SECRET} >>$TFC_AGENT_ENV")
    worker(hooks_dir=programs.folder, hooks_trusted=trusted)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, GIVEN)
    api.wait_status(run, "applied")
    assert "next hook: ..\n" in api.log(run, "plan")
    assert api.state(workspace)["resources"][0]["instances"][0]["attributes"]["input"]["value"] == "by the hook=1"
    log = api.log(run, "apply")
    assert "at the apply: ,set,(sensitive value)" in log and SECRET not in log


@pytest.mark.parametrize(("line", "why"), [
    ("TF_CLI_CONFIG_FILE=/tmp/x", "line 2: sets TF_CLI_CONFIG_FILE, which the worker sets itself"), ("HOME=/", "line 2: sets HOME, which"),
    ("no equals sign", 'line 2: has no "="'), ("1X=y", "line 2: has no valid name"), ("=y", "line 2: has no valid name")])
def test_invalid_variables_fail_the_hook(api, worker, programs, line, why):
    programs.write("pre-plan", f"echo A=b >$TFC_AGENT_ENV; echo '{line}' >>$TFC_AGENT_ENV")
    worker(hooks_dir=programs.folder)
    error = ended(api, api.run_files(api.workspace(), ONE))["error"]
    assert error.startswith("The file TFC_AGENT_ENV of the pre-plan hook can't be used: ") and why in error, error


@pytest.mark.parametrize("script", ["rm $TFC_AGENT_ENV", "rm $TFC_AGENT_ENV; ln -s /etc/passwd $TFC_AGENT_ENV", "rm $TFC_AGENT_ENV; mkfifo $TFC_AGENT_ENV",
                                    "head -c 100000 /dev/zero >$TFC_AGENT_ENV", "head -c 10 /dev/zero >$TFC_AGENT_ENV"])
def test_a_file_that_is_no_list_of_variables_fails_the_hook(api, worker, programs, trusted, script):
    programs.write("pre-plan", script)
    worker(hooks_dir=programs.folder, hooks_trusted=trusted)
    assert "The file TFC_AGENT_ENV of the pre-plan hook can't be used" in ended(api, api.run_files(api.workspace(), ONE))["error"]


# ---- the identity ----


def test_hooks_get_the_identity_of_their_stage(api, worker, programs, trusted):
    """A trusted hook gets no value that a user set in its place."""
    for kind in KINDS:
        programs.write(kind, 'echo "claims:$(echo "$TFC_WORKLOAD_IDENTITY_TOKEN_X" | cut -d. -f2):$TFC_WORKLOAD_IDENTITY_TOKEN_FORGED:"')
    worker(hooks_dir=programs.folder, hooks_trusted=trusted)
    workspace = api.workspace(auto_apply=True)
    api.variable(workspace, "TFC_WORKLOAD_IDENTITY_AUDIENCE_X", "an-audience", category="env")
    api.variable(workspace, "TFC_WORKLOAD_IDENTITY_TOKEN_FORGED", "forged", category="env")
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "applied")
    for kind in KINDS:
        phase = kind.partition("-")[2]
        log = api.log(run, phase).partition(f"Executing {kind} hook...")[2]
        _, claims, forged, _ = log.split("\n")[1].split(":")
        claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
        assert claims["aud"] == "an-audience" and claims["terraform_run_phase"] == phase and claims["terraform_run_id"] == run
        assert forged == ("" if trusted else "forged")


# ---- where they run ----


def test_a_sandboxed_hook_is_alone_with_the_folder_of_hooks(api, worker, programs, sandbox):
    if sandbox != "bwrap":
        pytest.skip("without a sandbox hooks run as jobs do")
    programs.write("pre-plan", "echo \"hooks: $(ls /hooks)\"; touch /hooks/x 2>/dev/null && echo wrote; ls -A /.host/*/ 2>/dev/null | grep -v '^/\\|^$'; pwd; echo $0")
    worker(hooks_dir=programs.folder)
    run = api.run_files(api.workspace(auto_apply=True), applying("echo other: $(ls -A /hooks 2>/dev/null)."))
    api.wait_status(run, "applied")
    log = api.log(run, "plan").partition("Executing pre-plan hook...\n")[2].partition("Initializing")[0]
    assert log == "hooks: terraform-pre-plan\n/job/config\n/hooks/terraform-pre-plan\n"
    assert '"output":"other: ."' in api.log(run, "apply"), api.log(run, "apply")


def test_a_trusted_hook_runs_as_the_workers_account_in_its_network(api, worker, programs, folder):
    programs.write("pre-plan", f"echo \"$(id -u) $(readlink /proc/self/ns/net) $(pwd)\"; ls {folder}")
    one = worker(hooks_dir=programs.folder, hooks_trusted=1)
    run = api.run_files(api.workspace(), ONE)
    api.wait_status(run, "planned")
    log = api.log(run, "plan")
    user = os.stat(f"/proc/{one.pid}").st_uid or os.stat(one.options["data_dir"]).st_uid
    assert f"{os.stat(one.options['data_dir']).st_uid} {os.readlink('/proc/self/ns/net')} {one.options['data_dir']}/jobs/" in log and user, log
    assert "\nprograms\n" in log


def test_a_replaced_hook_is_used_from_the_next_job_on(api, worker, programs, trusted, gate):
    programs.write("pre-plan", f"{gate.command}\necho the first program")
    worker(hooks_dir=programs.folder, hooks_trusted=trusted, sandbox_bind=gate.folder)
    first = api.run_files(api.workspace(), ONE)
    gate.wait()
    programs.write("pre-plan", "echo the second program")
    gate.open()
    second = api.run_files(api.workspace(), ONE)
    for run, word in ((first, "first"), (second, "second")):
        api.wait_status(run, "planned")
        assert f"the {word} program\n" in api.log(run, "plan")


@pytest.mark.parametrize("change", [lambda path: path.unlink(), lambda path: path.chmod(0o757), lambda path: path.chmod(0o644)], ids=["missing", "open", "not executable"])
def test_a_hook_that_is_not_usable_any_more_fails_the_job(api, worker, programs, trusted, change):
    path = programs.write("pre-plan", "echo ran")
    worker(hooks_dir=programs.folder, hooks_trusted=trusted)
    change(path)
    run = api.run_files(api.workspace(), ONE)
    assert "The pre-plan hook can't be started: " in ended(api, run)["error"] and "ran\n" not in api.log(run, "plan")


# ---- stops ----


def test_a_cancel_ends_a_hook(api, worker, programs, trusted, gate):
    programs.write("pre-plan", gate.command)
    worker(hooks_dir=programs.folder, hooks_trusted=trusted, sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(), ONE)
    gate.wait()
    api.act(run, "cancel")
    assert ended(api, run)["status"] == "canceled" and not processes_with(gate.path)


def test_a_cancel_in_the_post_apply_hook_does_not_hide_the_apply(api, worker, programs, trusted, gate):
    programs.write("post-apply", gate.command)
    worker(hooks_dir=programs.folder, hooks_trusted=trusted, sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE)
    gate.wait()
    api.act(run, "cancel")
    api.wait_status(run, "applied")
    assert "\nThe post-apply hook was stopped before its end.\n" in api.log(run, "apply")
    assert not processes_with(gate.path) and api.resources(workspace) == ["terraform_data.one"]


def test_a_worker_that_must_end_stops_the_post_apply_hook(api, worker, programs, trusted, gate):
    """The second signal: the run is errored, and says that it was applied."""
    programs.write("post-apply", gate.command)
    one = worker(hooks_dir=programs.folder, hooks_trusted=trusted, sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE)
    gate.wait()
    one.process.send(signal.SIGTERM)
    until(lambda: one.metric("runyard_worker_draining") == 1, "it drains")
    one.process.send(signal.SIGTERM)
    assert one.process.ended() == 1 and not processes_with(gate.path)
    error = ended(api, run)["error"]
    assert error.startswith("The apply has succeeded") and error.endswith("The post-apply hook was stopped before its end."), error
    assert api.resources(workspace) == ["terraform_data.one"]


def test_the_post_apply_hook_runs_after_a_canceled_apply(api, worker, programs, gate):
    programs.write("post-apply", "echo after the cancel")
    worker(hooks_dir=programs.folder, sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(auto_apply=True), applying(gate.command))
    gate.wait()
    api.act(run, "cancel")
    assert ended(api, run)["status"] == "canceled" and "after the cancel\n" in api.log(run, "apply")


@pytest.mark.parametrize("kind", ["pre-plan", "pre-apply"])
def test_a_worker_that_is_killed_in_a_pre_hook_leaves_its_job_to_another(request, scheduler, worker, programs, trusted, gate, kind):
    """The hook's processes die with the worker. terraform was not started, so even the apply is started again."""
    scheduler(lease_seconds=3)
    api = request.getfixturevalue("api")
    programs.write(kind, gate.command)
    one = worker(hooks_dir=programs.folder, hooks_trusted=trusted, sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE)
    gate.wait()
    one.kill()
    until(lambda: not processes_with(gate.path), "the hook's processes are dead")
    gate.left()
    gate.open()
    worker(hooks_dir=programs.folder, hooks_trusted=trusted, sandbox_bind=gate.folder)
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]


def test_a_hook_does_not_outlive_the_lease_of_a_stopped_worker(request, scheduler, worker, programs, trusted, gate):
    scheduler(lease_seconds=3)
    api = request.getfixturevalue("api")
    programs.write("post-apply", gate.command)
    one = worker(hooks_dir=programs.folder, hooks_trusted=trusted, sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE)
    gate.wait()
    one.process.send(signal.SIGSTOP)
    try:
        until(lambda: not processes_with(gate.path), "the keeper has killed the hook")
        api.wait_status(run, "errored")
    finally:
        one.process.send(signal.SIGCONT)
    until(lambda: not api.attributes(f"workspaces/{workspace}")["locked"], "the last state has come, and ends the hold")
    assert api.resources(workspace) == ["terraform_data.one"]


def test_a_drained_worker_waits_for_a_hook(api, worker, programs, gate):
    programs.write("pre-plan", gate.command)
    one = worker(hooks_dir=programs.folder, sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(), ONE)
    gate.wait()
    one.process.send(signal.SIGTERM)
    until(lambda: one.metric("runyard_worker_draining") == 1, "it drains")
    gate.open()
    assert one.process.ended() == 0
    api.wait_status(run, "planned")


# ---- other jobs, and the start ----


def test_hooks_run_for_no_other_stage(api, worker, programs, folder):
    """A run with policies and an estimate."""
    for kind in KINDS:
        programs.records(kind)
    worker(hooks_dir=programs.folder, hooks_trusted=1)
    api.patch(f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"cost-estimation-enabled": True}}})
    workspace = api.workspace(auto_apply=True)
    api.policy_set("sentinel", [api.policy("sentinel", "hard-mandatory", "main = rule { true }\n")], workspace)
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "applied")
    stamps = api.attributes(f"runs/{run}")["status-timestamps"]
    assert "cost-estimated-at" in stamps and "policy-checked-at" in stamps
    assert programs.ran() == list(KINDS)


def test_a_plan_with_a_pre_plan_hook_runs_its_own_init(api, worker, programs):
    """The hook may have changed what init reads, so no result of an earlier init is used."""
    programs.write("pre-plan", "true")
    one = worker(hooks_dir=programs.folder)
    for _ in range(2):
        api.wait_status(api.run_files(api.workspace(), ONE), "planned")
    assert one.metric("runyard_worker_process_seconds_count", command="init") == 2


def test_code_of_a_plan_does_not_choose_where_its_schemas_are_cached(api, worker, programs):
    """The cache's key is made before the plan. So the next plan finds the schemas, whatever lock file the first one left."""
    programs.write("post-plan", "echo \"# $TFC_RUN_ID\" >>.terraform.lock.hcl")
    one = worker(hooks_dir=programs.folder)
    for _ in range(2):
        api.wait_status(api.run_files(api.workspace(), ONE), "planned")
    assert one.metric("runyard_worker_process_seconds_count", command="show") == 2
    assert one.metric("runyard_worker_process_seconds_count", command="schemas") == 1


def make_wrong(programs, case):
    path = programs.write("post-apply", "")
    if case == "no program":
        path.chmod(0o644)
    elif case == "writable by others":
        path.chmod(0o757)
    elif case == "another owner":
        os.chown(path, 65534, 65534)
    elif case == "a folder that others may write":
        programs.folder.chmod(0o777)
    elif case == "a folder above that others may write":
        programs.folder.parent.chmod(0o777)
    elif case == "a folder":
        path.unlink()
        path.mkdir()
    elif case == "a broken link":
        path.unlink()
        path.symlink_to("absent")


@pytest.mark.parametrize(("case", "why"), [
    ("no program", "is no program that the worker's account may read and execute"), ("writable by others", "others than root and the worker's account may write"),
    ("another owner", "others than root and the worker's account may write"), ("a folder that others may write", "others than root"),
    ("a folder above that others may write", "others than root"), ("a folder", "is no regular file"), ("a broken link", "can't be read")])
def test_a_worker_does_not_start_with_a_hook_that_it_can_not_trust(worker, programs, case, why):
    make_wrong(programs, case)
    one = worker.launch(hooks_dir=programs.folder)
    assert one.process.ended() == 1
    (line,) = [line for line in one.log_lines() if line["msg"] == "the worker can't start"]
    assert line["why"].startswith("--hooks-dir: ") and why in line["why"], line


@pytest.mark.parametrize(("options", "why"), [({"hooks_dir": "/absent"}, "--hooks-dir: there is no /absent"), ({"hooks_trusted": 1}, "needs --hooks-dir"), ({"hook_seconds": 601}, "hook-seconds")])
def test_invalid_options_are_refused(worker, options, why):
    one = worker.launch(**options)
    assert one.process.ended() == 2 and why in one.process.log()
