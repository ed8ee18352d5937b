/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/http/request.h"

#include <string.h>
#include <strings.h>

#include "common/crypto.h"
#include "policy/imports/arguments.h"
#include "policy/imports/methods.h"

const char method_get[] = "GET", method_post[] = "POST";

/* A text without zero bytes and line ends. */
static const char *argument_line(struct run *run, const char *function, struct value text)
{
	run_step_bytes(run, string_len(text));
	for (size_t i = 0; i < string_len(text); i++) {
		char c = string_bytes(text)[i];

		if (c == '\0' || c == '\r' || c == '\n')
			run_fail(run, "%s: an argument has a line end or a zero byte", function);
	}
	return run_copy(run, string_bytes(text), string_len(text));
}

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

static const struct native methods[] = {
	{"with_header", 2, 2, false, call_with_header},
	{"with_basic_auth", 2, 2, false, call_with_basic_auth},
	{"with_body", 1, 1, false, call_with_body},
	{"with_method", 1, 1, false, call_with_method},
};

static struct value headers_value(struct run *run, const struct request *request)
{
	struct value headers = map_new(run, request->header_count);

	for (size_t i = 0; i < request->header_count; i++)
		map_set_text(run, headers, request->headers[i].name, string_text(run, request->headers[i].value));
	return headers;
}

/* URL, headers and body may hold secrets, so prints and traces show the methods alone. */
struct value request_value(struct run *run, const struct request *request)
{
	struct value map = map_new(run, ARRAY_LEN(methods)), hidden = map_new(run, 3);

	methods_add(run, map, methods, ARRAY_LEN(methods), request);
	map_set_text(run, hidden, "url", string_text(run, request->url));
	map_set_text(run, hidden, "headers", headers_value(run, request));
	map_set_text(run, hidden, "body", string_borrow(run, request->body.data, request->body.len));
	map_hide(map, hidden);
	return map;
}

const struct request *request_of_url(struct run *run, struct value text)
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
const struct request *request_argument(struct run *run, const char *function, const struct value *args)
{
	struct value method;

	if (value_is(args[0], VALUE_STRING))
		return request_of_url(run, args[0]);
	if (!value_is(args[0], VALUE_MAP) || !map_get_text(run, args[0], methods[0].name, &method) ||
		!value_is(method, VALUE_FUNCTION) || method.function->native != &methods[0])
		argument_refuse(run, function, "a URL or a request", args, 0);
	return method.function->data;
}
