/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_RUN_H
#define SCHEDULER_LIFECYCLE_RUN_H

/*
 * The life of a run (STATES.md) as a pure function: what is, what happened, what follows. No I/O, no clock, no
 * allocation. The tables are proto/run_status.def, proto/stages.def and edges.def; run.c opens with the invariants.
 */

#include "proto/messages.h"
#include "proto/states.h"

/* Everything the decisions depend on. */
struct run {
	enum run_status status;
	enum stage stage;       /* the one it is in or rests after; STAGE_NONE before the first */
	uint32_t stages;        /* STAGE_BITs of those configured for it, fixed at creation */
	bool plan_only;         /* speculative: beside the queue, never applied */
	bool save_plan;         /* parks after the plan */
	bool auto_apply;        /* and queued by who may apply */
	bool allow_empty_apply; /* applies a plan without changes */
	bool has_changes;       /* what the plan said */
	bool queued;            /* waits in its workspace's queue: pending, or a saved plan that was confirmed */
	bool underway;          /* its stage's work was taken up */
	enum stop stopping;     /* asked for; it ends once the work is known to be over */
};

enum run_event_kind {
#define EVENT(symbol, name, refusal) EV_##symbol,
#include "scheduler/lifecycle/events.def"
#undef EVENT
	EVENT_COUNT
};

struct run_event {
	enum run_event_kind kind;
	bool has_changes; /* EV_PASSED of a plan */
	bool may_retry;   /* EV_LOST: the attempt may be made again (job_may_retry) */
	bool cooled_off;  /* EV_FORCE_CANCELED: the time to wait after the cancel is over */
	bool started;     /* terraform may have started in the attempt that it ends */
	bool state_owed;  /* that attempt's worker may have a state that has not come */
};

/* Where a run stands, whatever its stage: the rows of edges.def. */
enum situation {
#define SITUATION(symbol, name) AT_##symbol,
#include "scheduler/lifecycle/situations.def"
#undef SITUATION
	SITUATION_COUNT
};

/* What becomes of a stage's own object: the plan, the apply, a task stage, an estimate, a policy check. */
enum operation_status {
	OPERATION_PENDING,
	OPERATION_QUEUED,
	OPERATION_RUNNING,
	OPERATION_FINISHED,
	OPERATION_FAILED, /* the work was done and says no */
	OPERATION_OVERRIDDEN,
	OPERATION_ERRORED,
	OPERATION_CANCELED,
	OPERATION_UNREACHABLE, /* the run ended before */
};
const char *operation_status_name(enum operation_status status);

enum { MOST_REACHED = 8, MOST_MARKS = STAGE_COUNT + 2 };

/* What follows. Everything but `refused` is to be saved in one transaction. */
struct verdict {
	const char *refused;                   /* why it can't be, for the API's 409; NULL: it can */
	struct run run;                        /* as it is from now on */
	enum run_status reached[MOST_REACHED]; /* in order; each gets its timestamp */
	size_t reached_count;
	struct {
		enum stage stage;
		enum operation_status status;
	} marks[MOST_MARKS];
	size_t mark_count;
	bool starts;   /* the work of run.stage is to be put up: a job, or its tasks */
	bool retries;  /* the same work is to be put up again, as the next attempt */
	bool ends_job; /* the job there is is over or withdrawn */
	bool signals;  /* whoever runs the job is to be told run.stopping */
	/* An apply is over and its last state may still come: until then nothing of the workspace's queue may start, so
	 * that no run plans on a stale state. */
	bool holds_workspace;
};

struct verdict run_step(const struct run *run, const struct run_event *event);

/* Ends a run that breaks an invariant (run_check), errored: nothing else can be decided about it. */
struct verdict run_abandon(const struct run *run, const struct run_event *event);

/* A run as it is created: pending, in its queue. */
struct run run_created(uint32_t stages);
enum situation run_situation(const struct run *run);
/* True while it is its workspace's current run: nothing else of the queue may start. */
bool run_holds(const struct run *run);
bool run_ended(const struct run *run);
/* The words for where the run stands, as people read them: "Needs Confirmation", "Plan Errored". Static. */
const char *run_label(const struct run *run);
/* True if the event would be accepted: the API's `actions`. */
bool run_accepts(const struct run *run, enum run_event_kind event);
/* NULL, or which invariant the run breaks: checked after loading and before saving, in release builds too. */
const char *run_check(const struct run *run);

/* A plan may be tried again, an apply never once terraform may have started; and what was lost with its
 * worker twice may be what ends workers. Attempts count from 1; `losses` counts those lost so far, this one too. */
bool job_may_retry(enum stage stage, bool started, int attempt, int losses);

/* Whether edges.def has a row for the two. */
bool edge_exists(enum situation situation, enum run_event_kind event);
const char *run_event_name(enum run_event_kind kind);
const char *situation_name(enum situation situation);

#endif
