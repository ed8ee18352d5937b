/* SPDX-License-Identifier: MPL-2.0 */
/* librdkafka asserts that its allocations succeed. That ends the process, which its supervisor starts again. */
#include "common/err.h"
#include "common/kafka/kafka_conf.h"
#include "tests/alloc/alloc.h"

static struct kafka_handle handle;

static const struct kafka_settings settings = {
	.brokers = "127.0.0.1:9", .client_id = "short", .properties = "socket.timeout.ms=5000", .fetch_wait_ms = 100};

static void consumer(void)
{
	struct err err = ERR_INIT;
	rd_kafka_conf_t *conf = kafka_conf_consumer(&settings, "group", &handle, &err);
	char value[64];
	size_t size = sizeof(value);

	HOLDS(conf);
	HOLDS(rd_kafka_conf_get(conf, "group.id", value, &size) == RD_KAFKA_CONF_OK && text_equal(value, "group"));
	if (kafka_handle_open(&handle, RD_KAFKA_CONSUMER, conf, &err) == 0)
		rd_kafka_destroy(handle.rk);
	else
		HOLDS(err.kind == ERR_INVALID);
}

static void producer(void)
{
	struct err err = ERR_INIT;
	rd_kafka_conf_t *conf = kafka_conf_producer(&settings, &handle, rd_kafka_topic_conf_new(), &err);

	HOLDS(conf);
	if (kafka_handle_open(&handle, RD_KAFKA_PRODUCER, conf, &err) == 0)
		rd_kafka_destroy(handle.rk);
	else
		HOLDS(err.kind == ERR_INVALID);
}

const struct alloc_case alloc_cases[] = {
	{.name = "consumer", .libraries = "librdkafka", .run = consumer, .ends_itself = true},
	{.name = "producer", .libraries = "librdkafka", .run = producer, .ends_itself = true},
	{0},
};
