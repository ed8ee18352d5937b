/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/offboarding.h"

#include <stdio.h>

#include "common/log.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/auth/identity/offboard.h"
#include "scheduler/auth/identity/offboard.sql.h"
#include "scheduler/outbox/claim_waiters.h"

static int tokens_note(struct request *req, const struct offboarding *ended, struct err *err)
{
	for (int i = 0; i < ended->tokens.count; i++) {
		const struct offboard_tokens_row *token = row_of(offboard_tokens, &ended->tokens, i);
		const struct request_event event = {.organization = token->organization_id,
			.action = "destroy",
			.type = "authentication_token",
			.id = token->id,
			.details = json_pack("{ss}", "reason", "user suspended")};

		if (request_audit_event(req, &event, err) < 0)
			return -1;
		if (token->pool_id)
			claim_waiters_dismiss(req->services->waiters, req->store->db, token->pool_id);
	}
	return 0;
}

static int runs_note(struct request *req, const struct offboarding *ended, struct err *err)
{
	for (int i = 0; i < ended->runs.count; i++) {
		const struct offboard_runs_row *run = row_of(offboard_runs, &ended->runs, i);
		const struct request_event event = {.organization = run->organization_id,
			.workspace = run->workspace_id,
			.action = "require_confirmation",
			.type = "run",
			.id = run->run_id,
			.details = json_pack("{ss}", "reason", "user suspended")};

		if (request_audit_event(req, &event, err) < 0)
			return -1;
	}
	return 0;
}

static int owned_note(struct request *req, const char *user_id, const struct offboarding *ended, struct err *err)
{
	for (int i = 0; i < ended->owned.count; i++) {
		const char *organization = row_of(offboard_owned, &ended->owned, i)->organization_id;
		const struct request_event event = {.organization = organization,
			.action = "last_owner_suspended",
			.type = "organization",
			.id = organization,
			.details = json_pack("{ss}", "user", user_id)};

		log_warn(
			"the last owner of an organization was suspended and stays its owner: a site administrator can "
			"add another",
			"organization", organization, "user", user_id, NULL);
		if (request_audit_event(req, &event, err) < 0)
			return -1;
	}
	return 0;
}

static int user_note(struct request *req, const char *user_id, const struct offboarding *ended, struct err *err)
{
	char sessions[24], tokens[24], run_tokens[24];

	snprintf(sessions, sizeof(sessions), "%lld", ended->sessions);
	snprintf(tokens, sizeof(tokens), "%d", ended->tokens.count);
	snprintf(run_tokens, sizeof(run_tokens), "%lld", ended->run_tokens);
	return request_audit_event(req,
		&(const struct request_event){.action = "end_access",
			.type = "user",
			.id = user_id,
			.details = json_pack(
				"{ss ss ss}", "sessions", sessions, "tokens", tokens, "run-tokens", run_tokens)},
		err);
}

int user_end_access(struct request *req, const char *user_id, struct err *err)
{
	struct offboarding ended;
	int result = user_offboard(req->store, user_id, &ended, err);

	if (result == 0 &&
		(user_note(req, user_id, &ended, err) < 0 || tokens_note(req, &ended, err) < 0 ||
			runs_note(req, &ended, err) < 0 || owned_note(req, user_id, &ended, err) < 0))
		result = -1;
	offboarding_release(&ended);
	return result;
}
