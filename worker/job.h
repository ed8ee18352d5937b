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
 *  4. A job that is lost (the scheduler gave the attempt up) gives no result. What runs is killed then; terraform's
 *     apply goes on and sends its states.
 *  5. Nothing but terraform's apply outlives the lease: nothing else is started, or still runs, when another worker may
 *     have the job (keeper/keeper.h; this process may be stopped meanwhile).
 *  6. A plan whose JSON nothing waits for gives its result before it is shown. What it does then is aside: its failure
 *     is nobody's but the worker's log's.
 */

#include "common/loop.h"
#include "common/crypto.h"
#include "worker/assignment.h"
#include "worker/exec/engine.h"
#include "worker/exec/providers.h"
#include "worker/exec/sandbox.h"
#include "worker/exec/workdir.h"
#include "worker/keeper/keeper.h"
#include "worker/limits.h"
#include "worker/ship/channel.h"
#include "worker/ship/joblog.h"
#include "worker/ship/redact.h"
#include "worker/ship/states.h"

struct books;
struct child;
struct fetcher;
struct inits;
struct installer;
struct job;
struct network_use;
struct networks;
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

/* How a program of a job takes it to be stopped. */
struct child_kind {
	bool in_order; /* it stops in order when interrupted; others are killed */
	bool outlives; /* it goes on when its lease has ended */
};

/* What jobs need of their worker. */
struct job_host {
	struct loop *loop;
	struct fetcher *fetcher;
	const char *scheduler_url;
	const char *provider_mirror; /* folder, URL or "" */
	struct engines *engines;
	struct providers *providers;
	struct org_packages *org_packages;
	struct installer *installer;
	struct inits *inits;
	struct schemas *schemas;
	struct unsent *unsent;
	const struct sandbox *sandbox;
	const struct books *books; /* of prices */
	const char *infracost;     /* path, or "" */
	struct policy_host policies;
	const struct job_limits *limits;
	struct networks *networks; /* where each job has one of its own; or NULL */
	bool offline;              /* jobs have no network */
	int jobs;                  /* descriptor of the folder that job folders are made in */
	const char *jobs_path;
	/* Whether a job of that run which has reported still goes on here. */
	bool (*aside)(void *data, const char *run);
	/* The result of a job that goes on (rule 6). */
	void (*reported)(void *data, const struct job *job, const struct job_result *result);
	/* Called once; `result` is NULL if the job was lost, or has reported. The job is freed after it. */
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
	bool decided;       /* the result's outcome stands */
	bool applied;       /* terraform's apply ended well */
	bool stateless;     /* ...and changed something, but wrote no state that the worker saw */
	bool changed;       /* the engine said that a resource was made, changed or destroyed */
	bool behind;        /* the scheduler has not got the apply's last state */
	json_t *unrecorded; /* an apply's resources (ship/unrecorded.h), or NULL; owned */
	bool lost;
	bool reported; /* its result is given */
	bool aside;    /* what runs now has no part in the result */
	enum stop stop;
	bool abandoned; /* by a worker that ends, not by a person */

	const struct step *steps;
	size_t step; /* the next one */
	int holds;
	int64_t begun_ms, step_ms;
	struct loop_timer begin_timer, over_timer, linger_timer;

	struct workdir dir;
	char *folder; /* the working directory, below the job's root */
	struct channel channel;
	struct redactor redactor;
	struct joblog log;
	struct states states;

	struct org_user *packages; /* of its organization */
	char *engine;              /* path */
	bool tofu;

	struct network_use *network; /* all commands of the job run in it; or NULL */
	bool network_lost;           /* it ended while a command ran */
	struct keeper_lease lease;   /* of the claim, or of the last heartbeat that held it */
	struct limits limits;
	struct child *child;
	struct child_kind child_kind;
	bool child_spoke;   /* it has put out something, so its signal handlers are in place */
	bool interrupt_due; /* as soon as it speaks */

	struct policy_stage *policies; /* stage/policy; or NULL */

	int uploads;                    /* under way */
	bool settling;                  /* the last step waits for them */
	bool has_modules;               /* the configuration calls modules */
	bool init_wanted;               /* the engine's init has to run */
	char init_key[SHA256_HEX_SIZE]; /* stage/reuse; "": this one is not kept */
	bool init_reused;
	bool old_plan; /* of a worker that left the engine's workspace at "default": the apply must, too */
	char *locked;  /* the configuration's own lock file, or NULL */
	/* files, or -1 */
	int configuration, init_bundle, plan_json;
	int record;                /* of the engine's output (ship/record.h) */
	int state_file, plan_file; /* while they are downloaded */
};

/* Takes the assignment, which is its worker's for the lease. `refusal` says why it can't be done, or is NULL. The job
 * runs from the loop. */
struct job *job_start(const struct job_host *host, struct assignment *assignment, const struct keeper_lease *lease,
	const struct err *refusal);
/* A heartbeat held it. */
void job_renew(struct job *job, const struct keeper_lease *lease);
/* Cancel: interrupts terraform. Force: kills everything. The job ends when that has happened. */
void job_stop(struct job *job, enum stop stop);
/* The same for its program alone, if there is one. */
void job_stop_child(struct job *job, bool force);
/* The scheduler holds the attempt no more (rule 4 above). */
void job_lose(struct job *job);
/* The worker ends now: kills it. */
void job_abandon(struct job *job);
/* Stops waiting for the scheduler. */
void job_let_go(struct job *job);
/* Ends it without a word. For a worker that exits. */
void job_free(struct job *job);

/* ---- for the steps ---- */

void job_hold(struct job *job);
void job_release(struct job *job);
/* Decides the outcome with a sentence, unless it is decided. */
void job_fail(struct job *job, enum outcome outcome, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Gives the result now; the job goes on with what is aside. */
void job_report(struct job *job);
/* The name of the engine's workspace, which terraform.workspace is. Borrowed. */
const char *job_workspace(const struct job *job);
/* True if no more work is to be done: decided, lost or asked to stop. */
bool job_done(const struct job *job);
/* True if a program may be started; else the lease is over, and the job is lost. */
bool job_leased(struct job *job);
/* What a program of that kind is started with, as the job's child. */
struct keeper_terms job_terms(struct job *job, const struct child_kind *kind);
/* It is gone, for that reason. */
void job_child_ended(struct job *job, enum keeper_why why);
/* Calls fn(data, NULL) when the job's network is there (at once if it is, or if jobs have none of their own), or
 * fn(data, err) if it can't be made. Under a hold of the caller's. */
void job_network_wait(struct job *job, void (*fn)(void *data, const struct err *err), void *data);
/* The job's network for struct child_spec; NULL if jobs have none of their own. ERR_INTERNAL if
 * it has ended: the command must not start then, since it would start in the worker's network. */
int job_network(const struct job *job, const int **ret_network, struct err *err);
/* The job's program is gone, and failed: if its network ended meanwhile, the job fails for that. */
void job_network_judge(struct job *job);
/* True if terraform's apply ended well and changed something, but wrote no state that the worker saw. */
bool job_state_is_missing(const struct job *job);
/* Runs work in a thread under a hold. */
void job_work(struct job *job, loop_work_fn work, loop_work_fn done, void *data);

#endif
