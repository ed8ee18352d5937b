-- SPDX-License-Identifier: MPL-2.0
-- When a person locked the workspace; null: unlocked, or locked by an earlier version.
alter table workspaces add column locked_at timestamptz;
