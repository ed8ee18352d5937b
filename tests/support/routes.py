# SPDX-License-Identifier: MPL-2.0
"""The table of endpoints (scheduler/api/routes.def), as the tests read it."""

import re
from functools import cache
from pathlib import Path

ROUTES = Path(__file__).parents[2] / "scheduler/api/routes.def"
ROW = re.compile(r'^(SITE|API|SIGNED|WORKER|NOTIFIER)\((\w+),\s*"([^"]+)",\s*(\w+),\s*(\w+),', re.M)


@cache
def rows(kind):
    """[(method, path, handler, permission)] of one kind."""
    return [row[1:] for row in ROW.findall(ROUTES.read_text()) if row[0] == kind]

