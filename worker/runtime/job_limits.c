/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/job.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "worker/exec/child.h"
#include "worker/keeper/proc_tree.h"
#include "worker/limits/cgroup.h"
#include "worker/limits/measure.h"
#include "worker/metrics.h"

enum { LOOK_MS = 1000, LOOK_SHARE = 20 };

struct limit_row {
	const char *option;
	const char *did; /* format of the limit's value */
	const char *advice;
	size_t field; /* offset in struct job_limits */
};

static const struct limit_row rows[] = {
#define LIMIT(symbol, field, option, did, advice)                                                                      \
	[LIMIT_##symbol] = {option, did, advice, offsetof(struct job_limits, field)},
#include "worker/limits/limits.def"
#undef LIMIT
};

/* ---- the time ---- */

static long long own_time_limit(const struct job *job)
{
	const struct job_limits *max = job->host->limits;

	return job->assignment.stage == STAGE_APPLY ? max->apply_seconds : max->plan_seconds;
}

/* Whether the organization's limit is the lower one. */
static bool time_limit_is_given(const struct job *job)
{
	long long own = own_time_limit(job), given = job->assignment.time_limit;

	return given > 0 && (own <= 0 || given < own);
}

/* Seconds; 0: none. */
static long long time_limit(const struct job *job)
{
	return time_limit_is_given(job) ? job->assignment.time_limit : own_time_limit(job);
}

/* ---- meeting one ---- */

static bool met_time(const struct job *job)
{
	return job->limits.met == LIMIT_PLAN_TIME || job->limits.met == LIMIT_APPLY_TIME;
}

static long long limit_value(const struct job *job)
{
	if (met_time(job))
		return time_limit(job);
	return *(const long long *)((const char *)job->host->limits + rows[job->limits.met].field);
}

static void limit_name(const struct job *job, char *ret_name, size_t size)
{
	if (met_time(job) && time_limit_is_given(job))
		snprintf(ret_name, size, "%s-timeout of the organization",
			job->limits.met == LIMIT_APPLY_TIME ? "apply" : "plan");
	else
		snprintf(ret_name, size, "--%s of the worker", rows[job->limits.met].option);
}

static void fail(struct job *job)
{
	const struct limit_row *row = &rows[job->limits.met];
	char did[100], name[64];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(did, sizeof(did), row->did, limit_value(job));
#pragma GCC diagnostic pop
	limit_name(job, name, sizeof(name));
	job_fail(job, OUTCOME_ERRORED, "The %s %s (%s) and was stopped. %s, or have the limit raised.",
		stage_work(job->assignment.stage), did, name, row->advice);
}

static void stop_late(void *data)
{
	struct job *job = data;

	if (job->child)
		child_kill(job->child);
}

void job_limits_stop(struct job *job)
{
	job_stop_child(job, false);
	loop_timer_set(
		job->host->loop, &job->limits.kill_timer, job->host->limits->stop_seconds * 1000, stop_late, job);
}

/* Fails the job and logs the reason, unless the log is what exceeded its limit. */
static void fail_and_say(struct job *job)
{
	fail(job);
	if (job->limits.met == LIMIT_LOG)
		return;
	joblog_write(&job->log, job->result.error);
	joblog_write(&job->log, "\n");
}

void job_limit_met(struct job *job, enum limit limit)
{
	if (job->reported)
		job_stop_child(job, true); /* the job has already reported: its remaining work may be lost */
	if (job_done(job) || job->limits.met != LIMIT_NONE)
		return;
	job->limits.met = limit;
	metric_addf(M_LIMITS_MET, 1, "limit=\"%s\"", rows[limit].option);
	log_warn("a job met a limit", "run", job->result.run.text, "job", job->result.job.text, "limit",
		rows[limit].option, NULL);
	if (!job->child) {
		fail_and_say(job);
		return;
	}
	job_limits_stop(job);
}

/* The reason why a program failed, if the kernel enforced a limit of its control group. */
static enum keeper_why group_why(const struct job *job, enum keeper_why why)
{
	if (why != KEEPER_ENDED || !job->limits.group)
		return why;
	if (cgroup_met_memory(job->limits.group))
		return KEEPER_MEMORY;
	return cgroup_met_processes(job->limits.group) ? KEEPER_PROCESSES : why;
}

static bool lacked_memory(const struct job *job)
{
	return !job_done(job) && job->limits.group && cgroup_lacked_memory(job->limits.group);
}

static void fail_for_lack_of_memory(struct job *job)
{
	log_warn("the kernel killed a program of a job for lack of memory", "run", job->result.run.text, "job",
		job->result.job.text, NULL);
	job_fail(job, OUTCOME_ERRORED,
		"The kernel killed a program of the %s because the worker's machine or service had no memory left. "
		"Give it more memory, or lower --slots or --job-memory of the worker.",
		stage_work(job->assignment.stage));
	joblog_write(&job->log, job->result.error);
	joblog_write(&job->log, "\n");
}

void job_limits_ended(struct job *job, enum keeper_why why)
{
	static const enum limit kept[] = {[KEEPER_LEASE] = LIMIT_NONE,
		[KEEPER_DEADLINE] = LIMIT_APPLY_TIME,
		[KEEPER_MEMORY] = LIMIT_MEMORY,
		[KEEPER_PROCESSES] = LIMIT_PROCESSES};

	why = group_why(job, why);
	loop_timer_clear(job->host->loop, &job->limits.kill_timer);
	if (kept[why] != LIMIT_NONE && job->limits.met == LIMIT_NONE)
		job_limit_met(job, kept[why]);
	else if (job->limits.met != LIMIT_NONE && !job_done(job))
		fail_and_say(job);
	else if (why == KEEPER_ENDED && lacked_memory(job))
		fail_for_lack_of_memory(job);
}

/* ---- the disk ---- */

static void look(void *data)
{
	struct job *job = data;
	int64_t begun = clock_mono_ms();
	struct stat info;

	job->limits.disk_bytes = measure_folder(job->dir.top, job->host->limits->disk << 20);
	if (job->limits.keeper && fstat(job->dir.top, &info) == 0)
		job->limits.disk_bytes += proc_tree_use(job->limits.keeper, info.st_dev).deleted;
	job->limits.disk_ms = clock_mono_ms() - begun;
}

static bool disk_is_over(const struct job *job)
{
	return job->limits.disk_bytes > job->host->limits->disk << 20;
}

static void disk_check(void *data);

static void looked(void *data)
{
	struct job *job = data;
	int64_t pause = job->limits.disk_ms * LOOK_SHARE;

	if (disk_is_over(job))
		job_limit_met(job, LIMIT_DISK);
	loop_timer_set(job->host->loop, &job->limits.disk_timer, pause > LOOK_MS ? pause : LOOK_MS, disk_check, job);
}

static void disk_check(void *data)
{
	struct job *job = data;

	job->limits.keeper = job->child ? child_keeper(job->child) : 0;
	if (job->dir.name)
		job_work(job, look, looked, job);
	else
		loop_timer_set(job->host->loop, &job->limits.disk_timer, LOOK_MS, disk_check, job);
}

static void explained(void *data)
{
	struct job *job = data;

	if (!disk_is_over(job))
		return;
	job->limits.met = LIMIT_DISK;
	job->decided = false;
	fail(job);
}

void job_limits_explain(struct job *job)
{
	bool failed = job->decided && job->result.outcome != OUTCOME_PASSED && job->limits.met == LIMIT_NONE;

	job->limits.keeper = 0;
	if (failed && job->host->limits->disk > 0 && job->dir.name)
		job_work(job, look, explained, job);
}

/* ---- the job's ---- */

static void time_is_up(void *data)
{
	struct job *job = data;

	job_limit_met(job, job->assignment.stage == STAGE_APPLY ? LIMIT_APPLY_TIME : LIMIT_PLAN_TIME);
}

static void log_is_full(void *data)
{
	job_limit_met(data, LIMIT_LOG);
}

static void group_begin(struct job *job)
{
	const struct job_limits *max = job->host->limits;
	const struct cgroup_limits limits = {
		.memory = limits_quarter_more(max->memory << 20), .processes = limits_quarter_more(max->processes)};
	struct err err = ERR_INIT;

	job->limits.group = cgroup_make(max->groups, job->result.job.text, &limits, &err);
	if (!job->limits.group)
		job_fail(job, OUTCOME_ERRORED, "The worker can't make the job's control group: %s", err.message);
}

/* Milliseconds that the job may still run. The time of an apply counts from its claim, as at the scheduler. */
static int64_t time_left_ms(const struct job *job)
{
	int64_t left = time_limit(job) * 1000;

	if (job->assignment.stage != STAGE_APPLY)
		return left;
	left += job->assignment.claimed_ms - clock_boot_ms();
	return left > 1 ? left : 1;
}

void job_limits_begin(struct job *job)
{
	const struct job_limits *max = job->host->limits;

	job->log.max = (uint64_t)max->log << 20;
	job->log.full = log_is_full;
	job->log.full_data = job;
	if (time_limit(job) > 0)
		loop_timer_set(job->host->loop, &job->limits.time_timer, time_left_ms(job), time_is_up, job);
	if (max->disk > 0)
		loop_timer_set(job->host->loop, &job->limits.disk_timer, LOOK_MS, disk_check, job);
	if (max->groups)
		group_begin(job);
}

void job_limits_release(struct job *job)
{
	loop_timer_clear(job->host->loop, &job->limits.time_timer);
	loop_timer_clear(job->host->loop, &job->limits.disk_timer);
	loop_timer_clear(job->host->loop, &job->limits.kill_timer);
	cgroup_end(job->limits.group);
	job->limits.group = NULL;
}

/* The deadline of terraform's apply. It holds even if this process or the lease ends. */
static struct keeper_lease apply_deadline(const struct job *job)
{
	int64_t end = job->assignment.claimed_ms + time_limit(job) * 1000;

	if (time_limit(job) <= 0)
		return (struct keeper_lease){0};
	return (struct keeper_lease){
		.interrupt_ms = end, .kill_ms = end + (int64_t)job->host->limits->stop_seconds * 1000};
}

void job_limits_terms(const struct job *job, struct keeper_terms *terms)
{
	const struct job_limits *max = job->host->limits;

	if (terms->outlives)
		terms->deadline = apply_deadline(job);
	terms->stop_ms = max->stop_seconds * 1000;
	terms->grace_ms = terms->outlives ? terms->stop_ms : 0;
	terms->limits = (struct keeper_limits){.memory = max->memory << 20,
		.processes = max->processes,
		.file_size = limits_quarter_more(max->disk << 20)};
	if (job->limits.group)
		snprintf(terms->group, sizeof(terms->group), "%s/cgroup.procs", job->limits.group);
}
