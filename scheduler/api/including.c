/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/including.h"

#include <string.h>

int includes_check(const struct request *req, const struct inclusion *table, size_t count, struct err *err)
{
	_cleanup_(freep) const char **known = mem_new(count + 1, sizeof(*known));

	for (size_t i = 0; i < count; i++)
		known[i] = table[i].name;
	return query_includes_check(req, known, err);
}

int list_begin(const struct request *req, const struct inclusion *table, size_t count, struct scope *ret_scope,
	struct page *ret_page, struct err *err)
{
	if (includes_check(req, table, count, err) < 0 || page_read(req, ret_page, err) < 0)
		return -1;
	return scope_organization(req, ret_scope, err);
}

/* "run" is asked for by "run", and by "run.created_by". */
static bool asked_for(const struct request *req, const struct inclusion *table, size_t count, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < count; i++)
		if (text_starts(table[i].name, name) && (!table[i].name[len] || table[i].name[len] == '.') &&
			query_includes(req, table[i].name))
			return true;
	return false;
}

/* ---- what is included so far: "type id" -> resource ---- */

struct key {
	char text[320];
};

static struct key key_of(const json_t *link)
{
	const char *type = json_string_value(json_object_get(link, "type"));
	const char *id = json_string_value(json_object_get(link, "id"));
	struct key key;
	size_t len;

	text_copy(key.text, sizeof(key.text) / 2, text_or_empty(type));
	len = strlen(key.text);
	key.text[len] = ' ';
	text_copy(key.text + len + 1, sizeof(key.text) - len - 1, text_or_empty(id));
	return key;
}

static bool link_reaches(const json_t *known, const json_t *link, const char *goal);

static bool data_reaches(const json_t *known, const json_t *data, const char *goal)
{
	const json_t *link;
	size_t i;

	if (!json_is_array(data))
		return json_is_object(data) && link_reaches(known, data, goal);
	json_array_foreach(data, i, link)
	{
		if (link_reaches(known, link, goal))
			return true;
	}
	return false;
}

/* Whether the goal is what the link points to, or is reached from there. */
static bool link_reaches(const json_t *known, const json_t *link, const char *goal)
{
	struct key key = key_of(link);
	json_t *relations = json_object_get(json_object_get(known, key.text), "relationships");
	const char *name;
	json_t *relation;

	if (text_equal(key.text, goal))
		return true;
	json_object_foreach(relations, name, relation)
	{
		if (data_reaches(known, json_object_get(relation, "data"), goal))
			return true;
	}
	return false;
}

/* A resource comes in without those relations that lead back to it. */
static void note(json_t *known, json_t *resource)
{
	struct key key = key_of(resource);
	json_t *relations = json_object_get(resource, "relationships");
	const char *name;
	json_t *relation;
	void *next;

	json_object_foreach_safe(relations, next, name, relation)
	{
		if (data_reaches(known, json_object_get(relation, "data"), key.text))
			json_object_del(relations, name);
	}
	json_object_set(known, key.text, resource);
}

/* ---- one relation ---- */

static void want(const struct inclusion *row, const json_t *link, json_t *seen, struct db_array *ids)
{
	struct key key = key_of(link);

	if (!text_equal(json_string_at(link, "type"), row->kind->type) || json_object_get(seen, key.text))
		return;
	json_object_set_new(seen, key.text, json_true());
	db_array_add(ids, json_string_at(link, "id"));
}

static void want_of(const struct inclusion *row, const json_t *resource, json_t *seen, struct db_array *ids)
{
	const json_t *relation = json_object_get(json_object_get(resource, "relationships"), row->relation);
	const json_t *data = json_object_get(relation, "data"), *link;
	size_t i;

	if (!text_equal(json_string_at(resource, "type"), row->from))
		return;
	if (json_is_object(data))
		want(row, data, seen, ids);
	json_array_foreach(data, i, link) want(row, link, seen, ids);
}

static int follow(const struct request *req, const struct inclusion *row, const json_t *data, json_t *known,
	json_t *included, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *seen = json_copy(known);
	size_t first = json_array_size(included), i;
	const json_t *resource;

	if (json_is_object(data))
		want_of(row, data, seen, &ids);
	json_array_foreach(data, i, resource) want_of(row, resource, seen, &ids);
	json_array_foreach(included, i, resource) want_of(row, resource, seen, &ids);
	if (!ids.count)
		return 0;
	if (row->kind->read(req->store, &ids, &rows, err) < 0 ||
		rows_show(req->store, row->kind, &rows, included, err) < 0)
		return -1;
	for (i = first; i < json_array_size(included); i++)
		note(known, json_array_get(included, i));
	return 0;
}

int includes_follow(const struct request *req, const struct inclusion *table, size_t count, const json_t *data,
	json_t **ret_included, struct err *err)
{
	json_auto_t *known = json_object(), *included = json_array();

	*ret_included = NULL;
	if (!*text_or_empty(query(req, "include")))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (table[i].kind && asked_for(req, table, count, table[i].name) &&
			follow(req, &table[i], data, known, included, err) < 0)
			return -1;
	*ret_included = json_incref(included);
	return 0;
}

/* ---- answers ---- */

int respond_row(struct request *req, struct response *res, int status, const struct listing *listing, struct err *err)
{
	json_t *resource = NULL, *included = NULL;

	if (listing->kind->make(req->store, listing->rows, 0, &resource, err) < 0)
		return -1;
	if (includes_follow(req, listing->includes, listing->includes_count, resource, &included, err) < 0) {
		json_decref(resource);
		return -1;
	}
	return respond_including(res, status, resource, included);
}

int respond_rows(
	struct request *req, struct response *res, struct page *page, const struct listing *listing, struct err *err)
{
	json_auto_t *data = json_array();
	json_t *included = NULL;

	page->total = row_int(listing->rows, 0, "total");
	if (!row_null(listing->rows, 0, "id") &&
		(rows_show(req->store, listing->kind, listing->rows, data, err) < 0 ||
			includes_follow(req, listing->includes, listing->includes_count, data, &included, err) < 0))
		return -1;
	return respond_page(req, res, page, json_incref(data), included);
}
