/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/tasks/test_request.h"

#include <stdio.h>
#include <string.h>

#include <curl/curl.h>

#include "common/err.h"
#include "common/http/answer.h"
#include "common/http/easy.h"
#include "common/http/guard.h"

enum { CONNECT_MS = 5000, TOTAL_MS = 10000, ANSWER_LIMIT = 64 << 10, MAX_URL = 500 };

struct sending {
	CURL *easy;
	struct curl_slist *headers;
	struct guarded guarded;
	struct test_request_answer *answer;
	size_t received;
	char error[CURL_ERROR_SIZE];
};

void test_request_answer_release(struct test_request_answer *answer)
{
	buf_release(&answer->body);
	json_decref(answer->headers);
}

static size_t answer_came(char *bytes, size_t size, size_t count, void *data)
{
	struct sending *sending = data;
	size_t len = size * count, room = ANSWER_COLLECTED - sending->answer->body.len;

	buf_append(&sending->answer->body, bytes, len < room ? len : room);
	sending->received += len;
	return sending->received > ANSWER_LIMIT ? 0 : len;
}

static size_t header_came(char *bytes, size_t size, size_t count, void *data)
{
	struct sending *sending = data;

	sending->received += size * count;
	answer_header_add(sending->answer->headers, bytes, size * count);
	return sending->received > ANSWER_LIMIT ? 0 : size * count;
}

static void sending_release(struct sending *sending)
{
	curl_slist_free_all(sending->headers);
	curl_easy_cleanup(sending->easy);
}

static void request_set(struct sending *sending, const struct test_request *test_request)
{
	/* libcurl sends a header without a value if its name ends with a semicolon. */
	_cleanup_(freep) char *signature = mem_printf("%s%s%s", test_request->signature,
		*test_request->signature_value ? ": " : ";", test_request->signature_value);

	sending->headers = curl_slist_append(sending->headers, signature);
	sending->headers = curl_slist_append(sending->headers, "Content-Type: application/json");
	sending->headers = curl_slist_append(sending->headers, "Accept: application/json");
	sending->headers = curl_slist_append(sending->headers, "Expect:");
	curl_easy_setopt(sending->easy, CURLOPT_URL, test_request->url);
	curl_easy_setopt(sending->easy, CURLOPT_HTTPHEADER, sending->headers);
	curl_easy_setopt(sending->easy, CURLOPT_USERAGENT, test_request->user_agent);
	curl_easy_setopt(sending->easy, CURLOPT_POSTFIELDS, test_request->body);
}

static void bounds_set(struct sending *sending)
{
	curl_easy_setopt(sending->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(sending->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(sending->easy, CURLOPT_TIMEOUT_MS, (long)TOTAL_MS);
	curl_easy_setopt(sending->easy, CURLOPT_WRITEFUNCTION, answer_came);
	curl_easy_setopt(sending->easy, CURLOPT_WRITEDATA, sending);
	curl_easy_setopt(sending->easy, CURLOPT_HEADERFUNCTION, header_came);
	curl_easy_setopt(sending->easy, CURLOPT_HEADERDATA, sending);
	curl_easy_setopt(sending->easy, CURLOPT_ERRORBUFFER, sending->error);
}

/* Only the status counts: an answer whose body is too long or too slow still has one. */
static void answer_judge(struct sending *sending, CURLcode code)
{
	struct test_request_answer *answer = sending->answer;
	long status = 0;

	curl_easy_getinfo(sending->easy, CURLINFO_RESPONSE_CODE, &status);
	if (*sending->guarded.why)
		text_copy(answer->why, sizeof(answer->why), sending->guarded.why);
	else if (!status)
		text_copy(
			answer->why, sizeof(answer->why), *sending->error ? sending->error : curl_easy_strerror(code));
	else
		snprintf(answer->why, sizeof(answer->why), "it answered %ld", status);
	answer->status = *sending->guarded.why ? 0 : (int)status;
	if (!sending->guarded.listed)
		return;
	/* An address that only the allow-list permits is internal, so its answer is not shown. */
	buf_reset(&answer->body);
	json_object_clear(answer->headers);
}

void test_request_send(
	const struct guard *guard, const struct test_request *test_request, struct test_request_answer *ret_answer)
{
	_cleanup_(sending_release) struct sending sending = {
		.easy = easy_new(), .guarded = {.guard = guard}, .answer = ret_answer};
	struct err refused = ERR_INIT;

	*ret_answer = (struct test_request_answer){.body = BUF_INIT(ANSWER_COLLECTED), .headers = json_object()};
	request_set(&sending, test_request);
	bounds_set(&sending);
	if (guard_curl(sending.easy, test_request->url, &sending.guarded, &refused) < 0)
		text_copy(ret_answer->why, sizeof(ret_answer->why), refused.message);
	else
		answer_judge(&sending, curl_easy_perform(sending.easy));
}

int test_request_url_check(const char *url, struct err *err)
{
	static const char pointer[] = "/data/attributes/url";

	if (!url || !*url)
		return err_at(err, pointer, "URL can't be blank");
	if (strlen(url) > MAX_URL)
		return err_at(err, pointer, "URL is too long (maximum is %d characters)", MAX_URL);
	if ((!text_starts(url, "http://") && !text_starts(url, "https://")) || url[strcspn(url, " \t\r\n")])
		return err_at(err, pointer, "URL must be a valid http or https URL");
	return 0;
}
