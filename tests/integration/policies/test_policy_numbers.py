# SPDX-License-Identifier: MPL-2.0
"""The imports decimal and time of runyard-policy against Python's decimal, datetime and zoneinfo, with random values of a fixed seed."""

import datetime
import decimal
import json
import random
import subprocess
import zoneinfo
from decimal import Decimal

import pytest

from support.process import program

SEED = 20240229
LIMITS = {"Emax": decimal.MAX_EMAX, "Emin": decimal.MIN_EMIN, "traps": []}
KEPT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP, **LIMITS)
MORE = decimal.Context(prec=500, rounding=decimal.ROUND_HALF_UP, **LIMITS)  # for what Python rounds half to even

BINARY = {
    "add": KEPT.add, "sub": KEPT.subtract, "mul": KEPT.multiply, "div": KEPT.divide,
    "rem": lambda a, b: KEPT.plus(MORE.remainder(a, b)), "pow": lambda a, b: KEPT.plus(MORE.power(a, b)),
}
UNARY = {
    "exp": lambda a: KEPT.plus(MORE.exp(a)), "ln": lambda a: KEPT.plus(MORE.ln(a)), "log10": lambda a: KEPT.plus(MORE.log10(a)),
    "sqrt": lambda a: KEPT.plus(MORE.sqrt(a)), "ceil": lambda a: a.to_integral_value(decimal.ROUND_CEILING),
    "floor": lambda a: a.to_integral_value(decimal.ROUND_FLOOR), "abs": abs, "neg": lambda a: -a,
}
COMPARISONS = {"is": lambda a, b: a == b, "is_not": lambda a, b: a != b, "lt": lambda a, b: a < b, "lte": lambda a, b: a <= b,
               "gt": lambda a, b: a > b, "gte": lambda a, b: a >= b}


def evaluate(folder, lines, *args):
    """Runs a policy of print statements, and returns what each prints."""
    (folder / "p.sentinel").write_text("\n".join([*lines, "main = true", ""]))
    done = subprocess.run([program("runyard-policy"), "eval", *args, "p.sentinel"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[1:]


def number(random_state, digits=60, exponent=40):
    length = random_state.randint(1, digits)
    text = f"{random_state.choice(['', '-'])}{random_state.randrange(10 ** length)}"
    return f"{text}e{random_state.randint(-exponent, exponent)}" if random_state.random() < 0.7 else text


def calls(random_state):
    """(function, a, b or None)"""
    for name in ("add", "sub", "mul", "div", "rem"):
        for _ in range(50):
            yield name, number(random_state), number(random_state)
    for _ in range(40):
        base = number(random_state, 12, 6).lstrip("-")
        yield "pow", base if Decimal(base) else "2", f"{random_state.randint(-40, 40)}"
        yield "pow", f"1.{random_state.randrange(10 ** 9)}", f"{random_state.randint(1, 99)}.{random_state.randrange(1000)}"
    for _ in range(30):
        yield "exp", number(random_state, 8, 2)[:5].rstrip("e-"), None
        yield "ln", number(random_state).lstrip("-"), None
        yield "log10", number(random_state).lstrip("-"), None
        yield "sqrt", number(random_state, 100, 99).lstrip("-"), None
        for name in ("ceil", "floor", "abs", "neg"):
            yield name, number(random_state, 30, 30), None
    for name in COMPARISONS:
        for _ in range(20):
            a = number(random_state, 3, 2)
            yield name, a, random_state.choice([a, f"{a}0" if "e" not in a else f"{a}", number(random_state, 3, 2)])


def test_decimals(tmp_path):
    rows = [row for row in calls(random.Random(SEED)) if not (row[0] in ("ln", "log10") and Decimal(row[1]) == 0) and not (row[0] in ("div", "rem") and Decimal(row[2]) == 0)]
    assert len(rows) > 600
    lines = ['import "decimal"']
    for name, a, b in rows:
        call = f'decimal.new("{a}").{name}(' + (f'"{b}")' if b is not None else ")")
        lines.append(f"print({call})" if name in COMPARISONS else f"print({call}.string)")
    for (name, a, b), got in zip(rows, evaluate(tmp_path, lines), strict=True):
        with decimal.localcontext(MORE):
            if name in COMPARISONS:
                wanted = COMPARISONS[name](Decimal(a), Decimal(b))
                assert got == str(wanted).lower(), (name, a, b)
                continue
            wanted = UNARY[name](Decimal(a)) if b is None else BINARY[name](Decimal(a), Decimal(b))
            assert Decimal(got) == wanted, (name, a, b, got, wanted)


def test_decimals_of_ints_and_floats(tmp_path):
    random_state = random.Random(SEED)
    ints = [random_state.randint(-2 ** 63 + 1, 2 ** 63 - 1) for _ in range(50)]
    floats = [random_state.uniform(-1, 1) * 10 ** random_state.randint(-300, 300) for _ in range(100)] + [5e-324, -1.5e-320, 1.7976931348623157e308]
    lines = ['import "decimal"'] + [f"print(decimal.new({value!r}).string)" for value in ints + floats]
    for value, got in zip(ints + floats, evaluate(tmp_path, lines), strict=True):
        assert Decimal(got) == Decimal(repr(value))
    lines = ['import "decimal"'] + [f'd = decimal.new("{value!r}")\nprint(d.float is {value!r}, d.int)' for value in floats]
    for value, got in zip(floats, evaluate(tmp_path, lines), strict=True):
        whole = int(Decimal(repr(value)))
        assert got == f"true {whole if -2 ** 63 <= whole < 2 ** 63 else 'undefined'}"


EXTREMES = [
    ('decimal.new("1e90000").add(1).gt("9.99e89999")', "true"),
    ('decimal.new("1e-90000").add(1).is(1)', "true"),
    ('decimal.new("1e100000").mul("1e200").string', "Infinity"),
    ('decimal.new("-1e100000").mul("1e200").string', "-Infinity"),
    ('decimal.new("1e100000").mul(10).is(decimal.new("1e100000").mul(10))', "true"),
    ('decimal.new("1e-100000").mul("1e-200").is(0)', "true"),
    ('decimal.new("1e90000").mul("1e-90000").string', "1"),
    ('decimal.new("1e90000").rem(7).string', str(pow(10, 90000, 7))),
    ('decimal.new("1e-90000").floor().string', "0"),
    ('decimal.new("1e-90000").ceil().string', "1"),
    ('decimal.new("1e90000").int', "undefined"),
    ('decimal.new("1e90000").float', "Inf"),
    ('decimal.new("1e-90000").float', "0.0"),
    ('decimal.new("1e90000").exp().string', "Infinity"),
    ('decimal.new("-1e90000").exp().string', "0"),
    ('decimal.new("10").pow("90000").is("1e90000")', "true"),
    ('decimal.new("10").pow("1e100").string', "Infinity"),
    ('decimal.new("0.5").pow("1e90000").string', "0"),
    ('decimal.new("-1").pow("1e90000").string', "1"),
    ('decimal.new("1e90000").log10().string', "90000"),
    ('decimal.new("1e90000").sqrt().string', "1E+45000"),
    ('decimal.new(1).div(0).string', "Infinity"),
    ('decimal.new(-1).div(0).string', "-Infinity"),
    ('decimal.new(0).div(0).string', "NaN"),
    ('decimal.new(1).rem(0).string', "NaN"),
    ('decimal.new(0).ln().string', "-Infinity"),
    ('decimal.new(-1).ln().string', "NaN"),
    ('decimal.new(-1).sqrt().string', "NaN"),
    ('decimal.new(-8).pow("0.5").string', "NaN"),
    ('decimal.inf(1).sub(decimal.inf(1)).string', "NaN"),
    ('decimal.inf(1).add(decimal.inf(1)).string', "Infinity"),
    ('decimal.inf(-1).mul(decimal.inf(-1)).string', "Infinity"),
    ('decimal.inf(1).mul(0).string', "NaN"),
    ('decimal.inf(1).div(decimal.inf(1)).string', "NaN"),
    ('decimal.new(5).div(decimal.inf(1)).string', "0"),
    ('decimal.inf(1).sqrt().string', "Infinity"),
    ('decimal.inf(-1).exp().string', "0"),
    ('decimal.inf(1).is(decimal.inf(1)) and decimal.inf(-1).lt(decimal.inf(1))', "true"),
    ('decimal.nan.is(decimal.nan) or decimal.nan.lt(1) or decimal.nan.gte(1)', "false"),
    ('decimal.nan.is_not(1)', "true"),
    ('decimal.nan.add(1).string', "NaN"),
    ('decimal.nan.neg().string', "NaN"),
    ('[decimal.is_nan("nan"), decimal.is_infinite("-inf"), decimal.is_infinite("+Infinity"), decimal.is_nan(1)]', "[true, true, true, false]"),
    ('decimal.new("1" + "0").is(10)', "true"),
    ('length(decimal.new("' + "9" * 150 + '").string) < 120', "true"),
]


@pytest.mark.parametrize("expression, shown", EXTREMES)
def test_decimals_at_the_edges(tmp_path, expression, shown):
    assert evaluate(tmp_path, ['import "decimal"', f"print({expression})"], "-steps=20000", "-memory=4M", "-timeout=10s") == [shown]


# ---- time ----

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "America/St_Johns"]
FIELDS = ["t.year", "t.month", "t.day", "t.hour", "t.minute", "t.second", "t.weekday", "t.month_name", "t.weekday_name", "t.unix", "t.zone", "t.zone_string"]


def fields(moment):
    offset = int(moment.utcoffset().total_seconds())
    zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 3600:02}:{abs(offset) // 60 % 60:02}"
    return [moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.isoweekday() % 7, moment.strftime("%B"), moment.strftime("%A"),
            int(moment.timestamp()), offset, zone]


def moments(random_state):
    leap = [datetime.datetime(year, month, day, tzinfo=datetime.UTC).timestamp() for year in (1904, 1972, 2000, 2023, 2024, 2100, 2400) for month, day in ((2, 28), (3, 1), (12, 31))]
    changes = [datetime.datetime(2024, month, day, hour, 59, 59, tzinfo=datetime.UTC).timestamp() for month, day in ((3, 31), (10, 27), (3, 10), (11, 3)) for hour in (0, 1, 5, 6)]
    return [int(second) for second in leap + changes] + [random_state.randint(-2_000_000_000, 4_000_000_000) for _ in range(100)]


@pytest.mark.parametrize("zone", ZONES)
def test_times_in_a_zone(tmp_path, zone):
    seconds = moments(random.Random(SEED))
    (tmp_path / "sentinel.hcl").write_text(f'import "plugin" "time" {{\n  config = {{ timezone = "{zone}" }}\n}}\n')
    lines = ['import "time"', f"shown = func(t) {{ return [{', '.join(FIELDS)}] }}"] + [f"print(shown(time.load({second})))" for second in seconds]
    for second, got in zip(seconds, evaluate(tmp_path, lines), strict=True):
        assert json.loads(got) == fields(datetime.datetime.fromtimestamp(second, zoneinfo.ZoneInfo(zone))), second


def test_times_of_texts(tmp_path):
    random_state = random.Random(SEED)
    texts = []
    for second in moments(random_state):
        offset = datetime.timezone(datetime.timedelta(minutes=random_state.randint(-14 * 60, 14 * 60)))
        texts.append(datetime.datetime.fromtimestamp(second, offset).isoformat())
    lines = ['import "time"', f"shown = func(t) {{ return [{', '.join(FIELDS)}] }}"] + [f'print(shown(time.load("{text}")))' for text in texts]
    for text, got in zip(texts, evaluate(tmp_path, lines), strict=True):
        assert json.loads(got) == fields(datetime.datetime.fromisoformat(text)), text


@pytest.mark.parametrize("text, valid", [
    ("2024-02-29T00:00:00Z", True), ("2023-02-29T00:00:00Z", False), ("2000-02-29T00:00:00Z", True), ("1900-02-29T00:00:00Z", False),
    ("2024-04-31T00:00:00Z", False), ("2024-13-01T00:00:00Z", False), ("2024-01-01T24:00:00Z", False), ("2024-01-01T23:60:00Z", False),
    ("2024-01-01T00:00:00", False), ("2024-01-01 00:00:00Z", False), ("2024-01-01T00:00:00.123456789Z", True), ("2024-01-01T00:00:00.Z", False),
    ("2024-01-01T00:00:00+14:00", True), ("2024-01-01T00:00:00+1400", False), ("2024-1-1T00:00:00Z", False), ("", False), ("2024-01-01T00:00:00ZZ", False)])
def test_which_texts_are_times(tmp_path, text, valid):
    (tmp_path / "p.sentinel").write_text(f'import "time"\nmain = time.load("{text}").unix > 0\n')
    done = subprocess.run([program("runyard-policy"), "eval", "p.sentinel"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == ((0, "") if valid else (3, f"p.sentinel:2:8: time: not a time of RFC 3339: {text}\n"))


def test_sums_and_differences_of_times(tmp_path):
    random_state = random.Random(SEED)
    rows = [(random_state.randint(0, 2_000_000_000), random_state.randint(-10 ** 17, 10 ** 17)) for _ in range(100)]
    lines = ['import "time"'] + [f"t = time.load({second})\ns = t.add({nanoseconds})\nprint([s.unix_nano, s.sub(t), s.before(t), s.after(t), s.equal(t)])"
                                 for second, nanoseconds in rows]
    for (second, nanoseconds), got in zip(rows, evaluate(tmp_path, lines), strict=True):
        assert json.loads(got) == [second * 10 ** 9 + nanoseconds, nanoseconds, nanoseconds < 0, nanoseconds > 0, nanoseconds == 0]
