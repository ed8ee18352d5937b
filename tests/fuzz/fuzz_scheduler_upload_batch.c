/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A batch from a worker. The parts that the handler finds must lie within its bytes, and their re-encoding must
 * parse. Also the answer to a batch, as a worker parses it.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/upload_batch.h"
#include "scheduler/api/api.h"
#include "scheduler/api/internal/uploads.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(bool condition)
{
	if (!condition)
		abort();
}

static void check_reencoding(const char *text, size_t len)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(1 << 20);
	struct upload_batch batch, again;
	struct err err = ERR_INIT;

	if (upload_batch_read(text, len, &batch, &err) < 0) {
		check(err.kind == ERR_MALFORMED && err.message[0]);
		return;
	}
	upload_batch_write(batch.parts, batch.count, &out);
	check(upload_batch_read(buf_str(&out), out.len, &again, &err) == 0 && again.count == batch.count);
	for (size_t i = 0; i < batch.count; i++)
		check(text_equal(batch.parts[i].path, again.parts[i].path) &&
			batch.parts[i].len == again.parts[i].len &&
			memcmp(batch.parts[i].bytes, again.parts[i].bytes, again.parts[i].len) == 0);
	upload_batch_release(&again);
	upload_batch_release(&batch);
}

static void check_handler(char *text, size_t len)
{
	struct uploads_item uploads = {.list = {.items = NULL}};
	const struct upload_list *list = &uploads.list;
	struct http_request http = {.body = {.data = text, .len = len}};
	struct http_answer answer = {.status = 0};
	struct response res = {.http = &answer};
	struct request req = {.http = &http, .item = &uploads.item, .bearer = "job.token"};
	struct err err = ERR_INIT;
	const char *at = text;

	route_find(routes, routes_count, "POST", "/api/worker/v1/jobs/job-1/batch", &req.match);
	if (jobs_upload_batch(&req, &res, &err) < 0)
		check(err.kind != ERR_NONE && err.message[0]);
	else
		check(list->count);
	for (size_t i = 0; i < list->count; at = (const char *)list->items[i].bytes + list->items[i].len, i++)
		check((const char *)list->items[i].bytes >= at && text_equal(list->items[i].job, "job-1"));
	check(at <= text + len);
	json_decref(req.body);
	upload_list_release(&uploads.list);
}

static void check_answers(const char *text, size_t len)
{
	struct upload_batch_answer answers[3];

	for (size_t count = 1; count <= ARRAY_LEN(answers); count++)
		if (upload_batch_answers_read(text, len, answers, count) == 0)
			upload_batch_answers_release(answers, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	_cleanup_(freep) char *text = mem_new(len + 1, 1);

	memcpy(text, bytes, len);
	check_reencoding(text, len);
	check_handler(text, len);
	check_answers(text, len);
	return 0;
}
