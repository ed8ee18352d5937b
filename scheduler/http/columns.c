/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/columns.h"

json_t *columns_shown(const struct column_shown *table, size_t count, const struct rows *rows, int row)
{
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++)
		json_object_set_new_nocheck(object, table[i].name, table[i].make(rows, row, table[i].column));
	return object;
}

json_t *relations_shown(const struct relation_shown *table, size_t count, const struct rows *rows, int row)
{
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++)
		json_object_set_new_nocheck(
			object, table[i].name, to_one(table[i].type, row_text(rows, row, table[i].column)));
	return object;
}

json_t *row_boolean(const struct rows *rows, int row, const char *column)
{
	return json_boolean(row_bool(rows, row, column));
}

json_t *row_number(const struct rows *rows, int row, const char *column)
{
	return json_integer(row_int(rows, row, column));
}

json_t *always(const struct rows *rows, int row, const char *json)
{
	(void)rows;
	(void)row;
	return json_of(json);
}

json_t *always_text(const struct rows *rows, int row, const char *text)
{
	(void)rows;
	(void)row;
	return json_string(text);
}
