# SPDX-License-Identifier: MPL-2.0
"""Two schedulers: organizations are moved from one to the other."""

import pytest

from support.api_site import open_api_site
from support.migration import Migrate, Moved
from support.receiver import says


@pytest.fixture(scope="module")
def target_site(postgres):
    with open_api_site(postgres) as site:
        yield site


@pytest.fixture
def there(target_site):
    """A client of the target, whose organization does not exist yet."""
    api = target_site.organization()
    api.delete(f"organizations/{api.organization}")
    return api


@pytest.fixture
def task(receiver):
    """The service of the source's run task."""
    return receiver.service(says("passed"), "scan")


@pytest.fixture
def moved(org, task):
    moved = Moved(org, task)
    task.tests.clear()
    return moved


@pytest.fixture
def migrate(tmp_path, moved, org, there):
    return Migrate(tmp_path, org, there)
