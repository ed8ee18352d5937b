/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_INCLUDE_RESOLVER_H
#define SCHEDULER_API_INCLUDE_RESOLVER_H

/*
 * Resolves a request's `include`, relation by relation. Each step uses one round trip, and one query for each row of
 * the table, whatever the number of resources. Included resources never form a cycle, because clients would follow it
 * forever.
 */

#include "scheduler/api/kinds.h"

/* Refuses (400) an `include` that the kind's table does not name. NULL: nothing may be included. */
int includes_check(const struct request *req, const struct resource_kind *kind, struct err *err);
/* Gives the included resources for `data`, a resource of the kind or an array of them (borrowed). A new reference, or
 * NULL if the request has no `include`. */
int includes_follow(const struct request *req, const struct resource_kind *kind, const json_t *data,
	json_t **ret_included, struct err *err);

#endif
