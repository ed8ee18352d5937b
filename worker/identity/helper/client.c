/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/identity/helper/client.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/http/easy.h"

enum {
	MAX_ANSWER = 1024 * 1024,
	MAX_HEADERS = 64 * 1024,
	MAX_REDIRECTS = 3,
	MAX_TRIES = 3,
	PAUSE_MS = 1000,
	TOTAL_MS = 60 * 1000,
	CONNECT_MS = 10 * 1000,
	LAST_MS = 5 * 1000,
};

/* ---- SIGINT ---- */

static bool was_interrupted; /* the signal was taken */

static bool interrupted(void)
{
	sigset_t pending;

	sigpending(&pending);
	return was_interrupted || sigismember(&pending, SIGINT);
}

bool interrupt_wait(int64_t ms)
{
	const struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	if (!was_interrupted)
		was_interrupted = sigtimedwait(&set, NULL, &time) == SIGINT;
	return was_interrupted;
}

/* ---- the transfer ---- */

struct transfer {
	const struct call *call;
	struct buf answer;
	size_t headers; /* bytes */
	bool too_large;
	char error[CURL_ERROR_SIZE];
};

static size_t body_came(char *bytes, size_t size, size_t count, void *data)
{
	struct transfer *transfer = data;

	transfer->too_large |= buf_append(&transfer->answer, bytes, size * count) < 0;
	return transfer->too_large ? 0 : size * count;
}

static size_t header_came(char *line, size_t size, size_t count, void *data)
{
	struct transfer *transfer = data;

	(void)line;
	transfer->headers += size * count;
	transfer->too_large |= transfer->headers > MAX_HEADERS;
	return transfer->too_large ? 0 : size * count;
}

static int progress_came(void *data, curl_off_t total, curl_off_t now, curl_off_t upload_total, curl_off_t upload_now)
{
	const struct transfer *transfer = data;

	(void)total;
	(void)now;
	(void)upload_total;
	(void)upload_now;
	return !transfer->call->last && interrupted();
}

/* Adds the server's own CAs to those of the system. A certificate that can't be read ends the connection. */
static CURLcode trust_more(CURL *easy, void *context, void *data)
{
	const char *pem = data;
	X509_STORE *store = SSL_CTX_get_cert_store(context);
	BIO *source = mem_check(BIO_new_mem_buf(pem, -1));
	X509 *certificate;
	size_t added = 0;

	(void)easy;
	while ((certificate = PEM_read_bio_X509(source, NULL, NULL, NULL))) {
		added += X509_STORE_add_cert(store, certificate) == 1;
		X509_free(certificate);
	}
	BIO_free(source);
	ERR_clear_error();
	return added ? CURLE_OK : CURLE_SSL_CACERT_BADFILE;
}

static void set_tls(const struct call *call, CURL *easy)
{
	const char *trusted = text_or_null(getenv("SSL_CERT_FILE"));

	if (trusted)
		curl_easy_setopt(easy, CURLOPT_CAINFO, trusted);
	if (*call->server->ca) {
		curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, trust_more);
		curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, (void *)call->server->ca);
	}
}

static void set_limits(struct transfer *transfer, CURL *easy)
{
	bool last = transfer->call->last;
	long timeout_ms = transfer->call->timeout_ms;

	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, last ? LAST_MS : timeout_ms ? timeout_ms : TOTAL_MS);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(last ? LAST_MS : CONNECT_MS));
	curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress_came);
	curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_came);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_came);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
}

static void header_add(struct curl_slist **headers, const char *name, const char *value)
{
	_cleanup_(freep) char *line = mem_printf("%s: %s", name, value);

	if (*value)
		*headers = mem_check(curl_slist_append(*headers, line));
}

static struct curl_slist *headers_of(const struct call *call)
{
	struct curl_slist *headers = NULL;

	header_add(&headers, "X-Vault-Request", "true");
	header_add(&headers, "X-Vault-Namespace", call->server->name_space);
	header_add(&headers, "X-Vault-Token", text_or_empty(call->token));
	header_add(&headers, "Content-Type", call->body ? "application/json" : "");
	return headers;
}

/* Sends the request to that URL. Returns where a redirect leads, owned, or NULL. */
static char *perform(struct transfer *transfer, const char *url, const char *body, long *ret_status, CURLcode *ret_code)
{
	CURL *easy = easy_new();
	struct curl_slist *headers = headers_of(transfer->call);
	char *seen = NULL, *to = NULL;

	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "runyard-vault");
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	if (body)
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
	set_limits(transfer, easy);
	set_tls(transfer->call, easy);
	buf_reset(&transfer->answer);
	*ret_code = curl_easy_perform(easy);
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, ret_status);
	curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &seen);
	if (*ret_code == CURLE_OK && *ret_status / 100 == 3)
		to = mem_text(seen);
	curl_easy_cleanup(easy);
	curl_slist_free_all(headers);
	return to;
}

/* ---- the reply ---- */

static void error_set(struct reply *reply, const char *text)
{
	text_copy(reply->error, sizeof(reply->error), text);
	for (char *at = reply->error; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
}

static bool is_transient(CURLcode code)
{
	return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_GOT_NOTHING ||
		code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR;
}

static void transfer_failed(const struct transfer *transfer, CURLcode code, struct reply *reply)
{
	reply->status = 0;
	reply->again = is_transient(code);
	if (transfer->too_large)
		error_set(reply, "its answer is too large");
	else if (code == CURLE_OPERATION_TIMEDOUT)
		error_set(reply, "it did not answer in time");
	else if (code == CURLE_SSL_CACERT_BADFILE)
		error_set(reply, "its encoded CA certificate can't be read");
	else
		error_set(reply, *transfer->error ? transfer->error : curl_easy_strerror(code));
}

/* 412: a standby that does not know the token yet. 473 and 503 may be a change of the active server. */
static bool status_is_transient(long status)
{
	return status == 412 || status == 429 || status == 473 || status == 502 || status == 503 || status == 504;
}

static void answer_read(const struct transfer *transfer, struct reply *reply)
{
	struct err err = ERR_INIT;
	const char *first;

	if (transfer->answer.len && json_parse(transfer->answer.data, transfer->answer.len, &reply->body, &err) < 0)
		reply->body = NULL;
	first = json_string_value(json_array_get(json_object_get(reply->body, "errors"), 0));
	if (!reply_succeeded(reply))
		error_set(reply, text_or_empty(first));
	reply->again = status_is_transient(reply->status);
}

bool reply_succeeded(const struct reply *reply)
{
	return reply->status >= 200 && reply->status < 300;
}

void reply_release(struct reply *reply)
{
	json_decref(reply->body);
	*reply = (struct reply){.status = 0};
}

/* ---- calls ---- */

/* The length of a URL's scheme, host and port. */
static size_t origin_len(const char *url)
{
	const char *host = strstr(url, "://");

	return host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : 0;
}

static bool same_origin(const char *a, const char *b)
{
	size_t len = origin_len(a);

	return len > 0 && len == origin_len(b) && strncasecmp(a, b, len) == 0;
}

/* Returns where to go on, owned, or NULL if the reply is final. */
static char *step(struct transfer *transfer, const char *url, const char *body, struct reply *reply)
{
	CURLcode code;
	char *to = perform(transfer, url, body, &reply->status, &code);

	if (code != CURLE_OK) {
		transfer_failed(transfer, code, reply);
	} else if (to && !same_origin(url, to)) {
		reply->status = 0;
		error_set(reply, "it redirects to another server");
	} else if (to) {
		return to;
	} else {
		answer_read(transfer, reply);
	}
	free(to);
	return NULL;
}

static void call_once(const struct call *call, struct reply *reply)
{
	_cleanup_(freep) char *body = call->body ? json_text(call->body) : NULL;
	char *url = mem_printf("%s/v1/%s", call->server->address, call->path), *next;
	struct transfer transfer = {.call = call, .answer = BUF_INIT(MAX_ANSWER)};

	for (int redirects = 0; url; redirects++) {
		next = step(&transfer, url, body, reply);
		free(url);
		url = next;
		if (next && redirects == MAX_REDIRECTS) {
			reply->status = 0;
			error_set(reply, "it redirects again and again");
			free(url);
			url = NULL;
		}
	}
	buf_release(&transfer.answer);
}

void client_call(const struct call *call, struct reply *ret_reply)
{
	*ret_reply = (struct reply){.status = 0};
	for (int try = 1;; try++) {
		call_once(call, ret_reply);
		if (!ret_reply->again || call->last || try == MAX_TRIES || interrupt_wait((int64_t)try * PAUSE_MS))
			return;
		reply_release(ret_reply);
	}
}
