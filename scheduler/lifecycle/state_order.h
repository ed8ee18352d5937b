/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_STATE_ORDER_H
#define SCHEDULER_LIFECYCLE_STATE_ORDER_H

/*
 * Decides which state may replace a workspace's current one. Pure.
 *
 *  - It has the same lineage, and its serial is not lower.
 *  - With the same serial it has the same content, or comes from the same job: terraform may rewrite its file under one
 *    serial.
 *  - A late state, of an attempt that has ended, replaces no newer state of another writer. It is also refused while
 *    another writer is at work, whose own state would then have too low a serial, and after a restore of the database,
 *    which may lack newer states.
 */

#include "common/base.h"

/* The properties that states are compared by. */
struct state_mark {
	long long serial;
	const char *lineage; /* "": unknown */
	const char *md5;     /* hex */
	const char *job;     /* the job that wrote it; NULL: none */
};

enum state_order {
	STATE_FOLLOWS,
	STATE_KNOWN, /* the current state, sent again by its job */
	STATE_OTHER_LINEAGE,
	STATE_BEHIND,
	STATE_OVERTAKEN,
	STATE_MEETS_OTHERS,
	STATE_RESTORED,
};

enum state_order state_order(const struct state_mark *current, const struct state_mark *next);

/* The events in the workspace before a late state arrived. */
struct state_since {
	bool overtaken;   /* the current state is neither the attempt's own nor its base */
	bool others_work; /* the apply of another run is underway, or a person holds the lock */
	bool restored;    /* the database was restored, and newer states may be missing */
};

/* The same for a late state. current: NULL if the workspace has no state. */
enum state_order state_order_late(
	const struct state_mark *current, const struct state_mark *next, const struct state_since *since);

#endif
