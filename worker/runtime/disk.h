/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RUNTIME_DISK_H
#define WORKER_RUNTIME_DISK_H

/*
 * Checks the free space of the data directory's filesystem every second. While there is less than --min-free-disk or
 * --min-free-inodes, the worker claims no job and is not ready. Running jobs go on.
 */

#include <stdbool.h>
#include <stdint.h>

struct disk;
struct worker;

/* Space for the worker's account, either available or required. */
struct disk_space {
	int64_t bytes;
	int64_t inodes; /* INT64_MAX: the filesystem creates inodes on demand */
};

/* Whether the disk is low. With hysteresis: a disk that was low is no longer low with a quarter more than `least`. */
bool disk_is_low(const struct disk_space *available, const struct disk_space *least, bool was_low);

/* Starts the checks and sets worker->disk. */
void disk_begin(struct worker *worker);
void disk_free(struct disk *disk);
/* Thread-safe. */
bool disk_low(const struct disk *disk);

#endif
