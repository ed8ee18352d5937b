/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_JOB_H
#define WORKER_JOB_H

/*
 * One claimed job from its claim to its result.
 *
 *  1. A job is a list of steps (stage/plan, stage/apply). A step starts what it has to and takes a hold for each thing
 * that ends later; when the last hold is released, the next step runs.
 *  2. The first step that fails, or a stop, skips to the closing steps; those always run, in order.
 *  3. At most one program of the job runs at a time. The result is given only when its last process is gone, the log is
 *     delivered, and the scheduler has (or refused) the last state.
 *  4. A job that is lost (the scheduler gave the attempt up) gives no result. A plan is killed then; an apply goes on
 *     and sends its states.
 */

#include "common/loop.h"
#include "worker/assignment.h"
#include "worker/exec/engine.h"
#include "worker/exec/providers.h"
#include "worker/exec/sandbox.h"
#include "worker/exec/workdir.h"
#include "worker/ship/channel.h"
#include "worker/ship/joblog.h"
#include "worker/ship/redact.h"
#include "worker/ship/states.h"

struct books;
struct child;
struct fetcher;
struct job;
struct policy_stage;
struct schemas;
struct unsent;

/* How policies are evaluated. */
struct policy_host {
	const char *opa, *sentinel; /* path, or a name in PATH or the engine folder; "": there is none */
	const char *engine_dir;
	int64_t most_ms;  /* for one policy */
	long long memory; /* bytes of address space */
	bool network;
};

/* What jobs need of their worker. */
struct job_host {
	struct loop *loop;
	struct fetcher *fetcher;
	const char *scheduler_url;
	const char *provider_mirror; /* folder, URL or "" */
	struct engines *engines;
	struct providers *providers;
	struct schemas *schemas;
	struct unsent *unsent;
	const struct sandbox *sandbox;
	const struct books *books; /* of prices */
	const char *infracost;     /* path, or "" */
	struct policy_host policies;
	int jobs; /* descriptor of the folder that job folders are made in */
	const char *jobs_path;
	/* Called once; `result` is NULL if the job was lost. The job is freed after it. */
	void (*ended)(void *data, struct job *job, const struct job_result *result);
	void *data;
};

struct step {
	const char *name; /* for metrics; NULL ends the list */
	void (*run)(struct job *job);
	bool closing; /* runs even if a step before it failed */
};

struct job {
	const struct job_host *host;
	struct assignment assignment;
	struct job_result result;
	bool decided; /* the result's outcome stands */
	bool lost;
	enum stop stop;
	bool abandoned; /* by a worker that ends, not by a person */

	const struct step *steps;
	size_t step; /* the next one */
	int holds;
	int64_t begun_ms, step_ms;
	struct loop_timer begin_timer, over_timer;

	struct workdir dir;
	char *folder; /* the working directory, below the job's root */
	struct channel channel;
	struct redactor redactor;
	struct joblog log;
	struct states states;

	char *engine; /* path */
	bool tofu;

	struct child *child;
	bool child_in_order; /* it stops in order when interrupted; others are killed */
	bool child_spoke;    /* it has put out something, so its signal handlers are in place */
	bool interrupt_due;  /* as soon as it speaks */

	struct policy_stage *policies; /* stage/policy; or NULL */

	int uploads;        /* under way */
	bool settling;      /* the last step waits for them */
	bool init_wanted;   /* the engine's init has to run */
	bool modules_apart; /* and `get` before it (stage/init) */
	/* files, or -1 */
	int configuration, init_bundle, plan_json;
	int state_file, plan_file; /* while they are downloaded */
};

/* Takes the assignment. `refusal` says why it can't be done, or is NULL. The job runs from the loop. */
struct job *job_start(const struct job_host *host, struct assignment *assignment, const struct err *refusal);
/* Cancel: interrupts terraform. Force: kills everything. The job ends when that has happened. */
void job_stop(struct job *job, enum stop stop);
/* The scheduler holds the attempt no more (rule 4 above). */
void job_lose(struct job *job);
/* The worker ends now: kills it, and stops waiting for the scheduler. */
void job_abandon(struct job *job);
/* Ends it without a word. For a worker that exits. */
void job_free(struct job *job);

/* ---- for the steps ---- */

void job_hold(struct job *job);
void job_release(struct job *job);
/* Decides the outcome with a sentence, unless it is decided. */
void job_fail(struct job *job, enum outcome outcome, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* True if no more work is to be done: decided, lost or asked to stop. */
bool job_done(const struct job *job);
/* Runs work in a thread under a hold. */
void job_work(struct job *job, loop_work_fn work, loop_work_fn done, void *data);

#endif
