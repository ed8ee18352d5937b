-- SPDX-License-Identifier: MPL-2.0

-- fragment: site_organizations_columns()
-- Columns of an organization `o` for site admins.
o.id, o.name, o.email, o.created_at, o.is_disabled, o.admin_settings,
    coalesce((select runs from run_quotas q where q.organization_id = o.id), 0) as run_limit,
    coalesce((select workspaces from organization_totals c where c.organization_id = o.id), 0) as workspaces,
    (
        select count(*)
        from runs r
        where r.organization_id = o.id and not r.ended and :run_is_shown(r)
    ) as current_runs,
    (
        select coalesce(jsonb_agg(u.id order by u.created_at, u.id), '[]')
        from teams t
        join team_members m on m.team_id = t.id
        join users u on u.id = m.user_id
        where t.organization_id = o.id and t.kind = 'owners' and not u.is_service_account
    ) as owners;

-- shape: site_organization
-- total bigint optional, id text, name text, email text, created_at timestamptz, is_disabled boolean,
-- admin_settings jsonb, run_limit integer, workspaces bigint, current_runs bigint, owners jsonb

-- statement: site_organizations_list
-- One page of all organizations by name, or of those that may use the modules of one.
-- index: run_quotas_organization_id_key, runs_live, teams_name
-- reads: organizations
-- takes: search text, module_consumers_of text, limit bigint, offset bigint
-- gives: site_organization
with found as (
    select id, lower(name) as name
    from organizations
    where (:search::text is null or strpos(lower(name), lower(:search)) > 0
            or strpos(lower(email), lower(:search)) > 0)
        and (:module_consumers_of::text is null
                or id in (
                    select consumer_id from module_consumers where organization_id = :module_consumers_of
                ))
)
select c.total, f.*
from (select count(*) as total from found) c
left join (
    select :site_organizations_columns()
    from organizations o
    where o.id in (select id from found order by name limit :limit offset :offset)
) f on true
order by lower(f.name);

-- statement: site_organization_read
-- The organization of that name, in any case.
-- index: organizations_name, run_quotas_organization_id_key, runs_live, teams_name
-- takes: name text
-- gives: site_organization
select :site_organizations_columns() from organizations o where lower(o.name) = lower(:name);

-- statement: site_organization_update
-- Changes the settings that are given; `is-disabled` is one of them.
-- index: organizations_pkey
-- takes: id text, settings jsonb
update organizations
set is_disabled = coalesce((:settings::jsonb ->> 'is-disabled')::boolean, is_disabled),
    admin_settings = admin_settings || (:settings::jsonb - 'is-disabled')
where id = :id;

-- statement: module_consumers_clear
-- Deletes the list of organizations that may use the organization's modules.
-- index: module_consumers_pkey
-- takes: id text
delete from module_consumers where organization_id = :id;

-- statement: module_consumers_add
-- Adds the organizations to that list, and returns a name that does not exist, if any.
-- index: organizations_name
-- takes: id text, names text[]
-- gives: name text
with named as (
    select x as name, o.id
    from unnest(:names::text[]) x
    left join organizations o on lower(o.name) = lower(x)
),
added as (
    insert into module_consumers (organization_id, consumer_id)
    select :id, id
    from named
    where id is not null
    on conflict do nothing
)
select name
from named
where id is null
order by name
limit 1;
