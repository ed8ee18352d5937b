/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_GIT_SOURCE_H
#define WORKER_SCHEDULER_CLIENT_GIT_SOURCE_H

/*
 * The source of this worker's jobs with git (proto/README.md, "Work with git"), and the slots that they take. While a
 * slot is free, one claim is under way: a long poll that the scheduler answers when a job is due. While jobs run,
 * heartbeats of their own keep their leases.
 *
 * A worker without git inspects modules only. One with --git-slots 0, without git in --accept, or for a single job
 * (--once) has no source: NULL, which all functions accept.
 */

#include "common/base.h"

struct err;
struct git_source;
struct worker;

/* Makes the folders for the jobs. ERR_INTERNAL. */
int git_source_open(struct worker *worker, struct git_source **ret_source, struct err *err);
/* Kills its jobs. To be called before the loop is freed. */
void git_source_close(struct git_source *source);
/* To be called after the loop is freed, because its threads may use the jobs until then. */
void git_source_free(struct git_source *source);

/* To be called when the worker may have become able to take a job. */
void git_source_go_on(struct git_source *source);
/* To be called when the worker takes no jobs for now. */
void git_source_stop(struct git_source *source);
/* Kills its jobs and gives them back, for other workers. */
void git_source_give_up(struct git_source *source);
/* The number of running jobs. */
size_t git_source_busy(const struct git_source *source);

#endif
