/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/result_sink.h"

#include <string.h>

#include "common/clock.h"
#include "common/crypto.h"
#include "common/err.h"
#include "common/kafka/kafka_loop.h"
#include "common/log.h"
#include "proto/mac.h"
#include "proto/topics.h"
#include "worker/metrics.h"
#include "worker/upload/channel.h"

enum { BROKER_MS = 2000, STILL_HELD_MS = 5000 };

struct kept_result {
	struct result_sink *sink;
	struct job_result result;
	struct channel channel;
	uint64_t tag;
	int64_t since_ms;
	bool delivered; /* the broker has persisted it, or the scheduler has it */
	bool posting;
	bool refused; /* the scheduler has refused it, which is logged once */
	bool applies;
	struct loop_timer timer;
	struct kept_result *next;
};

struct result_sink {
	struct result_sink_spec spec;
	struct kept_result *kept;
	size_t count;
	uint64_t last_tag;
};

struct result_sink *result_sink_new(const struct result_sink_spec *spec)
{
	struct result_sink *sink = mem_new(1, sizeof(*sink));

	sink->spec = *spec;
	return sink;
}

static void kept_drop(struct kept_result *kept)
{
	struct kept_result **at = &kept->sink->kept;

	while (*at != kept)
		at = &(*at)->next;
	*at = kept->next;
	loop_timer_clear(kept->sink->spec.loop, &kept->timer);
	channel_close(&kept->channel);
	metric_set(M_RESULTS_KEPT, "", (double)--kept->sink->count);
	free(kept);
}

void result_sink_free(struct result_sink *sink)
{
	if (!sink)
		return;
	while (sink->kept)
		kept_drop(sink->kept);
	free(sink);
}

static void kept_confirmed(struct kept_result *kept, bool awaited)
{
	const struct result_sink_spec *spec = &kept->sink->spec;

	if (spec->confirmed)
		spec->confirmed(spec->data, kept->result.job.text, kept->result.attempt, awaited);
	kept_drop(kept);
}

static void delivered_notify(const struct result_sink *sink)
{
	if (sink->spec.delivered)
		sink->spec.delivered(sink->spec.data);
}

static void note_delivered(const struct kept_result *kept, const char *way)
{
	metric_addf(M_RESULTS, 1, "way=\"%s\"", way);
	metric_observef(M_RESULT_SECONDS, (double)(clock_mono_ms() - kept->since_ms) / 1000, "way=\"%s\"", way);
	log_debug("result delivered", "run", kept->result.run.text, "way", way, NULL);
}

/* ---- over HTTP ---- */

/* The result is kept. Each heartbeat that still holds the attempt sends it again (result_sink_heard). */
static void post_refused(struct kept_result *kept, const char *why)
{
	kept->posting = false;
	if (!kept->refused)
		log_error("the scheduler refuses a result: it is kept and sent again", "run", kept->result.run.text,
			"job", kept->result.job.text, "why", why, NULL);
	kept->refused = true;
}

static void post_answered(void *data, int status, const struct buf *body)
{
	struct kept_result *kept = data;
	struct result_sink *sink = kept->sink;
	char why[300];

	if (status >= 200 && status < 300) {
		note_delivered(kept, "http");
	} else if (answer_ends_attempt(status)) {
		answer_sentence(status, body, why, sizeof(why));
		log_warn("the scheduler does not want a result any more", "run", kept->result.run.text, "job",
			kept->result.job.text, "why", why, NULL);
	} else {
		answer_sentence(status, body, why, sizeof(why));
		post_refused(kept, why);
		return;
	}
	kept_confirmed(kept, status == 409);
	delivered_notify(sink);
}

static void post(struct kept_result *kept)
{
	_cleanup_(freep) char *text = job_result_encode(&kept->result);
	const struct transfer_spec spec = {
		.method = "POST",
		.path = "result",
		.what = "result",
		.content_type = "application/json",
		.body = text,
		.body_len = strlen(text),
		.expects_refusal = true,
	};

	if (kept->posting)
		return;
	kept->posting = true;
	channel_send(&kept->channel, &spec, post_answered, kept);
}

/* ---- over Kafka ---- */

static void broker_slow(void *data)
{
	struct kept_result *kept = data;

	if (!kept->delivered)
		post(kept);
}

/* model: result */
static void publish(struct kept_result *kept)
{
	struct result_sink *sink = kept->sink;
	_cleanup_(freep) char *text = job_result_encode(&kept->result);
	const struct kafka_record record = {.topic = topics[TOPIC_RESULTS].name, .payload = text, .tag = kept->tag};
	struct err err = ERR_INIT;

	if (!sink->spec.sender || !kafka_sender_connected(sink->spec.sender) ||
		kafka_sender_send(sink->spec.sender, &record, &err) < 0) {
		post(kept);
		return;
	}
	loop_timer_set(sink->spec.loop, &kept->timer, BROKER_MS, broker_slow, kept);
}

void result_sink_delivered(struct result_sink *sink, uint64_t tag, const char *error)
{
	struct kept_result *kept = sink->kept;

	while (kept && kept->tag != tag)
		kept = kept->next;
	if (!kept || kept->delivered)
		return;
	if (error) {
		log_warn("the broker did not take a result; it goes over HTTP", "run", kept->result.run.text, "why",
			error, NULL);
		post(kept);
		return;
	}
	loop_timer_clear(sink->spec.loop, &kept->timer);
	kept->delivered = true;
	note_delivered(kept, "kafka");
	delivered_notify(sink);
}

/* ---- the list ---- */

void result_sink_add(struct result_sink *sink, const struct job_result *result, const char *token, bool applies)
{
	struct kept_result *kept = mem_new(1, sizeof(*kept));
	char token_hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(token, strlen(token), token_hash);
	kept->sink = sink;
	kept->result = *result;
	kept->applies = applies;
	job_result_sign(&kept->result, token_hash);
	kept->tag = ++sink->last_tag;
	kept->since_ms = clock_mono_ms();
	channel_open(&kept->channel,
		&(struct channel_spec){.loop = sink->spec.loop,
			.fetcher = sink->spec.fetcher,
			.scheduler_url = sink->spec.scheduler_url,
			.job = result->job.text,
			.token = token});
	kept->next = sink->kept;
	sink->kept = kept;
	metric_set(M_RESULTS_KEPT, "", (double)++sink->count);
	publish(kept);
}

bool result_sink_heard(struct result_sink *sink, const char *job, int attempt, bool held, bool awaited)
{
	struct kept_result *kept = sink->kept;

	while (kept && (kept->result.attempt != attempt || !text_equal(kept->result.job.text, job)))
		kept = kept->next;
	if (!kept)
		return false;
	if (!held)
		kept_confirmed(kept, awaited);
	else if (kept->refused || clock_mono_ms() - kept->since_ms > STILL_HELD_MS)
		post(kept);
	return true;
}

void result_sink_each(struct result_sink *sink, listed_fn each, void *data)
{
	for (const struct kept_result *kept = sink->kept; kept; kept = kept->next)
		each(data,
			&(struct listed_attempt){.job = kept->result.job.text,
				.token = kept->channel.token,
				.run = kept->result.run.text,
				.attempt = kept->result.attempt,
				.applies = kept->applies});
}

size_t result_sink_kept(const struct result_sink *sink)
{
	return sink->count;
}

size_t result_sink_undelivered(const struct result_sink *sink)
{
	size_t undelivered = 0;

	for (const struct kept_result *at = sink->kept; at; at = at->next)
		undelivered += !at->delivered;
	return undelivered;
}

void result_sink_hurry(struct result_sink *sink)
{
	for (struct kept_result *kept = sink->kept; kept; kept = kept->next)
		if (!kept->delivered)
			post(kept);
}
