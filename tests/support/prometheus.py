# SPDX-License-Identifier: MPL-2.0
"""Prometheus and promtool (tests/run fetches them), the rules, and the names of Runyard's metrics."""

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

from ruamel.yaml import YAML

from support.process import Process, free_port
from support.servers import DEPS, ROOT
from support.wait import until

RULES = ROOT / "deploy/prometheus/rules.yaml"
DASHBOARDS = sorted((ROOT / "deploy/grafana").glob("*.json"))
PROCESSES = "scheduler", "worker", "notifier"
ROW = re.compile(r'^METRIC\(\w+,\s*"(\w+)",\s*(\w+),', re.M)
NAME = re.compile(r"\brunyard_\w+")


def tool(name):
    found = shutil.which(name, path=f"{DEPS / 'prometheus/usr/bin'}:{shutil.os.environ['PATH']}")
    assert found, f"{name} is missing: tests/run fetches it"
    return found


def promtool(*arguments, text=None):
    """(exit code, output)"""
    done = subprocess.run([tool("promtool"), *map(str, arguments)], input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def series_names():
    """The names of all series on the pages of the processes, from the tables of metrics."""
    names = set()
    for folder in ("common", *PROCESSES):
        for name, kind in ROW.findall((ROOT / folder / "metrics.def").read_text()):
            names |= {f"{name}_{end}" for end in ("bucket", "sum", "count")} if kind == "HISTOGRAM" else {name}
    return names


def used_names(text):
    """The series of Runyard that a text of rules, dashboards or runbooks names."""
    return set(NAME.findall(text))


def rules():
    return [rule for group in YAML(typ="safe").load(RULES)["groups"] for rule in group["rules"]]


def alerts():
    return [rule for rule in rules() if "alert" in rule]


def panels(path):
    return [panel for panel in json.loads(path.read_text())["panels"] if panel["type"] != "row"]


def expressions(panel, window="5m"):
    """Its expressions as Prometheus reads them, without Grafana's variables."""
    return [target["expr"].replace("$__rate_interval", window).replace("$pool", ".*") for target in panel["targets"]]


class Prometheus(Process):
    """A server that scrapes the services every second, with the rules of deploy/prometheus. Alerts fire without waiting
    (`for`)."""

    def __init__(self, folder, services):
        self.port = free_port()
        self.home = Path(folder) / "prometheus"
        self.home.mkdir()
        (self.home / "rules.yaml").write_text(re.sub(r"^(\s+for:) \w+$", r"\1 0s", RULES.read_text(), flags=re.M))
        targets = [{"targets": [f"127.0.0.1:{service.port}"], "labels": {"instance": service.name}} for service in services]
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": ["rules.yaml"],
                  "scrape_configs": [{"job_name": "runyard", "static_configs": targets}]}
        (self.home / "prometheus.yaml").write_text(json.dumps(config))
        super().__init__("prometheus", [tool("prometheus"), f"--config.file={self.home / 'prometheus.yaml'}", f"--storage.tsdb.path={self.home / 'data'}",
                                        f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"], folder)

    def start(self):
        self.launch()
        self.wait_until(lambda: self.ask("-/ready") is not None, "is ready")
        return self

    def ask(self, path, **query):
        """The answer's text; None if there is none."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
                return answer.read().decode()
        except OSError:
            return None

    def query(self, expression):
        """[(labels, value)]"""
        answer = json.loads(until(lambda: self.ask("api/v1/query", query=expression), f"an answer to {expression}"))
        assert answer["status"] == "success", expression
        return [(row["metric"], float(row["value"][1])) for row in answer["data"]["result"]]

    def firing(self, alert):
        """The labels of each firing alert of that name, without its name."""
        return [labels for labels, _ in self.query(f'ALERTS{{alertname="Runyard{alert}", alertstate="firing"}}')]

    def wait_quiet(self, *alerts):
        """Waits until none of the alerts fires. An alert without `for` fires while a process starts, and until the next
        evaluation after its end."""
        firing = lambda: [alert for alert in alerts if self.firing(alert)]
        until(lambda: not firing(), lambda: f"these alerts end: {firing()}")

    def wait_fires(self, alert, **labels):
        until(lambda: any(labels.items() <= found.items() for found in self.firing(alert)), f"{alert} fires")
