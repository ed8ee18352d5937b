-- SPDX-License-Identifier: MPL-2.0
-- Whether pools with waiting jobs have free slots (background/gauges.c). A claim compares it with the job's age, to tell
-- a job that waited for a slot from one that waited although slots were free.
create table pool_capacity (
	pool_id text primary key references agent_pools on delete cascade,
	free_since timestamptz -- null: all slots were taken when a scheduler looked last
) with (fillfactor = 50);
