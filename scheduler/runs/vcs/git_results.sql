-- SPDX-License-Identifier: MPL-2.0

-- statement: look_failed
-- takes: repository text, sentence text, look_seconds double precision, look_failed_max double precision
update vcs_repositories
set look_failures = look_failures + 1, look_error = :sentence,
    look_due = now() + make_interval(
        secs => least(:look_seconds * power(2, least(look_failures, 10)), :look_failed_max))
where id = :repository;

-- statement: retry_note
-- takes: content text, sentence text
update vcs_contents set error = :sentence where id = :content and state in ('absent', 'fetching');

-- statement: look_stored_update
-- takes: repository text, head text
update vcs_repositories
set default_branch = :head
where id = :repository and default_branch is distinct from :head;

-- statement: look_stored_update_2
-- takes: repository text, look_seconds double precision
update vcs_repositories
set looked_at = now(), look_failures = 0, look_error = null, look_due = case
    when look_due <= now() then look_due
    else now() + make_interval(secs => :look_seconds * (0.9 + 0.2 * random())) end
where id = :repository;

-- statement: host_keys_add
-- takes: repository text, keys text
update vcs_tokens t
set host_keys = t.host_keys || :keys
from vcs_repositories r
where r.id = :repository and t.connection_id = r.connection_id and position(:keys in t.host_keys) = 0;
