/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/workload/tokens.h"

#include <string.h>

#include "common/clock.h"
#include "scheduler/auth/workload/keys.h"
#include "scheduler/store/access/audit.h"

enum { EARLY_SECONDS = 5, MAX_SECONDS = 86400 };

/* ---- claims ---- */

/* No name has a colon, so no two workspaces have one subject: organizations and workspaces (store/names.h), projects
 * (api/workspaces/projects.c). */
static char *full_workspace(const struct workload *w)
{
	return mem_printf("organization:%s:project:%s:workspace:%s", w->organization, w->project, w->workspace);
}

char *workload_subject(const struct workload *w)
{
	_cleanup_(freep) char *workspace = NULL;

	if (w->module)
		return mem_printf("organization:%s:module:%s:operation:test_run", w->organization, w->module);
	workspace = full_workspace(w);
	return mem_printf("%s:run_phase:%s", workspace, w->phase);
}

static json_t *claims_of(const struct store *store, const struct workload *w, const char *audience, const char *id)
{
	_cleanup_(freep) char *workspace = full_workspace(w), *subject = workload_subject(w);
	json_t *claims;
	long long now = clock_wall_us() / 1000000, seconds = w->seconds;

	if (seconds <= 0 || seconds > MAX_SECONDS)
		seconds = MAX_SECONDS;
	claims = json_pack("{ss ss ss sI sI sI ss ss ss ss ss}", "jti", id, "iss", store->settings->public_url, "aud",
		audience, "iat", (json_int_t)now, "nbf", (json_int_t)(now - EARLY_SECONDS), "exp",
		(json_int_t)(now + seconds), "sub", subject, "terraform_organization_id", w->organization_id,
		"terraform_organization_name", w->organization, "terraform_run_id", w->run, "terraform_run_phase",
		w->phase);
	if (!w->module)
		json_object_update_new(claims,
			json_pack("{ss ss ss ss ss}", "terraform_project_id", w->project_id, "terraform_project_name",
				w->project, "terraform_workspace_id", w->workspace_id, "terraform_workspace_name",
				w->workspace, "terraform_full_workspace", workspace));
	return claims;
}

/* ---- tokens ---- */

static void audit(const struct workload *w, const char *audience, const char *id, struct audit_batch *batch)
{
	char request[AUDIT_UUID_SIZE];
	json_auto_t *details = json_pack(
		"{ss ss ss si}", "audience", audience, "run", w->run, "phase", w->phase, "attempt", w->attempt);

	audit_uuid(request);
	audit_add(batch,
		&(struct audit_event){.organization = w->organization_id,
			.actor_type = "run",
			.actor_id = w->run,
			.request = request,
			.action = "issue",
			.resource_type = "workload_identity_token",
			.resource_id = id,
			.workspace = w->module ? NULL : w->workspace_id,
			.details = details});
}

void workload_tokens_begin(struct workload_tokens *tokens, struct store *store, const struct workload *workload)
{
	*tokens = (struct workload_tokens){.store = store, .workload = workload, .wanted = json_array()};
	audit_batch_init(&tokens->audit);
}

void workload_token_want(struct workload_tokens *tokens, const char *audience, json_t *into, const char *member)
{
	char id[AUDIT_UUID_SIZE];

	audit_uuid(id);
	json_array_append_new(tokens->wanted,
		json_pack("{so sO ss}", "claims", claims_of(tokens->store, tokens->workload, audience, id), "into",
			into, "member", member));
	audit(tokens->workload, audience, id, &tokens->audit);
}

static int sign_all(const struct workload_tokens *tokens, const struct jose_signer *signer, struct err *err)
{
	json_t *wanted;
	size_t i;

	json_array_foreach(tokens->wanted, i, wanted)
	{
		_cleanup_(crypto_secret_freep) char *token = jose_sign(signer, json_object_get(wanted, "claims"), err);

		if (!token)
			return -1;
		json_object_set_new(
			json_object_get(wanted, "into"), json_string_at(wanted, "member"), json_string(token));
	}
	return 0;
}

int workload_tokens_make(struct workload_tokens *tokens, struct err *err)
{
	const struct jose_signer *signer;
	int result;

	if (!json_array_size(tokens->wanted))
		return 0;
	if (workload_signer(tokens->store, &signer, err) < 0)
		return -1;
	result = audit_send(tokens->store, &tokens->audit, err);
	if (result == 0)
		result = sign_all(tokens, signer, err);
	return audit_sent(tokens->store, &tokens->audit, result, err);
}

void workload_tokens_release(struct workload_tokens *tokens)
{
	json_decref(tokens->wanted);
	audit_batch_release(&tokens->audit);
}
