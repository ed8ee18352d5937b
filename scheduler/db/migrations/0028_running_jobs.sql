-- SPDX-License-Identifier: MPL-2.0
-- A plan is made once, perhaps while nothing runs; then an index of the jobs that run looks like the shortest way to any
-- one of them, and is read from end to end ever after. So it is said in words that only statements use which want them all.

drop index jobs_claimed;
create index jobs_claimed on jobs (pool_id, organization_id) where state like 'claimed';
