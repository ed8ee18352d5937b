/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_SCHEDULER_CLIENT_LEASE_H
#define NOTIFIER_SCHEDULER_CLIENT_LEASE_H

/* Heartbeats: they keep the scheduler from giving this notifier's deliveries to another, and say which are over. */

#include <stdint.h>

struct lease;
struct notifier;

struct lease *lease_new(struct notifier *notifier);
void lease_free(struct lease *lease);
/* A claim's answer said how long its lease lasts. */
void lease_granted(struct lease *lease, int64_t lease_ms);

#endif
