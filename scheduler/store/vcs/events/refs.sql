-- SPDX-License-Identifier: MPL-2.0

-- fragment: repository_is_used(r)
-- Whether a workspace, a policy set or a module uses the repository `r`.
(exists (select 1 from workspace_repositories a where a.repository_id = :r.id)
        or exists (select 1 from policy_set_repositories a where a.repository_id = :r.id)
        or exists (select 1 from registry_modules a where a.repository_id = :r.id));

-- statement: vcs_repository_lock
-- Locks the repository.
-- index: vcs_repositories_pkey
-- takes: repository_id text
select 1 from vcs_repositories where id = :repository_id for no key update;

-- statement: vcs_repository_locked
-- The repository after vcs_repository_lock. look_began: when a worker claimed the look.
-- index: git_jobs_look
-- takes: repository_id text, app_url text
-- gives: repository_id text, organization_id text, identifier text, default_branch text null,
-- looked_at timestamptz null, provider text, api_url text, http_url text, look_began timestamptz
select r.id as repository_id, r.organization_id, r.identifier, r.default_branch, r.looked_at,
    :vcs_dialect_columns(), coalesce(c.http_url, :app_url) as http_url,
    coalesce((select g.claimed_at from git_jobs g where g.kind = 'look' and g.repository_id = r.id), now())
        as look_began
from vcs_repositories r
left join vcs_connections c on c.id = r.connection_id
where r.id = :repository_id;

-- statement: vcs_look_begin
-- Postpones the next look, unless another one was requested since :due was read.
-- index: vcs_repositories_look
-- takes: repository_id text, look_again_seconds double precision, due timestamptz
update vcs_repositories
set look_due = now() + make_interval(secs => :look_again_seconds)
where id = :repository_id and look_due = :due::timestamptz;

-- statement: vcs_looks_due
-- Repositories in use whose look is due.
-- index: policy_set_repositories_repository, registry_modules_repository, vcs_repositories_look,
-- workspace_repositories_repository
-- takes: max bigint
-- gives: id text, look_due timestamptz
select r.id, r.look_due
from vcs_repositories r
where r.look_due <= now() and :repository_is_used(r)
order by r.look_due
limit :max;

-- statement: vcs_look_now
-- Makes a look at the repository due.
-- index: vcs_repositories_pkey
-- takes: repository_id text
update vcs_repositories set look_due = now() where id = :repository_id;

-- statement: vcs_refs_read
-- newer: an event has changed the ref since :began.
-- index: vcs_refs_pkey
-- takes: repository_id text, began timestamptz
-- gives: name text, sha text, newer boolean
select name, sha, updated_at >= :began::timestamptz as newer
from vcs_refs
where repository_id = :repository_id;

-- statement: vcs_ref_read
-- The commits of two refs; null: not known.
-- index: vcs_refs_pkey
-- takes: repository_id text, ref text, other text
-- gives: ref text null, other text null
select (select sha from vcs_refs where repository_id = :repository_id and name = :ref) as ref,
    (select sha from vcs_refs where repository_id = :repository_id and name = :other) as other;

-- statement: vcs_refs_write
-- Replaces the refs that no event has changed since :began. Leaves out unchanged refs, because a conflict would
-- lock, and so write, each of their rows.
-- index: vcs_refs_pkey
-- takes: repository_id text, began timestamptz, refs jsonb
with seen as materialized (select key as name, value as sha from jsonb_each_text(:refs::jsonb)),
gone as (
    delete from vcs_refs r
    where r.repository_id = :repository_id and r.updated_at < :began::timestamptz
        and not exists (select 1 from seen s where s.name = r.name)
)
insert into vcs_refs (repository_id, name, sha)
select :repository_id, name, sha
from seen s
where not exists (
    select 1
    from vcs_refs r
    where r.repository_id = :repository_id and r.name = s.name and r.sha = s.sha
)
on conflict (repository_id, name) do update set sha = excluded.sha, updated_at = excluded.updated_at
where vcs_refs.sha <> excluded.sha and vcs_refs.updated_at < :began::timestamptz;

-- statement: vcs_ref_write
-- Stores the commit of a ref that an event has brought.
-- takes: repository_id text, ref text, sha text
insert into vcs_refs (repository_id, name, sha)
values (:repository_id, :ref, :sha)
on conflict (repository_id, name) do update set sha = excluded.sha, updated_at = excluded.updated_at;

-- statement: vcs_branches_followed
-- The branches of workspaces and policy sets; '': the default branch.
-- index: policy_set_repositories_repository, workspace_repositories_repository
-- takes: repository_id text
-- gives: branch text
select branch
from workspace_repositories
where repository_id = :repository_id
union
select branch
from policy_set_repositories
where repository_id = :repository_id;

-- statement: vcs_subject_branch
-- The branch of a workspace or policy set; '': the default branch. No row: it has another repository.
-- index: policy_set_repositories_repository, workspace_repositories_repository
-- takes: repository_id text, subject_id text
-- gives: branch text
select branch
from workspace_repositories
where workspace_id = :subject_id and repository_id = :repository_id
union all
select branch
from policy_set_repositories
where policy_set_id = :subject_id and repository_id = :repository_id;

-- statement: vcs_pull_requests_read
-- One pull request; with number 0, the open ones that have not changed since :began.
-- index: vcs_pull_requests_pkey
-- takes: repository_id text, number integer, began timestamptz
-- gives: number bigint, head_sha text, state text, detail jsonb
select number, head_sha, state, detail
from vcs_pull_requests
where repository_id = :repository_id and case when :number = 0 then state = 'open'
    and updated_at < :began::timestamptz else number = :number end
order by number;

-- statement: vcs_pull_requests_of_head
-- The open pull requests with that head.
-- takes: repository_id text, sha text, max bigint
-- gives: number bigint, detail jsonb
select number, detail
from vcs_pull_requests
where repository_id = :repository_id and state = 'open' and head_sha = :sha
order by number
limit :max;

-- statement: vcs_pull_request_write
-- Inserts or replaces a pull request.
-- takes: repository_id text, number bigint, head_sha text, is_open boolean, detail jsonb
insert into vcs_pull_requests (repository_id, number, head_sha, state, detail)
values
    (:repository_id, :number, :head_sha, case when :is_open then 'open' else 'closed' end, :detail::jsonb)
on conflict (repository_id, number) do update set head_sha = excluded.head_sha, state = excluded.state,
    detail = excluded.detail, updated_at = now();

-- statement: vcs_repository_rename
-- Renames the repository, unless its connection has another one of that name (taken). Uses the key of
-- vcs_repositories, and vcs_repositories_connection or vcs_repositories_organization.
-- index: vcs_repositories_organization
-- takes: repository_id text, identifier text
-- gives: before text, taken boolean, changed boolean
with r as (
    select id, identifier, organization_id, connection_id, installation_id
    from vcs_repositories
    where id = :repository_id
),
taken as (
    select 1
    from r
    join vcs_repositories o on o.organization_id = r.organization_id and o.id <> r.id
        and o.connection_id is not distinct from r.connection_id
        and o.installation_id is not distinct from r.installation_id
        and lower(o.identifier) = lower(:identifier)
),
changed as (
    update vcs_repositories v
    set identifier = :identifier
    from r
    where v.id = r.id and lower(r.identifier) <> lower(:identifier) and not exists (select 1 from taken)
    returning 1
)
select r.identifier as before, exists (select 1 from taken) as taken,
    exists (select 1 from changed) as changed
from r;

-- statement: vcs_repository_note
-- Stores the default branch, if it is given, and an error, if there is one.
-- index: vcs_repositories_pkey
-- takes: repository_id text, default_branch text, error text
update vcs_repositories
set default_branch = coalesce(nullif(:default_branch, ''), default_branch),
    error = coalesce(left(:error, 500), error), state = case when :error::text is null then state
    else 'errored' end
where id = :repository_id;

-- statement: vcs_repository_doubt
-- Lets the scheduler request the name of the repository from its provider.
-- index: vcs_repositories_pkey
-- takes: repository_id text
update vcs_repositories
set state = 'unverified'
where id = :repository_id and external_id is not null;

-- statement: vcs_commit_came
-- Whether a branch or tag of the repository itself has had the commit.
-- index: configuration_commits_sha, vcs_contents_commit, vcs_events_commit
-- takes: repository_id text, sha text
-- gives: came boolean
select exists (
    select 1
    from configuration_commits k
    join vcs_contents v on v.id = k.content_id
    where k.sha = :sha and v.repository_id = :repository_id and not k.is_pull_request
)
    or exists (
        select 1
        from vcs_events e
        where e.repository_id = :repository_id and e.sha = :sha and e.found_by <> 'request'
            and (e.kind in ('push', 'tag')
                    or (e.kind in ('pr_open', 'pr_update') and e.detail ->> 'fork' = 'no'))
    ) as came;
