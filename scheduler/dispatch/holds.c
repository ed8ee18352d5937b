/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/holds.h"

#include <stdio.h>

#include "common/log.h"
#include "scheduler/dispatch/claim.h"
#include "scheduler/dispatch/happen.h"

struct releasing {
	struct store *store;
	const struct hold_order *order;
	bool ended;
};

/* model: release */
static int release_in(void *data, struct err *err)
{
	struct releasing *r = data;

	if (hold_end(r->store, r->order, &r->ended, err) < 0)
		return -1;
	return r->ended ? workspace_kick(r->store, r->order->workspace_id, err) : 0;
}

int hold_release(struct store *store, const struct hold_order *order, bool *ret_ended, struct err *err)
{
	struct releasing r = {.store = store, .order = order};

	if (db_transaction(store->db, release_in, &r, err) < 0)
		return -1;
	if (ret_ended)
		*ret_ended = r.ended;
	return 0;
}

/* ---- by the worker ---- */

struct settling {
	struct store *store;
	const struct job_grant *grant;
};

static int settle_late(void *data, struct err *err)
{
	const struct settling *s = data;
	const struct hold_order order = {
		.workspace_id = s->grant->workspace.text, .job_id = s->grant->job.text, .why = HOLD_STATE_CAME};

	if (hold_release(s->store, &order, NULL, err) < 0)
		return -1;
	return hold_forget(s->store, s->grant->job.text, err);
}

/* Its worker is back and has nothing of it any more: no need to wait for the lease's end. ret_over: that was late, the
 * lease has ended just then. */
static int settle_now(struct store *store, const struct job_grant *grant, bool *ret_over, struct err *err)
{
	struct happening item = {.run = grant->run,
		.event = {.kind = EV_LOST},
		.job = grant->job,
		.attempt = grant->attempt,
		.reason = "The worker was stopped during the apply. An apply is never tried again; the state that it "
			  "left is the workspace's current one."};

	if (grant->stage != STAGE_APPLY)
		return err_set(err, ERR_INVALID, "the job is no apply");
	if (runs_happen(store, &item, 1, err) < 0)
		return -1;
	*ret_over = item.outcome == HAPPENED_LATE;
	return 0;
}

int apply_settled(struct store *store, const char *job_id, const char *token, struct err *err)
{
	struct job_grant grant;
	struct settling settling = {store, &grant};
	bool over = true;

	if (state_granted(store, job_id, token, &grant, err) < 0)
		return -1;
	if (!grant.late &&
		(settle_now(store, &grant, &over, err) < 0 ||
			(over && state_granted(store, job_id, token, &grant, err) < 0)))
		return -1;
	if (!over)
		return 0;
	if (db_transaction(store->db, settle_late, &settling, err) < 0)
		return -1;
	log_info("the last state of a lost apply has come", "run", grant.run.text, "workspace", grant.workspace.text,
		NULL);
	return 0;
}

/* ---- at the command line ---- */

int holds_print(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (holds_list(store, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		json_auto_t *hold = json_pack("{ss ss ss ss ss ss ss}", "workspace", row_text(&rows, i, "workspace_id"),
			"name", row_text(&rows, i, "workspace"), "organization", row_text(&rows, i, "organization"),
			"run", row_text(&rows, i, "run_id"), "worker", row_text(&rows, i, "worker"), "since",
			row_text(&rows, i, "began_at"), "until", row_text(&rows, i, "until"));
		_cleanup_(freep) char *line = json_text(hold);

		printf("%s\n", line);
	}
	return 0;
}

int holds_release(struct store *store, const char *workspace_id, const char *reason, struct err *err)
{
	const struct hold_order order = {.workspace_id = workspace_id, .why = HOLD_OPERATOR, .reason = reason};
	bool ended = false;

	if (hold_release(store, &order, &ended, err) < 0)
		return -1;
	return ended ? 0 : err_set(err, ERR_NOT_FOUND, "the workspace %s is not held", workspace_id);
}
