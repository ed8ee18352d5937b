-- SPDX-License-Identifier: MPL-2.0
-- What a list, a claim or a sweep reads must not grow with what is over.

-- Runs that have not ended are few; they are asked for wherever somebody looks at what goes on.
create index runs_live on runs (organization_id, position) where not ended;

-- A heartbeat renews leases and writes nothing else, so no index may name a lease: then it is an update in place. Jobs that run are as
-- few as there are slots, so whoever looks for leases that are over reads them all; and who claims counts them by organization.
drop index jobs_claimed;
create index jobs_claimed on jobs (pool_id, organization_id) where state = 'claimed';
alter table jobs set (fillfactor = 60);
alter table workers set (fillfactor = 50);
