-- SPDX-License-Identifier: MPL-2.0

-- fragment: sql_time(time)
-- The timestamp as text.
to_char((:time) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
