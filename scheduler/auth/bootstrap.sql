-- SPDX-License-Identifier: MPL-2.0

-- statement: user_ensure_read
-- takes: username text
-- gives: id text
select id from users where lower(username) = lower(:username);

-- statement: user_ensure_update
-- takes: id text
update users set is_site_admin = true where id = :id;

-- statement: pool_ensure
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

-- statement: password_ensure
-- takes: user_id text
select 1 from users where id = :user_id and password_hash is null;
