# SPDX-License-Identifier: MPL-2.0
"""Policies of a hostile author: they read no file outside of their set, no variable of the environment, no other set, and connect to nothing.

runyard-policy itself refuses all of it (the first part), and the worker's sandbox does not have it (the second part). What policies reach where
requests are allowed: tests/integration/policies/test_policy_http.py."""

import base64
import io
import json
import socket
import subprocess
import tarfile
from pathlib import Path

import pytest

from support.fake_scheduler import FakeScheduler
from support.policy_jobs import policy_set, wait_for_results
from support.process import clean_environment, program
from support.sentinel_jobs import PLAN, evaluation, interfaces, offer, outcomes, policy, start_worker
from support.wait import until

CANARY = "canary-of-another"
PASSED, RUNTIME, OTHER = 0, 3, 9

# ---- the program ----


@pytest.fixture
def evaluate(tmp_path):
    """evaluate(CONFIGURATION, SOURCE): evaluates the policy `one` of a set, which has all files that the flag -root permits. Beside it are
    another set and files with the canary. The exit code, and all output."""
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
        (folder / "canary.json").write_text(json.dumps({**PLAN, "canary": CANARY}))
        (folder / "canary.sentinel").write_text(f'canary = "{CANARY}"\nprint(canary)\nmain = true\n')
    (own / "link.json").symlink_to(other / "canary.json")
    (own / "folder").symlink_to(other)

    def evaluate(configuration, source="main = true\n", flags=()):
        text = f'policy "one" {{ source = "one.sentinel" }}\n{configuration}\n'.replace("OTHER", str(other))
        (own / "sentinel.hcl").write_text(text if 'policy "own"' not in text else text.split("\n", 1)[1])
        (own / "one.sentinel").write_text(source.replace("OTHER", str(other)))
        done = subprocess.run([program("runyard-policy"), "eval", "-trace", "-root=own", "-config=own/sentinel.hcl", *flags], cwd=tmp_path, capture_output=True, timeout=60,
                              env=clean_environment(CANARY=CANARY, TZ="Asia/Tokyo"))
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")

    return evaluate


FILES = {
    "above the root": "../other/canary.{end}",
    "above the root, by the set's own name": "../own/../other/canary.{end}",
    "an absolute path": "OTHER/canary.{end}",
    "a file of the system": "/etc/passwd",
    "its own environment": "/proc/self/environ",
    "its own environment, by ..": "../../../../../../../../proc/self/environ",
    "through a link to a folder": "folder/canary.{end}",
    "a URL of a file": "file:///etc/passwd",
}
READERS = {
    "a policy": ("sentinel", 'policy "own" {{ source = "{path}" }}', "main = true"),
    "a module": ("sentinel", 'import "module" "x" {{ source = "{path}" }}', 'import "x"\nprint(x.canary)\nmain = true'),
    "an old module": ("sentinel", 'module "x" {{ source = "{path}" }}', 'import "x"\nprint(x.canary)\nmain = true'),
    "a mock": ("sentinel", 'mock "x" {{ module {{ source = "{path}" }} }}', 'import "x"\nprint(x.canary)\nmain = true'),
    "static data": ("json", 'import "static" "x" {{\n source = "{path}"\n format = "json"\n}}', 'import "x"\nprint(x)\nmain = true'),
    "a plan": ("json", 'import "plugin" "tfplan/v2" {{ config = {{ plan_path = "{path}" }} }}', 'import "tfplan/v2" as x\nprint(x.raw)\nmain = true'),
    "a configuration": ("json", 'import "plugin" "tfconfig/v2" {{ config = {{ plan = "{path}" }} }}', 'import "tfconfig/v2" as x\nprint(x.resources)\nmain = true'),
    "a state": ("json", 'import "plugin" "tfstate/v2" {{ config = {{ path = "{path}" }} }}', 'import "tfstate/v2" as x\nprint(x.resources)\nmain = true'),
    "a run": ("json", 'import "plugin" "tfrun" {{ config = {{ run_path = "{path}" }} }}', 'import "tfrun" as x\nprint(x.canary)\nmain = true'),
    "a plan of v1": ("json", 'import "plugin" "tfplan" {{ config = {{ plan_path = "{path}" }} }}', 'import "tfplan" as x\nprint(x.resources)\nmain = true'),
    "schemas": ("json", 'import "plugin" "tfplan" {{ config = {{\n plan_path = "canary.json"\n schemas_path = "{path}"\n}} }}', 'import "tfplan" as x\nprint(x.resources)\nmain = true'),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_policy_reads_no_file_outside_of_its_set(evaluate, reader):
    end, configuration, source = READERS[reader]
    for what, path in FILES.items():
        code, out = evaluate(configuration.format(path=path.format(end=end)), source)
        assert code == OTHER and CANARY not in out and "root:" not in out, (what, out)
    code, out = evaluate(configuration.format(path=f"canary.{end}"), source)
    assert code == PASSED, (reader, "the set's own file", out)


def test_a_link_in_the_set_is_not_followed(evaluate):
    code, out = evaluate('import "static" "x" {\n source = "link.json"\n format = "json"\n}', 'import "x"\nprint(x)\nmain = true')
    assert code == OTHER and CANARY not in out


IMPORTS = ["../other/canary", "OTHER/canary", "canary", "canary.sentinel", "/etc/passwd", "env", "os", "file", "runtime/env", "sys", "process"]


@pytest.mark.parametrize("name", IMPORTS)
def test_an_import_is_no_path(evaluate, name):
    """Only the configuration gives files to names, and no import gives the environment."""
    code, out = evaluate("", f'import "{name}" as x\nprint(x.canary, x.get("PATH"))\nmain = true')
    assert code == OTHER and "is not known" in out and CANARY not in out, out


def test_parameters_do_not_come_from_the_environment(evaluate):
    code, out = evaluate("", "param CANARY\nparam TZ default \"none\"\nprint(TZ)\nmain = CANARY is not null")
    assert code == RUNTIME and '"CANARY"' in out and CANARY not in out and "Tokyo" not in out, out


@pytest.mark.parametrize("zone", ["../../../etc/passwd", "/etc/passwd", ":/etc/passwd", "OTHER/canary.json", "$HOME", ".", "", "Europe"])
def test_a_time_zone_is_no_path(evaluate, zone):
    code, out = evaluate(f'import "plugin" "time" {{ config = {{ timezone = "{zone}" }} }}', 'import "time"\nprint(time.now.zone_string)\nmain = true')
    assert code == RUNTIME and "is not known" in out, out


def test_the_environment_s_time_zone_is_not_used(evaluate):
    code, out = evaluate("", 'import "time"\nmain = time.now.zone is 0')
    assert code == PASSED, out


def test_a_program_is_not_started(evaluate, tmp_path):
    started = tmp_path / "started"
    (tmp_path / "own/plugin").write_text(f"#!/bin/sh\ntouch {started}\n")
    (tmp_path / "own/plugin").chmod(0o755)
    code, out = evaluate('import "plugin" "x" { source = "./plugin" }', 'import "x"\nmain = x.y')
    assert code == OTHER and "program" in out and not started.exists()


@pytest.mark.parametrize("call", ['http.get("URL")', 'http.post("URL")', 'http.send(http.request("URL"))', 'http.client.get("URL")', 'http.with_retries(2).get("URL")',
                                  'http.get("file:///etc/passwd")', 'http.get("unix:///run/x.sock")'])
def test_a_policy_does_not_connect(evaluate, call):
    with socket.create_server(("127.0.0.1", 0)) as server:
        code, out = evaluate("", 'import "http"\nmain = {"a": CALL}'.replace("CALL", call.replace("URL", f"http://127.0.0.1:{server.getsockname()[1]}/")))
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert code == RUNTIME and "requests are not allowed" in out


# ---- the sandbox ----

LOOPS = "for range(10000000) as _, a { for range(10000000) as _, b {} }\nmain = true\n"


@pytest.fixture(scope="module")
def fake_scheduler():
    fake_scheduler = FakeScheduler()
    yield fake_scheduler
    fake_scheduler.release()


@pytest.fixture(scope="module")
def worker(fake_scheduler, sandbox, session_folder):
    if sandbox != "bwrap":
        pytest.skip("without a sandbox the program alone confines policies (.github/SECURITY.md)")
    worker = start_worker(fake_scheduler, session_folder / "policies", sandbox)
    yield worker
    worker.release()


def below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_the_sandbox_of_a_policy_has_its_set_alone(fake_scheduler, worker):
    """Looks into the evaluation while it runs: its files, its environment, its network."""
    sets = [policy_set(policy(LOOPS), number=1), policy_set(policy(f'print("{CANARY}")\nmain = true', name="two"), number=2)]
    job = offer(fake_scheduler, *sets)

    process = until(lambda: evaluation(worker), "the evaluation runs")
    files, top = below(process / "root/job"), {path.name for path in (process / "root").iterdir()}
    seen = [str(path) for path in (worker.folder, Path(worker.options["data_dir"]), Path.home()) if (process / "root" / path.relative_to("/")).exists()]
    environment = {entry.split("=")[0] for entry in (process / "environ").read_text().split("\0") if entry}
    network = interfaces(process)
    fake_scheduler.stop(job)
    until(lambda: job.result, "the end of the job")
    assert files - {"policies/sentinel.hcl"} == {"plan.json", "run.json", "policies", "policies/one.sentinel"}
    assert not {"home", "root", "var", "opt", "srv", "run"} & top and seen == []
    assert environment <= {"PATH", "LANG", "HOME", "GOMEMLIMIT", "PWD"}
    assert network == ["lo"]


def linked(target):
    """An archive whose policy is a link."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as packed:
        configuration = b'policy "one" { source = "one.sentinel" }\n'
        plain, link = tarfile.TarInfo("sentinel.hcl"), tarfile.TarInfo("one.sentinel")
        plain.size, link.type, link.linkname = len(configuration), tarfile.SYMTYPE, target
        packed.addfile(plain, io.BytesIO(configuration))
        packed.addfile(link)
    return base64.b64encode(out.getvalue()).decode()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../../../etc/passwd", "../plan.json", "/proc/self/environ", "../../2/policies/two.sentinel"])
def test_a_link_of_an_archive_leads_nowhere(fake_scheduler, worker, target):
    hostile = {**policy_set(number=1), "archive": linked(target)}
    _, results = wait_for_results(offer(fake_scheduler, hostile, policy_set(policy(f'# {CANARY}\nmain = true', name="two"), number=2)))
    assert outcomes(results, 1)["two"][0] == "passed"
    found = results["sets"][0]
    assert found["error"] or found["outcomes"][0]["status"] == "errored", found
    assert CANARY not in json.dumps(found) and "root:" not in json.dumps(found)


ESCAPES = ["../../2/policies/two.sentinel", "../../../sets/2/policies/two.sentinel", "../../shared/run.json", "../plan.json", "/job/plan.json", "/etc/passwd", "/proc/self/environ", "/engine/runyard-policy"]


def test_policies_of_an_archive_do_not_reach_another_set(fake_scheduler, worker):
    configuration = "".join(f'policy "p{number}" {{ source = "{path}" }}\n' for number, path in enumerate(ESCAPES))
    configuration += "".join(f'import "static" "d{number}" {{\n source = "{path}"\n format = "json"\n}}\n' for number, path in enumerate(ESCAPES))
    configuration += "".join(f'policy "s{number}" {{ source = "s{number}.sentinel" }}\n' for number in range(len(ESCAPES)))
    files = {"sentinel.hcl": configuration, **{f"s{number}.sentinel": f'import "d{number}" as d\nprint(d)\nmain = true\n' for number in range(len(ESCAPES))}}
    two = policy_set(policy(f'canary = "{CANARY}"\nmain = true', name="two"), number=2)
    _, results = wait_for_results(offer(fake_scheduler, policy_set(archive=files), two))
    found = outcomes(results)
    assert {status for status, _ in found.values()} == {"errored"} and len(found) == 2 * len(ESCAPES), found
    assert CANARY not in json.dumps(results["sets"][0]) and outcomes(results, 1)["two"][0] == "passed"


def test_a_policy_does_not_connect_from_the_sandbox(fake_scheduler, worker):
    source = f'import "http"\nmain = http.get("{fake_scheduler.url}").status_code is 200'
    _, results = wait_for_results(offer(fake_scheduler, policy_set(policy(source))))
    status, printed = outcomes(results)["one"]
    assert status == "errored" and "--policy-network 1 and --policy-http-hosts" in printed[0]
