/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DB_SQL_TIME_H
#define SCHEDULER_DB_SQL_TIME_H

/* SQL for times in the API's format, where the database itself makes the JSON. */

/* The timestamp as text. */
#define SQL_TIME(time) "to_char((" time ") at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
/* A member of status_timestamps: the current time. */
#define SQL_STAMP(key) "jsonb_build_object('" key "', " SQL_TIME("now()") ")"

#endif
