-- SPDX-License-Identifier: MPL-2.0

-- shape: maintenance_window
-- total bigint optional, id text, organization_id text, project_id text null, workspace_id text null, name text,
-- days smallint, start_minute smallint, duration_minutes smallint, time_zone text, created_at timestamptz,
-- updated_at timestamptz

-- fragment: windows_of_owner()
-- The windows of one owner, which may be the organization.
from maintenance_windows m
where m.organization_id = :organization_id and m.project_id is not distinct from :project_id
    and m.workspace_id is not distinct from :workspace_id;

-- statement: maintenance_windows_list
-- One page, the oldest first, with the total in each row; one row without a window if the page is empty.
-- index: maintenance_windows_organization
-- takes: organization_id text, project_id text, workspace_id text, limit bigint, offset bigint
-- gives: maintenance_window
select c.total, t.*
from (select count(*) as total :windows_of_owner()) c
left join (
    select m.* :windows_of_owner() order by m.created_at, m.id limit :limit offset :offset
) t on true
order by t.created_at, t.id;

-- statement: maintenance_window_read
-- One window.
-- index: maintenance_windows_pkey
-- takes: id text
-- gives: maintenance_window
select * from maintenance_windows where id = :id;

-- statement: maintenance_window_lock
-- Locks the organization, so that no other request counts its windows.
-- index: organizations_pkey
-- takes: organization_id text
select 1 from organizations where id = :organization_id for no key update;

-- statement: maintenance_window_create
-- Adds no row if the owner has the maximum number of windows.
-- index: maintenance_windows_organization
-- takes: id text, organization_id text, project_id text, workspace_id text, name text, days integer,
-- start_minute bigint, duration_minutes bigint, time_zone text, max bigint
insert into maintenance_windows
    (id, organization_id, project_id, workspace_id, name, days, start_minute, duration_minutes, time_zone)
select :id, :organization_id, :project_id, :workspace_id, :name, :days::integer, :start_minute::bigint,
    :duration_minutes::bigint, :time_zone
where (select count(*) :windows_of_owner()) < :max::bigint;

-- statement: maintenance_window_update
-- Replaces the window.
-- index: maintenance_windows_pkey
-- takes: id text, name text, days integer, start_minute bigint, duration_minutes bigint, time_zone text
update maintenance_windows
set name = :name, days = :days::integer, start_minute = :start_minute::bigint,
    duration_minutes = :duration_minutes::bigint, time_zone = :time_zone, updated_at = now()
where id = :id;

-- statement: maintenance_window_delete
-- Deletes a window.
-- index: maintenance_windows_pkey
-- takes: id text
delete from maintenance_windows where id = :id;
