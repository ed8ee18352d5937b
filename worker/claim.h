/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_CLAIM_H
#define WORKER_CLAIM_H

/*
 * Asking the scheduler for jobs, for as many slots as are free: when a ticket came, when a slot became free, and every
 * two seconds or so when nothing happens. One claim is under way at a time; what happens meanwhile leads to one more.
 *
 * When the last claim got all it asked for, more may wait, and a slot that becomes free claims at once. When it got
 * less, nothing waited, and what came since has announced itself with a ticket: then the claim comes a moment later, so
 * that it does not compete with what the scheduler has to do for the run whose job has just ended.
 */

struct worker;
struct claims;

struct claims *claims_new(struct worker *worker);
void claims_free(struct claims *claims);
/* Something changed: claims if there is a free slot and the worker is registered. */
void claims_wake(struct claims *claims);
/* A slot became free. */
void claims_slot_freed(struct claims *claims);

#endif
