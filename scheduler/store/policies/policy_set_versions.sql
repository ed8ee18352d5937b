-- SPDX-License-Identifier: MPL-2.0

-- fragment: policy_set_versions()
-- The columns of the shape policy_set_version. `ingress`: the commit that it came from, or null.
select v.*, s.organization_id,
    (
        select jsonb_build_object(
            'commit-sha', k.sha, 'commit-url', k.detail ->> 'commit-url', 'identifier', k.detail ->> 'identifier'
        )
        from policy_set_version_commits k
        where k.policy_set_version_id = v.id
    ) as ingress
from policy_set_versions v
join policy_sets s on s.id = v.policy_set_id;

-- statement: policy_set_version_take
-- Makes the version the set's newest; changes no row if the set has single policies.
-- index: policy_set_policies_pkey, policy_sets_pkey
-- takes: policy_set_id text, id text
update policy_sets s
set newest_version_id = :id
where id = :policy_set_id and not exists (select 1 from policy_set_policies where policy_set_id = s.id);

-- statement: policy_set_version_create
-- Creates a version without an archive.
-- takes: id text, policy_set_id text
insert into policy_set_versions (id, policy_set_id, status_timestamps)
values (:id, :policy_set_id, jsonb_build_object('pending-at', :sql_time(now())));

-- shape: policy_set_version
-- total bigint optional, id text, policy_set_id text, status text, source text, error text null, blob_id text null,
-- status_timestamps jsonb, error_message text null, created_at timestamptz, updated_at timestamptz,
-- organization_id text, ingress jsonb null

-- statement: policy_set_version_read
-- One version.
-- index: policy_set_version_commits_pkey, policy_set_versions_pkey, policy_sets_pkey
-- takes: id text
-- gives: policy_set_version
:policy_set_versions() where v.id = :id;

-- statement: policy_set_versions_list
-- One page of a set's versions, the newest first, with the total in each row; one row without a version if the page is
-- empty.
-- index: policy_set_version_commits_pkey, policy_set_versions_set, policy_sets_pkey
-- takes: policy_set_id text, limit bigint, offset bigint
-- gives: policy_set_version
select c.total, f.*
from (select count(*) as total from policy_set_versions where policy_set_id = :policy_set_id) c
left join (
    :policy_set_versions() where v.policy_set_id = :policy_set_id
    order by v.created_at desc, v.id desc
    limit :limit
    offset :offset
) f on true
order by f.created_at desc, f.id desc;

-- statement: policy_set_versions_read_all
-- Versions by their ids, the oldest first.
-- index: policy_set_version_commits_pkey, policy_set_versions_pkey, policy_sets_pkey
-- takes: ids text[]
-- gives: policy_set_version
:policy_set_versions() where v.id = any(:ids::text[]) order by v.created_at, v.id;

-- statement: policy_set_version_lock
-- Locks the version.
-- index: policy_set_versions_pkey
-- takes: id text
-- gives: policy_set_id text, status text, blob_id text null
select policy_set_id, status, blob_id from policy_set_versions where id = :id for update;

-- statement: policy_set_version_ready
-- The version has its archive.
-- index: policy_set_versions_pkey
-- takes: id text, blob text
update policy_set_versions
set status = 'ready', blob_id = :blob, error = null, error_message = null,
    status_timestamps = status_timestamps
        || jsonb_build_object('ingressing-at', :sql_time(now()))
        || jsonb_build_object('ready-at', :sql_time(now())),
    updated_at = now()
where id = :id;

-- statement: policy_set_use_newest
-- The newest ready version becomes the set's current one.
-- index: policy_set_versions_set
-- takes: policy_set_id text
update policy_sets
set current_version_id = (
    select id
    from policy_set_versions
    where policy_set_id = :policy_set_id and status = 'ready'
    order by created_at desc, id desc
    limit 1
)
where id = :policy_set_id;

-- statement: policy_set_version_refuse
-- Marks a version as errored unless it is ready.
-- index: policy_set_versions_pkey
-- takes: id text, why text
update policy_set_versions
set status = 'errored', error = 'invalid_archive', error_message = :why,
    status_timestamps = status_timestamps || jsonb_build_object('errored-at', :sql_time(now())),
    updated_at = now()
where id = :id and status <> 'ready';
