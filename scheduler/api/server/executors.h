/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SERVER_EXECUTORS_H
#define SCHEDULER_API_SERVER_EXECUTORS_H

/*
 * The executors of routes (http/routes.h): the calling thread, pools of threads for handlers that block, and batches. A
 * request that needs content of the object store starts in the calling thread, and starts again in a pool.
 */

#include "scheduler/api/server/thread_store.h"
#include "scheduler/http/request.h"

struct executors;

/* Borrows the stores and the services. */
int executors_start(struct thread_stores *stores, const struct services *services, struct executors **ret_executors,
	struct err *err);
/* Answers the request, or passes it on to a thread that will. */
void executors_run(struct executors *executors, const struct http_request *http, struct http_answer *answer);
/* Finishes the running requests. Later ones run in their calling threads, or are refused. NULL-safe. */
void executors_stop(struct executors *executors);
/* Frees it. Call it after executors_stop, when no more requests can arrive. NULL-safe. */
void executors_free(struct executors *executors);

#endif
