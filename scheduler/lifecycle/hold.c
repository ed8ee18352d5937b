/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/hold.h"

/*
 * Invariants, for tests/model and tests/sim:
 *
 *  1. Only a person ends a hold with `risks`. When any other event ends a hold, no terraform of its apply is left.
 *  2. A stop never ends a hold. It asks the worker to stop terraform; the last state or the deadline ends the hold.
 *  3. A cancel can become a force-cancel, and nothing weaker.
 *  4. While a resource of the apply is unrecorded, only a person ends its hold.
 *  5. Of an apply that a restored database knows, only a person ends the hold.
 */

enum { DEADLINE_SLACK_SECONDS = 5, DEADLINE_SLACK_SHARE = 100 };

enum hold_at { AT_NOT_HELD, AT_AWAITED, AT_CANCELED, AT_KILLED, HOLD_AT_COUNT };

static enum hold_at hold_at(const struct hold *hold)
{
	static const enum hold_at by_stop[] = {
		[STOP_NONE] = AT_AWAITED, [STOP_CANCEL] = AT_CANCELED, [STOP_FORCE] = AT_KILLED};

	return hold->holds ? by_stop[hold->stop] : AT_NOT_HELD;
}

/* model: laststate */
static void ends(const struct hold *hold, struct hold_verdict *v)
{
	v->ends = !hold->unrecorded && !hold->restored;
	v->settles = !v->ends;
}

/* model: expire */
static void ends_late(const struct hold *hold, struct hold_verdict *v)
{
	if (hold->past_deadline)
		ends(hold, v);
	else
		v->refused = "the deadline of the apply has not passed";
}

static void ends_dismissed(const struct hold *hold, struct hold_verdict *v)
{
	if (!hold->settled)
		v->refused = "the last state of the apply is awaited";
	else if (hold->unrecorded)
		v->refused = "other unrecorded resources of the apply are open";
	else if (hold->restored)
		v->refused = "the database was restored after the apply had begun: release the hold";
	else
		v->ends = true;
}

/* model: release */
static void ends_by_person(const struct hold *hold, struct hold_verdict *v)
{
	v->ends = true;
	v->risks = !hold->engine_ended && !hold->past_deadline && !hold->settled;
}

static void asks(const struct hold *hold, struct hold_verdict *v, enum stop stop)
{
	if (hold->settled) {
		v->refused = "no terraform of the run is left: the workspace is held until a person looks at it";
		return;
	}
	if (hold->engine_ended) {
		v->refused = "no terraform of the run is left: the workspace is held for its last state alone";
		return;
	}
	v->signals = true;
	v->stop = stop;
}

/* model: holdcancel */
static void asks_to_stop(const struct hold *hold, struct hold_verdict *v)
{
	asks(hold, v, STOP_CANCEL);
}

/* model: holdforce */
static void asks_to_kill(const struct hold *hold, struct hold_verdict *v)
{
	if (hold->cooled_off)
		asks(hold, v, STOP_FORCE);
	else
		v->refused = "the run was canceled just now: force-cancel-available-at says from when it can be forced";
}

typedef void (*step_fn)(const struct hold *hold, struct hold_verdict *v);

#define ENDS                                                                                                           \
	[HOLD_LAST_STATE] = ends, [HOLD_DEADLINE] = ends_late, [HOLD_RELEASED] = ends_by_person,                       \
	[HOLD_DISMISSED] = ends_dismissed

static const step_fn steps[HOLD_AT_COUNT][HOLD_EVENT_COUNT] = {
	[AT_AWAITED] = {ENDS, [HOLD_CANCELED] = asks_to_stop},
	[AT_CANCELED] = {ENDS, [HOLD_FORCE_CANCELED] = asks_to_kill},
	[AT_KILLED] = {ENDS},
};

static const char *const refusals[HOLD_AT_COUNT][HOLD_EVENT_COUNT] = {
	[AT_AWAITED] = {[HOLD_FORCE_CANCELED] =
				"the run can be force-canceled only after a cancel that has not ended it"},
	[AT_CANCELED] = {[HOLD_CANCELED] = "the run was canceled already, and its terraform has not ended yet"},
	[AT_KILLED] = {[HOLD_CANCELED] = "the run was canceled already, and its terraform has not ended yet",
		[HOLD_FORCE_CANCELED] = "the run was force-canceled already, and its terraform has not ended yet"},
};

struct hold_verdict hold_step(const struct hold *hold, enum hold_event event)
{
	enum hold_at at = hold_at(hold);
	struct hold_verdict v = {.held = hold->holds, .stop = hold->stop};

	if (steps[at][event])
		steps[at][event](hold, &v);
	else
		v.refused = refusals[at][event] ? refusals[at][event] : "the workspace is not held for the run";
	return v;
}

bool hold_accepts(const struct hold *hold, enum hold_event event)
{
	return !hold_step(hold, event).refused;
}

long long hold_deadline_seconds(long long apply_seconds)
{
	return apply_seconds > 0 ? apply_seconds + apply_seconds / DEADLINE_SLACK_SHARE + DEADLINE_SLACK_SECONDS : 0;
}
