/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_CLAIM_H
#define WORKER_CLAIM_H

/*
 * Asking the scheduler for jobs, for as many slots as are free: when a ticket came, when a slot became free, and every
 * two seconds or so when nothing happens. One claim is under way at a time; what happens meanwhile leads to one more.
 */

struct worker;
struct claims;

struct claims *claims_new(struct worker *worker);
void claims_free(struct claims *claims);
/* Something changed: claims if there is a free slot and the worker is registered. */
void claims_wake(struct claims *claims);

#endif
