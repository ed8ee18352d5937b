/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_CLAIM_H
#define WORKER_CLAIM_H

/*
 * Getting jobs from the scheduler, for as many slots as are free. A worker with room has one request under way: a claim
 * if it has reason to think that a job waits, else a wait, which the scheduler answers when there is one
 * (proto/README.md). So nothing is asked again and again, and a worker without room is told of no job.
 *
 * A ticket from the broker leads to a claim while no wait stands: where the scheduler lets nobody wait, or is just
 * being tried again, which is every two seconds or so then.
 */

struct worker;
struct claims;

struct claims *claims_new(struct worker *worker);
void claims_free(struct claims *claims);
/* The worker is registered, perhaps anew. */
void claims_begin(struct claims *claims);
/* A slot became free. */
void claims_slot_freed(struct claims *claims);
/* Tickets were read. */
void claims_ticket(struct claims *claims);
/* The worker drains: it has no room any more. */
void claims_end(struct claims *claims);

#endif
