/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_HOLD_H
#define SCHEDULER_LIFECYCLE_HOLD_H

/*
 * The hold of a workspace: an apply is over for the scheduler, and its terraform may still run or its last state may
 * still come (run_step's holds_workspace begins it). No run of the queue starts meanwhile. A hold ends by that state,
 * by a person, or when the deadline of the attempt has passed; nothing shorter ends it. While a resource that the apply
 * reported is in no state, only a person ends it. Pure: the
 * caller reads the times under the lock of the workspace and passes them as facts.
 */

#include "proto/messages.h"

struct hold {
	bool holds;         /* it is the workspace's; false: there is none, or it has ended */
	bool engine_ended;  /* the worker gave a result, so no process of the apply is left */
	bool past_deadline; /* the keeper has ended every process of the apply (hold_deadline) */
	bool settled;       /* its last state or its deadline came: only unrecorded resources keep it */
	bool unrecorded;    /* a resource that the apply reported and no state shows is open */
	bool cooled_off;    /* a force-cancel is allowed by now */
	enum stop stop;     /* what the worker of the apply is asked to do with it */
};

enum hold_event {
	HOLD_LAST_STATE, /* the worker: no process is left, and what it wrote last is here */
	HOLD_DEADLINE,   /* the sweep */
	HOLD_RELEASED,   /* a person */
	HOLD_DISMISSED,  /* a person dismissed unrecorded resources */
	HOLD_CANCELED,   /* a person: terraform is to stop */
	HOLD_FORCE_CANCELED,
	HOLD_EVENT_COUNT
};

struct hold_verdict {
	const char *refused; /* why not, for the API's 409; NULL: what follows is to be saved */
	bool held;           /* there was a hold to ask */
	bool ends;           /* the queue goes on */
	bool settles;        /* nothing of the apply is awaited any more, but its unrecorded resources keep the hold */
	bool risks;          /* it ends while terraform may run: a second one could meet it. Only a person does that */
	bool signals;        /* the worker is to be told `stop` */
	enum stop stop;
};

struct hold_verdict hold_step(const struct hold *hold, enum hold_event event);
/* Whether the event would be accepted: the API's `actions`. */
bool hold_accepts(const struct hold *hold, enum hold_event event);

/* The longest apply that a worker may name, in seconds (limits of --apply-seconds and --job-stop-seconds). */
enum { HOLD_APPLY_SECONDS_MAX = 8640000 + 86400 };

/* The deadline of an apply, in seconds after its claim by the scheduler's clock. The worker's keeper ends the last
 * process `apply_seconds` after the claim was sent, by its own clock. The deadline is later by 1 % and 5 s, since the
 * two clocks drift apart and processes take a moment to end. Returns 0 for 0: there is no deadline. */
long long hold_deadline_seconds(long long apply_seconds);

#endif
