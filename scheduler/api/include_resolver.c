/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/include_resolver.h"

#include <string.h>

int includes_check(const struct request *req, const struct resource_kind *kind, struct err *err)
{
	size_t count = kind ? kind->includes_count : 0;
	_cleanup_(freep) const char **known = mem_new(count + 1, sizeof(*known));

	for (size_t i = 0; i < count; i++)
		known[i] = kind->includes[i].name;
	return query_includes_check(req, known, err);
}

/* "run" is included by "run" and by "run.created_by". */
static bool is_requested(const struct request *req, const struct resource_kind *kind, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < kind->includes_count; i++)
		if (text_starts(kind->includes[i].name, name) &&
			(!kind->includes[i].name[len] || kind->includes[i].name[len] == '.') &&
			query_includes(req, kind->includes[i].name))
			return true;
	return false;
}

/* ---- resources included so far: "type id" -> resource ---- */

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

/* Whether the link points to the goal, directly or through other resources. */
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

/* Adds a resource, without the relations that lead back to it. */
static void known_add(json_t *known, json_t *resource)
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

/* ---- relations ---- */

/* The pending query of one row of the table. A step sends those of all rows in one round trip. */
struct inclusion_query {
	const struct inclusion *row;
	struct db_array ids;
	struct rows rows;
};

struct resolution {
	const struct request *req;
	const struct resource_kind *kind;
	json_t *known;    /* "type id" -> what is included */
	json_t *seen;     /* "type id" of all that was ever queried */
	json_t *included; /* resources */
	json_t *places;   /* for each of `included`, the row of the table that included it */
	struct inclusion_query *queries;
};

static void id_add(struct inclusion_query *query, const json_t *link, json_t *seen)
{
	struct key key = key_of(link);

	if (!text_equal(json_string_at(link, "type"), query->row->kind->type) || json_object_get(seen, key.text))
		return;
	json_object_set_new(seen, key.text, json_true());
	db_array_add(&query->ids, json_string_at(link, "id"));
}

static void relation_ids_add(struct inclusion_query *query, const json_t *resource, json_t *seen)
{
	const json_t *relation = json_object_get(json_object_get(resource, "relationships"), query->row->relation);
	const json_t *data = json_object_get(relation, "data"), *link;
	size_t i;

	if (!text_equal(json_string_at(resource, "type"), query->row->from))
		return;
	if (json_is_object(data))
		id_add(query, data, seen);
	json_array_foreach(data, i, link) id_add(query, link, seen);
}

/* Adds the relations of `data`, and of the resources that earlier rows of the table included since `first`. */
static void ids_collect(struct resolution *r, size_t place, const json_t *data, size_t first)
{
	struct inclusion_query *query = &r->queries[place];
	const json_t *resource;
	size_t i;

	if (json_is_object(data))
		relation_ids_add(query, data, r->seen);
	json_array_foreach(data, i, resource) relation_ids_add(query, resource, r->seen);
	for (i = first; i < json_array_size(r->included); i++)
		if ((size_t)json_integer_value(json_array_get(r->places, i)) < place)
			relation_ids_add(query, json_array_get(r->included, i), r->seen);
}

/* A site admin who acts as the user sees no secrets of theirs. */
static bool is_hidden(const struct request *req, const struct resource_kind *kind)
{
	return req->actor.impersonator.text[0] && (kind == &kind_states || kind == &kind_outputs);
}

static int queries_send(struct resolution *r, struct err *err)
{
	struct store *store = r->req->store;
	int result = 0;

	db_gather(store->db);
	for (size_t i = 0; i < r->kind->includes_count && result == 0; i++) {
		const struct resource_kind *kind = r->kind->includes[i].kind;

		if (kind && r->queries[i].ids.count)
			result = kind->ask(store, &r->queries[i].ids, &r->queries[i].rows, err);
	}
	return db_gathered(store->db, result, err);
}

static int results_include(struct resolution *r, struct err *err)
{
	for (size_t i = 0; i < r->kind->includes_count; i++) {
		size_t first = json_array_size(r->included);

		if (r->queries[i].ids.count &&
			rows_show(r->req->store, r->kind->includes[i].kind, &r->queries[i].rows, r->included, err) < 0)
			return -1;
		for (; first < json_array_size(r->included); first++) {
			known_add(r->known, json_array_get(r->included, first));
			json_array_append_new(r->places, json_integer((json_int_t)i));
		}
	}
	return 0;
}

static void queries_release(struct resolution *r)
{
	for (size_t i = 0; i < r->kind->includes_count; i++) {
		db_array_release(&r->queries[i].ids);
		rows_release(&r->queries[i].rows);
	}
}

/* One step. Each step follows later rows of the table than the one before, so the steps are at most as many as the
 * rows. */
static int resolve_step(struct resolution *r, const json_t *data, size_t first, struct err *err)
{
	size_t id_count = 0;
	int result = 0;

	for (size_t i = 0; i < r->kind->includes_count; i++) {
		r->queries[i] = (struct inclusion_query){&r->kind->includes[i], DB_ARRAY_INIT, ROWS_INIT};
		if (r->kind->includes[i].kind && !is_hidden(r->req, r->kind->includes[i].kind) &&
			is_requested(r->req, r->kind, r->kind->includes[i].name))
			ids_collect(r, i, data, first);
		id_count += r->queries[i].ids.count;
	}
	if (id_count && (queries_send(r, err) < 0 || results_include(r, err) < 0))
		result = -1;
	queries_release(r);
	return result;
}

static int resolve_all(struct resolution *r, const json_t *data, struct err *err)
{
	size_t first = 0, before = 0;

	do {
		first = before;
		before = json_array_size(r->included);
		if (resolve_step(r, data, first, err) < 0)
			return -1;
		data = NULL;
	} while (json_array_size(r->included) > before);
	return 0;
}

int includes_follow(const struct request *req, const struct resource_kind *kind, const json_t *data,
	json_t **ret_included, struct err *err)
{
	_cleanup_(freep) struct inclusion_query *queries = NULL;
	json_auto_t *known = NULL, *seen = NULL, *included = NULL, *places = NULL;
	struct resolution r;

	*ret_included = NULL;
	if (!*text_or_empty(query(req, "include")))
		return 0;
	queries = mem_new(kind->includes_count + 1, sizeof(*queries));
	known = json_object();
	seen = json_object();
	included = json_array();
	places = json_array();
	r = (struct resolution){req, kind, known, seen, included, places, queries};
	if (resolve_all(&r, data, err) < 0)
		return -1;
	*ret_included = json_incref(included);
	return 0;
}
