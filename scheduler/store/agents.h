/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_AGENTS_H
#define SCHEDULER_STORE_AGENTS_H

/*
 * Workers as people see them: agents of their pools. One that left has exited, or errored if it was made to stop at
 * once; one that is not heard of for a minute is unknown, after two hours it counts as errored.
 *
 * Columns read: id, name, address (of who registered it), status, seen_at, created_at, token_id and token_description
 * (of the agent token that it registered with), pool_id, organization_id (null: the shared pool's).
 */

#include "scheduler/store/store.h"

/* Whether the worker of that alias is there no more. */
#define AGENT_GONE(k) "(" k ".left_at is not null or " k ".seen_at < now() - interval '2 hours')"

struct agent_list {
	const char *pool_id;    /* NULL: every pool */
	const char *seen_since; /* a time PostgreSQL reads, or NULL */
	const char *sort;       /* name, created-at, last-ping-at, with a hyphen before it for the reverse; or NULL */
	long long limit, offset;
};
/* With `total`; a row with a null id if the page is empty. */
int agents_list(struct store *store, const struct agent_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int agent_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_PRECONDITION unless it is unknown, errored or exited. */
int agent_delete(struct store *store, const char *id, struct err *err);

#endif
