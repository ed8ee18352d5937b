/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/site/saml_input.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/auth/helper/helper.h"
#include "scheduler/auth/saml/metadata_fetch.h"
#include "scheduler/saml/wire.h"

enum { MAX_URL = 1024, MAX_PEM = 64 << 10, MAX_NAME = 64, SECONDS_PER_DAY = 86400, MAX_TIMEOUT = 315360000 };

#define AT "/data/attributes/"

const struct field saml_fields[] = {
#define SETTING(name, type, fallback) {name, FIELD_##type, fallback},
#include "scheduler/auth/saml/settings.def"
#undef SETTING
};
const size_t saml_fields_count = ARRAY_LEN(saml_fields);

void saml_change_release(struct saml_change *change)
{
	json_decref(change->settings);
	json_decref(change->metadata);
}

static const char *changed(const struct saml_change *change, const char *name)
{
	return text_or_empty(json_string_value(json_object_get(change->settings, name)));
}

/* The text after the change. */
static const char *resulting(const struct saml_change *change, const struct saml_provider *provider, const char *name)
{
	return json_object_get(change->settings, name) ? changed(change, name) : saml_text(provider, name);
}

/* ---- checks ---- */

static int url_check(const struct saml_change *change, const char *name, struct err *err)
{
	const char *url = changed(change, name);
	const char *host = text_starts(url, "https://") ? url + 8 : text_starts(url, "http://") ? url + 7 : "";
	char pointer[64];

	snprintf(pointer, sizeof(pointer), AT "%s", name);
	if (!*url)
		return 0;
	if (!strcspn(host, "/?#") || url[strcspn(url, " #\r\n\t\"<>\\")])
		return err_at(err, pointer, "%s must be an address that begins with https:// or http://", name);
	return length_check(name, pointer, url, MAX_URL, err);
}

static int choice_check(const struct saml_change *change, const char *name, const char *const *choices, struct err *err)
{
	const json_t *value = json_object_get(change->settings, name);
	char pointer[64];

	if (!value || json_is_null(value))
		return 0;
	for (; *choices; choices++)
		if (text_equal(json_string_value(value), *choices))
			return 0;
	snprintf(pointer, sizeof(pointer), AT "%s", name);
	return err_at(err, pointer, "%s is not one of the values that are known", name);
}

static int values_check(const struct saml_change *change, struct err *err)
{
	static const char *const methods[] = {"SHA1", "SHA256", "SHA384", "SHA512", NULL};
	static const char *const types[] = {"okta", "entra", "saml", "unknown", NULL};
	long long seconds = json_int_at(change->settings, "sso-api-token-session-timeout", 0);

	if (choice_check(change, "signature-signing-method", methods, err) < 0 ||
		choice_check(change, "signature-digest-method", methods, err) < 0 ||
		choice_check(change, "provider-type", types, err) < 0 ||
		url_check(change, "sso-endpoint-url", err) < 0 || url_check(change, "slo-endpoint-url", err) < 0)
		return -1;
	if (seconds < 0 || seconds > MAX_TIMEOUT)
		return err_at(
			err, AT "sso-api-token-session-timeout", "The timeout must be 0 to %d seconds", MAX_TIMEOUT);
	return change->name ? title_check("Name", AT "name", change->name, MAX_NAME, err) : 0;
}

/* Values that do not work are accepted, and shown as problems. Missing ones are not. */
static int enabled_check(const struct saml_change *change, const struct saml_provider *provider, struct err *err)
{
	if (!change->is_enabled)
		return 0;
	if (!*resulting(change, provider, "sso-endpoint-url"))
		return err_at(err, AT "sso-endpoint-url", "SAML can't be enabled without an SSO endpoint URL");
	if (!*resulting(change, provider, "idp-cert"))
		return err_at(err, AT "idp-cert", "SAML can't be enabled without the identity provider's certificate");
	return 0;
}

/* ---- the provider's metadata ---- */

/* A certificate in base64 as PEM. */
static json_t *pem_of(const json_t *base64)
{
	_cleanup_(buf_release) struct buf pem = BUF_INIT(MAX_PEM);
	const char *text = text_or_empty(json_string_value(base64));

	buf_text(&pem, "-----BEGIN CERTIFICATE-----\n");
	for (size_t at = 0; at < strlen(text); at += 64)
		buf_printf(&pem, "%.64s\n", text + at);
	buf_text(&pem, "-----END CERTIFICATE-----\n");
	return json_string(buf_str(&pem));
}

static int metadata_parse(const struct request *req, const char *document, json_t **ret_metadata, struct err *err)
{
	json_t *request = json_pack("{ss ss}", "do", "read_metadata", "document", document);
	struct err why = ERR_INIT;

	if (!request)
		return err_at(err, AT "idp-metadata", "The metadata is not UTF-8");
	if (helper_ask(req->services->saml, request, ret_metadata, &why) == 0)
		return 0;
	if (why.kind == ERR_INVALID)
		return err_at(err, AT "idp-metadata", "The metadata is not acceptable: %s", why.message);
	*err = why;
	return -1;
}

/* Entity id, addresses, certificates. A second certificate is accepted as the old one is. */
static int metadata_apply(struct saml_change *change, struct err *err)
{
	const json_t *certificates = json_object_get(change->metadata, "certificates");

	if (!json_string_at(change->metadata, "sso_url") || !json_array_size(certificates))
		return err_at(err, AT "idp-metadata",
			"The metadata has no single sign-on service with the binding HTTP-Redirect, or no certificate");
	json_object_set(change->settings, "idp-entity-id", json_object_get(change->metadata, "entity_id"));
	json_object_set(change->settings, "sso-endpoint-url", json_object_get(change->metadata, "sso_url"));
	json_object_set(change->settings, "slo-endpoint-url", json_object_get(change->metadata, "slo_url"));
	json_object_set_new(change->settings, "idp-cert", pem_of(json_array_get(certificates, 0)));
	if (json_array_size(certificates) > 1)
		json_object_set_new(change->settings, "old-idp-cert", pem_of(json_array_get(certificates, 1)));
	return 0;
}

static int metadata_read(const struct request *req, struct saml_change *change, struct err *err)
{
	_cleanup_(buf_release) struct buf document = BUF_INIT(SAML_DOCUMENT_MAX);
	const char *url = NULL, *text = NULL;
	struct err why = ERR_INIT;

	if (body_text(req, "idp-metadata-url", &url, err) < 0 || body_long_text(req, "idp-metadata", &text, err) < 0)
		return -1;
	if (!text_or_null(url) && !text_or_null(text))
		return 0;
	if (!text_or_null(text)) {
		if (metadata_fetch(req->store->settings->identity_guard, url, &document, &why) < 0)
			return err_at(err, AT "idp-metadata-url", "%s", why.message);
		text = buf_str(&document);
	}
	return metadata_parse(req, text, &change->metadata, err) < 0 ? -1 : metadata_apply(change, err);
}

/* ---- the change ---- */

/* A certificate that is replaced is still accepted, until it is revoked: the provider changes it at its own time. */
static void certificate_keep(struct saml_change *change, const struct saml_provider *provider)
{
	const char *present = saml_text(provider, "idp-cert");

	if (*present && *changed(change, "idp-cert") && !text_equal(present, changed(change, "idp-cert")) &&
		!json_object_get(change->settings, "old-idp-cert"))
		json_object_set_new(change->settings, "old-idp-cert", json_string(present));
}

/* An entity id that an answer told belongs to the address of the provider that gave it. */
static void issuer_decide(struct saml_change *change, const struct saml_provider *provider)
{
	bool is_told = !*saml_text(provider, "idp-entity-id");
	const char *url = changed(change, "sso-endpoint-url");

	if (json_object_get(change->settings, "idp-entity-id"))
		change->issuer = changed(change, "idp-entity-id");
	else if (is_told && *url && !text_equal(url, saml_text(provider, "sso-endpoint-url")))
		change->issuer = "";
}

static int texts_read(const struct request *req, struct saml_change *change, struct err *err)
{
	const char *key = NULL;

	if (body_text(req, "name", &change->name, err) < 0 || body_long_text(req, "private-key", &key, err) < 0 ||
		length_check("Private key", AT "private-key", key, MAX_PEM, err) < 0)
		return -1;
	if (body_has(req, "private-key"))
		change->secret = text_or_empty(key);
	return body_bool(req, "enabled", &change->is_enabled, err);
}

static int change_fill(
	const struct request *req, const struct saml_provider *provider, struct saml_change *change, struct err *err)
{
	if (body_check(req, "saml-settings", err) < 0 || texts_read(req, change, err) < 0 ||
		fields_read(req, saml_fields, saml_fields_count, change->settings, err) < 0)
		return -1;
	json_object_del(change->settings, "old-idp-cert"); /* read only */
	if (metadata_read(req, change, err) < 0 || values_check(change, err) < 0 ||
		enabled_check(change, provider, err) < 0)
		return -1;
	certificate_keep(change, provider);
	issuer_decide(change, provider);
	return 0;
}

long long saml_token_days(long long seconds)
{
	return (seconds + SECONDS_PER_DAY - 1) / SECONDS_PER_DAY;
}

int saml_change_read(const struct request *req, const struct saml_provider *provider, struct saml_change *ret_change,
	struct err *err)
{
	struct saml_change change = {.settings = json_object(), .is_enabled = provider->is_enabled};
	long long seconds = saml_number(provider, "sso-api-token-session-timeout");

	if (change_fill(req, provider, &change, err) < 0) {
		saml_change_release(&change);
		return -1;
	}
	seconds = json_int_at(change.settings, "sso-api-token-session-timeout", seconds);
	change.token_days = saml_token_days(seconds);
	*ret_change = change;
	return 0;
}
