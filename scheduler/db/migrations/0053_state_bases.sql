-- SPDX-License-Identifier: MPL-2.0
-- While an apply runs, its worker sends the differences of its states to one whole state, the base. The state version's
-- blob is then the base, as a sealed zstd frame (store/states/state_bases.h), and this row has the newest state as a difference
-- to it. Without a row the blob is the state as it came. A scheduler of an earlier version can't open a base: it answers
-- with an error and gives no older state out.
create table state_bases (
	state_version_id text primary key references state_versions on delete cascade,
	blob_id text not null,
	digest text not null,               -- SHA-256 of the base, in hex
	difference_sealed bytea,            -- null: the newest state is the base
	look_at timestamptz not null default now()
) with (fillfactor = 50);
alter table state_bases alter column difference_sealed set storage external;
create index state_bases_blob on state_bases (blob_id);

-- A state version that gets another blob, or loses its own, has this base no more.
create function state_base_gone() returns trigger language plpgsql as $$
begin
	delete from state_bases where state_version_id = old.id and blob_id = old.blob_id;
	return null;
end $$;
create trigger state_versions_base after update of blob_id on state_versions for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function state_base_gone();
