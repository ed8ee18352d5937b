/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/workload/tokens.h"

#include <string.h>

#include "common/clock.h"
#include "scheduler/auth/workload/keys.h"
#include "scheduler/store/access/audit.h"

#define AUDIENCE "TFC_WORKLOAD_IDENTITY_AUDIENCE"
#define TOKEN    "TFC_WORKLOAD_IDENTITY_TOKEN"

enum { EARLY_SECONDS = 5, MAX_SECONDS = 86400, MAX_TOKENS = 32 };

/* ---- claims ---- */

/* No name has a colon, so no two workspaces have one subject: organizations and workspaces (store/names.h), projects
 * (api/workspaces/projects.c). */
static char *full_workspace(const struct workload *w)
{
	return mem_printf("organization:%s:project:%s:workspace:%s", w->organization, w->project, w->workspace);
}

char *workload_subject(const struct workload *w)
{
	_cleanup_(freep) char *workspace = full_workspace(w);

	return mem_printf("%s:run_phase:%s", workspace, w->phase);
}

static json_t *claims_of(const struct store *store, const struct workload *w, const char *audience, const char *id)
{
	_cleanup_(freep) char *workspace = full_workspace(w), *subject = workload_subject(w);
	long long now = clock_wall_us() / 1000000, seconds = w->seconds;

	if (seconds <= 0 || seconds > MAX_SECONDS)
		seconds = MAX_SECONDS;
	return json_pack("{ss ss ss sI sI sI ss ss ss ss ss ss ss ss ss ss}", "jti", id, "iss",
		store->settings->public_url, "aud", audience, "iat", (json_int_t)now, "nbf",
		(json_int_t)(now - EARLY_SECONDS), "exp", (json_int_t)(now + seconds), "sub", subject,
		"terraform_organization_id", w->organization_id, "terraform_organization_name", w->organization,
		"terraform_project_id", w->project_id, "terraform_project_name", w->project, "terraform_workspace_id",
		w->workspace_id, "terraform_workspace_name", w->workspace, "terraform_full_workspace", workspace,
		"terraform_run_id", w->run, "terraform_run_phase", w->phase);
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
			.workspace = w->workspace_id,
			.details = details});
}

/* The tag behind a variable's name: "" or "_TAG"; NULL for a variable that asks for no token. */
static const char *tag_of(const json_t *variable)
{
	const char *key = json_string_at(variable, "key"), *tag;

	if (!key || !text_starts(key, AUDIENCE) || !text_equal(json_string_at(variable, "category"), "env"))
		return NULL;
	tag = key + strlen(AUDIENCE);
	if (*tag &&
		(*tag != '_' || !tag[1] ||
			tag[strspn(tag, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")]))
		return NULL;
	return tag;
}

struct issuing {
	struct store *store;
	const struct workload *workload;
	const struct jose_signer *signer;
	struct audit_batch audit;
	json_t *tokens; /* variables */
};

static int token_add(struct issuing *s, const char *tag, const char *audience, struct err *err)
{
	_cleanup_(freep) char *name = mem_printf(TOKEN "%s", tag);
	char id[AUDIT_UUID_SIZE];

	audit_uuid(id);
	json_auto_t *claims = claims_of(s->store, s->workload, audience, id);
	_cleanup_(crypto_secret_freep) char *token = jose_sign(s->signer, claims, err);
	if (!token)
		return -1;
	json_array_append_new(s->tokens,
		json_pack("{ss ss ss sb sb sb}", "key", name, "value", token, "category", "env", "hcl", 0, "sensitive",
			1, "identity", 1));
	audit(s->workload, audience, id, &s->audit);
	return 0;
}

/* The last of several variables with one name counts. */
static json_t *audiences_of(const json_t *variables)
{
	json_t *audiences = json_object(), *variable;
	size_t i;

	json_array_foreach((json_t *)variables, i, variable)
	{
		const char *tag = tag_of(variable), *audience = json_string_at(variable, "value");

		if (tag && text_or_null(audience) && json_object_size(audiences) < MAX_TOKENS)
			json_object_set_new(audiences, tag, json_string(audience));
	}
	return audiences;
}

int workload_tokens_add(struct store *store, const struct workload *workload, json_t *variables, struct err *err)
{
	json_auto_t *audiences = audiences_of(variables), *tokens = json_array();
	struct issuing s = {.store = store, .workload = workload, .tokens = tokens};
	const char *tag;
	json_t *audience;
	int result = 0;

	if (!json_object_size(audiences))
		return 0;
	if (workload_signer(store, &s.signer, err) < 0)
		return -1;
	audit_batch_init(&s.audit);
	json_object_foreach(audiences, tag, audience) if (result == 0) result =
		token_add(&s, tag, json_string_value(audience), err);
	if (result == 0)
		result = audit_insert(store, &s.audit, err);
	audit_batch_release(&s.audit);
	if (result == 0)
		json_array_extend(variables, tokens);
	return result;
}
