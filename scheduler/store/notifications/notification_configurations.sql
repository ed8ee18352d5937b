-- SPDX-License-Identifier: MPL-2.0

-- shape: notification_configuration
-- total bigint optional, id text, organization_id text, workspace_id text null, project_id text null,
-- team_id text null, name text, enabled boolean, destination_type text, url_sealed bytea null,
-- token_sealed bytea null, triggers text, email_addresses text, created_at timestamptz, updated_at timestamptz,
-- triggers_json jsonb, emails_json jsonb, users jsonb, responses jsonb

-- fragment: notification_configurations()
-- The columns of the shape notification_configuration. `responses`: the latest first, with sealed URLs
-- (notification_responses_open).
c.*, to_jsonb(c.triggers) as triggers_json, to_jsonb(c.email_addresses) as emails_json,
    (
        select coalesce(jsonb_agg(u.user_id order by u.user_id), '[]')
        from notification_users u
        where u.configuration_id = c.id
    ) as users,
    (
        select coalesce(jsonb_agg(
            jsonb_build_object(
                'url', '', 'url-sealed', translate(encode(r.url_sealed, 'base64'), E'\n', ''),
                'body', r.body, 'code', r.code, 'headers', r.headers,
                'sent-at', to_char(r.sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                'successful', r.successful::text
            ) order by r.id desc
        ), '[]')
        from notification_responses r
        where r.configuration_id = c.id
    ) as responses
from notification_configurations c;

-- statement: notification_configuration_read
-- One configuration.
-- index: notification_responses_configuration
-- takes: id text
-- gives: notification_configuration
select :notification_configurations() where c.id = :id;

-- fragment: subscribable_configurations(column)
-- One page, the oldest first, with the total in each row; one row without a configuration if the page is empty.
select t.total, c.*
from (select count(*) as total from notification_configurations where :column = :subscribable_id) t
left join (
    select :notification_configurations()
    where c.:column = :subscribable_id
    order by c.created_at, c.id
    limit :limit
    offset :offset
) c on true
order by c.created_at, c.id;

-- statement: workspace_configurations
-- The configurations of a workspace.
-- index: notification_configurations_workspace, notification_responses_configuration
-- takes: subscribable_id text, limit bigint, offset bigint
-- gives: notification_configuration
:subscribable_configurations(workspace_id);

-- statement: project_configurations
-- The configurations of a project.
-- index: notification_configurations_project, notification_responses_configuration
-- takes: like workspace_configurations
-- gives: notification_configuration
:subscribable_configurations(project_id);

-- statement: team_configurations
-- The configurations of a team.
-- index: notification_configurations_team, notification_responses_configuration
-- takes: like workspace_configurations
-- gives: notification_configuration
:subscribable_configurations(team_id);

-- shape: subscribable
-- id text, organization_id text optional

-- statement: workspace_subscribable
-- The workspace and its organization.
-- index: workspaces_pkey
-- takes: id text
-- gives: subscribable
select id, organization_id from workspaces where id = :id and module_id is null;

-- statement: project_subscribable
-- The project and its organization.
-- index: projects_pkey
-- takes: like workspace_subscribable
-- gives: subscribable
select id, organization_id from projects where id = :id;

-- statement: team_subscribable
-- The team and its organization.
-- index: teams_id_organization_id_key
-- takes: like workspace_subscribable
-- gives: subscribable
select id, organization_id from teams where id = :id;

-- statement: workspace_subscribable_lock
-- Locks the owner, so that no other transaction adds a configuration to it.
-- index: workspaces_pkey
-- takes: like workspace_subscribable
-- gives: subscribable
select id from workspaces where id = :id for no key update;

-- statement: project_subscribable_lock
-- The same for a project.
-- index: projects_pkey
-- takes: like workspace_subscribable
-- gives: subscribable
select id from projects where id = :id for no key update;

-- statement: team_subscribable_lock
-- The same for a team.
-- index: teams_id_organization_id_key
-- takes: like workspace_subscribable
-- gives: subscribable
select id from teams where id = :id for no key update;

-- fragment: configuration_create(table, column)
-- Adds no row if the owner has the maximum number of configurations.
insert into notification_configurations
    (id, organization_id, :column, name, enabled, destination_type, url_sealed, token_sealed, triggers,
        email_addresses)
select :id, organization_id, id, :name, :enabled, :destination_type, :url_sealed, :token_sealed,
    array(select jsonb_array_elements_text(:triggers::jsonb)),
    array(select jsonb_array_elements_text(:emails::jsonb))
from :table
where id = :subscribable_id
    and (select count(*) from notification_configurations where :column = :subscribable_id) < :max;

-- statement: workspace_configuration_create
-- Adds a configuration to a workspace.
-- index: notification_configurations_workspace
-- takes: subscribable_id text, id text, name text, enabled boolean, destination_type text, url_sealed bytea,
-- token_sealed bytea, triggers jsonb, emails jsonb, max bigint
:configuration_create(workspaces, workspace_id);

-- statement: project_configuration_create
-- Adds a configuration to a project.
-- index: notification_configurations_project
-- takes: like workspace_configuration_create
:configuration_create(projects, project_id);

-- statement: team_configuration_create
-- Adds a configuration to a team.
-- index: notification_configurations_team, teams_id_organization_id_key
-- takes: like workspace_configuration_create
:configuration_create(teams, team_id);

-- statement: notification_configuration_update
-- Changes the configuration if nobody else has since `updated_at`, and deletes its notifications if it is disabled.
-- Keeps its token unless `sets_token`.
-- index: notifications_configuration
-- takes: id text, name text, enabled boolean, url_sealed bytea, sets_token boolean, token_sealed bytea,
-- triggers jsonb, emails jsonb, updated_at timestamptz
with gone as (delete from notifications where configuration_id = :id and not :enabled)
update notification_configurations
set name = :name, enabled = :enabled, url_sealed = :url_sealed::bytea,
    token_sealed = case when :sets_token then :token_sealed::bytea else token_sealed end,
    triggers = array(select jsonb_array_elements_text(:triggers::jsonb)),
    email_addresses = array(select jsonb_array_elements_text(:emails::jsonb)), updated_at = now()
where id = :id and updated_at = :updated_at::timestamptz;

-- statement: notification_users_save
-- Replaces the configuration's users by those of the array of ids who are members of its organization, and returns the
-- number of the others.
-- index: notification_configurations_pkey, notification_users_pkey, organization_memberships_pkey
-- takes: id text, users jsonb
-- gives: strangers bigint
with wanted as (select jsonb_array_elements_text(:users::jsonb) as id),
may as (
    select w.id
    from wanted w
    join notification_configurations c on c.id = :id
    join organization_memberships m on m.organization_id = c.organization_id and m.user_id = w.id
),
gone as (
    delete from notification_users where configuration_id = :id and user_id not in (select id from wanted)
),
made as (insert into notification_users select :id, id from may on conflict do nothing)
select (select count(*) from wanted) - (select count(*) from may) as strangers;

-- statement: notification_configuration_delete
-- Deletes the configuration with its responses and notifications.
-- index: notification_configurations_pkey
-- takes: id text
delete from notification_configurations where id = :id;

-- statement: notification_response_add
-- Logs a response of a configuration's server.
-- takes: configuration_id text, url_sealed bytea, code text, body text, headers jsonb, successful boolean
insert into notification_responses (configuration_id, url_sealed, code, body, headers, successful)
values (:configuration_id, :url_sealed, :code, :body, :headers::jsonb, :successful);

-- statement: notification_responses_trim
-- Deletes all but the latest `kept` responses of each configuration.
-- index: notification_responses_configuration
-- takes: configuration_ids text[], kept bigint
delete from notification_responses
where id in (
    select r.id
    from notification_responses r
    where r.configuration_id = any(:configuration_ids::text[])
        and r.id <= (
            select x.id
            from notification_responses x
            where x.configuration_id = r.configuration_id
            order by x.id desc
            offset :kept
            limit 1
        )
    for update skip locked
);
