/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RUNTIME_WORKER_H
#define WORKER_RUNTIME_WORKER_H

/* The components of one worker process, which main.c assembles. All of them are used from the loop's thread. */

#include <stdatomic.h>

#include "common/http/origin.h"
#include "common/json/json.h"
#include "worker/cost/book.h"
#include "worker/network/network.h"
#include "worker/options.h"
#include "worker/runtime/job.h"
#include "worker/scheduler_client/kafka_client.h"
#include "worker/upload/result_sink.h"

struct control;
struct disk;
struct forwards;
struct git_source;
struct job_source;
struct lease;
struct scheduler;

/* The maximum number of jobs that have reported and still show their plans (job.h, rule 6). With more, a job keeps its
 * slot. */
enum { MAX_SHOWN = 16 };

/* The steps of the end of a worker. Each signal goes one step further. So do --drain-seconds after the first step and
 * --job-stop-seconds after the second. */
enum drain {
	DRAIN_NONE,
	DRAIN_FINISH,    /* takes no more jobs; the running ones finish */
	DRAIN_INTERRUPT, /* interrupts applies and waits for their states; other jobs are killed */
	DRAIN_KILL,      /* kills all jobs and ends within seconds */
};

struct worker {
	struct options options;
	struct loop *loop;
	struct origin origin;    /* the scheduler; only its own answers count */
	struct fetcher *fetcher; /* for requests to the scheduler */
	struct fetcher *mirrors; /* for downloads of engines */
	struct downloads *downloads;
	struct providers providers;
	struct org_packages *org_packages;
	struct sandbox sandbox;
	struct bases *bases;
	struct network_lists network_lists;
	struct networks *networks; /* or NULL: jobs share this process's network, or have none */
	struct books books;
	struct hooks hooks;
	struct job_limits limits;
	struct job_host host;
	json_t *capabilities;        /* capabilities.h; owned; NULL until the first detection */
	atomic_bool capable;         /* the worker can run something */
	struct scheduler *scheduler; /* scheduler_client/scheduler.h: its own requests */
	struct kafka_client kafka;
	struct job_source *source;   /* scheduler_client/job_source.h: how jobs reach it */
	struct git_source *git;      /* scheduler_client/git_source.h: jobs with git; NULL: it takes none */
	struct forwards *forwards;   /* scheduler_client/forwards.h: requests to services; NULL: it sends none */
	struct result_sink *results; /* upload/result_sink.h: how results leave it */
	struct control *control;     /* scheduler_client/control.h: stop requests */
	struct lease *lease;         /* lease.h: registration and heartbeats */
	struct disk *disk;           /* disk.h: free space */
	struct job **jobs;           /* running jobs; `busy` of them, room for options.slots + MAX_SHOWN */
	size_t busy;
	struct loop_timer turn_timer; /* of slots_show */
	bool refused;                 /* its agent token was revoked */
	bool started_job;
	bool gave_up;                  /* the drain ended before everything was delivered */
	struct loop_timer once_timer;  /* of --once-seconds */
	atomic_int drain;              /* enum drain */
	atomic_bool paused;            /* an operator drained it or its pool: it claims no jobs until it is resumed */
	struct loop_timer stop_timer;  /* of the drain */
	struct loop_timer shown_timer; /* of the drain, too */
};

/* ---- slots.c ---- */

/* True if the worker may claim jobs of any kind: it does not drain, and its disk has room. */
bool slots_open(const struct worker *worker);
/* The number of jobs that may be claimed now. */
size_t slots_free(const struct worker *worker);
/* The running job of that id and attempt that has not reported, or NULL. */
struct job *slots_find(const struct worker *worker, const char *job, int attempt);
/* Stops the named job, if it runs here. `way` is how the request arrived: kafka, http or heartbeat. */
void slots_stop(struct worker *worker, const char *job, int attempt, enum stop stop, const char *way);
/* The lease of a claim or heartbeat that was sent at that time (lease.h). */
struct keeper_lease slots_lease(int64_t sent_ms, long long lease_seconds);
/* Starts a claimed job in a free slot. The lease is `lease_seconds` long and counts from sent_ms (clock_boot_ms),
 * when the claim was sent. */
void slots_start(struct worker *worker, const json_t *claimed, int64_t sent_ms, long long lease_seconds);
/* Whether a job uses the engine at that path. */
bool slots_use_engine(void *data, const char *path);
/* job_host's `finishing`, `show`, `reported` and `ended`. */
bool slots_finishing(void *data, const char *run);
void slots_show(void *data);
void slots_reported(void *data, const struct job *job, const struct job_result *result);
void slots_ended(void *data, struct job *job, const struct job_result *result);

/* ---- drain.c ---- */

/* The first step of the drain. */
void drain_begin(struct worker *worker);
/* A signal arrived: goes one step further (enum drain). The loop ends when the jobs have ended and their results are
 * delivered. */
void drain_signal(struct worker *worker);
/* The order of the scheduler's operators in the answer to a heartbeat: "none", "drain", "leave"; NULL counts as none.
 * A worker that drains by a signal ignores it. */
void drain_order(struct worker *worker, const char *order);
/* To be called whenever a job has ended, or a result or a last state is delivered. */
void drain_check(struct worker *worker);

#endif
