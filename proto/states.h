/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_STATES_H
#define PROTO_STATES_H

/* The statuses of run_status.def and the stages of stages.def, with the columns of their rows. */

#include "common/base.h"

enum run_status {
#define RUN_STATUS(symbol, name, timestamp, label, group) RUN_##symbol,
#include "proto/run_status.def"
#undef RUN_STATUS
	RUN_STATUS_COUNT
};

enum run_group { OPEN, PARKED, FINAL };

struct run_status_row {
	const char *name;      /* "plan_queued" */
	const char *timestamp; /* "plan-queued-at" */
	const char *label;     /* "Planning" */
	enum run_group group;
};

extern const struct run_status_row run_statuses[RUN_STATUS_COUNT];

enum stage {
#define STAGE(symbol, ...) STAGE_##symbol,
#include "proto/stages.def"
#undef STAGE
	STAGE_COUNT,
	STAGE_NONE = STAGE_COUNT /* before the first */
};

#define STAGE_BIT(stage) (1u << (stage))

/* BY_GIT: a git job that many runs share, of the content that their configurations have in common. */
enum stage_doer { BY_WORKER, BY_NOTIFIER, BY_PERSON, BY_GIT };
/* The effect of an outcome other than passed on the run. */
enum stage_end { ENDS_ERRORED, AWAITS_OVERRIDE, GOES_ON };

struct stage_row {
	const char *name;
	enum run_status waiters, runs, rests;
	enum stage_doer doer;
	enum stage_end failure, error;
};

extern const struct stage_row stages[STAGE_COUNT + 1]; /* the last is STAGE_NONE, named "none" */

/* The status or stage of that name; -1 if there is none. */
int run_status_parse(const char *name);
int stage_parse(const char *name);
/* Returns true if none of the statuses (names, separated by commas) is final; false for NULL. */
bool run_statuses_are_live(const char *names);

#endif
