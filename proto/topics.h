/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_TOPICS_H
#define PROTO_TOPICS_H

#include "common/base.h"

enum topic {
#define TOPIC(symbol, ...) TOPIC_##symbol,
#include "proto/topics.def"
#undef TOPIC
	TOPIC_COUNT
};

struct topic_row {
	const char *name; /* a name that ends in a dot is followed by a pool's id */
	int partitions;
	int retention_hours;
	const char *group; /* that reads it; a group that ends in a hyphen is followed by a pool's id; "": none */
};

extern const struct topic_row topics[TOPIC_COUNT];

enum { TOPIC_NAME_SIZE = 96 };
/* "runyard.jobs.<pool>" */
void topic_of_pool(const char *pool_id, char ret_name[TOPIC_NAME_SIZE]);
/* "runyard-worker-<pool>" */
void group_of_pool(const char *pool_id, char ret_name[TOPIC_NAME_SIZE]);
/* Returns the row of a topic's name, or NULL. */
const struct topic_row *topic_find(const char *name);

#endif
