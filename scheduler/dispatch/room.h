/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_ROOM_H
#define SCHEDULER_DISPATCH_ROOM_H

/* Which partitions of a pool's topic belong to workers that have a slot free, by what their last claim or heartbeat
 * left, less what was announced to them since that was read. */

#include "common/ids.h"
#include "scheduler/store/db.h"

struct room {
	struct {
		char pool[ID_SIZE];
		int partition;
		long long free; /* slots */
	} workers[1024];
	size_t count;
	int64_t read_ms;
	unsigned next;
};

/* A partition to announce a job of the pool on, one after the other; -1: nothing is known, any will do. */
int room_partition(struct room *room, struct db *db, const char *pool_id);

#endif
