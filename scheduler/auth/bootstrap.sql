-- SPDX-License-Identifier: MPL-2.0

-- statement: user_id_of_name
-- The user of that name, in any case.
-- index: users_username
-- takes: username text
-- gives: id text
select id from users where lower(username) = lower(:username);

-- statement: user_make_site_admin
-- Makes the user a site admin.
-- index: users_pkey
-- takes: id text
update users set is_site_admin = true where id = :id;

-- statement: shared_pool_ensure
-- Creates the pool that all organizations share, unless there is one with any name, and returns its id.
-- reads: agent_pools
-- takes: id text
-- gives: id text
with made as (
    insert into agent_pools (id, name)
    select :id, 'default'
    where not exists (select 1 from agent_pools where organization_id is null)
    returning id
)
select id
from made
union all
select id
from agent_pools
where organization_id is null;

-- statement: user_without_password
-- A row if the user has no password.
-- index: users_pkey
-- takes: user_id text
select 1 from users where id = :user_id and password_hash is null;
