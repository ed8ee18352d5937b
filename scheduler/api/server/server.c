/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/server/server.h"

#include <stdatomic.h>
#include <string.h>

#include "scheduler/api/internal/control.h"
#include "scheduler/api/runs/logs/log_sender.h"
#include "scheduler/api/server/answers.h"
#include "scheduler/api/server/authenticate.h"
#include "scheduler/api/server/executors.h"
#include "scheduler/api/server/thread_store.h"
#include "scheduler/api/tasks/callback_relay.h"
#include "scheduler/auth/buckets.h"
#include "scheduler/auth/helper/helper.h"
#include "scheduler/auth/openpgp/openpgp.h"
#include "scheduler/auth/saml/provider.h"
#include "scheduler/auth/signed.h"
#include "scheduler/db/schema.h"
#include "scheduler/store/content/objects.h"

/* SMALL_BODIES: bytes of memory for bodies of up to 64 KiB. Those are read before the token is checked. */
enum { MAX_OBSERVERS = 64, SMALL_BODIES = 256 << 20, HOOK_BODIES = 256 << 20 };

struct api {
	struct api_settings settings;
	struct httpd *httpd, *observer; /* observer: --metrics-listen, or NULL */
	struct thread_stores *stores;
	struct services services;
	struct executors *executors;
	char *public_url;
	atomic_bool retired;
};

/* ---- requests ---- */

/* Readiness depends on PostgreSQL alone, and on a schema that this program may serve on. If only the object store is
 * down, most requests still succeed. */
static bool database_ready(struct api *api, struct buf *why)
{
	struct store *store = thread_store(api->stores);
	struct objects *objects = api->services.objects;
	struct err err = ERR_INIT;
	bool ready = schema_check(store->db, &err) == 0;

	if (!ready)
		buf_printf(why, "%s\n", err.message);
	else if (objects && !objects_up(objects))
		buf_text(why, "the object store does not answer: what was moved there can't be read\n");
	return ready;
}

static bool is_ready(void *data, struct buf *why)
{
	struct api *api = data;

	if (!atomic_load(&api->retired))
		return database_ready(api, why);
	buf_text(why, "this scheduler stops (--stop-seconds)\n");
	return false;
}

static void observer_handle(void *data, const struct http_request *http, struct http_answer *answer)
{
	if (!httpd_observe(http, is_ready, data, answer))
		answer->status = 404;
}

/* If there is a listener for operators, the main listener does not serve /metrics. */
static bool request_observe(struct api *api, const struct http_request *http, struct http_answer *answer)
{
	return !(api->observer && text_equal(http->path, "/metrics")) && httpd_observe(http, is_ready, api, answer);
}

static void handle(void *data, const struct http_request *http, struct http_answer *answer)
{
	struct api *api = data;

	answer_reset(answer);
	if (!request_observe(api, http, answer))
		executors_run(api->executors, http, answer);
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
	struct request req = {.http = http, .store = thread_store(api->stores), .route = http->target};
	struct err err = ERR_INIT;
	bool allowed;

	switch (req.route->permission) {
	case CAN_WITH_SIGNATURE: /* body_limit checked it */
		return HTTP_BUDGET_LINKS;
	case CAN_DELIVER: /* the whole body is the proof */
		return HTTP_BUDGET_HOOKS;
	case CAN_WITHOUT_TOKEN: /* the signature in the body is the proof of SAML's messages */
		return req.route->limit == BODY_SAML ? HTTP_BUDGET_HOOKS : -1;
	case CAN_KEEP_LEASES: /* their bodies are small */
		return -1;
	case CAN_WORK_ON_JOB:
		bearer_read(&req);
		route_fits(req.route, http->path, &req.match);
		return bearer_is_of_job(&req) ? HTTP_BUDGET_JOBS : -1;
	default:
		bearer_read(&req);
		route_fits(req.route, http->path, &req.match);
		allowed = request_authenticate(&req, &err) == 0;
		actor_release(&req.actor);
		return allowed ? HTTP_BUDGET_CLIENTS : -1;
	}
}

/* People who do not read their answers must not keep jobs from their inputs. */
static enum http_budget answer_budget(const struct http_request *http)
{
	const struct route *route = http->target;

	return route && route->permission == CAN_WORK_ON_JOB ? HTTP_BUDGET_JOBS : HTTP_BUDGET_ANSWERS;
}

/* ---- start and stop ---- */

static char *public_url_make(const struct api_settings *settings, int port)
{
	const char *host_end = strrchr(settings->address, ':');
	char *url;

	if (!*text_or_empty(settings->store.settings->public_url))
		return mem_printf("%s://%.*s:%d", settings->tls ? "https" : "http", (int)(host_end - settings->address),
			settings->address, port);
	url = mem_text(settings->store.settings->public_url);
	for (size_t len = strlen(url); len && url[len - 1] == '/'; len--)
		url[len - 1] = '\0';
	return url;
}

static int observer_start(struct api *api, struct err *err)
{
	const struct httpd_spec spec = {.address = api->settings.metrics_address,
		.threads = 1,
		.max_connections = MAX_OBSERVERS,
		.data = api,
		.handle = observer_handle};

	if (!*spec.address || httpd_start(&spec, &api->observer, err) == 0)
		return 0;
	return err_context(err, "--metrics-listen");
}

static int httpd_run(struct api *api, struct err *err)
{
	const struct api_settings *settings = &api->settings;
	const struct httpd_spec spec = {
		.address = settings->address,
		.tls = settings->tls,
		.threads = settings->threads,
		.max_connections = settings->connections,
		.max_streams = settings->max_streams + MAX_LOGS_SENT,
		.max_per_client = settings->connections_per_address,
		.proxies = settings->proxies,
		.request_seconds = settings->request_seconds,
		.budgets = {[HTTP_BUDGET_SMALL] = SMALL_BODIES,
			[HTTP_BUDGET_CLIENTS] = settings->body_memory,
			[HTTP_BUDGET_LINKS] = settings->body_memory,
			[HTTP_BUDGET_HOOKS] = HOOK_BODIES,
			[HTTP_BUDGET_JOBS] = settings->body_memory,
			[HTTP_BUDGET_ANSWERS] = settings->body_memory},
		.data = api,
		.body_limit = body_limit,
		.body_admit = body_admit,
		.answer_budget = answer_budget,
		.refuse = answer_refused_by_server,
		.handle = handle,
	};

	return httpd_start(&spec, &api->httpd, err);
}

static void parts_stop(struct api *api)
{
	executors_stop(api->executors);
	log_sender_stop(api->services.logs);
	log_sender_stop(api->services.archives);
	control_stop(api->services.control);
	callback_relay_stop(api->services.relay);
}

static void api_free(struct api *api)
{
	parts_stop(api);
	httpd_stop(api->observer);
	executors_free(api->executors);
	helper_free(api->services.saml);
	helper_free(api->services.openpgp);
	log_sender_free(api->services.logs);
	log_sender_free(api->services.archives);
	control_free(api->services.control);
	callback_relay_free(api->services.relay);
	thread_stores_free(api->stores);
	buckets_free(api->services.buckets);
	free(api->public_url);
	free(api);
}

static int parts_start(struct api *api, struct err *err)
{
	struct services *services = &api->services;

	if (observer_start(api, err) < 0 || control_start(api->settings.database_url, &services->control, err) < 0 ||
		callback_relay_start(&services->relay, err) < 0 ||
		log_sender_start(api->stores, services->objects, &services->logs, err) < 0 ||
		log_sender_start(api->stores, services->objects, &services->archives, err) < 0 ||
		executors_start(api->stores, services, &api->executors, err) < 0)
		return -1;
	return httpd_run(api, err);
}

int api_start(const struct api_settings *settings, struct api **ret_api, struct err *err)
{
	struct thread_stores *stores = thread_stores_new(&settings->store, settings->database_url, err);
	struct api *api;
	int result;

	if (!stores)
		return -1;
	api = mem_new(1, sizeof(*api));
	*api = (struct api){.settings = *settings,
		.stores = stores,
		.services = {.buckets = buckets_new(settings->rate_limit),
			.waiters = settings->waiters,
			.events = settings->events,
			.vcs_events = settings->vcs_events,
			.publisher = settings->publisher,
			.objects = settings->objects}};
	answers_init(&api->settings.installation);
	api->services.saml = helper_new(&saml_helper);
	api->services.openpgp = helper_new(&openpgp_helper);
	result = parts_start(api, err);
	if (result == 0)
		api->public_url = public_url_make(settings, httpd_port(api->httpd));
	thread_stores_open(stores, api->public_url);
	if (result < 0)
		api_free(api);
	else
		*ret_api = api;
	return result;
}

int api_port(const struct api *api)
{
	return httpd_port(api->httpd);
}

const char *api_public_url(const struct api *api)
{
	return api->public_url;
}

void api_retire(struct api *api)
{
	atomic_store(&api->retired, true);
}

void api_stop(struct api *api)
{
	if (!api)
		return;
	parts_stop(api);
	httpd_stop(api->httpd);
	api_free(api);
}
