/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_LEASE_GRACE_H
#define SCHEDULER_STORE_WORKERS_LEASE_GRACE_H

/*
 * While this scheduler or its database was away, workers could not send heartbeats. Afterwards, workers get half a
 * lease to send one. Until then no lease ends, and a worker whose heartbeats are missing counts as live, so that our
 * outage ends no run. Each scheduler decides by its own absence: a worker may send its heartbeats to any other one.
 */

#include <stdbool.h>

/* Returns true while workers have this time. For any thread, while the database answers. */
bool leases_have_grace(int lease_seconds);
/* The reaper has just checked the leases. A pause between two calls is an absence. */
void leases_watched(void);

#endif
