-- SPDX-License-Identifier: MPL-2.0

-- shape: change_request
-- total bigint optional, id text, workspace_id text, organization_id text, subject text, message text,
-- created_by text null, created_at timestamptz, archived_by text null, archived_at timestamptz null,
-- updated_at timestamptz

-- fragment: change_request_columns(r)
:r.id, :r.workspace_id, w.organization_id, :r.subject, :r.message, :r.created_by, :r.created_at, :r.archived_by,
    :r.archived_at, :r.updated_at;

-- fragment: change_requests_of(condition)
-- One page of a workspace's requests that pass the condition, with the total in each row; one row without a request
-- if the page is empty.
select c.total, t.*
from (select count(*) as total from change_requests r where workspace_id = :workspace_id :condition) c
left join (
    select :change_request_columns(r)
    from change_requests r
    join workspaces w on w.id = r.workspace_id
    where r.workspace_id = :workspace_id :condition
    order by r.archived_at desc nulls first, r.created_at desc, r.id
    limit :limit
    offset :offset
) t on true
order by t.archived_at desc nulls first, t.created_at desc, t.id;

-- statement: change_requests_list
-- All requests, the open ones first.
-- index: change_requests_workspace, workspaces_pkey
-- takes: workspace_id text, limit bigint, offset bigint
-- gives: change_request
:change_requests_of({});

-- statement: change_requests_open
-- Those that are open.
-- index: change_requests_workspace, workspaces_pkey
-- takes: like change_requests_list
-- gives: change_request
:change_requests_of({and r.archived_at is null});

-- statement: change_requests_archived
-- Those that are archived.
-- index: change_requests_workspace, workspaces_pkey
-- takes: like change_requests_list
-- gives: change_request
:change_requests_of({and r.archived_at is not null});

-- statement: change_request_read
-- One request.
-- index: change_requests_pkey, workspaces_pkey
-- takes: id text
-- gives: change_request
select :change_request_columns(r)
from change_requests r
join workspaces w on w.id = r.workspace_id
where r.id = :id;

-- statement: change_requests_lock
-- Locks the workspaces of the organization, so that no other transaction counts their requests, and returns the number
-- of their open ones.
-- index: change_requests_workspace, workspaces_pkey
-- takes: organization_id text, workspace_ids text[]
-- gives: id text, name text, open bigint
with own as materialized (
    select w.id
    from unnest(:workspace_ids::text[]) i(id)
    cross join lateral (
        select id, organization_id from workspaces where id = i.id and module_id is null offset 0
    ) w
    where w.organization_id = :organization_id
),
locked as materialized (
    select id, name
    from workspaces
    where id = any(array(select id from own))
    order by id
    for no key update
)
select l.id, l.name,
    (select count(*) from change_requests r where r.workspace_id = l.id and r.archived_at is null) as open
from locked l
order by l.id;

-- statement: change_requests_create
-- Adds a request to each of the workspaces. `seed` makes their ids.
-- takes: workspace_ids text[], seed text, subject text, message text, created_by text null
-- gives: id text, workspace_id text
insert into change_requests (id, workspace_id, subject, message, created_by)
select 'wscr-' || substr(md5(:seed || w.id), 1, 16), w.id, :subject, :message, :created_by
from (select distinct unnest(:workspace_ids::text[]) as id) w
returning id, workspace_id;

-- statement: change_request_archive
-- Archives it. No row is changed if it is archived already.
-- index: change_requests_pkey
-- takes: id text, archived_by text null
update change_requests
set archived_at = now(), archived_by = :archived_by, updated_at = now()
where id = :id and archived_at is null;

-- statement: change_requests_prune
-- Deletes all but the newest archived requests of the workspace that has the request.
-- index: change_requests_pkey, change_requests_workspace
-- takes: id text, kept bigint
delete from change_requests
where id = any(array(
        select r.id
        from change_requests r
        where r.workspace_id = (select workspace_id from change_requests where id = :id)
            and r.archived_at is not null
        order by r.archived_at desc nulls first, r.created_at desc, r.id
        offset :kept
    ));
