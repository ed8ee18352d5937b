/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/saml/person.h"

#include <string.h>
#include <strings.h>

/* Names that providers give to the address of a person. */
static const char *const email_names[] = {
	"email",
	"Email",
	"mail",
	"emailAddress",
	"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
	"urn:oid:0.9.2342.19200300.100.1.3",
	"urn:mace:dir:attribute-def:mail",
};

/* The values of the attribute; NULL if the assertion does not have it, or the setting has no name. */
static const json_t *values_of(const json_t *answer, const char *name)
{
	return *name ? json_object_get(json_object_get(answer, "attributes"), name) : NULL;
}

static const char *first_of(const json_t *answer, const char *name)
{
	return text_or_null(text_or_empty(json_string_value(json_array_get(values_of(answer, name), 0))));
}

static const char *email_of(const json_t *answer)
{
	const char *subject = json_string_at(answer, "subject");

	for (size_t i = 0; i < ARRAY_LEN(email_names); i++) {
		const char *email = first_of(answer, email_names[i]);

		if (email && mail_address_valid(email))
			return email;
	}
	return subject && mail_address_valid(subject) ? subject : NULL;
}

static void group_add(json_t *groups, const char *text, size_t len)
{
	while (len && *text == ' ') {
		text++;
		len--;
	}
	while (len && text[len - 1] == ' ')
		len--;
	if (len)
		json_array_append_new(groups, json_stringn(text, len));
}

/* A single value is a list with commas. Several values are taken as they are: a name in one may have a comma. */
static json_t *groups_of(const json_t *values)
{
	json_t *groups = json_array(), *value;
	size_t i;

	json_array_foreach(values, i, value)
	{
		const char *text = text_or_empty(json_string_value(value));

		while (json_array_size(values) == 1 && strchr(text, ',')) {
			group_add(groups, text, strcspn(text, ","));
			text += strcspn(text, ",") + 1;
		}
		group_add(groups, text, strlen(text));
	}
	return groups;
}

/* The attribute overrides the role. */
static int site_admin_of(const struct saml_provider *provider, const json_t *answer, const json_t *groups)
{
	const char *said = first_of(answer, saml_text(provider, "attr-site-admin"));
	const char *role = saml_text(provider, "site-admin-role");

	if (said)
		return strcasecmp(said, "true") == 0 || text_equal(said, "1");
	return groups && *role ? json_has_text(groups, role) : -1;
}

void saml_person(const struct saml_provider *provider, const json_t *answer, struct external_person *ret_person,
	json_t **ret_groups)
{
	const json_t *values = values_of(answer, saml_text(provider, "attr-groups"));
	bool manages_teams = saml_flag(provider, "team-management-enabled");
	/* Providers leave the attribute out for a person without groups. */
	json_t *groups = values || manages_teams ? groups_of(values) : NULL;

	*ret_person = (struct external_person){.provider_id = provider->id.text,
		.issuer = json_string_at(answer, "issuer"),
		.subject = json_string_at(answer, "subject"),
		.provisioned_as = json_string_at(answer, "subject"),
		.username = first_of(answer, saml_text(provider, "attr-username")),
		.email = email_of(answer),
		.email_verified = saml_flag(provider, "email-addresses-verified"),
		.groups = manages_teams ? groups : NULL,
		.site_admin = site_admin_of(provider, answer, groups)};
	*ret_groups = groups;
}
