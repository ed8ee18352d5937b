# SPDX-License-Identifier: MPL-2.0
"""Sentinel-language policies in a worker without --sentinel: evaluated by runyard-policy."""

import os
import signal

import pytest

from support.policy_jobs import policy_set, wait_for_results
from support.sentinel_jobs import SECONDS, evaluations, offer, outcomes, policy, start_worker
from support.wait import until


@pytest.fixture(scope="module")
def worker(fake_scheduler, sandbox, session_folder):
    worker = start_worker(fake_scheduler, session_folder / "runyard-policy", sandbox)
    yield worker
    worker.release()


CASES = {
    "passes": ("main = true", "hard-mandatory", "passed", "passed", "Pass - "),
    "fails hard": ("main = rule { false }", "hard-mandatory", "failed", "failed", "Fail - "),
    "fails softly": ('print("why it failed")\nmain = false', "soft-mandatory", "soft_failed", "failed", "why it failed"),
    "fails at the advisory level": ("main = rule { false }", "advisory", "passed", "failed", 'Rule "main"'),
    "is undefined": ("values = {}\nmain = values.nothing", "soft-mandatory", "soft_failed", "errored", "one.sentinel:2:"),
    "breaks": ("main = rule {\n  1 / int(\"0\") is 1\n}", "hard-mandatory", "failed", "errored", "one.sentinel:2:"),
    "does not parse": ("main = rule {", "hard-mandatory", "failed", "errored", "one.sentinel:1:"),
    "loops": ("for range(10000000) as _, a { for range(10000000) as _, b {} }\nmain = true", "hard-mandatory", "failed", "errored", "one.sentinel:1:"),
    "prints too much": ('for range(100000) as _, i { print("a line that is long enough") }\nmain = true', "hard-mandatory", "failed", "errored", "one.sentinel:1:"),
    "has no such import": ('import "nothing"\nmain = true', "hard-mandatory", "failed", "errored", "one.sentinel:1:"),
}


@pytest.fixture(scope="module")
def jobs(fake_scheduler, worker):
    """Offers all cases at once, so that the worker never waits for the next one."""
    return {case: offer(fake_scheduler, policy_set(policy(source, enforcement=level))) for case, (source, level, *_) in CASES.items()}


@pytest.mark.parametrize("case", CASES)
def test_policies_have_the_expected_outcome(jobs, case):
    *_, outcome, status, text = CASES[case]
    result, results = wait_for_results(jobs[case])
    one, printed = outcomes(results)["one"]
    assert (result["outcome"], one) == (outcome, status), printed
    if case == "loops" and "It ran for more than 6 s and was stopped" in printed:
        return  # on a busy machine the worker stops it first
    if status == "errored":
        assert text in printed[0] and "\n" not in printed[0], printed
    assert text in "\n".join(printed), printed


SENTINEL_HCL = """
mock "tfplan/v2" { module { source = "mine.sentinel" } }
param "limit" { value = 1 }
import "module" "helpers" { source = "./helpers.sentinel" }
policy "small" {
  source            = "./policies/limit.sentinel"
  enforcement_level = "hard-mandatory"
  params            = { most = 1 }
}
policy "large" {
  source            = "./policies/limit.sentinel"
  enforcement_level = "hard-mandatory"
  params            = { most = 5 }
}
policy "remote" {
  source = "https://example.com/a.sentinel"
}
policy "broken" { source = "policies/broken.sentinel" }
policy "defaults" { source = "policies/limit.sentinel" }
test { rules = { main = true } }
"""
LIMIT = """import "helpers"
param most default 3
param limit
param word default "none"
print("limit", limit, "word", word, "most", most)
main = rule { helpers.double(limit) <= most }
"""


@pytest.mark.parametrize("path", ["", "policies/sentinel"])
def test_policies_of_an_archive_are_selected_by_their_names(fake_scheduler, worker, path):
    below = f"{path}/" if path else ""
    archive = {f"{below}sentinel.hcl": SENTINEL_HCL, f"{below}helpers.sentinel": "double = func(n) { return n * 2 }\n", f"{below}policies/limit.sentinel": LIMIT,
               f"{below}policies/broken.sentinel": "main = {"}
    result, results = wait_for_results(offer(fake_scheduler, policy_set(archive=archive, parameters={"limit": "2", "word": '"12"', "most": "9"}, **{"policies-path": path})))
    assert results["sets"][0]["error"] is None
    found = outcomes(results)
    assert {name: status for name, (status, _) in found.items()} == {"small": "failed", "large": "passed", "remote": "errored", "broken": "errored", "defaults": "passed"}
    assert result["outcome"] == "failed"
    assert "limit 2 word 12 most 1" in "\n".join(found["small"][1])
    assert "limit 2 word 12 most 9" in "\n".join(found["defaults"][1])
    assert "https://example.com/a.sentinel" in found["remote"][1][0]


def test_other_configuration_files_of_an_archive_change_nothing(fake_scheduler, worker):
    """The level that is shown and the policy that is evaluated are those of sentinel.hcl."""
    archive = {"sentinel.hcl": 'policy "strict" {\n  source            = "no.sentinel"\n  enforcement_level = "hard-mandatory"\n}\n',
               "override.hcl": 'policy "strict" {\n  source            = "yes.sentinel"\n  enforcement_level = "advisory"\n}\n',
               "other.hcl": 'policy "other" {\n  source = "yes.sentinel"\n}\n', "sentinel.json": '{"policy": {"json": {"source": "yes.sentinel"}}}',
               "no.sentinel": "main = false\n", "yes.sentinel": "main = true\n"}
    result, results = wait_for_results(offer(fake_scheduler, policy_set(archive=archive)))
    outcome, = results["sets"][0]["outcomes"]
    assert (outcome["policy_name"], outcome["status"], outcome["enforcement_level"]) == ("strict", "failed", "hard-mandatory")
    assert result["outcome"] == "failed"


def test_policies_know_the_time_zones(fake_scheduler, worker):
    archive = {"sentinel.hcl": 'import "plugin" "time" {\n  config = {\n    timezone   = "Australia/Brisbane"\n    fixed_time = 1504155600\n  }\n}\npolicy "one" {}\n',
               "one.sentinel": 'import "time"\nprint(time.now.hour, time.now.zone_string)\nmain = time.now.day is 31 and time.now.hour is 15 and time.now.zone_string is "+10:00"\n'}
    _, results = wait_for_results(offer(fake_scheduler, policy_set(archive=archive)))
    assert outcomes(results)["one"][0] == "passed", results["output"]


PARAMETERS = {
    "a text": ("word", "is", '"word"'),
    "a number": ("12", "is", "12"),
    "a quoted number": ('"12"', "is", '"12"'),
    "a list": ('[1, "a"]', "is", '[1, "a"]'),
    "a map": ('{"a": [true]}', "is", '{"a": [true]}'),
    "a bool": ("true", "is", "true"),
    "a text with a template": ("a ${b}", "is", '"a ${b}"'),
}


def test_parameters_have_their_types(fake_scheduler, worker):
    sets = [policy_set(policy(f"param given\nmain = given {word} {expected}"), number=number, parameters={"given": value})
            for number, (value, word, expected) in enumerate(PARAMETERS.values(), 1)]
    result, results = wait_for_results(offer(fake_scheduler, *sets))
    assert [one["outcomes"][0]["status"] for one in results["sets"]] == ["passed"] * len(PARAMETERS), results["output"]
    assert result["outcome"] == "passed"


def test_a_required_parameter_that_is_missing_is_named_with_its_place(fake_scheduler, worker):
    result, results = wait_for_results(offer(fake_scheduler, policy_set(policy("main = true\n", name="fine"), policy("param given\nmain = given"))))
    status, printed = outcomes(results)["one"]
    assert (result["outcome"], status) == ("failed", "errored") and "one.sentinel:1:" in printed[0] and "given" in printed[0]
    assert outcomes(results)["fine"][0] == "passed"


DATA = """import "tfplan/v2" as tfplan
import "tfrun"
main = rule {
	tfplan.resource_changes["terraform_data.one"].change.after.input is "hello" and tfplan.terraform_version is "1.11.4" and
	tfrun.organization.name is "acme" and tfrun.workspace.auto_apply and tfrun.variables["with-dash"].sensitive and
	tfrun.cost_estimate is not defined
}
"""


def test_policies_read_the_plan_and_the_run(fake_scheduler, worker):
    result, results = wait_for_results(offer(fake_scheduler, policy_set(policy(DATA))))
    assert (result["outcome"], outcomes(results)["one"][0]) == ("passed", "passed"), results["output"]


INVALID_SETS = {
    "a level that is no text": ('policy "a" {\n source = "a.sentinel"\n enforcement_level = "${x}"\n}\n', 'policy "a" has the enforcement level'),
    "no policy": ("# nothing\n", "sentinel.hcl has no policy in it"),
}


@pytest.mark.parametrize("case", INVALID_SETS)
def test_an_invalid_set_is_errored(fake_scheduler, worker, case):
    configuration, error = INVALID_SETS[case]
    result, results = wait_for_results(offer(fake_scheduler, policy_set(archive={"sentinel.hcl": configuration, "a.sentinel": "main = true"})))
    assert result["outcome"] == "errored" and error in results["sets"][0]["error"]


def test_an_expression_in_the_configuration_is_an_error_with_its_line(fake_scheduler, worker):
    configuration = 'mock "x" {\n module {\n  source = "x"\n }\n}\npolicy "a" {\n source = "a.sentinel"\n params = { n = var.n }\n}\n'
    _, results = wait_for_results(offer(fake_scheduler, policy_set(archive={"sentinel.hcl": configuration, "a.sentinel": "main = true"})))
    status, printed = outcomes(results)["a"]
    assert status == "errored" and "sentinel.hcl:8:" in printed[0], printed


def test_policies_cannot_leave_their_set(fake_scheduler, worker):
    sets = [policy_set(archive={"sentinel.hcl": f'policy "a" {{ source = "{source}" }}\n'}) for source in ("../../plan.json", "/etc/passwd", "../run.json")]
    _, results = wait_for_results(offer(fake_scheduler, *sets))
    assert [outcomes(results, i)["a"][0] for i in range(3)] == ["errored"] * 3


def test_an_evaluation_without_memory_errors_its_policy_alone(fake_scheduler, worker):
    """The program's own limit ends it before the worker's does."""
    grows = 'x = "0123456789abcdef"\nfor range(60) as _, i { x += x }\nmain = true'
    result, results = wait_for_results(offer(fake_scheduler, policy_set(policy(grows, name="grows"), policy("main = true", name="fine"))))
    found = outcomes(results)
    assert (result["outcome"], found["grows"][0], found["fine"][0]) == ("failed", "errored", "passed")
    assert "sentinel:2:" in found["grows"][1][0]


# Signals that end an evaluation, with the reason: it is killed, it crashes, it gets no CPU until its time is over.
SIGNALS = {signal.SIGKILL: "It was killed by signal 9", signal.SIGABRT: "It was killed by signal 6", signal.SIGILL: "It was killed by signal 4",
           signal.SIGSTOP: f"It ran for more than {SECONDS} s and was stopped"}


@pytest.mark.parametrize("sent", SIGNALS, ids=lambda sent: sent.name)
def test_an_evaluation_that_ends_early_errors_its_policy_alone(fake_scheduler, worker, sent):
    """The policies before and after it have their verdicts."""
    policies = [policy("main = true", name="before"), policy(CASES["loops"][0], name="ended"), policy("main = false", name="after", enforcement="advisory")]
    job = offer(fake_scheduler, policy_set(*policies))
    os.kill(until(lambda: evaluations(worker, "ended"), "the evaluation runs")[0], sent)
    result, results = wait_for_results(job)
    found = outcomes(results)
    assert (result["outcome"], found["before"][0], found["after"][0]) == ("failed", "passed", "failed")
    assert found["ended"] == ("errored", [SIGNALS[sent]])


def test_evaluations_are_counted(fake_scheduler, worker):
    wait_for_results(offer(fake_scheduler, policy_set(policy("main = true"))))
    assert worker.metric("runyard_worker_policies_total", kind="sentinel", status="passed") >= 1
