/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/room.h"

#include "common/clock.h"

enum { KEEP_MS = 250 };

static void room_read(struct room *room, struct db *db)
{
	struct err err = ERR_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (room->read_ms && clock_mono_ms() - room->read_ms < KEEP_MS)
		return;
	room->read_ms = clock_mono_ms();
	room->count = 0;
	if (db_query(db, &rows, &err,
		    "select pool_id, unnest(partitions) as partition from workers where free > 0 and not draining "
		    "and seen_at > now() - interval '1 minute' limit $1",
		    P_INT(ARRAY_LEN(room->free))) < 0)
		return;
	for (int i = 0; i < rows.count; i++) {
		text_copy(room->free[i].pool, sizeof(room->free[i].pool), row_text(&rows, i, "pool_id"));
		room->free[i].partition = (int)row_int(&rows, i, "partition");
	}
	room->count = (size_t)rows.count;
}

int room_partition(struct room *room, struct db *db, const char *pool_id)
{
	room_read(room, db);
	for (size_t tries = 0; tries < room->count; tries++) {
		size_t i = room->next++ % room->count;

		if (text_equal(room->free[i].pool, pool_id))
			return room->free[i].partition;
	}
	return -1;
}
