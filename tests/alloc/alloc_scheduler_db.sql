-- SPDX-License-Identifier: MPL-2.0

-- statement: alloc_count
-- gives: count bigint
select count(*) as count from alloc_of;

-- statement: alloc_add
-- takes: number integer, text text
-- gives: text text
insert into alloc_of values (:number, :text) returning text;

-- statement: alloc_series
-- gives: n integer, text text, bytes bytea
select n, repeat('x', 1000) as text, 'abc'::bytea as bytes from generate_series(1, 300) n;

-- statement: alloc_one
-- gives: one integer
select 1 as one;

-- statement: alloc_half
-- takes: divisor integer
-- gives: half integer
select 4 / :divisor::int as half;

-- statement: alloc_none
-- gives: number integer null, text text null
select number, text from alloc_of where number is null;
