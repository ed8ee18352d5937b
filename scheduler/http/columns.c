/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/columns.h"

static const char *text_of(const void *cell)
{
	return *(const char *const *)cell;
}

json_t *cell_text(const void *cell)
{
	return json_string_or_null(text_of(cell));
}

json_t *cell_time(const void *cell)
{
	return time_shown(text_of(cell));
}

json_t *cell_json(const void *cell)
{
	return json_shown(text_of(cell));
}

json_t *cell_bool(const void *cell)
{
	return json_boolean(*(const bool *)cell);
}

json_t *cell_int(const void *cell)
{
	return json_integer(*(const long long *)cell);
}

json_t *cell_float(const void *cell)
{
	return json_real(*(const double *)cell);
}

json_t *cells_shown(const struct cell_shown *table, size_t count, const void *row)
{
	json_t *object = json_object();

	for (const struct cell_shown *cell = table; cell < table + count; cell++)
		json_object_set_new_nocheck(object, cell->name,
			cell->show ? cell->show((const char *)row + cell->at) : json_of(cell->constant));
	return object;
}

json_t *relations_shown(const struct relation *table, size_t count, const void *row)
{
	json_t *object = json_object();

	for (const struct relation *cell = table; cell < table + count; cell++) {
		const char *ids = text_of((const char *)row + cell->at);

		json_object_set_new_nocheck(
			object, cell->name, cell->many ? many_shown(cell->type, ids) : to_one(cell->type, ids));
	}
	return object;
}
