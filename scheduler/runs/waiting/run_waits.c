/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/waiting/run_waits.h"

#include "scheduler/runs/epoch.h"
#include "scheduler/runs/waiting/run_waits.sql.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/workers/quotas.h"

_Static_assert(
	BIT_CAN_OVERRIDE == 12 && BIT_CAN_APPLY == 3 && MAX_NAMED_TEAMS == 3, "the fragments hold these as numbers");

static struct wait_facts facts_of(const struct run_waits_row *row)
{
	return (struct wait_facts){.run = RUN_OF_ROW(row),
		.workspace = {.locked = row->locked,
			.has_current = row->current_run_id,
			.held = row->held,
			.maintenance = row->maintenance},
		.first = row->before == 0,
		.job_waiting = row->job_id,
		.git_waiting = row->git_waiting,
		.pool = {.drained = row->drained,
			.failover = row->failover,
			.key_missing = row->key_missing,
			.pool_full = !row->pool_quota_null && row->pool_running >= row->pool_quota,
			.organization_full = !row->quota_null && row->running >= row->quota,
			.accepting = row->accepting,
			.willing = row->willing,
			.slots = row->slots,
			.free = row->free}};
}

/* The parts of a run that run_situation and run_label read. */
static struct run blocker_of(const struct run_waits_row *row)
{
	int status = run_status_parse(text_or_empty(row->b_status)), stage = stage_parse(text_or_empty(row->b_stage));

	return (struct run){.status = status < 0 ? RUN_PENDING : (enum run_status)status,
		.stage = stage < 0 ? STAGE_NONE : (enum stage)stage,
		.underway = row->b_underway,
		.queued = row->b_queued};
}

/* The scheduler itself has no scope, and may not decide. */
static struct wait_decider decider_of(struct store *store, const struct run_waits_row *row)
{
	rights needed = row->bit_null ? 0 : (rights)1 << row->bit;

	return (struct wait_decider){.is_reader = store->scope && ((rights)row->rights & needed),
		.teams = text_or_empty(row->teams),
		.team_count = row->team_count};
}

static struct wait_subject subject_of(struct store *store, const struct run_waits_row *row)
{
	return (struct wait_subject){.organization = row->organization,
		.workspace = row->workspace,
		.run = row->id,
		.before = {text_or_empty(row->b_id), blocker_of(row), row->b_seconds,
			row->before - (row->current_run_id ? 0 : 1)},
		.decider = decider_of(store, row),
		.lock = {text_or_empty(row->locked_by), text_or_empty(row->locked_reason)},
		.hold = {text_or_empty(row->hold_run), text_or_empty(row->hold_worker), row->hold_engine_ended,
			row->hold_settled},
		.maintenance = {text_or_empty(row->maintenance_since), text_or_empty(row->maintenance_reason)},
		.pool = {text_or_empty(row->pool), text_or_empty(row->drained_since), text_or_empty(row->last_seen),
			row->live, row->slots, row->pool_quota, row->place, row->places,
			row->place_null ? 0 : row->eta_seconds},
		.organization_limit = row->quota,
		.task = {text_or_empty(row->task_name), row->task_seconds, row->task_limit, row->task_others,
			row->taken},
		.stop = {text_or_empty(row->stop_worker), row->stop_seconds},
		.window_opens = text_or_empty(row->window_opens),
		.git_error = text_or_empty(row->git_error),
		.creator_suspended = row->creator_suspended};
}

void wait_of_row(struct store *store, const struct run_waits_row *row, struct run_wait *ret_wait)
{
	const struct wait_subject subject = subject_of(store, row);
	const struct wait_facts facts = facts_of(row);

	*ret_wait = (struct run_wait){.kind = wait_of(&facts), .position = row->place};
	text_copy(ret_wait->run.text, ID_SIZE, row->id);
	text_copy(ret_wait->job.text, ID_SIZE, row->job_id);
	if (ret_wait->kind != WAIT_NONE)
		text_copy(ret_wait->since, WAIT_TIME_SIZE, row->since);
	if (ret_wait->kind == WAIT_SLOT && subject.pool.eta_seconds > 0)
		text_copy(ret_wait->eta, WAIT_TIME_SIZE, row->eta);
	wait_text_write(&facts, &subject, &ret_wait->text);
}

int waits_ask(struct store *store, struct db_array *run_ids, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_bytes_release) struct db_bytes keys = DB_BYTES_INIT;

	keys_numbers(store, &keys);
	return db_ask(store->db, ret_rows, err, run_waits, .run_ids = run_ids,
		.lease_seconds = store->settings->lease_seconds, .max_position = MAX_POSITION, .keys = &keys,
		.user = response_scope_user(store->scope));
}

int waits_read(struct store *store, struct db_array *run_ids, struct run_waits *waits, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_gather(store->db);
	if (db_gathered(store->db, waits_ask(store, run_ids, &rows, err), err) < 0)
		return -1;
	waits->count = 0;
	for (int i = 0; i < rows.count && waits->count < waits->room; i++)
		wait_of_row(store, row_of(run_waits, &rows, i), &waits->items[waits->count++]);
	return 0;
}
