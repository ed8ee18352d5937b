-- SPDX-License-Identifier: MPL-2.0

-- statement: git_order
-- The subject of the job. `refs` are names that had the commit when they were last seen: a server that gives no
-- commits by their names may give these.
-- index: vcs_events_commit
-- takes: job_id text, max_refs bigint
-- gives: kind text, repository_id text, identifier text, default_branch text null, sha text null,
-- submodules boolean null, directory text null, event_kind text null, ref text null, before_sha text null,
-- after_sha text null, pull_request bigint, base text null, refs jsonb null
select j.kind, r.id as repository_id, r.identifier, r.default_branch, v.sha, v.submodules, v.directory,
    e.kind as event_kind, e.ref, e.before_sha, e.sha as after_sha, coalesce(e.pull_request, 0) as pull_request,
    e.detail ->> 'base' as base,
    (
        select jsonb_agg(n.name)
        from (
            select name
            from vcs_refs
            where repository_id = j.repository_id and sha = coalesce(v.sha, e.sha)
            union
            select ref
            from vcs_events
            where repository_id = j.repository_id and sha = coalesce(v.sha, e.sha) and ref <> ''
            limit :max_refs
        ) n
    ) as refs
from git_jobs j
join vcs_repositories r on r.id = j.repository_id
left join vcs_contents v on v.id = j.content_id
left join vcs_events e on e.id = j.event_id
where j.id = :job_id;
