-- SPDX-License-Identifier: MPL-2.0

-- fragment: task_calls_named()
-- The results r that `said` names, found by the primary key (db/db.h, "plans").
r.id = any(array(select id from said));

-- fragment: task_is_open()
-- The result r may still be reported.
r.reported is null and r.status in ('pending', 'running');

-- fragment: due_in_ms()
-- The time until the deadline of the result r.
greatest(extract(epoch from r.due_at - now()) * 1000, 0)::bigint;

-- statement: task_calls_waiting
-- Locks up to `max` waiting results whose keys this scheduler has: the oldest, or those in `asked` (a JSON array of
-- ids) if it has any. Those that workers send, only with `forwards`.
-- index: task_results_waiting
-- takes: asked jsonb, max bigint, keys bytea[], forwards boolean
-- gives: id text, token_hash text null
select id, token_hash
from task_results
where delivery = 'waiting'
    and (jsonb_array_length(:asked::jsonb) = 0 or id in (select jsonb_array_elements_text(:asked::jsonb)))
    and (:key_is_missing(hmac_sealed, :keys)) is not true and (pool_id is null or :forwards)
order by created_at
limit :max
for update skip locked;

-- statement: task_calls_claim
-- Gives the results to a notifier. `tokens`: an array of {id, hash}, of each result and the digest of its token.
-- Returns what their requests say.
-- takes: tokens jsonb, notifier text, lease_seconds double precision
-- gives: task_call
update task_results r
set delivery = 'claimed', attempt = attempt + 1, notifier = :notifier, token_hash = u.hash,
    lease_until = now() + make_interval(secs => :lease_seconds), updated_at = now()
from jsonb_to_recordset(:tokens::jsonb) as u(id text, hash text), :task_payload_tables()
where r.id = u.id and :task_payload_joins()
returning r.attempt, r.task_url as target, r.hmac_sealed, r.pool_id, r.token_hash,
    greatest(extract(epoch from r.give_up_at - now()) * 1000, 0)::bigint as give_up_in_ms,
    :task_payload_columns();

-- statement: task_calls_delivered
-- Returns the deliveries in their order: when the task is due, if it was acknowledged, and whether it ended.
-- Logs every delivery; changes only results whose current attempt it is.
-- index: task_deliveries_result
-- takes: deliveries jsonb, progress_seconds double precision, total_seconds double precision
-- gives: id text, due_in_ms bigint null, ended boolean
with said as (
    select *
    from rows from (
        jsonb_to_recordset(:deliveries::jsonb) as (
            id text, attempt integer, status integer, seconds double precision, answer text, error text, "end" text)
    ) with ordinality as u(id, attempt, status, seconds, answer, error, ended, ord)
),
logged as (
    insert into task_deliveries (task_result_id, status, seconds, answer, error)
    select s.id, s.status, s.seconds, left(s.answer, 1024), left(s.error, 500)
    from said s
    join task_results r on r.id = s.id
    where :task_calls_named()
),
began as (
    update task_results r
    set delivery = 'acknowledged', status = 'running',
        status_timestamps = case
            when r.status = 'pending' then r.status_timestamps || jsonb_build_object(
                'running-at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
            else r.status_timestamps
        end,
        due_at = now() + make_interval(secs => :progress_seconds),
        last_at = now() + make_interval(secs => :total_seconds), updated_at = now()
    from said s
    where r.id = s.id and :task_calls_named() and r.attempt = s.attempt and r.delivery = 'claimed'
        and s.ended = 'acknowledged' and r.status in ('pending', 'running')
    returning r.id, :due_in_ms() as due_in_ms
),
ended as (
    update task_results r
    set delivery = 'over', updated_at = now(),
        reported = jsonb_build_object(
            'status', case
                when exists (select 1 from task_deliveries d where d.task_result_id = r.id and d.status > 0)
                    or s.status > 0 then 'failed'
                else 'unreachable'
            end,
            'message', 'The request could not be delivered: ' || coalesce(s.error, 'status ' || s.status)
        )
    from said s
    where r.id = s.id and r.attempt = s.attempt and r.delivery = 'claimed' and :task_calls_named()
        and s.ended = 'gave-up' and r.status in ('pending', 'running')
    returning r.id
)
select s.id, b.due_in_ms, e.id is not null as ended
from said s
left join began b on b.id = s.id
left join ended e on e.id = s.id
order by s.ord;

-- statement: task_calls_failing
-- Those of the results whose first try has failed and that are tried again: pages show the reason then.
-- index: runs_pkey, task_deliveries_result, task_results_pkey
-- takes: ids text[]
-- gives: task_result_changed
select r.id, r.run_id, n.workspace_id, n.organization_id
from task_results r
join runs n on n.id = r.run_id
where r.id = any(:ids::text[]) and r.status = 'pending' and r.delivery = 'claimed'
    and (select count(*) from (select 1 from task_deliveries d where d.task_result_id = r.id limit 2) d) = 1;

-- statement: task_outcomes_keep
-- Writes the outcomes of an array of {id, outcomes}. An outcome replaces the earlier one with the same id. A new
-- outcome is appended.
-- index: task_result_outcomes_result
-- takes: results jsonb
insert into task_result_outcomes (id, task_result_id, position, outcome_id, description, url, tags, body)
select distinct on (u.id, e.o ->> 'outcome-id')
    'taskrsout-' || substr(md5(u.id || coalesce(e.o ->> 'outcome-id', '')), 1, 16), u.id,
    coalesce((select max(x.position) from task_result_outcomes x where x.task_result_id = u.id), 0) + e.n,
    coalesce(e.o ->> 'outcome-id', ''), coalesce(e.o ->> 'description', ''), e.o ->> 'url',
    coalesce(e.o -> 'tags', '{}'), e.o ->> 'body'
from jsonb_to_recordset(:results::jsonb) as u(id text, outcomes jsonb),
    jsonb_array_elements(u.outcomes) with ordinality as e(o, n)
order by u.id, e.o ->> 'outcome-id', e.n desc
on conflict (id) do update set description = excluded.description, url = excluded.url,
    tags = excluded.tags, body = excluded.body;

-- statement: task_calls_back
-- Returns the callbacks in their order, each with its run and the status code of its answer. `running` reports
-- progress and extends the deadline. `passed` and `failed` are final. A repetition of the final status is
-- accepted, since a service may retry without an answer. Any other callback after the end is 409. A callback that
-- would give its result more than `outcomes` outcomes is 422. is_open: the result had not ended before these callbacks.
-- index: runs_pkey, task_result_outcomes_result, task_results_pkey
-- takes: callbacks jsonb, progress_seconds double precision, outcomes bigint
-- gives: task_result_changed
with said as (
    select *
    from rows from (
        jsonb_to_recordset(:callbacks::jsonb) as (
            "task-result" text, hash text, status text, message text, url text, outcomes jsonb)
    ) with ordinality as u(id, hash, status, message, url, outcomes, ord)
),
overfull as (
    select s.ord
    from said s
    where jsonb_array_length(s.outcomes) > 0 and (
        select count(*)
        from (
            select coalesce(e.o ->> 'outcome-id', '') from jsonb_array_elements(s.outcomes) as e(o)
            union
            select x.outcome_id from task_result_outcomes x where x.task_result_id = s.id
        ) as u
    ) > :outcomes
),
open as (
    select distinct on (r.id) r.id, s.ord, s.status, s.message, s.url, s.outcomes
    from task_results r
    join said s on s.id = r.id and s.hash = r.token_hash
    where :task_calls_named() and :task_is_open() and s.ord not in (select ord from overfull)
    order by r.id, (s.status <> 'running') desc, s.ord
),
taken as (
    update task_results r
    set status = 'running', message = coalesce(o.message, r.message), url = coalesce(o.url, r.url), updated_at = now(),
        due_at = case
            when o.status = 'running' and r.delivery = 'acknowledged'
                then least(now() + make_interval(secs => :progress_seconds), r.last_at)
            else r.due_at
        end,
        delivery = case when o.status = 'running' then r.delivery else 'over' end,
        reported = case
            when o.status = 'running' then null
            else jsonb_build_object('status', o.status, 'message', o.message, 'url', o.url)
        end
    from open o
    where r.id = o.id and :task_calls_named() and :task_is_open()
    returning r.id, o.ord, case when o.status = 'running' then :due_in_ms() end as due_in_ms
)
select s.id, r.run_id, n.workspace_id, n.organization_id, t.due_in_ms,
    case
        when r.id is null then 404
        when r.token_hash is distinct from s.hash then 401
        when s.ord in (select ord from overfull) then 422
        when t.id is not null then 200
        when coalesce(r.reported ->> 'status', r.status) = s.status then 200
        when s.status = 'running' and :task_is_open() then 200
        else 409
    end as answer, :task_is_open() as is_open
from said s
left join task_results r on r.id = s.id and :task_calls_named()
left join taken t on t.id = s.id and t.ord = s.ord
left join runs n on n.id = r.run_id
order by s.ord;

-- statement: task_token_check
-- Whether the digest is of the result's own token; no row if there is no such result.
-- index: task_results_pkey
-- takes: task_result_id text, hash text
-- gives: own boolean
select token_hash is not distinct from :hash as own from task_results where id = :task_result_id;

-- statement: task_calls_late
-- Reports the named results (an array of ids) that are past their deadline as failed. Returns all of them in
-- their order: whether that has happened now, how late it was, and the deadline of those that are not past it.
-- index: task_results_pkey
-- takes: results jsonb
-- gives: id text, run_id text null, reported boolean, seconds numeric null, due_in_ms bigint null
with said as (
    select id, ord from jsonb_array_elements_text(:results::jsonb) with ordinality as u(id, ord)
),
late as (
    update task_results r
    set delivery = 'over', updated_at = now(),
        reported = jsonb_build_object(
            'status', 'failed',
            'message', case
                when r.due_at >= r.last_at then 'The task did not end within its total time limit.'
                else 'No answer: the service sent no progress within its time limit.'
            end
        )
    from said s
    where r.id = s.id and :task_calls_named() and r.delivery = 'acknowledged' and r.reported is null
        and r.due_at <= now()
    returning r.id, extract(epoch from now() - r.due_at) as seconds
)
select s.id, r.run_id, l.id is not null as reported, l.seconds,
    case when l.id is null and r.delivery = 'acknowledged' then :due_in_ms() end as due_in_ms
from said s
left join task_results r on r.id = s.id and :task_calls_named()
left join late l on l.id = s.id
order by s.ord;

-- statement: task_calls_deadlines
-- Results with a deadline and an id after `after`, in the order of their ids.
-- index: task_results_due
-- takes: after text, limit bigint
-- gives: id text, due_in_ms bigint null
select r.id, :due_in_ms() as due_in_ms
from task_results r
where r.delivery = 'acknowledged' and r.reported is null and r.id > :after
order by r.id
limit :limit;
