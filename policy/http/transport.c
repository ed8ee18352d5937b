/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/http/transport.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/http/easy.h"
#include "common/http/guard.h"
#include "policy/http/late_curl.h"

enum { MAX_REDIRECTS = 10 };

struct curl_transport {
	struct http_transport transport; /* first */
	struct guard *guard;
};

/* One request with its redirects. */
struct exchange {
	const struct http_request *request;
	struct http_answer *answer;
	int64_t end_ms;     /* clock_mono_ms */
	const char *method; /* a redirect may change it to GET, without a body */
	struct bytes body;
	bool elsewhere;   /* a redirect led to another origin */
	bool too_large;   /* the answer exceeded a limit */
	const char *from; /* the origin of a redirect's URL, for messages; or NULL */
	struct guarded guarded;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
};

/* ---- the answer ---- */

static size_t body_came(char *bytes, size_t size, size_t count, void *data)
{
	struct exchange *exchange = data;

	exchange->too_large = buf_append(&exchange->answer->body, bytes, size * count) < 0;
	return exchange->too_large ? 0 : size * count;
}

/* Keeps the lines of the last answer: an interim one, or a redirect, may be before it. */
static size_t header_came(char *line, size_t size, size_t count, void *data)
{
	struct exchange *exchange = data;
	struct buf *headers = &exchange->answer->headers;
	size_t len = size * count;

	if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {
		buf_reset(headers);
		return len;
	}
	while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == '\n'))
		len--;
	exchange->too_large = len > 0 && (buf_append(headers, line, len) < 0 || buf_text(headers, "\n") < 0);
	return exchange->too_large ? 0 : size * count;
}

/* ---- options of a request ---- */

static void add_line(struct exchange *exchange, const char *line)
{
	exchange->headers = mem_check(curl_slist_append(exchange->headers, line));
}

/* In libcurl's form, a header with an empty value ends with a semicolon. */
static void add_header(struct exchange *exchange, const char *name, const char *value)
{
	_cleanup_(freep) char *line = *value ? mem_printf("%s: %s", name, value) : mem_printf("%s;", name);

	add_line(exchange, line);
}

static void set_headers(struct exchange *exchange, CURL *easy)
{
	const struct http_request *request = exchange->request;
	bool typed = false;

	for (size_t i = 0; !exchange->elsewhere && i < request->header_count; i++) {
		add_header(exchange, request->headers[i].name, request->headers[i].value);
		typed |= strcasecmp(request->headers[i].name, "Content-Type") == 0;
	}
	/* A line without a value: libcurl does not send its own header of that name. */
	if (!typed)
		add_line(exchange, "Content-Type:");
	add_line(exchange, "Expect:");
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
}

static void set_body(const struct exchange *exchange, CURL *easy)
{
	if (exchange->body.data || strcmp(exchange->method, "POST") == 0) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->body.len);
		curl_easy_setopt(
			easy, CURLOPT_POSTFIELDS, exchange->body.data ? (const char *)exchange->body.data : "");
	}
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, exchange->method);
}

static void set_tls(const struct exchange *exchange, CURL *easy)
{
	const char *trusted = text_or_null(getenv("SSL_CERT_FILE"));

	if (trusted)
		curl_easy_setopt(easy, CURLOPT_CAINFO, trusted);
	if (exchange->request->any_certificate) {
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

static void set_options(struct exchange *exchange, CURL *easy, const char *url, int64_t left_ms)
{
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "runyard-policy");
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)left_ms);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->error);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_came);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_came);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
	set_body(exchange, easy);
	set_headers(exchange, easy);
	set_tls(exchange, easy);
}

/* ---- outcomes ---- */

static void fail(struct exchange *exchange, const char *why)
{
	struct http_answer *answer = exchange->answer;
	_cleanup_(freep) char *text = NULL;

	if (exchange->from)
		text = mem_printf("redirected to %.*s: %s", http_shown_len(exchange->from), exchange->from, why);
	text_copy(answer->error, sizeof(answer->error), text ? text : why);
	answer->status = 0;
}

static bool is_transient(CURLcode code)
{
	static const CURLcode codes[] = {CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT,
		CURLE_SSL_CONNECT_ERROR, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

static void fail_code(struct exchange *exchange, CURLcode code)
{
	if (exchange->too_large)
		fail(exchange, "the answer has more than 8 MiB, or its headers more than 64 KiB");
	else if (*exchange->guarded.why)
		fail(exchange, exchange->guarded.why);
	else if (code == CURLE_OPERATION_TIMEDOUT)
		fail(exchange, "there was no complete answer in time");
	else
		fail(exchange, *exchange->error ? exchange->error : curl_easy_strerror(code));
	exchange->answer->transient = !*exchange->guarded.why && is_transient(code);
}

/* ---- redirects ---- */

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static bool same_origin(const char *a, const char *b)
{
	size_t len = http_origin_len(a);

	return len == http_origin_len(b) && strncasecmp(a, b, len) == 0;
}

/* Only 307 and 308 keep the method and the body. */
static void follow(struct exchange *exchange, const char *from, const char *to)
{
	exchange->elsewhere |= !same_origin(from, to);
	if (exchange->answer->status == 307 || exchange->answer->status == 308)
		return;
	exchange->method = "GET";
	exchange->body = (struct bytes){NULL, 0};
}

/* The URL that the answer redirects to, owned; NULL if it is the final answer, or the redirect is refused. */
static char *redirect(struct exchange *exchange, CURL *easy, const char *from)
{
	char *to = NULL;

	if (!is_redirect(exchange->answer->status))
		return NULL;
	curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &to);
	if (!to)
		return NULL;
	if (http_url_has_user(to)) {
		fail(exchange, "redirected to a URL with a user name or a password");
		return NULL;
	}
	exchange->from = to;
	if (text_starts(from, "https:") && !text_starts(to, "https:")) {
		fail(exchange, "a redirect must not lead from https to http");
		return NULL;
	}
	follow(exchange, from, to);
	return mem_text(to);
}

/* ---- sending ---- */

/* The URL to go on with, owned; NULL if the answer, or its error, is there. */
static char *perform(struct exchange *exchange, CURL *easy, const char *url)
{
	int64_t left_ms = exchange->end_ms - clock_mono_ms();
	struct err err = ERR_INIT;
	long status = 0;
	CURLcode code;

	buf_reset(&exchange->answer->body);
	if (guard_curl(easy, url, &exchange->guarded, &err) < 0) {
		fail(exchange, err.message);
		return NULL;
	}
	set_options(exchange, easy, url, left_ms > 0 ? left_ms : 1);
	code = curl_easy_perform(easy);
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK) {
		fail_code(exchange, code);
		return NULL;
	}
	exchange->answer->status = (int)status;
	return redirect(exchange, easy, url);
}

/* A handle for each request, so that no connection is used again. */
static char *hop(struct exchange *exchange, const char *url)
{
	CURL *easy = easy_new();
	char *next = perform(exchange, easy, url);

	curl_easy_cleanup(easy);
	curl_slist_free_all(exchange->headers);
	exchange->headers = NULL;
	return next;
}

static void send_all(struct exchange *exchange)
{
	char *url = mem_text(exchange->request->url);

	for (int redirects = 0; url; redirects++) {
		char *next = NULL;

		if (redirects > MAX_REDIRECTS)
			fail(exchange, "more than 10 redirects");
		else
			next = hop(exchange, url);
		free(url);
		url = next;
		exchange->from = url;
	}
}

static void transport_send(
	const struct http_transport *transport, const struct http_request *request, struct http_answer *answer)
{
	const struct curl_transport *own = (const struct curl_transport *)transport;
	struct exchange exchange = {
		.request = request,
		.answer = answer,
		.end_ms = clock_mono_ms() + request->timeout_ms,
		.method = request->method,
		.body = request->body,
		.guarded = {.guard = own->guard, .listed_only = true},
	};
	struct err err = ERR_INIT;

	answer->headers.limit = MAX_HTTP_HEADERS;
	answer->body.limit = MAX_HTTP_BODY;
	if (late_curl_load(&err) < 0)
		fail(&exchange, err.message);
	else
		send_all(&exchange);
}

int http_transport_new(const char *hosts, struct http_transport **ret_transport, struct err *err)
{
	struct curl_transport *own = mem_new(1, sizeof(*own));

	own->transport.send = transport_send;
	if (guard_parse(hosts, &own->guard, err) < 0) {
		free(own);
		return -1;
	}
	*ret_transport = &own->transport;
	return 0;
}

void http_transport_free(struct http_transport *transport)
{
	struct curl_transport *own = (struct curl_transport *)transport;

	if (!own)
		return;
	guard_free(own->guard);
	free(own);
}
