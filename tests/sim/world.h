/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

/*
 * A whole Runyard in memory, moved by one seeded source of chance: the real functions of scheduler/lifecycle and
 * scheduler/queue decide over tables that are arrays, between processes that crash and stall, a broker that duplicates,
 * delays and forgets, and terraform processes that write states. What the real processes do in SQL or between their
 * I/O is done here by the function that names them.
 *
 * Time is what the agenda says: the next moment is the next thing that happens. Each worker's and notifier's own clock
 * runs a little faster or slower. The same seed gives the same moments in the same order.
 */

#include <stdio.h>

#include "proto/messages.h"
#include "scheduler/lifecycle/attempt.h"
#include "scheduler/lifecycle/hold.h"
#include "scheduler/lifecycle/run.h"
#include "scheduler/lifecycle/queue.h"

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

/* Milliseconds. The lease, the limits of an apply and the times of tasks are settings of the real thing; the rest are
 * its constants. */
enum {
	SECOND = 1000,
	LEASE = 60 * SECOND,
	APPLY_TIME = 150 * SECOND, /* --apply-seconds of the workers */
	STOP_TIME = 20 * SECOND,   /* --job-stop-seconds */
	COOL_OFF = 10 * SECOND,
	POST = 20 * SECOND,
	LEFT_BEHIND = 1 * SECOND,
	BROKER_SLOW = 2 * SECOND,
	STILL_HELD = 5 * SECOND,
	TASK_PROGRESS = 60 * SECOND,
	TASK_TOTAL = 240 * SECOND,
	TASK_DELIVERY = 60 * SECOND,
	TASK_SILENT = 30 * SECOND,
};

/* Faults that are put in on purpose, to see that the checks find them (--break NAME). */
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

/* Something that can be killed and stalled. What is on the agenda for it dies with it and waits while it stalls. */
enum kind { SCHEDULER, WORKER, NOTIFIER, BROKER };

struct process {
	enum kind kind;
	int number;
	bool up;
	unsigned life;
	int64_t stalled_until;
	int clock_ppm; /* how much faster its clock runs than the database's */
};

/* terraform's state file: what it manages, a bit each. */
struct file {
	bool there;
	int lineage;
	long long serial;
	uint64_t resources;
};

/* What goes over a topic: ids only. */
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
/* What a scheduler does with a request, in one transaction. */
typedef enum answer (*serve_fn)(struct world *w, struct note *note);

/* What a moment is about. Of a call it goes to the scheduler and comes back with what was filled in. */
struct note {
	struct process *of, *caller;
	unsigned life, caller_life; /* later() fills in of and life */
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
	bool there;
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
	} late; /* of an apply that ended with a state owed: it is taken even now (workspace_holds) */
	/* What the checks remember. */
	int applies, ends;      /* ends: how often people were told of its end */
	uint64_t reached, told; /* statuses, and those that the broker has been told of */
};

/* A row of workspace_holds, and whether the workspace's row names it. */
struct hold_row {
	bool there, engine_ended;
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
	uint64_t beside; /* what states that could not be the current one hold: they are kept beside it */
	/* What the checks remember. */
	uint64_t written; /* all that there is: what terraform made and wrote down, and did not destroy */
	uint64_t burnt;   /* what a machine that is gone for good took with it */
	bool bereft;      /* one did, or might have */
	bool forced;      /* a person or the deadline let it go on while a state was owed */
	long long newest;
	uint64_t kept; /* all that was ever in the current state */
};

enum delivery { AT_NONE, AT_NOTIFIER_WAITING, AT_CLAIMED, AT_ACKNOWLEDGED, AT_OVER };
enum task_status { TASK_PENDING, TASK_RUNNING, TASK_PASSED, TASK_FAILED, TASK_UNREACHABLE, TASK_CANCELED };

struct task {
	bool there, mandatory;
	int run, attempt, notifier;
	enum stage stage;
	enum task_status status, reported; /* TASK_PENDING: nothing is reported */
	enum delivery delivery;
	int64_t lease_until, give_up_at, due_at, last_at, updated_at;
	/* What the checks remember. */
	int ends;
};

struct outbox_row {
	long long id; /* 0: free */
	int64_t created_at;
	struct message message;
	unsigned listed[SCHEDULERS]; /* in the list of that life of the publisher */
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

/* A folder on a worker's disk: it outlives the process. */
struct folder {
	bool there, noted; /* noted: as an apply's, with its token */
	bool telling;      /* what is left of it is being told */
	bool ended;        /* with this result, which may not have been taken */
	enum outcome outcome;
	int run, job, attempt, token, workspace;
	struct file file;
	struct file delivered;
};

/* A claimed job in a worker's slot (worker/runtime/job.h). */
struct work {
	bool there, lost, decided, has_changes, owed, settling, putting;
	int run, job, attempt, token, workspace;
	enum stage stage;
	enum stop stop;
	enum outcome outcome;
	int engine, folder;
	int64_t held_ms;    /* by its clock: when what last said that the attempt is ours was sent */
	int64_t claimed_ms; /* by its clock: when the claim was sent */
	struct file flight; /* the state that is on its way */
};

/* A result that the scheduler may not have yet (worker/upload/results.h). */
struct kept {
	bool there, delivered, posting;
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
	bool risked;                 /* a person released the workspace while it was alive */
	int left;                    /* changes still to make */
	struct file state;
	uint64_t first;  /* what it began with */
	int64_t dies_at; /* the keeper's deadline, in the database's time; INT64_MAX: none */
};

/* A request of a run task that a notifier has. */
struct request {
	bool there, acknowledged, reporting;
	int task, attempt, failures;
	int64_t give_up_ms;
};

struct notifier {
	struct process process;
	struct request requests[CALLS];
	bool claiming;
};

/* What a run of the simulator is: the same plan, the same steps. */
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
		int mishaps, slow; /* how often something small goes wrong, or is slow on its way */
		int64_t strikes;   /* how long at most between two faults of processes */
		bool kept;         /* the broker's messages outlive it: Kafka's, and not the embedded broker's */
	} weather;                 /* of this seed */
	char broken[256];          /* the first check that failed */

	struct moment moments[MOMENTS];
	short heap[MOMENTS], free[MOMENTS];
	int heap_count, free_count;
	uint64_t last_order;

	struct database db;
	struct process schedulers[SCHEDULERS];
	struct process broker;
	struct worker workers[WORKERS];
	struct notifier notifiers[NOTIFIERS];
	int64_t redis_due[TASKS]; /* 0: Redis knows no deadline of it */
	struct engine engines[ENGINES];
	int engine_count;
	int resources[WORKSPACES];
};

/* ---- chance, time and words (agenda.c) ---- */

uint32_t roll(struct world *w, uint32_t sides);
bool odds(struct world *w, int per_mille);
/* The same, but never once the world is calm: of what goes wrong. */
bool mishap(struct world *w, int per_mille);
int64_t between(struct world *w, int64_t low, int64_t high);
/* How long something is on its way: mostly a moment, sometimes longer than a lease. */
int64_t transit(struct world *w);
void later(struct world *w, struct process *of, int64_t delay, act_fn act, const struct note *note);
/* Makes the next moment happen. False: there is none. */
bool world_move(struct world *w);
/* A process's own clock. */
int64_t clock_of(const struct world *w, const struct process *process);
/* How long it takes on the database's clock until that one shows so many milliseconds more. */
int64_t real_time(const struct process *process, int64_t ms);

void speak(const struct world *w, const struct process *who, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define SAY(w, who, ...)                                                                                               \
	do {                                                                                                           \
		if ((w)->plan.trace)                                                                                   \
			speak(w, who, __VA_ARGS__);                                                                    \
	} while (0)

/* ---- the database (database.c, claims.c, states.c, tasks.c) ---- */

struct item {
	int run, job, attempt; /* job NONE: of the run, whatever its job is at */
	struct run_event event;
	bool only_if_lease_over, by_worker;
	bool happened;
	const char *refused;
};

struct attempt attempt_now(const struct world *w, const struct run_row *row);
struct id job_id(int number);
/* runs/happen.c: all of them in one transaction, and the queues that may move then. */
void db_happen(struct world *w, struct item *items, size_t count);
void db_kick(struct world *w, int workspace);
void db_order(struct world *w, int workspace, const struct run *run);
void outbox_put(struct world *w, const struct message *message);
/* The run whose present attempt has that token (runs/claim.c, job_granted), or NULL. */
struct run_row *db_granted(struct world *w, int run, int job, int token);

enum answer serve_register(struct world *w, struct note *note);
enum answer serve_claim(struct world *w, struct note *note);
enum answer serve_beat(struct world *w, struct note *note);
enum answer serve_started(struct world *w, struct note *note);
enum answer serve_fetch(struct world *w, struct note *note);
enum answer serve_state(struct world *w, struct note *note);
enum answer serve_last_state(struct world *w, struct note *note);
enum answer serve_result(struct world *w, struct note *note);
void hold_begin(struct world *w, int run, enum run_event_kind event);
/* store/runs/holds.c, hold_do, and the kick or the message that follows. False: it is refused. */
bool hold_happens(struct world *w, int workspace, enum hold_event event, const char *what);

void tasks_make(struct world *w, int run);
/* store/tasks/task_results.c: what becomes of a stage's tasks when the stage begins or is over. */
void tasks_follow(struct world *w, int run, const struct verdict *v);
void tasks_decide(struct world *w, int task);
enum answer serve_task_claim(struct world *w, struct note *note);
enum answer serve_task_beat(struct world *w, struct note *note);
enum answer serve_task_delivered(struct world *w, struct note *note);
enum answer serve_task_callback(struct world *w, struct note *note);
enum answer serve_task_late(struct world *w, struct note *note);
void sweep_tasks(struct world *w);

/* ---- processes ---- */

/* A request to any scheduler; `answered` hears of it, at the latest after POST. */
void call(struct world *w, struct process *from, serve_fn serve, act_fn answered, const struct note *note);
/* A transaction of a scheduler. False: it died first, or its answer is lost with it. */
bool transact(struct world *w, struct process *scheduler, serve_fn serve, struct note *note);
void scheduler_up(struct world *w, struct process *scheduler);
/* False: it died over it, and the message comes again. */
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

/* A keeper whose deadline has passed starts nothing. */
bool engine_may_begin(const struct world *w, const struct worker *worker, const struct work *work);
int engine_begin(struct world *w, struct worker *worker, struct work *work);
void engine_kill(struct world *w, struct engine *engine, const char *why);
void engine_interrupt(struct world *w, struct engine *engine);
/* The keeper hears that the lease was renewed by what was sent at that time of its worker's clock. */
void engine_renewed(struct world *w, struct engine *engine, int64_t sent_ms);

void notifier_up(struct world *w, struct notifier *notifier);
void notifier_reads(struct world *w, struct notifier *notifier, const struct message *message);

/* Produces; `on_answer` hears within a while whether the broker has it. NULL: nobody asks. */
void produce(struct world *w, struct process *from, const struct message *message, act_fn on_answer);

void process_kill(struct world *w, struct process *process, const char *why);
/* It goes on at once, or is started. */
void process_recover(struct world *w, struct process *process);
void faults_begin(struct world *w);
void people_begin(struct world *w);

/* ---- the checks (checks.c) ---- */

void broke(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void check_all(struct world *w);
void check_turn(struct world *w, int run);
void check_hold(struct world *w, int workspace);
/* The hold for that job ends. `risks`: a person says so, who does not know whether its terraform lives. */
void check_hold_end(struct world *w, int job, bool risks);
void check_lost(struct world *w, int run);
void check_claim(struct world *w, int run);
void check_state(struct world *w, struct workspace *workspace);
void check_engine(struct world *w, const struct engine *engine);
/* True once nothing is left to be done by anybody but people. */
bool world_quiet(const struct world *w);
void check_end(struct world *w);

/* The order in which waiting jobs are claimed (order.c). */
struct waiting {
	int class, organization;
	int64_t created_at;
	const char *id;
};
/* The best `most` of them, best first, with so many jobs of each organization running. Returns how many there are. */
size_t claim_order(const struct waiting *jobs, size_t count, const int *busy, size_t most, size_t *ret_order);

void world_init(struct world *w, const struct plan *plan);
/* Until the steps are over, and then, in calm, until all is quiet. False: w->broken says what went wrong. */
bool world_run(struct world *w);

#endif
