/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_LEASE_H
#define WORKER_LEASE_H

/*
 * This worker's standing with the scheduler: it registers, and renews the leases of all its jobs with one heartbeat
 * every quarter of a lease. The answers say which jobs to stop, and which attempts are over. When no heartbeat has
 * succeeded for a whole lease, the scheduler has given the jobs up: plans are killed, applies go on (DESIGN rule 7).
 */

#include "common/json.h"
#include "common/loop.h"

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
/* An answer to a request with the pool's token: true if it is a success; a 401 or 404 leads to a new registration. */
bool lease_heard(struct lease *lease, const struct fetch_answer *answer);
/* Says that the worker is gone; then calls fn, whatever the answer is. Only the first call counts. */
void lease_leave(struct lease *lease, loop_timer_fn fn, void *data);

/* A request to the scheduler with the pool's token; `body` is consumed. The handle is fetch_start's. */
struct fetch *lease_post(
	struct worker *worker, const char *path, json_t *body, void (*fn)(void *, struct fetch_answer *), void *data);

#endif
