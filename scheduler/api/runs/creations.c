/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/creations.h"

#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/api/runs/run_create_params.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/http/scope.h"
#include "scheduler/runs/run_create.h"
#include "scheduler/store/runs/run_views.h"

/* The run that a request asks for. */
struct creation {
	struct batch_item item; /* must be the first member */
	struct id workspace;
	struct run_create_params params; /* borrows from the request */
	struct id run;                   /* filled in by the commit */
};

static struct creation *creation_of(struct batch_item *item)
{
	return (struct creation *)(void *)item;
}

int runs_create(struct request *req, struct response *res, struct err *err)
{
	struct creation *creation = creation_of(req->item);
	struct scope scope;

	(void)res;
	if (body_check(req, "runs", err) < 0)
		return -1;
	if (!body_relation(req, "workspace"))
		return err_at(err, "/data/relationships/workspace", "Workspace must exist");
	if (scope_workspace_id(req, body_relation(req, "workspace"), &scope, err) < 0 ||
		run_create_params_read(req, &creation->params, err) < 0)
		return -1;
	creation->workspace = scope.workspace;
	creation->params.workspace_id = creation->workspace.text;
	return 0;
}

/* A run's representation depends on its requester. All runs of one requester are read with one statement. */
struct view {
	const char *user; /* of response_scope_user */
	struct rows rows;
};

struct commit {
	struct store *store;
	int (*create)(struct store *store, struct run_creation *creations, size_t count, struct err *err);
	struct batch_item *const *items;
	struct run_creation *runs;
	struct view *views;
	size_t count, view_count;
	struct audit_batch audit;
};

/* Sets the scope of the store's answers to that of the requester. */
static const char *scope_set(struct store *store, const struct batch_item *item)
{
	store->scope = &item->req->actor.scope;
	return response_scope_user(store->scope);
}

static struct view *view_of(const struct commit *c, const char *user)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (text_equal(c->views[i].user, user) || (!c->views[i].user && !user))
			return &c->views[i];
	return NULL;
}

/* Queries the runs that this requester created. The store's scope must be set. */
static int view_ask(struct commit *c, const char *user, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct view *view = &c->views[c->view_count++];

	*view = (struct view){.user = user};
	for (size_t i = 0; i < c->count; i++)
		if (c->runs[i].err.kind == ERR_NONE && view_of(c, scope_set(c->store, c->items[i])) == view)
			db_array_add(&ids, c->runs[i].run.text);
	return run_views_ask(c->store, &ids, &view->rows, err);
}

static void views_release(struct commit *c)
{
	for (size_t i = 0; i < c->view_count; i++)
		rows_release(&c->views[i].rows);
	c->view_count = 0;
}

/* Discards the results of an earlier attempt. */
static void commit_reset(struct commit *c)
{
	views_release(c);
	audit_batch_release(&c->audit);
	audit_batch_init(&c->audit);
}

static int commit_in(void *data, struct err *err)
{
	struct commit *c = data;

	commit_reset(c);
	for (size_t i = 0; i < c->count; i++)
		c->runs[i] = (struct run_creation){.order = &creation_of(c->items[i])->params};
	if (c->create(c->store, c->runs, c->count, err) < 0)
		return -1;
	for (size_t i = 0; i < c->count; i++) {
		const char *user = scope_set(c->store, c->items[i]);

		if (c->runs[i].err.kind != ERR_NONE)
			continue;
		if (request_audit_add(c->items[i]->req, "run", c->runs[i].run.text, &c->audit, err) < 0 ||
			(!view_of(c, user) && view_ask(c, user, err) < 0))
			return -1;
	}
	return audit_insert(c->store, &c->audit, err);
}

/* NULL if it is not among the rows. */
static const struct run_view_row *run_with(const struct rows *rows, const char *id)
{
	for (int i = 0; i < rows->count; i++)
		if (text_equal(row_of(run_view, rows, i)->id, id))
			return row_of(run_view, rows, i);
	return NULL;
}

static void creation_show(const struct commit *c, size_t i)
{
	struct batch_item *item = c->items[i];
	struct creation *creation = creation_of(item);
	const struct view *view = view_of(c, scope_set(c->store, item));
	const struct run_view_row *run;

	item->err = c->runs[i].err;
	if (item->err.kind != ERR_NONE)
		return;
	creation->run = c->runs[i].run;
	run = run_with(&view->rows, creation->run.text);
	if (run)
		run_show(item->req, item->res, 201, run, &item->err);
	else
		err_set(&item->err, ERR_NOT_FOUND, "run not found");
}

/* If the transaction fails, every item gets its error. */
static void commit_items(struct commit *c)
{
	_cleanup_(freep) struct run_creation *runs = c->runs = mem_new(c->count, sizeof(*runs));
	_cleanup_(freep) struct view *views = c->views = mem_new(c->count, sizeof(*views));
	struct err err = ERR_INIT;
	int result;

	audit_batch_init(&c->audit);
	result = db_transaction(c->store->db, commit_in, c, &err);
	for (size_t i = 0; i < c->count; i++) {
		if (result == 0)
			creation_show(c, i);
		else
			c->items[i]->err = err;
	}
	c->store->scope = NULL;
	views_release(c);
	audit_batch_release(&c->audit);
}

/* If the batch failed, each run is tried alone, too. */
static void runs_commit(struct store *store, struct batch_item *const *items, size_t count)
{
	commit_items(
		&(struct commit){.store = store, .create = run_creations_apply_ready, .items = items, .count = count});
	for (size_t i = 0; i < count; i++) {
		enum err_kind kind = items[i]->err.kind;

		items[i]->locked = !creation_of(items[i])->run.text[0] && kind != ERR_INVALID && kind != ERR_NOT_FOUND;
	}
}

static void run_commit(struct store *store, struct batch_item *item)
{
	commit_items(&(struct commit){.store = store, .create = run_creations_apply, .items = &item, .count = 1});
}

const struct batch batch_runs = {
	.item_size = sizeof(struct creation), .threads = 2, .commit = runs_commit, .commit_alone = run_commit};
