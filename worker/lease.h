/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_LEASE_H
#define WORKER_LEASE_H

/*
 * This worker's standing with the scheduler: it registers, and renews the leases of all its jobs with one heartbeat
 * every quarter of a lease. The answers say which jobs to stop, and which attempts are over. A lease counts from when
 * the request was sent, so it ends here before it does at the scheduler. What runs under one that can't be renewed is
 * interrupted when a sixth of it is left, and is dead when a twelfth is (keeper/keeper.h), but for terraform's apply,
 * which goes on.
 *
 * Only answers of the scheduler count (common/origin.h). A worker that registers again keeps its running attempts: it
 * names them with their tokens.
 */

#include "common/json.h"
#include "common/loop.h"
#include "worker/keeper/keeper.h"

struct worker;
struct lease;
struct fetch_answer;

struct lease *lease_new(struct worker *worker);
void lease_free(struct lease *lease);
/* Registers, again and again until it succeeds. */
void lease_begin(struct lease *lease);
/* The worker's id, or NULL as long as it is not registered. Borrowed. */
const char *lease_worker(const struct lease *lease);
/* Registered and, when last asked, heard. From any thread. */
bool lease_ready(const struct lease *lease);
/* What a request that was sent then (clock_boot_ms) leaves of a lease of so many seconds; 0: of the usual length. */
struct keeper_lease lease_since(int64_t sent_ms, long long seconds);
/* An answer to such a request: true if it is a success. A 404 leads to a new registration, a 401 to the worker's end.
 */
bool lease_heard(struct lease *lease, const struct fetch_answer *answer);
/* Says that the worker is gone; then calls fn, whatever the answer is. Only the first call counts. */
void lease_leave(struct lease *lease, loop_timer_fn fn, void *data);

/* A request to the scheduler with the pool's token; `body` is consumed. The handle is fetch_start's. */
struct fetch *lease_post(
	struct worker *worker, const char *path, json_t *body, void (*fn)(void *, struct fetch_answer *), void *data);
/* The same, for an answer that the scheduler may keep back for most of a minute. */
struct fetch *lease_wait(
	struct worker *worker, const char *path, json_t *body, void (*fn)(void *, struct fetch_answer *), void *data);
/* The same with the worker's own token, likewise kept back. Registered workers only. */
struct fetch *lease_listen(
	struct lease *lease, const char *path, json_t *body, void (*fn)(void *, struct fetch_answer *), void *data);

#endif
