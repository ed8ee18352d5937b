/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/site/saml_input.h"
#include "scheduler/auth/helper/helper.h"
#include "scheduler/store/access/identity_providers.h"

/* The settings of sign-in by SAML, for site admins. */

/* The helper's verdict on certificates and keys. If it does not answer, that is the problem. */
static json_t *problems_of(const struct request *req, const struct saml_provider *provider)
{
	json_auto_t *answer = NULL;
	struct err err = ERR_INIT;

	if (!provider->id.text[0])
		return json_array();
	if (helper_ask(req->services->saml, saml_request(req->store, provider, "settings"), &answer, &err) < 0)
		return json_pack("[s]", err.message);
	return json_incref(json_object_get(answer, "problems"));
}

static int provider_show(const struct request *req, struct response *res, const struct saml_provider *provider)
{
	const char *base = req->store->settings->public_url;
	json_t *attributes = json_pack("{sb ss sn sb so so so s{sb sb}}", "enabled", provider->is_enabled, "name",
		provider->name, "private-key", "private-key-set", provider->private_key != NULL, "acs-consumer-url",
		json_sprintf("%s" SAML_AUTH_PATH, base), "metadata-url", json_sprintf("%s" SAML_METADATA_PATH, base),
		"slo-url", json_sprintf("%s" SAML_LOGOUT_PATH, base), "permissions", "can-read", true, "can-update",
		true);

	fields_show(saml_fields, saml_fields_count, provider->settings, attributes);
	if (*provider->issuer)
		json_object_set_new(attributes, "idp-entity-id", json_string(provider->issuer));
	json_object_set_new(attributes, "problems", problems_of(req, provider));
	return respond_resource(res, 200, resource_new("saml-settings", "saml", attributes, NULL));
}

int saml_settings_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;

	return saml_provider_read(req->store, &provider, err) < 0 ? -1 : provider_show(req, res, &provider);
}

static int change_store(
	struct store *store, const struct saml_provider *provider, const struct saml_change *change, struct err *err)
{
	const struct identity_provider row = {.name = change->name,
		.issuer = change->issuer,
		.is_enabled = &change->is_enabled,
		.settings = change->settings,
		.secret = change->secret,
		.token_days = &change->token_days};

	return saml_provider_store(store, provider, &row, err);
}

int saml_settings_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;
	_cleanup_(saml_change_release) struct saml_change change = SAML_CHANGE_INIT;

	if (saml_provider_read(req->store, &provider, err) < 0 || saml_change_read(req, &provider, &change, err) < 0 ||
		change_store(req->store, &provider, &change, err) < 0)
		return -1;
	return saml_settings_read(req, res, err);
}

int saml_settings_revoke(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;
	_cleanup_(saml_change_release) struct saml_change change = {.settings = json_pack("{sn}", "old-idp-cert")};

	if (saml_provider_read(req->store, &provider, err) < 0)
		return -1;
	change.is_enabled = provider.is_enabled;
	change.token_days = saml_token_days(saml_number(&provider, "sso-api-token-session-timeout"));
	if (change_store(req->store, &provider, &change, err) < 0)
		return -1;
	return saml_settings_read(req, res, err);
}
