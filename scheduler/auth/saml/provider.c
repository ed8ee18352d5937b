/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/saml/provider.h"

#include "common/clock.h"
#include "scheduler/auth/helper/helper.h"
#include "scheduler/saml/wire.h"
#include "scheduler/store/access/identity_providers.sql.h"
#include "scheduler/store/content/seals.h"

const struct helper_spec saml_helper = {
	.program = "runyard-saml",
	.seconds = SAML_SECONDS,
	.unavailable = "Sign-in by SAML is not available at the moment: try again in a minute.",
	.busy = "Too many people sign in by SAML at this moment: try again in a minute.",
};

static const struct {
	const char *name, *fallback;
} settings[] = {
#define SETTING(name, type, fallback) {name, fallback},
#include "scheduler/auth/saml/settings.def"
#undef SETTING
};

void saml_provider_release(struct saml_provider *provider)
{
	free(provider->name);
	free(provider->issuer);
	json_decref(provider->settings);
	crypto_secret_freep(&provider->private_key);
}

/* The settings of the row, with the defaults of the others. */
static json_t *settings_complete(const json_t *set)
{
	json_t *all = json_object();

	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		json_t *value = json_object_get(set, settings[i].name);

		if (value)
			json_object_set(all, settings[i].name, value);
		else
			json_object_set_new(
				all, settings[i].name, json_loads(settings[i].fallback, JSON_DECODE_ANY, NULL));
	}
	return all;
}

int saml_provider_read(struct store *store, struct saml_provider *ret_provider, struct err *err)
{
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *set = NULL;
	const struct identity_provider_row *row = NULL;

	if (identity_provider_of_kind(store, SAML_PROVIDER, &rows, err) < 0)
		return -1;
	if (rows.count)
		row = row_of(identity_provider, &rows, 0);
	if (row &&
		secret_open(store, row->secret_sealed, PROVIDER_SECRET_SEAL, row->id, &provider.private_key, err) < 0)
		return -1;
	set = row ? json_of(row->settings) : json_object();
	text_copy(provider.id.text, ID_SIZE, row ? row->id : "");
	provider.is_enabled = row && row->is_enabled;
	provider.name = mem_text(row ? row->name : "SAML");
	provider.issuer = mem_text(row ? row->issuer : "");
	provider.settings = settings_complete(set);
	*ret_provider = provider;
	provider = (struct saml_provider)SAML_PROVIDER_INIT;
	return 0;
}

int saml_provider_enabled(struct store *store, struct saml_provider *ret_provider, struct err *err)
{
	if (saml_provider_read(store, ret_provider, err) < 0)
		return -1;
	return ret_provider->is_enabled ? 0 : err_set(err, ERR_NOT_FOUND, "Sign-in by SAML is switched off.");
}

struct storing {
	struct store *store;
	const struct saml_provider *provider;
	const struct identity_provider *change;
};

static int store_in(void *data, struct err *err)
{
	const struct storing *s = data;
	struct identity_provider row = *s->change;
	struct id id;

	if (s->provider->id.text[0])
		return identity_provider_update(s->store, s->provider->id.text, &row, err);
	row.kind = SAML_PROVIDER;
	row.name = row.name ? row.name : s->provider->name;
	row.issuer = row.issuer ? row.issuer : "";
	return identity_provider_create(s->store, &row, &id, err);
}

int saml_provider_store(struct store *store, const struct saml_provider *provider,
	const struct identity_provider *change, struct err *err)
{
	struct storing storing = {store, provider, change};

	return db_transaction(store->db, store_in, &storing, err);
}

const char *saml_text(const struct saml_provider *provider, const char *name)
{
	return text_or_empty(json_string_value(json_object_get(provider->settings, name)));
}

bool saml_flag(const struct saml_provider *provider, const char *name)
{
	return json_is_true(json_object_get(provider->settings, name));
}

long long saml_number(const struct saml_provider *provider, const char *name)
{
	return json_integer_value(json_object_get(provider->settings, name));
}

static json_t *own_of(const struct store *store, const struct saml_provider *provider)
{
	const char *base = store->settings->public_url;

	return json_pack("{so so so ss* ss* sb ss}", "entity_id", json_sprintf("%s" SAML_METADATA_PATH, base),
		"acs_url", json_sprintf("%s" SAML_AUTH_PATH, base), "slo_url",
		json_sprintf("%s" SAML_LOGOUT_PATH, base), "certificate",
		text_or_null(saml_text(provider, "certificate")), "private_key", provider->private_key, "sign",
		saml_flag(provider, "authn-requests-signed"), "method",
		saml_text(provider, "signature-signing-method"));
}

static json_t *certificates_of(const struct saml_provider *provider)
{
	const char *const names[] = {"idp-cert", "old-idp-cert"};
	json_t *certificates = json_array();

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (*saml_text(provider, names[i]))
			json_array_append_new(certificates, json_string(saml_text(provider, names[i])));
	return certificates;
}

json_t *saml_request(const struct store *store, const struct saml_provider *provider, const char *operation)
{
	return json_pack("{ss sI so s{ss* ss ss so}}", "do", operation, "now", (json_int_t)(clock_wall_us() / 1000000),
		"own", own_of(store, provider), "provider", "entity_id", text_or_null(provider->issuer), "sso_url",
		saml_text(provider, "sso-endpoint-url"), "slo_url", saml_text(provider, "slo-endpoint-url"),
		"certificates", certificates_of(provider));
}

char *saml_message_id(void)
{
	_cleanup_(freep) char *random = crypto_random_hex(SAML_NONCE_BYTES);

	return mem_printf("_%s", random);
}
