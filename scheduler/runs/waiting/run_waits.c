/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/waiting/run_waits.h"

#include <stdio.h>

#include "scheduler/runs/epoch.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/runs.h"
#include "scheduler/store/workers/quotas.h"

enum { REASON_SIZE = 800 };

#define TIME(time)   "to_char((" time ") at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') "
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

/* clang-format would move the text after a macro to the next line. */
/* clang-format off */
#define RUN_FACTS                                                                                                      \
	"r.id, r.status, r.stage, r.stages, r.plan_only, r.save_plan, r.auto_apply, r.allow_empty_apply, "             \
	"r.has_changes, r.queued, r.underway, r.stopping, case when r.queued then (select count(*) from "              \
	"(select 1 from runs q where q.workspace_id = r.workspace_id and q.queued and not q.plan_only "                \
	"and q.position < r.position limit $3) f) end as before, "                                                     \
	TIME("case when r.queued then r.created_at else j.created_at end") "as since, "
#define WORKSPACE_FACTS                                                                                                \
	WORKSPACE_ROW("w") ", w.locked_reason, (select username from users where id = w.locked_by) as locked_by, "     \
	"m.reason as maintenance_reason, " MINUTE("m.since") "as maintenance_since, "
#define JOB_FACTS                                                                                                      \
	"j.id as job_id, not r.plan_only and " EPOCH_IS_YOUNG("$2") "as failover, j.id is not null and "               \
	JOB_KEY_IS_MISSING("j", "$4") "as key_missing, case when x.total <= $3 then x.place end as place, "            \
	"o.runs as quota, case when o.runs is not null then " ORGANIZATION_RUNNING("r.organization_id")                \
	"end as running, "
#define POOL_FACTS                                                                                                     \
	"p.name as pool, p.drained_at is not null as drained, " MINUTE("p.drained_at") "as drained_since, p.live, "    \
	"p.accepting, p.slots, p.free, " MINUTE("p.last_seen") "as last_seen, p.quota as pool_quota, "                 \
	"p.running as pool_running "

/* Returns one row per run: the columns of run_of_view, its workspace, its place in the workspace's queue, and if its
 * job waits, the pool with its workers and quotas, and the place of the job. Runs, workspaces, jobs and pools are read
 * by their keys, queues from the index runs_queue, waiting jobs from jobs_waiting, running ones from jobs_claimed. */
static const char waits_sql[] =
	"with asked as (select * from runs where id = any($1::text[])), "
	"waiting as (select j.* from asked a join jobs j on j.run_id = a.id where j.state = 'waiting'), "
	"pools as materialized (select p.id, p.name, p.drained_at, q.runs as quota, " POOL_RUNNING("p.id") "as running, "
	"k.* from (select distinct pool_id from waiting) d join agent_pools p on p.id = d.pool_id "
	"left join run_quotas q on q.pool_id = p.id cross join " POOL_WORKERS "), "
	"places as (select x.* from pools p cross join " POOL_PLACES ") "
	"select " RUN_FACTS WORKSPACE_FACTS JOB_FACTS POOL_FACTS
	"from asked r join workspaces w on w.id = r.workspace_id cross join maintenance m "
	"left join waiting j on j.run_id = r.id left join pools p on p.id = j.pool_id left join places x on x.id = j.id "
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
		.pool = {.drained = row_bool(rows, row, "drained"),
			.failover = row_bool(rows, row, "failover"),
			.key_missing = row_bool(rows, row, "key_missing"),
			.pool_full = quota_full(rows, row, "pool_quota", "pool_running"),
			.organization_full = quota_full(rows, row, "quota", "running"),
			.accepting = row_int(rows, row, "accepting"),
			.slots = row_int(rows, row, "slots"),
			.free = row_int(rows, row, "free")}};
}

/* ---- sentences ---- */

struct sentence {
	const struct rows *rows;
	int row;
	char *text;
};

static const char *cell(const struct sentence *s, const char *column)
{
	return text_or_empty(row_text(s->rows, s->row, column));
}

static void say_maintenance(const struct sentence *s)
{
	snprintf(s->text, WAIT_TEXT_SIZE, "Maintenance since %s: %s. The run starts when maintenance ends.",
		cell(s, "maintenance_since"), cell(s, "maintenance_reason"));
}

static void say_locked(const struct sentence *s)
{
	char reason[REASON_SIZE];

	text_copy(reason, sizeof(reason), cell(s, "locked_reason"));
	snprintf(s->text, WAIT_TEXT_SIZE, "The workspace is locked by %s%s%s.", cell(s, "locked_by"),
		*reason ? ": " : "", reason);
}

static void say_held(const struct sentence *s)
{
	snprintf(s->text, WAIT_TEXT_SIZE,
		"The workspace is held until its last apply is known to have ended: see the workspace's lock.");
}

static void say_turn(const struct sentence *s)
{
	const char *current = cell(s, "current_run_id");
	long long before = row_int(s->rows, s->row, "before");

	if (*current)
		snprintf(s->text, WAIT_TEXT_SIZE, "The workspace's current run is %s. Queued before this run: %lld.",
			current, before);
	else
		snprintf(s->text, WAIT_TEXT_SIZE, "Queued before this run in the workspace: %lld.", before);
}

static void say_failover(const struct sentence *s)
{
	snprintf(s->text, WAIT_TEXT_SIZE,
		"The database failed over a moment ago: applies and plans start after the time of one lease.");
}

static void say_key(const struct sentence *s)
{
	snprintf(s->text, WAIT_TEXT_SIZE, "No scheduler that was asked has the key of the run's secrets.");
}

static void say_pool_drained(const struct sentence *s)
{
	snprintf(s->text, WAIT_TEXT_SIZE, "The pool %s is drained since %s: its workers take no jobs.", cell(s, "pool"),
		cell(s, "drained_since"));
}

static void say_worker(const struct sentence *s)
{
	if (row_int(s->rows, s->row, "live"))
		snprintf(s->text, WAIT_TEXT_SIZE, "Every worker in pool %s is draining, of %lld.", cell(s, "pool"),
			row_int(s->rows, s->row, "live"));
	else if (*cell(s, "last_seen"))
		snprintf(s->text, WAIT_TEXT_SIZE, "No worker in pool %s since %s.", cell(s, "pool"),
			cell(s, "last_seen"));
	else
		snprintf(s->text, WAIT_TEXT_SIZE, "No worker in pool %s.", cell(s, "pool"));
}

static void say_pool_quota(const struct sentence *s)
{
	snprintf(s->text, WAIT_TEXT_SIZE, "The quota of pool %s is used: %lld of %lld runs at a time.", cell(s, "pool"),
		row_int(s->rows, s->row, "pool_running"), row_int(s->rows, s->row, "pool_quota"));
}

static void say_quota(const struct sentence *s)
{
	snprintf(s->text, WAIT_TEXT_SIZE, "The organization's quota is used: %lld of %lld runs at a time.",
		row_int(s->rows, s->row, "running"), row_int(s->rows, s->row, "quota"));
}

static void position_say(const struct sentence *s, char *ret_text, size_t size)
{
	if (row_null(s->rows, s->row, "place"))
		snprintf(ret_text, size, "The pool has more than %d waiting jobs.", MAX_POSITION);
	else
		snprintf(ret_text, size, "The run's position is %lld.", row_int(s->rows, s->row, "place"));
}

static void say_slot(const struct sentence *s)
{
	char position[64];

	position_say(s, position, sizeof(position));
	snprintf(s->text, WAIT_TEXT_SIZE, "No slot in pool %s is free, of %lld. %s", cell(s, "pool"),
		row_int(s->rows, s->row, "slots"), position);
}

static void say_claim(const struct sentence *s)
{
	char position[64];

	position_say(s, position, sizeof(position));
	snprintf(s->text, WAIT_TEXT_SIZE, "A worker in pool %s takes it next. %s", cell(s, "pool"), position);
}

static void say_tasks(const struct sentence *s)
{
	snprintf(s->text, WAIT_TEXT_SIZE, "Run tasks of the stage %s have not reported.", cell(s, "stage"));
}

static void say_override(const struct sentence *s)
{
	snprintf(s->text, WAIT_TEXT_SIZE, "A person must override the failed policies or discard the run.");
}

static void say_confirmation(const struct sentence *s)
{
	snprintf(s->text, WAIT_TEXT_SIZE, "A person must confirm or discard the run.");
}

static void (*const sentences[WAIT_COUNT])(const struct sentence *s) = {
	[WAIT_MAINTENANCE] = say_maintenance,
	[WAIT_LOCKED] = say_locked,
	[WAIT_HELD] = say_held,
	[WAIT_TURN] = say_turn,
	[WAIT_FAILOVER] = say_failover,
	[WAIT_KEY] = say_key,
	[WAIT_POOL_DRAINED] = say_pool_drained,
	[WAIT_WORKER] = say_worker,
	[WAIT_POOL_QUOTA] = say_pool_quota,
	[WAIT_QUOTA] = say_quota,
	[WAIT_SLOT] = say_slot,
	[WAIT_CLAIM] = say_claim,
	[WAIT_TASKS] = say_tasks,
	[WAIT_OVERRIDE] = say_override,
	[WAIT_CONFIRMATION] = say_confirmation,
};

static void wait_read(const struct rows *rows, int row, struct run_wait *ret_wait)
{
	struct wait_facts facts;

	facts_read(rows, row, &facts);
	*ret_wait = (struct run_wait){.kind = wait_of(&facts), .position = row_int(rows, row, "place")};
	text_copy(ret_wait->run.text, ID_SIZE, row_text(rows, row, "id"));
	text_copy(ret_wait->job.text, ID_SIZE, row_text(rows, row, "job_id"));
	text_copy(ret_wait->since, WAIT_TIME_SIZE, text_or_empty(row_text(rows, row, "since")));
	if (sentences[ret_wait->kind])
		sentences[ret_wait->kind](&(struct sentence){rows, row, ret_wait->text});
}

int waits_read(struct store *store, struct db_array *run_ids, struct run_waits *waits, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(db_bytes_release) struct db_bytes keys = DB_BYTES_INIT;

	keys_numbers(store, &keys);
	if (db_query(store->db, &rows, err, waits_sql, P_ARRAY(run_ids), P_INT(store->settings->lease_seconds),
		    P_INT(MAX_POSITION), P_BYTES_ARRAY(&keys)) < 0)
		return -1;
	waits->count = 0;
	for (int i = 0; i < rows.count && waits->count < waits->room; i++)
		wait_read(&rows, i, &waits->items[waits->count++]);
	return 0;
}
