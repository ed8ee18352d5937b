/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/runs.h"

#include "scheduler/store/notifications/notifications.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/runs.sql.h"

_Static_assert(STAGE_BIT(STAGE_FETCH) == 1, "the fragment holds it as a number");

struct id id_of(const char *text)
{
	struct id id;

	text_copy(id.text, sizeof(id.text), text);
	return id;
}

static void run_read(const struct run_loaded_row *row, struct run_row *ret_run)
{
	*ret_run = (struct run_row){.id = id_of(row->id),
		.workspace = id_of(row->workspace_id),
		.organization = id_of(row->organization_id),
		.pool = id_of(row->pool_id),
		.run = RUN_OF_ROW(row),
		.job = {.id = id_of(row->job_id),
			.attempt = (int)row->attempt,
			.losses = (int)row->losses,
			.claimed = row->claimed,
			.started = row->started},
		.changed_seconds = strtod(row->changed_seconds, NULL),
		.cooled_off = row->cooled_off,
		.window_closed = row->window_closed,
		.plan_is_stale = row->plan_is_stale,
		.unknown = run_status_parse(row->status) < 0 || stage_parse(row->stage) < 0};
	ret_run->run.fetched = row->fetched;
	text_copy(ret_run->token_hash, sizeof(ret_run->token_hash), row->token_hash);
	text_copy(ret_run->lease_until, sizeof(ret_run->lease_until), row->lease_until);
	text_copy(ret_run->source, sizeof(ret_run->source), row->source);
	ret_run->broken =
		ret_run->unknown ? "its state is one that this version does not know" : run_check(&ret_run->run);
}

void run_set_release(struct run_set *set)
{
	free(set->runs);
	free(set->workspaces);
	*set = (struct run_set){0};
}

static void workspaces_read(const struct rows *rows, struct run_set *set)
{
	set->workspaces = mem_new((size_t)rows->count, sizeof(*set->workspaces));
	set->workspace_count = (size_t)rows->count;
	for (int i = 0; i < rows->count; i++) {
		const struct run_place_row *place = row_of(run_place, rows, i);

		set->workspaces[i] = WORKSPACE_OF_ROW(place);
		set->workspaces[i].id = id_of(place->id);
		set->watched |= place->watched;
		text_copy(set->now, sizeof(set->now), place->now);
	}
}

static void runs_read(const struct rows *rows, struct run_set *set)
{
	set->runs = mem_new((size_t)rows->count, sizeof(*set->runs));
	set->run_count = (size_t)rows->count;
	for (int i = 0; i < rows->count; i++)
		run_read(row_of(run_loaded, rows, i), &set->runs[i]);
}

int runs_lock_leases(struct store *store, struct db_array *run_ids, struct err *err)
{
	return db_queue(store->db, err, runs_lock_leases, .run_ids = run_ids);
}

int runs_load(struct store *store, struct db_array *run_ids, struct run_set *ret_set, struct err *err)
{
	_cleanup_(rows_release) struct rows workspaces = ROWS_INIT, runs = ROWS_INIT;

	if (db_ask(store->db, &workspaces, err, run_places_of, .run_ids = run_ids) < 0)
		return -1;
	/* A separate statement, so that its snapshot includes commits made while this transaction waited for the
	 * locks. */
	if (db_query(store->db, &runs, err, runs_load, .run_ids = run_ids) < 0)
		return -1;
	workspaces_read(&workspaces, ret_set);
	runs_read(&runs, ret_set);
	return 0;
}

int runs_load_queues(struct store *store, struct db_array *workspace_ids, struct run_set *ret_set, struct err *err)
{
	_cleanup_(rows_release) struct rows workspaces = ROWS_INIT, runs = ROWS_INIT;

	if (db_ask(store->db, &workspaces, err, run_places_load, .workspace_ids = workspace_ids) < 0)
		return -1;
	if (db_query(store->db, &runs, err, runs_load_queues, .workspace_ids = workspace_ids) < 0)
		return -1;
	workspaces_read(&workspaces, ret_set);
	runs_read(&runs, ret_set);
	return 0;
}
