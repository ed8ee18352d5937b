# SPDX-License-Identifier: MPL-2.0
"""Configurations of runyard-policy in all their forms, and how test cases are found and chosen."""

import hashlib
import json
import re
import os
import subprocess

import pytest

from support.process import program

PASSED, FAILED, OTHER = 0, 1, 9


@pytest.fixture
def folder(tmp_path):
    """A folder with policies that print what a configuration gives them."""
    files = {
        "param.sentinel": "param x default 1\nprint([x])\nmain = true\n",
        "global.sentinel": "print([g])\nmain = true\n",
        "module.sentinel": 'import "m"\nprint([m.a])\nmain = true\n',
        "clock.sentinel": 'import "time"\nt = time.now\nprint([t.unix, t.zone, t.zone_string, t.hour])\nmain = true\n',
        "lib/five.sentinel": "a = 5\n",
        "data/seven.json": '{"a": 7}\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder, *args):
    """Returns the exit code, standard output and standard error."""
    done = subprocess.run([program("runyard-policy"), *args], cwd=folder, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def printed(folder, policy, configuration, name="c.hcl"):
    """What the policy prints, or the first line of the error."""
    (folder / name).write_bytes(configuration.encode())
    code, out, errors = run(folder, "eval", f"-config={name}", f"{policy}.sentinel")
    return out.split("\n")[1] if code == PASSED else errors.split("\n")[0]


# ---- native form ----

VALUES = [
    ('value = "a"', '["a"]'),
    ('value = "$${a} %%{b} $c \\u00e9\\t\\"\\\\"', '["${a} %{b} $c é\\t\\"\\\\"]'),
    ("value = <<EOF\n  a\n\n  b \\n\nEOF", '["  a\\n\\n  b \\\\n\\n"]'),
    ("value = <<-EOF\n    a\n      b\n    EOF", '["a\\n  b\\n"]'),
    ("value = [<<A\nx\nA\n, <<B\ny\nB\n]", '[["x\\n", "y\\n"]]'),
    ("value = <<EOF\nEOF", '[""]'),
    ("value = [1, -2, 1.5, 1e3, 9223372036854775807, 9223372036854775808]", "[[1, -2, 1.5, 1000.0, 9223372036854775807, 9.223372036854776e18]]"),
    ("value = [true, false, null]", "[[true, false, null]]"),
    ("value = [\n  1, # one\n  2 // two\n  , /* three */ 3,\n]", "[[1, 2, 3]]"),
    ('value = { a = 1, "b" = 2\n  c: 3, "d": 4,\n\n  e-f = 5\n}', '[{"a": 1, "b": 2, "c": 3, "d": 4, "e-f": 5}]'),
    ("value = {\n  a =\n    1\n  b:\n    [2]\n}", '[{"a": 1, "b": [2]}]'),
    ("value {\n  a = 1\n  b { c = 2 }\n}", '[{"a": 1, "b": {"c": 2}}]'),
    ("/* a */ value /* b */ = /* c */ 1 # d", "[1]"),
    ("value: 2", "[2]"),
    ("value = {}", "[{}]"),
    ("value = []", "[[]]"),
]


@pytest.mark.parametrize("value, shown", VALUES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_value(folder, value, shown, newline):
    text = f'param "x" {{\n  {value}\n}}\n'.replace("\n", newline)
    assert printed(folder, "param", text) == shown
    assert printed(folder, "global", text.replace('param "x"', "global g")) == shown


@pytest.mark.parametrize("value", [
    "var.a", "local.a", "a", 'file("a")', "1 + 2", "-a", "!true", "true ? 1 : 2", '"${a}"', '"a ${b} c"', '"%{if true}a%{endif}"', "[1][0]",
    "{ a = 1 }.a", "[for a in b : a]", "{ (a) = 1 }", '"a" == "b"', "[\n  1,\n  a,\n]", "<<EOF\n${a}\nEOF", "(1)", "1 > 2", "true && false", "a.*.b", "f()"])
def test_an_expression_is_an_error_at_its_line(folder, value):
    text = printed(folder, "param", f'\nparam "x" {{\n  value = {value}\n}}\n')
    file, line, _, message = text.split(":", 3)
    assert file == "c.hcl" and message == " an expression is not possible in a configuration, only a literal value"
    lines = value.split("\n")
    assert int(line) == 3 + next((i for i, part in enumerate(lines) if part.strip() in ("a,", "${a}")), 0)


MODULES = [
    ('module "m" {\n  source = "lib/five.sentinel"\n}', "[5]"),
    ('module m { source = "./lib/five.sentinel" }', "[5]"),
    ('import "module" "m" {\n  source = "lib/../lib/five.sentinel"\n}', "[5]"),
    ('import "static" "m" {\n  source = "data/seven.json"\n  format = "json"\n}', "[7]"),
    ('import "static" "m" {\n  source = "./data/seven.json"\n}', "[7]"),
    ('mock "m" {\n  data = {\n    a = 9\n  }\n}', "[9]"),
    ('mock "m" {\n  data {\n    a = 9\n  }\n}', "[9]"),
    ('mock "m" { module { source = "lib/five.sentinel" } }', "[5]"),
    ('mock "m" { data = { a = 9 } }\nmodule "m" { source = "https://example.com/m.sentinel" }', "[9]"),
    ('import "plugin" "m" {\n  source = "../plugins/m"\n}\nmock "m" { data = { a = 9 } }', "[9]"),
]


@pytest.mark.parametrize("configuration, shown", MODULES)
def test_a_module_or_a_mock(folder, configuration, shown):
    assert printed(folder, "module", configuration) == shown


TIMES = [
    ("fixed_time = 1504155600", "[1504155600, 0, \"+00:00\", 5]"),
    ('fixed_time = "2024-02-29T23:30:00-05:00"', "[1709267400, 0, \"+00:00\", 4]"),
    ("fixed_time = 0", "[0, 0, \"+00:00\", 0]"),
    ('fixed_time = 1504155600\n timezone = "Australia/Brisbane"', "[1504155600, 36000, \"+10:00\", 15]"),
    ('fixed_time = "soon"', "c.hcl:1:1: time: not a time of RFC 3339: soon"),
    ("timezone = 1", 'c.hcl:1:1: plugin "time": "timezone" is no string'),
]


@pytest.mark.parametrize("config, shown", TIMES)
def test_the_configuration_of_time(folder, config, shown):
    assert printed(folder, "clock", f'import "plugin" "time" {{\n config = {{\n {config}\n }}\n}}') == shown
    assert printed(folder, "clock", f'import "time" {{\n config = {{\n {config}\n }}\n}}') == shown.replace("plugin", "import")


def test_now_is_the_clock_unless_it_is_fixed(folder):
    unix = json.loads(printed(folder, "clock", ""))[0]
    assert 1_700_000_000 < unix < 10_000_000_000


ERRORS = [
    ('policy "p" {\n  level = "advisory"\n}', 'c.hcl:2:3: policy "p" has no attribute "level"'),
    ('polcy "p" {}', 'c.hcl:1:1: the block "polcy" is not known'),
    ('policy "p" {\n  sources { a = 1 }\n}', 'c.hcl:2:3: policy "p" has no block "sources"'),
    ("\nx = 1", 'c.hcl:2:1: the attribute "x" stands outside of blocks'),
    ('policy "p" {}\npolicy "p" {}', 'c.hcl:2:1: policy "p" is given twice'),
    ('policy "p" { enforcement_level = "always" }', 'c.hcl:1:1: policy "p": the enforcement level "always" is not advisory, soft-mandatory or hard-mandatory'),
    ('policy "p" {', 'c.hcl:1:1: the block "policy" is not closed'),
    ('policy "p" {}\n}', "c.hcl:2:1: the name of a block or attribute is missing"),
    ("policy {}", 'c.hcl:1:1: the block "policy" has 0 labels, it needs 1'),
    ('import "module" "strings" {\n  source = "lib/five.sentinel"\n}', 'c.hcl:1:1: module "strings": "strings" is the name of a standard import'),
    ('import "wasm" "m" {}', 'c.hcl:1:1: import "wasm" "m": the kind is not module, static or plugin'),
    ('param "x" { value = <<EOF\na\n}', "c.hcl:1:21: the heredoc has no closing EOF"),
    ('param "x" { value = "a\\d" }', "c.hcl:1:23: the escape is not known"),
    ("/* a", "c.hcl:1:1: the comment is not closed"),
]


@pytest.mark.parametrize("configuration, error", ERRORS)
def test_errors_name_the_block_and_the_place(folder, configuration, error):
    assert printed(folder, "param", configuration) == error


@pytest.mark.parametrize("name, text, place", [
    ("c.hcl", 'param "x" { value = ' + "[" * 100_000, "1:5020"),
    ("c.hcl", 'param "x" { value = ' + "{a=" * 100_000, "1:15018"),
    ("c.hcl", "\na {" * 100_000, "5002:1"),
    ("c.json", "\n[" * 100_000, "5002:1"),
    ("c.json", '{"param":{"x":' + '{"a":' * 100_000, "1:25005"),
])
def test_deep_nesting_is_an_error_at_its_place(folder, name, text, place):
    assert printed(folder, "param", text, name) == f"{name}:{place}: the limit of nesting, 5000, is reached"


def test_deep_static_data_is_an_error_at_its_place(folder):
    (folder / "data/seven.json").write_text("[" * 100_000)
    assert printed(folder, "module", 'import "static" "m" { source = "data/seven.json" }') == "data/seven.json:1:5000: the limit of nesting, 5000, is reached"


def test_an_unknown_feature_is_a_warning(folder):
    (folder / "sentinel.hcl").write_text('sentinel {\n  features = {\n    terraform = true\n    apply-all = true\n    flight = true\n  }\n}\npolicy "param" {}\n')
    assert run(folder, "eval") == (PASSED, "Pass - param.sentinel\n[1]\n", 'sentinel.hcl:1:1: warning: the feature "flight" is not known\n')


# ---- JSON ----

JSON = [
    ("param", '{"param": {"x": 3}}', "[3]"),
    ("param", '{"param": {"x": {"value": 3}}}', "[3]"),
    ("param", '{"param": {"x": {"value": {"value": 3}}}}', '[{"value": 3}]'),
    ("param", '{"param": {"x": [1, {"a": null}]}}', '[[1, {"a": null}]]'),
    ("param", '{"//": "x", "param": {"x": {"//": "y", "value": 3}}}', "[3]"),
    ("param", '\ufeff{"param": [{"x": [{"value": 3}]}]}', "[3]"),
    ("global", '{"global": {"g": {"now": {"day": 31}}}}', '[{"now": {"day": 31}}]'),
    ("global", '{"global": {"g": {"value": 4}}}', "[4]"),
    ("module", '{"mock": {"m": "lib/five.sentinel"}}', "[5]"),
    ("module", '{"mock": {"m": {"a": 4}}}', "[4]"),
    ("module", '{"mock": {"m": {"data": {"a": 4}}}}', "[4]"),
    ("module", '{"mock": {"m": {"module": {"source": "lib/five.sentinel"}}}}', "[5]"),
    ("module", '{"mock": [{"n": {"data": 1}}, {"m": {"data": {"a": 4}}}]}', "[4]"),
    ("module", '{"modules": {"m": {"path": "lib/five.sentinel"}}}', "[5]"),
    ("module", '{"modules": {"m": {"source": "lib/five.sentinel"}}}', "[5]"),
    ("module", '{"module": {"m": {"source": "lib/five.sentinel"}}}', "[5]"),
    ("module", '{"import": {"module": {"m": {"source": "lib/five.sentinel"}}}}', "[5]"),
    ("module", '{"import": [{"static": [{"m": [{"source": "data/seven.json", "format": "json"}]}]}]}', "[7]"),
    ("clock", '{"imports": {"time": {"config": {"fixed_time": 1504155600}}}}', "[1504155600, 0, \"+00:00\", 5]"),
    ("clock", '{"import": {"plugin": {"time": {"config": {"timezone": "Asia/Tokyo", "fixed_time": 0}}}}}', "[0, 32400, \"+09:00\", 9]"),
    ("clock", '{"imports": {"time": {"path": "/bin/time"}}}', 'c.json:1:1: imports "time": the source /bin/time is a program, and programs of imports are not supported'),
    ("param", '{"param": {"x": 3,}}', "c.json:1:19: a member's name is missing"),
    ("param", "[]", "c.json:1:1: the configuration is no object"),
    ("param", '{"policies": {}}', 'c.json:1:1: the attribute "policies" stands outside of blocks'),
]


@pytest.mark.parametrize("policy, configuration, shown", JSON)
def test_the_json_form(folder, policy, configuration, shown):
    assert printed(folder, policy, configuration, "c.json") == shown


# ---- sources ----

OUTSIDE = "{path} is outside of the root (-root)"
ABSOLUTE = "the source {source} is an absolute path, which is refused"
LINK = "{path} is a symbolic link or in one, which -root refuses"
REMOTE = "the source {source} is remote, which is not supported"
CHECKSUM = "the file's checksum is sha256:{digest}, not sha256:00"
SOURCES = [
    ("good", None), ("./good", None), ("sub/../good", None), ("../shared/good", None), ("good?checksum=sha256:{digest}", None), ("good?checksum=sha256:{DIGEST}", None),
    ("good?checksum=md5:{md5}", None), ("good?checksum=sha1:{sha1}", None), ("good?checksum=sha512:{sha512}", None),
    ("../../outside", OUTSIDE), ("../../../../../../../../etc/passwd", OUTSIDE), ("/etc/passwd", ABSOLUTE), ("{root}/set/good", ABSOLUTE), ("link", LINK), ("inner-link", LINK),
    ("folder-link/good", LINK), ("fifo", "{path} is no file"), ("sub", "{path} is no file"), ("none", "{path} does not exist"), ("", "the source is empty"),
    ("https://example.com/x", REMOTE), ("git::https://example.com/x", REMOTE), ("git@example.com:x.git", REMOTE), ("s3::x", REMOTE), ("file:///etc/passwd", REMOTE),
    ("good?checksum=sha256:00", CHECKSUM), ("good?checksum=crc32:00", "the checksum crc32:00 is not md5, sha1, sha256 or sha512:HEX"),
    ("good?checksum=sha256", "the checksum sha256 is not md5, sha1, sha256 or sha512:HEX"),
]
KINDS = {
    "policy": ("main = true\n", 'policy "p" {{\n  source = "{0}"\n}}\n', 'policy "p"'),
    "module": ("x = 1\n", 'policy "p" {{\n  source = "p"\n}}\nmodule "m" {{\n  source = "{0}"\n}}\n', 'module "m"'),
    "mock": ("x = 1\n", 'policy "p" {{\n  source = "p"\n}}\nmock "m" {{\n  module {{\n    source = "{0}"\n  }}\n}}\n', 'mock "m"'),
    "static": ('{"x": 1}\n', 'policy "p" {{\n  source = "p"\n}}\nimport "static" "m" {{\n  source = "{0}"\n}}\n', 'static "m"'),
    "plan": ('{"x": 1}\n', 'policy "p" {{\n  source = "p"\n}}\nimport "plugin" "tfplan/v2" {{\n  config = {{ plan_path = "{0}" }}\n}}\n', 'plugin "tfplan/v2"'),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source, reason", SOURCES)
def test_a_source_is_read_or_refused_alone(tmp_path, kind, source, reason):
    """The reason names the block and the source. The other policy runs."""
    content, blocks, subject = KINDS[kind]
    at = tmp_path / "root/set"
    (at / "sub").mkdir(parents=True)
    (tmp_path / "root/shared").mkdir()
    for path in ("outside", "root/set/good", "root/shared/good"):
        (tmp_path / path).write_text(content)
    (at / "p").write_text('import "tfplan/v2" as m\nmain = m.raw.x is 1\n' if kind == "plan" else 'import "m"\nmain = m.x is 1\n')
    (at / "other.sentinel").write_text("main = true\n")
    (at / "link").symlink_to("../../outside")
    (at / "inner-link").symlink_to("good")
    (at / "folder-link").symlink_to("../shared")
    os.mkfifo(at / "fifo")
    digests = {name: hashlib.new(name, content.encode()).hexdigest() for name in ("md5", "sha1", "sha256", "sha512")}
    names = {"root": tmp_path / "root", "digest": digests["sha256"], "DIGEST": digests["sha256"].upper(), **digests}
    source = source.format(**names)
    (at / "sentinel.hcl").write_text(blocks.format(source) + 'policy "other" {}\n')
    code, out, errors = run(tmp_path, "eval", "-root=root", "-config=root/set/sentinel.hcl")
    if reason is None:
        assert (code, errors, out.count("Pass - ")) == (PASSED, "", 2)
        return
    path = os.path.normpath(f"set/{source.split('?')[0]}")
    assert code == OTHER and errors == f"set/sentinel.hcl:{1 if kind == 'policy' else 4}:1: {subject}: {reason.format(path=path, source=source, **names)}\n"
    assert out.startswith("Error - ") and out.endswith("\n\nPass - set/other.sentinel\n")


def test_a_program_is_refused_where_it_is_imported(folder):
    (folder / "sentinel.hcl").write_text('policy "module" {}\npolicy "param" {}\nimport "plugin" "m" {\n  source = "./bin/m"\n  args = ["-v"]\n  env = { A = "b" }\n}\n')
    assert run(folder, "eval") == (OTHER, "Error - module.sentinel\n\nPass - param.sentinel\n[1]\n",
                                   'sentinel.hcl:3:1: plugin "m": the source ./bin/m is a program, and programs of imports are not supported\n')


def test_modules_in_folders_share_their_state(tmp_path):
    """Through two names in one file and through other modules, also above the set's folder."""
    files = {
        "set/policies/p.sentinel": 'import "counter" as a\nimport "counter" as b\nimport "user"\nx = [a.next(), b.next(), user.next(), a.value()]\nprint(x, a.n, b.n)\nmain = rule { x is [1, 2, 3, 3] and a.n is 3 }\n',
        "set/sentinel.hcl": 'policy "p" {\n  source = "policies/p.sentinel"\n}\npolicy "again" {\n  source = "./policies/p.sentinel"\n}\n'
            'import "module" "counter" {\n  source = "../common/deep/counter.sentinel"\n}\nmodule "user" {\n  source = "lib/user.sentinel"\n}\n',
        "set/lib/user.sentinel": 'import "counter"\nnext = func() { return counter.next() }\n',
        "common/deep/counter.sentinel": "n = 0\nnext = func() {\n  n += 1\n  return n\n}\nvalue = func() { return n }\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    one = "Pass - policies/p.sentinel\n[1, 2, 3, 3] 3 3\n"
    assert run(tmp_path / "set", "eval") == (PASSED, f"{one}\n{one}", "")
    rooted = one.replace("policies", "set/policies")
    assert run(tmp_path, "eval", "-root=.", "-config=set/sentinel.hcl") == (PASSED, f"{rooted}\n{rooted}", "")


@pytest.mark.parametrize("modules, reason", [
    ({"a": "a"}, 'a.sentinel:1:8: a circle of imports: "a" imports "a"'),
    ({"a": "b", "b": "a"}, 'b.sentinel:1:8: a circle of imports: "a" imports "b", which imports "a"'),
    ({"a": "b", "b": "c", "c": "b"}, 'c.sentinel:1:8: a circle of imports: "b" imports "c", which imports "b"'),
])
def test_a_circle_of_imports_is_named(folder, modules, reason):
    for name, other in modules.items():
        (folder / f"{name}.sentinel").write_text(f'import "{other}"\nx = 1\n')
    (folder / "p.sentinel").write_text('import "a"\nmain = true\n')
    (folder / "sentinel.hcl").write_text('policy "p" {}\npolicy "param" {}\n' + "".join(f'module "{name}" {{ source = "{name}.sentinel" }}\n' for name in modules))
    assert run(folder, "eval") == (OTHER, "Error - p.sentinel\n\nPass - param.sentinel\n[1]\n", f"{reason}\n")


# ---- test cases ----

@pytest.fixture
def suite(folder):
    """Policies in folders as repositories have them, with modules and mocks beside the cases."""
    files = {
        "policies/a/limit.sentinel": 'import "tfplan/v2" as tfplan\nimport "functions" as f\nparam most default 2\nmain = rule { f.size(tfplan.resource_changes) <= most }\n',
        "policies/a/test/limit/pass.hcl": 'mock "tfplan/v2" {\n  module {\n    source = "mock-two.sentinel"\n  }\n}\n'
            'module "functions" {\n  source = "../../../../common/functions.sentinel"\n}\ntest {\n  rules = {\n    main = true\n  }\n}\n',
        "policies/a/test/limit/fail.hcl": 'mock "tfplan/v2" {\n  module {\n    source = "../../../../mocks/mock-three.sentinel"\n  }\n}\n'
            'import "module" "functions" {\n  source = "../../../../common/functions.sentinel"\n}\ntest {\n  rules = {\n    main = false\n  }\n}\n',
        "policies/a/test/limit/older.json": '{"mock": {"tfplan/v2": "mock-two.sentinel"}, "modules": {"functions": {"path": "../../../../common/functions.sentinel"}},'
            ' "param": {"most": 1}, "test": {"main": false}}\n',
        "policies/a/test/limit/mock-two.sentinel": 'resource_changes = {"a": {}, "b": {}}\n',
        "policies/a/test/limit/notes.md": "not a case\n",
        "policies/b/dotted.name.sentinel": "main = rule { true }\n",
        "policies/b/test/dotted.name/pass.hcl": "",
        "mocks/mock-three.sentinel": 'resource_changes = {"a": {}, "b": {}, "c": {}}\n',
        "common/functions.sentinel": "size = func(x) {\n  return length(x)\n}\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


LIMIT = "PASS - {0}limit.sentinel\n  PASS - {0}test/limit/fail.hcl\n  PASS - {0}test/limit/older.json\n  PASS - {0}test/limit/pass.hcl\n"
DOTTED = "PASS - {0}dotted.name.sentinel\n  PASS - {0}test/dotted.name/pass.hcl\n"


def test_folders_and_files_are_tested(suite):
    assert run(suite / "policies/a", "test") == (PASSED, LIMIT.format(""), "")
    assert run(suite / "policies/a", "test", "limit.sentinel") == (PASSED, LIMIT.format(""), "")
    assert run(suite / "policies/a", "test", "./limit.sentinel")[:2] == (PASSED, LIMIT.format("./"))
    both = LIMIT.format("policies/a/") + DOTTED.format("policies/b/")
    assert run(suite, "test", "policies/a", "policies/b") == (PASSED, both, "")
    assert run(suite, "test", "policies/a/", "policies/b/dotted.name.sentinel") == (PASSED, both, "")
    code, out, _ = run("/", "test", str(suite / "policies/a/limit.sentinel"))
    assert (code, out) == (PASSED, LIMIT.format(f"{suite}/policies/a/"))
    code, out, errors = run(suite, "test", "mocks")
    assert (code, out) == (PASSED, "? - mocks/mock-three.sentinel (no test cases)\n")
    code, out, errors = run(suite, "test", "data")
    assert (code, out, errors) == (OTHER, "", "data: there are no policies (*.sentinel) in the folder\n")


@pytest.mark.parametrize("pattern, cases", [
    ("fail", ["fail"]), ("limit", ["fail", "older", "pass"]), ("limit/pass", ["pass"]), ("^limit/^p", ["pass"]), ("/older", ["older"]),
    ("lim/il$", ["fail"]), ("mit/(fail|pass)", ["fail", "pass"]), ("^limit$/", ["fail", "older", "pass"]), ("imit/imit", []), ("none", [])])
def test_cases_are_chosen_by_policy_and_case(suite, pattern, cases):
    for flags in ([f"-run={pattern}"], ["-run", pattern], [f"--run={pattern}"], ["--run", pattern]):
        code, out, _ = run(suite / "policies/a", "test", *flags)
        assert code == PASSED
        assert [line.split("/")[-1].split(".")[0] for line in out.splitlines() if line.startswith("  ")] == cases


def test_flags_in_each_form(suite):
    at = suite / "policies/a"
    verbose = run(at, "test", "-verbose")
    assert "Rule \"main\"" in verbose[1]
    for flags in (["--verbose"], ["-verbose=true"], ["-verbose=1"], ["--verbose=true", "."], [".", "-verbose"], ["-color=false", "-verbose"], ["-color", "-verbose"],
                  ["-verbose", "-timeout=1m"], ["-timeout", "1m30s", "--verbose"], ["-timeout=1h0m10s", "-verbose"], ["-maxConcurrency", "1", "-verbose"], ["--maxConcurrency=3", "-verbose", "--", "."]):
        assert run(at, "test", *flags) == verbose, flags
    assert run(at, "test", "-verbose=false") == run(at, "test")
    assert json.loads(run(at, "test", "--json")[1])["policies"].keys() == {"limit.sentinel"}
    assert json.loads(run(at, "test", "-json=true", "-run=older")[1])["policies"]["limit.sentinel"]["cases"].keys() == {"test/limit/older.json"}
    for flags in (["-verbose=maybe"], ["-maxConcurrency=0"], ["-timeout=soon"], ["-timeout=0s"], ["-timeout=m"], ["-timeout=1m-1s"], ["-nothing"], ["-run"]):
        assert run(at, "test", *flags)[0] == OTHER, flags


def test_one_thread_and_many_give_the_same(suite):
    for flags in ([], ["-json"], ["-verbose"]):
        results = {run(suite, "test", f"-maxConcurrency={threads}", *flags, "policies/a", "policies/b") for threads in (1, 2, 7, 64) for _ in range(3)}
        assert len({(code, re.sub(r'"duration":\d+', "", out), errors) for code, out, errors in results}) == 1


CASES = [
    ("main = true", "", "PASS"),
    ("main = false", "", "FAIL"),
    ("main = rule { undefined }", "", "FAIL"),
    ("main = []", "", "PASS"),
    ("main = [1]", "", "FAIL"),
    ("main = false", "test { rules = { main = false } }", "PASS"),
    ("main = false", "test {\n  rules {\n    main = false\n  }\n}", "PASS"),
    ("main = false", "test { rules = {} }", "PASS"),
    ("main = [1, {\"a\": 2.0}]", "test { rules = { main = [1, { a = 2 }] } }", "PASS"),
    ("main = [1]", "test { rules = { main = [1, 2] } }", "FAIL"),
    ("main = [1]", "test { rules = { main = false } }", "FAIL"),
    ("x = rule { 1 }\nmain = x is 1", "test { rules = { x = 1 } }", "PASS"),
    ("x = rule { 1 }\nmain = true", "test { rules = { x = 1 } }", "FAIL"),
    ("main = true", "test { rules = { none = true } }", "FAIL"),
    ("main = 1 + \"a\"", "test { rules = { main = false } }", "ERROR"),
    ("main = rule { true", "test { rules = { main = false } }", "ERROR"),
    ("error(\"no\")\nmain = false", "test { rules = { main = false } }", "ERROR"),
    ("import \"none\"\nmain = false", "test { rules = { main = false } }", "ERROR"),
    ("main = true", "test { rules = { main = f() } }", "ERROR"),
    ("main = true", "test { rules = { main = true } }\ntest { rules = { main = true } }", "PASS"),
    ("x = rule { 1 }\nmain = x is 1", "test { rules = { main = true } }\ntest { rules = { x = 2 } }", "FAIL"),
    ("main = true", "test { rules = { main = true } }\ntest { rules = { main = false } }", "ERROR"),
]


@pytest.mark.parametrize("policy, configuration, status", CASES)
def test_the_status_of_a_case(folder, policy, configuration, status):
    at = folder / "suite"
    (at / "test/p").mkdir(parents=True)
    (at / "p.sentinel").write_text(policy)
    (at / "test/p/case.hcl").write_text(configuration)
    code, out, _ = run(at, "test", "-json")
    assert json.loads(out)["policies"]["p.sentinel"]["cases"]["test/p/case.hcl"]["status"] == status
    assert code == (PASSED if status == "PASS" else FAILED)
    assert run(at, "test")[1].startswith(f"{status} - p.sentinel\n  {status} - test/p/case.hcl\n")
