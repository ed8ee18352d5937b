-- SPDX-License-Identifier: MPL-2.0

-- shape: ssh_key
-- total bigint optional, id text, organization_id text, name text

-- statement: ssh_keys_list
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
-- takes: id text
-- gives: ssh_key
select id, organization_id, name from ssh_keys where id = :id;

-- statement: ssh_key_create
-- takes: id text, organization_id text, name text, value_sealed bytea
insert into ssh_keys (id, organization_id, name, value_sealed)
values (:id, :organization_id, :name, :value_sealed);

-- statement: ssh_key_update
-- takes: id text, name text, p3 boolean, buf_str bytea
update ssh_keys
set name = coalesce(:name, name), value_sealed = case when :p3 then :buf_str::bytea else value_sealed end
where id = :id;

-- statement: ssh_key_delete
-- takes: id text
delete from ssh_keys where id = :id;

-- statement: ssh_key_assign
-- takes: workspace_id text, id text
update workspaces w
set ssh_key_id = :id, updated_at = now()
where id = :workspace_id
    and (:id::text is null
            or exists (
                select 1 from ssh_keys k where k.id = :id and k.organization_id = w.organization_id
            ));
