-- SPDX-License-Identifier: MPL-2.0

-- statement: default_branch_store
-- takes: repository_id text, json_string_at text
update vcs_repositories
set default_branch = coalesce(:json_string_at, default_branch)
where id = :repository_id;

-- statement: lookup_taken
-- takes: repository_id text, json_string_at text, json_string_at_2 text, json_string_at_3 text
update vcs_repositories
set external_id = :json_string_at, default_branch = coalesce(:json_string_at_2, default_branch),
    web_url = coalesce(:json_string_at_3, web_url), state = 'verified', error = null
where id = :repository_id;

-- statement: lookup_refused
-- takes: repository_id text, why text
update vcs_repositories set state = 'errored', error = left(:why, 500) where id = :repository_id;
