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

static json_t *event_resource(const void *of_row)
{
	const struct run_event_shown_row *event = of_row;

	return resource_new("run-events", event->id,
		json_pack("{ss ss so}", "action", event->action, "description", event->description, "created-at",
			time_shown(event->created_at)),
		json_pack("{so so so}", "run", to_one("runs", event->run_id), "actor", to_one("users", event->actor_id),
			"comment", to_one("comments", event->comment_id)));
}

const struct resource_kind kind_run_events = {
	.type = "run-events", .ask = run_event_views_of, .show = event_resource, KIND_INCLUDES(includes)};

int run_events_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, events = ROWS_INIT;
	json_auto_t *data = json_array();
	json_t *included;

	if (includes_check(req, &kind_run_events, err) < 0 || run_in_path(req, &run, err) < 0 ||
		events_of_run(req->store, run_of(&run)->id, &events, err) < 0 ||
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
		may(req, place_of(row_of(run_event_shown, &event, 0)), "run event", err) < 0 ||
		rows_show(req->store, &kind_run_events, &event, data, err) < 0 ||
		includes_follow(req, &kind_run_events, data, &included, err) < 0)
		return -1;
	return respond_including(res, 200, json_incref(json_array_get(data, 0)), included);
}

/* ---- comments ---- */

static json_t *comment_resource(const void *of_row)
{
	const struct comment_row *comment = of_row;

	return resource_new("comments", comment->id,
		json_pack("{ss so}", "body", comment->body, "created-at", time_shown(comment->created_at)),
		json_pack("{so so}", "run", to_one("runs", comment->run_id), "user",
			to_one("users", comment->created_by)));
}

static const struct inclusion comment_includes[] = {{"user", "comments", "user", &kind_users}};

const struct resource_kind kind_comments = {
	.type = "comments", .ask = comment_views_of, .show = comment_resource, KIND_INCLUDES(comment_includes)};

int comments_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, comments = ROWS_INIT;
	json_auto_t *data = json_array();
	json_t *included;

	if (includes_check(req, &kind_comments, err) < 0 || run_in_path(req, &run, err) < 0 ||
		comments_of_run(req->store, run_of(&run)->id, &comments, err) < 0 ||
		rows_show(req->store, &kind_comments, &comments, data, err) < 0 ||
		includes_follow(req, &kind_comments, data, &included, err) < 0)
		return -1;
	return respond_including(res, 200, json_incref(data), included);
}

static int comment_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows comment = ROWS_INIT;

	if (comment_view(req->store, id, &comment, err) < 0 ||
		may(req, place_of(row_of(comment, &comment, 0)), "comment", err) < 0)
		return -1;
	return respond_resource(res, status, comment_resource(row_of(comment, &comment, 0)));
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
	const struct new_comment comment = {run_of(&run)->id, req->actor.user.text, body};
	if (comment_create(req->store, &comment, &id, err) < 0)
		return -1;
	return comment_show(req, res, 201, id.text, err);
}
