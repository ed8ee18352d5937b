/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/organizations.h"

#include "scheduler/store/access/organizations.sql.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/vcs/calls/removals.h"

struct creation {
	struct store *store;
	const struct organization_order *order;
	struct id id;
};

static int create_in(void *data, struct err *err)
{
	struct creation *c = data;
	_cleanup_(freep) char *settings = c->order->settings ? json_text(c->order->settings) : mem_text("{}");

	c->id = id_new("org");
	if (db_query(c->store->db, NULL, err, organization_insert, .id = c->id.text, .name = c->order->name,
		    .email = c->order->email, .settings = settings, .pool_id = c->order->pool_id) < 0 ||
		db_query(c->store->db, NULL, err, default_project_insert, .new_id = id_new("prj").text,
			.organization_id = c->id.text) < 0)
		return -1;
	if (teams_begin(c->store, c->id.text, err) < 0)
		return -1;
	return owners_join(c->store, c->id.text, c->order->owner, err);
}

int organization_create(struct store *store, const struct organization_order *order, struct id *ret_id, struct err *err)
{
	struct creation c = {.store = store, .order = order};

	if (db_transaction(store->db, create_in, &c, err) < 0)
		return name_taken(store, "organizations_name", err);
	*ret_id = c.id;
	return 0;
}

int organization_read(struct store *store, const char *name, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, organization_read, .name = name,
		    .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "organization not found");
}

int organization_lookup(struct store *store, const char *name, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, organization_lookup, .name = name);
}

int organization_lookup_ask(struct store *store, const char *name, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, organization_lookup, .name = name);
}

int organizations_read_all(struct store *store, struct db_array *names, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, organizations_read_all, .names = names,
		.user = response_scope_user(store->scope));
}

int organizations_list(
	struct store *store, const struct organization_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, organizations_list, .user_id = list->user_id, .search = list->search,
		.name = list->name, .email = list->email, .limit = list->limit, .offset = list->offset,
		.user = response_scope_user(store->scope));
}

int organizations_count_owned(struct store *store, const char *user_id, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, organizations_count_owned, .user_id = user_id) < 0)
		return -1;
	*ret_count = row_of(organizations_count_owned, &rows, 0)->owned;
	return 0;
}

int organization_update(struct store *store, const struct organization_update *update, struct err *err)
{
	_cleanup_(freep) char *settings = update->settings ? json_text(update->settings) : mem_text("{}");

	if (db_query(store->db, NULL, err, organization_update, .id = update->id, .name = update->name,
		    .email = update->email, .settings = settings, .pool_set = update->pool_set,
		    .pool_id = update->pool_id) < 0)
		return name_taken(store, "organizations_name", err);
	return 0;
}

struct deletion {
	struct store *store;
	const char *id;
};

/* A held workspace stays: its deletion would also delete the hold, and the last state of the apply would be refused. */
static int workspaces_lock(const struct deletion *d, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(d->store->db, &rows, err, organization_workspaces_lock, .id = d->id) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct organization_workspaces_lock_row *workspace =
			row_of(organization_workspaces_lock, &rows, i);

		if (workspace->held)
			return err_set(err, ERR_CONFLICT,
				"the workspace %s is held until the last state of a lost apply has arrived: "
				"force-unlock it first",
				workspace->name);
	}
	return 0;
}

static int jobs_lock(const struct deletion *d, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(d->store->db, &rows, err, organization_jobs_lock, .id = d->id) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (row_of(organization_jobs_lock, &rows, i)->applying)
			return err_set(
				err, ERR_CONFLICT, "an apply in the organization is being worked on: cancel it first");
	return 0;
}

static int delete_in(void *data, struct err *err)
{
	const struct deletion *d = data;

	/* Locks workspaces before jobs, as everywhere. */
	if (workspaces_lock(d, err) < 0 || jobs_lock(d, err) < 0)
		return -1;
	if (db_query(d->store->db, NULL, err, organization_runs_delete, .id = d->id) < 0 ||
		vcs_removals_add(d->store, &(struct vcs_removals_of){.organization_id = d->id}, err) < 0)
		return -1;
	return db_query(d->store->db, NULL, err, organization_delete, .id = d->id);
}

int organization_delete(struct store *store, const char *id, struct err *err)
{
	struct deletion d = {store, id};

	return db_transaction(store->db, delete_in, &d, err);
}

int organization_capacity(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, organization_capacity, .id = id);
}
