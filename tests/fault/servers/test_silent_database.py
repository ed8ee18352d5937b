# SPDX-License-Identifier: MPL-2.0
# label: extended
"""PostgreSQL stops answering, as when its machine is lost or a network drops connections: no request waits for ever."""

from urllib.parse import urlsplit

import pytest

from support.proxy import Proxy, Wires
from support.wait import until


@pytest.fixture
def proxy(database):
    wires = Wires()
    proxy = Proxy(wires, urlsplit(database).port)
    yield proxy
    proxy.release()
    wires.release()


def test_silent_connections_are_replaced(scheduler, worker, database, proxy, request):
    url = urlsplit(database)
    scheduler(database_url=url._replace(netloc=f"{url.username}@127.0.0.1:{proxy.port}").geturl())
    worker()
    api = request.getfixturevalue("api")
    workspace = api.workspace(auto_apply=True)
    proxy.break_as("half-open")
    answer = api.call("GET", f"workspaces/{workspace}")
    assert answer.status == 503 and answer.headers["Retry-After"], answer.text
    proxy.fault = None  # lost connections stay lost, and the scheduler gets no notice
    until(lambda: api.call("GET", f"workspaces/{workspace}").status == 200, "it is answered by another connection")
    api.wait_status(api.run_files(workspace, {"main.tf": 'resource "terraform_data" "one" {}\n'}), "applied")
