/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_READ_AHEAD_H
#define WORKER_SCHEDULER_CLIENT_READ_AHEAD_H

/*
 * The job messages of one partition that were read and are not committed: those from the first message on whose job
 * still waits to be claimed by some worker. So the partition's lag at the broker is the number of messages from its
 * oldest waiting job on. A partition whose list is full is not read on.
 */

#include "common/ids.h"
#include "common/json/json.h"

enum { READ_AHEAD_MAX = 256 };

struct announced_job {
	int64_t offset;
	struct id job;
	bool settled; /* the job no longer waits, or the message can't be read */
};

struct read_ahead {
	int32_t partition;
	int64_t next;   /* the offset after the last message read, or of an empty partition's first; -1: unknown */
	int64_t stored; /* the position that was last stored for the commit; -1: none */
	struct announced_job *jobs;
	size_t count, room;
};

void read_ahead_init(struct read_ahead *ahead, int32_t partition);
void read_ahead_release(struct read_ahead *ahead);
/* Adds a message. `job` NULL: it can't be read. An offset that was read before means that the partition begins anew:
 * what was read of the earlier one is dropped. */
void read_ahead_add(struct read_ahead *ahead, int64_t offset, const struct id *job);
/* The job no longer waits. Returns whether the list contained it. */
bool read_ahead_settle(struct read_ahead *ahead, const char *job);
/* Drops settled messages from the start of the list. Returns whether the position to commit has changed since the last
 * call; *ret_position: the offset of the first message whose job still waits, or of the next message to be read. */
bool read_ahead_position(struct read_ahead *ahead, int64_t *ret_position);
/* Appends the jobs of the oldest messages, at most `max`, without those that are settled. */
void read_ahead_list(const struct read_ahead *ahead, size_t max, json_t *jobs);

#endif
