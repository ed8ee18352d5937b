# SPDX-License-Identifier: MPL-2.0
"""deploy/local: one command installs everything and applies an example; another removes it."""

import os
import pwd
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from support import release
from support.api import Api
from support.proc import arguments, descendants
from support.servers import DEPS, ROOT
from support.wait import until

NAMES = {"postgres", "redis", "runyard-scheduler", "runyard-notifier", "runyard-worker", "checker"}


def without_output(folder, names):
    """The sources have programs named build as well."""
    return {"__pycache__"} if Path(folder) != ROOT else {name for name in names if name.startswith("build") or name in (".local", ".git")}


class Local:
    """A local stack from a copy of the sources, in a folder that only its owner can access."""

    def __init__(self, folder):
        self.source = folder / "source"
        self.home = self.source / "build/local"
        shutil.copytree(ROOT, self.source, ignore=without_output)

    def command(self, script, *arguments):
        """The arguments for subprocess."""
        return {"args": [self.source / "deploy/local" / script, *arguments], "env": {**os.environ, **release.caching(self.source), "RUNYARD_HOME": str(self.home)},
                "stdin": subprocess.DEVNULL, "text": True}

    def run(self, script, *arguments, check=True):
        done = subprocess.run(**self.command(script, *arguments), capture_output=True)
        if check:
            assert done.returncode == 0, f"{script}: {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.logs()}"
        return done.stdout

    def logs(self):
        return "\n".join(f"--- {log.name}\n{log.read_text(errors='replace')[-2000:]}" for log in sorted(self.home.glob("log/*.log")))

    def pids(self):
        return {file.stem: int(file.read_text()) for file in self.home.glob("run/*.pid")}

    def api(self):
        exported = dict(re.findall(r"(RUNYARD_\w+)=(\S+)", self.run("env")))
        return Api(exported["RUNYARD_URL"], exported["RUNYARD_TOKEN"], exported["RUNYARD_ORG"])


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    assert folder.stat().st_mode & 0o077 == 0
    stack = Local(folder)
    shutil.copytree(DEPS / "kafka", stack.home / "kafka/jars")
    yield stack
    stack.run("down", "--purge", check=False)


def alive(pid):
    return Path(f"/proc/{pid}").exists() and Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_up_starts_the_stack_and_applies_the_example(local):
    said = local.run("up")
    assert re.search(r"^Applied: run-", said, re.M), said
    before, after = re.split(r"^Applied: run-", said, flags=re.M)
    assert "Building Runyard" in before and "the web UI" not in before and "Building the web UI" in after, said
    assert "planning" in said and "applying" in said and "Apply complete!" in said
    assert "checker passed: 4 changes, 0 destroyed" in said
    api = local.api()
    assert api.url in said and api.token in said
    assert len(api.get(f"organizations/{api.organization}/workspaces").data) == 1
    assert local.pids().keys() == NAMES | {"broker"}


def fetched(url):
    return subprocess.run(["curl", "-fsS", url], capture_output=True, text=True, check=True).stdout


def has_web_ui(local):
    """Its files are served, and the worker can evaluate policies."""
    url = local.api().url
    files = re.findall(r"/assets/[^\"]+", fetched(f"{url}/app/login"))
    return {file.rpartition(".")[2] for file in files if fetched(url + file)} == {"css", "js"} and (local.home / "build/bin/runyard-policy").exists()


def test_up_has_added_what_the_first_run_does_not_need(local):
    assert has_web_ui(local)


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's stack runs as that user")
def test_no_process_of_the_stack_runs_as_root(local):
    """The stack's folder is below one that only root can search."""
    accounts = {}
    for name in ("broker", "checker", "runyard-notifier", "runyard-scheduler", "runyard-worker"):
        status = Path(f"/proc/{local.pids()[name]}/status").read_text()
        users, groups, capabilities = (re.search(rf"^{line}:\s*(.*)$", status, re.M).group(1).split() for line in ("Uid", "Gid", "CapPrm"))
        assert "0" not in users + groups and int(capabilities[0], 16) == 0, f"{name}:\n{status}"
        accounts[name] = pwd.getpwuid(int(users[0])).pw_name
    assert accounts.pop("runyard-worker") == "runyard-worker" and set(accounts.values()) == {"runyard"}
    for account, secret in (("runyard-worker", "keys"), ("runyard-worker", "agent-token"), ("runyard", "agent-token"), ("runyard", "postgres")):
        read = subprocess.run(["setpriv", "--reuid", account, "--regid", account, "--init-groups", "cat", local.home / "secrets" / secret],
                              capture_output=True)
        assert read.returncode != 0, f"{account} reads {secret}"


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's stack runs as that user")
def test_files_of_a_stack_that_ran_as_root_get_their_accounts(local):
    """Earlier versions left the stack like this: root owned everything and started all processes."""
    local.run("down")
    for name in ("secrets", "worker"):
        subprocess.run(["chown", "-R", "root:root", local.home / name], check=True)
    local.run("up")
    test_no_process_of_the_stack_runs_as_root(local)
    assert {path.lstat().st_uid for path in (local.home / "worker").rglob("*")} == {pwd.getpwnam("runyard-worker").pw_uid}


def test_run_tasks_reach_only_the_checkers_port(local):
    api = local.api()
    path = f"organizations/{api.organization}/tasks"
    ports = {file.name: int(file.read_text()) for file in (local.home / "ports").iterdir()}
    assert ports.keys() > {"checker", "runyard-scheduler", "runyard-notifier", "postgres", "redis"}
    for name, port in sorted(ports.items()):
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
            answer = api.call("POST", path, {"data": {"type": "tasks", "attributes": {"name": f"to-{name}", "category": "task", "url": f"http://{host}:{port}/"}}})
            if name != "checker":
                assert answer.status == 422 and "loopback" in answer.errors(), (name, host, answer.text)
    allowed = {(local.pids()[process], option) for process, option in (("runyard-scheduler", "--task-allow"), ("runyard-notifier", "--allow"))}
    for pid, option in allowed:
        arguments = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        assert arguments[arguments.index(option) + 1] == f"127.0.0.1:{ports['checker']}"


def test_the_cli_works_with_the_exported_environment(local, tmp_path, engine):
    (tmp_path / "main.tf").write_text('terraform {\n  cloud {\n    hostname     = "runyard.local"\n    organization = "acme"\n    workspaces { name = "by-cli" }\n  }\n}\n'
                                      'resource "terraform_data" "one" { input = 1 }\n')
    exported = dict(re.findall(r"([A-Z_]+)=(\S+)", local.run("env")))
    assert local.run("env", "--home", "/nonexistent", check=False) == ""
    for command in (["init", "-input=false"], ["apply", "-auto-approve"], ["state", "list"]):
        done = subprocess.run([engine.path, *command], cwd=tmp_path, env={**os.environ, **exported, "CHECKPOINT_DISABLE": "1"}, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "terraform_data.one"
    local.api().delete("organizations/acme/workspaces/by-cli")


def test_secrets_are_in_private_files_and_no_command_line(local):
    files = list((local.home / "secrets").iterdir())
    assert files and all(file.stat().st_mode & 0o177 == 0 for file in files)
    secrets = [word for file in files for word in [file.read_text().split()[-1]]]
    for pid in local.pids().values():
        line = Path(f"/proc/{pid}/cmdline").read_text()
        assert not [secret for secret in secrets if secret in line], line


def test_logs_and_metrics_are_not_readable_by_others(local):
    logs = list((local.home / "log").glob("*.log"))
    assert {"runyard-scheduler.log", "runyard-worker.log", "runyard-notifier.log"} <= {log.name for log in logs}
    assert (local.home / "log").stat().st_mode & 0o007 == 0
    assert all((local.home / f"log/{name}.log").stat().st_mode & 0o777 == 0o640 for name in local.pids())
    for name in ("runyard-scheduler", "runyard-notifier"):
        ports = [(local.home / f"ports/{which}").read_text().strip() for which in (name, f"{name}-metrics")]
        statuses = [subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", f"http://127.0.0.1:{port}/metrics"],
                                   capture_output=True, text=True).stdout for port in ports]
        assert statuses == ["404", "200"], name


def test_a_second_up_changes_nothing(local):
    before = local.pids()
    said = local.run("up")
    assert "left as it is" in said and local.pids() == before


@contextmanager
def line_added(file, line):
    text = file.read_text()
    file.write_text(f"{text}\n{line}\n")
    try:
        yield
    finally:
        file.write_text(text)


def failed_up(local):
    done = subprocess.run(**local.command("up"), capture_output=True)
    assert done.returncode == 1, done.stdout
    return done.stdout, done.stderr


def test_a_failed_build_is_reported_and_leaves_the_stack_alone(local):
    before = local.pids()
    with line_added(local.source / "notifier/main.c", "#error broken"):
        _, errors = failed_up(local)
    assert "#error broken" in errors and "error: the build of Runyard failed" in errors
    assert local.pids() == before and all(alive(pid) for pid in before.values())


def test_a_failed_build_of_the_web_ui_leaves_a_stack_that_runs(local):
    (local.home / "build/complete").unlink()
    with line_added(local.source / "scheduler/ui/web/src/app.tsx", "#error broken"):
        said, errors = failed_up(local)
    assert "left as it is" in said and "The stack runs." in said and "app.tsx" in errors
    assert local.api().get(f"organizations/{local.api().organization}/workspaces").data
    local.run("up")
    assert has_web_ui(local)


def test_one_up_works_at_a_time_and_stops_its_build_when_it_is_terminated(local):
    with line_added(local.source / "common/base.h", "/* changed */"):  # all sources are to be compiled
        up = subprocess.Popen(**local.command("up"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        build = until(lambda: {pid for pid in descendants(up.pid) if arguments(pid)[:1] == [b"ninja"]}, "ninja runs")
        _, errors = failed_up(local)
        assert "another deploy/local/up or down works on" in errors
        up.terminate()
        up.wait()
    until(lambda: not [pid for pid in build if alive(pid)], "ninja is gone")
    local.run("up")


@pytest.mark.parametrize("name", ["runyard-worker", "runyard-notifier", "runyard-scheduler", "redis", "postgres"])
def test_up_restarts_only_the_process_that_ended(local, name):
    before = local.pids()
    os.kill(before[name], signal.SIGKILL)
    until(lambda: not alive(before[name]), f"{name} is gone")
    local.run("up", "--no-example")
    after = local.pids()
    assert {which for which in after if after[which] != before[which]} == {name}
    assert all(alive(pid) for pid in after.values())


def test_up_switches_to_kafka(local):
    said = local.run("up", "--broker", "kafka")
    assert re.search(r"^(Applied|Nothing to change): run-|^Nothing to change", said, re.M), said
    assert local.pids().keys() == NAMES | {"kafka"}
    password = (local.home / "secrets/kafka").read_text().strip()
    address = f"127.0.0.1:{(local.home / 'ports/kafka').read_text().strip()}"
    unrelated = subprocess.run(["kcat", "-b", address, "-L", "-m", "5"], capture_output=True, text=True)
    assert unrelated.returncode != 0 and "runyard." not in unrelated.stdout
    texts = [Path(f"/proc/{pid}/cmdline").read_text() for pid in local.pids().values()] + [log.read_text() for log in (local.home / "log").iterdir()]
    assert not [text for text in texts if password in text]


def test_down_does_not_kill_an_unrelated_process_with_a_reused_pid(local):
    before = local.pids()
    unrelated = subprocess.Popen(["sleep", "600"])
    try:
        os.kill(before["redis"], signal.SIGKILL)
        until(lambda: not alive(before["redis"]), "redis is gone")
        (local.home / "run/redis.pid").write_text(f"{unrelated.pid}\n")
        local.run("down")
        assert unrelated.poll() is None
    finally:
        unrelated.kill()
        unrelated.wait()
    assert not [name for name, pid in before.items() if alive(pid)]
    assert local.pids() == {}


def test_purge_removes_everything(local):
    local.run("down", "--purge")
    assert not local.home.exists()
