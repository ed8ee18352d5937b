/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>

#include "scheduler/api/api.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/background/lag/lag_watch.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/workers/queue_stats.h"

/* The queue of an organization or of the site. */

enum { MAX_PAGE = 100 };

static json_t *row_seconds(const struct rows *rows, int row, const char *column)
{
	const char *text = row_text(rows, row, column);

	return text ? json_real(strtod(text, NULL)) : json_null();
}

static const struct column_shown numbers[] = {
	{"pending", row_number, "pending"},
	{"running", row_number, "running"},
	{"waiting-for-person", row_number, "deciding"},
	{"slots", row_number, "slots"},
	{"oldest-pending-seconds", row_seconds, "oldest_seconds"},
	{"start-p50-seconds", row_seconds, "start_p50"},
	{"start-p95-seconds", row_seconds, "start_p95"},
	{"errors-last-hour", row_number, "errors"},
};

/* Of the site alone. */
static const struct column_shown site_numbers[] = {
	{"outbox", row_number, "outbox"},
	{"outbox-age-seconds", row_seconds, "outbox_seconds"},
	{"notifier-backlog", row_number, "notifier_backlog"},
};

static const struct column_shown pool_columns[] = {
	{"id", row_string, "id"},
	{"name", row_string, "name"},
	{"shared", row_boolean, "shared"},
	{"drained", row_boolean, "drained"},
	{"workers", row_number, "workers"},
	{"slots", row_number, "slots"},
	{"busy", row_number, "busy"},
	{"waiting", row_number, "waiting"},
};

static const struct column_shown task_columns[] = {
	{"id", row_string, "id"},
	{"run-id", row_string, "run_id"},
	{"workspace-name", row_string, "workspace_name"},
	{"task-name", row_string, "task_name"},
	{"stage", row_string, "stage"},
	{"status", row_string, "status"},
	{"sent", row_boolean, "sent"},
	{"created-at", row_time, "created_at"},
	{"due-at", row_time, "due_at"},
};

static const struct column_shown run_columns[] = {
	{"id", row_string, "id"},
	{"workspace-id", row_string, "workspace_id"},
	{"workspace-name", row_string, "workspace_name"},
	{"organization-name", row_string, "organization_name"},
	{"status", row_string, "status"},
	{"message", row_string, "message"},
	{"created-at", row_time, "created_at"},
};

static json_t *rows_shown(const struct column_shown *table, size_t count, const struct rows *rows)
{
	json_t *list = json_array();

	for (int i = 0; i < rows->count; i++)
		json_array_append_new(list, columns_shown(table, count, rows, i));
	return list;
}

/* One array per sample: the minute, and the numbers in the order of the table. */
static json_t *samples_shown(const struct rows *rows)
{
	json_t *list = json_array();

	for (int i = 0; i < rows->count; i++) {
		json_t *sample = json_array();

		json_array_append_new(sample, row_number(rows, i, "minute"));
		for (size_t k = 0; k < ARRAY_LEN(numbers); k++)
			json_array_append_new(sample, numbers[k].make(rows, i, numbers[k].column));
		json_array_append_new(list, sample);
	}
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

		text_copy(none.run.text, sizeof(none.run.text), row_text(rows, i, "id"));
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
	struct page page;
	json_t *runs;

	if (page_read(req, &page, err) < 0)
		return -1;
	pending.limit = page.size;
	pending.offset = page.offset;
	if (queue_pending(req->store, &pending, &rows, err) < 0)
		return -1;
	json_object_set_new(attributes, "pending-runs-total", row_number(&rows, 0, "total"));
	runs = row_null(&rows, 0, "id") ? json_array() : rows_shown(run_columns, ARRAY_LEN(run_columns), &rows);
	json_object_set_new(attributes, "pending-runs", runs);
	return json_array_size(runs) ? waits_add(req, &rows, runs, err) : 0;
}

/* ---- answers ---- */

static void site_add(const struct store *store, const struct rows *live, json_t *attributes)
{
	long long lag = lag_watch_total();

	json_object_update_new(attributes, columns_shown(site_numbers, ARRAY_LEN(site_numbers), live, 0));
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
	attributes = columns_shown(numbers, ARRAY_LEN(numbers), &live, 0);
	if (!organization_id)
		site_add(req->store, &live, attributes);
	json_object_set_new(attributes, "pools", rows_shown(pool_columns, ARRAY_LEN(pool_columns), &pools));
	json_object_set_new(attributes, "run-tasks", rows_shown(task_columns, ARRAY_LEN(task_columns), &tasks));
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
