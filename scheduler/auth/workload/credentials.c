/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/workload/credentials.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/text.h"

enum { SENTENCE_LIMIT = 1000 };

/* ---- the table ---- */

struct wish;

enum {
#define CREDENTIAL(id, kind, product, prefix, switch_name, finish) KIND_##id,
#include "scheduler/auth/workload/credentials.def"
#undef CREDENTIAL
	KINDS
};

struct setting {
	int kind;
	const char *member, *name;
	bool phases;
	const char *missing, *only;
};

#define ONE    false
#define PHASES true
static const struct setting settings[] = {
#define SETTING(id, member, name, phases, missing, only) {KIND_##id, member, name, phases, missing, only},
#include "scheduler/auth/workload/credentials.def"
#undef SETTING
};

struct kind {
	const char *name, *product, *prefix, *switch_name;
	void (*finish)(struct wish *wish);
};

static void gcp_finish(struct wish *wish);
static void hcp_finish(struct wish *wish);
static void vault_finish(struct wish *wish);
static void vault_backed_finish(struct wish *wish);
static void vault_aws_finish(struct wish *wish);
static void vault_gcp_finish(struct wish *wish);

static const struct kind kinds[KINDS] = {
#define CREDENTIAL(id, kind, product, prefix, switch_name, finish)                                                     \
	[KIND_##id] = {kind, product, prefix, switch_name, finish},
#include "scheduler/auth/workload/credentials.def"
#undef CREDENTIAL
};

/* ---- one configuration ---- */

struct wish {
	const struct kind *kind;
	const char *tag, *phase; /* the phase's prefix: "PLAN_" or "APPLY_" */
	const json_t *environment;
	json_t *item;
	struct buf *refusal;
};

static char *switch_of(const struct kind *kind, const char *tag)
{
	return mem_printf("TFC_%s_%s%s%s", kind->prefix, kind->switch_name, *tag ? "_" : "", tag);
}

/* Says what is missing or wrong. Only the first sentence of a run counts. */
__attribute__((format(printf, 2, 3))) static void refuse(const struct wish *wish, const char *format, ...)
{
	_cleanup_(freep) char *name = switch_of(wish->kind, wish->tag);
	char text[SENTENCE_LIMIT];
	va_list args;

	if (wish->refusal->len)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	buf_printf(wish->refusal, "%s is true, but %s.", name, text);
}

static const char *member(const struct wish *wish, const char *name)
{
	return text_or_empty(json_string_at(wish->item, name));
}

/* The names of a setting, in the order in which they count, for i from 0. NULL: there are no more. The caller frees
 * it. */
static char *setting_name(const struct wish *wish, const struct setting *setting, size_t i)
{
	const char *phase = !setting->phases ? "" : i % 2 == 0 ? wish->phase : "RUN_";
	size_t each = setting->phases ? 2 : 1;

	if (i < each)
		return mem_printf(
			"TFC_%s_%s%s%s%s", wish->kind->prefix, phase, setting->name, *wish->tag ? "_" : "", wish->tag);
	return i < 2 * each ? mem_printf("TFC_DEFAULT_%s_%s%s", wish->kind->prefix, phase, setting->name) : NULL;
}

static const char *setting_value(const struct wish *wish, const struct setting *setting)
{
	const char *value = NULL;

	for (size_t i = 0; !value; i++) {
		_cleanup_(freep) char *name = setting_name(wish, setting, i);

		if (!name)
			return setting->missing;
		value = text_or_null(json_string_value(json_object_get(wish->environment, name)));
	}
	return value;
}

/* Names the variable that most people set: that of both phases. */
static void refuse_missing(const struct wish *wish, const struct setting *setting)
{
	_cleanup_(freep) char *name = setting_name(wish, setting, setting->phases ? 1 : 0);

	refuse(wish, "%s is not set", name);
}

static void settings_read(struct wish *wish)
{
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		const struct setting *setting = &settings[i];
		const char *value;

		if (&kinds[setting->kind] != wish->kind || !text_starts(member(wish, "auth-type"), setting->only))
			continue;
		value = setting_value(wish, setting);
		if (!value)
			refuse_missing(wish, setting);
		else
			json_object_set_new(wish->item, setting->member, json_string(value));
	}
	if (wish->kind->finish && !wish->refusal->len)
		wish->kind->finish(wish);
}

/* ---- what a kind derives from its settings ---- */

static void member_set(struct wish *wish, const char *name, const char *value)
{
	json_object_set_new(wish->item, name, json_string(value));
}

static void auth_type_check(struct wish *wish, const char *const *types)
{
	_cleanup_(buf_release) struct buf names = BUF_INIT(SENTENCE_LIMIT);

	for (; *types; types++) {
		if (text_equal(*types, member(wish, "auth-type")))
			return;
		buf_printf(&names, "%s%s", names.len ? ", " : "", *types);
	}
	refuse(wish, "the type of its authentication is none of %s", buf_str(&names));
}

/* The name of the workload identity provider, whole or in three parts. Its URL without the scheme is the audience. */
static void gcp_finish(struct wish *wish)
{
	static const char *const parts[][2] = {{"project-number", "TFC_GCP_PROJECT_NUMBER"},
		{"pool-id", "TFC_GCP_WORKLOAD_POOL_ID"}, {"provider-id", "TFC_GCP_WORKLOAD_PROVIDER_ID"}};
	const char *whole = member(wish, "audience");
	_cleanup_(freep) char *name = NULL, *audience = NULL;

	auth_type_check(wish, (const char *const[]){"service_account", "workload_pool", NULL});
	for (size_t i = 0; !*whole && i < ARRAY_LEN(parts); i++)
		if (!*member(wish, parts[i][0]))
			refuse(wish, "neither TFC_GCP_WORKLOAD_PROVIDER_NAME nor %s is set", parts[i][1]);
	name = *whole ? mem_text(whole)
		      : mem_printf("projects/%s/locations/global/workloadIdentityPools/%s/providers/%s",
				member(wish, "project-number"), member(wish, "pool-id"), member(wish, "provider-id"));
	audience = mem_printf("//iam.googleapis.com/%s", name);
	member_set(wish, "audience", audience);
	if (!*member(wish, CREDENTIAL_AUDIENCE))
		member_set(wish, CREDENTIAL_AUDIENCE, audience);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		json_object_del(wish->item, parts[i][0]);
	json_object_del(wish->item, "auth-type");
}

static void hcp_finish(struct wish *wish)
{
	if (!*member(wish, CREDENTIAL_AUDIENCE))
		member_set(wish, CREDENTIAL_AUDIENCE, member(wish, "resource-name"));
}

static void vault_finish(struct wish *wish)
{
	enum { TIMEOUT_MAX = 3600 };
	const char *timeout = member(wish, "client-timeout");
	long long seconds;

	if (*timeout && text_number(timeout, 1, TIMEOUT_MAX, &seconds) < 0)
		refuse(wish, "its timeout, TFC_VAULT_CLIENT_TIMEOUT, is no number from 1 to %d", TIMEOUT_MAX);
}

/* Vault itself must be configured, too: the wishes for Vault come before those that it backs (credentials_wanted). */
static void vault_backed_finish(struct wish *wish)
{
	enum { SLEEP_MAX = 1500 };
	const char *tag = member(wish, "vault");
	_cleanup_(freep) char *vault = switch_of(&kinds[KIND_VAULT], tag);
	long long seconds;

	if (!text_equal(json_string_value(json_object_get(wish->environment, vault)), "true"))
		refuse(wish, "%s, the login at Vault that it needs, is not", vault);
	if (*member(wish, "sleep-seconds") && text_number(member(wish, "sleep-seconds"), 0, SLEEP_MAX, &seconds) < 0)
		refuse(wish, "its sleep, TFC_%s_SLEEP_SECONDS, is no number from 0 to 1500", wish->kind->prefix);
}

static void vault_aws_finish(struct wish *wish)
{
	auth_type_check(wish, (const char *const[]){"iam_user", "assumed_role", "federation_token", NULL});
	vault_backed_finish(wish);
}

static void vault_gcp_finish(struct wish *wish)
{
	auth_type_check(wish,
		(const char *const[]){"roleset/access_token", "roleset/service_account_key",
			"static_account/access_token", "static_account/service_account_key", NULL});
	vault_backed_finish(wish);
}

/* ---- all of them ---- */

json_t *credentials_environment(const json_t *variables)
{
	json_t *environment = json_object(), *variable;
	size_t i;

	json_array_foreach((json_t *)variables, i, variable)
	{
		const char *key = json_string_at(variable, "key");

		if (text_starts(text_or_empty(key), "TFC_") && text_equal(json_string_at(variable, "category"), "env"))
			json_object_set(environment, key, json_object_get(variable, "value"));
	}
	return environment;
}

bool credentials_tag_valid(const char *tag)
{
	while (isalnum((unsigned char)*tag) || *tag == '_')
		tag++;
	return *tag == '\0';
}

const char *credentials_tag(const char *name, const char *plain)
{
	const char *tag = text_starts(name, plain) ? name + strlen(plain) : NULL;

	if (!tag || !*tag)
		return tag;
	return *tag == '_' && tag[1] ? tag + 1 : NULL;
}

struct wanting {
	const json_t *environment;
	const char *phase;
	json_t *items;
	struct buf refusal;
};

static void want(struct wanting *wanting, const struct kind *kind, const char *tag)
{
	json_t *item = json_pack("{ss ss}", "kind", kind->name, "tag", tag);
	struct wish wish = {.kind = kind,
		.tag = tag,
		.phase = text_equal(wanting->phase, "apply") ? "APPLY_" : "PLAN_",
		.environment = wanting->environment,
		.item = item,
		.refusal = &wanting->refusal};

	json_array_append_new(wanting->items, item);
	if (!credentials_tag_valid(tag))
		refuse(&wish, "its tag has more than letters, digits and underscores");
	else if (json_array_size(wanting->items) > CREDENTIALS_MAX)
		refuse(&wish, "a run can have at most %d such configurations", CREDENTIALS_MAX);
	else
		settings_read(&wish);
}

/* The word TYPE is no tag, because of TFC_VAULT_BACKED_AWS_AUTH_TYPE. */
static void kind_want(struct wanting *wanting, const struct kind *kind)
{
	_cleanup_(freep) char *plain = switch_of(kind, "");
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)wanting->environment, name, value)
	{
		const char *tag = credentials_tag(name, plain);

		if (tag && !text_equal(tag, "TYPE") && text_equal(json_string_value(value), "true"))
			want(wanting, kind, tag);
	}
}

json_t *credentials_wanted(const json_t *environment, const char *phase, char **ret_refusal)
{
	struct wanting wanting = {
		.environment = environment, .phase = phase, .items = json_array(), .refusal = BUF_INIT(SENTENCE_LIMIT)};

	for (size_t i = 0; i < KINDS; i++)
		kind_want(&wanting, &kinds[i]);
	*ret_refusal = wanting.refusal.len ? buf_take(&wanting.refusal) : NULL;
	buf_release(&wanting.refusal);
	return wanting.items;
}

static const struct kind *kind_of(const char *name)
{
	const struct kind *kind = kinds;

	while (!text_equal(kind->name, name))
		kind++;
	return kind;
}

char *credential_switch(const json_t *item)
{
	return switch_of(kind_of(json_string_at(item, "kind")), json_string_at(item, "tag"));
}

const char *credential_product(const char *kind)
{
	return kind_of(kind)->product;
}
