/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RUNTIME_JOB_H
#define WORKER_RUNTIME_JOB_H

/*
 * The life of one claimed job, from its claim to its result.
 *
 *  1. A job is a list of steps (stage/plan, stage/apply). A step starts its work and takes a hold for each operation
 *     that ends later. When the last hold is released, the next step runs.
 *  2. A stop, or the first step that fails, skips to the closing steps. Closing steps always run, in order.
 *  3. At most one program of the job runs at a time, beside a Vault session, which keeps the tokens of the run alive.
 *     The job gives its result only when its last process has ended, the log is delivered, and the scheduler has
 *     accepted or refused the last state.
 *  4. A job is lost if the scheduler gave the attempt up. A lost job gives no result. Its program is killed, except
 *     for terraform's apply, which goes on and sends its states.
 *  5. Only terraform's apply outlives the lease, with its Vault session. No other program is started or still runs when
 *     another worker may have the job, even if this process is stopped meanwhile (keeper/keeper.h).
 *  6. A plan whose JSON nothing waits for gives its result before the plan is shown. The remaining work is optional:
 *     its failure only goes to the worker's log. It begins when a slot is free (slots.c), and has no network.
 */

#include "common/crypto.h"
#include "common/loop/loop.h"
#include "worker/engine/engine.h"
#include "worker/engine/variables.h"
#include "worker/exec/sandbox.h"
#include "worker/exec/workdir.h"
#include "worker/hooks/hooks.h"
#include "worker/keeper/keeper.h"
#include "worker/limits/limits.h"
#include "worker/packages/providers.h"
#include "worker/runtime/assignment.h"
#include "worker/upload/channel.h"
#include "worker/upload/joblog.h"
#include "worker/upload/redact.h"
#include "worker/upload/states.h"

struct books;
struct child;
struct fetcher;
struct inits;
struct installer;
struct job;
struct network_use;
struct networks;
struct policy_stage;
struct rescue;
struct schema_cache;
struct step;
struct unsent;
struct vault_session;

/* Programs and limits for the evaluation of policies. */
struct policy_host {
	const char *opa, *sentinel; /* path, or a name in PATH or the engine folder; "": none, or runyard-policy */
	const char *opa_version;    /* to be downloaded if there is no `opa` */
	const char *engine_dir;
	int64_t max_ms;   /* time limit for one policy */
	long long memory; /* bytes of address space */
	bool network;
	const char *http_hosts; /* hosts that Sentinel-language policies may send requests to; "": none */
};

/* The reaction of a job's program to a stop and to the end of its lease. */
struct child_kind {
	bool in_order; /* it stops in order when interrupted; other programs are killed */
	bool outlives; /* it goes on after its lease has ended */
};

/* The worker's services that jobs use. */
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
	struct schema_cache *schemas;
	struct unsent *unsent;
	const struct step *const *steps; /* by stage; NULL for a stage that a worker does not do */
	const struct sandbox *sandbox;
	struct bases *bases;       /* of the sandbox */
	const struct books *books; /* price books */
	const char *infracost;     /* path, or "" */
	struct policy_host policies;
	const struct hooks *hooks;
	const struct job_limits *limits;
	struct networks *networks; /* if each job has a network of its own; else NULL */
	bool offline;              /* jobs have no network */
	int jobs;                  /* descriptor of the folder that job folders are made in */
	const char *jobs_path;
	struct fetcher *outside; /* for requests to other servers than the scheduler */
	/* Whether the last request to the scheduler succeeded. */
	bool (*reachable)(void *data);
	/* Whether a job of that run goes on here after it has reported. */
	bool (*finishing)(void *data, const char *run);
	/* A job waits for its turn to show its plan: job_take_turn is to be called. */
	void (*show)(void *data);
	/* Receives the result of a job that goes on (rule 6). */
	void (*reported)(void *data, const struct job *job, const struct job_result *result);
	/* Called once. `result` is NULL if the job was lost or has already reported. The job is freed afterwards. */
	void (*ended)(void *data, struct job *job, const struct job_result *result);
	void *data;
};

/* Of a job that shows its plan after its result. */
enum turn { TURN_NONE, TURN_AWAITED, TURN_TAKEN };

struct step {
	const char *name; /* for metrics; NULL ends the list */
	void (*run)(struct job *job);
	bool closing; /* runs even if a step before it failed */
};

struct job {
	const struct job_host *host;
	struct assignment assignment;
	struct job_result result;
	bool decided;       /* the result's outcome is final */
	bool applied;       /* terraform's apply succeeded */
	bool moves_state;   /* its variables name another file for the state (variables_move_state) */
	bool stateless;     /* it was applied and changed something, but the worker saw no state of it */
	bool engine_ended;  /* the engine's plan or apply was started, and has ended */
	bool hook_failed;   /* after the apply had succeeded */
	bool changed;       /* the engine reported a created, changed or destroyed resource */
	bool behind;        /* the scheduler lacks the apply's last state */
	json_t *unrecorded; /* an apply's unrecorded resources (upload/unrecorded.h), or NULL; owned */
	bool lost;
	bool reported; /* the result is given */
	int64_t reported_ms;
	bool optional; /* the current work does not affect the result */
	enum turn turn;
	enum stop stop;
	bool abandoned; /* stopped because the worker ends, not on a user's request */
	bool over;      /* an apply's engine has ended, and its unrecorded resources are known */

	const struct step *steps;
	size_t step; /* index of the next step */
	int holds;
	int64_t begun_ms, step_ms;
	struct loop_timer begin_timer, over_timer, linger_timer;

	struct workdir dir;
	char *folder; /* the working directory, below the job's root */
	struct channel channel;
	struct redactor redactor;
	struct joblog log;
	struct states states;
	struct rescue *rescue; /* of an apply; or NULL */

	struct org_user *packages; /* of its organization */
	char *engine;              /* path */
	bool tofu;
	enum hook_kind hook;   /* the last one that was started */
	struct texts hook_env; /* variables that hooks have set for the commands of the engine */
	struct texts programs; /* paths of the OPAs of its policy sets */

	struct network_use *network; /* for all commands of the job; or NULL */
	bool network_lost;           /* the network ended while a command ran */
	int network_user; /* user namespace of the network that the job gave back when it reported; or -1; owned */
	struct keeper_lease lease; /* of the claim, or of the last heartbeat that renewed it */
	struct limits limits;
	struct child *child;
	struct child_kind child_kind;
	bool child_spoke;   /* it has written output, so its signal handlers are installed */
	bool interrupt_due; /* interrupt it at its first output */

	json_t *ephemeral;           /* of an apply: the variables that may be ephemeral, or NULL; owned */
	json_t *credentials;         /* checked (identity/credentials.h), with the secrets from Vault; or NULL; owned */
	struct vault_session *vault; /* or NULL; its program is the `child` until it has logged in */
	bool vault_held;             /* the current step waits for the login, or for the session's end */

	struct policy_stage *policies; /* stage/policy; or NULL */
	void (*policies_free)(struct policy_stage *policies);

	int uploads;                    /* number under way */
	bool settling;                  /* the last step waits for the uploads */
	bool has_modules;               /* the configuration calls modules */
	bool init_wanted;               /* the engine's init has to run */
	char init_key[SHA256_HEX_SIZE]; /* key for later reuse (stage/reuse); "": this init is not kept */
	bool init_reused;
	char schemas_key[SHA256_HEX_SIZE]; /* of its provider schemas (engine/schema_cache.h) */
	bool old_plan; /* made by a worker that left the engine's workspace at "default": the apply must use that, too
			*/
	char *locked;  /* the configuration's own lock file, or NULL */
	/* files, or -1 */
	int configuration, init_bundle, plan_json;
	int record;                /* of the engine's output (upload/record.h) */
	int state_file, plan_file; /* while they are downloaded */
};

/* Takes the assignment, which this worker holds for the lease. `refusal` is the reason why the job can't be run, or
 * NULL. The job runs from the loop. */
struct job *job_start(const struct job_host *host, struct assignment *assignment, const struct keeper_lease *lease,
	const struct err *refusal);
/* A heartbeat has renewed the lease. */
void job_renew(struct job *job, const struct keeper_lease *lease);
/* Cancel interrupts terraform, force kills everything. The job ends when that is done. */
void job_stop(struct job *job, enum stop stop);
/* Stops only the running program, if there is one. */
void job_stop_child(struct job *job, bool force);
/* The scheduler has given the attempt up (rule 4 above). */
void job_lose(struct job *job);
/* The worker ends soon: interrupts an apply, and kills any other job. */
void job_interrupt(struct job *job);
/* The worker ends now: kills the job. */
void job_kill(struct job *job);
/* Stops waiting for the scheduler's answers. */
void job_let_go(struct job *job);
/* The job shows its plan now. */
void job_take_turn(struct job *job);
/* Frees the job without a callback. For a worker that exits. */
void job_free(struct job *job);

/* ---- for the steps ---- */

void job_hold(struct job *job);
void job_release(struct job *job);
/* Sets the outcome and its message, unless the outcome is decided. */
void job_fail(struct job *job, enum outcome outcome, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sets the result's error. The values that the log does not show are redacted, because the worker's log shows the
 * error, too. */
void job_error_set(struct job *job, const char *text);
/* Gives the result now; the remaining work of the job is optional (rule 6). */
void job_report(struct job *job);
/* Holds a job that has reported until its turn. */
void job_await_turn(struct job *job);
/* The engine's workspace name, the value of terraform.workspace. Borrowed. */
const char *job_workspace(const struct job *job);
/* True if the job should do no more work: it is decided, lost or asked to stop. */
bool job_done(const struct job *job);
/* True if a program may be started. False if the lease is over; the job is then lost. */
bool job_leased(struct job *job);
/* The keeper's terms for a child of that kind. */
struct keeper_terms job_terms(struct job *job, const struct child_kind *kind);
/* To be called when the child has ended, with the reason. */
void job_child_ended(struct job *job, enum keeper_why why);
/* Calls fn(data, NULL) when the job's network is ready, or fn(data, err) if it can't be made. Calls it immediately
 * if the network is ready, or if the job has none of its own. The caller must hold the job. */
void job_network_wait(struct job *job, void (*fn)(void *data, const struct err *err), void *data);
/* The job's network for struct child_spec; NULL if jobs have no network of their own. ERR_INTERNAL if the network
 * has ended: the command must not start then, since it would run in the worker's network. */
int job_network(const struct job *job, const int **ret_network, struct err *err);
/* To be called when the job's program has failed: if its network ended meanwhile, fails the job with that reason. */
void job_network_judge(struct job *job);
/* True if terraform's apply succeeded and changed something, but the worker saw no state of it. */
bool job_state_is_missing(const struct job *job);
/* Sets the outcome of a result that is otherwise the job's, as if the job ended now. */
void job_outcome(const struct job *job, struct job_result *result);
/* Runs work in a thread, under a hold. */
void job_work(struct job *job, loop_work_fn work, loop_work_fn done, void *data);

/* ---- job_rescue.c: an apply's last state in the object store (rescue/rescue.h) ---- */

/* The apply is about to start. */
void job_rescue_begin(struct job *job);
/* The worker ends soon. */
void job_rescue_hurry(struct job *job);

/* ---- job_limits.c: the limits (limits/limits.h) ---- */

/* Starts the timers of the limits, and makes the control group. */
void job_limits_begin(struct job *job);
void job_limits_release(struct job *job);
/* Adds the limits that the kernel and the keeper enforce. */
void job_limits_terms(const struct job *job, struct keeper_terms *terms);
/* Records that the job exceeded a limit and stops the running program. Only the first call counts, and only before
 * the outcome is decided. */
void job_limit_met(struct job *job, enum limit limit);
/* Stops the running program in order, and kills it after stop_seconds. */
void job_limits_stop(struct job *job);
/* To be called when the program has ended, with the reason: fails the job if it exceeded a limit. */
void job_limits_ended(struct job *job, enum keeper_why why);
/* Adds the reason to the error of a job that failed because the disk was full. Under a hold. */
void job_limits_explain(struct job *job);

#endif
