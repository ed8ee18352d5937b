/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DB_SQL_TEXT_H
#define SCHEDULER_DB_SQL_TEXT_H

/* The statements of a script, and the locks that they take. Pure. */

#include "common/base.h"

struct sql_statement {
	const char *text; /* borrowed from the script, from its first word to its semicolon */
	size_t len;
};

/* Finds the next statement from *at on, and moves *at behind it. Comments between statements are skipped. Returns false
 * at the end of the script. */
bool sql_next(const char **at, struct sql_statement *ret_statement);

/* The strongest lock that a statement takes on a table that exists, by PostgreSQL's name ("ACCESS EXCLUSIVE"); "none"
 * if it only makes something new. */
const char *sql_lock(const struct sql_statement *statement);
/* The statements that a lock of that name blocks: "reads and writes". */
const char *sql_lock_blocks(const char *lock);
/* Copies the name of the table that a statement makes (create table) or changes; "" if it names none. */
enum { SQL_NAME_SIZE = 64 };
bool sql_makes_table(const struct sql_statement *statement, char ret_name[SQL_NAME_SIZE]);
void sql_table(const struct sql_statement *statement, char ret_name[SQL_NAME_SIZE]);

#endif
