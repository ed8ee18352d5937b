/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/runs.h"

#include "scheduler/store/notifications/notifications.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/runs.sql.h"

_Static_assert(STAGE_BIT(STAGE_FETCH) == 1, "the fragment holds it as a number");

static void read_id(const struct rows *rows, int row, const char *column, struct id *ret_id)
{
	text_copy(ret_id->text, sizeof(ret_id->text), row_text(rows, row, column));
}

static void run_read(const struct rows *rows, int row, struct run_row *ret_run)
{
	read_id(rows, row, "id", &ret_run->id);
	read_id(rows, row, "workspace_id", &ret_run->workspace);
	read_id(rows, row, "organization_id", &ret_run->organization);
	read_id(rows, row, "pool_id", &ret_run->pool);
	ret_run->run = run_of_view(rows, row);
	ret_run->run.fetched = row_of(runs_load, rows, row)->fetched;
	text_copy(ret_run->source, sizeof(ret_run->source), row_of(runs_load, rows, row)->source);
	ret_run->changed_seconds = strtod(row_of(runs_load, rows, row)->changed_seconds, NULL);
	ret_run->cooled_off = row_of(runs_load, rows, row)->cooled_off;
	ret_run->plan_is_stale = row_of(runs_load, rows, row)->plan_is_stale;
	read_id(rows, row, "job_id", &ret_run->job.id);
	ret_run->job.attempt = (int)row_of(runs_load, rows, row)->attempt;
	text_copy(ret_run->token_hash, sizeof(ret_run->token_hash), row_of(runs_load, rows, row)->token_hash);
	ret_run->job.losses = (int)row_of(runs_load, rows, row)->losses;
	ret_run->job.claimed = row_of(runs_load, rows, row)->claimed;
	ret_run->job.started = row_of(runs_load, rows, row)->started;
	text_copy(ret_run->lease_until, sizeof(ret_run->lease_until),
		text_or_empty(row_of(runs_load, rows, row)->lease_until));
	ret_run->unknown = run_status_parse(row_of(runs_load, rows, row)->status) < 0 ||
		stage_parse(row_of(runs_load, rows, row)->stage) < 0;
	ret_run->broken =
		ret_run->unknown ? "its state is one that this version does not know" : run_check(&ret_run->run);
}

void run_set_release(struct run_set *set)
{
	free(set->runs);
	free(set->workspaces);
	*set = (struct run_set){0};
}

void workspace_row_read(const struct rows *rows, int row, struct workspace_row *ret_workspace)
{
	read_id(rows, row, "current_run_id", &ret_workspace->current);
	ret_workspace->locked = row_bool(rows, row, "locked");
	ret_workspace->held = row_bool(rows, row, "held");
	ret_workspace->maintenance = row_bool(rows, row, "maintenance");
}

static void workspaces_read(const struct rows *rows, struct run_set *set)
{
	set->workspaces = mem_new((size_t)rows->count, sizeof(*set->workspaces));
	set->workspace_count = (size_t)rows->count;
	for (int i = 0; i < rows->count; i++) {
		read_id(rows, i, "id", &set->workspaces[i].id);
		workspace_row_read(rows, i, &set->workspaces[i]);
		set->watched |= row_of(runs_load_2, rows, i)->watched;
		text_copy(set->now, sizeof(set->now), row_of(runs_load_2, rows, i)->now);
	}
}

static void runs_read(const struct rows *rows, struct run_set *set)
{
	set->runs = mem_new((size_t)rows->count, sizeof(*set->runs));
	set->run_count = (size_t)rows->count;
	for (int i = 0; i < rows->count; i++)
		run_read(rows, i, &set->runs[i]);
}

int runs_lock_leases(struct store *store, struct db_array *run_ids, struct err *err)
{
	return db_queue(store->db, err, runs_lock_leases, .run_ids = run_ids);
}

int runs_load(struct store *store, struct db_array *run_ids, struct run_set *ret_set, struct err *err)
{
	_cleanup_(rows_release) struct rows workspaces = ROWS_INIT, runs = ROWS_INIT;

	if (db_ask(store->db, &workspaces, err, runs_load_read, .run_ids = run_ids) < 0)
		return -1;
	/* A separate statement, so that its snapshot includes commits made while this transaction waited for the
	 * locks. */
	if (db_query(store->db, &runs, err, runs_load_lock, .run_ids = run_ids) < 0)
		return -1;
	workspaces_read(&workspaces, ret_set);
	runs_read(&runs, ret_set);
	return 0;
}

int runs_load_queues(struct store *store, struct db_array *workspace_ids, struct run_set *ret_set, struct err *err)
{
	_cleanup_(rows_release) struct rows workspaces = ROWS_INIT, runs = ROWS_INIT;

	if (db_ask(store->db, &workspaces, err, runs_load_queues_read, .workspace_ids = workspace_ids) < 0)
		return -1;
	/* The head of each queue is enough: when it proceeds, the next decision loads its successor. Plan-only runs
	 * wait for the end of maintenance alone, so they are loaded only while runs are resumed. */
	if (db_query(store->db, &runs, err, runs_load_queues_lock, .workspace_ids = workspace_ids) < 0)
		return -1;
	workspaces_read(&workspaces, ret_set);
	runs_read(&runs, ret_set);
	return 0;
}
