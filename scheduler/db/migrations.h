/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DB_MIGRATIONS_H
#define SCHEDULER_DB_MIGRATIONS_H

/*
 * The files of scheduler/db/migrations, in the order of their names, as the build embeds them.
 * A released file never changes; a change is a new file.
 */

#include <stddef.h>

struct migration {
	const char *name; /* "0001_init", the file's name without ".sql" */
	const char *sql;  /* the whole text: any number of statements */
};

extern const struct migration migrations[];
extern const size_t migrations_count;

#endif
