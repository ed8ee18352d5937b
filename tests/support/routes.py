# SPDX-License-Identifier: MPL-2.0
"""The table of endpoints (scheduler/api/routes.def), as the tests read it."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROUTES = Path(__file__).parents[2] / "scheduler/api/routes.def"
ROW = re.compile(r'^(SITE|API|SIGNED|WORKER|NOTIFIER|SCIM|REGISTRY|REGISTRY_KEYS)\((\w+),\s*"([^"]+)",\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+)\)', re.M)


class Route(NamedTuple):
    kind: str
    method: str
    path: str
    handler: str
    permission: str
    body: str
    limit: str
    executor: str


@cache
def table():
    """Every row."""
    found = [Route(*row) for row in ROW.findall(ROUTES.read_text())]
    assert len(found) == len(re.findall(r"^[A-Z_]+\([A-Z]+,", ROUTES.read_text(), re.M)), "a row is not like the others"
    return found


@cache
def rows(kind):
    """[(method, path, handler, permission)] of one kind."""
    return [(route.method, route.path, route.handler, route.permission) for route in table() if route.kind == kind]
