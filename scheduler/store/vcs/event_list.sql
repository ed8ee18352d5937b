-- SPDX-License-Identifier: MPL-2.0

-- fragment: vcs_event_list_columns()
e.id, e.sequence, e.organization_id, e.connection_id, e.repository_id, e.found_by, e.kind, e.ref,
    e.before_sha, e.sha, e.pull_request, e.detail, e.state, e.files, e.files_note, e.level, e.message,
    e.created_at, e.done_at, o.name as organization_name, r.identifier, r.web_url, :vcs_dialect_columns(),
    c.http_url, t.id as token_id;

-- fragment: vcs_event_list_tables()
from vcs_events e
join organizations o on o.id = e.organization_id
left join vcs_repositories r on r.id = e.repository_id
left join vcs_connections c on c.id = e.connection_id
left join vcs_tokens t on t.connection_id = c.id;

-- shape: vcs_event
-- total bigint optional, id text, sequence bigint, organization_id text, connection_id text null,
-- repository_id text null, found_by text, kind text, ref text, before_sha text, sha text,
-- pull_request bigint null, detail jsonb, state text, files jsonb null, files_note text null, level text,
-- message text, created_at timestamptz, done_at timestamptz null, organization_name text, identifier text null,
-- web_url text null, provider text, api_url text, http_url text, token_id text

-- statement: vcs_events_list
-- A page of the organization's events that match, the newest first. Conditions that are null do not count.
-- Lists are separated by commas.
-- index: vcs_events_organization, vcs_outcomes_subject, vcs_tokens_connection_id_key, workspaces_name
-- takes: organization_id text, from timestamptz, to timestamptz, levels text, connection_ids text,
-- workspace text, limit bigint, offset bigint
-- gives: vcs_event
with n as (
    select count(*) as total
    from vcs_events e
    where e.organization_id = :organization_id and (:from::timestamptz is null or e.created_at >= :from)
        and (:to::timestamptz is null or e.created_at <= :to)
        and (:levels::text is null or e.level = any(string_to_array(:levels, ',')))
        and
        (:connection_ids::text is null or e.connection_id = any(string_to_array(:connection_ids, ',')))
        and (:workspace::text is null
                or exists (
                    select 1
                    from vcs_outcomes u
                    join workspaces w on w.id = u.subject_id
                    where u.event_id = e.id and w.organization_id = :organization_id
                        and lower(w.name) = lower(:workspace)
                ))
),
p as (
    select e.id
    from vcs_events e
    where e.organization_id = :organization_id and (:from::timestamptz is null or e.created_at >= :from)
        and (:to::timestamptz is null or e.created_at <= :to)
        and (:levels::text is null or e.level = any(string_to_array(:levels, ',')))
        and
        (:connection_ids::text is null or e.connection_id = any(string_to_array(:connection_ids, ',')))
        and (:workspace::text is null
                or exists (
                    select 1
                    from vcs_outcomes u
                    join workspaces w on w.id = u.subject_id
                    where u.event_id = e.id and w.organization_id = :organization_id
                        and lower(w.name) = lower(:workspace)
                ))
    order by e.sequence desc
    limit :limit
    offset :offset
)
select n.total, s.*
from n
left join (select :vcs_event_list_columns() :vcs_event_list_tables() where e.id in (select id from p)) s on true
order by s.sequence desc;

-- statement: vcs_event_read
-- An event by its id.
-- index: vcs_tokens_connection_id_key
-- takes: id text
-- gives: vcs_event
select :vcs_event_list_columns() :vcs_event_list_tables() where e.id = :id;

-- statement: vcs_outcomes_read
-- The outcomes of an event in the workspaces that the user may see, in policy sets, and as test runs of modules, by
-- name.
-- index: team_members_user, team_projects_project, team_workspaces_workspace, teams_organization
-- takes: event_id text, user text
-- gives: subject_id text, name text, reason text, run_id text null, configuration_version_id text null
select u.subject_id, w.name, u.reason, u.run_id, u.configuration_version_id
from vcs_outcomes u
join workspaces w on w.id = u.subject_id
where u.event_id = :event_id and w.module_id is null
    and (:rights_in_workspace(:user, w.organization_id, w.id)) & 1 <> 0
union all
select m.id, m.name || '/' || m.provider, u.reason, 'trun' || substr(u.run_id, 4), u.configuration_version_id
from vcs_outcomes u
join workspaces w on w.id = u.subject_id
join registry_modules m on m.id = w.module_id
where u.event_id = :event_id
union all
select u.subject_id, s.name, u.reason, u.run_id, u.configuration_version_id
from vcs_outcomes u
join policy_sets s on s.id = u.subject_id
where u.event_id = :event_id
order by name;
