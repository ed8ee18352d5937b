/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/tokens.h"
#include "scheduler/api/api.h"
#include "scheduler/api/site/timeouts.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/http/fields.h"
#include "scheduler/store/site_settings.h"

#include <stdio.h>

/* The settings of the installation, for site admins. */

enum { MIN_RATE = 30, MAX_RATE = 1000000, MAX_CEILING = 1000000000 };

static const struct field settings[] = {
	{"allow-speculative-plans-on-pull-requests-from-forks", FIELD_BOOL, "false"},
	{"api-rate-limit", FIELD_INT, NULL},
	{"api-rate-limiting-enabled", FIELD_BOOL, NULL},
	{"default-organizations-per-user-ceiling", FIELD_INT, "0"},
	{"default-remote-state-access", FIELD_BOOL, "false"},
	{"default-workspaces-per-organization-ceiling", FIELD_INT, "0"},
	{"fair-run-queuing-enabled", FIELD_BOOL, "true"},
	{"limit-organizations-per-user", FIELD_BOOL, "false"},
	{"limit-user-organization-creation", FIELD_BOOL, "false"},
	{"limit-workspaces-per-organization", FIELD_BOOL, "false"},
	{SITE_TAKES_PASSWORDS, FIELD_BOOL, "true"},
	{"require-two-factor-for-admins", FIELD_BOOL, "false"},
	{"send-passing-statuses-for-untriggered-speculative-plans", FIELD_BOOL, "false"},
	{"unused-token-days", FIELD_INT, "0"},
};

/* No other value has an effect. */
static const struct field_refusal refused[] = {
	{"fair-run-queuing-enabled", "true", "Runs are always queued fairly among organizations"},
};

static int settings_show(struct response *res, json_t *set)
{
	json_t *attributes = json_object();
	long long rate = site_rate_limit();

	if (!json_object_get(set, "api-rate-limit"))
		json_object_set_new(set, "api-rate-limit", json_integer(rate));
	if (!json_object_get(set, "api-rate-limiting-enabled"))
		json_object_set_new(set, "api-rate-limiting-enabled", json_boolean(rate > 0));
	fields_show(settings, ARRAY_LEN(settings), set, attributes);
	timeouts_show(set, attributes);
	return respond_resource(res, 200, resource_new("general-settings", "general", attributes, NULL));
}

int admin_settings_read(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *set = NULL;

	return site_settings_read(req->store, &set, err) < 0 ? -1 : settings_show(res, set);
}

static int ceiling_check(const json_t *set, const char *name, struct err *err)
{
	long long ceiling = json_int_at(set, name, 0);
	char pointer[80];

	if (ceiling >= 0 && ceiling <= MAX_CEILING)
		return 0;
	snprintf(pointer, sizeof(pointer), "/data/attributes/%s", name);
	return err_at(err, pointer, "A ceiling must be 0 (none) to %d", MAX_CEILING);
}

static int settings_read(const struct request *req, json_t *set, struct err *err)
{
	long long rate;

	if (body_check(req, "general-settings", err) < 0 ||
		fields_read(req, settings, ARRAY_LEN(settings), set, err) < 0 ||
		fields_refuse(refused, ARRAY_LEN(refused), set, err) < 0 || timeouts_read(req, set, err) < 0 ||
		ceiling_check(set, "default-organizations-per-user-ceiling", err) < 0 ||
		ceiling_check(set, "default-workspaces-per-organization-ceiling", err) < 0 ||
		unused_days_check(set, err) < 0)
		return -1;
	rate = json_int_at(set, "api-rate-limit", MIN_RATE);
	if (rate < MIN_RATE || rate > MAX_RATE)
		return err_at(err, "/data/attributes/api-rate-limit",
			"API rate limit must be %d to %d requests a second", MIN_RATE, MAX_RATE);
	return 0;
}

/* Without passwords, people need an identity provider, and operators an account for the time when it fails. */
static int passwords_check(const struct request *req, const json_t *changes, struct err *err)
{
	if (json_bool_at(changes, SITE_TAKES_PASSWORDS, true))
		return 0;
	return password_alternatives_check(req->store, "/data/attributes/" SITE_TAKES_PASSWORDS, err);
}

int admin_settings_update(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *changes = json_object(), *set = NULL;

	if (settings_read(req, changes, err) < 0 || passwords_check(req, changes, err) < 0 ||
		site_settings_update(req->store, changes, &set, err) < 0)
		return -1;
	return settings_show(res, set);
}
