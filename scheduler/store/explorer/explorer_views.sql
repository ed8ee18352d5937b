-- SPDX-License-Identifier: MPL-2.0

-- shape: explorer_view
-- total bigint optional, id text, organization_id text, name text, query_type text, query jsonb,
-- created_by text null, creator text null, created_at timestamptz, updated_at timestamptz

-- fragment: explorer_view_select()
select v.id, v.organization_id, v.name, v.query_type, v.query, v.created_by, u.username as creator, v.created_at,
    v.updated_at
from explorer_views v
left join users u on u.id = v.created_by;

-- statement: explorer_views_list
-- One page of the organization's views by name; one row with a null id if the page is empty.
-- index: explorer_views_name
-- takes: organization_id text, limit bigint, offset bigint
-- gives: explorer_view
select n.total, f.*
from (select count(*) as total from explorer_views where organization_id = :organization_id) n
left join (
    :explorer_view_select()
    where v.organization_id = :organization_id
    order by lower(v.name)
    limit :limit
    offset :offset
) f on true
order by lower(f.name);

-- statement: explorer_view_read
-- The view of that id in the organization.
-- takes: organization_id text, id text
-- gives: explorer_view
:explorer_view_select() where v.id = :id and v.organization_id = :organization_id;

-- statement: explorer_view_create
-- Saves a query. No row: the organization has :max of them.
-- index: explorer_views_name
-- takes: id text, organization_id text, name text, query_type text, query jsonb, created_by text null, max bigint
-- gives: id text
insert into explorer_views (id, organization_id, name, query_type, query, created_by)
select :id, :organization_id, :name, :query_type, :query, :created_by
where (select count(*) from explorer_views where organization_id = :organization_id) < :max
returning id;

-- statement: explorer_view_update
-- Changes the name and the query.
-- index: explorer_views_pkey
-- takes: id text, name text, query_type text, query jsonb
update explorer_views
set name = :name, query_type = :query_type, query = :query, updated_at = now()
where id = :id;

-- statement: explorer_view_delete
-- Deletes a view.
-- index: explorer_views_pkey
-- takes: id text
delete from explorer_views where id = :id;
