/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_KAFKA_KAFKA_TYPES_H
#define COMMON_KAFKA_KAFKA_TYPES_H

/* The settings of Kafka clients, and their statistics. */

#include "common/base.h"

struct kafka_settings {
	const char *brokers;    /* "host:port,host:port" */
	const char *client_id;  /* shown in the broker's metrics */
	const char *label;      /* the client's label in this process's metrics, a constant; NULL: it has none */
	const char *properties; /* more librdkafka properties, "name=value" separated by line ends or ";" (TLS, SASL) */
	int fetch_wait_ms;      /* how long the broker may delay a fetch until there is a message */
};

struct kafka_stats {
	int64_t lag; /* messages not yet read, over all assigned partitions; -1: unknown */
	int64_t errors;
	int64_t queued; /* to be sent */
	bool up;        /* a broker is connected */
};

#endif
