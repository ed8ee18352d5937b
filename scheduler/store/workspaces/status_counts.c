/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/status_counts.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/workspaces/status_counts.sql.h"

int workspaces_count_statuses(struct store *store, const char *organization_id, const char *project_ids,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, workspaces_count_statuses, .organization_id = organization_id,
		.project_ids = project_ids,
		.everywhere = response_scope_all(store->scope, organization_id, CAN_READ_WORKSPACE),
		.user = response_scope_user(store->scope));
}
