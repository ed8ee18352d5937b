-- SPDX-License-Identifier: MPL-2.0

-- fragment: organizations_columns(user)
-- Columns of an organization with organizations_tables. `rights` are those of the requester.
:rights_in_organization(:user, o.id) as rights, o.id, o.name, o.email, o.settings, o.default_pool_id,
    o.created_at,
    (select p.id from projects p where p.organization_id = o.id and p.is_default) as default_project_id,
    r.id as retention_id, r.delete_older_than_n_days is null as retains_all;

-- fragment: organizations_tables()
-- Organizations with their data retention policies.
from organizations o left join data_retention_policies r on r.organization_id = o.id;

-- shape: organization
-- total bigint optional, rights bigint, id text, name text, email text, settings jsonb,
-- default_pool_id text null, created_at timestamptz, default_project_id text, retention_id text null,
-- retains_all boolean

-- statement: organization_insert
-- Creates an organization.
-- takes: id text, name text, email text, settings jsonb, pool_id text
insert into organizations (id, name, email, settings, default_pool_id)
values (:id, :name, :email, :settings::jsonb, :pool_id);

-- statement: default_project_insert
-- Creates the default project of a new organization.
-- takes: new_id text, organization_id text
insert into projects (id, organization_id, name, is_default)
values (:new_id, :organization_id, 'Default Project', true);

-- statement: organization_read
-- The organization of that name, in any case.
-- index: data_retention_policies_organization_id_key, organizations_name, projects_default, team_members_user,
-- teams_organization
-- takes: name text, user text
-- gives: organization
select :organizations_columns(:user) :organizations_tables() where lower(o.name) = lower(:name);

-- statement: organization_lookup
-- Its id and its name as spelled at its creation.
-- index: organizations_name
-- takes: name text
-- gives: id text, name text
select id, name from organizations where lower(name) = lower(:name);

-- statement: organizations_read_all
-- The organizations of these names, by name.
-- index: data_retention_policies_organization_id_key, organizations_name, projects_default, team_members_user,
-- teams_organization
-- takes: names text[], user text
-- gives: organization
select :organizations_columns(:user) :organizations_tables()
where lower(o.name) in (select lower(x) from unnest(:names::text[]) x)
order by lower(o.name);

-- statement: organizations_list
-- One page of organizations by name: those of the user, or all. The user of an audit token sees none.
-- index: data_retention_policies_organization_id_key, organization_memberships_user, projects_default,
-- team_members_user, teams_organization, teams_user_id_key
-- reads: organizations
-- takes: user_id text, search text, name text, email text, limit bigint, offset bigint, user text
-- gives: organization
with found as (
    select o.id, lower(o.name) as name
    from organizations o
    where (:user_id::text is null
            or exists (
                select 1
                from organization_memberships m
                where m.organization_id = o.id and m.user_id = :user_id and m.status = 'active'
                    and not o.is_disabled
            ) and not exists (select 1 from teams t where t.user_id = :user_id and t.kind = 'audit'))
        and (:search::text is null or strpos(lower(o.name), lower(:search)) > 0
                or strpos(lower(o.email), lower(:search)) > 0)
        and (:name::text is null or strpos(lower(o.name), lower(:name)) > 0)
        and (:email::text is null or strpos(lower(o.email), lower(:email)) > 0)
)
select t.total, f.*
from (select count(*) as total from found) t
left join (
    select :organizations_columns(:user) :organizations_tables()
    where o.id in (select id from found order by name limit :limit offset :offset)
) f on true
order by lower(f.name);

-- statement: organizations_count_owned
-- The number of organizations that the person owns.
-- index: team_members_user, teams_name
-- takes: user_id text
-- gives: owned bigint
select count(*) as owned
from team_members m
join teams t on t.id = m.team_id
where m.user_id = :user_id and t.kind = 'owners';

-- statement: organization_update
-- Changes what is not null, and the settings that are given.
-- index: organizations_pkey
-- takes: id text, name text, email text, settings jsonb, pool_set boolean, pool_id text
update organizations
set name = coalesce(:name, name), email = coalesce(:email, email),
    settings = settings || :settings::jsonb,
    default_pool_id = case when :pool_set then :pool_id else default_pool_id end
where id = :id;

-- statement: organization_workspaces_lock
-- Locks the organization's workspaces in the order of their ids.
-- index: workspaces_name
-- takes: id text
-- gives: name text, held boolean
select name, hold_job_id is not null as held from workspaces where organization_id = :id order by id for update;

-- statement: organization_jobs_lock
-- Locks the jobs of its current runs. A claim locks its job, so no apply starts between this check and the
-- deletion.
-- index: jobs_run_id_key, runs_live
-- takes: id text
-- gives: applying boolean
select state = 'claimed' and stage = 'apply' as applying
from jobs
where run_id in (select id from runs where organization_id = :id and not ended)
order by id
for update;

-- statement: organization_runs_delete
-- Deletes all its runs, which refer to configuration versions and pools.
-- index: runs_organization
-- takes: id text
delete from runs where organization_id = :id;

-- statement: organization_delete
-- Deletes the organization with everything in it.
-- index: organizations_pkey
-- takes: id text
delete from organizations where id = :id;

-- statement: organization_capacity
-- Numbers of its jobs that wait and that are claimed.
-- index: jobs_run_id_key, runs_live
-- takes: id text
-- gives: pending bigint, running bigint
select count(*) filter (where state = 'waiting') as pending,
    count(*) filter (where state = 'claimed') as running
from runs r
join jobs j on j.run_id = r.id
where r.organization_id = :id and not r.ended;
