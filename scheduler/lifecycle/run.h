/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_RUN_H
#define SCHEDULER_LIFECYCLE_RUN_H

/*
 * The lifecycle of a run (STATES.md) as a pure function from a run and an event to a verdict. No I/O, no clock, no
 * allocation. The tables are proto/run_status.def, proto/stages.def and edges.def; run.c begins with the invariants.
 */

#include "proto/messages.h"
#include "proto/states.h"

/* All inputs of the decisions. */
struct run {
	enum run_status status;
	enum stage stage; /* The current stage, or the last one while the run rests. STAGE_NONE before the first. */
	uint32_t stages;  /* STAGE_BITs of the configured stages, fixed at creation. */
	bool plan_only;   /* Speculative: runs outside of the queue and is never applied. */
	bool assessment;  /* A plan-only run that the scheduler makes to find drift (runs/assessments/assessments.h). */
	bool query;       /* A plan-only run whose job lists resources instead of planning (terraform query). */
	bool test;        /* A plan-only run whose job tests a module instead of planning (terraform test). */
	bool save_plan;   /* Is parked after the plan. */
	bool auto_apply;  /* Applies without confirmation. Set only if the creator may apply. */
	bool allow_empty_apply; /* Applies a plan without changes. */
	bool has_changes;       /* The plan has changes. */
	bool fetched;           /* The files of its configuration are here, so STAGE_FETCH has no work. */
	bool queued;            /* Waits in its workspace's queue: pending, or a confirmed saved plan. */
	bool underway;          /* The work of its stage has started. */
	enum stop stopping;     /* The stop that was requested. The run ends when the work has certainly ended. */
};

enum run_event_kind {
#define EVENT(symbol, name, refusal) EV_##symbol,
#include "scheduler/lifecycle/events.def"
#undef EVENT
	EVENT_COUNT
};

struct run_event {
	enum run_event_kind kind;
	bool has_changes;   /* EV_PASSED of a plan */
	bool may_retry;     /* EV_LOST: the attempt may be repeated (job_may_retry) */
	bool window_closed; /* applies may not start now: a run that is confirmed waits */
	bool cooled_off;    /* EV_FORCE_CANCELED: the waiting time after the cancel is over */
	bool started;       /* terraform may have started in the attempt that the event ends */
	bool state_owed;    /* that attempt's worker may have a state that has not arrived */
};

/* The state of a run independent of its stage: the rows of edges.def. */
enum situation {
#define SITUATION(symbol, name) AT_##symbol,
#include "scheduler/lifecycle/situations.def"
#undef SITUATION
	SITUATION_COUNT
};

/* The status of a stage's own object: the plan, the apply, a task stage, an estimate, a policy check. */
enum operation_status {
	OPERATION_PENDING,
	OPERATION_QUEUED,
	OPERATION_RUNNING,
	OPERATION_FINISHED,
	OPERATION_FAILED, /* the work was done, with a negative outcome */
	OPERATION_OVERRIDDEN,
	OPERATION_ERRORED,
	OPERATION_CANCELED,
	OPERATION_UNREACHABLE, /* the run ended before the stage */
};
const char *operation_status_name(enum operation_status status);

enum { MAX_REACHED = 8, MAX_MARKS = STAGE_COUNT + 2 };

/* The result of a step. Everything but `refused` is to be saved in one transaction. */
struct verdict {
	const char *refused;                  /* The reason of a refusal, for the API's 409. NULL: accepted. */
	struct run run;                       /* The run after the step. */
	enum run_status reached[MAX_REACHED]; /* In order. Each gets its timestamp. */
	size_t reached_count;
	struct {
		enum stage stage;
		enum operation_status status;
	} marks[MAX_MARKS];
	size_t mark_count;
	bool starts;   /* The caller creates the work of run.stage: a job, or its tasks. */
	bool retries;  /* The caller creates the same work again, as the next attempt. */
	bool ends_job; /* The current job has ended or is withdrawn. */
	bool signals;  /* The caller sends run.stopping to the worker of the job. */
	/* An attempt of an apply has ended and its last state may still arrive. Until then no run of the workspace's
	 * queue may start, so that no run plans on a stale state. */
	bool holds_workspace;
};

struct verdict run_step(const struct run *run, const struct run_event *event);

/* Ends a run that breaks an invariant (run_check) as errored. No other decision about such a run is possible. */
struct verdict run_abandon(const struct run *run, const struct run_event *event);

/* Returns a new run: pending, in its queue. */
struct run run_created(uint32_t stages);
enum situation run_situation(const struct run *run);
/* Returns true while it is its workspace's current run: no other run of the queue may start. */
bool run_holds(const struct run *run);
bool run_ended(const struct run *run);
/* Returns true for assessments, queries and test runs: no list of runs shows them, and they are no part of their
 * workspace's runs. */
bool run_is_hidden(const struct run *run);
/* Returns the status of a query or a test run in the API: "pending", "queued", "running", "finished", "errored",
 * "canceled". Static.
 */
const char *query_status_name(const struct run *run);
/* Returns the run's state for display: "Needs Confirmation", "Plan Errored". Static. */
const char *run_label(const struct run *run);
/* Returns true if the event would be accepted: the API's `actions`. */
bool run_accepts(const struct run *run, enum run_event_kind event);
/* Returns NULL, or the invariant that the run breaks. Checked after loading and before saving, in release builds
 * too. */
const char *run_check(const struct run *run);

/* Returns true if the attempt may be repeated. An apply is never repeated once terraform may have started. Work that
 * was lost with its worker twice is not repeated, since it may be what ends the workers. Attempts count from 1.
 * `losses` counts the lost attempts so far, including this one. */
bool job_may_retry(enum stage stage, bool started, int attempt, int losses);

/* Returns true if edges.def has a row for the two. */
bool edge_exists(enum situation situation, enum run_event_kind event);
const char *run_event_name(enum run_event_kind kind);
const char *situation_name(enum situation situation);

#endif
