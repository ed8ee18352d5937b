/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/server.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "scheduler/api/api.h"
#include "scheduler/api/aside.h"
#include "scheduler/auth/signed.h"
#include "scheduler/dispatch/claim.h"
#include "scheduler/metrics.h"

enum { MOST_CONNECTIONS = 2000 };

/* What every answer carries (API 1.2). Clients refuse to work without the first, and parse the third as vYYYYMM-N. */
static const char *headers[][2] = {
	{"TFP-API-Version", "2.6"},
	{"TFP-AppName", "Terraform Enterprise"},
	{"X-TFE-Version", "v202411-2"},
	{"X-RateLimit-Limit", "1000"},
	{"X-Content-Type-Options", "nosniff"},
	{"Cache-Control", "no-store"},
	{NULL, NULL},
};

struct api {
	struct api_settings settings;
	struct httpd *httpd;
	struct aside *aside;
	char *public_url;
	pthread_mutex_t starting; /* held until public_url is known */
	pthread_key_t store;      /* each thread's struct store */
};

/* ---- a thread's store ---- */

static void store_close(void *data)
{
	struct store *store = data;

	db_close(store->db);
	free(store);
}

static struct store *store_of_thread(struct api *api)
{
	struct store *store = pthread_getspecific(api->store);

	if (store)
		return store;
	pthread_mutex_lock(&api->starting);
	pthread_mutex_unlock(&api->starting);
	store = mem_new(1, sizeof(*store));
	*store = api->settings.store;
	store->db = db_open(api->settings.database_url);
	store->public_url = api->public_url;
	pthread_setspecific(api->store, store);
	return store;
}

static bool database_ready(void *data, struct buf *why)
{
	struct err err = ERR_INIT;
	bool ready = db_query(store_of_thread(data)->db, NULL, &err, "select 1") == 0;

	if (!ready)
		buf_printf(why, "%s\n", err.message);
	return ready;
}

/* ---- one request ---- */

/* Before anything is read: the token, or the path's signature. */
static int request_authenticate(struct request *req, struct err *err)
{
	const char *header = http_header(req->http, "Authorization");

	if (header && strncasecmp(header, "Bearer ", 7) == 0)
		req->bearer = header + 7 + strspn(header + 7, " ");
	switch (req->route->permission) {
	case CAN_WITHOUT_TOKEN:
	case CAN_WORK_ON_JOB:
		return 0;
	case CAN_WITH_SIGNATURE:
		if (signed_valid(req->store->keyring, req->http->path))
			return 0;
		return err_set(err, ERR_NOT_FOUND, "the address is not signed, or has expired");
	case CAN_WORK:
		if (actor_find(req->store, req->bearer, &req->actor, err) < 0)
			return -1;
		if (req->actor.kind == ACTOR_POOL)
			return 0;
		return err_set(err, ERR_UNAUTHORIZED, "an agent token is needed here");
	case CAN_NOTIFY:
		if (actor_find(req->store, req->bearer, &req->actor, err) < 0)
			return -1;
		if (req->actor.kind == ACTOR_NOTIFIER)
			return 0;
		return err_set(err, ERR_UNAUTHORIZED, "a notifier's token is needed here");
	default:
		if (actor_find(req->store, req->bearer, &req->actor, err) < 0)
			return -1;
		if (req->actor.kind == ACTOR_USER)
			return 0;
		if (req->actor.kind == ACTOR_TASK && req->route->permission == CAN_READ_FOR_TASK)
			return 0;
		return err_set(err, ERR_NOT_FOUND, "not found");
	}
}

static int request_read_body(struct request *req, struct err *err)
{
	const struct http_request *http = req->http;

	if (req->route->kind == NO_BODY)
		return 0;
	if (http->body_refused && req->route->permission == CAN_WORK_ON_JOB &&
		!job_token_valid(req->store, param(req, "job"), req->bearer))
		return err_set(err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
	if (http->body_refused)
		return err_set(err, ERR_TOO_LARGE, "the body is larger than %zu bytes", req->route->limit);
	if (req->route->kind == RAW || !http->body.len)
		return 0;
	return json_parse(http->body.data, http->body.len, &req->body, err);
}

struct query_check {
	bool malformed;
};

static void query_check_one(void *data, const char *name, const char *value)
{
	struct query_check *check = data;
	json_t *name_text = json_string(name), *value_text = json_string(value);

	/* jansson makes no string of what is not UTF-8. */
	if (!name_text || !value_text)
		check->malformed = true;
	json_decref(name_text);
	json_decref(value_text);
}

static int request_check_query(const struct request *req, struct err *err)
{
	struct query_check check = {false};

	http_query_each(req->http, query_check_one, &check);
	return check.malformed ? err_set(err, ERR_MALFORMED, "the query string is not UTF-8") : 0;
}

static int request_serve(struct request *req, struct response *res, struct err *err)
{
	req->route = route_find(routes, routes_count, req->http->method, req->http->path, &req->match);
	if (!req->route)
		return err_set(err, ERR_NOT_FOUND, "there is nothing at this address");
	if (request_authenticate(req, err) < 0 || request_read_body(req, err) < 0 || request_check_query(req, err) < 0)
		return -1;
	return req->route->handler(req, res, err);
}

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

/* The route's pattern stands for the path: the path may carry a signature, and is not bounded in number. */
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
		log_error("request failed", "method", req->http->method, "route", pattern, "status", status, "error",
			err->message, NULL);
	else
		log_debug("request", "method", req->http->method, "route", pattern, "status", status, "ms", took, NULL);
}

static void request_answer(void *data, const struct http_request *http, struct http_answer *answer)
{
	struct api *api = data;
	struct request req = {.http = http};
	struct response res = {answer};
	struct err err = ERR_INIT;
	long long began = now_us();

	answer->extra = headers;
	req.store = store_of_thread(api);
	if (request_serve(&req, &res, &err) < 0)
		respond_error(&res, &err);
	request_note(&req, answer, now_us() - began, &err);
	json_decref(req.body);
}

static void handle(void *data, const struct http_request *http, struct http_answer *answer)
{
	struct api *api = data;
	struct response res = {answer};
	struct err err = ERR_INIT;
	const struct route *route;

	answer->extra = headers;
	if (httpd_observe(http, database_ready, api, answer))
		return;
	route = route_find(routes, routes_count, http->method, http->path, NULL);
	if (!route || route->kind != JSON_ASIDE) {
		request_answer(api, http, answer);
	} else if (!aside_take(api->aside, http)) {
		err_set(&err, ERR_UNAVAILABLE, "too many requests of this kind are waiting: try again");
		respond_error(&res, &err);
	}
}

/* Whether whoever sends a large body may send it at all: nobody fills the memory without a token. */
static bool large_body_allowed(struct api *api, const struct http_request *http, const struct route *route)
{
	struct request req = {.http = http, .store = store_of_thread(api), .route = route};
	struct err err = ERR_INIT;

	route_find(routes, routes_count, http->method, http->path, &req.match);
	if (request_authenticate(&req, &err) < 0)
		return false;
	return route->permission != CAN_WORK_ON_JOB || job_token_valid(req.store, param(&req, "job"), req.bearer);
}

static size_t body_limit(void *data, const struct http_request *http, long long announced)
{
	struct api *api = data;
	const struct route *route = route_find(routes, routes_count, http->method, http->path, NULL);

	if (!route ||
		(route->permission == CAN_WITH_SIGNATURE && !signed_valid(api->settings.store.keyring, http->path)))
		return 0;
	if (route->limit <= BODY_SMALL || (announced >= 0 && announced <= BODY_SMALL))
		return route->limit;
	return large_body_allowed(api, http, route) ? route->limit : 0;
}

/* ---- the service ---- */

static char *public_url_make(const struct api_settings *settings, int port)
{
	const char *host_end = strrchr(settings->address, ':');
	char *url;

	if (!*text_or_empty(settings->store.public_url))
		return mem_printf("http://%.*s:%d", (int)(host_end - settings->address), settings->address, port);
	url = mem_text(settings->store.public_url);
	for (size_t len = strlen(url); len && url[len - 1] == '/'; len--)
		url[len - 1] = '\0';
	return url;
}

static void api_free(struct api *api)
{
	aside_stop(api->aside);
	aside_free(api->aside);
	pthread_key_delete(api->store);
	pthread_mutex_destroy(&api->starting);
	free(api->public_url);
	free(api);
}

int api_start(const struct api_settings *settings, struct api **ret_api, struct err *err)
{
	struct api *api = mem_new(1, sizeof(*api));
	struct httpd_spec spec = {
		.address = settings->address,
		.threads = settings->threads,
		.most_connections = MOST_CONNECTIONS,
		.data = api,
		.body_limit = body_limit,
		.handle = handle,
	};

	api->settings = *settings;
	pthread_mutex_init(&api->starting, NULL);
	if (pthread_key_create(&api->store, store_close) != 0) {
		pthread_mutex_destroy(&api->starting);
		free(api);
		return err_set(err, ERR_INTERNAL, "no more keys for thread data");
	}
	pthread_mutex_lock(&api->starting);
	if (aside_start(request_answer, api, &api->aside, err) == 0 && httpd_start(&spec, &api->httpd, err) == 0)
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
	aside_stop(api->aside);
	httpd_stop(api->httpd);
	api_free(api);
}
