/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/relations.h"

#include <stdio.h>

enum { MOST_RELATED = 10000 };

static int linkage_read(const json_t *list, const char *type, const char *pointer, json_t **ret_ids, struct err *err)
{
	json_auto_t *ids = json_array(), *seen = json_object();
	const json_t *item;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > MOST_RELATED)
		return err_at(err, pointer, "Data must be an array of at most %d {type, id}", MOST_RELATED);
	json_array_foreach(list, i, item)
	{
		const char *id = json_string_at(item, "id");

		if (!id || !text_equal(json_string_at(item, "type"), type))
			return err_at(err, pointer, "Each item must have the type %s and an id", type);
		if (json_object_get(seen, id))
			continue;
		json_object_set_new(seen, id, json_true());
		json_array_append_new(ids, json_string(id));
	}
	*ret_ids = json_incref(ids);
	return 0;
}

int body_relations(const struct request *req, const char *name, const char *type, json_t **ret_ids, struct err *err)
{
	const json_t *relation = json_object_get(json_at(req->body, "data.relationships"), name);
	const json_t *data = json_object_get(relation, "data");
	char pointer[128];

	*ret_ids = NULL;
	snprintf(pointer, sizeof(pointer), "/data/relationships/%s", name);
	return data && !json_is_null(data) ? linkage_read(data, type, pointer, ret_ids, err) : 0;
}

int body_linkage(const struct request *req, const char *type, json_t **ret_ids, struct err *err)
{
	return linkage_read(json_object_get(req->body, "data"), type, "/data", ret_ids, err);
}

void ids_add(struct db_array *array, const json_t *ids)
{
	const json_t *id;
	size_t i;

	json_array_foreach(ids, i, id) db_array_add(array, json_string_value(id));
}
