/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/run_events.h"

#include "scheduler/outbox/outbox.h"
#include "scheduler/store/runs/run_events.sql.h"

/* ---- events ---- */

int events_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, run_events_of, .run_id = run_id);
}

int run_event_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, run_event_views_of, .ids = ids);
}

int run_event_view(struct store *store, const char *event_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, run_event_view, .id = event_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run event not found");
}

static int event_insert(struct store *store, const struct db_statement *statement, const struct run_event_row *event,
	struct rows *ret_rows, struct err *err)
{
	return db_query_one_of(store->db, ret_rows, err, statement, run_event_add, .id = id_new("re").text,
		.run_id = event->run_id, .action = event->action, .description = text_or_empty(event->description),
		.actor_id = event->actor, .comment_id = event->comment_id);
}

int run_event_add(struct store *store, const struct run_event_row *event, struct err *err)
{
	return event_insert(store, &run_event_add_statement, event, NULL, err);
}

int run_event_describe(
	struct store *store, const char *run_id, const char *action, const char *description, struct err *err)
{
	const struct run_event_row event = {.run_id = run_id, .action = action, .description = description};

	return run_event_add(store, &event, err);
}

int run_event_add_once(struct store *store, const struct run_event_row *event, bool *ret_added, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (event_insert(store, &run_event_add_once_statement, event, &rows, err) < 0)
		return -1;
	*ret_added = db_affected(&rows) > 0;
	return 0;
}

/* ---- comments ---- */

int comments_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, comments_of_run, .run_id = run_id);
}

int comment_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, comment_views_of, .ids = ids);
}

int comment_view(struct store *store, const char *comment_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, comment_view, .id = comment_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "comment not found");
}

struct commenting {
	struct store *store;
	const struct new_comment *comment;
	struct id id;
};

static int comment_tell(const struct commenting *c, const struct comment_write_row *run, struct err *err)
{
	const struct run_part_changed changed = {.run = c->comment->run_id,
		.workspace = run->workspace_id,
		.organization = run->organization_id,
		.part = "comment",
		.id = c->id.text};
	struct outbox outbox;
	int result;

	outbox_init(&outbox);
	outbox_add(&outbox, topics[TOPIC_EVENTS].name, changed.run, run_part_changed_encode(&changed));
	result = outbox_insert(&outbox, c->store->db, c->store->sink, err);
	outbox_release(&outbox);
	return result;
}

static int comment_write(void *data, struct err *err)
{
	struct commenting *c = data;
	const struct new_comment *comment = c->comment;
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	c->id = id_new("wsc");
	if (db_query(c->store->db, &run, err, comment_write, .id = c->id.text, .run_id = comment->run_id,
		    .body = comment->body, .user_id = comment->user_id) < 0 ||
		comment_tell(c, row_of(comment_write, &run, 0), err) < 0)
		return -1;
	return run_event_add(c->store,
		&(struct run_event_row){.run_id = comment->run_id,
			.action = "commented",
			.actor = comment->user_id,
			.comment_id = c->id.text},
		err);
}

int comment_create(struct store *store, const struct new_comment *comment, struct id *ret_id, struct err *err)
{
	struct commenting c = {.store = store, .comment = comment};

	if (db_transaction(store->db, comment_write, &c, err) < 0)
		return -1;
	*ret_id = c.id;
	return 0;
}
