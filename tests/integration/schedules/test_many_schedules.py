# SPDX-License-Identifier: MPL-2.0
# label: extended
"""10,000 schedules that are due in the same minute, and two schedulers: each occurrence is used once."""

import time

from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
MANY = 10_000


def test_two_schedulers_use_each_of_many_occurrences_once(api, scheduler, ask):
    template = api.workspace()
    configuration = api.upload(template, ONE)
    ask("""insert into workspaces (id, organization_id, name, project_id)
        select 'ws-many' || n, w.organization_id, 'many-' || n, w.project_id from workspaces w, generate_series(1, %s) n where w.id = %s""", MANY, template)
    ask("""insert into configuration_versions (id, workspace_id, status, source, auto_queue_runs, speculative, blob_id)
        select 'cv-many' || n, 'ws-many' || n, c.status, c.source, false, false, c.blob_id from configuration_versions c, generate_series(1, %s) n where c.id = %s""", MANY, configuration)
    ask("""insert into schedules (id, workspace_id, name, kind, auto_apply, cron, time_zone, occurrence_at, next_at, check_at, created_by, run_as)
        select 'sched-many' || n, 'ws-many' || n, 'nightly', 'plan', false, '0 3 * * *', 'Europe/Berlin', now(), now(), now(), u.id, u.id
        from generate_series(1, %s) n, (select id from users where is_site_admin limit 1) u""", MANY)
    ask("analyze")
    began = time.monotonic()
    scheduler()
    until(lambda: ask("select count(*) from schedules where check_at <= now()") == [(0,)], "no schedule is due", timeout=600)
    print(f"{MANY} schedules took {time.monotonic() - began:.0f} s")
    assert ask("select last_outcome, count(*) from schedules group by 1") == [("queued", MANY)]
    assert ask("select count(*), count(distinct workspace_id) from runs") == [(MANY, MANY)]
    assert ask("select count(*) from schedules s join runs r on r.id = s.last_run_id and r.workspace_id = s.workspace_id") == [(MANY,)]
    assert ask("select count(*) from schedules where occurrence_at > now() and next_at = occurrence_at and check_at = next_at") == [(MANY,)]
    # Both have worked.
    assert min(one.metric("runyard_schedules_used_total", outcome="queued") for one in scheduler.all) > 0
