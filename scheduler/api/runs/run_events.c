/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"

#include <string.h>

#include "scheduler/api/include_resolver.h"
#include "scheduler/api/kinds.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/store/runs/run_events.h"
#include "scheduler/store/runs/run_events.sql.h"

/* The events of a run and the comments on it. Neither list is paged. */

enum { MAX_COMMENT = 10000 };

/* ---- events ---- */

static const struct inclusion includes[] = {
	{"actor", "run-events", "actor", &kind_users},
	{"comment", "run-events", "comment", &kind_comments},
};

static json_t *event_resource(const struct rows *rows, int row)
{
	return resource_new("run-events", row_of(run_event_shown, rows, row)->id,
		json_pack("{so so so}", "action", json_string_or_null(row_of(run_event_shown, rows, row)->action),
			"description", json_string_or_null(row_of(run_event_shown, rows, row)->description),
			"created-at", time_shown(row_of(run_event_shown, rows, row)->created_at)),
		json_pack("{so so so}", "run", to_one("runs", row_of(run_event_shown, rows, row)->run_id), "actor",
			to_one("users", row_of(run_event_shown, rows, row)->actor_id), "comment",
			to_one("comments", row_of(run_event_shown, rows, row)->comment_id)));
}

const struct resource_kind kind_run_events = {
	.type = "run-events", .ask = run_event_views_of, .resource = event_resource, KIND_INCLUDES(includes)};

int run_events_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, events = ROWS_INIT;
	json_auto_t *data = json_array();
	json_t *included;

	if (includes_check(req, &kind_run_events, err) < 0 || run_in_path(req, &run, err) < 0 ||
		events_of_run(req->store, row_text(&run, 0, "id"), &events, err) < 0 ||
		rows_show(req->store, &kind_run_events, &events, data, err) < 0 ||
		includes_follow(req, &kind_run_events, data, &included, err) < 0)
		return -1;
	return respond_including(res, 200, json_incref(data), included);
}

int run_events_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows event = ROWS_INIT;
	json_auto_t *data = json_array();
	json_t *included;

	if (includes_check(req, &kind_run_events, err) < 0 ||
		run_event_view(req->store, param(req, "event"), &event, err) < 0 ||
		may(req, place_of(&event), "run event", err) < 0 ||
		rows_show(req->store, &kind_run_events, &event, data, err) < 0 ||
		includes_follow(req, &kind_run_events, data, &included, err) < 0)
		return -1;
	return respond_including(res, 200, json_incref(json_array_get(data, 0)), included);
}

/* ---- comments ---- */

static json_t *comment_resource(const struct rows *rows, int row)
{
	return resource_new("comments", row_of(comment, rows, row)->id,
		json_pack("{so so}", "body", json_string_or_null(row_of(comment, rows, row)->body), "created-at",
			time_shown(row_of(comment, rows, row)->created_at)),
		json_pack("{so so}", "run", to_one("runs", row_of(comment, rows, row)->run_id), "user",
			to_one("users", row_of(comment, rows, row)->created_by)));
}

static const struct inclusion comment_includes[] = {{"user", "comments", "user", &kind_users}};

const struct resource_kind kind_comments = {
	.type = "comments", .ask = comment_views_of, .resource = comment_resource, KIND_INCLUDES(comment_includes)};

int comments_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, comments = ROWS_INIT;
	json_auto_t *data = json_array();
	json_t *included;

	if (includes_check(req, &kind_comments, err) < 0 || run_in_path(req, &run, err) < 0 ||
		comments_of_run(req->store, row_text(&run, 0, "id"), &comments, err) < 0 ||
		rows_show(req->store, &kind_comments, &comments, data, err) < 0 ||
		includes_follow(req, &kind_comments, data, &included, err) < 0)
		return -1;
	return respond_including(res, 200, json_incref(data), included);
}

static int comment_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows comment = ROWS_INIT;

	if (comment_view(req->store, id, &comment, err) < 0 || may(req, place_of(&comment), "comment", err) < 0)
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
	if (strlen(body) > MAX_COMMENT)
		return err_at(err, "/data/attributes/body", "Body is too long (maximum is %d bytes)", MAX_COMMENT);
	const struct new_comment comment = {row_text(&run, 0, "id"), req->actor.user.text, body};
	if (comment_create(req->store, &comment, &id, err) < 0)
		return -1;
	return comment_show(req, res, 201, id.text, err);
}
