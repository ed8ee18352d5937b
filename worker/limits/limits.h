/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_LIMITS_LIMITS_H
#define WORKER_LIMITS_LIMITS_H

/*
 * Resource limits of one job. runtime/job.h has the functions that apply them.
 *
 * A job that exceeds a limit is stopped in order: an apply writes its state and delivers it. It is killed if that
 * takes too long. Its error names the limit and gives advice (limits.def).
 *
 *  - Memory and processes: the keeper measures them (keeper/keeper.h). If the job has a control group, the kernel
 *    limits them too (limits/cgroup.h). The kernel's limit is a quarter higher, so that the job is stopped in order
 *    first.
 *  - Disk: the worker measures the job's folder and the deleted files that its processes have open. It measures every
 *    second, or less often so that it takes at most a twentieth of a processor. No single file can grow beyond 1.25
 *    times the limit. If the filesystem has project quotas, the kernel limits the disk too (limits/quota.h), also to a
 *    quarter more.
 *  - Time: the worker checks it.
 *  - Log: the log counts its own length (upload/joblog.h).
 */

#include "common/loop/loop.h"
#include "worker/keeper/keeper.h"

struct quota;

/* 0: no limit, except for the log. */
struct job_limits {
	long long plan_seconds;      /* for every stage but the apply */
	long long apply_seconds;     /* counted from when the claim was sent */
	long long memory, disk, log; /* MiB */
	long long processes;
	long long stop_seconds;    /* time for stopping in order */
	const char *groups;        /* folder for the control groups of jobs, or NULL if there are none; borrowed */
	const struct quota *quota; /* of the filesystem (limits/quota.h), or NULL if there is none; borrowed */
};

enum limit {
	LIMIT_NONE,
#define LIMIT(symbol, ...) LIMIT_##symbol,
#include "worker/limits/limits.def"
#undef LIMIT
};

/* The limit state of one job. */
struct limits {
	enum limit met; /* the first limit exceeded */
	struct loop_timer time_timer, disk_timer, kill_timer;
	int64_t disk_bytes, disk_ms; /* the last disk measurement: size and duration */
	char *group;                 /* the job's control group (limits/cgroup.h), or NULL; owned */
	pid_t keeper;                /* keeper of the program whose open files are measured, or 0 */
};

/* Seconds from the claim of an apply until its keeper has ended its last process: apply_seconds plus stop_seconds.
 * 0: no limit. The worker sends the number with each claim; the keeper enforces it by its own clock. */
long long limits_apply_end(const struct job_limits *limits);
/* The kernel's limit for a measured one: a quarter more, so that the measured limit is exceeded first. */
int64_t limits_quarter_more(int64_t value);
/* The limits that the kernel enforces and those that are measured, as words for the log. */
const char *limits_hard(const struct job_limits *limits);
const char *limits_measured(const struct job_limits *limits);

#endif
