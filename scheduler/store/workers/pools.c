/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/pools.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/workers/agents.h"
#include "scheduler/store/workers/pools.sql.h"
#include "scheduler/store/workers/quotas.h"

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "agent pool not found");
}

int pools_list(struct store *store, const struct pool_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, pools_list, .organization_id = list->organization_id,
		.search = list->search, .sort = list->sort, .workspace_id = list->workspace_id,
		.workspace_name = list->workspace_name, .project_id = list->project_id,
		.project_name = list->project_name, .limit = list->limit, .offset = list->offset,
		.user = response_scope_user(store->scope),
		.all_workspaces = response_scope_all(store->scope, list->organization_id, CAN_READ_WORKSPACE),
		.all_projects = response_scope_all(store->scope, list->organization_id, CAN_READ_PROJECT));
}

int pool_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, pool_read, .id = id, .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int pools_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, pools_read_all, .ids = ids, .user = response_scope_user(store->scope));
}

int pool_find(struct store *store, const char *name, struct pool_name *ret_pool, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct pool_find_row *found;

	if (db_query(store->db, &rows, err, pool_find, .name = name) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND,
			"there is no agent pool '%s': name it by its id, as ORGANIZATION/NAME, or the shared one as "
			"NAME",
			name);
	found = row_of(pool_find, &rows, 0);
	text_copy(ret_pool->id.text, ID_SIZE, found->id);
	text_copy(ret_pool->organization.text, ID_SIZE, found->organization_id);
	return 0;
}

int pools_shared(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, pools_shared, .user = response_scope_user(store->scope));
}

/* ---- scope ---- */

static const struct {
	const char *what, *pointer;
	const struct db_statement *replace;
} relations[POOL_RELATIONS] = {
	[POOL_ALLOWED_WORKSPACES] = {"Allowed workspaces", "/data/relationships/allowed-workspaces",
		&pool_allow_workspaces_statement},
	[POOL_ALLOWED_PROJECTS] = {"Allowed projects", "/data/relationships/allowed-projects",
		&pool_allow_projects_statement},
	[POOL_EXCLUDED_WORKSPACES] = {"Excluded workspaces", "/data/relationships/excluded-workspaces",
		&pool_exclude_workspaces_statement},
};

static int replace_related(
	struct store *store, const char *id, enum pool_relation relation, const json_t *related, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, related);
	if (db_query_one_of(store->db, &rows, err, relations[relation].replace, pool_allow_workspaces, .id = id,
		    .ids = &ids) < 0)
		return -1;
	if (row_of(pool_related, &rows, 0)->found == (long long)json_array_size(related))
		return 0;
	return err_at(err, relations[relation].pointer, "%s must exist in the agent pool's organization",
		relations[relation].what);
}

/* ---- creating and changing ---- */

struct change {
	struct store *store;
	const char *organization_id; /* for creation; else NULL */
	const struct pool *pool;
	struct id id;
};

static int change_row(struct change *c, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (c->organization_id)
		return db_query(c->store->db, NULL, err, pool_insert, .id = c->id.text,
			.organization_id = c->organization_id, .name = c->pool->name,
			.organization_scoped = c->pool->organization_scoped);
	if (db_query(c->store->db, &rows, err, pool_update, .id = c->id.text, .name = c->pool->name,
		    .organization_scoped = c->pool->organization_scoped) < 0)
		return -1;
	return db_affected(&rows) ? 0 : not_found(err);
}

static int change_in(void *data, struct err *err)
{
	struct change *c = data;

	if (change_row(c, err) < 0)
		return -1;
	for (enum pool_relation r = 0; r < POOL_RELATIONS; r++)
		if (c->pool->related[r] && replace_related(c->store, c->id.text, r, c->pool->related[r], err) < 0)
			return -1;
	return c->pool->run_limit < 0
		? 0
		: quota_set(c->store, &(struct quota_owner){.pool_id = c->id.text}, c->pool->run_limit, err);
}

int pool_create(
	struct store *store, const char *organization_id, const struct pool *pool, struct id *ret_id, struct err *err)
{
	struct change c = {store, organization_id, pool, id_new("apool")};

	if (db_transaction(store->db, change_in, &c, err) < 0)
		return name_taken(store, "agent_pools_name", err);
	*ret_id = c.id;
	return 0;
}

int pool_update(struct store *store, const char *id, const struct pool *pool, struct err *err)
{
	struct change c = {store, NULL, pool, {""}};

	text_copy(c.id.text, sizeof(c.id.text), id);
	return db_transaction(store->db, change_in, &c, err) < 0 ? name_taken(store, "agent_pools_name", err) : 0;
}

struct deletion {
	struct store *store;
	const char *id;
};

static const char *user_of_pool(const struct pool_users_row *users)
{
	if (users->is_shared)
		return "every workspace without a pool of its own";
	if (users->workspaces)
		return "workspaces";
	if (users->runs)
		return "runs that have not ended";
	if (users->connections)
		return "OAuth clients";
	if (users->tasks)
		return "run tasks";
	if (users->installations)
		return "installations of the GitHub App";
	return users->defaults ? "the organization or a project, by default" : NULL;
}

static int delete_in(void *data, struct err *err)
{
	const struct deletion *d = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *user;

	if (db_query(d->store->db, NULL, err, pool_lock, .id = d->id) < 0 ||
		db_query(d->store->db, &rows, err, pool_users, .id = d->id) < 0)
		return -1;
	user = user_of_pool(row_of(pool_users, &rows, 0));
	if (user)
		return err_set(err, ERR_CONFLICT, "the agent pool is in use by %s", user);
	if (db_queue(d->store->db, err, pool_inputs_clear, .id = d->id) < 0)
		return -1;
	return db_query(d->store->db, NULL, err, pool_delete, .id = d->id);
}

int pool_delete(struct store *store, const char *id, struct err *err)
{
	struct deletion d = {store, id};

	return db_transaction(store->db, delete_in, &d, err);
}

/* ---- use ---- */

int pool_use_check(
	struct store *store, const char *pool_id, const struct pool_use *use, const char *pointer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, pool_use, .pool_id = pool_id, .organization_id = use->organization_id,
		    .project_id = use->project_id, .workspace_id = use->workspace_id, .anywhere = use->anywhere,
		    .any_scope = use->any_scope) < 0)
		return -1;
	if (!rows.count)
		return err_at(err, pointer, "Agent pool does not exist");
	return row_of(pool_use, &rows, 0)->may ? 0 : err_at(err, pointer, "Agent pool is not allowed to be used here");
}
