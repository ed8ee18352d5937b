# SPDX-License-Identifier: MPL-2.0
# label: quick
"""A scheduler with nothing to do."""

import time

from support.wait import until

SECONDS = 4
MAX_RATE = 50  # statements a second: its threads wait for notices and due times, and heartbeats are few


def statements(scheduler):
    return sum(value for name, value in scheduler.metrics().items() if name.startswith("runyard_database_statements_total"))


def test_an_idle_scheduler_hardly_asks_the_database(api_site):
    scheduler = api_site.scheduler
    assert statements(scheduler) > 0
    rates = []

    def rate():
        before, begin = statements(scheduler), time.monotonic()
        time.sleep(SECONDS)  # the length of the measurement
        rates.append((statements(scheduler) - before) / (time.monotonic() - begin))
        return rates[-1] < MAX_RATE

    until(rate, lambda: f"few statements: {rates} a second", timeout=4 * SECONDS)  # work of the start may still go on
