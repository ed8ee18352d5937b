/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/waiting/run_waits.h"

#include "scheduler/db/sql_time.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/runs/waiting/run_waits.sql.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/runs.h"
#include "scheduler/store/workers/quotas.h"

_Static_assert(
	BIT_CAN_OVERRIDE == 12 && BIT_CAN_APPLY == 3 && MAX_NAMED_TEAMS == 3, "the fragments hold these as numbers");

static bool quota_full(const struct rows *rows, int row, const char *quota, const char *running)
{
	return !row_null(rows, row, quota) && row_int(rows, row, running) >= row_int(rows, row, quota);
}

static void facts_read(const struct rows *rows, int row, struct wait_facts *ret_facts)
{
	struct run_workspace workspace = {.locked = false};

	workspace_row_read(rows, row, &workspace);
	*ret_facts = (struct wait_facts){.run = run_of_view(rows, row),
		.workspace = {.locked = workspace.locked,
			.has_current = workspace.current.text[0],
			.held = workspace.held,
			.maintenance = workspace.maintenance},
		.first = row_int(rows, row, "before") == 0,
		.job_waiting = !row_null(rows, row, "job_id"),
		.git_waiting = row_bool(rows, row, "git_waiting"),
		.pool = {.drained = row_bool(rows, row, "drained"),
			.failover = row_bool(rows, row, "failover"),
			.key_missing = row_bool(rows, row, "key_missing"),
			.pool_full = quota_full(rows, row, "pool_quota", "pool_running"),
			.organization_full = quota_full(rows, row, "quota", "running"),
			.accepting = row_int(rows, row, "accepting"),
			.slots = row_int(rows, row, "slots"),
			.free = row_int(rows, row, "free")}};
}

static const char *cell(const struct rows *rows, int row, const char *column)
{
	return text_or_empty(row_text(rows, row, column));
}

/* The parts of a run that run_situation and run_label read. */
static struct run blocker_of(const struct rows *rows, int row)
{
	int status = run_status_parse(cell(rows, row, "b_status")), stage = stage_parse(cell(rows, row, "b_stage"));

	return (struct run){.status = status < 0 ? RUN_PENDING : (enum run_status)status,
		.stage = stage < 0 ? STAGE_NONE : (enum stage)stage,
		.underway = row_bool(rows, row, "b_underway"),
		.queued = row_bool(rows, row, "b_queued")};
}

/* The scheduler itself has no scope, and may not decide. */
static struct wait_decider decider_of(struct store *store, const struct rows *rows, int row)
{
	rights needed = row_null(rows, row, "bit") ? 0 : (rights)1 << row_int(rows, row, "bit");

	return (struct wait_decider){.is_reader = store->scope && ((rights)row_int(rows, row, "rights") & needed),
		.teams = cell(rows, row, "teams"),
		.team_count = row_int(rows, row, "team_count")};
}

static struct wait_subject subject_of(struct store *store, const struct rows *rows, int row)
{
	const bool current = !row_null(rows, row, "current_run_id");

	return (struct wait_subject){.organization = cell(rows, row, "organization"),
		.workspace = cell(rows, row, "workspace"),
		.run = cell(rows, row, "id"),
		.before = {cell(rows, row, "b_id"), blocker_of(rows, row), row_int(rows, row, "b_seconds"),
			row_int(rows, row, "before") - (current ? 0 : 1)},
		.decider = decider_of(store, rows, row),
		.lock = {cell(rows, row, "locked_by"), cell(rows, row, "locked_reason")},
		.hold = {cell(rows, row, "hold_run"), cell(rows, row, "hold_worker"),
			row_bool(rows, row, "hold_engine_ended"), row_bool(rows, row, "hold_settled")},
		.maintenance = {cell(rows, row, "maintenance_since"), cell(rows, row, "maintenance_reason")},
		.pool = {cell(rows, row, "pool"), cell(rows, row, "drained_since"), cell(rows, row, "last_seen"),
			row_int(rows, row, "live"), row_int(rows, row, "slots"), row_int(rows, row, "pool_quota"),
			row_int(rows, row, "place"), row_int(rows, row, "places"),
			row_null(rows, row, "place") ? 0 : row_int(rows, row, "eta_seconds")},
		.organization_limit = row_int(rows, row, "quota"),
		.task = {cell(rows, row, "task_name"), row_int(rows, row, "task_seconds"),
			row_int(rows, row, "task_limit"), row_int(rows, row, "task_others"),
			row_bool(rows, row, "taken")},
		.stop = {cell(rows, row, "stop_worker"), row_int(rows, row, "stop_seconds")},
		.git_error = cell(rows, row, "git_error")};
}

void wait_of_row(struct store *store, const struct rows *rows, int row, struct run_wait *ret_wait)
{
	const struct wait_subject subject = subject_of(store, rows, row);
	struct wait_facts facts;

	facts_read(rows, row, &facts);
	*ret_wait = (struct run_wait){.kind = wait_of(&facts), .position = row_int(rows, row, "place")};
	text_copy(ret_wait->run.text, ID_SIZE, row_text(rows, row, "id"));
	text_copy(ret_wait->job.text, ID_SIZE, row_text(rows, row, "job_id"));
	if (ret_wait->kind != WAIT_NONE)
		text_copy(ret_wait->since, WAIT_TIME_SIZE, cell(rows, row, "since"));
	if (ret_wait->kind == WAIT_SLOT && subject.pool.eta_seconds > 0)
		text_copy(ret_wait->eta, WAIT_TIME_SIZE, cell(rows, row, "eta"));
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
		wait_of_row(store, &rows, i, &waits->items[waits->count++]);
	return 0;
}
