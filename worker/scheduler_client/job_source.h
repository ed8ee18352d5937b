/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_JOB_SOURCE_H
#define WORKER_SCHEDULER_CLIENT_JOB_SOURCE_H

/*
 * The source of this worker's jobs. It claims jobs from the scheduler for the free slots (proto/README.md).
 *
 * A worker with a free slot has exactly one request under way:
 *  - a claim, if a job probably waits;
 *  - otherwise a wait, a long poll that the scheduler answers when a job is there.
 *
 * So the worker does not poll, and a worker without a free slot gets no announcements.
 *
 * A job message from the broker (job_topic.h) causes a claim only while no wait is under way, because the last one
 * failed. The worker then also claims after at most about two seconds, and tries to wait again.
 *
 * Nothing outside of this module knows how a job is announced or claimed: claimed jobs go to slots_start.
 */

#include "common/json/json.h"

struct job_source;
struct worker;

/* `hasten(worker, ms)` is called when a heartbeat is due after that time. */
struct job_source *job_source_new(struct worker *worker, void (*hasten)(struct worker *worker, int64_t after_ms));
void job_source_free(struct job_source *source);
/* To be called when the worker has registered, also for the second time. `topic` announces the jobs of the pool;
 * NULL: the scheduler has named none. */
void job_source_begin(struct job_source *source, const char *topic, const char *pool);
/* To be called when the worker may have become able to take a job: a slot is free, the disk has room, or an engine was
 * found. */
void job_source_go_on(struct job_source *source);
/* To be called when the worker takes no jobs for now: it drains, or its disk is nearly full. */
void job_source_stop(struct job_source *source);
/* The partitions of the pool's topic that are assigned to this worker, for heartbeats. A new reference. */
json_t *job_source_partitions(const struct job_source *source);
/* For heartbeats: the jobs of job messages that were read, and those of them that no longer wait (job_topic.h). */
json_t *job_source_announced(struct job_source *source);
void job_source_heard(struct job_source *source, const json_t *jobs);

#endif
