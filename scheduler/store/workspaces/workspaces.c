/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/workspaces.h"

#include "proto/states.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/vcs/repositories.h"
#include "scheduler/store/workspaces/projects.h"
#include "scheduler/store/workspaces/workspaces.sql.h"

/* The largest offset at which a list is first searched by the newest runs. */
enum { MAX_NEWEST = 1000 };
#define SORT_NEWEST "-current-run.created-at"

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "workspace not found");
}

int workspace_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, workspace_read, .id = id, .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int workspace_read_ask(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, workspace_read, .id = id, .user = response_scope_user(store->scope));
}

int workspace_read_named(
	struct store *store, const char *organization, const char *name, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, workspace_read_named, .organization = organization, .name = name,
		    .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int workspace_read_named_ask(
	struct store *store, const char *organization, const char *name, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, workspace_read_named, .organization = organization, .name = name,
		.user = response_scope_user(store->scope));
}

int workspaces_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(
		store->db, ret_rows, err, workspaces_read_all, .ids = ids, .user = response_scope_user(store->scope));
}

int workspace_lookup(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, workspace_lookup, .id = id);
}

int workspace_lookup_ask(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, workspace_lookup, .id = id);
}

int workspace_lookup_named(
	struct store *store, const char *organization, const char *name, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, workspace_lookup_named, .organization = organization, .name = name);
}

/* The orders of lists: of all workspaces, and of those that match conditions. The first row is the order without
 * `sort`. */
#define SORT(name, order)                                                                                              \
	{                                                                                                              \
		name, &workspaces_all_##order##_statement, &workspaces_some_##order##_statement                        \
	}
static const struct sort {
	const char *name;
	const struct db_statement *all, *some;
} sorts[] = {
	SORT(NULL, by_creation),
	SORT("name", by_name),
	SORT("-name", by_name_down),
	SORT("current-run.created-at", by_run),
	SORT(SORT_NEWEST, by_run_down),
	SORT("latest-change-at", by_change),
	SORT("-latest-change-at", by_change_down),
};

static const struct sort *sort_find(const char *name)
{
	for (size_t i = 1; i < ARRAY_LEN(sorts); i++)
		if (text_equal(sorts[i].name, name))
			return &sorts[i];
	return &sorts[0];
}

/* Whether the list has no filter but excluded tags. */
static bool list_is_whole(const struct workspace_list *list, bool everywhere)
{
	return everywhere && !list->name && !list->wildcard && !list->run_status && !list->health &&
		!list->project_ids && !list->tag_keys->count;
}

/* Returns 1 if a page of the newest runs is full, 0 if that is inconclusive. */
static int list_newest(struct store *store, const struct workspace_list *list, struct rows *ret_rows, struct err *err)
{
	if (!text_equal(list->sort, SORT_NEWEST) || list->without_tags || list->offset >= MAX_NEWEST)
		return 0;
	if (db_query(store->db, ret_rows, err, workspaces_newest, .organization_id = list->organization_id,
		    .limit = list->limit, .offset = list->offset, .user = response_scope_user(store->scope)) < 0)
		return -1;
	if (ret_rows->count == list->limit && row_of(workspace_view, ret_rows, 0)->id)
		return 1;
	rows_release(ret_rows);
	return 0;
}

static int list_whole(struct store *store, const struct workspace_list *list, struct rows *ret_rows, struct err *err)
{
	int found = list_newest(store, list, ret_rows, err);

	if (found)
		return found < 0 ? -1 : 0;
	return db_query_one_of(store->db, ret_rows, err, sort_find(list->sort)->all, workspaces_all_by_creation,
		.organization_id = list->organization_id, .limit = list->limit, .offset = list->offset,
		.user = response_scope_user(store->scope), .without_tags = list->without_tags);
}

int workspaces_list(struct store *store, const struct workspace_list *list, struct rows *ret_rows, struct err *err)
{
	bool everywhere = response_scope_all(store->scope, list->organization_id, CAN_READ_WORKSPACE);

	if (list_is_whole(list, everywhere))
		return list_whole(store, list, ret_rows, err);
	return db_query_one_of(store->db, ret_rows, err, sort_find(list->sort)->some, workspaces_some_by_creation,
		.organization_id = list->organization_id, .name = list->name, .wildcard = list->wildcard,
		.run_status = list->run_status, .health = list->health, .project_ids = list->project_ids,
		.tag_keys = db_array_or_null(list->tag_keys), .tag_values = db_array_or_null(list->tag_values),
		.without_tags = list->without_tags, .limit = list->limit, .offset = list->offset,
		.everywhere = everywhere, .user = response_scope_user(store->scope),
		.live = run_statuses_are_live(list->run_status));
}

/* ---- creating and changing ---- */

static int limit_check(struct store *store, const char *organization_id, struct err *err)
{
	_cleanup_(rows_release) struct rows limit = ROWS_INIT, rows = ROWS_INIT;
	long long max;

	if (db_query(store->db, &limit, err, workspace_limit_lock, .organization_id = organization_id) < 0)
		return -1;
	if (!limit.count)
		return 0;
	if (db_query(store->db, &rows, err, workspaces_count, .organization_id = organization_id) < 0)
		return -1;
	max = row_of(workspace_limit_lock, &limit, 0)->max;
	if (row_of(workspaces_count, &rows, 0)->there < max)
		return 0;
	return err_set(err, ERR_INVALID, "The organization has as many workspaces as its limit allows (%lld)", max);
}

int workspace_create(struct store *store, const char *organization_id, struct workspace_attributes attributes,
	struct id *ret_id, struct err *err)
{
	_cleanup_(freep) char *fields = json_text(attributes.fields);
	_cleanup_(freep) char *settings = json_text(attributes.settings);
	struct id id = id_new("ws");

	if (limit_check(store, organization_id, err) < 0)
		return -1;
	if (db_query(store->db, NULL, err, workspace_create, .id = id.text, .organization_id = organization_id,
		    .fields = fields, .settings = settings) < 0)
		return name_taken(store, "workspaces_name", err);
	*ret_id = id;
	return 0;
}

int workspace_update(struct store *store, const char *id, struct workspace_attributes attributes, struct err *err)
{
	_cleanup_(freep) char *fields = json_text(attributes.fields);
	_cleanup_(freep) char *settings = json_text(attributes.settings);

	if (db_query(store->db, NULL, err, workspace_update, .id = id, .fields = fields, .settings = settings) < 0)
		return name_taken(store, "workspaces_name", err);
	return 0;
}

int workspaces_inherit_mode(struct store *store, const char *organization_id, struct err *err)
{
	return db_query(store->db, NULL, err, workspaces_inherit_mode, .organization_id = organization_id);
}

/* ---- deleting ---- */

struct deletion {
	struct store *store;
	const char *id;
	bool safe;
};

static int delete_check(const struct workspace_use_lock_row *use, bool applying, bool safe, struct err *err)
{
	if (use->held)
		return err_set(err, ERR_CONFLICT,
			"the workspace is held until the last state of a lost apply has arrived: force-unlock it "
			"first");
	if (safe && use->locked)
		return err_set(err, ERR_CONFLICT, "the workspace is locked: it can't be deleted safely");
	if (applying)
		return err_set(err, ERR_CONFLICT, "an apply of the workspace is being worked on: cancel it first");
	if (safe && use->processing)
		return err_set(err, ERR_CONFLICT,
			"the workspace's latest state is still being processed: whether it manages resources is not "
			"known yet");
	if (safe && use->manages)
		return err_set(err, ERR_CONFLICT,
			"the workspace is managing resources: destroy them first, or force its deletion");
	return 0;
}

static int jobs_lock(struct store *store, const char *id, bool *ret_applying, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, workspace_jobs_lock, .id = id) < 0)
		return -1;
	*ret_applying = false;
	for (int i = 0; i < rows.count; i++)
		*ret_applying |= row_of(workspace_jobs_lock, &rows, i)->applying;
	return 0;
}

static int delete_in(void *data, struct err *err)
{
	const struct deletion *d = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	bool applying;

	if (db_query(d->store->db, &rows, err, workspace_use_lock, .id = d->id) < 0 ||
		jobs_lock(d->store, d->id, &applying, err) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	if (delete_check(row_of(workspace_use_lock, &rows, 0), applying, d->safe, err) < 0)
		return -1;
	if (db_query(d->store->db, NULL, err, workspace_runs_delete, .id = d->id) < 0)
		return -1;
	return db_query(d->store->db, NULL, err, workspace_delete, .id = d->id);
}

int workspace_delete(struct store *store, const char *id, bool safe, struct err *err)
{
	struct deletion d = {store, id, safe};

	return db_transaction(store->db, delete_in, &d, err);
}

int workspace_guarded(struct store *store, const char *id, bool *ret_guarded, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, workspace_guarded, .id = id) < 0)
		return -1;
	*ret_guarded = rows.count > 0;
	return 0;
}

/* ---- moving ---- */

struct moving {
	struct store *store;
	const char *organization_id, *project_id;
	const json_t *ids;
};

static int move_in(void *data, struct err *err)
{
	const struct moving *m = data;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, m->ids);
	if (db_query(m->store->db, &rows, err, workspaces_move, .organization_id = m->organization_id,
		    .project_id = m->project_id, .ids = &ids) < 0)
		return -1;
	if (row_of(workspaces_move, &rows, 0)->found != (long long)json_array_size(m->ids))
		return err_at(err, "/data", "Workspaces must exist in the project's organization");
	if (vcs_available_check(m->store, m->ids, "/data", err) < 0)
		return -1;
	return workspaces_inherit_mode(m->store, m->organization_id, err);
}

int workspaces_move(
	struct store *store, const char *organization_id, const char *project_id, const json_t *ids, struct err *err)
{
	struct moving m = {store, organization_id, project_id, ids};

	return db_transaction(store->db, move_in, &m, err);
}

/* ---- the lock ---- */

int workspace_lock(struct store *store, const char *id, const char *user_id, const char *reason, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, workspace_lock, .id = id, .user_id = user_id, .reason = reason) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_CONFLICT, "the workspace is already locked");
}

struct unlocking {
	struct store *store;
	const char *id, *user_id;
	bool force;
};

static int unlock_check(const struct workspace_locker_lock_row *lock, const struct unlocking *u, struct err *err)
{
	bool own = u->force || text_equal(lock->locked_by, u->user_id);

	if (!lock->locked_by && lock->run_id)
		return err_set(err, ERR_CONFLICT, "the workspace is locked by Run %s", lock->run_id);
	if (!lock->locked_by)
		return err_set(err, ERR_CONFLICT, "the workspace is already unlocked");
	if (!own && lock->team)
		return err_set(err, ERR_CONFLICT, "the workspace is locked by Team %s", lock->team);
	if (!own)
		return err_set(err, ERR_CONFLICT, "the workspace is locked by User %s", lock->username);
	if (!u->force && lock->state_pending)
		return err_set(err, ERR_INVALID, "the workspace's latest state version is still pending");
	return 0;
}

static int unlock_in(void *data, struct err *err)
{
	const struct unlocking *u = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(u->store->db, &rows, err, workspace_locker_lock, .id = u->id) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	if (unlock_check(row_of(workspace_locker_lock, &rows, 0), u, err) < 0)
		return -1;
	return db_query(u->store->db, NULL, err, workspace_unlock, .id = u->id);
}

int workspace_unlock(struct store *store, const char *id, const char *user_id, bool force, struct err *err)
{
	struct unlocking u = {store, id, user_id, force};

	return db_transaction(store->db, unlock_in, &u, err);
}
