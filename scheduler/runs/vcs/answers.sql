-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_default_branch_found
-- Stores the default branch, if the provider has named one.
-- index: vcs_repositories_pkey
-- takes: repository_id text, name text
update vcs_repositories
set default_branch = coalesce(:name, default_branch)
where id = :repository_id;

-- statement: vcs_repository_found
-- Stores what the provider says of the repository. Values that it does not send stay.
-- index: vcs_repositories_pkey
-- takes: repository_id text, external_id text, default_branch text, web_url text
update vcs_repositories
set external_id = :external_id, default_branch = coalesce(:default_branch, default_branch),
    web_url = coalesce(:web_url, web_url), state = 'verified', error = null
where id = :repository_id;

-- statement: vcs_repository_refused
-- The provider does not give the repository, and why.
-- index: vcs_repositories_pkey
-- takes: repository_id text, why text
update vcs_repositories set state = 'errored', error = left(:why, 500) where id = :repository_id;
