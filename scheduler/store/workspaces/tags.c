/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/tags.h"

#include "scheduler/store/workspaces/reserved_tags.h"
#include "scheduler/store/workspaces/tags.sql.h"

/* Limits of the API: bindings per resource, and tags per workspace. */
enum { MAX_BINDINGS = 10, MAX_TAGS = 100 };

/* ---- bindings ---- */

struct writing {
	struct store *store;
	const struct binding_order *order;
	struct db_array *keys, *values;
	struct db_array *ids, *tag_ids; /* for new rows */
};

/* The statements for each kind of owner. Only workspaces inherit bindings. */
static const struct {
	const struct db_statement *read, *read_effective, *lock, *bind, *unbind_others, *count;
} statements[] = {
	[TAGGED_WORKSPACE] = {&bindings_of_workspaces_statement, &bindings_effective_statement,
		&workspace_tags_lock_statement, &workspace_tags_bind_statement, &workspace_tags_unbind_others_statement,
		&workspace_tags_count_statement},
	[TAGGED_PROJECT] = {&bindings_of_projects_statement, &bindings_of_projects_statement,
		&project_tags_lock_statement, &project_tags_bind_statement, &project_tags_unbind_others_statement,
		&project_tags_count_statement},
	[TAGGED_MODULE] = {&bindings_of_modules_statement, &bindings_of_modules_statement, &module_tags_lock_statement,
		&module_tags_bind_statement, &module_tags_unbind_others_statement, &module_tags_count_statement},
	[TAGGED_PROVIDER] = {&bindings_of_providers_statement, &bindings_of_providers_statement,
		&provider_tags_lock_statement, &provider_tags_bind_statement, &provider_tags_unbind_others_statement,
		&provider_tags_count_statement},
};

int bindings_read(struct store *store, const struct binding_list *list, struct rows *ret_rows, struct err *err)
{
	const struct db_statement *statement =
		list->effective ? statements[list->kind].read_effective : statements[list->kind].read;

	return db_query_one_of(store->db, ret_rows, err, statement, bindings_of_workspaces, .owners = list->owners);
}

static int owner_lock(struct store *store, enum tagged kind, const char *owner, struct err *err)
{
	return db_query_one_of(store->db, NULL, err, statements[kind].lock, workspace_tags_lock, .owner = owner);
}

static int tags_make(
	struct store *store, const char *organization_id, struct db_array *ids, struct db_array *names, struct err *err)
{
	return db_query(
		store->db, NULL, err, tags_ensure, .organization_id = organization_id, .ids = ids, .names = names);
}

static int count_check(const struct writing *w, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct binding_order *order = w->order;

	if (db_query_one_of(w->store->db, &rows, err, statements[order->kind].count, workspace_tags_count,
		    .owner = order->owner) < 0)
		return -1;
	/* tags_add allows more names than that. They can be kept, but no bindings can be added. */
	if (row_of(tags_bound, &rows, 0)->bound <= MAX_BINDINGS)
		return 0;
	return err_at(err, order->pointer, "Tag bindings cannot exceed %d bindings per resource", MAX_BINDINGS);
}

/* Projects, modules and providers bind any key. */
static int override_check(const struct writing *w, struct err *err)
{
	_cleanup_(db_array_release) struct db_array owners = DB_ARRAY_INIT;

	if (w->order->kind != TAGGED_WORKSPACE)
		return 0;
	db_array_add(&owners, w->order->owner);
	return reserved_tags_check(w->store,
		&(struct tags_bound){.workspaces = &owners, .names = w->keys, .pointer = w->order->pointer}, err);
}

static int write_in(void *data, struct err *err)
{
	const struct writing *w = data;
	const struct binding_order *order = w->order;
	struct db *db = w->store->db;

	if (owner_lock(w->store, order->kind, order->owner, err) < 0 || override_check(w, err) < 0 ||
		tags_make(w->store, order->organization_id, w->tag_ids, w->keys, err) < 0)
		return -1;
	if (order->replace &&
		db_query_one_of(db, NULL, err, statements[order->kind].unbind_others, workspace_tags_unbind_others,
			.owner = order->owner, .keys = w->keys) < 0)
		return -1;
	if (!json_array_size(order->bindings))
		return 0;
	if (db_query_one_of(db, NULL, err, statements[order->kind].bind, workspace_tags_bind,
		    .organization_id = order->organization_id, .ids = w->ids, .keys = w->keys, .values = w->values,
		    .owner = order->owner) < 0)
		return -1;
	return count_check(w, err);
}

int bindings_write(struct store *store, const struct binding_order *order, struct err *err)
{
	_cleanup_(db_array_release) struct db_array keys = DB_ARRAY_INIT, values = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT, tag_ids = DB_ARRAY_INIT;
	struct writing w = {store, order, &keys, &values, &ids, &tag_ids};
	const json_t *binding;
	size_t i;

	json_array_foreach(order->bindings, i, binding)
	{
		db_array_add(&keys, json_string_at(binding, "key"));
		db_array_add(&values, json_string_at(binding, "value"));
		db_array_add(&ids, id_new("tb").text);
		db_array_add(&tag_ids, id_new("tag").text);
	}
	return db_transaction(store->db, write_in, &w, err);
}

/* ---- tags ---- */

int tags_of_workspace(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, tags_of_workspace, .workspace_id = workspace_id, .limit = range.limit,
		.offset = range.offset);
}

int tags_list(struct store *store, const struct tag_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, tags_list, .organization_id = list->organization_id,
		.search = list->search, .exclude = list->exclude, .limit = list->limit, .offset = list->offset);
}

struct tagging {
	struct store *store;
	const struct tag_choice *choice;
	struct db_array *ids, *names;
	struct db_array *tag_ids, *binding_ids; /* for new rows */
};

static int add_check(const struct tagging *t, const struct tags_add_row *counts, struct err *err)
{
	if (counts->by_id != (long long)json_array_size(t->choice->ids))
		return err_at(err, "/data", "Tags must exist in the workspace's organization");
	if (counts->bound + counts->added > MAX_TAGS)
		return err_at(err, "/data", "Tags cannot exceed %d per workspace", MAX_TAGS);
	return 0;
}

static int add_in(void *data, struct err *err)
{
	const struct tagging *t = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct tag_choice *choice = t->choice;
	_cleanup_(db_array_release) struct db_array owners = DB_ARRAY_INIT;

	db_array_add(&owners, choice->workspace_id);
	if (owner_lock(t->store, TAGGED_WORKSPACE, choice->workspace_id, err) < 0 ||
		reserved_tags_check(t->store, &(struct tags_bound){&owners, t->names, t->ids, "/data"}, err) < 0 ||
		tags_make(t->store, choice->organization_id, t->tag_ids, t->names, err) < 0 ||
		db_query(t->store->db, &rows, err, tags_add, .organization_id = choice->organization_id, .ids = t->ids,
			.names = t->names, .workspace_id = choice->workspace_id, .binding_ids = t->binding_ids) < 0)
		return -1;
	return add_check(t, row_of(tags_add, &rows, 0), err);
}

static int remove_in(void *data, struct err *err)
{
	const struct tagging *t = data;
	const struct tag_choice *choice = t->choice;

	return db_query(t->store->db, NULL, err, tags_remove, .organization_id = choice->organization_id, .ids = t->ids,
		.names = t->names, .workspace_id = choice->workspace_id);
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
	struct tagging t = {store, choice, &ids, &names, &tag_ids, &binding_ids};

	db_array_add_texts(&ids, choice->ids);
	db_array_add_texts(&names, choice->names);
	ids_make(&tag_ids, "tag", json_array_size(choice->names));
	ids_make(&binding_ids, "tb", json_array_size(choice->names) + json_array_size(choice->ids));
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
	if (db_query(store->db, &rows, err, tags_delete, .organization_id = organization_id, .tag_ids = &array,
		    .count = (long long)json_array_size(ids)) < 0)
		return -1;
	if (db_affected(&rows) || !json_array_size(ids))
		return 0;
	return err_set(err, ERR_NOT_FOUND, "tag not found");
}

/* ---- one tag ---- */

int tag_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, tag_read, .id = id) < 0)
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
	_cleanup_(db_array_release) struct db_array array = DB_ARRAY_INIT, ids = DB_ARRAY_INIT, tags = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&array, b->workspace_ids);
	db_array_add(&tags, b->id);
	if (reserved_tags_check(b->store, &(struct tags_bound){&array, NULL, &tags, "/data"}, err) < 0)
		return -1;
	ids_make(&ids, "tb", json_array_size(b->workspace_ids));
	if (db_query(b->store->db, &rows, err, tag_bind_workspaces, .id = b->id, .workspace_ids = &array,
		    .binding_ids = &ids) < 0)
		return -1;
	if (row_of(tag_bind_workspaces, &rows, 0)->found == (long long)json_array_size(b->workspace_ids))
		return 0;
	return err_at(err, "/data", "Workspaces must exist in the tag's organization");
}

int tag_bind(struct store *store, const char *id, const json_t *workspace_ids, struct err *err)
{
	struct binding b = {store, id, workspace_ids};

	return db_transaction(store->db, bind_in, &b, err);
}
