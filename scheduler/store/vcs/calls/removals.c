/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/removals.h"

#include "scheduler/store/vcs/calls/removals.sql.h"

#include <string.h>

/* clang-format off */
static const char add_sql[] =
	"with kept as (insert into vcs_hook_removals (id, organization_id, connection, provider, api_url, identifier, hooks, "
	"token_id, token_sealed) select 'vhr-' || substr(md5(gen_random_uuid()::text), 1, 16), c.organization_id, c.id, "
	"c.provider, c.api_url, r.identifier, r.hook_external_id, t.id, t.token_sealed from vcs_connections c "
	"join vcs_tokens t on t.connection_id = c.id join vcs_repositories r on r.connection_id = c.id "
	"where (c.organization_id = $4 or c.id = $5 or t.id = $6) and t.token_sealed is not null "
	"and r.hook_external_id is not null returning id) "
	CALLS_INSERT("removal_id", "id from kept");
/* clang-format on */

int vcs_removals_add(struct store *store, const struct vcs_removals_of *of, struct err *err)
{
	return db_query_sql(store->db, NULL, err, add_sql, CALL_TRAITS(VCS_FOR_REMOVAL), P_TEXT(of->organization_id),
		P_TEXT(of->connection_id), P_TEXT(of->token_id));
}

int vcs_removals_expire(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_removals_expire);
}

static int hooks_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, hooks_read, .id = id);
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
	hooks = row_of(hooks_read, &rows, 0)->hooks;
	ret_prepared->operation = VCS_OP_HOOK_DELETE;
	ret_prepared->arguments = json_pack("{s:s%}", "hook", hooks, strcspn(hooks, ","));
	return 0;
}

static int removal_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, removal_delete, .id = id);
}

int vcs_removal_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *rest;

	(void)result;
	if (hooks_read(store, call->removal_id, &rows, err) < 0)
		return -1;
	rest = rows.count ? strchr(row_of(hooks_read, &rows, 0)->hooks, ',') : NULL;
	if (!rest)
		return removal_delete(store, call->removal_id, err);
	*ret_goes_on = json_object();
	return db_query(store->db, NULL, err, vcs_removal_step, .removal_id = call->removal_id, .hooks = rest + 1);
}

int vcs_removal_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	(void)verdict;
	(void)ret_goes_on;
	return removal_delete(store, call->removal_id, err);
}
