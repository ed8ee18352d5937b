/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/status_counts.h"

#include "scheduler/store/access/response_scope.h"

int workspaces_count_statuses(struct store *store, const char *organization_id, const char *project_ids,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select r.status, count(*) as workspaces, count(*) filter (where f.locked_by is not null) as locked "
		"from workspaces f left join runs r on r.id = coalesce(f.current_run_id, f.latest_run_id) "
		"where f.organization_id = $1 and ($2::text is null or f.project_id = any(string_to_array($2, ','))) "
		"and " WORKSPACE_IN_SCOPE("$3", "$4", "f.id") "group by r.status order by r.status",
		P_TEXT(organization_id), P_TEXT(project_ids),
		P_BOOL(response_scope_all(store->scope, organization_id, CAN_READ_WORKSPACE)),
		P_TEXT(response_scope_user(store->scope)));
}
