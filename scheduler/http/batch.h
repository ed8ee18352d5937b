/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_BATCH_H
#define SCHEDULER_HTTP_BATCH_H

/*
 * Requests whose changes are committed together. The handler of a batched route (http/routes.h) checks the request and
 * fills the request's item. Then a thread commits the items of all waiting requests in one transaction, and answers
 * each request (api/server/executors.c). Each batch has a type of item of its own, which begins with struct batch_item.
 */

#include "common/base.h"
#include "common/err.h"

struct request;
struct response;
struct store;

struct batch_item {
	struct request *req; /* set before the handler runs; its store is that of the thread that commits */
	struct response *res;
	bool alone; /* set by the handler: the item would delay others, so it is committed alone */

	/* Filled by a commit. */
	bool locked;    /* nothing was done; commit_alone waits for the lock */
	struct err err; /* ERR_NONE: *res has the answer */
};

struct batch {
	size_t item_size; /* bytes of the type of item; an item is zeroed before the handler fills it */
	int threads;      /* with more than one, the order of requests is not kept */
	/* Commits the items in one transaction and fills their answers. It does not wait for locks of workspaces. */
	void (*commit)(struct store *store, struct batch_item *const *items, size_t count);
	/* Commits one item, and waits for locks. */
	void (*commit_alone)(struct store *store, struct batch_item *item);
	/* Frees what the item owns, but not the item. NULL: nothing. */
	void (*item_release)(struct batch_item *item);
};

#endif
