/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RUNTIME_LEASE_H
#define WORKER_RUNTIME_LEASE_H

/*
 * This worker's registration and the leases of its jobs.
 *
 * One heartbeat every quarter of a lease renews the leases of all jobs. The answers list the jobs to stop and the
 * attempts that are over. A lease counts from when the request was sent, so it ends here before it ends at the
 * scheduler. If a lease can't be renewed, the keeper interrupts the program when a sixth of the lease is left. The
 * program is dead when a twelfth is left (keeper/keeper.h). terraform's apply is exempt and goes on.
 *
 * Only the scheduler's own answers count (common/http/origin.h). A worker that registers again keeps its running
 * attempts: it lists them with their tokens.
 *
 * A heartbeat also names the jobs of job messages that were read, and the answer those that no longer wait
 * (scheduler_client/job_topic.h).
 */

#include "common/json/json.h"
#include "common/loop/loop.h"
#include "worker/keeper/keeper.h"

struct worker;
struct lease;

struct lease *lease_new(struct worker *worker);
void lease_free(struct lease *lease);
/* Registers, with retries until it succeeds. To be called again when the scheduler does not know this worker. */
void lease_begin(struct lease *lease);
/* The next heartbeat is sent after at most that time. */
void lease_hasten(struct lease *lease, int64_t after_ms);
/* The lease that remains of a grant of `seconds`, counted from the request's send time (clock_boot_ms). `seconds` 0:
 * the usual length. */
struct keeper_lease lease_since(int64_t sent_ms, long long seconds);
/* Announces that the worker leaves, then calls fn whatever the answer is. Only the first call counts. */
void lease_leave(struct lease *lease, loop_timer_fn fn, void *data);

#endif
