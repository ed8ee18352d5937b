-- SPDX-License-Identifier: MPL-2.0

-- fragment: token_columns()
-- Columns of a token `k` with token_tables. The organization is that of its pool or team.
k.id, k.user_id, k.pool_id, k.team_id, t.kind as team_kind,
    coalesce(p.organization_id, t.organization_id) as organization_id,
    coalesce(k.created_by, k.user_id) as creator_id, k.notifier, k.description, k.created_at,
    k.last_used_at, least(k.expired_at, :token_limit(k, t.kind, t.organization_id)) as expired_at, k.read_only,
    k.workspace_id;

-- fragment: token_unused(days)
-- The condition that a token `k` is unused for so many days; null is any.
(:days::bigint is null or coalesce(k.last_used_at, k.created_at) < now() - :days::bigint * interval '1 day');

-- fragment: token_tables()
-- Tokens with their pools and teams.
from tokens k left join agent_pools p on p.id = k.pool_id left join teams t on t.id = k.team_id;

-- fragment: tokens_page(condition)
-- One page of the tokens with that owner, the newest first, and their number.
select n.total, f.*
from (select count(*) as total from tokens k where :condition) n
left join (
    select :token_columns() :token_tables()
    where :condition
    order by k.created_at desc, k.id
    limit :limit
    offset :offset
) f on true
order by f.created_at desc, f.id;

-- statement: token_team_lock
-- Locks the team: serializes concurrent replacements of its token.
-- index: teams_id_organization_id_key
-- takes: team_id text
select 1 from teams where id = :team_id for update;

-- statement: team_token_replace
-- Deletes the team's token without a description, which a new one replaces.
-- index: tokens_team_single
-- takes: team_id text
delete from tokens where team_id = :team_id and description is null;

-- statement: token_insert
-- Creates a token. A team's only token has no description: null.
-- takes: id text, hash text, user_id text, pool_id text, notifier boolean, team_id text, description text,
-- expires_at timestamptz, created_by text, provider_id text, read_only boolean, workspace_id text
insert into tokens
    (id, hash, user_id, pool_id, notifier, team_id, description, expired_at, created_by, provider_id, read_only,
        workspace_id)
values (
    :id, :hash, :user_id, :pool_id, :notifier, :team_id, :description, :expires_at, :created_by, :provider_id,
        :read_only, :workspace_id);

-- shape: token
-- total bigint optional, place bigint optional, id text, user_id text null, pool_id text null,
-- team_id text null, team_kind text, organization_id text, creator_id text, notifier boolean,
-- description text null, created_at timestamptz, last_used_at timestamptz null, expired_at timestamptz null,
-- read_only boolean, workspace_id text null

-- statement: token_read
-- The token of that id.
-- index: teams_id_organization_id_key
-- takes: id text
-- gives: token
select :token_columns() :token_tables() where k.id = :id;

-- statement: tokens_of_user
-- One page of the user's tokens.
-- index: teams_id_organization_id_key, tokens_user
-- takes: user_id text, unused_days bigint null, limit bigint, offset bigint
-- gives: token
:tokens_page({k.user_id = :user_id and :token_unused(:unused_days)});

-- statement: tokens_of_pool
-- One page of the pool's tokens.
-- index: teams_id_organization_id_key, tokens_pool
-- takes: pool_id text, limit bigint, offset bigint
-- gives: token
:tokens_page(k.pool_id = :pool_id);

-- statement: tokens_of_team
-- One page of the team's tokens.
-- index: teams_id_organization_id_key, tokens_team_description
-- takes: team_id text, limit bigint, offset bigint
-- gives: token
:tokens_page(k.team_id = :team_id);

-- statement: tokens_of_notifiers
-- One page of the notifiers' tokens.
-- index: agent_pools_pkey, teams_pkey
-- reads: tokens
-- takes: limit bigint, offset bigint
-- gives: token
:tokens_page(k.notifier);

-- statement: token_valid_any
-- A row if the user, the pool or the notifiers have a token that has not expired.
-- reads: tokens
-- takes: user_id text, pool_id text, notifier boolean
select 1
from tokens
where (user_id = :user_id or pool_id = :pool_id or :notifier and notifier)
    and (expired_at is null or expired_at > now())
limit 1;

-- statement: token_delete
-- Revokes the token.
-- index: tokens_pkey
-- takes: id text
delete from tokens where id = :id;

-- statement: tokens_delete
-- Revokes tokens.
-- index: tokens_pkey
-- takes: ids jsonb
delete from tokens where id in (select jsonb_array_elements_text(:ids::jsonb));

-- statement: team_token_unnamed
-- The team's token without a description.
-- index: teams_id_organization_id_key, tokens_team_single
-- takes: team_id text
-- gives: token
select :token_columns() :token_tables() where k.team_id = :team_id and k.description is null;

-- statement: team_tokens_list
-- One page of the tokens of the organization's teams that the requester may see, sorted as `sort` says, then by
-- age.
-- index: team_members_user, teams_name, tokens_team_description
-- takes: organization_id text, search text, sort text, unused_days bigint null, limit bigint, offset bigint,
-- everywhere boolean, user text
-- gives: token
with found as (
    select k.id, row_number() over (
        order by case when :sort::text = 'team-name' then lower(t.name) end, case
            when :sort = '-team-name' then lower(t.name) end desc, case
            when :sort = 'created-by' then lower(u.username) end, case
            when :sort = '-created-by' then lower(u.username) end desc, case
            when :sort = 'expired-at' then k.expired_at end, case
            when :sort = '-expired-at' then k.expired_at end desc, case
            when :sort = 'last-used-at' then k.last_used_at end, case
            when :sort = '-last-used-at' then k.last_used_at end desc, k.created_at desc, k.id) as place
    from tokens k
    join teams t on t.id = k.team_id
    left join users u on u.id = k.created_by
    where t.organization_id = :organization_id
        and (:search::text is null or strpos(lower(t.name), lower(:search)) > 0)
        and :token_unused(:unused_days)
        and :team_in_scope(:everywhere::boolean, :user)
)
select n.total, f.*
from (select count(*) as total from found) n
left join (
    select x.place, :token_columns() :token_tables()
    join found x on x.id = k.id
    order by x.place
    limit :limit
    offset :offset
) f on true
order by f.place;
