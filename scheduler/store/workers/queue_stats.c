/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/queue_stats.h"

#include "scheduler/store/access/response_scope.h"

/* Start times are those of this many runs that were created last. */
#define RECENT_RUNS "5000"

/* SQL: the numbers, for conditions and groups that an index serves. LIVE reads runs_live, ENDED runs_ended, STARTED the
 * newest runs in runs_position or runs_organization. */
#define LIVE(columns, among, groups)                                                                                   \
	"select " columns "count(*) filter (where r.queued or j.state = 'waiting') as pending, "                       \
	"count(*) filter (where j.state = 'claimed') as running, count(*) filter (where not r.queued and "             \
	"(r.status in ('planned_and_saved', 'policy_override') or r.stage = 'confirm' and not r.underway)) as "        \
	"deciding, coalesce(extract(epoch from now() - min(case when r.queued then r.created_at when j.state = "       \
	"'waiting' then j.created_at end)), 0) as oldest_seconds from runs r left join jobs j on j.run_id = r.id "     \
	"where not r.ended and " among groups
#define STARTED(columns, among, groups)                                                                                \
	"select " columns "percentile_cont(0.5) within group (order by seconds) as start_p50, "                        \
	"percentile_cont(0.95) within group (order by seconds) as start_p95 from (select organization_id, "            \
	"extract(epoch from started_at - created_at)::float8 as seconds from (select organization_id, created_at, "    \
	"(status_timestamps ->> 'planning-at')::timestamptz as started_at from runs r where " among                    \
	"order by position desc limit " RECENT_RUNS ") n where started_at > now() - interval '1 hour') s" groups
#define ENDED(columns, among, groups)                                                                                  \
	"select " columns "count(*) filter (where status = 'errored') as errors from runs r where ended_at > now() - " \
	"interval '1 hour' and " among groups
#define SLOTS(among)                                                                                                   \
	"(select coalesce(sum(k.slots), 0) from workers k join agent_pools p on p.id = k.pool_id where " among         \
	"and k.left_at is null and k.seen_at > now() - interval '1 minute') as slots "

/* ---- samples ---- */

#define ORGANIZATION "coalesce(organization_id, '') as organization_id, "
#define GROUPS       "group by grouping sets ((organization_id), ()) "

/* clang-format off */
static const char sample_sql[] =
	"with live as ("
	LIVE("coalesce(r.organization_id, '') as organization_id, ", "true ",
		"group by grouping sets ((r.organization_id), ()) ")
	"), started as (" STARTED(ORGANIZATION, "true ", " " GROUPS) "), ended as ("
	ENDED(ORGANIZATION, "true ", GROUPS) "), old as (delete from queue_samples "
	"where taken_at < now() - interval '25 hours') insert into queue_samples (organization_id, taken_at, "
	"pending, running, deciding, slots, oldest_seconds, start_p50, start_p95, errors) "
	"select o.organization_id, date_trunc('minute', now()), coalesce(pending, 0), coalesce(running, 0), "
	"coalesce(deciding, 0), "
	SLOTS("(o.organization_id = '' or coalesce(p.organization_id, o.organization_id) = o.organization_id) ")
	", coalesce(oldest_seconds, 0), start_p50, start_p95, coalesce(errors, 0) from (select organization_id "
	"from live union select organization_id from started union select organization_id from ended) o "
	"left join live using (organization_id) left join started using (organization_id) "
	"left join ended using (organization_id) on conflict do nothing";
/* clang-format on */

int queue_sample(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select 1 from queue_samples where organization_id = '' and taken_at = date_trunc('minute', "
		    "now())") < 0)
		return -1;
	return rows.count ? 0 : db_query(store->db, NULL, err, sample_sql);
}

int queue_samples_read(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select extract(epoch from taken_at)::bigint as minute, pending, running, deciding, slots, "
		"oldest_seconds, start_p50, start_p95, errors from queue_samples where organization_id = $1 "
		"and taken_at > now() - interval '24 hours' order by taken_at limit 1440",
		P_TEXT(text_or_empty(organization_id)));
}

/* ---- numbers ---- */

#define OF_ORGANIZATION "r.organization_id = $1 "

/* clang-format off */
static const char organization_sql[] =
	"select l.*, s.*, e.*, " SLOTS("coalesce(p.organization_id, $1) = $1 ") "from ("
	LIVE("", OF_ORGANIZATION, "") ") l, (" STARTED("", OF_ORGANIZATION, "") ") s, ("
	ENDED("", OF_ORGANIZATION, "") ") e";

static const char site_sql[] =
	"select l.*, s.*, e.*, " SLOTS("true ") ", (select count(*) from outbox) as outbox, "
	"coalesce((select extract(epoch from clock_timestamp() - created_at) from outbox order by id limit 1), 0) "
	"as outbox_seconds, (select count(*) from task_results where delivery = 'waiting') "
	"+ (select count(*) from notifications where delivery = 'waiting') as notifier_backlog "
	"from (" LIVE("", "true ", "") ") l, ("
	STARTED("", "true ", "") ") s, (" ENDED("", "true ", "") ") e";
/* clang-format on */

int queue_numbers(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err)
{
	if (organization_id)
		return db_query(store->db, ret_rows, err, organization_sql, P_TEXT(organization_id));
	return db_query(store->db, ret_rows, err, site_sql);
}

int queue_pools(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select p.id, p.name, p.organization_id is null as shared, p.drained_at is not null as drained, "
		"k.workers, k.slots, (select count(*) from jobs j where j.pool_id = p.id and j.state like 'claimed') "
		"as busy, (select count(*) from jobs j where j.pool_id = p.id and j.state = 'waiting' "
		"and ($1::text is null or j.organization_id = $1)) as waiting from agent_pools p cross join lateral "
		"(select count(*) as workers, coalesce(sum(slots), 0) as slots from workers w where w.pool_id = p.id "
		"and w.left_at is null and w.seen_at > now() - interval '1 minute') k "
		"where $1::text is null or coalesce(p.organization_id, $1) = $1 order by p.name, p.id limit 200",
		P_TEXT(organization_id));
}

/* Each part of the union is served by an index. */
#define OPEN_TASKS(delivery) "select * from task_results where delivery = '" delivery "' "

/* clang-format off */
static const char tasks_sql[] =
	"select t.id, t.run_id, w.name as workspace_name, t.task_name, t.stage, t.status, "
	"t.delivery = 'acknowledged' as sent, t.created_at, coalesce(t.due_at, t.give_up_at) as due_at from ("
	OPEN_TASKS("waiting") "union all " OPEN_TASKS("claimed") "union all " OPEN_TASKS("acknowledged") ") t "
	"join runs r on r.id = t.run_id join workspaces w on w.id = r.workspace_id "
	"where ($1::text is null or r.organization_id = $1) and " RUNS_IN_SCOPE("$2", "$3", "r.workspace_id")
	"order by due_at, t.id limit 200";
/* clang-format on */

int queue_tasks(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err)
{
	bool everywhere = !organization_id || response_scope_all(store->scope, organization_id, CAN_READ_RUNS);

	return db_query(store->db, ret_rows, err, tasks_sql, P_TEXT(organization_id), P_BOOL(everywhere),
		P_TEXT(response_scope_user(store->scope)));
}

/* clang-format off */
static const char pending_sql[] =
	"with found as (select r.* from runs r left join jobs j on j.run_id = r.id where not r.ended "
	"and ($1::text is null or r.organization_id = $1) and (r.queued or j.state = 'waiting') and "
	RUNS_IN_SCOPE("$2", "$3", "r.workspace_id") ") select c.total, f.* from (select count(*) as total "
	"from found) c left join (select r.id, r.position, r.workspace_id, w.name as workspace_name, o.name as "
	"organization_name, r.status, i.message, r.created_at from found r join workspaces w "
	"on w.id = r.workspace_id join organizations o on o.id = r.organization_id join run_inputs i "
	"on i.run_id = r.id order by r.position limit $4 offset $5) f on true order by f.position";
/* clang-format on */

int queue_pending(struct store *store, const struct queue_page *page, struct rows *ret_rows, struct err *err)
{
	bool everywhere =
		!page->organization_id || response_scope_all(store->scope, page->organization_id, CAN_READ_RUNS);

	return db_query(store->db, ret_rows, err, pending_sql, P_TEXT(page->organization_id), P_BOOL(everywhere),
		P_TEXT(response_scope_user(store->scope)), P_INT(page->limit), P_INT(page->offset));
}
