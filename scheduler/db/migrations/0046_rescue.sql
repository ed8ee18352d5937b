-- SPDX-License-Identifier: MPL-2.0
-- Rescue objects (store/content/rescues.h): where the worker of an apply that can't reach a scheduler uploads its last
-- state.

create table rescues (
	object_key text primary key, -- in the object store
	job_id text not null,
	attempt integer not null,
	key_sealed bytea not null, -- the key that encrypts the object
	delete_at timestamptz not null, -- when the object is deleted: no worker can upload it any more
	look_at timestamptz not null default now(), -- when to look for the object next, while the workspace is held
	seen text not null default '' -- the first bytes of the object that was read last, in hex
);
create index rescues_job on rescues (job_id);
create index rescues_delete on rescues (delete_at);
