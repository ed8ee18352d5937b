/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/site/setting_groups.h"

#include "scheduler/api/api.h"
#include "scheduler/store/site_settings.h"

json_t *setting_group_attributes(const struct setting_group *group, const json_t *settings)
{
	json_t *attributes = group->always ? json_shown(group->always) : json_object();

	fields_show(group->fields, group->count, json_object_get(settings, group->id), attributes);
	return attributes;
}

static int respond_group(struct response *res, const struct setting_group *group, const json_t *settings)
{
	return respond_resource(
		res, 200, resource_new(group->type, group->id, setting_group_attributes(group, settings), NULL));
}

int setting_group_show(struct request *req, struct response *res, const struct setting_group *group, struct err *err)
{
	json_auto_t *settings = NULL;

	return site_settings_read(req->store, &settings, err) < 0 ? -1 : respond_group(res, group, settings);
}

/* null stands for the default. */
static void defaults_put(const struct setting_group *group, json_t *changes)
{
	for (size_t i = 0; i < group->count; i++)
		if (json_is_null(json_object_get(changes, group->fields[i].name)))
			json_object_set_new(changes, group->fields[i].name, json_shown(group->fields[i].fallback));
}

int setting_group_read(
	const struct request *req, const struct setting_group *group, json_t **ret_changes, struct err *err)
{
	json_auto_t *changes = json_object();

	if (body_check(req, group->type, err) < 0 || fields_read(req, group->fields, group->count, changes, err) < 0 ||
		fields_refuse(group->refused, group->refused_count, changes, err) < 0)
		return -1;
	defaults_put(group, changes);
	*ret_changes = json_incref(changes);
	return 0;
}

int setting_group_change(struct request *req, struct response *res, const struct setting_group *group,
	const json_t *changes, struct err *err)
{
	json_auto_t *settings = NULL;

	if (site_group_update(req->store, group->id, changes, &settings, err) < 0)
		return -1;
	return respond_group(res, group, settings);
}

static int group_update(struct request *req, struct response *res, const struct setting_group *group, struct err *err)
{
	json_auto_t *changes = NULL;

	if (setting_group_read(req, group, &changes, err) < 0)
		return -1;
	return setting_group_change(req, res, group, changes, err);
}

/* ---- texts on the pages ---- */

static const struct field texts[] = {
	{"support-email-address", FIELD_TEXT, "\"\""},
	{"login-help", FIELD_TEXT, "\"\""},
	{"footer", FIELD_TEXT, "\"\""},
	{"error", FIELD_TEXT, "\"\""},
	{"new-user", FIELD_TEXT, "\"\""},
};

static const struct setting_group customization = {
	.id = "customization", .type = "customization-settings", .fields = texts, .count = ARRAY_LEN(texts)};

int customization_settings_read(struct request *req, struct response *res, struct err *err)
{
	return setting_group_show(req, res, &customization, err);
}

int customization_settings_update(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *changes = NULL;
	const char *address;

	if (setting_group_read(req, &customization, &changes, err) < 0)
		return -1;
	address = text_or_empty(json_string_at(changes, "support-email-address"));
	if (*address && !mail_address_valid(address))
		return err_at(err, "/data/attributes/support-email-address",
			"Support email address must be an e-mail address");
	return setting_group_change(req, res, &customization, changes, err);
}

/* ---- cost estimates ---- */

static const struct field costs[] = {
	{"enabled", FIELD_BOOL, "true"},
	{"aws-access-key-id", FIELD_TEXT, "\"\""},
	{"aws-secret-key", FIELD_TEXT, "\"\""},
	{"gcp-credentials", FIELD_TEXT, "\"\""},
	{"azure-client-id", FIELD_TEXT, "\"\""},
	{"azure-client-secret", FIELD_TEXT, "\"\""},
	{"azure-subscription-id", FIELD_TEXT, "\"\""},
	{"azure-tenant-id", FIELD_TEXT, "\"\""},
};

#define NO_CREDENTIALS "Cost estimates use the prices that the workers have, and no account of a cloud"

/* A secret that nothing uses is not kept. */
static const struct field_refusal cost_credentials[] = {
	{"aws-access-key-id", "\"\"", NO_CREDENTIALS},
	{"aws-secret-key", "\"\"", NO_CREDENTIALS},
	{"gcp-credentials", "\"\"", NO_CREDENTIALS},
	{"azure-client-id", "\"\"", NO_CREDENTIALS},
	{"azure-client-secret", "\"\"", NO_CREDENTIALS},
	{"azure-subscription-id", "\"\"", NO_CREDENTIALS},
	{"azure-tenant-id", "\"\"", NO_CREDENTIALS},
};

static const struct setting_group cost_estimation = {.id = "cost-estimation",
	.type = "cost-estimation-settings",
	.fields = costs,
	.count = ARRAY_LEN(costs),
	.refused = cost_credentials,
	.refused_count = ARRAY_LEN(cost_credentials),
	.always = "{\"aws-enabled\":false,\"aws-instance-profile-enabled\":false,\"gcp-enabled\":false,"
		  "\"azure-enabled\":false}"};

int cost_settings_read(struct request *req, struct response *res, struct err *err)
{
	return setting_group_show(req, res, &cost_estimation, err);
}

int cost_settings_update(struct request *req, struct response *res, struct err *err)
{
	return group_update(req, res, &cost_estimation, err);
}

/* ---- text messages ---- */

#define NO_MESSAGES "Text messages are not available: second factors are authenticator apps and passkeys"

static const struct field messages[] = {
	{"enabled", FIELD_BOOL, "false"},
	{"account-sid", FIELD_TEXT, "\"\""},
	{"auth-token", FIELD_TEXT, "\"\""}, /* always empty */
	{"from-number", FIELD_TEXT, "\"\""},
};

static const struct field_refusal no_messages[] = {
	{"enabled", "false", NO_MESSAGES},
	{"auth-token", "\"\"", NO_MESSAGES},
};

static const struct setting_group twilio = {.id = "twilio",
	.type = "twilio-settings",
	.fields = messages,
	.count = ARRAY_LEN(messages),
	.refused = no_messages,
	.refused_count = ARRAY_LEN(no_messages)};

int twilio_settings_read(struct request *req, struct response *res, struct err *err)
{
	return setting_group_show(req, res, &twilio, err);
}

int twilio_settings_update(struct request *req, struct response *res, struct err *err)
{
	return group_update(req, res, &twilio, err);
}

int twilio_settings_verify(struct request *req, struct response *res, struct err *err)
{
	(void)req;
	(void)res;
	return err_set(err, ERR_MALFORMED, "%s", NO_MESSAGES);
}
