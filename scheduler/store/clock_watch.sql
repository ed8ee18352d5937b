-- SPDX-License-Identifier: MPL-2.0

-- statement: rows_correct
update clock_steps set count = count + 1;

-- statement: clock_watch_correct
-- gives: count bigint
select count from clock_steps for update;

-- statement: clock_watch_look
-- gives: ms bigint, count bigint
select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms, count from clock_steps;
