/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/gauges.h"

#include <stdio.h>
#include <string.h>

#include "common/metrics.h"
#include "proto/states.h"
#include "scheduler/db/schema.h"
#include "scheduler/metrics.h"
#include "scheduler/store/workers/draining.h"
#include "scheduler/store/workers/quotas.h"
#include "scheduler/store/workers/workers.h"

/* ---- pools ---- */

/* The columns of a pool's row, and the series that each becomes. Several states of one metric are labelled. */
static const struct {
	const char *column;
	int metric;
	const char *state; /* NULL: no label */
} pool_series[] = {
	{"waiting", M_JOBS, "waiting"},
	{"running", M_JOBS, "running"},
	{"slots", M_SLOTS, "all"},
	{"free", M_SLOTS, "free"},
	{"draining_slots", M_SLOTS, "draining"},
	{"live", M_WORKERS, "live"},
	{"draining", M_WORKERS, "draining"},
	{"silent", M_WORKERS, "silent"},
	{"undelivered", M_WORKERS_UNDELIVERED, NULL},
	{"wanted", M_SLOTS_WANTED, NULL},
	{"oldest", M_OLDEST_WAITING, NULL},
};

static void gauge_pool(const struct rows *rows, int row)
{
	const char *pool = row_text(rows, row, "pool");

	for (size_t i = 0; i < ARRAY_LEN(pool_series); i++) {
		const char *state = pool_series[i].state;
		_cleanup_(freep) char *labels =
			state ? mem_printf("pool=\"%s\",state=\"%s\"", pool, state) : mem_printf("pool=\"%s\"", pool);

		metric_set(pool_series[i].metric, labels, strtod(row_text(rows, row, pool_series[i].column), NULL));
	}
}

/* Of the pool that the labels name: whether there is none. The rows are in the order of the bytes of their names. */
static bool pool_is_gone(void *data, const char *labels)
{
	const struct rows *rows = data;
	const char *name = labels + strlen("pool=\""), *end = strchr(name, '"');
	size_t len = end ? (size_t)(end - name) : strlen(name);
	int low = 0, high = rows->count;

	while (low < high) {
		int middle = (low + high) / 2;
		const char *pool = row_text(rows, middle, "pool");
		int order = strncmp(pool, name, len);

		if (order == 0 && !pool[len])
			return false;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return true;
}

/* clang-format would move the text after a macro to the next line. */
/* clang-format off */

/* Workers by pool, and their slots. Slots of a worker that claims no jobs are not free. */
#define POOL_WORKERS                                                                                                   \
	"select pool_id, sum(slots) filter (where not silent) as slots, "                                              \
	"sum(free) filter (where not silent and not draining) as free, "                                               \
	"sum(slots) filter (where not silent and draining) as draining_slots, "                                        \
	"count(*) filter (where not silent and not draining) as live, "                                                \
	"count(*) filter (where not silent and draining) as draining, count(*) filter (where silent) as silent from "  \
	"(select k.pool_id, k.slots, k.free, k.draining or not " WORKER_MAY_CLAIM("k", "kp") "as draining, "           \
	"k.seen_at <= now() - interval '1 minute' as silent from workers k join agent_pools kp on kp.id = k.pool_id "  \
	"where k.left_at is null) w group by 1"

/* Workers with undelivered data, by pool. A worker that continues with the folder of a gone one has its name, so both
 * are one. */
#define UNDELIVERED                                                                                                    \
	"select k.pool_id, count(distinct k.name) as count from workers k where k.undelivered > 0 or exists "          \
	"(select 1 from workspace_holds h where " WORKER_IS_AWAITED("k", "h") ") group by 1"

/* One row per pool: its name, its waiting and running jobs, the age of its oldest waiting job, its workers and their
 * slots. Scans each table once, however many pools there are. While the quotas leave room for no waiting job of the
 * pool, none of its slots is free. */
static const char pools_sql[] =
	"with " WAITING_JOBS "select coalesce(o.name || '/', '') || p.name as pool, coalesce(j.waiting, 0) as waiting, "
	"coalesce(b.running, 0) as running, "
	"coalesce(b.running, 0) + case when p.drained_at is null then coalesce(j.startable, 0) else 0 end as wanted, "
	"coalesce(extract(epoch from now() - j.oldest), 0) as oldest, coalesce(w.slots, 0) as slots, "
	"case when coalesce(j.startable, least(rp.room, ro.room), 1) > 0 then coalesce(w.free, 0) else 0 end as free, "
	"coalesce(w.draining_slots, 0) as draining_slots, coalesce(w.live, 0) as live, "
	"coalesce(w.draining, 0) as draining, coalesce(w.silent, 0) as silent, "
	"coalesce(u.count, 0) as undelivered "
	"from agent_pools p left join organizations o on o.id = p.organization_id "
	"left join waiting j on j.pool_id = p.id left join rooms rp on rp.owner = p.id "
	"left join rooms ro on ro.owner = p.organization_id "
	"left join (select pool_id, sum(running) as running from busy group by 1) b on b.pool_id = p.id "
	"left join (" POOL_WORKERS ") w on w.pool_id = p.id left join (" UNDELIVERED ") u on u.pool_id = p.id "
	"order by (coalesce(o.name || '/', '') || p.name) collate \"C\"";

static const char capacity_sql[] =
	"with " WAITING_JOBS "insert into pool_capacity as c (pool_id, free_since) select p.id, case when j.startable > 0 "
	"and exists (select 1 from workers w where w.pool_id = p.id and w.free > 0 and not w.draining "
	"and w.left_at is null and w.seen_at > now() - interval '1 minute' and " WORKER_MAY_CLAIM("w", "p") ") "
	"then now() end from waiting j join agent_pools p on p.id = j.pool_id "
	"on conflict (pool_id) do update set free_since = excluded.free_since "
	"where (c.free_since is null) <> (excluded.free_since is null)";
/* clang-format on */

int gauges_pools(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, pools_sql) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		gauge_pool(&rows, i);
	metric_remove(M_CLAIMED_JOBS, pool_is_gone, &rows);
	return 0;
}

int capacity_record(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, capacity_sql);
}

/* ---- the site ---- */

static const struct {
	const char *kind;
	int metric;
} site_series[] = {
	{"run", M_RUNS},
	{"process", M_PROCESSES},
	{"key", M_KEY_FIRST_USED},
	{"outbox", M_OUTBOX_DEPTH},
	{"outbox_oldest", M_OUTBOX_OLDEST},
	{"task", M_TASKS_OPEN},
	{"backlog", M_NOTIFIER_BACKLOG},
	{"vcs", M_VCS_WAITING},
	{"vcs_oldest", M_VCS_OLDEST},
	{"held", M_HELD},
	{"held_long", M_HELD_LONG},
	{"schema", M_SCHEMA},
	{"maintenance", M_MAINTENANCE},
	{"backup", M_LAST_BACKUP},
};

/* Statuses that no run has are shown as 0. */
static void gauge_other_statuses(const struct rows *rows)
{
	for (enum run_status status = 0; status < RUN_STATUS_COUNT; status++) {
		char labels[64];
		int row = 0;

		snprintf(labels, sizeof(labels), "status=\"%s\"", run_statuses[status].name);
		while (row < rows->count && !text_equal(row_text(rows, row, "labels"), labels))
			row++;
		if (row == rows->count && run_statuses[status].group != FINAL)
			metric_set(M_RUNS, labels, 0);
	}
}

static void gauge_site(const struct rows *rows, int row)
{
	const char *kind = row_text(rows, row, "kind");

	for (size_t i = 0; i < ARRAY_LEN(site_series); i++)
		if (text_equal(kind, site_series[i].kind))
			metric_set(site_series[i].metric, row_text(rows, row, "labels"),
				strtod(row_text(rows, row, "value"), NULL));
}

/* The number of the rows that the text selects, and the waiting time of the oldest in seconds. It is 0 before a row is
 * due. */
#define VCS_WAITING(kind, rows, since)                                                                                 \
	"select unnest(array['vcs', 'vcs_oldest']), 'kind=\"" kind "\"', unnest(array[count(*), "                      \
	"coalesce(greatest(extract(epoch from now() - min(" since ")), 0), 0)]) from " rows " union all "

/* One row per value: its kind, its labels, the value. Labels are the product's own words, but for the versions of
 * processes. A worker can register with any text: an unusual one is "other", a missing one "unknown". There are at most
 * 50 versions.
 *
 * Runs that have not ended are read in the index runs_live, run tasks in task_results_waiting, _leases and _due,
 * notifications in notifications_waiting, holds in workspace_holds_until, the oldest message by the primary key. The
 * other tables are small. clang-format would move the text after a macro to the next line. */
/* clang-format off */
static const char site_sql[] =
	"select 'run' as kind, 'status=\"' || status || '\"' as labels, count(*)::numeric as value from "
	"runs "
	"where not ended group by status union all "
	"(select 'process', 'kind=\"' || kind || '\",version=\"' || version || '\"', count(*) from (select "
	"kind, "
	"case when version = '' then 'unknown' when version ~ '^[0-9A-Za-z.+~_-]{1,40}$' then version else "
	"'other' end as version from "
	"processes "
	"where seen_at > now() - interval '2 minutes') p group by kind, version "
	"order by count(*) desc limit 50) union all "
	"select 'key', 'key=\"' || number || '\"', extract(epoch from first_used_at) from sealing_keys "
	"where first_used_at is not null union all "
	"select 'maintenance', '', (reason is not null)::int from maintenance union all "
	"select 'backup', '', extract(epoch from backup_at) from database_history where backup_at is not "
	"null "
	"union all "
	"select 'outbox', '', count(*) from outbox union all "
	"select 'outbox_oldest', '', coalesce((select extract(epoch from clock_timestamp() - created_at) "
	"from outbox order by id limit 1), 0) union all "
	"select 'task', '', (select count(*) from task_results where delivery = 'waiting') "
	"+ (select count(*) from task_results where delivery = 'claimed') "
	"+ (select count(*) from task_results where delivery = 'acknowledged') union all "
	"select 'backlog', '', (select count(*) from task_results where delivery = 'waiting') "
	"+ (select count(*) from notifications where delivery = 'waiting') union all "
	VCS_WAITING("deliveries", "vcs_deliveries where state = 'waiting'", "received_at")
	VCS_WAITING("events", "vcs_events where state in ('waiting', 'looking', 'comparing')", "created_at")
	VCS_WAITING("git", "git_jobs where state = 'waiting' and kind <> 'look'", "created_at")
	VCS_WAITING("calls", "vcs_calls", "created_at")
	VCS_WAITING("statuses", "vcs_reports where sent_version < version", "due_at")
	VCS_WAITING("comments", "vcs_comments where sent_version < version", "due_at")
	"select unnest(array['held', 'held_long']), '', unnest(array[count(*), "
	"count(*) filter (where began_at < now() - make_interval(secs => $1))]) "
	"from workspace_holds where until is not null union all "
	"select 'schema', 'of=\"database\"', max(split_part(name, '_', 1)::int) from schema_migrations";
/* clang-format on */

int gauges_site(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, site_sql, P_INT(store->settings->hold_alert_seconds)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		gauge_site(&rows, i);
	gauge_other_statuses(&rows);
	metric_set(M_SCHEMA, "of=\"program\"", schema_program_version());
	return 0;
}
