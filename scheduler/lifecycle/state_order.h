/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_STATE_ORDER_H
#define SCHEDULER_LIFECYCLE_STATE_ORDER_H

/*
 * Which state may take the place of a workspace's current one: one of the same lineage whose serial is
 * not behind; under the same serial only from the same job, since terraform may rewrite its file under one serial, or
 * with the same content. A late one, of an attempt that is over, besides never takes the place of somebody else's
 * newer state, and never comes under somebody who is about to write: what they would write then would be behind. Pure.
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
