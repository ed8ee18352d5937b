/* SPDX-License-Identifier: MPL-2.0 */
#include "common/kafka/kafka.h"

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/kafka/kafka_conf.h"
#include "common/kafka/kafka_failures.h"

enum { CLOSE_MS = 5000, MAX_PARTITIONS = 256 };

/* ---- producer ---- */

struct kafka_producer {
	struct kafka_handle handle;
	kafka_delivered_fn delivered;
	void *data;
	atomic_uint next_partition;
};

rd_kafka_t *kafka_producer_client(struct kafka_producer *producer)
{
	return producer->handle.rk;
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
	struct kafka_producer *producer = opaque;

	(void)rk;
	if (message->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) {
		kafka_refused("Write", "topic", rd_kafka_topic_name(message->rkt));
		kafka_handle_error(&producer->handle, message->err, rd_kafka_err2str(message->err));
	}
	producer->delivered(producer->data, (uint64_t)(uintptr_t)message->_private,
		message->err ? rd_kafka_err2str(message->err) : NULL);
}

/* The partitions from *ret_first on, *ret_count of them, that a key "N/M" names. With fewer partitions than parts, some
 * parts share one. */
static bool key_is_part(const char *key, size_t len, int32_t count, int32_t *ret_first, int32_t *ret_count)
{
	int32_t n, of, end;

	if (len != 3 || key[1] != '/' || key[0] < '0' || key[0] > '9' || key[2] < '1' || key[2] > '9' ||
		key[0] >= key[2])
		return false;
	n = key[0] - '0';
	of = key[2] - '0';
	*ret_first = n * count / of;
	end = (n + 1) * count / of;
	*ret_count = end > *ret_first ? end - *ret_first : 1;
	return true;
}

/* Round-robin without sticky batches, or by key (struct kafka_record). */
static int32_t pick_partition(const rd_kafka_topic_t *topic, const void *key, size_t key_len, int32_t count,
	void *topic_opaque, void *message_opaque)
{
	struct kafka_producer *producer = topic_opaque;
	int32_t first = 0, part = count;

	if (key_len && !key_is_part(key, key_len, count, &first, &part))
		return rd_kafka_msg_partitioner_consistent(topic, key, key_len, count, topic_opaque, message_opaque);
	return first + (int32_t)(atomic_fetch_add(&producer->next_partition, 1) % (unsigned)part);
}

int kafka_producer_open(const struct kafka_settings *settings, kafka_delivered_fn delivered, void *data,
	struct kafka_producer **ret_producer, struct err *err)
{
	struct kafka_producer *producer = mem_new(1, sizeof(*producer));
	rd_kafka_topic_conf_t *topic_conf = rd_kafka_topic_conf_new();
	rd_kafka_conf_t *conf;

	producer->delivered = delivered;
	producer->data = data;
	producer->handle.label = settings->label;
	rd_kafka_topic_conf_set_partitioner_cb(topic_conf, pick_partition);
	rd_kafka_topic_conf_set_opaque(topic_conf, producer);
	conf = kafka_conf_producer(settings, producer, topic_conf, err);
	if (!conf) {
		free(producer);
		return -1;
	}
	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	if (kafka_handle_open(&producer->handle, RD_KAFKA_PRODUCER, conf, err) < 0) {
		free(producer);
		return -1;
	}
	*ret_producer = producer;
	return 0;
}

int kafka_produce(struct kafka_producer *producer, const struct kafka_record *record, struct err *err)
{
	rd_kafka_resp_err_t error = rd_kafka_producev(producer->handle.rk, RD_KAFKA_V_TOPIC(record->topic),
		RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
		RD_KAFKA_V_KEY(record->key, strlen(text_or_empty(record->key))),
		RD_KAFKA_V_VALUE((void *)record->payload, strlen(record->payload)),
		RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE((void *)(uintptr_t)record->tag),
		RD_KAFKA_V_END);

	if (!error)
		return 0;
	return err_set(err, error == RD_KAFKA_RESP_ERR__QUEUE_FULL ? ERR_BUSY : ERR_UNAVAILABLE, "%s: %s",
		record->topic, rd_kafka_err2str(error));
}

void kafka_producer_poll(struct kafka_producer *producer, int wait_ms)
{
	rd_kafka_poll(producer->handle.rk, wait_ms);
}

static void queue_wake(rd_kafka_queue_t *queue, int eventfd)
{
	uint64_t one = 1;

	rd_kafka_queue_io_event_enable(queue, eventfd, &one, sizeof(one));
	rd_kafka_queue_destroy(queue);
}

void kafka_producer_wake(struct kafka_producer *producer, int eventfd)
{
	queue_wake(rd_kafka_queue_get_main(producer->handle.rk), eventfd);
}

void kafka_producer_close(struct kafka_producer *producer)
{
	if (!producer)
		return;
	/* Messages that are not purged would be dropped without a delivery report. */
	rd_kafka_flush(producer->handle.rk, CLOSE_MS);
	rd_kafka_purge(producer->handle.rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
	rd_kafka_flush(producer->handle.rk, CLOSE_MS);
	rd_kafka_destroy(producer->handle.rk);
	free(producer);
}

/* ---- consumer ---- */

struct kafka_consumer {
	struct kafka_handle handle;
	struct kafka_consumer_spec spec;
	bool paused;
	bool lost; /* a broadcast's offset no longer exists */
};

static int consumer_subscribe(struct kafka_consumer *consumer);

/* A broadcast has no committed position: pausing drops its assignment, and resuming starts at the end of the topic. */
static void broadcast_pause(struct kafka_consumer *consumer, bool pause)
{
	if (pause)
		rd_kafka_assign(consumer->handle.rk, NULL);
	else
		consumer_subscribe(consumer);
}

static void partitions_pause(struct kafka_consumer *consumer, bool pause)
{
	rd_kafka_topic_partition_list_t *held = NULL;

	if (!consumer->spec.group) {
		broadcast_pause(consumer, pause);
		return;
	}
	if (rd_kafka_assignment(consumer->handle.rk, &held))
		return;
	if (held->cnt && pause)
		rd_kafka_pause_partitions(consumer->handle.rk, held);
	else if (held->cnt)
		rd_kafka_resume_partitions(consumer->handle.rk, held);
	rd_kafka_topic_partition_list_destroy(held);
}

static void on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t *list, void *opaque)
{
	struct kafka_consumer *consumer = opaque;
	bool assigned = what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
	int32_t partitions[MAX_PARTITIONS];
	size_t count = 0;

	rd_kafka_assign(rk, assigned ? list : NULL);
	for (int i = 0; assigned && i < list->cnt && count < MAX_PARTITIONS; i++)
		partitions[count++] = list->elems[i].partition;
	/* Newly assigned partitions are not paused, even if the consumer is. */
	if (assigned && consumer->paused)
		partitions_pause(consumer, true);
	if (consumer->spec.assigned)
		consumer->spec.assigned(consumer->spec.data, partitions, count);
}

static int consumer_subscribe(struct kafka_consumer *consumer)
{
	const struct kafka_consumer_spec *spec = &consumer->spec;
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_resp_err_t error;

	if (spec->group) {
		for (int i = 0; i < KAFKA_MAX_TOPICS && spec->topics[i]; i++)
			rd_kafka_topic_partition_list_add(list, spec->topics[i], RD_KAFKA_PARTITION_UA);
		error = rd_kafka_subscribe(consumer->handle.rk, list);
	} else if (!spec->partitions) {
		error = RD_KAFKA_RESP_ERR_NO_ERROR;
	} else {
		for (int i = 0; i < spec->partitions; i++)
			rd_kafka_topic_partition_list_add(list, spec->topics[0], i)->offset = RD_KAFKA_OFFSET_END;
		error = rd_kafka_assign(consumer->handle.rk, list);
	}
	rd_kafka_topic_partition_list_destroy(list);
	return error ? -1 : 0;
}

int kafka_consumer_open(const struct kafka_consumer_spec *spec, struct kafka_consumer **ret_consumer, struct err *err)
{
	struct kafka_consumer *consumer = mem_new(1, sizeof(*consumer));
	rd_kafka_conf_t *conf = spec->group || spec->partitions
		? kafka_conf_consumer(spec->settings, spec->group, consumer, err)
		: kafka_conf_from_offsets(spec->settings, consumer, err);

	consumer->spec = *spec;
	consumer->handle.label = spec->settings->label;
	if (!conf) {
		free(consumer);
		return -1;
	}
	if (spec->group)
		rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
	if (kafka_handle_open(&consumer->handle, RD_KAFKA_CONSUMER, conf, err) < 0) {
		free(consumer);
		return -1;
	}
	rd_kafka_poll_set_consumer(consumer->handle.rk);
	if (consumer_subscribe(consumer) < 0) {
		kafka_consumer_close(consumer);
		return err_set(err, ERR_INTERNAL, "can't subscribe to %s", spec->topics[0]);
	}
	*ret_consumer = consumer;
	return 0;
}

/* ---- a broadcast from given offsets ---- */

static bool is_refusal(rd_kafka_resp_err_t error)
{
	return error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
		error == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED;
}

/* The number of partitions of a topic that this process reads or writes, as `operation` says; or 0. */
static int topic_partitions(rd_kafka_t *rk, const char *topic, const char *operation, int timeout_ms)
{
	const struct rd_kafka_metadata *metadata = NULL;
	rd_kafka_topic_t *handle = rd_kafka_topic_new(rk, topic, NULL);
	int count = 0;

	if (handle && !rd_kafka_metadata(rk, 0, handle, &metadata, timeout_ms)) {
		if (metadata->topic_cnt == 1 && !metadata->topics[0].err)
			count = metadata->topics[0].partition_cnt;
		if (metadata->topic_cnt == 1 && is_refusal(metadata->topics[0].err))
			kafka_refused(operation, "topic", topic);
		rd_kafka_metadata_destroy(metadata);
	}
	if (handle)
		rd_kafka_topic_destroy(handle);
	return count;
}

int kafka_broadcast_spans(
	struct kafka_consumer *consumer, int timeout_ms, struct kafka_span *spans, int max, struct err *err)
{
	const char *topic = consumer->spec.topics[0];
	int count = topic_partitions(consumer->handle.rk, topic, "Read", timeout_ms);

	if (count <= 0 || count > max)
		return err_set(err, ERR_UNAVAILABLE, "the broker has no topic %s of at most %d partitions", topic, max);
	for (int i = 0; i < count; i++)
		if (rd_kafka_query_watermark_offsets(
			    consumer->handle.rk, topic, i, &spans[i].start, &spans[i].end, timeout_ms))
			return err_set(err, ERR_UNAVAILABLE, "the broker does not tell the offsets of %s", topic);
	return count;
}

int kafka_broadcast_begin(struct kafka_consumer *consumer, const int64_t *offsets, int partitions, struct err *err)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
	rd_kafka_resp_err_t error;

	for (int i = 0; i < partitions; i++)
		rd_kafka_topic_partition_list_add(list, consumer->spec.topics[0], i)->offset = offsets[i];
	consumer->lost = false;
	error = rd_kafka_assign(consumer->handle.rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	return error ? err_set(err, ERR_INTERNAL, "can't read %s", consumer->spec.topics[0]) : 0;
}

bool kafka_broadcast_lost(const struct kafka_consumer *consumer)
{
	return consumer->lost;
}

static void consumer_refused(const struct kafka_consumer *consumer, const rd_kafka_message_t *message)
{
	if (message->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
		kafka_refused(
			"Read", "topic", message->rkt ? rd_kafka_topic_name(message->rkt) : consumer->spec.topics[0]);
	else if (message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED && consumer->spec.group)
		kafka_refused("Read", "group", consumer->spec.group);
	else if (message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
		kafka_refused("Describe", "group", KAFKA_BROADCAST_GROUP "-*");
}

int kafka_consume(struct kafka_consumer *consumer, int wait_ms, struct kafka_message *ret_message)
{
	rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer->handle.rk, wait_ms);

	if (!message)
		return 0;
	if (message->err) {
		consumer->lost |= message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET;
		consumer_refused(consumer, message);
		kafka_handle_error(&consumer->handle, message->err, rd_kafka_message_errstr(message));
		rd_kafka_message_destroy(message);
		return 0;
	}
	*ret_message = (struct kafka_message){
		.topic = rd_kafka_topic_name(message->rkt),
		.partition = message->partition,
		.offset = message->offset,
		.payload = message->len ? message->payload : "",
		.len = message->len,
		.handle = message,
		.sent_ms = rd_kafka_message_timestamp(message, NULL),
	};
	return 1;
}

double kafka_message_age(const struct kafka_message *message)
{
	double age = (double)clock_wall_us() / 1e6 - (double)message->sent_ms / 1e3;

	return message->sent_ms < 0 || age < 0 ? 0 : age;
}

void kafka_message_done(struct kafka_message *message)
{
	if (message->handle)
		rd_kafka_message_destroy(message->handle);
	message->handle = NULL;
}

void kafka_position_store(struct kafka_consumer *consumer, const char *topic, int32_t partition, int64_t offset)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
	/* Fails only for a partition that was revoked meanwhile. Its new consumer reads the message again. */
	rd_kafka_offsets_store(consumer->handle.rk, list);
	rd_kafka_topic_partition_list_destroy(list);
}

void kafka_message_store(struct kafka_consumer *consumer, const struct kafka_message *message)
{
	kafka_position_store(consumer, message->topic, message->partition, message->offset + 1);
}

void kafka_consumer_commit(struct kafka_consumer *consumer)
{
	rd_kafka_commit(consumer->handle.rk, NULL, 1);
}

void kafka_consumer_pause(struct kafka_consumer *consumer, bool paused)
{
	if (consumer->paused != paused)
		partitions_pause(consumer, paused);
	consumer->paused = paused;
}

int64_t kafka_partition_empty(struct kafka_consumer *consumer, const char *topic, int32_t partition)
{
	int64_t low = RD_KAFKA_OFFSET_INVALID, high = RD_KAFKA_OFFSET_INVALID;

	if (rd_kafka_get_watermark_offsets(consumer->handle.rk, topic, partition, &low, &high))
		return -1;
	return low == high && low >= 0 ? high : -1;
}

void kafka_partition_pause(struct kafka_consumer *consumer, const char *topic, int32_t partition, bool paused)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, topic, partition);
	if (paused)
		rd_kafka_pause_partitions(consumer->handle.rk, list);
	else
		rd_kafka_resume_partitions(consumer->handle.rk, list);
	rd_kafka_topic_partition_list_destroy(list);
}

void kafka_consumer_wake(struct kafka_consumer *consumer, int eventfd)
{
	queue_wake(rd_kafka_queue_get_consumer(consumer->handle.rk), eventfd);
}

void kafka_consumer_close(struct kafka_consumer *consumer)
{
	rd_kafka_queue_t *queue;
	int64_t give_up = clock_mono_ms() + CLOSE_MS;

	if (!consumer)
		return;
	/* Closing waits for the coordinator, which may be unavailable. So the close queue is served here, with a
	 * timeout. */
	queue = rd_kafka_queue_new(consumer->handle.rk);
	rd_kafka_error_destroy(rd_kafka_consumer_close_queue(consumer->handle.rk, queue));
	while (!rd_kafka_consumer_closed(consumer->handle.rk) && clock_mono_ms() < give_up) {
		rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 100);

		if (event && rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE)
			rd_kafka_assign(consumer->handle.rk, NULL);
		rd_kafka_event_destroy(event);
	}
	rd_kafka_queue_destroy(queue);
	rd_kafka_destroy_flags(consumer->handle.rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	free(consumer);
}

/* ---- statistics ---- */

void kafka_producer_stats(const struct kafka_producer *producer, struct kafka_stats *ret_stats)
{
	kafka_handle_stats(&producer->handle, ret_stats);
}

void kafka_consumer_stats(const struct kafka_consumer *consumer, struct kafka_stats *ret_stats)
{
	kafka_handle_stats(&consumer->handle, ret_stats);
}

/* ---- topics ---- */

/* Of the result only a refusal counts: the metadata shows whether the topic exists. */
static bool create_refused(rd_kafka_event_t *event)
{
	const rd_kafka_CreateTopics_result_t *result = rd_kafka_event_CreateTopics_result(event);
	size_t count = 0;
	const rd_kafka_topic_result_t **each = result ? rd_kafka_CreateTopics_result_topics(result, &count) : NULL;

	return is_refusal(rd_kafka_event_error(event)) || (count && is_refusal(rd_kafka_topic_result_error(each[0])));
}

static void topic_create(rd_kafka_t *rk, const struct kafka_topic *topic, int replication, int timeout_ms)
{
	char error[256];
	char retention[32];
	rd_kafka_NewTopic_t *wanted =
		rd_kafka_NewTopic_new(topic->name, topic->partitions, replication, error, sizeof(error));
	rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(rk, RD_KAFKA_ADMIN_OP_CREATETOPICS);
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	rd_kafka_event_t *event;

	snprintf(retention, sizeof(retention), "%lld", (long long)topic->retention_ms);
	rd_kafka_NewTopic_set_config(wanted, "retention.ms", retention);
	rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, error, sizeof(error));
	rd_kafka_AdminOptions_set_operation_timeout(options, timeout_ms, error, sizeof(error));
	rd_kafka_CreateTopics(rk, &wanted, 1, options, queue);
	event = rd_kafka_queue_poll(queue, timeout_ms);
	if (event && create_refused(event))
		kafka_refused("Create", "topic", topic->name);
	rd_kafka_event_destroy(event);
	rd_kafka_queue_destroy(queue);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_NewTopic_destroy(wanted);
}

/* Returns whether a broker accepts requests to create and delete topics. The embedded broker does not: its metadata
 * requests create topics. It names a controller that is not among its brokers, so such a request would wait for the
 * whole timeout. */
static bool has_controller(rd_kafka_t *rk, const struct rd_kafka_metadata *metadata)
{
	int controller = rd_kafka_controllerid(rk, 0);
	bool found = false;

	for (int i = 0; i < metadata->broker_cnt; i++)
		found = found || metadata->brokers[i].id == controller;
	return found;
}

bool kafka_has_controller(rd_kafka_t *rk, int timeout_ms)
{
	const struct rd_kafka_metadata *metadata = NULL;
	bool found;

	if (rd_kafka_metadata(rk, 0, NULL, &metadata, timeout_ms))
		return false;
	found = has_controller(rk, metadata);
	rd_kafka_metadata_destroy(metadata);
	return found;
}

/* By default each message is on three brokers, or on all of them if there are fewer. */
static int topic_replication(const struct kafka_topic *topic, const struct rd_kafka_metadata *metadata)
{
	if (topic->replication)
		return topic->replication;
	return metadata->broker_cnt < 3 ? metadata->broker_cnt : 3;
}

int kafka_topic_ensure(
	struct kafka_producer *producer, const struct kafka_topic *topic, int timeout_ms, struct err *err)
{
	rd_kafka_t *rk = producer->handle.rk;
	const struct rd_kafka_metadata *metadata = NULL;
	int count = topic_partitions(rk, topic->name, "Write", timeout_ms);

	if (count > 0)
		return count;
	if (rd_kafka_metadata(rk, 0, NULL, &metadata, timeout_ms))
		return err_set(err, ERR_UNAVAILABLE, "no broker answers");
	if (has_controller(rk, metadata))
		topic_create(rk, topic, topic_replication(topic, metadata), timeout_ms);
	rd_kafka_metadata_destroy(metadata);
	count = topic_partitions(rk, topic->name, "Write", timeout_ms);
	if (count <= 0)
		return err_set(err, ERR_UNAVAILABLE, "the broker has no topic %s yet", topic->name);
	return count;
}

void kafka_topic_delete(struct kafka_producer *producer, const char *topic, int timeout_ms)
{
	rd_kafka_t *rk = producer->handle.rk;
	char error[256];
	rd_kafka_DeleteTopic_t *gone;
	rd_kafka_AdminOptions_t *options;
	rd_kafka_queue_t *queue;

	if (!kafka_has_controller(rk, timeout_ms))
		return;
	gone = rd_kafka_DeleteTopic_new(topic);
	options = rd_kafka_AdminOptions_new(rk, RD_KAFKA_ADMIN_OP_DELETETOPICS);
	queue = rd_kafka_queue_new(rk);
	rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, error, sizeof(error));
	rd_kafka_DeleteTopics(rk, &gone, 1, options, queue);
	rd_kafka_event_destroy(rd_kafka_queue_poll(queue, timeout_ms));
	rd_kafka_queue_destroy(queue);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_DeleteTopic_destroy(gone);
}

int kafka_brokers(struct kafka_producer *producer, int timeout_ms, struct err *err)
{
	const struct rd_kafka_metadata *metadata = NULL;
	int count;

	if (rd_kafka_metadata(producer->handle.rk, 0, NULL, &metadata, timeout_ms))
		return err_set(err, ERR_UNAVAILABLE, "no broker answers");
	count = metadata->broker_cnt;
	rd_kafka_metadata_destroy(metadata);
	return count;
}
