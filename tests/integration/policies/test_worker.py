# SPDX-License-Identifier: MPL-2.0
"""Policies in a worker: the results of each kind of policy, with the real opa and a stand-in for sentinel."""

import shutil

import pytest

from support.policy_jobs import policy_set, printed, wait_for_results
from support.runyard import Worker
from support.wait import until

SECONDS = 6  # a policy's time limit: enough for any policy that terminates
PLAN = {
    "format_version": "1.2", "terraform_version": "1.11.4",
    "variables": {"region": {"value": "eu"}},
    "planned_values": {"outputs": {"o": {"sensitive": False, "value": 1}},
                       "root_module": {"resources": [{"address": "terraform_data.one", "mode": "managed", "type": "terraform_data", "name": "one",
                                                      "provider_name": "terraform.io/builtin/terraform", "values": {"input": "${x}"}}]}},
    "resource_changes": [{"address": 'terraform_data.one["a.b"]', "mode": "managed", "type": "terraform_data", "name": "one", "index": "a.b",
                          "provider_name": "terraform.io/builtin/terraform", "change": {"actions": ["create"], "before": None, "after": {"input": "hello"}}}],
    "configuration": {"root_module": {"resources": [{"address": "terraform_data.one", "mode": "managed", "type": "terraform_data", "name": "one",
                                                     "expressions": {"input": {"constant_value": "hello"}}}]}},
}
RUN = {"id": "run-AAAAAAAAAAAAAAAA", "message": "hello", "created-at": "2026-01-01T00:00:00Z", "created-by": "admin", "is-destroy": False,
       "speculative": False, "workspace": {"id": "ws-AAAAAAAAAAAAAAAA", "name": "network", "auto-apply": True, "working-directory": ""},
       "organization": {"name": "acme"}, "cost-estimate": {"proposed-monthly-cost": "12.50"}}

DENIES = """package p
import rego.v1
deny contains msg if {
	some change in input.plan.resource_changes
	print("looked at", change.address)
	msg := sprintf("%s is not wanted in %s", [change.address, input.run.workspace.name])
}
"""
ALLOWS = "package p\nimport rego.v1\ndeny contains msg if { input.run.workspace.auto_apply == false; msg := \"no\" }\n"
OLD_SYNTAX = 'package p\ndeny[msg] { input.run.workspace.auto_apply; msg := "applies by itself" }\n'
LIMIT = 'package p\nimport rego.v1\ndeny contains msg if { data.parameters.limit < count(input.plan.resource_changes); msg := "too many" }\n'
LOOPS = "package p\nimport rego.v1\ndeny contains i if { some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i * j < 0 }\n"
PRINTS = 'package p\nimport rego.v1\ndeny contains i if { some i in numbers.range(1, 30000); print("a line that is long enough", i); i < 0 }\n'
PRINTS_SOME = 'package p\nimport rego.v1\ndeny contains i if { some i in numbers.range(1, 5000); print("a line that is long enough", i); i < 0 }\n'
USES_NETWORK = 'package p\nimport rego.v1\ndeny contains x if { x := http.send({"method": "get", "url": "http://127.0.0.1:1/"}) }\n'
USES_MEMORY = "package p\nimport rego.v1\ndeny contains x if { some i in numbers.range(1, 50000000); x := sprintf(\"%d is a number\", [i]) }\n"
CONFLICTS = "package p\nimport rego.v1\nf(x) := 1 if x\nf(x) := 2 if x\ndeny := [f(true)]\n"
OPA = shutil.which("opa")


def policy(source, name="one", enforcement="mandatory", query="data.p.deny", **more):
    return {"id": "pol-AAAAAAAAAAAAAAAA", "name": name, "query": query, "enforcement": enforcement, "description": "", "source": source, **more}


def files(kind, *sets):
    return {"plan-json": PLAN, "policies": {"kind": kind, "run": RUN, "sets": list(sets)}}


SENTINEL = r"""#!/bin/bash
# Does what the policy of a test says. The last argument is the policy.
set -e
[[ $1 == apply && $2 == -color=false && $3 == -config=sentinel.hcl ]]
policy=$4
[[ -f $policy ]] || { echo "there is no $policy" >&2; exit 9; }
case $(<"$policy") in
passes) ;;
fails) echo "Fail - $policy"; exit 1 ;;
undefined) exit 2 ;;
breaks) echo "$policy:1:1: no such thing" >&2; exit 3 ;;
loops) while :; do :; done ;;
floods) yes "a line that is long enough" ;;
tells) cat sentinel.hcl; for file in runyard-mocks/*; do echo "== $file"; cat "$file"; done ;;
writes) echo more >>"$policy" ;;
calls) exec 3<>/dev/tcp/127.0.0.1/1 ;;
esac
"""


@pytest.fixture(scope="module")
def worker(fake_scheduler, sandbox, session_folder):
    folder = session_folder / "policies"
    folder.mkdir()
    sentinel = folder / "sentinel"
    sentinel.write_text(SENTINEL)
    sentinel.chmod(0o755)
    worker = Worker("worker", folder, scheduler_url=fake_scheduler.url, agent_token="t", data_dir=folder / "data", sandbox=sandbox,
                    policy_seconds=SECONDS, policy_memory=2048, sentinel=sentinel, slots=2)
    yield worker.start()
    worker.release()


def evaluate(fake_scheduler, kind, *sets):
    return wait_for_results(fake_scheduler.offer(kind, files(kind, *sets)))


def evaluate_one(fake_scheduler, kind, one, **more):
    """One set with one policy: the result's outcome, the policy's, and its output."""
    return single_outcome(fake_scheduler.offer(kind, files(kind, policy_set(one, **more))))


def single_outcome(job):
    result, results = wait_for_results(job)
    (outcome,) = results["sets"][0]["outcomes"]
    return result["outcome"], outcome["status"], printed(outcome)


opa = pytest.mark.skipif(not OPA, reason="opa is not installed")

OPA_CASES = {
    "passes": (ALLOWS, {}, "passed", "passed", ""),
    "fails and prints": (DENIES, {}, "failed", "failed", 'terraform_data.one["a.b"] is not wanted in network\nlooked at terraform_data.one["a.b"]'),
    "fails at the advisory level": (DENIES, {"enforcement": "advisory"}, "passed", "failed", "is not wanted"),
    "the language before OPA 1": (OLD_SYNTAX, {}, "failed", "failed", "applies by itself"),
    "does not compile": ("package p\nimport rego.v1\ndeny contains x if { x := nothing(1) }\n", {}, "failed", "errored", "undefined function nothing"),
    "is not a policy": ("this is no policy {", {}, "failed", "errored", "rego_parse_error"),
    "loops": (LOOPS, {}, "failed", "errored", f"It ran for more than {SECONDS} s"),
    "prints a megabyte": (PRINTS, {}, "failed", "errored", "It printed more than 512 KiB"),
    "prints a lot": (PRINTS_SOME, {}, "passed", "passed", "more than 64 KiB"),
    "uses too much memory": (USES_MEMORY, {}, "failed", "errored", "It "),
    "uses the network": (USES_NETWORK, {}, "failed", "errored", "undefined function http.send"),
    "conflicting rules": (CONFLICTS, {}, "failed", "errored", "multiple outputs"),
    "an undefined query": (ALLOWS, {"query": "data.p.deni"}, "failed", "errored", "The query is undefined"),
    "a boolean query": (ALLOWS, {"query": "1 == 1"}, "failed", "errored", "gives a boolean, and must give an array"),
    "an object": (ALLOWS, {"query": "data.p"}, "failed", "errored", "gives an object"),
    "no query at all": (ALLOWS, {"query": "--help"}, "failed", "errored", ""),
    "errored at the advisory level": ("this is no policy {", {"enforcement": "advisory"}, "passed", "errored", "rego_parse_error"),
}


@pytest.fixture(scope="module")
def opa_jobs(fake_scheduler, worker):
    """Offers all cases to the worker at once, so that it never waits for the next one."""
    return {case: fake_scheduler.offer("opa", files("opa", policy_set(policy(source, **more)))) for case, (source, more, *_) in OPA_CASES.items()}


@opa
@pytest.mark.parametrize("case", OPA_CASES)
def test_opa_policies_have_the_expected_outcome(opa_jobs, case):
    *_, outcome, status, text = OPA_CASES[case]
    result = single_outcome(opa_jobs[case])
    assert result[:2] == (outcome, status), result
    assert text in result[2]
    assert len(result[2]) < 70000


@opa
def test_parameters_are_passed_to_opa_as_data(fake_scheduler, worker):
    assert evaluate_one(fake_scheduler, "opa", policy(LIMIT), parameters={"limit": "0"})[:2] == ("failed", "failed")
    assert evaluate_one(fake_scheduler, "opa", policy(LIMIT), parameters={"limit": "3"})[:2] == ("passed", "passed")


@opa
def test_one_failing_policy_does_not_affect_others(fake_scheduler, worker):
    result, results = evaluate(fake_scheduler, "opa", policy_set(policy("broken {", name="broken", enforcement="advisory"), policy(ALLOWS, name="../up"), policy(DENIES, name="third")))
    assert [(o["policy_name"], o["status"]) for o in results["sets"][0]["outcomes"]] == [("broken", "errored"), ("../up", "passed"), ("third", "failed")]
    assert result["outcome"] == "failed" and result["error"] == "Policies that must pass did not: third"
    assert "third: failed (mandatory)\n  terraform_data.one" in results["output"]


POLICIES_HCL = """# the set
policy "first" {
  query = "data.p.deny" // its rule
}
policy "second" {
  query             = "data.q[\\"x\\"].deny"
  enforcement_level = "mandatory"
  description       = "the second"
}
"""


@opa
@pytest.mark.parametrize("path", ["", "policies/opa"])
def test_policies_of_an_archive_are_listed_in_policies_hcl(fake_scheduler, worker, path):
    below = f"{path}/" if path else ""
    archive = {f"{below}policies.hcl": POLICIES_HCL, f"{below}rego/p.rego": OLD_SYNTAX, f"{below}q.rego": "package q.x\ndeny[y] { y := data.allowed[_] }\n",
               f"{below}data.json": '{"allowed": []}', f"{below}other.json": '{"allowed": ["not read"]}'}
    result, results = evaluate(fake_scheduler, "opa", policy_set(archive=archive, **{"policies-path": path}))
    assert results["sets"][0]["error"] is None
    assert [(o["policy_name"], o["status"], o["enforcement_level"], o["description"]) for o in results["sets"][0]["outcomes"]] == [
        ("first", "failed", "advisory", ""), ("second", "passed", "mandatory", "the second")]
    assert result["outcome"] == "passed"


INVALID_SETS = {
    "no configuration": ({"p.rego": ALLOWS}, "its archive has no policies.hcl in its top folder"),
    "no policy": ({"policies.hcl": "# nothing\n"}, "policies.hcl has no policy in it"),
    "no query": ({"policies.hcl": 'policy "a" {}\n'}, 'policy "a" has no query'),
    "another level": ({"policies.hcl": 'policy "a" {\n query = "data.p.deny"\n enforcement_level = "hard"\n}\n'}, 'the enforcement level "hard"'),
    "broken": ({"policies.hcl": '\npolicy "a" {\n'}, "policies.hcl can't be read: line 2: the block \"policy\" is not closed"),
    "path above the root": ({"../policies.hcl": POLICIES_HCL}, "leads out of its folder"),
}


@pytest.fixture(scope="module")
def bad_jobs(fake_scheduler, worker):
    bad = {case: policy_set(archive=contents) for case, (contents, _) in INVALID_SETS.items()}
    return {case: (fake_scheduler.offer("opa", files("opa", one, policy_set(policy(ALLOWS), number=2))), fake_scheduler.offer("opa", files("opa", one))) for case, one in bad.items()}


@opa
@pytest.mark.parametrize("case", INVALID_SETS)
def test_an_invalid_policy_set_is_errored_and_others_are_evaluated(bad_jobs, case):
    _, error = INVALID_SETS[case]
    with_another, alone = bad_jobs[case]
    result, results = wait_for_results(with_another)
    assert error in results["sets"][0]["error"] and results["sets"][0]["outcomes"] == []
    assert results["sets"][1]["outcomes"][0]["status"] == "passed"
    assert result["outcome"] == "failed" and result["error"] == "Policies that must pass did not: the set set-1"
    assert wait_for_results(alone)[0]["outcome"] == "errored"


@opa
@pytest.mark.parametrize("stop", ["cancel", "force"])
def test_cancel_and_force_end_the_evaluation(fake_scheduler, worker, stop):
    job = fake_scheduler.offer("opa", files("opa", policy_set(policy(LOOPS), policy(LOOPS), policy(LOOPS))))
    until(lambda: not fake_scheduler.waiting, "the job is claimed")
    fake_scheduler.stop(job, stop)
    until(lambda: job.result, "the job ends")
    assert job.result["outcome"] == "canceled" and "policy-results" not in job.sent


SENTINEL_CASES = {
    "passes": ("passes", "hard-mandatory", "passed", "passed", ""),
    "fails hard": ("fails", "hard-mandatory", "failed", "failed", "Fail - ./one.sentinel"),
    "fails softly": ("fails", "soft-mandatory", "soft_failed", "failed", "Fail - ./one.sentinel"),
    "fails at the advisory level": ("fails", "advisory", "passed", "failed", "Fail - ./one.sentinel"),
    "is undefined": ("undefined", "soft-mandatory", "soft_failed", "errored", "Its result is undefined"),
    "breaks": ("breaks", "hard-mandatory", "failed", "errored", "It failed at run time\n./one.sentinel:1:1: no such thing"),
    "loops": ("loops", "hard-mandatory", "failed", "errored", f"It ran for more than {SECONDS} s"),
    "prints too much": ("floods", "hard-mandatory", "failed", "errored", "It printed more than 512 KiB"),
}


@pytest.fixture(scope="module")
def sentinel_jobs(fake_scheduler, worker):
    return {case: fake_scheduler.offer("sentinel", files("sentinel", policy_set(policy(source, enforcement=level, query=None))))
            for case, (source, level, *_) in SENTINEL_CASES.items()}


@pytest.mark.parametrize("case", SENTINEL_CASES)
def test_sentinel_policies_have_the_expected_outcome(sentinel_jobs, case):
    *_, outcome, status, text = SENTINEL_CASES[case]
    result = single_outcome(sentinel_jobs[case])
    assert result[:2] == (outcome, status), result
    assert text in result[2]


@pytest.mark.parametrize("source", ["writes", "calls"])
def test_sentinel_is_sandboxed(fake_scheduler, worker, sandbox, source):
    if sandbox != "bwrap":
        pytest.skip("there is no sandbox here")
    assert evaluate_one(fake_scheduler, "sentinel", policy(source, enforcement="advisory", query=None))[1] != "passed"


SENTINEL_HCL = """
module "helpers" { source = "./helpers.sentinel" }
mock "tfplan/v2" { module { source = "mine.sentinel" } }
param "limit" { value = 1 }
policy "tells" {
  source            = "./policies/tells.sentinel"
  enforcement_level = "soft-mandatory"
}
policy "fails" {
  source = "fails.sentinel"
}
"""


def test_a_sentinel_archive_is_evaluated_with_mocks_and_parameters(fake_scheduler, worker):
    archive = {"sentinel.hcl": SENTINEL_HCL, "policies/tells.sentinel": "tells", "fails.sentinel": "fails"}
    result, results = evaluate(fake_scheduler, "sentinel", policy_set(archive=archive, parameters={"limit": "[1, 2]", "word": "a ${b}", "number": "12", "quoted": '"12"'}))
    first, second = results["sets"][0]["outcomes"]
    assert (result["outcome"], first["status"], second["status"], second["enforcement_level"]) == ("passed", "passed", "failed", "advisory")
    (said,) = [entry["print"] for entry in first["output"]]
    assert 'module "helpers" { source = "./helpers.sentinel" }' in said and "mine.sentinel" not in said
    assert 'mock "tfplan/v2" {\n  module {\n    source = "./runyard-mocks/mock-tfplan-v2.sentinel"' in said
    assert said.count('param "limit"') == 1 and "value = [1, 2]" in said and 'value = "a $${b}"' in said
    assert 'param "number" {\n  value = 12\n' in said and 'param "quoted" {\n  value = "12"\n' in said
    assert 'resource_changes = {"terraform_data.one[\\"a.b\\"]": {' in said
    assert 'workspace = {"id": "ws-AAAAAAAAAAAAAAAA", "name": "network", "auto_apply": true' in said
    assert 'cost_estimate = {"proposed_monthly_cost": "12.50"}' in said


def test_policies_without_their_program_are_errored(fake_scheduler, worker, folder, sandbox):
    until(lambda: not fake_scheduler.waiting, "the other worker is idle")
    worker.stop()
    bare = Worker("bare", folder, scheduler_url=fake_scheduler.url, agent_token="t", data_dir=folder / "data", sandbox=sandbox, opa="no-such-opa", sentinel="no-such-sentinel")
    try:
        bare.start()
        assert evaluate_one(fake_scheduler, "sentinel", policy("passes", enforcement="soft-mandatory", query=None)) == (
            "soft_failed", "errored", 'This worker has no "no-such-sentinel" to evaluate policies with')
        assert evaluate_one(fake_scheduler, "opa", policy(ALLOWS)) == ("failed", "errored", 'This worker has no "no-such-opa" to evaluate policies with')
    finally:
        bare.release()
        worker.start()


@opa
def test_evaluations_are_counted_and_logged(fake_scheduler, worker):
    evaluate_one(fake_scheduler, "opa", policy(ALLOWS))
    assert worker.metric("runyard_worker_policies_total", kind="opa", status="passed") >= 1
    until(lambda: worker.metric("runyard_worker_jobs_total", stage="opa", outcome="passed") >= 1, "its jobs have ended")
    assert any(line["msg"] == "policies evaluated" and line["run"] for line in worker.log_lines())
