/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/job_topic.h"

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "proto/limits.h"
#include "proto/topics.h"
#include "worker/metrics.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/read_ahead.h"

/* A heartbeat follows news by ASK_MS, and each one without news doubles the time until the next. So a busy queue's lag
 * is about a second old, and a standing queue costs no more heartbeats than an idle worker. */
enum { MAX_PARTITIONS = 256, COMMIT_MS = 500, ASK_MS = 1000, MAX_ASK_MS = 10 * 1000 };

struct job_topic {
	struct job_topic_spec spec;
	struct kafka_reader *reader; /* NULL: none is open */
	char *name;
	char group[TOPIC_NAME_SIZE];
	bool unannounced; /* messages were read since `arrived` was last called */
	bool stored;      /* positions were stored since the last commit */
	int64_t commit_ms;
	int64_t ask_ms; /* until the heartbeat after the next one */
	struct read_ahead partitions[MAX_PARTITIONS];
	bool paused[MAX_PARTITIONS];
	size_t count; /* assigned partitions */
};

struct job_topic *job_topic_new(const struct job_topic_spec *spec)
{
	struct job_topic *topic = mem_new(1, sizeof(*topic));

	*topic = (struct job_topic){.spec = *spec, .ask_ms = ASK_MS};
	return topic;
}

static void partitions_release(struct job_topic *topic)
{
	for (size_t i = 0; i < topic->count; i++)
		read_ahead_release(&topic->partitions[i]);
	topic->count = 0;
}

static void topic_close(struct job_topic *topic)
{
	partitions_release(topic);
	kafka_reader_free(topic->reader);
	topic->reader = NULL;
	free(topic->name);
	topic->name = NULL;
}

void job_topic_free(struct job_topic *topic)
{
	if (!topic)
		return;
	topic_close(topic);
	free(topic);
}

/* ---- reading ---- */

/* The number of that partition here, or `count`. */
static size_t partition_find(const struct job_topic *topic, int32_t partition)
{
	size_t i = 0;

	while (i < topic->count && topic->partitions[i].partition != partition)
		i++;
	return i;
}

static void partition_pause(struct job_topic *topic, size_t i)
{
	const struct read_ahead *ahead = &topic->partitions[i];
	bool full = ahead->count >= (topic->paused[i] ? READ_AHEAD_MAX / 2 : READ_AHEAD_MAX);

	if (full != topic->paused[i])
		kafka_partition_pause(kafka_reader_consumer(topic->reader), topic->name, ahead->partition, full);
	topic->paused[i] = full;
}

static void news(struct job_topic *topic)
{
	topic->ask_ms = ASK_MS;
	topic->spec.hasten(topic->spec.data, ASK_MS);
}

static bool message_decode(struct job_topic *topic, const struct kafka_message *message, struct job_message *ret_job)
{
	struct err err = ERR_INIT;

	if (job_message_decode(message->payload, message->len, ret_job, &err) < 0) {
		kafka_client_malformed(&topic->spec.worker->kafka, message, err.message);
		return false;
	}
	metric_addf(M_MESSAGES, 1, "kind=\"job\"");
	metric_observe(M_JOB_MESSAGE_SECONDS, "", kafka_message_age(message));
	log_debug("job message read", "run", ret_job->run.text, NULL);
	topic->unannounced = true;
	return true;
}

static void message_take(void *data, struct kafka_message *message)
{
	struct job_topic *topic = data;
	size_t i = partition_find(topic, message->partition);
	struct job_message job;

	if (i < topic->count) {
		read_ahead_add(
			&topic->partitions[i], message->offset, message_decode(topic, message, &job) ? &job.job : NULL);
		partition_pause(topic, i);
	}
	kafka_message_done(message);
}

static void positions_store(struct job_topic *topic)
{
	struct kafka_consumer *consumer = kafka_reader_consumer(topic->reader);
	int64_t position;

	for (size_t i = 0; i < topic->count; i++) {
		if (topic->partitions[i].next < 0)
			topic->partitions[i].next =
				kafka_partition_empty(consumer, topic->name, topic->partitions[i].partition);
		if (!read_ahead_position(&topic->partitions[i], &position))
			continue;
		kafka_position_store(consumer, topic->name, topic->partitions[i].partition, position);
		partition_pause(topic, i);
		topic->stored = true;
	}
}

static void positions_commit(struct job_topic *topic)
{
	positions_store(topic);
	if (!topic->stored || clock_mono_ms() < topic->commit_ms)
		return;
	kafka_consumer_commit(kafka_reader_consumer(topic->reader));
	topic->stored = false;
	topic->commit_ms = clock_mono_ms() + COMMIT_MS;
}

static void passed(void *data)
{
	struct job_topic *topic = data;

	if (!topic->reader)
		return;
	positions_commit(topic);
	if (!topic->unannounced)
		return;
	topic->unannounced = false;
	news(topic);
	topic->spec.arrived(topic->spec.data);
}

/* ---- jobs that no longer wait ---- */

json_t *job_topic_announced(struct job_topic *topic)
{
	size_t max = topic->count ? MAX_ANNOUNCED_JOBS / topic->count : 0;
	json_t *jobs = json_array();

	for (size_t i = 0; i < topic->count; i++)
		read_ahead_list(&topic->partitions[i], max < READ_AHEAD_MAX ? max : READ_AHEAD_MAX, jobs);
	if (json_array_size(jobs)) {
		topic->spec.hasten(topic->spec.data, topic->ask_ms);
		topic->ask_ms = topic->ask_ms * 2 < MAX_ASK_MS ? topic->ask_ms * 2 : MAX_ASK_MS;
	}
	return jobs;
}

static bool job_settle(struct job_topic *topic, const char *job)
{
	bool found = false;

	for (size_t i = 0; i < topic->count; i++)
		found |= read_ahead_settle(&topic->partitions[i], job);
	return found;
}

void job_topic_heard(struct job_topic *topic, const json_t *jobs)
{
	bool found = false;
	const json_t *job;
	size_t i;

	json_array_foreach((json_t *)jobs, i, job)
	{
		found |= job_settle(topic, text_or_empty(json_string_value(job)));
	}
	if (!found)
		return;
	positions_commit(topic);
	news(topic);
}

void job_topic_claimed(struct job_topic *topic, const char *job)
{
	if (!job_settle(topic, job))
		return;
	positions_commit(topic);
	news(topic);
}

/* ---- the pool ---- */

/* The messages of a partition that stays here are read again from its committed position. */
static void assigned(void *data, const int32_t *partitions, size_t count)
{
	struct job_topic *topic = data;

	partitions_release(topic);
	topic->count = count < MAX_PARTITIONS ? count : MAX_PARTITIONS;
	for (size_t i = 0; i < topic->count; i++) {
		read_ahead_init(&topic->partitions[i], partitions[i]);
		topic->paused[i] = false;
	}
}

json_t *job_topic_partitions(const struct job_topic *topic)
{
	json_t *list = json_array();

	for (size_t i = 0; i < topic->count; i++)
		json_array_append_new(list, json_integer(topic->partitions[i].partition));
	return list;
}

void job_topic_subscribe(struct job_topic *topic, const char *name, const char *pool)
{
	struct worker *worker = topic->spec.worker;
	struct kafka_reader_spec spec = {.loop = worker->loop,
		.consumer = {.settings = &worker->kafka.settings, .assigned = assigned, .data = topic},
		.shown = kafka_client_shown("job messages"),
		.take = message_take,
		.passed = passed,
		.data = topic};
	struct err err = ERR_INIT;

	if (!worker->kafka.sender || text_equal(topic->name, name))
		return;
	topic_close(topic);
	topic->name = mem_text(name);
	group_of_pool(pool, topic->group);
	spec.consumer.topics[0] = topic->name;
	spec.consumer.group = topic->group;
	if (kafka_reader_open(&spec, &topic->reader, &err) < 0)
		log_error("job messages can't be read; this worker claims by itself", "topic", name, "why", err.message,
			NULL);
}
