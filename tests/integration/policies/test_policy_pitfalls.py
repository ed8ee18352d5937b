# SPDX-License-Identifier: MPL-2.0
"""Pitfalls of the policy language that need a configuration, a plan or a run, by their numbers. tests/policy/language/pitfalls.cases has the others."""

import json
import subprocess

import pytest

from support.process import program

PASSED, FAILED = 0, 1
CHANGES = [
    {"address": "t.a", "type": "t", "name": "a", "mode": "managed", "change": {"actions": ["create"], "before": None, "after": {"x": 1}, "after_unknown": {}}},
    {"address": "t.b[0]", "type": "t", "name": "b", "mode": "managed", "index": 0, "provider_name": "p", "change": {"actions": ["update"], "before": {}, "after": {}}},
    {"address": 't.c["k[1]"]', "type": "t", "name": "c", "mode": "managed", "index": "k[1]", "change": {"actions": ["delete"], "before": {"x": 1}, "after": None}},
    {"address": "t.b[0]", "type": "t", "name": "b", "mode": "managed", "index": 0, "deposed": "5f0a", "change": {"actions": ["delete"], "before": {}, "after": None}},
]
CONFIGURATION = {
    "provider_config": {"p": {"name": "p"}},
    "root_module": {
        "resources": [{"address": "t.a", "mode": "managed", "type": "t", "name": "a", "provider_config_key": "p", "expressions": {"x": {"constant_value": 1}}},
                      {"address": "t.b", "mode": "managed", "type": "t", "name": "b", "count_expression": {"constant_value": 2}},
                      {"address": "t.c", "mode": "managed", "type": "t", "name": "c", "for_each_expression": {"references": ["var.k"]}}],
        "module_calls": {"m": {"source": "./m", "module": {"resources": [{"address": "t.d", "mode": "managed", "type": "t", "name": "d", "count_expression": {"references": ["var.n"]}}]}}},
    },
}
RUN = {"id": "run-1", "variables": {"with-dash": {"category": "env", "sensitive": True}, "with_line": {"category": "terraform", "sensitive": False}}}


@pytest.fixture
def evaluate(tmp_path):
    """Evaluates a policy with the plan and the run. Returns the exit code, what it prints, and its messages."""
    def evaluate(source, *args):
        (tmp_path / "plan.json").write_text(json.dumps({"format_version": "1.2", "terraform_version": "1.9.0", "resource_changes": CHANGES, "configuration": CONFIGURATION}))
        (tmp_path / "run.json").write_text(json.dumps(RUN))
        (tmp_path / "p.sentinel").write_text(source)
        done = subprocess.run([program("runyard-policy"), "eval", "-plan=plan.json", "-tfrun=run.json", *args], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.split("\n", 1)[1], done.stderr
    return evaluate


def test_11_absent_members_are_null_or_empty(evaluate):
    assert evaluate('''import "tfplan/v2" as plan
import "tfconfig/v2" as config
a = plan.resource_changes["t.a"]
b = plan.resource_changes["t.b[0]"]
r = config.resources["t.a"]
print([a.index, b.index, plan.resource_changes["t.c[\\"k[1]\\"]"].index, a.module_address, a.provider_name, a.deposed])
print([r.count, r.for_each, r.depends_on, r.provisioners, r.module_address])
main = rule { a.index is null and b.index is 0 and a.module_address is "" and a.deposed is "" and r.count is {} and r.for_each is {} and r.depends_on is [] }
''', "p.sentinel") == (PASSED, '[null, 0, "k[1]", "", "", ""]\n[{}, {}, [], [], ""]\n', "")


def test_15_addresses_of_a_configuration_have_no_index(evaluate):
    assert evaluate('''import "tfplan/v2" as plan
import "tfconfig/v2" as config
print(keys(config.resources))
main = rule {
	all plan.resource_changes as address, _ { config.resources[config.strip_index(plan.resource_changes[address].address)] is defined } and
	config.resources["t.b[0]"] is not defined and config.strip_index("module.m[0].t.d[\\"x]\\"]") is "module.m.t.d"
}
''', "p.sentinel") == (PASSED, '["t.a", "t.b", "t.c", "module.m.t.d"]\n', "")


def test_20_two_blocks_of_one_source_have_their_own_parameters(evaluate, tmp_path):
    (tmp_path / "sentinel.hcl").write_text('policy "strict" {\n  source = "p.sentinel"\n  params = { most = 1 }\n}\n'
                                           'policy "mild" {\n  source = "./p.sentinel"\n  params = { most = 3 }\n}\npolicy "plain" {\n  source = "p.sentinel"\n}\n')
    source = "param most default 2\nprint(most)\nmain = rule { 2 <= most }\n"
    strict = '\np.sentinel:3:1 - Rule "main"\n  Value:\n    false\n\nPrinted:\n  1\n'
    assert evaluate(source) == (FAILED, strict + "\nPass - p.sentinel\n3\n\nPass - p.sentinel\n2\n", "")
    for name, code, shown in (("strict", FAILED, strict), ("mild", PASSED, "3\n"), ("plain", PASSED, "2\n")):
        assert evaluate(source, f"-policy={name}") == (code, shown, "")


def test_28_deposed_objects_have_their_own_keys(evaluate):
    assert evaluate('''import "tfplan/v2" as plan
print(keys(plan.resource_changes))
old = plan.resource_changes["t.b[0]:5f0a"]
main = rule { old.deposed is "5f0a" and old.address is "t.b[0]" and old.change.actions is ["delete"] and plan.resource_changes["t.b[0]"].change.actions is ["update"] }
''', "p.sentinel") == (PASSED, '["t.a", "t.b[0]", "t.c[\\"k[1]\\"]", "t.b[0]:5f0a"]\n', "")


def test_29_names_of_variables_keep_their_dashes(evaluate):
    assert evaluate('''import "tfrun"
print(keys(tfrun.variables))
main = rule { tfrun.variables["with-dash"].sensitive and tfrun.variables["with_dash"] is not defined and tfrun.variables.with_line.category is "terraform" }
''', "p.sentinel") == (PASSED, '["with-dash", "with_line"]\n', "")
