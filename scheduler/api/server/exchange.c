/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/server/exchange.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/api/scim/scim.h"
#include "scheduler/api/server/answers.h"
#include "scheduler/api/server/authenticate.h"
#include "scheduler/http/form.h"
#include "scheduler/http/limits.h"
#include "scheduler/metrics.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/store/content/contents.h"
#include "scheduler/store/site_settings.h"

/* ---- the handler ---- */

/* Sets the scope of the following reads. Requests of workers and notifiers have none: they read for the scheduler. */
static void request_scope(struct request *req)
{
	if (req->actor.kind == ACTOR_USER || req->actor.kind == ACTOR_TASK || req->actor.kind == ACTOR_RUN)
		req->store->scope = &req->actor.scope;
}

static int request_read_body(struct request *req, struct err *err)
{
	const struct http_request *http = req->http;

	if (req->route->format == NO_BODY)
		return 0;
	if (http->body_refused && req->route->permission == CAN_WORK_ON_JOB && !bearer_is_of_job(req))
		return err_set(err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
	if (http->body_refused == HTTP_BODY_TOO_LARGE)
		return err_set(err, ERR_TOO_LARGE, "the body is larger than %zu bytes", req->route->limit);
	if (http->body_refused)
		return err_set(err, ERR_UNAVAILABLE, "too many large bodies are being received: send it again");
	if (req->route->format == RAW || !http->body.len)
		return 0;
	if ((req->route->format == FORM
			    ? form_parse(http->body.data, http->body.len, &req->document.value, err)
			    : json_document_parse(&req->document, http->body.data, http->body.len, err)) < 0)
		return -1;
	req->body = req->document.value;
	return json_is_object(req->body) ? 0 : err_set(err, ERR_MALFORMED, "the body must be a JSON object");
}

/* Adds a refused token, invalid or expired, to the audit trail. The rate is limited per address. */
static void note_refusal(struct request *req)
{
	struct err ignored = ERR_INIT;

	if (req->bearer && limits_note_refusal(req))
		request_audit_write(req, "refused", "authentication_token", NULL, &ignored);
}

/* The steps after authentication. */
static int request_run(struct request *req, struct response *res, struct err *err)
{
	if (request_read_body(req, err) < 0 || query_text_check(req, err) < 0)
		return -1;
	request_scope(req);
	return request_audit_run(req, res, err);
}

/* SCIM distinguishes addresses that have other methods. */
static int nothing_there(const struct request *req, struct err *err)
{
	struct route_match match;

	for (size_t i = 0; i < routes_count && text_starts(req->http->path, SCIM_PREFIX "/"); i++)
		if (routes[i].permission == CAN_PROVISION && route_fits(&routes[i], req->http->path, &match))
			return err_set(err, ERR_METHOD, "there is no %s at this address", req->http->method);
	return err_set(err, ERR_NOT_FOUND, "there is nothing at this address");
}

static int request_serve(struct request *req, struct response *res, struct err *err)
{
	bearer_read(req);
	req->route = req->http->target;
	if (req->route)
		route_fits(req->route, req->http->path, &req->match);
	if (limits_take(req, res, site_rate_limit(), err) < 0)
		return -1;
	if (!req->route)
		return nothing_there(req, err);
	if (request_authenticate(req, err) < 0) {
		if (err->kind == ERR_UNAUTHORIZED)
			note_refusal(req);
		return -1;
	}
	limits_note_authenticated(req);
	return request_run(req, res, err);
}

/* ---- the answer ---- */

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

/* Metrics and logs have the route's pattern, not the path: a path may hold a signature, and paths are unbounded. */
static void request_note(
	const struct request *req, const struct http_answer *answer, long long us, const struct err *err)
{
	const char *pattern = req->route ? req->route->pattern : "other";
	char labels[256], status[16], took[32];

	snprintf(status, sizeof(status), "%d", answer->status);
	snprintf(took, sizeof(took), "%.3f", (double)us / 1000);
	snprintf(labels, sizeof(labels), "method=\"%s\",route=\"%s\",status=\"%s\"",
		req->route ? req->route->method : "other", pattern, status);
	metric_add(M_HTTP_REQUESTS, labels, 1);
	snprintf(labels, sizeof(labels), "route=\"%s\"", pattern);
	metric_observe(M_HTTP_SECONDS, labels, (double)us / 1e6);
	if (answer->status >= 500 && answer->status != 501)
		answer_failure_log(req->http, pattern, answer->status, err);
	else
		log_debug("request", "request", req->http->id, "method", req->http->method, "route", pattern, "status",
			status, "ms", took, NULL);
}

/* A client can't distinguish an object that it may not see from one that does not exist. Handlers say "KIND not found"
 * for both. But KIND is the kind of the last lookup, which depends on what exists. Other messages are for clients that
 * may see the object; such a message names what is missing. */
static void not_found_unify(const struct request *req, struct err *err)
{
	static const char end[] = "not found";
	size_t len = strlen(err->message);
	bool unseen = len >= strlen(end) && text_equal(err->message + len - strlen(end), end);

	if (err->kind == ERR_NOT_FOUND && unseen && req->route &&
		(text_starts(req->route->pattern, "/api/v2/") ||
			text_starts(req->route->pattern, REGISTRY_PREFIX "/") ||
			text_starts(req->route->pattern, REGISTRY_KEYS_PREFIX "/")))
		*err = (struct err){.kind = ERR_NOT_FOUND, .message = "not found"};
}

/* After a failover, the commits that created the job may be lost (runs/epoch.h). */
static void unknown_job_wait(struct request *req, struct err *err)
{
	if (err->kind == ERR_NOT_FOUND && req->route && req->route->permission == CAN_WORK_ON_JOB)
		epoch_check_young(req->store, err);
}

void exchange_init(struct exchange *exchange, const struct http_request *http, struct http_answer *answer,
	struct store *store, const struct services *services)
{
	*exchange = (struct exchange){.req = {.http = http,
					      .audit = &exchange->audit,
					      .object = &exchange->object,
					      .services = services,
					      .store = store},
		.res = {.http = answer, .audit = &exchange->audit},
		.began_us = now_us()};
	text_copy(exchange->audit.address, sizeof(exchange->audit.address), http->address);
}

void exchange_run(struct exchange *exchange)
{
	exchange->failed = request_serve(&exchange->req, &exchange->res, &exchange->err) < 0;
	if (exchange->failed)
		unknown_job_wait(&exchange->req, &exchange->err);
}

void exchange_answer(struct exchange *exchange)
{
	const struct request *req = &exchange->req;

	if (exchange->failed) {
		not_found_unify(req, &exchange->err);
		if (text_starts(req->http->path, SCIM_PREFIX "/"))
			scim_respond_error(&exchange->res, &exchange->err);
		else
			respond_error(&exchange->res, &exchange->err);
	}
	request_note(req, exchange->res.http, now_us() - exchange->began_us, &exchange->err);
}

void exchange_release(struct exchange *exchange)
{
	struct request *req = &exchange->req;

	req->store->scope = NULL;
	actor_release(&req->actor);
	path_object_release(&exchange->object);
	audit_note_release(&exchange->audit);
	json_document_release(&req->document);
}
