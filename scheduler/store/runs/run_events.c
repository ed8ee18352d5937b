/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/run_events.h"

/* ---- events ---- */

#define EVENTS "select e.*, r.organization_id, r.workspace_id from run_events e join runs r on r.id = e.run_id "

int events_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		EVENTS "where e.run_id = $1 "
		       "order by e.created_at, e.action <> 'created', e.id", /* `created` first at equal times */
		P_TEXT(run_id));
}

int run_event_view(struct store *store, const char *event_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, EVENTS "where e.id = $1", P_TEXT(event_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run event not found");
}

int run_event_describe(
	struct store *store, const char *run_id, const char *action, const char *description, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into run_events (id, run_id, action, description) values ($1, $2, $3, $4)",
		P_TEXT(id_new("re").text), P_TEXT(run_id), P_TEXT(action), P_TEXT(description));
}

int run_event_describe_once(struct store *store, const char *run_id, const char *action, const char *description,
	bool *ret_added, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "insert into run_events (id, run_id, action, description) select $1, $2, $3, $4 "
		    "where not exists (select 1 from run_events where run_id = $2 and action = $3)",
		    P_TEXT(id_new("re").text), P_TEXT(run_id), P_TEXT(action), P_TEXT(description)) < 0)
		return -1;
	*ret_added = db_affected(&rows) > 0;
	return 0;
}

int run_event_add(struct store *store, const char *run_id, const char *action, const char *actor,
	const char *comment_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into run_events (id, run_id, action, actor_id, comment_id) values ($1, $2, $3, $4, $5)",
		P_TEXT(id_new("re").text), P_TEXT(run_id), P_TEXT(action), P_TEXT(actor), P_TEXT(comment_id));
}

/* ---- comments ---- */

#define COMMENTS "select c.*, r.organization_id, r.workspace_id from comments c join runs r on r.id = c.run_id "

int comments_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	return db_query(
		store->db, ret_rows, err, COMMENTS "where c.run_id = $1 order by c.created_at, c.id", P_TEXT(run_id));
}

int comment_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, COMMENTS "where c.id = any($1::text[])", P_ARRAY(ids));
}

int comment_view(struct store *store, const char *comment_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, COMMENTS "where c.id = $1", P_TEXT(comment_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "comment not found");
}

struct remark {
	struct store *store;
	const char *run_id, *user_id, *body;
	struct id id;
};

static int remark_write(void *data, struct err *err)
{
	struct remark *r = data;

	r->id = id_new("wsc");
	if (db_query(r->store->db, NULL, err,
		    "insert into comments (id, run_id, body, created_by) values ($1, $2, $3, $4)", P_TEXT(r->id.text),
		    P_TEXT(r->run_id), P_TEXT(r->body), P_TEXT(r->user_id)) < 0)
		return -1;
	return run_event_add(r->store, r->run_id, "commented", r->user_id, r->id.text, err);
}

int comment_create(struct store *store, const char *run_id, const char *user_id, const char *body, struct id *ret_id,
	struct err *err)
{
	struct remark remark = {.store = store, .run_id = run_id, .user_id = user_id, .body = body};

	if (db_transaction(store->db, remark_write, &remark, err) < 0)
		return -1;
	*ret_id = remark.id;
	return 0;
}
