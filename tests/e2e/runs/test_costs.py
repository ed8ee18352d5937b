# SPDX-License-Identifier: MPL-2.0
"""Cost estimates of real plans, by price books and by a replacement for infracost."""

import json
import os
import subprocess

import pytest

from support.wait import until


def book(**prices):
    """A price book for terraform_data, by the size in its input."""
    return {
        "price-book": 1, "name": "Ours", "currency": "USD", "source": "a contract", "date": "2025-01",
        "resources": {"terraform_data": {
            "attributes": {"size": {"from": ["input.size"]}},
            "components": [{"name": "Thing", "unit": "hour", "by": ["size"], "prices": prices}],
        }},
    }


def resources_of(**sizes):
    """A configuration with resources of these sizes."""
    return {"main.tf": "\n".join(f'resource "terraform_data" "{name}" {{\n  input = {{ size = "{size}" }}\n}}' for name, size in sizes.items())}


@pytest.fixture
def books(folder):
    path = folder / "books"
    path.mkdir()
    (path / "ours.json").write_text(json.dumps(book(small="0.0104", large="0.0832")))
    return path


@pytest.fixture
def estimating(api):
    """The organization's runs get estimates."""
    body = {"data": {"type": "organizations", "attributes": {"cost-estimation-enabled": True}}}
    api.patch(f"organizations/{api.organization}", body)
    return api


def estimate_of(api, run):
    return api.attributes(f"cost-estimates/{api.sibling(run, 'cost-estimate')}")


def amounts(estimate):
    return tuple(estimate[f"{side}-monthly-cost"] for side in ("prior", "proposed", "delta"))


def counts(estimate):
    return tuple(estimate[f"{kind}resources-count"] for kind in ("", "matched-", "unmatched-"))


def events(api, run):
    return [e["attributes"] for e in api.get(f"runs/{run}/run-events").data]


def test_an_estimated_run_is_confirmed_and_applied(estimating, worker):
    api = estimating
    worker()
    workspace = api.workspace()
    run = api.run_files(workspace, resources_of(one="small"))
    estimated_run = api.wait_status(run, "cost_estimated")
    assert estimated_run["actions"]["is-confirmable"]
    times = estimated_run["status-timestamps"]
    assert times["planned-at"] <= times["cost-estimating-at"] <= times["cost-estimated-at"]
    estimate = estimate_of(api, run)
    assert estimate["status"] == "finished" and counts(estimate) == (1, 0, 1) and amounts(estimate) == ("0.00", "0.00", "0.00")
    assert estimate["resources"]["unmatched"][0]["reason"] == "no price book knows the type"
    assert set(estimate["status-timestamps"]) == {"pending-at", "queued-at", "finished-at"}
    api.act(run, "apply")
    api.wait_status(run, "applied")


def test_price_books_of_the_operator_price_changed_resources(estimating, worker, books):
    api = estimating
    (books / "broken.json").write_text('{"price-book": 1, "name": "Broken", "currency": "USD", "resources": {"a": {}}}')
    started = worker(price_books=books)
    workspace = api.workspace(auto_apply=True)
    first = api.run_files(workspace, resources_of(one="small", two="large", odd="huge"))
    api.wait_status(first, "applied")
    assert amounts(estimate_of(api, first)) == ("0.00", "68.328", "68.328")
    assert counts(estimate_of(api, first)) == (3, 2, 1)
    second = api.run_files(workspace, resources_of(one="large", three="small"), auto_apply=False)
    api.wait_status(second, "cost_estimated")
    estimate = estimate_of(api, second)
    assert amounts(estimate) == ("68.328", "68.328", "0.00")
    deltas = {r["address"]: r["delta"] for r in estimate["resources"]["matched"]}
    assert deltas == {"terraform_data.one": "53.144", "terraform_data.three": "7.592", "terraform_data.two": "-60.736"}
    said = api.get(f"cost-estimates/{api.sibling(second, 'cost-estimate')}/output").text
    assert "USD a month, 3 of 4 resources estimated" in said
    assert "terraform_data.one: 60.736, was 7.592 (53.144)\n    Thing: 730 hour at 0.0832: 60.736" in said
    assert 'terraform_data.odd: not estimated, the price book Ours has no price for the size "huge"' in said
    refused = next(line for line in started.log_lines() if line["msg"] == "a price book is left out")
    assert refused["book"].endswith("/broken.json") and "resources: a: components is missing" in refused["why"]


def test_a_run_without_changes_is_estimated_before_it_ends(estimating, worker, books):
    api = estimating
    worker(price_books=books)
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, resources_of(one="small")), "applied")
    for more in ({}, {"refresh_only": True}, {"plan_only": True}):
        run = api.run_files(workspace, resources_of(one="small"), **more)
        ended = api.wait_status(run, "planned_and_finished")
        assert "cost-estimated-at" in ended["status-timestamps"], more
        assert amounts(estimate_of(api, run)) == ("7.592", "7.592", "0.00"), more


def test_a_run_with_targets_is_not_estimated(estimating, worker):
    api = estimating
    worker()
    run = api.run_files(api.workspace(), resources_of(one="small", two="small"), target_addrs=["terraform_data.one"])
    assert estimate_of(api, run)["status"] == "skipped_due_to_targeting"
    estimated_run = api.wait_status(run, "planned")
    assert "cost-estimating-at" not in estimated_run["status-timestamps"]
    assert estimate_of(api, run)["status"] == "skipped_due_to_targeting"


def test_the_estimate_of_a_failed_plan_is_unreachable(estimating, worker):
    api = estimating
    worker()
    run = api.run_files(api.workspace(), {"main.tf": 'resource "terraform_data" "x" {\n  input = file("nothing")\n}\n'})
    api.wait_status(run, "errored")
    assert estimate_of(api, run)["status"] == "unreachable"


# ---- infracost ----

ANSWER = {
    "version": "0.2", "currency": "USD", "totalMonthlyCost": "12.5", "pastTotalMonthlyCost": "2.5",
    "summary": {"totalDetectedResources": 1, "totalUnsupportedResources": 0},
    "projects": [{"pastBreakdown": {"resources": []}, "breakdown": {"resources": [
        {"name": "terraform_data.one", "resourceType": "terraform_data", "monthlyCost": "12.5", "costComponents": []}]}}],
}


@pytest.fixture
def infracost(folder):
    """infracost(script) replaces the program with a bash script."""

    def make(script):
        path = folder / "infracost"
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)
        return path

    return make


def test_infracost_replaces_the_price_books(estimating, worker, infracost):
    api = estimating
    check = '[[ $1 == breakdown && $2 == --path && $4 == --format && $5 == json ]] && grep -q terraform_data "$3"'
    worker(infracost=infracost(f"{check} || exit 3\n[[ -z $RUNYARD_AGENT_TOKEN && -z $SECRET ]] || exit 4\ncat <<'END'\n{json.dumps(ANSWER)}\nEND"))
    workspace = api.workspace()
    api.variable(workspace, "SECRET", "s3cret", category="env")
    run = api.run_files(workspace, resources_of(one="small"))
    api.wait_status(run, "cost_estimated")
    estimate = estimate_of(api, run)
    assert estimate["status"] == "finished", estimate
    assert amounts(estimate) == ("2.50", "12.50", "10.00") and counts(estimate) == (1, 1, 0)


@pytest.mark.parametrize("script, why", [
    ("echo first >&2; echo no API key >&2; exit 1", "infracost ended with exit code 1: no API key"),
    ("echo {}", "infracost's answer can't be read: it has no project or no summary"),
    ("kill -9 $$", "infracost"),
])
def test_a_failed_estimate_shows_its_error_and_the_run_continues(estimating, worker, infracost, script, why):
    api = estimating
    worker(infracost=infracost(script))
    workspace = api.workspace()
    run = api.run_files(workspace, resources_of(one="small"))
    api.wait_status(run, "cost_estimated")
    estimate = estimate_of(api, run)
    assert estimate["status"] == "errored" and why in estimate["error-message"], estimate
    assert "errored-at" in estimate["status-timestamps"]
    assert any(why in e["description"] for e in events(api, run))
    assert api.attributes(f"runs/{run}")["error"] is None
    api.act(run, "apply")
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]


def test_a_cancel_ends_the_estimate(estimating, worker, infracost, folder):
    api = estimating
    worker(infracost=infracost('touch "$HOME/begun"; sleep 600'))
    run = api.run_files(api.workspace(), resources_of(one="small"))
    api.wait_status(run, "cost_estimating")
    until(lambda: list(folder.glob("worker-1/jobs/*/root/home/begun")), "infracost runs")
    api.act(run, "cancel")
    api.wait_status(run, "canceled")
    assert estimate_of(api, run)["status"] == "canceled"


# ---- the command line ----


def test_the_cli_shows_the_estimate(estimating, worker, books, folder, engine):
    api = estimating
    worker(price_books=books)
    home = folder / "home"
    home.mkdir()
    services = "\n".join(f'    "{name}" = "{api.url}/api/v2/"' for name in ("tfe.v2", "tfe.v2.1", "tfe.v2.2", "state.v2"))
    (home / "cli.tfrc").write_text(f'disable_checkpoint = true\nhost "runyard.test" {{\n  services = {{\n{services}\n  }}\n}}\n'
                                   f'credentials "runyard.test" {{\n  token = "{api.token}"\n}}\n')
    cloud = f'terraform {{\n  cloud {{\n    hostname = "runyard.test"\n    organization = "{api.organization}"\n    workspaces {{\n      name = "shown"\n    }}\n  }}\n}}\n'
    (home / "main.tf").write_text(cloud + resources_of(one="small", odd="huge")["main.tf"])
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TF_CLI_CONFIG_FILE": str(home / "cli.tfrc"), "NO_COLOR": "1"}

    def cli(*arguments):
        done = subprocess.run([engine.path, *arguments, "-no-color"], cwd=home, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done.stdout

    cli("init")
    said = cli("apply", "-auto-approve")
    assert "Resources: 1 of 2 estimated" in said, said
    assert "$7.592/mo +$7.592" in said, said
    assert "Apply complete! Resources: 2 added" in said
