-- SPDX-License-Identifier: MPL-2.0
-- Query runs (terraform query): plan-only runs whose job lists resources that exist. No list of runs shows them.
alter table runs add column query boolean not null default false;
create index runs_queries on runs (workspace_id, position desc) where query;
