/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_TRIGGERS_H
#define SCHEDULER_LIFECYCLE_TRIGGERS_H

/* The notification triggers of runs (triggers.def). Pure, like all of scheduler/lifecycle. */

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

/* Returns the trigger of a step; TRIGGER_COUNT for none. A step has at most one, and those of plan-only runs have
 * none. */
enum trigger trigger_of(const struct verdict *verdict);

/* Returns the trigger of a run's final status. A run that ended without its purpose has the trigger of an error; that
 * includes canceled and discarded runs. */
enum trigger trigger_of_end(enum run_status status);

/* Returns the event in words, such as "Run Planned - Needs Confirmation". The caller frees it. */
char *trigger_message(enum trigger trigger, enum run_status status);

#endif
