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
	bool all;  /* a site admin */
	bool owns; /* an owner of every organization that they are a member of */
	struct id user;
	struct rows memberships; /* the shape `requester`: one row per organization */
};

void response_scope_release(struct response_scope *scope);
/* The requester's rights in all of the organization; none if not a member. NULL (the scheduler itself) has all rights.
 */
rights response_scope_rights(const struct response_scope *scope, const char *organization_id);
/* The fragments' `user`: `.user = response_scope_user(store->scope)`. */
const char *response_scope_user(const struct response_scope *scope);
/* For lists in one organization: whether the requester has the permission in all of it, so that no row is filtered. */
bool response_scope_all(const struct response_scope *scope, const char *organization_id, enum permission permission);

/*
 * SQL expressions: the requester's rights in one workspace, project or organization. Their arguments are SQL, too:
 * `user` is the number of a parameter, such as "$3". Resources read the result from the column `rights`.
 */
#define RIGHTS_OF(user, organization, given)                                                                           \
	"case when " user "::text is null then -1 else (select coalesce(bit_or(g.rights), 0) from team_members m "     \
	"join (select id as team_id, rights from teams where organization_id = " organization " " given                \
	") g on g.team_id = m.team_id where m.user_id = " user ") end "
#define RIGHTS_IN_ORGANIZATION(user, organization) RIGHTS_OF(user, organization, "")
#define RIGHTS_IN_WORKSPACE(user, organization, workspace)                                                             \
	RIGHTS_OF(user, organization,                                                                                  \
		"union all select team_id, rights from team_workspaces where workspace_id = " workspace                \
		" union all select tp.team_id, tp.rights from workspaces x join team_projects tp "                     \
		"on tp.project_id = x.project_id where x.id = " workspace)

/* Conditions of lists: `everywhere` is the parameter P_BOOL(response_scope_all(...)). */
#define WORKSPACES_WITH(user, mask)                                                                                    \
	"select tw.workspace_id from team_members m "                                                                  \
	"join team_workspaces tw on tw.team_id = m.team_id and tw.rights & " mask " <> 0 where m.user_id = " user      \
	" union all select x.id from team_members m join team_projects tp on tp.team_id = m.team_id and "              \
	"tp.rights & " mask " <> 0 join workspaces x on x.project_id = tp.project_id where m.user_id = " user " "
#define IN_SCOPE(everywhere, user, workspace, mask)                                                                    \
	"(" everywhere "::boolean or " workspace " in (" WORKSPACES_WITH(user, mask) ")) "
#define WORKSPACES_IN_SCOPE(user)                       WORKSPACES_WITH(user, "1")
#define WORKSPACE_IN_SCOPE(everywhere, user, workspace) IN_SCOPE(everywhere, user, workspace, "1")
#define RUNS_IN_SCOPE(everywhere, user, workspace)      IN_SCOPE(everywhere, user, workspace, "2")

/* The condition that the requester sees a team `t`. `secret` says whether the requester sees the organization's secret
 * teams: a parameter, or the second fragment. */
#define TEAM_IN_SCOPE(secret, user)                                                                                    \
	"t.kind in ('owners', 'team') and (" secret " or t.visibility = 'organization' or exists (select 1 "           \
	"from team_members v where v.team_id = t.id and v.user_id = " user ")) "
#define SECRET_TEAMS_IN_SCOPE(user) "(" RIGHTS_IN_ORGANIZATION(user, "t.organization_id") ") & 17592186044416 <> 0"

_Static_assert(BIT_CAN_READ_WORKSPACE == 0 && BIT_CAN_READ_RUNS == 1 && 1 << BIT_CAN_READ_PROJECT == 1048576 &&
		1 << BIT_CAN_READ_OUTPUTS == 64 && 1 << BIT_CAN_READ_STATE == 128 &&
		(rights)1 << BIT_CAN_SEE_SECRET_TEAMS == 17592186044416,
	"the fragments hold these bits as numbers");

#endif
