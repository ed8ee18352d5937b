/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_CLAIM_H
#define WORKER_SCHEDULER_CLIENT_CLAIM_H

/*
 * Claims jobs from the scheduler for the free slots.
 *
 * A worker with a free slot has exactly one request under way (proto/README.md):
 *  - a claim, if a job probably waits;
 *  - otherwise a wait, a long poll that the scheduler answers when a job is there.
 *
 * So the worker does not poll, and a worker without a free slot gets no announcements.
 *
 * A job message from the broker causes a claim only while no wait is under way, because the last one failed. The worker
 * then also claims after at most about two seconds, and tries to wait again.
 */

struct worker;
struct claims;

struct claims *claims_new(struct worker *worker);
void claims_free(struct claims *claims);
/* To be called when the worker has registered, also for the second time. */
void claims_begin(struct claims *claims);
/* A slot became free. */
void claims_slot_freed(struct claims *claims);
/* Job messages were read. */
void claims_message(struct claims *claims);
/* The worker drains and claims no more jobs. */
void claims_end(struct claims *claims);

#endif
