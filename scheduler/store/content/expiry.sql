-- SPDX-License-Identifier: MPL-2.0

-- fragment: expiry_walk(rows, at)
-- The next rows behind a position, in the order of `at`, that are old enough. Each has an index in that order.
select id, :at::text as at
from :rows
    and (:at, id) > (:after_at::timestamptz, :after_id::text)
    and :at <= now() - make_interval(secs => :age_seconds)
order by :at, id
limit :max;

-- shape: expiry_walk
-- id text, at text

-- statement: expiry_runs
-- Ended runs.
-- index: runs_ended
-- takes: after_at timestamptz, after_id text, age_seconds double precision, max bigint
-- gives: expiry_walk
:expiry_walk(runs where ended_at is not null, ended_at);

-- statement: expiry_states
-- State versions that have their content.
-- index: state_versions_age
-- takes: like expiry_runs
-- gives: expiry_walk
:expiry_walk(state_versions where status = 'finalized', created_at);

-- statement: expiry_configurations
-- Configuration versions that may have content.
-- index: configuration_versions_age
-- takes: like expiry_runs
-- gives: expiry_walk
:expiry_walk(configuration_versions where status <> 'pending' and status <> 'errored', created_at);

-- statement: expiry_mark_ensure
-- Inserts the rule's position, unless it exists. A position for an earlier value of the site's setting is stale
-- and is deleted: it does not cover what was created since.
-- index: retention_marks_pkey
-- takes: rule text, scope text, setting bigint
with stale as (
    delete from retention_marks
    where rule = :rule and scope = 'site' and :scope = 'site' and setting <> :setting
)
insert into retention_marks (rule, scope, setting)
values (:rule, :scope, :setting)
on conflict do nothing;

-- statement: expiry_mark_lock
-- Locks the position. No row: another scheduler holds it.
-- index: retention_marks_pkey
-- takes: rule text, scope text, setting bigint
-- gives: at text, id text
select at::text as at, id
from retention_marks
where rule = :rule and scope = :scope and setting = :setting
for update skip locked;

-- statement: expiry_mark_set
-- Moves the position.
-- index: retention_marks_pkey
-- takes: rule text, scope text, setting bigint, at timestamptz, id text
update retention_marks
set at = :at::timestamptz, id = :id
where rule = :rule and scope = :scope and setting = :setting;

-- statement: expiry_policies
-- The different values of the policies of organizations and workspaces.
-- reads: data_retention_policies
-- gives: days integer null
select distinct delete_older_than_n_days as days
from data_retention_policies
where delete_older_than_n_days is not null;

-- statement: expiry_restart
-- Deletes the rules' positions, so that everything is scanned again, but for the packing of logs.
-- reads: retention_marks
-- takes: packing text
delete from retention_marks where rule <> :packing;
