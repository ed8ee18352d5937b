-- SPDX-License-Identifier: MPL-2.0

-- fragment: policies()
-- The columns of the shape policy.
p.*, o.name as organization_name, coalesce(s.ids, '[]') as policy_sets, coalesce(s.count, 0) as policy_set_count
from policies p
join organizations o on o.id = p.organization_id
left join lateral (
    select jsonb_agg(m.policy_set_id order by m.policy_set_id) as ids, count(*) as count
    from policy_set_policies m
    where m.policy_id = p.id
) s on true;

-- shape: policy
-- total bigint optional, id text, organization_id text, name text, kind text, description text,
-- query text null, enforcement text, blob_id text null, created_at timestamptz, updated_at timestamptz,
-- organization_name text, policy_sets jsonb, policy_set_count bigint

-- statement: policies_list
-- One page by name, with the total in each row; one row without a policy if the page is empty.
-- index: policies_name, policy_set_policies_policy
-- takes: organization_id text, search text, kind text, sort text, limit bigint, offset bigint
-- gives: policy
with found as (
    select id
    from policies
    where organization_id = :organization_id
        and (:search::text is null or strpos(lower(name), lower(:search)) > 0)
        and (:kind::text is null or kind = :kind)
)
select c.total, p.*
from (select count(*) as total from found) c
left join (
    select :policies()
    where p.id in (select id from found)
    order by case when :sort::text = '-name' then lower(p.name) end desc, lower(p.name)
    limit :limit
    offset :offset
) p on true
order by case when :sort = '-name' then lower(p.name) end desc, lower(p.name);

-- statement: policy_read
-- One policy.
-- index: policy_set_policies_policy
-- takes: id text
-- gives: policy
select :policies() where p.id = :id;

-- statement: policies_read_all
-- Policies by their ids, sorted by name.
-- index: policy_set_policies_policy
-- takes: ids text[]
-- gives: policy
select :policies()
where p.id = any(:ids::text[])
order by lower(p.name), p.id;

-- statement: policy_create
-- Creates a policy that has no source yet.
-- takes: id text, organization_id text, name text, kind text, description text, query text, enforcement text
insert into policies (id, organization_id, name, kind, description, query, enforcement)
values (:id, :organization_id, :name, :kind, :description, :query, :enforcement);

-- statement: policy_update
-- Changes all but the name, the kind and the source.
-- index: policies_pkey
-- takes: id text, description text, query text, enforcement text
update policies
set description = :description, query = :query, enforcement = :enforcement, updated_at = now()
where id = :id;

-- statement: policy_delete
-- Deletes the policy, also from its sets.
-- index: policies_pkey
-- takes: id text
delete from policies where id = :id;

-- statement: policy_upload
-- Sets the policy's source.
-- index: policies_pkey
-- takes: id text, blob text
update policies set blob_id = :blob, updated_at = now() where id = :id;
