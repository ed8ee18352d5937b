-- SPDX-License-Identifier: MPL-2.0

-- statement: module_tags_due
-- Lets the VCS thread look at the tags of the repository's modules.
-- index: registry_modules_repository
-- takes: repository_id text
update registry_modules set tags_due = true where repository_id = :repository_id and not tags_due;

-- fragment: module_version_requested(v)
-- Whether a user has requested the version `v`, which has no content yet.
:v.status = 'pending' and :v.source <> 'tfe-api';

-- statement: module_repository_looked
-- Wakes the VCS thread if a module of the repository waits for the look that has ended.
-- index: registry_modules_repository
-- takes: repository_id text
select pg_notify('runyard_vcs', '')
where exists (select 1 from registry_modules where repository_id = :repository_id and tags_due);

-- statement: module_tags_pick
-- Locks a module whose repository the VCS thread has to look at. A requested version without a commit waits for a look
-- that has ended after the request.
-- index: registry_module_versions_requested, registry_modules_tags_due
-- gives: id text, repository_id text null, branch text, source_directory text, tag_prefix text, provider text
select m.id, m.repository_id, m.branch, m.source_directory, m.tag_prefix, coalesce(c.provider, 'github_app') as provider
from registry_modules m
left join vcs_repositories r on r.id = m.repository_id
left join vcs_connections c on c.id = r.connection_id
where m.tags_due
    and (r.id is null or not exists (
            select 1
            from registry_module_versions v
            where v.module_id = m.id and :module_version_requested(v) and v.commit_sha is null
                and v.created_at >= coalesce(r.looked_at, '-infinity')
        ))
limit 1
for no key update of m skip locked;

-- statement: module_tags_new
-- Tags of the module's repository that are semantic versions after the module's prefix, with or without a leading v,
-- and that are no versions yet: the newest first, at most :max, and no more than the module may have.
-- index: registry_module_versions_version, registry_removed_versions_pkey, vcs_refs_pkey
-- takes: module_id text, repository_id text, tag_prefix text, max bigint, versions_max bigint
-- gives: version text, tag text, sha text
select x.version, x.tag, x.sha
from (
    select distinct on (version) regexp_replace(t.word, '^v', '') as version, t.tag, t.sha
    from (
        select substr(f.name, length('refs/tags/') + 1) as tag,
            substr(f.name, length('refs/tags/' || :tag_prefix::text) + 1) as word, f.sha
        from vcs_refs f
        where f.repository_id = :repository_id and starts_with(f.name, 'refs/tags/' || :tag_prefix) and f.sha <> ''
    ) t
    where length(t.word) <= 64
        and t.word ~ ('^v?(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}'
                || '(-(0|[1-9][0-9]{0,8}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'
                || '(\.(0|[1-9][0-9]{0,8}|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?'
                || '(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$')
    order by version, t.tag desc
) x
where not exists (
    select 1 from registry_module_versions v where v.module_id = :module_id and v.version = x.version
)
    and not exists (
        select 1 from registry_removed_versions g where g.module_id = :module_id and g.version = x.version
    )
order by :explorer_version(x.version) desc, x.version
limit (
    select least(:max::bigint, greatest(:versions_max::bigint - count(*), 0))
    from registry_module_versions
    where module_id = :module_id
);

-- statement: module_tag_insert
-- Adds the version of a tag, which waits for the files of its commit.
-- takes: id text, module_id text, version text, source text, commit_sha text, tag text, content_id text
insert into registry_module_versions (id, module_id, version, source, status, commit_sha, tag, content_id)
values (:id, :module_id, :version, :source, 'cloning', :commit_sha, :tag, :content_id);

-- statement: module_versions_requested
-- The requested versions of the module, each with its commit: the given one, or the head of the branch. '': there is
-- none.
-- index: registry_module_versions_requested, vcs_refs_pkey
-- takes: module_id text, repository_id text, branch text
-- gives: id text, sha text
select v.id, coalesce(v.commit_sha, (
            select f.sha
            from vcs_refs f
            where f.repository_id = :repository_id and f.name = 'refs/heads/' || :branch::text
        ), '') as sha
from registry_module_versions v
where v.module_id = :module_id and :module_version_requested(v)
order by v.created_at, v.id
for no key update;

-- statement: module_version_request
-- Adds a version that the VCS thread takes from the module's repository: from the given commit, or from the head of
-- the branch. No row: the module has :max of them.
-- index: registry_module_versions_version
-- takes: id text, module_id text, version text, source text, commit_sha text, max bigint
-- gives: id text
insert into registry_module_versions (id, module_id, version, source, commit_sha)
select :id, :module_id, :version, :source, :commit_sha
where (select count(*) from registry_module_versions where module_id = :module_id) < :max::bigint
returning id;

-- statement: module_version_take
-- Lets a requested version wait for the files of its commit.
-- index: registry_module_versions_pkey
-- takes: id text, commit_sha text, content_id text
update registry_module_versions
set status = 'cloning', commit_sha = :commit_sha, content_id = :content_id, updated_at = now()
where id = :id;

-- statement: module_version_without_commit
-- Ends a requested version for which there is no commit.
-- index: registry_module_versions_pkey
-- takes: id text, sentence text
update registry_module_versions
set status = 'clone_failed', error = :sentence, updated_at = now()
where id = :id;

-- statement: module_repository_due
-- Lets the VCS thread look at the module's repository.
-- index: registry_modules_pkey
-- takes: id text
update registry_modules set tags_due = true where id = :id;

-- statement: module_tags_moved
-- Notes which tags of the module's versions have another commit now.
-- index: registry_module_versions_version, vcs_refs_pkey
-- takes: module_id text, repository_id text
update registry_module_versions v
set moved_to = nullif(f.sha, v.commit_sha), updated_at = now()
from vcs_refs f
where v.module_id = :module_id and f.repository_id = :repository_id and f.name = 'refs/tags/' || v.tag and f.sha <> ''
    and v.moved_to is distinct from nullif(f.sha, v.commit_sha);

-- statement: module_tags_done
-- The tags have been looked at.
-- index: registry_modules_pkey
-- takes: id text
update registry_modules set tags_due = false, updated_at = now() where id = :id;

-- statement: module_content_awaited
-- The archive of a commit for which versions wait. No row: none does.
-- index: registry_module_versions_content, vcs_contents_pkey
-- takes: content_id text
-- gives: blob_id text null
select c.blob_id
from vcs_contents c
where c.id = :content_id
    and exists (select 1 from registry_module_versions where content_id = :content_id and status = 'cloning');

-- statement: module_content_end
-- Ends the versions that wait for the content: with its archive, or with the sentence.
-- index: registry_module_versions_content, registry_modules_pkey
-- takes: content_id text, blob_id text, sha256 text, size bigint null, sentence text
-- gives: id text
update registry_module_versions v
set status = case when :sentence::text is null then :module_version_stored(m) else 'clone_failed' end,
    error = :sentence, blob_id = :blob_id, sha256 = :sha256, size = :size, updated_at = now()
from registry_modules m
where v.content_id = :content_id and v.status = 'cloning' and m.id = v.module_id
returning v.id;
