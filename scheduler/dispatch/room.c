/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/room.h"

#include "common/clock.h"

enum { KEEP_MS = 50 };

/* One partition of each worker is enough, another one each time. */
static void room_read(struct room *room, struct db *db)
{
	struct err err = ERR_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (room->read_ms && clock_mono_ms() - room->read_ms < KEEP_MS)
		return;
	room->read_ms = clock_mono_ms();
	room->count = 0;
	if (db_query(db, &rows, &err,
		    "select pool_id, partitions[1 + floor(random() * cardinality(partitions))::int] as partition, free "
		    "from workers where free > 0 and not draining and partitions <> '{}' "
		    "and seen_at > now() - interval '1 minute' limit $1",
		    P_INT(ARRAY_LEN(room->workers))) < 0)
		return;
	for (int i = 0; i < rows.count; i++) {
		text_copy(room->workers[i].pool, sizeof(room->workers[i].pool), row_text(&rows, i, "pool_id"));
		room->workers[i].partition = (int)row_int(&rows, i, "partition");
		room->workers[i].free = row_int(&rows, i, "free");
	}
	room->count = (size_t)rows.count;
}

int room_partition(struct room *room, struct db *db, const char *pool_id)
{
	room_read(room, db);
	for (size_t tries = 0; tries < room->count; tries++) {
		size_t i = room->next++ % room->count;

		if (room->workers[i].free > 0 && text_equal(room->workers[i].pool, pool_id)) {
			room->workers[i].free--;
			return room->workers[i].partition;
		}
	}
	return -1;
}
