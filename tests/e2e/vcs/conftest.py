# SPDX-License-Identifier: MPL-2.0
"""A whole site, and git's own HTTP server beside it."""

import pytest

from support.git_servers import HttpServer


@pytest.fixture(scope="module")
def stack(full_site):
    return full_site


@pytest.fixture(scope="module")
def http(stack):
    server = HttpServer(stack.folder / "http").start()
    yield server
    server.release()
