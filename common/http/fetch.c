/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/http/answer.h"
#include "common/http/easy.h"
#include "common/http/guard.h"
#include "common/http/multi.h"
#include "common/http/origin.h"
#include "common/loop/loop.h"

enum {
	ANSWER_LIMIT = 1024 * 1024,
	TIMEOUT_MS = 60 * 1000,
	CONNECT_MS = 10 * 1000,
	STALL_SECONDS = 30,
	UPLOAD_CHUNK = 256 * 1024,
	MAX_REDIRECTS = 5,
	HEADER_BYTES = 64 * 1024,
};

struct fetcher {
	struct multi multi;
	struct origin *origin; /* or NULL */
	struct fetch *running;
};

struct fetch {
	struct fetcher *fetcher;
	CURL *easy;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
	struct fetch_answer answer;
	int body_fd;
	off_t body_at;
	int answer_fd;
	size_t answer_len;
	size_t answer_limit;
	size_t header_len;
	struct guarded guarded; /* guarded.guard: NULL if the request has no guard */
	bool introduces;
	fetch_fn fn;
	void *data;
	struct fetch *next;
};

/* ---- the end ---- */

static void fetch_release(struct fetch *fetch)
{
	struct fetch **at = &fetch->fetcher->running;

	while (*at && *at != fetch)
		at = &(*at)->next;
	if (*at)
		*at = fetch->next;
	curl_multi_remove_handle(fetch->fetcher->multi.curl, fetch->easy);
	curl_easy_cleanup(fetch->easy);
	curl_slist_free_all(fetch->headers);
	buf_release(&fetch->answer.body);
	json_decref(fetch->answer.headers);
	free(fetch);
}

/* The value of the answer's header, or NULL. Borrowed from libcurl. */
static const char *answer_header(const struct fetch *fetch, const char *name)
{
	struct curl_header *header = NULL;

	return curl_easy_header(fetch->easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK ? header->value : NULL;
}

/* True if a proxy answered in the scheduler's place. Nothing of such an answer is used, neither its size nor
 * Retry-After. */
static bool is_foreign(struct fetch *fetch, long status)
{
	struct origin *origin = fetch->fetcher->origin;
	const char *id = answer_header(fetch, ORIGIN_HEADER);

	if (!origin || status == 0)
		return false;
	if (fetch->introduces ? origin_accepts_first(origin, (int)status, id) : origin_accepts(origin, id))
		return false;
	snprintf(fetch->error, sizeof(fetch->error), "status %ld, which a proxy answered: %s", status,
		id ? "its header " ORIGIN_HEADER " names another installation"
		   : "it lacks the scheduler's header " ORIGIN_HEADER);
	fetch->answer.foreign = true;
	fetch->answer.too_large = false;
	return true;
}

static const char *failure(const struct fetch *fetch, CURLcode code)
{
	if (fetch->guarded.why[0])
		return fetch->guarded.why;
	return fetch->error[0] ? fetch->error : curl_easy_strerror(code);
}

static void fetch_finish(void *transfer, CURLcode code)
{
	struct fetch *fetch = transfer;
	long status = 0;
	curl_off_t retry_after = 0;

	curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(fetch->easy, CURLINFO_RETRY_AFTER, &retry_after);
	if (is_foreign(fetch, status)) {
		fetch->answer.error = fetch->error;
	} else if (code == CURLE_OK) {
		fetch->answer.status = (int)status;
		fetch->answer.retry_after = (int)retry_after;
	} else {
		fetch->answer.error = failure(fetch, code);
		fetch->answer.cut_status = fetch->answer.too_large ? (int)status : 0;
	}
	fetch->answer.forbidden = fetch->guarded.why[0] != '\0';
	fetch->answer.listed = fetch->guarded.listed;
	fetch->answer.accepted = fetch->fetcher->origin ? fetch->fetcher->origin->accepted : 0;
	fetch->fn(fetch->data, &fetch->answer);
	fetch_release(fetch);
}

/* ---- trusted CAs ---- */

static const char trust_variable[] = "SSL_CERT_FILE";

int fetch_trust(const char *ca_file, struct err *err)
{
	_cleanup_(freep) char *path = *ca_file ? realpath(ca_file, NULL) : NULL;

	if (!*ca_file)
		return 0;
	if (!path || access(path, R_OK) < 0)
		return err_set(err, ERR_INVALID, "--ca-file: %s can't be read", ca_file);
	setenv(trust_variable, path, 1);
	return 0;
}

const char *fetch_trusted(void)
{
	return text_or_null(getenv(trust_variable));
}

struct fetcher *fetcher_new(struct loop *loop)
{
	struct fetcher *fetcher = mem_new(1, sizeof(*fetcher));

	multi_open(&fetcher->multi, loop, fetch_finish);
	return fetcher;
}

void fetcher_expect(struct fetcher *fetcher, struct origin *origin)
{
	fetcher->origin = origin;
}

void fetcher_free(struct fetcher *fetcher)
{
	if (!fetcher)
		return;
	while (fetcher->running)
		fetch_release(fetcher->running);
	multi_close(&fetcher->multi);
	free(fetcher);
}

/* ---- bodies ---- */

static size_t body_read(char *to, size_t size, size_t count, void *data)
{
	struct fetch *fetch = data;
	ssize_t got = pread(fetch->body_fd, to, size * count, fetch->body_at);

	if (got < 0) {
		fetch->answer.file_error = errno;
		return CURL_READFUNC_ABORT;
	}
	fetch->body_at += got;
	return (size_t)got;
}

/* libcurl calls this when a reused connection turns out to be closed and it sends the request again. */
static int body_seek(void *data, curl_off_t offset, int origin)
{
	struct fetch *fetch = data;

	if (origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	fetch->body_at = offset;
	return CURL_SEEKFUNC_OK;
}

static size_t answer_came(char *bytes, size_t size, size_t count, void *data)
{
	struct fetch *fetch = data;
	size_t len = size * count;
	long status = 0;

	if (len > fetch->answer_limit - fetch->answer_len) {
		fetch->answer.too_large = true;
		return 0;
	}
	fetch->answer_len += len;
	curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
	if (fetch->answer_fd > 0 && status == 200) {
		fetch->answer.file_error = write_fully(fetch->answer_fd, bytes, len) < 0 ? errno : 0;
		return fetch->answer.file_error ? 0 : len;
	}
	return buf_append(&fetch->answer.body, bytes, len) < 0 ? 0 : len;
}

static size_t header_came(char *bytes, size_t size, size_t count, void *data)
{
	struct fetch *fetch = data;

	answer_header_add(fetch->answer.headers, bytes, size * count);
	fetch->header_len += size * count;
	return fetch->header_len > HEADER_BYTES ? 0 : size * count;
}

/* ---- start ---- */

static void header_add(struct fetch *fetch, const char *name, const char *value)
{
	_cleanup_(freep) char *line = mem_printf("%s: %s", name, value);

	fetch->headers = curl_slist_append(fetch->headers, line);
}

static void set_file(struct fetch *fetch, int fd)
{
	struct stat info;
	curl_off_t size = fstat(fd, &info) == 0 ? (curl_off_t)info.st_size : -1;

	fetch->body_fd = fd;
	curl_easy_setopt(fetch->easy, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(fetch->easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_CHUNK);
	curl_easy_setopt(fetch->easy, CURLOPT_READFUNCTION, body_read);
	curl_easy_setopt(fetch->easy, CURLOPT_READDATA, fetch);
	curl_easy_setopt(fetch->easy, CURLOPT_SEEKFUNCTION, body_seek);
	curl_easy_setopt(fetch->easy, CURLOPT_SEEKDATA, fetch);
	curl_easy_setopt(fetch->easy, CURLOPT_INFILESIZE_LARGE, size);
}

static void set_body(struct fetch *fetch, const struct fetch_request *request)
{
	if (request->body_fd > 0) {
		set_file(fetch, request->body_fd);
	} else if (!text_equal(request->method, "GET")) {
		curl_easy_setopt(fetch->easy, CURLOPT_POST, 1L);
		curl_easy_setopt(fetch->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
		curl_easy_setopt(fetch->easy, CURLOPT_COPYPOSTFIELDS, request->body ? request->body : "");
	}
}

static void set_own_headers(struct fetch *fetch, const struct fetch_request *request)
{
	_cleanup_(freep) char *bearer = request->bearer ? mem_printf("Bearer %s", request->bearer) : NULL;

	header_add(fetch, "Content-Type", text_or_empty(request->content_type));
	if (bearer)
		header_add(fetch, "Authorization", bearer);
}

static void set_headers(struct fetch *fetch, const struct fetch_request *request)
{
	header_add(fetch, "Expect", ""); /* otherwise libcurl waits a second for a 100 that few servers send */
	for (size_t i = 0; i < json_array_size(request->headers); i++)
		fetch->headers = curl_slist_append(
			fetch->headers, text_or_empty(json_string_value(json_array_get(request->headers, i))));
	if (!request->headers)
		set_own_headers(fetch, request);
	curl_easy_setopt(fetch->easy, CURLOPT_HTTPHEADER, fetch->headers);
	curl_easy_setopt(fetch->easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static void set_bounds(struct fetch *fetch, const struct fetch_request *request)
{
	CURL *easy = fetch->easy;

	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, request->redirects ? 1L : 0L);
	curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)MAX_REDIRECTS);
	curl_easy_setopt(
		easy, CURLOPT_REDIR_PROTOCOLS_STR, text_starts(request->url, "https:") ? "https" : "http,https");
	if (fetch_trusted())
		curl_easy_setopt(easy, CURLOPT_CAINFO, fetch_trusted());
	curl_easy_setopt(
		easy, CURLOPT_CONNECTTIMEOUT_MS, request->connect_ms > 0 ? request->connect_ms : (long)CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, request->timeout_ms > 0 ? request->timeout_ms : (long)TIMEOUT_MS);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, request->guard ? 0L : 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, request->guard ? 0L : (long)STALL_SECONDS);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
}

/* A URL that the guard refuses becomes an empty one, so that the callback comes from the loop as always. */
static void set_guard(struct fetch *fetch, const struct fetch_request *request)
{
	struct err err = ERR_INIT;

	if (!request->guard)
		return;
	fetch->guarded.guard = request->guard;
	fetch->answer.headers = json_object();
	curl_easy_setopt(fetch->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(fetch->easy, CURLOPT_NOPROXY, "");
	curl_easy_setopt(fetch->easy, CURLOPT_HEADERFUNCTION, header_came);
	curl_easy_setopt(fetch->easy, CURLOPT_HEADERDATA, fetch);
	if (guard_curl(fetch->easy, request->url, &fetch->guarded, &err) == 0)
		return;
	text_copy(fetch->guarded.why, sizeof(fetch->guarded.why), err.message);
	curl_easy_setopt(fetch->easy, CURLOPT_URL, "");
}

struct fetch *fetch_start(struct fetcher *fetcher, const struct fetch_request *request, fetch_fn fn, void *data)
{
	struct fetch *fetch = mem_new(1, sizeof(*fetch));

	fetch->fetcher = fetcher;
	fetch->easy = easy_new();
	fetch->fn = fn;
	fetch->data = data;
	fetch->answer_fd = request->answer_fd;
	fetch->introduces = request->introduces;
	fetch->answer_limit = request->answer_limit > 0 ? request->answer_limit : (size_t)ANSWER_LIMIT;
	fetch->answer.body = (struct buf)BUF_INIT(fetch->answer_limit);
	curl_easy_setopt(fetch->easy, CURLOPT_URL, request->url);
	curl_easy_setopt(fetch->easy, CURLOPT_PRIVATE, fetch);
	curl_easy_setopt(fetch->easy, CURLOPT_ERRORBUFFER, fetch->error);
	curl_easy_setopt(fetch->easy, CURLOPT_WRITEFUNCTION, answer_came);
	curl_easy_setopt(fetch->easy, CURLOPT_WRITEDATA, fetch);
	curl_easy_setopt(fetch->easy, CURLOPT_USERAGENT, "runyard");
	set_body(fetch, request);
	set_headers(fetch, request);
	set_bounds(fetch, request);
	set_guard(fetch, request);
	fetch->next = fetcher->running;
	fetcher->running = fetch;
	curl_multi_add_handle(fetcher->multi.curl, fetch->easy);
	return fetch;
}

void fetch_abort(struct fetch *fetch)
{
	if (fetch)
		fetch_release(fetch);
}

/* ---- URLs in messages ---- */

char *fetch_shown(const char *url, bool secret_path)
{
	const char *scheme = strstr(url, "://"), *begin = scheme ? scheme + 3 : url;
	const char *end = begin + strcspn(begin, secret_path ? "/?#" : "?#");
	const char *at = memrchr(begin, '@', strcspn(begin, "/?#")), *host = at ? at + 1 : begin;

	return mem_printf("%.*s%.*s", (int)(begin - url), url, (int)(end - host), host);
}
