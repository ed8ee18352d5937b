-- SPDX-License-Identifier: MPL-2.0

-- statement: check_postgresql
-- gives: version text, name text, creates boolean
select current_setting('server_version') as version, current_user as name,
    has_schema_privilege('public', 'create') as creates;

-- statement: check_objects
-- gives: object_key text null
select object_key from blobs where object_key is not null limit 1;

-- statement: check_backup
-- gives: backup_at timestamptz null, old boolean
select backup_at, backup_at < now() - interval '26 hours' as old from database_history;
