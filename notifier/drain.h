/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DRAIN_H
#define NOTIFIER_DRAIN_H

/* The end of the process: the first call takes no more requests, lets what is under way end for a while, hands the rest
 * back and ends the loop; the second ends it at once. */

struct drain;
struct notifier;

struct drain *drain_new(struct notifier *notifier);
void drain_free(struct drain *drain);
void drain_begin(struct drain *drain);

#endif
