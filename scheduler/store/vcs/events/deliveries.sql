-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_deliveries_pick
-- Locks at most :max deliveries, the oldest first. Reads the first of them, and the next ones until their
-- bodies have :max_bytes bytes. Uses the index vcs_deliveries_waiting.
-- index: vcs_deliveries_waiting
-- takes: max bigint, max_bytes bigint
-- gives: sequence bigint, repository_id text, delivery_id text, event text, body_sealed bytea, tries integer,
-- identifier text null, external_id text null, provider text, api_url text null
with due as materialized (
    select sequence, due_at, octet_length(body_sealed) as size
    from vcs_deliveries
    where state = 'waiting' and due_at <= now()
    order by due_at, sequence
    limit :max
    for update skip locked
),
sized as (
    select sequence, due_at, sum(size) over (order by due_at, sequence) - size as before from due
)
select d.sequence, d.repository_id, d.delivery_id, d.event, d.body_sealed, d.tries, r.identifier,
    r.external_id, :vcs_dialect_columns()
from sized s
join vcs_deliveries d using (sequence)
left join vcs_repositories r on r.id = d.repository_id
left join vcs_connections c on c.id = r.connection_id
where s.before < :max_bytes
order by s.due_at, s.sequence;

-- statement: vcs_deliveries_end
-- The deliveries were read.
-- index: vcs_deliveries_pkey
-- takes: sequences bigint[]
update vcs_deliveries set state = 'done', error = null where sequence = any(:sequences::bigint[]);

-- statement: vcs_delivery_drop
-- Deletes a delivery whose repository was deleted.
-- index: vcs_deliveries_pkey
-- takes: sequence bigint
delete from vcs_deliveries where sequence = :sequence;

-- statement: vcs_delivery_fail
-- The delivery can't be read.
-- index: vcs_deliveries_pkey
-- takes: sequence bigint, why text
update vcs_deliveries set state = 'failed', error = :why where sequence = :sequence;

-- statement: vcs_delivery_postpone
-- Reads the delivery again later.
-- index: vcs_deliveries_pkey
-- takes: sequence bigint, why text, postponed_seconds double precision
update vcs_deliveries
set tries = tries + 1, error = :why, due_at = now() + make_interval(secs => :postponed_seconds)
where sequence = :sequence;

-- statement: vcs_deliveries_hasten
-- Reads the waiting deliveries of the repository at once.
-- index: vcs_deliveries_id
-- takes: repository_id text
update vcs_deliveries set due_at = now() where repository_id = :repository_id and state = 'waiting';
