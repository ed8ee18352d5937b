/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/removals.h"

#include "scheduler/store/vcs/calls/removals.sql.h"

#include <string.h>

int vcs_removals_add(struct store *store, const struct vcs_removals_of *of, struct err *err)
{
	const struct vcs_purpose_traits *removal = &vcs_purposes[VCS_FOR_REMOVAL];

	return db_query(store->db, NULL, err, vcs_removals_add, .purpose = removal->name, .urgency = removal->urgency,
		.writes = removal->writes, .organization_id = of->organization_id, .connection_id = of->connection_id,
		.token_id = of->token_id);
}

int vcs_removals_expire(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_removals_expire);
}

static int hooks_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_removal_read, .id = id);
}

int vcs_removal_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *hooks;

	ret_prepared->operation = VCS_OPERATIONS;
	if (hooks_read(store, call->removal_id, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	hooks = row_of(vcs_removal_read, &rows, 0)->hooks;
	ret_prepared->operation = VCS_OP_HOOK_DELETE;
	ret_prepared->arguments = json_pack("{s:s%}", "hook", hooks, strcspn(hooks, ","));
	return 0;
}

static int removal_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_removal_delete, .id = id);
}

int vcs_removal_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *rest;

	(void)result;
	if (hooks_read(store, call->removal_id, &rows, err) < 0)
		return -1;
	rest = rows.count ? strchr(row_of(vcs_removal_read, &rows, 0)->hooks, ',') : NULL;
	if (!rest)
		return removal_delete(store, call->removal_id, err);
	*ret_goes_on = json_object();
	return db_query(store->db, NULL, err, vcs_removal_set, .removal_id = call->removal_id, .hooks = rest + 1);
}

int vcs_removal_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	(void)verdict;
	(void)ret_goes_on;
	return removal_delete(store, call->removal_id, err);
}
