/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/tags.h"

/* Limits of the API: bindings per resource, and tags per workspace. */
enum { MAX_BINDINGS = 10, MAX_TAGS = 100 };

/* ---- bindings ---- */

#define BINDINGS(from, owner)                                                                                          \
	"select e.id, e.key, e.value, e.inherited_from, e." owner " as owner from " from " e where e." owner           \
	" = any($1::text[]) order by e." owner ", e.inherited_from is not null, e.position"

#define OWN                                                                                                            \
	"(select b.*, t.name as key, null::text as inherited_from from tag_bindings b join tags t on t.id = b.tag_id)"

int bindings_read(struct store *store, const struct binding_list *list, struct rows *ret_rows, struct err *err)
{
	const char *sql = BINDINGS(OWN, "workspace_id");

	if (list->kind == TAGGED_PROJECT)
		sql = BINDINGS(OWN, "project_id");
	else if (list->effective)
		sql = BINDINGS("effective_tags", "workspace_id");
	return db_query(store->db, ret_rows, err, sql, P_ARRAY(list->owners));
}

struct writing {
	struct store *store;
	const struct binding_order *order;
	const char *keys; /* arrays; the ids are for new rows */
	const char *values, *ids, *tag_ids;
};

/* Serializes writers of one owner, so that the count is correct. */
static int owner_lock(struct store *store, enum tagged kind, const char *owner, struct err *err)
{
	if (kind == TAGGED_WORKSPACE)
		return db_query(store->db, NULL, err, "select 1 from workspaces where id = $1 for no key update",
			P_TEXT(owner));
	return db_query(store->db, NULL, err, "select 1 from projects where id = $1 for no key update", P_TEXT(owner));
}

static int tags_make(
	struct store *store, const char *organization_id, const char *ids, const char *names, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into tags (id, organization_id, name) select u.id, $1, u.name "
		"from unnest($2::text[], $3::text[]) u(id, name) on conflict (organization_id, name) do nothing",
		P_TEXT(organization_id), P_TEXT(ids), P_TEXT(names));
}

#define BIND(column)                                                                                                   \
	"insert into tag_bindings (id, tag_id, " column ", value) select u.id, t.id, $5, u.value "                     \
	"from unnest($2::text[], $3::text[], $4::text[]) with ordinality u(id, key, value, place) "                    \
	"join tags t on t.organization_id = $1 and t.name = u.key order by u.place "                                   \
	"on conflict (" column ", tag_id) do update set value = excluded.value"

#define UNBIND_OTHERS(column)                                                                                          \
	"delete from tag_bindings b using tags t where t.id = b.tag_id and b." column " = $1 and "                     \
	"t.name <> all($2::text[])"

static const struct {
	const char *bind, *unbind_others, *count;
} statements[] = {
	[TAGGED_WORKSPACE] = {BIND("workspace_id"), UNBIND_OTHERS("workspace_id"),
		"select count(*) as bound from tag_bindings where workspace_id = $1"},
	[TAGGED_PROJECT] = {BIND("project_id"), UNBIND_OTHERS("project_id"),
		"select count(*) as bound from tag_bindings where project_id = $1"},
};

static int count_check(const struct writing *w, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct binding_order *order = w->order;

	if (db_query(w->store->db, &rows, err, statements[order->kind].count, P_TEXT(order->owner)) < 0)
		return -1;
	/* tags_add allows more names than that. They can be kept, but no bindings can be added. */
	if (row_int(&rows, 0, "bound") <= MAX_BINDINGS)
		return 0;
	return err_at(err, order->pointer, "Tag bindings cannot exceed %d bindings per resource", MAX_BINDINGS);
}

static int write_in(void *data, struct err *err)
{
	const struct writing *w = data;
	const struct binding_order *order = w->order;
	struct db *db = w->store->db;

	if (owner_lock(w->store, order->kind, order->owner, err) < 0 ||
		tags_make(w->store, order->organization_id, w->tag_ids, w->keys, err) < 0)
		return -1;
	if (order->replace &&
		db_query(db, NULL, err, statements[order->kind].unbind_others, P_TEXT(order->owner), P_TEXT(w->keys)) <
			0)
		return -1;
	if (!json_array_size(order->bindings))
		return 0;
	if (db_query(db, NULL, err, statements[order->kind].bind, P_TEXT(order->organization_id), P_TEXT(w->ids),
		    P_TEXT(w->keys), P_TEXT(w->values), P_TEXT(order->owner)) < 0)
		return -1;
	return count_check(w, err);
}

int bindings_write(struct store *store, const struct binding_order *order, struct err *err)
{
	_cleanup_(db_array_release) struct db_array keys = DB_ARRAY_INIT, values = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT, tag_ids = DB_ARRAY_INIT;
	struct writing w = {.store = store, .order = order};
	const json_t *binding;
	size_t i;

	json_array_foreach(order->bindings, i, binding)
	{
		db_array_add(&keys, json_string_at(binding, "key"));
		db_array_add(&values, json_string_at(binding, "value"));
		db_array_add(&ids, id_new("tb").text);
		db_array_add(&tag_ids, id_new("tag").text);
	}
	w.keys = db_array_text(&keys);
	w.values = db_array_text(&values);
	w.ids = db_array_text(&ids);
	w.tag_ids = db_array_text(&tag_ids);
	return db_transaction(store->db, write_in, &w, err);
}

/* ---- tags ---- */

#define TAG_COLUMNS                                                                                                    \
	"t.id, t.name, o.name as organization_name, (select count(*) from tag_bindings b where b.tag_id = t.id "       \
	"and b.workspace_id is not null) as instance_count "

#define TAG_PAGE(conditions, limit, offset)                                                                            \
	"with found as (select f.id, f.name from tags f where " conditions ") select c.total, t.* from "               \
	"(select count(*) as total from found) c left join (select " TAG_COLUMNS                                       \
	"from tags t join organizations o on o.id = t.organization_id where t.id in (select id from found "            \
	"order by name limit " limit " offset " offset ")) t on true order by t.name"

int tags_of_workspace(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		TAG_PAGE(
			"f.id in (select tag_id from tag_bindings where workspace_id = $1 and value = '')", "$2", "$3"),
		P_TEXT(workspace_id), P_INT(range.limit), P_INT(range.offset));
}

int tags_list(struct store *store, const struct tag_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		TAG_PAGE("f.organization_id = $1 and ($2::text is null or strpos(lower(f.name), lower($2)) > 0) "
			 "and ($3::text is null or not (f.id = any(string_to_array($3, ',')) or exists (select 1 from "
			 "tag_bindings b where b.tag_id = f.id and b.workspace_id = any(string_to_array($3, ',')))))",
			"$4", "$5"),
		P_TEXT(list->organization_id), P_TEXT(list->search), P_TEXT(list->exclude), P_INT(list->limit),
		P_INT(list->offset));
}

struct tagging {
	struct store *store;
	const struct tag_choice *choice;
	const char *ids, *names;           /* arrays */
	const char *tag_ids, *binding_ids; /* for new rows */
};

/* One row per chosen tag that exists, by id or by name. */
#define CHOSEN                                                                                                         \
	"select t.id, t.id = any($2::text[]) as by_id from tags t where t.organization_id = $1 and "                   \
	"(t.id = any($2::text[]) or t.name = any($3::text[]))"

static int add_check(const struct tagging *t, const struct rows *rows, struct err *err)
{
	if (row_int(rows, 0, "by_id") != (long long)json_array_size(t->choice->ids))
		return err_at(err, "/data", "Tags must exist in the workspace's organization");
	if (row_int(rows, 0, "bound") + row_int(rows, 0, "added") > MAX_TAGS)
		return err_at(err, "/data", "Tags cannot exceed %d per workspace", MAX_TAGS);
	return 0;
}

static int add_in(void *data, struct err *err)
{
	const struct tagging *t = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct tag_choice *choice = t->choice;

	if (owner_lock(t->store, TAGGED_WORKSPACE, choice->workspace_id, err) < 0 ||
		tags_make(t->store, choice->organization_id, t->tag_ids, t->names, err) < 0 ||
		db_query(t->store->db, &rows, err,
			"with chosen as (" CHOSEN "), added as (insert into tag_bindings (id, tag_id, workspace_id) "
			"select ($5::text[])[row_number() over ()], c.id, $4 from chosen c on conflict (workspace_id, "
			"tag_id) do nothing returning 1) "
			"select (select count(*) from chosen where by_id) as by_id, (select count(*) from added) as "
			"added, "
			"(select count(*) from tag_bindings where workspace_id = $4) as bound",
			P_TEXT(choice->organization_id), P_TEXT(t->ids), P_TEXT(t->names), P_TEXT(choice->workspace_id),
			P_TEXT(t->binding_ids)) < 0)
		return -1;
	return add_check(t, &rows, err);
}

static int remove_in(void *data, struct err *err)
{
	const struct tagging *t = data;
	const struct tag_choice *choice = t->choice;

	return db_query(t->store->db, NULL, err,
		"delete from tag_bindings where workspace_id = $4 and tag_id in (select id from (" CHOSEN ") c)",
		P_TEXT(choice->organization_id), P_TEXT(t->ids), P_TEXT(t->names), P_TEXT(choice->workspace_id));
}

static void ids_make(struct db_array *array, const char *prefix, size_t count)
{
	while (count--)
		db_array_add(array, id_new(prefix).text);
}

static int tagging_do(
	struct store *store, const struct tag_choice *choice, int (*fn)(void *data, struct err *err), struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT, names = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array tag_ids = DB_ARRAY_INIT, binding_ids = DB_ARRAY_INIT;
	struct tagging t = {.store = store, .choice = choice};

	db_array_add_texts(&ids, choice->ids);
	db_array_add_texts(&names, choice->names);
	ids_make(&tag_ids, "tag", json_array_size(choice->names));
	ids_make(&binding_ids, "tb", json_array_size(choice->names) + json_array_size(choice->ids));
	t.ids = db_array_text(&ids);
	t.names = db_array_text(&names);
	t.tag_ids = db_array_text(&tag_ids);
	t.binding_ids = db_array_text(&binding_ids);
	return db_transaction(store->db, fn, &t, err);
}

int tags_add(struct store *store, const struct tag_choice *choice, struct err *err)
{
	return tagging_do(store, choice, add_in, err);
}

int tags_remove(struct store *store, const struct tag_choice *choice, struct err *err)
{
	return tagging_do(store, choice, remove_in, err);
}

int tags_delete(struct store *store, const char *organization_id, const json_t *ids, struct err *err)
{
	_cleanup_(db_array_release) struct db_array array = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&array, ids);
	/* Deletes all of them or none. */
	if (db_query(store->db, &rows, err,
		    "with chosen as (select id from tags where organization_id = $1 and id = any($2::text[])) "
		    "delete from tags where id in (select id from chosen) and (select count(*) from chosen) = "
		    "$3::bigint",
		    P_TEXT(organization_id), P_ARRAY(&array), P_INT((long long)json_array_size(ids))) < 0)
		return -1;
	if (db_affected(&rows) || !json_array_size(ids))
		return 0;
	return err_set(err, ERR_NOT_FOUND, "tag not found");
}

/* ---- one tag ---- */

int tag_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select id, name, organization_id from tags where id = $1", P_TEXT(id)) <
		0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "tag not found");
}

struct binding {
	struct store *store;
	const char *id;
	const json_t *workspace_ids;
};

static int bind_in(void *data, struct err *err)
{
	const struct binding *b = data;
	_cleanup_(db_array_release) struct db_array array = DB_ARRAY_INIT, ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&array, b->workspace_ids);
	ids_make(&ids, "tb", json_array_size(b->workspace_ids));
	if (db_query(b->store->db, &rows, err,
		    "with may as (select w.id from tags t join workspaces w on w.organization_id = t.organization_id "
		    "where t.id = $1 and w.id = any($2::text[])), added as (insert into tag_bindings (id, tag_id, "
		    "workspace_id) select ($3::text[])[row_number() over ()], $1, id from may "
		    "on conflict (workspace_id, tag_id) do nothing) select count(*) as found from may",
		    P_TEXT(b->id), P_ARRAY(&array), P_ARRAY(&ids)) < 0)
		return -1;
	if (row_int(&rows, 0, "found") == (long long)json_array_size(b->workspace_ids))
		return 0;
	return err_at(err, "/data", "Workspaces must exist in the tag's organization");
}

int tag_bind(struct store *store, const char *id, const json_t *workspace_ids, struct err *err)
{
	struct binding b = {store, id, workspace_ids};

	return db_transaction(store->db, bind_in, &b, err);
}
