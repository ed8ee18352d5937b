# SPDX-License-Identifier: MPL-2.0
"""The fixtures `api`, `database` and `scheduler` on the scheduler that all tests of a file share (api_site), each with
an organization of its own. For tests that change nothing outside of it:

    from support.shared import api, database, scheduler  # noqa: F401
"""

import pytest


@pytest.fixture
def api(org):
    return org


@pytest.fixture
def database(api_site):
    return api_site.database


@pytest.fixture
def scheduler(api_site):
    return api_site.scheduler
