/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_AGENTS_H
#define SCHEDULER_STORE_WORKERS_AGENTS_H

/*
 * The API's view of workers: agents of their pools. A worker that left has status exited, or errored if it was forced
 * to stop at once. A worker that was not seen for a minute is unknown, and for two hours errored.
 *
 * Columns read: id, name, address (from which it was registered), status, seen_at, created_at, token_id and
 * token_description (of the agent token that it registered with), pool_id, organization_id (null: the shared pool's),
 * draining, ordered (store/workers/draining.h), version, capabilities, slots, free, pool (as
 * pool_find reads it).
 */

#include "scheduler/store/store.h"

struct agent_list {
	const char *pool_id;         /* NULL: every pool */
	const char *organization_id; /* whose pools; NULL: all */
	const char *seen_since;      /* a time PostgreSQL reads, or NULL */
	const char *sort;            /* name, created-at, last-ping-at, with a leading hyphen to reverse; or NULL */
	long long limit, offset;
};
/* With `total`; a row with a null id if the page is empty. */
int agents_list(struct store *store, const struct agent_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int agent_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_PRECONDITION unless it is unknown, errored or exited. */
int agent_delete(struct store *store, const char *id, struct err *err);

#endif
