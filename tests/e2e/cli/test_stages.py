# SPDX-License-Identifier: MPL-2.0
"""Run tasks, policies, overrides and cost estimates in the CLI's output."""

import itertools
import shutil

import pytest

from support.receiver import says

pytestmark = pytest.mark.skipif(not shutil.which("opa"), reason="opa is not installed")
names = itertools.count(1)
ALLOWS = 'package p\nimport rego.v1\ndeny contains "no" if input.run.workspace.name == "another"\n'
FAILS = 'import "tfplan/v2" as tfplan\nmain = rule { length(tfplan.resource_changes) < 0 }\n'
DENIES = 'package p\nimport rego.v1\ndeny contains "never" if count(input.plan.resource_changes) >= 0\n'


@pytest.fixture
def staged(full_site, terraform):
    """staged(tasks=[(stage, enforcement, service's behaviour)], opa=..., sentinel=[(enforcement, source)]): a user
    whose runs have these."""

    def make(block="cloud", tasks=(), opa=(), sentinel=()):
        user = terraform(f"stages-{next(names)}", block)
        api, workspace = full_site.api, user.workspace(user.name)
        for number, (stage, enforcement, act) in enumerate(tasks):
            service = full_site.receiver.service(act)
            api.attach(workspace, api.task(service, f"{user.name}-{number}"), stage, enforcement)
        for kind, policies in (("opa", opa), ("sentinel", sentinel)):
            if policies:
                api.policy_set(kind, [api.policy(kind, *policy) for policy in policies], workspace)
        return user

    return make


@pytest.fixture
def estimated(full_site):
    full_site.estimates(True)
    yield
    full_site.estimates(False)


def test_results_of_run_tasks_are_shown_at_their_stages(staged):
    user = staged(tasks=[("pre_plan", "mandatory", says("passed", "may be planned")), ("post_plan", "advisory", says("failed", "two things are wrong", url="http://127.0.0.1/why")),
                         ("pre_apply", "mandatory", says("passed", "may be applied"))])
    printed = user.apply()
    assert printed.index("Pre-plan Tasks:") < printed.index("Plan: 1 to add") < printed.index("Post-plan Tasks:") < printed.index("Pre-apply Tasks:")
    assert f"{user.name}-0 ⸺   Passed" in printed and "may be planned" in printed and "All tasks completed! 1 passed, 0 failed" in printed
    assert f"{user.name}-1 ⸺   Failed (Advisory)" in printed and "two things are wrong" in printed and "Details: http://127.0.0.1/why" in printed
    assert "Overall Result: Passed with advisory failures" in printed and "Apply complete! Resources: 1 added" in printed


def test_a_failed_mandatory_run_task_ends_the_apply(staged):
    user = staged(tasks=[("post_plan", "mandatory", says("failed", "not this one"))])
    printed = user.run("apply", "-auto-approve", code=1)
    assert f"{user.name}-0 ⸺   Failed (Mandatory)" in printed and "not this one" in printed and "Overall Result: Failed" in printed
    assert "Task Stage failed." in printed and printed.index("Plan: 1 to add") < printed.index("Post-plan Tasks:")
    assert user.runs(user.name)[0]["status"] == "errored"


@pytest.mark.parametrize("block", ["cloud", "remote"])
def test_a_failed_pre_apply_task_is_shown_after_the_plan(staged, block):
    """The CLI shows the plan even if the task has answered before the CLI has read the plan's log."""
    user = staged(block, tasks=[("pre_apply", "mandatory", says("failed", "not this one"))])
    printed = user.run("apply", "-auto-approve", code=1)
    assert "Plan: 1 to add" in printed and "will be created" in printed
    if block == "cloud":
        assert printed.index("Plan: 1 to add") < printed.index("Pre-apply Tasks:") < printed.index("not this one")
        assert f"{user.name}-0 ⸺   Failed (Mandatory)" in printed and "Overall Result: Failed" in printed
    assert user.runs(user.name)[0]["status"] == "errored"


def test_a_failed_mandatory_opa_policy_is_overridden_at_the_prompt(staged):
    """The CLI asks even with -auto-approve."""
    user = staged(opa=[("mandatory", DENIES), ("advisory", ALLOWS)])
    applying = user.terminal("apply", "-auto-approve").expect("OPA Policy Evaluation").expect("Overall Result: FAILED").expect("2 policies evaluated").expect("Failed").expect("Passed").expect(user.engine.words("Do you want to override the failed policies?"))
    assert user.runs(user.name)[0]["status"] in ("policy_override", "post_plan_awaiting_decision")
    applying.expect("Only 'override' will be accepted to override.").expect("Enter a value:").type("override")
    assert "Apply complete! Resources: 1 added" in applying.ended()


def test_a_passed_opa_policy_is_shown(staged):
    user = staged(opa=[("mandatory", ALLOWS)])
    printed = user.run("plan")
    assert "OPA Policy Evaluation" in printed and "Overall Result: PASSED" in printed and "1 policies evaluated" in printed


@pytest.mark.parametrize("block", ["cloud", "remote"])
def test_a_failed_soft_mandatory_policy_is_overridden_at_the_prompt(staged, block):
    user = staged(block, sentinel=[("soft-mandatory", FAILS)])
    applying = user.terminal("apply").expect("Result: failed").expect("Do you want to override the soft failed policy check?").expect("Enter a value:").type("override")
    applying.expect("Do you want to perform these actions in workspace").expect("Enter a value:").type("yes")
    assert "Apply complete! Resources: 1 added" in applying.ended()


def test_a_failed_hard_mandatory_policy_ends_the_apply(staged):
    user = staged(sentinel=[("hard-mandatory", FAILS)])
    assert "Organization Policy Check hard failed." in user.run("apply", "-auto-approve", code=1)


def test_auto_approve_overrides_a_failed_soft_mandatory_policy(staged):
    """The CLI overrides without asking if the user has the permission."""
    user = staged(sentinel=[("soft-mandatory", FAILS)])
    printed = user.apply()
    assert "Apply complete! Resources: 1 added" in printed


@pytest.mark.parametrize("block", ["cloud", "remote"])
def test_a_failed_advisory_policy_is_shown_and_the_apply_goes_on(staged, block):
    user = staged(block, sentinel=[("advisory", f'{FAILS}print("it is", "looked at")\n'), ("hard-mandatory", "main = true\n")])
    printed = user.apply()
    assert ": failed (advisory)" in printed and "it is looked at" in printed and ": passed (hard-mandatory)" in printed
    assert printed.index("Result: passed") < printed.index("Apply complete! Resources: 1 added")


def test_a_soft_mandatory_failure_ends_a_speculative_plan(staged):
    user = staged(sentinel=[("soft-mandatory", FAILS)])
    printed = user.run("plan", code=1)
    assert "Plan: 1 to add" in printed and ": failed (soft-mandatory)" in printed and "Organization Policy Check soft failed." in printed
    (run,) = user.site.api.get(f"workspaces/{user.workspace(user.name)}/runs", **{"filter[operation]": "plan_only"}).data
    assert run["attributes"]["status"] == "policy_soft_failed"


WITHOUT_A_VERDICT = {
    "undefined": ('import "tfplan/v2" as tfplan\n\nmain = tfplan.nothing.at_all\n', ".sentinel:3:"),
    "a runtime error": ('main = rule {\n  1 / int("0") is 1\n}\n', ".sentinel:2:"),
    "does not parse": ("main = rule {\n", ".sentinel:2:1:"),
}


@pytest.mark.parametrize("case", WITHOUT_A_VERDICT)
def test_a_policy_without_a_verdict_ends_the_apply_and_says_why_first(staged, case):
    source, place = WITHOUT_A_VERDICT[case]
    user = staged(sentinel=[("hard-mandatory", source)])
    printed = user.run("apply", "-auto-approve", code=1)
    lines = [line.strip() for line in printed.splitlines()]
    (at,) = [i for i, line in enumerate(lines) if line.endswith(": errored (hard-mandatory)")]
    assert place in lines[at + 1], printed
    assert "Organization Policy Check hard failed." in printed and user.runs(user.name)[0]["status"] == "errored"


@pytest.mark.parametrize("block", ["cloud", "remote"])
def test_a_cost_estimate_is_shown_before_the_approval(staged, estimated, block):
    user = staged(block)
    printed = user.terminal("apply").expect({"cloud": "Cost Estimation:", "remote": "Cost estimation:"}[block]).expect("Enter a value:").type("yes").ended()
    assert "Resources: 1 of 1 estimated" in printed and "$12.50/mo +$10.00" in printed and "Apply complete! Resources: 1 added" in printed
