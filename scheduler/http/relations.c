/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/relations.h"

#include <stdio.h>

enum { MAX_RELATED = 10000 };

static int linkage_read(const json_t *list, const char *type, const char *pointer, json_t **ret_ids, struct err *err)
{
	json_auto_t *ids = json_array(), *seen = json_object();
	const json_t *item;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > MAX_RELATED)
		return err_at(err, pointer, "Data must be an array of at most %d {type, id}", MAX_RELATED);
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

/* ---- tables of relations ---- */

size_t ids_count(const char *ids)
{
	json_auto_t *list = json_shown(ids);

	return json_array_size(list);
}

int relations_read(
	const struct request *req, const struct relation *table, size_t count, json_t **ret_ids, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (body_relations(req, table[i].name, table[i].type, &ret_ids[i], err) < 0)
			return -1;
	return 0;
}

int relation_in_path(
	const struct request *req, const struct relation *table, size_t count, size_t *ret_index, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(table[i].name, param(req, "relation"))) {
			*ret_index = i;
			return 0;
		}
	return err_set(err, ERR_NOT_FOUND, "there is nothing at this address");
}
