/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_POOL_TOPICS_H
#define SCHEDULER_STORE_WORKERS_POOL_TOPICS_H

/* The pools with their topics of job messages, and the jobs that their messages announce. */

#include "common/ids.h"
#include "proto/topics.h"
#include "scheduler/store/store.h"

enum { POOL_TOPICS_ANNOUNCED = 1000 }; /* jobs of a pool that one call announces again */

struct pool_topic {
	struct id id;
	char *name; /* organization/pool */
	char topic[TOPIC_NAME_SIZE], group[TOPIC_NAME_SIZE];
	int64_t waiting; /* jobs */
	bool is_read;    /* a live worker has partitions of the topic */
	/* For pool_topics_announce. */
	int64_t lag;  /* -1: unknown */
	bool rewound; /* the group was set to the end of the topic */
};

struct pool_topics {
	struct pool_topic *rows; /* by id */
	size_t count;
};

int pool_topics_read(struct store *store, struct pool_topics *ret_pools, struct err *err);
void pool_topics_release(struct pool_topics *pools);
/* Updates `waiting` and `is_read`. */
int pool_topics_count(struct store *store, struct pool_topics *pools, struct err *err);
/* Announces jobs again in pools with fewer messages than waiting jobs: as many as are missing, those that were
 * announced longest ago, and none that was announced in the last 30 s. In pools that were rewound, all. */
int pool_topics_announce(struct store *store, const struct pool_topics *pools, struct err *err);

#endif
