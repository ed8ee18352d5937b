# SPDX-License-Identifier: MPL-2.0
"""The compose file: valid, complete, and true to the programs' options."""

import re
import subprocess

import pytest
from ruamel.yaml import YAML

from support.process import clean_environment, program
from support.release import PROCESSES, ROOT, run, tool

FOLDER = ROOT / "deploy/compose"
TEXT = (FOLDER / "compose.yaml").read_text()
FILE = YAML(typ="safe").load(TEXT)


def check(path):
    return subprocess.run([tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", path], capture_output=True, text=True)


def test_the_file_matches_the_schema_of_the_compose_specification():
    done = check(FOLDER / "compose.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("right, wrong", [("healthcheck:", "healtcheck:"), ("stop_grace_period:", "stop_grace_periode:"), ("cap_drop:", "cap_dropped:")])
def test_the_schema_check_finds_misspelt_keys(folder, right, wrong):
    path = folder / "compose.yaml"
    path.write_text(TEXT.replace(right, wrong, 1))
    assert check(path).returncode != 0


def test_defaults_of_variables_are_those_of_the_example_file():
    example = dict(line.split("=", 1) for line in (FOLDER / ".env.example").read_text().splitlines() if line and line[0] != "#")
    used = re.findall(r"\$\{(\w+)(?::-([^}]*))?\}", TEXT)
    assert len(used) == TEXT.count("$"), "variables have the form ${NAME:-default}"
    assert {name: default for name, default in used} == example


@pytest.mark.parametrize("process", PROCESSES)
def test_environment_variables_are_options_of_the_process(process):
    service = FILE["services"][process]
    help_text = subprocess.run([program(f"runyard-{process}"), "--help"], capture_output=True, text=True, check=True, env=clean_environment()).stdout
    for name in service["environment"]:
        option = name.removesuffix("_FILE")
        assert re.search(rf" {option}\b", help_text), name
    required = set(re.findall(r"(RUNYARD_\w+)(?:(?!\n  --)[\s\S])*?Required\.", help_text))
    assert required <= {name.removesuffix("_FILE") for name in service["environment"]}


@pytest.mark.parametrize("process", PROCESSES)
def test_containers_are_read_only_and_unprivileged(process):
    service = FILE["services"][process]
    assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"]
    assert "user" not in service, "the image's account"


def test_every_service_has_a_health_check_and_only_the_scheduler_publishes_a_port():
    assert all("healthcheck" in service for service in FILE["services"].values())
    assert [name for name, service in FILE["services"].items() if "ports" in service] == ["scheduler"]


def test_workers_reach_neither_the_database_nor_redis():
    networks = {name: set(service["networks"]) for name, service in FILE["services"].items()}
    assert not networks["worker"] & networks["postgres"] and not networks["worker"] & networks["redis"]


def test_every_process_has_an_external_network():
    internal = {name for name, network in FILE["networks"].items() if network and network.get("internal")}
    for process in PROCESSES:
        assert set(FILE["services"][process]["networks"]) - internal


def test_init_creates_every_secret_once(folder):
    secrets = folder / "secrets"
    run(FOLDER / "init", secrets)
    created = {path.name: path.read_text() for path in secrets.iterdir()}
    assert created.keys() == FILE["secrets"].keys() and all(FILE["secrets"][name]["file"] == f"./secrets/{name}" for name in created)
    assert created["database-password"].strip() in created["database-url"] and re.fullmatch(r"1:[0-9a-f]{64}\n", created["keys"])
    assert secrets.stat().st_mode & 0o777 == 0o700
    run(FOLDER / "init", secrets)
    assert {path.name: path.read_text() for path in secrets.iterdir()} == created


def test_every_secret_and_volume_is_declared_and_used():
    for kind in ("secrets", "volumes"):
        used = {str(item).split(":")[0] for service in FILE["services"].values() for item in service.get(kind, []) if not str(item).startswith(".")}
        assert used == FILE[kind].keys()
