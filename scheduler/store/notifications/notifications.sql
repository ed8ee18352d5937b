-- SPDX-License-Identifier: MPL-2.0

-- fragment: workspace_is_watched(workspace)
-- For a statement that reads workspaces under that alias: whether a configuration subscribes to the workspace.
exists (
    select 1
    from notification_configurations nc
    where nc.enabled and (nc.workspace_id = :workspace.id or nc.project_id = :workspace.project_id)
);

-- statement: notifications_put_up
-- Creates the notifications of an array of events, and returns them. The end of a run that destroys its workspace
-- automatically is also an event of `destroyed`.
-- index: notification_configurations_project, notification_configurations_workspace
-- takes: events jsonb, give_up_seconds double precision, completed text, errored text, destroyed text
-- gives: id text, run_id text null
insert into notifications
    (id, configuration_id, run_id, trigger, run_status, happened_at, actor_id, give_up_at)
select 'ntf-' || substr(md5(u.id || c.id || t.trigger), 1, 16), c.id, u.run_id, t.trigger, u.status, u.at,
    u.actor, now() + make_interval(secs => :give_up_seconds)
from jsonb_to_recordset(:events::jsonb) as u(
    id text, run_id text, workspace_id text, trigger text, status text, at timestamptz, actor text)
join workspaces w on w.id = u.workspace_id
join notification_configurations c on c.workspace_id = w.id or c.project_id = w.project_id
cross join lateral (
    values (u.trigger), (
        case
            when u.trigger in (:completed, :errored)
                and exists (
                    select 1 from run_inputs i where i.run_id = u.run_id and i.trigger_reason = 'auto_destroy'
                ) then :destroyed
        end
    )
) t(trigger)
where c.enabled and t.trigger = any(c.triggers)
returning id, run_id;

-- statement: notification_of_workspace_put_up
-- Creates a notification about the workspace for each configuration that subscribes to it. `id` makes their ids.
-- index: notification_configurations_project, notification_configurations_workspace
-- takes: workspace_id text, trigger text, due_at timestamptz, note text, assessment_id text, id text,
-- give_up_seconds double precision
insert into notifications
    (id, configuration_id, workspace_id, trigger, happened_at, due_at, note, assessment_id, give_up_at)
select 'ntf-' || substr(md5(:id || c.id), 1, 16), c.id, w.id, :trigger, now(), :due_at::timestamptz, :note,
    :assessment_id, now() + make_interval(secs => :give_up_seconds)
from workspaces w
join notification_configurations c on c.workspace_id = w.id or c.project_id = w.project_id
where w.id = :workspace_id and c.enabled and :trigger = any(c.triggers);

-- fragment: change_request_readers(access, place)
-- The configurations of teams whose access to the place includes reading its change requests.
select c.id, c.enabled, c.triggers
from :access t
join notification_configurations c on c.team_id = t.team_id
where :place and t.rights & 2 <> 0;

-- statement: notifications_of_change_requests_put_up
-- Creates the notifications of new change requests: for configurations of the workspace and its project, and of teams
-- that were given access to one of these.
-- index: change_requests_pkey, notification_configurations_project, notification_configurations_team,
-- notification_configurations_workspace, team_projects_project, team_workspaces_workspace
-- takes: ids text[], created text, of_team text, give_up_seconds double precision
insert into notifications
    (id, configuration_id, workspace_id, trigger, happened_at, actor_id, change_request_id, give_up_at)
select 'ntf-' || substr(md5(r.id || c.id), 1, 16), c.id, w.id,
    case when :created = any(c.triggers) then :created else :of_team end, r.created_at, r.created_by, r.id,
    now() + make_interval(secs => :give_up_seconds)
from change_requests r
join workspaces w on w.id = r.workspace_id
cross join lateral (
    select c.id, c.enabled, c.triggers from notification_configurations c where c.workspace_id = w.id
    union
    select c.id, c.enabled, c.triggers from notification_configurations c where c.project_id = w.project_id
    union
    :change_request_readers(team_workspaces, {t.workspace_id = w.id})
    union
    :change_request_readers(team_projects, {t.project_id = w.project_id})
) c
where r.id = any(:ids::text[]) and c.enabled and c.triggers && array[:created, :of_team];

-- statement: notification_verification_put_up
-- Creates the verification of a configuration.
-- index: notification_configurations_pkey
-- takes: configuration_id text, id text, trigger text, give_up_seconds double precision
insert into notifications (id, configuration_id, trigger, happened_at, give_up_at)
select :id, id, :trigger, now(), now() + make_interval(secs => :give_up_seconds)
from notification_configurations
where id = :configuration_id;

-- fragment: assessment_told(a)
-- The result `a` of an assessment as receivers get it.
jsonb_build_object('id', :a.id, 'succeeded', :a.succeeded, 'drifted', :a.drifted,
    'all_checks_succeeded', :a.checks_failed + :a.checks_errored = 0,
    'resources_drifted', :a.resources_drifted, 'resources_undrifted', :a.resources_undrifted,
    'checks_passed', :a.checks_passed, 'checks_failed', :a.checks_failed, 'checks_errored', :a.checks_errored,
    'checks_unknown', :a.checks_unknown, 'created_at', :sql_time({:a.created_at}));

-- statement: notifications_claim
-- Claims up to `max` notifications: the oldest of notifications_waiting, or of the ids in `asked` if there are any.
-- Returns all that their messages say. Every join is by a primary key, and the picked ids are an array
-- (db/db.h, "plans").
-- index: assessment_results_workspace, notifications_waiting, organization_memberships_id, users_pkey
-- takes: asked jsonb, max bigint, notifier text, lease_seconds double precision, keys bytea[]
-- gives: id text, attempt integer, run_id text null, trigger text, run_status text null, happened_at text,
-- give_up_in_ms bigint, updated_by text null, configuration_id text null, name text null,
-- destination_type text null, url_sealed bytea null, token_sealed bytea null, recipients jsonb,
-- run_created_at text null, due_at text null, note text null, message text null, created_by text null,
-- membership_id text null, invited_by text null, invited text null, expires_at text null,
-- recipient text null, recipient_name text null, reset_id text null, subject text null,
-- workspace_id text null, workspace text null, organization text null, assessment jsonb null, prior jsonb null,
-- change_request_id text null, change_request_subject text null, change_request_message text null
with picked as (
    select id
    from notifications k
    where delivery = 'waiting'
        and (jsonb_array_length(:asked::jsonb) = 0 or id in (select jsonb_array_elements_text(:asked::jsonb)))
        and not exists (
            select 1
            from notification_configurations f
            where f.id = k.configuration_id
                and (:key_is_missing(f.url_sealed, :keys) or :key_is_missing(f.token_sealed, :keys))
        )
    order by created_at, id
    limit :max
    for update skip locked
)
update notifications n
set delivery = 'claimed', attempt = n.attempt + 1, notifier = :notifier,
    lease_until = now() + make_interval(secs => :lease_seconds), updated_at = now()
from notifications q
left join notification_configurations c on c.id = q.configuration_id
left join organization_memberships m on m.id = q.membership_id
left join organizations io on io.id = m.organization_id
left join users a on a.id = q.actor_id
left join users ru on ru.id = q.recipient_id
left join users su on su.id = q.subject_id
left join assessment_results ar on ar.id = q.assessment_id
left join change_requests cr on cr.id = q.change_request_id
left join runs r on r.id = q.run_id
left join run_inputs i on i.run_id = q.run_id
left join users b on b.id = i.created_by
left join workspaces w on w.id = coalesce(r.workspace_id, q.workspace_id)
left join organizations o on o.id = w.organization_id
where n.id = q.id and q.id = any(array(select id from picked)) and n.id = any(array(select id from picked))
returning n.id, n.attempt, n.run_id, n.trigger, n.run_status, :sql_time(n.happened_at) as happened_at,
    greatest(extract(epoch from n.give_up_at - now()) * 1000, 0)::bigint as give_up_in_ms,
    a.username as updated_by,
    c.id as configuration_id, c.name, c.destination_type, c.url_sealed, c.token_sealed,
    (
        select coalesce(jsonb_agg(distinct t.email), '[]')
        from (
            select unnest(c.email_addresses) as email
            union
            select x.email
            from notification_users nu
            join users x on x.id = nu.user_id
            join organization_memberships m on m.user_id = x.id and m.organization_id = c.organization_id
                and m.status = 'active'
            where nu.configuration_id = c.id and x.email is not null
        ) t
    ) as recipients,
    :sql_time(r.created_at) as run_created_at, :sql_time(n.due_at) as due_at, n.note,
    i.message, b.username as created_by,
    n.membership_id, io.name as invited_by, m.email as invited,
    to_char(m.created_at + interval '14 days', 'YYYY-MM-DD') as expires_at,
    ru.email as recipient, ru.username as recipient_name, n.reset_id, su.username as subject,
    w.id as workspace_id, w.name as workspace, o.name as organization,
    case when ar.id is not null then :assessment_told(ar) end as assessment,
    (
        select :assessment_told(p)
        from assessment_results p
        where p.workspace_id = ar.workspace_id and p.position < ar.position
        order by p.position desc
        limit 1
    ) as prior,
    cr.id as change_request_id, cr.subject as change_request_subject, cr.message as change_request_message;

-- shape: notification_ended
-- id text, run_id text null, trigger text, configuration_id text null, destination_type text null,
-- code text null, error text null, ended text null

-- statement: notifications_delivered
-- Returns the deliveries in their order, without those of earlier attempts. Logs each that has a configuration, and
-- deletes notifications that are delivered or given up (`ended`).
-- index: notification_configurations_pkey, notifications_pkey
-- takes: deliveries jsonb
-- gives: notification_ended
with said as (
    select n.id, n.run_id, n.trigger, n.configuration_id, c.destination_type, c.url_sealed,
        case s.status when 0 then '' else s.status::text end as code, s.status,
        coalesce(s.answer, s.error, '') as body, coalesce(s.headers, '{}') as headers, s.error, s.ended, s.ord
    from rows from (
        jsonb_to_recordset(:deliveries::jsonb) as (
            id text, attempt integer, status integer, answer text, error text, headers jsonb, "end" text)
    ) with ordinality as s(id, attempt, status, answer, error, headers, ended, ord)
    join notifications n on n.id = s.id and n.attempt = s.attempt
        and n.id = any(array(select d.id from jsonb_to_recordset(:deliveries::jsonb) as d(id text)))
    left join notification_configurations c on c.id = n.configuration_id
),
logged as (
    insert into notification_responses (configuration_id, url_sealed, code, body, headers, successful)
    select configuration_id, url_sealed, code, left(body, 1024), headers,
        ended is not distinct from 'acknowledged'
    from said
    where configuration_id is not null
    order by ord
),
gone as (
    delete from notifications where id = any(array(select id from said where ended is not null))
)
select id, run_id, trigger, configuration_id, destination_type, code, error, ended
from said
order by ord;

-- statement: notifications_give_up
-- Deletes notifications that no notifier sent in time, logs and returns them.
-- index: notification_configurations_pkey
-- reads: notifications
-- gives: notification_ended
with gone as (
    delete from notifications where :request_is_too_late() returning *
),
late as (
    select n.id, n.run_id, n.trigger, n.configuration_id, c.destination_type, c.url_sealed
    from gone n
    left join notification_configurations c on c.id = n.configuration_id
),
logged as (
    insert into notification_responses (configuration_id, url_sealed, code, body, successful)
    select configuration_id, url_sealed, '', 'It could not be sent in time: is a notifier running?', false
    from late
    where configuration_id is not null
)
select id, run_id, trigger, configuration_id, destination_type, null as code,
    'no notifier sent it in time' as error, 'gave-up' as ended
from late;
