-- SPDX-License-Identifier: MPL-2.0
-- Before a row goes, PostgreSQL looks for whatever points at it, and without an index it looks at every row: a state that
-- takes the place of another deletes a blob, and nine columns point at those.

create index configuration_versions_blob on configuration_versions (blob_id) where blob_id is not null;
create index operations_plan_blob on operations (plan_blob) where plan_blob is not null;
create index operations_json_blob on operations (json_blob) where json_blob is not null;
create index operations_init_blob on operations (init_blob) where init_blob is not null;
create index operations_schemas_blob on operations (schemas_blob) where schemas_blob is not null;
create index state_versions_blob on state_versions (blob_id) where blob_id is not null;
create index state_versions_json_blob on state_versions (json_blob_id) where json_blob_id is not null;
create index policies_blob on policies (blob_id) where blob_id is not null;
create index policy_set_versions_blob on policy_set_versions (blob_id) where blob_id is not null;

create index teams_organization on teams (organization_id);
create index agent_pools_organization on agent_pools (organization_id) where organization_id is not null;
create index organizations_default_pool on organizations (default_pool_id) where default_pool_id is not null;
create index projects_default_pool on projects (default_pool_id) where default_pool_id is not null;
create index run_inputs_pool on run_inputs (pool_id) where pool_id is not null;
create index run_events_comment on run_events (comment_id) where comment_id is not null;
create index jobs_organization on jobs (organization_id);
create index jobs_workspace on jobs (workspace_id);
