-- SPDX-License-Identifier: MPL-2.0

-- fragment: retention_owned()
(organization_id = :organization_id or workspace_id = :workspace_id);

-- statement: retention_read
-- takes: organization_id text, workspace_id text
-- gives: id text, days integer null
select id, delete_older_than_n_days as days from data_retention_policies where :retention_owned();

-- statement: retention_write_delete
-- takes: organization_id text, workspace_id text, days bigint
delete from data_retention_policies
where :retention_owned() and (delete_older_than_n_days is null) <> (:days::bigint = 0);

-- statement: retention_write_insert
-- takes: organization_id text, workspace_id text, days bigint, id text
with kept as (
    update data_retention_policies
    set delete_older_than_n_days = nullif(:days::bigint, 0)
    where :retention_owned()
    returning 1
)
insert into data_retention_policies (id, organization_id, workspace_id, delete_older_than_n_days)
select :id, :organization_id, :workspace_id, nullif(:days::bigint, 0)
where not exists (select 1 from kept);

-- statement: retention_delete
-- takes: organization_id text, workspace_id text
delete from data_retention_policies where :retention_owned();
