-- SPDX-License-Identifier: MPL-2.0

-- fragment: request_is_too_late()
-- A request that nobody reported within half a minute after its last try. The last try may still run: then its notifier
-- holds the lease.
give_up_at < now() - interval '30 seconds'
    and (delivery = 'waiting' or lease_until < now() or give_up_at < now() - interval '3 minutes');

-- statement: requests_beat
-- Renews the leases of the requests that the notifier still has: run tasks, notifications and calls to
-- providers. A row for each, in the order of `held`: whether it is still the notifier's.
-- index: notifications_leases, task_results_leases, vcs_calls_lease
-- takes: held jsonb, notifier text, lease_seconds double precision
-- gives: id text, attempt integer, held boolean
with said as (
    select id, attempt, ord
    from rows
    from (jsonb_to_recordset(:held::jsonb) as (id text, attempt integer))
    with ordinality as u(id, attempt, ord)
),
tasks as (
    update task_results r
    set lease_until = now() + make_interval(secs => :lease_seconds)
    from said s
    where r.id = s.id and r.attempt = s.attempt and r.notifier = :notifier and r.delivery = 'claimed'
    returning r.id
),
told as (
    update notifications r
    set lease_until = now() + make_interval(secs => :lease_seconds)
    from said s
    where r.id = s.id and r.attempt = s.attempt and r.notifier = :notifier and r.delivery = 'claimed'
    returning r.id
),
calls as (
    update vcs_calls r
    set lease_until = now() + make_interval(secs => :lease_seconds)
    from said s
    where r.id = s.id and r.attempt = s.attempt and r.notifier = :notifier and r.delivery = 'claimed'
    returning r.id
),
kept as (
    select id from tasks union all select id from told union all select id from calls
)
select s.id, s.attempt, k.id is not null as held
from said s
left join kept k on k.id = s.id
order by s.ord;

-- statement: requests_release
-- Lets the requests be claimed again, those of run tasks and notifications at once.
-- index: notifications_leases, task_results_leases, vcs_calls_lease
-- takes: released jsonb, notifier text
with said as (
    select id, attempt from jsonb_to_recordset(:released::jsonb) as u(id text, attempt integer)
),
tasks as (
    update task_results r
    set delivery = 'waiting', updated_at = now() - interval '1 minute'
    from said s
    where r.id = s.id and r.attempt = s.attempt and r.notifier = :notifier and r.delivery = 'claimed'
),
told as (
    update notifications r
    set delivery = 'waiting', updated_at = now() - interval '1 minute'
    from said s
    where r.id = s.id and r.attempt = s.attempt and r.notifier = :notifier and r.delivery = 'claimed'
)
update vcs_calls r
set delivery = 'waiting', updated_at = now() - interval '1 minute'
from said s
where r.id = s.id and r.attempt = s.attempt and r.notifier = :notifier and r.delivery = 'claimed';
