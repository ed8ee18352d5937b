/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_COLUMNS_H
#define SCHEDULER_HTTP_COLUMNS_H

/* Tables of attributes and relations that are columns of a row. */

#include "scheduler/http/request.h"

struct column_shown {
	const char *name;
	json_t *(*make)(const struct rows *rows, int row, const char *column); /* row_string and similar functions */
	const char *column;
};

/* {"name": value, ...}. A new reference. */
json_t *columns_shown(const struct column_shown *table, size_t count, const struct rows *rows, int row);

/* To-one relations. The column holds the id. */
struct relation_shown {
	const char *name, *type, *column;
};

/* {"name": {"data": {"id", "type"}}, ...}. A new reference. */
json_t *relations_shown(const struct relation_shown *table, size_t count, const struct rows *rows, int row);

/* A column as a boolean, and as a number. New references. */
json_t *row_boolean(const struct rows *rows, int row, const char *column);
json_t *row_number(const struct rows *rows, int row, const char *column);
/* Constants in such a table: instead of a column they take the value, JSON or a text. New references. */
json_t *always(const struct rows *rows, int row, const char *json);
json_t *always_text(const struct rows *rows, int row, const char *text);

#endif
