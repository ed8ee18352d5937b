-- SPDX-License-Identifier: MPL-2.0

-- statement: clock_steps_count
update clock_steps set count = count + 1;

-- statement: clock_steps_lock
-- gives: count bigint
select count from clock_steps for update;

-- statement: clock_read
-- gives: ms bigint, count bigint
select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms, count from clock_steps;
