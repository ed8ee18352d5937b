# SPDX-License-Identifier: MPL-2.0
"""/metrics after a pause in which nobody read it: values of PostgreSQL are fresh or left out."""

import time

from support.wait import until

PAUSE = 600  # the scheduler stops measuring 300 s after the last read
ONE = {"main.tf": ""}


def test_the_first_page_after_a_pause_has_nothing_old(scheduler, api):
    first = scheduler.all[0]
    run = api.run_files(api.workspace(), ONE)
    until(lambda: first.metric("runyard_slots_wanted", pool="default") == 1, "its job is wanted")
    time.sleep(PAUSE)  # the pause itself is tested: no condition ends it
    api.act(run, "cancel")
    page = first.metrics()
    for name in ("slots_wanted", "jobs", "worker_slots", "oldest_waiting_seconds", "workers", "runs", "outbox_rows", "workspaces_held", "processes"):
        assert not [series for series in page if series.startswith(f"runyard_{name}{{") or series == f"runyard_{name}"], name
    assert page["runyard_database_up"] == 1
    until(lambda: 'runyard_slots_wanted{pool="default"}' in first.metrics(), "it measures again")
    assert first.metric("runyard_slots_wanted", pool="default") == 0
