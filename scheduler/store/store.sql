-- SPDX-License-Identifier: MPL-2.0

-- statement: store_installation
-- gives: id text
select id from installation;

-- statement: store_backup_mark
update database_history set backup_at = now();
