/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/internal/results.h"

#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/runs/reports.h"

struct result_item {
	struct batch_item item; /* must be the first member */
	struct report report;
};

static struct report *report_of(struct batch_item *item)
{
	return &((struct result_item *)(void *)item)->report;
}

int jobs_result(struct request *req, struct response *res, struct err *err)
{
	const char *token = text_or_empty(req->bearer);
	struct report *report = report_of(req->item);

	(void)res;
	if (job_result_decode(buf_str(&req->http->body), req->http->body.len, &report->result, err) < 0)
		return -1;
	crypto_sha256_hex(token, strlen(token), report->token_hash);
	report->job = param(req, "job");
	return 0;
}

/* Results are idempotent: an attempt that is unknown has ended and needs none. After a failover the commits that
 * created the job may be lost (runs/epoch.h). */
static void report_answer(struct store *store, struct batch_item *item, const struct report *report)
{
	item->err = report->err;
	if (item->err.kind == ERR_NOT_FOUND && epoch_check_young(store, &item->err) == 0)
		item->err = (struct err)ERR_INIT;
	if (item->err.kind == ERR_NONE)
		respond_empty(item->res, 204);
}

static void results_commit(struct store *store, struct batch_item *const *items, size_t count)
{
	_cleanup_(freep) struct report *reports = mem_new(count, sizeof(*reports));

	for (size_t i = 0; i < count; i++)
		reports[i] = *report_of(items[i]);
	reports_take(store, reports, count);
	for (size_t i = 0; i < count; i++)
		report_answer(store, items[i], &reports[i]);
}

static void result_commit(struct store *store, struct batch_item *item)
{
	results_commit(store, &item, 1);
}

const struct batch batch_results = {
	.item_size = sizeof(struct result_item), .threads = 1, .commit = results_commit, .commit_alone = result_commit};
