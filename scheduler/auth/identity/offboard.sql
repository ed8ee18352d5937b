-- SPDX-License-Identifier: MPL-2.0

-- statement: offboard_suspend
-- Suspends a person. Returns whether they were suspended before; no row if there is no such person.
-- index: users_pkey
-- takes: id text
-- gives: username text null, was_suspended boolean
with old as (
    select id, username, is_suspended from users where id = :id and not is_service_account for update
)
update users u
set is_suspended = true
from old
where u.id = old.id
returning old.username, old.is_suspended as was_suspended;

-- statement: offboard_sessions
-- Ends the person's sessions, those in which they act as others, and sign-ins and logins that are not complete.
-- index: sessions_impersonator, sessions_user, sign_in_attempts_user
-- reads: oauth_codes
-- takes: id text
-- gives: ended bigint
with s as (delete from sessions where user_id = :id or impersonator_id = :id returning 1),
c as (delete from oauth_codes where user_id = :id),
a as (delete from sign_in_attempts where user_id = :id)
select count(*) as ended
from s;

-- statement: offboard_tokens
-- Revokes the person's tokens, and the agent tokens that they made.
-- index: agent_pools_pkey, tokens_created_by, tokens_user
-- takes: id text
-- gives: id text, pool_id text null, organization_id text null
with gone as (
    delete from tokens
    where user_id = :id or (created_by = :id and pool_id is not null)
    returning id, pool_id
)
select g.id, g.pool_id, p.organization_id
from gone g
left join agent_pools p on p.id = g.pool_id
order by g.id;

-- statement: offboard_run_tokens
-- Revokes the tokens of the programs that run now for the person's runs.
-- index: run_inputs_pkey
-- takes: id text
-- gives: ended bigint
with gone as (
    update jobs j
    set run_token_hash = null
    from run_inputs i
    where j.run_token_hash is not null and i.run_id = j.run_id and i.created_by = :id
    returning 1
)
select count(*) as ended
from gone;

-- statement: offboard_runs
-- Makes the person's runs that are not confirmed yet wait for a confirmation.
-- index: run_inputs_pkey, runs_live, runs_pkey
-- takes: id text
-- gives: run_id text, organization_id text, workspace_id text
with live as materialized (select id from runs where not ended and auto_apply),
own as materialized (
    select l.id from live l join run_inputs i on i.run_id = l.id where i.created_by = :id
),
r as (
    update runs
    set auto_apply = false
    where id = any(array(select id from own))
        and not ended and auto_apply and not plan_only and not status_timestamps ? 'confirmed-at'
    returning id, organization_id, workspace_id
),
i as (update run_inputs i set creator_suspended = true from r where i.run_id = r.id)
select id as run_id, organization_id, workspace_id
from r
order by id;

-- fragment: last_owned(user)
-- Organizations in which the user is an owner, and nobody else who is not suspended.
select t.organization_id
from teams t
join team_members m on m.team_id = t.id
where m.user_id = :user and t.kind = 'owners'
    and not exists (
        select 1
        from team_members o
        join users x on x.id = o.user_id and x.username is not null and not x.is_suspended
        where o.team_id = t.id and o.user_id <> :user and o.user_id <> t.user_id
    );

-- statement: offboard_owned
-- The organizations whose last owner the person is.
-- index: team_members_pkey, team_members_user
-- takes: id text
-- gives: organization_id text
:last_owned(:id) order by t.organization_id;

-- statement: offboard_leave
-- Takes from the account of a suspended person what could lead to it again: its identities, name, address, password
-- and memberships. The row stays for the runs, comments and events that refer to it. A last owner stays one.
-- index: identities_user, organization_memberships_user, team_members_user, users_pkey
-- takes: id text
with i as (delete from identities where user_id = :id),
m as (
    delete from organization_memberships o
    where o.user_id = :id and o.organization_id not in (:last_owned(:id))
)
update users
set username = left(username, 40) || '-deleted-' || substr(md5(gen_random_uuid()::text), 1, 8), email = null,
    email_confirmed = false, password_hash = null,
    is_site_admin = is_site_admin
        and not exists (select 1 from scim_users s where s.user_id = users.id and s.gives_site_admin)
where id = :id;
