# SPDX-License-Identifier: MPL-2.0
"""Run tasks, policies, overrides and cost estimates in the CLI's output."""

import itertools
import shutil

import pytest

from support.receiver import says

pytestmark = pytest.mark.skipif(not shutil.which("opa"), reason="opa is not installed")
names = itertools.count(1)
ALLOWS = 'package p\nimport rego.v1\ndeny contains "no" if input.run.workspace.name == "another"\n'
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


def test_run_tasks(staged):
    user = staged(tasks=[("pre_plan", "mandatory", says("passed", "may be planned")), ("post_plan", "advisory", says("failed", "two things are wrong", url="http://127.0.0.1/why")),
                         ("pre_apply", "mandatory", says("passed", "may be applied"))])
    said = user.apply()
    assert said.index("Pre-plan Tasks:") < said.index("Plan: 1 to add") < said.index("Post-plan Tasks:") < said.index("Pre-apply Tasks:")
    assert f"{user.name}-0 ⸺   Passed" in said and "may be planned" in said and "All tasks completed! 1 passed, 0 failed" in said
    assert f"{user.name}-1 ⸺   Failed (Advisory)" in said and "two things are wrong" in said and "Details: http://127.0.0.1/why" in said
    assert "Overall Result: Passed with advisory failures" in said and "Apply complete! Resources: 1 added" in said


def test_a_mandatory_run_task_that_fails(staged):
    user = staged(tasks=[("post_plan", "mandatory", says("failed", "not this one"))])
    said = user.run("apply", "-auto-approve", code=1)
    assert f"{user.name}-0 ⸺   Failed (Mandatory)" in said and "not this one" in said and "Overall Result: Failed" in said
    assert "Task Stage failed." in said and said.index("Plan: 1 to add") < said.index("Post-plan Tasks:")
    assert user.runs(user.name)[0]["status"] == "errored"


@pytest.mark.parametrize("block", ["cloud", "remote"])
def test_a_mandatory_run_task_that_fails_before_the_apply(staged, block):
    """The CLI shows the plan even if the task has answered before the CLI has read the plan's log."""
    user = staged(block, tasks=[("pre_apply", "mandatory", says("failed", "not this one"))])
    said = user.run("apply", "-auto-approve", code=1)
    assert "Plan: 1 to add" in said and "will be created" in said
    if block == "cloud":
        assert said.index("Plan: 1 to add") < said.index("Pre-apply Tasks:") < said.index("not this one")
        assert f"{user.name}-0 ⸺   Failed (Mandatory)" in said and "Overall Result: Failed" in said
    assert user.runs(user.name)[0]["status"] == "errored"


def test_policies_of_opa(staged):
    """A failed mandatory one is overridden at the prompt, even with -auto-approve."""
    user = staged(opa=[("mandatory", DENIES), ("advisory", ALLOWS)])
    applying = user.terminal("apply", "-auto-approve").expect("OPA Policy Evaluation").expect("Overall Result: FAILED").expect("2 policies evaluated").expect("Failed").expect("Passed").expect(user.engine.words("Do you want to override the failed policies?"))
    assert user.runs(user.name)[0]["status"] in ("policy_override", "post_plan_awaiting_decision")
    applying.expect("Only 'override' will be accepted to override.").expect("Enter a value:").type("override")
    assert "Apply complete! Resources: 1 added" in applying.ended()


def test_a_policy_of_opa_that_passes(staged):
    user = staged(opa=[("mandatory", ALLOWS)])
    said = user.run("plan")
    assert "OPA Policy Evaluation" in said and "Overall Result: PASSED" in said and "1 policies evaluated" in said


@pytest.mark.parametrize("block", ["cloud", "remote"])
def test_policies_of_sentinel(staged, block):
    user = staged(block, sentinel=[("soft-mandatory", "fails")])
    applying = user.terminal("apply").expect("Result: failed").expect("Do you want to override the soft failed policy check?").expect("Enter a value:").type("override")
    applying.expect("Do you want to perform these actions in workspace").expect("Enter a value:").type("yes")
    assert "Apply complete! Resources: 1 added" in applying.ended()


def test_a_policy_of_sentinel_that_is_hard(staged):
    user = staged(sentinel=[("hard-mandatory", "fails")])
    assert "Organization Policy Check hard failed." in user.run("apply", "-auto-approve", code=1)


def test_a_policy_of_sentinel_overridden_by_itself(staged):
    """With -auto-approve the CLI overrides without asking where this is permitted."""
    user = staged(sentinel=[("soft-mandatory", "fails")])
    said = user.apply()
    assert "Apply complete! Resources: 1 added" in said


@pytest.mark.parametrize("block", ["cloud", "remote"])
def test_a_cost_estimate(staged, estimated, block):
    user = staged(block)
    said = user.terminal("apply").expect({"cloud": "Cost Estimation:", "remote": "Cost estimation:"}[block]).expect("Enter a value:").type("yes").ended()
    assert "Resources: 1 of 1 estimated" in said and "$12.50/mo +$10.00" in said and "Apply complete! Resources: 1 added" in said
