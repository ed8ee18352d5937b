/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_TRIGGERS_H
#define SCHEDULER_LIFECYCLE_TRIGGERS_H

/* What of a run's life people are told (triggers.def). Pure, as all of the lifecycle. */

#include "scheduler/lifecycle/run.h"

enum trigger {
#define TRIGGER(symbol, name) TRIGGER_##symbol,
#include "scheduler/lifecycle/triggers.def"
#undef TRIGGER
	TRIGGER_COUNT
};

const char *trigger_name(enum trigger trigger);
/* TRIGGER_COUNT for an unknown name. */
enum trigger trigger_parse(const char *name);

/* What a step sets off: one thing at the most, TRIGGER_COUNT for nothing. Plan-only runs set off nothing. */
enum trigger trigger_of(const struct verdict *verdict);

/* Of a run's last status: what ends without having done what it was for is an error, canceled and discarded too. */
enum trigger trigger_of_end(enum run_status status);

/* "Run Planned - Needs Confirmation": what happened, in words. The caller frees it. */
char *trigger_message(enum trigger trigger, enum run_status status);

#endif
