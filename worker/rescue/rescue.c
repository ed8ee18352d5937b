/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/rescue/rescue.h"

#include <string.h>

#include "common/crypto.h"
#include "common/err.h"
#include "common/http/fetch.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/loop/retry.h"
#include "proto/limits.h"
#include "proto/rescue.h"
#include "worker/metrics.h"

/* An upload ends before the scheduler deletes the objects of ended applies (scheduler/store/content/rescues.c). */
enum { WAIT_MS = 5000, UPLOAD_MS = 10 * 60 * 1000 };

struct rescue {
	struct loop *loop;
	struct fetcher *fetcher;
	char *url, *key, *job, *run;
	int attempt;
	rescue_collect_fn collect;
	void *data;
	bool waits;
	bool ended;   /* the apply has ended, so it waits until the end */
	bool hurries; /* collect again as soon as the upload under way has ended */
	bool final;
	bool expired; /* the object store refuses the URL */
	struct loop_timer timer;
	struct backoff backoff;
	struct fetch *fetch;
	bool fetch_final;               /* the upload under way is the final one */
	char flight[SHA256_HEX_SIZE];   /* digest of its content */
	char uploaded[SHA256_HEX_SIZE]; /* digest of what the object store has; "": nothing */
};

struct rescue *rescue_new(const struct rescue_spec *spec)
{
	struct rescue *rescue;

	if (!*text_or_empty(spec->url))
		return NULL;
	rescue = mem_new(1, sizeof(*rescue));
	*rescue = (struct rescue){.loop = spec->loop,
		.fetcher = spec->fetcher,
		.url = mem_text(spec->url),
		.key = mem_text(spec->key),
		.job = mem_text(spec->job),
		.run = mem_text(spec->run),
		.attempt = spec->attempt};
	return rescue;
}

void rescue_free(struct rescue *rescue)
{
	if (!rescue)
		return;
	loop_timer_clear(rescue->loop, &rescue->timer);
	fetch_abort(rescue->fetch);
	free(rescue->url);
	free(rescue->key);
	free(rescue->job);
	free(rescue->run);
	free(rescue);
}

void rescue_source(struct rescue *rescue, rescue_collect_fn collect, void *data)
{
	if (!rescue)
		return;
	rescue->collect = collect;
	rescue->data = data;
}

/* ---- one upload ---- */

static void look(void *data);

static void look_in(struct rescue *rescue, int64_t ms)
{
	if (rescue->waits && !rescue->final && !rescue->expired)
		loop_timer_set(rescue->loop, &rescue->timer, ms, look, rescue);
}

static void upload_failed(struct rescue *rescue, const struct fetch_answer *answer)
{
	_cleanup_(freep) char *status = mem_printf("the object store answered %d", answer->status);
	const char *why = answer->status ? status : answer->error;

	metric_add(M_RESCUES, "outcome=\"failed\"", 1);
	rescue->expired = answer->status == 403;
	if (rescue->expired)
		log_error("the object store refuses the state of an apply: it is not uploaded any more", "run",
			rescue->run, "job", rescue->job, "why", why, NULL);
	else
		log_warn("the state of an apply can't be uploaded to the object store: it is tried again", "run",
			rescue->run, "job", rescue->job, "why", why, NULL);
	look_in(rescue, backoff_next(&rescue->backoff, answer->retry_after));
}

static void upload_succeeded(struct rescue *rescue)
{
	rescue->backoff.failures = 0;
	text_copy(rescue->uploaded, sizeof(rescue->uploaded), rescue->flight);
	rescue->final = rescue->fetch_final;
	if (rescue->final) {
		metric_add(M_RESCUES, "outcome=\"final\"", 1);
		log_info("the last state of an apply was uploaded to the object store", "run", rescue->run, "job",
			rescue->job, NULL);
		return;
	}
	metric_add(M_RESCUES, "outcome=\"state\"", 1);
	log_info("the newest state of an apply was uploaded to the object store", "run", rescue->run, "job",
		rescue->job, NULL);
	look_in(rescue, rescue->hurries ? 0 : WAIT_MS);
	rescue->hurries = false;
}

static void upload_answered(void *data, struct fetch_answer *answer)
{
	struct rescue *rescue = data;

	rescue->fetch = NULL;
	if (answer->status >= 200 && answer->status < 300)
		upload_succeeded(rescue);
	else
		upload_failed(rescue, answer);
}

static void upload(struct rescue *rescue, json_t *head, const struct buf *state)
{
	const struct rescue_attempt of = {rescue->key, rescue->job, rescue->run, rescue->attempt};
	_cleanup_(buf_release) struct buf sealed = BUF_INIT((size_t)MAX_STATE_BYTES + MAX_RESCUE_HEAD + SEALED_MORE);
	struct fetch_request request = {.method = "PUT",
		.url = rescue->url,
		.content_type = "application/octet-stream",
		.timeout_ms = UPLOAD_MS};
	struct err err = ERR_INIT;

	rescue->fetch_final = json_bool_at(head, "final", false);
	if (rescue_seal(&of, head, buf_bytes(state), &sealed, &err) < 0) {
		log_error("an apply has no rescue object", "run", rescue->run, "job", rescue->job, "why", err.message,
			NULL);
		rescue->expired = true;
		return;
	}
	request.body = sealed.data;
	request.body_len = sealed.len;
	rescue->fetch = fetch_start(rescue->fetcher, &request, upload_answered, rescue);
}

/* The digest of the head and of the state. */
static void content_digest(const json_t *head, const struct buf *state, char ret_digest[SHA256_HEX_SIZE])
{
	_cleanup_(freep) char *text = json_text(head);
	struct sha256 *digest = crypto_sha256_begin();

	crypto_sha256_add(digest, text, strlen(text));
	crypto_sha256_add(digest, state->data, state->len);
	crypto_sha256_end(digest, ret_digest);
}

static void look(void *data)
{
	struct rescue *rescue = data;
	_cleanup_(buf_release) struct buf state = BUF_INIT(MAX_STATE_BYTES);
	json_auto_t *head = json_object();

	if (rescue->fetch || !rescue->collect)
		return;
	if (rescue->collect(rescue->data, head, &state)) {
		content_digest(head, &state, rescue->flight);
		if (!text_equal(rescue->flight, rescue->uploaded)) {
			upload(rescue, head, &state);
			return;
		}
	}
	look_in(rescue, WAIT_MS);
}

/* ---- calls ---- */

void rescue_wait(struct rescue *rescue)
{
	if (!rescue || rescue->waits)
		return;
	rescue->waits = true;
	if (!rescue->fetch)
		look_in(rescue, WAIT_MS);
}

void rescue_end(struct rescue *rescue)
{
	rescue_wait(rescue);
	if (rescue)
		rescue->ended = true;
}

void rescue_rest(struct rescue *rescue)
{
	if (!rescue || rescue->ended)
		return;
	rescue->waits = false;
	loop_timer_clear(rescue->loop, &rescue->timer);
}

void rescue_hurry(struct rescue *rescue)
{
	if (!rescue || !rescue->waits)
		return;
	rescue->hurries = rescue->fetch != NULL;
	if (!rescue->fetch)
		look_in(rescue, 0);
}

void rescue_add_result(json_t *head, const struct job_result *result)
{
	_cleanup_(freep) char *text = job_result_encode(result);
	struct err err = ERR_INIT;
	json_t *value = NULL;

	if (json_parse(text, strlen(text), &value, &err) == 0)
		json_object_set_new(head, "result", value);
}

bool rescue_is_final(const struct rescue *rescue)
{
	return rescue && rescue->final;
}
