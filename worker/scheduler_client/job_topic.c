/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/job_topic.h"

#include "common/err.h"
#include "common/log.h"
#include "worker/metrics.h"
#include "worker/runtime/worker.h"

enum { MAX_HELD = 64, MAX_PARTITIONS = 256 };

struct job_topic {
	struct worker *worker;
	void (*arrived)(void *data);
	void *data;
	struct kafka_reader *reader; /* NULL: none is open */
	char *name, *group;
	struct kafka_message held[MAX_HELD]; /* read messages whose claim is not answered */
	size_t held_count;
	size_t claimed;   /* the first of them, this many, belong to the claim under way */
	bool unannounced; /* messages were read since `arrived` was last called */
	int32_t partitions[MAX_PARTITIONS];
	size_t partition_count;
};

struct job_topic *job_topic_new(struct worker *worker, void (*arrived)(void *data), void *data)
{
	struct job_topic *topic = mem_new(1, sizeof(*topic));

	*topic = (struct job_topic){.worker = worker, .arrived = arrived, .data = data};
	return topic;
}

static void topic_close(struct job_topic *topic)
{
	for (size_t i = 0; i < topic->held_count; i++)
		kafka_message_done(&topic->held[i]);
	topic->held_count = topic->claimed = topic->partition_count = 0;
	kafka_reader_free(topic->reader);
	topic->reader = NULL;
	free(topic->name);
	free(topic->group);
	topic->name = topic->group = NULL;
}

void job_topic_free(struct job_topic *topic)
{
	if (!topic)
		return;
	topic_close(topic);
	free(topic);
}

/* ---- reading ---- */

static void message_take(void *data, struct kafka_message *message)
{
	struct job_topic *topic = data;
	struct job_message job;
	struct err err = ERR_INIT;

	if (job_message_decode(message->payload, message->len, &job, &err) < 0) {
		kafka_client_malformed(&topic->worker->kafka, message, err.message);
		kafka_reader_store(topic->reader, message);
		kafka_message_done(message);
		return;
	}
	metric_addf(M_MESSAGES, 1, "kind=\"job\"");
	metric_observe(M_JOB_MESSAGE_SECONDS, "", kafka_message_age(message));
	log_debug("job message read", "run", job.run.text, NULL);
	topic->held[topic->held_count++] = *message;
	topic->unannounced = true;
}

static bool has_room(void *data)
{
	const struct job_topic *topic = data;

	return topic->held_count < MAX_HELD;
}

static void passed(void *data)
{
	struct job_topic *topic = data;

	if (!topic->unannounced)
		return;
	topic->unannounced = false;
	topic->arrived(topic->data);
}

void job_topic_go_on(struct job_topic *topic)
{
	kafka_reader_pause(topic->reader, slots_free(topic->worker) == 0 || !has_room(topic));
}

void job_topic_claimed(struct job_topic *topic)
{
	topic->claimed = topic->held_count;
}

/* Stores the offsets in order. Within a partition they increase, so the last one remains. */
void job_topic_answered(struct job_topic *topic)
{
	size_t left = 0;

	for (size_t i = 0; i < topic->held_count; i++) {
		if (i >= topic->claimed) {
			topic->held[left++] = topic->held[i];
			continue;
		}
		kafka_reader_store(topic->reader, &topic->held[i]);
		kafka_message_done(&topic->held[i]);
	}
	topic->held_count = left;
	topic->claimed = 0;
}

/* ---- the pool ---- */

static void assigned(void *data, const int32_t *partitions, size_t count)
{
	struct job_topic *topic = data;

	topic->partition_count = count < MAX_PARTITIONS ? count : MAX_PARTITIONS;
	for (size_t i = 0; i < topic->partition_count; i++)
		topic->partitions[i] = partitions[i];
}

json_t *job_topic_partitions(const struct job_topic *topic)
{
	json_t *list = json_array();

	for (size_t i = 0; i < topic->partition_count; i++)
		json_array_append_new(list, json_integer(topic->partitions[i]));
	return list;
}

void job_topic_subscribe(struct job_topic *topic, const char *name, const char *pool)
{
	struct worker *worker = topic->worker;
	struct kafka_reader_spec spec = {.loop = worker->loop,
		.consumer = {.settings = &worker->kafka.settings, .assigned = assigned, .data = topic},
		.shown = kafka_client_shown("job messages"),
		.take = message_take,
		.has_room = has_room,
		.passed = passed,
		.data = topic};
	struct err err = ERR_INIT;

	if (!worker->kafka.sender || text_equal(topic->name, name))
		return;
	topic_close(topic);
	topic->name = mem_text(name);
	topic->group = mem_printf("runyard-worker-%s", pool);
	spec.consumer.topics[0] = topic->name;
	spec.consumer.group = topic->group;
	if (kafka_reader_open(&spec, &topic->reader, &err) < 0)
		log_error("job messages can't be read; this worker claims by itself", "topic", name, "why", err.message,
			NULL);
}
