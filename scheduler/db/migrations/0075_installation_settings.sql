-- SPDX-License-Identifier: MPL-2.0
-- Installations of the GitHub App have agent pools, as connections do.
alter table vcs_installations
	add column pool_id text references agent_pools on delete set null,
	add column fork_pool_id text references agent_pools on delete set null; -- of plans of forks' code; null: there are none
create index vcs_installations_pool on vcs_installations (pool_id) where pool_id is not null;
create index vcs_installations_fork_pool on vcs_installations (fork_pool_id) where fork_pool_id is not null;

-- The agent pools of a repository: those of its connection or installation.
create view vcs_repository_pools as
select r.id as repository_id, coalesce(c.pool_id, i.pool_id) as pool_id, coalesce(c.fork_pool_id, i.fork_pool_id) as fork_pool_id
from vcs_repositories r left join vcs_connections c on c.id = r.connection_id
left join vcs_installations i on i.id = r.installation_id;
