/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs.h"
#include "scheduler/dispatch/force.h"
#include "scheduler/dispatch/happen.h"

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

int runs_force_execute(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	if (run_in_path(req, &run, err) < 0 ||
		run_force(req->store, row_text(&run, 0, "id"), req->actor.user.text, err) < 0)
		return -1;
	return respond_empty(res, 202);
}
