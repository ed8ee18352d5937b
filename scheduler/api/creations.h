/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_CREATIONS_H
#define SCHEDULER_API_CREATIONS_H

/*
 * Runs that requests ask for, created many in one transaction with their audit events (dispatch/order.h). The handler
 * reads the order and finds out whether the actor may give it; what waits by then is created together, and each request
 * has its own answer.
 */

#include "scheduler/api/api.h"
#include "scheduler/dispatch/order.h"

/* A request that has come so far. */
struct creation {
	struct request *req;
	struct response *res;
	struct id workspace;
	struct run_order order; /* borrows from the request */
	bool ordered;           /* the handler has filled the two above */

	struct id run;  /* filled in */
	struct err err; /* filled in: ERR_NONE, and *res has the answer */
};

/* With the store's connection, whichever one the requests came by. It waits for nobody's lock of a workspace. */
void creations_make(struct store *store, struct creation *const *creations, size_t count);
/* Whether it is to be made by itself: somebody holds its workspace locked, or it failed with the others. */
bool creation_waits(const struct creation *creation);
/* One by itself: it waits for its workspace, and fails for a reason of its own. */
void creation_make(struct store *store, struct creation *creation);

#endif
