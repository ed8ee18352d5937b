# SPDX-License-Identifier: MPL-2.0
"""Two tenants of one scheduler: the attacked one and the attacking one."""

import threading
from http.server import ThreadingHTTPServer

import pytest

from support.api_site import open_api_site
from support.gotfe import Echo
from support.tenant import Tenant


@pytest.fixture(scope="module")
def api_site(postgres):
    # Leases last longer than the file's tests, and rate limits are not under test.
    with open_api_site(postgres, lease_seconds=3600, rate_limit=0) as api_site:
        yield api_site


@pytest.fixture(scope="module")
def service():
    """The URL of a web server that answers every run task with 200."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def victim(api_site, service):
    return Tenant(api_site, "vtm", service)


@pytest.fixture(scope="module")
def attacker(api_site, service):
    return Tenant(api_site, "atk", service)
