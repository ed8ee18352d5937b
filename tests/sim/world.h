/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

/*
 * A complete Runyard in memory, driven by one seeded random generator. The product's scheduler/lifecycle and
 * scheduler/queue make the decisions. The tables are arrays. Processes crash and stall, a broker duplicates, delays
 * and loses messages, and terraform processes write states. Each function that replaces SQL or I/O of the real
 * processes names what it replaces.
 *
 * Time advances to the next moment on the agenda. The clock of each worker and notifier runs a little faster or
 * slower. The same seed gives the same moments in the same order.
 */

#include <stdio.h>

#include "proto/messages.h"
#include "scheduler/lifecycle/attempt.h"
#include "scheduler/lifecycle/hold.h"
#include "scheduler/lifecycle/queue.h"
#include "scheduler/lifecycle/run.h"

enum {
	SCHEDULERS = 2,
	WORKERS = 3,
	NOTIFIERS = 2,
	SLOTS = 2,
	KEPT = 24,
	FOLDERS = 32,
	ORGANIZATIONS = 2,
	WORKSPACES = 3,
	RUNS = 24,
	TASKS = 64,
	CALLS = 8,
	ENGINES = 64,
	OUTBOX = 256,
	MOMENTS = 1024,
	NONE = -1,
};

/* Milliseconds. The lease, the limits of an apply and the times of tasks are settings of the product; the rest are
 * its constants. */
enum {
	SECOND = 1000,
	LEASE = 60 * SECOND,
	APPLY_TIME = 150 * SECOND, /* --apply-seconds of the workers */
	STOP_TIME = 20 * SECOND,   /* --job-stop-seconds */
	COOL_OFF = 10 * SECOND,
	REQUEST_TIMEOUT = 20 * SECOND,
	PUBLISH_AFTER = 1 * SECOND,
	BROKER_SLOW = 2 * SECOND,
	STILL_HELD = 5 * SECOND,
	TASK_PROGRESS = 60 * SECOND,
	TASK_TOTAL = 240 * SECOND,
	TASK_DELIVERY = 60 * SECOND,
	TASK_SILENT = 30 * SECOND,
};

/* Flaws that are introduced on purpose, to verify that the checks find them (--break NAME). */
enum flaw {
	FLAW_NONE,
#define FLAW(symbol, name, what) FLAW_##symbol,
#include "tests/sim/flaws.def"
#undef FLAW
	FLAW_COUNT
};

struct world;
struct note;
typedef void (*act_fn)(struct world *w, const struct note *note);

/* A process that can be killed and stalled. Its moments on the agenda are dropped when it dies, and wait while it
 * stalls. */
enum kind { SCHEDULER, WORKER, NOTIFIER, BROKER };

struct process {
	enum kind kind;
	int number;
	bool up;
	unsigned life;
	int64_t stalled_until;
	int clock_ppm; /* how much faster its clock runs than the database's */
};

/* terraform's state file: one bit per resource. */
struct file {
	bool exists;
	int lineage;
	long long serial;
	uint64_t resources;
};

/* The topics. Messages contain ids only. */
enum topic { ON_JOBS, ON_RESULTS, ON_CONTROL, ON_EVENTS, ON_TASKS, ON_TASK_RESULTS };

struct message {
	enum topic topic;
	int run, job, attempt, task;
	int word; /* an outcome, or a stop */
	bool has_changes, owed;
	int mac;       /* the token that a result's or a stop's code was made with; 0: none */
	long long row; /* of the outbox; 0: none */
};

/* An attempt as a claim or a heartbeat names it. */
struct named {
	int run, job, attempt, token;
	bool held, awaited; /* awaited: it is over, and its workspace is held for its last state */
	enum stop stop;
};

enum answer { ANSWER_NONE, ANSWER_OK, ANSWER_OVER };
/* Serves a request in a scheduler, in one transaction. */
typedef enum answer (*serve_fn)(struct world *w, struct note *note);

/* The arguments of a moment. The note of a call goes to the scheduler, which fills in the answer, and comes back. */
struct note {
	struct process *of, *caller;
	unsigned life, caller_life; /* schedule() fills in of and life */
	serve_fn serve;
	act_fn answered;
	enum answer answer;
	int run, job, attempt, token, task, who, word, count;
	bool flag, owed, lost;
	int64_t sent; /* by the caller's clock */
	int64_t due;
	struct file file;
	struct message message;
	struct named named[SLOTS + KEPT];
};

struct moment {
	int64_t at;
	uint64_t order;
	act_fn act;
	struct note note;
};

/* ---- the database ---- */

struct job {
	bool exists;
	struct attempt attempt; /* lease_over is filled in by attempt_now */
	int number, token, agent;
	enum stage stage;
	enum job_class class;
	enum stop stop;
	int64_t lease_until, announced_at, created_at;
	int64_t deadline; /* of a claimed apply */
};

struct run_row {
	struct run run;
	int workspace;
	int64_t cooled_at;
	int base_state;
	struct job job;
	struct {
		int job, token;
	} late; /* of an apply that ended with a state owed: the state is still accepted (workspace_holds) */
	/* Recorded for the checks. */
	int applies, ends;           /* ends: how often the end was published */
	uint64_t reached, published; /* statuses, and those that were published to the broker */
};

/* A row of workspace_holds, and whether the workspace's row names it. */
struct hold_row {
	bool exists, engine_ended;
	int run, job, attempt, token;
	int64_t until;
	enum stop stop;
};

struct state_row {
	int id, job;
	bool person; /* came through the API */
	struct file file;
};

struct workspace {
	int organization;
	bool locked;
	int current;
	struct hold_row hold;
	struct state_row state;
	uint64_t detached; /* the resources in states that could not become the current one and are stored in addition
			    to it */
	/* Recorded for the checks. */
	uint64_t written;  /* all existing resources: created and written by terraform, and not destroyed */
	uint64_t lost;     /* lost with a machine that is gone for good */
	bool machine_lost; /* a machine was lost, or may have been */
	bool forced;       /* a user or the deadline ended a hold while a state was owed */
	long long newest;
	uint64_t kept; /* all resources that were ever in the current state */
};

enum delivery { AT_NONE, AT_NOTIFIER_WAITING, AT_CLAIMED, AT_ACKNOWLEDGED, AT_OVER };
enum task_status { TASK_PENDING, TASK_RUNNING, TASK_PASSED, TASK_FAILED, TASK_UNREACHABLE, TASK_CANCELED };

struct task {
	bool exists, mandatory;
	int run, attempt, notifier;
	enum stage stage;
	enum task_status status, reported; /* reported: TASK_PENDING if nothing is */
	enum delivery delivery;
	int64_t lease_until, give_up_at, due_at, last_at, updated_at;
	/* Recorded for the checks. */
	int ends;
};

struct outbox_row {
	long long id; /* 0: free */
	int64_t created_at;
	struct message message;
	unsigned listed[SCHEDULERS]; /* the publisher with that life has it in its list */
};

struct agent {
	int worker;
	unsigned life;
};

struct database {
	struct workspace workspaces[WORKSPACES];
	struct run_row runs[RUNS];
	int run_count;
	struct task tasks[TASKS];
	int task_count;
	struct outbox_row outbox[OUTBOX];
	long long last_row;
	int last_job, last_token, last_state, last_agent;
	struct agent agents[256];
};

/* ---- the processes' memory, and a worker's disk ---- */

/* A folder on a worker's disk. It persists when the process dies. */
struct folder {
	bool exists, noted; /* noted: it has an apply's note, with its token */
	bool sending;       /* its remaining state is being sent */
	bool ended;         /* with `outcome`, which the scheduler may not have */
	enum outcome outcome;
	int run, job, attempt, token, workspace;
	struct file file;
	struct file delivered;
};

/* A claimed job in a worker's slot (worker/runtime/job.h). */
struct work {
	bool exists, lost, decided, has_changes, owed, settling, putting;
	int run, job, attempt, token, workspace;
	enum stage stage;
	enum stop stop;
	enum outcome outcome;
	int engine, folder;
	int64_t held_ms;    /* by its clock: when the request was sent whose answer last confirmed the attempt */
	int64_t claimed_ms; /* by its clock: when the claim was sent */
	struct file flight; /* the state that is being sent */
};

/* A result that the scheduler may not have yet (worker/upload/result_sink.h). */
struct kept {
	bool exists, delivered, posting;
	int run, job, attempt, token;
	enum outcome outcome;
	bool has_changes, owed;
	int64_t since_ms;
};

struct worker {
	struct process process;
	int agent; /* NONE: not registered */
	bool draining, claiming, gone;
	struct work works[SLOTS];
	struct kept kept[KEPT];
	struct folder folders[FOLDERS];
};

/* A terraform process (or an opa, or a fetch), under its keeper. */
struct engine {
	bool alive;
	int run, job, attempt, workspace, worker, folder;
	enum stage stage;
	bool interrupted, leaseless; /* leaseless: its keeper ended it with its lease */
	bool risked;                 /* a user released the workspace while it was alive */
	int left;                    /* changes still to be made */
	struct file state;
	uint64_t first;  /* the resources at its start */
	int64_t dies_at; /* the keeper's deadline, in the database's time; INT64_MAX: none */
};

/* A run task's request that a notifier has claimed. */
struct request {
	bool exists, acknowledged, reporting;
	int task, attempt, failures;
	int64_t give_up_ms;
};

struct notifier {
	struct process process;
	struct request requests[CALLS];
	bool claiming;
};

/* The parameters of a simulation. The same plan gives the same steps. */
struct plan {
	uint64_t seed;
	int steps;
	enum flaw flaw;
	bool trace;
};

struct world {
	struct plan plan;
	uint64_t random;
	int64_t now;
	int step;
	bool calm;
	struct {
		int small_faults, slow; /* the rates of small faults and of delays */
		int64_t max_pause;      /* the longest time between two faults of processes */
		bool kept;              /* the broker's messages persist when it dies, as Kafka's do */
	} fault_rates;                  /* of this seed */
	char broken[256];               /* the first check that failed; "" if none has */

	struct moment moments[MOMENTS];
	short heap[MOMENTS], free[MOMENTS];
	int heap_count, free_count;
	uint64_t last_order;

	struct database db;
	struct process schedulers[SCHEDULERS];
	struct process broker;
	struct worker workers[WORKERS];
	struct notifier notifiers[NOTIFIERS];
	int64_t redis_due[TASKS]; /* 0: Redis has no deadline for it */
	struct engine engines[ENGINES];
	int engine_count;
	int resources[WORKSPACES];
};

/* ---- random numbers, time and trace (agenda.c) ---- */

uint32_t roll(struct world *w, uint32_t sides);
bool random_chance(struct world *w, int per_mille);
/* The same for faults: always false in the calm phase. */
bool fault_chance(struct world *w, int per_mille);
int64_t between(struct world *w, int64_t low, int64_t high);
/* The delay of a message: usually short, sometimes longer than a lease. */
int64_t message_delay(struct world *w);
void schedule(struct world *w, struct process *of, int64_t delay, act_fn act, const struct note *note);
/* Executes the next moment. False if there is none. */
bool world_move(struct world *w);
/* A process's own clock. */
int64_t clock_of(const struct world *w, const struct process *process);
/* The time by the database's clock until the process's clock has advanced by `ms`. */
int64_t real_time(const struct process *process, int64_t ms);

void trace_print(const struct world *w, const struct process *who, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define TRACE(w, who, ...)                                                                                             \
	do {                                                                                                           \
		if ((w)->plan.trace)                                                                                   \
			trace_print(w, who, __VA_ARGS__);                                                              \
	} while (0)

/* ---- the database (database.c, claims.c, states.c, tasks.c) ---- */

struct item {
	int run, job, attempt; /* job NONE: for the run, whatever its job is */
	struct run_event event;
	bool only_if_lease_over, by_worker;
	bool is_result; /* a worker reports the end of its job */
	bool applied;
	const char *refused;
};

struct attempt attempt_now(const struct world *w, const struct run_row *row);
struct id job_id(int number);
/* runs/transition.c: applies all items in one transaction, and then advances the queues. */
void db_apply_transitions(struct world *w, struct item *items, size_t count);
void db_advance_queue(struct world *w, int workspace);
void db_create_run(struct world *w, int workspace, const struct run *run);
void outbox_put(struct world *w, const struct message *message);
/* The run whose present attempt has that token (runs/job_grants.c, job_granted), or NULL. */
struct run_row *db_granted(struct world *w, int run, int job, int token);

enum answer serve_register(struct world *w, struct note *note);
enum answer serve_claim(struct world *w, struct note *note);
enum answer serve_beat(struct world *w, struct note *note);
enum answer serve_started(struct world *w, struct note *note);
enum answer serve_fetch(struct world *w, struct note *note);
enum answer serve_state(struct world *w, struct note *note);
enum answer serve_last_state(struct world *w, struct note *note);
enum answer serve_result(struct world *w, struct note *note);
void hold_begin(struct world *w, int run, bool engine_ended);
/* store/runs/holds.c, hold_do, and the kick or the message that follows. False if it is refused. */
bool hold_apply(struct world *w, int workspace, enum hold_event event, const char *what);

void tasks_make(struct world *w, int run);
/* store/tasks/task_results.c: updates a stage's tasks when the stage begins or ends. */
void tasks_follow(struct world *w, int run, const struct verdict *v);
void tasks_decide(struct world *w, int task);
enum answer serve_task_claim(struct world *w, struct note *note);
enum answer serve_task_beat(struct world *w, struct note *note);
enum answer serve_task_delivered(struct world *w, struct note *note);
enum answer serve_task_callback(struct world *w, struct note *note);
enum answer serve_task_late(struct world *w, struct note *note);
void sweep_tasks(struct world *w);

/* ---- processes ---- */

/* Sends a request to any scheduler. `answered` is called with the answer, or with ANSWER_NONE after REQUEST_TIMEOUT at
 * the latest. */
void call(struct world *w, struct process *from, serve_fn serve, act_fn answered, const struct note *note);
/* A transaction of a scheduler. False if the scheduler died before it committed or before it answered. */
bool transact(struct world *w, struct process *scheduler, serve_fn serve, struct note *note);
void scheduler_up(struct world *w, struct process *scheduler);
/* False if the scheduler died during it; the message is delivered again. */
bool scheduler_reads(struct world *w, struct process *scheduler, const struct message *message);
struct process *scheduler_any(struct world *w);

void worker_up(struct world *w, struct worker *worker);
void worker_wake(struct world *w, struct worker *worker);
void worker_stop(struct world *w, struct worker *worker, const struct message *message);
void worker_freed(struct world *w, struct worker *worker);
struct work *work_find(struct worker *worker, int job, int attempt);
void work_begin(struct world *w, struct worker *worker, const struct named *claimed, int64_t sent);
void work_stop(struct world *w, struct worker *worker, struct work *work, enum stop stop);
void work_lose(struct world *w, struct worker *worker, struct work *work);
void work_abandon(struct world *w, struct worker *worker, struct work *work);
void work_engine_over(struct world *w, struct engine *engine, bool passed);
void work_state_written(struct world *w, struct engine *engine);
void result_add(struct world *w, struct worker *worker, const struct work *work);
void unsent_recover(struct world *w, struct worker *worker);
void unsent_confirmed(struct world *w, struct worker *worker, const struct kept *kept, bool awaited);

/* False if the keeper's deadline has passed: it then starts nothing. */
bool engine_may_begin(const struct world *w, const struct worker *worker, const struct work *work);
int engine_begin(struct world *w, struct worker *worker, struct work *work);
void engine_kill(struct world *w, struct engine *engine, const char *why);
void engine_interrupt(struct world *w, struct engine *engine);
/* Tells the keeper that the lease was renewed by a request sent at that time of the worker's clock. */
void engine_renewed(struct world *w, struct engine *engine, int64_t sent_ms);

void notifier_up(struct world *w, struct notifier *notifier);
void notifier_reads(struct world *w, struct notifier *notifier, const struct message *message);

/* Produces. `on_answer` (may be NULL) is called later with whether the broker has the message. */
void produce(struct world *w, struct process *from, const struct message *message, act_fn on_answer);

void process_kill(struct world *w, struct process *process, const char *why);
/* Resumes the process, or starts it. */
void process_recover(struct world *w, struct process *process);
void faults_begin(struct world *w);
void people_begin(struct world *w);

/* ---- the checks (checks.c) ---- */

void check_failed(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void check_all(struct world *w);
void check_turn(struct world *w, int run);
void check_hold(struct world *w, int workspace);
/* The hold for that job ends. `risks`: a user ends it, without knowing whether its terraform is alive. */
void check_hold_end(struct world *w, int job, bool risks);
void check_lost(struct world *w, int run);
void check_claim(struct world *w, int run);
void check_state(struct world *w, struct workspace *workspace);
void check_engine(struct world *w, const struct engine *engine);
/* True if only users have something left to do. */
bool world_quiet(const struct world *w);
void check_end(struct world *w);

/* The order in which waiting jobs are claimed (order.c). */
struct waiting {
	int class, organization;
	int64_t created_at;
	const char *id;
};
/* Returns the number of the best jobs, at most `max`, best first; `busy` is the number of running jobs of each
 * organization. */
size_t claim_order(const struct waiting *jobs, size_t count, const int *busy, size_t max, size_t *ret_order);

void world_init(struct world *w, const struct plan *plan);
/* Runs all steps, and then the calm phase until everything has ended. False if a check failed; w->broken has the
 * reason. */
bool world_run(struct world *w);

#endif
