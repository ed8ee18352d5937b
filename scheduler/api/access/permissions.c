/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/permissions.h"

bool rights_may(long long of_row, enum permission permission)
{
	return (rights)of_row & right_of(permission);
}

json_t *rights_shown(const struct permission_shown *table, size_t count, long long of_row)
{
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++)
		json_object_set_new_nocheck(
			object, table[i].name, json_boolean(rights_may(of_row, table[i].permission)));
	return object;
}
