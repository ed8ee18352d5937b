/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/server.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/http/origin.h"
#include "common/json/json_region.h"
#include "common/log.h"
#include "scheduler/api/api.h"
#include "scheduler/api/internal/control.h"
#include "scheduler/api/internal/run_tokens.h"
#include "scheduler/api/runs/creations.h"
#include "scheduler/api/tasks/callback_relay.h"
#include "scheduler/auth/auth_cache.h"
#include "scheduler/auth/buckets.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/blocking_pool.h"
#include "scheduler/http/form.h"
#include "scheduler/http/limits.h"
#include "scheduler/http/request_batcher.h"
#include "scheduler/metrics.h"
#include "scheduler/runs/job_grants.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/runs/reports.h"
#include "scheduler/store/content/contents.h"
#include "scheduler/store/runs/uploads.h"
#include "scheduler/store/site_settings.h"
#include "scheduler/store/tasks/task_calls.h"

/* The largest UPLOADED_JSON body that is batched, in bytes: a larger one takes more than a millisecond to parse. */
enum { MAX_READ = 128 << 10 };

/* SMALL_BODIES: bytes of memory for bodies of up to 64 KiB. Those are read before the token is checked. */
enum { MAX_OBSERVERS = 64, SMALL_BODIES = 256 << 20 };

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

struct api {
	struct api_settings settings;
	struct httpd *httpd, *observer; /* observer: --metrics-listen, or NULL */
	struct blocking_pool *calls,
		*forms;              /* separate, so that sign-ins are not queued behind calls to remote servers */
	struct blocking_pool *reads; /* requests that need content from the object store */
	struct request_batcher *uploads, *creations, *reports;
	struct request_batcher *awaited; /* creations and states that must wait for a workspace's lock */
	struct buckets *buckets;
	struct control *control;
	struct callback_relay *relay;
	char *public_url;
	pthread_mutex_t starting; /* held until public_url is known */
	pthread_key_t store;      /* struct store of each thread */
};

/* ---- the store of a thread ---- */

static void store_close(void *data)
{
	struct store *store = data;

	db_close(store->db);
	auth_cache_free(store->cache);
	free(store);
}

static struct store *store_of_thread(struct api *api)
{
	struct store *store = pthread_getspecific(api->store);

	if (store)
		return store;
	pthread_mutex_lock(&api->starting);
	pthread_mutex_unlock(&api->starting);
	if (!json_is_watched)
		json_region_enter(); /* JSON values of this thread are allocated in blocks (common/json/json_region.h)
				      */
	store = mem_new(1, sizeof(*store));
	*store = api->settings.store;
	store->db = db_open(api->settings.database_url);
	store->public_url = api->public_url;
	store->cache = auth_cache_new();
	pthread_setspecific(api->store, store);
	return store;
}

/* Readiness depends on PostgreSQL alone. If only the object store is down, most requests still succeed. */
static bool database_ready(void *data, struct buf *why)
{
	struct store *store = store_of_thread(data);
	struct objects *objects = store->objects;
	struct err err = ERR_INIT;
	bool ready = db_ping(store->db, &err) == 0;

	if (!ready)
		buf_printf(why, "%s\n", err.message);
	else if (objects && !objects_up(objects))
		buf_text(why, "the object store does not answer: what was moved there can't be read\n");
	return ready;
}

/* ---- one request ---- */

/* Checks whether the route accepts this kind of token (rights/permissions.def). */
static int gate_check(const struct request *req, struct err *err)
{
	const struct actor *actor = &req->actor;
	enum permission gate = req->route->permission;
	bool user = actor->kind == ACTOR_USER;

	if (gate == CAN_WORK && actor->kind != ACTOR_POOL)
		return err_set(err, ERR_UNAUTHORIZED, "an agent token is needed here");
	if (gate == CAN_NOTIFY && actor->kind != ACTOR_NOTIFIER)
		return err_set(err, ERR_UNAUTHORIZED, "a notifier's token is needed here");
	if (gate == CAN_WORK || gate == CAN_NOTIFY)
		return 0;
	if (gate == CAN_ANYTHING_SIGNED_IN || gate == CAN_ADMINISTER_SITE)
		user = user && !actor->is_service && (gate != CAN_ADMINISTER_SITE || actor->is_site_admin);
	if (actor->kind == ACTOR_RUN)
		return run_token_check(req, err);
	if (gate == CAN_READ_PLAN_JSON || gate == CAN_DOWNLOAD_CONFIGURATION)
		user = user || actor->kind == ACTOR_TASK;
	return user ? 0 : err_set(err, ERR_NOT_FOUND, "not found");
}

static void request_bearer(struct request *req)
{
	const char *header = http_header(req->http, "Authorization");

	if (header && strncasecmp(header, "Bearer ", 7) == 0)
		req->bearer = header + 7 + strspn(header + 7, " ");
}

/* Browsers attach cookies to cross-site requests too. So a change with a session cookie needs the CSRF token as
 * well. */
static int request_actor(struct request *req, struct err *err)
{
	bool has_token = http_header(req->http, "Authorization") != NULL;
	const char *cookie = has_token ? NULL : http_cookie(req->http, SESSION_COOKIE);

	if (!cookie || !*cookie)
		return actor_find(req->store, req->bearer, &req->actor, err);
	if (actor_of_session(req->store, cookie, &req->actor, err) < 0)
		return -1;
	if (text_equal(req->route->method, "GET") ||
		session_csrf_valid(req->store, cookie, http_header(req->http, "X-CSRF-Token")))
		return 0;
	return err_set(err, ERR_FORBIDDEN, "a change that a browser asks for needs the header X-CSRF-Token");
}

/* Checks the token or the path's signature, before the body is read. */
static int request_authenticate(struct request *req, struct err *err)
{
	switch (req->route->permission) {
	case CAN_WITHOUT_TOKEN:
	case CAN_KEEP_LEASES:
	case CAN_WORK_ON_JOB:
		return 0;
	case CAN_WITH_SIGNATURE:
		if (signed_valid(req->store->keyring, req->http->path))
			return 0;
		return err_set(err, ERR_NOT_FOUND, "the address is not signed, or has expired");
	case CAN_CALL_BACK:
		return task_token_check(req->store, param(req, "result"), req->bearer, err);
	default:
		if (request_actor(req, err) < 0)
			return -1;
		return gate_check(req, err);
	}
}

/* Sets the viewer of the following reads. Requests of workers and notifiers have none: they read for the scheduler. */
static void request_view(struct request *req)
{
	if (req->actor.kind == ACTOR_USER || req->actor.kind == ACTOR_TASK || req->actor.kind == ACTOR_RUN)
		req->store->viewer = &req->actor.viewer;
}

/* True if the token is that of the job's current attempt, or of the job that made the plan in the query. */
static bool of_a_job(const struct request *req)
{
	return job_token_valid(req->store, param(req, "job"), req->bearer) ||
		plan_token_valid(req->store, text_or_empty(query(req, "plan")), req->bearer);
}

/* True if the handler gets the body's bytes. */
static bool route_takes_bytes(const struct route *route)
{
	enum body_kind kind = route->kind;

	return kind == RAW || kind == UPLOADED || kind == UPLOADED_JSON || kind == REPORTED;
}

static int request_read_body(struct request *req, struct err *err)
{
	const struct http_request *http = req->http;

	if (req->route->kind == NO_BODY)
		return 0;
	if (http->body_refused && req->route->permission == CAN_WORK_ON_JOB && !of_a_job(req))
		return err_set(err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
	if (http->body_refused == HTTP_BODY_TOO_LARGE)
		return err_set(err, ERR_TOO_LARGE, "the body is larger than %zu bytes", req->route->limit);
	if (http->body_refused)
		return err_set(err, ERR_UNAVAILABLE, "too many large bodies are being received: send it again");
	if (route_takes_bytes(req->route) || !http->body.len)
		return 0;
	if (req->route->kind == FORM || req->route->kind == FORM_BLOCKING)
		return form_parse(http->body.data, http->body.len, &req->body, err);
	if (json_parse(http->body.data, http->body.len, &req->body, err) < 0)
		return -1;
	return json_is_object(req->body) ? 0 : err_set(err, ERR_MALFORMED, "the body must be a JSON object");
}

/* Adds a refused token, invalid or expired, to the audit trail. The rate is limited per address. */
static void note_refusal(struct request *req)
{
	struct err ignored = ERR_INIT;

	if (req->bearer && limits_note_refusal(req))
		audit_note_write(req, "refused", "authentication_token", NULL, &ignored);
}

/* The steps after authentication. */
static int request_run(struct request *req, struct response *res, struct err *err)
{
	if (request_read_body(req, err) < 0 || query_text_check(req, err) < 0)
		return -1;
	request_view(req);
	return audit_note_serve(req, res, err);
}

/* ---- reads with a cached identity ---- */

static bool request_cached(struct request *req)
{
	const struct route *route = req->route;

	return route->kind == NO_BODY && text_equal(route->method, "GET") && text_starts(route->pattern, "/api/v2/") &&
		route->permission != CAN_WITHOUT_TOKEN && auth_cache_take(req->store, req->bearer, &req->actor);
}

/* Resets the request to its state before request_run. */
static void request_forget(struct request *req, struct response *res, size_t own, struct err *err)
{
	struct audit_note *audit = req->audit;

	req->store->viewer = NULL;
	actor_release(&req->actor);
	req->actor = (struct actor){.kind = ACTOR_NONE};
	if (req->store->contents)
		req->store->contents->wanted = (struct object_part){.key = ""};
	audit->organization = audit->project = audit->workspace = (struct id){""};
	audit->type[0] = audit->resource[0] = '\0';
	respond_anew(res, own);
	*err = (struct err)ERR_INIT;
}

/* Returns false if no cached identity can be used, or if it is stale. Nothing is answered then. */
static bool request_run_cached(struct request *req, struct response *res, struct err *err, int *ret_result)
{
	size_t own = res->http->own.len;

	if (!request_cached(req))
		return false;
	*ret_result = gate_check(req, err) < 0 ? -1 : request_run(req, res, err);
	if (auth_cache_holds(req->store))
		return true;
	request_forget(req, res, own, err);
	return false;
}

static int request_serve(struct request *req, struct response *res, struct err *err)
{
	int result;

	request_bearer(req);
	req->route = req->http->target;
	if (req->route)
		route_fits(req->route, req->http->path, &req->match);
	if (limits_take(req, res, site_rate_limit(), err) < 0)
		return -1;
	if (!req->route)
		return err_set(err, ERR_NOT_FOUND, "there is nothing at this address");
	if (request_run_cached(req, res, err, &result)) {
		limits_note_authenticated(req);
		return result;
	}
	if (request_authenticate(req, err) < 0) {
		if (err->kind == ERR_UNAUTHORIZED)
			note_refusal(req);
		return -1;
	}
	limits_note_authenticated(req);
	return request_run(req, res, err);
}

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

/* A 503 is temporary: PostgreSQL or a store is unreachable, or the server is overloaded. It is a warning, not an
 * error. */
static void failure_note(const char *method, const char *pattern, int status, const struct err *err)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", status);
	if (status == 503)
		log_warn("request refused for now", "method", method, "route", pattern, "status", number, "error",
			err->message, NULL);
	else
		log_error("request failed", "method", method, "route", pattern, "status", number, "error", err->message,
			NULL);
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
	if (answer->status >= 500)
		failure_note(req->http->method, pattern, answer->status, err);
	else
		log_debug("request", "method", req->http->method, "route", pattern, "status", status, "ms", took, NULL);
}

static void answer_reset(struct http_answer *answer)
{
	buf_release(&answer->body);
	buf_release(&answer->own);
	*answer = (struct http_answer){.status = 200, .body = BUF_INIT(SIZE_MAX / 2), .extra = headers};
}

/* One request, from its headers to its answer. */
struct serving {
	struct request req;
	struct response res;
	struct audit_note audit;
	struct creation creation;
	size_t first_upload, upload_count; /* the request's range in the list */
	struct http_answer answer;         /* of a request that is answered later: what is filled so far */
	struct err err;
	long long began;
	bool served;
};

/* The results that a handler leaves for a batch. */
struct slot {
	struct upload_list *uploads;
	struct report *report;
};

static size_t uploads_in(const struct upload_list *list)
{
	return list ? list->count : 0;
}

static void serving_begin(struct api *api, struct serving *serving, const struct http_request *http,
	struct http_answer *answer, struct slot slot)
{
	*serving = (struct serving){.req = {.http = http,
					    .audit = &serving->audit,
					    .buckets = api->buckets,
					    .control = api->control,
					    .relay = api->relay,
					    .uploads = slot.uploads,
					    .report = slot.report,
					    .creation = &serving->creation,
					    .store = store_of_thread(api)},
		.res = {.http = answer, .audit = &serving->audit},
		.creation = {.req = &serving->req, .res = &serving->res},
		.first_upload = uploads_in(slot.uploads),
		.began = now_us()};
	answer->extra = headers;
	text_copy(serving->audit.address, sizeof(serving->audit.address), http->address);
	serving->served = request_serve(&serving->req, &serving->res, &serving->err) == 0;
	serving->upload_count = uploads_in(slot.uploads) - serving->first_upload;
}

static struct upload *serving_upload(const struct serving *serving, size_t at)
{
	return &serving->req.uploads->items[serving->first_upload + at];
}

/* True if the request has a state whose workspace is locked: a thread of `awaited` stores it. */
static bool serving_left(const struct serving *serving)
{
	for (size_t i = 0; i < serving->upload_count; i++)
		if (upload_left(serving_upload(serving, i)))
			return true;
	return false;
}

/* A client can't distinguish an object that it may not see from one that does not exist. Handlers say "KIND not found"
 * for both. But KIND is the kind of the last lookup, which depends on what exists. Other messages are for clients that
 * may see the object; such a message names what is missing. */
static void not_found_unify(const struct request *req, struct err *err)
{
	static const char end[] = "not found";
	size_t len = strlen(err->message);
	bool unseen = len >= strlen(end) && text_equal(err->message + len - strlen(end), end);

	if (err->kind == ERR_NOT_FOUND && unseen && req->route && text_starts(req->route->pattern, "/api/v2/"))
		*err = (struct err){.kind = ERR_NOT_FOUND, .message = "not found"};
}

/* After a failover, the commits that created the job may be lost (runs/epoch.h). */
static void unknown_job_wait(struct request *req, struct err *err)
{
	if (err->kind == ERR_NOT_FOUND && req->route && req->route->permission == CAN_WORK_ON_JOB)
		epoch_wait_hearing(req->store, err);
}

static void serving_answer(struct serving *serving)
{
	struct request *req = &serving->req;

	for (size_t i = 0; i < serving->upload_count; i++)
		unknown_job_wait(req, &serving_upload(serving, i)->err);
	if (req->report)
		unknown_job_wait(req, &req->report->err);
	unknown_job_wait(req, &serving->err);
	if (serving->upload_count)
		serving->served = uploads_respond(req, &serving->res, serving_upload(serving, 0), serving->upload_count,
					  &serving->err) == 0;
	if (serving->served && req->report && req->report->job)
		serving->served = report_respond(&serving->res, req->report, &serving->err) == 0;
	if (!serving->served) {
		not_found_unify(req, &serving->err);
		respond_error(&serving->res, &serving->err);
	}
	request_note(req, serving->res.http, now_us() - serving->began, &serving->err);
}

static void serving_release(struct serving *serving)
{
	struct request *req = &serving->req;

	req->store->viewer = NULL;
	auth_cache_put(req->store, &req->actor);
	json_decref(req->body);
}

/* Returns false if the request needs content that must be fetched first (store/content/contents.h). Nothing is answered
 * then. */
static bool request_try(
	struct api *api, const struct http_request *http, struct contents *contents, struct http_answer *answer)
{
	_cleanup_(upload_list_release) struct upload_list uploads = {.items = NULL};
	struct report report = {.job = NULL};
	struct store *store = store_of_thread(api);
	struct serving serving;
	bool lacks;

	answer_reset(answer);
	store->contents = contents;
	serving_begin(api, &serving, http, answer, (struct slot){&uploads, &report});
	store->contents = NULL;
	lacks = !serving.served && contents->wanted.key[0];
	uploads_keep_all(store, uploads.items, uploads.count);
	if (serving.served && report.job)
		reports_take(store, &report, 1);
	if (!lacks)
		serving_answer(&serving);
	serving_release(&serving);
	return !lacks;
}

/* Handles a request from its start, outside of a batch. For requests that need no content of the object store. */
static void request_alone(struct api *api, const struct http_request *http, struct http_answer *answer)
{
	struct contents none = {.count = 0};

	request_try(api, http, &none, answer);
}

static void uploads_answer(void *data, struct batched_request *items, struct http_answer *answers, size_t count)
{
	_cleanup_(freep) struct serving *servings = mem_new(count, sizeof(*servings));
	_cleanup_(upload_list_release) struct upload_list uploads = {.items = NULL};
	struct api *api = data;

	for (size_t i = 0; i < count; i++)
		serving_begin(api, &servings[i], items[i].http, &answers[i], (struct slot){.uploads = &uploads});
	uploads_keep(servings[0].req.store, uploads.items, uploads.count);
	for (size_t i = 0; i < count; i++) {
		if (!serving_left(&servings[i]))
			serving_answer(&servings[i]);
		serving_release(&servings[i]);
	}
	for (size_t i = 0; i < count; i++) {
		if (!serving_left(&servings[i]))
			continue;
		answer_reset(&answers[i]);
		if (!request_batcher_pass(api->awaited, &items[i]))
			request_alone(api, items[i].http, &answers[i]);
	}
}

static void reports_answer(void *data, struct batched_request *items, struct http_answer *answers, size_t count)
{
	_cleanup_(freep) struct serving *servings = mem_new(count, sizeof(*servings));
	_cleanup_(freep) struct report *reports = mem_new(count, sizeof(*reports));

	for (size_t i = 0; i < count; i++)
		serving_begin(data, &servings[i], items[i].http, &answers[i], (struct slot){.report = &reports[i]});
	reports_take(servings[0].req.store, reports, count);
	for (size_t i = 0; i < count; i++) {
		serving_answer(&servings[i]);
		serving_release(&servings[i]);
	}
}

/* Takes the serving and frees it. */
static void creation_answer(struct serving *serving)
{
	serving->err = serving->creation.err;
	serving->served = serving->err.kind == ERR_NONE;
	serving_answer(serving);
	serving_release(serving);
	free(serving);
}

static void answer_begin(struct serving *serving, struct http_answer *answer)
{
	buf_release(&answer->body);
	*answer = serving->answer;
	serving->res.http = answer;
}

static void awaited_answer(void *data, struct batched_request *items, struct http_answer *answers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct serving *serving = items[i].made;

		if (!serving) {
			request_alone(data, items[i].http, &answers[i]);
			continue;
		}
		answer_begin(serving, &answers[i]);
		creation_make(store_of_thread(data), &serving->creation);
		creation_answer(serving);
	}
}

static void creations_answer(void *data, struct batched_request *items, struct http_answer *answers, size_t count)
{
	_cleanup_(freep) struct creation **creations = mem_new(count, sizeof(struct creation *));
	struct api *api = data;

	for (size_t i = 0; i < count; i++) {
		struct serving *serving = items[i].made;

		answer_begin(serving, &answers[i]);
		creations[i] = &serving->creation;
	}
	creations_make(store_of_thread(api), creations, count);
	for (size_t i = 0; i < count; i++) {
		if (!creation_waits(creations[i]))
			creation_answer(items[i].made);
		else if (!request_batcher_pass(api->awaited, &items[i]))
			awaited_answer(api, &items[i], &answers[i], 1);
	}
}

/* The current thread parses and authorizes the request. The creation itself is batched. */
static void creation_serve(struct api *api, const struct http_request *http, struct http_answer *answer)
{
	struct serving *serving = mem_new(1, sizeof(*serving));
	struct http_answer first = {.status = 200, .body = BUF_INIT(SIZE_MAX / 2)};

	serving_begin(api, serving, http, &first, (struct slot){.uploads = NULL});
	serving->answer = first;
	serving->req.store->viewer = NULL;
	if (!serving->served) {
		*answer = first;
		serving->res.http = answer;
		serving_answer(serving);
		serving_release(serving);
		free(serving);
		return;
	}
	if (!request_batcher_take(api->creations, (struct batched_request){.http = http, .made = serving}))
		creations_answer(api, &(struct batched_request){.http = http, .made = serving}, answer, 1);
}

static void answer_refuse(const struct http_request *http, struct http_answer *answer, const struct err *err)
{
	struct response res = {.http = answer};

	respond_error(&res, err);
	failure_note(http->method, "other", answer->status, err);
}

/* Answers a request that the HTTP server refused. Clients of the API expect a JSON:API document in any case. */
static void refuse(int status, const char *why, struct http_answer *answer)
{
	struct response res = {.http = answer};
	struct err err = ERR_INIT;

	err_set(&err, status == 503 ? ERR_UNAVAILABLE : ERR_MALFORMED, "%s", why);
	answer->extra = headers;
	respond_error(&res, &err);
}

/* Runs in a thread of http/blocking_pool.h, which may block. */
static void request_finish(void *data, const struct http_request *http, struct http_answer *answer)
{
	_cleanup_(contents_release) struct contents contents = {.count = 0};
	struct api *api = data;
	struct err err = ERR_INIT;

	while (!request_try(api, http, &contents, answer)) {
		if (contents_fetch(&contents, api->settings.store.objects, &err) == 0)
			continue;
		answer_reset(answer);
		answer_refuse(http, answer, &err);
		return;
	}
}

static void hand_over(struct blocking_pool *pool, const struct http_request *http, struct http_answer *answer)
{
	struct err err = ERR_INIT;

	if (blocking_pool_take(pool, http))
		return;
	err_set(&err, ERR_UNAVAILABLE, "too many requests of this kind are waiting: try again");
	answer_reset(answer);
	answer_refuse(http, answer, &err);
}

/* The batch queue of the request; NULL: it is not batched. */
static struct request_batcher *lane_of(struct api *api, const struct http_request *http)
{
	const struct route *route = http->target;

	if (route->kind == REPORTED)
		return api->reports;
	return route->kind == UPLOADED || (route->kind == UPLOADED_JSON && http->body.len <= MAX_READ) ? api->uploads
												       : NULL;
}

static void observer_handle(void *data, const struct http_request *http, struct http_answer *answer)
{
	if (!httpd_observe(http, database_ready, data, answer))
		answer->status = 404;
}

/* If there is a listener for operators, the main listener does not serve /metrics. */
static bool request_observe(struct api *api, const struct http_request *http, struct http_answer *answer)
{
	return !(api->observer && text_equal(http->path, "/metrics")) &&
		httpd_observe(http, database_ready, api, answer);
}

static void handle(void *data, const struct http_request *http, struct http_answer *answer)
{
	struct contents none = {.count = 0};
	const struct route *route = http->target;
	struct api *api = data;
	struct request_batcher *batcher;

	answer->extra = headers;
	if (request_observe(api, http, answer))
		return;
	batcher = route ? lane_of(api, http) : NULL;
	if (batcher && request_batcher_take(batcher, (struct batched_request){.http = http}))
		return;
	if (route && route->kind == JSON_BATCHED)
		creation_serve(api, http, answer);
	else if (route && (route->kind == JSON_BLOCKING || route->kind == FORM_BLOCKING))
		hand_over(route->kind == FORM_BLOCKING ? api->forms : api->calls, http, answer);
	else if (!request_try(api, http, &none, answer))
		hand_over(api->reads, http, answer);
}

static size_t body_limit(void *data, struct http_request *http)
{
	const struct route *route = route_find(routes, routes_count, http->method, http->path, NULL);
	struct api *api = data;

	http->target = route;
	if (!route ||
		(route->permission == CAN_WITH_SIGNATURE && !signed_valid(api->settings.store.keyring, http->path)))
		return 0;
	return route->limit;
}

/* Checks the token before a large body is read, so that unauthorized bodies use no memory. */
static int body_admit(void *data, const struct http_request *http)
{
	struct api *api = data;
	struct request req = {.http = http, .store = store_of_thread(api), .route = http->target};
	struct err err = ERR_INIT;
	bool allowed;

	switch (req.route->permission) {
	case CAN_WITH_SIGNATURE: /* body_limit checked it */
		return HTTP_BUDGET_LINKS;
	case CAN_WITHOUT_TOKEN:
	case CAN_KEEP_LEASES: /* their bodies are small */
		return -1;
	case CAN_WORK_ON_JOB:
		request_bearer(&req);
		route_fits(req.route, http->path, &req.match);
		return of_a_job(&req) ? HTTP_BUDGET_CLIENTS : -1;
	default:
		request_bearer(&req);
		route_fits(req.route, http->path, &req.match);
		allowed = request_authenticate(&req, &err) == 0;
		actor_release(&req.actor);
		return allowed ? HTTP_BUDGET_CLIENTS : -1;
	}
}

/* ---- the service ---- */

static char *public_url_make(const struct api_settings *settings, int port)
{
	const char *host_end = strrchr(settings->address, ':');
	char *url;

	if (!*text_or_empty(settings->store.public_url))
		return mem_printf("%s://%.*s:%d", settings->tls ? "https" : "http", (int)(host_end - settings->address),
			settings->address, port);
	url = mem_text(settings->store.public_url);
	for (size_t len = strlen(url); len && url[len - 1] == '/'; len--)
		url[len - 1] = '\0';
	return url;
}

static void blocking_pools_stop(struct api *api)
{
	blocking_pool_stop(api->calls);
	blocking_pool_stop(api->forms);
	blocking_pool_stop(api->reads);
	control_stop(api->control);
	callback_relay_stop(api->relay);
	request_batcher_stop(api->uploads);
	request_batcher_stop(api->reports);
	request_batcher_stop(api->creations);
	request_batcher_stop(api->awaited);
}

static void api_free(struct api *api)
{
	blocking_pools_stop(api);
	httpd_stop(api->observer);
	blocking_pool_free(api->calls);
	blocking_pool_free(api->forms);
	blocking_pool_free(api->reads);
	control_free(api->control);
	callback_relay_free(api->relay);
	request_batcher_free(api->uploads);
	request_batcher_free(api->reports);
	request_batcher_free(api->creations);
	request_batcher_free(api->awaited);
	pthread_key_delete(api->store);
	pthread_mutex_destroy(&api->starting);
	buckets_free(api->buckets);
	free(api->public_url);
	free(api);
}

static int observer_start(struct api *api, struct err *err)
{
	const struct httpd_spec spec = {.address = api->settings.metrics_address,
		.threads = 1,
		.most_connections = MAX_OBSERVERS,
		.data = api,
		.handle = observer_handle};

	if (!*spec.address || httpd_start(&spec, &api->observer, err) == 0)
		return 0;
	return err_context(err, "--metrics-listen");
}

int api_start(const struct api_settings *settings, struct api **ret_api, struct err *err)
{
	struct api *api = mem_new(1, sizeof(*api));
	const struct request_batcher_spec uploads = {uploads_answer, api, 1, BATCHED_REQUESTS_MAX};
	const struct request_batcher_spec reports = {reports_answer, api, 1, BATCHED_REQUESTS_MAX};
	const struct request_batcher_spec creations = {creations_answer, api, 2, BATCHED_REQUESTS_MAX};
	const struct request_batcher_spec awaited = {awaited_answer, api, 4, 1};
	struct httpd_spec spec = {
		.address = settings->address,
		.tls = settings->tls,
		.threads = settings->threads,
		.most_connections = settings->connections,
		.most_per_client = settings->connections_per_address,
		.proxies = settings->proxies,
		.request_seconds = settings->request_seconds,
		.budgets = {[HTTP_BUDGET_SMALL] = SMALL_BODIES,
			[HTTP_BUDGET_CLIENTS] = settings->body_memory,
			[HTTP_BUDGET_LINKS] = settings->body_memory},
		.data = api,
		.body_limit = body_limit,
		.body_admit = body_admit,
		.refuse = refuse,
		.handle = handle,
	};

	api->settings = *settings;
	headers[INSTALLATION][1] = api->settings.store.installation.text;
	api->buckets = buckets_new(settings->rate_limit);
	pthread_mutex_init(&api->starting, NULL);
	if (pthread_key_create(&api->store, store_close) != 0) {
		pthread_mutex_destroy(&api->starting);
		free(api);
		return err_set(err, ERR_INTERNAL, "no more keys for thread data");
	}
	pthread_mutex_lock(&api->starting);
	if (observer_start(api, err) == 0 && blocking_pool_start(request_finish, api, &api->calls, err) == 0 &&
		blocking_pool_start(request_finish, api, &api->forms, err) == 0 &&
		blocking_pool_start(request_finish, api, &api->reads, err) == 0 &&
		control_start(settings->database_url, &api->control, err) == 0 &&
		callback_relay_start(&api->relay, err) == 0 &&
		request_batcher_start(&uploads, &api->uploads, err) == 0 &&
		request_batcher_start(&reports, &api->reports, err) == 0 &&
		request_batcher_start(&creations, &api->creations, err) == 0 &&
		request_batcher_start(&awaited, &api->awaited, err) == 0 && httpd_start(&spec, &api->httpd, err) == 0)
		api->public_url = public_url_make(settings, httpd_port(api->httpd));
	pthread_mutex_unlock(&api->starting);
	if (!api->httpd) {
		api_free(api);
		return -1;
	}
	*ret_api = api;
	return 0;
}

int api_port(const struct api *api)
{
	return httpd_port(api->httpd);
}

const char *api_public_url(const struct api *api)
{
	return api->public_url;
}

void api_stop(struct api *api)
{
	if (!api)
		return;
	blocking_pools_stop(api);
	httpd_stop(api->httpd);
	api_free(api);
}
