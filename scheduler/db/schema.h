/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DB_SCHEMA_H
#define SCHEDULER_DB_SCHEMA_H

/*
 * The version of the database's schema, its migrations, and the programs that may serve on it.
 *
 * The version of a schema and of a program is the number of its newest migration: 0040_versions is 40. A migration
 * expands, and older programs go on; or it contracts. The text of a contracting one has the line "-- contract: N":
 * programs of a version below N can't serve afterwards, so the schema refuses them (schema_migrations.oldest).
 * Contracting migrations are applied by `migrate --contract` only, and to an empty database.
 *
 * Migrations wait at most 2 s for a lock, so that no request waits for longer behind them. Each one is a transaction,
 * unless its text has the line "-- outside a transaction": then it is repeated from its beginning after a failure (an
 * index that is built concurrently is first dropped if it exists).
 */

#include <stdio.h>

#include "scheduler/db/db.h"
#include "scheduler/db/migrations.h"

struct schema {
	struct rows rows; /* schema_migrations */
	int version;      /* 0: the database is empty */
	int oldest;       /* the lowest version of programs that may serve */
};
#define SCHEMA_INIT                                                                                                    \
	{                                                                                                              \
		.rows = ROWS_INIT                                                                                      \
	}

/* Reads the versions, and needs no right but that. ERR_INVALID for a database of an unreleased version. */
int schema_read(struct db *db, struct schema *ret_schema, struct err *err);
void schema_release(struct schema *schema);
/* The version of this program. */
int schema_program_version(void);
/* The first of this program's migrations that the schema lacks; NULL: none. */
const struct migration *schema_missing(const struct schema *schema, bool contract);

/* Whether this program may serve. ERR_INVALID if the schema refuses it. ERR_UNAVAILABLE if the schema lacks a
 * migration that another process has to apply. */
int schema_check(struct db *db, struct err *err);
/* Applies the migrations that are missing, over a connection of its own. ERR_UNAVAILABLE if a lock could not be had in
 * time, or if another process migrates: try again. */
int schema_migrate(const char *database_url, bool contract, struct err *err);
/* Prints the statements of the missing migrations, with the lock of each. */
int schema_plan(struct db *db, FILE *out, struct err *err);

#endif
