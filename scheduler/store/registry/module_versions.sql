-- SPDX-License-Identifier: MPL-2.0

-- shape: module_version
-- id text, module_id text, organization_id text, version text, source text, status text, error text null,
-- commit_sha text null, tag text null, blob_id text null, sha256 text null, size bigint null, is_given boolean,
-- deprecation jsonb null, revocation jsonb null, test_run text null, created_at timestamptz, updated_at timestamptz

-- fragment: module_version_error(v)
case when :v.moved_to is null or :v.tests_error is not null then coalesce(:v.tests_error, :v.error)
    else 'The tag ' || :v.tag || ' was moved to the commit ' || left(:v.moved_to, 12) ||
        '. The version keeps the commit from which it was published: publish the other one with another tag.' end;

-- fragment: module_version_test_run(v)
-- The id of the last test run of the version's content, in the API; null: there is none.
'trun' || substr(:v.test_run_id, 4);

-- fragment: module_version_stored(m)
-- The status of a version of the module `m` whose content is stored.
case when :m.tests_required then 'reg_ingressing' else 'ok' end;

-- fragment: module_version_select()
select v.id, v.module_id, m.organization_id, v.version, v.source, v.status, :module_version_error(v) as error,
    v.commit_sha, v.tag, v.blob_id, v.sha256, v.size, v.given_at is not null as is_given, v.deprecation, v.revocation,
    :module_version_test_run(v) as test_run, v.created_at, v.updated_at
from registry_module_versions v
join registry_modules m on m.id = v.module_id;

-- statement: module_version_create
-- Adds a version without content. No row: the module has :max of them.
-- index: registry_module_versions_version
-- takes: id text, module_id text, version text, commit_sha text, max bigint
-- gives: id text
insert into registry_module_versions (id, module_id, version, commit_sha)
select :id, :module_id, :version, :commit_sha
where (select count(*) from registry_module_versions where module_id = :module_id) < :max::bigint
returning id;

-- statement: module_version_read
-- The version of that id.
-- index: registry_module_versions_pkey, registry_modules_pkey
-- takes: id text
-- gives: module_version
:module_version_select() where v.id = :id;

-- statement: module_version_find
-- A version of the module.
-- index: registry_module_versions_version, registry_modules_pkey
-- takes: module_id text, version text
-- gives: module_version
:module_version_select() where v.module_id = :module_id and v.version = :version;

-- statement: module_version_lock
-- The version's content, locked.
-- index: registry_module_versions_pkey
-- takes: id text
-- gives: sha256 text null, is_given boolean
select sha256, given_at is not null as is_given from registry_module_versions where id = :id for update;

-- statement: module_version_set_content
-- Gives the version its content. What was known of earlier content is forgotten.
-- index: registry_module_versions_pkey, registry_modules_pkey
-- takes: id text, blob_id text, sha256 text, size bigint
with version as (
    update registry_module_versions v
    set status = :module_version_stored(m), error = null, tests_error = null, test_run_id = null, blob_id = :blob_id,
        sha256 = :sha256, size = :size, updated_at = now()
    from registry_modules m
    where v.id = :id and m.id = v.module_id
    returning v.module_id
)
update registry_modules set updated_at = now() where id = (select module_id from version);

-- statement: module_version_give
-- Notes that a download may begin: from now on the content can't be replaced.
-- index: registry_module_versions_pkey
-- takes: id text
update registry_module_versions set given_at = now() where id = :id and given_at is null;

-- statement: module_version_refuse
-- Notes why the upload of a version without content was refused.
-- index: registry_module_versions_pkey
-- takes: id text, why text
update registry_module_versions
set status = 'reg_ingress_failed', error = :why, updated_at = now()
where id = :id and status in ('pending', 'reg_ingress_failed') and blob_id is null;

-- statement: module_version_mark
-- Sets the deprecation and the revocation; null: none.
-- index: registry_module_versions_pkey, registry_modules_pkey
-- takes: id text, deprecation jsonb null, revocation jsonb null
with version as (
    update registry_module_versions
    set deprecation = :deprecation, revocation = :revocation, updated_at = now()
    where id = :id
    returning module_id
)
update registry_modules set updated_at = now() where id = (select module_id from version);

-- statement: module_version_delete
-- Deletes a version, and returns whether the module has others. The tag of a deleted version makes no new one, unless
-- the version was never published. Then the VCS thread looks at the tag if it was moved.
-- index: registry_module_versions_pkey, registry_module_versions_version, registry_modules_pkey
-- takes: id text, module_id text
-- gives: others boolean
with gone as (delete from registry_module_versions where id = :id returning version, tag, status, moved_to),
moved as (
    update registry_modules
    set tags_due = true
    where id = :module_id and exists (select 1 from gone where status <> 'ok' and moved_to is not null)
),
kept as (
    insert into registry_removed_versions (module_id, version)
    select :module_id, version
    from gone
    where tag is not null and status = 'ok'
    on conflict do nothing
)
select exists (select 1 from registry_module_versions where module_id = :module_id and id <> :id) as others;

-- statement: module_lock
-- Locks the module, so that no other request changes its versions.
-- index: registry_modules_pkey
-- takes: id text
update registry_modules set updated_at = now() where id = :id;
