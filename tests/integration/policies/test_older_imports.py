# SPDX-License-Identifier: MPL-2.0
"""The imports of before tfplan/v2 in a worker: the provider schemas, which are fetched only for them."""

import pytest

from support.policy_jobs import policy_set, wait_for_results
from support.sentinel_jobs import PLAN, RUN, offer, outcomes, policy, start_worker


@pytest.fixture(scope="module")
def worker(fake_scheduler, sandbox, session_folder):
    worker = start_worker(fake_scheduler, session_folder / "older-imports", sandbox)
    yield worker
    worker.release()


V1_PLAN = {**PLAN, "resource_changes": [{**PLAN["resource_changes"][0], "change": {
    "actions": ["create"], "before": None, "after": {"input": "hello"}, "after_unknown": {"list": True}}}]}
SCHEMAS = {"provider_schemas": {"terraform.io/builtin/terraform": {"resource_schemas": {"terraform_data": {"block": {"attributes": {"list": {"type": ["list", "string"]}}}}}}}}
V1 = """import "tfplan"
import "tfstate"
print(tfstate.resources)
main = rule { tfplan.resources.terraform_data.one[0].diff["%s"].computed }
"""
V1_SETS = {
    "a single policy": policy_set(policy(V1 % "list.#")),
    "a module": policy_set(archive={"sentinel.hcl": 'import "module" "m" { source = "lib/m" }\npolicy "one" { source = "./p.sentinel" }\n', "p.sentinel": 'import "m"\nmain = m.verdict\n',
                                    "lib/m": 'import "tfplan/v1" as tfplan\nverdict = tfplan.resources.terraform_data.one[0].diff["list.#"].computed\n'}),
}


def offer_v1(fake_scheduler, *sets, **files):
    return fake_scheduler.offer("sentinel", {"plan-json": V1_PLAN, "policies": {"kind": "sentinel", "run": RUN, "sets": list(sets)}, **files})


@pytest.mark.parametrize("case", V1_SETS)
def test_the_older_plan_import_reads_the_provider_schemas(fake_scheduler, worker, case):
    job = offer_v1(fake_scheduler, policy_set(policy("main = true", name="fine"), number=2), V1_SETS[case], schemas=SCHEMAS)
    result, results = wait_for_results(job)
    assert (result["outcome"], outcomes(results, 1)["one"][0]) == ("passed", "passed"), results["output"]
    assert job.asked.count("schemas") == 1


@pytest.mark.parametrize("schemas", [{}, {"schemas": 404}])
def test_the_older_plan_import_works_without_schemas(fake_scheduler, worker, schemas):
    """None are stored, or the scheduler is of an earlier version."""
    job = offer_v1(fake_scheduler, policy_set(policy(V1 % "list")), **schemas)
    result, results = wait_for_results(job)
    assert (result["outcome"], outcomes(results)["one"][0]) == ("passed", "passed"), results["output"]


def test_provider_schemas_that_are_wrong_are_an_error_at_their_place(fake_scheduler, worker):
    sets = policy_set(policy(V1 % "list.#"), policy("main = true", name="fine"))
    result, results = wait_for_results(offer_v1(fake_scheduler, sets, schemas=b'{"provider_schemas": [}'))
    found = outcomes(results)
    assert (result["outcome"], found["one"][0], found["fine"][0]) == ("failed", "errored", "passed")
    assert "schemas.json:1:" in found["one"][1][0], found


@pytest.mark.parametrize("source", ["main = true", 'import "tfplan/v2" as tfplan\nmain = tfplan.terraform_version is "1.11.4"', 'import "tfstate"\nimport "tfconfig/v1" as c\nmain = tfstate.resources is empty and c.resources is empty'])
def test_policies_that_need_no_schemas_fetch_none(fake_scheduler, worker, source):
    job = offer(fake_scheduler, policy_set(policy(source)))
    result, results = wait_for_results(job)
    assert (result["outcome"], outcomes(results)["one"][0]) == ("passed", "passed"), results["output"]
    assert "schemas" not in job.asked
