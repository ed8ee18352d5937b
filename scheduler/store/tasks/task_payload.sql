-- SPDX-License-Identifier: MPL-2.0

-- shape: task_call
-- attempt integer optional, target text optional, hmac_sealed bytea null optional, pool_id text null optional,
-- token_hash text null optional, give_up_in_ms bigint optional, id text, run_id text, stage text,
-- enforcement text, plan_only boolean, run_created_at text, message text, configuration_version_id text,
-- working_directory text, workspace_id text, workspace text, organization text, username text null,
-- project_id text, project text, commit_sha text null, commit_url text null, pull_request_url text null,
-- commit_branch text null, repository_branch text null, default_branch text null, repository_url text null,
-- repository text null, provider text null, provider_url text null, provider_api_url text null

-- fragment: task_payload_tables()
-- What task_payload_columns reads, beside a row r of task_results; joined by task_payload_joins.
runs n
join run_inputs i on i.run_id = n.id
join workspaces w on w.id = n.workspace_id
join organizations o on o.id = w.organization_id
left join users x on x.id = i.created_by
join projects p on p.id = w.project_id
left join configuration_commits kc on kc.configuration_version_id = i.configuration_version_id
left join workspace_repositories wr on wr.workspace_id = w.id
left join vcs_repositories vr on vr.id = wr.repository_id
left join vcs_connections vc on vc.id = vr.connection_id;

-- fragment: task_payload_joins()
n.id = r.run_id;

-- fragment: task_payload_columns()
-- The columns of the shape task_call that task_payload reads.
r.id, r.run_id, r.stage, r.enforcement, n.plan_only,
    to_char(n.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as run_created_at,
    i.message, i.configuration_version_id, i.working_directory, w.id as workspace_id, w.name as workspace,
    o.name as organization, x.username, p.id as project_id, p.name as project, kc.sha as commit_sha,
    kc.detail ->> 'commit-url' as commit_url, kc.detail ->> 'pull-request-url' as pull_request_url,
    kc.branch as commit_branch, nullif(wr.branch, '') as repository_branch, vr.default_branch,
    vr.web_url as repository_url, vr.identifier as repository, vc.provider, vc.http_url as provider_url,
    vc.api_url as provider_api_url;
