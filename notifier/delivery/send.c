/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/delivery/send.h"

#include <stdio.h>
#include <string.h>

#include <curl/curl.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/http/answer.h"
#include "common/http/easy.h"
#include "common/http/multi.h"
#include "common/http/fetch.h"
#include "common/http/guard.h"
#include "common/loop/loop.h"
#include "common/http/mail.h"

enum { ANSWER_BYTES = 64 << 10, CALL_BYTES = 2 << 20, HEADER_BYTES = 64 << 10, READ_BYTES = 4096 };

struct sender {
	struct sender_spec spec;
	char *user_agents[KINDS];
	struct multi multi;
	struct curl_slist *headers; /* common to all requests */
	struct sending *first;
};

struct sending {
	struct sender *sender;
	struct delivery *delivery;
	CURL *easy;
	struct guarded guarded;
	char error[CURL_ERROR_SIZE];
	char signature[SHA512_HEX_SIZE + 32];
	struct curl_slist header; /* the signature, linked to sender->headers */
	struct buf answer;        /* the first ANSWER_COLLECTED bytes; of a call, all */
	size_t max_answer;        /* bytes; a larger one is an error */
	struct curl_slist *call_headers;
	json_t *headers;            /* of the answer, if its kind reports them */
	struct mail_source message; /* a mail's */
	struct curl_slist *recipients;
	size_t answer_len, header_len;
	bool too_large, opening, keep;
	struct sending *next, **at;
};

bool sending_opens(const struct sending *sending)
{
	return sending->opening;
}

bool sending_keeps(const struct sending *sending)
{
	return sending->keep;
}

static void sending_free(struct sending *sending)
{
	*sending->at = sending->next;
	if (sending->next)
		sending->next->at = sending->at;
	curl_multi_remove_handle(sending->sender->multi.curl, sending->easy);
	curl_easy_cleanup(sending->easy);
	buf_release(&sending->answer);
	json_decref(sending->headers);
	free(sending->message.text);
	curl_slist_free_all(sending->recipients);
	curl_slist_free_all(sending->call_headers);
	sending->delivery->sending = NULL;
	free(sending);
}

/* ---- completion ---- */

static const char *why(const struct sending *sending, CURLcode code)
{
	if (sending->guarded.why[0])
		return sending->guarded.why;
	if (sending->too_large)
		return delivery_too_large(sending->delivery);
	return sending->error[0] ? sending->error : curl_easy_strerror(code);
}

/* ---- answers ---- */

/* A call's answer as JSON text; NULL unless it is a text without zero bytes. */
static json_t *answer_text(const struct buf *answer)
{
	if (!answer->len || memchr(answer->data, '\0', answer->len))
		return NULL;
	return json_stringn(answer->data, answer->len);
}

void delivery_ended(
	struct delivery *delivery, struct outcome outcome, const struct buf *bytes, const struct sender_events *events)
{
	const struct delivery_kind *kind = delivery->kind;
	/* An address that only the allow-list permits is internal. Its answers must not be shown to tenants. */
	bool shown = !outcome.internal;
	_cleanup_(freep) char *answer = NULL;
	json_auto_t *body = NULL;

	if (!outcome.status || (!shown && !kind->one_call))
		outcome.headers = NULL;
	/* If a mail was neither accepted nor refused, the server's last reply belongs to an earlier command. */
	if (kind->one_call)
		outcome.body = body = answer_text(bytes);
	else if (shown && bytes->len && (outcome.status || !delivery->mail))
		outcome.answer = answer = answer_clean(bytes->data, bytes->len, delivery->secret);
	events->ended(events->data, delivery, &outcome);
}

const char *delivery_too_large(const struct delivery *delivery)
{
	return delivery->kind->one_call ? "the answer is larger than 2 MiB" : "the answer is larger than 64 KiB";
}

size_t delivery_answer_limit(const struct delivery *delivery)
{
	return delivery->kind->one_call ? CALL_BYTES : ANSWER_BYTES;
}

static void sending_ended(struct sending *sending, CURLcode code)
{
	struct delivery *delivery = sending->delivery;
	struct outcome outcome = {.error = code ? why(sending, code) : NULL,
		.headers = sending->headers,
		.internal = sending->guarded.listed};
	curl_off_t retry_after = 0, took_us = 0;
	long status = 0;

	curl_easy_getinfo(sending->easy, CURLINFO_TOTAL_TIME_T, &took_us);
	curl_easy_getinfo(sending->easy, CURLINFO_RETRY_AFTER, &retry_after);
	curl_easy_getinfo(sending->easy, CURLINFO_RESPONSE_CODE, &status);
	/* The status counts if the answer is complete, was cut off here for its size, or is a mail server's refusal.
	 * It does not count if the connection broke off. */
	if (!code || (sending->too_large && !delivery->kind->one_call) || (delivery->mail && status >= 400))
		outcome.status = (int)status;
	outcome.seconds = (double)took_us / 1e6;
	outcome.retry_after = retry_after < INT32_MAX ? (int)retry_after : INT32_MAX;
	outcome.forbidden =
		sending->guarded.why[0] || code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL;
	delivery_ended(delivery, outcome, &sending->answer, &sending->sender->spec.events);
	sending_free(sending);
}

static void transfer_ended(void *transfer, CURLcode code)
{
	sending_ended(transfer, code);
}

struct sender *sender_new(const struct sender_spec *spec)
{
	struct sender *sender = mem_new(1, sizeof(*sender));

	sender->spec = *spec;
	for (int i = 0; i < KINDS; i++)
		if (delivery_kinds[i].agent)
			sender->user_agents[i] = mem_printf(
				"%s/1.0 (+%s; %s)", delivery_kinds[i].agent, spec->public_url, delivery_kinds[i].agent);
	multi_open(&sender->multi, spec->loop, transfer_ended);
	sender->headers = curl_slist_append(NULL, "Content-Type: application/json");
	curl_slist_append(sender->headers, "Accept: application/json");
	/* Without this, libcurl waits a second for a 100 that few servers send. */
	curl_slist_append(sender->headers, "Expect:");
	/* Above this number libcurl searches all connections for the oldest whenever a request is done. */
	curl_multi_setopt(sender->multi.curl, CURLMOPT_MAXCONNECTS, (long)spec->max);
	return sender;
}

void sender_free(struct sender *sender)
{
	if (!sender)
		return;
	while (sender->first)
		sending_free(sender->first);
	multi_close(&sender->multi);
	curl_slist_free_all(sender->headers);
	for (int i = 0; i < KINDS; i++)
		free(sender->user_agents[i]);
	free(sender);
}

/* ---- libcurl's callbacks ---- */

static size_t answer_came(char *bytes, size_t size, size_t count, void *data)
{
	struct sending *sending = data;
	size_t len = size * count, room = sending->answer.limit - sending->answer.len;

	buf_append(&sending->answer, bytes, len < room ? len : room);
	sending->answer_len += len;
	sending->too_large = sending->answer_len > sending->max_answer;
	return sending->too_large ? 0 : len;
}

static size_t header_came(char *bytes, size_t size, size_t count, void *data)
{
	struct sending *sending = data;

	if (sending->headers)
		answer_header_add(sending->headers, bytes, size * count);
	sending->header_len += size * count;
	return sending->header_len > HEADER_BYTES ? 0 : size * count;
}

static void goes_out(void *data)
{
	struct sending *sending = data;

	/* If a reused connection turns out to be closed, libcurl sends the request again over another one. */
	if (!sending->opening)
		return;
	sending->opening = false;
	sending->sender->spec.events.opened(sending->sender->spec.events.data, sending->delivery);
}

/* ---- requests ---- */

static void set_signed(struct sending *sending)
{
	struct delivery *delivery = sending->delivery;

	/* For a header without a value libcurl expects a semicolon. */
	snprintf(sending->signature, sizeof(sending->signature), "%s%s%s", delivery->kind->signature,
		*delivery->signature ? ": " : ";", delivery->signature);
	sending->header = (struct curl_slist){.data = sending->signature, .next = sending->sender->headers};
	curl_easy_setopt(sending->easy, CURLOPT_HTTPHEADER, &sending->header);
	curl_easy_setopt(sending->easy, CURLOPT_POST, 1L);
}

/* A request whose method and headers the scheduler chose, in addition to the usual ones. */
static void set_call(struct sending *sending)
{
	struct delivery *delivery = sending->delivery;
	struct curl_slist *headers = NULL;

	for (size_t i = 0; i < json_array_size(delivery->headers); i++)
		headers = curl_slist_append(headers, json_string_value(json_array_get(delivery->headers, i)));
	for (const struct curl_slist *usual = sending->sender->headers; usual; usual = usual->next)
		headers = curl_slist_append(headers, usual->data);
	sending->call_headers = headers;
	curl_easy_setopt(sending->easy, CURLOPT_HTTPHEADER, headers);
	if (delivery->body_len)
		curl_easy_setopt(sending->easy, CURLOPT_POST, 1L);
	curl_easy_setopt(sending->easy, CURLOPT_CUSTOMREQUEST, delivery->method);
}

static void set_request(struct sending *sending)
{
	struct sender *sender = sending->sender;
	struct delivery *delivery = sending->delivery;
	CURL *easy = sending->easy;

	if (delivery->kind->one_call)
		set_call(sending);
	else
		set_signed(sending);
	if (delivery->body_len || !delivery->kind->one_call) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, delivery->body);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)delivery->body_len);
	}
	curl_easy_setopt(easy, CURLOPT_URL, delivery_url(delivery));
	curl_easy_setopt(easy, CURLOPT_USERAGENT, sender->user_agents[delivery->kind - delivery_kinds]);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_PROXY, sender->spec.proxy);
	curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	if (delivery->kind->shows_headers)
		sending->headers = json_object();
}

json_t *sender_headers(const struct sender *sender, const struct delivery *delivery)
{
	const struct delivery_kind *kind = delivery->kind;
	json_t *headers = delivery->headers ? json_copy(delivery->headers) : json_array();
	_cleanup_(freep) char *agent = mem_printf("User-Agent: %s", sender->user_agents[kind - delivery_kinds]);
	_cleanup_(freep) char *signature = kind->signature
		? mem_printf("%s%s%s", kind->signature, *delivery->signature ? ": " : ";", delivery->signature)
		: NULL;

	if (signature)
		json_array_append_new(headers, json_string(signature));
	for (const struct curl_slist *usual = sender->headers; usual; usual = usual->next)
		json_array_append_new(headers, json_string(usual->data));
	json_array_append_new(headers, json_string(agent));
	return headers;
}

/* ---- mail ---- */

/* Keeps the server's last reply, such as "250 2.0.0 queued as 4F". The reply to QUIT (221) is not kept. */
static size_t reply_came(char *bytes, size_t size, size_t count, void *data)
{
	struct sending *sending = data;

	size_t len = size * count, shown = len < ANSWER_SHOWN ? len : ANSWER_SHOWN;

	while (shown > 0 && strchr("\r\n", bytes[shown - 1]))
		shown--;
	if (shown < 3 || memcmp(bytes, "221", 3) != 0) {
		buf_reset(&sending->answer);
		buf_append(&sending->answer, bytes, shown);
	}
	sending->header_len += len;
	return sending->header_len > HEADER_BYTES ? 0 : len;
}

/* The server of the site's settings, which the mail names; else the operator's. */
static struct mail_server server_of(const struct sending *sending)
{
	const json_t *named = json_object_get(sending->delivery->mail, "server");

	return named ? mail_server_of(named) : sending->sender->spec.mail;
}

static void mail_fill(struct sending *sending, const char *from)
{
	const struct delivery *delivery = sending->delivery;
	const json_t *to = json_object_get(delivery->mail, "to"), *address;
	const struct mail mail = {.id = delivery->id.text,
		.from = from,
		.subject = text_or_empty(json_string_at(delivery->mail, "subject")),
		.to = to,
		.text = delivery->body,
		.at = time(NULL)};
	size_t i;

	sending->message = mail_source_of(mail_write(&mail));
	json_array_foreach(to, i, address) if (mail_address_valid(json_string_value(address))) sending->recipients =
		curl_slist_append(sending->recipients, json_string_value(address));
}

/* If the server refuses one recipient, the mail is still sent to the others. The proxy is not used, and the guard only
 * for a server of the site's settings: the other one is the operator's own. */
static int set_mail(struct sending *sending, struct err *err)
{
	const struct mail_server server = server_of(sending);
	CURL *easy = sending->easy;

	mail_fill(sending, server.from);
	mail_server_set(easy, &server);
	curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, sending->recipients);
	curl_easy_setopt(easy, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, mail_read);
	curl_easy_setopt(easy, CURLOPT_READDATA, &sending->message);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, reply_came);
	if (!json_object_get(sending->delivery->mail, "server"))
		return 0;
	sending->guarded.mail = true;
	sending->guarded.proxied = false;
	sending->guarded.goes_out = NULL; /* as for the operator's server */
	return guard_curl(easy, server.url, &sending->guarded, err);
}

static void refused(struct sending *sending, const struct err *why)
{
	text_copy(sending->guarded.why, sizeof(sending->guarded.why), why->message);
	sending_ended(sending, CURLE_URL_MALFORMAT);
}

/* ---- start ---- */

static void set_answer(struct sending *sending)
{
	CURL *easy = sending->easy;

	curl_easy_setopt(easy, CURLOPT_PRIVATE, sending);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, sending->error);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, answer_came);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, sending);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_came);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, sending);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)READ_BYTES);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, sending->sender->spec.connect_ms);
	curl_easy_setopt(
		easy, CURLOPT_TIMEOUT_MS, sending->sender->spec.connect_ms + sending->sender->spec.response_ms);
}

static struct sending *sending_new(struct sender *sender, struct delivery *delivery)
{
	struct sending *sending = mem_new(1, sizeof(*sending));

	sending->sender = sender;
	sending->delivery = delivery;
	sending->opening = true;
	sending->max_answer = delivery_answer_limit(delivery);
	sending->answer = (struct buf)BUF_INIT(delivery->kind->one_call ? CALL_BYTES : ANSWER_COLLECTED);
	sending->guarded.guard = sender->spec.guard;
	sending->guarded.proxied = *sender->spec.proxy != '\0';
	sending->guarded.goes_out = goes_out;
	sending->guarded.data = sending;
	sending->easy = easy_new();
	sending->next = sender->first;
	sending->at = &sender->first;
	if (sending->next)
		sending->next->at = &sending->next;
	sender->first = sending;
	delivery->sending = sending;
	return sending;
}

static void mail_start(struct sender *sender, struct delivery *delivery)
{
	struct sending *sending = sending_new(sender, delivery);
	struct err err = ERR_INIT;

	set_answer(sending);
	if (set_mail(sending, &err) < 0) {
		refused(sending, &err);
		return;
	}
	curl_easy_setopt(sending->easy, CURLOPT_FORBID_REUSE, 1L);
	curl_multi_add_handle(sender->multi.curl, sending->easy);
}

void sender_start(struct sender *sender, struct delivery *delivery, bool fresh, bool keep)
{
	struct sending *sending;
	struct err err = ERR_INIT;

	if (delivery->mail) {
		mail_start(sender, delivery);
		return;
	}
	sending = sending_new(sender, delivery);
	sending->keep = keep;
	set_request(sending);
	set_answer(sending);
	curl_easy_setopt(sending->easy, CURLOPT_FRESH_CONNECT, (long)fresh);
	curl_easy_setopt(sending->easy, CURLOPT_FORBID_REUSE, (long)!keep);
	if (guard_curl(sending->easy, delivery_url(delivery), &sending->guarded, &err) < 0) {
		refused(sending, &err);
		return;
	}
	curl_multi_add_handle(sender->multi.curl, sending->easy);
}

void sender_abort(struct sender *sender, struct delivery *delivery)
{
	(void)sender;
	if (delivery->sending)
		sending_free(delivery->sending);
}
