/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_DISK_H
#define WORKER_DISK_H

/*
 * The free space of the filesystem that the data folder is in, looked at every second. While there is less than
 * --min-free-disk or --min-free-inodes, the worker claims no job and is not ready; running jobs go on.
 */

#include <stdbool.h>
#include <stdint.h>

struct disk;
struct worker;

/* Free space for the worker's account: an amount that there is, or that there has to be. */
struct disk_space {
	int64_t bytes;
	int64_t inodes; /* INT64_MAX: the filesystem makes them as needed */
};

/* Whether the disk is low, given whether it was: it has room again with a quarter more than the least. */
bool disk_is_low(const struct disk_space *available, const struct disk_space *least, bool was_low);

/* Begins to look, and is worker->disk from then on. */
void disk_begin(struct worker *worker);
void disk_free(struct disk *disk);
/* For any thread. */
bool disk_low(const struct disk *disk);

#endif
