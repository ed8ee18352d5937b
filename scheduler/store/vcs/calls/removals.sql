-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_removals_add
-- Copies the hooks and sealed tokens of an organization, a connection or a token that is deleted, and inserts
-- the calls that delete the hooks. The other two ids are null.
-- index: vcs_repositories_connection, vcs_tokens_connection_id_key
-- takes: purpose text, urgency smallint, writes boolean, organization_id text, connection_id text,
-- token_id text
with kept as (
    insert into vcs_hook_removals
        (id, organization_id, connection, provider, api_url, identifier, hooks, token_id, token_sealed, pool_id)
    select 'vhr-' || substr(md5(gen_random_uuid()::text), 1, 16), c.organization_id, c.id, c.provider,
        c.api_url, r.identifier, r.hook_external_id, t.id, t.token_sealed, c.pool_id
    from vcs_connections c
    join vcs_tokens t on t.connection_id = c.id
    join vcs_repositories r on r.connection_id = c.id
    where (c.organization_id = :organization_id or c.id = :connection_id or t.id = :token_id)
        and t.token_sealed is not null and r.hook_external_id is not null
    returning id
)
:calls_insert(removal_id, id from kept);

-- statement: vcs_removals_expire
-- Deletes copies that are older than a day.
-- index: vcs_hook_removals_created
delete from vcs_hook_removals where created_at < now() - interval '1 day';

-- statement: vcs_removal_read
-- The ids of the hooks that are left, separated by commas.
-- index: vcs_hook_removals_pkey
-- takes: id text
-- gives: hooks text
select hooks from vcs_hook_removals where id = :id;

-- statement: vcs_removal_delete
-- Deletes the copy and its token.
-- index: vcs_hook_removals_pkey
-- takes: id text
delete from vcs_hook_removals where id = :id;

-- statement: vcs_removal_set
-- Stores the ids of the hooks that are left.
-- index: vcs_hook_removals_pkey
-- takes: removal_id text, hooks text
update vcs_hook_removals set hooks = :hooks where id = :removal_id;
