/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DB_SQL_TIME_H
#define SCHEDULER_DB_SQL_TIME_H

/* SQL for times in the API's format, where the database itself makes the JSON. */

#endif
