# SPDX-License-Identifier: MPL-2.0
"""Policies that are made to do harm: each ends with an error at its place, within its limits, and the next policy runs. Results do not vary."""

import json
import random
import re
import resource
import subprocess

import pytest

from support.process import program

PASSED, FAILED, UNDEFINED, RUNTIME, OTHER = 0, 1, 2, 3, 9


def run(folder, *args):
    """Returns the exit code, standard output and standard error."""
    done = subprocess.run([program("runyard-policy"), *args], cwd=folder, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


ENDLESS = [
    ("f = func(x) {\n  return f(x + 1)\n}\nmain = f(0)\n", "2:10", "the limit of calls, 1000 deep, is reached"),
    ("f = func(x) { return g(x) }\ng = func(x) {\n  return h(x)\n}\nh = func(x) { return f(x) }\nmain = f(0)\n", r"\d:\d+", "the limit of calls, 1000 deep, is reached"),
    ("a = rule { b }\nb = rule { c }\nc = rule { a }\nmain = rule { a }\n", "1:5", 'the rule "a" needs its own value'),
    ("f = func() { return r }\nr = rule { f() }\nmain = rule { r }\n", "2:5", 'the rule "r" needs its own value'),
    ("for range(10000000) as i {\n  for range(10000) as j {\n    x = i * j\n  }\n}\nmain = true\n", r"\d:\d+", r"the limit of steps is reached \(-steps\)"),
    ("m = {}\nf = func(g) { return g(g) }\nmain = f(f)\n", "2:22", "the limit of calls, 1000 deep, is reached"),
    ("main = " + "map range(1000) as a { " * 5 + "a" + " }" * 5 + "\n", r"1:\d+", r"the limit of (steps is reached \(-steps\)|memory is reached \(-memory\))"),
    ('main = "a" matches "' + "((a{100}){100}){100}" + '"\n', "1:12", "the regular expression is not accepted: .*"),
]
LARGE = [
    ("main = range(1000000000000)\n", "1:8", "the limit of a list's length, 10 million, is reached"),
    ("main = range(-9223372036854775807, 9223372036854775807)\n", "1:8", "the limit of a list's length, 10 million, is reached"),
    ('s = "x"\nfor range(60) as i {\n  s += s\n}\nmain = true\n', "3:3", r"the limit of memory is reached \(-memory\)"),
    ('s = "x"\nfor range(60) as i {\n  s = s + s\n}\nmain = true\n', "3:9", r"the limit of memory is reached \(-memory\)"),
    ("l = [1]\nfor range(60) as i {\n  l += l\n}\nmain = true\n", "3:3", r"the limit of memory is reached \(-memory\)"),
    ('import "strings"\ns = "a,"\nfor range(60) as i {\n  s = strings.join([s, s], "-")\n}\nmain = true\n', "4:7", r"the limit of memory is reached \(-memory\)"),
    ('import "json"\ns = "x"\nfor range(60) as i {\n  s = json.marshal([s, s])\n}\nmain = true\n', "4:7", r"the limit of memory is reached \(-memory\)"),
]
NESTED = [
    ("l = [1]\nfor range(60) as i {\n  l = [l, l]\n}\nprint(l)\nmain = true\n", "5:1", r"the limit of steps is reached \(-steps\)"),
    ("l = [1]\nk = [1]\nfor range(60) as i {\n  l = [l, l]\n  k = [k, k]\n}\nmain = l is k\n", "7:10", r"the limit of steps is reached \(-steps\)"),
]
THEMSELVES = [
    ("print(l)", "5:1"), ("x = l is k", "5:7"), ("x = [k] contains l", "5:9"), ("x = json.marshal(l)", "5:5"), ('x = strings.join(l, ",")', "5:5"),
    ("x = maps.set({\"l\": l}, \"a\", 1)", "5:5"), ("x = collection.matches([l], [l])", "5:5"), ("case l {\nwhen k: x = 1\n}", r"\d:\d+"), ("x = lists.union([l], [k])", "5:5"),
    ("x = lists.sort([l, k], func(a, b) { return a is b })", r"5:\d+"), ('error(l)', "5:1"), ("x = [l] is [k]", "5:9"), ("m = {\"a\": l}\nx = m is {\"a\": k}", "6:7"),
]
IMPORTS = 'import "json"; import "strings"; import "collection"; import "collection/lists"; import "collection/maps"\n'


ROWS = [(*row, "-steps=3000000") for row in ENDLESS + NESTED] + [(*row, "-memory=16M") for row in LARGE]


@pytest.mark.parametrize("source, place, message, limit", ROWS)
def test_a_limit_ends_a_policy_and_the_next_one_runs(tmp_path, source, place, message, limit):
    (tmp_path / "sentinel.hcl").write_text('policy "bad" {}\npolicy "good" {}\n')
    (tmp_path / "bad.sentinel").write_text(source)
    (tmp_path / "good.sentinel").write_text("main = true\n")
    code, out, errors = run(tmp_path, "eval", limit)
    assert code == RUNTIME
    assert re.fullmatch(f"bad\\.sentinel:{place}: ({message})", errors.splitlines()[0]), errors
    assert out == b"Error - bad.sentinel\n\nPass - good.sentinel\n"


@pytest.mark.parametrize("statement, place", THEMSELVES)
def test_a_list_in_itself_ends_what_walks_it(tmp_path, statement, place):
    (tmp_path / "p.sentinel").write_text(IMPORTS + "l = [1]; append(l, l)\nk = [1]; append(k, k)\n\n" + statement + "\nmain = true\n")
    code, _, errors = run(tmp_path, "eval", "p.sentinel")
    assert code == RUNTIME and re.fullmatch(f"p\\.sentinel:{place}: the limit of nesting, 5000, is reached\n", errors), errors


@pytest.mark.parametrize("compare", ["return 1", "return -1", "n += 1\n return (n * 7919) % 3 - 1", "return a - b + (a % 3)", "return 0", "return 9223372036854775807"])
def test_an_inconsistent_order_sorts_something(tmp_path, compare):
    (tmp_path / "p.sentinel").write_text(f'import "collection/lists"\nn = 0\nl = lists.sort(range(2000), func(a, b) {{\n {compare}\n}})\n'
                                         "main = rule { length(l) is 2000 and all range(2000) as x { l contains x } }\n")
    assert run(tmp_path, "eval", "p.sentinel")[0] == PASSED


@pytest.mark.parametrize("compare", ['return "a"', "return undefined", "return null", "error(a)", "lists.sort([2, 1], f)"])
def test_an_order_that_is_none_is_an_error_or_undefined(tmp_path, compare):
    (tmp_path / "p.sentinel").write_text(f'import "collection/lists"\nf = func(a, b) {{\n {compare}\n}}\nmain = lists.sort([3, 1, 2], f) is [1, 2, 3]\n')
    code, _, errors = run(tmp_path, "eval", "p.sentinel")
    assert code in (UNDEFINED, RUNTIME) and errors.startswith("p.sentinel:"), (code, errors)


DEPTH = 100_000
DEEP = {
    "brackets": "main = " + "(" * DEPTH + "1" + ")" * DEPTH, "not": "main = " + "not " * DEPTH + "true", "exclamation": "main = " + "!" * DEPTH + "true",
    "lists": "main = " + "[" * DEPTH, "maps": "main = " + "{1:" * DEPTH, "minus": "main = " + "- " * DEPTH + "1", "functions": "x = " + "func() { return " * DEPTH,
    "if": "if true {\n" * DEPTH, "else if": "if true {}" + " else if true {}" * DEPTH, "case": "case {\nwhen true:\n" * DEPTH, "for": "for [1] as x {\n" * DEPTH,
    "any": "main = " + "any " * DEPTH, "map": "main = " + "map x as x { " * DEPTH, "rule": "main = " + "rule { " * DEPTH, "selectors": "x = {}\nmain = x" + ".a" * DEPTH,
    "indices": "x = {}\nmain = x" + "[0]" * DEPTH, "inner indices": "x = [0]\nmain = " + "x[" * DEPTH, "calls": "x = {}\nmain = x" + "()" * DEPTH,
    "sums": "main = 1" + " + 1" * DEPTH, "or": "main = false" + " or false" * DEPTH, "else": "main = undefined" + " else undefined" * DEPTH,
    "slices": "main = [1]" + "[:]" * DEPTH, "default": "param x default " + "[" * DEPTH, "signed default": "param x default " + "- " * DEPTH + "1",
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP.keys())
def test_deep_sources_are_an_error_with_a_place(tmp_path, source):
    (tmp_path / "p.sentinel").write_text(source + "\n")
    code, _, errors = run(tmp_path, "eval", "p.sentinel")
    assert code == RUNTIME and re.fullmatch(r"p\.sentinel:\d+:\d+: the limit of nesting, 5000, is reached\n", errors), errors


@pytest.mark.parametrize("call, code, message", [
    ('json.unmarshal("{0}")', RUNTIME, "the limit of nesting, 5000, is reached"), ('json.valid("{0}")', RUNTIME, "the limit of nesting, 5000, is reached")])
def test_deep_json_is_an_error_at_the_call(tmp_path, call, code, message):
    (tmp_path / "p.sentinel").write_text('import "json"\nmain = ' + call.replace("{0}", "[" * DEPTH) + "\n")
    assert run(tmp_path, "eval", "p.sentinel")[::2] == (code, f"p.sentinel:2:8: {message}\n")


SIZES = [
    ("p.sentinel", b"main = true\n#" + b"a" * (8 << 20), "p.sentinel:1:1: the limit of a source's length, 8 MiB, is reached", RUNTIME),
    ("p.sentinel", b"main = true\n#" + b"a" * (16 << 20), "p.sentinel: the policy: p.sentinel is larger than the limit of 16 MiB", OTHER),
    ("sentinel.hcl", b"#" + b"a" * (16 << 20), "p.sentinel: the configuration: sentinel.hcl is larger than the limit of 16 MiB", OTHER),
]


@pytest.mark.parametrize("name, content, reason, code", SIZES)
def test_files_have_a_largest_size(tmp_path, name, content, reason, code):
    (tmp_path / "p.sentinel").write_text("main = true\n")
    (tmp_path / name).write_bytes(content)
    assert run(tmp_path, "eval", "p.sentinel") == (code, b"Error - p.sentinel\n", f"{reason}\n")


def test_data_has_a_largest_size(tmp_path):
    with open(tmp_path / "d.json", "wb") as file:
        file.truncate((2 << 30) + 1)
    (tmp_path / "sentinel.hcl").write_text('import "static" "m" {\n  source = "d.json"\n}\n')
    (tmp_path / "p.sentinel").write_text('import "m"\nmain = true\n')
    assert run(tmp_path, "eval", "p.sentinel")[::2] == (OTHER, 'sentinel.hcl:1:1: static "m": d.json is larger than the limit of 2 GiB\n')
    (tmp_path / "p.sentinel").write_text('import "tfplan/v2" as p\nmain = true\n')
    assert run(tmp_path, "eval", "-plan=d.json", "p.sentinel")[::2] == (
        OTHER, 'p.sentinel:1:8: the plan for the import "tfplan/v2": d.json is larger than the limit of 2 GiB\n')


@pytest.mark.parametrize("flag, reason", [("-steps=1", "steps is reached (-steps)"), ("-memory=1K", "memory is reached (-memory)")])
def test_limits_hold_while_a_file_is_parsed(tmp_path, flag, reason):
    (tmp_path / "p.sentinel").write_text("x = [1, 2, 3]\nmain = true\n")
    code, _, errors = run(tmp_path, "eval", flag, "p.sentinel")
    assert code == RUNTIME and re.fullmatch(f"p\\.sentinel:\\d+:\\d+: the limit of {re.escape(reason)}\n", errors), errors


def test_the_number_of_warnings_is_bounded(tmp_path):
    (tmp_path / "p.sentinel").write_text("l = []\nf = func() {\n" + "x = append(l, y)\n" * 100_000 + "".join(f"y{i}\n" for i in range(50_000)) + "return 1\n}\nmain = true\n")
    code, _, errors = run(tmp_path, "eval", "p.sentinel")
    lines = errors.splitlines()
    assert code == PASSED and len(lines) == 101 and lines[-1] == "warning: more warnings are left out"
    assert lines[0] == 'p.sentinel:3:15: warning: "y" never gets a value' and all(line.startswith("p.sentinel:") for line in lines[:-1])


def test_the_memory_of_a_policy_is_bounded(tmp_path):
    (tmp_path / "p.sentinel").write_text("l = []\nfor range(1000000) as i {\n  l = l + [i]\n  m = {\"l\": l + l}\n}\nmain = true\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    code, _, errors = run(tmp_path, "eval", "-memory=64M", "p.sentinel")
    assert code == RUNTIME and "the limit of memory is reached (-memory)" in errors
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 400 << 10)


# ---- undefined ----

ORIGINS = [
    ("main = rule { {}.a }", "1:15"), ("x = {\"a\": 1}\ny = x.b\nmain = rule { y is 3 }", "2:5"), ("f = func(m) {\n  return m[\"k\"]\n}\nmain = f({})", "2:10"),
    ("x = [1]\nmain = x[5]", "2:8"), ("main = [1, 2][2:1]", "1:8"), ("main = 1 < \"a\"", "1:10"), ("main = int(\"x\") > 5", "1:8"), ("f = func() {}\nmain = f()", "2:8"),
    ("main = filter [{}] as x {\n  x.a\n}", "2:3"), ("main = all [{\"a\": true}, {}] as x {\n  x.a\n}", "2:3"), ("main = rule when {}.a { true }", "1:18"),
    ("a = rule { {}.x }\nb = rule { a }\nmain = rule { b and true }", "1:12"), ("main = undefined", "1:8"), ("x = undefined\nmain = [x][0]", "1:5"),
    ("main = null.a", "1:8"), ("x = {\"a\": {}}\nmain = x.a.b.c.d is 1", "2:8"), ("import \"json\"\nmain = json.unmarshal(\"{}\").a", "2:8"),
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("source, place", ORIGINS)
def test_an_undefined_main_names_its_origin(tmp_path, source, place, newline):
    (tmp_path / "p.sentinel").write_bytes(source.replace("\n", newline).encode())
    code, out, errors = run(tmp_path, "eval", "p.sentinel")
    assert (code, errors) == (UNDEFINED, f"p.sentinel:{place}: main is undefined because of an undefined value that arose here\n")
    assert out.startswith(b"Fail - p.sentinel\n") and b"Pass" not in out


def test_the_origin_may_be_in_a_module(tmp_path):
    (tmp_path / "sentinel.hcl").write_text('policy "p" {}\nmodule "m" { source = "lib/m.sentinel" }\n')
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/m.sentinel").write_text("get = func(x) {\n  return x.none\n}\n")
    (tmp_path / "p.sentinel").write_text('import "m"\nmain = rule { m.get({}) is 1 }\n')
    assert run(tmp_path, "eval")[::2] == (UNDEFINED, "lib/m.sentinel:2:10: main is undefined because of an undefined value that arose here\n")


# ---- any bytes ----

def noise(random_state, length):
    return bytes(random_state.randrange(256) for _ in range(length))


def quoted(text):
    return b'"' + b"".join(b"\\x%02x" % byte for byte in text) + b'"'


@pytest.mark.parametrize("seed", range(8))
def test_traces_are_json_for_any_bytes(tmp_path, seed):
    """In comments, strings, keys, prints, messages, parameters, and names of files."""
    random_state = random.Random(seed)
    comment, text, key, param, message = (noise(random_state, 40) for _ in range(5))
    name = b"p" + bytes(byte for byte in noise(random_state, 12) if byte not in b"/\0") + b".sentinel"
    last = b'main = rule { error(%s) }\n' % quoted(message) if seed % 2 else b"main = rule { r is not empty }\n"
    path = bytes(tmp_path) + b"/" + name
    with open(path, "wb") as file:
        file.write(b"# " + comment.replace(b"\n", b" ") + b"\nparam p\n# " + comment.replace(b"\n", b" ").replace(b"\r", b" ") + b"\nr = rule { {%s: [%s, p]} }\nprint(r)\n" % (quoted(key), quoted(text)) + last)
    argument = b"-param=p=" + param.replace(b"\0", b"")
    done = subprocess.run([program("runyard-policy"), "eval", "-json", argument, name], cwd=tmp_path, capture_output=True, timeout=60)
    answer = json.loads(done.stdout.decode())
    policy, = answer["policies"]
    failed = seed % 2 == 1
    assert done.returncode == (RUNTIME if failed else PASSED)
    assert policy["result"] is not failed and (policy["error"] is not None) is failed
    assert len(policy["trace"]["rules"]) == (1 if failed else 2) and policy["trace"]["print"] != ""


# ---- the same again ----

REPEATED = """import "collection"
import "collection/maps"
import "decimal"
import "json"
import "m"

# Anything whose order could depend on addresses.
data = {"z": 1, "a": [3, 1, 2], 5: {"k": null}, true: "t", 1.5: {}}
first = rule { keys(data) }
second = rule { json.unmarshal(json.marshal(m.changes)) }
third = rule { maps.get(m.changes, "*.n") }
fourth = rule { collection.matches(values(m.changes), {"kind": "x"}) }
fifth = rule { decimal.new("2").sqrt().string }
print(data, m.changes, map m.changes as k, v { [k, v.n] })
for m.changes as k, v { data[k] = v }
unused = rule { true }
main = rule { first is not empty and second.b.n is 1 and third is not empty and fourth is not empty and fifth is not "" and length(data) is 9 }
"""


def test_a_hundred_runs_give_the_same(tmp_path):
    (tmp_path / "sentinel.hcl").write_text('policy "one" {\n  source = "p.sentinel"\n}\npolicy "two" {\n  source = "p.sentinel"\n}\nmodule "m" { source = "m.sentinel" }\n')
    (tmp_path / "p.sentinel").write_text(REPEATED)
    (tmp_path / "m.sentinel").write_text("changes = {" + ", ".join(f'"{k}": {{"n": {i}, "kind": "{"x" if i % 2 else "y"}"}}' for i, k in enumerate("dbca")) + "}\n")
    seen = set()
    for _ in range(100):
        code, out, errors = run(tmp_path, "eval", "-json")
        seen.add((code, re.sub(rb'"duration":\d+', b"", out), errors))
    assert len(seen) == 1
    assert len({run(tmp_path, "eval", "-trace") for _ in range(10)}) == 1
    rules = json.loads(run(tmp_path, "eval", "-json")[1])["policies"][0]["trace"]["rules"]
    assert list(rules) == ["main", "first", "second", "third", "fourth", "fifth"]
