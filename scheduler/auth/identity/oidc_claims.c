/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/oidc_claims.h"

#include <string.h>

enum { MAX_GROUPS = 2000, MAX_GROUP = 256 };

const json_t *claim_at(const json_t *claims, const char *path)
{
	const json_t *whole = json_object_get(claims, path);

	return whole ? whole : json_at(claims, path);
}

/* ---- groups ---- */

static void group_add(json_t *groups, const char *name)
{
	name += *text_or_empty(name) == '/';
	if (*text_or_empty(name) && strlen(name) <= MAX_GROUP && json_array_size(groups) < MAX_GROUPS)
		json_array_append_new(groups, json_string(name));
}

static void group_of_object(json_t *groups, const json_t *object)
{
	static const char *const members[] = {"id", "name", "displayName"};

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		group_add(groups, json_string_value(json_object_get(object, members[i])));
}

json_t *claim_groups(const json_t *claim)
{
	json_t *groups, *one;
	size_t i;

	if (!claim || json_is_null(claim))
		return NULL;
	groups = json_array();
	if (json_is_string(claim))
		group_add(groups, json_string_value(claim));
	json_array_foreach((json_t *)claim, i, one)
	{
		if (json_is_string(one))
			group_add(groups, json_string_value(one));
		else
			group_of_object(groups, one);
	}
	return groups;
}

bool claim_groups_left_out(const json_t *claims, const char *groups_claim)
{
	return json_object_get(json_object_get(claims, "_claim_names"), groups_claim) ||
		json_is_true(json_object_get(claims, "hasgroups"));
}

/* ---- the person ---- */

static const char *text_of(const json_t *claims, const json_t *settings, const char *setting, const char *usual)
{
	const char *name = json_string_at(settings, setting);

	return json_string_value(claim_at(claims, text_or_null(name) ? name : usual));
}

/* Some providers send a text. */
static bool is_true(const json_t *value)
{
	return json_is_true(value) || text_equal(json_string_value(value), "true");
}

int claims_read(const json_t *claims, const json_t *settings, const json_t *groups, struct external_person *person,
	struct err *err)
{
	const char *admins = text_or_null(json_string_at(settings, "site-admin-group"));

	person->subject = text_of(claims, settings, "subject-claim", "sub");
	if (!text_or_null(person->subject))
		return err_set(err, ERR_FORBIDDEN, "The identity provider did not say who you are.");
	person->provisioned_as = person->subject;
	person->username = text_of(claims, settings, "username-claim", "preferred_username");
	person->email = json_string_value(json_object_get(claims, "email"));
	person->email_verified = is_true(json_object_get(claims, "email_verified")) ||
		json_bool_at(settings, "trust-email-addresses", false);
	person->groups = groups;
	person->site_admin = admins && groups ? json_has_text(groups, admins) : -1;
	return 0;
}
