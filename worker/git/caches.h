/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_CACHES_H
#define WORKER_GIT_CACHES_H

/*
 * The commits of repositories, without their files, that later commits are compared with: a folder for each repository
 * below <data-dir>/git-caches. Only git in the sandbox reads and writes what is in them.
 *
 * A job locks its repository's folder (flock). Two jobs of one repository work one after the other.
 */

#include "common/base.h"

struct err;
struct loop;

/* Makes the folder if it is missing, and locks it: blocks while another job has it. For a thread. *ret_lock: a
 * descriptor, whose close ends the lock. ERR_INTERNAL. */
int cache_lock(int caches, const char *name, int *ret_lock, struct err *err);

struct cache_trim {
	struct loop *loop;
	int caches;        /* the folder of the folders */
	int64_t max_bytes; /* of all together */
	bool running, again;
};
/* Removes the least recently used folders, until the others fit. Works in a thread of the loop; the trim must outlive
 * it. */
void cache_trim(struct cache_trim *trim);

#endif
