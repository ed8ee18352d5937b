/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/pool_topics.h"

#include <string.h>

#include "proto/messages.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/workers/pool_topics.sql.h"

enum { ANNOUNCED_SECONDS = 30 };

int pool_topics_read(struct store *store, struct pool_topics *ret_pools, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, pool_topics_read) < 0)
		return -1;
	ret_pools->count = (size_t)rows.count;
	ret_pools->rows = mem_new(ret_pools->count + 1, sizeof(*ret_pools->rows));
	for (int i = 0; i < rows.count; i++) {
		const struct pool_topics_read_row *row = row_of(pool_topics_read, &rows, i);
		struct pool_topic *pool = &ret_pools->rows[i];

		text_copy(pool->id.text, sizeof(pool->id.text), row->id);
		pool->name = mem_text(row->name);
		pool->waiting = row->waiting;
		pool->is_read = row->is_read;
		topic_of_pool(pool->id.text, pool->topic);
		group_of_pool(pool->id.text, pool->group);
	}
	return 0;
}

void pool_topics_release(struct pool_topics *pools)
{
	for (size_t i = 0; i < pools->count; i++)
		free(pools->rows[i].name);
	free(pools->rows);
	*pools = (struct pool_topics){NULL, 0};
}

int pool_topics_count(struct store *store, struct pool_topics *pools, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	int next = 0;

	if (db_query(store->db, &rows, err, pool_topics_read) < 0)
		return -1;
	for (size_t i = 0; i < pools->count; i++) {
		struct pool_topic *pool = &pools->rows[i];
		const struct pool_topics_read_row *row;

		while (next < rows.count && strcmp(row_of(pool_topics_read, &rows, next)->id, pool->id.text) < 0)
			next++;
		row = next < rows.count ? row_of(pool_topics_read, &rows, next) : NULL;
		if (!row || !text_equal(row->id, pool->id.text))
			continue;
		pool->waiting = row->waiting;
		pool->is_read = row->is_read;
	}
	return 0;
}

static json_t *pools_missing_messages(const struct pool_topics *pools)
{
	json_t *list = json_array();

	for (size_t i = 0; i < pools->count; i++) {
		const struct pool_topic *pool = &pools->rows[i];

		if (pool->lag >= 0 && pool->waiting && (pool->rewound || pool->lag < pool->waiting))
			json_array_append_new(list,
				json_pack("{ss sI si}", "pool", pool->id.text, "lag",
					(json_int_t)(pool->rewound ? 0 : pool->lag), "age",
					pool->rewound ? 0 : ANNOUNCED_SECONDS));
	}
	return list;
}

/* model: announce */
int pool_topics_announce(struct store *store, const struct pool_topics *pools, struct err *err)
{
	json_auto_t *missing = pools_missing_messages(pools);
	_cleanup_(freep) char *text = json_text(missing);

	if (!json_array_size(missing))
		return 0;
	return db_query(store->db, NULL, err, pool_topics_announce, .pools = text, .prefix = topics[TOPIC_JOBS].name,
		.message_version = MESSAGE_VERSION, .key_end = JOB_KEY_OF_CLASS, .max = POOL_TOPICS_ANNOUNCED);
}
