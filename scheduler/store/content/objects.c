/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/objects.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/crypto.h"
#include "common/err.h"
#include "common/http/easy.h"
#include "common/loop/progress.h"
#include "scheduler/metrics.h"

enum {
	CONNECT_MS = 3000,
	TOTAL_MS = 120000,
	STALL_SECONDS = 10,
	TRIES = 3,
	REST_MS = 2000, /* the pause after a failure */
	KEPT_HANDLES = 8,
	COMPLAINT_LIMIT = 16 << 10,
	CODE_SIZE = 64,
	RANGE_BEYOND = 416, /* the part begins beyond the end: it has no bytes */
};

struct objects {
	struct objects_settings settings;
	char *url, *scope, *credentials;
	atomic_llong down_until; /* clock_mono_ms; 0: the store is up */
	pthread_mutex_t mutex;
	CURL *idle[KEPT_HANDLES]; /* with their open connections */
	size_t idle_count;
};

/* ---- settings ---- */

static int settings_check(const struct objects_settings *s, struct err *err)
{
	const char *host = strstr(s->url, "://");

	if ((!text_starts(s->url, "http://") && !text_starts(s->url, "https://")) ||
		host[3 + strspn(host + 3, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:[]/")])
		return err_set(err, ERR_INVALID,
			"--object-store-url must be http(s)://host/bucket or http(s)://host/bucket/prefix");
	if (!*s->region || !*s->access_key || !*s->secret_key)
		return err_set(err, ERR_INVALID,
			"--object-store-url needs --object-store-region, --object-store-access-key and "
			"--object-store-secret-key");
	return 0;
}

int objects_open(const struct objects_settings *settings, struct objects **ret_objects, struct err *err)
{
	struct objects *objects;

	*ret_objects = NULL;
	if (!*settings->url)
		return 0;
	if (settings_check(settings, err) < 0)
		return -1;
	objects = mem_new(1, sizeof(*objects));
	objects->settings = *settings;
	objects->url = mem_text(settings->url);
	for (size_t len = strlen(objects->url); len && objects->url[len - 1] == '/'; len--)
		objects->url[len - 1] = '\0';
	objects->scope = mem_printf("aws:amz:%s:s3", settings->region);
	objects->credentials = mem_printf("%s:%s", settings->access_key, settings->secret_key);
	objects->settings.url = objects->url;
	pthread_mutex_init(&objects->mutex, NULL);
	*ret_objects = objects;
	return 0;
}

void objects_close(struct objects *objects)
{
	if (!objects)
		return;
	while (objects->idle_count)
		curl_easy_cleanup(objects->idle[--objects->idle_count]);
	pthread_mutex_destroy(&objects->mutex);
	free(objects->url);
	free(objects->scope);
	free(objects->credentials);
	free(objects);
}

const struct objects_settings *objects_settings(const struct objects *objects)
{
	return &objects->settings;
}

/* ---- availability ---- */

static void outcome_note(struct objects *objects, const char *verb, bool answered)
{
	metric_addf(M_OBJECT_CALLS, 1, "call=\"%s\",outcome=\"%s\"", verb, answered ? "answered" : "failed");
	metric_set(M_OBJECT_STORE_UP, "", answered);
	atomic_store(&objects->down_until, answered ? 0 : clock_mono_ms() + REST_MS);
}

bool objects_up(struct objects *objects)
{
	return atomic_load(&objects->down_until) == 0;
}

bool objects_resting(struct objects *objects)
{
	return clock_mono_ms() < atomic_load(&objects->down_until);
}

static int rest_check(struct objects *objects, struct err *err)
{
	if (!objects_resting(objects))
		return 0;
	return err_set(err, ERR_UNAVAILABLE, "the object store does not answer: try again");
}

/* ---- one request ---- */

struct call {
	const char *verb;
	const struct object_part *part;
	const void *body;
	size_t len;
	struct buf *out;
};

struct attempt {
	CURL *easy;
	struct curl_slist *headers;
	struct buf *out; /* the call's */
	size_t out_before;
	struct buf complaint;
	long status;
	char error[CURL_ERROR_SIZE];
};

static CURL *handle_take(struct objects *objects)
{
	CURL *easy = NULL;

	pthread_mutex_lock(&objects->mutex);
	if (objects->idle_count)
		easy = objects->idle[--objects->idle_count];
	pthread_mutex_unlock(&objects->mutex);
	return easy ? easy : easy_new();
}

/* A handle keeps its connections across a reset. */
static void handle_return(struct objects *objects, CURL *easy)
{
	curl_easy_reset(easy);
	easy_set_up(easy);
	pthread_mutex_lock(&objects->mutex);
	if (objects->idle_count < KEPT_HANDLES) {
		objects->idle[objects->idle_count++] = easy;
		easy = NULL;
	}
	pthread_mutex_unlock(&objects->mutex);
	curl_easy_cleanup(easy);
}

/* A body with another status is the store's error message. */
static size_t answer_came(char *bytes, size_t size, size_t count, void *data)
{
	struct attempt *attempt = data;
	long status = 0;

	curl_easy_getinfo(attempt->easy, CURLINFO_RESPONSE_CODE, &status);
	if (attempt->out && (status == 200 || status == 206))
		return buf_append(attempt->out, bytes, size * count) < 0 ? 0 : size * count;
	buf_append(&attempt->complaint, bytes, size * count);
	return size * count;
}

static void request_set(struct objects *objects, struct attempt *attempt, const struct call *call)
{
	_cleanup_(freep) char *url = mem_printf("%s/%s", objects->url, call->part->key);
	_cleanup_(freep) char *digest_header = NULL;
	char digest[SHA256_HEX_SIZE], range[64];
	CURL *easy = attempt->easy;

	crypto_sha256_hex(call->body ? call->body : "", call->len, digest);
	digest_header = mem_printf("x-amz-content-sha256: %s", digest);
	attempt->headers = curl_slist_append(attempt->headers, digest_header);
	attempt->headers = curl_slist_append(attempt->headers, "Expect:");
	attempt->headers = curl_slist_append(attempt->headers, "Content-Type: application/octet-stream");
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, objects->scope);
	curl_easy_setopt(easy, CURLOPT_USERPWD, objects->credentials);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, attempt->headers);
	if (call->body) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->len);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body);
	}
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->verb);
	if (call->part->len) {
		snprintf(range, sizeof(range), "%lld-%lld", call->part->from, call->part->from + call->part->len - 1);
		curl_easy_setopt(easy, CURLOPT_RANGE, range);
	}
}

static void bounds_set(struct attempt *attempt)
{
	CURL *easy = attempt->easy;

	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TOTAL_MS);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, answer_came);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, attempt);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, attempt->error);
}

/* Reads the error code in the store's answer: <Code>NoSuchKey</Code>. */
static void code_read(const struct buf *complaint, char ret_code[CODE_SIZE])
{
	const char *code = strstr(buf_str(complaint), "<Code>");
	size_t len = code ? strspn(code + 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") : 0;

	snprintf(ret_code, CODE_SIZE, "%.*s", (int)(len < CODE_SIZE ? len : CODE_SIZE - 1), code ? code + 6 : "");
}

static int judge(struct attempt *attempt, CURLcode code, struct err *err)
{
	char complaint[CODE_SIZE];

	if (code != CURLE_OK)
		return err_set(err, ERR_UNAVAILABLE, "the object store does not answer: %s",
			*attempt->error ? attempt->error : curl_easy_strerror(code));
	if ((attempt->status >= 200 && attempt->status < 300) || attempt->status == RANGE_BEYOND)
		return 0;
	code_read(&attempt->complaint, complaint);
	if (attempt->status == 404 && text_equal(complaint, "NoSuchKey"))
		return err_set(err, ERR_NOT_FOUND, "the object is not there");
	return err_set(err, ERR_UNAVAILABLE, "the object store answered %ld %s", attempt->status, complaint);
}

static int attempt_once(struct objects *objects, const struct call *call, struct err *err)
{
	struct attempt attempt = {.easy = handle_take(objects),
		.out = call->out,
		.out_before = call->out ? call->out->len : 0,
		.complaint = BUF_INIT(COMPLAINT_LIMIT)};
	CURLcode code;
	int result;

	request_set(objects, &attempt, call);
	bounds_set(&attempt);
	progress_wait();
	code = curl_easy_perform(attempt.easy);
	progress_go_on();
	curl_easy_getinfo(attempt.easy, CURLINFO_RESPONSE_CODE, &attempt.status);
	result = judge(&attempt, code, err);
	if (result < 0 && call->out)
		buf_cut(call->out, attempt.out_before);
	curl_slist_free_all(attempt.headers);
	buf_release(&attempt.complaint);
	handle_return(objects, attempt.easy);
	return result;
}

static int call_run(struct objects *objects, const struct call *call, struct err *err)
{
	int result = -1;

	if (rest_check(objects, err) < 0)
		return -1;
	for (int tried = 0; tried < TRIES; tried++) {
		if (tried)
			nanosleep(&(struct timespec){.tv_nsec = (1L << (2 * tried)) * 25000000L}, NULL);
		result = attempt_once(objects, call, err);
		if (result == 0 || err->kind != ERR_UNAVAILABLE)
			break;
	}
	outcome_note(objects, call->verb, result == 0 || err->kind != ERR_UNAVAILABLE);
	return result;
}

/* ---- the three calls ---- */

static struct object_part whole(const char *key)
{
	struct object_part part = {.from = 0};

	text_copy(part.key, sizeof(part.key), key);
	return part;
}

int object_put(struct objects *objects, const char *key, const void *bytes, size_t len, struct err *err)
{
	const struct object_part part = whole(key);
	const struct call call = {.verb = "PUT", .part = &part, .body = bytes, .len = len};

	return call_run(objects, &call, err);
}

int object_get(struct objects *objects, const struct object_part *part, struct buf *out, struct err *err)
{
	const struct call call = {.verb = "GET", .part = part, .out = out};

	return call_run(objects, &call, err);
}

int object_delete(struct objects *objects, const char *key, struct err *err)
{
	const struct object_part part = whole(key);
	const struct call call = {.verb = "DELETE", .part = &part};

	return call_run(objects, &call, err) < 0 && err->kind != ERR_NOT_FOUND ? -1 : 0;
}
