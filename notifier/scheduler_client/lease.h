/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_SCHEDULER_CLIENT_LEASE_H
#define NOTIFIER_SCHEDULER_CLIENT_LEASE_H

/* Heartbeats. They renew this notifier's leases on its deliveries, and the answers name the deliveries that it has
 * lost. */

#include <stdint.h>

struct lease;
struct notifier;

struct lease *lease_new(struct notifier *notifier);
void lease_free(struct lease *lease);
/* Sets the duration of leases, as the answer to a claim gave it. */
void lease_granted(struct lease *lease, int64_t lease_ms);

#endif
