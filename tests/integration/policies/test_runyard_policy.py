# SPDX-License-Identifier: MPL-2.0
"""The program runyard-policy: results, exit codes, refused sources, test cases. Its policies are in tests/policy."""

import hashlib
import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from support.process import program
from support.wait import until

POLICIES = Path(__file__).parents[2] / "policy"
CONFIGURATION = POLICIES / "configuration"
TESTING = POLICIES / "testing"
PASSED, FAILED, UNDEFINED, RUNTIME, OTHER = 0, 1, 2, 3, 9


def run(*args, cwd=CONFIGURATION):
    """Returns the exit code, standard output and standard error."""
    done = subprocess.run([program("runyard-policy"), *map(str, args)], cwd=cwd, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def write(tmp_path):
    """Writes files below a new folder, and returns it."""
    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path = path.with_name(path.name.replace("_hcl", ".hcl").replace("_json", ".json").replace("_sentinel", ".sentinel"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path
    return write


def first_line(text):
    return text.splitlines()[0] if text else ""


# ---- eval ----

RESULTS = [
    ("enough-people", PASSED, ""),
    ("many-people", FAILED, ""),
    ("undefined-result", UNDEFINED, "undefined.sentinel:3:15: main is undefined because of an undefined value that arose here"),
    ("runtime-error", RUNTIME, "error.sentinel:3:21: + can't be applied to int and string"),
    ("does-not-parse", OTHER, 'syntax.sentinel:1:24: expected an expression, found "}"'),
    ("remote-module", OTHER, 'sentinel.hcl:24:1: module "remote": the source https://example.com/remote.sentinel is remote, which is not supported'),
    ("remote-policy", OTHER, 'sentinel.hcl:71:1: policy "remote-policy": the source git::https://example.com/policies.git//a.sentinel is remote, which is not supported'),
    ("all-imports", PASSED, ""),
]


@pytest.mark.parametrize("name, code, reason", RESULTS)
def test_a_policy_of_a_configuration(name, code, reason):
    got, _, errors = run("eval", "-trace", "-color=false", f"-policy={name}")
    assert got == code
    assert "warning: the feature \"telepathy\" is not known" in errors
    if reason:
        assert first_line(errors) == reason


def test_all_policies_of_a_configuration():
    """An error in one does not stop the others."""
    code, out, _ = run("apply", "-json")
    answer = json.loads(out)
    assert code == OTHER and answer["result"] is False
    assert [(policy["policy"], policy["result"]) for policy in answer["policies"]] == [(name, code == PASSED) for name, code, _ in RESULTS]
    assert [policy["error"] or "" for policy in answer["policies"]] == [reason for *_, reason in RESULTS]
    assert [policy["enforcement_level"] for policy in answer["policies"]] == ["hard-mandatory", "soft-mandatory"] + ["advisory"] * 6


def test_the_trace_as_text():
    assert run("eval", "-trace", "-policy=many-people")[1] == """Fail - enough.sentinel

Description:
  There are enough people.

enough.sentinel:11:1 - Rule "main"
  Value:
    false

enough.sentinel:8:1 - Rule "enough"
  Description:
    As many as the parameter wants.
  Value:
    false

Printed:
  least 20
"""


def test_the_trace_as_json():
    policy, = json.loads(run("eval", "-json", "-policy=enough-people")[1])["policies"]
    assert policy["trace"] == {
        "description": "There are enough people.", "error": None, "print": "least 2\n", "result": True,
        "rules": {
            "main": {"desc": "", "ident": "main", "value": True,
                     "position": {"filename": "enough.sentinel", "offset": 191, "line": 11, "column": 1}},
            "enough": {"desc": "As many as the parameter wants.", "ident": "enough", "value": True,
                       "position": {"filename": "enough.sentinel", "offset": 106, "line": 8, "column": 1}}}}


def test_the_value_of_one_rule():
    assert run("eval", "-json-rule=enough", "-policy=many-people")[:2] == (FAILED, "false\n")
    code, out, errors = run("eval", "-json-rule=none", "-policy=many-people")
    assert (code, out) == (FAILED, "") and '"none" was not evaluated' in errors


def test_the_trace_of_a_policy_that_does_not_pass(write):
    """Also without -trace."""
    folder = write(p_sentinel="param x\nprint(x)\ngood = rule { x is 1 }\nmain = rule { good and x + 0 is 1 }\n")
    rule = '\np.sentinel:3:1 - Rule "good"\n  Value:\n    {}\n\nPrinted:\n  {}\n'
    assert run("eval", "-param=x=1", "p.sentinel", cwd=folder) == (PASSED, "Pass - p.sentinel\n1\n", "")
    assert run("eval", "-param=x=2", "p.sentinel", cwd=folder)[:2] == (
        FAILED, 'Fail - p.sentinel\n\np.sentinel:4:1 - Rule "main"\n  Value:\n    false\n' + rule.format("false", "2"))
    folder = write(p_sentinel="param x\nprint(x)\ngood = rule { true }\nmain = rule { good and x + 0 is 1 }\n")
    assert run("eval", "-param=x=a", "p.sentinel", cwd=folder)[:2] == (RUNTIME, "Error - p.sentinel\n" + rule.format("true", "a"))


CONFIGURATIONS = {
    "all files": ({"a_hcl": 'policy "a" {\n}\n', "z_hcl": 'policy "z" {\n}\nparam "n" {\n  value = 5\n}\n'}, ["advisory 5", "advisory 5"]),
    "a hidden file": ({"sentinel_hcl": 'policy "a" {\n}\n', "__hidden_hcl": "odd {}\n"}, ["advisory 1"]),
    "an override": ({"sentinel_hcl": 'policy "a" {\n  params = { n = 2 }\n}\n', "override_hcl": 'policy "a" {\n  enforcement_level = "hard-mandatory"\n}\n'},
                    ["hard-mandatory 2"]),
    "overrides in their order": ({"a_hcl": 'policy "a" {\n  params {\n    n = 2\n  }\n}\n', "a_override_hcl": 'policy "a" {\n  enforcement_level = "soft-mandatory"\n  params = { n = 3 }\n}\n',
                                  "override_json": '{"policy": {"a": {"enforcement_level": "hard-mandatory"}}}'}, ["hard-mandatory 3"]),
    "an override by a nested block": ({"a_hcl": 'policy "a" {\n  params = { n = 2 }\n}\n', "override_hcl": 'policy "a" {\n  params {\n    n = 4\n  }\n}\n'}, ["advisory 4"]),
    "a parameter": ({"a_hcl": 'policy "a" {\n}\nparam "n" {\n  value = 2\n}\n', "override_hcl": 'param "n" {\n  value = 3\n}\n'}, ["advisory 3"]),
    "json": ({"sentinel_json": '{"policy": {"a": {}}}', "override_hcl": 'policy "a" {\n  params = { n = 2 }\n}\n'}, ["advisory 2"]),
    "no json beside hcl": ({"a_hcl": 'policy "a" {\n}\n', "sentinel_json": "{"}, ["advisory 1"]),
}
WRONG_CONFIGURATIONS = {
    "a block twice": ({"a_hcl": 'policy "a" {\n}\n', "b_hcl": '\npolicy "a" {\n}\n'}, 'b.hcl:2:1: policy "a" is given twice'),
    "an override of nothing": ({"a_hcl": 'policy "a" {\n}\n', "override_hcl": '\npolicy "b" {\n}\n'}, 'override.hcl:2:1: policy "b" overrides nothing'),
    "an odd override": ({"a_hcl": 'policy "a" {\n}\n', "override_hcl": 'policy "a" {\n  level = 1\n}\n'}, 'override.hcl:2:3: policy "a" has no attribute "level"'),
    "a wrong value": ({"a_hcl": 'policy "a" {\n}\n', "override_hcl": 'policy "a" {\n  enforcement_level = "none"\n}\n'},
                      'a.hcl:1:1: policy "a": the enforcement level "none" is not advisory, soft-mandatory or hard-mandatory'),
    "a file that does not parse": ({"a_hcl": 'policy "a" {\n}\n', "b_hcl": "policy {"}, 'b.hcl:1:1: the block "policy" is not closed'),
    "an override alone": ({"override_hcl": 'policy "a" {\n}\n'}, "there is no policy, and no sentinel.hcl in this folder (-config)"),
}


def write_configuration(write, files):
    policy = "param n default 1\nprint(n)\nmain = true\n"
    folder = write(a_sentinel=policy, z_sentinel=policy, **{name: text for name, text in files.items() if not name.startswith("__")})
    for name in files:
        if name.startswith("__"):
            (folder / name.replace("__", ".").replace("_hcl", ".hcl")).write_text(files[name])
    return folder


@pytest.mark.parametrize("case", CONFIGURATIONS)
def test_the_configuration_of_a_folder(write, case):
    files, shown = CONFIGURATIONS[case]
    code, out, _ = run("eval", "-json", cwd=write_configuration(write, files))
    assert code == PASSED
    assert [f'{policy["enforcement_level"]} {policy["trace"]["print"].strip()}' for policy in json.loads(out)["policies"]] == shown


@pytest.mark.parametrize("case", WRONG_CONFIGURATIONS)
def test_a_wrong_configuration_of_a_folder(write, case):
    files, error = WRONG_CONFIGURATIONS[case]
    code, _, errors = run("eval", cwd=write_configuration(write, files))
    assert (code, first_line(errors)) == (OTHER, error)


def test_a_configuration_that_is_named_is_the_only_one(write):
    """So a worker's evaluation depends on no other file of an archive."""
    folder = write(p_sentinel="main = false\n", q_sentinel="main = true\n", sentinel_hcl='policy "p" {\n  enforcement_level = "hard-mandatory"\n}\n',
                   override_hcl='policy "p" {\n  enforcement_level = "advisory"\n  source = "q.sentinel"\n}\n', other_hcl="odd {}\n")
    for flags, cwd in ((["-config=sentinel.hcl"], folder), (["-root=.", "-config=sentinel.hcl", "-policy=p"], folder), ([f"-config={folder}/sentinel.hcl"], "/")):
        code, out, _ = run("eval", "-json", *flags, cwd=cwd)
        assert (code, json.loads(out)["policies"][0]["enforcement_level"]) == (FAILED, "hard-mandatory")


def test_parameters_of_the_environment(write):
    folder = write(p_sentinel="param a\nparam b default 1\nprint(a, b)\nmain = true\n", sentinel_hcl='policy "p" {\n  params = { a = 2, b = 2 }\n}\n')
    environment = {**os.environ, "SENTINEL_PARAM_a": "[1, 2]", "SENTINEL_PARAM_b": "text", "SENTINEL_PARAM_": "odd"}
    done = subprocess.run([program("runyard-policy"), "eval", "-param=b=9", "p"], cwd=folder, env=environment, capture_output=True, timeout=60)
    assert done.stdout == b"Pass - p.sentinel\n[1, 2] 9\n"
    done = subprocess.run([program("runyard-policy"), "eval"], cwd=folder, env=environment, capture_output=True, timeout=60)
    assert done.stdout == b"Pass - p.sentinel\n[1, 2] text\n"


def test_the_time_of_all_policies(write):
    """It is not for each of them."""
    slow = "for range(100000) as _, a { for range(1000) as _, b { x = b } }\nmain = true\n"
    folder = write(a_sentinel=slow, b_sentinel=slow, c_sentinel="for range(3000000) as _, a { x = a }\nmain = true\n",
                   sentinel_hcl='policy "a" {\n}\npolicy "b" {\n}\npolicy "c" {\n}\n', test__a__x_hcl="\n", test__b__x_hcl="\n")
    begun = time.monotonic()
    code, out, errors = run("eval", "-timeout=2s", cwd=folder)
    assert code == RUNTIME and errors.count("the limit of time is reached (-timeout)") == 3 and "Pass" not in out
    code, out, _ = run("test", "-timeout=2s", "-maxConcurrency=1", "a.sentinel", "b.sentinel", cwd=folder)
    assert code == FAILED and out.count("the limit of time is reached (-timeout)") == 2
    assert time.monotonic() - begun < 20


def test_a_policy_is_named_by_its_label():
    for name, code, _ in RESULTS:
        assert run("eval", name) == run("eval", f"-policy={name}")
    assert run("eval", "-json-rule=enough", "many-people")[:2] == (FAILED, "false\n")
    code, out, errors = run("eval", "nobody")
    assert code == OTHER and first_line(errors) == 'sentinel.hcl:1:1: the configuration has no policy "nobody"'


def test_a_file_is_no_label(write):
    folder = write(sentinel_hcl='policy "a" {\n  source = "b.sentinel"\n}\n', b_sentinel="main = true\n")
    (folder / "a").write_text("main = false\n")
    assert run("eval", "a", cwd=folder)[:2] == (FAILED, "Fail - a\n")
    assert run("eval", "-policy=a", cwd=folder)[:2] == (PASSED, "Pass - b.sentinel\n")


def test_the_value_of_a_rule_of_all_policies_is_all_of_them():
    answers = [json.loads(run("eval", flag)[1]) for flag in ("-json-rule=enough", "-json")]
    assert [[policy["trace"] for policy in answer["policies"]] for answer in answers][0] == [policy["trace"] for policy in answers[1]["policies"]]


def test_parameters_of_the_command_line_win():
    assert run("eval", "-policy=many-people", "-param=least=3")[0] == PASSED
    assert run("eval", "-policy=enough-people", "-param", "least=4")[0] == FAILED


@pytest.mark.parametrize("text, shown", [
    ("12", "12"), ('"12"', '"12"'), ("twelve", '"twelve"'), ("[1, \"a\"]", '[1, "a"]'), ("{a = 1}", '{"a": 1}'), ("true", "true"),
    ("1.5", "1.5"), ("[1, 2", '"[1, 2"'), ("", '""'), ("null", '"null"'), ("a b = c", '"a b = c"')])
def test_a_parameter_is_a_literal_or_a_text(write, text, shown):
    folder = write(p_sentinel="param x\nprint([x])\nmain = true\n")
    assert run("eval", f"-param=x={text}", "p.sentinel", cwd=folder)[1] == f"Pass - p.sentinel\n[{shown}]\n"


@pytest.mark.parametrize("name, reason", [("tfplan/v2", "a plan (-plan)"), ("tfstate/v2", "a plan (-plan)"), ("tfplan", "a plan (-plan)"),
                                          ("tfconfig/v1", "a plan (-plan)"), ("tfrun", "a run (-tfrun)")])
def test_a_terraform_import_needs_its_file(write, name, reason):
    folder = write(p_sentinel=f'import "{name}" as x\nmain = true\n')
    code, _, errors = run("eval", "p.sentinel", cwd=folder)
    assert (code, errors) == (OTHER, f'p.sentinel:1:8: import "{name}" needs {reason}\n')


PLAN_POLICY = """import "tfplan/v2" as tfplan
import "tfconfig/v2" as tfconfig
import "tfrun"
print(keys(tfplan.resource_changes), tfconfig.strip_index("t.a[0]"), tfrun.id)
main = rule { tfplan.resource_changes["t.a[0]"].change.after.size < 3 }
"""
PLAN = '{"resource_changes": [{"address": "t.a[0]", "change": {"actions": ["create"], "before": null, "after": {"size": %s}}}]}'


@pytest.mark.parametrize("size, code, word", [("2", PASSED, "Pass"), ("3", FAILED, "Fail")])
def test_a_plan_decides(write, size, code, word):
    folder = write(p_sentinel=PLAN_POLICY, plan_json=PLAN % size, run_json='{"id": "run-1"}')
    given, out, _ = run("eval", "-plan=plan.json", "-tfrun=run.json", "p.sentinel", cwd=folder)
    assert (given, out.splitlines()[0]) == (code, f"{word} - p.sentinel")
    assert out.endswith('["t.a[0]"] t.a run-1\n') and ('Rule "main"' in out) == (code == FAILED)


OLDER_POLICY = """import "tfplan"
import "tfstate/v1" as tfstate
print(keys(tfplan.resources.t.a[0].diff), tfstate.module_paths)
main = rule { tfplan.resources.t.a[0].diff["%s"].computed }
"""
OLDER_PLAN = ('{"resource_changes": [{"address": "t.a", "type": "t", "name": "a", "provider_name": "p", "change": {"actions": ["create"], "before": null,'
              ' "after": {}, "after_unknown": {"list": true}}}]}')
OLDER_SCHEMAS = '{"provider_schemas": {"p": {"resource_schemas": {"t": {"block": {"attributes": {"list": {"type": ["set", "string"]}}}}}}}}'


def test_the_older_imports_read_the_plan_and_the_schemas(write):
    folder = write(p__one_sentinel=OLDER_POLICY % "list.#", p__two_sentinel=OLDER_POLICY % "list", plan_json=OLDER_PLAN, schemas_json=OLDER_SCHEMAS)
    flags = ("-plan=plan.json", "-root=p", "p/one.sentinel")
    assert run("eval", "-schemas=schemas.json", *flags, cwd=folder)[:2] == (PASSED, 'Pass - one.sentinel\n["list.#"] [[]]\n')
    assert run("eval", *flags, cwd=folder)[0] == UNDEFINED
    assert run("eval", "-plan=plan.json", "p/two.sentinel", cwd=folder)[:2] == (PASSED, 'Pass - p/two.sentinel\n["list"] [[]]\n')
    code, _, errors = run("eval", "-schemas=none.json", *flags, cwd=folder)
    assert code == OTHER and errors == 'one.sentinel:1:8: the file of the provider schemas for the import "tfplan": none.json does not exist\n'


def test_a_plugin_names_the_schemas(write):
    plugin = 'import "plugin" "%s" {\n  config = { plan_path = "plan.json", schemas_path = "schemas.json" }\n}\n'
    folder = write(sentinel_hcl=plugin % "tfplan" + plugin % "tfstate/v1" + 'policy "one" {}\n', one_sentinel=OLDER_POLICY % "list.#", plan_json=OLDER_PLAN,
                   schemas_json=OLDER_SCHEMAS)
    assert run("eval", cwd=folder)[:2] == (PASSED, 'Pass - one.sentinel\n["list.#"] [[]]\n')


def test_a_plugin_names_the_plan(write):
    plugins = "".join(f'import "plugin" "{name}" {{\n  config = {{ {key} = "data/{file}.json" }}\n}}\n'
                      for name, key, file in (("tfplan/v2", "plan_path", "plan"), ("tfconfig/v2", "plan", "plan"), ("tfrun", "run_path", "run")))
    folder = write(p_sentinel=PLAN_POLICY, sentinel_hcl=plugins + 'policy "p" {\n}\n')
    (folder / "data").mkdir()
    (folder / "data/plan.json").write_text(PLAN % 1)
    (folder / "data/run.json").write_text('{"id": "run-2"}')
    assert run("eval", cwd=folder)[:2] == (PASSED, 'Pass - p.sentinel\n["t.a[0]"] t.a run-2\n')


def test_wrong_json_of_a_plan_is_an_error_at_its_place(write):
    folder = write(p_sentinel=PLAN_POLICY, plan_json=PLAN % "x", run_json="{}")
    code, _, errors = run("eval", "-plan=plan.json", "-tfrun=run.json", "p.sentinel", cwd=folder)
    assert (code, errors) == (RUNTIME, "plan.json:1:113: the JSON is wrong: a value is missing\n")


def test_a_configuration_without_policies_has_not_passed(write):
    folder = write(sentinel_hcl="")
    code, out, errors = run("eval", cwd=folder)
    assert (code, out, errors) == (OTHER, "", "sentinel.hcl:1:1: the configuration has no policies\n")
    answer = json.loads(run("eval", "-json", cwd=folder)[1])
    assert (answer["policies"], answer["result"], answer["error"]) == ([], False, "the configuration has no policies")


def test_a_missing_parameter_is_named(write):
    folder = write(p_sentinel="\nparam x\nmain = true\n")
    code, _, errors = run("eval", "p.sentinel", cwd=folder)
    assert (code, errors) == (RUNTIME, 'p.sentinel:2:7: the parameter "x" has no value and no default\n')


def test_a_field_that_an_import_lacks_is_a_warning(write):
    """A call of it is undefined, and does nothing as a statement."""
    folder = write(tools_sentinel="import \"types\"\nadd = func(list, x) { append(list, types.typeof(x)) }\n",
                   sentinel_hcl='import "module" "tools" {\n  source = "tools.sentinel"\n}\nmock "data" {\n  data = {}\n}\npolicy "p" {\n}\n',
                   p_sentinel='import "tools"\nimport "strings" as s\nimport "time"\nimport "data"\nfound = []\ntools.ad(found, 1)\ntools.add(found, 1)\n'
                              'f = func(tools) { return tools.odd }\nx = [s.upper, s.to_upper, time.noon, data.x]\nmain = true\n')
    assert run("eval", cwd=folder) == (PASSED, "Pass - p.sentinel\n", "\n".join((
        'tools.sentinel:2:36: warning: the import "types" has no "typeof", so it is undefined',
        'p.sentinel:6:1: warning: the import "tools" has no "ad", so it is undefined',
        'p.sentinel:9:6: warning: the import "strings" has no "upper", so it is undefined', "")))


def test_traces_of_any_bytes_are_json(write):
    folder = write(p_sentinel=b'# caf\xe9 \x01\nx = rule { "\\xff\\x00\\n\xc3\xa9" }\nprint("\\x80", x)\nmain = rule { x is not "" }\n')
    code, out, _ = run("eval", "-json", "p.sentinel", cwd=folder)
    policy, = json.loads(out)["policies"]
    assert code == PASSED and policy["trace"]["rules"]["x"]["value"] == "\ufffd\0\n\u00e9"


@pytest.mark.parametrize("value", ["[float(\"NaN\")]", "l"])
def test_what_json_can_not_show_is_no_lost_result(write, value):
    folder = write(p_sentinel=f"l = [1]\nappend(l, l)\nx = rule {{ {value} }}\nmain = rule {{ x is not empty }}\n")
    code, out, _ = run("eval", "-json", "p.sentinel", cwd=folder)
    policy, = json.loads(out)["policies"]
    assert policy["result"] is (code == PASSED)
    assert run("eval", "-trace", "p.sentinel", cwd=folder)[0] == code


@pytest.mark.parametrize("flags, limit, second", [
    (["-steps=1000"], "steps is reached (-steps)", "Pass - b.sentinel"), (["-memory=4M"], "memory is reached (-memory)", "Pass - b.sentinel"),
    (["-timeout=200ms", "-steps=10000000000"], "time is reached (-timeout)", "Error - b")])
def test_limits_end_a_policy_and_the_next_one_runs(write, flags, limit, second):
    """Only the time is one of all policies."""
    folder = write(sentinel_hcl='policy "a" {}\npolicy "b" {}\n', b_sentinel="main = true\n",
                   a_sentinel="l = []\nfor range(10000000) as i { append(l, string(i)) }\nfor range(10000000) as i { x = i }\nmain = true\n")
    code, out, errors = run("eval", *flags, cwd=folder)
    assert code == RUNTIME and limit in first_line(errors)
    assert out == f"Error - a.sentinel\n\n{second}\n"


def test_the_largest_limits():
    assert run("eval", "-timeout=9223372036854775807ms", "-steps=9223372036854775807", "-memory=9223372036854775807", "-policy=enough-people")[0] == PASSED


def test_wrong_command_lines():
    for args, reason in [
            (["odd"], "there is no command"), (["eval", "-odd"], "the flag -odd is not known"), (["eval", "-steps=x"], "-steps needs N"),
            (["eval", "-steps=0"], "-steps needs N"), (["eval", "-config"], "-config needs FILE"), (["eval", "-json=maybe"], "-json needs true or false"),
            (["eval", "-param=x"], "-param needs K=V"), (["eval", "-timeout=5 days"], "-timeout needs TIME"), (["eval", "a", "b"], "eval takes one policy"),
            (["eval", "-policy=a", "b"], "not both"), (["eval", "-policy=none"], 'no policy "none"'), (["eval", "-config=none.hcl"], "none.hcl does not exist"),
            (["eval", "none.sentinel"], "none.sentinel does not exist"), (["test", "-plan=x"], "the flag -plan=x is not known"),
            (["eval", "-root=none"], "-root"), (["test", "none"], "none"), (["test", "-run=("], "-run"), (["fmt"], 'no command "fmt"')]:
        code, _, errors = run(*args)
        assert code == OTHER and reason in errors, (args, errors)


def test_help_and_version():
    code, out, _ = run("--help")
    assert code == 0 and all(flag in out for flag in ("-json-rule=RULE", "-maxConcurrency=N", "-root=FOLDER", "Exit codes"))
    assert run("eval", "--help")[:2] == run("test", "-h")[:2] == run("-h")[:2] == (0, out)
    assert run() == (OTHER, out, "")
    code, out, _ = run("--version")
    assert run("version") == (code, out, "")
    assert code == 0 and re.fullmatch(r"runyard-policy \S+ \(revision \S+\)\n", out)


# ---- sources ----

def module(source):
    return f'policy "p" {{}}\npolicy "other" {{}}\nimport "module" "m" {{\n  source = "{source}"\n}}\n'


def assert_refused(folder, reason):
    """Only the policy that imports the module errs."""
    code, out, errors = run("eval", "-root=.", "-config=set/sentinel.hcl", cwd=folder)
    assert code == OTHER and first_line(errors) == f'set/sentinel.hcl:3:1: module "m": {reason}'
    assert out == "Error - set/p.sentinel\n\nPass - set/other.sentinel\n"


@pytest.fixture
def policy_set(write):
    """A set in a folder of an archive; its module has the source."""
    def policy_set(source):
        return write(set__sentinel_hcl=module(source), set__p_sentinel='import "m"\nmain = m.x is 1\n', set__other_sentinel="main = true\n",
                     shared__m_sentinel="x = 1\n")
    return policy_set


def test_a_module_above_the_set_is_read(policy_set):
    folder = policy_set("../shared/m.sentinel")
    assert run("eval", "-root=.", "-config=set/sentinel.hcl", cwd=folder) == (PASSED, "Pass - set/p.sentinel\n\nPass - set/other.sentinel\n", "")
    assert run("eval", f"-root={folder}", "-policy=p", cwd=folder / "set")[0] == PASSED
    digest = hashlib.sha256(b"x = 1\n").hexdigest()
    folder = policy_set(f"../shared/m.sentinel?checksum=sha256:{digest}")
    assert run("eval", "-root=.", "-config=set/sentinel.hcl", cwd=folder)[0] == PASSED


@pytest.mark.parametrize("source, reason", [
    ("../../outside.sentinel", "../outside.sentinel is outside of the root (-root)"),
    ("/etc/passwd", "the source /etc/passwd is an absolute path, which is refused"),
    ("link.sentinel", "set/link.sentinel is a symbolic link or in one, which -root refuses"),
    ("https://example.com/m.sentinel", "the source https://example.com/m.sentinel is remote, which is not supported"),
    ("none.sentinel", "set/none.sentinel does not exist"),
    ("../shared", "shared is no file"),
    ("../shared/m.sentinel?checksum=sha256:00", f"the file's checksum is sha256:{hashlib.sha256(b'x = 1' + bytes([10])).hexdigest()}, not sha256:00"),
])
def test_refused_sources_are_named(policy_set, source, reason):
    folder = policy_set(source)
    (folder / "set/link.sentinel").symlink_to("../shared/m.sentinel")
    (folder.parent / "outside.sentinel").write_text("x = 1\n")
    assert_refused(folder, reason)


def test_circles_are_named(write):
    folder = write(sentinel_hcl='policy "p" {}\nmodule "a" { source = "a.sentinel" }\nmodule "b" { source = "b.sentinel" }\n',
                   p_sentinel='import "a"\nmain = true\n', a_sentinel='import "b"\n', b_sentinel='import "a"\n')
    code, _, errors = run("eval", cwd=folder)
    assert (code, first_line(errors)) == (OTHER, 'b.sentinel:1:8: a circle of imports: "a" imports "b", which imports "a"')


def test_files_outside_of_the_root_are_refused(write):
    folder = write(in__sentinel_hcl="", out_sentinel="main = true\n")
    code, _, errors = run("eval", "-root=in", "out.sentinel", cwd=folder)
    assert code == OTHER and "out.sentinel is not below the root in (-root)" in errors


# ---- test ----

def test_passing_cases():
    assert run("test", cwd=TESTING / "passing") == (PASSED, """PASS - legacy.sentinel
  PASS - test/legacy/older-form.json
PASS - owners.sentinel
  PASS - test/owners/values.hcl
PASS - sizes.sentinel
  PASS - test/sizes/all-sizes-allowed.hcl
  PASS - test/sizes/large-refused.hcl
  PASS - test/sizes/no-machine.json
? - untested.sentinel (no test cases)
""", "")


def test_failing_cases():
    code, out, _ = run("test", "failing", cwd=TESTING)
    assert code == FAILED
    lines = [line for line in out.splitlines() if re.match(r"  ?\S|\S", line) and not line.startswith("   ")]
    assert lines == [
        "ERROR - failing/broken.sentinel", "  ERROR - failing/test/broken/any.hcl",
        "ERROR - failing/verdicts.sentinel", "  FAIL - failing/test/verdicts/a-wrong-expectation.hcl",
        "  FAIL - failing/test/verdicts/b-not-evaluated.hcl", "  ERROR - failing/test/verdicts/c-error.hcl",
        "  PASS - failing/test/verdicts/d-passing.hcl"]
    for reason in ('    expected "main": true\n    got: false\n', '    the rule "never" was not evaluated\n',
                   "    failing/verdicts.sentinel:4:29: + can't be applied to string and int\n", "    Printed:\n      number 20\n"):
        assert reason in out, out


def test_cases_as_json():
    code, out, _ = run("test", "-json", cwd=TESTING / "failing")
    policies = json.loads(out)["policies"]
    assert code == FAILED and [(path, policy["status"]) for path, policy in policies.items()] == [("broken.sentinel", "ERROR"), ("verdicts.sentinel", "ERROR")]
    cases = policies["verdicts.sentinel"]["cases"]
    assert [case["status"] for case in cases.values()] == ["FAIL", "FAIL", "ERROR", "PASS"]
    wrong = cases["test/verdicts/a-wrong-expectation.hcl"]
    assert wrong["rule_detail"] == {"main": {"expected": True, "got": False, "evaluated": True}}
    assert wrong["trace"]["print"] == "number 20\n" and wrong["config_legacy"] is False and wrong["errors"] == []
    assert cases["test/verdicts/c-error.hcl"]["errors"] == ["verdicts.sentinel:4:29: + can't be applied to string and int"]
    assert cases["test/verdicts/b-not-evaluated.hcl"]["rule_detail"] == {"never": {"expected": True, "evaluated": False}}
    assert cases["test/verdicts/d-passing.hcl"]["rule_detail"] == {}
    assert all(isinstance(measured["duration"], int) for measured in (json.loads(out), wrong))
    legacy = json.loads(run("test", "-json", "legacy.sentinel", cwd=TESTING / "passing")[1])
    assert legacy["policies"]["legacy.sentinel"]["cases"]["test/legacy/older-form.json"]["config_legacy"] is True


def test_repeated_test_blocks_are_all_expected(write):
    folder = write(p_sentinel="a = rule { 1 }\nmain = rule { a is 1 }\n",
                   test__p__good_hcl="test {\n rules = { main = true }\n}\ntest {\n rules = { main = true, a = 1 }\n}\n",
                   test__p__wrong_hcl="test {\n rules = { main = true }\n}\ntest {\n rules = { a = 2 }\n}\n",
                   test__p__odd_hcl="test {\n rules = { main = true }\n}\ntest {\n rules = { main = false }\n}\n")
    code, out, _ = run("test", "-json", "p.sentinel", cwd=folder)
    cases = json.loads(out)["policies"]["p.sentinel"]["cases"]
    assert code == FAILED and [case["status"] for case in cases.values()] == ["PASS", "ERROR", "FAIL"]
    assert cases["test/p/good.hcl"]["config_warnings"] == ['test/p/good.hcl:4:1: warning: the block "test" is repeated']
    assert cases["test/p/odd.hcl"]["errors"] == ['test/p/odd.hcl:4:1: the rule "main" has two different expectations']
    assert cases["test/p/wrong.hcl"]["rule_detail"] == {"a": {"expected": 2, "got": 1, "evaluated": True}}


def test_chosen_cases():
    assert run("test", "-run=sizes/.*refused", cwd=TESTING / "passing")[:2] == (
        PASSED, "PASS - sizes.sentinel\n  PASS - test/sizes/large-refused.hcl\n")
    code, out, _ = run("test", "-verbose", "-run", "owners/values", cwd=TESTING / "passing")
    assert code == PASSED and 'owners.sentinel:4:1 - Rule "count"\n      Value:\n        2\n' in out


def test_parallel_cases_give_the_same_result(write):
    files = {f"test__p__case{i:02}_hcl": f'mock "m" {{ data = {{ x = {i} }} }}\ntest {{ rules = {{ main = {"true" if i % 3 else "false"} }} }}\n' for i in range(40)}
    folder = write(p_sentinel='import "m"\nimport "time"\nprint(m.x)\nmain = rule { m.x % 2 is 0 and time.load("2020-02-29T00:00:00Z").day is 29 }\n', **files)
    one = run("test", "-maxConcurrency=1", cwd=folder)
    assert one[0] == FAILED and one[1].count("\n  FAIL - ") == 20
    assert run("test", "-maxConcurrency=8", cwd=folder) == one


def test_a_root_for_tests():
    assert run("test", "-root=.", cwd=TESTING / "passing")[0] == PASSED
    code, out, _ = run("test", "-root=test", cwd=TESTING / "passing")
    assert code == FAILED and "is not below the root test (-root)" in out


def readme_blocks():
    """The indented blocks of the program's README that begin with a line, by that line."""
    text = (Path(__file__).parents[3] / "policy/README.md").read_text()
    blocks = re.findall(r"(?:^       .*\n|^\n(?=       ))+", text, re.M)
    return {block.strip().splitlines()[0]: re.sub("^       ", "", block.strip("\n"), flags=re.M) + "\n" for block in blocks}


def test_the_readme_s_policy(write):
    blocks = readme_blocks()
    mock = 'resource_changes = {"t.a": {"type": "t", "change": {"actions": ["delete"]}}}\n'
    folder = write(sentinel_hcl=blocks['policy "no-destroy" {'].split("\n\n")[0] + "\n", plan_json=(POLICIES / "terraform/destroy.json").read_text())
    (folder / "no-destroy.sentinel").write_text(blocks['import "tfplan/v2" as tfplan'])
    (folder / "mocks").mkdir()
    (folder / "mocks/mock-tfplan-v2.sentinel").write_text(mock)
    (folder / "test/no-destroy").mkdir(parents=True)
    (folder / "test/no-destroy/destroyed.hcl").write_text(blocks['mock "tfplan/v2" {'])
    code, out, errors = run("eval", "-plan=plan.json", "no-destroy.sentinel", cwd=folder)
    assert (code, errors) == (FAILED, "") and "terraform_data.uno would be destroyed\n" in out
    assert run("eval", "-plan=plan.json", '-param=allowed=["terraform_data"]', "no-destroy", cwd=folder) == (PASSED, "Pass - no-destroy.sentinel\n", "")
    assert run("test", cwd=folder) == (PASSED, "PASS - no-destroy.sentinel\n  PASS - test/no-destroy/destroyed.hcl\n", "")


# ---- files that change, and output that can't be written ----

SLOW = """import "tfplan/v2" as tfplan
n = 0
for range(1000) as _, a { for range(3000) as _, b { n += 1 } }
main = length(tfplan.resource_changes) is 0
"""


def test_a_plan_that_becomes_shorter_is_an_error(write):
    """The policy reads the plan after its loop."""
    folder = write(slow_sentinel=SLOW, plan_json=json.dumps({"resource_changes": [{"address": "a" * 10000}]}))
    process = subprocess.Popen([program("runyard-policy"), "eval", "-plan=plan.json", "slow.sentinel"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: "plan.json" in Path(f"/proc/{process.pid}/maps").read_text(), "the plan is mapped")
    os.truncate(folder / "plan.json", 0)
    out, errors = process.communicate()
    assert (process.returncode, out) == (OTHER, "") and errors.startswith("a file became shorter"), errors


@pytest.mark.parametrize("args", [("eval", "-policy=enough"), ("eval", "-json", "-policy=enough"), ("test", str(TESTING / "passing")), ("--help",)],
                         ids=" ".join)
def test_output_that_is_lost_is_an_error(args):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([program("runyard-policy"), *args], cwd=CONFIGURATION, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == OTHER and "standard output can't be written" in done.stderr


def test_a_result_that_can_not_be_written_leaves_valid_json(write):
    """As many rules as fit into a source need more memory in a trace than there is."""
    names = [f"r{i}" for i in range(300000)]
    folder = write(large_sentinel="".join(f"{name}=rule{{true}}\n" for name in names) + f"l = [{','.join(names)}]\nmain = true\n", fine_sentinel="main = true\n",
                   set_hcl='policy "large" {}\npolicy "fine" {}\n')
    code, out, errors = run("eval", "-json", "-config=set.hcl", cwd=folder)
    assert code == OTHER and errors.startswith("large.sentinel: the result can't be written")
    assert [policy["policy"] for policy in json.loads(out)["policies"]] == ["fine"]


# ---- traces ----

TRACED = """# What the policy
# is for.

# not its description

import "m"

/* Of a rule,
 * in a block. */
long = rule { m.text }

# far from the rule

apart = rule { [1, {"k": "é"}, null, undefined] }
// the second
// description
not_used = rule { error("never") }
// said

if true {
	# in a block
	inner = rule { m.r }
}
print("one\\ntwo", [1.5])
main = rule when long is not "" { apart is not empty and inner and not false or not_used }
"""


def test_a_trace_has_descriptions_places_and_cut_values(write):
    folder = write(p_sentinel=TRACED, m_sentinel='text = "%s"\nr = rule { print("in m") }\n' % ("é" * 3000), sentinel_hcl='policy "p" {}\nmodule "m" { source = "m.sentinel" }\n')
    code, out, errors = run("eval", "-trace", cwd=folder)
    assert (code, errors) == (PASSED, "")
    assert out == f"""Pass - p.sentinel

Description:
  What the policy
  is for.

p.sentinel:25:1 - Rule "main"
  Value:
    true

p.sentinel:10:1 - Rule "long"
  Description:
    Of a rule,
    in a block.
  Value:
    "{"é" * 999}... (4003 bytes more)

p.sentinel:14:1 - Rule "apart"
  Value:
    [1, {{"k": "é"}}, null, undefined]

p.sentinel:22:2 - Rule "inner"
  Description:
    in a block
  Value:
    true

Printed:
  one
  two [1.5]
  in m
"""
    policy, = json.loads(run("eval", "-json", cwd=folder)[1])["policies"]
    assert policy["trace"]["rules"]["long"]["value"] == "é" * 3000
    assert policy["trace"]["rules"]["apart"]["value"] == [1, {"k": "é"}, None]
    assert policy["trace"]["print"] == "one\ntwo [1.5]\nin m\n" and policy["trace"]["description"] == "What the policy\nis for."
