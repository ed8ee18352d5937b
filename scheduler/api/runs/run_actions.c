/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/runs/force.h"
#include "scheduler/runs/holds.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/runs/run_events.h"

/* Actions of users on runs. Bodies are empty, {} or {"comment": "..."}; answers are empty. */

static int item_read(struct request *req, enum run_event_kind kind, struct run_transition *ret_item, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	*ret_item = (struct run_transition){.event = {.kind = kind}, .actor = req->actor.user.text};
	if (run_in_path(req, &run, err) < 0 || body_comment(req, &ret_item->comment, err) < 0)
		return -1;
	text_copy(ret_item->run.text, sizeof(ret_item->run.text), run_of(&run)->id);
	return 0;
}

static int act(struct request *req, struct response *res, enum run_event_kind kind, struct err *err)
{
	struct run_transition item;

	if (item_read(req, kind, &item, err) < 0 || run_apply_transition(req->store, &item, err) < 0)
		return -1;
	return respond_empty(res, 202);
}

int runs_apply(struct request *req, struct response *res, struct err *err)
{
	return act(req, res, EV_CONFIRMED, err);
}

/* Starts the apply of a run that waits for a maintenance window. */
int runs_override_window(struct request *req, struct response *res, struct err *err)
{
	struct run_transition item;

	if (item_read(req, EV_OPENED, &item, err) < 0)
		return -1;
	item.at_once = true;
	if (run_apply_transition(req->store, &item, err) < 0)
		return -1;
	return respond_empty(res, 202);
}

int runs_discard(struct request *req, struct response *res, struct err *err)
{
	return act(req, res, EV_DISCARDED, err);
}

/* For a run that has ended while terraform of its lost apply may still run: stops the hold of its workspace. *err is
 * the run's refusal, and stays unchanged if there is no hold. */
static int stop_held(struct request *req, const struct run_transition *item, enum hold_event event, struct err *err)
{
	const struct new_comment comment = {item->run.text, item->actor, item->comment};
	struct err held = ERR_INIT;
	struct id comment_id;

	if (hold_stop(req->store, item->run.text, event, item->actor, &held) < 0) {
		if (held.kind != ERR_NOT_FOUND)
			*err = held;
		return -1;
	}
	*err = (struct err)ERR_INIT;
	if (!item->comment || !*item->comment)
		return 0;
	return comment_create(req->store, &comment, &comment_id, err);
}

static int stop(
	struct request *req, struct response *res, enum run_event_kind kind, enum hold_event event, struct err *err)
{
	struct run_transition item;

	if (item_read(req, kind, &item, err) < 0)
		return -1;
	if (run_apply_transition(req->store, &item, err) < 0 &&
		(err->kind != ERR_CONFLICT || stop_held(req, &item, event, err) < 0))
		return -1;
	return respond_empty(res, 202);
}

int runs_cancel(struct request *req, struct response *res, struct err *err)
{
	return stop(req, res, EV_CANCELED, HOLD_CANCELED, err);
}

int runs_force_cancel(struct request *req, struct response *res, struct err *err)
{
	return stop(req, res, EV_FORCE_CANCELED, HOLD_FORCE_CANCELED, err);
}

int runs_force_execute(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	if (run_in_path(req, &run, err) < 0 || run_force(req->store, run_of(&run)->id, req->actor.user.text, err) < 0)
		return -1;
	return respond_empty(res, 202);
}
