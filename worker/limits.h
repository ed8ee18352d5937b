/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_LIMITS_H
#define WORKER_LIMITS_H

/*
 * What one job may use. One that uses more is stopped in order (an apply writes its state and delivers it), and killed
 * if that takes too long; its error says which limit it met, and what can be done (limits.def).
 *
 * The keeper measures memory and processes (keeper/keeper.h). Where the job has a control group, the kernel limits them
 * too (exec/cgroup.h): to a quarter more, so that the job is asked to stop in order first. So it does with the disk,
 * where the filesystem has project quotas (exec/quota.h). The log counts its own length (ship/joblog.h). Time and disk
 * are checked here. The disk is the job's folder and the deleted files that its processes have open. Both are counted
 * every second, or less often where that takes long: it takes at most a twentieth of a processor. One file can't grow
 * beyond a quarter more than the limit at any time.
 */

#include "common/loop.h"
#include "worker/keeper/keeper.h"

struct job;
struct quota;

/* 0: none, but for the log's. */
struct job_limits {
	long long plan_seconds;      /* of every stage but the apply */
	long long apply_seconds;     /* from when the claim was sent */
	long long memory, disk, log; /* MiB */
	long long processes;
	long long stop_seconds;    /* how long stopping in order may take */
	const char *groups;        /* folder for the control groups of jobs, or NULL: there are none; borrowed */
	const struct quota *quota; /* of the filesystem (exec/quota.h), or NULL: there is none; borrowed */
};

enum limit {
	LIMIT_NONE,
#define LIMIT(symbol, ...) LIMIT_##symbol,
#include "worker/limits.def"
#undef LIMIT
};

/* A job's own. */
struct limits {
	enum limit met; /* the first */
	struct loop_timer time_timer, disk_timer, kill_timer;
	int64_t disk_bytes, disk_ms; /* what the last look at the disk saw, and how long it took */
	char *group;                 /* control group of the job (exec/cgroup.h), or NULL; owned */
	pid_t keeper;                /* of the program whose open files the look counts, or 0 */
};

void limits_begin(struct job *job);
void limits_release(struct job *job);
/* Seconds from the claim of an apply until its keeper has ended its last process: apply_seconds and stop_seconds. 0:
 * there is no such limit. The worker sends the number with each claim; the keeper enforces it by its own clock. */
long long limits_apply_end(const struct job_limits *limits);
/* What the kernel's limit is where a limit is measured too: a quarter more, so that the measured one is met first. */
int64_t limits_quarter_more(int64_t value);
/* The limits that the kernel enforces and those that are measured, as words for the log. */
const char *limits_hard(const struct job_limits *limits);
const char *limits_measured(const struct job_limits *limits);
/* Adds those that the kernel and the keeper see to. */
void limits_terms(const struct job *job, struct keeper_terms *terms);
/* The job met one: stops what runs. Only the first counts, and only before the outcome is decided. */
void limits_met(struct job *job, enum limit limit);
/* Stops what runs in order, and kills it if that takes longer than stop_seconds. */
void limits_stop(struct job *job);
/* What ran is gone, for that reason: fails the job if it met a limit. */
void limits_ended(struct job *job, enum keeper_why why);
/* A job that failed for want of disk says so. Under a hold. */
void limits_explain(struct job *job);

#endif
