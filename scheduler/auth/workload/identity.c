/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/workload/identity.h"

#include "scheduler/auth/workload/credentials.h"
#include "scheduler/auth/workload/identity.sql.h"

#define AUDIENCE "TFC_WORKLOAD_IDENTITY_AUDIENCE"
#define TOKEN    "TFC_WORKLOAD_IDENTITY_TOKEN"

enum { MAX_TOKENS = 32 };

struct giving {
	const struct workload_job *job;
	const json_t *environment;
	json_t *document;
	struct workload_tokens tokens;
};

static void refuse(struct giving *giving, const char *sentence)
{
	if (!json_object_get(giving->document, "refusal"))
		json_object_set_new(giving->document, "refusal", json_string(sentence));
}

/* ---- tokens that the run uses itself ---- */

/* The audiences by tag. */
static json_t *audiences_of(const json_t *environment)
{
	json_t *audiences = json_object(), *value;
	const char *name;

	json_object_foreach((json_t *)environment, name, value)
	{
		const char *tag = credentials_tag(name, AUDIENCE);

		if (tag && credentials_tag_valid(tag) && text_or_null(json_string_value(value)))
			json_object_set(audiences, tag, value);
	}
	return audiences;
}

static void own_token_add(struct giving *giving, const char *tag, const char *audience)
{
	_cleanup_(freep) char *name = mem_printf(TOKEN "%s%s", *tag ? "_" : "", tag);
	json_t *variable =
		json_pack("{ss ss sb sb sb}", "key", name, "category", "env", "hcl", 0, "sensitive", 1, "identity", 1);

	workload_token_want(&giving->tokens, audience, variable, "value");
	json_array_append_new(json_object_get(giving->document, "variables"), variable);
}

static void own_tokens_add(struct giving *giving)
{
	json_auto_t *audiences = audiences_of(giving->environment);
	const char *tag;
	json_t *audience;

	if (json_object_size(audiences) > MAX_TOKENS) {
		refuse(giving, "A run can have at most 32 variables " AUDIENCE "_TAG.");
		return;
	}
	json_object_foreach(audiences, tag, audience) own_token_add(giving, tag, json_string_value(audience));
}

/* ---- credentials ---- */

static void credential_token_add(struct giving *giving, json_t *item)
{
	const char *audience = json_string_at(item, CREDENTIAL_AUDIENCE);

	if (audience)
		workload_token_want(&giving->tokens, audience, item, "token");
	json_object_del(item, CREDENTIAL_AUDIENCE);
}

/* What an apply would lack is said when the plan starts. */
static json_t *credentials_of(const struct giving *giving, char **ret_refusal)
{
	const struct workload_job *job = giving->job;
	json_t *items = credentials_wanted(giving->environment, job->workload.phase, ret_refusal);

	if (!*ret_refusal && !job->plan_only && text_equal(job->workload.phase, "plan"))
		json_decref(credentials_wanted(giving->environment, "apply", ret_refusal));
	return items;
}

static int credentials_add(struct giving *giving, struct err *err)
{
	_cleanup_(freep) char *refusal = NULL, *asking = NULL;
	json_auto_t *items = credentials_of(giving, &refusal);
	json_t *item;
	size_t i;

	if (!json_array_size(items))
		return 0;
	asking = credential_switch(json_array_get(items, 0));
	if (!giving->job->worker_knows)
		return err_set(err, ERR_INVALID,
			"%s is true, but the run's worker is of an earlier version, which can't get credentials. "
			"Upgrade the workers of its pool.",
			asking);
	if (giving->job->from_fork) {
		free(refusal);
		refusal = mem_printf("%s is true, but the code of a fork gets no credentials.", asking);
	}
	if (refusal) {
		refuse(giving, refusal);
		return 0;
	}
	json_array_foreach(items, i, item) credential_token_add(giving, item);
	json_object_set(giving->document, "credentials", items);
	return 0;
}

int workload_identity_add(struct store *store, const struct workload_job *job, json_t *document, struct err *err)
{
	json_auto_t *environment = credentials_environment(json_object_get(document, "variables"));
	struct giving giving = {.job = job, .environment = environment, .document = document};
	int result;

	workload_tokens_begin(&giving.tokens, store, &job->workload);
	if (!job->from_fork)
		own_tokens_add(&giving);
	result = credentials_add(&giving, err);
	if (result == 0)
		result = workload_tokens_make(&giving.tokens, err);
	workload_tokens_release(&giving.tokens);
	return result;
}

int workload_names_read(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, workload_names, .workspace = workspace_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "workspace not found");
}
