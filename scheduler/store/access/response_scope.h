/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_RESPONSE_SCOPE_H
#define SCHEDULER_STORE_ACCESS_RESPONSE_SCOPE_H

/*
 * Limits responses to what their requester may see: lists contain only such resources, and resources report what the
 * requester may do with them.
 *
 * The requester's permissions in a place are those of their teams. A team has rights in all of its organization, which
 * are loaded with the token. It may also have rights in a project or a workspace, which statements look up with the
 * fragments below. If the requester has all rights everywhere, the fragments' `user` is null, and they cost nothing.
 */

#include "scheduler/rights/rights.h"
#include "scheduler/store/store.h"

struct response_scope {
	bool all;       /* a site admin */
	bool owns;      /* an owner of every organization that they are a member of */
	bool read_only; /* shows nothing that lets one write, such as signed addresses of uploads */
	struct id user;
	struct rows memberships; /* the shape `requester`: one row per organization */
};

void response_scope_release(struct response_scope *scope);
/* The requester's rights in all of the organization; none if not a member. NULL (the scheduler itself) has all rights.
 */
rights response_scope_rights(const struct response_scope *scope, const char *organization_id);
/* Adds the ids of the organizations that the requester is a member of. */
void response_scope_organizations(const struct response_scope *scope, struct db_array *ids);
/* True if the organization needs a second factor that the requester does not have. NULL: false. */
bool response_scope_lacks_factor(const struct response_scope *scope, const char *organization_id);
/* The fragments' `user`: `.user = response_scope_user(store->scope)`. */
const char *response_scope_user(const struct response_scope *scope);
/* For lists in one organization: whether the requester has the permission in all of it, so that no row is filtered. */
bool response_scope_all(const struct response_scope *scope, const char *organization_id, enum permission permission);

/* response_scope.sql has the fragments: rights in a workspace, project or organization, and conditions of lists. */
_Static_assert(BIT_CAN_READ_WORKSPACE == 0 && BIT_CAN_READ_RUNS == 1 && 1 << BIT_CAN_READ_PROJECT == 1048576 &&
		1 << BIT_CAN_READ_OUTPUTS == 64 && 1 << BIT_CAN_READ_STATE == 128 &&
		(rights)1 << BIT_CAN_SEE_SECRET_TEAMS == 17592186044416,
	"the fragments hold these bits as numbers");

#endif
