-- SPDX-License-Identifier: MPL-2.0

-- fragment: key_in_use()
-- The condition that content may be sealed with a row's key. A key that was never first has sealed nothing.
first_used_at is not null and (unused_at is null or unused_at < last_used_at);

-- fragment: key_is_missing(column, keys)
-- Whether a sealed column (a bytea; null gives false or null) needs a key that is not in `keys`.
substring(:column from 1 for 4) <> all (:keys::bytea[]);

-- fragment: job_key_is_missing(job, keys)
-- Whether handing out `job` (an alias of jobs) needs a missing key. Both columns of run_inputs are sealed with
-- one key.
exists (
    select 1
    from run_inputs ki
    join workspaces kw on kw.id = :job.workspace_id
    left join ssh_keys ks on ks.id = kw.ssh_key_id
    where ki.run_id = :job.run_id
        and (:key_is_missing(ki.snapshot_sealed, :keys) or :key_is_missing(ks.value_sealed, :keys))
);

-- statement: keys_samples
-- The oldest rows that are sealed with that number. Each part scans a whole table, once per new key.
-- index: run_inputs_pkey, runs_pkey
-- reads: state_version_outputs, variables
-- takes: bytes bytea
-- gives: context text, sealed bytea
(
    select id as context, value_sealed as sealed
    from variables
    where substring(value_sealed from 1 for 4) = :bytes
    order by created_at
    limit 1
)
union all (
    select i.run_id, i.snapshot_sealed
    from run_inputs i
    join runs r on r.id = i.run_id
    where substring(i.snapshot_sealed from 1 for 4) = :bytes
    order by r.created_at
    limit 1
)
union all (
    select id, value_sealed
    from state_version_outputs
    where substring(value_sealed from 1 for 4) = :bytes
    limit 1
);

-- statement: key_insert
-- Records a new key; no row if the number is known. If two schedulers add the same number, one waits for the
-- other here.
-- takes: number bigint, check_value text
-- gives: number bigint
insert into sealing_keys (number, check_value)
values (:number, :check_value)
on conflict do nothing
returning number;

-- statement: key_check_value
-- The check value of the key with that number.
-- index: sealing_keys_pkey
-- takes: number bigint
-- gives: check_value text
select check_value from sealing_keys where number = :number;

-- statement: keys_use
-- Records that the key seals and signs now.
-- index: sealing_keys_pkey
-- takes: number bigint
update sealing_keys
set first_used_at = coalesce(first_used_at, now()), last_used_at = now()
where number = :number;

-- statement: keys_in_use
-- The keys with which content may be sealed.
-- index: sealing_keys_pkey
-- gives: number bigint
select number from sealing_keys where :key_in_use() order by number;

-- statement: keys_known
-- All keys that were recorded.
-- reads: sealing_keys
-- gives: number bigint, check_value text
select number, check_value from sealing_keys;

-- statement: keys_waiting
-- Jobs that have waited for half a minute because of a missing key, although their pools have free slots. Their
-- runs get an event. Reads no jobs if this scheduler has every key that the database knows.
-- index: jobs_waiting, workers_pool
-- takes: numbers bytea[], max_reported bigint
-- gives: run_id text, number bigint
with waits as (
    select j.id, j.run_id, j.pool_id,
        case when :key_is_missing(i.snapshot_sealed, :numbers) then i.snapshot_sealed else s.value_sealed end
            as sealed
    from jobs j
    join run_inputs i on i.run_id = j.run_id
    join workspaces w on w.id = j.workspace_id
    left join ssh_keys s on s.id = w.ssh_key_id
    where j.state = 'waiting' and j.created_at < now() - interval '30 seconds'
        and :job_key_is_missing(j, :numbers)
        and exists (
            select 1
            from sealing_keys
            where substring(int8send(number) from 5 for 4) <> all (:numbers::bytea[])
        )
        and exists (
            select 1
            from workers k
            where k.pool_id = j.pool_id and k.free > 0 and not k.draining
                and k.seen_at > now() - interval '1 minute'
        )
    limit :max_reported
),
numbered as (
    select run_id, ('x' || encode(substring(sealed from 1 for 4), 'hex'))::bit(32)::bigint as number
    from waits
),
told as (
    insert into run_events (id, run_id, action, description)
    select 're-' || substr(md5(run_id || number), 1, 16), run_id, 'waiting-for-key',
        'The job of this run waits for a scheduler that has key ' || number ||
        '. An operator has to add that key to --keys.'
    from numbered
    on conflict (id) do nothing
)
select run_id, number
from numbered
order by run_id;
