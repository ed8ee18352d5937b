-- SPDX-License-Identifier: MPL-2.0

-- shape: waiting_pool
-- pool_id text null, jobs bigint

-- statement: claim_waiters_tell
-- Notifies the other schedulers, if there is one that listens.
-- index: pg_database_datname_index
-- takes: notices text[]
select pg_notify('runyard_jobs', notice)
from unnest(:notices::text[]) notice
where exists (
    select 1
    from pg_stat_activity
    where application_name = 'runyard_jobs' and datname = current_database() and pid <> pg_backend_pid()
);
