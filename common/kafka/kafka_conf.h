/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_KAFKA_KAFKA_CONF_H
#define COMMON_KAFKA_KAFKA_CONF_H

/* librdkafka's settings, its log and error callbacks, and its statistics. Only for kafka.c. */

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>

#include "common/kafka/kafka_types.h"

/* A broadcast joins no group, but librdkafka looks for the coordinator of this one, followed by a hyphen and an id. */
#define KAFKA_BROADCAST_GROUP "runyard-broadcast"

struct err;
struct kafka_producer;

/* The common start of producers and consumers. librdkafka's callbacks get it as their opaque pointer. */
struct kafka_handle {
	rd_kafka_t *rk;
	const char *label; /* of the metrics of its brokers; NULL: they are not shown */
	atomic_llong lag, errors, queued;
	atomic_bool up;
	atomic_llong silent_until_ms; /* errors are not logged before this time */
};

/* NULL with ERR_INVALID that names the property. Takes topic_conf. The opaque starts with a struct kafka_handle. */
rd_kafka_conf_t *kafka_conf_producer(
	const struct kafka_settings *settings, void *opaque, rd_kafka_topic_conf_t *topic_conf, struct err *err);
rd_kafka_conf_t *kafka_conf_consumer(
	const struct kafka_settings *settings, const char *group, void *opaque, struct err *err);
/* Of a broadcast from given offsets: it uses its statistics, and learns that an offset no longer exists. */
rd_kafka_conf_t *kafka_conf_from_offsets(const struct kafka_settings *settings, void *opaque, struct err *err);
/* Takes conf. */
int kafka_handle_open(struct kafka_handle *handle, rd_kafka_type_t type, rd_kafka_conf_t *conf, struct err *err);
/* Whether a broker accepts requests to administer the cluster: the embedded broker does not. */
bool kafka_has_controller(rd_kafka_t *rk, int timeout_ms);
/* For administrative calls. */
rd_kafka_t *kafka_producer_client(struct kafka_producer *producer);
/* Counts and logs broker trouble, at most a line in a few seconds. */
void kafka_handle_error(struct kafka_handle *handle, rd_kafka_resp_err_t error, const char *reason);
void kafka_handle_stats(const struct kafka_handle *handle, struct kafka_stats *ret_stats);

#endif
