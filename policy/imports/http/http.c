/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>
#include <time.h>

#include "common/base.h"
#include "common/clock.h"
#include "policy/imports/arguments.h"
#include "policy/imports/http/answer.h"
#include "policy/imports/http/request.h"
#include "policy/imports/methods.h"
#include "policy/imports/standard.h"

/* Clients are maps of methods, whose data is the client. A method that sets something gives a new client. */

enum {
	MAX_TIMEOUT_SECONDS = 30,
	MAX_RETRIES = 10,
	MIN_STATUS = 100,
	MAX_STATUS = 599,
	TOO_MANY_REQUESTS = 429,
	SERVER_ERRORS = 500,
	NOT_IMPLEMENTED = 501,
	FIRST_PAUSE_MS = 100, /* before the first retry; doubled for each further one */
	MAX_PAUSE_MS = 2000,
};

struct client {
	int64_t timeout_seconds, retries;
	bool any_certificate;
	bool accepts[MAX_STATUS + 1]; /* by status */
};

static const struct client default_client = {.timeout_seconds = 10, .retries = 1, .accepts = {[200] = true}};

static void check_allowed(struct run *run)
{
	if (!run->http)
		run_fail(run,
			"http: requests are not allowed; a worker allows them by --policy-network 1 and "
			"--policy-http-hosts, and runyard-policy by -http-hosts");
}

/* ---- requests ---- */

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
	if (is_accepted(client, answer->status) || answer->status == NOT_IMPLEMENTED)
		return false;
	return answer->status == TOO_MANY_REQUESTS || answer->status >= SERVER_ERRORS;
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
	int shown = http_shown_len(request->url);
	struct value value;

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

static struct value call_request(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	check_allowed(run);
	arguments_check(run, "request", "s", args, count);
	return request_value(run, request_of_url(run, args[0]));
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

static struct value accepted_codes(struct run *run, const struct client *client)
{
	struct value codes = list_new(run, 1);

	run_step(run, MAX_STATUS - MIN_STATUS);
	for (int status = MIN_STATUS; status <= MAX_STATUS; status++)
		if (client->accepts[status])
			list_push(run, codes, value_int(status));
	return codes;
}

static struct value client_value(struct run *run, const struct client *client)
{
	struct value map = map_new(run, ARRAY_LEN(functions) + 3);

	methods_add(run, map, functions, ARRAY_LEN(functions) - 1, client);
	map_set_text(run, map, "timeout", value_int(client->timeout_seconds));
	map_set_text(run, map, "retries", value_int(client->retries));
	map_set_text(run, map, "certificate_verification", value_bool(!client->any_certificate));
	map_set_text(run, map, "accepted_status_codes", accepted_codes(run, client));
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
