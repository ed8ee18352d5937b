-- SPDX-License-Identifier: MPL-2.0
-- The keys that schedulers have had (--keys): a value that follows from each key, so that another key with the same
-- number is refused at the start.
create table sealing_keys (
	number bigint primary key,
	check_value text not null,
	created_at timestamptz not null default now()
);
