-- SPDX-License-Identifier: MPL-2.0

-- fragment: tag_page(conditions, limit, offset)
with found as (select f.id, f.name from tags f where :conditions)
select c.total, t.*
from (select count(*) as total from found) c
left join (
    select t.id, t.name, o.name as organization_name,
        (select count(*) from tag_bindings b where b.tag_id = t.id and b.workspace_id is not null) as instance_count
    from tags t
    join organizations o on o.id = t.organization_id
    where t.id in (select id from found order by name limit :limit offset :offset)
) t on true
order by t.name;

-- fragment: tags_chosen()
-- One row per chosen tag that exists, by id or by name.
select t.id, t.id = any(:ids::text[]) as by_id
from tags t
where t.organization_id = :organization_id and (t.id = any(:ids::text[]) or t.name = any(:names::text[]));

-- statement: owner_lock
-- takes: owner text
select 1 from workspaces where id = :owner for no key update;

-- statement: owner_lock_lock_2
-- takes: owner text
select 1 from projects where id = :owner for no key update;

-- statement: tags_make
-- takes: organization_id text, ids text[], names text[]
insert into tags (id, organization_id, name)
select u.id, :organization_id, u.name
from unnest(:ids::text[], :names::text[]) u(id, name)
on conflict (organization_id, name) do nothing;

-- shape: tags
-- total bigint, id text, name text, organization_name text, instance_count bigint

-- statement: tags_of_workspace
-- takes: workspace_id text, limit bigint, offset bigint
-- gives: tags
:tag_page(
    f.id in (select tag_id from tag_bindings where workspace_id = :workspace_id and value = ''), :limit,
        :offset);

-- statement: tags_list
-- takes: organization_id text, search text, exclude text, limit bigint, offset bigint
-- gives: tags
:tag_page(f.organization_id = :organization_id
        and (:search::text is null or strpos(lower(f.name), lower(:search)) > 0)
        and (:exclude::text is null
                or not (f.id = any(string_to_array(:exclude, ','))
                        or exists (
                            select 1
                            from tag_bindings b
                            where b.tag_id = f.id and b.workspace_id = any(string_to_array(:exclude, ','))
                        ))), :limit, :offset);

-- statement: tags_add
-- takes: organization_id text, ids text[], names text[], workspace_id text, binding_ids text[]
-- gives: by_id bigint, added bigint, bound bigint
with chosen as (:tags_chosen()),
added as (
    insert into tag_bindings (id, tag_id, workspace_id)
    select (:binding_ids::text[])[row_number() over ()], c.id, :workspace_id
    from chosen c
    on conflict (workspace_id, tag_id) do nothing
    returning 1
)
select (select count(*) from chosen where by_id) as by_id, (select count(*) from added) as added,
    (select count(*) from tag_bindings where workspace_id = :workspace_id) as bound;

-- statement: tags_remove
-- takes: organization_id text, ids text[], names text[], workspace_id text
delete from tag_bindings
where workspace_id = :workspace_id and tag_id in (select id from (:tags_chosen()) c);

-- statement: tags_delete
-- takes: organization_id text, array text[], json_array_size bigint
with chosen as (
    select id from tags where organization_id = :organization_id and id = any(:array::text[])
)
delete from tags
where id in (select id from chosen) and (select count(*) from chosen) = :json_array_size::bigint;

-- statement: tag_read
-- takes: id text
-- gives: id text, name text, organization_id text
select id, name, organization_id from tags where id = :id;

-- statement: tags_bind
-- takes: id text, array text[], ids text[]
-- gives: found bigint
with may as (
    select w.id
    from tags t
    join workspaces w on w.organization_id = t.organization_id
    where t.id = :id and w.id = any(:array::text[])
),
added as (
    insert into tag_bindings (id, tag_id, workspace_id)
    select (:ids::text[])[row_number() over ()], :id, id
    from may
    on conflict (workspace_id, tag_id) do nothing
)
select count(*) as found
from may;
