/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/run_token.h"

#include "scheduler/auth/run_token.sql.h"
#include "scheduler/store/workspaces/remote_state.h"

/* The permissions in the run's own workspace; `shared`: also in workspaces that share their states with it. */
static const struct {
	enum permission permission;
	bool shared;
} allowed[] = {
	{CAN_READ_WORKSPACE, true},
	{CAN_READ_STATE, true},
	{CAN_READ_OUTPUTS, true},
	{CAN_READ_RUNS, false},
};

int run_token_find(struct store *store, const char *hash, struct run_token *ret_token, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct run_token_find_row *job;

	if (db_query(store->db, &rows, err, run_token_find, .hash = hash) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_UNAUTHORIZED, "the token is not valid, or its run is over");
	job = row_of(run_token_find, &rows, 0);
	text_copy(ret_token->run.text, ID_SIZE, job->run_id);
	text_copy(ret_token->workspace.text, ID_SIZE, job->workspace_id);
	text_copy(ret_token->organization.text, ID_SIZE, job->organization_id);
	return 0;
}

int run_token_may(struct store *store, const struct run_token *token, enum permission permission, struct place place,
	struct err *err)
{
	bool may = permission == CAN_WITH_TOKEN && text_equal(place.organization, token->organization.text);

	for (size_t i = 0; place.workspace && i < ARRAY_LEN(allowed); i++) {
		if (allowed[i].permission != permission)
			continue;
		if (!allowed[i].shared)
			may = text_equal(place.workspace, token->workspace.text);
		else if (state_shared(store, token->workspace.text, place.workspace, &may, err) < 0)
			return -1;
	}
	return may ? 0 : err_set(err, ERR_NOT_FOUND, "not found");
}
