-- SPDX-License-Identifier: MPL-2.0

-- fragment: heads_outcomes()
jsonb_to_recordset(:p2::jsonb) as u(
    subject_id text, reason text, run_id text, configuration_version_id text);

-- statement: vcs_outcomes_write
-- takes: event_id text, p2 jsonb
insert into vcs_outcomes (event_id, subject_id, reason, run_id, configuration_version_id)
select :event_id, u.subject_id, u.reason, u.run_id, u.configuration_version_id
from :heads_outcomes()
on conflict (event_id, subject_id) do update set reason = excluded.reason, run_id = excluded.run_id,
    configuration_version_id = excluded.configuration_version_id
where vcs_outcomes.run_id is null;

-- statement: vcs_heads_write
-- takes: event_id text, p2 jsonb, kind text, pull_request bigint, sha text
insert into vcs_heads (workspace_id, kind, pull_request, sha, event_id, run_id)
select u.subject_id, :kind, :pull_request, :sha, :event_id, u.run_id
from :heads_outcomes()
where u.configuration_version_id is not null
on conflict (workspace_id, kind, pull_request, sha) do update set event_id = excluded.event_id,
    run_id = coalesce(excluded.run_id, vcs_heads.run_id);
