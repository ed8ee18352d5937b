/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/control_topic.h"

#include <string.h>

#include "common/clock.h"
#include "common/crypto.h"
#include "common/err.h"
#include "common/http/rate.h"
#include "common/log.h"
#include "proto/mac.h"
#include "proto/topics.h"
#include "worker/metrics.h"
#include "worker/runtime/worker.h"

/* The topic is read for this time after the last job, so that a busy worker need not resume it for each job. */
enum { LISTEN_ON_MS = 10000 };

struct control_topic {
	struct worker *worker;
	struct kafka_reader *reader; /* NULL: none is open */
	int64_t busy_ms;             /* when there was last a job, updated once a second */
	struct rate unproven_lines;
};

static const struct rate_limit line_limit = {1, 1000};

/* True if the sender of a stop knows the attempt's token. Otherwise counts the stop, and logs at most one line per
 * second. */
static bool stop_is_proven(struct control_topic *topic, const struct job_stop *stop, const char *token)
{
	char token_hash[SHA256_HEX_SIZE], count[RATE_COUNT_SIZE];

	crypto_sha256_hex(token, strlen(token), token_hash);
	if (job_stop_verify(stop, token_hash))
		return true;
	metric_addf(M_SECURITY_EVENTS, 1, "event=\"unproven-message\",topic=\"%s\"", topics[TOPIC_CONTROL].name);
	if (rate_line_due(&topic->unproven_lines, &line_limit, clock_mono_ms(), count))
		log_warn("a stop does not prove its sender and is ignored", "security-event", "unproven-message",
			"topic", topics[TOPIC_CONTROL].name, "job", stop->job.text, "count", count, NULL);
	return false;
}

static void stop_take(struct control_topic *topic, const struct job_stop *stop)
{
	const struct job *job = slots_find(topic->worker, stop->job.text, stop->attempt);

	metric_addf(M_MESSAGES, 1, "kind=\"control\"");
	if (job && stop_is_proven(topic, stop, job->assignment.token))
		slots_stop(topic->worker, stop->job.text, stop->attempt, stop->stop, "kafka");
}

static void message_take(void *data, struct kafka_message *message)
{
	struct control_topic *topic = data;
	struct job_stop stop;
	struct err err = ERR_INIT;

	if (job_stop_decode(message->payload, message->len, &stop, &err) < 0)
		kafka_client_malformed(&topic->worker->kafka, message, err.message);
	else
		stop_take(topic, &stop);
	kafka_message_done(message);
}

static void passed(void *data)
{
	struct control_topic *topic = data;

	if (topic->worker->busy > 0)
		control_topic_listen(topic);
	else if (clock_mono_ms() - topic->busy_ms > LISTEN_ON_MS)
		kafka_reader_pause(topic->reader, true);
}

void control_topic_listen(struct control_topic *topic)
{
	topic->busy_ms = clock_mono_ms();
	kafka_reader_pause(topic->reader, false);
}

struct control_topic *control_topic_new(struct worker *worker)
{
	struct control_topic *topic = mem_new(1, sizeof(*topic));
	const struct kafka_reader_spec spec = {.loop = worker->loop,
		.consumer = {.settings = &worker->kafka.settings,
			.topics = {topics[TOPIC_CONTROL].name},
			.partitions = topics[TOPIC_CONTROL].partitions},
		.take = message_take,
		.passed = passed,
		.data = topic};
	struct err err = ERR_INIT;

	topic->worker = worker;
	if (worker->kafka.sender && kafka_reader_open(&spec, &topic->reader, &err) < 0)
		log_error("stops can't be read from the broker; they arrive over HTTP", "topic",
			topics[TOPIC_CONTROL].name, "why", err.message, NULL);
	kafka_reader_pause(topic->reader, true); /* until there is a job */
	return topic;
}

void control_topic_free(struct control_topic *topic)
{
	if (!topic)
		return;
	kafka_reader_free(topic->reader);
	free(topic);
}
