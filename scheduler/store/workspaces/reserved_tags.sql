-- SPDX-License-Identifier: MPL-2.0

-- shape: reserved_tag
-- total bigint optional, id text, organization_id text, key text, disable_overrides boolean,
-- created_at timestamptz, updated_at timestamptz

-- fragment: reserved_tag_columns()
k.id, k.organization_id, k.key, k.disable_overrides, k.created_at, k.updated_at;

-- statement: reserved_tags_list
-- One page of the organization's reserved keys by age; one row with a null id if the page is empty.
-- index: reserved_tag_keys_key
-- takes: organization_id text, limit bigint, offset bigint
-- gives: reserved_tag
select n.total, f.*
from (select count(*) as total from reserved_tag_keys where organization_id = :organization_id) n
left join (
    select :reserved_tag_columns()
    from reserved_tag_keys k
    where k.organization_id = :organization_id
    order by k.created_at, k.id
    limit :limit
    offset :offset
) f on true
order by f.created_at, f.id;

-- statement: reserved_tag_read
-- The key of that id.
-- index: reserved_tag_keys_pkey
-- takes: id text
-- gives: reserved_tag
select :reserved_tag_columns() from reserved_tag_keys k where k.id = :id;

-- statement: reserved_tag_create
-- Reserves a key.
-- takes: id text, organization_id text, key text, disable_overrides boolean
insert into reserved_tag_keys (id, organization_id, key, disable_overrides)
values (:id, :organization_id, :key, :disable_overrides);

-- statement: reserved_tag_update
-- Changes a key.
-- index: reserved_tag_keys_pkey
-- takes: id text, key text, disable_overrides boolean
update reserved_tag_keys
set key = :key, disable_overrides = :disable_overrides, updated_at = now()
where id = :id;

-- statement: reserved_tag_delete
-- Ends the reservation. The tags stay.
-- index: reserved_tag_keys_pkey
-- takes: id text
delete from reserved_tag_keys where id = :id;

-- statement: reserved_tags_inherited
-- One of the tags, by name or id, that one of the workspaces inherits from its project and can't override.
-- index: workspaces_pkey, tag_bindings_project, tags_pkey, reserved_tag_keys_key
-- takes: workspaces text[], names text[], ids text[]
-- gives: key text
select t.name as key
from workspaces w
join tag_bindings b on b.project_id = w.project_id
join tags t on t.id = b.tag_id
join reserved_tag_keys k on k.organization_id = w.organization_id and k.key = t.name
where w.id = any(:workspaces::text[]) and k.disable_overrides
    and (t.name = any(:names::text[]) or t.id = any(:ids::text[]))
limit 1;
