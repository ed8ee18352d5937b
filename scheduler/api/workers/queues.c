/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>

#include "scheduler/api/api.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/background/lag/lag_watch.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/workers/queue_stats.h"
#include "scheduler/store/workers/queue_stats.sql.h"

/* The queue of an organization or of the site. */

enum { MAX_PAGE = 100 };

static json_t *seconds(double number, bool is_null)
{
	return is_null ? json_null() : json_real(number);
}

/* Of a numeric column. */
static json_t *numeric_shown(const char *text)
{
	return json_real(strtod(text, NULL));
}

static json_t *numbers_shown(const struct queue_numbers_row *row)
{
	return json_pack("{sI sI sI sI so so so sI}", "pending", (json_int_t)row->pending, "running",
		(json_int_t)row->running, "waiting-for-person", (json_int_t)row->deciding, "slots",
		(json_int_t)row->slots, "oldest-pending-seconds", numeric_shown(row->oldest_seconds),
		"start-p50-seconds", seconds(row->start_p50, row->start_p50_null), "start-p95-seconds",
		seconds(row->start_p95, row->start_p95_null), "errors-last-hour", (json_int_t)row->errors);
}

/* One array per sample: the minute, and the numbers in the order of numbers_shown. */
static json_t *samples_shown(const struct rows *rows)
{
	json_t *list = json_array();

	for (int i = 0; i < rows->count; i++) {
		const struct queue_samples_read_row *row = row_of(queue_samples_read, rows, i);

		json_array_append_new(list,
			json_pack("[I I I I I f o o I]", (json_int_t)row->minute, (json_int_t)row->pending,
				(json_int_t)row->running, (json_int_t)row->deciding, (json_int_t)row->slots,
				row->oldest_seconds, seconds(row->start_p50, row->start_p50_null),
				seconds(row->start_p95, row->start_p95_null), (json_int_t)row->errors));
	}
	return list;
}

static const struct cell_shown pool_cells[] = {
	CELL("id", queue_pools, id),
	CELL("name", queue_pools, name),
	CELL("shared", queue_pools, shared),
	CELL("drained", queue_pools, drained),
	CELL("workers", queue_pools, workers),
	CELL("slots", queue_pools, slots),
	CELL("busy", queue_pools, busy),
	CELL("waiting", queue_pools, waiting),
};

static const struct cell_shown task_cells[] = {
	CELL("id", queue_tasks, id),
	CELL("run-id", queue_tasks, run_id),
	CELL("workspace-name", queue_tasks, workspace_name),
	CELL("task-name", queue_tasks, task_name),
	CELL("stage", queue_tasks, stage),
	CELL("status", queue_tasks, status),
	CELL("sent", queue_tasks, sent),
	CELL_TIME("created-at", queue_tasks, created_at),
	CELL_TIME("due-at", queue_tasks, due_at),
};

static const struct cell_shown run_cells[] = {
	CELL("id", queue_pending, id),
	CELL("workspace-id", queue_pending, workspace_id),
	CELL("workspace-name", queue_pending, workspace_name),
	CELL("organization-name", queue_pending, organization_name),
	CELL("status", queue_pending, status),
	CELL("message", queue_pending, message),
	CELL_TIME("created-at", queue_pending, created_at),
};

static json_t *rows_shown(const struct cell_shown *table, size_t count, const struct rows *rows)
{
	json_t *list = json_array();

	for (int i = 0; i < rows->count; i++)
		json_array_append_new(list, cells_shown(table, count, row_cells(rows, i)));
	return list;
}

/* ---- pending runs ---- */

static void wait_add(json_t *runs, const struct run_wait *wait)
{
	json_t *run;
	size_t i;

	json_array_foreach(runs, i, run)
	{
		if (!text_equal(json_string_at(run, "id"), wait->run.text))
			continue;
		json_object_update_new(run, wait_shown(wait));
	}
}

/* Adds why each run waits: all of them in one statement. A run that has just ended keeps the code `none`. */
static int waits_add(struct request *req, const struct rows *rows, json_t *runs, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(freep) struct run_wait *items = mem_new(MAX_PAGE, sizeof(*items));
	struct run_waits waits = {.items = items, .room = MAX_PAGE};

	for (int i = 0; i < rows->count; i++) {
		struct run_wait none = {.kind = WAIT_NONE};

		text_copy(none.run.text, sizeof(none.run.text), row_of(queue_pending, rows, i)->id);
		wait_add(runs, &none);
		db_array_add(&ids, none.run.text);
	}
	if (waits_read(req->store, &ids, &waits, err) < 0)
		return -1;
	for (size_t i = 0; i < waits.count; i++)
		wait_add(runs, &items[i]);
	return 0;
}

static int pending_add(struct request *req, const char *organization_id, json_t *attributes, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct queue_page pending = {.organization_id = organization_id};
	const struct queue_pending_row *first;
	struct page page;
	json_t *runs;

	if (page_read(req, &page, err) < 0)
		return -1;
	pending.limit = page.size;
	pending.offset = page.offset;
	if (queue_pending(req->store, &pending, &rows, err) < 0)
		return -1;
	first = row_of(queue_pending, &rows, 0);
	json_object_set_new(attributes, "pending-runs-total", json_integer(first->total));
	runs = first->id ? rows_shown(run_cells, ARRAY_LEN(run_cells), &rows) : json_array();
	json_object_set_new(attributes, "pending-runs", runs);
	return json_array_size(runs) ? waits_add(req, &rows, runs, err) : 0;
}

/* ---- answers ---- */

static void site_add(const struct store *store, const struct queue_numbers_row *live, json_t *attributes)
{
	long long lag = lag_watch_total();

	json_object_set_new(attributes, "outbox", json_integer(live->outbox));
	json_object_set_new(attributes, "outbox-age-seconds", numeric_shown(live->outbox_seconds));
	json_object_set_new(attributes, "notifier-backlog", json_integer(live->notifier_backlog));
	json_object_set_new(attributes, "kafka-lag", lag < 0 ? json_null() : json_integer(lag));
	json_object_set_new(attributes, "grafana-url",
		json_string_or_null(*store->settings->grafana_url ? store->settings->grafana_url : NULL));
}

static int queue_show(
	struct request *req, struct response *res, const char *organization_id, const char *name, struct err *err)
{
	_cleanup_(rows_release) struct rows live = ROWS_INIT, samples = ROWS_INIT, pools = ROWS_INIT, tasks = ROWS_INIT;
	json_auto_t *attributes = NULL;

	if (queue_numbers(req->store, organization_id, &live, err) < 0 ||
		queue_samples_read(req->store, organization_id, &samples, err) < 0 ||
		queue_pools(req->store, organization_id, &pools, err) < 0 ||
		queue_tasks(req->store, organization_id, &tasks, err) < 0)
		return -1;
	attributes = numbers_shown(row_of(queue_numbers, &live, 0));
	if (!organization_id)
		site_add(req->store, row_of(queue_numbers, &live, 0), attributes);
	json_object_set_new(attributes, "pools", rows_shown(pool_cells, ARRAY_LEN(pool_cells), &pools));
	json_object_set_new(attributes, "run-tasks", rows_shown(task_cells, ARRAY_LEN(task_cells), &tasks));
	json_object_set_new(attributes, "samples", samples_shown(&samples));
	if (pending_add(req, organization_id, attributes, err) < 0)
		return -1;
	return respond_resource(res, 200, resource_new("queues", name, json_incref(attributes), NULL));
}

int queues_of_organization(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	return queue_show(req, res, scope.organization.text, scope.organization_name, err);
}

int queues_of_site(struct request *req, struct response *res, struct err *err)
{
	return queue_show(req, res, NULL, "site", err);
}
