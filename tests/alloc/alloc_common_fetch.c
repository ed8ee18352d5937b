/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The HTTP server and client of all processes, with failing allocations in one of their libraries; also by TLS, with
 * the files of ALLOC_CERTIFICATE, ALLOC_KEY and ALLOC_CA.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crypto.h"
#include "common/err.h"
#include "common/http/certificate.h"
#include "common/http/fetch.h"
#include "common/http/httpd.h"
#include "common/loop/loop.h"
#include "common/metrics.h"
#include "tests/alloc/alloc.h"

enum { BODY = 100 * 1000, REQUESTS = 3 };

static const char *const extra[][2] = {{"X-One", "1"}, {NULL, NULL}};

static size_t body_limit(void *data, struct http_request *request)
{
	(void)data, (void)request;
	return BODY;
}

/* Returns the body, and the header and the parameter that were received. */
static void handle(void *data, const struct http_request *request, struct http_answer *answer)
{
	const char *bearer = http_header(request, "Authorization");
	const char *query = http_query(request, "q");

	(void)data;
	answer->status = bearer && crypto_equal(bearer, "Bearer token") && query &&
			text_equal(request->method, "PUT") && request->body_refused == HTTP_BODY_TAKEN
		? 200
		: 400;
	answer->content_type = "text/plain";
	answer->extra = (const char *(*)[2])extra;
	http_add_header(answer, "X-Two", "2");
	buf_append(&answer->body, request->body.data, request->body.len);
}

struct client_state {
	struct loop *loop;
	struct fetch_answer answer; /* the last one */
	char error[300];
	char sent[BODY];
	bool same;
};

static void receive_answer(void *data, struct fetch_answer *answer)
{
	struct client_state *client_state = data;

	client_state->answer = *answer;
	text_copy(client_state->error, sizeof(client_state->error), answer->error);
	if (!answer->status)
		fprintf(stderr, "unanswered: %s\n", client_state->error);
	client_state->same = answer->body.len == BODY && memcmp(answer->body.data, client_state->sent, BODY) == 0;
	loop_stop(client_state->loop);
}

static void send_request(struct client_state *client_state, struct fetcher *fetcher, const char *url)
{
	const struct fetch_request request = {.method = "PUT",
		.url = url,
		.bearer = "token",
		.content_type = "text/plain",
		.body = client_state->sent,
		.body_len = BODY};

	fetch_start(fetcher, &request, receive_answer, client_state);
	loop_run(client_state->loop);
	/* A failed allocation must not look like an answer of the server. */
	HOLDS(client_state->answer.status == 0 || client_state->answer.status == 200);
	HOLDS(client_state->answer.status == 0 || client_state->same);
	HOLDS(client_state->answer.status != 0 || *client_state->error || client_state->answer.too_large);
}

static void exchange(bool tls)
{
	static struct client_state client_state;
	const struct httpd_spec spec = {.address = "127.0.0.1:0",
		.threads = 2,
		.max_connections = 100,
		.tls = tls,
		.body_limit = body_limit,
		.handle = handle};
	struct httpd *server = NULL;
	struct fetcher *fetcher;
	struct err err = ERR_INIT;

	memset(client_state.sent, 'x', BODY);
	if (tls &&
		(fetch_trust(getenv("ALLOC_CA"), &err) < 0 ||
			certificate_load(getenv("ALLOC_CERTIFICATE"), getenv("ALLOC_KEY"), &err) < 0)) {
		fprintf(stderr, "%s\n", err.message);
		HOLDS(*err.message && !strstr(err.message, "not that of"));
		return;
	}
	if (httpd_start(&spec, &server, &err) < 0) {
		HOLDS(err.kind == ERR_INTERNAL && *err.message);
		return;
	}
	_cleanup_(freep) char *url =
		mem_printf("%s://localhost:%d/path?q=a%%20b", tls ? "https" : "http", httpd_port(server));
	client_state.loop = loop_new();
	fetcher = fetcher_new(client_state.loop);
	for (int i = 0; i < REQUESTS; i++)
		send_request(&client_state, fetcher, url);
	alloc_faults_end();
	send_request(&client_state, fetcher, url);
	HOLDS(client_state.answer.status == 200);
	fetcher_free(fetcher);
	loop_free(client_state.loop);
	httpd_stop(server);
	certificate_release();
}

static void exchange_by_http(void)
{
	exchange(false);
}

static void exchange_by_tls(void)
{
	exchange(true);
}

const struct alloc_case alloc_cases[] = {
	{.name = "server", .libraries = "libmicrohttpd", .run = exchange_by_http},
	{.name = "client", .libraries = "libcurl", .run = exchange_by_http, .none = true},
	{.name = "server-tls", .libraries = "libmicrohttpd libgnutls", .run = exchange_by_tls},
	{.name = "client-tls", .libraries = "libcurl libssl libcrypto", .run = exchange_by_tls, .none = true},
	{0},
};
