/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DRAIN_H
#define NOTIFIER_DRAIN_H

/* Graceful shutdown. The first call stops claims, lets requests in flight finish for a while, hands the rest back to
 * the scheduler and stops the loop. The second call stops the loop at once. */

struct drain;
struct notifier;

struct drain *drain_new(struct notifier *notifier);
void drain_free(struct drain *drain);
void drain_begin(struct drain *drain);

#endif
