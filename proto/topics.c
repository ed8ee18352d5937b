/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/topics.h"

#include <stdio.h>
#include <string.h>

#include "common/ids.h"

const struct topic_row topics[TOPIC_COUNT] = {
#define TOPIC(symbol, name, partitions, hours, group) [TOPIC_##symbol] = {name, partitions, hours, group},
#include "proto/topics.def"
#undef TOPIC
};

void topic_of_pool(const char *pool_id, char ret_name[TOPIC_NAME_SIZE])
{
	snprintf(ret_name, TOPIC_NAME_SIZE, "%s%s", topics[TOPIC_JOBS].name, pool_id);
}

void group_of_pool(const char *pool_id, char ret_name[TOPIC_NAME_SIZE])
{
	snprintf(ret_name, TOPIC_NAME_SIZE, "%s%s", topics[TOPIC_JOBS].group, pool_id);
}

const struct topic_row *topic_find(const char *name)
{
	const char *jobs = topics[TOPIC_JOBS].name;

	if (name && text_starts(name, jobs))
		return id_valid(name + strlen(jobs), "apool") ? &topics[TOPIC_JOBS] : NULL;
	for (size_t i = 0; i < TOPIC_COUNT; i++)
		if (text_equal(name, topics[i].name))
			return &topics[i];
	return NULL;
}
