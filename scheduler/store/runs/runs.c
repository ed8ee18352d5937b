/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/runs.h"

#include "scheduler/store/notifications/notifications.h"
#include "scheduler/store/runs/run_views.h"

/* STAGE_BIT(STAGE_FETCH) in statements. */
#define FETCH_BIT "1"
_Static_assert(STAGE_BIT(STAGE_FETCH) == 1, "the fragment holds it as a number");

/* The columns that run_read reads, from runs r, run_inputs i, jobs j and the run's plan o, in a workspace w. */
#define RUN_COLUMNS                                                                                                    \
	"r.id, r.workspace_id, r.organization_id, i.pool_id, r.status, r.stage, r.stages, r.plan_only, r.save_plan, "  \
	"r.auto_apply, r.allow_empty_apply, r.has_changes, r.queued, r.underway, r.stopping, "                         \
	"coalesce(r.force_cancel_available_at <= now(), false) as cooled_off, "                                        \
	"o.base_state_id is distinct from w.current_state_id as plan_is_stale, "                                       \
	"j.id as job_id, j.attempt, j.token_hash, cardinality(j.lost_with) as losses, j.state = 'claimed' as "         \
	"claimed, j.started, "                                                                                         \
	"j.lease_until, case when r.queued and r.stages & " FETCH_BIT " <> 0 then (select status = 'uploaded' from "   \
	"configuration_versions where id = i.configuration_version_id) end as fetched, i.source, extract(epoch from "  \
	"now() - r.updated_at) as changed_seconds "                                                                    \
	"from runs r join run_inputs i on i.run_id = r.id join workspaces w on w.id = r.workspace_id "                 \
	"join operations o on o.id = 'plan' || substr(r.id, 4) left join jobs j on j.run_id = r.id "

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
	ret_run->run.fetched = row_bool(rows, row, "fetched");
	text_copy(ret_run->source, sizeof(ret_run->source), row_text(rows, row, "source"));
	ret_run->changed_seconds = strtod(row_text(rows, row, "changed_seconds"), NULL);
	ret_run->cooled_off = row_bool(rows, row, "cooled_off");
	ret_run->plan_is_stale = row_bool(rows, row, "plan_is_stale");
	read_id(rows, row, "job_id", &ret_run->job.id);
	ret_run->job.attempt = (int)row_int(rows, row, "attempt");
	text_copy(ret_run->token_hash, sizeof(ret_run->token_hash), row_text(rows, row, "token_hash"));
	ret_run->job.losses = (int)row_int(rows, row, "losses");
	ret_run->job.claimed = row_bool(rows, row, "claimed");
	ret_run->job.started = row_bool(rows, row, "started");
	text_copy(
		ret_run->lease_until, sizeof(ret_run->lease_until), text_or_empty(row_text(rows, row, "lease_until")));
	ret_run->unknown =
		run_status_parse(row_text(rows, row, "status")) < 0 || stage_parse(row_text(rows, row, "stage")) < 0;
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
		set->watched |= row_bool(rows, i, "watched");
		text_copy(set->now, sizeof(set->now), row_text(rows, i, "now"));
	}
}

static void runs_read(const struct rows *rows, struct run_set *set)
{
	set->runs = mem_new((size_t)rows->count, sizeof(*set->runs));
	set->run_count = (size_t)rows->count;
	for (int i = 0; i < rows->count; i++)
		run_read(rows, i, &set->runs[i]);
}

#define WORKSPACE_COLUMNS                                                                                              \
	"select id, " WORKSPACE_ROW(                                                                                   \
		"workspaces") ", to_char(now() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') as "           \
			      "now, " WORKSPACE_IS_WATCHED("workspaces") " as watched from workspaces "

int runs_lock_leases(struct store *store, struct db_array *run_ids, struct err *err)
{
	return db_queue(store->db, err,
		"with place as (select id from workspaces where id in (select workspace_id from runs "
		"where id = any($1::text[])) order by id for no key update) "
		"select id from jobs where run_id = any($1::text[]) and state = 'claimed' "
		"and (select count(*) from place) > 0 order by id for no key update",
		P_ARRAY(run_ids));
}

int runs_load(struct store *store, struct db_array *run_ids, struct run_set *ret_set, struct err *err)
{
	_cleanup_(rows_release) struct rows workspaces = ROWS_INIT, runs = ROWS_INIT;

	if (db_ask(store->db, &workspaces, err,
		    WORKSPACE_COLUMNS "where id in (select workspace_id from runs where id = any($1::text[])) "
				      "order by id for no key update",
		    P_ARRAY(run_ids)) < 0)
		return -1;
	/* A separate statement, so that its snapshot includes commits made while this transaction waited for the
	 * locks. */
	if (db_query(store->db, &runs, err,
		    "select " RUN_COLUMNS "where r.id = any($1::text[]) order by r.id for no key update of r",
		    P_ARRAY(run_ids)) < 0)
		return -1;
	workspaces_read(&workspaces, ret_set);
	runs_read(&runs, ret_set);
	return 0;
}

int runs_load_queues(struct store *store, struct db_array *workspace_ids, struct run_set *ret_set, struct err *err)
{
	_cleanup_(rows_release) struct rows workspaces = ROWS_INIT, runs = ROWS_INIT;

	if (db_ask(store->db, &workspaces, err,
		    WORKSPACE_COLUMNS "where id = any($1::text[]) order by id for no key update",
		    P_ARRAY(workspace_ids)) < 0)
		return -1;
	/* The head of each queue is enough: when it proceeds, the next decision loads its successor. Plan-only runs
	 * wait for the end of maintenance alone, so they are loaded only while runs are resumed. */
	if (db_query(store->db, &runs, err,
		    "select " RUN_COLUMNS "where r.id in ("
		    "select h.id from unnest($1::text[]) u(id), lateral (select id from runs where workspace_id = u.id "
		    "and queued and not plan_only order by position limit 1) h union all "
		    "select id from runs where workspace_id = any($1::text[]) and saved union all "
		    "select p.id from unnest($1::text[]) u(id), lateral (select id from runs where workspace_id = u.id "
		    "and queued and plan_only order by position limit 100) p where (select is_resuming from "
		    "maintenance)) "
		    "order by r.id for no key update of r",
		    P_ARRAY(workspace_ids)) < 0)
		return -1;
	workspaces_read(&workspaces, ret_set);
	runs_read(&runs, ret_set);
	return 0;
}
