-- SPDX-License-Identifier: MPL-2.0
-- A transition writes a run's row, its workspace's and its operation's, and none of their indexes, where there is room
-- on the page and no index has anything to do with what changes (PostgreSQL's heap-only tuples). A status changes with
-- every transition, so no index names it.

alter table runs add column saved boolean not null generated always as (status = 'planned_and_saved') stored;
drop index runs_queue;
create index runs_queue on runs (workspace_id, position) where queued;
create index runs_saved on runs (workspace_id) where saved;

alter table runs set (fillfactor = 60);
alter table operations set (fillfactor = 60);
alter table workspaces set (fillfactor = 80);
