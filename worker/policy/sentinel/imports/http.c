/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/base.h"
#include "common/clock.h"
#include "common/crypto.h"
#include "worker/policy/sentinel/core/transport.h"
#include "worker/policy/sentinel/imports/arguments.h"
#include "worker/policy/sentinel/imports/methods.h"
#include "worker/policy/sentinel/imports/standard.h"

/*
 * Clients and requests are maps of methods, whose data is what they stand for. A method that sets something gives a new
 * client or request. Neither map has headers, passwords or bodies, so prints and traces do not show them.
 */

enum {
	MAX_TIMEOUT_SECONDS = 30,
	MAX_RETRIES = 10,
	MIN_STATUS = 100,
	MAX_STATUS = 599,
	TOO_MANY_REQUESTS = 429,
	SERVER_ERRORS = 500,
	FIRST_PAUSE_MS = 100, /* before the first retry; doubled for each further one */
	MAX_PAUSE_MS = 2000,
};

struct client {
	int64_t timeout_seconds, retries;
	bool any_certificate;
	bool accepts[MAX_STATUS + 1]; /* by status */
};

struct request {
	const char *method; /* NULL: POST if there is a body, else GET */
	const char *url;
	const struct http_header *headers; /* names are unique */
	size_t header_count;
	struct bytes body; /* data NULL: none */
};

static const struct client default_client = {.timeout_seconds = 10, .accepts = {[200] = true}};

static const char method_get[] = "GET", method_post[] = "POST";

static void check_allowed(struct run *run)
{
	if (!run->http)
		run_fail(run,
			"http: requests are not allowed; a worker allows them by --policy-network 1 and "
			"--policy-http-hosts, and runyard-policy by -http-hosts");
}

/* A text without zero bytes and line ends. */
static const char *argument_line(struct run *run, const char *function, struct value text)
{
	run_step_bytes(run, string_len(text));
	for (size_t i = 0; i < string_len(text); i++)
		if (memchr("\0\r\n", string_bytes(text)[i], 3))
			run_fail(run, "%s: an argument has a line end or a zero byte", function);
	return run_copy(run, string_bytes(text), string_len(text));
}

/* ---- requests ---- */

static struct value request_value(struct run *run, const struct request *request);

static struct request *request_copy(struct run *run, const struct request *request)
{
	struct request *copy = run_alloc(run, 1, sizeof(*copy));

	*copy = *request;
	return copy;
}

static bool is_token(const char *text)
{
	static const char characters[] =
		"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return *text && text[strspn(text, characters)] == '\0';
}

/* Headers that say where a request goes or ends. */
static bool is_reserved(const char *name)
{
	static const char *const reserved[] = {"Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "TE",
		"Trailer", "Transfer-Encoding", "Upgrade"};

	for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
		if (strcasecmp(name, reserved[i]) == 0)
			return true;
	return strncasecmp(name, "Proxy-", strlen("Proxy-")) == 0;
}

/* The request with the header, which replaces one of its name. */
static struct value with_header(struct run *run, const struct request *request, struct http_header header)
{
	struct request *copy = request_copy(run, request);
	struct http_header *headers = run_alloc(run, request->header_count + 1, sizeof(*headers));
	size_t count = 0, len = 0;

	run_step(run, request->header_count);
	for (size_t i = 0; i < request->header_count; i++)
		if (strcasecmp(request->headers[i].name, header.name) != 0)
			headers[count++] = request->headers[i];
	headers[count++] = header;
	for (size_t i = 0; i < count; i++)
		len += strlen(headers[i].name) + strlen(headers[i].value) + strlen(": \r\n");
	if (len > MAX_HTTP_HEADERS)
		run_fail_limit(run, "a request's headers, 64 KiB,", NULL);
	copy->headers = headers;
	copy->header_count = count;
	return request_value(run, copy);
}

static struct value call_with_header(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct http_header header;

	arguments_check(run, "with_header", "ss", args, count);
	header = (struct http_header){
		argument_line(run, "with_header", args[0]), argument_line(run, "with_header", args[1])};
	if (!is_token(header.name))
		run_fail(run, "with_header: the first argument is no name of a header");
	if (is_reserved(header.name))
		run_fail(run, "with_header: the header %.32s can't be set", header.name);
	return with_header(run, data, header);
}

static struct value call_with_basic_auth(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value credentials;
	char *encoded;
	const char *value;

	arguments_check(run, "with_basic_auth", "ss", args, count);
	if (memchr(string_bytes(args[0]), ':', string_len(args[0])))
		run_fail(run, "with_basic_auth: the user name has a colon");
	if (string_len(args[0]) + string_len(args[1]) > MAX_HTTP_HEADERS)
		run_fail_limit(run, "a request's headers, 64 KiB,", NULL);
	credentials = string_concat(run, string_concat(run, args[0], string_text(run, ":")), args[1]);
	encoded = crypto_base64(string_bytes(credentials), string_len(credentials));
	run_on_release(run, free, encoded);
	value = run_text(run, "Basic %s", encoded);
	return with_header(run, data, (struct http_header){"Authorization", value});
}

static struct value call_with_body(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct request *copy = request_copy(run, data);

	arguments_check(run, "with_body", "s", args, count);
	if (string_len(args[0]) > MAX_HTTP_BODY)
		run_fail_limit(run, "a request's body, 8 MiB,", NULL);
	copy->body = (struct bytes){string_len(args[0]) > 0 ? string_bytes(args[0]) : "", string_len(args[0])};
	return request_value(run, copy);
}

static struct value call_with_method(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct request *copy = request_copy(run, data);

	arguments_check(run, "with_method", "s", args, count);
	if (string_equals(args[0], method_get))
		copy->method = method_get;
	else if (string_equals(args[0], method_post))
		copy->method = method_post;
	else
		run_fail(run, "with_method: the method must be GET or POST");
	return request_value(run, copy);
}

static const struct native request_methods[] = {
	{"with_header", 2, 2, false, call_with_header},
	{"with_basic_auth", 2, 2, false, call_with_basic_auth},
	{"with_body", 1, 1, false, call_with_body},
	{"with_method", 1, 1, false, call_with_method},
};

static struct value request_value(struct run *run, const struct request *request)
{
	struct value map = map_new(run, ARRAY_LEN(request_methods));

	methods_add(run, map, request_methods, ARRAY_LEN(request_methods), request);
	return map;
}

static const struct request *request_of_url(struct run *run, struct value text)
{
	struct request *request = run_alloc(run, 1, sizeof(*request));

	if (string_len(text) > MAX_HTTP_URL)
		run_fail_limit(run, "a URL's length, 8 KiB,", NULL);
	run_step_bytes(run, string_len(text));
	for (size_t i = 0; i < string_len(text); i++)
		if ((unsigned char)string_bytes(text)[i] <= ' ' || string_bytes(text)[i] == 0x7f)
			run_fail(run, "http: the URL has a space or a control character");
	request->url = run_copy(run, string_bytes(text), string_len(text));
	if (http_url_has_user(request->url))
		run_fail(run, "http: the URL has a user name or a password: use with_basic_auth");
	return request;
}

/* A URL, or what http.request gave: the data of its methods, which policies can't make themselves. */
static const struct request *request_argument(struct run *run, const char *function, const struct value *args)
{
	struct value method;

	if (value_is(args[0], VALUE_STRING))
		return request_of_url(run, args[0]);
	if (!value_is(args[0], VALUE_MAP) || !map_get_text(run, args[0], request_methods[0].name, &method) ||
		!value_is(method, VALUE_FUNCTION) || method.function->native != &request_methods[0])
		argument_refuse(run, function, "a URL or a request", args, 0);
	return method.function->data;
}

static struct value call_request(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	check_allowed(run);
	arguments_check(run, "request", "s", args, count);
	return request_value(run, request_of_url(run, args[0]));
}

/* ---- answers ---- */

/* Each word of the name begins with a capital letter: "content-TYPE" is Content-Type. */
static struct value header_name(struct run *run, const char *name, size_t len)
{
	char *canonical = run_copy(run, name, len);
	bool begins = true;

	for (size_t i = 0; i < len; i++) {
		char c = canonical[i];

		if (begins && c >= 'a' && c <= 'z')
			canonical[i] = (char)(c - 'a' + 'A');
		else if (!begins && c >= 'A' && c <= 'Z')
			canonical[i] = (char)(c - 'A' + 'a');
		begins = c == '-';
	}
	return string_borrow(run, canonical, len);
}

/* Values of one name are joined by ", ". */
static void add_header(struct run *run, struct value headers, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	struct value name, value, before;
	size_t begin;

	if (!colon || colon == line)
		return;
	name = header_name(run, line, (size_t)(colon - line));
	for (begin = (size_t)(colon - line) + 1; begin < len && (line[begin] == ' ' || line[begin] == '\t'); begin++)
		;
	value = string_new(run, line + begin, len - begin);
	if (map_get(run, headers, name, &before))
		value = string_concat(run, string_concat(run, before, string_text(run, ", ")), value);
	map_set(run, headers, name, value);
}

static struct value headers_value(struct run *run, const struct buf *lines)
{
	struct value headers = map_new(run, 16);
	const char *at = buf_str(lines), *end = at + lines->len;

	run_step_bytes(run, lines->len);
	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		run_step(run, 1);
		if (!line_end)
			line_end = end;
		add_header(run, headers, at, (size_t)(line_end - at));
		at = line_end + 1;
	}
	return headers;
}

static struct value answer_value(struct run *run, const struct http_answer *answer)
{
	struct value map = map_new(run, 4);

	run_step_bytes(run, answer->body.len);
	map_set_text(run, map, "status_code", value_int(answer->status));
	map_set_text(run, map, "headers", headers_value(run, &answer->headers));
	map_set_text(run, map, "body", string_new(run, buf_str(&answer->body), answer->body.len));
	return map;
}

/* ---- sending ---- */

static void release_answer(void *data)
{
	http_answer_release(data);
}

static bool is_accepted(const struct client *client, int status)
{
	return status >= MIN_STATUS && status <= MAX_STATUS && client->accepts[status];
}

static bool is_worth_retrying(const struct client *client, const struct http_answer *answer)
{
	if (answer->status == 0)
		return answer->transient;
	return !is_accepted(client, answer->status) &&
		(answer->status == TOO_MANY_REQUESTS || answer->status >= SERVER_ERRORS);
}

/* The milliseconds until the run's deadline, above 0, but at most `most`. Fails if it is over. */
static int64_t time_left(struct run *run, int64_t most)
{
	int64_t left = run->deadline_ms - clock_mono_ms();

	run_check(run);
	if (run->deadline_ms == 0 || left > most)
		return most;
	return left > 0 ? left : 1;
}

static void pause_before(struct run *run, int64_t retry)
{
	int64_t pause_ms = FIRST_PAUSE_MS << (retry - 1);
	struct timespec pause;

	pause_ms = time_left(run, pause_ms < MAX_PAUSE_MS ? pause_ms : MAX_PAUSE_MS);
	pause = (struct timespec){.tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000};
	nanosleep(&pause, NULL);
}

static void send_once(
	struct run *run, const struct client *client, struct http_request *request, struct http_answer *answer)
{
	request->timeout_ms = time_left(run, client->timeout_seconds * 1000);
	http_answer_release(answer);
	*answer = (struct http_answer){.status = 0};
	run->http->send(run->http, request, answer);
	run_check(run);
}

static struct value answer_take(
	struct run *run, const struct client *client, const struct http_request *request, struct http_answer *answer)
{
	int shown = (int)http_origin_len(request->url);
	struct value value;

	if (shown > 256)
		shown = 256;
	if (answer->status == 0)
		run_fail(run, "http: %s %.*s: %s", request->method, shown, request->url, answer->error);
	if (!is_accepted(client, answer->status))
		run_fail(run, "http: %s %.*s: the status is %d, which is not accepted", request->method, shown,
			request->url, answer->status);
	value = answer_value(run, answer);
	http_answer_release(answer);
	return value;
}

static struct value exchange(
	struct run *run, const struct client *client, const struct request *request, const char *method)
{
	struct http_answer *answer = run_alloc(run, 1, sizeof(*answer));
	struct http_request sent = {
		.method = method,
		.url = request->url,
		.headers = request->headers,
		.header_count = request->header_count,
		.body = request->body,
		.any_certificate = client->any_certificate,
	};

	run_on_release(run, release_answer, answer);
	send_once(run, client, &sent, answer);
	for (int64_t retry = 1; retry <= client->retries && is_worth_retrying(client, answer); retry++) {
		pause_before(run, retry);
		send_once(run, client, &sent, answer);
	}
	return answer_take(run, client, &sent, answer);
}

static struct value call_get(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	check_allowed(run);
	return exchange(run, data, request_argument(run, "get", args), method_get);
}

static struct value call_post(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	check_allowed(run);
	return exchange(run, data, request_argument(run, "post", args), method_post);
}

static struct value call_send(struct run *run, const struct value *args, size_t count, const void *data)
{
	const struct request *request;
	const char *method;

	(void)count;
	check_allowed(run);
	request = request_argument(run, "send", args);
	method = request->body.data ? method_post : method_get;
	return exchange(run, data, request, request->method ? request->method : method);
}

/* ---- clients ---- */

static struct value client_value(struct run *run, const struct client *client);

static struct client *client_copy(struct run *run, const struct client *client)
{
	struct client *copy = run_alloc(run, 1, sizeof(*copy));

	check_allowed(run);
	*copy = *client;
	return copy;
}

static int64_t whole_argument(struct run *run, const char *function, const struct value *args, int64_t min, int64_t max)
{
	arguments_check(run, function, "i", args, 1);
	if (args[0].number < min || args[0].number > max)
		run_fail(run, "%s: the argument must be between %lld and %lld", function, (long long)min,
			(long long)max);
	return args[0].number;
}

static struct value call_with_timeout(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct client *copy = client_copy(run, data);

	(void)count;
	copy->timeout_seconds = whole_argument(run, "with_timeout", args, 1, MAX_TIMEOUT_SECONDS);
	return client_value(run, copy);
}

static struct value call_with_retries(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct client *copy = client_copy(run, data);

	(void)count;
	copy->retries = whole_argument(run, "with_retries", args, 0, MAX_RETRIES);
	return client_value(run, copy);
}

static struct value call_accept_status_codes(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct client *copy = client_copy(run, data);
	struct iterator at;

	arguments_check(run, "accept_status_codes", "l", args, count);
	memset(copy->accepts, 0, sizeof(copy->accepts));
	at = value_iterate(run, args[0]);
	while (iterator_next(run, &at)) {
		run_step(run, 1);
		if (!value_is(at.element, VALUE_INT) || at.element.number < MIN_STATUS ||
			at.element.number > MAX_STATUS)
			run_fail(run, "accept_status_codes: the list must have ints between %d and %d", MIN_STATUS,
				MAX_STATUS);
		copy->accepts[at.element.number] = true;
	}
	return client_value(run, copy);
}

static struct value call_without_certificate_verification(
	struct run *run, const struct value *args, size_t count, const void *data)
{
	struct client *copy = client_copy(run, data);

	(void)args;
	(void)count;
	copy->any_certificate = true;
	return client_value(run, copy);
}

/* ---- the import ---- */

/* All but the last are methods of a client, too. */
static const struct native functions[] = {
	{"get", 1, 1, false, call_get},
	{"post", 1, 1, false, call_post},
	{"send", 1, 1, false, call_send},
	{"with_timeout", 1, 1, false, call_with_timeout},
	{"with_retries", 1, 1, false, call_with_retries},
	{"accept_status_codes", 1, 1, false, call_accept_status_codes},
	{"without_certificate_verification", 0, 0, false, call_without_certificate_verification},
	{"request", 1, 1, false, call_request},
};

static struct value client_value(struct run *run, const struct client *client)
{
	struct value map = map_new(run, ARRAY_LEN(functions));

	methods_add(run, map, functions, ARRAY_LEN(functions) - 1, client);
	return map;
}

static bool http_field(
	struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field)
{
	const struct value text = string_borrow(run, name, len);

	if (string_equals(text, "client"))
		*ret_field = client_value(run, import->data);
	else if (string_equals(text, "methodGet"))
		*ret_field = string_text(run, method_get);
	else if (string_equals(text, "methodPost"))
		*ret_field = string_text(run, method_post);
	else
		return false;
	return true;
}

const struct import import_http = {
	.name = "http",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
	.field = http_field,
	.data = &default_client,
};
