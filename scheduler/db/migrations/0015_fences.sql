-- SPDX-License-Identifier: MPL-2.0

-- Attempts that are asked to stop: few at any time, and looked for often (api/internal/control.h).
create index jobs_stopping on jobs (worker_id) where stop > 0;

-- The names of the workers that attempts of the job were lost with.
alter table jobs add column lost_with text[] not null default '{}';

-- A message that several readers put aside, or one twice, is one letter. The payload may be cut off; its size is not.
-- A discarded letter stays for a while without its payload: who tells of it late tells nothing new.
alter table dead_letters
	drop constraint dead_letters_topic_partition_offset_created_at_key,
	add column digest text unique,
	add column reader text not null default 'scheduler',
	add column size integer,
	add column discarded boolean not null default false;
update dead_letters set size = length(payload);
alter table dead_letters alter column size set not null;
