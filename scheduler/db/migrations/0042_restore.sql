-- SPDX-License-Identifier: MPL-2.0
-- Restores from backups (runs/epoch.h).

-- When `restored` was run last, and when `backup-mark` was.
alter table database_history add column restored_at timestamptz;
alter table database_history add column backup_at timestamptz;

-- The database was restored after the apply had begun: its state is stored detached, and only a person ends the hold.
alter table workspace_holds add column restored boolean not null default false;
