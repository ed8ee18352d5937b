-- SPDX-License-Identifier: MPL-2.0

-- statement: check_postgresql
-- The server's version, the user, and whether they may change tables.
-- gives: version text, name text, creates boolean
select current_setting('server_version') as version, current_user as name,
    has_schema_privilege('public', 'create') as creates;

-- statement: check_objects
-- An object that a blob has in the object store, if any.
-- reads: blobs
-- gives: object_key text null
select object_key from blobs where object_key is not null limit 1;

-- statement: check_backup
-- The time of the last backup that was recorded, and whether that is too long ago.
-- reads: database_history
-- gives: backup_at timestamptz null, old boolean
select backup_at, backup_at < now() - interval '26 hours' as old from database_history;
