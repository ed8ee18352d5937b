/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/gauges.h"

#include <stdio.h>
#include <string.h>

#include "common/metrics.h"
#include "proto/states.h"
#include "scheduler/background/audit/audit_exports.h"
#include "scheduler/background/audit/audit_exports.sql.h"
#include "scheduler/background/gauges.sql.h"
#include "scheduler/db/schema.h"
#include "scheduler/metrics.h"
#include "scheduler/store/workers/draining.h"
#include "scheduler/store/workers/quotas.h"
#include "scheduler/store/workers/workers.h"

/* ---- pools ---- */

/* The columns of a pool's row, and the series that each becomes. Several states of one metric are labelled. */
#define POOL_CELL(column) offsetof(struct gauges_pools_row, column)
static const struct {
	size_t cell;
	int metric;
	const char *state; /* NULL: no label */
} pool_series[] = {
	{POOL_CELL(waiting), M_JOBS, "waiting"},
	{POOL_CELL(running), M_JOBS, "running"},
	{POOL_CELL(slots), M_SLOTS, "all"},
	{POOL_CELL(free), M_SLOTS, "free"},
	{POOL_CELL(draining_slots), M_SLOTS, "draining"},
	{POOL_CELL(live), M_WORKERS, "live"},
	{POOL_CELL(draining), M_WORKERS, "draining"},
	{POOL_CELL(silent), M_WORKERS, "silent"},
	{POOL_CELL(undelivered), M_WORKERS_UNDELIVERED, NULL},
	{POOL_CELL(wanted), M_SLOTS_WANTED, NULL},
	{POOL_CELL(oldest), M_OLDEST_WAITING, NULL},
};

static void gauge_pool(const struct gauges_pools_row *row)
{
	for (size_t i = 0; i < ARRAY_LEN(pool_series); i++) {
		const char *state = pool_series[i].state;
		_cleanup_(freep) char *labels = state ? mem_printf("pool=\"%s\",state=\"%s\"", row->pool, state)
						      : mem_printf("pool=\"%s\"", row->pool);

		metric_set(pool_series[i].metric, labels, *(const double *)((const char *)row + pool_series[i].cell));
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
		const char *pool = row_of(gauges_pools, rows, middle)->pool;
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

int gauges_pools(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, gauges_pools) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		gauge_pool(row_of(gauges_pools, &rows, i));
	metric_remove(M_CLAIMED_JOBS, pool_is_gone, &rows);
	return 0;
}

int capacity_record(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, gauges_capacity);
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
	{"assessments_due", M_ASSESSMENTS_DUE},
	{"assessments_late", M_ASSESSMENTS_LATE},
	{"assessments_running", M_ASSESSMENTS_RUNNING},
	{"assessments_drifted", M_ASSESSMENTS_DRIFTED},
	{"schedules_due", M_SCHEDULES_DUE},
	{"schedules_late", M_SCHEDULES_LATE},
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
		while (row < rows->count && !text_equal(row_of(gauges_site, rows, row)->labels, labels))
			row++;
		if (row == rows->count && run_statuses[status].group != FINAL)
			metric_set(M_RUNS, labels, 0);
	}
}

static void gauge_site(const struct gauges_site_row *row)
{
	for (size_t i = 0; i < ARRAY_LEN(site_series); i++)
		if (text_equal(row->kind, site_series[i].kind))
			metric_set(site_series[i].metric, row->labels, strtod(row->value, NULL));
}

int gauges_audit(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (audit_sinks_list(store, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		metric_setf(M_AUDIT_UNSENT, (double)row_of(audit_sink, &rows, i)->unsent, "sink=\"%s\"",
			row_of(audit_sink, &rows, i)->name);
	return 0;
}

int gauges_site(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, gauges_site, .hold_alert_seconds = store->settings->hold_alert_seconds) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		gauge_site(row_of(gauges_site, &rows, i));
	gauge_other_statuses(&rows);
	metric_set(M_SCHEMA, "of=\"program\"", schema_program_version());
	return 0;
}
