-- SPDX-License-Identifier: MPL-2.0
-- The head of a fork is approved for those workspaces alone that its approver may manage.
alter table vcs_pull_requests add column approved_workspaces text[] not null default '{}'; -- for approved_sha
