# SPDX-License-Identifier: MPL-2.0
"""The rules of deploy/prometheus, the runbooks of its alerts, and the dashboards of deploy/grafana: valid, tested, and true to the metrics."""

import json
import re
import subprocess
import sys

import psycopg
import pytest
from ruamel.yaml import YAML

from support.process import program
from support.prometheus import DASHBOARDS, RULES, alerts, expressions, panels, promtool, rules, series_names, used_names
from support.servers import ROOT

TESTS = sorted((RULES.parent / "tests").glob("*.yaml"))
RUNBOOKS = ROOT / "deploy/runbooks"
HEADINGS = ["Meaning", "Impact", "Look", "Act", "Afterwards"]
FIRING = re.compile(r'ALERTS\{alertname="(\w+)", alertstate="firing"\}')


# ---- rules ----


def test_the_rules_are_valid():
    code, said = promtool("check", "rules", RULES)
    assert code == 0, said


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_the_rules_do_what_their_tests_say(path):
    code, said = promtool("test", "rules", path)
    assert code == 0, said


def test_each_alert_has_a_firing_and_a_silent_test():
    fires, silent = set(), set()
    for path in TESTS:
        for test in YAML(typ="safe").load(path.read_text())["tests"]:
            for check in test["promql_expr_test"]:
                (alert,) = FIRING.findall(check["expr"])
                fires |= {(alert, severity) for sample in check["exp_samples"] for severity in re.findall(r'severity="(\w+)"', sample["labels"])}
                silent |= set() if check["exp_samples"] else {alert}
    assert fires == {(alert["alert"], alert["labels"]["severity"]) for alert in alerts()}
    assert silent == {alert["alert"] for alert in alerts()}


def test_a_rule_uses_only_metrics_that_there_are():
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    for rule in rules():
        assert used_names(rule["expr"]) <= series_names(), rule
        assert set(re.findall(r"runyard:[\w:]+", rule["expr"])) <= recorded, rule


def test_a_renamed_metric_is_noticed():
    assert {"runyard_workspaces_held", "runyard_http_requests_total"} <= series_names()
    assert not used_names("max(runyard_workspaces_withheld) > 0") <= series_names()


# ---- runbooks ----


def test_alerts_and_runbooks_match_one_to_one():
    assert sorted(path.stem for path in RUNBOOKS.glob("*.md")) == sorted({alert["alert"] for alert in alerts()})
    for alert in alerts():
        assert alert["annotations"]["runbook_url"].endswith(f"/runbooks/{alert['alert']}.md")
        assert alert["annotations"]["summary"] and alert["annotations"]["description"]
        assert alert["labels"]["severity"] in ("page", "ticket")


def test_the_manual_lists_every_alert():
    manual = (ROOT / "deploy/README.md").read_text()
    assert {alert["alert"] for alert in alerts()} == set(re.findall(r"\]\(runbooks/(\w+)\.md\)", manual))


@pytest.mark.parametrize("path", sorted(RUNBOOKS.glob("*.md")), ids=lambda path: path.stem)
def test_a_runbook_says_what_to_do(path):
    text = path.read_text()
    assert text.startswith(f"# {path.stem}\n")
    assert re.findall(r"^## (.*)$", text, re.M) == HEADINGS
    sections = dict(zip(HEADINGS, re.split(r"^## .*$", text, flags=re.M)[1:]))
    assert all(section.strip() for section in sections.values())
    assert "`" in sections["Look"] and "`" in sections["Act"], "commands and queries"
    assert used_names(text) <= series_names() | {name.removesuffix("_sum") for name in series_names()}


def commands_of_runbooks():
    return sorted({command for path in RUNBOOKS.glob("*.md") for command in re.findall(r"runyard-scheduler (?:--[\w-]+ \S+ )*([a-z][\w-]*)", path.read_text())})


def test_the_commands_of_runbooks_exist():
    listed = subprocess.run([program("runyard-scheduler"), "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"^  ([a-z][\w-]*)", listed.split("\nCommands", 1)[1].split("\n\n", 1)[0], re.M))
    assert set(commands_of_runbooks()) <= known


def test_the_options_of_runbooks_exist():
    reference = (ROOT / "deploy/REFERENCE.md").read_text()
    for path in RUNBOOKS.glob("*.md"):
        for option in re.findall(r"`--([\w-]+)", path.read_text()):
            assert f"`--{option}`" in reference or f"`--{option}-file`" in reference, f"{path.name}: --{option}"


def test_the_statements_of_runbooks_run(database):
    statements = [statement for path in RUNBOOKS.glob("*.md") for statement in re.findall(r'psql "\$RUNYARD_DATABASE_URL" -c "(.*)"$', path.read_text(), re.M)]
    assert len(statements) > 5
    with psycopg.connect(database, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def test_the_queries_of_runbooks_are_valid(folder):
    blocks = [block.strip() for path in RUNBOOKS.glob("*.md") for block in re.findall(r"```promql\n(.*?)```", path.read_text(), re.S)]
    assert len(blocks) > 8
    (folder / "rules.yaml").write_text(json.dumps({"groups": [{"name": "runbooks", "rules": [{"record": "runbook:query", "expr": block} for block in blocks]}]}))
    code, said = promtool("check", "rules", "--lint=none", folder / "rules.yaml")
    assert code == 0, said


# ---- dashboards ----


def test_the_dashboards_are_what_their_tables_say():
    done = subprocess.run([sys.executable, ROOT / "deploy/grafana/generate", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.stem for path in DASHBOARDS] == ["broker", "overview", "pools", "stores"]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_is_complete(path):
    whole = json.loads(path.read_text())
    assert whole["uid"] == f"runyard-{path.stem}" and whole["title"] and whole["schemaVersion"]
    listed = {variable["name"]: variable for variable in whole["templating"]["list"]}
    assert listed["datasource"]["type"] == "datasource" and listed["datasource"]["query"] == "prometheus"
    assert len({panel["id"] for panel in whole["panels"]}) == len(whole["panels"])
    for panel in panels(path):
        assert panel["title"] and panel["description"].endswith(".") and panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}" and panel["targets"]
        for target in panel["targets"]:
            assert target["datasource"]["uid"] == "${datasource}" and target["legendFormat"]
            assert set(re.findall(r"\$(\w+)", target["expr"])) - {"1"} <= listed.keys() | {"__rate_interval"}
        assert used_names(" ".join(expressions(panel))) <= series_names(), panel["title"]
    places = [panel["gridPos"] for panel in whole["panels"]]
    taken = [(x, y) for place in places for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])]
    assert len(taken) == len(set(taken)) and all(place["x"] + place["w"] <= 24 for place in places)


def test_the_expressions_of_dashboards_are_valid(folder):
    found = [{"record": "dashboard:panel", "expr": expression} for path in DASHBOARDS for panel in panels(path) for expression in expressions(panel)]
    assert len(found) > 40
    (folder / "rules.yaml").write_text(json.dumps({"groups": [{"name": "dashboards", "rules": found}]}))
    code, said = promtool("check", "rules", "--lint=none", folder / "rules.yaml")
    assert code == 0, said
