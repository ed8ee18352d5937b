-- SPDX-License-Identifier: MPL-2.0

-- fragment: vcs_tokens_columns()
t.id, t.connection_id, t.expires_at, t.host_keys, t.user_name, t.state, t.error, t.created_at,
    t.ssh_key_sealed is not null as has_ssh_key, c.organization_id;

-- fragment: tokens_tables()
from vcs_tokens t join vcs_connections c on c.id = t.connection_id;

-- shape: vcs_token
-- total bigint optional, id text, connection_id text, expires_at timestamptz null, host_keys text,
-- user_name text null, state text, error text null, created_at timestamptz, has_ssh_key boolean,
-- organization_id text

-- statement: vcs_tokens_list
-- takes: organization_id text, connection_id text, limit bigint, offset bigint
-- gives: vcs_token
select n.total, t.*
from (
    select count(*) as total :tokens_tables()
    where (:organization_id::text is null or c.organization_id = :organization_id)
        and (:connection_id::text is null or c.id = :connection_id)
) n
left join (
    select :vcs_tokens_columns() :tokens_tables()
    where (:organization_id::text is null or c.organization_id = :organization_id)
        and (:connection_id::text is null or c.id = :connection_id)
    order by t.created_at, t.id
    limit :limit
    offset :offset
) t on true
order by t.created_at, t.id;

-- statement: vcs_token_read
-- takes: id text
-- gives: vcs_token
select :vcs_tokens_columns() :tokens_tables() where t.id = :id;

-- statement: vcs_tokens_read_all
-- takes: ids text[]
-- gives: vcs_token
select :vcs_tokens_columns() :tokens_tables()
where t.id = any(:ids::text[])
order by t.created_at, t.id;

-- statement: row_ensure
-- takes: new_id text, connection_id text
-- gives: id text
insert into vcs_tokens (id, connection_id)
values (:new_id, :connection_id)
on conflict (connection_id) do update set connection_id = excluded.connection_id
returning id;

-- statement: tokens_put_update
-- takes: connection_id text
update vcs_calls
set due_at = now(), tries = 0
where connection_id = :connection_id and delivery = 'waiting';

-- statement: tokens_put_update_2
-- takes: id text, token_sealed bytea, refresh_sealed bytea, p4 integer, user_name text, p6 boolean
update vcs_tokens
set token_sealed = nullif(:token_sealed::bytea, ''), refresh_sealed = nullif(:refresh_sealed::bytea, ''),
    expires_at = case when :p4 > 0 then now() + make_interval(secs => :p4::bigint) end,
    user_name = :user_name, state = case when :p6 then 'verified' else 'unverified' end, error = null,
    generation = nextval('token_generations')
where id = :id;

-- statement: vcs_token_update
-- takes: id text, p2 boolean, p3 bytea, p4 text
update vcs_tokens
set ssh_key_sealed = case when :p2 then nullif(:p3::bytea, '') else ssh_key_sealed end,
    host_keys = coalesce(:p4, host_keys)
where id = :id;

-- statement: vcs_token_judge
-- takes: connection_id text, state text, error text, user_name text, generation bigint
update vcs_tokens
set state = :state, error = :error, user_name = coalesce(:user_name, user_name)
where connection_id = :connection_id and generation = :generation;

-- statement: tokens_delete
-- takes: id text
with gone as (delete from vcs_tokens where id = :id returning connection_id)
delete from vcs_repositories
where connection_id in (select connection_id from gone);
