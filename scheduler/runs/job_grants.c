/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/job_grants.h"

#include <string.h>

#include "scheduler/runs/job_grants.sql.h"
#include "scheduler/store/runs/holds.h"
#include "scheduler/store/runs/holds.sql.h"

static void grant_begin(struct job_grant *ret_grant, const char *job_id, const char *run_id, const char *workspace_id)
{
	*ret_grant = (struct job_grant){.late = false};
	text_copy(ret_grant->job.text, ID_SIZE, job_id);
	text_copy(ret_grant->run.text, ID_SIZE, run_id);
	text_copy(ret_grant->workspace.text, ID_SIZE, workspace_id);
	ret_grant->plan = id_sibling(ret_grant->run.text, "plan");
	ret_grant->apply = id_sibling(ret_grant->run.text, "apply");
}

int job_granted(
	struct store *store, const char *job_id, const char *token, struct job_grant *ret_grant, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct job_granted_row *job;
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(text_or_empty(token), strlen(text_or_empty(token)), hash);
	if (db_query(store->db, &rows, err, job_granted, .job_id = job_id, .hash = hash) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
	job = row_of(job_granted, &rows, 0);
	grant_begin(ret_grant, job_id, job->run_id, job->workspace_id);
	ret_grant->stage = (enum stage)stage_parse(job->stage);
	ret_grant->attempt = (int)job->attempt;
	ret_grant->log_base = job->log_base;
	return 0;
}

int state_granted(
	struct store *store, const char *job_id, const char *token, struct job_grant *ret_grant, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct hold_of_token_row *hold;
	char hash[SHA256_HEX_SIZE];

	if (job_granted(store, job_id, token, ret_grant, err) == 0)
		return 0;
	crypto_sha256_hex(text_or_empty(token), strlen(text_or_empty(token)), hash);
	if (err->kind != ERR_NOT_FOUND || hold_of_token(store, job_id, hash, &rows, err) < 0 || !rows.count)
		return -1;
	hold = row_of(hold_of_token, &rows, 0);
	grant_begin(ret_grant, job_id, hold->run_id, hold->workspace_id);
	ret_grant->stage = STAGE_APPLY;
	ret_grant->late = true;
	*err = (struct err)ERR_INIT;
	return 0;
}

bool job_token_valid(struct store *store, const char *job_id, const char *token)
{
	struct err err = ERR_INIT;
	struct job_grant grant;

	return state_granted(store, job_id, token, &grant, &err) == 0;
}

bool plan_token_valid(struct store *store, const char *plan_id, const char *token)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char hash[SHA256_HEX_SIZE];
	struct err err = ERR_INIT;

	crypto_sha256_hex(text_or_empty(token), strlen(text_or_empty(token)), hash);
	return db_query(store->db, &rows, &err, job_plan_token, .plan_id = plan_id, .hash = hash) == 0 &&
		rows.count > 0;
}
