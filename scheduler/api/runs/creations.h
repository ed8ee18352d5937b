/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_CREATIONS_H
#define SCHEDULER_API_RUNS_CREATIONS_H

/*
 * Batched creation of runs: many in one transaction, with their audit events (runs/run_create.h). The handler reads the
 * order and checks the permission. The orders that are queued by then are created together, and each request gets its
 * own answer.
 */

#include "scheduler/api/api.h"
#include "scheduler/runs/run_create.h"

/* A request whose handler has returned. */
struct creation {
	struct request *req;
	struct response *res;
	struct id workspace;
	struct run_create_params order; /* borrows from the request */
	bool ordered;                   /* the handler has filled the workspace and the order */

	struct id run;  /* filled in by creations_make and creation_make */
	struct err err; /* filled in; if ERR_NONE, *res has the answer */
};

/* Uses the connection of `store`, whichever store the requests came with. Does not wait for locks of workspaces. */
void creations_make(struct store *store, struct creation *const *creations, size_t count);
/* True if creation_make must retry it alone: its workspace is locked, or the batch failed. */
bool creation_waits(const struct creation *creation);
/* Creates one run. It waits for the workspace's lock, and an error is its own. */
void creation_make(struct store *store, struct creation *creation);

#endif
