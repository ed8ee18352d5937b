/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_HOLD_H
#define SCHEDULER_LIFECYCLE_HOLD_H

/*
 * The hold of a workspace. It begins when an attempt of an apply has ended for the scheduler, but its terraform may
 * still run or its last state may still arrive (holds_workspace of run_step). Meanwhile no run of the queue starts. A
 * hold ends in one of three ways:
 *
 *  - The last state arrives.
 *  - A person ends it.
 *  - The deadline of the attempt has passed. No shorter time ends it.
 *
 * While a resource that the apply reported is in no state, or if the database was restored since, only a person can end
 * the hold. Pure: the caller reads the
 * times under the lock of the workspace and passes them as facts.
 */

#include "proto/messages.h"

struct hold {
	bool holds;         /* The hold is the workspace's. False: there is none, or it has ended. */
	bool engine_ended;  /* The worker sent a result, so no process of the apply is left. */
	bool past_deadline; /* The keeper has ended every process of the apply (hold_deadline). */
	bool settled;       /* The last state or the deadline came: only a person can end it. */
	bool unrecorded;    /* A resource is open that the apply reported and no state shows. */
	bool restored;      /* The database was restored after the claim, so other applies may be missing. */
	bool cooled_off;    /* A force-cancel is allowed by now. */
	enum stop stop;     /* The requested stop of the apply. */
};

enum hold_event {
	HOLD_LAST_STATE, /* the worker: no process is left, and the last state has arrived */
	HOLD_DEADLINE,   /* the sweep */
	HOLD_RELEASED,   /* a person */
	HOLD_DISMISSED,  /* a person dismissed unrecorded resources */
	HOLD_CANCELED,   /* a person: stop terraform */
	HOLD_FORCE_CANCELED,
	HOLD_EVENT_COUNT
};

struct hold_verdict {
	const char *refused; /* The reason, for the API's 409. NULL: the verdict is to be saved. */
	bool held;           /* There was a hold. */
	bool ends;           /* The hold ends, and the queue moves on. */
	bool settles;        /* Only a person can end the hold from now on. */
	bool risks; /* The hold ends while terraform may run, so a second one could meet it. Only a person does that. */
	bool signals; /* The worker has to be sent `stop`. */
	enum stop stop;
};

struct hold_verdict hold_step(const struct hold *hold, enum hold_event event);
/* Returns true if the event would be accepted: the API's `actions`. */
bool hold_accepts(const struct hold *hold, enum hold_event event);

/* The longest apply that a worker may name, in seconds (limits of --apply-seconds and --job-stop-seconds). */
enum { HOLD_APPLY_SECONDS_MAX = 8640000 + 86400 };

/* Returns the deadline of an apply, in seconds after its claim by the scheduler's clock. The worker's keeper ends the
 * last process `apply_seconds` after the claim was sent, by its own clock. The deadline is later by 1 % and 5 s, since
 * the two clocks drift apart and processes take a moment to end. Returns 0 for 0: there is no deadline. */
long long hold_deadline_seconds(long long apply_seconds);

#endif
