/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_FORWARDS_H
#define WORKER_SCHEDULER_CLIENT_FORWARDS_H

/*
 * The requests that this worker sends for the scheduler to services of its own network (--request-forwarding,
 * proto/README.md "Requests that workers send"). While there is room, one claim is under way: a long poll that the
 * scheduler answers when a request of the pool waits. A request is sent once, and its answer goes to the scheduler.
 * Requests take no slots of jobs, and are only in this process's memory: jobs can't reach them.
 *
 * The guard checks each address (common/http/guard.h, --vcs-allow). A worker without --request-forwarding, with --once
 * or with --deliver has no forwards: NULL, which all functions accept.
 */

#include "common/base.h"

struct err;
struct forwards;
struct worker;

/* ERR_INVALID: --vcs-allow. */
int forwards_open(struct worker *worker, struct forwards **ret_forwards, struct err *err);
/* Aborts what is under way. NULL-safe. */
void forwards_free(struct forwards *forwards);

/* To be called when the worker may have become able to claim. */
void forwards_go_on(struct forwards *forwards);
/* To be called when the worker claims nothing for now. */
void forwards_stop(struct forwards *forwards);
/* Aborts what is under way. The scheduler sends these requests by another worker. */
void forwards_give_up(struct forwards *forwards);
/* The number of requests whose answers the scheduler does not have yet. */
size_t forwards_busy(const struct forwards *forwards);

#endif
