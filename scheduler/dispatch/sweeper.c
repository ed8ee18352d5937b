/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/sweeper.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/dispatch/happen.h"
#include "scheduler/dispatch/task_sweeps.h"
#include "scheduler/metrics.h"

enum { MOST_SWEPT = 100, REASON_SIZE = 256 };

struct sweeper {
	struct store store;
	pthread_t thread;
	int wake;
	atomic_bool stopping;
};

/* ---- leases ---- */

/* The place for DESIGN rule 7: after a lost apply the workspace is to be held until its last state has come. */
static void lease_reason(const struct rows *rows, int row, char ret_reason[REASON_SIZE])
{
	snprintf(ret_reason, REASON_SIZE, "Contact with worker %s was lost during the %s (attempt %lld). %s",
		text_or_empty(row_text(rows, row, "worker")), row_text(rows, row, "stage"),
		row_int(rows, row, "attempt"),
		text_equal(row_text(rows, row, "stage"), stages[STAGE_APPLY].name)
			? "An apply is never tried again; the last state that was received is the workspace's current "
			  "state."
			: "It was tried as often as it may be.");
}

static int sweep_leases(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct happening items[MOST_SWEPT] = {0};
	char reasons[MOST_SWEPT][REASON_SIZE];

	if (db_query(store->db, &rows, err,
		    "select j.id, j.run_id, j.attempt, j.stage, coalesce(w.name, j.worker_id) as worker from jobs j "
		    "left join workers w on w.id = j.worker_id where j.state = 'claimed' and j.lease_until < now() "
		    "order by j.lease_until limit $1",
		    P_INT(MOST_SWEPT)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		char labels[64];

		lease_reason(&rows, i, reasons[i]);
		text_copy(items[i].run.text, ID_SIZE, row_text(&rows, i, "run_id"));
		text_copy(items[i].job.text, ID_SIZE, row_text(&rows, i, "id"));
		items[i].attempt = (int)row_int(&rows, i, "attempt");
		items[i].event.kind = EV_LOST;
		items[i].only_if_lease_over = true;
		items[i].reason = reasons[i];
		snprintf(labels, sizeof(labels), "stage=\"%s\"", row_text(&rows, i, "stage"));
		metric_add(M_LEASES_LOST, labels, 1);
		log_warn("a lease ended", "run", items[i].run.text, "job", items[i].job.text, "worker",
			row_text(&rows, i, "worker"), "stage", row_text(&rows, i, "stage"), NULL);
	}
	return rows.count ? runs_happen(store, items, (size_t)rows.count, err) : 0;
}

/* ---- announcements ---- */

/* A job that still waits while workers of its pool have room was perhaps announced to a broker that forgot. */
static int sweep_announcements(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err,
		"with room as (select pool_id, sum(free) as free from workers where not draining "
		"and seen_at > now() - interval '1 minute' group by pool_id having sum(free) > 0), "
		"again as (update jobs set announced_at = now() where id in (select j.id from room r, lateral "
		"(select id from jobs where pool_id = r.pool_id and state = 'waiting' "
		"and announced_at < now() - interval '5 seconds' order by class, created_at limit r.free) j) "
		"returning id, run_id, pool_id) "
		"insert into outbox (topic, payload) select $1 || pool_id, "
		"json_build_object('v', $2::int, 'job', id, 'run', run_id)::text from again",
		P_TEXT(topics[TOPIC_JOBS].name), P_INT(MESSAGE_VERSION));
}

/* ---- queues ---- */

/* A queue that could go on and does not is a fault of ours; it must not become somebody's night. */
static int sweep_queues(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select distinct r.workspace_id from runs r join workspaces w on w.id = r.workspace_id "
		    "where r.queued and w.current_run_id is null and w.locked_by is null "
		    "and r.updated_at < now() - interval '30 seconds' limit $1",
		    P_INT(MOST_SWEPT)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		log_warn("a queue stood still", "workspace", row_text(&rows, i, "workspace_id"), NULL);
		if (workspace_kick(store, row_text(&rows, i, "workspace_id"), err) < 0)
			return -1;
	}
	return 0;
}

/* ---- what is over ---- */

static int sweep_workers(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err,
		"delete from workers w where seen_at < now() - interval '10 minutes' "
		"and not exists (select 1 from jobs where worker_id = w.id)");
}

/* What an evaluation that is still to come names in its bundle counts as used too. */
static int sweep_blobs(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err,
		"delete from blobs where id in (select b.id from blobs b where b.created_at < now() - interval '1 "
		"hour' "
		"and not exists (select 1 from configuration_versions where blob_id = b.id) "
		"and not exists (select 1 from state_versions where blob_id = b.id) "
		"and not exists (select 1 from operations where plan_blob = b.id or json_blob = b.id or "
		"init_blob = b.id or schemas_blob = b.id) "
		"and not exists (select 1 from policies where blob_id = b.id) "
		"and not exists (select 1 from policy_set_versions where blob_id = b.id) "
		"and not exists (select 1 from policy_evaluations e join runs r on r.id = e.run_id where not r.ended "
		"and position(b.id in e.bundle::text) > 0) limit $1)",
		P_INT(MOST_SWEPT));
}

/* ---- gauges ---- */

static void gauge_state(int metric, const char *pool, const char *state, double value)
{
	_cleanup_(freep) char *labels = mem_printf("pool=\"%s\",state=\"%s\"", pool, state);

	metric_set(metric, labels, value);
}

static void gauge_pool(const struct rows *rows, int row)
{
	const char *pool = row_text(rows, row, "pool");
	double waiting = (double)row_int(rows, row, "waiting"), running = (double)row_int(rows, row, "running");
	_cleanup_(freep) char *label = mem_printf("pool=\"%s\"", pool);

	gauge_state(M_JOBS, pool, "waiting", waiting);
	gauge_state(M_JOBS, pool, "running", running);
	gauge_state(M_SLOTS, pool, "all", (double)row_int(rows, row, "slots"));
	gauge_state(M_SLOTS, pool, "free", (double)row_int(rows, row, "free"));
	metric_set(M_SLOTS_WANTED, label, waiting + running);
	metric_set(M_OLDEST_WAITING, label, strtod(row_text(rows, row, "oldest"), NULL));
}

static int sweep_gauges(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select p.name as pool, (select count(*) from outbox) as outbox, "
		    "count(j.id) filter (where j.state = 'waiting') as waiting, "
		    "count(j.id) filter (where j.state = 'claimed') as running, "
		    "coalesce(extract(epoch from now() - min(j.created_at) filter (where j.state = 'waiting')), 0) as "
		    "oldest, "
		    "(select coalesce(sum(slots), 0) from workers where pool_id = p.id "
		    "and seen_at > now() - interval '1 minute') as slots, "
		    "(select coalesce(sum(free), 0) from workers where pool_id = p.id "
		    "and seen_at > now() - interval '1 minute') as free "
		    "from agent_pools p left join jobs j on j.pool_id = p.id group by p.id, p.name") < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		gauge_pool(&rows, i);
	if (rows.count)
		metric_set(M_OUTBOX_DEPTH, "", (double)row_int(&rows, 0, "outbox"));
	return 0;
}

/* ---- the thread ---- */

static const struct {
	const char *name;
	int64_t every_ms;
	int (*sweep)(struct store *store, struct err *err);
} sweeps[] = {
	{"leases", 1000, sweep_leases},
	{"announcements", 2500, sweep_announcements},
	{"task requests", 2000, sweep_task_requests},
	{"task deadlines", 2000, sweep_task_deadlines},
	{"gauges", 2000, sweep_gauges},
	{"queues", 15000, sweep_queues},
	{"workers", 60000, sweep_workers},
	{"blobs", 60000, sweep_blobs},
};

static void sweep_due(struct sweeper *sweeper, int64_t due[ARRAY_LEN(sweeps)])
{
	for (size_t i = 0; i < ARRAY_LEN(sweeps); i++) {
		struct err err = ERR_INIT;
		int64_t now = clock_mono_ms();

		if (now < due[i])
			continue;
		due[i] = now + sweeps[i].every_ms;
		if (sweeps[i].sweep(&sweeper->store, &err) < 0)
			log_warn(
				"a sweep failed, and comes again", "sweep", sweeps[i].name, "error", err.message, NULL);
	}
}

static void *sweeper_thread(void *data)
{
	struct sweeper *sweeper = data;
	struct pollfd wake = {.fd = sweeper->wake, .events = POLLIN};
	int64_t due[ARRAY_LEN(sweeps)] = {0};

	while (!atomic_load(&sweeper->stopping)) {
		sweep_due(sweeper, due);
		poll(&wake, 1, 500);
	}
	return NULL;
}

int sweeper_start(const struct sweeper_spec *spec, struct sweeper **ret_sweeper, struct err *err)
{
	struct sweeper *sweeper = mem_new(1, sizeof(*sweeper));

	sweeper->store = spec->store;
	sweeper->store.db = db_open(spec->database_url);
	sweeper->wake = eventfd(0, EFD_CLOEXEC);
	if (sweeper->wake < 0 || pthread_create(&sweeper->thread, NULL, sweeper_thread, sweeper) != 0) {
		err_errno(err, "sweeper");
		db_close(sweeper->store.db);
		free(sweeper);
		return -1;
	}
	*ret_sweeper = sweeper;
	return 0;
}

void sweeper_stop(struct sweeper *sweeper)
{
	if (!sweeper)
		return;
	atomic_store(&sweeper->stopping, true);
	eventfd_write(sweeper->wake, 1);
	pthread_join(sweeper->thread, NULL);
	db_close(sweeper->store.db);
	closep(&sweeper->wake);
	free(sweeper);
}
