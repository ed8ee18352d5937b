/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/response_scope.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/store/access/response_scope.sql.h"

void response_scope_release(struct response_scope *scope)
{
	rows_release(&scope->memberships);
}

rights response_scope_rights(const struct response_scope *scope, const char *organization_id)
{
	if (!scope || scope->all)
		return ~(rights)0;
	for (int i = 0; i < scope->memberships.count; i++) {
		const struct requester_row *member = row_of(requester, &scope->memberships, i);

		if (text_equal(member->organization_id, organization_id))
			return (rights)member->rights;
	}
	return 0;
}

void response_scope_organizations(const struct response_scope *scope, struct db_array *ids)
{
	for (int i = 0; i < scope->memberships.count; i++) {
		const char *id = row_of(requester, &scope->memberships, i)->organization_id;

		if (id)
			db_array_add(ids, id);
	}
}

const char *response_scope_user(const struct response_scope *scope)
{
	return scope && !scope->all && !scope->owns ? scope->user.text : NULL;
}

bool response_scope_all(const struct response_scope *scope, const char *organization_id, enum permission permission)
{
	return response_scope_rights(scope, organization_id) & right_of(permission);
}

bool response_scope_lacks_factor(const struct response_scope *scope, const char *organization_id)
{
	const struct requester_row *requester =
		scope && scope->memberships.cells ? row_of(requester, &scope->memberships, 0) : NULL;
	char entry[ID_SIZE + 4];

	snprintf(entry, sizeof(entry), ",f:%s,", organization_id); /* auth/closed.h */
	return requester && requester->closed && strstr(requester->closed, entry);
}
