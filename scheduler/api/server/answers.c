/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/server/answers.h"

#include <stdint.h>
#include <stdio.h>

#include "common/http/origin.h"
#include "common/log.h"
#include "scheduler/http/request.h"

/* Headers of every answer. Clients require the first one, and parse the third as vYYYYMM-N. */
static const char *headers[][2] = {
	{"TFP-API-Version", "2.6"},
	{"TFP-AppName", "Terraform Enterprise"},
	{"X-TFE-Version", "v202411-2"},
	{"X-Terraform-Snapshot-Interval", "20"}, /* seconds between the state snapshots of a local apply */
	{"X-Content-Type-Options", "nosniff"},
	{"Cache-Control", "no-store"},
	{ORIGIN_HEADER, NULL}, /* INSTALLATION: the id, set once before the first request */
	{NULL, NULL},
};
enum { INSTALLATION = ARRAY_LEN(headers) - 2 };

void answers_init(const struct id *installation)
{
	headers[INSTALLATION][1] = installation->text;
}

void answer_reset(struct http_answer *answer)
{
	buf_release(&answer->body);
	buf_release(&answer->own);
	*answer = (struct http_answer){.status = 200, .body = BUF_INIT(SIZE_MAX / 2), .extra = headers};
}

/* A 503 is temporary: PostgreSQL or a store is unreachable, or the server is overloaded. It is a warning, not an
 * error. */
void answer_failure_log(const struct http_request *http, const char *pattern, int status, const struct err *err)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", status);
	if (status == 503)
		log_warn("request refused for now", "request", http->id, "method", http->method, "route", pattern,
			"status", number, "error", err->message, NULL);
	else
		log_error("request failed", "request", http->id, "method", http->method, "route", pattern, "status",
			number, "error", err->message, NULL);
}

void answer_refuse(const struct http_request *http, struct http_answer *answer, const struct err *err)
{
	struct response res = {.http = answer};

	respond_error(&res, err);
	answer_failure_log(http, "other", answer->status, err);
}

/* Answers a request that the HTTP server refused. Clients of the API expect a JSON:API document in any case. */
void answer_refused_by_server(int status, const char *why, struct http_answer *answer)
{
	struct response res = {.http = answer};
	struct err err = ERR_INIT;

	err_set(&err, status == 503 ? ERR_UNAVAILABLE : ERR_MALFORMED, "%s", why);
	answer->extra = headers;
	respond_error(&res, &err);
}
