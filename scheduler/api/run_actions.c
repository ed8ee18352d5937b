/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs.h"
#include "scheduler/dispatch/happen.h"
#include "scheduler/store/run_views.h"

/* What people do with runs. Bodies are empty, {} or {"comment": "..."}; answers are empty (API 4). */

static int act(struct request *req, struct response *res, enum run_event_kind kind, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;
	struct happening item = {.event = {.kind = kind}, .actor = req->actor.user.text};

	if (run_in_path(req, &run, err) < 0 || body_comment(req, &item.comment, err) < 0)
		return -1;
	text_copy(item.run.text, sizeof(item.run.text), row_text(&run, 0, "id"));
	if (run_happens(req->store, &item, err) < 0)
		return -1;
	return respond_empty(res, 202);
}

int runs_apply(struct request *req, struct response *res, struct err *err)
{
	return act(req, res, EV_CONFIRMED, err);
}

int runs_discard(struct request *req, struct response *res, struct err *err)
{
	return act(req, res, EV_DISCARDED, err);
}

int runs_cancel(struct request *req, struct response *res, struct err *err)
{
	return act(req, res, EV_CANCELED, err);
}

int runs_force_cancel(struct request *req, struct response *res, struct err *err)
{
	return act(req, res, EV_FORCE_CANCELED, err);
}

/* ---- events and comments ---- */

static json_t *event_resource(const struct rows *rows, int row)
{
	return resource_new("run-events", row_text(rows, row, "id"),
		json_pack("{so so so}", "action", row_string(rows, row, "action"), "description",
			row_string(rows, row, "description"), "created-at", row_time(rows, row, "created_at")),
		json_pack("{so so}", "actor", to_one("users", row_text(rows, row, "actor_id")), "comment",
			to_one("comments", row_text(rows, row, "comment_id"))));
}

static json_t *comment_resource(const struct rows *rows, int row)
{
	return resource_new("comments", row_text(rows, row, "id"),
		json_pack("{so so}", "body", row_string(rows, row, "body"), "created-at",
			row_time(rows, row, "created_at")),
		json_pack("{so so}", "run", to_one("runs", row_text(rows, row, "run_id")), "user",
			to_one("users", row_text(rows, row, "created_by"))));
}

static int respond_all(
	struct response *res, const struct rows *rows, json_t *(*resource)(const struct rows *rows, int row))
{
	json_t *data = json_array();

	for (int i = 0; i < rows->count; i++)
		json_array_append_new(data, resource(rows, i));
	return respond_json(res, 200, json_pack("{so}", "data", data));
}

int run_events_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, events = ROWS_INIT;

	if (run_in_path(req, &run, err) < 0 || run_events_view(req->store, row_text(&run, 0, "id"), &events, err) < 0)
		return -1;
	return respond_all(res, &events, event_resource);
}

int comments_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, comments = ROWS_INIT;

	if (run_in_path(req, &run, err) < 0 || comments_view(req->store, row_text(&run, 0, "id"), &comments, err) < 0)
		return -1;
	return respond_all(res, &comments, comment_resource);
}

static int comment_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows comment = ROWS_INIT;

	if (comment_view(req->store, id, &comment, err) < 0 ||
		may(req, row_text(&comment, 0, "organization_id"), "comment", err) < 0)
		return -1;
	return respond_resource(res, status, comment_resource(&comment, 0));
}

int comments_read(struct request *req, struct response *res, struct err *err)
{
	return comment_show(req, res, 200, param(req, "comment"), err);
}

int comments_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;
	const char *body = NULL;
	struct id id;

	if (run_in_path(req, &run, err) < 0 || body_check(req, "comments", err) < 0 ||
		body_text(req, "body", &body, err) < 0)
		return -1;
	if (!body || !*body)
		return err_at(err, "/data/attributes/body", "Body can't be blank");
	if (comment_create(req->store, row_text(&run, 0, "id"), req->actor.user.text, body, &id, err) < 0)
		return -1;
	return comment_show(req, res, 201, id.text, err);
}
