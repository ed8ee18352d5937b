/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/creations.h"

#include "scheduler/api/api.h"
#include "scheduler/api/runs/run_create_params.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/http/scope.h"
#include "scheduler/runs/run_create.h"
#include "scheduler/store/runs/run_views.h"

/* The run that a request asks for. */
struct creation {
	struct batch_item item; /* must be the first member */
	struct id workspace;
	struct run_create_params order; /* borrows from the request */
	struct id run;                  /* filled in by the commit */
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
		run_create_params_read(req, &creation->order, err) < 0)
		return -1;
	creation->workspace = scope.workspace;
	creation->order.workspace_id = creation->workspace.text;
	return 0;
}

/* A run's representation depends on its viewer. All runs of one viewer are read with one statement. */
struct view {
	const char *user; /* of viewer_user */
	struct rows rows;
};

struct making {
	struct store *store;
	int (*order)(struct store *store, struct run_creation *creations, size_t count, struct err *err);
	struct batch_item *const *items;
	struct run_creation *runs;
	struct view *views;
	size_t count, view_count;
	struct audit_batch audit;
};

/* Sets the store's viewer. */
static const char *viewer_set(struct store *store, const struct batch_item *item)
{
	store->viewer = &item->req->actor.viewer;
	return viewer_user(store->viewer);
}

static struct view *view_of(const struct making *m, const char *user)
{
	for (size_t i = 0; i < m->view_count; i++)
		if (text_equal(m->views[i].user, user) || (!m->views[i].user && !user))
			return &m->views[i];
	return NULL;
}

/* Queries the runs that this viewer ordered. The store's viewer must be set. */
static int view_ask(struct making *m, const char *user, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct view *view = &m->views[m->view_count++];

	*view = (struct view){.user = user};
	for (size_t i = 0; i < m->count; i++)
		if (m->runs[i].err.kind == ERR_NONE && view_of(m, viewer_set(m->store, m->items[i])) == view)
			db_array_add(&ids, m->runs[i].run.text);
	return run_views_ask(m->store, &ids, &view->rows, err);
}

static void views_release(struct making *m)
{
	for (size_t i = 0; i < m->view_count; i++)
		rows_release(&m->views[i].rows);
	m->view_count = 0;
}

/* Discards the results of an earlier attempt. */
static void making_reset(struct making *m)
{
	views_release(m);
	audit_batch_release(&m->audit);
	audit_batch_init(&m->audit);
}

static int make_in(void *data, struct err *err)
{
	struct making *m = data;

	making_reset(m);
	for (size_t i = 0; i < m->count; i++)
		m->runs[i] = (struct run_creation){.order = &creation_of(m->items[i])->order};
	if (m->order(m->store, m->runs, m->count, err) < 0)
		return -1;
	for (size_t i = 0; i < m->count; i++) {
		const char *user = viewer_set(m->store, m->items[i]);

		if (m->runs[i].err.kind != ERR_NONE)
			continue;
		if (request_audit_add(m->items[i]->req, "run", m->runs[i].run.text, &m->audit, err) < 0 ||
			(!view_of(m, user) && view_ask(m, user, err) < 0))
			return -1;
	}
	return audit_insert(m->store, &m->audit, err);
}

static int row_with(const struct rows *rows, const char *id)
{
	int row = 0;

	while (row < rows->count && !text_equal(row_text(rows, row, "id"), id))
		row++;
	return row;
}

static void creation_show(const struct making *m, size_t i)
{
	struct batch_item *item = m->items[i];
	struct creation *creation = creation_of(item);
	const struct view *view = view_of(m, viewer_set(m->store, item));
	int row;

	item->err = m->runs[i].err;
	if (item->err.kind != ERR_NONE)
		return;
	creation->run = m->runs[i].run;
	row = row_with(&view->rows, creation->run.text);
	if (row == view->rows.count)
		err_set(&item->err, ERR_NOT_FOUND, "run not found");
	else
		run_show(item->req, item->res, 201, &view->rows, row, &item->err);
}

/* If the transaction fails, every item gets its error. */
static void make(struct making *m)
{
	_cleanup_(freep) struct run_creation *runs = m->runs = mem_new(m->count, sizeof(*runs));
	_cleanup_(freep) struct view *views = m->views = mem_new(m->count, sizeof(*views));
	struct err err = ERR_INIT;
	int result;

	audit_batch_init(&m->audit);
	result = db_transaction(m->store->db, make_in, m, &err);
	for (size_t i = 0; i < m->count; i++) {
		if (result == 0)
			creation_show(m, i);
		else
			m->items[i]->err = err;
	}
	m->store->viewer = NULL;
	views_release(m);
	audit_batch_release(&m->audit);
}

/* If the batch failed, each run is tried alone, too. */
static void runs_commit(struct store *store, struct batch_item *const *items, size_t count)
{
	make(&(struct making){.store = store, .order = run_creations_apply_ready, .items = items, .count = count});
	for (size_t i = 0; i < count; i++) {
		enum err_kind kind = items[i]->err.kind;

		items[i]->locked = !creation_of(items[i])->run.text[0] && kind != ERR_INVALID && kind != ERR_NOT_FOUND;
	}
}

static void run_commit(struct store *store, struct batch_item *item)
{
	make(&(struct making){.store = store, .order = run_creations_apply, .items = &item, .count = 1});
}

const struct batch batch_runs = {
	.item_size = sizeof(struct creation), .threads = 2, .commit = runs_commit, .commit_alone = run_commit};
