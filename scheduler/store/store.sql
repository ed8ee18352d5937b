-- SPDX-License-Identifier: MPL-2.0

-- statement: store_installation
-- The installation's id. The table has one row.
-- reads: installation
-- gives: id text
select id from installation;

-- statement: store_backup_mark
-- Records that a backup was made.
-- reads: database_history
update database_history set backup_at = now();
