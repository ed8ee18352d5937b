/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/runs/logs/log_lines.h"
#include "scheduler/api/runs/logs/log_sender.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/runs/logs.h"
#include "scheduler/store/runs/logs.sql.h"

/* The log of a plan or an apply: the bytes that the worker sent. */

/* JSON_FACTOR: the most bytes that a byte of a log becomes in JSON lines, with the frame of a line of one byte. */
enum { MAX_RANGE = 16 << 20, JSON_FACTOR = 24 };

struct served_log {
	const char *operation_id;
	long long length;
	char name[256]; /* of the file, without its ending */
};

static int log_find(struct request *req, const char *kind, struct served_log *ret_log, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct served_log served = {.operation_id = param(req, kind)};
	const struct log_lookup_row *log;

	if (!id_valid(served.operation_id, kind))
		return err_set(err, ERR_NOT_FOUND, "log not found");
	if (log_lookup(req->store, served.operation_id, &rows, err) < 0)
		return -1;
	log = row_of(log_lookup, &rows, 0);
	if (may(req, place_of(log), "log", err) < 0)
		return -1;
	if (log->log_deleted)
		return err_set(err, ERR_NOT_FOUND, "the log was deleted: it is older than logs are kept here");
	served.length = log->log_length;
	snprintf(served.name, sizeof(served.name), "%s-%s-%s", log->workspace_name, log->run_id, kind);
	*ret_log = served;
	return 0;
}

/* ---- ranges ---- */

struct byte_range {
	long long from, to; /* [from, to) */
};

/* Reads "bytes=from-to", "bytes=from-" or "bytes=-count". Returns 1 with the range, 0 for any other header, which is
 * ignored, -1 if the range is empty. */
static int range_parse(const char *header, long long length, struct byte_range *ret_range)
{
	struct byte_range range = {0, length};
	char from[24] = "", to[24] = "";
	const char *dash = header ? strchr(header, '-') : NULL;

	if (!dash || !text_starts(header, "bytes=") || strchr(header, ',') || dash - header - 6 >= (long)sizeof(from) ||
		strlen(dash + 1) >= sizeof(to))
		return 0;
	memcpy(from, header + 6, (size_t)(dash - header - 6));
	text_copy(to, sizeof(to), dash + 1);
	if ((*from && text_number(from, 0, INT64_MAX / 4, &range.from) < 0) ||
		(*to && text_number(to, 0, INT64_MAX / 4, &range.to) < 0) || (!*from && !*to))
		return 0;
	if (!*from) {
		range.from = range.to < length ? length - range.to : 0;
		range.to = length;
	} else if (*to) {
		range.to = range.to < length ? range.to + 1 : length;
	}
	if (range.from >= range.to)
		return -1;
	*ret_range = range;
	return 1;
}

/* ---- answers ---- */

static void file_name_add(struct response *res, const struct served_log *log, const char *ending)
{
	_cleanup_(freep) char *value = mem_printf("attachment; filename=\"%s.%s\"", log->name, ending);

	http_add_header(res->http, "Content-Disposition", value);
}

static void content_range_add(struct response *res, const struct byte_range *range, long long length)
{
	char value[96];

	if (range)
		snprintf(value, sizeof(value), "bytes %lld-%lld/%lld", range->from, range->to - 1, length);
	else
		snprintf(value, sizeof(value), "bytes */%lld", length);
	http_add_header(res->http, "Content-Range", value);
}

static int output_read(struct store *store, const struct blob_range *range, struct buf *out, struct err *err)
{
	return log_output_read(store, &(struct log_range){range->id, range->from, range->len}, out, err);
}

/* Long logs are sent in pieces. A HEAD request gets the same headers. */
static int log_stream(struct request *req, struct response *res, const struct log_order *order, struct err *err)
{
	const uint64_t size = (uint64_t)(order->to - order->from);

	if (log_send(req->services->logs, order, &res->http->stream, err) < 0)
		return -1;
	res->http->stream_size = order->json ? 0 : size;
	res->http->stream_limit = order->json ? JSON_FACTOR * size : size;
	return 0;
}

static int log_short(struct request *req, struct response *res, const struct log_order *order, struct err *err)
{
	const struct log_range range = {order->content_id, order->from, order->to - order->from};
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(LOG_PIECE), lines = BUF_INIT(JSON_FACTOR * LOG_PIECE);

	if (log_output_read(req->store, &range, &bytes, err) < 0)
		return -1;
	if (order->json)
		log_lines_json(buf_str(&bytes), bytes.len, &lines);
	return respond_bytes(res, res->http->content_type, order->json ? &lines : &bytes);
}

static int bytes_answer(struct request *req, struct response *res, const struct log_order *order, struct err *err)
{
	res->http->content_type = order->json ? "application/jsonl" : "text/plain; charset=utf-8";
	return (order->to - order->from > LOG_PIECE ? log_stream : log_short)(req, res, order, err);
}

static int text_answer(struct request *req, struct response *res, const struct served_log *log, struct err *err)
{
	struct byte_range range = {0, log->length};
	int partial = range_parse(http_header(req->http, "Range"), log->length, &range);

	http_add_header(res->http, "Accept-Ranges", "bytes");
	if (partial < 0) {
		content_range_add(res, NULL, log->length);
		return respond_empty(res, 416);
	}
	if (partial && range.to - range.from > MAX_RANGE)
		range.to = range.from + MAX_RANGE;
	if (bytes_answer(req, res,
		    &(struct log_order){
			    req->actor.user.text, log->operation_id, output_read, range.from, range.to, false},
		    err) < 0)
		return -1;
	if (partial) {
		res->http->status = 206;
		content_range_add(res, &range, log->length);
	}
	file_name_add(res, log, "log");
	return 0;
}

static int json_answer(struct request *req, struct response *res, const struct served_log *log, struct err *err)
{
	file_name_add(res, log, "json");
	return bytes_answer(req, res,
		&(struct log_order){req->actor.user.text, log->operation_id, output_read, 0, log->length, true}, err);
}

static int log_answer(struct request *req, struct response *res, const char *kind, struct err *err)
{
	const char *format = query(req, "format") ? query(req, "format") : "text";
	struct served_log log = {.length = 0};

	if (!text_equal(format, "text") && !text_equal(format, "json"))
		return err_set(err, ERR_MALFORMED, "format must be text or json");
	if (log_find(req, kind, &log, err) < 0)
		return -1;
	return (text_equal(format, "json") ? json_answer : text_answer)(req, res, &log, err);
}

int plans_log(struct request *req, struct response *res, struct err *err)
{
	return log_answer(req, res, "plan", err);
}

int applies_log(struct request *req, struct response *res, struct err *err)
{
	return log_answer(req, res, "apply", err);
}
