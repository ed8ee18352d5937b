# SPDX-License-Identifier: MPL-2.0
# label: quick
"""scheduler/db/statements.py: what it makes of files with SQL, what it refuses, and what of its C does not compile."""

import subprocess
import sys

import pytest

from support.servers import ROOT

PROGRAM = ROOT / "scheduler/db/statements.py"
TEAM = """-- fragment: of_team(t)
:t.organization_id = :organization;

-- statement: team_find
-- The team's id.
-- takes: organization text, number bigint null
-- gives: id text, size integer null
select id, size from teams t where :of_team(t) and ':number' <> '' and number = :number; -- the only one
"""
PROGRAM_C = """#include "{folder}/teams.sql.h"
int find(struct db *db, struct rows *rows, struct err *err);
int find(struct db *db, struct rows *rows, struct err *err)
{{
	long long number = 1;
	if (db_query(db, rows, err, team_find, {parameters}) < 0)
		return -1;
	return row_of(team_find, rows, 0)->{column} != 0 && number;
}}
"""
GOOD = '.organization = "org", .number = &number'


def made(folder, text):
    """The files are made beside the one with SQL, since its path is absolute."""
    (folder / "teams.sql").write_text(text)
    return subprocess.run([sys.executable, PROGRAM, folder / "made", folder / "teams.sql"], cwd=folder, capture_output=True, text=True)


def compiled(folder, parameters=GOOD, column="size"):
    assert made(folder, TEAM).returncode == 0
    (folder / "teams.c").write_text(PROGRAM_C.format(folder=folder, parameters=parameters, column=column))
    program = ["cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT, folder / "teams.c"]
    return subprocess.run(program, capture_output=True, text=True)


def test_fragments_and_parameters_are_put_in(tmp_path):
    assert made(tmp_path, TEAM).returncode == 0
    text = (tmp_path / "teams.sql.c").read_text().replace('"\n\t\t"', "")
    assert "select id, size from teams t where t.organization_id = $1 and ':number' <> '' and number = $2" in text


@pytest.mark.parametrize("old, new, says", [
    ("number = :number", "true", "does not use number"),
    ("number = :number", "number = :other", "takes no other"),
    (":of_team(t)", ":of_teams(t)", "no fragment of_teams with 1 arguments"),
    (":of_team(t)", ":of_team(t, u)", "no fragment of_team with 2 arguments"),
    (":of_team(t)", ":organization <> ''", "nothing uses the fragments"),
    (":t.organization_id", ":of_team(t)", "it uses itself"),
    ("number bigint", "number int8", "is no name with a type"),
    ("-- gives: id text, size integer null", "-- gives: teams", "there is no shape teams"),
    ("-- takes: organization text, number bigint null", "-- takes: like other", "there is no statement"),
    ("-- statement: team_find", "-- statement: Team-Find", "is no name of a statement"),
    ("-- the only one", "-- " + "x" * 120, "is longer than 120"),
    (":of_team(t)", ":of_team(t", "a bracket is not closed"),
])  # fmt: skip
def test_mistakes_are_refused_with_their_place(tmp_path, old, new, says):
    result = made(tmp_path, TEAM.replace(old, new))
    assert result.returncode == 1 and says in result.stderr and "Traceback" not in result.stderr


def test_not_before_several_conditions_needs_brackets(tmp_path):
    """SQL would negate the first of them alone."""
    text = TEAM.replace("where :of_team", "where not :of_team")
    assert made(tmp_path, text).returncode == 0
    both = "(:t.organization_id = :organization or t.id = 'x') and t.size > 0"
    result = made(tmp_path, text.replace(":t.organization_id = :organization", both))
    assert result.returncode == 1 and "`not` holds only for the first part of of_team" in result.stderr
    assert made(tmp_path, text.replace(":t.organization_id = :organization", f"({both})")).returncode == 0


def test_names_are_unique(tmp_path):
    result = made(tmp_path, TEAM + TEAM[TEAM.index("-- statement"):])
    assert result.returncode == 1 and "has that name, too" in result.stderr


def test_a_right_call_compiles(tmp_path):
    result = compiled(tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("parameters, column, says", [
    ('.organization = "org"', "size", "a parameter is missing"),
    (f"{GOOD}, .more = 1", "size", "no member named"),
    ('.organization = "org", .number = "1"', "size", "incompatible pointer type"),
    (f'{GOOD}, .organization = "again"', "size", "a parameter is missing or"),
    (GOOD, "name", "no member named"),
])
def test_a_wrong_call_does_not_compile(tmp_path, parameters, column, says):
    result = compiled(tmp_path, parameters, column)
    assert result.returncode != 0 and says in result.stderr
