-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_look_failed
-- The next look is later with each failure in a row.
-- index: vcs_repositories_pkey
-- takes: repository_id text, sentence text, look_seconds double precision, max_seconds double precision
update vcs_repositories
set look_failures = look_failures + 1, look_error = :sentence,
    look_due = now() + make_interval(
        secs => least(:look_seconds * power(2, least(look_failures, 10)), :max_seconds))
where id = :repository_id;

-- statement: vcs_content_note
-- Shows why the content is not here yet.
-- index: vcs_contents_pkey
-- takes: content_id text, sentence text
update vcs_contents set error = :sentence where id = :content_id and state in ('absent', 'fetching');

-- statement: vcs_default_branch_set
-- Stores the default branch that a look has found.
-- index: vcs_repositories_pkey
-- takes: repository_id text, head text
update vcs_repositories
set default_branch = :head
where id = :repository_id and default_branch is distinct from :head;

-- statement: vcs_look_done
-- Sets the time of the next look, unless another one was requested meanwhile.
-- index: vcs_repositories_pkey
-- takes: repository_id text, look_seconds double precision
update vcs_repositories
set looked_at = now(), look_failures = 0, look_error = null, look_due = case
    when look_due <= now() then look_due
    else now() + make_interval(secs => :look_seconds * (0.9 + 0.2 * random())) end
where id = :repository_id;

-- statement: vcs_host_keys_add
-- Host keys that were seen for the first time are pinned from now on.
-- index: vcs_tokens_connection_id_key
-- takes: repository_id text, keys text
update vcs_tokens t
set host_keys = t.host_keys || :keys
from vcs_repositories r
where r.id = :repository_id and t.connection_id = r.connection_id and position(:keys in t.host_keys) = 0;
