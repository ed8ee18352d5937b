/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/topics.h"

#include <stdio.h>

const struct topic_row topics[TOPIC_COUNT] = {
#define TOPIC(symbol, name, partitions, retention_hours) [TOPIC_##symbol] = {name, partitions, retention_hours},
#include "proto/topics.def"
#undef TOPIC
};

void topic_of_pool(const char *pool_id, char ret_name[TOPIC_NAME_SIZE])
{
	snprintf(ret_name, TOPIC_NAME_SIZE, "%s%s", topics[TOPIC_JOBS].name, pool_id);
}
