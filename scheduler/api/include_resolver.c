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
static bool asked_for(const struct request *req, const struct resource_kind *kind, const char *name)
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

/* ---- relations ---- */

/* The pending query of one row of the table. A step sends those of all rows in one round trip. */
struct asking {
	const struct inclusion *row;
	struct db_array ids;
	struct rows rows;
};

struct following {
	const struct request *req;
	const struct resource_kind *kind;
	json_t *known;    /* "type id" -> what is included */
	json_t *seen;     /* "type id" of all that was ever queried */
	json_t *included; /* resources */
	json_t *places;   /* for each of `included`, the row of the table that included it */
	struct asking *askings;
};

static void want(struct asking *asking, const json_t *link, json_t *seen)
{
	struct key key = key_of(link);

	if (!text_equal(json_string_at(link, "type"), asking->row->kind->type) || json_object_get(seen, key.text))
		return;
	json_object_set_new(seen, key.text, json_true());
	db_array_add(&asking->ids, json_string_at(link, "id"));
}

static void want_of(struct asking *asking, const json_t *resource, json_t *seen)
{
	const json_t *relation = json_object_get(json_object_get(resource, "relationships"), asking->row->relation);
	const json_t *data = json_object_get(relation, "data"), *link;
	size_t i;

	if (!text_equal(json_string_at(resource, "type"), asking->row->from))
		return;
	if (json_is_object(data))
		want(asking, data, seen);
	json_array_foreach(data, i, link) want(asking, link, seen);
}

/* Adds the relations of `data`, and of the resources that earlier rows of the table included since `first`. */
static void want_all(struct following *f, size_t place, const json_t *data, size_t first)
{
	struct asking *asking = &f->askings[place];
	const json_t *resource;
	size_t i;

	if (json_is_object(data))
		want_of(asking, data, f->seen);
	json_array_foreach(data, i, resource) want_of(asking, resource, f->seen);
	for (i = first; i < json_array_size(f->included); i++)
		if ((size_t)json_integer_value(json_array_get(f->places, i)) < place)
			want_of(asking, json_array_get(f->included, i), f->seen);
}

static int ask_all(struct following *f, struct err *err)
{
	struct store *store = f->req->store;
	int result = 0;

	db_gather(store->db);
	for (size_t i = 0; i < f->kind->includes_count && result == 0; i++) {
		const struct resource_kind *kind = f->kind->includes[i].kind;

		if (kind && f->askings[i].ids.count)
			result = kind->ask(store, &f->askings[i].ids, &f->askings[i].rows, err);
	}
	return db_gathered(store->db, result, err);
}

static int include_all(struct following *f, struct err *err)
{
	for (size_t i = 0; i < f->kind->includes_count; i++) {
		size_t first = json_array_size(f->included);

		if (f->askings[i].ids.count &&
			rows_show(f->req->store, f->kind->includes[i].kind, &f->askings[i].rows, f->included, err) < 0)
			return -1;
		for (; first < json_array_size(f->included); first++) {
			note(f->known, json_array_get(f->included, first));
			json_array_append_new(f->places, json_integer((json_int_t)i));
		}
	}
	return 0;
}

static void askings_release(struct following *f)
{
	for (size_t i = 0; i < f->kind->includes_count; i++) {
		db_array_release(&f->askings[i].ids);
		rows_release(&f->askings[i].rows);
	}
}

/* One step. Each step follows later rows of the table than the one before, so the steps are at most as many as the
 * rows. */
static int follow_once(struct following *f, const json_t *data, size_t first, struct err *err)
{
	size_t wanted = 0;
	int result = 0;

	for (size_t i = 0; i < f->kind->includes_count; i++) {
		f->askings[i] = (struct asking){&f->kind->includes[i], DB_ARRAY_INIT, ROWS_INIT};
		if (f->kind->includes[i].kind && asked_for(f->req, f->kind, f->kind->includes[i].name))
			want_all(f, i, data, first);
		wanted += f->askings[i].ids.count;
	}
	if (wanted && (ask_all(f, err) < 0 || include_all(f, err) < 0))
		result = -1;
	askings_release(f);
	return result;
}

static int follow_all(struct following *f, const json_t *data, struct err *err)
{
	size_t first = 0, before = 0;

	do {
		first = before;
		before = json_array_size(f->included);
		if (follow_once(f, data, first, err) < 0)
			return -1;
		data = NULL;
	} while (json_array_size(f->included) > before);
	return 0;
}

int includes_follow(const struct request *req, const struct resource_kind *kind, const json_t *data,
	json_t **ret_included, struct err *err)
{
	_cleanup_(freep) struct asking *askings = NULL;
	json_auto_t *known = NULL, *seen = NULL, *included = NULL, *places = NULL;
	struct following f;

	*ret_included = NULL;
	if (!*text_or_empty(query(req, "include")))
		return 0;
	askings = mem_new(kind->includes_count + 1, sizeof(*askings));
	known = json_object();
	seen = json_object();
	included = json_array();
	places = json_array();
	f = (struct following){req, kind, known, seen, included, places, askings};
	if (follow_all(&f, data, err) < 0)
		return -1;
	*ret_included = json_incref(included);
	return 0;
}
