# SPDX-License-Identifier: MPL-2.0
"""Large variables: one organization's large runs block no claim of another's, and runs have a limit."""

import json
import uuid

import psycopg

from integration.runs.test_claim_isolation import ONE, claimed, fake_worker, waiting_run  # noqa: F401
from support.wait import until

VALUE = 256 << 10  # the largest variable
MEBIBYTE = 1 << 20
RUN_LIMIT, ANSWER_LIMIT = 16 * MEBIBYTE, 32 * MEBIBYTE


def variable_set(org, count):
    """A set of the organization for all workspaces, with that many variables of the largest size. Returns its id."""
    attributes = {"name": f"large-{uuid.uuid4()}", "global": True}
    varset = org.post(f"organizations/{org.organization}/varsets", {"data": {"type": "varsets", "attributes": attributes}}).data["id"]
    for number in range(count):
        add(org, varset, f"large_{number}")
    return varset


def add(org, varset, key):
    attributes = {"key": key, "value": "x" * VALUE, "category": "terraform"}
    return org.post(f"varsets/{varset}/relationships/vars", {"data": {"type": "vars", "attributes": attributes}}).data["id"]


def test_the_size_of_a_claims_answer_is_bounded(org, api_site, fake_worker):
    variable_set(org, 60)  # 15 MiB
    large = [waiting_run(org) for _ in range(4)]
    other = api_site.organization()
    small = [waiting_run(other) for _ in range(3)]
    found, answers = [], []
    while True:
        answer = fake_worker.call("POST", "claim", {"worker": fake_worker.id, "slots": 8})
        found.append([job["run"] for job in answer.json["jobs"]])
        answers.append((len(answer.body), answer.json["more"]))
        if not found[-1]:
            break
    assert sorted(sum(found, [])) == sorted(large + small)
    assert all(size < ANSWER_LIMIT + MEBIBYTE for size, _ in answers), answers
    assert [more for _, more in answers] == [True] * (len(answers) - 2) + [False, False], answers
    assert set(found[0]) & set(small), "the other organization's jobs come among the first"
    assert max(len(set(jobs) & set(large)) for jobs in found) == 2


def test_an_oversized_run_of_an_earlier_version_is_claimed_alone(org, api_site, fake_worker):
    """The earlier version had no such limit."""
    variable_set(org, 60)
    large, small = [waiting_run(org), waiting_run(org)], waiting_run(api_site.organization())
    sizes = api_site.ask("select octet_length(snapshot_sealed) from run_inputs where run_id = %s", large[0])
    assert 15 * MEBIBYTE < sizes[0][0] < RUN_LIMIT
    with psycopg.connect(api_site.database) as connection:  # claims bound their answers by stored sizes only
        connection.execute("update run_inputs set invoke_action_addrs = jsonb_build_array(repeat('x', 20000000)) where run_id = any(%s)", (large,))
    found = []
    until(lambda: found.append(claimed(fake_worker, 8)) or not found[-1], "all jobs are claimed")
    assert sorted(sum(found, [])) == sorted([*large, small]) and all(len(set(jobs) & set(large)) <= 1 for jobs in found)


def test_too_large_variables_are_refused_with_a_pointer(org, api_site):
    workspace, other = org.workspace(), api_site.organization()
    varset = variable_set(org, 63)  # 15.75 MiB
    configuration = org.upload(workspace, ONE)

    def create(**attributes):
        body = {"data": {"type": "runs", "attributes": attributes, "relationships": {
            "workspace": {"data": {"type": "workspaces", "id": workspace}},
            "configuration-version": {"data": {"type": "configuration-versions", "id": configuration}}}}}
        return org.call("POST", "runs", body)

    def assert_refused(answer, pointer):
        assert answer.status == 422 and answer.json["errors"][0]["source"]["pointer"] == pointer, answer.text
        assert str(RUN_LIMIT) in answer.json["errors"][0]["detail"] and "xxx" not in answer.text

    own = [{"key": f"own_{number}", "value": json.dumps("y" * (200 << 10))} for number in range(2)]
    assert_refused(create(variables=own), "/data/attributes/variables")
    assert create(variables=own[:1], message="fits").status == 201
    last = add(org, varset, "large_63")  # 16 MiB, and the names
    assert_refused(create(), "/data/relationships/workspace")
    assert_refused(create(variables=own), "/data/relationships/workspace")
    waiting_run(other)
    org.delete(f"varsets/{varset}/relationships/vars/{last}")
    assert create().status == 201
    # JSON needs six bytes for each of these characters.
    attributes = {"key": "control", "value": "\x01" * (100 << 10), "category": "terraform"}
    org.post(f"workspaces/{workspace}/vars", {"data": {"type": "vars", "attributes": attributes}})
    assert_refused(create(), "/data/relationships/workspace")
