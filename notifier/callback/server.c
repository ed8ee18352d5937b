/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/callback/server.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/http/httpd.h"
#include "common/ids.h"
#include "common/loop/inbox.h"
#include "common/process.h"
#include "notifier/callback/callbacks.h"
#include "notifier/callback/report.h"
#include "notifier/delivery/dispatch.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"

enum {
	THREADS = 2,
	MAX_BODY = 32 << 20,
	MAX_BODIES = 256 << 20, /* one budget for small bodies, one for large bodies */
	CONNECTION_MEMORY = 16 << 10,
	SPARE_CONNECTIONS = 1000,
	MAX_OBSERVERS = 64,
	TOKEN_SIZE = 256,
};

struct server {
	struct notifier *notifier;
	struct inbox *inbox;
	struct httpd *httpd, *observer; /* observer: --metrics-listen, or NULL */
	char *prefix;                   /* the path of the public URL; a reverse proxy may keep or strip it */
};

/* ---- the callback ---- */

/* Some services end the path with a slash. */
static const char *after_slash(const char *path)
{
	return *path == '/' ? path + 1 : path;
}

/* The id in ".../api/v2/task-results/<id>/callback", or -1 if it is another path. */
static int path_id(const struct server *server, const char *path, char ret_id[ID_SIZE])
{
	static const char before[] = "/api/v2/task-results/", after[] = "/callback";
	size_t len;

	if (*server->prefix && text_starts(path, server->prefix))
		path += strlen(server->prefix);
	if (!text_starts(path, before))
		return -1;
	path += strlen(before);
	len = strcspn(path, "/");
	if (!text_starts(path + len, after) || !text_equal(after_slash(path + len + strlen(after)), ""))
		return -1;
	text_copy(ret_id, len < ID_SIZE ? len + 1 : ID_SIZE, path);
	return 0;
}

static const char *bearer(const struct http_request *request)
{
	const char *header = http_header(request, "Authorization");

	if (!header || strncasecmp(header, "Bearer ", 7) != 0)
		return NULL;
	header += 7 + strspn(header + 7, " ");
	return *header && strlen(header) < TOKEN_SIZE ? header : NULL;
}

static int body_check(const struct http_request *request, struct err *err)
{
	switch (request->body_refused) {
	case HTTP_BODY_TAKEN:
		return 0;
	case HTTP_BODY_TOO_LARGE:
		return err_set(err, ERR_TOO_LARGE, "The body is too large: the most is %d bytes.", MAX_BODY);
	default:
		return err_set(err, ERR_UNAVAILABLE, "Too many results are being received. Send it again.");
	}
}

/* NULL with *err if the request is not a valid callback. */
static struct visit *callback_read(const struct http_request *request, const char *id, struct err *err)
{
	const char *token = bearer(request);
	json_t *report = NULL;

	if (!text_equal(request->method, "PATCH"))
		err_set(err, ERR_NOT_FOUND, "A callback is sent with PATCH.");
	else if (!token)
		err_set(err, ERR_UNAUTHORIZED, "The request's access_token is needed as a bearer token.");
	else if (!id_valid(id, "taskrs"))
		err_set(err, ERR_NOT_FOUND, "There is no such task result.");
	else if (body_check(request, err) == 0 &&
		report_parse(buf_str(&request->body), request->body.len, &report, err) == 0)
		return callback_new(id, token, report);
	return NULL;
}

static void closed(struct http_pending *http)
{
	struct http_answer answer = {.status = 503};
	struct err err = ERR_INIT;

	err_set(&err, ERR_UNAVAILABLE, "This notifier stops. Send it again.");
	answer_error(&answer, &err);
	http_answer_now(http, &answer);
}

static void callback_handle(
	struct server *server, const struct http_request *request, const char *id, struct http_answer *answer)
{
	struct err err = ERR_INIT;
	struct visit *visit = callback_read(request, id, &err);

	if (!visit) {
		answer_error(answer, &err);
		metric_addf(M_CALLBACKS, 1, "status=\"%d\"", answer->status);
		return;
	}
	visit->http = http_later(request);
	if (inbox_put(server->inbox, visit))
		return;
	closed(visit->http);
	callback_free(visit);
}

/* ---- circuits ---- */

static void circuits_come(void *data, struct visit *visit)
{
	struct notifier *notifier = data;
	struct http_answer answer = {.status = 200};

	answer_json(&answer, 200, dispatch_circuits(notifier->dispatch));
	http_answer_now(visit->http, &answer);
	free(visit);
}

static void circuits_handle(struct server *server, const struct http_request *request)
{
	struct visit *visit = mem_new(1, sizeof(*visit));

	visit->come = circuits_come;
	visit->http = http_later(request);
	if (inbox_put(server->inbox, visit))
		return;
	closed(visit->http);
	free(visit);
}

/* ---- requests ---- */

/* Large bodies need a bearer token of plausible form. The scheduler checks the token itself. */
static size_t body_limit(void *data, struct http_request *request)
{
	char id[ID_SIZE];

	if (!text_equal(request->method, "PATCH") || path_id(data, request->path, id) < 0)
		return 0;
	return bearer(request) && id_valid(id, "taskrs") ? MAX_BODY : 0;
}

static bool ready(void *data, struct buf *why)
{
	const struct notifier *notifier = data;

	if (atomic_load(&notifier->scheduler.answers) && !atomic_load(&notifier->draining))
		return true;
	buf_text(why, "the scheduler does not answer, or the notifier is about to end\n");
	return false;
}

static void nothing_here(struct http_answer *answer)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_NOT_FOUND, "There is nothing here.");
	answer_error(answer, &err);
}

static void observer_handle(void *data, const struct http_request *request, struct http_answer *answer)
{
	struct server *server = data;

	if (text_equal(request->path, "/circuits"))
		circuits_handle(server, request);
	else if (!httpd_observe(request, ready, server->notifier, answer))
		nothing_here(answer);
}

/* If there is a listener for operators, the listener for callbacks serves neither of these pages. */
static bool hidden(const struct server *server, const char *path)
{
	return server->observer && (text_equal(path, "/metrics") || text_equal(path, "/circuits"));
}

static void handle(void *data, const struct http_request *request, struct http_answer *answer)
{
	struct server *server = data;
	char id[ID_SIZE];

	if (path_id(server, request->path, id) == 0)
		callback_handle(server, request, id, answer);
	else if (hidden(server, request->path))
		nothing_here(answer);
	else
		observer_handle(server, request, answer);
}

/* ---- start and stop ---- */

static char *url_path(const char *url)
{
	const char *scheme = strstr(url, "://");

	return mem_text(scheme ? strchrnul(scheme + 3, '/') : "");
}

static bool names_no_host(const char *listen)
{
	return text_starts(listen, "0.0.0.0:");
}

static void settle_internal_url(const struct server *server)
{
	struct notifier *notifier = server->notifier;
	const char *listen = notifier->options.listen, *given = notifier->options.internal_url;
	int host = (int)(strrchr(listen, ':') - listen);

	notifier->internal_url = *given ? mem_text(given)
					: mem_printf("http://%.*s:%d", names_no_host(listen) ? 1 : host,
						  names_no_host(listen) ? "*" : listen, httpd_port(server->httpd));
}

static void settle_public_url(const struct server *server)
{
	struct notifier *notifier = server->notifier;
	const char *listen = notifier->options.listen, *given = notifier->options.public_url;

	if (*given)
		notifier->public_url = mem_text(given);
	else
		notifier->public_url = mem_printf(
			"http://%.*s:%d", (int)(strrchr(listen, ':') - listen), listen, httpd_port(server->httpd));
}

static int observer_start(struct server *server, struct err *err)
{
	const struct httpd_spec spec = {.address = server->notifier->options.metrics_listen,
		.threads = 1,
		.max_connections = MAX_OBSERVERS,
		.data = server,
		.handle = observer_handle};

	if (!*spec.address || httpd_start(&spec, &server->observer, err) == 0)
		return 0;
	return err_context(err, "--metrics-listen");
}

int server_start(struct notifier *notifier, struct server **ret_server, struct err *err)
{
	struct server *server = mem_new(1, sizeof(*server));
	const struct httpd_spec spec = {
		.address = notifier->options.listen,
		.threads = THREADS,
		.max_connections = (int)notifier->options.max_in_flight * 2 + SPARE_CONNECTIONS,
		.max_per_client = (int)notifier->options.connections_per_address,
		.proxies = notifier->proxies,
		.budgets = {[HTTP_BUDGET_SMALL] = MAX_BODIES, [HTTP_BUDGET_CLIENTS] = MAX_BODIES},
		.connection_memory = CONNECTION_MEMORY,
		.data = server,
		.body_limit = body_limit,
		.handle = handle,
	};

	*ret_server = server;
	server->notifier = notifier;
	server->prefix = url_path(notifier->options.public_url);
	server->inbox = inbox_new(notifier->loop, notifier);
	if (observer_start(server, err) < 0)
		return -1;
	if (httpd_start(&spec, &server->httpd, err) < 0)
		return err_context(err, "--listen");
	settle_public_url(server);
	settle_internal_url(server);
	return port_file_write(notifier->options.port_file, httpd_port(server->httpd), err);
}

void server_stop(struct server *server)
{
	if (!server)
		return;
	inbox_close(server->inbox);
	callbacks_close(server->notifier->callbacks);
	httpd_stop(server->httpd);
	httpd_stop(server->observer);
	inbox_free(server->inbox);
	free(server->prefix);
	free(server);
}
