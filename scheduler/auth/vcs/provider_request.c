/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/vcs/provider_request.h"

#include <stdio.h>
#include <string.h>

#include <curl/curl.h>
#include <openssl/crypto.h>

#include "common/err.h"
#include "common/http/easy.h"
#include "common/http/fetch.h"
#include "common/http/guard.h"
#include "scheduler/store/forwards/forwards.h"

enum { CONNECT_MS = 5000, TOTAL_MS = 10000, ANSWER_LIMIT = 1 << 20 };

#define USER_AGENT "Runyard"

struct sending {
	CURL *easy;
	struct curl_slist *headers;
	struct guarded guarded;
	struct buf json;  /* may have tokens, so it is cleansed */
	struct buf *body; /* `json`, or the caller's document */
	bool too_large;
	char error[CURL_ERROR_SIZE];
};

void provider_answer_release(struct provider_answer *answer)
{
	json_decref(answer->body);
	answer->body = NULL;
}

bool provider_answer_is_passing(const struct provider_answer *answer)
{
	return answer->status == 0 || answer->status == 429 || answer->status >= 500;
}

static size_t body_came(char *bytes, size_t size, size_t count, void *data)
{
	struct sending *sending = data;

	if (buf_append(sending->body, bytes, size * count) == 0)
		return size * count;
	sending->too_large = true;
	return 0;
}

static void sending_release(struct sending *sending)
{
	struct curl_slist *header;

	for (header = sending->headers; header; header = header->next)
		OPENSSL_cleanse(header->data, strlen(header->data));
	curl_slist_free_all(sending->headers);
	curl_easy_cleanup(sending->easy);
	if (sending->json.data)
		OPENSSL_cleanse(sending->json.data, sending->json.len);
	buf_release(&sending->json);
}

static void request_set(struct sending *sending, const struct provider_request *request)
{
	for (size_t i = 0; i < PROVIDER_HEADERS && request->headers[i]; i++)
		sending->headers = curl_slist_append(sending->headers, request->headers[i]);
	if (!request->document)
		sending->headers = curl_slist_append(sending->headers, "Accept: application/json");
	sending->headers = curl_slist_append(sending->headers, "Expect:");
	curl_easy_setopt(sending->easy, CURLOPT_URL, request->url);
	curl_easy_setopt(sending->easy, CURLOPT_HTTPHEADER, sending->headers);
	curl_easy_setopt(sending->easy, CURLOPT_USERAGENT, USER_AGENT);
	if (request->body)
		curl_easy_setopt(sending->easy, CURLOPT_POSTFIELDS, request->body);
	curl_easy_setopt(sending->easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static void bounds_set(struct sending *sending)
{
	/* Self-hosted providers often have certificates of a private CA. */
	if (fetch_trusted())
		curl_easy_setopt(sending->easy, CURLOPT_CAINFO, fetch_trusted());
	curl_easy_setopt(sending->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(sending->easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(sending->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(sending->easy, CURLOPT_TIMEOUT_MS, (long)TOTAL_MS);
	curl_easy_setopt(sending->easy, CURLOPT_WRITEFUNCTION, body_came);
	curl_easy_setopt(sending->easy, CURLOPT_WRITEDATA, sending);
	curl_easy_setopt(sending->easy, CURLOPT_ERRORBUFFER, sending->error);
}

static void body_parse(const struct sending *sending, struct provider_answer *answer)
{
	struct err ignored = ERR_INIT;

	answer->too_large = sending->too_large;
	if (sending->body != &sending->json || sending->too_large ||
		json_parse(buf_str(&sending->json), sending->json.len, &answer->body, &ignored) < 0)
		answer->body = NULL;
}

static void answer_fill(struct sending *sending, CURLcode code, struct provider_answer *answer)
{
	curl_off_t retry_after = 0;
	long status = 0;

	curl_easy_getinfo(sending->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(sending->easy, CURLINFO_RETRY_AFTER, &retry_after);
	if (*sending->guarded.why) {
		text_copy(answer->why, sizeof(answer->why), sending->guarded.why);
		return;
	}
	if (code != CURLE_OK && !sending->too_large) {
		text_copy(
			answer->why, sizeof(answer->why), *sending->error ? sending->error : curl_easy_strerror(code));
		return;
	}
	snprintf(answer->why, sizeof(answer->why), "it answered %ld", status);
	answer->status = (int)status;
	answer->retry_after = (int)retry_after;
	body_parse(sending, answer);
}

/* ---- by a worker ---- */

static json_t *forwarded_request(const struct provider_request *request)
{
	json_t *headers = json_array();

	for (size_t i = 0; i < PROVIDER_HEADERS && request->headers[i]; i++)
		json_array_append_new(headers, json_string(request->headers[i]));
	json_array_append_new(headers, json_string("Accept: application/json"));
	json_array_append_new(headers, json_string("User-Agent: " USER_AGENT));
	return json_pack("{ss ss so so si si si}", "method", request->method, "url", request->url, "headers", headers,
		"body", json_string_or_null(request->body), "connect-ms", CONNECT_MS, "response-ms",
		TOTAL_MS - CONNECT_MS, "answer-limit", ANSWER_LIMIT);
}

static void forwarded_parse(const json_t *answer, struct provider_answer *ret_answer)
{
	_cleanup_(buf_release) struct buf body = BUF_INIT(ANSWER_LIMIT);
	struct err ignored = ERR_INIT;

	ret_answer->status = (int)json_int_at(answer, "status", 0);
	ret_answer->too_large = json_bool_at(answer, "too-large", false);
	if (!ret_answer->status) {
		text_copy(ret_answer->why, sizeof(ret_answer->why), text_or_empty(json_string_at(answer, "error")));
		return;
	}
	snprintf(ret_answer->why, sizeof(ret_answer->why), "it answered %d", ret_answer->status);
	ret_answer->retry_after = (int)json_int_at(answer, "retry-after", 0);
	if (ret_answer->too_large || crypto_base64_decode(text_or_empty(json_string_at(answer, "body")), &body) < 0 ||
		json_parse(buf_str(&body), body.len, &ret_answer->body, &ignored) < 0)
		ret_answer->body = NULL;
	if (body.data)
		OPENSSL_cleanse(body.data, body.len);
}

static void send_by_worker(const struct provider_request *request, struct provider_answer *ret_answer)
{
	json_auto_t *forwarded = forwarded_request(request), *answer = NULL;
	struct id id = id_new("fwd");
	const struct forward forward = {.id = id.text, .pool_id = request->pool_id, .request = forwarded};
	struct err err = ERR_INIT;

	if (forward_send(request->store, &forward, &answer, &err) < 0)
		text_copy(ret_answer->why, sizeof(ret_answer->why), err.message);
	else
		forwarded_parse(answer, ret_answer);
}

void provider_request_send(
	const struct guard *guard, const struct provider_request *request, struct provider_answer *ret_answer)
{
	_cleanup_(sending_release) struct sending sending = {
		.easy = easy_new(), .guarded = {.guard = guard}, .json = BUF_INIT(ANSWER_LIMIT)};
	struct err refused = ERR_INIT;

	sending.body = request->document ? request->document : &sending.json;
	*ret_answer = (struct provider_answer){.status = 0};
	if (request->pool_id) {
		send_by_worker(request, ret_answer);
		return;
	}
	request_set(&sending, request);
	bounds_set(&sending);
	if (guard_curl(sending.easy, request->url, &sending.guarded, &refused) < 0)
		text_copy(ret_answer->why, sizeof(ret_answer->why), refused.message);
	else
		answer_fill(&sending, curl_easy_perform(sending.easy), ret_answer);
}
