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

struct asking {
	struct loop *loop;
	struct fetch_answer answer; /* the last one */
	char error[300];
	char sent[BODY];
	bool same;
};

static void answered(void *data, struct fetch_answer *answer)
{
	struct asking *asking = data;

	asking->answer = *answer;
	text_copy(asking->error, sizeof(asking->error), answer->error);
	if (!answer->status)
		fprintf(stderr, "unanswered: %s\n", asking->error);
	asking->same = answer->body.len == BODY && memcmp(answer->body.data, asking->sent, BODY) == 0;
	loop_stop(asking->loop);
}

static void ask(struct asking *asking, struct fetcher *fetcher, const char *url)
{
	const struct fetch_request request = {.method = "PUT",
		.url = url,
		.bearer = "token",
		.content_type = "text/plain",
		.body = asking->sent,
		.body_len = BODY};

	fetch_start(fetcher, &request, answered, asking);
	loop_run(asking->loop);
	/* A failed allocation must not look like an answer of the server. */
	HOLDS(asking->answer.status == 0 || asking->answer.status == 200);
	HOLDS(asking->answer.status == 0 || asking->same);
	HOLDS(asking->answer.status != 0 || *asking->error || asking->answer.too_large);
}

static void play(bool tls)
{
	static struct asking asking;
	const struct httpd_spec spec = {.address = "127.0.0.1:0",
		.threads = 2,
		.max_connections = 100,
		.tls = tls,
		.body_limit = body_limit,
		.handle = handle};
	struct httpd *server = NULL;
	struct fetcher *fetcher;
	struct err err = ERR_INIT;

	memset(asking.sent, 'x', BODY);
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
	asking.loop = loop_new();
	fetcher = fetcher_new(asking.loop);
	for (int i = 0; i < REQUESTS; i++)
		ask(&asking, fetcher, url);
	alloc_over();
	ask(&asking, fetcher, url);
	HOLDS(asking.answer.status == 200);
	fetcher_free(fetcher);
	loop_free(asking.loop);
	httpd_stop(server);
	certificate_release();
}

static void plain(void)
{
	play(false);
}

static void by_tls(void)
{
	play(true);
}

const struct alloc_case alloc_cases[] = {
	{.name = "server", .libraries = "libmicrohttpd", .play = plain},
	{.name = "client", .libraries = "libcurl", .play = plain, .none = true},
	{.name = "server-tls", .libraries = "libmicrohttpd libgnutls", .play = by_tls},
	{.name = "client-tls", .libraries = "libcurl libssl libcrypto", .play = by_tls, .none = true},
	{0},
};
