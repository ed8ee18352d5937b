/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_COLUMNS_H
#define SCHEDULER_HTTP_COLUMNS_H

/* Tables of attributes and relations that are columns of a row. */

#include <stddef.h>

#include "scheduler/http/request.h"

/* An attribute that is a column of a row, or a constant. */
struct cell_shown {
	const char *name;
	json_t *(*show)(const void *cell); /* NULL: the constant */
	size_t at;
	const char *constant; /* JSON */
};

#define CELL(name, shape, column)                                                                                      \
	{                                                                                                              \
		name, CELL_SHOW(((struct shape##_row *)0)->column), offsetof(struct shape##_row, column), NULL         \
	}
#define CELL_SHOW(cell)                                                                                                \
	_Generic((cell), const char * : cell_text, bool : cell_bool, long long : cell_int, double : cell_float)
/* A timestamptz column, a jsonb column, and a constant. */
#define CELL_TIME(name, shape, column)                                                                                 \
	{                                                                                                              \
		name, cell_time, offsetof(struct shape##_row, column), NULL                                            \
	}
#define CELL_JSON(name, shape, column)                                                                                 \
	{                                                                                                              \
		name, cell_json, offsetof(struct shape##_row, column), NULL                                            \
	}
#define CELL_ALWAYS(name, json)                                                                                        \
	{                                                                                                              \
		name, NULL, 0, json                                                                                    \
	}

json_t *cell_text(const void *cell);
json_t *cell_time(const void *cell);
json_t *cell_json(const void *cell);
json_t *cell_bool(const void *cell);
json_t *cell_int(const void *cell);
json_t *cell_float(const void *cell);
/* {"name": value, ...} of the struct of a row. A new reference. */
json_t *cells_shown(const struct cell_shown *table, size_t count, const void *row);

/* A relation of a resource: its name and type in the API, and the column with the id, or for a to-many one the jsonb
 * column with the ids. */
struct relation {
	const char *name, *type;
	size_t at;
	bool many;
};
#define ONE_CELL(name, type, shape, column)                                                                            \
	{                                                                                                              \
		name, type, offsetof(struct shape##_row, column), false                                                \
	}
#define MANY_CELL(name, type, shape, column)                                                                           \
	{                                                                                                              \
		name, type, offsetof(struct shape##_row, column), true                                                 \
	}
/* {"name": {"data": ...}, ...}. A new reference. */
json_t *relations_shown(const struct relation *table, size_t count, const void *row);

#endif
