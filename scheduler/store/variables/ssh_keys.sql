-- SPDX-License-Identifier: MPL-2.0

-- shape: ssh_key
-- total bigint optional, id text, organization_id text, name text

-- statement: ssh_keys_list
-- One page of the organization's keys, by name.
-- index: ssh_keys_name
-- takes: organization_id text, limit bigint, offset bigint
-- gives: ssh_key
select t.total, k.*
from (select count(*) as total from ssh_keys where organization_id = :organization_id) t
left join (
    select id, organization_id, name
    from ssh_keys
    where organization_id = :organization_id
    order by lower(name)
    limit :limit
    offset :offset
) k on true
order by lower(k.name);

-- statement: ssh_key_read
-- The key of that id.
-- index: ssh_keys_pkey
-- takes: id text
-- gives: ssh_key
select id, organization_id, name from ssh_keys where id = :id;

-- statement: ssh_key_create
-- Creates a key.
-- takes: id text, organization_id text, name text, value_sealed bytea
insert into ssh_keys (id, organization_id, name, value_sealed)
values (:id, :organization_id, :name, :value_sealed);

-- statement: ssh_key_update
-- Changes the name if it is not null, and the value if there is one.
-- index: ssh_keys_pkey
-- takes: id text, name text, has_value boolean, value_sealed bytea
update ssh_keys
set name = coalesce(:name, name), value_sealed = case when :has_value then :value_sealed::bytea else value_sealed end
where id = :id;

-- statement: ssh_key_delete
-- Deletes the key.
-- index: ssh_keys_pkey
-- takes: id text
delete from ssh_keys where id = :id;

-- statement: ssh_key_assign
-- Assigns the organization's key to the workspace; null removes its key.
-- index: ssh_keys_pkey, workspaces_pkey
-- takes: workspace_id text, id text
update workspaces w
set ssh_key_id = :id, updated_at = now()
where id = :workspace_id
    and (:id::text is null
            or exists (
                select 1 from ssh_keys k where k.id = :id and k.organization_id = w.organization_id
            ));
