/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_STATE_ORDER_H
#define SCHEDULER_LIFECYCLE_STATE_ORDER_H

/*
 * Which state may replace a workspace's current one. Pure.
 *
 *  - It has the same lineage, and its serial is not lower.
 *  - With the same serial it has the same content, or comes from the same job: terraform may rewrite its file under one
 *    serial.
 *  - A late state, of an attempt that has ended, replaces no newer state of another writer. It is not accepted either
 *    while another writer is at work, whose own state would then have too low a serial.
 */

#include "common/base.h"

/* What tells states apart. */
struct state_mark {
	long long serial;
	const char *lineage; /* "": none is said */
	const char *md5;     /* hex */
	const char *job;     /* of the attempt that wrote it; NULL: none */
};

enum state_order {
	STATE_FOLLOWS,
	STATE_KNOWN, /* it is the current one, come again from its job */
	STATE_OTHER_LINEAGE,
	STATE_BEHIND,
	STATE_OVERTAKEN,
	STATE_MEETS_OTHERS,
};

enum state_order state_order(const struct state_mark *current, const struct state_mark *next);

/* What a late state meets. */
struct state_since {
	bool overtaken;   /* the current state is neither the attempt's own nor the one it began with */
	bool others_work; /* the apply of another run is underway, or a person has the lock */
};

/* The same for a late one. current: NULL if the workspace has no state. */
enum state_order state_order_late(
	const struct state_mark *current, const struct state_mark *next, const struct state_since *since);

#endif
