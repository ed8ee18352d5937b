# SPDX-License-Identifier: MPL-2.0
"""--metrics-listen: the public port does not serve metrics. Also the protection of secrets in every process."""

import urllib.error
import urllib.request
from pathlib import Path

import pytest

from support.process import free_port
from support.runyard import KEYS, Scheduler


def get(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize("name", ["scheduler", "notifier"])
def test_with_metrics_listen_only_that_port_serves_metrics(name, request):
    port = free_port()
    server = request.getfixturevalue(name)(metrics_listen=f"127.0.0.1:{port}")
    status, text = get(port, "/metrics")
    assert status == 200 and "# TYPE runyard_" in text
    for path in ("/healthz", "/readyz"):
        assert get(port, path)[0] == get(server.port, path)[0] == 200
    for path in ("/metrics", "/metrics?x=1", "/%6detrics", "//metrics", "/metrics/"):
        status, text = get(server.port, path)
        assert status == 404 and "runyard_" not in text, path
    for path in ("/api/v2/ping", "/app/login", "/", "/api/v2/task-results/taskrs-AAAAAAAAAAAAAAAA/callback"):
        assert get(port, path)[0] == 404, path
    if name == "notifier":
        assert get(port, "/circuits")[0] == 200 and get(server.port, "/circuits")[0] == 404


@pytest.mark.parametrize("name", ["scheduler", "notifier"])
def test_without_metrics_listen_the_public_port_serves_metrics(name, request):
    assert "# TYPE runyard_" in request.getfixturevalue(name)().get("/metrics")[1]


def test_an_invalid_metrics_address_is_refused_at_the_start(database):
    done = Scheduler.run_command("serve", check=False, database_url=database, keys=KEYS, metrics_listen="nowhere")
    assert done.returncode == 1 and "--metrics-listen" in done.stderr


@pytest.mark.parametrize("name", ["scheduler", "notifier"])
def test_no_core_file_is_written(name, request):
    server = request.getfixturevalue(name)()
    limits = Path(f"/proc/{server.pid}/limits").read_text(encoding="ascii")
    assert next(line.split()[4:6] for line in limits.splitlines() if line.startswith("Max core file size")) == ["0", "0"]
