-- SPDX-License-Identifier: MPL-2.0

-- fragment: retention_owned()
-- The policy of the organization or workspace. The other id is null.
(organization_id = :organization_id or workspace_id = :workspace_id);

-- statement: retention_read
-- days: null: content is never deleted.
-- index: data_retention_policies_organization_id_key, data_retention_policies_workspace_id_key
-- takes: organization_id text, workspace_id text
-- gives: id text, days integer null
select id, delete_older_than_n_days as days from data_retention_policies where :retention_owned();

-- statement: retention_delete_other_kind
-- Deletes the policy if it is of the other kind: with days, or without. :days: 0: without.
-- index: data_retention_policies_organization_id_key, data_retention_policies_workspace_id_key
-- takes: organization_id text, workspace_id text, days bigint
delete from data_retention_policies
where :retention_owned() and (delete_older_than_n_days is null) <> (:days::bigint = 0);

-- statement: retention_write
-- Changes the days of the policy, or inserts it.
-- index: data_retention_policies_organization_id_key, data_retention_policies_workspace_id_key
-- takes: organization_id text, workspace_id text, days bigint, new_id text
with kept as (
    update data_retention_policies
    set delete_older_than_n_days = nullif(:days::bigint, 0)
    where :retention_owned()
    returning 1
)
insert into data_retention_policies (id, organization_id, workspace_id, delete_older_than_n_days)
select :new_id, :organization_id, :workspace_id, nullif(:days::bigint, 0)
where not exists (select 1 from kept);

-- statement: retention_delete
-- Deletes the policy.
-- index: data_retention_policies_organization_id_key, data_retention_policies_workspace_id_key
-- takes: organization_id text, workspace_id text
delete from data_retention_policies where :retention_owned();
