-- SPDX-License-Identifier: MPL-2.0

-- statement: notification_configuration_read
-- takes: id text
-- gives: id text, organization_id text, workspace_id text null, project_id text null, team_id text null,
-- name text, enabled boolean, destination_type text, url_sealed bytea null, token_sealed bytea null,
-- triggers text, email_addresses text, created_at timestamptz, updated_at timestamptz, triggers_json jsonb,
-- emails_json jsonb, users jsonb, responses jsonb
select c.*, to_jsonb(c.triggers) as triggers_json, to_jsonb(c.email_addresses) as emails_json,
    (
        select coalesce(jsonb_agg(u.user_id order by u.user_id), '[]')
        from notification_users u
        where u.configuration_id = c.id
    ) as users,
    (
        select coalesce(jsonb_agg(jsonb_build_object(
                    :response_url_members(), 'body', r.body, 'code', r.code, 'headers', r.headers,
                        'sent-at', to_char(r.sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                        'successful', r.successful::text) order by r.id desc), '[]')
        from notification_responses r
        where r.configuration_id = c.id
    ) as responses
from notification_configurations c
where c.id = :id;

-- statement: users_save
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

-- statement: notification_configurations_update
-- takes: configuration_id text, name text, enabled boolean, url_sealed bytea, p5 boolean, p6 bytea, p7 jsonb,
-- p8 jsonb, updated_at timestamptz
with gone as (
    delete from notifications where configuration_id = :configuration_id and not :enabled
)
update notification_configurations
set name = :name, enabled = :enabled, url_sealed = :url_sealed::bytea, token_sealed = case
    when :p5 then :p6::bytea else token_sealed end,
    triggers = array(select jsonb_array_elements_text(:p7::jsonb)),
    email_addresses = array(select jsonb_array_elements_text(:p8::jsonb)), updated_at = now()
where id = :configuration_id and updated_at = :updated_at::timestamptz;

-- statement: notification_configuration_delete
-- takes: id text
delete from notification_configurations where id = :id;

-- statement: notification_response_add
-- takes: configuration_id text, url_sealed bytea, code text, body text, headers jsonb, successful boolean
insert into notification_responses (configuration_id, url_sealed, code, body, headers, successful)
values (:configuration_id, :url_sealed, :code, :body, :headers::jsonb, :successful);

-- statement: notification_responses_trim
-- takes: configuration_ids text[], responses_kept bigint
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
            offset :responses_kept
            limit 1
        )
    for update skip locked
);
