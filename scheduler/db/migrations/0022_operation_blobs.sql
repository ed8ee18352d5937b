-- SPDX-License-Identifier: MPL-2.0
-- What a plan leaves is a row each, written once: before, the plan's own row was written anew for each, with all its indexes.

create table operation_blobs (
	operation_id text not null references operations on delete cascade,
	kind text not null, -- plan, json, init, schemas
	blob_id text not null references blobs,
	primary key (operation_id, kind)
);
create index operation_blobs_blob on operation_blobs (blob_id);

insert into operation_blobs select id, kind, blob from operations, lateral (values ('plan', plan_blob), ('json', json_blob),
	('init', init_blob), ('schemas', schemas_blob)) as b (kind, blob) where blob is not null;

drop trigger operations_loosen on operations;
drop trigger operations_drop on operations;
alter table operations drop column plan_blob, drop column json_blob, drop column init_blob, drop column schemas_blob;

create or replace function operation_blobs_loosened() returns trigger language plpgsql as $$
begin
	insert into loose_blobs (blob_id) values (old.log_blob) on conflict do nothing;
	return null;
end $$;
create trigger operations_loosen after update of log_blob on operations for each row
	when (old.log_blob is not null and old.log_blob is distinct from new.log_blob) execute function operation_blobs_loosened();
create trigger operations_drop after delete on operations for each row
	when (old.log_blob is not null) execute function operation_blobs_loosened();
create trigger operation_blobs_loosen after update of blob_id on operation_blobs for each row
	when (old.blob_id is distinct from new.blob_id) execute function blob_loosened();
create trigger operation_blobs_drop after delete on operation_blobs for each row execute function blob_loosened();
