# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The subcommands of runyard-scheduler: their arguments and their help."""

import subprocess

import pytest

from support.process import clean_environment, program


def command(*arguments):
    return subprocess.run([program("runyard-scheduler"), *arguments], capture_output=True, text=True, env=clean_environment() | {
        "RUNYARD_DATABASE_URL": "postgresql://127.0.0.1:1/none", "RUNYARD_KEYS": "1:" + "00" * 32})


@pytest.mark.parametrize("arguments, message", [
    (("fly",), "unknown command 'fly'"),
    (("migrate", "now"), "unexpected argument 'now'"),
    (("holds", "show"), "usage: runyard-scheduler holds [release WORKSPACE [WHY]] [--json]"),
    (("holds", "release", "a", "b", "c"), "usage: runyard-scheduler holds"),
    (("add-user", "somebody"), "usage: runyard-scheduler add-user USER EMAIL"),
    (("holds", "--listen", "127.0.0.1:0"), "--listen is not an option of this command"),
    (("add-user", "a", "a@example.com", "--json"), "--json is not an option of this command"),
])
def test_invalid_arguments_are_refused_with_the_reason(arguments, message):
    done = command(*arguments)
    assert done.returncode == 1 and message in done.stderr and done.stdout == ""


def test_every_command_has_help_without_settings():
    listed = subprocess.run([program("runyard-scheduler"), "--help"], capture_output=True, text=True, env=clean_environment()).stdout
    section = listed.split("Commands", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    names = [line.split()[0] for line in section if not line.startswith("   ")]
    assert {"serve", "holds", "dead-letters"} < set(names)
    for name in set(names) - {"states"}:
        done = subprocess.run([program("runyard-scheduler"), name, "--help"], capture_output=True, text=True, env=clean_environment())
        assert done.returncode == 0 and done.stdout.startswith(f"usage: runyard-scheduler {name}"), done
