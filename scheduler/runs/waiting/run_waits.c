/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/waiting/run_waits.h"

#include "scheduler/db/sql_time.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/runs.h"
#include "scheduler/store/workers/quotas.h"

/* The expected time follows from the jobs of this many runs that ended last, in an hour. */
#define SAMPLED_RUNS "200"

#define MINUTE(time) "to_char(" time " at time zone 'UTC', 'YYYY-MM-DD HH24:MI \"UTC\"') "

/* The live workers of a pool: those that claim jobs (accepting) and the others. */
#define POOL_WORKERS                                                                                                   \
	"lateral (select count(*) filter (where k.live) as live, "                                                     \
	"count(*) filter (where k.live and k.accepts) as accepting, "                                                  \
	"coalesce(sum(k.slots) filter (where k.live and k.accepts), 0) as slots, "                                     \
	"coalesce(sum(k.free) filter (where k.live and k.accepts), 0) as free, "                                       \
	"max(coalesce(k.left_at, k.seen_at)) as last_seen from (select w.slots, w.free, w.left_at, w.seen_at, "        \
	"w.left_at is null and w.seen_at > now() - make_interval(secs => $2::int) as live, "                           \
	"not w.draining and w.ordered is null as accepts from workers w where w.pool_id = p.id) k) k "

/* The waiting jobs of a pool in the order of claims (pick_sql in runs/claim.c). */
#define POOL_PLACES                                                                                                    \
	"lateral (select t.id, row_number() over (order by t.class, t.turn, t.created_at, t.id) as place, "            \
	"count(*) over () as total from (select q.id, q.class, q.created_at, coalesce(b.n, 0) + row_number() over "    \
	"(partition by q.class, q.organization_id order by q.created_at, q.id) as turn from "                          \
	"(select id, class, created_at, organization_id from jobs where pool_id = p.id and state = 'waiting' "         \
	"order by class, organization_id, created_at, id limit $3 + 1) q left join "                                   \
	"(select organization_id, count(*) as n from jobs where pool_id = p.id and state like 'claimed' group by 1) "  \
	"b using (organization_id)) t) x "

/* Seconds of an average job of the pool `p`, of those that ended lately; null: too few. Reads runs_ended, and
 * operations and workers by their keys. */
#define JOB_SECONDS                                                                                                    \
	"(select case when count(*) >= 3 then avg(extract(epoch from (o.status_timestamps ->> 'finished-at')"          \
	"::timestamptz - (o.status_timestamps ->> 'started-at')::timestamptz)) end from (select id from runs "         \
	"where ended_at > now() - interval '1 hour' order by ended_at desc limit " SAMPLED_RUNS ") e "                 \
	"join operations o on o.id in ('plan' || substr(e.id, 4), 'apply' || substr(e.id, 4)) "                        \
	"join workers w on w.id = o.worker_id and w.pool_id = p.id "                                                   \
	"where o.status_timestamps ? 'finished-at' and o.status_timestamps ? 'started-at') "

/* The run that the queued run `r` follows: the workspace's current run, else the first of the queue. */
#define BLOCKER                                                                                                        \
	"lateral (select q.* from runs q where r.queued and not r.plan_only and q.id = coalesce(w.current_run_id, "    \
	"(select f.id from runs f where f.workspace_id = r.workspace_id and f.queued and not f.plan_only "             \
	"and f.position < r.position order by f.position limit 1)) and q.id <> r.id) "

/* The bit of the permission that a person needs to decide about run `x`; null: it awaits no decision. */
#define DECISION(x)                                                                                                    \
	"case when " x ".status = 'policy_override' then 12 when " x ".status = 'planned_and_saved' or " x             \
	".stage = 'confirm' and not " x ".underway then 3 end "

/* The teams that all members of the organization see and that have the right `d.bit` in the workspace. */
#define DECIDERS                                                                                                       \
	"lateral (select count(*) as team_count, string_agg(t.name, ', ' order by t.n) filter (where t.n <= 3) "       \
	"as teams from (select t.name, row_number() over (order by t.kind, t.name) as n "                              \
	"from teams t where d.bit is not null and t.organization_id = r.organization_id "                              \
	"and (t.kind = 'owners' or t.kind = 'team' and t.visibility = 'organization') "                                \
	"and (t.rights & (1::bigint << d.bit) <> 0 "                                                                   \
	"or exists (select 1 from team_workspaces a where a.team_id = t.id and a.workspace_id = w.id "                 \
	"and a.rights & (1::bigint << d.bit) <> 0) "                                                                   \
	"or exists (select 1 from team_projects a where a.team_id = t.id and a.project_id = w.project_id "             \
	"and a.rights & (1::bigint << d.bit) <> 0)) order by n limit 4) t) "
_Static_assert(
	BIT_CAN_OVERRIDE == 12 && BIT_CAN_APPLY == 3 && MAX_NAMED_TEAMS == 3, "the fragments hold these as numbers");

/* The run tasks of the current stage that have not reported: the first one, and their number. */
#define TASKS                                                                                                          \
	"lateral (select t.task_name, t.delivery = 'acknowledged' as taken, "                                          \
	"extract(epoch from now() - (t.status_timestamps ->> 'running-at')::timestamptz)::bigint as seconds, "         \
	"extract(epoch from t.due_at - (t.status_timestamps ->> 'running-at')::timestamptz)::bigint as "               \
	"limit_seconds, "                                                                                              \
	"count(*) over () - 1 as others from task_results t where r.status like '%running' and t.run_id = r.id "       \
	"and t.stage = r.stage and t.status in ('pending', 'running') order by t.due_at, t.id limit 1) "

/* The time at which the run `x` reached its status. */
#define STATUS_TIME(x) "(" x ".status_timestamps ->> (replace(" x ".status, '_', '-') || '-at'))::timestamptz"

/* The person or team that locked the workspace. Secret teams are not named. */
#define LOCKER                                                                                                         \
	"(select coalesce((select case when t.kind = 'owners' or t.visibility = 'organization' then 'the team ' || "   \
	"t.name else 'a team' end from teams t where t.user_id = u.id and t.kind in ('owners', 'team')), u.username) " \
	"from users u where u.id = w.locked_by)"

/* clang-format would move the text after a macro to the next line. */
/* clang-format off */
#define RUN_FACTS                                                                                                      \
	"r.id, r.status, r.stage, r.stages, r.plan_only, r.save_plan, r.auto_apply, r.allow_empty_apply, "             \
	"r.has_changes, r.queued, r.underway, r.stopping, case when r.queued then (select count(*) from "              \
	"(select 1 from runs q where q.workspace_id = r.workspace_id and q.queued and not q.plan_only "                \
	"and q.position < r.position limit $3) f) end as before, "                                                     \
	SQL_TIME("case when r.queued then r.created_at when j.id is not null then j.created_at when r.stopping > 0 then " \
	"r.canceled_at else " STATUS_TIME("r") " end") " as since, "                                                    \
	RIGHTS_IN_WORKSPACE("$5", "r.organization_id", "r.workspace_id") "as rights, b.id as b_id, b.status as "       \
	"b_status, b.stage as b_stage, b.underway as b_underway, b.queued as b_queued, "                               \
	"extract(epoch from now() - coalesce(" STATUS_TIME("b") ", b.created_at))::bigint as b_seconds, d.bit, "       \
	"e.teams, e.team_count, t.task_name, t.taken, t.seconds as task_seconds, t.limit_seconds as task_limit, "      \
	"t.others as task_others, "
#define WORKSPACE_FACTS                                                                                                \
	WORKSPACE_ROW("w") ", w.locked_reason, " LOCKER " as locked_by, w.name as workspace, "                         \
	"(select name from organizations where id = w.organization_id) as organization, h.run_id as hold_run, "        \
	"h.worker as hold_worker, h.engine_ended as hold_engine_ended, h.settled_at is not null as hold_settled, "     \
	"m.reason as maintenance_reason, " MINUTE("m.since") "as maintenance_since, "
/* The git job that fetches the commit of run `r`, while it waits. */
#define GIT_JOB                                                                                                        \
	"lateral (select g.id, g.error from run_inputs i join configuration_commits k on k.configuration_version_id "  \
	"= i.configuration_version_id join git_jobs g on g.content_id = k.content_id and g.kind = 'fetch' where "      \
	"r.status = 'fetching' and i.run_id = r.id and g.state = 'waiting') "
#define JOB_FACTS                                                                                                      \
	"g.id is not null as git_waiting, g.error as git_error, j.id as job_id, not r.plan_only and " EPOCH_IS_YOUNG("$2") "as failover, j.id is not null and "               \
	JOB_KEY_IS_MISSING("j", "$4") "as key_missing, case when x.total <= $3 then x.place end as place, "            \
	"least(x.total, $3) as places, (x.place * p.job_seconds / greatest(p.slots, 1))::bigint as eta_seconds, "      \
	SQL_TIME("now() + make_interval(secs => (x.place * p.job_seconds / greatest(p.slots, 1))::float8)") " as eta, " \
	"case when r.stopping > 0 then (select k.name from jobs s join workers k on k.id = s.worker_id where "         \
	"s.run_id = r.id) end as stop_worker, extract(epoch from now() - r.canceled_at)::bigint as stop_seconds, "     \
	"o.runs as quota, case when o.runs is not null then " ORGANIZATION_RUNNING("r.organization_id")                \
	"end as running, "
#define POOL_FACTS                                                                                                     \
	"p.name as pool, p.drained_at is not null as drained, " MINUTE("p.drained_at") "as drained_since, p.live, "    \
	"p.accepting, p.slots, p.free, " MINUTE("p.last_seen") "as last_seen, p.quota as pool_quota, "                 \
	"p.running as pool_running "

/* Returns one row per run: the columns of run_of_view, its workspace, the run before it in the queue, the teams that
 * decide, and the open run tasks of its stage. If its job waits, also the place of the job, and the pool with its workers
 * and quotas. Runs, workspaces, jobs, holds and pools are read by their keys. Teams are read by their organization, run
 * tasks by their run. Queues are in the index runs_queue, waiting jobs in jobs_waiting, running ones in jobs_claimed. */
static const char waits_sql[] =
	"with asked as (select * from runs where id = any($1::text[])), "
	"waiting as (select j.* from asked a join jobs j on j.run_id = a.id where j.state = 'waiting'), "
	"pool_facts as materialized (select p.id, p.name, p.drained_at, q.runs as quota, "
	POOL_RUNNING("p.id") "as running, k.* from (select distinct pool_id from waiting) d "
	"join agent_pools p on p.id = d.pool_id "
	"left join run_quotas q on q.pool_id = p.id cross join " POOL_WORKERS "), "
	"pools as materialized (select p.*, case when p.free = 0 then " JOB_SECONDS "end as job_seconds "
	"from pool_facts p), "
	"places as (select x.* from pools p cross join " POOL_PLACES ") "
	"select " RUN_FACTS WORKSPACE_FACTS JOB_FACTS POOL_FACTS
	"from asked r join workspaces w on w.id = r.workspace_id cross join maintenance m "
	"left join workspace_holds h on h.job_id = w.hold_job_id "
	"left join " BLOCKER "b on true cross join lateral (select case when r.queued then " DECISION("b") "else "
	DECISION("r") "end as bit) d cross join " DECIDERS "e left join " TASKS "t on true "
	"left join waiting j on j.run_id = r.id left join pools p on p.id = j.pool_id left join places x on x.id = j.id "
	"left join " GIT_JOB "g on true "
	"left join run_quotas o on o.organization_id = r.organization_id and j.id is not null";
/* clang-format on */

static bool quota_full(const struct rows *rows, int row, const char *quota, const char *running)
{
	return !row_null(rows, row, quota) && row_int(rows, row, running) >= row_int(rows, row, quota);
}

static void facts_read(const struct rows *rows, int row, struct wait_facts *ret_facts)
{
	struct workspace_row workspace = {.locked = false};

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
	return db_ask(store->db, ret_rows, err, waits_sql, P_ARRAY(run_ids), P_INT(store->settings->lease_seconds),
		P_INT(MAX_POSITION), P_BYTES_ARRAY(&keys), P_TEXT(response_scope_user(store->scope)));
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
