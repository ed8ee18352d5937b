/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/organization_sso.h"
#include "scheduler/store/access/organization_sso.sql.h"

/* The single sign-on of an organization's members. */

enum { MAX_DOMAINS = 100, MAX_DOMAIN = 253 };

static int settings_show(struct request *req, struct response *res, const struct scope *scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct organization_sso_row *row;

	if (organization_sso_read(req->store, scope->organization.text, &rows, err) < 0)
		return -1;
	row = row_of(organization_sso, &rows, 0);
	return respond_resource(res, 200,
		resource_new("sso-settings", scope->organization_name,
			json_pack("{sb so}", "required", row->is_required, "domains", json_shown(row->domains)),
			json_pack("{so}", "identity-providers", many_shown("identity-providers", row->providers))));
}

int sso_settings_read(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	return scope_organization(req, &scope, err) < 0 ? -1 : settings_show(req, res, &scope, err);
}

/* In lower case: domains have no case. */
static int domains_read(const struct request *req, json_t **ret_domains, struct err *err)
{
	const json_t *sent = NULL, *one;
	json_auto_t *domains = json_array();
	size_t i;

	if (body_texts(req, "domains", &sent, err) < 0)
		return -1;
	if (!sent)
		return 0;
	if (json_array_size(sent) > MAX_DOMAINS)
		return err_at(err, "/data/attributes/domains", "Domains can be %d at most", MAX_DOMAINS);
	json_array_foreach((json_t *)sent, i, one)
	{
		char domain[MAX_DOMAIN + 1];

		if (json_string_length(one) > MAX_DOMAIN)
			return err_at(err, "/data/attributes/domains", "Domain is too long (maximum is %d characters)",
				MAX_DOMAIN);
		text_copy_lower(domain, sizeof(domain), json_string_value(one));
		json_array_append_new(domains, json_string(domain));
	}
	*ret_domains = json_incref(domains);
	return 0;
}

/* Whoever requires single sign-on has used it: else the requirement would lock out the one who made it. */
static int requirement_check(
	const struct request *req, const json_t *providers, const struct scope *scope, bool required, struct err *err)
{
	bool fits = json_has_text(providers, req->actor.provider.text);

	if (!required || req->actor.is_site_admin)
		return 0;
	if (!providers &&
		organization_sso_fits(req->store, scope->organization.text, req->actor.provider.text, &fits, err) < 0)
		return -1;
	if (fits)
		return 0;
	return err_at(err, "/data/attributes/required",
		"Sign in through one of these identity providers first, so that you don't lock yourself out");
}

int sso_settings_update(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *domains = NULL, *providers = NULL;
	struct organization_sso wanted = {.is_required = NULL};
	bool required = false;
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 || body_check(req, "sso-settings", err) < 0 ||
		body_bool(req, "required", &required, err) < 0 || domains_read(req, &domains, err) < 0 ||
		body_relations(req, "identity-providers", "identity-providers", &providers, err) < 0 ||
		requirement_check(req, providers, &scope, required, err) < 0)
		return -1;
	wanted.is_required = body_has(req, "required") ? &required : NULL;
	wanted.domains = domains;
	wanted.providers = providers;
	if (organization_sso_update(req->store, scope.organization.text, &wanted, err) < 0)
		return -1;
	return settings_show(req, res, &scope, err);
}

/* ---- the providers to choose from ---- */

static json_t *provider_resource(const void *of_row)
{
	const struct organization_provider_row *row = of_row;

	return resource_new("identity-providers", row->id,
		json_pack("{ss ss so}", "kind", row->kind, "name", row->name, "domains", json_shown(row->domains)),
		NULL);
}

int identity_providers_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;
	json_t *data;

	if (scope_organization(req, &scope, err) < 0 ||
		organization_providers_list(req->store, scope.organization.text, &rows, err) < 0)
		return -1;
	data = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(data, provider_resource(row_of(organization_provider, &rows, i)));
	return respond_resource(res, 200, data);
}
